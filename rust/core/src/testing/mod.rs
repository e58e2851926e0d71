//! For tests alone: parameters at random, and golden vectors.

pub(crate) mod golden;
pub(crate) mod random;
