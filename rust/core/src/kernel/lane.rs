//! One word's way through a kernel: what all families of distributions have in common.

use super::arithmetic::{Arithmetic, BLOCK};
use crate::lattice::value::Scaling;

/// Bits of `v` in a word: all but the sign.
pub(crate) const WORD_BITS: u32 = 63;

pub(super) const SIGN: u64 = 1 << 63;

/// Beyond this many steps in a sensitivity and in the noise scale, a double does not distinguish neighbouring steps. Every word then goes to the slow
/// path. The bound also keeps every accepted magnitude below 2⁵¹: the scale is at most 2⁴⁵ steps and −ln v at most 45.
pub(super) const MAX_SPAN: f64 = (1_u64 << 45) as f64;

/// Mass that may go to the slow path for want of a rung.
pub(super) const RARE: f64 = 1.0 / (1_u64 << 14) as f64;

/// One family's lane, in two stages: a block goes through the first, then the second. Shorter chains give the processor more independent work.
pub(super) trait Lane {
    /// The word whose sign and bits count.
    #[inline(always)]
    fn turn(&self, word: u64) -> u64 {
        word
    }

    /// What the second stage needs, from the leading bits of `v`.
    fn reduce<A: Arithmetic>(&self, bits: u64) -> [f64; 3];

    /// |X| as a whole `f64`, and whether it is certain. An uncertain magnitude may be anything.
    fn finish<A: Arithmetic>(&self, reduced: [f64; 3]) -> (f64, bool);

    #[inline(always)]
    fn magnitude<A: Arithmetic>(&self, bits: u64) -> (f64, bool) {
        self.finish::<A>(self.reduce::<A>(bits))
    }
}

/// A lane whose first stage takes the leading bits of v as an `f64`.
pub(super) trait WholeLane {
    fn reduce_whole<A: Arithmetic>(&self, whole: f64) -> [f64; 3];

    fn finish_whole<A: Arithmetic>(&self, reduced: [f64; 3]) -> (f64, bool);

    #[inline(always)]
    fn magnitude_whole<A: Arithmetic>(&self, whole: f64) -> (f64, bool) {
        self.finish_whole::<A>(self.reduce_whole::<A>(whole))
    }
}

impl<L: WholeLane> Lane for L {
    #[inline(always)]
    fn reduce<A: Arithmetic>(&self, bits: u64) -> [f64; 3] {
        self.reduce_whole::<A>(A::from_bits(bits))
    }

    #[inline(always)]
    fn finish<A: Arithmetic>(&self, reduced: [f64; 3]) -> (f64, bool) {
        self.finish_whole::<A>(reduced)
    }

    #[inline(always)]
    fn magnitude<A: Arithmetic>(&self, bits: u64) -> (f64, bool) {
        self.magnitude_whole::<A>(A::from_bits(bits))
    }
}

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

/// Blocks of words and of the values that they become.
pub(super) struct Filling<'a, T, U = T> {
    pub blocks: &'a [[u64; BLOCK]],
    pub scaling: Scaling,
    pub out: &'a mut [[T; BLOCK]],
    /// Replaces an undecided value, or a block of them. Called rarely, and dynamic, so that the kernels are compiled once for an element type.
    pub undecided: &'a mut dyn FnMut(usize, &mut U),
}

impl<'a, T, U> Filling<'a, T, U> {
    pub fn new(
        blocks: &'a [[u64; BLOCK]],
        scaling: Scaling,
        out: &'a mut [[T; BLOCK]],
        undecided: &'a mut dyn FnMut(usize, &mut U),
    ) -> Self {
        Self {
            blocks,
            scaling,
            out,
            undecided,
        }
    }
}

/// X of a word with its sign, and whether it is certain.
#[inline(always)]
pub(super) fn signed<A: Arithmetic>(lane: &impl Lane, word: u64) -> (f64, bool) {
    let word = lane.turn(word);
    let (magnitude, sure) = lane.magnitude::<A>(word & !SIGN);
    (with_sign(magnitude, word), sure)
}

#[inline(always)]
pub(super) fn with_sign(magnitude: f64, word: u64) -> f64 {
    f64::from_bits(magnitude.to_bits() ^ (word & SIGN))
}
