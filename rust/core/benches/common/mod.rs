//! Shared code of the benchmarks: a clock, the number of values, and a check that timed values have the mechanism's distribution.

#![allow(dead_code, reason = "each benchmark uses a part")]

use std::time::{Duration, Instant};

use stairnoise::{Generator, Holds, Mechanism};

/// Half a mebibyte of output stays in the second-level cache, so these benchmarks time the kernels; `make bench` also times memory.
pub const VALUES: usize = 1 << 16;

/// With so many runs all benchmarks take a minute.
const RUNS: usize = 30;
const RUN: Duration = Duration::from_millis(20);

/// Times `work` and prints the quickest and the median run, if the arguments contain a part of `name` or are empty. Returns whether it did.
pub fn time(name: &str, values: usize, mut work: impl FnMut()) -> bool {
    let mut parts = std::env::args().skip(1).filter(|part| !part.starts_with('-')).peekable();
    if parts.peek().is_some() && !parts.any(|part| name.contains(&part)) {
        return false;
    }
    let mut repeated = |times: u32| {
        let start = Instant::now();
        (0..times).for_each(|_| work());
        start.elapsed()
    };
    let mut times = 1;
    while repeated(times) < RUN {
        times *= 2;
    }
    let mut runs: Vec<f64> = (0..RUNS).map(|_| repeated(times).as_secs_f64()).collect();
    runs.sort_by(f64::total_cmp);
    let [quickest, median] = [runs[0], runs[RUNS / 2]].map(|seconds| seconds * 1e9 / f64::from(times) / values as f64);
    println!("{name:60} {quickest:9.3} ns a value, median {median:.3}");
    true
}

/// Panics unless the mean magnitude is within 6 standard errors of `expected`; the values give the standard error.
///
/// A correct sampler misses with probability 2e-9 (normal approximation).
pub fn check(values: impl ExactSizeIterator<Item = f64>, expected: f64, name: &str) {
    let n = values.len() as f64;
    let (sum, squares) = values.fold((0.0, 0.0), |(sum, squares), x| (sum + x.abs(), squares + x * x));
    let mean = sum / n;
    let error = ((squares / n - mean * mean) / n).sqrt();
    assert!(
        (mean - expected).abs() <= 6.0 * error,
        "{name}: E|X| is {mean}, expected {expected} ± {error}"
    );
}

/// Times fills of a mechanism, and checks the last one.
pub fn fills<M: Mechanism, T: Holds<M> + Copy + Default>(name: &str, mechanism: &M, expected: f64, number: impl Fn(T) -> f64) {
    let (mut generator, mut out) = (Generator::from_seed(1), vec![T::default(); VALUES]);
    if time(name, VALUES, || {
        mechanism.fill(&mut generator, &mut out).expect("fills are left");
    }) {
        check(out.iter().map(|&x| number(x)), expected, name);
    }
}
