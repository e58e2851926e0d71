//! e^(−q) in floating point with a proven error, in plain arithmetic that the compiler vectorises.

use crate::kernel::{Arithmetic, exp};

/// Exponents are cut off here, far inside the range of normal numbers.
const LARGEST: f64 = 700.0;

/// `weights[i] ← e^(−(levels[i] − least)·factor)`, for `least` the smallest level and a positive factor.
///
/// Let q be the rounded product, taken as exact. The result is off by less than 8·2^−53 relatively for q ≤ 700 ([`exp`]: 2), and below e^−699 beyond.
#[inline(always)]
pub(super) fn fill<A: Arithmetic>(levels: &[f64], least: f64, factor: f64, weights: &mut [f64]) {
    for (weight, &level) in weights.iter_mut().zip(levels) {
        let q = (level - least) * factor;
        *weight = exp::<A>(-if q < LARGEST { q } else { LARGEST }, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::exp::Step;
    use crate::kernel::{Baseline, Tier, on_tier};

    /// Evidence: comparison with enclosures of e^(−q), at 20 000 exponents and the largest ones, on every tier.
    #[test]
    fn error_is_below_the_bound() {
        let exponents: Vec<f64> = (0..20_000_u32)
            .map(|i| f64::from(i) * f64::from(i) * 1.3e-7 + f64::from(i % 7) * 1e-9)
            .chain([0.0, 5e-324, 1e-17, 0.346_573_590_279_972_6, 44.999, 300.0, 699.99])
            .collect();
        for tier in Tier::tested() {
            let mut weights = vec![0.0; exponents.len()];
            on_tier!(tier, A => fill::<A>(&exponents, 0.0, 1.0, &mut weights));
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
        fill::<Baseline>(&[701.0, 1e300, f64::INFINITY], 0.0, 1.0, &mut weights);
        assert!(weights.iter().all(|weight| (0.0..1e-303).contains(weight)), "{weights:?}");
    }
}
