//! The four mechanisms that take one word a value: which of them a mechanism is, chosen when the program runs.

use crate::draw::Sampler;
use crate::error::ParamError;
use crate::exact::{self, IntegerDistribution, Staircase};
use crate::lattice::{Answer, Lattice, Narrowing, Value, check_gamma, release};
use crate::mechanism::{AnyMechanism, IntegerMechanism, Mechanism, Source};
use crate::stream::Fill;

/// One of the four mechanisms that take one word a value.
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

/// One of the four mechanisms that take one word a value, chosen when the program runs; the named types are this with a fixed [`Kind`].
#[derive(Clone, Debug)]
pub struct OneWordMechanism {
    kind: Kind,
    eps: f64,
    sensitivity: f64,
    sampler: Sampler,
}

impl OneWordMechanism {
    /// Checks the parameters and prepares to draw. The Laplace kinds have no shape and ignore it.
    pub fn new(kind: Kind, eps: f64, sensitivity: f64, shape: Shape) -> Result<Self, ParamError> {
        Self::made(kind, eps, sensitivity, shape, Sampler::new)
    }

    /// [`OneWordMechanism::new`] for a single value: quicker to make, slower to draw from.
    pub(crate) fn quick(kind: Kind, eps: f64, sensitivity: f64, shape: Shape) -> Result<Self, ParamError> {
        Self::made(kind, eps, sensitivity, shape, Sampler::quick)
    }

    fn made(
        kind: Kind,
        eps: f64,
        sensitivity: f64,
        shape: Shape,
        sampler: fn(IntegerDistribution, Lattice) -> Sampler,
    ) -> Result<Self, ParamError> {
        let (distribution, lattice) = Self::place(kind, eps, sensitivity, shape)?;
        Ok(Self {
            kind,
            eps,
            sensitivity,
            sampler: sampler(distribution, lattice),
        })
    }

    /// The mechanism on the integers, and the lattice that it lives on.
    pub(crate) fn place(
        kind: Kind,
        eps: f64,
        sensitivity: f64,
        shape: Shape,
    ) -> Result<(IntegerDistribution, Lattice), ParamError> {
        let lattice = Self::check(kind, eps, sensitivity, shape)?;
        let sensitivity_steps = lattice.sensitivity_steps;
        let mechanism = match kind {
            Kind::Laplace | Kind::DiscreteLaplace => IntegerDistribution::Geometric { eps, sensitivity_steps },
            Kind::Staircase | Kind::DiscreteStaircase => {
                let r = resolve(kind, eps, sensitivity_steps, shape);
                IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r))
            }
        };
        Ok((mechanism, lattice))
    }

    /// The checks of [`OneWordMechanism::new`], without preparing to draw.
    pub(crate) fn check(kind: Kind, eps: f64, sensitivity: f64, shape: Shape) -> Result<Lattice, ParamError> {
        let lattice = match kind {
            Kind::Staircase => Lattice::continuous(eps, sensitivity, Narrowing::Staircase),
            Kind::Laplace => Lattice::continuous(eps, sensitivity, Narrowing::Laplace),
            Kind::DiscreteStaircase | Kind::DiscreteLaplace => Lattice::integers(eps, sensitivity),
        }?;
        match (kind, shape) {
            (Kind::Staircase, Shape::Number(gamma)) => check_gamma(gamma).map(|()| lattice),
            // A rule in the positive and negated: NaN fails it.
            (Kind::DiscreteStaircase, Shape::Number(r)) if !(r >= 1.0 && r <= sensitivity && r.trunc() == r) => {
                Err(ParamError::R { r, sensitivity })
            }
            _ => Ok(lattice),
        }
    }

    /// Which of the four mechanisms this is.
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

    /// Half-width of the first stair in lattice steps (the staircase kinds only).
    pub fn r(&self) -> Option<u64> {
        self.lengths().first().copied()
    }

    /// Values `first .. first + out.len()` of a fill, which may be drawn from by several mechanisms.
    pub fn write<T: Value>(&self, fill: &Fill, first: u64, out: &mut [T]) {
        self.sampler.write(fill.stage(0), first, out);
    }

    /// Releases answers with the values of a fill from `first` on. They must have passed [`Mechanism::check_answers`] and be as many as `out`;
    /// the fill's generator has passed [`Generator::check_release`](crate::Generator::check_release).
    pub fn release_part<A: Answer, T: Value>(&self, fill: &Fill, first: u64, mut answers: &[A], out: &mut [T]) {
        debug_assert!(release::check(answers, out, self.sampler.lattice.log2_granularity).is_ok());
        self.sampler.release(fill.stage(0), first, &mut answers, out);
    }

    pub(crate) fn sampler(&self) -> &Sampler {
        &self.sampler
    }
}

impl AnyMechanism for OneWordMechanism {
    fn source(&self) -> Source<'_> {
        let lengths = match &self.sampler.distribution {
            IntegerDistribution::Staircase(Staircase { r, .. }) => core::slice::from_ref(r),
            _ => &[],
        };
        Source::one_word(&self.sampler, lengths)
    }
}

/// Which of the four it is, is known only when the program runs.
impl Mechanism for OneWordMechanism {
    type Value = f64;
}

impl IntegerMechanism for OneWordMechanism {}

/// r of the contract, section 3: an exact function of the parameters.
fn resolve(kind: Kind, eps: f64, sensitivity_steps: u64, shape: Shape) -> u64 {
    match shape {
        Shape::L1 => exact::optimal_r_l1(eps, sensitivity_steps),
        Shape::L2 => exact::optimal_r_l2(eps, sensitivity_steps),
        Shape::Number(gamma) if kind == Kind::Staircase => exact::ceil_product(gamma, sensitivity_steps),
        // `check` has found it whole, and no larger than the sensitivity.
        Shape::Number(r) => r as u64,
    }
}

/// What the types of the four mechanisms share.
macro_rules! one_word_mechanism {
    ($mechanism:ident of $value:ident, sensitivity $sensitivity:ty) => {
        $crate::mechanism::implement!($mechanism of $value, this => this.0.source());

        impl $mechanism {
            /// ε, as given.
            pub fn eps(&self) -> f64 {
                self.0.eps()
            }

            /// The sensitivity Δ, as given.
            pub fn sensitivity(&self) -> $sensitivity {
                self.0.sensitivity() as $sensitivity
            }
        }

        impl From<$mechanism> for $crate::OneWordMechanism {
            fn from(mechanism: $mechanism) -> Self {
                mechanism.0
            }
        }
    };
}

pub(crate) use one_word_mechanism;
