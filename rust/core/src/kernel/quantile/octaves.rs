//! The first level where an instruction looks up tables of 16 numbers: polynomials in the significand of V, one for each octave.

use super::super::arithmetic::{Arithmetic, BLOCK, map_all};
use super::super::first_level::block::{Block, Certain};
use super::super::float::U;
use super::super::lane::SIGN;
use super::coefficients::{OCTAVES, ROUGH_OCTAVES};
use super::{corrected, edge_error, factors};
use crate::lattice::value::{Scaling, Value};

/// T without the term in x³: where V = m·2^e, Σ cₖ(m − 3/2)ᵏ with N coefficients for each e from 47 on, found by the four last bits of e.
///
/// Error of it, in units of u: V as an `f64` 1.3σ and the bits beyond it 1.3σ/V·2⁵³, as in [`QuantileLane`](super::QuantileLane); its evaluation
/// ([`OCTAVES_ERROR`], with factors that are rounded); σ and the factor 2σx.
#[derive(Clone, Debug)]
pub(in super::super) struct Octaves<const N: usize> {
    tables: [[f64; 16]; N],
    certain: Certain,
}

/// Words below it are not certain,
pub(in super::super) const LEAST: f64 = (1_u64 << 47) as f64;
/// so x is below this: P(N > 4.33) < 2⁻¹⁷ ≤ v/2.
pub(in super::super) const MOST: f64 = 4.33;

/// What the evaluation of x is off by.
pub(in super::super) const OCTAVES_ERROR: f64 = 4.0 * U * MOST;

impl Octaves<9> {
    pub fn rough(sigma2: f64) -> Option<Self> {
        Self::of(sigma2, &ROUGH_OCTAVES.0, ROUGH_OCTAVES.1)
    }
}

impl Octaves<17> {
    pub fn fine(sigma2: f64) -> Option<Self> {
        Self::of(sigma2, &OCTAVES.0, OCTAVES.1)
    }
}

impl<const N: usize> Octaves<N> {
    /// `None` where too many blocks would be undecided.
    fn of(sigma2: f64, coefficients: &[[f64; 16]; N], error: f64) -> Option<Self> {
        let tolerance = tolerance(corrected(sigma2), MOST, self::error(error));
        let [scale, _] = factors(corrected(sigma2));
        Some(Self {
            tables: coefficients.map(|row| row.map(|c| scale * c)),
            certain: Certain::new(tolerance, LEAST)?,
        })
    }
}

/// The error of x, given that of the polynomial.
pub(super) const fn error(polynomial: f64) -> f64 {
    polynomial + OCTAVES_ERROR + 2.0 * U * MOST + 1.3 * U + 1.3 / LEAST
}

/// The tolerance of T without its term in x³, for x up to `most` and an error of x of `per_scale`.
pub(super) fn tolerance(sigma: f64, most: f64, per_scale: f64) -> f64 {
    let ([linear, fifth], [_, cube]) = (edge_error(sigma), factors(sigma));
    sigma * per_scale + most * linear + most.powi(5) * fifth + most.powi(3) * cube + 11.0 * U
}

impl<const N: usize> Block for Octaves<N> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        let whole = map_all(words, |word| A::from_bits(word & !SIGN));
        let x = A::polynomials(&self.tables, &whole);
        self.certain.write::<A, T>(words, |i| (whole[i], x[i]), scaling, out)
    }
}
