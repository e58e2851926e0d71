//! Validated parameters and the choice of lattice (contract, section 3). Predicates are written in the positive, so that NaN fails them.

use crate::error::ParamError;
use crate::lattice::{ceil_scaled, floor_log2, power_of_two};

/// Steps in the smaller of the sensitivity and the noise scale: at least 2³². Finer ones are slower: the fast path's error is near 2⁻⁴⁸ of the scale.
const LOG2_STEPS: i32 = 32;

/// The lattice is never refined further than this, so that the steps in a sensitivity stay below 2⁵³ and are exact in an `f64`.
const MAX_REFINEMENT: i32 = 20;

/// 2⁻⁴⁰. Below, even a lattice as coarse as the sensitivity is close to `MAX_SPAN`.
pub(crate) const LEAST_EPS: f64 = f64::from_bits((1023 - 40) << 52);

/// Bound on D + D/ε: the mean magnitude is below it and a tail of 2⁸ times that still fits an `i64`.
const MAX_SPAN: f64 = (1_u64 << 54) as f64;

/// Where continuous noise lives: `sensitivity_steps` steps of 2^`log2_granularity` cover one sensitivity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lattice {
    pub log2_granularity: i32,
    pub sensitivity_steps: u64,
}

/// How much narrower than the sensitivity the noise of a family gets as ε grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Narrowing {
    /// Like Δ/ε.
    Laplace,
    /// Like Δ·exp(−ε/2).
    Staircase,
}

impl Lattice {
    pub const fn without_sensitivity(log2_granularity: i32) -> Self {
        Self {
            log2_granularity,
            sensitivity_steps: 0,
        }
    }

    /// The integers, for a sensitivity of this many.
    pub const fn whole(sensitivity_steps: u64) -> Self {
        Self {
            log2_granularity: 0,
            sensitivity_steps,
        }
    }

    pub fn continuous(eps: f64, sensitivity: f64, narrowing: Narrowing) -> Result<Self, ParamError> {
        check_positive("eps", eps)?;
        check_positive("sensitivity", sensitivity)?;
        let lattice = Self::refined(sensitivity, refinement(eps, narrowing))?;
        lattice.fits(eps, sensitivity)?;
        Ok(lattice)
    }

    /// The lattice of 2³² times 2^`refinement` steps or more in a sensitivity.
    pub fn refined(sensitivity: f64, refinement: i32) -> Result<Self, ParamError> {
        let log2_granularity = floor_log2(sensitivity) - LOG2_STEPS - refinement;
        if !(-1074..=960).contains(&log2_granularity) {
            return Err(ParamError::Granularity {
                sensitivity,
                log2_granularity,
            });
        }
        Ok(Self {
            log2_granularity,
            sensitivity_steps: ceil_scaled(sensitivity, log2_granularity),
        })
    }

    pub fn integers(eps: f64, sensitivity: f64) -> Result<Self, ParamError> {
        check_positive("eps", eps)?;
        check_positive("sensitivity", sensitivity)?;
        let rule = "a whole number for a discrete mechanism";
        ParamError::require(sensitivity.trunc() == sensitivity, "sensitivity", rule, sensitivity)?;
        // The bound comes first, so that the conversion cannot saturate.
        if !(sensitivity <= MAX_SPAN && fits(eps, sensitivity as u64)) {
            return Err(ParamError::TooWide { eps, sensitivity });
        }
        Ok(Self::whole(sensitivity as u64))
    }

    /// Whether it holds a mechanism of another ε.
    pub fn fits(self, eps: f64, sensitivity: f64) -> Result<(), ParamError> {
        fits(eps, self.sensitivity_steps)
            .then_some(())
            .ok_or(ParamError::TooWide { eps, sensitivity })
    }

    pub fn granularity(self) -> f64 {
        power_of_two(self.log2_granularity)
    }
}

pub(crate) fn check_positive(parameter: &'static str, value: f64) -> Result<(), ParamError> {
    ParamError::require(
        value > 0.0 && value < f64::INFINITY,
        parameter,
        "finite and greater than 0",
        value,
    )
}

pub(crate) fn check_gamma(gamma: f64) -> Result<(), ParamError> {
    ParamError::require(gamma > 0.0 && gamma <= 1.0, "gamma", "greater than 0 and at most 1", gamma)
}

/// An integer parameter as the `f64` that it is.
pub(crate) fn exactly(parameter: &'static str, value: u64) -> Result<f64, ParamError> {
    let float = value as f64;
    // As wider integers: 2⁶⁴ would saturate.
    if float as u128 == u128::from(value) {
        Ok(float)
    } else {
        Err(ParamError::Inexact { parameter, value })
    }
}

/// `s` of the contract, by exact operations and one correctly rounded product: every machine chooses the same lattice.
fn refinement(eps: f64, narrowing: Narrowing) -> i32 {
    let magnitude = floor_log2(eps);
    let narrower = match narrowing {
        // The cut concerns only an ε below 2⁻⁵², which `fits` refuses.
        _ if magnitude < -20 => return (magnitude + 20).max(-LOG2_STEPS),
        Narrowing::Laplace => f64::from(magnitude + 1),
        Narrowing::Staircase => (0.75 * eps).floor(),
    };
    narrower.clamp(0.0, f64::from(MAX_REFINEMENT)) as i32
}

fn fits(eps: f64, sensitivity_steps: u64) -> bool {
    let sensitivity_steps = sensitivity_steps as f64;
    eps >= LEAST_EPS && sensitivity_steps + sensitivity_steps / eps <= MAX_SPAN
}

/// The largest `f64` that is not above ε/k: the ε of one of k parts, whose sum must not exceed ε. A k beyond 2⁵³ counts as the next larger `f64`.
pub fn largest_quotient(eps: f64, k: u64) -> f64 {
    let nearest = k as f64;
    let k = if (nearest as u128) < u128::from(k) {
        nearest.next_up()
    } else {
        nearest
    };
    let quotient = eps / k;
    // The fused product is exact up to its sign.
    if quotient.mul_add(k, -eps) > 0.0 {
        quotient.next_down()
    } else {
        quotient
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_nan_infinities_zeros_and_negatives() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, -5e-324] {
            let eps = Lattice::integers(bad, 1.0).unwrap_err();
            let sensitivity = Lattice::continuous(1.0, bad, Narrowing::Laplace).unwrap_err();
            assert!(matches!(eps, ParamError::Rule { parameter: "eps", .. }), "{bad}");
            assert!(
                matches!(
                    sensitivity,
                    ParamError::Rule {
                        parameter: "sensitivity",
                        ..
                    }
                ),
                "{bad}"
            );
        }
    }

    #[test]
    fn steps_cover_the_sensitivity_and_no_more_than_one_step_over() {
        for sensitivity in [1.0, 0.1, 3.0, 1e-300, 1e280, 1.0 + f64::EPSILON, 2.0 - f64::EPSILON] {
            for eps in [9.1e-13, 1e-9, 1e-3, 0.5, 1.0, 4.0, 50.0, 1e300] {
                for family in [Narrowing::Laplace, Narrowing::Staircase] {
                    let lattice = Lattice::continuous(eps, sensitivity, family).unwrap();
                    let g = lattice.granularity();
                    assert!(lattice.sensitivity_steps <= 1 << 53, "{eps} {sensitivity} {lattice:?}");
                    assert!(lattice.sensitivity_steps as f64 * g >= sensitivity);
                    assert!((lattice.sensitivity_steps - 1) as f64 * g < sensitivity);
                }
            }
        }
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let wide = |e: Result<Lattice, ParamError>| matches!(e, Err(ParamError::TooWide { .. }));
        assert!(wide(Lattice::continuous(9.0e-13, 1.0, Narrowing::Laplace)));
        assert!(wide(Lattice::integers(1e-17, 1.0)));
        assert!(wide(Lattice::integers(1.0, 2.0_f64.powi(60))));
        for sensitivity in [1e-320, f64::MAX] {
            let error = Lattice::continuous(1.0, sensitivity, Narrowing::Laplace).unwrap_err();
            assert!(matches!(error, ParamError::Granularity { .. }), "{error}");
        }
    }

    #[test]
    fn parts_of_eps_never_exceed_it() {
        for k in 1..200 {
            for eps in [1.0, 0.1, 4.0, 1e-3, 0.7, 3.3] {
                let part = largest_quotient(eps, k);
                assert!(part.mul_add(k as f64, -eps) <= 0.0, "{eps}/{k}");
                assert!(part.next_up().mul_add(k as f64, -eps) > 0.0, "{eps}/{k}");
            }
        }
        // No `f64` holds 2⁵³ + 1, and 2⁵³ of the larger of these would be 1.
        assert_eq!(
            [1 << 53, (1 << 53) + 1].map(|k| largest_quotient(1.0, k) * 2.0_f64.powi(53)),
            [1.0, 1.0_f64.next_down().next_down()]
        );
    }
}
