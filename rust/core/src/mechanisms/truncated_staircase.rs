use crate::draw::{MOST_STEPS, TruncatedStairs};
use crate::error::ParamError;
use crate::exact;
use crate::lattice::{Lattice, Narrowing, ceil_scaled, check_gamma, floor_scaled};
use crate::mechanism::implement;

/// The staircase mechanism between two bounds, (ε, δ)-differentially private.
///
/// # Density
/// That of [`crate::Staircase`] on −A ≤ x ≤ A, renormalised. A is the least number from Δ on for which the outermost Δ of an end have at most δ.
///
/// # What is drawn
/// g times [`crate::TruncatedDiscreteStaircase`] with ⌈Δ/g⌉ and ⌈γ⌈Δ/g⌉⌉, whose δ is exact. Bounds are rounded inwards to the lattice.
///
/// # Example
/// ```
/// use stairnoise::{Generator, Mechanism, TruncatedStaircase};
///
/// let mechanism = TruncatedStaircase::new(1.0, 1e-6, 1.0, 0.4, Some(0.0), None)?;
/// let mut noise = [0.0_f64; 1000];
/// mechanism.fill(&mut Generator::from_os()?, &mut noise)?;
/// assert!(noise.iter().all(|x| (0.0..28.0).contains(x)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TruncatedStaircase(TruncatedStairs);

impl TruncatedStaircase {
    /// # Errors
    /// [`ParamError`] unless ε ≥ 2⁻⁴⁰ and Δ are finite and positive, 2⁻¹²⁸ ≤ δ ≤ ½, 0 < γ ≤ 1, the lattice fits, bounds are within ±2⁶¹ steps, and 2A
    /// fits between.
    pub fn new(
        eps: f64,
        delta: f64,
        sensitivity: f64,
        gamma: f64,
        lower: Option<f64>,
        upper: Option<f64>,
    ) -> Result<Self, ParamError> {
        let lattice = Lattice::continuous(eps, sensitivity, Narrowing::Staircase)?;
        check_gamma(gamma)?;
        let r = exact::ceil_product(gamma, lattice.sensitivity_steps);
        let steps = |name, bound: Option<f64>, up| bound.map(|bound| steps(name, bound, up, lattice)).transpose();
        let (lower, upper) = (steps("lower", lower, true)?, steps("upper", upper, false)?);
        TruncatedStairs::new(eps, delta, lattice, r, lower, upper).map(Self)
    }

    /// The least and the largest number of lattice steps that can be drawn.
    pub fn bounds(&self) -> (i64, i64) {
        self.0.bounds()
    }
}

/// A bound in lattice steps, rounded up or down.
fn steps(parameter: &'static str, bound: f64, up: bool, lattice: Lattice) -> Result<i64, ParamError> {
    let size = bound.abs();
    // In f64: the quotient by a power of two is exact, infinite, or far below 1.
    let within = size / lattice.granularity() <= MOST_STEPS as f64;
    ParamError::require(within, parameter, "within 2**61 multiples of the granularity from 0", bound)?;
    let outwards = up == (bound > 0.0);
    let steps = match size {
        _ if outwards => ceil_scaled(size, lattice.log2_granularity),
        _ => floor_scaled(size, lattice.log2_granularity),
    };
    let steps = steps.cast_signed();
    Ok(if bound < 0.0 { -steps } else { steps })
}

implement!(TruncatedStaircase of f64, this => this.0.source());

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;
    use crate::testing::golden::several_draws::draws;
    use crate::testing::golden::{float, list, vectors, whole};
    use crate::{AnyMechanism, Mechanism};

    #[test]
    fn refuses_what_is_no_mechanism() {
        let error = |delta, gamma, lower, upper| {
            TruncatedStaircase::new(1.0, delta, 1.0, gamma, lower, upper)
                .unwrap_err()
                .to_string()
        };
        for bad in [f64::NAN, 0.0, -1.0, 0.6, f64::INFINITY, 1e-39] {
            assert!(
                error(bad, 0.5, None, None).starts_with("delta must be from 2**-128 to 0.5, got"),
                "{bad}"
            );
        }
        for bad in [f64::NAN, 0.0, -1.0, 1.1] {
            assert!(
                error(0.01, bad, None, None).starts_with("gamma must be greater than 0 and at most 1, got"),
                "{bad}"
            );
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
            assert!(
                error(0.01, 0.5, Some(bad), None).starts_with("lower must be within 2**61 multiples"),
                "{bad}"
            );
            assert!(
                error(0.01, 0.5, None, Some(bad)).starts_with("upper must be within 2**61 multiples"),
                "{bad}"
            );
        }
        assert!(error(0.01, 0.5, Some(0.0), Some(5.0)).starts_with("delta must be large enough for the noise to fit"));
    }

    #[test]
    fn bounds_are_rounded_inwards() {
        let mechanism = |lower, upper| TruncatedStaircase::new(1.0, 0.01, 1.0, 0.5, lower, upper).unwrap();
        let g = mechanism(None, None).granularity();
        for bound in [0.3, -0.3, 1e-300, -1e-300, 0.0, 7.0, -7.0] {
            let (low, _) = mechanism(Some(bound), None).bounds();
            let (_, high) = mechanism(None, Some(bound)).bounds();
            let (least, largest) = ((bound / g).ceil() as i64, (bound / g).floor() as i64);
            let (plain_low, plain_high) = mechanism(None, None).bounds();
            assert_eq!((low, high), (least.max(plain_low), largest.min(plain_high)), "{bound}");
        }
    }

    #[test]
    fn golden_vectors() {
        for entry in vectors("truncated_staircase.json") {
            let [eps, delta, sensitivity, _, lower, upper] = list(&entry["arguments"]) else {
                panic!("{entry}")
            };
            let bound = |json: &Json| (!json.is_null()).then(|| float(json));
            let mechanism = TruncatedStaircase::new(
                float(eps),
                float(delta),
                float(sensitivity),
                float(&entry["gamma"]),
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
