//! The fast path of a truncated staircase law: that of the staircase, after a linear map of v. And of any lane after such a map.

use super::arithmetic::{Arithmetic, Separate};
use super::lane::{Lane, OfWhole};
use super::staircase::{PER_Y, StaircaseLane, Stairs};
use crate::lattice::dyadic::power_of_two;

/// u = τ + (1 − τ)·v with τ = S(A + 1), on the words: U = scale·V + offset.
///
/// v < (S(j) − τ)/(1 − τ) is u < S(j), so |X| is the staircase's magnitude for u. No u is beyond the last stair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Map {
    /// 1 − τ.
    pub scale: f64,
    /// τ·2^bits.
    pub offset: f64,
}

/// Tolerance on y for each unit of y. The staircase has 12.5 u, of which V as an `f64` is one. With x the part of scale·V in U, in units of u:
///
/// ```text
/// V, scale, their product and the sum     4·x
/// τ, and the sum                          18·(1 − x)   the numerator and t/2 6.5 each, e^(εJ) 2, a product, a quotient
/// ```
///
/// An error of τ by a factor 1 + e changes U = V + τ·(2^bits − V) by at most e·(1 − x) of it. In all 29.5 at most, and 30.5 for lines, whose offsets have a
/// further product.
pub(super) const PER_Y_MAPPED: f64 = 2.25 * PER_Y;

impl Map {
    /// Of a law without ends.
    pub const NONE: Self = Self { scale: 1.0, offset: 0.0 };

    /// Of the law on −`most` … `most`; `last` is the stair of A + 1.
    fn new(stairs: &Stairs, last: f64, most: u64, bits: u32) -> Self {
        let whole = power_of_two(bits.cast_signed());
        // Beyond 700 the map moves no word: τ < e⁻⁷⁰⁰.
        let tail = if stairs.eps * last <= 700.0 {
            // (r + J·D − (A + 1) + D·c)·e^(−εJ)/(t/2). The whole numbers are below 2⁵³ where any word is decided.
            (stairs.outermost(last) - most as f64 + stairs.floor) / (stairs.unit_of::<Separate>(last) * whole)
        } else {
            0.0
        };
        Self {
            scale: 1.0 - tail,
            offset: tail * whole,
        }
    }
}

/// The staircase on −A … A, ready to be given to a kernel.
pub(super) struct Truncated {
    /// The staircase, with the tolerance of mapped words.
    pub stairs: StaircaseLane,
    pub map: Map,
    /// How many stairs it reaches.
    pub reached: u64,
}

impl Truncated {
    pub fn new(eps: f64, cells: u64, r: u64, most: u64, bits: u32) -> Self {
        let mut stairs = StaircaseLane::new(eps, cells, r, bits);
        stairs.stairs.per_y = PER_Y_MAPPED;
        // In integers: a quotient of f64s may round to the next one.
        let reached = (most + 1 - r) / cells + 2;
        let map = Map::new(&stairs.stairs, (reached - 1) as f64, most, bits);
        Self { stairs, map, reached }
    }

    /// How many of its stairs lie above the given tail mass, at least.
    pub fn stairs_above(&self, mass: f64) -> u64 {
        // u is not below v: a mass of v is one of u.
        self.stairs.stairs_above(mass).min(self.reached)
    }
}

/// A law's lane after the map. Bits beyond the word move u by less than one unit of V, as they do v.
#[derive(Clone, Debug)]
pub(crate) struct MappedLane<L> {
    map: Map,
    inner: L,
}

impl<L> MappedLane<L> {
    /// `inner` must have the tolerance of mapped words.
    pub fn new(map: Map, inner: L) -> Self {
        Self { map, inner }
    }

    /// The law's lane.
    pub fn inner(&self) -> &L {
        &self.inner
    }
}

impl<L: OfWhole> Lane for MappedLane<L> {
    #[inline(always)]
    fn reduce<A: Arithmetic>(&self, bits: u64) -> [f64; 3] {
        self.inner
            .reduce_whole::<A>(A::mul_add(A::from_bits(bits), self.map.scale, self.map.offset))
    }

    #[inline(always)]
    fn finish<A: Arithmetic>(&self, reduced: [f64; 3]) -> (f64, bool) {
        self.inner.finish::<A>(reduced)
    }

    #[inline(always)]
    fn magnitude<A: Arithmetic>(&self, bits: u64) -> (f64, bool) {
        self.inner
            .magnitude_whole::<A>(A::mul_add(A::from_bits(bits), self.map.scale, self.map.offset))
    }
}
