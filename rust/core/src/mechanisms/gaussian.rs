use crate::error::ParamError;
use crate::mechanism::implement;
use crate::mechanisms::DiscreteGaussian;

/// The Gaussian mechanism on the multiples of a power of two g: the [`DiscreteGaussian`] mechanism times g.
///
/// # Probabilities
/// P(X = kg) ∝ e^(−k²/(2σ²)) for every integer k, σ in steps of g.
///
/// # Privacy
/// The guarantee of the discrete Gaussian mechanism (Canonne, Kamath and Steinke 2020, theorem 4): ρ = ½(D/σ)² for answers that, rounded to the
/// lattice, change by at most D steps. [docs/gaussian.md](https://github.com/stairnoise/stairnoise/blob/main/docs/gaussian.md) gives σ² by ε and δ.
///
/// # Example
/// ```
/// use stairnoise::{Gaussian, Generator, Mechanism};
///
/// // σ = 4.25 in the units of the answers, on the multiples of 2⁻³⁰.
/// let steps = 4.25 * f64::from(1 << 30);
/// let mechanism = Gaussian::scaled(steps * steps, -30)?;
/// let noise: Vec<f64> = mechanism.draw_vec(&mut Generator::from_os()?, 1000)?;
/// assert!(noise.iter().all(|x| x.abs() < 100.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gaussian(DiscreteGaussian);

impl Gaussian {
    /// The discrete Gaussian mechanism times 2^`log2_granularity`, σ² being counted in steps of that lattice.
    ///
    /// # Errors
    /// [`ParamError`] unless σ² is from 2⁻²⁰ to 2⁹⁰ and `log2_granularity` from −1074 to 960.
    pub fn scaled(sigma2: f64, log2_granularity: i32) -> Result<Self, ParamError> {
        DiscreteGaussian::scaled(sigma2, log2_granularity).map(Self)
    }

    /// The parameter σ², in steps of the lattice.
    pub fn sigma2(&self) -> f64 {
        self.0.sigma2()
    }
}

implement!(Gaussian of f64, this => this.0.source());
