use crate::error::{DrawError, ParamError};
use crate::exact::{self, IntegerLaw};
use crate::parallel;
use crate::params::{Lattice, Narrowing};
use crate::release::{self, Answer};
use crate::sampler::Sampler;
use crate::stream::{Fill, Generator};
use crate::value::Value;

/// The four laws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// [`crate::Staircase`].
    Staircase,
    /// [`crate::DiscreteStaircase`].
    DiscreteStaircase,
    /// [`crate::Laplace`].
    Laplace,
    /// [`crate::DiscreteLaplace`].
    DiscreteLaplace,
}

/// How wide the first stair is: γ of the continuous staircase, r of the discrete one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Shape {
    /// The exact optimum for E|X| on the lattice.
    #[default]
    L1,
    /// The exact optimum for E X² on the lattice.
    L2,
    /// γ in (0, 1], or a whole r from 1 to the sensitivity.
    Number(f64),
}

/// One of the four laws, chosen at run time; the named types are this with a fixed [`Kind`].
#[derive(Clone, Debug)]
pub struct Law {
    kind: Kind,
    eps: f64,
    sensitivity: f64,
    sampler: Sampler,
}

impl Law {
    /// Checks the parameters and prepares to draw. The Laplace kinds have no shape and ignore it.
    ///
    /// # Errors
    /// [`ParamError`], which names the parameter, the rule and the value.
    pub fn new(kind: Kind, eps: f64, sensitivity: f64, shape: Shape) -> Result<Self, ParamError> {
        let (law, lattice) = Self::place(kind, eps, sensitivity, shape)?;
        Ok(Self {
            kind,
            eps,
            sensitivity,
            sampler: Sampler::new(law, lattice),
        })
    }

    /// [`Law::new`] for a single value: quicker to make, slower to draw from.
    pub(crate) fn quick(kind: Kind, eps: f64, sensitivity: f64, shape: Shape) -> Result<Self, ParamError> {
        let (law, lattice) = Self::place(kind, eps, sensitivity, shape)?;
        Ok(Self {
            kind,
            eps,
            sensitivity,
            sampler: Sampler::quick(law, lattice),
        })
    }

    /// The law on the integers, and the lattice that it lives on.
    pub(crate) fn place(kind: Kind, eps: f64, sensitivity: f64, shape: Shape) -> Result<(IntegerLaw, Lattice), ParamError> {
        let lattice = Self::check(kind, eps, sensitivity, shape)?;
        let cells = lattice.cells;
        let law = match kind {
            Kind::Laplace | Kind::DiscreteLaplace => IntegerLaw::Geometric { eps, cells },
            Kind::Staircase | Kind::DiscreteStaircase => {
                let r = resolve(kind, eps, cells, shape);
                IntegerLaw::Staircase { eps, cells, r }
            }
        };
        Ok((law, lattice))
    }

    /// Everything that [`Law::new`] may refuse, without preparing to draw.
    pub(crate) fn check(kind: Kind, eps: f64, sensitivity: f64, shape: Shape) -> Result<Lattice, ParamError> {
        let lattice = match kind {
            Kind::Staircase => Lattice::continuous(eps, sensitivity, Narrowing::Staircase),
            Kind::Laplace => Lattice::continuous(eps, sensitivity, Narrowing::Laplace),
            Kind::DiscreteStaircase | Kind::DiscreteLaplace => Lattice::integers(eps, sensitivity),
        }?;
        match (kind, shape) {
            (Kind::Staircase, Shape::Number(gamma)) if !(gamma > 0.0 && gamma <= 1.0) => Err(ParamError::Gamma(gamma)),
            (Kind::DiscreteStaircase, Shape::Number(r)) if !(r >= 1.0 && r <= sensitivity && r.trunc() == r) => {
                Err(ParamError::R { r, sensitivity })
            }
            _ => Ok(lattice),
        }
    }

    /// Which of the four laws this is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// ε, as given.
    pub fn eps(&self) -> f64 {
        self.eps
    }

    /// The sensitivity Δ, as given.
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// The lattice step g, a power of two; 1 for the discrete laws.
    pub fn granularity(&self) -> f64 {
        self.sampler.lattice().granularity()
    }

    /// ⌈Δ/g⌉: the sensitivity in lattice steps.
    pub fn cells(&self) -> u64 {
        self.sampler.lattice().cells
    }

    /// Half-width of the first stair in lattice steps (the staircase kinds only).
    pub fn r(&self) -> Option<u64> {
        match *self.sampler.law() {
            IntegerLaw::Staircase { r, .. } => Some(r),
            IntegerLaw::Geometric { .. } | IntegerLaw::OneSided { .. } => None,
        }
    }

    /// Fills `out` with noise from the generator's next fill.
    ///
    /// # Errors
    /// [`DrawError`]; then nothing was drawn and `out` is as it was.
    pub fn fill<T: Value>(&self, generator: &mut Generator, out: &mut [T]) -> Result<(), DrawError> {
        let fill = generator.next(out.len())?;
        self.write(&fill, 0, out);
        Ok(())
    }

    /// [`Law::fill`] on up to `threads` threads, this one included; 0 stands for as many as the process may run at once. The values are the same for
    /// any number.
    ///
    /// # Errors
    /// [`DrawError`]; then nothing was drawn and `out` is as it was.
    pub fn fill_parallel<T: Value>(&self, generator: &mut Generator, out: &mut [T], threads: usize) -> Result<(), DrawError> {
        let fill = generator.next(out.len())?;
        let threads = if threads == 0 {
            parallel::available_threads()
        } else {
            threads
        };
        let write = |first, piece: &mut [T]| {
            self.write(&fill, first, piece);
            Ok(())
        };
        parallel::fill(out, threads, write, || true).map(|_| ())
    }

    /// Adds noise to every answer on the lattice: `out[i]` is `answers[i]`, released. Answers are rounded to the lattice first.
    ///
    /// Protects a record that changes one of the answers, by at most the sensitivity.
    ///
    /// # Errors
    /// [`DrawError`]: lengths that differ, an answer that is not finite or of 2¹²⁶ lattice steps or more, integers for a continuous law, an
    /// exhausted generator; then nothing was drawn or written.
    pub fn release<A: Answer, T: Value>(&self, generator: &mut Generator, answers: &[A], out: &mut [T]) -> Result<(), DrawError> {
        release::check(answers, out, self.sampler.lattice().log2_granularity)?;
        let fill = generator.next(out.len())?;
        self.release_part(&fill, 0, answers, out);
        Ok(())
    }

    /// Values `first .. first + out.len()` of a fill: [`Law::fill`] in pieces.
    pub fn write<T: Value>(&self, fill: &Fill, first: u64, out: &mut [T]) {
        self.sampler.write(fill.stage(), first, out);
    }

    /// Refuses answers that [`Law::release`] refuses, by their positions, before anything is drawn.
    ///
    /// # Errors
    /// [`DrawError::NotFinite`], [`DrawError::OffLattice`].
    pub fn check_answers<A: Answer>(&self, answers: &[A]) -> Result<(), DrawError> {
        release::check_answers(answers, release::limit(self.sampler.lattice().log2_granularity))
    }

    /// [`Law::release`] in pieces. Answers must have passed [`Law::check_answers`] and be as many as `out`.
    pub fn release_part<A: Answer, T: Value>(&self, fill: &Fill, first: u64, answers: &[A], out: &mut [T]) {
        debug_assert!(release::check(answers, out, self.sampler.lattice().log2_granularity).is_ok());
        self.sampler.release(fill.stage(), first, answers, out);
    }

    pub(crate) fn sampler(&self) -> &Sampler {
        &self.sampler
    }
}

/// r of the contract, section 3: an exact function of the parameters.
fn resolve(kind: Kind, eps: f64, cells: u64, shape: Shape) -> u64 {
    match shape {
        Shape::L1 => exact::optimal_r_l1(eps, cells),
        Shape::L2 => exact::optimal_r_l2(eps, cells),
        Shape::Number(gamma) if kind == Kind::Staircase => exact::ceil_product(gamma, cells),
        Shape::Number(r) => r as u64,
    }
}

/// What every law's type shares: the same methods, in the same words, for outputs that are `$value`s.
macro_rules! law_methods {
    ($law:ident, $value:ident) => {
        impl $law {
            /// ε, as given.
            pub fn eps(&self) -> f64 {
                self.0.eps()
            }

            /// The lattice step g, a power of two; 1 for the discrete laws.
            pub fn granularity(&self) -> f64 {
                self.0.granularity()
            }

            /// Fills `out` with noise from the generator's next fill.
            ///
            /// # Errors
            /// [`crate::DrawError`]; then nothing was drawn and `out` is as it was.
            pub fn fill<T: $crate::$value>(
                &self,
                generator: &mut $crate::Generator,
                out: &mut [T],
            ) -> Result<(), $crate::DrawError> {
                self.0.fill(generator, out)
            }

            /// Adds noise to every answer on the lattice; see [`crate::Law::release`].
            ///
            /// # Errors
            /// [`crate::DrawError`]: lengths that differ, an answer that is not finite or of 2¹²⁶ lattice steps or more, an exhausted generator; then
            /// nothing was drawn or written.
            pub fn release<A: $crate::Answer, T: $crate::$value>(
                &self,
                generator: &mut $crate::Generator,
                answers: &[A],
                out: &mut [T],
            ) -> Result<(), $crate::DrawError> {
                self.0.release(generator, answers, out)
            }
        }

        impl From<$law> for $crate::Law {
            fn from(law: $law) -> Self {
                law.0
            }
        }
    };
}
pub(crate) use law_methods;
