use crate::draw::Sampler;
use crate::error::ParamError;
use crate::exact::IntegerDistribution;
use crate::kernel::{LEAST_SIGMA2, MOST_SIGMA2};
use crate::lattice::Lattice;
use crate::mechanism::{Source, implement};

/// The discrete Gaussian mechanism (Canonne, Kamath and Steinke 2020).
///
/// # Probabilities
/// P(k) ∝ e^(−k²/(2σ²)) for every integer k.
///
/// # What is drawn
/// Every integer has exactly its probability: |X| is the number of j ≥ 1 with v < P(|X| ≥ j), v uniform in [0, 1).
///
/// # Example
/// ```
/// use stairnoise::{DiscreteGaussian, Generator, Mechanism};
///
/// let mut noise = [0_i64; 1000];
/// DiscreteGaussian::new(100.0)?.fill(&mut Generator::from_os()?, &mut noise)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    sigma2: f64,
    sampler: Sampler,
}

impl DiscreteGaussian {
    /// The mechanism with the parameter σ², which is its variance but for less than 10⁻⁷ of it where σ² ≥ 1.
    ///
    /// # Errors
    /// [`ParamError`] unless σ² is from 2⁻²⁰ to 2⁹⁰.
    pub fn new(sigma2: f64) -> Result<Self, ParamError> {
        Self::scaled(sigma2, 0)
    }

    /// [`Gaussian::scaled`](crate::Gaussian::scaled).
    pub(super) fn scaled(sigma2: f64, log2_granularity: i32) -> Result<Self, ParamError> {
        Self::made(sigma2, log2_granularity, Sampler::new)
    }

    /// Whether [`DiscreteGaussian::scaled`] makes a mechanism.
    pub(super) fn check(sigma2: f64, log2_granularity: i32) -> Result<(), ParamError> {
        let (variance, exponent) = (LEAST_SIGMA2..=MOST_SIGMA2, -1074..=960);
        ParamError::require(variance.contains(&sigma2), "sigma2", "from 2**-20 to 2**90", sigma2)?;
        let (fits, rule) = (exponent.contains(&log2_granularity), "from -1074 to 960");
        ParamError::require(fits, "log2_granularity", rule, log2_granularity.into())
    }

    pub(super) fn made(
        sigma2: f64,
        log2_granularity: i32,
        sampler: impl Fn(IntegerDistribution, Lattice) -> Sampler,
    ) -> Result<Self, ParamError> {
        Self::check(sigma2, log2_granularity)?;
        let lattice = Lattice::without_sensitivity(log2_granularity);
        Ok(Self {
            sigma2,
            sampler: sampler(IntegerDistribution::Gaussian { sigma2 }, lattice),
        })
    }

    /// The parameter σ².
    pub fn sigma2(&self) -> f64 {
        self.sigma2
    }

    pub(super) fn sampler(&self) -> &Sampler {
        &self.sampler
    }
}

implement!(DiscreteGaussian of i64, this => Source::one_word(&this.sampler, &[]));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_does_not_fit() {
        for bad in [
            f64::NAN,
            f64::INFINITY,
            -1.0,
            0.0,
            LEAST_SIGMA2.next_down(),
            MOST_SIGMA2.next_up(),
        ] {
            let error = DiscreteGaussian::new(bad).unwrap_err().to_string();
            assert!(error.starts_with("sigma2 must be from 2**-20 to 2**90, got "), "{error}");
        }
        let error = DiscreteGaussian::scaled(1.0, 961).unwrap_err().to_string();
        assert_eq!(error, "log2_granularity must be from -1074 to 960, got 961.0");
    }
}
