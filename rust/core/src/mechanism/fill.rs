//! One fill of one mechanism, written in pieces.

use std::sync::Arc;

use crate::draw::{Sampler, Staged, staged, staged::in_chunks};
use crate::error::DrawError;
use crate::lattice::{Answer, Answers, Lattice, Modulus, Residue, Value, release};
use crate::mechanism::tiles::Tiles;
use crate::memory::OutOfMemory;
use crate::stream::{CHUNK, Cipher, Fill, Generator, LOG2_STAGED, LOG2_VALUES};

/// A mechanism's lattice, and how its values are drawn.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    how: How<'a>,
    pub(super) log2_granularity: i32,
    pub(super) sensitivity_steps: u64,
    pub(super) lengths: &'a [u64],
}

#[derive(Clone, Copy)]
enum How<'a> {
    /// One word a value: the kernels write values of any element type at once.
    OneWord(&'a Sampler),
    /// Several draws a value: what they give are lattice steps, which are converted after that.
    Staged(&'a dyn Staged),
}

impl<'a> Source<'a> {
    pub(crate) fn one_word(sampler: &'a Sampler, lengths: &'a [u64]) -> Self {
        Self::on(sampler.lattice, How::OneWord(sampler), lengths)
    }

    pub(crate) fn staged(mechanism: &'a dyn Staged, lattice: Lattice, lengths: &'a [u64]) -> Self {
        Self::on(lattice, How::Staged(mechanism), lengths)
    }

    fn on(lattice: Lattice, how: How<'a>, lengths: &'a [u64]) -> Self {
        Self {
            how,
            log2_granularity: lattice.log2_granularity,
            sensitivity_steps: lattice.sensitivity_steps,
            lengths,
        }
    }

    fn in_stages(self) -> Option<&'a dyn Staged> {
        match self.how {
            How::OneWord(_) => None,
            How::Staged(mechanism) => Some(mechanism),
        }
    }

    pub(super) fn draws(self) -> usize {
        self.in_stages().map_or(1, Staged::draws)
    }

    pub(super) fn joint_values(self) -> usize {
        self.in_stages().map_or(1, Staged::joint_values)
    }

    pub(super) fn next_view(self, generator: &mut Generator, n: u64) -> Result<Generator, DrawError> {
        generator.take_view(self.log2_values(), n)
    }

    /// Values of a fill have indices below 2 to this power.
    fn log2_values(self) -> u32 {
        self.in_stages().map_or(LOG2_VALUES, |_| LOG2_STAGED)
    }

    fn prepare(self) -> Result<(), OutOfMemory> {
        self.in_stages().map_or(Ok(()), Staged::prepare)
    }
}

/// One fill of one mechanism: the noise of any number of values, by index. Made by [`Mechanism::next_fill`](crate::Mechanism::next_fill).
///
/// Writing the same values twice repeats their noise.
pub struct MechanismFill<'a> {
    source: Source<'a>,
    fill: Fill,
}

impl<'a> MechanismFill<'a> {
    /// The fill of keyed rows, each with the mask of its number (contract, section 13).
    pub(crate) fn masked(source: Source<'a>, cipher: Arc<Cipher>, masks: Vec<[u64; 2]>) -> Result<Self, OutOfMemory> {
        source.prepare()?;
        let fill = Fill::masked(cipher, masks, source.log2_values());
        Ok(Self { source, fill })
    }

    #[inline]
    pub(super) fn next(source: Source<'a>, generator: &mut Generator, n: usize) -> Result<Self, DrawError> {
        source.prepare()?;
        let fill = generator.take(source.log2_values(), n as u64)?;
        Ok(Self { source, fill })
    }

    /// Writes the noise of the values `first .. first + out.len()`; lattice steps, where the elements are integers.
    #[inline]
    pub fn write<T: Value>(&self, first: u64, out: &mut [T]) -> Result<(), OutOfMemory> {
        match self.source.how {
            How::OneWord(sampler) => {
                sampler.write(self.fill.stage(0), first, out);
                Ok(())
            }
            How::Staged(mechanism) => staged::write(mechanism, self.source.log2_granularity, &self.fill, first, out),
        }
    }

    /// This fill in tiles of rows that begin `pitch` values after each other; `None` for a mechanism of several draws, for which long rows are
    /// better, and where rows would begin within a block of the cipher.
    #[doc(hidden)]
    pub fn in_tiles<T: Value>(&self, pitch: u64) -> Option<Tiles<'_, T>> {
        match self.source.how {
            How::OneWord(sampler) if (self.fill.start | pitch).is_multiple_of(2) => Some(Tiles::new(sampler, &self.fill)),
            _ => None,
        }
    }

    /// Adds the noise of the values `first .. first + out.len()` to as many answers, which have passed
    /// [`Mechanism::check_answers`](crate::Mechanism::check_answers), and the generator [`Generator::check_release`].
    #[inline]
    pub fn release<A: Answer, T: Value>(&self, first: u64, mut answers: &[A], out: &mut [T]) -> Result<(), OutOfMemory> {
        // A release in pieces is checked before its first piece, as a whole.
        debug_assert!(release::check(answers, out, self.source.log2_granularity).is_ok());
        self.release_next(first, &mut answers, out)?;
        Ok(())
    }

    /// [`MechanismFill::release`] of answers that are read when they are needed. If it returns false, some are refused, and the caller discards `out`.
    #[doc(hidden)]
    #[inline]
    pub fn release_next<A: Answer, T: Value>(
        &self,
        first: u64,
        answers: &mut dyn Answers<A, T>,
        out: &mut [T],
    ) -> Result<bool, OutOfMemory> {
        match self.source.how {
            How::OneWord(sampler) => Ok(sampler.release(self.fill.stage(0), first, answers, out)),
            How::Staged(mechanism) => staged::release(mechanism, self.source.log2_granularity, &self.fill, first, answers, out),
        }
    }

    /// Writes the residues modulo `modulus` of the next answers, each with the noise of one of the values `first .. first + out.len()`.
    pub fn release_modulo<T: Residue>(
        &self,
        first: u64,
        answers: &mut dyn Answers<i64, T>,
        modulus: Modulus,
        out: &mut [T],
    ) -> Result<(), OutOfMemory> {
        // The type was checked before the first piece, as that of a release.
        debug_assert!(modulus.check_type::<T>().is_ok());
        let bound = self.source.in_stages().map_or(0, Staged::bound);
        let draw = |done: usize, noise: &mut [i64]| match self.source.how {
            How::OneWord(sampler) => {
                sampler.write(self.fill.stage(0), first + done as u64, noise);
                Ok(())
            }
            How::Staged(mechanism) => mechanism.write_steps(&self.fill, first + done as u64, noise),
        };
        let mut own = [0; CHUNK];
        in_chunks(self.source.joint_values(), out, draw, |_, noise, out| {
            let all = answers.next(out);
            for (n, (noise, out)) in noise.chunks(CHUNK).zip(out.chunks_mut(CHUNK)).enumerate() {
                // Some are read twice.
                let answers = &mut own[..out.len()];
                all.from(n * CHUNK).copy_to(answers);
                if modulus.is(bound) {
                    modulus.write_rotated(answers, noise, out);
                } else {
                    modulus.write_sums(answers, noise, out);
                }
            }
        })
    }
}
