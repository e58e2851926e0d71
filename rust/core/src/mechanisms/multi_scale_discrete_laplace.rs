use crate::draw::{Difference, Differences, NegativeBinomial, Share};
use crate::error::ParamError;
use crate::exact::Step;
use crate::lattice::Lattice;
use crate::mechanism::{Source, implement};
use crate::memory;

/// A value takes a draw for every unit of the sensitivity.
const MOST_SENSITIVITY: f64 = (1 << 16) as f64;

/// The multi-scale discrete Laplace mechanism: noise in shares for integers, Σ m·X_m over m = 1 … Δ.
///
/// The X_m are two-sided geometric of ratio e^(−ε). The mechanism is infinitely divisible, and ε-private under shifts up to Δ.
#[derive(Debug)]
pub struct MultiScaleDiscreteLaplace {
    lattice: Lattice,
    sum: Differences,
}

impl MultiScaleDiscreteLaplace {
    /// A share of the mechanism.
    ///
    /// # Errors
    /// [`ParamError`]: `eps` is not from 2⁻¹¹ to 2¹⁰, or `sensitivity` is not a whole number from 1 to 2¹⁶.
    pub fn new(eps: f64, sensitivity: f64, share: Share) -> Result<Self, ParamError> {
        let lattice = Lattice::integers(eps, sensitivity)?;
        ParamError::require(sensitivity <= MOST_SENSITIVITY, "sensitivity", "at most 2**16", sensitivity)?;
        // Made for the whole too, because it checks ε.
        let mechanism = NegativeBinomial::new(("n_parties", 1.0), share, ("eps", eps), Step::new(eps, 1))?;
        let term = if share.is_whole() {
            Difference::geometric(eps, 1)
        } else {
            Difference::table(mechanism)
        };
        // All terms share one table or sampler: a clone is a pointer.
        let terms = memory::collected((1..=lattice.sensitivity_steps as u32).map(|m| (m, term.clone())))?;
        Ok(Self {
            lattice,
            sum: Differences(terms),
        })
    }
}

implement!(MultiScaleDiscreteLaplace of i64, this => Source::staged(&this.sum, this.lattice, &[]));
