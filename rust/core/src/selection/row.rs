//! One selection from one row, in floating point with a proven error.

use super::decay::{self, NEGLIGIBLE};
use super::levels::Levels;

/// Weights added up at a time: errors of a sum grow with its longest chain of additions.
const BLOCK: usize = 64;

/// 2^−53.
const U: f64 = 1.110_223_024_625_156_5e-16;

/// Room for the work on one row.
#[derive(Debug, Default)]
pub(super) struct Row {
    levels: Vec<f64>,
    weights: Vec<f64>,
    blocks: Vec<f64>,
}

impl Row {
    /// The weights of a row in units of the largest, `None` if floating point cannot hold them well.
    ///
    /// Each is off by less than 200·2^−53 relatively plus 2^−63: an exponent q ≤ 45 is off by at most 4·2^−53 relatively, which makes 180, and
    /// its power by 8; beyond, both the weight and what stands here are below 2^−63.
    pub fn weights(&mut self, levels: &Levels, costs: &[f64]) -> Option<&[f64]> {
        self.levels.resize(costs.len(), 0.0);
        self.weights.resize(costs.len(), 0.0);
        let least = levels.fill(costs, &mut self.levels)?;
        decay::fill(&self.levels, least, levels.factor(), &mut self.weights);
        Some(&self.weights)
    }

    /// The number of j ≥ 1 with v < S(j), for v = (word + θ)·2^−64 with any θ in [0, 1]; `None` if that is not sure.
    pub fn index(&mut self, levels: &Levels, costs: &[f64], word: u64) -> Option<usize> {
        self.weights(levels, costs)?;
        let mut total = 0.0;
        self.blocks.clear();
        for block in self.weights.chunks(BLOCK) {
            let sum = sum(block);
            total += sum;
            self.blocks.push(sum);
        }
        self.find(total, word)
    }

    /// The last j where the weights from j on exceed v times all of them.
    fn find(&self, total: f64, word: u64) -> Option<usize> {
        let target = (word >> 11) as f64 * U * total;
        let error = total * U * error(self.weights.len());
        let mut below = 0.0;
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
/// A sum of at most n weights by chains of m = n/64 + 130 additions is off by 200 + 1.01·m and n·2^−63 of the largest weight, that is n/1024
/// units; so is v times all of them, where v is cut to 53 bits (1) and the product rounded (1). Twice the first and the rest are below 700 + n/16.
fn error(n: usize) -> f64 {
    700.0 + n as f64 / 16.0
}

/// In four chains, which the compiler adds at once.
fn sum(block: &[f64]) -> f64 {
    let (fours, rest) = block.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for (sum, weight) in sums.iter_mut().zip(four) {
            *sum += weight;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest.iter().sum::<f64>()
}

const _: () = assert!(NEGLIGIBLE == 45.0, "the bound on the weights rests on it");
