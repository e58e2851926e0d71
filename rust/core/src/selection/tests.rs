//! What is selected for given words and for fills, and what is refused.

use super::candidates::Candidates;
use super::row::Row;
use super::thresholds::RowThresholds;
use super::{Selection, kept};
use crate::error::{DrawError, ParamError};
use crate::stream::Generator;
use crate::testing::long;
use crate::testing::random::Random;

/// The candidate for forced words, three times: fast path first, thresholds first, and the exact path alone.
fn select(mechanism: &Selection, costs: &[f64], word: u64, extension: impl Fn(usize) -> u64) -> usize {
    select_multiplied(mechanism, costs.into(), word, extension)
}

fn select_multiplied(mechanism: &Selection, row: Candidates<'_>, word: u64, extension: impl Fn(usize) -> u64) -> usize {
    let index = mechanism.selector(false).index(row, word, &extension).unwrap();
    let again = mechanism.selector(true).index(row, word, &extension).unwrap();
    let choice = mechanism.levels.choice(row).unwrap();
    let exact = choice.index(word, &mut |e| extension(e), 0).unwrap();
    assert_eq!((index, again), (exact, exact), "{mechanism:?} {row:?} {word:x}");
    exact
}

/// Evidence: the definition: the row in which every cost is repeated, at words on both sides of its thresholds.
#[test]
fn multiplicities_are_repeated_costs() {
    let mut random = Random(57);
    for case in 0..24 {
        let n = 1 + case % 9;
        let mechanism = match case % 2 {
            0 => Selection::exponential(random.power(1e-2, 30.0), 1.0, false),
            _ => Selection::staircase(random.power(1e-2, 30.0), 1.0, 0.5, false),
        }
        .unwrap();
        let costs: Vec<f64> = (0..n).map(|_| (6.0 * random.next()).floor()).collect();
        let multiplicities: Vec<f64> = (0..n).map(|_| 1.0 + (5.0 * random.next()).floor()).collect();
        let repeated: Vec<f64> = (0..n).flat_map(|i| vec![costs[i]; multiplicities[i] as usize]).collect();
        let place: Vec<usize> = (0..n).flat_map(|i| vec![i; multiplicities[i] as usize]).collect();
        let thresholds = RowThresholds::new(&mechanism.levels, (&*repeated).into(), &mut Row::new()).unwrap();
        let row = Candidates {
            costs: &costs,
            multiplicities: &multiplicities,
        };
        for j in 0..repeated.len() {
            for step in [0, 1, 1 << 14, 1 << 60] {
                let word = thresholds.threshold(j).wrapping_sub(step);
                let expected = place[select(&mechanism, &repeated, word, |_| 5)];
                assert_eq!(select_multiplied(&mechanism, row, word, |_| 5), expected, "{row:?}");
            }
        }
    }
}

/// Evidence: the same words: rows whose costs stand for one candidate each, and a row of one cost.
#[test]
fn one_candidate_each_is_a_selection_as_ever() {
    let mechanism = Selection::exponential(1.0, 1.0, false).unwrap();
    let costs = [0.0, 1.0, 2.0, 5.0, 3.0, 0.5];
    let (mut alone, mut counted) = ([0; 3], [0; 3]);
    mechanism
        .select(&mut Generator::from_seed(3).allow_release(), &costs, &mut alone)
        .unwrap();
    let mut generator = Generator::from_seed(3).allow_release();
    mechanism
        .select_multiplied(&mut generator, &costs, &[1.0; 6], &mut counted)
        .unwrap();
    assert_eq!(alone, counted);
    mechanism
        .select_multiplied(&mut generator, &[7.0; 3], &[1.0, 5.0, 9.0], &mut counted)
        .unwrap();
    assert_eq!(counted, [0; 3]);
}

/// Evidence: fast and exact paths agree where a few candidates weigh as much as many bad ones, at words around the thresholds.
#[test]
fn many_bad_candidates_weigh_as_much_as_a_good_one() {
    let mechanism = Selection::exponential(2.0, 1.0, true).unwrap();
    let most = 52.0_f64.exp2();
    let row = Candidates {
        costs: &[18.0, 0.0, 30.0, 345.0, 17.9],
        multiplicities: &[most, 1.0, most - 1.0, 7.0, most / 4.0],
    };
    let thresholds = RowThresholds::new(&mechanism.levels, row, &mut Row::new()).unwrap();
    for j in 1..5 {
        for step in [0_u64, 1, 1 << 13, 1 << 20, 1 << 40] {
            for word in [
                thresholds.threshold(j).wrapping_add(step),
                thresholds.threshold(j).wrapping_sub(step),
            ] {
                select_multiplied(&mechanism, row, word, |_| 9);
            }
        }
    }
}

/// Evidence: exhaustive over the leading 9 bits of the word, with nothing but zeros and nothing but ones after them, for rows whose
/// thresholds are rational: S(j) = (n − j)/n by whole numbers. The zeros meet every dyadic threshold exactly.
#[test]
fn rows_of_equal_weights_are_uniform_to_the_last_bit() {
    let mechanisms = [
        Selection::staircase(1.0, 1.0, 0.5, false).unwrap(),
        Selection::exponential(1.0, 1.0, true).unwrap(),
        Selection::permute_and_flip(1.0, 1.0, true).unwrap(),
    ];
    for mechanism in &mechanisms {
        for n in 1..=16_u64 {
            let equal = vec![4.0; n as usize];
            let in_pairs: Vec<f64> = (0..2 * n).map(|i| (i % 2) as f64).collect();
            for lead in 0..512_u64 {
                let above = |n: u64| (1..n).filter(|j| lead * n < 512 * (n - j)).count();
                let below = |n: u64| (1..n).filter(|j| (lead + 1) * n <= 512 * (n - j)).count();
                let (zeros, ones) = (lead << 55, lead << 55 | ((1 << 55) - 1));
                assert_eq!(
                    select(mechanism, &equal, zeros, |_| 0),
                    if lead == 0 { n as usize - 1 } else { above(n) }
                );
                assert_eq!(select(mechanism, &equal, ones, |_| u64::MAX), below(n));
                // Every second threshold is that of n equal weights.
                if lead > 0 {
                    assert_eq!(select(mechanism, &in_pairs, zeros, |_| 0) / 2, above(n));
                }
                assert_eq!(select(mechanism, &in_pairs, ones, |_| u64::MAX) / 2, below(n));
            }
        }
    }
}

/// Evidence: every mechanism and way to draw, on costs that the checks refuse: what is no cost gives some candidate, and no panic.
#[test]
fn costs_that_no_check_has_seen_give_a_candidate() {
    let mechanisms = [
        Selection::staircase(1.0, 1.0, 0.5, false).unwrap(),
        Selection::exponential(1.0, 1.0, false).unwrap(),
        Selection::permute_and_flip(1.0, 1.0, false).unwrap(),
        Selection::exponential(1e-200, 1e200, true).unwrap(),
    ];
    let rows: [&[f64]; 6] = [
        &[f64::NAN; 3],
        &[f64::INFINITY; 3],
        &[f64::NEG_INFINITY, 0.0, 1.0],
        &[f64::NAN, 0.0, f64::INFINITY],
        &[-5.0, -1e308, 1e308],
        &[f64::NAN],
    ];
    for mechanism in &mechanisms {
        for costs in rows {
            let fill = Generator::from_seed(3).next(40).unwrap();
            let mut selected = [-1; 40];
            for again in [false, true] {
                let mut selector = mechanism.selector(again);
                selector.write(&fill, 0, std::iter::repeat(costs), &mut selected).unwrap();
                assert!(selected.iter().all(|index| (0..costs.len() as i64).contains(index)));
            }
            let k = costs.len();
            let places = &mut selected[..40 / k * k];
            mechanism.top_selector(k).write_top(&fill, 0, |_| costs, places).unwrap();
            assert!(places.iter().all(|index| (0..k as i64).contains(index)));
        }
    }
}

#[test]
fn no_bits_at_all_select_the_last_candidate() {
    let mechanisms = [
        Selection::staircase(1.0, 1.0, 0.5, false).unwrap(),
        Selection::permute_and_flip(1.0, 1.0, false).unwrap(),
    ];
    for mechanism in &mechanisms {
        for costs in [&[0.0, 1e300][..], &[1.0, 1.0, 1.0], &[0.0, 5000.0, 2.0], &[7.0]] {
            assert_eq!(select(mechanism, costs, 0, |_| 0), costs.len() - 1);
            let late_bit = |e| u64::from(e == 20);
            let tiny = costs[costs.len() - 1] == 1e300;
            assert_eq!(select(mechanism, costs, 0, late_bit), costs.len() - 1 - usize::from(tiny));
        }
    }
}

/// Evidence: the fast path, the thresholds and the exact path agree, word by word, on rows of every length around a block. The words are within
/// a few units of the thresholds as floating point has them, where each path is undecided.
#[test]
fn all_paths_agree() {
    let mut random = Random(31);
    for n in [1, 2, 3, 7, 8, 9, 63, 64, 65, 129, 300] {
        // Of long rows, which the exact path takes long for, each kind of mechanism has one.
        for case in 0..if n < 63 || long() { 8 } else { 4 } {
            let (eps, gamma) = (random.power(1e-2, 30.0), 1.0 - random.next());
            let mechanism = match case % 4 {
                3 => Selection::permute_and_flip(eps, 1.0, false),
                0 => Selection::exponential(eps, 1.0, false),
                1 => Selection::staircase(eps, 1.0, gamma, false),
                _ => Selection::staircase(eps, 1.0, 1.0, true),
            }
            .unwrap();
            let costs: Vec<f64> = (0..n)
                .map(|i| {
                    if i % 3 == 0 {
                        (8.0 * random.next()).floor()
                    } else {
                        20.0 * random.next()
                    }
                })
                .collect();
            let thresholds = RowThresholds::new(&mechanism.levels, (&*costs).into(), &mut Row::new()).unwrap();
            for j in (0..n).step_by(1 + n / 9) {
                for step in [0, 1, 2, 1 << 11, 1 << 20] {
                    let at = thresholds.threshold(j);
                    select(&mechanism, &costs, at.saturating_add(step), |e| e as u64);
                    select(&mechanism, &costs, at.saturating_sub(step), |_| u64::MAX);
                }
            }
            for _ in 0..20 {
                select(&mechanism, &costs, (random.next() * 1.8e19) as u64, |_| 1 << 63);
            }
        }
    }
}

/// Evidence: equality with the same row without the candidates of infinite cost; words everywhere and about the ends.
#[test]
fn candidates_of_infinite_cost_are_as_good_as_absent() {
    let mut random = Random(8);
    for case in 0..300 {
        let eps = random.power(1e-3, 30.0);
        let mechanism = match case % 3 {
            0 => Selection::exponential(eps, 1.0, false),
            1 => Selection::permute_and_flip(eps, 1.0, false),
            _ => Selection::staircase(eps, 1.0, 1.0 - random.next(), false),
        }
        .unwrap();
        let costs: Vec<f64> = (0..=case % 90)
            .map(|_| {
                if random.next() < 0.5 {
                    f64::INFINITY
                } else {
                    9.0 * random.next()
                }
            })
            .chain([2.0])
            .collect();
        let finite: Vec<usize> = (0..costs.len()).filter(|&i| costs[i] < f64::INFINITY).collect();
        let dense: Vec<f64> = finite.iter().map(|&i| costs[i]).collect();
        for word in [0, 1, u64::MAX, (random.next() * 1.8e19) as u64, (random.next() * 1e6) as u64] {
            let extension = |e| if word == 0 && e < 2 { 0 } else { 77 };
            assert_eq!(
                select(&mechanism, &costs, word, extension),
                finite[select(&mechanism, &dense, word, extension)]
            );
        }
        assert_eq!(select(&mechanism, &costs, 0, |_| 0), costs.len() - 1);
    }
}

/// Where addresses have 32 bits, such a row is an error.
#[test]
fn the_number_of_a_row_is_not_cut_short() {
    let mechanism = Selection::exponential(1.0, 1.0, false).unwrap();
    let fill = Generator::from_seed(1).next(1).unwrap();
    let far = 1_u64 << 33;
    let row = |number: usize| {
        assert_eq!(number as u64, far);
        &[1.0, 2.0][..]
    };
    let written = mechanism.top_selector(1).write_top(&fill, far, row, &mut [0]);
    assert_eq!(written.is_ok(), usize::BITS > 32);
}

/// Evidence: equality with the exact path, value by value.
#[test]
fn rows_in_a_fill_are_drawn_one_by_one() {
    let mechanism = Selection::staircase(2.0, 1.0, 0.5, false).unwrap();
    let mut random = Random(5);
    let costs: Vec<f64> = (0..3000).map(|_| 6.0 * random.next()).collect();
    let mut generator = Generator::from_seed(9).allow_release();
    let mut out = vec![0; 1000];
    mechanism.select(&mut generator, &costs, &mut out).unwrap();
    let fill = generator.fill_number(0);
    let stage = fill.stage(0);
    for (i, row) in costs.chunks(3).enumerate() {
        let index = mechanism
            .levels
            .choice(row.into())
            .and_then(|choice| choice.index(stage.word(i as u64), &mut |e| stage.extension(i as u64, e), 1));
        assert_eq!(out[i], index.unwrap() as i64);
    }
    let mut often = vec![0; 1000];
    mechanism.select_often(&mut generator, &costs[..3], &mut often).unwrap();
    let fill = generator.fill_number(1);
    let stage = fill.stage(0);
    let choice = mechanism.levels.choice(costs[..3].into()).unwrap();
    for (i, index) in (0..).zip(often) {
        let exact = choice.index(stage.word(i), &mut |e| stage.extension(i, e), 1);
        assert_eq!(index, exact.unwrap() as i64);
    }
}

#[test]
fn thresholds_that_do_not_fit_make_room() {
    let mechanism = Selection::exponential(1.0, 1.0, false).unwrap();
    let rows: Vec<f64> = (0..4_400_000).map(|i| f64::from(i % 1000)).collect();
    assert!(rows.len() > kept::MOST);
    let rows: Vec<&[f64]> = rows.chunks(400_000).collect();
    let mut generator = Generator::from_seed(2).allow_release();
    let fill = generator.next(40).unwrap();
    let (mut again, mut once) = (vec![0; 40], vec![0; 40]);
    mechanism
        .selector(true)
        .write(&fill, 0, rows.iter().copied().cycle(), &mut again)
        .unwrap();
    mechanism
        .selector(false)
        .write(&fill, 0, rows.iter().copied().cycle(), &mut once)
        .unwrap();
    assert_eq!(again, once);
}

#[test]
fn refuses_what_is_no_cost_and_what_is_no_row() {
    let staircase = Selection::staircase(1.0, 1.0, 0.5, false).unwrap();
    let exponential = Selection::exponential(1.0, 1.0, false).unwrap();
    for bad in [f64::NAN, f64::NEG_INFINITY] {
        for i in [0, 1, 1023, 1024, 2047, 2048, 2999] {
            let mut costs = vec![1.0; 3000];
            costs[i] = bad;
            assert_eq!(staircase.refused(&costs), Some(i));
            assert_eq!(exponential.refused(&costs), Some(i));
            costs[i] = f64::INFINITY;
            assert_eq!(staircase.has_infinite(&costs), Ok(true));
            costs[2999 - i] = bad;
            assert_eq!(staircase.has_infinite(&costs), Err(2999 - i));
        }
    }
    assert_eq!(staircase.has_infinite(&vec![f64::MAX; 3000]), Ok(false));
    assert_eq!(staircase.refused(&[0.0, -0.0, f64::MAX, 5e-324, f64::INFINITY]), None);
    assert_eq!(staircase.refused(&[0.0, -5e-324]), Some(1));
    assert_eq!(exponential.refused(&[f64::MIN, f64::MAX]), None);
    let mut generator = Generator::from_seed(1).allow_release();
    let mut out = [7; 2];
    for costs in [&[][..], &[1.0, 2.0, 3.0]] {
        let error = staircase.select(&mut generator, costs, &mut out).unwrap_err();
        assert!(matches!(error, DrawError::Candidates { .. }), "{error}");
    }
    let error = staircase.select(&mut generator, &[1.0, -1.0], &mut out).unwrap_err();
    assert_eq!(error, DrawError::Cost(1));
    assert!(staircase.select_often(&mut generator, &[], &mut out).is_err());
    let never = [1.0, f64::INFINITY, f64::INFINITY, f64::INFINITY];
    for mechanism in [
        &staircase,
        &exponential,
        &Selection::permute_and_flip(1.0, 1.0, false).unwrap(),
    ] {
        let error = mechanism.select(&mut generator, &never, &mut out).unwrap_err();
        assert_eq!(error, DrawError::TooFewFinite { row: 1, needed: 1 });
        let error = mechanism.top(&mut generator, &never, 2, &mut out).unwrap_err();
        assert_eq!(error, DrawError::TooFewFinite { row: 0, needed: 2 });
        for k in [0, 3] {
            let error = mechanism.top(&mut generator, &never, k, &mut out).unwrap_err();
            assert!(matches!(error, DrawError::Candidates { .. }), "{error}");
        }
    }
    for (mechanism, bad) in [
        (&staircase, &[1.0, 0.0][..]),
        (&staircase, &[1.0, 1.5]),
        (&staircase, &[1.0]),
        (&exponential, &[1.0, f64::NAN]),
        (&exponential, &[1.0, 53.0_f64.exp2()]),
        (&Selection::permute_and_flip(1.0, 1.0, false).unwrap(), &[1.0, 1.0]),
    ] {
        let error = mechanism.select_multiplied(&mut generator, &[1.0, 2.0], bad, &mut out[..1]);
        assert_eq!(error, Err(DrawError::Multiplicities));
    }
    let mut seeded = Generator::from_seed(1);
    assert_eq!(staircase.select(&mut seeded, &[1.0, 2.0], &mut out), Err(DrawError::Seeded));
    assert_eq!(staircase.select_often(&mut seeded, &[1.0], &mut out), Err(DrawError::Seeded));
    assert_eq!(staircase.top(&mut seeded, &[1.0, 2.0], 2, &mut out), Err(DrawError::Seeded));
    assert_eq!((out, generator.next_fill(), seeded.next_fill()), ([7; 2], 0, 0));
    for bad in [f64::NAN, f64::INFINITY, 0.0, -0.0, -1.0] {
        assert!(matches!(
            Selection::staircase(bad, 1.0, 0.5, false),
            Err(ParamError::Rule { parameter: "eps", .. })
        ));
        assert!(matches!(
            Selection::staircase(1.0, bad, 0.5, false),
            Err(ParamError::Rule {
                parameter: "sensitivity",
                ..
            })
        ));
        assert!(matches!(
            Selection::exponential(bad, 1.0, false),
            Err(ParamError::Rule { parameter: "eps", .. })
        ));
        assert!(matches!(
            Selection::permute_and_flip(1.0, bad, false),
            Err(ParamError::Rule {
                parameter: "sensitivity",
                ..
            })
        ));
        assert!(matches!(
            Selection::staircase(1.0, 1.0, bad, false),
            Err(ParamError::Rule { parameter: "gamma", .. })
        ));
    }
    assert!(Selection::staircase(1.0, 1.0, 1.0_f64.next_up(), false).is_err());
}
