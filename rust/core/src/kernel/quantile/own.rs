//! A σ² for every value: X of a block, or NaN.

use super::super::arithmetic::{Arithmetic, BLOCK};
use super::super::float::{U, less};
use super::super::lane::with_sign;
use super::coefficients::{CENTRE, OCTAVES, ROUGH_OCTAVES};
use super::{PER_SCALE, PER_X, inverse, octaves};

/// Up to this σ² the rough polynomials leave one value in 4000 undecided.
const ROUGH: f64 = (1_u64 << 26) as f64;

/// An error of 1/σ is twice in T, and σ has another rounding.
const ROUND: f64 = 2.0 * U;

/// X of every word for σ² ≥ 1, the largest of them `most`, by T: x as in [`octaves`], or [`inverse`] where tables are missing.
#[inline(always)]
pub(in super::super) fn write_own<A: Arithmetic>(
    sigma2: &[f64; BLOCK],
    most: f64,
    words: &[u64; BLOCK],
    whole: &[f64; BLOCK],
    steps: &mut [f64; BLOCK],
) {
    if !A::TABLES {
        let error = CENTRE.2 + PER_X * inverse::MOST + PER_SCALE + 1.3 / inverse::LEAST;
        let x = inverse::quantiles::<A, false>(whole, 1.0);
        nearest::<A, false>(&x, error, inverse::LEAST, sigma2, words, whole, steps);
    } else if most <= ROUGH {
        let x = A::polynomials(&ROUGH_OCTAVES.0, whole);
        let error = octaves::error(ROUGH_OCTAVES.1);
        nearest::<A, true>(&x, error, octaves::LEAST, sigma2, words, whole, steps);
    } else {
        let x = A::polynomials(&OCTAVES.0, whole);
        nearest::<A, false>(&x, octaves::error(OCTAVES.1), octaves::LEAST, sigma2, words, whole, steps);
    }
}

/// The whole numbers nearest to T, given x, its error and the least word for which it is that.
#[inline(always)]
fn nearest<A: Arithmetic, const ROUGH: bool>(
    x: &[f64; BLOCK],
    error: f64,
    least: f64,
    sigma2: &[f64; BLOCK],
    words: &[u64; BLOCK],
    whole: &[f64; BLOCK],
    steps: &mut [f64; BLOCK],
) {
    let (roots, root_error) = A::inverse_roots::<ROUGH>(sigma2);
    let by_x = 2.0 * root_error + ROUND;
    for i in 0..BLOCK {
        let (x, inverse) = (x[i], roots[i]);
        let (sigma, x2, square) = (sigma2[i] * inverse, x * x, inverse * inverse);
        let cube = square * inverse;
        let cubic = A::mul_add(x2, 2.0 / 5760.0, -11.0 / 5760.0);
        let t = x * A::mul_add(cubic, cube, A::mul_add(inverse, -1.0 / 24.0, sigma));
        let nearest = A::round(t);
        // As of `edge_error`.
        let edge = A::mul_add(x2 * x2, 8e-6, 3e-4) * (cube * square);
        let tolerance = A::mul_add(x, A::mul_add(sigma, by_x, edge), A::mul_add(sigma, error, 11.0 * U));
        // Masks: where there are no vectors, the compiler would make branches of choices. Ones make NaN.
        let doubt = less(0.5 - tolerance, (t - nearest).abs()) | less(whole[i], least);
        steps[i] = f64::from_bits(with_sign(nearest, words[i]).to_bits() | doubt);
    }
}
