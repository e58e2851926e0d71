//! The fast path of a geometric distribution on −a … b: that of the endless one, after whole numbers have found the side and moved v.

use super::arithmetic::{Arithmetic, BLOCK, Separate};
use super::elementary::{minus_ln, split_ln};
use super::float::U;
use super::geometric::GeometricLane;
use super::lane::{Lane, SIGN, WORD_BITS, WholeLane};
use crate::exact::TruncatedGeometric;
use crate::lattice::dyadic::power_of_two;

/// From a word to another, whose sign and bits kernels take as any word's.
///
/// With N, w, k and e of `exact::truncated_geometric` the question |X| ≥ k is w + x^(e+1)/N < x^k/N. All of it is multiplied by 2^−m, so that N·2^m
/// is from 1 to 2. Let y be the 63 leading bits of w. Then
///
/// ```text
/// V = ⌊y·2^−m⌋ + ⌊x^(e+1)/(N·2^m)·2^63⌋,     |X| = ⌊κ·(−ln((V + θ)·2^−63)) + β⌋,     β = −κ·ln(N·2^m),     0 ≤ θ < 2,
/// ```
///
/// because either number may be up to 1 more than its whole part. (V + θ)·2^−63 is below 1/(N·2^m), and V below 2^63.
///
/// X ≥ 0 where v is below P(X ≥ 0) = (1 − x^(b+1))/N, and `edge` is the whole part of that, or of 2^−14 less. A word of exactly `edge` may belong to
/// either side and is taken for one of X < 0. There its w is at most 1 + 2^−14 steps of y beyond |X| = 1. With θ, x is then nearer to 1 than the
/// tolerance of two steps, and the word is not accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides {
    edge: i64,
    /// m.
    shift: u32,
    /// What ⌊v·2^−m⌋ is added to where X ≥ 0,
    above: u64,
    /// and what it is subtracted from where X < 0, with the sign: ⌊(2^63 − 1 − v)·2^−m⌋ is 2^(63 − m) − 1 − ⌊v·2^−m⌋.
    below: u64,
    /// 1/(N·2^m) in 2^−127.
    pub inverse: u128,
    /// κ.
    pub scale: f64,
    /// β.
    pub offset: f64,
}

/// Tolerance on x for each unit of κ, for β, which is up to κ·ln 2, in units of u:
///
/// ```text
/// 1/(N·2^m), its logarithm       2.9     (1.2 + ln 2 for the logarithm)
/// κ, their product               1.4
/// 3 of κ·ℓ, as that is x − β     2.1     in a lane
/// two sums                       1.4     in a first level
/// ```
pub(super) const PER_SCALE_SIDED: f64 = 8.0 * U;

/// Room for what [`TruncatedGeometric::shares`] are off by, in 2^−127.
const SHARE_ERROR: u128 = 1 << 8;

impl Sides {
    pub fn new(distribution: &TruncatedGeometric) -> Self {
        let (shift, [inverse, above, below]) = distribution.shares();
        let whole = |share: u128| (share.saturating_sub(SHARE_ERROR) >> 64) as u64;
        let scale = distribution.sensitivity_steps as f64 / distribution.eps;
        // Twice the number, for which `split_ln` is: it is 1 or more.
        let (e, s) = split_ln(1.0, inverse as f64 * power_of_two(-126));
        Self {
            edge: ((inverse - above).saturating_sub(SHARE_ERROR) >> (64 - shift)) as i64,
            shift,
            above: whole(above),
            below: whole(below).wrapping_add(SIGN + (!SIGN >> shift)),
            inverse,
            scale,
            offset: -scale * minus_ln::<Separate, f64>(e, s),
        }
    }

    #[inline(always)]
    pub fn turn(&self, word: u64) -> u64 {
        let (v, [above, below]) = self.sums(word);
        // All ones from the edge on. For one word the compiler would make a branch of a choice.
        let is_below = ((self.edge - 1).wrapping_sub(v) >> 63).cast_unsigned();
        above ^ ((above ^ below) & is_below)
    }

    /// [`Sides::turn`] of a block.
    #[inline(always)]
    pub fn turned(&self, words: &[u64; BLOCK]) -> [u64; BLOCK] {
        // A loop: where units are compiled apart, `array::map` is a function for the baseline.
        let mut turned = [0; BLOCK];
        for i in 0..BLOCK {
            let (v, [above, below]) = self.sums(words[i]);
            turned[i] = if v < self.edge { above } else { below };
        }
        turned
    }

    /// v, and V for either side, of which the wrong one may wrap.
    #[inline(always)]
    fn sums(&self, word: u64) -> (i64, [u64; 2]) {
        let v = word & !SIGN;
        let leading = v >> self.shift;
        (
            v.cast_signed(),
            [self.above.wrapping_add(leading), self.below.wrapping_sub(leading)],
        )
    }
}

/// A lane or a first level after [`Sides`].
#[derive(Clone, Debug)]
pub(crate) struct Turned<T> {
    pub(super) sides: Sides,
    pub(super) inner: T,
}

impl Turned<GeometricLane> {
    pub fn new(distribution: &TruncatedGeometric) -> Self {
        let sides = Sides::new(distribution);
        let inner = GeometricLane::one_sided(distribution.eps, distribution.sensitivity_steps, WORD_BITS);
        let inner = GeometricLane {
            offset: sides.offset,
            beyond: 2.0 * inner.beyond,
            slack: inner.slack + inner.scale * PER_SCALE_SIDED,
            ..inner
        };
        Self { sides, inner }
    }
}

impl<L: WholeLane> Lane for Turned<L> {
    #[inline(always)]
    fn turn(&self, word: u64) -> u64 {
        self.sides.turn(word)
    }

    #[inline(always)]
    fn reduce<A: Arithmetic>(&self, bits: u64) -> [f64; 3] {
        self.inner.reduce::<A>(bits)
    }

    #[inline(always)]
    fn finish<A: Arithmetic>(&self, reduced: [f64; 3]) -> (f64, bool) {
        self.inner.finish::<A>(reduced)
    }
}
