use crate::draw::{Difference, Differences, NegativeBinomial, Share};
use crate::error::ParamError;
use crate::exact::Step;
use crate::lattice::{Lattice, decompose, floor_log2, power_of_two};
use crate::mechanism::{Source, implement};

/// The larger of the two scales is 2¹⁰ to 2¹¹ steps.
const LOG2_STEPS: i32 = 10;
/// Scales that differ by more than 2 to this power are refused: the smaller one would be far below the lattice step.
const MOST_LOG2_RATIO: i32 = 12;

/// The Arete mechanism (Pagh and Stausholm 2022): noise in shares for real values, Γ − Γ' + Λ on the multiples of a power of two g.
///
/// Γ and Γ' are gamma variables of shape α and scale θ, and Λ is a Laplace variable of scale λ.
///
/// What is drawn is (N − N' + L)·g. N and N' are negative binomial of shape α and ratio e^(−g/θ), and L is two-sided geometric of ratio e^(−g/λ).
#[derive(Debug)]
pub struct Arete {
    log2_granularity: i32,
    sum: Differences,
}

impl Arete {
    /// A share of the mechanism of shape `alpha` and scales `theta` and `lam`.
    ///
    /// # Errors
    /// [`ParamError`]: a parameter is not finite and positive, or the scales differ more than 2¹² times. Also refused: an `alpha` below 2⁻⁴⁰ for the
    /// share or too large for a table, and scales whose lattice step would leave the range of `f64`.
    pub fn new(alpha: f64, theta: f64, lam: f64, share: Share) -> Result<Self, ParamError> {
        let log2_granularity = granularity(theta, lam)?;
        let (gamma, laplace) = (ratio(theta, log2_granularity), ratio(lam, log2_granularity));
        let table = |shape, rate, (eps, parts)| {
            let mechanism = NegativeBinomial::new(shape, share, rate, Step::new(eps, parts))?;
            Ok::<_, ParamError>(Difference::table(mechanism))
        };
        // The whole has one stage for L, a share two for M − M' (contract, section 7).
        let last = if share.is_whole() {
            Difference::geometric(laplace.0, laplace.1)
        } else {
            // The shape is the share's fraction of 1, so an error names the number of parties.
            table(("n_parties", 1.0), ("lam", lam), laplace)?
        };
        let first = table(("alpha", alpha), ("theta", theta), gamma)?;
        // The gamma part reads stages 0 and 1, the Laplace part those that follow.
        let sum = Differences(vec![(1, first), (1, last)]);
        Ok(Self { log2_granularity, sum })
    }
}

/// log₂ g of the contract.
fn granularity(theta: f64, lam: f64) -> Result<i32, ParamError> {
    for (parameter, value) in [("theta", theta), ("lam", lam)] {
        let good = value > 0.0 && value < f64::INFINITY;
        ParamError::require(good, parameter, "finite and greater than 0", value)?;
    }
    let (theta_log2, lam_log2) = (floor_log2(theta), floor_log2(lam));
    let log2_granularity = theta_log2.max(lam_log2) - LOG2_STEPS;
    // The ranges of the contract, section 7.
    let near = (theta_log2 - lam_log2).abs() <= MOST_LOG2_RATIO;
    ParamError::require(near, "lam", "within a factor of 2**12 of theta", lam)?;
    let rule = "such that the lattice step is from 2**-1022 to 2**960";
    ParamError::require((-1022..=960).contains(&log2_granularity), "lam", rule, lam)?;
    Ok(log2_granularity)
}

/// g/scale as a float64 by an integer, exactly: 2^(log₂ g − exponent) by the significand, without its trailing zeros.
fn ratio(scale: f64, log2_granularity: i32) -> (f64, u64) {
    let (significand, exponent) = decompose(scale);
    let zeros = significand.trailing_zeros();
    (power_of_two(log2_granularity - exponent - zeros as i32), significand >> zeros)
}

implement!(Arete of f64, this => Source::staged(&this.sum, Lattice::without_sensitivity(this.log2_granularity), &[]));
