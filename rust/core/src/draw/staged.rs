//! Mechanisms that take several draws for a value: they write lattice steps, which become values or releases here.

use crate::declassify;
use crate::kernel::{Tier, on_tier};
use crate::lattice::{Answer, Answers, Elements, Value, power_of_two, release::add_all, value::NEAR};
use crate::memory::{self, OutOfMemory};
use crate::stream::{CHUNK, Fill, SHORT};
use crate::wiped::wipe;

pub(crate) trait Staged: Send + Sync {
    /// Makes what a fill needs and the mechanism has not made yet. It is called before a fill is taken.
    fn prepare(&self) -> Result<(), OutOfMemory> {
        Ok(())
    }

    /// As for [`Mechanism`](crate::Mechanism::joint_values).
    fn joint_values(&self) -> usize {
        1
    }

    /// As for [`Mechanism`](crate::Mechanism::draws).
    fn draws(&self) -> usize {
        1
    }

    /// A number that all values are below, and none of them below 0; 0 where there is none.
    fn bound(&self) -> u64 {
        0
    }

    /// Writes the values `first .. first + out.len()` of a fill, in lattice steps; magnitudes above 2⁶³ − 1 saturate there.
    fn write_steps(&self, fill: &Fill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory>;
}

/// Writes the values `first .. first + out.len()` of a fill.
pub(crate) fn write<T: Value>(
    mechanism: &dyn Staged,
    log2_granularity: i32,
    fill: &Fill,
    first: u64,
    out: &mut [T],
) -> Result<(), OutOfMemory> {
    if let (Elements::I64(steps), 0) = (T::elements(out), log2_granularity) {
        return mechanism.write_steps(fill, first, steps);
    }
    let tier = Tier::current();
    let draw = |done, noise: &mut [i64]| mechanism.write_steps(fill, first + done as u64, noise);
    in_chunks(mechanism.joint_values(), out, draw, |_, noise, out| {
        on_tier!(tier, convert_all(log2_granularity, noise, out));
    })
}

#[inline(always)]
fn convert_all<T: Value>(log2_granularity: i32, noise: &[i64], out: &mut [T]) {
    let granularity = power_of_two(log2_granularity);
    let near = if granularity.is_normal() { NEAR } else { 0 };
    // Together they have no more bits than the longest: one question for all of them.
    let magnitudes = noise.iter().fold(0, |all, noise| all | noise.unsigned_abs());
    if declassify::condition(magnitudes < near) {
        for (out, noise) in out.iter_mut().zip(noise) {
            *out = T::from_near(*noise, granularity);
        }
    } else {
        for (out, noise) in out.iter_mut().zip(noise) {
            *out = T::from_steps((*noise).into(), log2_granularity);
        }
    }
}

/// Writes the sums of the next answers and of the values of a fill from `first` on. Returns whether the lattice takes all of them.
pub(crate) fn release<A: Answer, T: Value>(
    mechanism: &dyn Staged,
    log2_granularity: i32,
    fill: &Fill,
    first: u64,
    answers: &mut dyn Answers<A, T>,
    out: &mut [T],
) -> Result<bool, OutOfMemory> {
    let (tier, mut all_below) = (Tier::current(), true);
    let draw = |done, noise: &mut [i64]| mechanism.write_steps(fill, first + done as u64, noise);
    in_chunks(mechanism.joint_values(), out, draw, |_, noise, out| {
        all_below &= add_all(tier, answers.next(out), noise, log2_granularity, out);
    })?;
    Ok(all_below)
}

/// Values drawn at a time where there are many, or a few more: what a mechanism prepares for a call is then a small part of its work.
pub(crate) const PART: usize = 8 * CHUNK;

/// Calls `draw(done, noise)` and then `convert(done, noise, out)` for parts of `out`; `done` elements come before a part. A part has at most [`PART`]
/// values, or a few more drawn jointly.
pub(crate) fn in_chunks<T, E: From<OutOfMemory>>(
    joint_values: usize,
    out: &mut [T],
    draw: impl FnMut(usize, &mut [i64]) -> Result<(), E>,
    convert: impl FnMut(usize, &[i64], &mut [T]),
) -> Result<(), E> {
    // A short fill works on the stack and allocates nothing here.
    if out.len() <= SHORT {
        in_parts(out, &mut [0; SHORT], draw, convert)
    } else if out.len() <= CHUNK {
        in_parts(out, &mut [0; CHUNK], draw, convert)
    } else {
        let most = PART.next_multiple_of(joint_values);
        let mut buffer = memory::filled(0, most.min(out.len()))?;
        in_parts(out, &mut buffer, draw, convert)
    }
}

/// [`in_chunks`] by way of `buffer`, which is wiped.
fn in_parts<T, E>(
    out: &mut [T],
    buffer: &mut [i64],
    mut draw: impl FnMut(usize, &mut [i64]) -> Result<(), E>,
    mut convert: impl FnMut(usize, &[i64], &mut [T]),
) -> Result<(), E> {
    let used = out.len().min(buffer.len());
    let result = (0..)
        .step_by(buffer.len())
        .zip(out.chunks_mut(buffer.len()))
        .try_for_each(|(done, out)| {
            let noise = &mut buffer[..out.len()];
            draw(done, noise)?;
            convert(done, noise, out);
            Ok(())
        });
    // Wiped before the result is returned: after an error the buffer may hold noise too.
    wipe(&mut buffer[..used]);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;

    /// Steps that are given.
    struct GivenSteps(Vec<i64>);

    impl Staged for GivenSteps {
        fn write_steps(&self, _: &Fill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory> {
            out.copy_from_slice(&self.0[first as usize..][..out.len()]);
            Ok(())
        }
    }

    /// Evidence: equality with one element after another, for parts with and without large magnitudes.
    #[test]
    fn parts_are_converted_like_elements() {
        let mut steps: Vec<i64> = (0..2 * PART as i64 + 5).map(|i| (i - 4000) * 7_654_321).collect();
        for (at, large) in [
            (PART + 1, i64::MIN),
            (PART + 2, i64::MAX),
            (PART + 3, 1 << 51),
            (PART + 4, -(1 << 51) - 1),
        ] {
            steps[at] = large;
        }
        let fill = Generator::from_seed(1).next_staged(steps.len()).unwrap();
        let mut floats = vec![1.0_f64; steps.len()];
        let mut integers = vec![1_i64; steps.len()];
        let mechanism = GivenSteps(steps);
        write(&mechanism, -3, &fill, 0, &mut floats).unwrap();
        write(&mechanism, -3, &fill, 0, &mut integers).unwrap();
        for (i, steps) in mechanism.0.iter().enumerate() {
            assert_eq!(floats[i].to_bits(), f64::from_steps((*steps).into(), -3).to_bits(), "{steps}");
            assert_eq!(integers[i], *steps);
        }
    }
}
