//! One word's way through a kernel: what all families of distributions have in common.

use super::arithmetic::Arithmetic;

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

/// X of a word with its sign, and whether it is certain.
#[inline(always)]
pub(super) fn signed<A: Arithmetic>(lane: &impl Lane, word: u64) -> (f64, bool) {
    let (magnitude, sure) = lane.magnitude::<A>(word & !SIGN);
    (with_sign(magnitude, word), sure)
}

#[inline(always)]
pub(super) fn with_sign(magnitude: f64, word: u64) -> f64 {
    f64::from_bits(magnitude.to_bits() ^ (word & SIGN))
}
