//! For tests alone: child processes, golden vectors, and parameters at random.

#[cfg(target_os = "linux")]
pub(crate) mod children;
pub(crate) mod golden;
pub(crate) mod random;
