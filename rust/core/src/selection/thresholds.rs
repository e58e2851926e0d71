//! Many selections from one row: its thresholds, made once.

use std::sync::OnceLock;

use super::candidates::Candidates;
use super::flips;
use super::levels::Levels;
use super::row::Row;
use crate::declassify;
use crate::exact::Choice;
use crate::memory::{self, OutOfMemory};

/// The thresholds S(j) in units of 2^−64, and a guide that finds the one for a word (Chen and Asau 1974).
#[derive(Debug)]
pub(super) struct RowThresholds {
    /// S(0) = 1 is cut off at 2^64 − 1.
    survival: Vec<u64>,
    /// For every bucket the answer for its first word, or less: a search begins here.
    guide: Vec<usize>,
    /// A word's bucket is its leading bits.
    shift: u32,
    /// Bound on the error of a threshold less a word; `None` where the thresholds have no bound that is of use.
    margin: Option<u64>,
    choice: OnceLock<Choice>,
}

impl RowThresholds {
    pub fn new(levels: &Levels, row: Candidates<'_>, room: &mut Row) -> Result<Self, OutOfMemory> {
        let n = row.costs.len();
        let (survival, margin) = match room.weights(levels, row)? {
            Some(weights) => (survival(weights)?, margin(levels.flips, n, row.error())),
            // If there is no margin, no word is sure: the thresholds only give the exact path a guess.
            None => (memory::filled(u64::MAX, n)?, None),
        };
        let bits = guide_bits(n);
        let shift = 64 - bits;
        let mut guide = memory::filled(0, 1 << bits)?;
        // Buckets rise while S(j) falls with j: one pass finds all of them.
        let mut j = n - 1;
        for (bucket, place) in guide.iter_mut().enumerate() {
            while j > 0 && survival[j] <= (bucket as u64) << shift {
                j -= 1;
            }
            *place = j;
        }
        Ok(Self {
            survival,
            guide,
            shift,
            margin,
            choice: OnceLock::new(),
        })
    }

    /// S(j) in units of 2^−64, with the error that `margin` bounds.
    #[cfg(test)]
    pub fn threshold(&self, j: usize) -> u64 {
        self.survival[j]
    }

    pub fn len(&self) -> usize {
        self.survival.len() + self.guide.len()
    }

    pub fn index(
        &self,
        levels: &Levels,
        row: Candidates<'_>,
        word: u64,
        mut extension: impl FnMut(usize) -> u64,
    ) -> Result<usize, OutOfMemory> {
        // The guide's answer is that of the bucket's first word, which is the least: later words have this index or a smaller one.
        let mut j = self.guide[(word >> self.shift) as usize];
        while j > 0 && self.survival[j] <= word {
            j -= 1;
        }
        if self.sure(j, word) {
            return Ok(j);
        }
        declassify::slow_path();
        // Most rows never need exact weights: made at the first doubt, then kept.
        memory::made(&self.choice, || levels.choice(row))?.index(word, &mut extension, j)
    }

    fn sure(&self, j: usize, word: u64) -> bool {
        let Some(margin) = self.margin else { return false };
        (j == 0 || self.survival[j] - word > margin) && (j + 1 == self.survival.len() || word - self.survival[j + 1] > margin)
    }
}

/// About four buckets to a candidate while they fit the second-level cache, eight for a few candidates, and one beyond: few steps remain from the
/// guide's answer.
fn guide_bits(n: usize) -> u32 {
    let whole = n.next_power_of_two().ilog2();
    (whole + if whole < 9 { 3 } else { 2 }).min(whole.max(14)).min(24)
}

/// The sum of the weights from j on over the sum of all, in units of 2^−64. Sums have two parts (Ogita, Rump and Oishi 2005, algorithm 4.4).
fn survival(weights: &[f64]) -> Result<Vec<u64>, OutOfMemory> {
    let (mut high, mut low) = (0.0, 0.0);
    let mut sums = memory::filled(0.0, weights.len())?;
    for (sum, &weight) in sums.iter_mut().zip(weights).rev() {
        // The rounding error of the sum, exactly (Knuth's TwoSum): it does not matter which of the two is larger.
        let next = high + weight;
        let back = next - high;
        low += (high - (next - back)) + (weight - back);
        high = next;
        *sum = high + low;
    }
    // S(0) becomes 2^64, which the conversion saturates.
    let scale = 64.0_f64.exp2() / sums[0];
    memory::collected(sums.iter().map(|sum| (sum * scale) as u64))
}

/// In units of 2^−53 = 2^11 units of 2^−64: a sum is off by 200 from its weights, n·2^−37 from small ones, 2 from rounding and n²·2^−53 from its
/// chain; two sums make a threshold, and four roundings. `None` if that is too much to be of use.
fn margin(flips: bool, n: usize, of_candidates: f64) -> Option<u64> {
    let of_weights = of_candidates + if flips { flips::error(n) } else { 0.0 };
    let n = n as f64;
    let units = 2.0 * (of_weights + 202.0 + 1.1 * n * n * (-53.0_f64).exp2() + n * (-37.0_f64).exp2()) + 10.0;
    (n < 40.0_f64.exp2()).then_some((units * 2048.0) as u64)
}
