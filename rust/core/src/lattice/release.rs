//! Adding noise to true answers: round to the lattice, add in integers, convert last (contract, section 4).
//!
//! Adding a noisy `f64` to an `f64` answer would let the low-order bits of the sum reveal the answer (Mironov 2012; Haney et al. 2022).

use super::answer::{Answer, limit};
use super::dyadic::power_of_two;
use super::unread::Unread;
use super::value::{NEAR, Value};
use crate::declassify;
use crate::error::DrawError;
use crate::kernel::{Arithmetic, BLOCK, Tier, on_tier};

/// Writes (⌊x/g + ½⌋ + noise)·g for every answer x, by [`Value::from_sum`] if that is exact. Returns whether all answers are below the lattice's limit.
pub(crate) fn add_all<A: Answer, T: Value>(
    tier: Tier,
    answers: Unread<'_, A>,
    noise: &[i64],
    log2_granularity: i32,
    out: &mut [T],
) -> bool {
    let granularity = power_of_two(log2_granularity);
    // The inverse of a subnormal g may overflow.
    let quick = granularity.is_normal() && (T::EXACT || on_tier!(tier, are_near(noise)));
    let limit = limit(log2_granularity);
    if quick && A::are_quick(T::WHOLE) {
        return on_tier!(tier, Tiered => add_quick::<Tiered, A, T>(answers, noise, granularity, limit, out));
    }
    if out.len() <= BLOCK {
        return on_tier!(tier, Tiered => add_copies::<Tiered, A, T, BLOCK>(answers, noise, log2_granularity, (quick, limit), out));
    }
    on_tier!(tier, Tiered => add_copies::<Tiered, A, T, COPIED>(answers, noise, log2_granularity, (quick, limit), out))
}

/// [`add_all`] of answers that are read twice, N at a time; noise is `quick` to add, or not.
#[inline(always)]
fn add_copies<R: Arithmetic, A: Answer, T: Value, const N: usize>(
    answers: Unread<'_, A>,
    noise: &[i64],
    log2_granularity: i32,
    (quick, limit): (bool, f64),
    out: &mut [T],
) -> bool {
    if out.is_empty() {
        return true;
    }
    let (mut own, mut all_below) = ([answers.read(0); N], true);
    for (n, (noise, out)) in noise.chunks(N).zip(out.chunks_mut(N)).enumerate() {
        let own = &mut own[..out.len()];
        answers.from(n * N).copy_to(own);
        let all_quick = own.iter().fold(quick, |all, answer| all & answer.is_quick(T::WHOLE));
        all_below &= if all_quick {
            add_quick::<R, A, T>(Unread::of(own), noise, power_of_two(log2_granularity), limit, out)
        } else {
            add_exactly(own, noise, log2_granularity, out);
            are_below(Unread::of(own), limit)
        };
    }
    all_below
}

/// Answers copied at a time. To make room for them takes as long as a release of one answer.
const COPIED: usize = 8 * BLOCK;

/// [`add_all`] of one that is below the limit.
#[inline]
pub(crate) fn add<A: Answer, T: Value>(answer: A, noise: i64, log2_granularity: i32) -> T {
    let mut sum = [T::default()];
    add_all(Tier::Portable, Unread::of(&[answer]), &[noise], log2_granularity, &mut sum);
    sum[0]
}

/// Whether all noise is below [`NEAR`]. Together the magnitudes have no more bits than the longest: one question for all of them.
#[inline(always)]
fn are_near(noise: &[i64]) -> bool {
    let magnitudes = noise.iter().fold(0, |all, noise| all | noise.unsigned_abs());
    declassify::condition(magnitudes < NEAR)
}

fn add_exactly<A: Answer, T: Value>(answers: &[A], noise: &[i64], log2_granularity: i32, out: &mut [T]) {
    for ((answer, noise), out) in answers.iter().zip(noise).zip(out) {
        // Cannot overflow, as magnitudes are up to 2¹²⁶ and 2⁶³; wrapping avoids a branch on noise.
        let steps = answer.round_to_lattice(log2_granularity).wrapping_add((*noise).into());
        *out = T::from_steps(steps, log2_granularity);
    }
}

/// [`add_all`] of answers that are quick and of noise below [`NEAR`] (or any, for [`Value::EXACT`]).
#[inline(always)]
fn add_quick<R: Arithmetic, A: Answer, T: Value>(
    answers: Unread<'_, A>,
    noise: &[i64],
    granularity: f64,
    limit: f64,
    out: &mut [T],
) -> bool {
    assert!(answers.len() == out.len() && noise.len() == out.len());
    if A::are_below(limit) {
        add_quick_to::<R, A, T, false>(answers, noise, granularity, limit, out)
    } else {
        add_quick_to::<R, A, T, true>(answers, noise, granularity, limit, out)
    }
}

#[inline(always)]
fn add_quick_to<R: Arithmetic, A: Answer, T: Value, const CHECKED: bool>(
    answers: Unread<'_, A>,
    noise: &[i64],
    granularity: f64,
    limit: f64,
    out: &mut [T],
) -> bool {
    // A power of two: multiplying by it is dividing by g.
    let inverse = granularity.recip();
    let steps = |answer: A| R::half_up(answer.nearest() * inverse);
    let (mut done, mut all_below) = (0, true);
    if T::TO_ODD {
        let blocks = noise.as_chunks::<BLOCK>().0.iter().zip(out.as_chunks_mut::<BLOCK>().0);
        for (noise, out) in blocks {
            // Loops: `array::map` is a function for the baseline where units are compiled apart.
            let [mut divided, mut drawn] = [[0.0; BLOCK]; 2];
            let own: [A; BLOCK] = answers.read_all(done);
            all_below &= !CHECKED || are_below(Unread::of(&own), limit);
            for i in 0..BLOCK {
                divided[i] = own[i].nearest() * inverse;
                drawn[i] = R::near(noise[i]);
            }
            let sums = R::sums_to_odd(&R::halves_up(&divided), &drawn);
            for i in 0..BLOCK {
                out[i] = T::from_whole(sums[i], granularity);
            }
            done += BLOCK;
        }
    }
    for i in done..out.len() {
        let answer = answers.read(i);
        all_below &= !CHECKED | answer.is_below(limit);
        out[i] = T::from_integers(answer, steps(answer), noise[i], granularity);
    }
    all_below
}

/// Refuses a release that could not be completed or trusted, before anything is drawn.
pub(crate) fn check<A: Answer, T: Value>(answers: &[A], out: &[T], log2_granularity: i32) -> Result<(), DrawError> {
    check_lengths(answers, out)?;
    check_type::<T>(log2_granularity)?;
    check_answers(Unread::of(answers), limit(log2_granularity))
}

/// Refuses to release more or fewer answers than there are places.
pub(crate) fn check_lengths<A, T>(answers: &[A], out: &[T]) -> Result<(), DrawError> {
    if answers.len() != out.len() {
        return Err(DrawError::Lengths {
            answers: answers.len(),
            out: out.len(),
        });
    }
    Ok(())
}

/// Refuses to write multiples of anything but 1 as integers.
pub(crate) fn check_type<T: Value>(log2_granularity: i32) -> Result<(), DrawError> {
    if T::WHOLE && log2_granularity != 0 {
        return Err(DrawError::NotWhole);
    }
    Ok(())
}

/// Refuses answers that are not numbers below the limit.
pub(crate) fn check_answers<A: Answer>(answers: Unread<'_, A>, limit: f64) -> Result<(), DrawError> {
    if A::are_below(limit) || on_tier!(Tier::current(), are_below(answers, limit)) {
        return Ok(());
    }
    for index in 0..answers.len() {
        let answer = answers.read(index);
        if !answer.is_below(limit) {
            return Err(if answer.is_finite() {
                DrawError::OffLattice(index)
            } else {
                DrawError::NotFinite(index)
            });
        }
    }
    Ok(())
}

/// Without a branch for each answer: three times as quick.
#[inline(always)]
fn are_below<A: Answer>(answers: Unread<'_, A>, limit: f64) -> bool {
    (0..answers.len()).fold(true, |all, i| all & answers.read(i).is_below(limit))
}

#[cfg(test)]
mod exhaustive;

#[cfg(test)]
mod tests {
    use super::super::answer::LIMIT;
    use super::super::dyadic::power_of_two;
    use super::*;
    use crate::kernel::float::TWO_52;
    /// Evidence: the limit by its definition, at both ends of what a type holds.
    #[test]
    fn answers_beyond_the_lattice_are_refused() {
        let of = |answers: &[f64], log2| check_answers(Unread::of(answers), limit(log2));
        assert_eq!(of(&[0.0, 1e300, f64::MAX, -f64::MAX], 960), Ok(()));
        let least = power_of_two(126 - 40);
        assert_eq!(of(&[least.next_down(), -least.next_down()], -40), Ok(()));
        assert_eq!(of(&[1.0, -least, f64::NAN], -40), Err(DrawError::OffLattice(1)));
        assert_eq!(of(&[1.0, f64::NEG_INFINITY, least], -40), Err(DrawError::NotFinite(1)));
        assert_eq!(of(&[0.0; 1000], -1074), Ok(()));
        for (n, log2, fits) in [
            (i64::MIN, -62, true),
            (i64::MIN, -63, false),
            (i64::MAX, -63, true),
            (1 << 60, -66, false),
            ((1 << 60) - 1, -66, true),
            (1, -126, false),
            (0, -1074, true),
            (1, -1074, false),
        ] {
            assert_eq!(check_answers(Unread::of(&[n]), limit(log2)).is_ok(), fits, "{n} on 2^{log2}");
            let steps = n.round_to_lattice(log2);
            assert!(!fits || steps.abs() < LIMIT, "{n} on 2^{log2}");
        }
    }

    /// Evidence: sums in integers. Magnitudes whose bits cancel are no reason for the quick way.
    #[test]
    fn large_noise_is_added_exactly() {
        let (noise, mut out) = ([1 << 53, -(1 << 53)], [0.0; 2]);
        add_all(Tier::current(), Unread::of(&[2.0, 2.0]), &noise, 0, &mut out);
        assert_eq!(out, [2_f64.powi(53) + 2.0, 2.0 - 2_f64.powi(53)]);
    }

    /// Evidence: equality with sums in integers on every tier, in and behind whole blocks. Of the sums, a third do not fit an `f64`, and a tenth are
    /// near a tie of `f32`.
    #[test]
    fn every_tier_adds_alike() {
        let mut random = crate::testing::random::Random(5);
        for log2_granularity in [-140, -30, 0, 60] {
            let g = power_of_two(log2_granularity);
            let mut steps = |bits: u64| random.word().cast_signed() >> (64 - bits + random.word() % bits);
            let mut noise: Vec<i64> = (0..3 * BLOCK + 5).map(|_| steps(50)).collect();
            let mut answers: Vec<f64> = noise.iter().map(|_| (steps(60) as f64 + 0.5) * g).collect();
            for i in (0..noise.len()).step_by(10) {
                answers[i] = (1_i64 << 60) as f64 * g;
                noise[i] = (1 << 36) + i as i64 % 3 - 1;
            }
            let singles: Vec<f32> = answers.iter().map(|x| *x as f32).collect();
            for tier in Tier::tested() {
                let (mut doubles_out, mut singles_out) = (vec![0.0_f64; noise.len()], vec![0.0_f32; noise.len()]);
                add_all(tier, Unread::of(&answers), &noise, log2_granularity, &mut doubles_out);
                add_all(tier, Unread::of(&singles), &noise, log2_granularity, &mut singles_out);
                for (i, noise) in noise.iter().enumerate() {
                    let sum = answers[i].round_to_lattice(log2_granularity) + i128::from(*noise);
                    assert_eq!(
                        doubles_out[i].to_bits(),
                        f64::from_steps(sum, log2_granularity).to_bits(),
                        "{tier:?}, {i}"
                    );
                    let sum = singles[i].round_to_lattice(log2_granularity) + i128::from(*noise);
                    assert_eq!(
                        singles_out[i].to_bits(),
                        f32::from_steps(sum, log2_granularity).to_bits(),
                        "{tier:?}, {i}"
                    );
                }
            }
        }
    }

    /// Evidence: equality with sums in integers, around ties, powers of two and the limits of what is quick.
    #[test]
    fn quick_sums_are_the_general_sums() {
        for log2_granularity in [-1074, -1023, -1022, -40, -3, 0, 1, 60, 960] {
            let g = power_of_two(log2_granularity);
            for steps in [
                0.0,
                0.25,
                0.499_999_999_999_999_94,
                0.5,
                1.0,
                1.5,
                2.5,
                1e9 + 0.5,
                TWO_52 - 0.5,
                TWO_52,
                3.0 * TWO_52 + 1.0,
                1.5e17,
                2_f64.powi(63),
                1e30,
            ] {
                for x in [
                    steps * g,
                    -steps * g,
                    (steps * g).next_up(),
                    -(steps * g).next_up(),
                    5e-324,
                    1e300,
                ] {
                    if !x.is_below(limit(log2_granularity)) {
                        continue;
                    }
                    for noise in [
                        0,
                        1,
                        -1,
                        12_345,
                        -77,
                        (1 << 50) - 1,
                        1 << 50,
                        1 - (1 << 51),
                        1 << 51,
                        i64::MIN,
                    ] {
                        let sum = x.round_to_lattice(log2_granularity) + i128::from(noise);
                        let general = f64::from_steps(sum, log2_granularity);
                        let got: f64 = add(x, noise, log2_granularity);
                        assert_eq!(got.to_bits(), general.to_bits(), "{x} + {noise} on 2^{log2_granularity}");
                        let (got, general): (f32, f32) =
                            (add(x, noise, log2_granularity), f32::from_steps(sum, log2_granularity));
                        assert_eq!(got.to_bits(), general.to_bits(), "{x} + {noise} on 2^{log2_granularity}");
                        let single = x as f32;
                        if single.is_below(limit(log2_granularity)) {
                            let (got, general): (f32, f32) = (
                                add(single, noise, log2_granularity),
                                add(f64::from(single), noise, log2_granularity),
                            );
                            assert_eq!(got.to_bits(), general.to_bits(), "{single} + {noise} on 2^{log2_granularity}");
                        }
                        if log2_granularity == 0 {
                            assert_eq!(add::<f64, i64>(x, noise, 0), i64::from_steps(sum, 0), "{x} + {noise}");
                            assert_eq!(add::<f64, i32>(x, noise, 0), i32::from_steps(sum, 0), "{x} + {noise}");
                            let n = x as i64;
                            let sum = i128::from(n) + i128::from(noise);
                            assert_eq!(add::<i64, i64>(n, noise, 0), i64::from_steps(sum, 0), "{n} + {noise}");
                            assert_eq!(add::<i64, i32>(n, noise, 0), i32::from_steps(sum, 0), "{n} + {noise}");
                            assert_eq!(add::<i64, f32>(n, noise, 0), f32::from_steps(sum, 0), "{n} + {noise}");
                        }
                    }
                }
            }
        }
    }
    #[test]
    fn extremes_saturate_or_vanish() {
        assert_eq!(f64::MAX.round_to_lattice(-40), LIMIT);
        assert_eq!(f64::MIN.round_to_lattice(-40), -LIMIT);
        assert_eq!(i64::MIN.round_to_lattice(-64), -LIMIT);
        assert_eq!(power_of_two(85).round_to_lattice(-40), 1 << 125);
        assert_eq!(power_of_two(87).round_to_lattice(-40), LIMIT);
        assert_eq!(5e-324_f64.round_to_lattice(-40), 0);
        assert_eq!((-5e-324_f64).round_to_lattice(-40), 0);
        assert_eq!(5e-324_f64.round_to_lattice(-1074), 1);
        assert_eq!(i64::MIN.round_to_lattice(64), 0, "-1/2 rounds up");
        assert_eq!(i64::MIN.round_to_lattice(63), -1);
    }
}
