//! Released integers modulo m, which secure aggregation adds up (contract, section 4).

use core::hint::black_box;

use crate::error::{DrawError, ParamError};
use crate::kernel::{Tier, on_tier};

/// A modulus m from 2 to 2⁶⁴.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus {
    /// m − 1, as m may be 2⁶⁴.
    largest: u64,
    /// ⌊2⁶⁴/m⌋.
    inverse: u64,
    /// 2⁶⁴ mod m.
    wrap: u64,
}

impl Modulus {
    /// # Errors
    /// [`ParamError::Rule`] for a modulus below 2 or above 2⁶⁴.
    pub fn new(modulus: u128) -> Result<Self, ParamError> {
        const WRAP: u128 = 1 << 64;
        let (possible, rule) = ((2..=WRAP).contains(&modulus), "an integer from 2 to 2**64");
        ParamError::require(possible, "modulus", rule, modulus as f64)?;
        Ok(Self {
            largest: (modulus - 1) as u64,
            inverse: (WRAP / modulus) as u64,
            wrap: (WRAP % modulus) as u64,
        })
    }

    /// Refuses an element type that does not hold m − 1.
    pub(crate) fn check_type<T: Residue>(self) -> Result<(), DrawError> {
        if self.largest > T::LARGEST {
            return Err(DrawError::Residues);
        }
        Ok(())
    }

    /// Writes (answer + noise) mod m for every answer.
    pub(crate) fn write_sums<T: Residue>(self, answers: &[i64], noise: &[i64], out: &mut [T]) {
        for ((answer, noise), out) in answers.iter().zip(noise).zip(out) {
            *out = T::from_residue(self.sum(*answer, *noise));
        }
    }

    /// Whether it is m.
    pub(crate) fn is(self, m: u64) -> bool {
        self.largest == m.wrapping_sub(1)
    }

    /// [`Modulus::write_sums`] for noise from 0 to m − 1, with m at most 2⁶³. Where answers are so too, it takes a fifth of the time.
    pub(crate) fn write_rotated<T: Residue>(self, answers: &[i64], noise: &[i64], out: &mut [T]) {
        let tier = Tier::current();
        if on_tier!(tier, self.holds(answers)) {
            on_tier!(tier, self.rotate(answers, noise, out));
        } else {
            self.write_sums(answers, noise, out);
        }
    }

    /// Whether all answers are from 0 to m − 1.
    #[inline(always)]
    fn holds(self, answers: &[i64]) -> bool {
        let most = answers.iter().fold(0, |most: u64, answer| most.max(answer.cast_unsigned()));
        most <= self.largest
    }

    #[inline(always)]
    fn rotate<T: Residue>(self, answers: &[i64], noise: &[i64], out: &mut [T]) {
        for ((answer, noise), out) in answers.iter().zip(noise).zip(out) {
            let sum = answer.wrapping_add(*noise).cast_unsigned();
            // The sum less m wraps to a huge number where it is below 0.
            *out = T::from_residue(sum.min(sum.wrapping_sub(self.largest.wrapping_add(1))));
        }
    }

    /// (answer + noise) mod m, of the exact sum: reducing it modulo 2⁶⁴ first would be wrong where m does not divide 2⁶⁴.
    ///
    /// The same work for all numbers. A division would take longer for larger ones.
    #[inline(always)]
    fn sum(self, answer: i64, noise: i64) -> u64 {
        let sum = i128::from(answer) + i128::from(noise);
        // The sum is low − 2⁶⁴ where it is negative, and low elsewhere.
        let (low, negative) = (sum as u64, (sum >> 64) as u64);
        // The product is above 2⁶⁴·(low/m − 1), so the quotient is ⌊low/m⌋ or one less.
        let quotient = ((u128::from(low) * u128::from(self.inverse)) >> 64) as u64;
        let modulus = self.largest.wrapping_add(1);
        let residue = low.wrapping_sub(quotient.wrapping_mul(modulus));
        let residue = residue.wrapping_sub(modulus & mask(residue > self.largest));
        let wrap = self.wrap & negative;
        residue.wrapping_sub(wrap).wrapping_add(modulus & mask(residue < wrap))
    }
}

/// All bits, or none. Masks, because the compiler turns a condition into a branch on noise (docs/evidence/timing.md).
#[inline(always)]
fn mask(condition: bool) -> u64 {
    black_box(u64::from(condition)).wrapping_neg()
}

/// An element type that residues can be written as.
pub trait Residue: Copy + Default + Send + private::Sealed {
    /// The largest residue that it holds.
    #[doc(hidden)]
    const LARGEST: u64;

    /// A residue up to [`Residue::LARGEST`].
    #[doc(hidden)]
    fn from_residue(residue: u64) -> Self;
}

mod private {
    pub trait Sealed {}
}

macro_rules! residues {
    ($($integer:ty),+) => {$(
        impl private::Sealed for $integer {}

        impl Residue for $integer {
            const LARGEST: u64 = <$integer>::MAX as u64;

            #[inline(always)]
            fn from_residue(residue: u64) -> Self {
                residue as Self
            }
        }
    )+};
}

residues!(u64, i64, u32);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AnyMechanism, DiscreteLaplace, DiscreteStaircase, Generator, Kind, Mechanism, OneWordMechanism, R, RandomizedResponse,
        Shape, Share, Skellam,
    };

    const ENDS: [i64; 13] = [
        0,
        1,
        -1,
        2,
        1_000_003,
        -1_000_003,
        1 << 32,
        -(1 << 32) - 1,
        1 << 62,
        i64::MAX - 1,
        i64::MAX,
        i64::MIN + 1,
        i64::MIN,
    ];

    /// Moduli at both ends, around powers of two, and primes.
    fn moduli() -> impl Iterator<Item = u128> {
        let around = [8, 16, 31, 32, 33, 61, 62, 63, 64].into_iter().flat_map(|bits| {
            let power = 1_u128 << bits;
            [power - 1, power, power + 1, power / 3]
        });
        [
            2,
            3,
            4,
            5,
            7,
            10,
            65_537,
            (1 << 61) - 1,
            (1 << 64) - 59,
            (1 << 64) - (1 << 32) + 1,
        ]
        .into_iter()
        .chain(around)
        .filter(|modulus| (2..=1 << 64).contains(modulus))
    }

    /// Evidence: the remainder by division, of all pairs of ends for all moduli.
    #[test]
    fn sums_are_reduced_exactly() {
        for m in moduli() {
            let modulus = Modulus::new(m).unwrap();
            for answer in ENDS {
                for noise in ENDS {
                    let sum = i128::from(answer) + i128::from(noise);
                    let expected = sum.rem_euclid(m as i128);
                    assert_eq!(i128::from(modulus.sum(answer, noise)), expected, "{answer} + {noise} mod {m}");
                }
            }
        }
    }

    /// Evidence: the remainder by division, around multiples of the modulus.
    #[test]
    fn multiples_of_the_modulus_are_zero() {
        for m in moduli() {
            let modulus = Modulus::new(m).unwrap();
            let multiples = [1, 2, 3, (1 << 62) / m, (1 << 63) / m].map(|times| times * m);
            for multiple in multiples.into_iter().flat_map(|n| [n, n.saturating_sub(1), n + 1]) {
                let Ok(n) = i64::try_from(multiple) else {
                    continue;
                };
                for sum in [n, -n] {
                    assert_eq!(
                        i128::from(modulus.sum(sum, 0)),
                        i128::from(sum).rem_euclid(m as i128),
                        "{sum} mod {m}"
                    );
                }
            }
        }
    }

    /// Evidence: noise of the same key, in short and long fills and of mechanisms of both kinds.
    #[test]
    fn residues_have_the_noise_of_a_release() {
        let share = Share::new(1, 10).unwrap();
        let mechanisms: [Box<dyn AnyMechanism>; 4] = [
            Box::new(DiscreteLaplace::new(0.01, 3).unwrap()),
            Box::new(DiscreteStaircase::new(1.0, 5, R::L1).unwrap()),
            Box::new(Skellam::new(100.0, share).unwrap()),
            // Of answers from 0 to m − 1, and of others, which are reduced as those of other mechanisms.
            Box::new(RandomizedResponse::new(1.0, 1_000_003).unwrap()),
        ];
        for mechanism in mechanisms {
            for n in [0, 1, 7, 100, if cfg!(miri) { 600 } else { 20_000 }] {
                let ends = (0..n).map(|i| ENDS[i % ENDS.len()]);
                let answers: Vec<i64> = if n == 100 { (0..100).collect() } else { ends.collect() };
                let mut noise = vec![0_i64; n];
                mechanism.fill(&mut Generator::from_seed(4), &mut noise).unwrap();
                for m in [2, 1_000_003, 1 << 32, (1 << 64) - 59, 1 << 64] {
                    let mut residues = vec![0_u64; n];
                    let modulus = Modulus::new(m).unwrap();
                    mechanism
                        .release_modulo(&mut Generator::from_seed(4).allow_release(), &answers, modulus, &mut residues)
                        .unwrap();
                    for ((answer, noise), residue) in answers.iter().zip(&noise).zip(residues) {
                        let sum = i128::from(*answer) + i128::from(*noise);
                        assert_eq!(i128::from(residue), sum.rem_euclid(m as i128));
                    }
                }
            }
        }
    }

    #[test]
    fn other_element_types_hold_the_same_residues() {
        let mechanism = DiscreteLaplace::new(0.01, 3).unwrap();
        let (mut wide, mut signed, mut narrow) = ([0_u64; 50], [0_i64; 50], [0_u32; 50]);
        let modulus = Modulus::new(1 << 32).unwrap();
        let generator = || Generator::from_seed(4).allow_release();
        mechanism
            .release_modulo(&mut generator(), &[-1; 50], modulus, &mut wide)
            .unwrap();
        mechanism
            .release_modulo(&mut generator(), &[-1; 50], modulus, &mut signed)
            .unwrap();
        mechanism
            .release_modulo(&mut generator(), &[-1; 50], modulus, &mut narrow)
            .unwrap();
        assert!(wide.iter().any(|residue| *residue > 1 << 31));
        assert_eq!(wide, signed.map(|residue| residue as u64));
        assert_eq!(wide, narrow.map(u64::from));
    }

    #[test]
    fn what_is_refused_draws_nothing() {
        for m in [0, 1, (1 << 64) + 1, u128::MAX] {
            assert!(matches!(
                Modulus::new(m),
                Err(ParamError::Rule {
                    parameter: "modulus",
                    ..
                })
            ));
        }
        let mechanism = DiscreteLaplace::new(1.0, 1).unwrap();
        let mut generator = Generator::from_seed(4).allow_release();
        let of = |m| Modulus::new(m).unwrap();
        let mut wide = [7_u64; 2];
        let lengths = mechanism.release_modulo(&mut generator, &[1], of(5), &mut wide);
        assert_eq!(lengths, Err(DrawError::Lengths { answers: 1, out: 2 }));
        let narrow = mechanism.release_modulo(&mut generator, &[1], of((1 << 32) + 1), &mut [0_u32]);
        assert_eq!(narrow, Err(DrawError::Residues));
        let signed = mechanism.release_modulo(&mut generator, &[1], of((1 << 63) + 1), &mut [0_i64]);
        assert_eq!(signed, Err(DrawError::Residues));
        let continuous = OneWordMechanism::new(Kind::Laplace, 1.0, 1.0, Shape::L1).unwrap();
        let fractions = continuous.release_modulo(&mut generator, &[1, 1], of(5), &mut wide);
        assert_eq!(fractions, Err(DrawError::NotWhole));
        let seeded = mechanism.release_modulo(&mut Generator::from_seed(4), &[1, 1], of(5), &mut wide);
        assert_eq!(seeded, Err(DrawError::Seeded));
        assert_eq!(wide, [7; 2]);
        mechanism
            .release_modulo(&mut generator, &[1], of(1 << 32), &mut [0_u32])
            .unwrap();
        let mut second = Generator::from_seed(4);
        let (mut a, mut b) = ([0_i64; 9], [0_i64; 9]);
        mechanism.fill(&mut second, &mut [0_i64]).unwrap();
        mechanism.fill(&mut second, &mut a).unwrap();
        mechanism.fill(&mut generator, &mut b).unwrap();
        assert_eq!(a, b, "one fill was taken");
    }
}
