use crate::error::ParamError;
use crate::lattice::exactly;
use crate::mechanism::{Kind, OneWordMechanism, Shape, one_word_mechanism};

/// The discrete staircase mechanism: the optimum for integer queries (Geng and Viswanath 2015, Theorem 7).
///
/// # Probabilities
/// P(i) = b^J/t, J = 0 where |i| < r, otherwise J = ⌊(|i| − r)/Δ⌋ + 1; t = 2r − 1 + 2Δb/(1 − b), b = e^(−ε).
///
/// # What is drawn
/// Exactly this mechanism, with ε the rational number that the `f64` is. Magnitudes saturate at 2⁶³ − 1.
///
/// # Example
/// ```
/// use stairnoise::{DiscreteStaircase, Generator, Mechanism, R};
///
/// let mechanism = DiscreteStaircase::new(1.0, 5, R::L1)?;
/// let mut released = [0_i64; 3];
/// mechanism.release(&mut Generator::from_os()?, &[3797_i64, 485, 161], &mut released)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteStaircase(pub(crate) OneWordMechanism);

/// Half-width of the first stair: P is constant on −(r − 1) ..= r − 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum R {
    /// The optimum for E|X|: ⌈Δ/(1 + e^(ε/2))⌉.
    #[default]
    L1,
    /// The optimum for E X².
    L2,
    /// A number from 1 to the sensitivity.
    Value(u64),
}

impl DiscreteStaircase {
    /// # Errors
    /// [`ParamError`] unless ε ≥ 2⁻⁴⁰ is finite, 1 ≤ r ≤ Δ are integers that `f64` holds, and Δ + Δ/ε ≤ 2⁵⁴.
    pub fn new(eps: f64, sensitivity: u64, r: R) -> Result<Self, ParamError> {
        let shape = match r {
            R::L1 => Shape::L1,
            R::L2 => Shape::L2,
            R::Value(r) => Shape::Number(exactly("r", r)?),
        };
        OneWordMechanism::new(Kind::DiscreteStaircase, eps, exactly("sensitivity", sensitivity)?, shape).map(Self)
    }
}

one_word_mechanism!(DiscreteStaircase of i64, sensitivity u64);
