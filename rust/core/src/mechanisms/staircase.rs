use crate::error::ParamError;
use crate::mechanism::{Kind, OneWordMechanism, Shape, one_word_mechanism};

/// The staircase mechanism: the least expected cost among all ε-differentially private additive noise for a real query (Geng and
/// Viswanath 2015, "The Optimal Mechanism in Differential Privacy", Theorem 1).
///
/// # Density
/// f(x) = a·e^(−εJ), J = 0 where |x| < γΔ, otherwise J = ⌊|x|/Δ − γ⌋ + 1; a = (1 − b)/(2Δ(γ + b(1 − γ))), b = e^(−ε).
///
/// # What is drawn
/// The discrete staircase (ε, ⌈Δ/g⌉, ⌈γ⌈Δ/g⌉⌉) times g: each lattice point has exactly its probability, and a shift by up to Δ loses ε at most.
///
/// # Example
/// ```
/// use stairnoise::{Gamma, Generator, Mechanism, Staircase};
///
/// let mechanism = Staircase::new(4.0, 1.0, Gamma::L1)?;
/// let mut noise = [0.0; 4];
/// mechanism.fill(&mut Generator::from_seed(1), &mut noise)?;
/// assert!(noise.iter().all(|x: &f64| x.abs() < 12.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Staircase(pub(crate) OneWordMechanism);

/// Half-width of the first stair, as a part of the sensitivity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Gamma {
    /// The optimum for E|X|: 1/(1 + e^(ε/2)).
    #[default]
    L1,
    /// The optimum for E X².
    L2,
    /// A number in (0, 1].
    Value(f64),
}

impl Staircase {
    /// # Errors
    /// [`ParamError`] unless ε ≥ 2⁻⁴⁰ and Δ are finite and positive, γ is in (0, 1], and the lattice fits.
    pub fn new(eps: f64, sensitivity: f64, gamma: Gamma) -> Result<Self, ParamError> {
        let shape = match gamma {
            Gamma::L1 => Shape::L1,
            Gamma::L2 => Shape::L2,
            Gamma::Value(gamma) => Shape::Number(gamma),
        };
        OneWordMechanism::new(Kind::Staircase, eps, sensitivity, shape).map(Self)
    }
}

one_word_mechanism!(Staircase of f64, sensitivity f64);
