//! The crate as its users have it: one program, because every program of tests compiles the kernels anew.

#[cfg(feature = "probe")]
mod fuzz;
mod public;
#[cfg(feature = "rand")]
mod rand_distr;
#[cfg(feature = "probe")]
mod small_stacks;
