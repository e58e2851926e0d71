//! Arrays of parameters: one mechanism per element.

mod cache;
mod output;
mod padding;
mod parameters;

use cache::Cache;
pub(crate) use output::{NoiseAlone, Output, Released, write_block};
pub(crate) use padding::full;
use padding::{Padding, family};
pub use parameters::{Parameters, Shapes};

use crate::error::{DrawError, ParamError};
use crate::exact::{Extension, IntegerDistribution, Staircase};
use crate::kernel::{BLOCK, DrawnBlock, Tier, on_tier, ones};
use crate::lattice::answer::limit;
use crate::lattice::{Answer, Unread, Value, release};
use crate::mechanism::one_word::{Kind, OneWordMechanism, Shape};
use crate::stream::{CHUNK, Fill, Generator, Words};

/// Whole fills and releases of a type that has `check`, `check_type`, `check_answers`, `write` and `release_part`.
macro_rules! whole_fills {
    ($parameters:ident, $next:ident) => {
        /// Fills `out` with noise from the generator's next fill: `out[i]` from the mechanism of parameters i.
        ///
        /// # Errors
        /// [`DrawError`]: parameters that are not as many as the places or that have no mechanism, integers for a mechanism of other numbers, an
        /// exhausted generator, no memory. Then `out` is as it was, unless memory ran out on the way.
        pub fn fill<T: Value>(
            &mut self,
            generator: &mut Generator,
            out: &mut [T],
            parameters: &$parameters<'_>,
        ) -> Result<(), DrawError> {
            self.check_all::<T>(out.len(), parameters)?;
            let fill = generator.$next(out.len())?;
            self.write(&fill, 0, out, parameters).map_err(DrawError::of_checked)
        }

        /// Adds noise to every answer: `out[i]` is `answers[i]`, released by the mechanism of parameters i, as
        /// [`Mechanism::release`](crate::Mechanism::release) does it. Every answer is a release of its own, with its own guarantee.
        ///
        /// # Errors
        /// As for `fill`; also for a generator with a seed ([`DrawError::Seeded`]), lengths that differ, and answers that `check_answers` refuses.
        pub fn release<A: Answer, T: Value>(
            &mut self,
            generator: &mut Generator,
            answers: &[A],
            out: &mut [T],
            parameters: &$parameters<'_>,
        ) -> Result<(), DrawError> {
            generator.check_release()?;
            release::check_lengths(answers, out)?;
            self.check_all::<T>(out.len(), parameters)?;
            self.check_answers(answers, parameters)?;
            let fill = generator.$next(out.len())?;
            self.release_part(&fill, 0, answers, out, parameters)
                .map_err(DrawError::of_checked)
        }

        fn check_all<T: Value>(&self, out: usize, parameters: &$parameters<'_>) -> Result<(), DrawError> {
            if let Some(values) = parameters.lengths().into_iter().find(|values| *values != out) {
                return Err(DrawError::ParameterCount { values, out });
            }
            self.check_type::<T>(parameters).map_err(|_| DrawError::NotWhole)?;
            self.check(parameters)
                .map_err(|(index, error)| DrawError::Parameters { index, error })
        }
    };
}
pub(crate) use whole_fills;

/// A mechanism of one kind that takes its own parameters for every element.
///
/// ```
/// use stairnoise::{Generator, Kind, PerElement, Parameters, Shape, Shapes};
///
/// let parameters = Parameters {
///     eps: &[0.5, 1.0, 2.0],
///     sensitivity: &[1.0; 3],
///     shape: Shapes::Same(Shape::L1),
/// };
/// let mut released = [0_i64; 3];
/// let mut mechanisms = PerElement::new(Kind::DiscreteStaircase);
/// mechanisms.release(&mut Generator::from_os()?, &[3797_i64, 485, 161], &mut released, &parameters)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Values are drawn a block at a time. Values that the block kernel leaves undecided are drawn one by one, from a mechanism with their parameters.
///
/// Some parameters have no block kernel (the shape l2, an ε beyond 700). A direct-mapped cache keeps their mechanisms for recurring parameters. The
/// first use makes a mechanism that is quick to make; the second makes one that is quick to draw from, and keeps it.
#[derive(Debug)]
pub struct PerElement {
    kind: Kind,
    cache: Cache,
}

impl PerElement {
    /// An empty collection of mechanisms of one kind.
    pub fn new(kind: Kind) -> Self {
        let cache = Cache::default();
        Self { kind, cache }
    }

    /// Whether there is a mechanism for every value.
    ///
    /// # Errors
    /// The position of the first that has none, and [`ParamError`] as [`OneWordMechanism::new`].
    pub fn check(&self, parameters: &Parameters<'_>) -> Result<(), (usize, ParamError)> {
        let (mut padding, tier) = (Padding::new(), Tier::current());
        for first in (0..parameters.eps.len()).step_by(BLOCK) {
            let block = parameters.block(first);
            // Parameters in the range of the fast path have mechanisms. Blocks with any other are checked one by one.
            if family(self.kind, block.shape.form())
                .is_some_and(|family| padding.block_parameters(&block).are_ordinary(tier, family))
            {
                continue;
            }
            for i in 0..block.eps.len() {
                let (eps, sensitivity, shape) = block.at(i);
                OneWordMechanism::check(self.kind, eps, sensitivity, shape).map_err(|error| (first + i, error))?;
            }
        }
        Ok(())
    }

    /// Whether every answer is a number that the lattice of its parameters takes, which have passed [`PerElement::check`].
    ///
    /// # Errors
    /// [`DrawError::NotFinite`] or [`DrawError::OffLattice`], with the position of the first that is not.
    pub fn check_answers<A: Answer>(&self, answers: &[A], parameters: &Parameters<'_>) -> Result<(), DrawError> {
        if self.is_discrete() {
            return release::check_answers(Unread::of(answers), limit(0));
        }
        // A sensitivity has less than 2⁵³ steps, so 2⁷³·Δ is at most the limit 2¹²⁶·g: one multiplication decides for all but monstrous answers.
        let (tier, per_sensitivity) = (Tier::current(), limit(-53));
        let answers_of_chunk = answers.chunks(CHUNK).zip(parameters.sensitivity.chunks(CHUNK));
        for (n, (answers, sensitivities)) in answers_of_chunk.enumerate() {
            if on_tier!(tier, are_below_scaled(answers, sensitivities, per_sensitivity)) {
                continue;
            }
            for (i, answer) in (n * CHUNK..).zip(answers) {
                let (eps, sensitivity, shape) = parameters.at(i);
                let lattice = OneWordMechanism::check(self.kind, eps, sensitivity, shape);
                let most = lattice.map_or(f64::INFINITY, |lattice| limit(lattice.log2_granularity));
                release::check_answers(Unread::of(&[*answer]), most).map_err(|error| error.at(i))?;
            }
        }
        Ok(())
    }

    /// Granularity, steps and r (0 for the Laplace kinds) of the mechanism with these parameters.
    pub fn describe(&self, eps: f64, sensitivity: f64, shape: Shape) -> Result<(f64, u64, u64), ParamError> {
        let (mechanism, lattice) = OneWordMechanism::place(self.kind, eps, sensitivity, shape)?;
        let r = match mechanism {
            IntegerDistribution::Staircase(Staircase { r, .. }) => r,
            _ => 0,
        };
        Ok((lattice.granularity(), lattice.sensitivity_steps, r))
    }

    /// The noise for a word that the block kernel leaves undecided, and the binary logarithm of its granularity. Not generic: it is compiled once.
    #[inline(never)]
    fn undecided(
        &mut self,
        (eps, sensitivity, shape): (f64, f64, Shape),
        word: u64,
        extension: &mut Extension<'_>,
    ) -> Result<(i64, i32), ParamError> {
        // The names take bits of two NaNs; every NaN that is given becomes a third.
        let shape_key = match shape {
            Shape::L1 => u64::MAX,
            Shape::L2 => u64::MAX - 1,
            Shape::Number(number) if number.is_nan() => f64::NAN.to_bits(),
            Shape::Number(number) => number.to_bits(),
        };
        let key = [eps.to_bits(), sensitivity.to_bits(), shape_key];
        let kind = self.kind;
        let quick = || OneWordMechanism::quick(kind, eps, sensitivity, shape);
        let make = || OneWordMechanism::new(kind, eps, sensitivity, shape);
        self.cache.with(key, quick, make, |mechanism| {
            let sampler = mechanism.sampler();
            (sampler.steps(word, extension), sampler.lattice.log2_granularity)
        })
    }

    whole_fills!(Parameters, next);

    /// Writes value `first + i` of the fill, drawn from the mechanism of parameters i, to `out[i]`.
    ///
    /// # Errors
    /// [`ParamError`] at the first parameters that no mechanism has; values before it have been written.
    pub fn write<T: Value>(
        &mut self,
        fill: &Fill,
        first: u64,
        out: &mut [T],
        parameters: &Parameters<'_>,
    ) -> Result<(), ParamError> {
        self.write_blocks(Tier::current(), fill, first, out, parameters, NoiseAlone)
    }

    /// Writes `answers[i]` plus value `first + i` of the fill, on the lattice of the mechanism of parameters i, to `out[i]`. The parameters and the
    /// answers have passed [`PerElement::check`] and [`PerElement::check_answers`], and the fill's generator [`Generator::check_release`].
    ///
    /// # Errors
    /// [`ParamError`] at the first parameters that no mechanism has; values before it have been written.
    pub fn release_part<A: Answer, T: Value>(
        &mut self,
        fill: &Fill,
        first: u64,
        answers: &[A],
        out: &mut [T],
        parameters: &Parameters<'_>,
    ) -> Result<(), ParamError> {
        self.check_type::<T>(parameters)?;
        self.write_blocks(Tier::current(), fill, first, out, parameters, Released(answers))
    }

    /// True if every answer of this type passes [`PerElement::check_answers`].
    #[doc(hidden)]
    pub fn takes_all<A: Answer>(&self) -> bool {
        self.is_discrete() && A::are_below(limit(0))
    }

    fn is_discrete(&self) -> bool {
        matches!(self.kind, Kind::DiscreteStaircase | Kind::DiscreteLaplace)
    }

    fn check_type<T: Value>(&self, _: &Parameters<'_>) -> Result<(), ParamError> {
        let fits = self.is_discrete() || !T::WHOLE;
        fits.then_some(()).ok_or(ParamError::NotWhole)
    }

    /// Block by block on the fast path; undecided values one by one.
    fn write_blocks<T: Value>(
        &mut self,
        tier: Tier,
        fill: &Fill,
        first: u64,
        out: &mut [T],
        parameters: &Parameters<'_>,
        output: impl Output<T>,
    ) -> Result<(), ParamError> {
        let (stage, mut words) = (fill.stage(0), Words::new());
        let (mut padding, mut drawn) = (Padding::new(), DrawnBlock::NOTHING);
        for (chunk, out) in out.chunks_mut(CHUNK).enumerate() {
            let base = chunk * CHUNK;
            let words = words.at(stage, first + base as u64, out.len());
            for (n, (words, out)) in words.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).enumerate() {
                let base = base + n * BLOCK;
                let parameters = parameters.block(base);
                padding.draw(tier, self.kind, &parameters, words, &mut drawn);
                let output = output.from(base);
                for i in ones(write_block(tier, &drawn, out, output)) {
                    let extension = &mut |e| stage.extension(first + (base + i) as u64, e);
                    let (noise, log2_granularity) = self.undecided(parameters.at(i), words[i], extension)?;
                    out[i] = output.steps(i, noise, log2_granularity);
                }
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn are_below_scaled<A: Answer>(answers: &[A], sensitivities: &[f64], limit: f64) -> bool {
    let all = answers.iter().zip(sensitivities);
    all.fold(true, |all, (answer, sensitivity)| all & answer.is_below(limit * sensitivity))
}

#[cfg(test)]
mod tests;
