use crate::draw::Sampler;
use crate::error::ParamError;
use crate::exact::{self, IntegerDistribution};
use crate::lattice::Lattice;
use crate::mechanism::{Source, implement};

/// Canonical noise for (ε, δ) on the integers at sensitivity 1 (Awan and Ramasethu 2023): no other such noise is more often near 0.
///
/// # Probabilities
/// P(X ≥ k) = P(X ≤ −k) = a_k for k ≥ 1, with a_1 = (1 − δ)/(1 + e^ε) and a_(k+1) = max(0, e^(−ε)·(a_k − δ)).
///
/// # What is drawn
/// Exactly this mechanism, with ε and δ the rationals that the `f64`s are. δ = 0 is the discrete Laplace mechanism; magnitudes saturate at 2⁶³ − 1.
///
/// # Example
/// ```
/// use stairnoise::{DiscreteCanonical, Generator, Mechanism};
///
/// let mechanism = DiscreteCanonical::new(1.0, 1e-6)?;
/// let mut noise = [0_i64; 1000];
/// mechanism.fill(&mut Generator::from_os()?, &mut noise)?;
/// assert_eq!(mechanism.end(), 14);
/// assert!(noise.iter().all(|x| (-14..=14).contains(x)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteCanonical {
    sampler: Sampler,
    end: u64,
}

impl DiscreteCanonical {
    /// # Errors
    /// [`ParamError`] unless ε ≥ 2⁻⁴⁰ is finite and 0 ≤ δ < 1.
    pub fn new(eps: f64, delta: f64) -> Result<Self, ParamError> {
        let lattice = Lattice::integers(eps, 1.0)?;
        // In the positive: NaN fails it.
        ParamError::require((0.0..1.0).contains(&delta), "delta", "at least 0 and less than 1", delta)?;
        let (distribution, end) = if delta > 0.0 {
            let most = exact::most_canonical(eps, delta);
            (IntegerDistribution::Canonical { eps, delta, most }, most)
        } else {
            let sensitivity_steps = 1;
            (
                IntegerDistribution::Geometric { eps, sensitivity_steps },
                i64::MAX.unsigned_abs(),
            )
        };
        let sampler = Sampler::new(distribution, lattice);
        Ok(Self { sampler, end })
    }

    /// The largest integer that can be drawn: 2⁶³ − 1 for δ = 0.
    pub fn end(&self) -> u64 {
        self.end
    }
}

implement!(DiscreteCanonical of i64, this => Source::one_word(&this.sampler, core::slice::from_ref(&this.end)));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::golden::several_draws::draws;
    use crate::testing::golden::{float, list, vectors, whole};
    use crate::{AnyMechanism, Mechanism};
    use crate::{DiscreteLaplace, Generator};

    #[test]
    fn refuses_what_is_no_mechanism() {
        let error = |eps, delta| DiscreteCanonical::new(eps, delta).unwrap_err().to_string();
        for bad in [f64::NAN, -1e-300, 1.0, 1.5, f64::INFINITY] {
            assert!(
                error(1.0, bad).starts_with("delta must be at least 0 and less than 1, got"),
                "{bad}"
            );
        }
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(error(bad, 0.1).starts_with("eps must be finite and greater than 0"), "{bad}");
        }
        assert!(DiscreteCanonical::new((-41.0_f64).exp2(), 0.1).is_err());
    }

    /// By a_k > δ in `f64`, where no a_k is near δ; and the least and the largest parameters.
    #[test]
    fn it_ends_where_the_recursion_does() {
        for eps in [1e-3, 0.1, 0.7, 1.0, 3.0, 10.0] {
            for delta in [1e-9, 1e-3, 0.05, 0.3, 0.9] {
                let (mut a, mut end) = ((1.0 - delta) / (1.0 + f64::exp(eps)), 1);
                while a > delta {
                    (a, end) = ((a - delta) / f64::exp(eps), end + 1);
                }
                assert_eq!(DiscreteCanonical::new(eps, delta).unwrap().end(), end, "{eps} {delta}");
            }
        }
        let end = |eps, delta| DiscreteCanonical::new(eps, delta).unwrap().end();
        let least = f64::from_bits(1);
        for eps in [(-40.0_f64).exp2(), 1.0, 700.0, 1e300] {
            assert_eq!(end(eps, 1.0_f64.next_down()), 1);
            assert_eq!(end(eps, 0.0), i64::MAX.unsigned_abs());
        }
        assert_eq!((end(700.0, least), end(1000.0, least), end(f64::MAX, least)), (2, 1, 1));
        let widest = end((-40.0_f64).exp2(), least);
        assert!((1 << 49..1 << 50).contains(&widest), "{widest}");
    }

    #[test]
    fn without_delta_it_is_discrete_laplace() {
        let (mut ours, mut theirs) = ([0_i64; 1000], [0_i64; 1000]);
        let mechanism = DiscreteCanonical::new(0.1, 0.0).unwrap();
        mechanism.fill(&mut Generator::from_seed(1), &mut ours).unwrap();
        let laplace = DiscreteLaplace::new(0.1, 1).unwrap();
        laplace.fill(&mut Generator::from_seed(1), &mut theirs).unwrap();
        assert_eq!(ours, theirs);
    }

    #[test]
    fn golden_vectors() {
        for entry in vectors("discrete_canonical.json") {
            let [eps, delta] = list(&entry["arguments"]) else {
                panic!("{entry}")
            };
            let mechanism = DiscreteCanonical::new(float(eps), float(delta)).unwrap();
            assert_eq!(
                (mechanism.sensitivity_steps(), mechanism.end()),
                (whole(&entry["cells"]), whole(&entry["end"])),
                "{entry}"
            );
            draws(&mechanism, &entry);
        }
    }
}
