use crate::draw::{Difference, Differences, NegativeBinomial, Share};
use crate::error::ParamError;
use crate::exact::Step;
use crate::lattice::Lattice;
use crate::mechanism::{Source, implement};

/// The generalized discrete Laplace mechanism: noise in shares for integers, N − N'.
///
/// N and N' are negative binomial of shape β and ratio e^(−a). The mechanism is infinitely divisible; β = 1 is the discrete Laplace mechanism.
///
/// ```
/// use stairnoise::{GeneralizedDiscreteLaplace, Generator, Mechanism, Share};
///
/// let party = GeneralizedDiscreteLaplace::new(0.25, 0.5, Share::new(1, 100)?)?;
/// let mut noise = [0_i64; 10];
/// party.fill(&mut Generator::from_seed(1), &mut noise)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GeneralizedDiscreteLaplace(Differences);

impl GeneralizedDiscreteLaplace {
    /// A share of the mechanism of shape `beta` and rate `a`.
    ///
    /// # Errors
    /// [`ParamError`]: `a` is not from 2⁻¹¹ to 2¹⁰, `beta` is not positive, below 2⁻⁴⁰ for the share, or too large for a table.
    pub fn new(beta: f64, a: f64, share: Share) -> Result<Self, ParamError> {
        let mechanism = NegativeBinomial::new(("beta", beta), share, ("a", a), Step::new(a, 1))?;
        Ok(Self(Differences(vec![(1, Difference::table(mechanism))])))
    }
}

implement!(GeneralizedDiscreteLaplace of i64, this => Source::staged(&this.0, Lattice::without_sensitivity(0), &[]));
