//! For tests alone: child processes, golden vectors, and parameters at random.

#[cfg(target_os = "linux")]
pub(crate) mod children;
pub(crate) mod golden;
pub(crate) mod random;

/// Whether all points of a check are tried, as `make test-long` does, or a part of them.
pub(crate) fn long() -> bool {
    std::env::var_os("STAIRNOISE_LONG").is_some()
}
