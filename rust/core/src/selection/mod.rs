//! Differentially private selection of one of finitely many candidates: a lower cost is better.

mod decay;
mod levels;
mod partitions;
mod row;
mod stair;
mod thresholds;

use std::collections::HashMap;

use crate::error::{DrawError, ParamError};
use crate::memory::{self, OutOfMemory};
use crate::reveal;
use crate::stream::{CHUNK, Fill, Generator, Words};
use levels::Levels;
pub use partitions::PartitionSelection;
use row::Row;
use thresholds::RowThresholds;

/// The thresholds that a [`Selector`] keeps have at most this many words: 32 MiB.
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
        // A NaN fails both comparisons.
        let good = |cost: &f64| *cost >= least && *cost <= f64::MAX;
        // In parts: the compiler does not vectorise a loop that may end at any element.
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
        // No rows fit no costs, whatever the number of candidates.
        let n = costs.len().checked_div(out.len()).unwrap_or(1);
        if n == 0 || n * out.len() != costs.len() {
            return Err(DrawError::Candidates {
                costs: costs.len(),
                rows: out.len(),
            });
        }
        self.check_costs(costs)?;
        let fill = generator.next(out.len())?;
        Ok(self.selector(false).write(&fill, 0, costs.chunks_exact(n), out)?)
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
        Ok(self.selector(true).write(&fill, 0, std::iter::repeat(costs), out)?)
    }

    fn check_costs(&self, costs: &[f64]) -> Result<(), DrawError> {
        self.refused(costs).map_or(Ok(()), |index| Err(DrawError::Cost(index)))
    }

    /// Room to work in, for one thread. `again` says that the same rows come again: their thresholds are then kept.
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
    ///
    /// # Errors
    /// [`OutOfMemory`]; then some of `out` may have been written.
    pub fn write<'c>(
        &mut self,
        fill: &Fill,
        first: u64,
        mut rows: impl Iterator<Item = &'c [f64]>,
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        let (stage, mut words) = (fill.stage(), Words::new());
        for (chunk, out) in out.chunks_mut(CHUNK).enumerate() {
            let first = first + (chunk * CHUNK) as u64;
            let words = words.at(stage, first, out.len());
            for (i, place) in out.iter_mut().enumerate() {
                let Some(costs) = rows.next() else { return Ok(()) };
                let index = self.index(costs, words[i], |e| stage.extension(first + i as u64, e))?;
                *place = reveal::found(index as u64).cast_signed();
            }
        }
        Ok(())
    }

    /// The function of the contract from a word and extension words to a candidate.
    pub(crate) fn index(
        &mut self,
        costs: &[f64],
        word: u64,
        mut extension: impl FnMut(usize) -> u64,
    ) -> Result<usize, OutOfMemory> {
        // The work depends on the candidate, and the candidate is released.
        let word = reveal::word(word);
        let mut extension = |e| reveal::word(extension(e));
        if let Some(kept) = &mut self.kept {
            let thresholds = kept.of(self.levels, costs, &mut self.row)?;
            return thresholds.index(self.levels, costs, word, extension);
        }
        match self.row.index(self.levels, costs, word)? {
            Some(index) => Ok(index),
            None => exact_index(self.levels, costs, word, &mut extension),
        }
    }
}

/// Thresholds of rows that come again, by the address of their costs.
#[derive(Debug, Default)]
struct Kept {
    thresholds: Vec<RowThresholds>,
    number: HashMap<usize, usize>,
    /// Address and number of the row used last, which often comes next.
    last: Option<(usize, usize)>,
    /// Words of memory.
    size: usize,
}

impl Kept {
    fn of(&mut self, levels: &Levels, costs: &[f64], row: &mut Row) -> Result<&RowThresholds, OutOfMemory> {
        let address = costs.as_ptr().addr();
        let number = match self.last {
            Some((last, number)) if last == address => number,
            _ => match self.number.get(&address) {
                Some(&number) => number,
                None => self.keep(address, RowThresholds::new(levels, costs, row)?)?,
            },
        };
        self.last = Some((address, number));
        Ok(&self.thresholds[number])
    }

    fn keep(&mut self, address: usize, thresholds: RowThresholds) -> Result<usize, OutOfMemory> {
        if self.size + thresholds.len() > MOST_KEPT {
            *self = Self::default();
        }
        let (number, size) = (self.thresholds.len(), thresholds.len());
        // Reserved first: `insert` would abort where memory runs out.
        self.number.try_reserve(1).map_err(|_| OutOfMemory)?;
        memory::push(&mut self.thresholds, thresholds)?;
        self.number.insert(address, number);
        self.size += size;
        Ok(number)
    }
}

#[cold]
fn exact_index(
    levels: &Levels,
    costs: &[f64],
    word: u64,
    extension: &mut impl FnMut(usize) -> u64,
) -> Result<usize, OutOfMemory> {
    reveal::slow_path();
    // Without a guess the search begins in the middle.
    levels.choice(costs)?.index(word, extension, costs.len() / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The candidate for forced words, three times: fast path first, thresholds first, and the exact path alone.
    fn select(mechanism: &Selection, costs: &[f64], word: u64, extension: impl Fn(usize) -> u64) -> usize {
        let index = mechanism.selector(false).index(costs, word, &extension).unwrap();
        let again = mechanism.selector(true).index(costs, word, &extension).unwrap();
        let choice = mechanism.levels.choice(costs).unwrap();
        let exact = choice.index(word, &mut |e| extension(e), 0).unwrap();
        assert_eq!((index, again), (exact, exact), "{mechanism:?} {costs:?} {word:x}");
        exact
    }

    /// Evidence: exhaustive over the leading 9 bits of the word, with nothing but zeros and nothing but ones after them, for rows whose
    /// thresholds are rational: S(j) = (n − j)/n by whole numbers. The zeros meet every dyadic threshold exactly.
    #[test]
    fn rows_of_equal_weights_are_uniform_to_the_last_bit() {
        let mechanisms = [
            Selection::staircase(1.0, 1.0, 0.5, false).unwrap(),
            Selection::exponential(1.0, 1.0, true).unwrap(),
        ];
        for mechanism in &mechanisms {
            for n in 1..=16_u64 {
                let equal = vec![4.0; n as usize];
                let in_pairs: Vec<f64> = (0..2 * n).map(|i| (i % 2) as f64).collect();
                for lead in 0..512_u64 {
                    let above = |n: u64| (1..n).filter(|j| lead * n < 512 * (n - j)).count();
                    let below = |n: u64| (1..n).filter(|j| (lead + 1) * n <= 512 * (n - j)).count();
                    let (zeros, ones) = (lead << 55, lead << 55 | ((1 << 55) - 1));
                    assert_eq!(
                        select(mechanism, &equal, zeros, |_| 0),
                        if lead == 0 { n as usize - 1 } else { above(n) }
                    );
                    assert_eq!(select(mechanism, &equal, ones, |_| u64::MAX), below(n));
                    // Every second threshold is that of n equal weights.
                    if lead > 0 {
                        assert_eq!(select(mechanism, &in_pairs, zeros, |_| 0) / 2, above(n));
                    }
                    assert_eq!(select(mechanism, &in_pairs, ones, |_| u64::MAX) / 2, below(n));
                }
            }
        }
    }

    #[test]
    fn no_bits_at_all_select_the_last_candidate() {
        let mechanism = Selection::staircase(1.0, 1.0, 0.5, false).unwrap();
        for costs in [&[0.0, 1e300][..], &[1.0, 1.0, 1.0], &[0.0, 5000.0, 2.0], &[7.0]] {
            assert_eq!(select(&mechanism, costs, 0, |_| 0), costs.len() - 1);
            let late_bit = |e| u64::from(e == 20);
            let tiny = costs[costs.len() - 1] == 1e300;
            assert_eq!(select(&mechanism, costs, 0, late_bit), costs.len() - 1 - usize::from(tiny));
        }
    }

    /// Evidence: the fast path, the thresholds and the exact path agree, word by word, on rows of every length around a block. The words are within
    /// a few units of the thresholds as floating point has them, where each path is in doubt.
    #[test]
    fn all_paths_agree() {
        let mut random = Random(31);
        for n in [1, 2, 3, 7, 8, 9, 63, 64, 65, 129, 300] {
            for case in 0..6 {
                let (eps, gamma) = (random.power(1e-2, 30.0), 1.0 - random.next());
                let mechanism = match case % 3 {
                    0 => Selection::exponential(eps, 1.0, false),
                    1 => Selection::staircase(eps, 1.0, gamma, false),
                    _ => Selection::staircase(eps, 1.0, 1.0, true),
                }
                .unwrap();
                let costs: Vec<f64> = (0..n)
                    .map(|i| {
                        if i % 3 == 0 {
                            (8.0 * random.next()).floor()
                        } else {
                            20.0 * random.next()
                        }
                    })
                    .collect();
                let thresholds = RowThresholds::new(&mechanism.levels, &costs, &mut Row::new()).unwrap();
                for j in (0..n).step_by(1 + n / 9) {
                    for step in [0, 1, 2, 1 << 11, 1 << 20] {
                        let at = thresholds.threshold(j);
                        select(&mechanism, &costs, at.saturating_add(step), |e| e as u64);
                        select(&mechanism, &costs, at.saturating_sub(step), |_| u64::MAX);
                    }
                }
                for _ in 0..20 {
                    select(&mechanism, &costs, (random.next() * 1.8e19) as u64, |_| 1 << 63);
                }
            }
        }
    }

    /// Evidence: equality with the exact path, value by value.
    #[test]
    fn rows_in_a_fill_are_drawn_one_by_one() {
        let mechanism = Selection::staircase(2.0, 1.0, 0.5, false).unwrap();
        let mut random = Random(5);
        let costs: Vec<f64> = (0..3000).map(|_| 6.0 * random.next()).collect();
        let mut generator = Generator::from_seed(9);
        let mut out = vec![0; 1000];
        mechanism.select(&mut generator, &costs, &mut out).unwrap();
        let fill = generator.fill_number(0);
        let stage = fill.stage();
        for (i, row) in costs.chunks(3).enumerate() {
            let index = mechanism
                .levels
                .choice(row)
                .and_then(|choice| choice.index(stage.word(i as u64), &mut |e| stage.extension(i as u64, e), 1));
            assert_eq!(out[i], index.unwrap() as i64);
        }
        let mut often = vec![0; 1000];
        mechanism.select_often(&mut generator, &costs[..3], &mut often).unwrap();
        let fill = generator.fill_number(1);
        let stage = fill.stage();
        let choice = mechanism.levels.choice(&costs[..3]).unwrap();
        for (i, index) in (0..).zip(often) {
            let exact = choice.index(stage.word(i), &mut |e| stage.extension(i, e), 1);
            assert_eq!(index, exact.unwrap() as i64);
        }
    }

    #[test]
    fn thresholds_that_do_not_fit_make_room() {
        let mechanism = Selection::exponential(1.0, 1.0, false).unwrap();
        let rows: Vec<f64> = (0..4_400_000).map(|i| f64::from(i % 1000)).collect();
        assert!(rows.len() > MOST_KEPT);
        let rows: Vec<&[f64]> = rows.chunks(400_000).collect();
        let mut generator = Generator::from_seed(2);
        let fill = generator.next(40).unwrap();
        let (mut again, mut once) = (vec![0; 40], vec![0; 40]);
        mechanism
            .selector(true)
            .write(&fill, 0, rows.iter().copied().cycle(), &mut again)
            .unwrap();
        mechanism
            .selector(false)
            .write(&fill, 0, rows.iter().copied().cycle(), &mut once)
            .unwrap();
        assert_eq!(again, once);
    }

    #[test]
    fn refuses_what_is_no_cost_and_what_is_no_row() {
        let staircase = Selection::staircase(1.0, 1.0, 0.5, false).unwrap();
        let exponential = Selection::exponential(1.0, 1.0, false).unwrap();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for i in [0, 1, 1023, 1024, 2047, 2048, 2999] {
                let mut costs = vec![1.0; 3000];
                costs[i] = bad;
                assert_eq!(staircase.refused(&costs), Some(i));
                assert_eq!(exponential.refused(&costs), Some(i));
            }
        }
        assert_eq!(staircase.refused(&[0.0, -0.0, f64::MAX, 5e-324]), None);
        assert_eq!(staircase.refused(&[0.0, -5e-324]), Some(1));
        assert_eq!(exponential.refused(&[f64::MIN, f64::MAX]), None);
        let mut generator = Generator::from_seed(1);
        let mut out = [7; 2];
        for costs in [&[][..], &[1.0, 2.0, 3.0]] {
            let error = staircase.select(&mut generator, costs, &mut out).unwrap_err();
            assert!(matches!(error, DrawError::Candidates { .. }), "{error}");
        }
        let error = staircase.select(&mut generator, &[1.0, -1.0], &mut out).unwrap_err();
        assert_eq!(error, DrawError::Cost(1));
        assert!(staircase.select_often(&mut generator, &[], &mut out).is_err());
        assert_eq!((out, generator.next_fill()), ([7; 2], 0));
        for bad in [f64::NAN, f64::INFINITY, 0.0, -0.0, -1.0] {
            assert!(matches!(Selection::staircase(bad, 1.0, 0.5, false), Err(ParamError::Eps(_))));
            assert!(matches!(
                Selection::staircase(1.0, bad, 0.5, false),
                Err(ParamError::Sensitivity(_))
            ));
            assert!(matches!(Selection::exponential(bad, 1.0, false), Err(ParamError::Eps(_))));
            assert!(matches!(
                Selection::staircase(1.0, 1.0, bad, false),
                Err(ParamError::Gamma(_))
            ));
        }
        assert!(Selection::staircase(1.0, 1.0, 1.0_f64.next_up(), false).is_err());
    }
}
