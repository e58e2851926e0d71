//! Adding noise to true answers: round to the lattice, add in integers, convert last (contract, section 4).
//!
//! Adding a noisy `f64` to an `f64` answer would let the low bits of the sum tell the answer (Mironov 2012; Haney et al. 2022).

use zeroize::Zeroize;

use crate::dyadic::{decompose, power_of_two};
use crate::error::DrawError;
use crate::kernel::round;
use crate::params::Lattice;
use crate::sampler::Sampler;
use crate::stream::{CHUNK, Fill};
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
        if self.unsigned_abs() < 1 << 53 {
            self as f64
        } else {
            f64::NAN
        }
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
        let steps = Steps::new(lattice);
        let mut noise = [0_i64; CHUNK];
        for (chunk, (answers, out)) in answers.chunks(CHUNK).zip(out.chunks_mut(CHUNK)).enumerate() {
            let noise = &mut noise[..out.len()];
            self.write(fill, first + (chunk * CHUNK) as u64, noise);
            for ((answer, noise), out) in answers.iter().zip(&*noise).zip(out) {
                *out = steps.sum(*answer, *noise).unwrap_or_else(|| {
                    let cells = answer.round_to_lattice(lattice.log2_granularity) + i128::from(*noise);
                    T::from_cells(cells, lattice.log2_granularity)
                });
            }
        }
        // The noise of a release is as secret as the answers. Only what was used is wiped: most releases are short.
        noise[..answers.len().min(CHUNK)].zeroize();
    }
}

/// The usual case of a release, in `f64` without any rounding: answer and noise below 2⁵⁰ steps.
struct Steps {
    granularity: f64,
    /// 1/g, or NaN where that is no `f64`.
    per_unit: f64,
}

/// 2⁵⁰: twice that, and one more, is a magnitude that every [`Value`] takes.
const USUAL: f64 = (1_u64 << 50) as f64;

impl Steps {
    fn new(lattice: Lattice) -> Self {
        let exponent = -lattice.log2_granularity;
        Self {
            granularity: lattice.granularity(),
            per_unit: if exponent <= 1023 { power_of_two(exponent) } else { f64::NAN },
        }
    }

    /// (⌊x/g + ½⌋ + noise)·g, or `None` where that might round.
    #[inline]
    fn sum<A: Answer, T: Value>(&self, answer: A, noise: i64) -> Option<T> {
        // Exact: 1/g is a power of two, and a quotient that is subnormal lies far below ½ either way.
        let quotient = answer.exactly() * self.per_unit;
        let noise = noise as f64;
        if !(quotient.abs() < USUAL && noise.abs() < USUAL) {
            return None;
        }
        // `round` sends ties to even; those that went down belong up.
        let nearest = round(quotient);
        let rounded = if quotient - nearest >= 0.5 { nearest + 1.0 } else { nearest };
        Some(T::from_whole(rounded + noise, self.granularity))
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
mod tests {
    use super::*;

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

    /// Evidence: equality of the usual case with the general one, around ties, powers of two and the limits of the usual case.
    #[test]
    fn the_usual_case_is_the_general_case() {
        let mut usual = 0;
        for log2_granularity in [-1074, -1023, -1022, -40, -3, 0, 1, 60, 960] {
            let steps = Steps::new(Lattice {
                log2_granularity,
                cells: 1,
            });
            let g = power_of_two(log2_granularity);
            for cells in [
                0.0,
                0.25,
                0.499_999_999_999_999_94,
                0.5,
                0.75,
                1.0,
                1.5,
                2.5,
                3.5,
                1e9 + 0.5,
                USUAL - 0.5,
                USUAL,
                3.0 * USUAL,
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
                        if let Some(quick) = steps.sum::<f64, f64>(x, noise) {
                            usual += 1;
                            assert_eq!(
                                quick.to_bits(),
                                f64::from_cells(sum, log2_granularity).to_bits(),
                                "{x} {noise} {log2_granularity}"
                            );
                        }
                        if let (Some(quick), 0) = (steps.sum::<f64, i64>(x, noise), log2_granularity) {
                            assert_eq!(quick, i64::from_cells(sum, 0), "{x} {noise}");
                        }
                    }
                }
            }
        }
        assert!(usual > 1000, "{usual}");
        let steps = Steps::new(Lattice {
            log2_granularity: 3,
            cells: 1,
        });
        for n in [4_i64, -4, 12, -12, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, i64::MAX] {
            let general = f64::from_cells(n.round_to_lattice(3), 3);
            assert!(steps.sum::<i64, f64>(n, 0).is_none_or(|quick| quick == general), "{n}");
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
        assert_eq!(2_f64.powi(85).round_to_lattice(-40), 1 << 125);
        assert_eq!(2_f64.powi(87).round_to_lattice(-40), LIMIT);
        assert_eq!(5e-324_f64.round_to_lattice(-40), 0);
        assert_eq!((-5e-324_f64).round_to_lattice(-40), 0);
        assert_eq!(5e-324_f64.round_to_lattice(-1074), 1);
        assert_eq!(i64::MIN.round_to_lattice(64), 0, "-1/2 rounds up");
        assert_eq!(i64::MIN.round_to_lattice(63), -1);
    }
}
