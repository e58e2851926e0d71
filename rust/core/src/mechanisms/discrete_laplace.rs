use crate::error::ParamError;
use crate::lattice::exactly;
use crate::mechanism::{Kind, OneWordMechanism, Shape, one_word_mechanism};

/// The discrete Laplace, or two-sided geometric, mechanism (Ghosh, Roughgarden and Sundararajan 2009): the classic noise for counts.
///
/// # Probabilities
/// P(i) = (1 − p)/(1 + p)·p^|i|, p = e^(−ε/Δ).
///
/// # What is drawn
/// Exactly this mechanism, with ε the rational number that the `f64` is. Magnitudes saturate at 2⁶³ − 1.
///
/// # Example
/// ```
/// use stairnoise::{DiscreteLaplace, Generator, Mechanism};
///
/// let mut noise = [0_i32; 21];
/// DiscreteLaplace::new(1.0, 1)?.fill(&mut Generator::from_os()?, &mut noise)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteLaplace(pub(crate) OneWordMechanism);

impl DiscreteLaplace {
    /// # Errors
    /// [`ParamError`] unless ε ≥ 2⁻⁴⁰ is finite, Δ ≥ 1 is an integer that `f64` holds, and Δ + Δ/ε ≤ 2⁵⁴.
    pub fn new(eps: f64, sensitivity: u64) -> Result<Self, ParamError> {
        let sensitivity = exactly("sensitivity", sensitivity)?;
        OneWordMechanism::new(Kind::DiscreteLaplace, eps, sensitivity, Shape::default()).map(Self)
    }
}

one_word_mechanism!(DiscreteLaplace of i64, sensitivity u64);
