//! The first level of geometric distributions of few magnitudes: the leading bits of each word against a few thresholds.

use super::super::arithmetic::{Arithmetic, BLOCK};
use super::super::thresholds::Survivals;
use super::block::Block;
use crate::exact::IntegerDistribution;
use crate::lattice::value::{Scaling, Value};

/// The magnitude is the number of thresholds S(j)·2¹⁵, j = 1, 2, …, above the 15 leading bits of V, where those are no threshold's whole part.
///
/// A threshold is kept as its whole part, which its error must not change. The last whole part is 0, so words below all others are not certain.
#[derive(Clone, Debug)]
pub(in super::super) struct Counts<const N: usize> {
    thresholds: [i16; N],
}

impl<const N: usize> Counts<N> {
    pub fn new(distribution: &IntegerDistribution) -> Option<Self> {
        let [lower, upper] = Survivals::<N>::of(distribution)?.ends(32768.0);
        let thresholds = lower.map(|end| end.max(0.0).floor() as i16);
        let sure = thresholds
            .iter()
            .zip(upper)
            .all(|(threshold, end)| end.floor() as i16 == *threshold);
        (sure && thresholds[N - 1] == 0).then_some(Self { thresholds })
    }
}

impl<const N: usize> Block for Counts<N> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        let thresholds = self.thresholds;
        // In integers of 16 bits, as many at a time as a vector has room for.
        let leading = A::leading(words);
        let mut steps = [0_i16; BLOCK];
        let mut nearest = 0_i16;
        for i in 0..BLOCK {
            let (bits, sign) = (leading[i] | i16::MIN, leading[i] >> 15);
            let mut count = N as i16;
            #[allow(
                clippy::needless_range_loop,
                reason = "of an iterator the compiler makes no vectors: six times the time"
            )]
            for j in 0..N {
                // From −2¹⁵, for equal numbers, upwards; not negative where the threshold is above.
                let beyond = bits.wrapping_sub(thresholds[j]);
                count = count.wrapping_add(beyond >> 15);
                nearest = nearest.min(beyond);
            }
            steps[i] = (count ^ sign).wrapping_sub(sign);
        }
        for i in 0..BLOCK {
            out[i] = T::from_narrow(steps[i].into(), scaling.granularity());
        }
        nearest != i16::MIN
    }
}
