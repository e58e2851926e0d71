//! Weights of the negative binomial distribution, any positive shape.

use core::ops::ControlFlow;

use crate::draw::Share;
use crate::error::ParamError;
use crate::exact::{Enclosure, Limbs, Step, Weights, limbs};
use crate::lattice::decompose;

/// Below, a table would have more than some 2¹⁸ entries.
const LEAST_RATE: f64 = 1.0 / 2048.0;
/// Above, anything but zero has a probability below 2⁻¹⁴⁰⁰.
const MOST_RATE: f64 = 1024.0;
/// Below, two limbs would not hold the shape to 63 bits.
const LEAST_SHAPE: f64 = 1.0 / (1_u64 << 40) as f64;
/// The weights add up to (1 − e^(−rate))^(−shape), which must be below 2⁶³.
const MOST_LOG_TOTAL: f64 = 40.0;
/// Shape and index together have one integer limb.
const MOST_SHAPE: f64 = (1_u64 << 63) as f64;

/// P(N = k)/P(N = 0) = w(k) = β(β+1)…(β+k−1)/k! · e^(−k·step), of the shape β = shape·present/parties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NegativeBinomial {
    shape: f64,
    share: Share,
    step: Step,
    /// β and the step in floating point, for bounds with room to spare.
    approximate: (f64, f64),
}

impl NegativeBinomial {
    /// A share's distribution: shape β times the fraction, ratio e^(−step). β and the rate come with the names that errors give them.
    pub fn new(beta: (&'static str, f64), share: Share, rate: (&'static str, f64), step: Step) -> Result<Self, ParamError> {
        let approximate_rate = step.approximate();
        let in_range = (LEAST_RATE..=MOST_RATE).contains(&approximate_rate);
        ParamError::require(in_range, rate.0, "from 2**-11 to 2**10", rate.1)?;
        let (parameter, value) = beta;
        let approximate_shape = value * share.fraction();
        let log_total = approximate_shape * -(-(-approximate_rate).exp()).ln_1p();
        for (holds, rule) in [
            (value > 0.0 && value < f64::INFINITY, "finite and greater than 0"),
            (approximate_shape >= LEAST_SHAPE, "at least 2**-40 for each party"),
            (approximate_shape <= MOST_SHAPE, "at most 2**63 for each party"),
            (
                log_total <= MOST_LOG_TOTAL,
                "such that it is at most 40 times 1/ln(1/(1 - q)), q the ratio of the distribution",
            ),
        ] {
            ParamError::require(holds, parameter, rule, value)?;
        }
        Ok(Self {
            shape: value,
            share,
            step,
            approximate: (approximate_shape, approximate_rate),
        })
    }

    /// β with `p` limbs of fraction.
    fn shape(&self, p: usize) -> Enclosure {
        let (significand, exponent) = decompose(self.shape);
        let product = limbs::of(u128::from(significand) * u128::from(self.share.present()));
        Enclosure::above(limbs::scaled_quotient(&product, exponent, &[self.share.parties()], p), 1)
    }

    /// From here on w(k+1)/w(k) = q(β+k)/(k+1) is at most 1 − (1−q)/2 and falls, or is at most q.
    fn settled(&self) -> f64 {
        // q(β + k)/(k + 1) = q + q(β − 1)/(k + 1). The second term is at most (1 − q)/2 from k + 1 = 2q(β − 1)/(1 − q) on.
        let (shape, rate) = self.approximate;
        2.0 * (shape - 1.0).max(0.0) * (-rate).exp() / -(-rate).exp_m1() + 1.0
    }
}

/// w(k)·(q·(β + k)/(k + 1)), rounded downwards; `above` is added to each factor and result.
///
/// The ratio comes first: it falls below 1 long before (β + k)/(k + 1) does, and what was added to the weight falls with it.
fn next(weight: &Limbs, q: &Limbs, shape: &Limbs, k: u64, above: u64) -> Limbs {
    let mut growth = shape.clone();
    let units = growth.len() - 1;
    growth[units] += k;
    limbs::div_small(&mut growth, k + 1);
    limbs::add_small(&mut growth, above);
    limbs::mul_rounded(weight, &limbs::mul_rounded(q, &growth, above), above)
}

impl Weights for NegativeBinomial {
    /// The list ends where a weight is below 2⁵ (1−q)^(−1) units. It does end: each step adds less than two units to the upper ends, so they fall
    /// below 2³ (1−q)^(−1). All that follow add up to at most 2/(1−q) times the last.
    fn enclose(&self, p: usize, visit: &mut dyn FnMut(&Enclosure) -> ControlFlow<()>) -> u64 {
        let (q, shape) = (self.step.decay(p), self.shape(p));
        // 1/(1 − q), without cancellation where q is near 1.
        let inverse_gap = 1.0 / -(-self.approximate.1).exp_m1();
        let (settled, end) = (self.settled() as u64, (32.0 * inverse_gap).ceil() as u64);
        let mut weight = Enclosure::point(1, p);
        for k in 0.. {
            let last = k > settled && weight.hi[0] < end && weight.hi[1..].iter().all(|limb| *limb == 0);
            if visit(&weight).is_break() || last {
                break;
            }
            weight = Enclosure {
                lo: next(&weight.lo, &q.lo, &shape.lo, k, 0),
                hi: next(&weight.hi, &q.hi, &shape.hi, k, 1),
            };
        }
        // 2 would do in exact arithmetic; the rest covers the rounding of 1/(1 − q).
        (2.1 * inverse_gap * end as f64).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::draw::table::{Table, check_beside_thresholds};
    use crate::exact::{self, Sums};

    fn distribution(beta: f64, share: Share, rate: f64) -> NegativeBinomial {
        NegativeBinomial::new(("beta", beta), share, ("a", rate), Step::new(rate, 1)).unwrap()
    }

    /// Evidence: closed form. The weights add up to (1 − q)^(−β), here to float64's accuracy, for shapes below, at and above 1; and the
    /// enclosures are narrow.
    #[test]
    fn the_weights_add_up() {
        for (beta, share, rate) in [
            (0.3, Share::WHOLE, 0.7),
            (1.0, Share::WHOLE, 0.01),
            (1.0, Share::new(1, 1000).unwrap(), 0.01),
            (2.5, Share::WHOLE, 1.25),
            (20.0, Share::new(2, 3).unwrap(), 0.25),
            (1e-9, Share::WHOLE, 0.001),
            (0.7, Share::WHOLE, 1000.0),
            (3.0, Share::new(3, 4).unwrap(), 1.0 / 2048.0),
        ] {
            let distribution = distribution(beta, share, rate);
            let total = (-beta * share.fraction() * (-(-rate).exp_m1()).ln()).exp();
            for p in [2, 3, 5] {
                let sum = Sums::new(&distribution, p);
                let sum = &sum.total;
                let number = |x: &Limbs| x[p] as f64 + x[p - 1] as f64 / 2_f64.powi(64);
                assert!((number(&sum.lo) / total - 1.0).abs() < 1e-11, "{distribution:?} {p}");
                assert!(!limbs::less(&sum.hi, &sum.lo));
                let mut width = sum.hi.clone();
                assert!(!limbs::sub(&mut width, &sum.lo));
                // Relative to the total, which is at least the integer limb.
                assert!(
                    number(&width) / total < 2_f64.powi(-80) || p > 2 && number(&width) == 0.0,
                    "{distribution:?} {p}"
                );
            }
        }
    }

    /// Evidence: consistency. With two limbs more the enclosures are far narrower, and lie inside. The shorter list leaves out less than it says.
    #[test]
    fn more_limbs_lie_inside() {
        for (beta, share, rate) in [
            (0.3, Share::WHOLE, 0.7),
            (1.0, Share::new(1, 1000).unwrap(), 0.01),
            (2.5, Share::WHOLE, 1.25),
            (20.0, Share::new(2, 3).unwrap(), 0.25),
            (0.7, Share::WHOLE, 60.0),
        ] {
            let distribution = distribution(beta, share, rate);
            let ((short, rest), (long, _)) = (exact::listed(&distribution, 2), exact::listed(&distribution, 4));
            for (k, (short, long)) in short.iter().zip(&long).enumerate() {
                assert!(!limbs::less(&long.lo[2..], &short.lo), "{distribution:?} {k}");
                assert!(limbs::less(&long.hi[2..], &short.hi) || k == 0, "{distribution:?} {k}");
            }
            let mut beyond = Limbs::zero(5);
            for weight in &long[short.len()..] {
                limbs::add(&mut beyond, &weight.hi);
            }
            assert!(beyond[3] == 0 && beyond[4] == 0 && beyond[2] < rest, "{distribution:?}");
        }
    }

    /// Evidence: closed form. With a shape of 10⁹ and more and a ratio as small, N is nearly a Poisson variable: few weights, which add up to
    /// (1 − q)^(−β). Their sum stays a list of hundreds, where q·β alone decides how long it is.
    #[test]
    fn large_shapes_of_small_ratios_have_short_lists() {
        for (beta, rate) in [(1e9, 20.0), (1e18, 44.0), (9.2e18, 42.0), (9.2e18, 1024.0), (1.5e8, 17.0)] {
            let distribution = distribution(beta, Share::WHOLE, rate);
            let (weights, _) = exact::listed(&distribution, 2);
            assert!(weights.len() < 500, "{distribution:?} {}", weights.len());
            let sum = Sums::new(&distribution, 2);
            let sum = &sum.total;
            let expected = (-beta * (-(-rate).exp()).ln_1p()).exp();
            let number = |x: &Limbs| x[2] as f64 + x[1] as f64 / 2_f64.powi(64);
            assert!((number(&sum.lo) / expected - 1.0).abs() < 1e-12, "{distribution:?}");
            assert!((number(&sum.hi) / expected - 1.0).abs() < 1e-12, "{distribution:?}");
        }
    }

    /// Evidence: the bound itself, at the corners of what is accepted: 16 MiB a distribution, of which Arete has two tables.
    #[test]
    fn no_table_is_large() {
        for (beta, rate) in [(5.2, LEAST_RATE), (1e-9, LEAST_RATE), (1e9, 20.0), (3.9e19 / 5.0, 42.0)] {
            let table = Table::new(Arc::new(distribution(beta, Share::WHOLE, rate))).unwrap();
            assert!(table.bytes() <= 2 << 20, "{beta} {rate}: {}", table.bytes());
        }
    }

    /// Evidence: closed form of the ratio of neighbours, in floating point.
    #[test]
    fn the_ratio_of_neighbours() {
        let distribution = distribution(0.375, Share::new(5, 7).unwrap(), 0.5);
        let (weights, rest) = exact::listed(&distribution, 3);
        assert!(rest < 1 << 32);
        let number = |x: &Limbs| x[2] as f64 / 2_f64.powi(64) + x[3] as f64;
        for (k, pair) in weights.windows(2).enumerate().take(40) {
            let ratio = (-0.5_f64).exp() * (0.375 * 5.0 / 7.0 + k as f64) / (k as f64 + 1.0);
            assert!((number(&pair[1].lo) / number(&pair[0].lo) / ratio - 1.0).abs() < 1e-9, "{k}");
        }
    }

    /// Evidence: a second way to the same number, where it is hardest.
    #[test]
    fn the_table_and_the_exact_path_agree_beside_thresholds() {
        for (beta, share, rate) in [
            (0.3, Share::WHOLE, 0.7),
            (1.0, Share::new(1, 1000).unwrap(), 0.4),
            (2.5, Share::WHOLE, 1.25),
            (0.9, Share::WHOLE, 1024.0),
        ] {
            check_beside_thresholds(&distribution(beta, share, rate));
        }
    }

    #[test]
    fn refuses_what_a_table_does_not_hold() {
        let error = |beta: f64, share, rate: f64| {
            NegativeBinomial::new(("beta", beta), share, ("a", rate), Step::new(rate, 1))
                .unwrap_err()
                .to_string()
        };
        for rate in [f64::NAN, 0.0, -1.0, 4.8e-4, 1025.0, f64::INFINITY] {
            assert!(error(1.0, Share::WHOLE, rate).starts_with("a must be from 2**-11 to 2**10, got "));
        }
        for beta in [f64::NAN, 0.0, -0.0, -1.0, f64::INFINITY] {
            assert!(error(beta, Share::WHOLE, 1.0).starts_with("beta must be finite and greater than 0, got "));
        }
        assert!(error(1e-9, Share::new(1, 10_000).unwrap(), 1.0).starts_with("beta must be at least 2**-40 for each"));
        assert!(error(20.0, Share::WHOLE, 0.1).starts_with("beta must be such that"));
        // 1 − q is 1 in float64 here; the total is e^8757.
        assert!(error(1e18, Share::WHOLE, 37.0).starts_with("beta must be such that"));
        assert!(error(1e30, Share::WHOLE, 100.0).starts_with("beta must be at most 2**63"));
    }
}
