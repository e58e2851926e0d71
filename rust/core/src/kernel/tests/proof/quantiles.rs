//! The approximations of the normal quantile: what their evaluation is off by. Their own errors are those of scripts/quantile.py.

use super::bounded::Bounded;
use super::{PIECES, U, binades, pieces};
use crate::exact::{self, IntegerDistribution};
use crate::kernel::arithmetic::{Fused, Separate};
use crate::kernel::elementary::MulAdd;
use crate::kernel::quantile::coefficients::{BEND, LANE_BEND, OCTAVES, ROUGH_BEND, ROUGH_OCTAVES};
use crate::kernel::quantile::octaves::OCTAVES_ERROR;
use crate::kernel::quantile::{bend_error, inverse, octaves, quotient};
use crate::lattice::dyadic::power_of_two;

#[test]
fn quotients() {
    quotients_on::<Separate>();
    quotients_on::<Fused>();
}

/// As if y² and y⁴ were exact: [`bend_error`] says what their errors do, and 6.5u of it are for others.
fn quotients_on<A: MulAdd<Bounded>>() {
    fn check<A: MulAdd<Bounded>, const N: usize>(bend: &[[f64; N]; 2], y: Bounded) {
        let powers = [1, 2, 4].map(|n| Bounded::argument(y.lo.powi(n), y.hi.powi(n)));
        let found = quotient::<A, Bounded, N>(bend, powers).relative();
        assert!(found <= bend_error(N) - 10.5 * U, "{N} {y:?}: {}", found / U);
    }
    for y in binades(-21, 0, 256) {
        check::<A, _>(&ROUGH_BEND.0, y);
        check::<A, _>(&BEND.0, y);
        check::<A, _>(&LANE_BEND.0, y);
    }
}

/// Coefficients times σ are rounded once more, which is the rounding that [`Bounded`] takes a long constant for.
#[test]
fn octaves() {
    fn check<const N: usize>(tables: &[[f64; 16]; N]) {
        for column in 0..16 {
            for t in pieces(-0.5, 0.5, PIECES) {
                // Horner's scheme, as of `avx512`.
                let coefficients = tables.iter().rev().map(|table| Bounded::from(table[column]));
                let found = coefficients.reduce(|sum, c| Fused::mul_add(sum, t, c)).unwrap();
                assert!(found.error <= OCTAVES_ERROR, "{column} {t:?}: {}", found.error / U);
            }
        }
    }
    check(&OCTAVES.0);
    check(&ROUGH_OCTAVES.0);
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
