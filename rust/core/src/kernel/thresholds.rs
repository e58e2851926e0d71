use super::elementary::{exp, exp_m1};
use super::float::from_small;
use super::tier::{Arithmetic, Separate};
use super::{Lane, RARE};
use crate::dyadic::power_of_two;

/// Fast path of geometric(ε, D) where few magnitudes carry all but 2⁻¹⁴ of the mass, as at ε/D ≥ 1.2: the magnitude is the number of thresholds
/// S(j)·2^bits, j = 1, 2, …, above V, compared as integers.
///
/// Each threshold is e^(−x) up to a factor, x = jε/D. Where x ≤ 44 its relative error is below 2⁻⁴⁶: 2·44u from x, 4u from the exponential, 12u from
/// 2/(1 + e^(−ε/D)) and the products. Beyond, threshold and error are below one unit of V. It is kept as the two integers around an interval twice
/// as wide, moved apart by one for the bits beyond the word. A word between the two, or below the last threshold, is not sure.
#[derive(Clone, Debug)]
pub(crate) struct Thresholds<const N: usize> {
    /// V below this is below the threshold, whatever bits follow.
    below: [i64; N],
    /// V from here on is not.
    above: [i64; N],
}

impl<const N: usize> Thresholds<N> {
    /// `None` where more than 2⁻¹⁴ of the mass lies beyond the last threshold.
    pub fn new(eps: f64, cells: u64, bits: u32) -> Option<Self> {
        let step = eps / cells as f64;
        // At 700, where the exponential ends, thresholds have long been below one unit.
        let divisor = 1.0 + 1.0 / (1.0 + exp_m1(step.min(700.0)));
        Self::of(step, 2.0, divisor, bits)
    }

    /// The one-sided law, S(j) = e^(−εj/D).
    pub fn one_sided(eps: f64, cells: u64, bits: u32) -> Option<Self> {
        Self::of(eps / cells as f64, 1.0, 1.0, bits)
    }

    /// S(j) = (`factor`/`divisor`)·e^(−`step`·j).
    fn of(step: f64, factor: f64, divisor: f64, bits: u32) -> Option<Self> {
        let survival = |j: usize| factor / (divisor * exp::<Separate>((step * j as f64).min(700.0), 0.0));
        if survival(N) > RARE {
            return None;
        }
        let scale = power_of_two(bits.cast_signed());
        let error = power_of_two(-45);
        let at = |j: usize, factor: f64| survival(j + 1) * scale * factor;
        Some(Self {
            below: core::array::from_fn(|j| at(j, 1.0 - error).floor() as i64 - 1),
            above: core::array::from_fn(|j| at(j, 1.0 + error).ceil() as i64 + 1),
        })
    }
}

impl<const N: usize> Lane for Thresholds<N> {
    #[inline(always)]
    fn reduce<A: Arithmetic>(&self, bits: u64) -> [f64; 3] {
        let v = bits.cast_signed();
        let (mut least, mut most) = (0, 0);
        for j in 0..N {
            least += u64::from(v < self.below[j]);
            most += u64::from(v < self.above[j]);
        }
        [from_small(least), from_small(most), 0.0]
    }

    #[inline(always)]
    fn finish<A: Arithmetic>(&self, [least, most, _]: [f64; 3]) -> (f64, bool) {
        (least, (least == most) & (most < N as f64))
    }
}
