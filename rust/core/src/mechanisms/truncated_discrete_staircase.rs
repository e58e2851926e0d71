use crate::draw::{MOST_STEPS, TruncatedStairs, check_delta};
use crate::error::ParamError;
use crate::exact;
use crate::lattice::{Lattice, exactly};
use crate::mechanism::implement;

/// The discrete staircase mechanism between two bounds, (ε, δ)-differentially private.
///
/// # Probabilities
/// Those of [`crate::DiscreteStaircase`] on −A … A, renormalised. A ≥ Δ is the least for which the Δ outermost integers of an end have at most δ.
///
/// # What is drawn
/// Exactly this mechanism, or this mechanism plus the integer nearest to 0 that keeps it between `lower` and `upper`.
///
/// # Example
/// ```
/// use stairnoise::{Generator, Mechanism, TruncatedDiscreteStaircase};
///
/// let mechanism = TruncatedDiscreteStaircase::new(1.0, 1e-6, 10, 4, Some(0), None)?;
/// let mut noise = [0_i64; 1000];
/// mechanism.fill(&mut Generator::from_os()?, &mut noise)?;
/// assert_eq!(mechanism.bounds(), (0, 272));
/// assert!(noise.iter().all(|x| (0..=272).contains(x)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TruncatedDiscreteStaircase(TruncatedStairs);

impl TruncatedDiscreteStaircase {
    /// # Errors
    /// [`ParamError`] unless ε ≥ 2⁻⁴⁰ is finite, 2⁻¹²⁸ ≤ δ ≤ ½, 1 ≤ r ≤ Δ are `f64` integers, Δ + Δ/ε ≤ 2⁵⁴, bounds are within ±2⁶¹, and 2A fits
    /// between.
    pub fn new(
        eps: f64,
        delta: f64,
        sensitivity: u64,
        r: u64,
        lower: Option<i64>,
        upper: Option<i64>,
    ) -> Result<Self, ParamError> {
        let lattice = checked(eps, sensitivity, r)?;
        check("lower", lower)?;
        check("upper", upper)?;
        TruncatedStairs::new(eps, delta, lattice, r, lower, upper).map(Self)
    }

    /// A alone, without a mechanism to draw from: a few microseconds.
    pub fn end(eps: f64, delta: f64, sensitivity: u64, r: u64) -> Result<u64, ParamError> {
        let sensitivity_steps = checked(eps, sensitivity, r)?.sensitivity_steps;
        let staircase = exact::Staircase::new(eps, sensitivity_steps, r);
        Ok(exact::most_truncated_staircase(&staircase, check_delta(delta)?))
    }

    /// The least and the largest integer that can be drawn.
    pub fn bounds(&self) -> (i64, i64) {
        self.0.bounds()
    }
}

fn checked(eps: f64, sensitivity: u64, r: u64) -> Result<Lattice, ParamError> {
    let sensitivity = exactly("sensitivity", sensitivity)?;
    let lattice = Lattice::integers(eps, sensitivity)?;
    if !(1..=lattice.sensitivity_steps).contains(&r) {
        return Err(ParamError::R {
            r: r as f64,
            sensitivity,
        });
    }
    Ok(lattice)
}

fn check(parameter: &'static str, bound: Option<i64>) -> Result<(), ParamError> {
    let near = bound.is_none_or(|bound| bound.unsigned_abs() <= MOST_STEPS.unsigned_abs());
    ParamError::require(near, parameter, "at most 2**61 from 0", bound.unwrap_or_default() as f64)
}

implement!(TruncatedDiscreteStaircase of i64, this => this.0.source());

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;
    use crate::testing::golden::several_draws::draws;
    use crate::testing::golden::{float, list, vectors, whole};
    use crate::{AnyMechanism, Mechanism};

    #[test]
    fn refuses_what_is_no_mechanism() {
        let error = |delta, sensitivity, r, lower, upper| {
            TruncatedDiscreteStaircase::new(1.0, delta, sensitivity, r, lower, upper)
                .unwrap_err()
                .to_string()
        };
        for bad in [f64::NAN, 0.0, -1.0, 0.6, f64::INFINITY, 1e-39] {
            assert!(
                error(bad, 3, 1, None, None).starts_with("delta must be from 2**-128 to 0.5, got"),
                "{bad}"
            );
        }
        assert!(error(0.01, 0, 1, None, None).starts_with("sensitivity must be"));
        for bad in [0, 4] {
            assert!(error(0.01, 3, bad, None, None).starts_with("r must be a whole number from 1 to the sensitivity 3"));
        }
        let far = (1 << 61) + 1;
        assert!(error(0.01, 3, 1, Some(-far), None).starts_with("lower must be at most 2**61 from 0"));
        assert!(error(0.01, 3, 1, None, Some(far)).starts_with("upper must be at most 2**61 from 0"));
        assert!(error(0.01, 3, 1, Some(0), Some(5)).starts_with("delta must be large enough for the noise to fit"));
    }

    #[test]
    fn a_bound_moves_the_mechanism_as_little_as_it_must() {
        let bounds = |lower, upper| {
            TruncatedDiscreteStaircase::new(1.0, 0.01, 3, 2, lower, upper)
                .unwrap()
                .bounds()
        };
        let (low, high) = bounds(None, None);
        assert_eq!(-low, high);
        assert_eq!(bounds(Some(low), Some(high)), (low, high));
        assert_eq!(bounds(Some(-1000), Some(1000)), (low, high));
        assert_eq!(bounds(Some(0), None), (0, 2 * high));
        assert_eq!(bounds(None, Some(-5)), (-5 - 2 * high, -5));
        assert_eq!(bounds(Some(-2), Some(2 * high - 2)), (-2, 2 * high - 2));
        let far = 1 << 61;
        assert_eq!(bounds(Some(far), None), (far, far + 2 * high));
        // The widest mechanism of all, at the farthest bound.
        let widest = TruncatedDiscreteStaircase::new((-40.0_f64).exp2(), LEAST, 1 << 13, 1, Some(far), None).unwrap();
        let mut noise = [0_i64; 100];
        widest.fill(&mut crate::Generator::from_seed(1), &mut noise).unwrap();
        let (low, high) = widest.bounds();
        assert!(low == far && low < high && noise.iter().all(|x| (low..=high).contains(x)));
    }

    const LEAST: f64 = f64::from_bits((1023 - 128) << 52);

    #[test]
    fn golden_vectors() {
        for entry in vectors("truncated_discrete_staircase.json") {
            let [eps, delta, sensitivity, _, lower, upper] = list(&entry["arguments"]) else {
                panic!("{entry}")
            };
            let bound = |json: &Json| json.as_i64();
            let mechanism = TruncatedDiscreteStaircase::new(
                float(eps),
                float(delta),
                whole(sensitivity),
                whole(&entry["r"]),
                bound(lower),
                bound(upper),
            )
            .unwrap();
            let (centre, end) = (entry["centre"].as_i64().unwrap(), whole(&entry["end"]));
            assert_eq!(mechanism.sensitivity_steps(), whole(&entry["cells"]), "{entry}");
            let moved = [centre.max(0), centre.min(0)].map(i64::unsigned_abs);
            assert_eq!(mechanism.lengths(), [whole(&entry["r"]), end, moved[0], moved[1]], "{entry}");
            draws(&mechanism, &entry);
        }
    }
}
