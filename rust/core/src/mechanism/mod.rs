//! What every mechanism can do: the traits [`Mechanism`] and [`AnyMechanism`].

pub(crate) mod fill;
pub(crate) mod one_word;
pub(crate) mod per_element;
pub(crate) mod tiles;

use core::fmt::Debug;
use std::sync::Arc;

use crate::error::DrawError;
use crate::lattice::{Answer, Modulus, Residue, Unread, Value, limit, power_of_two, release};
use crate::memory;
use crate::parallel;
use crate::stream::Generator;
pub use fill::{MechanismFill, Source};
pub use one_word::{Kind, OneWordMechanism, Shape};

/// A mechanism's lattice, and how its values are drawn. [`Mechanism`] has the methods that use it.
///
/// Only mechanisms of this crate implement it, because no other crate can name the type that [`AnyMechanism::source`] returns. `dyn AnyMechanism` is
/// a mechanism too, so a program can choose one when it runs. Its [`Mechanism::Value`] is `f64`.
///
/// ```
/// use stairnoise::{AnyMechanism, DiscreteGaussian, Gamma, Generator, Mechanism, Staircase};
///
/// let mechanisms: [Box<dyn AnyMechanism>; 2] = [
///     Box::new(Staircase::new(4.0, 1.0, Gamma::L1)?),
///     Box::new(DiscreteGaussian::new(100.0)?),
/// ];
/// let mut generator = Generator::from_os()?;
/// for mechanism in mechanisms {
///     let noise = mechanism.draw_vec(&mut generator, 100)?;
///     assert!(noise.iter().all(|x| x % mechanism.granularity() == 0.0));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait AnyMechanism: Debug + Send + Sync {
    /// The lattice, and how values are drawn.
    #[doc(hidden)]
    fn source(&self) -> Source<'_>;

    /// The binary logarithm of the granularity; 0 for a mechanism of integers.
    fn log2_granularity(&self) -> i32 {
        self.source().log2_granularity
    }

    /// ⌈Δ/g⌉: the sensitivity in lattice steps; 0 for a mechanism that has no sensitivity.
    fn sensitivity_steps(&self) -> u64 {
        self.source().sensitivity_steps
    }

    /// Lengths in lattice steps: r of a staircase, the steps below and above 0 of a truncated mechanism, the breakpoints of a merged one, or none.
    fn lengths(&self) -> &[u64] {
        self.source().lengths
    }
}

/// Draws noise, and releases true answers with noise.
///
/// Noise is exact random multiples of a power of two, the *granularity* g. Every call takes the generator's next fill, so no two calls share noise.
///
/// | | one | a new vector | memory of yours |
/// |---|---|---|---|
/// | noise | [`draw`](Mechanism::draw) | [`draw_vec`](Mechanism::draw_vec) | [`fill`](Mechanism::fill), [`fill_parallel`](Mechanism::fill_parallel) |
/// | true answers, released | [`release_one`](Mechanism::release_one) | [`release_vec`](Mechanism::release_vec) | [`release`](Mechanism::release) |
///
/// All six give the same values for the same fill. The first two columns have the mechanism's own type, [`Mechanism::Value`]. The last one takes any
/// type that [`Holds`] them. No method is called `sample`, the name in `rand`'s trait `Distribution`.
pub trait Mechanism: AnyMechanism {
    /// What its values are: `i64` for a mechanism of integers. It is `f64` for any other mechanism, and for a mechanism whose granularity is known
    /// only when the program runs ([`OneWordMechanism`](crate::OneWordMechanism), [`LatticeNoise`](crate::LatticeNoise) and `dyn AnyMechanism`).
    type Value: Value;

    /// The granularity g, a power of two; 1 for a mechanism of integers.
    fn granularity(&self) -> f64 {
        power_of_two(self.log2_granularity())
    }

    /// The number of draws per value; a value takes about this many times as long as a single draw.
    fn draws(&self) -> usize {
        self.source().draws()
    }

    /// The number of values drawn jointly, as the coordinates of a vector are. One takes as long as all: draw multiples of it.
    fn joint_values(&self) -> usize {
        self.source().joint_values()
    }

    /// The generator's next fill, of `n` values: [`Mechanism::fill`] and [`Mechanism::release`] in pieces.
    fn next_fill(&self, generator: &mut Generator, n: usize) -> Result<MechanismFill<'_>, DrawError> {
        MechanismFill::next(self.source(), generator, n)
    }

    /// The generator's next fill, of `n` values, as a view that draws it in parts ([`Generator::next_view`]). It outlives the mechanism.
    fn next_view(&self, generator: &mut Generator, n: u64) -> Result<Generator, DrawError> {
        self.source().next_view(generator, n)
    }

    /// Draws one value of noise.
    ///
    /// ```
    /// use stairnoise::{DiscreteLaplace, Generator, Mechanism};
    ///
    /// let noise = DiscreteLaplace::new(1.0, 1)?.draw(&mut Generator::from_os()?)?;
    /// assert!(noise.abs() < 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn draw(&self, generator: &mut Generator) -> Result<Self::Value, DrawError> {
        let mut value = [Self::Value::default()];
        self.next_fill(generator, 1)?.write(0, &mut value)?;
        Ok(value[0])
    }

    /// Draws `n` values of noise.
    fn draw_vec(&self, generator: &mut Generator, n: usize) -> Result<Vec<Self::Value>, DrawError> {
        let mut values = memory::filled(Self::Value::default(), n)?;
        self.next_fill(generator, n)?.write(0, &mut values)?;
        Ok(values)
    }

    /// Fills `out` with noise from the generator's next fill.
    ///
    /// # Errors
    /// [`DrawError`]: an exhausted generator, no memory, integers for a granularity other than 1. Then `out` is as it was, unless memory ran out.
    fn fill<T: Holds<Self>>(&self, generator: &mut Generator, out: &mut [T]) -> Result<(), DrawError> {
        // Before the fill is taken: what is refused does not count.
        release::check_type::<T>(self.log2_granularity())?;
        Ok(self.next_fill(generator, out.len())?.write(0, out)?)
    }

    /// [`Mechanism::fill`] on up to `threads` threads, this one included; 0 means as many as the process may run. The values do not depend on it.
    fn fill_parallel<T: Holds<Self>>(&self, generator: &mut Generator, out: &mut [T], threads: usize) -> Result<(), DrawError> {
        release::check_type::<T>(self.log2_granularity())?;
        let fill = self.next_fill(generator, out.len())?;
        let threads = if threads == 0 {
            parallel::available_threads()
        } else {
            threads
        };
        parallel::fill(out, threads, |first, piece| fill.write(first, piece), || true)?;
        Ok(())
    }

    /// Adds noise to a true answer on the lattice: [`Mechanism::release`] of a single one.
    ///
    /// ```
    /// use stairnoise::{DiscreteLaplace, Generator, Mechanism};
    ///
    /// let private = DiscreteLaplace::new(1.0, 1)?.release_one(&mut Generator::from_os()?, 3797)?;
    /// assert!((2797..4797).contains(&private));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn release_one<A: Answer>(&self, generator: &mut Generator, answer: A) -> Result<Self::Value, DrawError> {
        let mut released = [Self::Value::default()];
        release_into(self, generator, &[answer], &mut released)?;
        Ok(released[0])
    }

    /// Adds noise to every answer on the lattice, as [`Mechanism::release`].
    fn release_vec<A: Answer>(&self, generator: &mut Generator, answers: &[A]) -> Result<Vec<Self::Value>, DrawError> {
        let mut released = memory::filled(Self::Value::default(), answers.len())?;
        release_into(self, generator, answers, &mut released)?;
        Ok(released)
    }

    /// Adds noise to every answer on the lattice: `out[i]` is `answers[i]`, released. Answers are rounded to the lattice first.
    ///
    /// Protects a record that changes one answer, or one vector of answers, by at most the sensitivity. A sum that `T` cannot hold saturates.
    ///
    /// # Errors
    /// [`DrawError`]: a generator with a seed ([`DrawError::Seeded`]), lengths that differ, answers that [`Mechanism::check_answers`] refuses,
    /// integers for a mechanism whose granularity turns out not to be 1, or an exhausted generator. Nothing was drawn or written then.
    fn release<A: Answer, T: Holds<Self>>(
        &self,
        generator: &mut Generator,
        answers: &[A],
        out: &mut [T],
    ) -> Result<(), DrawError> {
        release_into(self, generator, answers, out)
    }

    /// Adds noise to every answer modulo m: `out[i]` is (`answers[i]` + noise) mod m, from 0 to m − 1. For a mechanism of integers.
    ///
    /// The sum is exact: unlike that of [`Mechanism::release`] it does not saturate. So residues of several parties add up to the residue of the sum
    /// of their answers and of all noise, as secure aggregation needs. The guarantee is that of the exact sum, of which a residue is a function.
    ///
    /// ```
    /// use stairnoise::{DiscreteLaplace, Generator, Mechanism, Modulus};
    ///
    /// let (mechanism, modulus) = (DiscreteLaplace::new(1.0, 1)?, Modulus::new(1 << 32)?);
    /// let mut residues = [0_u32; 3];
    /// mechanism.release_modulo(&mut Generator::from_os()?, &[12, -40, 7], modulus, &mut residues)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`DrawError`]: a generator with a seed ([`DrawError::Seeded`]), lengths that differ, elements that do not hold m − 1, a mechanism whose
    /// granularity turns out not to be 1, or an exhausted generator. Nothing was drawn or written then.
    fn release_modulo<T: Residue>(
        &self,
        generator: &mut Generator,
        answers: &[i64],
        modulus: Modulus,
        out: &mut [T],
    ) -> Result<(), DrawError>
    where
        Self: IntegerMechanism,
    {
        generator.check_release()?;
        release::check_lengths(answers, out)?;
        release::check_type::<i64>(self.log2_granularity())?;
        modulus.check_type::<T>()?;
        Ok(self
            .next_fill(generator, out.len())?
            .release_modulo(0, &mut &*answers, modulus, out)?)
    }

    /// Refuses answers that are not finite or are 2¹²⁶ lattice steps or more, by position, as [`Mechanism::release`] does before it draws.
    fn check_answers<A: Answer>(&self, answers: &[A]) -> Result<(), DrawError> {
        self.check_unread(Unread::of(answers))
    }

    /// [`Mechanism::check_answers`] of answers that may change: they are refused or not as they are now.
    #[doc(hidden)]
    fn check_unread<A: Answer>(&self, answers: Unread<'_, A>) -> Result<(), DrawError> {
        release::check_answers(answers, limit(self.log2_granularity()))
    }

    /// True if every value of this type passes [`Mechanism::check_answers`], so the check can be skipped.
    #[doc(hidden)]
    fn takes_all<A: Answer>(&self) -> bool {
        A::are_below(limit(self.log2_granularity()))
    }
}

/// [`Mechanism::release`] into any type that the mechanism's lattice allows.
fn release_into<L: Mechanism + ?Sized, A: Answer, T: Value>(
    mechanism: &L,
    generator: &mut Generator,
    answers: &[A],
    out: &mut [T],
) -> Result<(), DrawError> {
    generator.check_release()?;
    release::check(answers, out, mechanism.log2_granularity())?;
    Ok(mechanism.next_fill(generator, out.len())?.release(0, answers, out)?)
}

/// A mechanism with integer values, or one whose granularity is known only at run time: [`DrawError::NotWhole`] if that is not 1.
///
/// ```compile_fail,E0277
/// use stairnoise::{Generator, Laplace, Mechanism};
///
/// let mut released = [0_i64];
/// Laplace::new(1.0, 1.0)?.release(&mut Generator::from_os()?, &[3797.0], &mut released)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(message = "the values of `{Self}` are no integers", note = "write them as `f64` or `f32`")]
pub trait IntegerMechanism: Mechanism {}

/// An element type that holds the values of the mechanism `L`: `f64` and `f32` for every mechanism, `i64` and `i32` for an [`IntegerMechanism`].
pub trait Holds<L: ?Sized>: Value {}

impl<L: Mechanism + ?Sized> Holds<L> for f64 {}
impl<L: Mechanism + ?Sized> Holds<L> for f32 {}
impl<L: IntegerMechanism + ?Sized> Holds<L> for i64 {}
impl<L: IntegerMechanism + ?Sized> Holds<L> for i32 {}

impl Mechanism for dyn AnyMechanism + '_ {
    type Value = f64;
}

impl IntegerMechanism for dyn AnyMechanism + '_ {}

/// A pointer to a mechanism is a mechanism.
macro_rules! pointers {
    ($($pointer:ty),+) => {$(
        impl<L: AnyMechanism + ?Sized> AnyMechanism for $pointer {
            fn source(&self) -> Source<'_> {
                (**self).source()
            }
        }

        impl<L: Mechanism + ?Sized> Mechanism for $pointer {
            type Value = L::Value;
        }

        impl<L: IntegerMechanism + ?Sized> IntegerMechanism for $pointer {}
    )+};
}

pointers!(&L, Box<L>, Arc<L>);

/// Implements the traits of a mechanism from the type of its values and its source.
macro_rules! implement {
    ($mechanism:ident of f64, $this:ident => $source:expr) => {
        $crate::mechanism::implement!(@ $mechanism, f64, $this => $source);
    };
    ($mechanism:ident of i64, $this:ident => $source:expr) => {
        $crate::mechanism::implement!(@ $mechanism, i64, $this => $source);
        impl $crate::IntegerMechanism for $mechanism {}
    };
    (@ $mechanism:ident, $value:ty, $this:ident => $source:expr) => {
        impl $crate::AnyMechanism for $mechanism {
            fn source(&self) -> $crate::mechanism::fill::Source<'_> {
                let $this = self;
                $source
            }
        }

        impl $crate::Mechanism for $mechanism {
            type Value = $value;
        }
    };
}
pub(crate) use implement;
pub(crate) use one_word::one_word_mechanism;
