//! Adding noise to true answers: round to the lattice, add in integers, convert last (contract, section 4).
//!
//! Adding a noisy `f64` to an `f64` answer would let the low bits of the sum tell the answer (Mironov 2012; Haney et al. 2022).

use zeroize::Zeroize;

use crate::dyadic::{decompose, power_of_two};
use crate::error::DrawError;
use crate::lines::Lines;
use crate::params::Lattice;
use crate::reveal;
use crate::sampler::Sampler;
use crate::stream::{CHUNK, FEW, Stage};
use crate::value::{NEAR, Value, near};

/// A true answer to be released.
pub trait Answer: Copy + private::Sealed {
    /// Whether there is a number to round.
    #[doc(hidden)]
    fn is_finite(self) -> bool;

    /// Whether it is a number of a magnitude below `limit`, exactly; `limit` may be infinite.
    #[doc(hidden)]
    fn is_below(self, limit: f64) -> bool;

    /// ⌊x/g + ½⌋, computed exactly and saturating at ±2¹²⁶.
    ///
    /// Half upwards commutes with shifts by lattice steps; half to even does not, and would let a change of Δ move the rounded answer
    /// by more than ⌈Δ/g⌉ cells.
    #[doc(hidden)]
    fn round_to_lattice(self, log2_granularity: i32) -> i128;

    /// Whether [`Value::from_sum`] of such a value is exact. Of floats released as floats all are.
    #[doc(hidden)]
    fn is_quick<T: Value>(self) -> bool;

    /// The answer as an `f64`.
    #[doc(hidden)]
    fn nearest(self) -> f64;

    /// ⌊x + ½⌋ of an answer below 2⁶³.
    #[doc(hidden)]
    fn rounded(self) -> i64;
}

/// ⌊x + ½⌋ as an `f64`, exactly.
#[inline(always)]
pub(crate) fn half_up(x: f64) -> f64 {
    // Adding 2⁵² rounds to a whole number, halves to even. From there on all numbers are whole.
    let shift = if x.abs() < WHOLE { WHOLE.copysign(x) } else { 0.0 };
    let nearest = (x + shift) - shift;
    nearest + if x - nearest >= 0.5 { 1.0 } else { 0.0 }
}

const WHOLE: f64 = (1_u64 << 52) as f64;

mod private {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for i64 {}
}

/// Answers of 2¹²⁶ lattice steps or more are refused; noise added to any other stays inside an `i128`.
const LIMIT: i128 = 1 << 126;

/// The least magnitude that is refused, 2¹²⁶·g; infinity where no number is too large.
pub(crate) fn limit(log2_granularity: i32) -> f64 {
    match log2_granularity + 126 {
        exponent @ ..=1023 => power_of_two(exponent),
        _ => f64::INFINITY,
    }
}

impl Answer for f64 {
    fn is_finite(self) -> bool {
        self.is_finite()
    }

    #[inline(always)]
    fn is_below(self, limit: f64) -> bool {
        self.abs() < limit
    }

    fn round_to_lattice(self, log2_granularity: i32) -> i128 {
        let (significand, exponent) = decompose(self.abs());
        let significand = i128::from(significand);
        let signed = if self.is_sign_negative() { -significand } else { significand };
        shift(signed, exponent - log2_granularity)
    }

    #[inline(always)]
    fn is_quick<T: Value>(self) -> bool {
        !T::WHOLE || self.abs() < (1_u64 << 63) as f64
    }

    #[inline(always)]
    fn nearest(self) -> f64 {
        self
    }

    #[inline(always)]
    fn rounded(self) -> i64 {
        half_up(self) as i64
    }
}

impl Answer for i64 {
    fn is_finite(self) -> bool {
        true
    }

    #[inline(always)]
    fn is_below(self, limit: f64) -> bool {
        // Of the limits up to 2⁶³ the conversion is exact, and beyond no integer is too large.
        self.unsigned_abs() < limit.ceil() as u64
    }

    fn round_to_lattice(self, log2_granularity: i32) -> i128 {
        shift(self.into(), -log2_granularity)
    }

    #[inline(always)]
    fn is_quick<T: Value>(self) -> bool {
        T::WHOLE || self.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS
    }

    #[inline(always)]
    fn nearest(self) -> f64 {
        self as f64
    }

    #[inline(always)]
    fn rounded(self) -> i64 {
        self
    }
}

/// ⌊n·2^by + ½⌋ for |n| ≤ 2⁶³, saturating at ±2¹²⁶.
fn shift(n: i128, by: i32) -> i128 {
    match by {
        _ if n == 0 => 0,
        0..=62 => n << by,
        63.. if n.unsigned_abs().leading_zeros() as i32 > by + 1 => n << by,
        63.. => n.signum() * LIMIT,
        // |n|·2^by is below ½, or it is −½, which rounds up to zero.
        ..=-65 => 0,
        _ => (n + (1 << (-by - 1))) >> -by,
    }
}

impl Sampler {
    /// Writes `answers[i]` plus the noise of value `first + i` of the stage to `out[i]`.
    pub(crate) fn release<A: Answer, T: Value>(&self, stage: Stage<'_>, first: u64, answers: &[A], out: &mut [T]) {
        let lattice = self.lattice();
        if out.len() <= FEW {
            self.each_of_few(stage, first, out, |i, noise| add(answers[i], noise, lattice));
            return;
        }
        let Lines(noise) = &mut Lines([0_i64; CHUNK]);
        for (chunk, (answers, out)) in answers.chunks(CHUNK).zip(out.chunks_mut(CHUNK)).enumerate() {
            let noise = &mut noise[..out.len()];
            self.write(stage, first + (chunk * CHUNK) as u64, noise);
            add_each(answers, noise, lattice, out);
        }
        // The noise of a release is as secret as the answers. Only what was used is wiped: most releases are short.
        noise[..answers.len().min(CHUNK)].zeroize();
    }
}

/// Writes (⌊x/g + ½⌋ + noise)·g for every answer x: by [`Value::from_sum`] if that is exact for all.
#[inline]
pub(crate) fn add_each<A: Answer, T: Value>(answers: &[A], noise: &[i64], lattice: Lattice, out: &mut [T]) {
    let granularity = lattice.granularity();
    // Together they have no more bits than the longest: one question for all of them.
    let magnitudes = noise.iter().fold(0, |all, noise| all | noise.unsigned_abs());
    let quick = answers
        .iter()
        .fold(granularity.is_normal(), |all, answer| all & answer.is_quick::<T>());
    let sums = answers.iter().zip(noise).zip(out);
    if quick && reveal::condition(magnitudes < NEAR) {
        // A power of two: multiplying by it is dividing by g.
        let inverse = granularity.recip();
        for ((answer, noise), out) in sums {
            *out = T::from_sum(*answer, answer.nearest() * inverse, near(*noise), granularity);
        }
    } else {
        for ((answer, noise), out) in sums {
            // Of magnitudes up to 2¹²⁶ and 2⁶³: it cannot overflow, and wrapping avoids a branch on noise.
            let cells = answer
                .round_to_lattice(lattice.log2_granularity)
                .wrapping_add((*noise).into());
            *out = T::from_cells(cells, lattice.log2_granularity);
        }
    }
}

/// [`add_each`] of one.
#[inline]
pub(crate) fn add<A: Answer, T: Value>(answer: A, noise: i64, lattice: Lattice) -> T {
    let mut sum = [T::default()];
    add_each(&[answer], &[noise], lattice, &mut sum);
    sum[0]
}

/// Refuses a release that could not be completed or trusted, before anything is drawn.
pub(crate) fn check<A: Answer, T: Value>(answers: &[A], out: &[T], log2_granularity: i32) -> Result<(), DrawError> {
    if answers.len() != out.len() {
        return Err(DrawError::Lengths {
            answers: answers.len(),
            out: out.len(),
        });
    }
    check_type::<T>(log2_granularity)?;
    check_answers(answers, limit(log2_granularity))
}

/// Refuses to write multiples of anything but 1 as integers.
pub(crate) fn check_type<T: Value>(log2_granularity: i32) -> Result<(), DrawError> {
    if T::WHOLE && log2_granularity != 0 {
        return Err(DrawError::NotWhole);
    }
    Ok(())
}

/// Refuses answers that are not numbers below the limit.
pub(crate) fn check_answers<A: Answer>(answers: &[A], limit: f64) -> Result<(), DrawError> {
    // Without a branch for each, which is three times as quick.
    let all = |answers: &[A]| answers.iter().fold(true, |all, answer| all & answer.is_below(limit));
    if answers.chunks(CHUNK).all(all) {
        return Ok(());
    }
    match answers.iter().position(|answer| !answer.is_below(limit)) {
        Some(index) if answers[index].is_finite() => Err(DrawError::OffLattice(index)),
        Some(index) => Err(DrawError::NotFinite(index)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod exhaustive;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dyadic::power_of_two;

    /// Evidence: equality with the general rounding, in integers.
    #[test]
    fn floats_round_as_integers_do() {
        let steps = [
            0.5_f64.next_down(),
            0.5,
            1.5,
            2.5,
            7.3,
            1e15,
            1e-300,
            5e-324,
            0.0,
            WHOLE / 2.0 - 0.5,
            WHOLE - 0.5,
            WHOLE,
            WHOLE + 1.0,
            1e18,
        ];
        for x in steps.into_iter().flat_map(|x| [x, -x, x.next_up(), -x.next_up()]) {
            assert_eq!(half_up(x) as i128, x.round_to_lattice(0), "{x:e}");
            for log2_granularity in [-1022, -40, 3, 900] {
                let steps = x.nearest() * power_of_two(log2_granularity).recip();
                if steps.abs() < 1e38 {
                    assert_eq!(half_up(steps) as i128, x.round_to_lattice(log2_granularity), "{x:e}");
                }
            }
        }
    }

    /// Evidence: the limit by its definition, at both ends of what a type holds.
    #[test]
    fn answers_beyond_the_lattice_are_refused() {
        let of = |answers: &[f64], log2| check_answers(answers, limit(log2));
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
            assert_eq!(check_answers(&[n], limit(log2)).is_ok(), fits, "{n} on 2^{log2}");
            let cells = n.round_to_lattice(log2);
            assert!(!fits || cells.abs() < LIMIT, "{n} on 2^{log2}");
        }
    }

    #[test]
    fn halves_go_up_on_both_sides_of_zero() {
        for (x, log2, cells) in [
            (0.5, 0, 1),
            (1.5, 0, 2),
            (-0.5, 0, 0),
            (-1.5, 0, -1),
            (2.5, 0, 3),
            (0.499_999_999_999_999_94, 0, 0),
            (-0.0, 0, 0),
            (3.0, -2, 12),
            (-3.0, 2, -1),
            (-6.0, 2, -1),
            (-6.1, 2, -2),
            (6.0, 2, 2),
        ] {
            assert_eq!(x.round_to_lattice(log2), cells, "{x} on 2^{log2}");
        }
    }

    /// Evidence: equality with sums in integers, around ties, powers of two and the limits of what is quick.
    #[test]
    fn quick_sums_are_the_general_sums() {
        for log2_granularity in [-1074, -1023, -1022, -40, -3, 0, 1, 60, 960] {
            let lattice = Lattice {
                log2_granularity,
                cells: 1,
            };
            let g = lattice.granularity();
            for cells in [
                0.0,
                0.25,
                0.499_999_999_999_999_94,
                0.5,
                1.0,
                1.5,
                2.5,
                1e9 + 0.5,
                WHOLE - 0.5,
                WHOLE,
                3.0 * WHOLE + 1.0,
                1.5e17,
                2_f64.powi(63),
                1e30,
            ] {
                for x in [
                    cells * g,
                    -cells * g,
                    (cells * g).next_up(),
                    -(cells * g).next_up(),
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
                        let general = f64::from_cells(sum, log2_granularity);
                        let got: f64 = add(x, noise, lattice);
                        assert_eq!(got.to_bits(), general.to_bits(), "{x} + {noise} on 2^{log2_granularity}");
                        let (got, general): (f32, f32) = (add(x, noise, lattice), f32::from_cells(sum, log2_granularity));
                        assert_eq!(got.to_bits(), general.to_bits(), "{x} + {noise} on 2^{log2_granularity}");
                        if log2_granularity == 0 {
                            assert_eq!(add::<f64, i64>(x, noise, lattice), i64::from_cells(sum, 0), "{x} + {noise}");
                            assert_eq!(add::<f64, i32>(x, noise, lattice), i32::from_cells(sum, 0), "{x} + {noise}");
                            let n = x as i64;
                            let sum = i128::from(n) + i128::from(noise);
                            assert_eq!(add::<i64, i64>(n, noise, lattice), i64::from_cells(sum, 0), "{n} + {noise}");
                            assert_eq!(add::<i64, i32>(n, noise, lattice), i32::from_cells(sum, 0), "{n} + {noise}");
                            assert_eq!(add::<i64, f32>(n, noise, lattice), f32::from_cells(sum, 0), "{n} + {noise}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn integers_and_floats_round_alike() {
        for n in [0, 1, -1, 5, -5, 6, -6, 7, 1 << 52, -(1 << 52)] {
            for log2 in [-80, -62, -3, 0, 1, 2, 3, 40, 52, 53, 54, 70, 900] {
                assert_eq!(n.round_to_lattice(log2), (n as f64).round_to_lattice(log2), "{n} on 2^{log2}");
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
