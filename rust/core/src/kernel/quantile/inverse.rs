//! The first level where no instruction looks up tables.

use super::super::arithmetic::{Arithmetic, BLOCK};
use super::super::first_level::block::{Block, Certain};
use super::super::lane::SIGN;
use super::coefficients::{RATIO, ROUGH_RATIO};
use super::octaves::tolerance;
use super::{PER_SCALE, PER_X, corrected, factors, quotient_error, ratio, split};
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
    let (of, coefficients) = if ROUGH {
        (ROUGH_RATIO.1, ROUGH_RATIO.0[0].len())
    } else {
        (RATIO.1, RATIO.0[0].len())
    };
    of + (quotient_error(coefficients) + PER_X) * MOST + PER_SCALE + 1.3 / LEAST
}

impl<const ROUGH: bool> Inverse<ROUGH> {
    /// `None` where too many blocks would be undecided.
    pub fn new(sigma2: f64) -> Option<Self> {
        let [scale, _] = factors(corrected(sigma2));
        Some(Self {
            scale,
            certain: Certain::new(tolerance(corrected(sigma2), MOST, error::<ROUGH>()), LEAST)?.of_words(),
        })
    }
}

impl<const ROUGH: bool> Block for Inverse<ROUGH> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        let mut x = [0.0; BLOCK];
        for i in 0..BLOCK {
            x[i] = A::from_bits(words[i] & !SIGN);
        }
        write_quantiles::<A, ROUGH>(&mut x, self.scale);
        self.certain
            .write::<A, T>(words, |i| (f64::from_bits(words[i] & !SIGN), x[i]), scaling, out)
    }
}

/// Writes x times `scale` over every V.
#[inline(always)]
pub(super) fn write_quantiles<A: Arithmetic, const ROUGH: bool>(x: &mut [f64; BLOCK], scale: f64) {
    // One vector in a step.
    if A::FUSED {
        write_quantiles_by::<A, ROUGH, 4>(x, scale);
    } else {
        write_quantiles_by::<A, ROUGH, 2>(x, scale);
    }
}

/// A root has a unit of its own: those of the next two steps are begun before the quotients of one, which need not wait for them.
#[inline(always)]
fn write_quantiles_by<A: Arithmetic, const ROUGH: bool, const STEP: usize>(x: &mut [f64; BLOCK], scale: f64) {
    let begun = |x: &[f64; BLOCK], at: usize| {
        let [mut q, mut s] = [[0.0; STEP]; 2];
        for i in 0..STEP {
            (q[i], s[i]) = split::<A>(x[at + i]);
            q[i] *= scale;
        }
        (q, s)
    };
    let [mut next, mut after] = [begun(x, 0), begun(x, STEP)];
    for at in (0..BLOCK).step_by(STEP) {
        let (q, s) = next;
        next = after;
        if at + 2 * STEP < BLOCK {
            after = begun(x, at + 2 * STEP);
        }
        for i in 0..STEP {
            let ratio = if ROUGH {
                ratio::<A, _>(&ROUGH_RATIO.0, s[i])
            } else {
                ratio::<A, _>(&RATIO.0, s[i])
            };
            x[at + i] = q[i] * ratio;
        }
    }
}
