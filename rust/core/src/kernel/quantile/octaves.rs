//! The first level where an instruction looks up tables of 16 numbers: polynomials in the significand of V, one for each octave.

use super::super::arithmetic::{Arithmetic, BLOCK};
use super::super::first_level::block::{Block, Certain};
use super::super::float::{Halves, U};
use super::coefficients::{OCTAVES, ROUGH_OCTAVES};
use super::{corrected, edge_error, factors};
use crate::lattice::value::{Scaling, Value};

/// T without the term in x³: where V = m·2^e and t = m − 3/2, for each e from 47 on, found by the four last bits of e,
///
/// ```text
/// P(t) + (t − t₁)···(t − t_N)·F(t),
/// ```
///
/// P with N coefficients, F in `f32`. The tᵢ are the Chebyshev points of t, a power of two of them: the product is t² − 2⁻³ for two, and for twice as
/// many it is that of the half squared less a power of two. With N = 8 it is below 2⁻¹⁵, and with F below 2⁻²³.
///
/// Error of it, in units of u: V as an `f64` 1.3σ and the bits beyond it 1.3σ/V·2⁵³, as in [`QuantileLane`](super::QuantileLane); its evaluation
/// ([`OCTAVES_ERROR`], with factors that are rounded, and [`FACTOR_ERROR`]); σ and the factor 2σx.
#[derive(Clone, Debug)]
pub(in super::super) struct Octaves<const N: usize, const H: usize> {
    wide: [Halves; N],
    narrow: [[f32; 16]; H],
    certain: Certain,
}

/// Words below it are not certain,
pub(in super::super) const LEAST: f64 = (1_u64 << 47) as f64;
/// so x is below this: P(N > 4.33) < 2⁻¹⁷ ≤ v/2.
pub(in super::super) const MOST: f64 = 4.33;

/// What the evaluation of x is off by, but for F,
pub(in super::super) const OCTAVES_ERROR: f64 = 4.0 * U * MOST;
/// and for F times the product, by N.
pub(in super::super) const FACTOR_ERROR: [(usize, f64); 2] = [(1, 5.4e-8), (8, 2.5e-14)];

impl Octaves<1, 8> {
    pub fn rough(sigma2: f64) -> Option<Self> {
        Self::of(sigma2, &ROUGH_OCTAVES.0, &ROUGH_OCTAVES.1, error::<1>())
    }
}

impl Octaves<8, 9> {
    pub fn fine(sigma2: f64) -> Option<Self> {
        Self::of(sigma2, &OCTAVES.0, &OCTAVES.1, error::<8>())
    }
}

impl<const N: usize, const H: usize> Octaves<N, H> {
    /// `None` where too many blocks would be undecided.
    fn of(sigma2: f64, wide: &[[f64; 16]; N], narrow: &[[f64; 16]; H], error: f64) -> Option<Self> {
        let tolerance = tolerance(corrected(sigma2), MOST, error);
        let [scale, _] = factors(corrected(sigma2));
        Some(Self {
            wide: halves(&wide.map(|row| row.map(|c| scale * c))),
            narrow: narrow.map(|row| row.map(|c| (scale * c) as f32)),
            certain: Certain::new(tolerance, LEAST)?,
        })
    }
}

pub(super) const fn halves<const N: usize>(tables: &[[f64; 16]; N]) -> [Halves; N] {
    let mut halves = [[[0; 16]; 2]; N];
    let mut at = 0;
    while at < 16 * N {
        let (k, i) = (at / 16, at % 16);
        let bits = tables[k][i].to_bits();
        [halves[k][0][i], halves[k][1][i]] = [bits as u32, (bits >> 32) as u32];
        at += 1;
    }
    halves
}

pub(super) const fn singles<const H: usize>(tables: &[[f64; 16]; H]) -> [[f32; 16]; H] {
    let mut singles = [[0.0; 16]; H];
    let mut at = 0;
    while at < 16 * H {
        singles[at / 16][at % 16] = tables[at / 16][at % 16] as f32;
        at += 1;
    }
    singles
}

/// The error of x.
pub(super) const fn error<const N: usize>() -> f64 {
    let (polynomial, factor) = match N {
        1 => (ROUGH_OCTAVES.2, FACTOR_ERROR[0]),
        _ => (OCTAVES.2, FACTOR_ERROR[1]),
    };
    assert!(factor.0 == N);
    polynomial + factor.1 + OCTAVES_ERROR + 2.0 * U * MOST + 1.3 * U + 1.3 / LEAST
}

/// The tolerance of T without its term in x³, for x up to `most` and an error of x of `per_scale`.
pub(super) fn tolerance(sigma: f64, most: f64, per_scale: f64) -> f64 {
    let ([linear, fifth], [_, cube]) = (edge_error(sigma), factors(sigma));
    sigma * per_scale + most * linear + most.powi(5) * fifth + most.powi(3) * cube + 11.0 * U
}

impl<const N: usize, const H: usize> Block for Octaves<N, H> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        let (x, below) = A::polynomials(&self.wide, &self.narrow, words, self.certain.lowest);
        // `below` says of all words together what the first number would say of each.
        self.certain.write::<A, T>(words, |i| (f64::MAX, x[i]), scaling, out) & !below
    }
}
