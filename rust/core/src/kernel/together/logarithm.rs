//! The first level of geometric laws of any scale where no instruction looks up tables.

use super::super::arithmetic::{Arithmetic, BLOCK};
use super::super::elementary::{minus_ln, rough_minus_ln, split_ln};
use super::super::geometric::{FIXED, PER_SCALE, PER_SCALE_ROUGH, PER_X};
use super::super::lane::WORD_BITS;
use super::super::mapped::Map;
use super::block::{Block, Certain, per_scale_of_map, wholes};
use crate::lattice::value::{Steps, Value};

/// The formula of [`GeometricLane`](super::super::geometric::GeometricLane), |X| = ⌊κ·(−ln v) + β⌋, with its errors; `ROUGH` as in
/// [`CoarseLane`](super::super::geometric::CoarseLane).
///
/// What is rounded is x − ½, so that the distance to the nearest whole number tells how far x is from an edge. That sum is less than x or ½.
///
/// `MAPPED`: all of this is about U of `canonical` in place of V.
#[derive(Clone, Debug)]
pub(in super::super) struct Logarithm<const ROUGH: bool, const MAPPED: bool> {
    map: Map,
    scale: f64,
    /// β − ½.
    offset: f64,
    certain: Certain,
}

/// Words below it are not certain.
const LEAST: f64 = (1_u64 << 48) as f64;

impl<const ROUGH: bool, const MAPPED: bool> Logarithm<ROUGH, MAPPED> {
    /// Of scale κ, with β. `None` where too many blocks would be in doubt.
    pub fn new(scale: f64, offset: f64, map: Map) -> Option<Self> {
        let longest = f64::from(WORD_BITS) * core::f64::consts::LN_2 - LEAST.ln() + f64::EPSILON;
        let rough = if ROUGH { PER_SCALE_ROUGH } else { 0.0 };
        let per_scale = PER_SCALE + rough + per_scale_of_map::<MAPPED>();
        let tolerance = scale * (per_scale + 1.0 / LEAST) + (scale * longest + 1.0) * PER_X + FIXED;
        Some(Self {
            map,
            scale,
            offset: offset - 0.5,
            certain: Certain::new(tolerance, LEAST)?,
        })
    }
}

impl<const ROUGH: bool, const MAPPED: bool> Block for Logarithm<ROUGH, MAPPED> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], steps: Steps, out: &mut [T; BLOCK]) -> bool {
        let whole = wholes::<A, MAPPED>(words, self.map);
        let [mut e, mut quotient, mut x] = [[0.0; BLOCK]; 3];
        for i in 0..BLOCK {
            (e[i], quotient[i]) = split_ln(whole[i]);
        }
        for i in 0..BLOCK {
            let e = f64::from(WORD_BITS) - e[i];
            let logarithm = if ROUGH {
                rough_minus_ln::<A, f64>(e, quotient[i])
            } else {
                minus_ln::<A, f64>(e, quotient[i])
            };
            x[i] = A::mul_add(self.scale, logarithm, self.offset);
        }
        self.certain.write(words, &whole, &x, steps, out)
    }
}
