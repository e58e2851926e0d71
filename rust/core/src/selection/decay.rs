//! e^(−q) in floating point with a proven error, in plain arithmetic that the compiler vectorises.

use crate::kernel::Arithmetic;

/// Exponents are cut off here, far inside the range of normal numbers.
const LARGEST: f64 = 700.0;

/// 1.5·2^52: adding it rounds to an integer and leaves the integer in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts; the first has 32 zeros at the end, so that its products with integers below 2^11 are exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// 1/12!, …, 1/2!, 1, 1.
const TAYLOR: [f64; 13] = {
    let mut terms = [1.0; 13];
    let (mut factorial, mut i) = (1.0, 1);
    while i < 13 {
        factorial *= i as f64;
        terms[12 - i] = 1.0 / factorial;
        i += 1;
    }
    terms
};

/// `weights[i] ← e^(−(levels[i] − least)·factor)`, for `least` the smallest level and a positive factor.
///
/// Let q be the rounded product, taken as exact. The result is off by less than 8·2^−53 relatively where q ≤ 700, and below e^−699 beyond.
///
/// Proof: k = ⌊q/ln 2⌉, so the difference k·LN_2_HIGH − q is exact (Sterbenz). The rest of the reduction is off by less than 0.5·2^−53. The
/// Taylor polynomial of degree 12 on |r| < 0.3467 leaves out less than 1.8·2^−53, and rounding adds 4·2^−53. The power of two is exact.
#[inline(always)]
pub(super) fn fill<A: Arithmetic>(levels: &[f64], least: f64, factor: f64, weights: &mut [f64]) {
    for (weight, &level) in weights.iter_mut().zip(levels) {
        let q = (level - least) * factor;
        let q = if q < LARGEST { q } else { LARGEST };
        let shifted = q * std::f64::consts::LOG2_E + ROUND;
        let k = shifted - ROUND;
        let r = A::mul_add(k, LN_2_LOW, A::mul_add(k, LN_2_HIGH, -q));
        let mut sum = TAYLOR[0];
        for term in &TAYLOR[1..] {
            sum = A::mul_add(sum, r, *term);
        }
        // The exponent field of 2^−k is 1023 − k; k is in the low bits of the shifted number.
        let exponent = (1023 + ROUND.to_bits()).wrapping_sub(shifted.to_bits());
        *weight = sum * f64::from_bits(exponent << 52);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::exp::Step;
    use crate::kernel::{Tier, Work, run_on};

    struct Decay<'a>(&'a [f64], &'a mut [f64]);

    impl Work for Decay<'_> {
        type Result = ();

        fn run<A: Arithmetic>(self) {
            fill::<A>(self.0, 0.0, 1.0, self.1);
        }
    }

    /// Evidence: comparison with enclosures of e^(−q), at 20 000 exponents and the largest ones, on every tier.
    #[test]
    fn error_is_below_the_bound() {
        let exponents: Vec<f64> = (0..20_000_u32)
            .map(|i| f64::from(i) * f64::from(i) * 1.3e-7 + f64::from(i % 7) * 1e-9)
            .chain([0.0, 5e-324, 1e-17, 0.346_573_590_279_972_6, 44.999, 300.0, 699.99])
            .collect();
        for tier in Tier::tested() {
            let mut weights = vec![0.0; exponents.len()];
            run_on(tier, Decay(&exponents, &mut weights));
            let mut largest = 0.0_f64;
            for (&q, &weight) in exponents.iter().zip(&weights) {
                let truth = if q > 0.0 { power(q) } else { 1.0 };
                largest = largest.max((weight / truth - 1.0).abs());
            }
            // The reference is itself rounded three times.
            assert!(largest < 11.0 * (-53.0_f64).exp2(), "{largest}");
        }
    }

    /// e^(−q) to about 2^−52.
    fn power(q: f64) -> f64 {
        let power = Step::new(q, 1).power(1, 2).unwrap();
        let mantissa = power.mantissa.lo[2] as f64 + power.mantissa.lo[1] as f64 / 2.0_f64.powi(64);
        let half = (power.shift / 2) as i32;
        mantissa * 2.0_f64.powi(-half) * 2.0_f64.powi(half - power.shift as i32)
    }

    #[test]
    fn beyond_the_range_it_is_negligible() {
        let mut weights = [0.0; 3];
        run_on(Tier::Portable, Decay(&[701.0, 1e300, f64::INFINITY], &mut weights));
        assert!(weights.iter().all(|weight| (0.0..1e-303).contains(weight)), "{weights:?}");
    }
}
