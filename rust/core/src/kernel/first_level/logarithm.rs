//! The first level of geometric distributions of any scale where no instruction looks up tables.

use super::super::arithmetic::{Arithmetic, BLOCK};
use super::super::elementary::{atanh, rough_atanh, split_ln};
use super::super::float::U;
use super::super::geometric::{FIXED, PER_SCALE_ROUGH};
use super::super::lane::WORD_BITS;
use super::super::mapped::Map;
use super::block::{Block, Certain, wholes};
use crate::lattice::value::{Scaling, Value};

/// The formula of [`GeometricLane`](super::super::geometric::GeometricLane), |X| = ⌊κ·(−ln v) + β⌋.
///
/// With V = m·2^(63 − e) and s of m, by [`split_ln`],
///
/// ```text
/// x − ½ = e·κ·ln 2 + (β − ½) − 2κ·atanh s.
/// ```
///
/// What is rounded is x − ½, so that the distance to the nearest whole number shows how far x is from an edge.
///
/// Error of x where V ≥ 2⁴⁸, so that ℓ = −ln v ≤ 10.4 and e·ln 2 ≤ ℓ + ½·ln 2, in units of u:
///
/// ```text
/// V as an f64                 κ
/// 2 atanh s                   0.9κ             below 0.35
/// κ and the product with it   0.7κ
/// κ·ln 2 and its product      4·(ℓ + ½·ln 2)·κ
/// sums                        2·(ℓ + ½·ln 2)·κ + 1
/// β − ½ and the test          11
/// θ                           κ/V              in x: the bits beyond the word
/// ```
///
/// [`PER_SCALE`], [`PER_X`] and [`FIXED`] cover it, and [`PER_SCALE_ROUGH`] where the logarithm is `ROUGH`.
///
/// `MAPPED`: all of this is about U of `canonical` instead of V.
#[derive(Clone, Debug)]
pub(in super::super) struct Logarithm<const ROUGH: bool, const MAPPED: bool> {
    map: Map,
    /// κ·ln 2.
    octave: f64,
    /// β − ½.
    offset: f64,
    /// −2κ.
    slope: f64,
    certain: Certain,
}

/// Words below it are not certain.
pub(in super::super) const LEAST: f64 = (1_u64 << 48) as f64;

/// Tolerance on x for each unit of κ,
pub(in super::super) const PER_SCALE: f64 = 5.0 * U;
/// and of κ·ℓ.
pub(in super::super) const PER_X: f64 = 6.25 * U;

impl<const ROUGH: bool, const MAPPED: bool> Logarithm<ROUGH, MAPPED> {
    /// The level for scale κ and offset β. `None` where too many blocks would be undecided.
    pub fn new(scale: f64, offset: f64, map: Map) -> Option<Self> {
        let longest = f64::from(WORD_BITS) * core::f64::consts::LN_2 - LEAST.ln() + f64::EPSILON;
        let rough = if ROUGH { PER_SCALE_ROUGH } else { 0.0 };
        let per_scale = PER_SCALE + rough + map.per_scale;
        let tolerance = scale * (per_scale + 1.0 / LEAST + longest * PER_X) + FIXED;
        Some(Self {
            map,
            octave: scale * core::f64::consts::LN_2,
            offset: offset - 0.5,
            slope: -2.0 * scale,
            certain: Certain::new(tolerance, LEAST)?,
        })
    }
}

impl<const ROUGH: bool, const MAPPED: bool> Block for Logarithm<ROUGH, MAPPED> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        let whole = wholes::<A, MAPPED>(words, self.map);
        let Self {
            octave, offset, slope, ..
        } = *self;
        let [mut e, mut quotient, mut x] = [[0.0; BLOCK]; 3];
        for i in 0..BLOCK {
            (e[i], quotient[i]) = split_ln(f64::from(WORD_BITS), whole[i]);
        }
        for i in 0..BLOCK {
            let half = if ROUGH {
                rough_atanh::<A, f64>(quotient[i])
            } else {
                atanh::<A, f64>(quotient[i])
            };
            x[i] = A::mul_add(slope, half, A::mul_add(e[i], octave, offset));
        }
        self.certain.write::<A, T>(words, |i| (whole[i], x[i]), scaling, out)
    }
}
