//! What parameters and draws may be refused for.

use core::fmt;

use crate::memory::OutOfMemory;
use crate::stream::EntropyError;

/// An enum of errors, and for each the text that users read.
macro_rules! errors {
    (
        $(#[$of_enum:meta])*
        $name:ident
        $(
            $(#[$of_error:meta])*
            $error:ident $(($place:ident: $placed:ty))? $({ $($(#[$of_field:meta])* $field:ident: $type:ty,)+ })?
            => $text:expr $(, $shown:expr)*;
        )+
    ) => {
        $(#[$of_enum])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $(
                $(#[$of_error])*
                $error $(($placed))? $({ $($(#[$of_field])* $field: $type,)+ })?,
            )+
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Self::$error $(($place))? $({ $($field),+ })? => write!(f, $text $(, $shown)*),)+
                }
            }
        }

        impl core::error::Error for $name {}

        impl From<OutOfMemory> for $name {
            fn from(_: OutOfMemory) -> Self {
                Self::OutOfMemory
            }
        }
    };
}

errors! {
    /// A parameter that breaks a rule. The text names the parameter, the rule and the value received.
    ParamError

    /// r is not a whole number from 1 to the sensitivity.
    R {
        /// The value received.
        r: f64,
        /// The sensitivity, in steps.
        sensitivity: f64,
    } => "r must be a whole number from 1 to the sensitivity {}, got {}", Shown(sensitivity), Shown(r);
    /// An integer that `f64` does not hold: the mechanism would be another one.
    Inexact {
        /// The parameter's name.
        parameter: &'static str,
        /// The value received.
        value: u64,
    } => "{parameter} must be exactly representable in float64, got {value}";
    /// Any other rule.
    Rule {
        /// The parameter's name.
        parameter: &'static str,
        /// What it must be.
        rule: &'static str,
        /// The value received.
        value: f64,
    } => "{parameter} must be {rule}, got {}", Shown(value);
    /// Values of a continuous mechanism were to be written as integers.
    NotWhole => "{}", NOT_WHOLE;
    /// The tail of the mechanism would not fit 64-bit integers.
    TooWide {
        /// The ε received.
        eps: f64,
        /// The sensitivity received.
        sensitivity: f64,
    } => "eps and sensitivity must give a lattice that fits 64-bit integers (eps at least 2**-40; the sensitivity \
          times 1 + 1/eps at most 2**54 steps of the lattice), got eps {} and sensitivity {}", Shown(eps), Shown(sensitivity);
    /// The granularity would leave the range of `f64`.
    Granularity {
        /// The sensitivity received.
        sensitivity: f64,
        /// The exponent of the granularity that would be needed.
        log2_granularity: i32,
    } => "sensitivity must give a granularity from 2**-1074 to 2**960, got {} (granularity 2**{log2_granularity})", Shown(sensitivity);
    /// There is no memory for what the mechanism prepares.
    OutOfMemory => "{}", NO_MEMORY;
}

errors! {
    /// A draw that cannot be made. No fill was taken and, unless memory ran out, nothing was written.
    DrawError

    /// The operating system gave no entropy for a key, or the crate was built without the feature `entropy`.
    Entropy(error: EntropyError) => "the operating system gave no entropy: {error}";
    /// The generator of a release or a selection has a seed ([`Generator::from_seed`](crate::Generator::from_seed)).
    Seeded => "generator must have a secret key for a release, because whoever guesses a seed can subtract the noise; \
               in tests use Generator::from_seed(seed).allow_release(), got a generator with a seed";
    /// The generator has made its 2⁴⁸ fills.
    FillsExhausted => "the generator has made its 2**48 fills";
    /// A view was to spawn: its children would be those of its generator.
    ViewSpawns => "spawn must be called on a generator that is no view, because a view has no children of its own: \
                   spawn first and make views of the child";
    /// A child whose number is beyond those that were asked for, or that a key has.
    NoChild => "the number of a child must be below the number of children, which is at most 2**63";
    /// The last index of a fill would be beyond 2⁶².
    IndexTooLarge => "the last index of a fill must be below 2**62";
    /// The last index of a fill would be beyond 2⁴⁰, for a mechanism of several draws.
    StagedIndexTooLarge => "the last index of a fill of this mechanism must be below 2**40";
    /// The two slices of a release differ in length.
    Lengths {
        /// How many true answers.
        answers: usize,
        /// How many places for released values.
        out: usize,
    } => "out must be as long as the answers, got {out} places for {answers} answers";
    /// A true answer is NaN or infinite; its position.
    NotFinite(index: usize) => "values must be finite, got nan or inf at index {index}";
    /// A true answer is 2¹²⁶ lattice steps or more in magnitude: no noise of the mechanism would hide it, and no sum would be exact; its position.
    OffLattice(index: usize) => "{} at index {index}", OFF_LATTICE;
    /// Mechanisms with parameters of their own for every value: a parameter's values are not as many as the places.
    ParameterCount {
        /// How many values of the parameter.
        values: usize,
        /// How many places.
        out: usize,
    } => "every parameter must have as many values as out has places, got {values} values for {out} places";
    /// Mechanisms with parameters of their own for every value: parameters that have no mechanism.
    Parameters {
        /// Their position.
        index: usize,
        /// The rule that they break.
        error: ParamError,
    } => "{error} at index {index}";
    /// The values of a mechanism of other numbers than integers were to be written as integers.
    NotWhole => "{}", NOT_WHOLE;
    /// The elements of an output do not hold all residues below the modulus.
    Residues => "out must have elements that hold every integer below the modulus, got narrower ones";
    /// The costs are not those of one or more candidates in every row.
    Candidates {
        /// How many costs.
        costs: usize,
        /// How many rows.
        rows: usize,
    } => "costs must be as many in every row, and at least one, got {costs} costs in {rows} rows";
    /// A cost is NaN, −∞, or negative where it must not be; its position.
    Cost(index: usize) => "costs must be finite or inf, and for staircase selection not negative: the one at index {index} is not";
    /// Multiplicities are not whole numbers from 1 on, one for each cost and below 2⁵³ in all of a row, or the mechanism is permute-and-flip.
    Multiplicities => "multiplicities must be whole numbers from 1 on, one for each cost and below 2**53 in all of a row, \
                       and the mechanism must not be permute-and-flip";
    /// A row has fewer finite costs than candidates are to be selected from it.
    TooFewFinite {
        /// The row's number.
        row: usize,
        /// How many candidates.
        needed: usize,
    } => "costs must have at least {needed} finite ones in every row: row {row} has fewer";
    /// A count of people is negative; its position.
    Count(index: usize) => "counts must be at least 0: the one at index {index} is not";
    /// There is no memory to work in. Part of the output may have been written.
    OutOfMemory => "{}", NO_MEMORY;
}

const NO_MEMORY: &str = "the system has no memory left";

const NOT_WHOLE: &str = "out must be of floats for a mechanism of other numbers than integers, got integers";

/// What an answer breaks that is [`DrawError::OffLattice`].
pub const OFF_LATTICE: &str = "values must be below 2**126 times the granularity in magnitude, got a larger one";

/// A number as Python and Rust users both write it: `nan`, `inf`, `4.0`, `1e-300`.
struct Shown(f64);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_nan() {
            f.write_str("nan")
        } else {
            write!(f, "{:?}", self.0)
        }
    }
}

impl ParamError {
    pub(crate) const fn rule(parameter: &'static str, rule: &'static str, value: f64) -> Self {
        Self::Rule { parameter, rule, value }
    }

    /// Refuses a parameter for which a rule does not hold. A condition in the positive refuses NaN.
    pub(crate) fn require(holds: bool, parameter: &'static str, rule: &'static str, value: f64) -> Result<(), Self> {
        holds.then_some(()).ok_or(Self::rule(parameter, rule, value))
    }
}

impl DrawError {
    /// What may still happen with parameters that were checked.
    pub(crate) fn of_checked(error: ParamError) -> Self {
        debug_assert_eq!(error, ParamError::OutOfMemory);
        Self::OutOfMemory
    }

    /// The same of an answer at another position.
    pub(crate) fn at(self, index: usize) -> Self {
        match self {
            Self::NotFinite(_) => Self::NotFinite(index),
            Self::OffLattice(_) => Self::OffLattice(index),
            other => other,
        }
    }
}

impl From<EntropyError> for DrawError {
    fn from(error: EntropyError) -> Self {
        Self::Entropy(error)
    }
}
