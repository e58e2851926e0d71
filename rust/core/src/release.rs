//! Adding noise to true answers: round to the lattice, add in integers, convert last (contract, section 4).
//!
//! Adding a noisy `f64` to an `f64` answer would let the low bits of the sum tell the answer (Mironov 2012; Haney et al. 2022).

use zeroize::Zeroize;

use crate::dyadic::decompose;
use crate::error::DrawError;
use crate::kernel::Lines;
use crate::params::Lattice;
use crate::reveal;
use crate::sampler::Sampler;
use crate::stream::{CHUNK, FEW, Fill};
use crate::value::Value;

/// A true answer to be released.
pub trait Answer: Copy + private::Sealed {
    /// Whether there is a number to round.
    #[doc(hidden)]
    fn is_finite(self) -> bool;

    /// ⌊x/g + ½⌋, computed exactly and saturating at ±2¹²⁶.
    ///
    /// Half upwards commutes with shifts by lattice steps; half to even does not, and would let a change of Δ move the rounded answer
    /// by more than ⌈Δ/g⌉ cells.
    #[doc(hidden)]
    fn round_to_lattice(self, log2_granularity: i32) -> i128;

    /// The answer as an `f64` if that is exact, otherwise NaN.
    #[doc(hidden)]
    fn exactly(self) -> f64;
}

/// Answers and noise of fewer steps than this add up in an `f64` without rounding, to a magnitude that every [`Value`] takes.
pub(crate) const NEAR: f64 = (1_u64 << 50) as f64;

/// [`Answer::round_to_lattice`] of an answer of less than 2⁵⁰ steps. g must be normal, or NaN, which gives none.
#[inline(always)]
pub(crate) fn round_to_near_lattice(answer: impl Answer, granularity: f64) -> Option<i64> {
    // By a power of two: exact, unless the quotient is far below ½ or infinite.
    let steps = answer.exactly() / granularity;
    (steps.abs() < NEAR).then(|| {
        let towards_zero = steps as i64;
        let rest = steps - towards_zero as f64;
        towards_zero + i64::from(rest >= 0.5) - i64::from(rest < -0.5)
    })
}

mod private {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for i64 {}
}

/// Where rounded answers saturate: noise added to it stays inside an `i128`.
const LIMIT: i128 = 1 << 126;

impl Answer for f64 {
    fn is_finite(self) -> bool {
        self.is_finite()
    }

    fn round_to_lattice(self, log2_granularity: i32) -> i128 {
        let (significand, exponent) = decompose(self.abs());
        let significand = i128::from(significand);
        let signed = if self.is_sign_negative() { -significand } else { significand };
        shift(signed, exponent - log2_granularity)
    }

    fn exactly(self) -> f64 {
        self
    }
}

impl Answer for i64 {
    fn is_finite(self) -> bool {
        true
    }

    fn round_to_lattice(self, log2_granularity: i32) -> i128 {
        shift(self.into(), -log2_granularity)
    }

    fn exactly(self) -> f64 {
        let exact = self.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS;
        if exact { self as f64 } else { f64::NAN }
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
    /// Writes `answers[i]` plus the noise of value `first + i` of the fill to `out[i]`.
    pub(crate) fn release<A: Answer, T: Value>(&self, fill: &Fill, first: u64, answers: &[A], out: &mut [T]) {
        let lattice = self.lattice();
        if out.len() <= FEW {
            self.each_of_few(fill, first, out, |i, noise| add(answers[i], noise, lattice));
            return;
        }
        let Lines(noise) = &mut Lines([0_i64; CHUNK]);
        for (chunk, (answers, out)) in answers.chunks(CHUNK).zip(out.chunks_mut(CHUNK)).enumerate() {
            let noise = &mut noise[..out.len()];
            self.write(fill, first + (chunk * CHUNK) as u64, noise);
            add_each(answers, noise, lattice, out);
        }
        // The noise of a release is as secret as the answers. Only what was used is wiped: most releases are short.
        noise[..answers.len().min(CHUNK)].zeroize();
    }
}

/// [`add`] for every answer.
#[inline]
pub(crate) fn add_each<A: Answer, T: Value>(answers: &[A], noise: &[i64], lattice: Lattice, out: &mut [T]) {
    for ((answer, noise), out) in answers.iter().zip(noise).zip(out) {
        *out = add(*answer, *noise, lattice);
    }
}

/// (⌊x/g + ½⌋ + noise)·g. Sums wrap, which they have no reason to: a check would be a branch on noise.
#[inline]
pub(crate) fn add<A: Answer, T: Value>(answer: A, noise: i64, lattice: Lattice) -> T {
    let granularity = lattice.granularity();
    let normal = if granularity.is_normal() { granularity } else { f64::NAN };
    match round_to_near_lattice(answer, normal) {
        Some(cells) if reveal::condition((noise as f64).abs() < NEAR) => {
            T::from_whole(cells.wrapping_add(noise) as f64, granularity)
        }
        _ => {
            // Of magnitudes up to 2¹²⁶ and 2⁶³.
            let cells = answer.round_to_lattice(lattice.log2_granularity).wrapping_add(noise.into());
            T::from_cells(cells, lattice.log2_granularity)
        }
    }
}

/// Refuses a release that could not be completed, before anything is drawn.
pub(crate) fn check<A: Answer>(answers: &[A], out: usize) -> Result<(), DrawError> {
    if answers.len() != out {
        let answers = answers.len();
        return Err(DrawError::Lengths { answers, out });
    }
    match answers.iter().position(|answer| !answer.is_finite()) {
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

    #[test]
    fn near_answers_round_alike() {
        let near = [
            0.5_f64.next_down(),
            0.5,
            1.5,
            2.5,
            7.3,
            1e15,
            1e-300,
            5e-324,
            0.0,
            1_125_899_906_842_623.5,
        ];
        for steps in near
            .into_iter()
            .flat_map(|steps| [steps, -steps, steps.next_up(), -steps.next_up()])
        {
            for log2_granularity in [-1022, -40, 0, 3, 900] {
                let granularity = crate::dyadic::power_of_two(log2_granularity);
                for answer in [steps, steps * granularity] {
                    if let Some(rounded) = round_to_near_lattice(answer, granularity) {
                        assert_eq!(i128::from(rounded), answer.round_to_lattice(log2_granularity), "{answer:e}");
                    }
                }
                let whole = steps as i64;
                if let Some(rounded) = round_to_near_lattice(whole, granularity) {
                    assert_eq!(i128::from(rounded), whole.round_to_lattice(log2_granularity), "{whole}");
                }
            }
            assert!(steps.abs() >= (1_u64 << 50) as f64 || round_to_near_lattice(steps, 1.0).is_some());
        }
        assert_eq!(round_to_near_lattice((1_i64 << 53) + 1, 1024.0), None);
        assert_eq!(round_to_near_lattice(1_i64 << 50, 1.0), None);
        assert_eq!(round_to_near_lattice(f64::MAX, f64::MIN_POSITIVE), None);
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

    /// Evidence: equality of sums of near answers with the general way, around ties, powers of two and the limits of what is near.
    #[test]
    fn near_sums_are_the_general_sums() {
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
                NEAR - 0.5,
                NEAR,
                3.0 * NEAR,
            ] {
                for x in [
                    cells * g,
                    -cells * g,
                    (cells * g).next_up(),
                    -(cells * g).next_up(),
                    5e-324,
                    1e300,
                ] {
                    for noise in [0, 1, -1, 12_345, (1 << 50) - 1, 1 << 50, i64::MIN] {
                        let sum = x.round_to_lattice(log2_granularity) + i128::from(noise);
                        let general = f64::from_cells(sum, log2_granularity);
                        let got: f64 = add(x, noise, lattice);
                        assert_eq!(got.to_bits(), general.to_bits(), "{x} + {noise} on 2^{log2_granularity}");
                        if log2_granularity == 0 {
                            assert_eq!(add::<f64, i64>(x, noise, lattice), i64::from_cells(sum, 0), "{x} + {noise}");
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
