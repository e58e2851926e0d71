use crate::draw::{Sampler, check_delta};
use crate::error::ParamError;
use crate::exact::{IntegerDistribution, MOST_TRUNCATION, TruncatedGeometric, Truncation};
use crate::lattice::{Lattice, Narrowing, floor_scaled};
use crate::mechanism::{Source, implement};

/// The Laplace mechanism of scale Δ/ε between two bounds, (ε, δ)-differentially private (Geng, Ding, Guo and Kumar 2020; Mugunthan et al. 2020).
///
/// # Density
/// f(x) ∝ e^(−ε|x|/Δ) for A ≤ x ≤ B.
///
/// # What is drawn
/// g times an integer k from −a to b with probability proportional to e^(−ε|k|/D), D = ⌈Δ/g⌉: the truncated two-sided geometric distribution. Its δ
/// is exactly the probability of the D outermost integers at the nearer end. The bounds that are chosen are the least whose δ is at most `delta`.
///
/// # Example
/// ```
/// use stairnoise::{Generator, Mechanism, TruncatedLaplace};
///
/// let mechanism = TruncatedLaplace::new(1.0, 1e-6, 1.0, None, None)?;
/// let mut noise = [0.0_f64; 1000];
/// mechanism.fill(&mut Generator::from_os()?, &mut noise)?;
/// assert!(noise.iter().all(|x| x.abs() < 14.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TruncatedLaplace {
    /// The steps below 0 and above.
    bounds: [u64; 2],
    sampler: Sampler,
}

impl TruncatedLaplace {
    /// Bounds that are given are rounded to the lattice, towards 0. Without any the mechanism is symmetric.
    ///
    /// # Errors
    /// [`ParamError`] unless ε ≥ 2⁻⁴⁰ and Δ are finite and positive, the lattice fits, and 2⁻¹²⁸ ≤ δ ≤ ½. Bounds must be at least Δ from 0. Two
    /// bounds must leave the outermost Δ no more than δ; a single one must allow another bound that does.
    pub fn new(eps: f64, delta: f64, sensitivity: f64, lower: Option<f64>, upper: Option<f64>) -> Result<Self, ParamError> {
        let lattice = Lattice::continuous(eps, sensitivity, Narrowing::Laplace)?;
        check_delta(delta)?;
        let far = ["at most -sensitivity", "at least the sensitivity"];
        let steps = |name, far, sign: f64, bound| steps((name, far), sign * bound, bound, sensitivity, lattice);
        let lower_steps = lower.map(|lower| steps("lower", far[0], -1.0, lower)).transpose()?;
        let upper_steps = upper.map(|upper| steps("upper", far[1], 1.0, upper)).transpose()?;
        let truncation = Truncation {
            eps,
            sensitivity_steps: lattice.sensitivity_steps,
            delta,
        };
        let other = |name, given: Option<f64>, sensitivity_steps| {
            let far = "far enough from 0 for a bound on the other side to leave no more than delta";
            // Asked only about a bound that is given: the NaN never shows.
            truncation
                .other(sensitivity_steps)
                .ok_or(ParamError::rule(name, far, given.unwrap_or(f64::NAN)))
        };
        let (below, above) = match (lower_steps, upper_steps) {
            (None, None) => [truncation.symmetric(); 2].into(),
            (Some(below), None) => (below, other("lower", lower, below)?),
            (None, Some(above)) => (other("upper", upper, above)?, above),
            (Some(below), Some(above)) if truncation.holds(below.min(above), below.max(above)) => (below, above),
            _ => {
                let least = "at least what lower and upper leave to the outermost sensitivity";
                return Err(ParamError::rule("delta", least, delta));
            }
        };
        let distribution = IntegerDistribution::TruncatedGeometric(TruncatedGeometric {
            eps,
            sensitivity_steps: lattice.sensitivity_steps,
            below,
            above,
        });
        Ok(Self {
            bounds: [below, above],
            sampler: Sampler::new(distribution, lattice),
        })
    }

    /// (a, b): draws are from −a to b lattice steps.
    pub fn bounds(&self) -> (u64, u64) {
        self.bounds.into()
    }
}

implement!(TruncatedLaplace of f64, this => Source::one_word(&this.sampler, &this.bounds));

/// A bound in lattice steps, rounded towards 0; `name` comes with the rule of its least distance from 0.
fn steps(
    (name, far): (&'static str, &'static str),
    distance: f64,
    bound: f64,
    sensitivity: f64,
    lattice: Lattice,
) -> Result<u64, ParamError> {
    ParamError::require(distance >= sensitivity, name, far, bound)?;
    // In f64: exact, or infinite, since g is a power of two and the distance at least 2³¹ steps or so.
    let within = distance / lattice.granularity() < MOST_TRUNCATION as f64;
    ParamError::require(within, name, "within 2**62 multiples of the granularity from 0", bound)?;
    // A distance of Δ or more has at least D − 1 whole steps, as `Truncation` requires.
    Ok(floor_scaled(distance, lattice.log2_granularity))
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;
    use crate::testing::golden::several_draws::draws;
    use crate::testing::golden::{float, list, vectors, whole};
    use crate::{AnyMechanism, Mechanism};

    #[test]
    fn refuses_what_is_no_mechanism() {
        let error = |delta, lower, upper| TruncatedLaplace::new(1.0, delta, 1.0, lower, upper).unwrap_err().to_string();
        for bad in [f64::NAN, 0.0, -1.0, 0.6, f64::INFINITY, 1e-39] {
            assert!(
                error(bad, None, None).starts_with("delta must be from 2**-128 to 0.5, got"),
                "{bad}"
            );
        }
        for bad in [f64::NAN, 0.0, 0.9, -3.0] {
            assert!(
                error(0.01, None, Some(bad)).starts_with("upper must be at least the sensitivity, got"),
                "{bad}"
            );
            assert!(
                error(0.01, Some(-bad), None).starts_with("lower must be at most -sensitivity, got"),
                "{bad}"
            );
        }
        assert!(error(0.01, None, Some(f64::INFINITY)).starts_with("upper must be within 2**62"));
        assert!(error(0.01, None, Some(4.0)).starts_with("upper must be far enough from 0"));
        assert!(error(0.01, Some(-4.0), Some(40.0)).starts_with("delta must be at least what"));
        assert!(TruncatedLaplace::new(0.0, 0.01, 1.0, None, None).is_err());
    }

    #[test]
    fn bounds_are_those_that_were_asked_for_or_the_least() {
        let mechanism = |lower, upper| TruncatedLaplace::new(1.0, 0.01, 1.0, lower, upper).unwrap();
        let (a, b) = mechanism(None, None).bounds();
        assert_eq!(a, b);
        let g = mechanism(None, None).granularity();
        assert!((a as f64 * g - 4.464_920_175_891_208).abs() < 1e-8);
        let (a, b) = mechanism(None, Some(4.4625)).bounds();
        assert_eq!(b as f64 * g, (4.4625 / g).floor() * g);
        assert!((a as f64 * g - 5.007_548).abs() < 1e-4);
        assert_eq!(mechanism(Some(-4.4625), None).bounds(), (b, a));
        assert_eq!(
            mechanism(Some(-6.0), Some(5.0)).bounds(),
            ((6.0 / g) as u64, (5.0 / g) as u64)
        );
    }
    /// Evidence: χ² of 10⁷ values on coarse lattices, where 0 has a probability of its own, at most 1.5 times its degrees of freedom: by chance in
    /// one seed of 10⁵ for 60 of them; the seed is fixed.
    #[test]
    fn frequencies_are_the_probabilities() {
        const N: usize = if cfg!(miri) { 1000 } else { 10_000_000 };
        for (eps, sensitivity_steps, below, above) in
            [(1.0, 3_u64, 12, 40), (0.01, 1, 70, 5), (0.3, 1, 30, 30), (6.0, 20, 20, 45)]
        {
            let lattice = Lattice {
                log2_granularity: 0,
                sensitivity_steps,
            };
            let truncated = TruncatedGeometric {
                eps,
                sensitivity_steps,
                below,
                above,
            };
            let sampler = Sampler::new(IntegerDistribution::TruncatedGeometric(truncated), lattice);
            let fill = crate::Generator::from_seed(18).next(N).unwrap();
            let (mut counts, mut values) = (vec![0.0; (below + above + 1) as usize], vec![0_i64; 1 << 12]);
            for first in (0..N).step_by(values.len()) {
                let values = &mut values[..(N - first).min(1 << 12)];
                sampler.write(fill.stage(0), first as u64, values);
                for x in &*values {
                    counts[(x + below.cast_signed()) as usize] += 1.0;
                }
            }
            let weight = |place: usize| (-eps / sensitivity_steps as f64 * (place as f64 - below as f64).abs()).exp();
            let total: f64 = (0..counts.len()).map(weight).sum();
            let square = |(place, count): (usize, &f64)| {
                let expected = N as f64 * weight(place) / total;
                (count - expected).powi(2) / expected
            };
            let expected_often = counts
                .iter()
                .enumerate()
                .filter(|(place, _)| weight(*place) * N as f64 > 20.0 * total);
            let squares: Vec<f64> = expected_often.map(square).collect();
            let sum: f64 = squares.iter().sum();
            println!("{truncated:?}: {sum} for {}", squares.len());
            assert!(sum < 1.5 * squares.len() as f64, "{truncated:?}: {sum} for {}", squares.len());
        }
    }

    #[test]
    fn golden_vectors() {
        for entry in vectors("truncated_laplace.json") {
            let [eps, delta, sensitivity, lower, upper] = list(&entry["arguments"]) else {
                panic!("{entry}")
            };
            let bound = |json: &Json| (!json.is_null()).then(|| float(json));
            let mechanism =
                TruncatedLaplace::new(float(eps), float(delta), float(sensitivity), bound(lower), bound(upper)).unwrap();
            assert_eq!(mechanism.sensitivity_steps(), whole(&entry["cells"]), "{entry}");
            assert_eq!(
                mechanism.bounds(),
                (whole(&entry["below"]), whole(&entry["above"])),
                "{entry}"
            );
            draws(&mechanism, &entry);
        }
    }
}
