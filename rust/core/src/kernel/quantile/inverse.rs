//! The first level where no instruction looks up tables.

use super::super::arithmetic::{Arithmetic, BLOCK};
use super::super::first_level::block::{Block, Certain};
use super::super::lane::SIGN;
use super::coefficients::{BEND, ROUGH_BEND};
use super::octaves::tolerance;
use super::{PER_SCALE, PER_X, SLOPE, bend_error, corrected, factors, quantile, split};
use crate::lattice::value::{Scaling, Value};

/// T without the term in x³, by shorter polynomials than those of [`QuantileLane`](super::QuantileLane), and still shorter ones where `ROUGH`.
#[derive(Clone, Debug)]
pub(in super::super) struct Inverse<const ROUGH: bool> {
    scale: f64,
    certain: Certain,
}

/// Words below it are not certain: v = 2⁻¹³.
pub(in super::super) const LEAST: f64 = (1_u64 << 50) as f64;
/// P(N > 3.85) < 2⁻¹⁴.
pub(in super::super) const MOST: f64 = 3.85;

/// The error of x for each unit of σ.
pub(super) const fn error<const ROUGH: bool>() -> f64 {
    let (of, evaluated) = if ROUGH {
        (ROUGH_BEND.1, bend_error(ROUGH_BEND.0[0].len()))
    } else {
        (BEND.1, bend_error(BEND.0[0].len()))
    };
    of + evaluated * (MOST - SLOPE) + PER_X * MOST + PER_SCALE + 1.3 / LEAST
}

impl<const ROUGH: bool> Inverse<ROUGH> {
    /// `None` where too many blocks would be undecided.
    pub fn new(sigma2: f64) -> Option<Self> {
        let [scale, _] = factors(corrected(sigma2));
        Some(Self {
            scale,
            certain: Certain::new(tolerance(corrected(sigma2), MOST, error::<ROUGH>()), LEAST)?,
        })
    }
}

impl<const ROUGH: bool> Block for Inverse<ROUGH> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        let mut whole = [0.0; BLOCK];
        for i in 0..BLOCK {
            whole[i] = A::from_bits(words[i] & !SIGN);
        }
        let x = quantiles::<A, ROUGH>(&whole, self.scale);
        self.certain.write::<A, T>(words, |i| (whole[i], x[i]), scaling, out)
    }
}

/// x times `scale`.
#[inline(always)]
pub(super) fn quantiles<A: Arithmetic, const ROUGH: bool>(whole: &[f64; BLOCK], scale: f64) -> [f64; BLOCK] {
    let mut x = [0.0; BLOCK];
    for i in 0..BLOCK {
        let (q, y) = split::<A>(whole[i]);
        x[i] = scale
            * if ROUGH {
                quantile::<A, _>(&ROUGH_BEND.0, q, y)
            } else {
                quantile::<A, _>(&BEND.0, q, y)
            };
    }
    x
}
