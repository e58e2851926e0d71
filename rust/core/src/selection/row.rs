//! One selection from one row, in floating point with a proven error.

use super::candidates::Candidates;
use super::decay;
use super::flips;
use super::levels::Levels;
use crate::kernel::{Arithmetic, Tier, U, on_tier};
use crate::memory::{self, OutOfMemory};

/// Weights added up at a time. Short sums of short sums: the error of a sum grows with its longest chain of additions.
const BLOCK: usize = 64;

#[derive(Debug)]
pub(super) struct Row {
    tier: Tier,
    levels: Vec<f64>,
    weights: Vec<f64>,
    blocks: Vec<f64>,
}

impl Row {
    pub fn new() -> Self {
        Self::on(Tier::current())
    }

    fn on(tier: Tier) -> Self {
        Self {
            tier,
            levels: Vec::new(),
            weights: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// The weights of a row in units of the largest; `None` if their errors have no bound in floating point.
    ///
    /// Each is off by less than 200·2^−53 relatively plus 2^−90: an exponent q ≤ 45 is off by at most 4·2^−53 relatively, which makes 180, and
    /// its power by 8; a weight with q from 45 to 700 is itself below 2^−64, and both a smaller one and what stands for it are below e^−64.
    pub fn weights(&mut self, levels: &Levels, row: Candidates<'_>) -> Result<Option<&[f64]>, OutOfMemory> {
        let total = self.weigh(levels, row)?;
        Ok(total.map(|_| &*self.weights))
    }

    /// The number of j ≥ 1 with v < S(j), for v = (word + θ)·2^−64 with any θ in [0, 1]; `None` if that is not sure.
    pub fn index(&mut self, levels: &Levels, row: Candidates<'_>, word: u64) -> Result<Option<usize>, OutOfMemory> {
        let total = self.weigh(levels, row)?;
        let error = error(levels.flips, row.costs.len()) + 2.0 * row.error();
        Ok(total.and_then(|total| self.find(total, error, word)))
    }

    /// Weights, their sums by blocks, and all of them together.
    fn weigh(&mut self, levels: &Levels, row: Candidates<'_>) -> Result<Option<f64>, OutOfMemory> {
        if self.weights.len() != row.costs.len() {
            self.make_room(row.costs.len())?;
        }
        Ok(on_tier!(self.tier, A => self.weigh_all::<A>(levels, row)))
    }

    #[inline(always)]
    fn weigh_all<A: Arithmetic>(&mut self, levels: &Levels, row: Candidates<'_>) -> Option<f64> {
        let least = levels.fill(row.costs, &mut self.levels)?;
        decay::fill::<A>(&self.levels, least, levels.factor, &mut self.weights);
        for (weight, multiplicity) in self.weights.iter_mut().zip(row.multiplicities) {
            *weight *= multiplicity;
        }
        let mut total = self.add_up();
        if levels.flips {
            flips::fill::<A>(&mut self.weights, total);
            total = self.add_up();
        }
        Some(total)
    }

    /// The sum of all weights; those of blocks are kept.
    #[inline(always)]
    fn add_up(&mut self) -> f64 {
        let mut total = 0.0;
        for (block, weights) in self.blocks.iter_mut().zip(self.weights.chunks(BLOCK)) {
            *block = sum(weights);
            total += *block;
        }
        total
    }

    /// Weights come last: where they have their length, so has the rest.
    fn make_room(&mut self, n: usize) -> Result<(), OutOfMemory> {
        memory::resize(&mut self.levels, n)?;
        memory::resize(&mut self.blocks, n.div_ceil(BLOCK))?;
        memory::resize(&mut self.weights, n)
    }

    /// The last j where the weights from j on exceed v times all of them.
    fn find(&self, total: f64, error: f64, word: u64) -> Option<usize> {
        // The 53 leading bits of the word convert without rounding; `error` counts the rest.
        let target = (word >> 11) as f64 * U * total;
        let error = total * U * error;
        let mut below = 0.0;
        // From the end, as the thresholds are sums of the weights from j on: first the block, then the candidate.
        let block = (1..self.blocks.len())
            .rev()
            .find(|&block| {
                let above = below + self.blocks[block];
                let found = above > target;
                if !found {
                    below = above;
                }
                found
            })
            .unwrap_or(0);
        let first = block * BLOCK;
        let last = (first + BLOCK).min(self.weights.len());
        for j in (first..last).rev() {
            let above = below + self.weights[j];
            // At j = 0 the sum is all weights, and v is below 1.
            if above > target || j == 0 {
                let sure = (j == 0 || above - target > error) && (j + 1 == self.weights.len() || target - below > error);
                return sure.then_some(j);
            }
            below = above;
        }
        None
    }
}

/// What comparing a sum of weights with v times all of them may be off by, in units of 2^−53 of all weights.
///
/// A sum of weights by chains of m = n/64 + 130 additions is off by 200 + 1.01·m, and by n·2^−37 for small weights; so is v times all of them,
/// where v is cut to 53 bits (1) and the product rounded (1). Twice the first and the rest are below 700 + n/24.
fn error(flips: bool, n: usize) -> f64 {
    let of_weights = if flips { 2.0 * flips::error(n) } else { 0.0 };
    of_weights + 700.0 + n as f64 / 24.0
}

/// A sum in eight chains, which are independent: the compiler adds them in vectors.
#[inline(always)]
fn sum(block: &[f64]) -> f64 {
    let (eights, rest) = block.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in eights {
        for (sum, weight) in sums.iter_mut().zip(eight) {
            *sum += weight;
        }
    }
    let pairs = [sums[0] + sums[1], sums[2] + sums[3], sums[4] + sums[5], sums[6] + sums[7]];
    ((pairs[0] + pairs[1]) + (pairs[2] + pairs[3])) + rest.iter().sum::<f64>()
}
