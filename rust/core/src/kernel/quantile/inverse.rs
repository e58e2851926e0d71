//! The first level where no instruction looks up tables.

use super::super::arithmetic::{Arithmetic, BLOCK, map_all};
use super::super::first_level::block::{Block, Certain};
use super::super::float;
use super::super::lane::SIGN;
use super::coefficients::{RATIO, ROUGH_RATIO};
use super::octaves::tolerance;
use super::{PER_SCALE, PER_X, corrected, factors, quotient, quotient_error, split};
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
            x[i] = float::unit(words[i] & !SIGN);
        }
        write_quantiles::<A, ROUGH>(&mut x, self.scale);
        self.certain
            .write::<A, T>(words, |i| (f64::from_bits(words[i] & !SIGN), x[i]), scaling, out)
    }
}

/// Writes x times `scale` over every v.
#[inline(always)]
pub(super) fn write_quantiles<A: Arithmetic, const ROUGH: bool>(x: &mut [f64; BLOCK], scale: f64) {
    if ROUGH {
        write_quotients::<A, _>(x, &ROUGH_RATIO.0, scale);
    } else {
        write_quotients::<A, _>(x, &RATIO.0, scale);
    }
}

#[inline(always)]
fn write_quotients<A: Arithmetic, const N: usize>(x: &mut [f64; BLOCK], [above, below]: &[[f64; N]; 2], scale: f64) {
    let ratio = &[map_all(above, |c| scale * c), *below];
    // One vector in a step.
    if A::FUSED {
        write_by::<A, N, 4>(x, ratio);
    } else {
        write_by::<A, N, 2>(x, ratio);
    }
}

/// A root has a unit of its own: that of the next step is begun before the quotients of one.
#[inline(always)]
fn write_by<A: Arithmetic, const N: usize, const STEP: usize>(x: &mut [f64; BLOCK], ratio: &[[f64; N]; 2]) {
    let begun = |x: &[f64; BLOCK], at: usize| {
        let mut begun = [[0.0; 3]; STEP];
        for i in 0..STEP {
            begun[i] = split::<A>(x[at + i]);
        }
        begun
    };
    let mut next = begun(x, 0);
    for at in (0..BLOCK).step_by(STEP) {
        let now = next;
        if at + STEP < BLOCK {
            next = begun(x, at + STEP);
        }
        for i in 0..STEP {
            let [q, s2, s] = now[i];
            x[at + i] = q * quotient::<A, N>(ratio, s2, s);
        }
    }
}
