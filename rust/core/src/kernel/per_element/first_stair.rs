//! How wide the first stair is: r of contract, section 3, where `f64` decides it.

use super::super::float::{U, ceil, round};

/// How r follows from the caller's number, D, and D/(1 + e^(ε/2)).
pub(super) trait FirstStair {
    fn exists(number: f64, sensitivity_steps: f64) -> bool;

    /// r, and whether it is certain.
    fn r(number: f64, sensitivity_steps: f64, quotient: f64) -> (f64, bool);
}

/// ⌈D/(1 + e^(ε/2))⌉.
pub(super) struct OptimalL1;

/// Bound on the relative error of D/(1 + e^(ε/2)): that of 2 + m, m = e^(ε/2) − 1, and three roundings. `proof` checks it.
pub(crate) const L1_ERROR: f64 = 8.0 * U;

impl FirstStair for OptimalL1 {
    #[inline(always)]
    fn exists(_: f64, _: f64) -> bool {
        true
    }

    #[inline(always)]
    fn r(_: f64, _: f64, quotient: f64) -> (f64, bool) {
        let r = ceil(quotient);
        let error = quotient * L1_ERROR;
        // Distances below ½ are exact. Never equal to a whole number: see `exact::optimal_r_l1`.
        (r, (r - quotient >= error) & (quotient - (r - 1.0) >= error))
    }
}

/// ⌈γ·D⌉.
pub(super) struct Fraction;

/// The bits of an `f64` with 8 significant binary digits: its product with a D of at most 45 digits is exact.
const SHORT: u64 = !((1 << 45) - 1);

impl FirstStair for Fraction {
    #[inline(always)]
    fn exists(gamma: f64, _: f64) -> bool {
        (gamma > 0.0) & (gamma <= 1.0)
    }

    #[inline(always)]
    fn r(gamma: f64, sensitivity_steps: f64, _: f64) -> (f64, bool) {
        let product = gamma * sensitivity_steps;
        let r = ceil(product);
        // Rounding is monotone, so that a product that is no whole number lies between the same two whole numbers as γ·D.
        let certain = (r != product) | (f64::from_bits(gamma.to_bits() & SHORT) == gamma);
        (r, certain & Self::exists(gamma, sensitivity_steps))
    }
}

pub(super) struct Whole;

impl FirstStair for Whole {
    #[inline(always)]
    fn exists(number: f64, sensitivity_steps: f64) -> bool {
        (1.0..=sensitivity_steps).contains(&number) & (round(number) == number)
    }

    #[inline(always)]
    fn r(number: f64, sensitivity_steps: f64, _: f64) -> (f64, bool) {
        (number, Self::exists(number, sensitivity_steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random::Random;

    /// Evidence: fused remainders of products with the longest D, as a digit more leaves some.
    #[test]
    fn short_fractions_have_exact_products() {
        let mut random = Random(3);
        let mut lost = 0;
        for _ in 0..1000 {
            let sensitivity_steps = (random.word() >> 19 | 1 << 44 | 1) as f64;
            let mut remainder = |digit: u64, short: bool| {
                let gamma = f64::from_bits((random.word() >> 12 | 0.5_f64.to_bits()) & SHORT | digit);
                assert_eq!(f64::from_bits(gamma.to_bits() & SHORT) == gamma, short);
                gamma.mul_add(sensitivity_steps, -(gamma * sensitivity_steps))
            };
            assert_eq!(remainder(1 << 45, true), 0.0);
            lost += i32::from(remainder(1 << 44, false) != 0.0);
        }
        assert!(lost > 0);
    }

    /// Evidence: the definition. An error of the quotient must leave it between the same two whole numbers.
    #[test]
    fn a_certain_r_has_room_for_the_error() {
        for whole in [1.0, 3.0, 1000.0, 1e9, (1_u64 << 44) as f64] {
            for distance in [-3.0, -1.5, -0.5, 0.0, 0.5, 1.5, 3.0] {
                let quotient = whole + distance * (whole * L1_ERROR);
                let (r, certain) = OptimalL1::r(0.0, 0.0, quotient);
                assert_eq!(certain, distance.abs() > 1.0, "{whole} {distance}");
                assert!(!certain || r == whole + f64::from(distance > 0.0), "{whole} {distance}");
            }
            assert_eq!(OptimalL1::r(0.0, 0.0, whole - 0.5), (whole, true));
        }
    }
}
