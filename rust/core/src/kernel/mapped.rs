//! The fast path of a truncated staircase distribution: that of the staircase, after a linear map of v. And of any lane after such a map.

use super::arithmetic::Arithmetic;
use super::lane::WholeLane;
use super::sides::PER_SCALE_SIDED;
use super::staircase::StaircaseLane;
use crate::exact::{self, Staircase};
use crate::lattice::dyadic::power_of_two;

/// u = τ + (1 − τ)·v with τ = S(A + 1), on the words: U = scale·V + offset.
///
/// v < (S(j) − τ)/(1 − τ) is u < S(j), so |X| is the staircase's magnitude for u. No u is beyond the last stair.
///
/// Error of U in units of u, with x the part of scale·V in it:
///
/// ```text
/// V, scale, their product and the sum     4·x
/// τ, and the sum                          2·(1 − x)
/// ```
///
/// An error of τ by a factor 1 + e changes U = V + τ·(2^bits − V) by at most e·(1 − x) of it. [`StaircaseLane`] counts 1 for V: its 12.5 become 15.5,
/// which [`PER_Y`](super::staircase::PER_Y) covers too. τ before it is rounded is off by 2^−120 ([`exact::tail`]). A step of V moves y of an
/// accepted word by less than 1, so this moves it by less than 2^−56: [`FIXED`](super::staircase::FIXED) covers that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Map {
    /// 1 − τ.
    pub scale: f64,
    /// τ·2^bits.
    pub offset: f64,
    /// The tolerance on x that a geometric distribution's first level adds for each unit of κ.
    pub per_scale: f64,
}

impl Map {
    /// The map of a distribution without ends, which changes nothing.
    pub const NONE: Self = Self {
        scale: 1.0,
        offset: 0.0,
        per_scale: 0.0,
    };

    /// No map, for words that [`Sides`](super::sides::Sides) have turned: a V above 2⁴⁸ is up to one unit more off.
    pub const SIDED: Self = Self {
        per_scale: PER_SCALE_SIDED + 1.0 / (1_u64 << 48) as f64,
        ..Self::NONE
    };

    /// The map by τ, given in 2^−128.
    fn new(tail: u128, bits: u32) -> Self {
        let tail = tail as f64 * power_of_two(-128);
        Self {
            scale: 1.0 - tail,
            offset: tail * power_of_two(bits.cast_signed()),
            ..Self::NONE
        }
    }
}

/// The staircase on −A … A, or without ends, ready to be given to a kernel.
pub(super) struct Truncated {
    pub stairs: StaircaseLane,
    pub map: Map,
    /// How many stairs it reaches.
    pub reached: u64,
}

impl Truncated {
    pub fn new(staircase: &Staircase, most: u64, bits: u32) -> Self {
        Self {
            stairs: StaircaseLane::new(staircase, bits),
            map: Map::new(exact::tail(staircase, most), bits),
            // In integers: a quotient of f64s may round to the next one.
            reached: (most + 1 - staircase.r) / staircase.sensitivity_steps + 2,
        }
    }

    pub fn endless(staircase: &Staircase, bits: u32) -> Self {
        Self {
            stairs: StaircaseLane::new(staircase, bits),
            map: Map::NONE,
            reached: u64::MAX,
        }
    }

    /// How many of its stairs lie above the given tail mass, at least.
    pub fn stairs_above(&self, mass: f64) -> u64 {
        // u is not below v: a mass of v is one of u.
        self.stairs.stairs_above(mass).min(self.reached)
    }
}

/// A distribution's lane after the map. Bits beyond the word move u by less than one unit of V, as they do v.
#[derive(Clone, Debug)]
pub(crate) struct MappedLane<L> {
    pub(super) map: Map,
    pub(super) inner: L,
}

impl<L> MappedLane<L> {
    /// `inner` must have the tolerance of mapped words.
    pub fn new(map: Map, inner: L) -> Self {
        Self { map, inner }
    }
}

impl<L: WholeLane> WholeLane for MappedLane<L> {
    #[inline(always)]
    fn reduce_whole<A: Arithmetic>(&self, whole: f64) -> [f64; 3] {
        self.inner
            .reduce_whole::<A>(A::mul_add(whole, self.map.scale, self.map.offset))
    }

    #[inline(always)]
    fn finish_whole<A: Arithmetic>(&self, reduced: [f64; 3]) -> (f64, bool) {
        self.inner.finish_whole::<A>(reduced)
    }

    #[inline(always)]
    fn magnitude_whole<A: Arithmetic>(&self, whole: f64) -> (f64, bool) {
        self.inner
            .magnitude_whole::<A>(A::mul_add(whole, self.map.scale, self.map.offset))
    }
}
