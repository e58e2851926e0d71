//! Differentially private selection of one of finitely many candidates: a lower cost is better.

mod decay;
mod flips;
mod levels;
mod partitions;
mod rounds;
mod row;
mod stair;
mod thresholds;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::error::{DrawError, ParamError};
use crate::memory::{self, OutOfMemory};
use crate::reveal;
use crate::stream::{CHUNK, Fill, Generator, Words};
pub(crate) use flips::Bits;
use flips::{Coins, Consecutive, Flips};
use levels::Levels;
pub use partitions::PartitionSelection;
use rounds::{Once, Rounds, Rows};
use row::Row;
use thresholds::RowThresholds;

/// What a [`Selector`] keeps of rows has at most this many words: 32 MiB.
const MOST_KEPT: usize = 1 << 22;

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
    draw: Draw,
}

/// How a candidate is drawn by the weights.
#[derive(Clone, Copy, Debug)]
enum Draw {
    /// P(i) = w_i/Σw.
    Proportional,
    /// A coin of probability w_i for every candidate, and one of those whose coin fell heads.
    Flips,
}

impl Selection {
    /// The staircase mechanism on a finite set: P(i) = w_i/Σw, w = e^(−εJ/2), J = 0 for c < γΔ and ⌊c/Δ − γ⌋ + 1 otherwise, computed exactly; costs are ≥ 0.
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
        Ok(Self {
            levels,
            draw: Draw::Proportional,
        })
    }

    /// The exponential mechanism: P(i) = w_i/Σw, w = e^(−εc/(2Δ)), or e^(−εc/Δ) if `monotonic`; the promises are those of [`Selection::staircase`].
    ///
    /// # Errors
    /// [`ParamError`], which names the parameter, the rule and the value.
    pub fn exponential(eps: f64, sensitivity: f64, monotonic: bool) -> Result<Self, ParamError> {
        check(eps, sensitivity)?;
        let levels = Levels::exponential(eps, sensitivity, monotonic);
        Ok(Self {
            levels,
            draw: Draw::Proportional,
        })
    }

    /// Permute-and-flip (McKenna and Sheldon 2020): candidates in a uniformly random order, the first accepted with probability
    /// e^(−ε(c − c_min)/(2Δ)) each, or e^(−ε(c − c_min)/Δ) if `monotonic`; the promises are those of [`Selection::staircase`].
    ///
    /// # Errors
    /// [`ParamError`], which names the parameter, the rule and the value.
    pub fn permute_and_flip(eps: f64, sensitivity: f64, monotonic: bool) -> Result<Self, ParamError> {
        let draw = Draw::Flips;
        Self::exponential(eps, sensitivity, monotonic).map(|mechanism| Self { draw, ..mechanism })
    }

    /// ε, as given.
    pub fn eps(&self) -> f64 {
        self.levels.eps
    }

    /// The stair J of a cost ≥ 0, at most 2⁶³ − 1; `None` for the mechanisms without stairs.
    pub fn stair(&self, cost: f64) -> Option<u64> {
        self.levels.stair(cost)
    }

    /// The position of the first cost that is NaN, −∞, or negative where it must not be.
    pub fn refused(&self, costs: &[f64]) -> Option<usize> {
        let least = if self.levels.allows_negative() { f64::MIN } else { 0.0 };
        // A NaN fails the comparison.
        let good = |cost: &f64| *cost >= least;
        // In parts: the compiler does not vectorise a loop that may end at any element.
        let part = 1024;
        let bad = costs
            .chunks(part)
            .position(|costs| !costs.iter().fold(true, |all, cost| all & good(cost)))?;
        let first = bad * part;
        costs[first..].iter().position(|cost| !good(cost)).map(|i| first + i)
    }

    /// Whether any of the costs is infinite.
    pub fn has_infinite(costs: &[f64]) -> bool {
        costs.iter().fold(false, |any, cost| any | (*cost == f64::INFINITY))
    }

    /// Words that a selection from `candidates` takes, one after the other.
    pub fn words(&self, candidates: usize) -> u64 {
        match self.draw {
            Draw::Proportional => 1,
            Draw::Flips => flips::words(candidates),
        }
    }

    /// What a selection costs in time, in units of a value of noise. `again` as for [`Selection::selector`].
    pub fn price(&self, candidates: usize, again: bool) -> usize {
        match (self.draw, again) {
            (Draw::Proportional, true) => 1,
            (Draw::Flips, true) => candidates.div_ceil(4),
            (_, false) => candidates,
        }
    }

    /// Selects once from each of `out.len()` rows of equally many candidates: `out[i]` is an index into row i.
    ///
    /// # Errors
    /// [`DrawError`]: a generator with a seed ([`DrawError::Seeded`]), costs that are no costs or not as many in every row, an exhausted generator, no
    /// memory. Then nothing was drawn and `out` is as it was, unless memory ran out on the way.
    pub fn select(&self, generator: &mut Generator, costs: &[f64], out: &mut [i64]) -> Result<(), DrawError> {
        generator.check_release()?;
        let n = self.check_rows(costs, out.len(), 1)?;
        let fill = generator.next_wide(out.len(), self.words(n))?;
        Ok(self.selector(false).write(&fill, 0, costs.chunks_exact(n), out)?)
    }

    /// Selects `out.len()` times, independently, from one row.
    ///
    /// # Errors
    /// [`DrawError`]: a generator with a seed ([`DrawError::Seeded`]), costs that are no costs or not as many in every row, an exhausted generator, no
    /// memory. Then nothing was drawn and `out` is as it was, unless memory ran out on the way.
    pub fn select_often(&self, generator: &mut Generator, costs: &[f64], out: &mut [i64]) -> Result<(), DrawError> {
        generator.check_release()?;
        let n = self.check_rows(costs, 1, 1)?;
        let fill = generator.next_wide(out.len(), self.words(n))?;
        Ok(self.selector(true).write(&fill, 0, std::iter::repeat(costs), out)?)
    }

    /// Selects `k` different candidates, best first, from each of `out.len()`/k rows: one after the other, each with an exact k-th of ε from those that
    /// are left. All k together are ε-differentially private.
    ///
    /// # Errors
    /// As [`Selection::select`], and for a row with fewer than `k` finite costs.
    pub fn top(&self, generator: &mut Generator, costs: &[f64], k: usize, out: &mut [i64]) -> Result<(), DrawError> {
        generator.check_release()?;
        let rows = out.len().checked_div(k).filter(|rows| rows * k == out.len());
        let n = self.check_rows(costs, rows.unwrap_or(0), k.max(1))?;
        let fill = generator.next_wide(out.len(), self.words(n))?;
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
        Selector::new(Cow::Borrowed(&self.levels), self.draw, again, 1)
    }

    /// Room to work in, for one thread that selects `k` ≥ 1 candidates from every row of one fill.
    pub fn top_selector(&self, k: usize) -> Selector<'_> {
        let k = k.max(1);
        let levels = self.levels.shared(k as u64);
        Selector::new(Cow::Owned(levels), self.draw, false, k)
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

/// Selects from rows in pieces; made by [`Selection::selector`] or [`Selection::top_selector`].
#[derive(Debug)]
pub struct Selector<'a> {
    levels: Cow<'a, Levels>,
    engine: Engine,
    /// The row that [`Selector::write_top`] was in the middle of.
    rounds: Rounds,
}

/// What draws by the weights, with room to work in and what it keeps of rows.
#[derive(Debug)]
enum Engine {
    Proportional(Row, Option<Kept<RowThresholds>>),
    Flips(Flips, Option<Kept<Coins>>),
}

impl<'a> Selector<'a> {
    fn new(levels: Cow<'a, Levels>, draw: Draw, again: bool, k: usize) -> Self {
        let engine = match draw {
            Draw::Proportional => Engine::Proportional(Row::new(), again.then(Kept::default)),
            Draw::Flips => Engine::Flips(Flips::new(), again.then(Kept::default)),
        };
        Self {
            levels,
            engine,
            rounds: Rounds::of(k),
        }
    }

    /// The values `first .. first + out.len()` of a fill, one for each of the `rows`, which are equally long, have a finite cost and only costs that are
    /// not [refused](Selection::refused). Rows that begin at the same place must be the same, for as long as this selector is used.
    ///
    /// # Errors
    /// [`OutOfMemory`]; then some of `out` may have been written.
    pub fn write<'c>(
        &mut self,
        fill: &Fill,
        first: u64,
        rows: impl Iterator<Item = &'c [f64]>,
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        self.draw(fill, first, &mut Once::of(rows), out)
    }

    /// The values `first .. first + out.len()` of a fill for a [`Selection::top_selector`]: value i·k + r is candidate r of the `k` from `row(i)`, the
    /// best first. Rows have at least `k` finite costs.
    ///
    /// # Errors
    /// [`OutOfMemory`]; then some of `out` may have been written.
    pub fn write_top<'c>(
        &mut self,
        fill: &Fill,
        first: u64,
        row: impl Fn(usize) -> &'c [f64],
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        let mut rounds = std::mem::replace(&mut self.rounds, Rounds::of(1));
        let result = self.draw_rounds(fill, first, &mut rounds, row, out);
        self.rounds = rounds;
        result
    }

    fn draw_rounds<'c>(
        &mut self,
        fill: &Fill,
        first: u64,
        rounds: &mut Rounds,
        row: impl Fn(usize) -> &'c [f64],
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        // A part that begins within a row needs what was taken from it: the rounds before are drawn again, unless the last part ended here.
        let ahead = rounds.ahead(first);
        if ahead > 0 {
            let mut earlier = memory::filled(0, ahead)?;
            let begin = first - ahead as u64;
            self.draw(fill, begin, &mut rounds.over(begin, &row), &mut earlier)?;
        }
        self.draw(fill, first, &mut rounds.over(first, &row), out)
    }

    fn draw(&mut self, fill: &Fill, first: u64, rows: &mut impl Rows, out: &mut [i64]) -> Result<(), OutOfMemory> {
        if matches!(self.engine, Engine::Flips(..)) {
            return self.draw_flips(fill, first, rows, out);
        }
        let (stage, mut words) = (fill.stage(), Words::new());
        for (chunk, out) in out.chunks_mut(CHUNK).enumerate() {
            let first = first + (chunk * CHUNK) as u64;
            let words = words.at(stage, first, out.len());
            for (i, place) in out.iter_mut().enumerate() {
                let Some(costs) = rows.costs()? else { return Ok(()) };
                let index = self.index(costs, words[i], |e| stage.extension(first + i as u64, e))?;
                rows.selected(index);
                *place = reveal::found(index as u64).cast_signed();
            }
        }
        Ok(())
    }

    fn draw_flips(&mut self, fill: &Fill, first: u64, rows: &mut impl Rows, out: &mut [i64]) -> Result<(), OutOfMemory> {
        let (first, len) = (fill.start() + first, out.len() as u64);
        let mut bits = None;
        for (value, place) in (first..).zip(out) {
            let Some(costs) = rows.costs()? else { return Ok(()) };
            // Rows are equally long, so selections lie one after the other.
            let words = flips::words(costs.len());
            let bits = bits.get_or_insert_with(|| Consecutive::new(fill, (first + len) * words));
            let index = self.flip(costs, bits, value * words)?;
            rows.selected(index);
            *place = reveal::found(index as u64).cast_signed();
        }
        Ok(())
    }

    /// The function of the contract from words to a candidate, for permute-and-flip; the words of the selection begin at `first`.
    pub(crate) fn flip(&mut self, costs: &[f64], bits: &mut impl Bits, first: u64) -> Result<usize, OutOfMemory> {
        let Engine::Flips(flips, kept) = &mut self.engine else {
            return Ok(0);
        };
        let levels = &*self.levels;
        let Some(kept) = kept else {
            return flips.index(levels, costs, None, bits, first);
        };
        let coins = kept.of(costs, || flips.coins(levels, costs), Coins::len)?;
        flips.index(levels, costs, Some(coins), bits, first)
    }

    /// The function of the contract from a word and extension words to a candidate, for the other mechanisms.
    pub(crate) fn index(
        &mut self,
        costs: &[f64],
        word: u64,
        mut extension: impl FnMut(usize) -> u64,
    ) -> Result<usize, OutOfMemory> {
        let Engine::Proportional(row, kept) = &mut self.engine else {
            return Ok(0);
        };
        let levels = &*self.levels;
        // The work depends on the candidate, and the candidate is released.
        let word = reveal::word(word);
        let mut extension = |e| reveal::word(extension(e));
        if let Some(kept) = kept {
            let thresholds = kept.of(costs, || RowThresholds::new(levels, costs, row), RowThresholds::len)?;
            return thresholds.index(levels, costs, word, extension);
        }
        match row.index(levels, costs, word)? {
            Some(index) => Ok(index),
            None => exact_index(levels, costs, word, &mut extension),
        }
    }
}

/// What is kept of rows that come again, by the address of their costs.
#[derive(Debug)]
struct Kept<T> {
    rows: Vec<T>,
    number: HashMap<usize, usize>,
    /// Address and number of the row used last, which often comes next.
    last: Option<(usize, usize)>,
    /// Words of memory.
    size: usize,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            number: HashMap::new(),
            last: None,
            size: 0,
        }
    }
}

impl<T> Kept<T> {
    fn of(
        &mut self,
        costs: &[f64],
        make: impl FnOnce() -> Result<T, OutOfMemory>,
        size: impl Fn(&T) -> usize,
    ) -> Result<&T, OutOfMemory> {
        let address = costs.as_ptr().addr();
        let last = self.last.filter(|(last, _)| *last == address).map(|(_, number)| number);
        let number = if let Some(number) = last.or_else(|| self.number.get(&address).copied()) {
            number
        } else {
            let row = make()?;
            let size = size(&row);
            self.keep(address, row, size)?
        };
        self.last = Some((address, number));
        Ok(&self.rows[number])
    }

    fn keep(&mut self, address: usize, row: T, size: usize) -> Result<usize, OutOfMemory> {
        if self.size + size > MOST_KEPT {
            *self = Self::default();
        }
        let number = self.rows.len();
        // Reserved first: `insert` would abort where memory runs out.
        self.number.try_reserve(1).map_err(|_| OutOfMemory)?;
        memory::push(&mut self.rows, row)?;
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

    /// Evidence: equality with the same row without the candidates of infinite cost; words everywhere and about the ends.
    #[test]
    fn candidates_of_infinite_cost_are_as_good_as_absent() {
        let mut random = Random(8);
        for case in 0..300 {
            let mechanism = if case % 2 == 0 {
                Selection::exponential(random.power(1e-3, 30.0), 1.0, false)
            } else {
                Selection::staircase(random.power(1e-3, 30.0), 1.0, 1.0 - random.next(), false)
            }
            .unwrap();
            let costs: Vec<f64> = (0..=case % 90)
                .map(|_| {
                    if random.next() < 0.5 {
                        f64::INFINITY
                    } else {
                        9.0 * random.next()
                    }
                })
                .chain([2.0])
                .collect();
            let finite: Vec<usize> = (0..costs.len()).filter(|&i| costs[i] < f64::INFINITY).collect();
            let dense: Vec<f64> = finite.iter().map(|&i| costs[i]).collect();
            for word in [0, 1, u64::MAX, (random.next() * 1.8e19) as u64, (random.next() * 1e6) as u64] {
                let extension = |e| if word == 0 && e < 2 { 0 } else { 77 };
                assert_eq!(
                    select(&mechanism, &costs, word, extension),
                    finite[select(&mechanism, &dense, word, extension)]
                );
            }
            assert_eq!(select(&mechanism, &costs, 0, |_| 0), costs.len() - 1);
        }
    }

    /// Evidence: equality with the exact path, value by value.
    #[test]
    fn rows_in_a_fill_are_drawn_one_by_one() {
        let mechanism = Selection::staircase(2.0, 1.0, 0.5, false).unwrap();
        let mut random = Random(5);
        let costs: Vec<f64> = (0..3000).map(|_| 6.0 * random.next()).collect();
        let mut generator = Generator::from_seed(9).allow_release();
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
        for bad in [f64::NAN, f64::NEG_INFINITY] {
            for i in [0, 1, 1023, 1024, 2047, 2048, 2999] {
                let mut costs = vec![1.0; 3000];
                costs[i] = bad;
                assert_eq!(staircase.refused(&costs), Some(i));
                assert_eq!(exponential.refused(&costs), Some(i));
            }
        }
        assert_eq!(staircase.refused(&[0.0, -0.0, f64::MAX, 5e-324, f64::INFINITY]), None);
        assert_eq!(staircase.refused(&[0.0, -5e-324]), Some(1));
        assert_eq!(exponential.refused(&[f64::MIN, f64::MAX]), None);
        let mut generator = Generator::from_seed(1).allow_release();
        let mut out = [7; 2];
        for costs in [&[][..], &[1.0, 2.0, 3.0]] {
            let error = staircase.select(&mut generator, costs, &mut out).unwrap_err();
            assert!(matches!(error, DrawError::Candidates { .. }), "{error}");
        }
        let error = staircase.select(&mut generator, &[1.0, -1.0], &mut out).unwrap_err();
        assert_eq!(error, DrawError::Cost(1));
        assert!(staircase.select_often(&mut generator, &[], &mut out).is_err());
        let never = [1.0, f64::INFINITY, f64::INFINITY, f64::INFINITY];
        for mechanism in [
            &staircase,
            &exponential,
            &Selection::permute_and_flip(1.0, 1.0, false).unwrap(),
        ] {
            let error = mechanism.select(&mut generator, &never, &mut out).unwrap_err();
            assert_eq!(error, DrawError::TooFewFinite { row: 1, needed: 1 });
            let error = mechanism.top(&mut generator, &never, 2, &mut out).unwrap_err();
            assert_eq!(error, DrawError::TooFewFinite { row: 0, needed: 2 });
            for k in [0, 3] {
                let error = mechanism.top(&mut generator, &never, k, &mut out).unwrap_err();
                assert!(matches!(error, DrawError::Candidates { .. }), "{error}");
            }
        }
        let mut seeded = Generator::from_seed(1);
        assert_eq!(staircase.select(&mut seeded, &[1.0, 2.0], &mut out), Err(DrawError::Seeded));
        assert_eq!(staircase.select_often(&mut seeded, &[1.0], &mut out), Err(DrawError::Seeded));
        assert_eq!(staircase.top(&mut seeded, &[1.0, 2.0], 2, &mut out), Err(DrawError::Seeded));
        assert_eq!((out, generator.next_fill(), seeded.next_fill()), ([7; 2], 0, 0));
        for bad in [f64::NAN, f64::INFINITY, 0.0, -0.0, -1.0] {
            assert!(matches!(Selection::staircase(bad, 1.0, 0.5, false), Err(ParamError::Eps(_))));
            assert!(matches!(
                Selection::staircase(1.0, bad, 0.5, false),
                Err(ParamError::Sensitivity(_))
            ));
            assert!(matches!(Selection::exponential(bad, 1.0, false), Err(ParamError::Eps(_))));
            assert!(matches!(
                Selection::permute_and_flip(1.0, bad, false),
                Err(ParamError::Sensitivity(_))
            ));
            assert!(matches!(
                Selection::staircase(1.0, 1.0, bad, false),
                Err(ParamError::Gamma(_))
            ));
        }
        assert!(Selection::staircase(1.0, 1.0, 1.0_f64.next_up(), false).is_err());
    }
}
