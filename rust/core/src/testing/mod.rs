//! For tests alone: child processes, golden vectors, and parameters at random.

#[cfg(target_os = "linux")]
pub(crate) mod children;
pub(crate) mod golden;
pub(crate) mod random;

/// Whether all points of a check are tried, as `make test-long` does, or a part of them.
pub(crate) fn long() -> bool {
    std::env::var_os("STAIRNOISE_LONG").is_some()
}

/// The pairs of two lists, or every second one where not all points are tried.
pub(crate) fn pairs<A: Copy, B: Copy>(firsts: &[A], seconds: &[B]) -> Vec<(A, B)> {
    let all = firsts.iter().flat_map(|first| seconds.iter().map(|second| (*first, *second)));
    all.step_by(if long() { 1 } else { 2 }).collect()
}
