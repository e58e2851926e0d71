//! The discrete Laplace law.

use crate::error::ParamError;
use crate::lattice::params::exactly;
use crate::law::one_word::{Kind, OneWordLaw, Shape, one_word_law};
use crate::law::{AnyLaw, WholeLaw};

/// The discrete Laplace, or two-sided geometric, law (Ghosh, Roughgarden and Sundararajan 2009): the classic noise for counts.
///
/// # Probabilities
/// P(i) = (1 − p)/(1 + p)·p^|i|, p = e^(−ε/Δ).
///
/// # What is drawn
/// Exactly this law, with ε the rational number that the `f64` is. Magnitudes saturate at 2⁶³ − 1.
///
/// # Example
/// ```
/// use stairnoise::{DiscreteLaplace, Generator, Law};
///
/// let mut noise = [0_i32; 21];
/// DiscreteLaplace::new(1.0, 1)?.fill(&mut Generator::from_os()?, &mut noise)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteLaplace(pub(crate) OneWordLaw);

impl DiscreteLaplace {
    /// # Errors
    /// [`ParamError`] unless ε ≥ 2⁻⁴⁰ is finite, Δ ≥ 1 is an integer that `f64` holds, and Δ + Δ/ε ≤ 2⁵⁴.
    pub fn new(eps: f64, sensitivity: u64) -> Result<Self, ParamError> {
        OneWordLaw::new(
            Kind::DiscreteLaplace,
            eps,
            exactly("sensitivity", sensitivity)?,
            Shape::default(),
        )
        .map(Self)
    }

    /// The sensitivity Δ, as given.
    pub fn sensitivity(&self) -> u64 {
        self.cells()
    }
}

one_word_law!(DiscreteLaplace: i64);

impl WholeLaw for DiscreteLaplace {}
