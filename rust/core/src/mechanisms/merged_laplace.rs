use crate::draw::Segments;
use crate::error::ParamError;
use crate::lattice::{Answer, Lattice, Narrowing};
use crate::mechanism::{Source, implement};

/// Noise whose density falls at one rate near 0 and at others farther out (Mugunthan, Xiao and Kagal 2020).
///
/// # Density
/// ln f falls by εⱼ/Δ per unit of |x| from breakpoint cⱼ₋₁ to cⱼ, and f is continuous. c₀ is 0, and the last segment has no end.
///
/// # What is drawn
/// The same on the multiples of g: ln P(X = kg) falls by εⱼ/⌈Δ/g⌉ per lattice step between the breakpoints, rounded to the lattice.
///
/// # Privacy
/// Pure: the largest loss over one sensitivity, which is not any of the εⱼ in general.
///
/// # Example
/// ```
/// use stairnoise::{Generator, Mechanism, MergedLaplace};
///
/// let mechanism = MergedLaplace::new(&[0.25, 0.5], &[1.0], 1.0)?;
/// let mut noise = [0.0_f64; 1000];
/// mechanism.fill(&mut Generator::from_os()?, &mut noise)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MergedLaplace {
    breaks: Vec<u64>,
    mechanism: Segments,
}

/// Breakpoints are within this many lattice steps.
const MOST_STEPS: i128 = 1 << 62;

/// A value takes the draws of all segments.
const MOST_SEGMENTS: usize = 1024;

impl MergedLaplace {
    /// `eps` has one entry more than `breakpoints`, from the centre outwards. The lattice is that of the largest ε.
    ///
    /// # Errors
    /// [`ParamError`] unless every ε ≥ 2⁻⁴⁰ and Δ are finite and positive, the lattice fits all, and breakpoints on it are positive and rise.
    pub fn new(eps: &[f64], breakpoints: &[f64], sensitivity: f64) -> Result<Self, ParamError> {
        let fits = eps.len() == breakpoints.len() + 1 && eps.len() <= MOST_SEGMENTS;
        let rule = "one more than the breakpoints, and at most 1024";
        ParamError::require(fits, "the number of eps", rule, eps.len() as f64)?;
        for &eps in eps {
            // Alone it must be a mechanism too.
            Lattice::continuous(eps, sensitivity, Narrowing::Laplace)?;
        }
        let largest = eps.iter().copied().fold(0.0, f64::max);
        let lattice = Lattice::continuous(largest, sensitivity, Narrowing::Laplace)?;
        for &eps in eps {
            // On the lattice of the largest ε a smaller one has the longer tail.
            lattice.fits(eps, sensitivity)?;
        }
        let breaks = steps_of(breakpoints, lattice)?;
        let mechanism = Segments::new(eps, &breaks, lattice)?;
        Ok(Self { breaks, mechanism })
    }

    /// The breakpoints in lattice steps.
    pub fn breaks(&self) -> &[u64] {
        &self.breaks
    }
}

implement!(MergedLaplace of f64, this => Source::staged(&this.mechanism, this.mechanism.lattice, &this.breaks));

/// Rounded half up, which must leave them positive and rising.
fn steps_of(breakpoints: &[f64], lattice: Lattice) -> Result<Vec<u64>, ParamError> {
    let mut last = 0;
    let steps = breakpoints.iter().map(|&breakpoint| {
        // What is not finite becomes negative, which is refused.
        let finite = breakpoint.is_finite();
        let steps = if finite {
            breakpoint.round_to_lattice(lattice.log2_granularity)
        } else {
            -1
        };
        let rule = "positive, increasing by at least the granularity, and within 2**62 multiples of it";
        ParamError::require(last < steps && steps < MOST_STEPS, "breakpoints", rule, breakpoint)?;
        last = steps;
        Ok(steps as u64)
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyMechanism, Mechanism};

    #[test]
    fn refuses_what_is_no_mechanism() {
        let error = |eps: &[f64], breaks: &[f64]| MergedLaplace::new(eps, breaks, 1.0).unwrap_err().to_string();
        assert!(error(&[1.0], &[1.0]).starts_with("the number of eps must be one more than"));
        assert!(error(&[], &[]).starts_with("the number of eps must be one more than"));
        for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
            assert!(
                error(&[1.0, bad], &[1.0]).starts_with("eps must be finite and greater than 0"),
                "{bad}"
            );
            assert!(
                error(&[1.0, 2.0], &[bad]).starts_with("breakpoints must be positive"),
                "{bad}"
            );
        }
        assert!(error(&[1.0, 2.0, 3.0], &[2.0, 2.0]).starts_with("breakpoints must be positive, increasing"));
        assert!(error(&[1e4, 1e-12], &[2.0]).starts_with("eps and sensitivity must give a lattice"));
        assert!(error(&[1.0, 2.0], &[1e300]).starts_with("breakpoints"));
    }

    #[test]
    fn breakpoints_are_rounded_to_the_lattice() {
        let mechanism = MergedLaplace::new(&[5.0, 0.5, 1.0], &[0.4, 1.7], 1.0).unwrap();
        let g = mechanism.granularity();
        assert_eq!(mechanism.sensitivity_steps() as f64 * g, 1.0);
        assert_eq!(mechanism.breaks(), [(0.4 / g).round() as u64, (1.7 / g).round() as u64]);
    }
}
