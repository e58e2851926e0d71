//! A σ² for every value: X of a block, or NaN.

use super::super::arithmetic::{Arithmetic, BLOCK, map_all};
use super::super::float::{Halves, U, less};
use super::super::lane::{SIGN, WORD_BITS, with_sign};
use super::coefficients::{OCTAVES, ROUGH_OCTAVES};
use super::{EDGE, inverse, octaves};
use crate::lattice::dyadic::power_of_two;

/// Up to this σ² the rough polynomials leave one value in 2000 undecided.
const ROUGH: f64 = (1_u64 << 24) as f64;

/// From this σ² on, T is ςx but for [`LEFT_OUT`].
const WIDE: f64 = (1_u64 << 8) as f64;

/// (x³ − 3x)/(2880ς³) and [`EDGE`], x ≤ 4.33.
const LEFT_OUT: f64 = 6e-6;

/// What the error of a quotient of `f32`s changes in that term of T where σ² ≥ 1.
const NARROWED: f64 = 2e-8;

/// ς and T have more roundings here than there.
const ROUND: f64 = 2.0 * U;

/// X of every word for σ² ≥ 1, given the least and the largest, by T: x as in [`octaves`], or [`inverse`] where tables are missing.
#[inline(always)]
pub(in super::super) fn write_own<A: Arithmetic>(
    sigma2: &[f64; BLOCK],
    [least, most]: [f64; 2],
    words: &[u64; BLOCK],
    steps: &mut [f64; BLOCK],
) {
    match (least >= WIDE, most <= ROUGH) {
        (true, true) => write_by::<A, true, true>(sigma2, words, steps),
        (true, false) => write_by::<A, true, false>(sigma2, words, steps),
        (false, true) => write_by::<A, false, true>(sigma2, words, steps),
        (false, false) => write_by::<A, false, false>(sigma2, words, steps),
    }
}

#[inline(always)]
fn write_by<A: Arithmetic, const WIDE: bool, const ROUGH: bool>(
    sigma2: &[f64; BLOCK],
    words: &[u64; BLOCK],
    steps: &mut [f64; BLOCK],
) {
    let [mut scale, mut inverse, mut whole] = [[0.0; BLOCK]; 3];
    // Roots and quotients have a unit of their own, for which the polynomials do not wait.
    for i in 0..BLOCK {
        scale[i] = (sigma2[i] - 1.0 / 12.0).sqrt();
        inverse[i] = if WIDE { 0.0 } else { f64::from(1.0 / scale[i] as f32) };
        whole[i] = A::from_bits(words[i] & !SIGN);
    }
    let (x, error, lowest) = quantiles::<A, ROUGH>(words, &whole);
    let inside = 0.5 - 11.0 * U - if WIDE { LEFT_OUT } else { NARROWED };
    for i in 0..BLOCK {
        let (x, scale, inverse) = (x[i], scale[i], inverse[i]);
        let (mut t, mut inside) = (x * scale, A::mul_add(scale, -error, inside));
        if !WIDE {
            let (x2, square) = (x * x, inverse * inverse);
            let cube = square * inverse;
            t = x * A::mul_add(A::mul_add(x2, 1.0 / 2880.0, -3.0 / 2880.0), cube, scale);
            let edge = x * A::mul_add(x2 * x2, EDGE[1], EDGE[0]);
            inside = A::mul_add(edge, -(cube * square), inside);
        }
        let nearest = A::round(t);
        // Masks: where there are no vectors, the compiler would make branches of choices. Ones make NaN.
        let doubt = less(inside, (t - nearest).abs()) | less(whole[i], lowest);
        steps[i] = f64::from_bits(with_sign(nearest, words[i]).to_bits() | doubt);
    }
}

/// The tables of [`octaves`], not multiplied by a σ.
static REST: [Halves; 8] = octaves::halves(&OCTAVES.0);
static FACTOR: [[f32; 16]; 9] = octaves::singles(&OCTAVES.1);
static ROUGH_REST: [Halves; 1] = octaves::halves(&ROUGH_OCTAVES.0);
static ROUGH_FACTOR: [[f32; 16]; 8] = octaves::singles(&ROUGH_OCTAVES.1);

/// x, a bound on the error of ςx for each unit of ς, and the lowest V for which it is that.
#[inline(always)]
fn quantiles<A: Arithmetic, const ROUGH: bool>(words: &[u64; BLOCK], whole: &[f64; BLOCK]) -> ([f64; BLOCK], f64, f64) {
    if !A::TABLES {
        let error = inverse::error::<ROUGH>() + ROUND * inverse::MOST;
        let mut x = map_all(whole, |whole| whole * power_of_two(-WORD_BITS.cast_signed()));
        inverse::write_quantiles::<A, ROUGH>(&mut x, 1.0);
        return (x, error, inverse::LEAST);
    }
    let ((x, _), error) = if ROUGH {
        (A::polynomials(&ROUGH_REST, &ROUGH_FACTOR, words, 0.0), octaves::error::<1>())
    } else {
        (A::polynomials(&REST, &FACTOR, words, 0.0), octaves::error::<8>())
    };
    (x, error + ROUND * octaves::MOST, octaves::LEAST)
}
