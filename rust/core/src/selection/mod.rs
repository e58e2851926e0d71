//! Differentially private selection: one of finitely many candidates, the better the lower its cost.

mod decay;
mod levels;
mod row;
mod stair;
mod thresholds;

use std::collections::HashMap;

use crate::error::{DrawError, ParamError};
use crate::stream::{CHUNK, Fill, Generator};
use levels::Levels;
use row::Row;
use thresholds::Thresholds;

/// Words of memory that the thresholds of several rows may take in a [`Selector`]: 32 MiB.
const MOST_KEPT: usize = 1 << 22;

/// A mechanism that selects one of n candidates: P(i) = w_i/Σw, exactly, for the `f64`s as they are (docs/contract.md, selection).
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
    /// The staircase mechanism on a finite set: w = e^(−εJ/2), J = 0 for c < γΔ and ⌊c/Δ − γ⌋ + 1 otherwise, computed exactly; costs are ≥ 0.
    ///
    /// ε-differentially private where one person changes every cost by at most Δ. `monotonic` promises that no two costs then move in opposite
    /// directions, and takes w = e^(−εJ).
    ///
    /// # Errors
    /// [`ParamError`], which names the parameter, the rule and the value.
    pub fn staircase(eps: f64, sensitivity: f64, gamma: f64, monotonic: bool) -> Result<Self, ParamError> {
        check(eps, sensitivity)?;
        if !(gamma > 0.0 && gamma <= 1.0) {
            return Err(ParamError::Gamma(gamma));
        }
        let levels = Levels::staircase(eps, sensitivity, gamma, monotonic);
        Ok(Self { levels })
    }

    /// The exponential mechanism: w = e^(−εc/(2Δ)), or e^(−εc/Δ) if `monotonic`; the promises are those of [`Selection::staircase`].
    ///
    /// # Errors
    /// [`ParamError`], which names the parameter, the rule and the value.
    pub fn exponential(eps: f64, sensitivity: f64, monotonic: bool) -> Result<Self, ParamError> {
        check(eps, sensitivity)?;
        let levels = Levels::exponential(eps, sensitivity, monotonic);
        Ok(Self { levels })
    }

    /// ε, as given.
    pub fn eps(&self) -> f64 {
        self.levels.eps
    }

    /// The stair J of a finite cost ≥ 0, at most 2⁶³ − 1; `None` for the exponential mechanism, which has no stairs.
    pub fn stair(&self, cost: f64) -> Option<u64> {
        self.levels.stair(cost)
    }

    /// The position of the first cost that is not finite, or negative where it must not be.
    pub fn refused(&self, costs: &[f64]) -> Option<usize> {
        let least = if self.levels.allows_negative() { f64::MIN } else { 0.0 };
        let good = |cost: &f64| *cost >= least && *cost <= f64::MAX;
        // Parts, because a loop that may end anywhere is not vectorised.
        let part = 1024;
        let bad = costs
            .chunks(part)
            .position(|costs| !costs.iter().fold(true, |all, cost| all & good(cost)))?;
        let first = bad * part;
        costs[first..].iter().position(|cost| !good(cost)).map(|i| first + i)
    }

    /// Selects once from each of `out.len()` rows of equally many candidates: `out[i]` is an index into row i.
    ///
    /// # Errors
    /// [`DrawError`]; then nothing was drawn and `out` is as it was.
    pub fn select(&self, generator: &mut Generator, costs: &[f64], out: &mut [i64]) -> Result<(), DrawError> {
        let n = costs.len().checked_div(out.len()).unwrap_or(1);
        if n == 0 || n * out.len() != costs.len() {
            return Err(DrawError::Candidates {
                costs: costs.len(),
                rows: out.len(),
            });
        }
        self.check_costs(costs)?;
        let fill = generator.next(out.len())?;
        self.selector(false).write(&fill, 0, costs.chunks_exact(n), out);
        Ok(())
    }

    /// Selects `out.len()` times, independently, from one row.
    ///
    /// # Errors
    /// [`DrawError`]; then nothing was drawn and `out` is as it was.
    pub fn select_often(&self, generator: &mut Generator, costs: &[f64], out: &mut [i64]) -> Result<(), DrawError> {
        if costs.is_empty() {
            return Err(DrawError::Candidates { costs: 0, rows: 1 });
        }
        self.check_costs(costs)?;
        let fill = generator.next(out.len())?;
        self.selector(true).write(&fill, 0, std::iter::repeat(costs), out);
        Ok(())
    }

    fn check_costs(&self, costs: &[f64]) -> Result<(), DrawError> {
        self.refused(costs).map_or(Ok(()), |index| Err(DrawError::Cost(index)))
    }

    /// Room to work in, for one thread. `again` tells that the same rows will come again, so that it pays to keep their thresholds.
    pub fn selector(&self, again: bool) -> Selector<'_> {
        Selector {
            levels: &self.levels,
            row: Row::new(),
            kept: again.then(Kept::default),
        }
    }
}

fn check(eps: f64, sensitivity: f64) -> Result<(), ParamError> {
    let positive = |x: f64| x > 0.0 && x < f64::INFINITY;
    if !positive(eps) {
        return Err(ParamError::Eps(eps));
    }
    positive(sensitivity)
        .then_some(())
        .ok_or(ParamError::Sensitivity(sensitivity))
}

/// Selects from rows in pieces; made by [`Selection::selector`].
#[derive(Debug)]
pub struct Selector<'a> {
    levels: &'a Levels,
    row: Row,
    kept: Option<Kept>,
}

impl Selector<'_> {
    /// The values `first .. first + out.len()` of a fill, one for each of the `rows`, which have candidates and only costs that are not
    /// [refused](Selection::refused). Rows that begin at the same place must be the same, for as long as this selector is used.
    pub fn write<'c>(&mut self, fill: &Fill, first: u64, mut rows: impl Iterator<Item = &'c [f64]>, out: &mut [i64]) {
        let mut words = fill.words();
        for (chunk, out) in out.chunks_mut(CHUNK).enumerate() {
            let first = first + (chunk * CHUNK) as u64;
            let words = words.at(first, out.len());
            for (i, place) in out.iter_mut().enumerate() {
                let Some(costs) = rows.next() else { return };
                *place = self.index(costs, words[i], |e| fill.extension(first + i as u64, e)) as i64;
            }
        }
    }

    /// The function of the contract from a word and extension words to a candidate.
    fn index(&mut self, costs: &[f64], word: u64, mut extension: impl FnMut(usize) -> u64) -> usize {
        if let Some(kept) = &mut self.kept {
            let thresholds = kept.of(self.levels, costs, &mut self.row);
            return thresholds.index(self.levels, costs, word, extension);
        }
        let index = self.row.index(self.levels, costs, word);
        index.unwrap_or_else(|| exact_index(self.levels, costs, word, &mut extension))
    }
}

/// Thresholds of rows that come again, by the address of their costs.
#[derive(Debug, Default)]
struct Kept {
    thresholds: Vec<Thresholds>,
    number: HashMap<usize, usize>,
    /// Address and number of the row used last, which often comes next.
    last: Option<(usize, usize)>,
    /// Words of memory.
    size: usize,
}

impl Kept {
    fn of(&mut self, levels: &Levels, costs: &[f64], row: &mut Row) -> &Thresholds {
        let address = costs.as_ptr().addr();
        let number = match self.last {
            Some((last, number)) if last == address => number,
            _ => match self.number.get(&address) {
                Some(&number) => number,
                None => self.keep(address, Thresholds::new(levels, costs, row)),
            },
        };
        self.last = Some((address, number));
        &self.thresholds[number]
    }

    fn keep(&mut self, address: usize, thresholds: Thresholds) -> usize {
        if self.size + thresholds.len() > MOST_KEPT {
            *self = Self::default();
        }
        self.size += thresholds.len();
        self.thresholds.push(thresholds);
        let number = self.thresholds.len() - 1;
        self.number.insert(address, number);
        number
    }
}

#[cold]
fn exact_index(levels: &Levels, costs: &[f64], word: u64, extension: &mut impl FnMut(usize) -> u64) -> usize {
    levels.choice(costs).index(word, extension, costs.len() / 2)
}
