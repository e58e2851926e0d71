use super::*;
use crate::testing::golden::{float, list, vectors, whole, word};
use crate::testing::random::Random;

fn cases() -> impl Iterator<Item = PartitionSelection> {
    [
        (1.0, 1e-6, 1),
        (1.0, 1e-6, 3),
        (0.02, 1e-9, 1),
        (8.0, 0.3, 1),
        (0.5, 0.5, 1),
        (50.0, 1e-30, 1),
        (2.0, 2.0_f64.powi(-127), 2),
    ]
    .into_iter()
    .map(|(eps, delta, k)| PartitionSelection::new(eps, delta, k).unwrap())
}

/// Whether n is shown and what is released, by the fast ways; both are asked about enough counts that the word is searched as in a batch.
fn draw(mechanism: &PartitionSelection, count: i64, word: u64, extension: impl Fn(usize) -> u64) -> (bool, i64) {
    let (mut shown, mut needed) = ([false], [0]);
    mechanism.shown(&[word], |_, e| extension(e), &[count], &mut shown);
    mechanism.needed(&[word], |_, e| extension(e), &mut needed);
    (shown[0], mechanism.noisy(count, needed[0]))
}

/// Evidence: the coin alone. Words on each threshold and beside it, with extensions of all zeros and all ones, and at random; kept thresholds or
/// none.
#[test]
fn batches_are_what_the_coins_say() {
    let mut random = Random(7);
    for mechanism in cases() {
        let bare = PartitionSelection::new(mechanism.eps, mechanism.delta, 1).unwrap();
        mechanism.prepare().unwrap();
        let prefixes = mechanism.prefixes().unwrap();
        let step = 1 + prefixes.len() / 40;
        let beside = prefixes
            .iter()
            .step_by(step)
            .flat_map(|t| [t.saturating_sub(1), *t, t.saturating_add(1)]);
        let words: Vec<u64> = beside
            .chain((0..30).map(|i| random.word() >> i))
            .chain([0, u64::MAX])
            .collect();
        for (i, &word) in words.iter().enumerate() {
            let rest = if i % 2 == 0 { u64::MAX } else { 0 };
            let coin = |n| mechanism.growth.contains(n, word, &mut |_| rest);
            let needed = (1..=mechanism.certain()).find(|n| coin(*n)).unwrap();
            for n in [0, 1, needed - 1, needed, needed + 1, mechanism.certain(), 1 << 40] {
                let noisy = if n >= needed { n - needed + mechanism.median() } else { 0 };
                let expected = (n >= needed, noisy as i64);
                assert_eq!(
                    draw(&mechanism, n as i64, word, |_| rest),
                    expected,
                    "{mechanism:?} {n} {word:x}"
                );
                if i % 16 == 0 {
                    assert_eq!(draw(&bare, n as i64, word, |_| rest), expected, "{mechanism:?} {n} {word:x}");
                }
            }
        }
    }
}

/// Evidence: golden vectors, which an oracle made that follows the recursion in intervals.
#[test]
fn golden_vectors() {
    for entry in vectors("partition_selection.json") {
        let (eps, delta) = (float(&entry["eps"]), float(&entry["delta"]));
        let mechanism = PartitionSelection::new(eps, delta, whole(&entry["k"])).unwrap();
        let found = (mechanism.rising(), mechanism.certain(), mechanism.median());
        let expected = ["rising", "certain", "median"].map(|name| whole(&entry[name]));
        assert_eq!([found.0, found.1, found.2], expected, "{entry}");
        mechanism.prepare().unwrap();
        let counts: Vec<i64> = list(&entry["counts"])
            .iter()
            .map(|n| n.as_str().unwrap().parse().unwrap())
            .collect();
        let mut generator = Generator::from_seed(entry["seed"].as_str().unwrap().parse().unwrap());
        let fill = generator.at(0).unwrap().fill_number(whole(&entry["fill"]));
        let (mut shown, mut noisy) = (vec![false; counts.len()], vec![-1; counts.len()]);
        mechanism.write_shown(&fill, whole(&entry["index"]), Unread::of(&counts), &mut shown);
        mechanism.write_released(&fill, whole(&entry["index"]), Unread::of(&counts), &mut noisy);
        let values: Vec<i64> = list(&entry["values"]).iter().map(|x| x.as_i64().unwrap()).collect();
        assert_eq!(noisy, values, "{entry}");
        assert!(
            shown.iter().zip(values).all(|(shown, value)| *shown == (value != 0)),
            "{entry}"
        );
        for case in list(&entry["cases"]) {
            let forced: Vec<u64> = list(&case[1]).iter().map(word).collect();
            let extension = |e: usize| forced.get(e).copied().unwrap_or(0);
            let needed = whole(&case[2]);
            for n in [needed - 1, needed] {
                let noisy = if n == needed { mechanism.median() } else { 0 };
                let expected = (n == needed, noisy as i64);
                assert_eq!(draw(&mechanism, n as i64, word(&case[0]), extension), expected, "{case}");
            }
        }
    }
}

/// Evidence: value by value, against a batch of more than a chunk.
#[test]
fn a_fill_is_drawn_one_by_one_and_shows_what_is_selected() {
    let mechanism = PartitionSelection::new(0.3, 1e-4, 1).unwrap();
    let counts: Vec<i64> = (0..3 * CHUNK as i64 + 7).map(|i| i * 31 % 60).collect();
    let (mut shown, mut noisy) = (vec![false; counts.len()], vec![-1; counts.len()]);
    mechanism
        .select(&mut Generator::from_seed(3).allow_release(), &counts, &mut shown)
        .unwrap();
    mechanism
        .release(&mut Generator::from_seed(3).allow_release(), &counts, &mut noisy)
        .unwrap();
    let fill = Generator::from_seed(3).fill_number(0);
    for (i, &count) in counts.iter().enumerate() {
        let alone = draw(&mechanism, count, fill.stage(0).word(i as u64), |e| {
            fill.stage(0).extension(i as u64, e)
        });
        assert_eq!((shown[i], noisy[i]), alone);
        assert_eq!(shown[i], noisy[i] != 0);
    }
}

#[test]
fn the_largest_counts_saturate() {
    for mechanism in cases() {
        mechanism.prepare().unwrap();
        assert_eq!(draw(&mechanism, i64::MAX, 0, |_| 0), (true, i64::MAX));
        assert!(!draw(&mechanism, 0, 0, |_| 0).0);
    }
}

/// Evidence: fills of mechanisms whose thresholds are kept and are not, word by word; and the mechanism: how often each of some counts is shown by
/// coins, within 5.5 standard deviations of 64 bits of π(n). The seed is fixed; 1 seed in 10⁶ would give a false alarm.
#[test]
fn coins_show_what_kept_thresholds_show() {
    const N: usize = 4000;
    for (seed, (eps, delta)) in (0..).zip([(1.0, 1e-6), (0.3, 1e-3), (0.02, 1e-9), (8.0, 0.3)]) {
        let kept = PartitionSelection::new(eps, delta, 1).unwrap();
        let coins = PartitionSelection::new(eps, delta, 1).unwrap();
        coins.thresholds.set(Thresholds::new(&coins.growth, 1).unwrap()).unwrap();
        kept.prepare().unwrap();
        let prefixes = kept.prefixes().unwrap();
        assert!(coins.prefixes().is_none());
        let near = [kept.median() - 1, kept.median(), kept.median() + 1, kept.rising() + 2];
        let counts: Vec<i64> = (0..N).map(|i| near[i % near.len()] as i64).collect();
        let drawn = |mechanism: &PartitionSelection| {
            let (mut shown, mut noisy) = (vec![false; N], vec![-1; N]);
            mechanism
                .select(&mut Generator::from_seed(seed).allow_release(), &counts, &mut shown)
                .unwrap();
            mechanism
                .release(&mut Generator::from_seed(seed).allow_release(), &counts, &mut noisy)
                .unwrap();
            (shown, noisy)
        };
        let (shown, noisy) = drawn(&coins);
        assert_eq!((&shown, &noisy), (&drawn(&kept).0, &drawn(&kept).1), "{coins:?}");
        for (place, &n) in near.iter().enumerate() {
            let tosses = N as f64 / near.len() as f64;
            let found = shown.iter().skip(place).step_by(near.len()).filter(|shown| **shown).count() as f64;
            let p = prefixes
                .get(n as usize)
                .map_or(1.0, |prefix| *prefix as f64 / 2.0_f64.powi(64));
            let spread = (tosses * p * (1.0 - p)).sqrt();
            assert!((found - tosses * p).abs() <= 5.5 * spread + 1e-6, "{n} {found} {p} {coins:?}");
        }
    }
}

/// Evidence: a mechanism of more counts than are kept, at the counts where its probabilities leave 0 and reach 1.
#[test]
fn thresholds_that_are_not_kept_are_coins() {
    let mechanism = PartitionSelection::new(1e-7, 1e-12, 1).unwrap();
    assert!(mechanism.certain() > MOST_KEPT);
    let (mut shown, mut noisy) = ([false; 4], [0; 4]);
    let counts = [0, 1, mechanism.certain() as i64, 1 << 50];
    mechanism
        .select(&mut Generator::from_seed(1).allow_release(), &counts, &mut shown)
        .unwrap();
    mechanism
        .release(&mut Generator::from_seed(1).allow_release(), &counts, &mut noisy)
        .unwrap();
    assert_eq!(shown, [false, false, true, true]);
    assert_eq!(noisy.map(|count| count != 0), shown);
    let below = mechanism.median() as i64;
    assert!(draw(&mechanism, below, (1 << 63) - 1, |_| 0).0 && !draw(&mechanism, below - 1, 1 << 63, |_| 0).0);
}

#[test]
fn refuses_what_is_no_count_and_what_is_no_parameter() {
    let mechanism = PartitionSelection::new(1.0, 0.1, 1).unwrap();
    let mut generator = Generator::from_seed(1).allow_release();
    let mut out = [7; 2];
    let error = mechanism.release(&mut generator, &[1, -1], &mut out).unwrap_err();
    assert_eq!(error, DrawError::Count(1));
    assert!(mechanism.release(&mut generator, &[1], &mut out).is_err());
    let mut seeded = Generator::from_seed(1);
    assert_eq!(mechanism.release(&mut seeded, &[1, 2], &mut out), Err(DrawError::Seeded));
    assert_eq!(mechanism.select(&mut seeded, &[1], &mut [true]), Err(DrawError::Seeded));
    assert_eq!((out, generator.next_fill()), ([7; 2], 0));
    let text = |eps, delta, k| PartitionSelection::new(eps, delta, k).unwrap_err().to_string();
    for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        assert!(text(bad, 0.1, 1).starts_with("eps must be finite and greater than 0, got"));
    }
    for bad in [f64::NAN, f64::INFINITY, 0.0, -0.1, 0.51] {
        assert!(text(1.0, bad, 1).starts_with("delta must be from 2**-128 to 0.5, got"));
    }
    assert!(text(1.0, 0.1, 0).starts_with("max_partitions_contributed must be from 1 to"));
    assert!(text(1e-13, 0.1, 1).starts_with("eps must be at least 2**-40 for each partition, got"));
    assert!(text(1.0, 1e-38, 100).starts_with("delta must be at least 2**-128 for each partition, got"));
}
