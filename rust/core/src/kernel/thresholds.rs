//! The fast path of geometric distributions where a few magnitudes carry nearly all of the mass: comparisons of integers.

use super::arithmetic::{Arithmetic, Separate};
use super::canonical;
use super::elementary::{exp, exp_m1};
use super::float;
use super::lane::{Lane, RARE};
use crate::exact::IntegerDistribution;
use crate::lattice::dyadic::power_of_two;

/// Fast path of geometric(ε, D) where few magnitudes carry all but 2⁻¹⁴ of the mass, as at ε/D ≥ 1.2: the magnitude is the number of thresholds
/// S(j)·2^bits, j = 1, 2, …, above V, compared as integers.
///
/// Each is kept as the two integers around its interval ([`Survivals`]), and one more for the bits beyond the word. Words between are not sure.
#[derive(Clone, Debug)]
pub(crate) struct ThresholdLane<const N: usize> {
    /// V below this is below the threshold, whatever bits follow.
    below: [i64; N],
    /// V from here on is not.
    above: [i64; N],
}

impl<const N: usize> ThresholdLane<N> {
    /// `None` where more than 2⁻¹⁴ of the mass lies beyond the last threshold.
    pub fn new(distribution: &IntegerDistribution, bits: u32) -> Option<Self> {
        Self::beyond(distribution, bits, RARE)
    }

    /// `None` where more than this mass lies beyond the last threshold.
    pub fn beyond(distribution: &IntegerDistribution, bits: u32, most: f64) -> Option<Self> {
        let survivals = Survivals::<N>::of(distribution)?;
        if survivals.values[N - 1] > most {
            return None;
        }
        let [lower, upper] = survivals.ends(power_of_two(bits.cast_signed()));
        Some(Self {
            below: lower.map(|end| end.floor() as i64 - 1),
            above: upper.map(|end| end.ceil() as i64 + 1),
        })
    }
}

const GAUSSIAN_WEIGHTS: usize = 60;

/// S(1), S(2), …, S(N) of a geometric or a narrow Gaussian distribution or of canonical noise, and twice the bounds on their errors.
pub(super) struct Survivals<const N: usize> {
    values: [f64; N],
    relative: f64,
    absolute: f64,
}

impl<const N: usize> Survivals<N> {
    /// `None` for others.
    ///
    /// Those of geometric distributions are e^(−x) up to a factor, x = jε/D. Where x ≤ 44 their relative error is below 2⁻⁴⁶: 2·44u from x, 4u from
    /// the exponential, 12u from 2/(1 + e^(−ε/D)) and the products. Beyond, they and their errors are below 2⁻⁶³.
    pub fn of(distribution: &IntegerDistribution) -> Option<Self> {
        match *distribution {
            IntegerDistribution::Geometric { eps, sensitivity_steps } => {
                let step = eps / sensitivity_steps as f64;
                // The largest argument of the exponential is 700.
                let divisor = 1.0 + 1.0 / (1.0 + exp_m1(step.min(700.0)));
                Some(Self::geometric(step, 2.0 / divisor))
            }
            IntegerDistribution::OneSided { eps, sensitivity_steps } => {
                Some(Self::geometric(eps / sensitivity_steps as f64, 1.0))
            }
            IntegerDistribution::Canonical { eps, delta, .. } => Some(Self {
                values: canonical::survivals(eps, delta),
                relative: 0.0,
                absolute: canonical::ERROR,
            }),
            IntegerDistribution::Gaussian { sigma2 } => Some(Self::gaussian(sigma2)),
            IntegerDistribution::TruncatedGeometric(_)
            | IntegerDistribution::Staircase(_)
            | IntegerDistribution::TruncatedStaircase { .. } => None,
        }
    }

    /// S(j) = `factor`·e^(−`step`·j).
    fn geometric(step: f64, factor: f64) -> Self {
        Self {
            // At 700, where the exponential ends, they have long been below 2⁻⁶³.
            values: core::array::from_fn(|j| factor / exp::<Separate>((step * (j + 1) as f64).min(700.0), 0.0)),
            relative: power_of_two(-45),
            absolute: 0.0,
        }
    }

    /// Sums of weights e^(−x), x = j²/(2σ²). Where x ≤ 44 the relative error of one is below 92u: 2·44u from x, 4u from the exponential; of a sum of
    /// 60, 60u more. Beyond, they and their errors are below 2⁻⁶³. For σ < 4, so is what follows the 60th.
    fn gaussian(sigma2: f64) -> Self {
        let weight = |j: usize| 1.0 / exp::<Separate>((0.5 * (j * j) as f64 / sigma2).min(700.0), 0.0);
        let mut values = [0.0; N];
        let mut tail = 0.0;
        for j in (1..=GAUSSIAN_WEIGHTS).rev() {
            tail += weight(j);
            if j <= N {
                values[j - 1] = tail;
            }
        }
        let total = 0.5 + tail;
        Self {
            values: values.map(|tail| tail / total),
            relative: power_of_two(-45),
            absolute: 0.0,
        }
    }

    /// The ends of their intervals in this many units.
    pub fn ends(&self, units: f64) -> [[f64; N]; 2] {
        [-1.0, 1.0].map(|sign| {
            self.values
                .map(|value| (value + sign * (value * self.relative + self.absolute)) * units)
        })
    }
}

impl<const N: usize> Lane for ThresholdLane<N> {
    #[inline(always)]
    fn reduce<A: Arithmetic>(&self, bits: u64) -> [f64; 3] {
        // Signed, because AVX2 compares signed integers only; V and the thresholds are below 2⁶³.
        let v = bits.cast_signed();
        [A::count_above(&self.below, v), A::count_above(&self.above, v), 0.0]
    }

    #[inline(always)]
    fn finish<A: Arithmetic>(&self, [least, most, _]: [f64; 3]) -> (f64, bool) {
        (least, (least == most) & (most < N as f64))
    }

    /// For one lane, where the compiler would make branches of choices.
    #[inline(always)]
    fn magnitude<A: Arithmetic>(&self, bits: u64) -> (f64, bool) {
        let v = bits.cast_signed();
        self.finish::<A>([float::count_above(&self.below, v), float::count_above(&self.above, v), 0.0])
    }
}

#[cfg(test)]
mod tests {
    use super::super::arithmetic::{Fused, FusedWide};
    use super::super::lane::WORD_BITS;
    use super::*;
    use crate::testing::random::Random;

    /// Evidence: the definitions, by the standard library's exponential.
    #[test]
    fn survival_functions_are_those_of_the_distributions() {
        for (eps, sensitivity_steps) in [(1.3_f64, 1), (5.0, 3), (0.02, 7)] {
            let b = (-eps / sensitivity_steps as f64).exp();
            let one = Survivals::<8>::of(&IntegerDistribution::OneSided { eps, sensitivity_steps }).unwrap();
            let two = Survivals::<8>::of(&IntegerDistribution::Geometric { eps, sensitivity_steps }).unwrap();
            for j in 0..8 {
                let power = b.powi(j as i32 + 1);
                assert!((one.values[j] / power - 1.0).abs() < 1e-14, "{eps} {sensitivity_steps} {j}");
                let expected = 2.0 * power / (1.0 + b);
                assert!(
                    (two.values[j] / expected - 1.0).abs() < 1e-14,
                    "{eps} {sensitivity_steps} {j}"
                );
            }
        }
    }

    /// Evidence: the definition, by the standard library's exponential. Both integers are as far from it as the
    /// interval that is kept, to a tenth, and up to two for the bits beyond the word.
    #[test]
    fn integers_enclose_the_thresholds() {
        let scale = power_of_two(WORD_BITS.cast_signed());
        let check = |distribution: &ThresholdLane<4>, survival: &dyn Fn(i32) -> f64, relative: f64, absolute: f64| {
            for (j, (below, above)) in (1..).zip(distribution.below.into_iter().zip(distribution.above)) {
                let threshold = survival(j) * scale;
                let error = |times: f64| times * (relative * threshold + absolute * scale);
                let (below, above) = (threshold - below as f64, above as f64 - threshold);
                assert!(
                    below >= error(0.9) && below <= error(1.1) + 2.0,
                    "{distribution:?} {j} {below}"
                );
                assert!(
                    above >= error(0.9) && above <= error(1.1) + 2.0,
                    "{distribution:?} {j} {above}"
                );
            }
        };
        let error = power_of_two(-45);
        for (eps, sensitivity_steps) in [(4.0, 1), (9.0, 3), (60.0, 1)] {
            let b = (-eps / sensitivity_steps as f64).exp();
            let distribution = IntegerDistribution::Geometric { eps, sensitivity_steps };
            let lane = ThresholdLane::new(&distribution, WORD_BITS).unwrap();
            check(&lane, &|j| 2.0 * b.powi(j) / (1.0 + b), error, 0.0);
            let distribution = IntegerDistribution::OneSided { eps, sensitivity_steps };
            check(
                &ThresholdLane::new(&distribution, WORD_BITS).unwrap(),
                &|j| b.powi(j),
                error,
                0.0,
            );
        }
        for (eps, delta) in [(4.0, 1e-6), (3.0, 1e-3)] {
            let survivals = canonical::survivals::<4>(eps, delta);
            let distribution = IntegerDistribution::Canonical { eps, delta, most: 1 };
            let distribution = ThresholdLane::new(&distribution, WORD_BITS).unwrap();
            check(&distribution, &|j| survivals[j as usize - 1], 0.0, canonical::ERROR);
        }
    }

    /// Evidence: equality, on words beside every threshold, at both ends and at random: a lane alone, and on each tier, is sure of the same words and
    /// gives the same magnitude.
    #[test]
    fn lanes_agree() {
        fn check<A: Arithmetic, const N: usize>(distribution: &ThresholdLane<N>, bits: u64) {
            let expected = distribution.below.iter().filter(|below| bits.cast_signed() < **below).count();
            let answer = distribution.finish::<A>(distribution.reduce::<A>(bits));
            assert_eq!(answer.0, expected as f64, "{distribution:?} {bits:x}");
            assert_eq!(answer, distribution.magnitude::<A>(bits), "{distribution:?} {bits:x}");
            assert_eq!(answer, distribution.magnitude::<Separate>(bits), "{distribution:?} {bits:x}");
        }
        let mut random = Random(9);
        for (eps, sensitivity_steps) in [(1.3, 1), (2.0, 1), (4.0, 1), (30.0, 5), (60.0, 1), (700.0, 1), (2000.0, 1)] {
            let geometric = IntegerDistribution::Geometric { eps, sensitivity_steps };
            let distribution = ThresholdLane::<8>::new(&geometric, WORD_BITS).unwrap();
            let beside = distribution
                .below
                .iter()
                .chain(&distribution.above)
                .flat_map(|at| (-2..3).map(move |i| at.saturating_add(i).max(0)));
            let at_random: Vec<_> = (0..200).map(|i| (random.word() >> (1 + i % 63)).cast_signed()).collect();
            for bits in beside.chain(at_random).chain([0, 1, i64::MAX]).map(i64::cast_unsigned) {
                check::<Separate, 8>(&distribution, bits);
                check::<Fused, 8>(&distribution, bits);
                check::<FusedWide, 8>(&distribution, bits);
                if let Some(distribution) = ThresholdLane::<4>::new(&geometric, WORD_BITS) {
                    check::<FusedWide, 4>(&distribution, bits);
                }
            }
        }
    }
}
