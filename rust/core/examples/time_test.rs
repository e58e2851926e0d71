//! Statistical timing test (docs/evidence/timing.md), like dudect (Reparaz, Balasch and Verbauwhede 2017). Fills from two classes of random words are
//! timed in random order, and their times are compared by Welch's t.
//!
//! `cargo run --release --features probe --example time_test -- [FILLS [KERNEL]]`; exit status 1 if |t| reaches the limit twice, or if a control's |t|
//! does not.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use stairnoise::{Generator, Kind, OneWordMechanism, PartitionSelection, Shape, cpu_tier, probe};

/// A fill has one chunk of values.
const N: usize = 512;
/// Words on whole cache lines: vectors across two lines take longer, and this test must not compare that.
#[repr(align(64))]
struct Lines<T>([T; N]);

/// The number of prepared fills of a class, one of which is chosen at random.
const POOL: usize = 32;
const FILLS: usize = 1_000_000;
const LIMIT: f64 = 10.0;

/// A mechanism for every kernel and for every first level, discrete and continuous.
const MECHANISMS: [(Kind, f64, f64); 12] = [
    (Kind::Laplace, 0.1, 1.0),
    (Kind::Laplace, 1.0, 1.0),
    (Kind::DiscreteLaplace, 0.01, 1.0),
    (Kind::DiscreteLaplace, 0.1, 1.0),
    (Kind::DiscreteLaplace, 1.5, 1.0),
    (Kind::DiscreteLaplace, 4.0, 1.0),
    (Kind::Staircase, 0.1, 1.0),
    (Kind::Staircase, 1.0, 1.0),
    (Kind::Staircase, 4.0, 1.0),
    (Kind::DiscreteStaircase, 0.1, 5.0),
    (Kind::DiscreteStaircase, 2.0, 5.0),
    (Kind::DiscreteStaircase, 10.0, 100.0),
];

fn main() -> ExitCode {
    let fills = std::env::args()
        .nth(1)
        .map_or(FILLS, |n| n.parse().expect("a number of fills"));
    println!(
        "instruction set {}, {fills} fills of {N} values each",
        cpu_tier().expect("STAIRNOISE_CPU")
    );
    let mut failures = 0;
    let mut random = Random(Generator::from_seed(2017));
    let only = std::env::args().nth(2).unwrap_or_default();
    for (kind, eps, sensitivity) in MECHANISMS {
        let mechanism = OneWordMechanism::new(kind, eps, sensitivity, Shape::L1).expect("valid parameters");
        let name = format!(
            "{kind:?}({eps}, {sensitivity}) {} and {}",
            probe::first_level(&mechanism),
            probe::kernel(&mechanism)
        );
        if name.contains(&only) {
            failures += of_mechanism(&mechanism, &name, &mut random, fills);
        }
    }
    if "partitions, counted".contains(&only) {
        failures += of_partitions(&mut random, fills);
    }
    failures += controls(&mut random, fills);
    println!("{failures} failures");
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Counts differences that must not exist. A difference may come from the machine, so it counts only if fresh words show it again, in the same
/// direction.
fn of_mechanism(mechanism: &OneWordMechanism, name: &str, random: &mut Random, fills: usize) -> usize {
    let Lines(answers) = &Lines::<f64>(std::array::from_fn(|i| i as f64 / 7.0));
    let mut failures = 0;
    for comparison in [
        "sample, small against large",
        "sample, small against other small",
        "sample, one word against random",
        "release, small against large",
    ] {
        let once = || {
            let first = certain_words(mechanism, random, SMALL);
            let (first, second) = match comparison {
                "sample, small against other small" => (first, certain_words(mechanism, random, SMALL)),
                "sample, one word against random" => (vec![[first[0][0]; N]; POOL], certain_words(mechanism, random, ALL)),
                _ => (first, certain_words(mechanism, random, LARGE)),
            };
            let Lines(out) = &mut Lines([0.0_f64; N]);
            let times = if comparison.starts_with("release") {
                compare(random, fills, [&first, &second], |words| {
                    probe::release(mechanism, words, answers, out);
                })
            } else {
                compare(random, fills, [&first, &second], |words| probe::write(mechanism, words, out))
            };
            times.report(&format!("{name}, {comparison}"), false)
        };
        failures += found_twice(once);
    }
    failures
}

/// Counts of people that small words show and large words hide, by a mechanism whose thresholds are counted.
fn of_partitions(random: &mut Random, fills: usize) -> usize {
    let mechanism = PartitionSelection::new(1.0, 1e-6, 1).expect("valid parameters");
    mechanism.prepare().expect("memory for thresholds");
    let counts: [i64; N] = std::array::from_fn(|i| 10 + i as i64 % 9);
    let mut words = |[low, high]: [f64; 2]| -> Vec<[u64; N]> {
        let mut word = || ((low + (high - low) * (random.word() >> 11) as f64 / 2.0_f64.powi(53)) * 2.0_f64.powi(64)) as u64;
        (0..POOL).map(|_| std::array::from_fn(|_| word())).collect()
    };
    let (small, large) = (words([0.0, 0.01]), words([0.95, 1.0]));
    let mut out = [0; N];
    found_twice(|| {
        let times = compare(random, fills, [&small, &large], |words| {
            probe::release_partitions(&mechanism, words, &counts, black_box(&mut out));
        });
        times.report("partitions, counted thresholds, release, shown against hidden", false)
    })
}

/// Returns 1 if a difference is found twice, in the same direction.
fn found_twice(mut once: impl FnMut() -> f64) -> usize {
    let t = once();
    if t.abs() < LIMIT {
        return 0;
    }
    let again = once();
    usize::from(again.abs() >= LIMIT && again * t > 0.0)
}

/// Controls, whose differences must be found: a loop that ends when the noise is found, and a fill with one value on the slow path.
fn controls(random: &mut Random, fills: usize) -> usize {
    let mechanism = OneWordMechanism::new(Kind::DiscreteLaplace, 0.1, 1.0, Shape::L1).expect("valid parameters");
    let (small, large) = (
        certain_words(&mechanism, random, SMALL),
        certain_words(&mechanism, random, LARGE),
    );
    let Lines(out) = &mut Lines([0.0_f64; N]);
    let one_by_one = compare(random, fills / 10, [&small, &large], |words| {
        for (out, word) in out.iter_mut().zip(words) {
            *out = counted(*word);
        }
    });
    let slow_fill = |words: &[u64]| probe::write(&mechanism, words, out);
    let undecided: Vec<[u64; N]> = small.iter().map(|words| with_uncertain_word(*words)).collect();
    let slow = compare(random, fills / 10, [&small, &undecided], slow_fill);
    [
        one_by_one.report("control: counting, small against large", true),
        slow.report("control: one value in 512 on the slow path", true),
    ]
    .into_iter()
    .filter(|t| t.abs() < LIMIT)
    .count()
}

fn counted(word: u64) -> f64 {
    let v = (word << 1) as f64 / 2.0_f64.powi(64);
    let (mut magnitude, mut survival) = (0.0, 0.95_f64);
    while v < black_box(survival) {
        magnitude += 1.0;
        survival *= 0.9;
    }
    magnitude
}

/// Adds v = 0, about which every kernel is uncertain.
fn with_uncertain_word(mut words: [u64; N]) -> [u64; N] {
    words[N / 2] = 0;
    words
}

/// Ranges of v: the nine tenths of all draws nearest zero, one draw in 1000 to 4000, and all.
const SMALL: [f64; 2] = [0.1, 1.0];
const LARGE: [f64; 2] = [1.0 / 4000.0, 1.0 / 1000.0];
const ALL: [f64; 2] = [0.0, 1.0];

/// Words of random sign with v in the range, about which both levels are certain.
fn certain_words(mechanism: &OneWordMechanism, random: &mut Random, [low, high]: [f64; 2]) -> Vec<[u64; N]> {
    let scale = 2.0_f64.powi(63);
    let (low, width) = ((low * scale) as u64, ((high - low) * scale) as u64);
    let mut draw = || {
        loop {
            let word = random.word();
            let word = (word & 1 << 63) | (low + ((u128::from(word << 1) * u128::from(width)) >> 64) as u64);
            let mut certain = true;
            probe::undecided(mechanism, &[word], &mut [0.0], |_| certain = false);
            if certain && probe::is_certain(mechanism, word) {
                return word;
            }
        }
    };
    (0..POOL).map(|_| std::array::from_fn(|_| draw())).collect()
}

/// Times of the two classes, cropped as in dudect: times above a quantile of all times are the machine's noise. The largest |t| of several crops
/// counts.
struct Times([Vec<f64>; 2]);

fn compare(random: &mut Random, fills: usize, classes: [&[[u64; N]]; 2], mut fill: impl FnMut(&[u64])) -> Times {
    let mut times = [Vec::with_capacity(fills), Vec::with_capacity(fills)];
    let Lines(words) = &mut Lines([0_u64; N]);
    for i in 0..fills {
        let choice = random.word();
        let class = (choice & 1) as usize;
        // Both classes are read in any case, so that preparing a fill leaves the same traces.
        let pick = (choice >> 1) as usize % POOL;
        let second = black_box((class as u64).wrapping_neg());
        for (i, word) in words.iter_mut().enumerate() {
            *word = classes[0][pick][i] & !second | classes[1][pick][i] & second;
        }
        let words: &[u64] = black_box(words);
        let start = Instant::now();
        fill(words);
        let time = start.elapsed().as_nanos() as f64;
        // The first fills warm caches and predictors.
        if i >= fills / 100 {
            times[class].push(time);
        }
    }
    Times(times)
}

const CROPS: [f64; 5] = [0.5, 0.75, 0.9, 0.95, 0.99];

impl Times {
    /// Prints the comparison and returns its t.
    fn report(&self, name: &str, dependent: bool) -> f64 {
        let mut all: Vec<f64> = self.0.concat();
        all.sort_by(f64::total_cmp);
        let (t, difference, mean) = CROPS
            .into_iter()
            .filter_map(|share| welch(&self.0, all[(share * all.len() as f64) as usize]))
            .max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))
            .expect("the last crop leaves both classes");
        let right = (t.abs() >= LIMIT) == dependent;
        let verdict = if right { "ok" } else { "beyond" };
        println!("{verdict:6} {name}: t = {t:.1}, {difference:+.2} of {mean:.0} ns per fill");
        t
    }
}

/// Welch's t, the difference of the means and the first mean, for times up to `most`, if there are a hundred of either class.
fn welch(times: &[Vec<f64>; 2], most: f64) -> Option<(f64, f64, f64)> {
    if times
        .iter()
        .any(|times| times.iter().filter(|time| **time <= most).count() < 100)
    {
        return None;
    }
    let [first, second] = times.each_ref().map(|times| {
        let kept: Vec<f64> = times.iter().copied().filter(|time| *time <= most).collect();
        let n = kept.len() as f64;
        let mean = kept.iter().sum::<f64>() / n;
        let variance = kept.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance / n)
    });
    let difference = second.0 - first.0;
    Some((difference / (first.1 + second.1).sqrt(), difference, first.0))
}

/// Random words, a buffer at a time.
struct Random(Generator);

impl Random {
    fn word(&mut self) -> u64 {
        let mut word = [0];
        self.0.next(1).expect("fills are left").keystream(0, &mut word);
        word[0]
    }
}
