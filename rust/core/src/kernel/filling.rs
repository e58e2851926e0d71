//! What a kernel is given to fill.

use super::arithmetic::BLOCK;
use crate::lattice::value::Scaling;

/// Blocks of words and of the values that they become.
pub(super) struct Filling<'a, T, U = T> {
    pub blocks: &'a [[u64; BLOCK]],
    pub scaling: Scaling,
    pub out: &'a mut [[T; BLOCK]],
    /// Replaces an undecided value, or a block of them. Called rarely, and dynamic, so that the kernels are compiled once for an element type.
    pub undecided: &'a mut dyn FnMut(usize, &mut U),
}
