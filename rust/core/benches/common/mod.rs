//! What the benchmarks share: how many values, how long, and the check that what was timed is noise of the mechanism.

use std::time::Duration;

use criterion::Criterion;

/// Half a mebibyte of output stays in the second-level cache, so that these benchmarks see the kernels; `make bench` sees memory.
pub const VALUES: usize = 1 << 16;

/// Short enough that all of them take a few minutes.
pub fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30)
        .configure_from_args()
}

/// Panics unless the mean magnitude is `expected` within 6 standard errors, with the spread that the values show.
///
/// A correct sampler misses with probability 2e-9 (normal approximation).
#[allow(dead_code, reason = "one of the benchmarks times words, which have no mechanism")]
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
