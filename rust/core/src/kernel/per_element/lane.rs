//! The stages of a lane that makes the constants of its distribution.

use super::super::arithmetic::Arithmetic;
#[cfg(doc)]
use super::super::lane::Lane;

/// A family's distribution in a lane: [`Lane`] with its constants, N numbers, made on the way.
///
/// A block goes through each stage before it goes through the next. The stages are short, so that the processor works on several of their chains at
/// a time: for a staircase on AVX2, they take 27 to 95 instructions for four lanes.
pub(super) trait OwnLane<const N: usize> {
    /// The constant that takes longest to compute, with what the others need; and g.
    fn place<A: Arithmetic>(eps: f64, sensitivity: f64) -> ([f64; 3], f64);

    fn prepare<A: Arithmetic>(eps: f64, shape: f64, placed: [f64; 3]) -> [f64; N];

    fn reduce<A: Arithmetic>(constants: [f64; N], bits: u64) -> [f64; 3];

    /// The elementary function of what is reduced.
    fn evaluate<A: Arithmetic>(constants: [f64; N], reduced: [f64; 3]) -> [f64; 3];

    fn finish<A: Arithmetic>(constants: [f64; N], evaluated: [f64; 3]) -> (f64, bool);
}
