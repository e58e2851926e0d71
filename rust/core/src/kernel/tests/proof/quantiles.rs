//! The polynomials of the normal quantile: what their evaluation is off by. Their own errors are those of scripts/quantile.py.

use super::bounded::Bounded;
use super::{PIECES, U, pieces};
use crate::exact::{self, IntegerDistribution};
use crate::kernel::arithmetic::{Fused, Separate};
use crate::kernel::elementary::MulAdd;
use crate::kernel::quantile::coefficients::{CENTRE, OCTAVES, ROUGH_CENTRE, ROUGH_OCTAVES, TAIL};
use crate::kernel::quantile::octaves::OCTAVES_ERROR;
use crate::kernel::quantile::{POLYNOMIAL_ERROR, inverse, octaves, polynomial};
use crate::lattice::dyadic::power_of_two;

#[test]
fn slopes() {
    slopes_on::<Separate>();
    slopes_on::<Fused>();
}

fn slopes_on<A: MulAdd<Bounded>>() {
    let check = |found: Bounded, at: Bounded| assert!(found.relative() <= POLYNOMIAL_ERROR, "{at:?}: {}", found.relative() / U);
    for t in pieces(-CENTRE.0, CENTRE.0, 16 * PIECES) {
        check(polynomial::<A, Bounded, _>(&CENTRE.1, t), t);
        check(polynomial::<A, Bounded, _>(&ROUGH_CENTRE.1, t), t);
    }
    let half = 16.7_f64.sqrt() - TAIL.0;
    for t in pieces(-half, half, 16 * PIECES) {
        check(polynomial::<A, Bounded, _>(&TAIL.1, t), t);
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
