//! Differentially private selection of one of finitely many candidates: a lower cost is better.

mod candidates;
mod costs;
mod decay;
mod flips;
mod kept;
mod levels;
mod partitions;
mod row;
mod selector;
mod stair;
#[cfg(test)]
mod tests;
mod thresholds;

use std::borrow::Cow;

use crate::error::{DrawError, ParamError};
use crate::lattice::{check_gamma, check_positive};
use crate::stream::Generator;
#[cfg(test)]
pub(crate) use candidates::Candidates;
use levels::Levels;
pub use partitions::PartitionSelection;
pub use selector::Selector;

/// Sums of whole numbers below this are exact in `f64`, and no larger sum is rounded below it.
const EXACT: f64 = (1_u64 << 53) as f64;

/// A mechanism that selects one of n candidates, exactly with its probability for the `f64`s as they are (docs/contract.md, selection).
///
/// A candidate of infinite cost is never selected. Which costs are infinite must not depend on anybody's data.
///
/// ```
/// use stairnoise::{Generator, Selection};
///
/// let mechanism = Selection::staircase(1.0, 1.0, 0.5, false)?;
/// let costs = [3.0, 0.0, 1.5, /* and another row */ 0.25, 7.0, 2.0];
/// let mut selected = [0; 2];
/// mechanism.select(&mut Generator::from_os()?, &costs, &mut selected)?;
/// assert!(selected.iter().all(|index| (0..3).contains(index)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Selection {
    levels: Levels,
}

impl Selection {
    /// The staircase mechanism on a finite set: P(i) = w_i/Σw, w = e^(−εJ/2), J = 0 for c < γΔ and ⌊c/Δ − γ⌋ + 1 otherwise, exactly; costs are ≥ 0.
    ///
    /// ε-differentially private if one person changes every cost by at most Δ. `monotonic` promises that all move in one direction: then w = e^(−εJ).
    pub fn staircase(eps: f64, sensitivity: f64, gamma: f64, monotonic: bool) -> Result<Self, ParamError> {
        check_positive("eps", eps)?;
        check_positive("sensitivity", sensitivity)?;
        check_gamma(gamma)?;
        let levels = Levels::staircase(eps, sensitivity, gamma, monotonic);
        Ok(Self { levels })
    }

    /// The exponential mechanism: P(i) = w_i/Σw, w = e^(−εc/(2Δ)), or e^(−εc/Δ) if `monotonic`; the promises are those of [`Selection::staircase`].
    pub fn exponential(eps: f64, sensitivity: f64, monotonic: bool) -> Result<Self, ParamError> {
        check_positive("eps", eps)?;
        check_positive("sensitivity", sensitivity)?;
        let levels = Levels::exponential(eps, sensitivity, monotonic);
        Ok(Self { levels })
    }

    /// Permute-and-flip (McKenna and Sheldon 2020): candidates in a uniformly random order, the first accepted with probability
    /// e^(−ε(c − c_min)/(2Δ)) each, or e^(−ε(c − c_min)/Δ) if `monotonic`; the promises are those of [`Selection::staircase`].
    pub fn permute_and_flip(eps: f64, sensitivity: f64, monotonic: bool) -> Result<Self, ParamError> {
        let mut mechanism = Self::exponential(eps, sensitivity, monotonic)?;
        mechanism.levels.flips = true;
        Ok(mechanism)
    }

    /// ε, as given.
    pub fn eps(&self) -> f64 {
        self.levels.eps
    }

    /// The stair J of a cost ≥ 0, at most 2⁶³ − 1; `None` for the mechanisms without stairs.
    #[inline]
    pub fn stair(&self, cost: f64) -> Option<u64> {
        self.levels.stair(cost)
    }

    /// The position of the first cost that is NaN, −∞, or negative where it must not be.
    pub fn refused(&self, costs: &[f64]) -> Option<usize> {
        self.has_infinite(costs).err()
    }

    /// Whether any of the costs is infinite.
    ///
    /// # Errors
    /// The position of the first cost that is [`refused`](Self::refused).
    pub fn has_infinite(&self, costs: &[f64]) -> Result<bool, usize> {
        let least = if self.levels.allows_negative() { f64::MIN } else { 0.0 };
        costs::has_infinite(costs, least)
    }

    /// What a selection costs in time, in units of a value of noise. `again` as for [`Selection::selector`].
    pub fn price(&self, candidates: usize, again: bool) -> usize {
        if again { 1 } else { candidates }
    }

    /// Selects once from each of `out.len()` rows of equally many candidates: `out[i]` is an index into row i.
    ///
    /// # Errors
    /// [`DrawError`]: a generator with a seed ([`DrawError::Seeded`]), costs that are no costs or not as many in every row, an exhausted generator,
    /// no memory. Then nothing was drawn and `out` is as it was, unless memory ran out on the way.
    pub fn select(&self, generator: &mut Generator, costs: &[f64], out: &mut [i64]) -> Result<(), DrawError> {
        generator.check_release()?;
        let n = self.check_rows(costs, out.len(), 1)?;
        let fill = generator.next(out.len())?;
        Ok(self.selector(false).write(&fill, 0, costs.chunks_exact(n), out)?)
    }

    /// Selects `out.len()` times, independently, from one row.
    pub fn select_often(&self, generator: &mut Generator, costs: &[f64], out: &mut [i64]) -> Result<(), DrawError> {
        generator.check_release()?;
        self.check_rows(costs, 1, 1)?;
        let fill = generator.next(out.len())?;
        Ok(self.selector(true).write(&fill, 0, std::iter::repeat(costs), out)?)
    }

    /// Selects once from each row, where a cost stands for as many candidates as its multiplicity says: a whole number from 1 on, below 2⁵³ in all of a row.
    /// `out[i]` is the index of the cost. For permute-and-flip, repeat the cost instead.
    ///
    /// # Errors
    /// As [`Selection::select`], and [`DrawError::Multiplicities`].
    pub fn select_multiplied(
        &self,
        generator: &mut Generator,
        costs: &[f64],
        multiplicities: &[f64],
        out: &mut [i64],
    ) -> Result<(), DrawError> {
        generator.check_release()?;
        let n = self.check_rows(costs, out.len(), 1)?;
        let counted = |row: &[f64]| row.iter().all(|m| *m >= 1.0 && m.trunc() == *m) && row.iter().sum::<f64>() < EXACT;
        if self.levels.flips || multiplicities.len() != costs.len() || !multiplicities.chunks_exact(n).all(counted) {
            return Err(DrawError::Multiplicities);
        }
        let fill = generator.next(out.len())?;
        let rows = costs.chunks_exact(n).zip(multiplicities.chunks_exact(n));
        Ok(self.selector(false).write_multiplied(&fill, 0, rows, out)?)
    }

    /// Selects `k` different candidates, best first, from each of `out.len()`/k rows, each with an exact k-th of ε. All are ε-differentially private.
    ///
    /// # Errors
    /// As [`Selection::select`], and for a row with fewer than `k` finite costs.
    pub fn top(&self, generator: &mut Generator, costs: &[f64], k: usize, out: &mut [i64]) -> Result<(), DrawError> {
        generator.check_release()?;
        let rows = out.len().checked_div(k).filter(|rows| rows * k == out.len());
        let n = self.check_rows(costs, rows.unwrap_or(0), k.max(1))?;
        let fill = generator.next(out.len())?;
        let row = |place: usize| &costs[place * n..][..n];
        Ok(self.top_selector(k).write_top(&fill, 0, row, out)?)
    }

    /// The number of candidates, if these are `rows` rows of costs with `needed` finite ones in each.
    fn check_rows(&self, costs: &[f64], rows: usize, needed: usize) -> Result<usize, DrawError> {
        // No rows fit no costs, whatever the number of candidates.
        let n = costs.len().checked_div(rows).unwrap_or(1);
        if n == 0 || n * rows != costs.len() {
            return Err(DrawError::Candidates {
                costs: costs.len(),
                rows,
            });
        }
        if let Some(index) = self.refused(costs) {
            return Err(DrawError::Cost(index));
        }
        let finite = |row: &[f64]| row.iter().filter(|cost| **cost < f64::INFINITY).count();
        let short = costs.chunks_exact(n).position(|row| finite(row) < needed);
        short.map_or(Ok(n), |row| Err(DrawError::TooFewFinite { row, needed }))
    }

    /// Room to work in, for one thread. `again` says that the same rows come again: their thresholds are then kept.
    pub fn selector(&self, again: bool) -> Selector<'_> {
        Selector::new(Cow::Borrowed(&self.levels), again, 1)
    }

    /// Room to work in, for one thread that selects `k` ≥ 1 candidates from every row of one fill.
    pub fn top_selector(&self, k: usize) -> Selector<'_> {
        let k = k.max(1) as u64;
        let levels = self.levels.shared(k);
        Selector::new(Cow::Owned(levels), false, k)
    }
}
