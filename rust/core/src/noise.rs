//! Laws that take several draws for a value: what all of them can do.

use zeroize::Zeroize;

use crate::dyadic::power_of_two;
use crate::error::DrawError;
use crate::memory::{self, OutOfMemory};
use crate::parallel::{self, available_threads};
use crate::params::Lattice;
use crate::release::{self, Answer};
use crate::reveal;
use crate::stream::{CHUNK, Generator, StagedFill};
use crate::value::{NEAR, Value};

/// A law of several draws for a value, on the multiples of a power of two.
pub trait Noise: Send + Sync {
    /// The binary logarithm of the lattice step g; 0 for a law of integers.
    fn log2_granularity(&self) -> i32 {
        0
    }

    /// How many values are drawn together: one of them is as much work as all. Parts of a fill should be multiples of it.
    fn together(&self) -> usize {
        1
    }

    /// Draws that a value takes: about how many times as long as a single one.
    fn draws(&self) -> usize {
        1
    }

    /// Writes the values `first .. first + out.len()` of a fill, in lattice steps; magnitudes above 2⁶³ − 1 saturate there.
    ///
    /// # Errors
    /// [`OutOfMemory`]; then some of `out` may have been written.
    fn write_cells(&self, fill: &StagedFill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory>;

    /// The lattice step g, a power of two; 1 for a law of integers.
    fn granularity(&self) -> f64 {
        power_of_two(self.log2_granularity())
    }

    /// Fills `out` with noise from the generator's next fill.
    ///
    /// # Errors
    /// [`DrawError`]; then nothing was drawn and `out` is as it was.
    fn fill<T: Value>(&self, generator: &mut Generator, out: &mut [T]) -> Result<(), DrawError>
    where
        Self: Sized,
    {
        let fill = generator.next_staged(out.len())?;
        Ok(write(self, &fill, 0, out)?)
    }

    /// [`Noise::fill`] on up to `threads` threads, this one included; 0 stands for as many as the process may run at once. The values are the
    /// same for any number.
    ///
    /// # Errors
    /// [`DrawError`]; then nothing was drawn and `out` is as it was.
    fn fill_parallel<T: Value>(&self, generator: &mut Generator, out: &mut [T], threads: usize) -> Result<(), DrawError>
    where
        Self: Sized,
    {
        let fill = generator.next_staged(out.len())?;
        let threads = if threads == 0 { available_threads() } else { threads };
        parallel::fill(out, threads, |first, piece| write(self, &fill, first, piece), || true)?;
        Ok(())
    }

    /// Adds noise to every answer on the lattice: `out[i]` is `answers[i]`, released. Answers are rounded to the lattice first.
    ///
    /// # Errors
    /// [`DrawError`]: lengths that differ, an answer that is not finite or of 2¹²⁶ lattice steps or more, integers for a law of other numbers, an
    /// exhausted generator; then nothing was drawn or written.
    fn release<A: Answer, T: Value>(&self, generator: &mut Generator, answers: &[A], out: &mut [T]) -> Result<(), DrawError>
    where
        Self: Sized,
    {
        release::check(answers, out, self.log2_granularity())?;
        let fill = generator.next_staged(out.len())?;
        Ok(release_part(self, &fill, 0, answers, out)?)
    }
}

/// Values `first .. first + out.len()` of a fill: [`Noise::fill`] in pieces.
///
/// # Errors
/// [`OutOfMemory`]; then some of `out` may have been written.
pub fn write<T: Value>(law: &(impl Noise + ?Sized), fill: &StagedFill, first: u64, out: &mut [T]) -> Result<(), OutOfMemory> {
    let (log2_granularity, granularity) = (law.log2_granularity(), law.granularity());
    let near = if granularity.is_normal() { NEAR } else { 0 };
    each_chunk(law, fill, first, out, |_, noise, out| {
        // Together they have no more bits than the longest: one question for all of them.
        let magnitudes = noise.iter().fold(0, |all, noise| all | noise.unsigned_abs());
        if reveal::condition(magnitudes < near) {
            for (out, noise) in out.iter_mut().zip(noise) {
                *out = T::from_near(*noise, granularity);
            }
        } else {
            for (out, noise) in out.iter_mut().zip(noise) {
                *out = T::from_cells((*noise).into(), log2_granularity);
            }
        }
    })
}

/// Refuses answers that [`Noise::release`] refuses, by their positions, before anything is drawn.
///
/// # Errors
/// [`DrawError::NotFinite`], [`DrawError::OffLattice`].
pub fn check_answers<A: Answer>(law: &(impl Noise + ?Sized), answers: &[A]) -> Result<(), DrawError> {
    release::check_answers(answers, release::limit(law.log2_granularity()))
}

/// [`Noise::release`] in pieces. Answers must have passed [`check_answers`] and be as many as `out`.
///
/// # Errors
/// [`OutOfMemory`]; then some of `out` may have been written.
pub fn release_part<A: Answer, T: Value>(
    law: &(impl Noise + ?Sized),
    fill: &StagedFill,
    first: u64,
    answers: &[A],
    out: &mut [T],
) -> Result<(), OutOfMemory> {
    debug_assert!(release::check(answers, out, law.log2_granularity()).is_ok());
    let lattice = Lattice {
        log2_granularity: law.log2_granularity(),
        cells: 1,
    };
    each_chunk(law, fill, first, out, |done, noise, out| {
        release::add_each(&answers[done..][..out.len()], noise, lattice, out);
    })
}

/// Values drawn at a time where there are many, or a few more: what a law prepares for a call is then a small part of its work.
const PART: usize = 8 * CHUNK;

/// Calls `convert(done, noise, out)` with parts of `out`, of which `done` elements come before, and their noise.
fn each_chunk<T>(
    law: &(impl Noise + ?Sized),
    fill: &StagedFill,
    first: u64,
    out: &mut [T],
    convert: impl Fn(usize, &[i64], &mut [T]),
) -> Result<(), OutOfMemory> {
    if out.len() <= CHUNK {
        each_part(law, fill, first, out, &mut [0; CHUNK], convert)
    } else {
        let most = PART.next_multiple_of(law.together());
        each_part(law, fill, first, out, &mut memory::filled(0, most.min(out.len()))?, convert)
    }
}

/// [`each_chunk`] by way of `room`, which is wiped.
fn each_part<T>(
    law: &(impl Noise + ?Sized),
    fill: &StagedFill,
    first: u64,
    out: &mut [T],
    room: &mut [i64],
    convert: impl Fn(usize, &[i64], &mut [T]),
) -> Result<(), OutOfMemory> {
    let used = out.len().min(room.len());
    let result = (0..)
        .step_by(room.len())
        .zip(out.chunks_mut(room.len()))
        .try_for_each(|(done, out)| {
            let noise = &mut room[..out.len()];
            law.write_cells(fill, first + done as u64, noise)?;
            convert(done, noise, out);
            Ok(())
        });
    room[..used].zeroize();
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells that are given.
    struct Given(Vec<i64>);

    impl Noise for Given {
        fn log2_granularity(&self) -> i32 {
            -3
        }

        fn write_cells(&self, _: &StagedFill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory> {
            out.copy_from_slice(&self.0[first as usize..][..out.len()]);
            Ok(())
        }
    }

    /// Evidence: equality with one element after another, for parts with and without large magnitudes.
    #[test]
    fn parts_are_converted_like_elements() {
        let mut cells: Vec<i64> = (0..2 * PART as i64 + 5).map(|i| (i - 4000) * 7_654_321).collect();
        for (at, large) in [
            (PART + 1, i64::MIN),
            (PART + 2, i64::MAX),
            (PART + 3, 1 << 51),
            (PART + 4, -(1 << 51) - 1),
        ] {
            cells[at] = large;
        }
        let fill = Generator::from_seed(1).next_staged(cells.len()).unwrap();
        let mut floats = vec![1.0_f64; cells.len()];
        let mut integers = vec![1_i64; cells.len()];
        let law = Given(cells);
        write(&law, &fill, 0, &mut floats).unwrap();
        write(&law, &fill, 0, &mut integers).unwrap();
        for (i, cells) in law.0.iter().enumerate() {
            assert_eq!(floats[i].to_bits(), f64::from_cells((*cells).into(), -3).to_bits(), "{cells}");
            assert_eq!(integers[i], *cells);
        }
    }
}
