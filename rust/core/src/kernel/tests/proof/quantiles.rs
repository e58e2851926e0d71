//! The approximations of the normal quantile: what their evaluation is off by. Their own errors are those of scripts/quantile.py.

use super::bounded::Bounded;
use super::{PIECES, U, binades, pieces};
use crate::exact::{self, IntegerDistribution};
use crate::kernel::arithmetic::{Fused, Separate};
use crate::kernel::elementary::MulAdd;
use crate::kernel::quantile::coefficients::{LANE_RATIO, OCTAVES, RATIO, ROUGH_OCTAVES, ROUGH_RATIO};
use crate::kernel::quantile::octaves::{FACTOR_ERROR, OCTAVES_ERROR};
use crate::kernel::quantile::{inverse, octaves, quotient_error, quotient_of};
use crate::lattice::dyadic::power_of_two;

#[test]
fn quotients() {
    quotients_on::<Separate>();
    quotients_on::<Fused>();
}

/// As if the powers of s were exact: [`quotient_error`] says what their errors do, and that is 2u of it.
fn quotients_on<A: MulAdd<Bounded>>() {
    fn check<A: MulAdd<Bounded>, const N: usize>(ratio: &[[f64; N]; 2], s: Bounded) {
        let powers = [4, 2, 1].map(|n| Bounded::argument(s.lo.powi(n), s.hi.powi(n)));
        let found = quotient_of::<A, Bounded, N>(ratio, powers).relative();
        assert!(found <= quotient_error(N) - 2.0 * U, "{N} {s:?}: {}", found / U);
    }
    for s in binades(-11, 0, 256) {
        check::<A, _>(&ROUGH_RATIO.0, s);
        check::<A, _>(&RATIO.0, s);
        check::<A, _>(&LANE_RATIO.0, s);
    }
}

/// Coefficients times σ are rounded once more, which is the rounding that [`Bounded`] takes a long constant for. Products of Chebyshev points are off
/// by less than 2⁻⁶², which F makes less than a millionth of [`OCTAVES_ERROR`].
#[test]
fn octaves() {
    fn check<const N: usize, const H: usize>(wide: &[[f64; 16]; N], narrow: &[[f64; 16]; H]) {
        let largest_product = if N == 1 { 0.5 } else { power_of_two(1 - 2 * N as i32) };
        let allowed = FACTOR_ERROR.iter().find(|(n, _)| *n == N).unwrap().1;
        for column in 0..16 {
            for t in pieces(-0.5, 0.5, PIECES) {
                // Horner's scheme, as of `avx512`, and a last sum.
                let coefficients = wide.iter().rev().map(|table| Bounded::from(table[column]));
                let found = coefficients.reduce(|sum, c| Fused::mul_add(sum, t, c)).unwrap();
                assert!(
                    found.error + U * octaves::MOST <= OCTAVES_ERROR,
                    "{column} {t:?}: {}",
                    found.error / U
                );
                let factor = narrow.map(|table| table[column]);
                let found = largest_product * factor_error(&factor, t.largest());
                assert!(found <= allowed, "{column} {t:?}: {found}");
            }
        }
    }
    check(&OCTAVES.0, &OCTAVES.1);
    check(&ROUGH_OCTAVES.0, &ROUGH_OCTAVES.1);
}

/// What Horner's scheme in `f32` is off by where |t| is at most this: t loses less than 2⁻²³, a coefficient times σ and every sum 2⁻²⁴ of itself.
fn factor_error(coefficients: &[f64], t: f64) -> f64 {
    let half_ulp = power_of_two(-24);
    let (mut largest, mut error) = (0.0_f64, 0.0);
    for c in coefficients.iter().rev() {
        error = error * t + (largest + error) * power_of_two(-23);
        largest = largest * t + c.abs();
        error += half_ulp * (c.abs() + largest + error);
    }
    error
}

/// Evidence: the exact path, in steps of 2⁻⁴⁰σ.
#[test]
fn accepted_words_are_no_further_out() {
    let sigma2 = power_of_two(80);
    for (least, most) in [(octaves::LEAST, octaves::MOST), (inverse::LEAST, inverse::MOST)] {
        let distribution = IntegerDistribution::Gaussian { sigma2 };
        let x = exact::magnitude(&distribution, least as u64, &mut |_| 0) as f64 / sigma2.sqrt();
        assert!((0.99 * most..most).contains(&x), "{x}");
    }
}
