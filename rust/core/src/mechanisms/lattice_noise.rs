use crate::draw::WeightedDistribution;
use crate::error::ParamError;
use crate::lattice::{Lattice, decompose, floor_log2, params, power_of_two};
use crate::mechanism::{IntegerMechanism, Source, implement};

/// A mechanism on the multiples of a power of two g, given by its weights.
///
/// # Probabilities
/// P(X = kg) is w(k)/Σw for −m ≤ k ≤ m, the weights taken as the exact rational numbers that they are. With a tail of ratio ρ the integers beyond
/// have the weights w(±(m + j)) = w(±m)·ρ^j, and Σw is the sum of all.
///
/// # Privacy
/// Whatever the weights make it. The Python package computes it, over all shifts up to the sensitivity.
///
/// # Example
/// ```
/// use stairnoise::{Generator, LatticeNoise, Mechanism};
///
/// let mechanism = LatticeNoise::new(&[1.0, 2.0, 4.0, 2.0, 1.0], Some(0.5), 1.0, 1.0)?;
/// let mut noise = [0_i64; 1000];
/// mechanism.fill(&mut Generator::from_os()?, &mut noise)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LatticeNoise {
    lattice: Lattice,
    mechanism: WeightedDistribution,
}

const MOST_WEIGHTS: usize = (1 << 17) + 1;
/// The quotient of the largest weight and the least is a normal `f64`.
const MOST_LOG2_RATIO: i32 = 1022;
/// Beyond, a table would have more than half a million weights.
const MOST_TAIL_RATIO: f64 = 1.0 - 1.0 / 2048.0;
/// Outcomes of all shifts: their losses are listed.
const MOST_OUTCOMES: f64 = (1_u64 << 21) as f64;
const LOG2_GRANULARITIES: core::ops::RangeInclusive<i32> = -1022..=960;

impl LatticeNoise {
    /// `weights` are those of −m … m; without a `tail_ratio` nothing else has a probability.
    ///
    /// # Errors
    /// [`ParamError`] unless all of this holds. The weights are an odd number, from 3 to 2¹⁷ + 1; finite and not negative, two of them positive, and
    /// those that are, are within a factor of 2¹⁰²². The ratio is positive and at most 1 − 2⁻¹¹, and both end weights are positive then.
    /// g is a power of two from 2⁻¹⁰²² to 2⁹⁶⁰. The sensitivity is D·g, with a whole D ≥ 1 and D·(D + number of weights) ≤ 2²¹.
    pub fn new(weights: &[f64], tail_ratio: Option<f64>, granularity: f64, sensitivity: f64) -> Result<Self, ParamError> {
        check_weights(weights)?;
        if let Some(ratio) = tail_ratio {
            check_tail(weights, ratio)?;
        }
        let lattice = Lattice {
            log2_granularity: check_granularity(granularity)?,
            sensitivity_steps: check_sensitivity(sensitivity, granularity, weights.len())?,
        };
        Ok(Self {
            lattice,
            mechanism: WeightedDistribution::new(weights, tail_ratio)?,
        })
    }
}

/// Rules in the positive: NaN fails them.
fn check_weights(weights: &[f64]) -> Result<(), ParamError> {
    let n = weights.len();
    let counted = n % 2 == 1 && (3..=MOST_WEIGHTS).contains(&n);
    ParamError::require(counted, "the number of weights", "odd, and from 3 to 2**17 + 1", n as f64)?;
    let bad = |weight: &&f64| !(**weight >= 0.0 && **weight < f64::INFINITY);
    if let Some(weight) = weights.iter().find(bad) {
        return Err(ParamError::rule("weights", "finite and at least 0", *weight));
    }
    let positive = || weights.iter().copied().filter(|weight| *weight > 0.0);
    let (count, rule) = (positive().count(), "at least 2: noise of a single value hides nothing");
    ParamError::require(count >= 2, "the number of positive weights", rule, count as f64)?;
    let (least, largest) = (positive().fold(f64::INFINITY, f64::min), positive().fold(0.0, f64::max));
    let rule = "at most 2**1022 times the least positive one";
    ParamError::require(within_range(least, largest), "weights", rule, largest)
}

/// Whether largest/least ≤ 2¹⁰²², both positive.
fn within_range(least: f64, largest: f64) -> bool {
    let apart = floor_log2(largest) - floor_log2(least);
    // From the leading bit on.
    let digits = |x: f64| decompose(x).0 << decompose(x).0.leading_zeros();
    apart < MOST_LOG2_RATIO || (apart == MOST_LOG2_RATIO && digits(largest) <= digits(least))
}

fn check_tail(weights: &[f64], ratio: f64) -> Result<(), ParamError> {
    let fits = ratio > 0.0 && ratio <= MOST_TAIL_RATIO;
    ParamError::require(fits, "tail_ratio", "greater than 0 and at most 1 - 2**-11", ratio)?;
    let least = weights[0].min(weights[weights.len() - 1]);
    let rule = "positive at both ends, from which the tails go on";
    ParamError::require(least > 0.0, "weights", rule, least)
}

fn check_granularity(granularity: f64) -> Result<i32, ParamError> {
    let log2 = |g: f64| Some(floor_log2(g)).filter(|log2| LOG2_GRANULARITIES.contains(log2) && power_of_two(*log2) == g);
    let positive = granularity > 0.0 && granularity < f64::INFINITY;
    let (found, rule) = (
        positive.then_some(granularity).and_then(log2),
        "a power of two from 2**-1022 to 2**960",
    );
    found.ok_or(ParamError::rule("granularity", rule, granularity))
}

fn check_sensitivity(sensitivity: f64, granularity: f64, weights: usize) -> Result<u64, ParamError> {
    params::check_positive("sensitivity", sensitivity)?;
    // By a power of two: exact, or below 1, or infinite.
    let steps = sensitivity / granularity;
    let whole = steps >= 1.0 && steps.trunc() == steps;
    ParamError::require(whole, "sensitivity", "a multiple of the granularity", sensitivity)?;
    let rule = "D steps of the granularity with D*(D + number of weights) at most 2**21";
    let few = steps * (steps + weights as f64) <= MOST_OUTCOMES;
    ParamError::require(few, "sensitivity", rule, sensitivity)?;
    Ok(steps as u64)
}

implement!(LatticeNoise of f64, this => Source::staged(&this.mechanism, this.lattice, &[]));

impl IntegerMechanism for LatticeNoise {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;
    use crate::testing::golden::several_draws::draws;
    use crate::testing::golden::{float, list, vectors, whole};
    use crate::{AnyMechanism, Mechanism};

    fn error(weights: &[f64], tail_ratio: Option<f64>, granularity: f64, sensitivity: f64) -> String {
        let mechanism = LatticeNoise::new(weights, tail_ratio, granularity, sensitivity);
        mechanism.unwrap_err().to_string()
    }

    #[test]
    fn refuses_weights_that_are_no_mechanism() {
        for n in [0, 1, 2, 4, MOST_WEIGHTS + 2] {
            assert!(
                error(&vec![1.0; n], None, 1.0, 1.0).starts_with("the number of weights must be odd, and from 3"),
                "{n}"
            );
        }
        for bad in [f64::NAN, -1.0, f64::INFINITY, -5e-324] {
            assert!(error(&[1.0, bad, 1.0], None, 1.0, 1.0).starts_with("weights must be finite and at least 0, got"));
        }
        assert!(error(&[0.0; 3], None, 1.0, 1.0).starts_with("the number of positive weights must be at least 2"));
        assert!(error(&[0.0, 1.0, -0.0], None, 1.0, 1.0).ends_with("got 1.0"));
        let far = [1.0, 2.0_f64.powi(-1022), 0.0];
        assert!(LatticeNoise::new(&far, None, 1.0, 1.0).is_ok());
        assert!(LatticeNoise::new(&[1.5, far[1] * 1.5, 0.0], None, 1.0, 1.0).is_ok());
        let farther = [1.0, 2.0_f64.powi(-1022).next_down(), 0.0];
        assert!(error(&farther, None, 1.0, 1.0).starts_with("weights must be at most 2**1022 times the least positive one"));
        assert!(error(&[1.5, far[1], 0.0], None, 1.0, 1.0).starts_with("weights must be at most 2**1022"));
    }

    #[test]
    fn refuses_other_parameters() {
        for bad in [f64::NAN, 0.0, -0.5, 1.0, 1.5, MOST_TAIL_RATIO.next_up()] {
            assert!(error(&[1.0; 3], Some(bad), 1.0, 1.0).starts_with("tail_ratio must be greater than 0 and at most"));
        }
        assert!(error(&[1.0, 1.0, 0.0], Some(0.5), 1.0, 1.0).starts_with("weights must be positive at both ends"));
        for bad in [f64::NAN, 0.0, -1.0, 3.0, 0.1, f64::INFINITY, 5e-324, 2.0_f64.powi(961)] {
            assert!(
                error(&[1.0; 3], None, bad, 1.0).starts_with("granularity must be a power of two"),
                "{bad}"
            );
        }
        for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
            assert!(
                error(&[1.0; 3], None, 1.0, bad).starts_with("sensitivity must be finite"),
                "{bad}"
            );
        }
        for bad in [0.5, 1.5, 5e-324] {
            assert!(
                error(&[1.0; 3], None, 1.0, bad).starts_with("sensitivity must be a multiple of the granularity"),
                "{bad}"
            );
        }
        for (granularity, bad) in [(1.0, 1447.0), (0.25, 1e300), (2.0_f64.powi(-1022), 1e300)] {
            assert!(error(&[1.0; 3], None, granularity, bad).starts_with("sensitivity must be D steps of the granularity"));
        }
        assert!(LatticeNoise::new(&[1.0; 3], None, 1.0, 1446.0).is_ok());
    }

    /// Evidence: frequencies of 200 000 values within 5 standard deviations (33 integers: a false alarm in 5·10⁴ seeds; the seed is fixed).
    #[test]
    fn frequencies_are_the_probabilities() {
        let weights = [3.0, 0.0, 1.0, 7.0, 2.0, 0.5, 4.0];
        let mechanism = LatticeNoise::new(&weights, Some(0.5), 0.25, 0.5).unwrap();
        let weight = |k: i64| match k {
            -3..=3 => weights[(k + 3) as usize],
            _ => (if k < 0 { weights[0] } else { weights[6] }) * 0.5_f64.powi(k.unsigned_abs() as i32 - 3),
        };
        let total: f64 = (-60..=60).map(weight).sum();
        let n = 200_000;
        let mut out = vec![0.0_f64; n];
        mechanism.fill(&mut Generator::from_seed(21), &mut out).unwrap();
        for k in -16..=16 {
            let p = weight(k) / total;
            let count = out.iter().filter(|&&x| x == k as f64 / 4.0).count() as f64;
            let deviation = (count - n as f64 * p) / (n as f64 * p * (1.0 - p)).sqrt().max(1.0);
            assert!(deviation.abs() < 5.0, "{k}: {count}, expected {}", n as f64 * p);
        }
    }

    #[test]
    fn golden_vectors() {
        for entry in vectors("lattice_noise.json") {
            let arguments = list(&entry["arguments"]);
            let weights: Vec<f64> = list(&arguments[0]).iter().map(float).collect();
            let ratio = (!arguments[1].is_null()).then(|| float(&arguments[1]));
            let mechanism = LatticeNoise::new(&weights, ratio, float(&arguments[2]), float(&arguments[3])).unwrap();
            assert_eq!(mechanism.sensitivity_steps(), whole(&entry["cells"]), "{entry}");
            draws(&mechanism, &entry);
        }
    }
}
