//! The first level of geometric distributions of few magnitudes: the leading bits of each word against a few thresholds.

use super::super::arithmetic::{Arithmetic, BLOCK, Separate};
use super::super::elementary::{exp, exp_m1};

use super::block::Block;
use crate::lattice::value::{Scaling, Value};

/// The magnitude is the number of thresholds S(j)·2¹⁵, j = 1, 2, …, above the 15 leading bits of V, where those are no threshold's whole part.
///
/// A threshold is kept as its whole part, and made from S(j) as in [`ThresholdLane`](super::super::thresholds::ThresholdLane): a distribution has no
/// first level where the error of a threshold, 2⁻⁴⁵ of it, could change the whole part. The last whole part is 0. So the words below all others are
/// not certain.
#[derive(Clone, Debug)]
pub(in super::super) struct Counts<const N: usize> {
    thresholds: [i16; N],
}

/// S(j) of geometric(ε, D), as in `ThresholdLane`.
pub(super) fn two_sided(eps: f64, sensitivity_steps: u64, j: usize) -> f64 {
    let step = eps / sensitivity_steps as f64;
    2.0 / (1.0 + 1.0 / (1.0 + exp_m1(step.min(700.0)))) * one_sided(eps, sensitivity_steps, j)
}

/// S(j) of the one-sided distribution.
pub(super) fn one_sided(eps: f64, sensitivity_steps: u64, j: usize) -> f64 {
    let step = eps / sensitivity_steps as f64;
    1.0 / exp::<Separate>((step * j as f64).min(700.0), 0.0)
}

impl<const N: usize> Counts<N> {
    /// `error` is what S(j) may be off by beyond 2⁻⁴⁴ of it.
    pub fn new(survival: &impl Fn(usize) -> f64, error: f64) -> Option<Self> {
        let mut thresholds = [0; N];
        for (j, threshold) in (1..).zip(&mut thresholds) {
            let exactly = survival(j) * 32768.0;
            let error = exactly * (f64::EPSILON * 256.0) + error * 32768.0;
            *threshold = (exactly - error).max(0.0).floor() as i16;
            if (exactly + error).floor() as i16 != *threshold {
                return None;
            }
        }
        (thresholds[N - 1] == 0).then_some(Self { thresholds })
    }
}

impl<const N: usize> Block for Counts<N> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        let thresholds = self.thresholds;
        // In integers of 16 bits, as many at a time as a vector has room for.
        let leading = words.map(|word| (word >> 48) as i16);
        let mut steps = [0_i16; BLOCK];
        let mut undecided = 0_i16;
        for i in 0..BLOCK {
            let (magnitude, sign) = (leading[i] & i16::MAX, leading[i] >> 15);
            let mut count = 0_i16;
            #[allow(
                clippy::needless_range_loop,
                reason = "of an iterator the compiler makes no vectors: six times the time"
            )]
            for j in 0..N {
                count += i16::from(magnitude < thresholds[j]);
                undecided |= i16::from(magnitude == thresholds[j]);
            }
            steps[i] = (count ^ sign).wrapping_sub(sign);
        }
        for i in 0..BLOCK {
            out[i] = T::from_narrow(steps[i].into(), scaling.granularity());
        }
        undecided == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence: the definitions, by the standard library's exponential.
    #[test]
    fn survival_functions_are_those_of_the_distributions() {
        for (eps, sensitivity_steps) in [(1.3_f64, 1), (5.0, 3), (0.02, 7)] {
            let b = (-eps / sensitivity_steps as f64).exp();
            for j in 1..9 {
                let (one, two) = (b.powi(j), 2.0 * b.powi(j) / (1.0 + b));
                assert!(
                    (one_sided(eps, sensitivity_steps, j as usize) / one - 1.0).abs() < 1e-14,
                    "{eps} {sensitivity_steps} {j}"
                );
                assert!(
                    (two_sided(eps, sensitivity_steps, j as usize) / two - 1.0).abs() < 1e-14,
                    "{eps} {sensitivity_steps} {j}"
                );
            }
        }
    }
}
