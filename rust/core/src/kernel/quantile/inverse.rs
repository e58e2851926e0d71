//! The first level where no instruction looks up tables.

use super::super::arithmetic::{Arithmetic, BLOCK};
use super::super::elementary::{minus_ln, rough_minus_ln};
use super::super::first_level::block::{Block, Certain};
use super::super::lane::SIGN;
use super::coefficients::{CENTRE, ROUGH_CENTRE};
use super::octaves::tolerance;
use super::{PER_SCALE, PER_X, corrected, factors, polynomial, split};
use crate::lattice::value::{Scaling, Value};

/// The centre of [`QuantileLane`](super::QuantileLane) without the term in x³, `ROUGH` with a shorter polynomial and logarithm.
#[derive(Clone, Debug)]
pub(in super::super) struct Inverse<const ROUGH: bool> {
    scale: f64,
    certain: Certain,
}

/// Words below it are not certain: 2⁶³·0.00046, where w is below 6.99.
pub(in super::super) const LEAST: f64 = 0.000_46 * (1_u64 << 63) as f64;
/// P(N > 3.505) < 0.00023.
pub(in super::super) const MOST: f64 = 3.505;

/// A third of the error of w, and that of the polynomial.
const ROUGH_ERROR: f64 = 0.52 / 3.0 / (1 << 24) as f64 + ROUGH_CENTRE.2;

impl<const ROUGH: bool> Inverse<ROUGH> {
    /// `None` where too many blocks would be undecided.
    pub fn new(sigma2: f64) -> Option<Self> {
        let error = if ROUGH { ROUGH_ERROR } else { CENTRE.2 };
        let per_scale = error + PER_X * MOST + PER_SCALE + 1.3 / LEAST;
        let [scale, _] = factors(corrected(sigma2));
        Some(Self {
            scale,
            certain: Certain::new(tolerance(corrected(sigma2), MOST, per_scale), LEAST)?,
        })
    }
}

impl<const ROUGH: bool> Block for Inverse<ROUGH> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        let whole = words.map(|word| A::from_bits(word & !SIGN));
        let x = quantiles::<A, ROUGH>(&whole, self.scale);
        self.certain.write::<A, T>(words, |i| (whole[i], x[i]), scaling, out)
    }
}

/// x times `scale` by the centre of [`QuantileLane`](super::QuantileLane). In two stages, as chains of instructions go.
#[inline(always)]
pub(super) fn quantiles<A: Arithmetic, const ROUGH: bool>(whole: &[f64; BLOCK], scale: f64) -> [f64; BLOCK] {
    let [mut q, mut e, mut s] = [[0.0; BLOCK]; 3];
    for i in 0..BLOCK {
        (q[i], e[i], s[i]) = split::<A>(whole[i]);
    }
    core::array::from_fn(
        #[inline(always)]
        |i| {
            let slope = if ROUGH {
                polynomial::<A, f64, _>(&ROUGH_CENTRE.1, rough_minus_ln::<A, f64>(e[i], s[i]) - ROUGH_CENTRE.0)
            } else {
                polynomial::<A, f64, _>(&CENTRE.1, minus_ln::<A, f64>(e[i], s[i]) - CENTRE.0)
            };
            scale * q[i] * slope
        },
    )
}
