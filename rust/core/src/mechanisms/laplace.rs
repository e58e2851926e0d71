use crate::error::ParamError;
use crate::mechanism::{Kind, OneWordMechanism, Shape, one_word_mechanism};

/// The Laplace mechanism of scale Δ/ε (Dwork, McSherry, Nissim and Smith 2006).
///
/// # Density
/// f(x) = (ε/2Δ)·e^(−ε|x|/Δ).
///
/// # What is drawn
/// The two-sided geometric distribution that loses ε over ⌈Δ/g⌉ steps, times g: every lattice point has exactly its probability.
///
/// # Example
/// ```
/// use stairnoise::{Generator, Laplace, Mechanism};
///
/// let mut noise = [0.0_f32; 1000];
/// Laplace::new(1.0, 0.5)?.fill(&mut Generator::from_os()?, &mut noise)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Laplace(pub(crate) OneWordMechanism);

impl Laplace {
    /// # Errors
    /// [`ParamError`] unless ε ≥ 2⁻⁴⁰ and Δ are finite and positive, and the lattice fits.
    pub fn new(eps: f64, sensitivity: f64) -> Result<Self, ParamError> {
        OneWordMechanism::new(Kind::Laplace, eps, sensitivity, Shape::default()).map(Self)
    }
}

one_word_mechanism!(Laplace of f64, sensitivity f64);
