//! What every law can do: the trait [`Law`].
//!
//! | file | subject |
//! |---|---|
//! | `fill` | one fill of one law, written in pieces |
//! | `one_word` | the four laws that take one word a value, chosen when the program runs |
//! | `each` | one of the four with parameters of its own for every value |

pub(crate) mod each;
pub(crate) mod fill;
pub(crate) mod one_word;

use core::fmt::Debug;

use crate::error::DrawError;
use crate::lattice::answer::limit;
use crate::lattice::dyadic::power_of_two;
use crate::lattice::release;
use crate::lattice::{Answer, Modulus, Residue, Value};
use crate::parallel;
use crate::stream::Generator;
use fill::{LawFill, Source};

/// A noise law: exact random multiples of a power of two, the *granularity* g.
///
/// All laws of this crate have it, and no others: no other crate can name what [`Law::source`] returns. A `Box<dyn Law>` is a law too, so that a
/// law can be chosen when the program runs.
///
/// ```
/// use stairnoise::{DiscreteGaussian, Gamma, Generator, Law, Staircase};
///
/// let laws: [Box<dyn Law>; 2] = [
///     Box::new(Staircase::new(4.0, 1.0, Gamma::L1)?),
///     Box::new(DiscreteGaussian::new(100.0)?),
/// ];
/// let mut generator = Generator::from_os()?;
/// let mut noise = [0.0; 100];
/// for law in laws {
///     law.fill(&mut generator, &mut noise)?;
///     assert!(noise.iter().all(|x| x % law.granularity() == 0.0));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Law: Debug + Send + Sync {
    /// How values are drawn.
    #[doc(hidden)]
    fn source(&self) -> Source<'_>;

    /// The binary logarithm of the granularity; 0 for a law of integers.
    fn log2_granularity(&self) -> i32 {
        0
    }

    /// ⌈Δ/g⌉: the sensitivity in lattice steps; 0 for a law that has no sensitivity.
    fn cells(&self) -> u64 {
        0
    }

    /// The law's own lengths in lattice steps: r of a staircase, the steps below and above 0 of a truncated law, the breakpoints of a merged law;
    /// none for other laws.
    fn lengths(&self) -> &[u64] {
        &[]
    }

    /// The granularity g, a power of two; 1 for a law of integers.
    fn granularity(&self) -> f64 {
        power_of_two(self.log2_granularity())
    }

    /// Draws that a value takes: about how many times as long as a single one.
    fn draws(&self) -> usize {
        self.source().draws()
    }

    /// How many values are drawn together: one of them is as much work as all. Parts of a fill should be multiples of it.
    fn together(&self) -> usize {
        self.source().together()
    }

    /// The generator's next fill, of `n` values: [`Law::fill`] and [`Law::release`] in pieces.
    ///
    /// # Errors
    /// [`DrawError`]; then nothing was drawn.
    fn next_fill(&self, generator: &mut Generator, n: usize) -> Result<LawFill<'_>, DrawError> {
        LawFill::next(self.source(), self.log2_granularity(), generator, n)
    }

    /// The generator's next fill, of `n` values, as a view that draws it in parts ([`Generator::next_view`]). It outlives the law.
    ///
    /// # Errors
    /// [`DrawError`]; the fill is then not taken.
    fn next_view(&self, generator: &mut Generator, n: u64) -> Result<Generator, DrawError> {
        self.source().next_view(generator, n)
    }

    /// Fills `out` with noise from the generator's next fill.
    ///
    /// # Errors
    /// [`DrawError`]: integers for a law of other numbers, an exhausted generator, no memory; then `out` is as it was, unless memory ran out on the
    /// way.
    fn fill<T: Value>(&self, generator: &mut Generator, out: &mut [T]) -> Result<(), DrawError>
    where
        Self: Sized,
    {
        // Before the fill is taken: what is refused does not count.
        release::check_type::<T>(self.log2_granularity())?;
        Ok(self.next_fill(generator, out.len())?.write(0, out)?)
    }

    /// [`Law::fill`] on up to `threads` threads, this one included; 0 stands for as many as the process may run at once. The values are the same for
    /// any number.
    ///
    /// # Errors
    /// As [`Law::fill`].
    fn fill_parallel<T: Value>(&self, generator: &mut Generator, out: &mut [T], threads: usize) -> Result<(), DrawError>
    where
        Self: Sized,
    {
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

    /// Adds noise to every answer on the lattice: `out[i]` is `answers[i]`, released. Answers are rounded to the lattice first.
    ///
    /// Protects a record that changes one of the answers by at most the sensitivity; vectors of answers, where the law is one of vectors.
    ///
    /// # Errors
    /// [`DrawError`]: lengths that differ, answers that [`Law::check_answers`] refuses, integers for a law of other numbers, or an exhausted
    /// generator. Nothing was drawn or written then.
    fn release<A: Answer, T: Value>(&self, generator: &mut Generator, answers: &[A], out: &mut [T]) -> Result<(), DrawError>
    where
        Self: Sized,
    {
        release::check(answers, out, self.log2_granularity())?;
        Ok(self.next_fill(generator, out.len())?.release(0, answers, out)?)
    }

    /// Adds noise to every answer modulo m: `out[i]` is (`answers[i]` + noise) mod m, from 0 to m − 1. For a law of integers.
    ///
    /// The sum is exact: unlike that of [`Law::release`] it does not saturate. So residues of several parties add up to the residue of the sum of
    /// their answers and of all noise, as secure aggregation needs. The guarantee is that of the exact sum, of which a residue is a function.
    ///
    /// ```
    /// use stairnoise::{DiscreteLaplace, Generator, Law, Modulus};
    ///
    /// let (law, modulus) = (DiscreteLaplace::new(1.0, 1)?, Modulus::new(1 << 32)?);
    /// let mut residues = [0_u32; 3];
    /// law.release_modulo(&mut Generator::from_os()?, &[12, -40, 7], modulus, &mut residues)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`DrawError`]: lengths that differ, elements that do not hold m − 1, a law of other numbers than integers, or an exhausted generator. Nothing was
    /// drawn or written then.
    fn release_modulo<T: Residue>(
        &self,
        generator: &mut Generator,
        answers: &[i64],
        modulus: Modulus,
        out: &mut [T],
    ) -> Result<(), DrawError>
    where
        Self: Sized,
    {
        release::check_lengths(answers.len(), out.len())?;
        release::check_type::<i64>(self.log2_granularity())?;
        modulus.check_type::<T>()?;
        Ok(self
            .next_fill(generator, out.len())?
            .release_modulo(0, answers, modulus, out)?)
    }

    /// Refuses answers that are not finite, or that are 2¹²⁶ lattice steps or more, by their positions. [`Law::release`] does so before it draws.
    ///
    /// # Errors
    /// [`DrawError::NotFinite`], [`DrawError::OffLattice`].
    fn check_answers<A: Answer>(&self, answers: &[A]) -> Result<(), DrawError>
    where
        Self: Sized,
    {
        release::check_answers(answers, limit(self.log2_granularity()))
    }

    /// Whether [`Law::check_answers`] refuses no number of this type: nobody need look at them.
    #[doc(hidden)]
    fn takes_all<A: Answer>(&self) -> bool
    where
        Self: Sized,
    {
        A::are_below(limit(self.log2_granularity()))
    }
}

/// What a pointer to a law can do is what the law can do.
macro_rules! pointers {
    ($($pointer:ty),+) => {$(
        impl<L: Law + ?Sized> Law for $pointer {
            fn source(&self) -> Source<'_> {
                (**self).source()
            }

            fn log2_granularity(&self) -> i32 {
                (**self).log2_granularity()
            }

            fn cells(&self) -> u64 {
                (**self).cells()
            }

            fn lengths(&self) -> &[u64] {
                (**self).lengths()
            }
        }
    )+};
}

pointers!(&L, Box<L>);
