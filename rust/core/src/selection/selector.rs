//! Selections in pieces: what draws, with room to work in.

use std::borrow::Cow;
use std::marker::PhantomData;

use super::candidates::Candidates;
use super::kept::Kept;
use super::levels::Levels;
use super::rounds::{Once, Rounds, Rows};
use super::row::Row;
use super::thresholds::RowThresholds;
use crate::declassify;
use crate::exact::Extension;
use crate::memory::{self, OutOfMemory};
use crate::stream::{CHUNK, Fill, Words};

/// Selects from rows in pieces; made by [`Selection::selector`](super::Selection::selector) or
/// [`Selection::top_selector`](super::Selection::top_selector).
#[derive(Debug)]
pub struct Selector<'a> {
    levels: Cow<'a, Levels>,
    row: Row,
    kept: Option<Kept>,
    /// The row that [`Selector::write_top`] was in the middle of.
    rounds: Rounds,
}

impl<'a> Selector<'a> {
    pub(super) fn new(levels: Cow<'a, Levels>, again: bool, k: usize) -> Self {
        Self {
            levels,
            row: Row::new(),
            kept: again.then(Kept::default),
            rounds: Rounds::of(k),
        }
    }

    /// The values `first .. first + out.len()` of a fill, one for each of the `rows`, which are equally long, have a finite cost and only costs that
    /// are not [refused](super::Selection::refused). Rows that begin at the same place must be the same, for as long as this selector is used.
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
        self.draw(fill, first, &mut Once(rows.map(Candidates::from), PhantomData), out)
    }

    /// The same for costs and how many candidates each of them stands for: whole numbers ≥ 1, below 2⁵³ together. Not for permute-and-flip, of
    /// which rows repeat the cost.
    ///
    /// # Errors
    /// [`OutOfMemory`]; then some of `out` may have been written.
    pub fn write_multiplied<'c>(
        &mut self,
        fill: &Fill,
        first: u64,
        rows: impl Iterator<Item = (&'c [f64], &'c [f64])>,
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        let rows = rows.map(|(costs, multiplicities)| Candidates { costs, multiplicities });
        self.draw(fill, first, &mut Once(rows, PhantomData), out)
    }

    /// The values `first .. first + out.len()` of a fill for a [`Selection::top_selector`](super::Selection::top_selector): value i·k + r is
    /// candidate r of the `k` from `row(i)`, the best first. Rows have at least `k` finite costs.
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
        // A part that begins within a row needs what was taken from it: the rounds before are drawn again, unless the last part ended here.
        let ahead = rounds.ahead(first);
        let begin = first - ahead as u64;
        let result = memory::filled(0, ahead).and_then(|mut earlier| {
            self.draw(fill, begin, &mut rounds.over(begin, &row), &mut earlier)?;
            self.draw(fill, first, &mut rounds.over(first, &row), out)
        });
        self.rounds = rounds;
        result
    }

    fn draw(&mut self, fill: &Fill, first: u64, rows: &mut impl Rows, out: &mut [i64]) -> Result<(), OutOfMemory> {
        let (stage, mut words) = (fill.stage(), Words::new());
        for (first, out) in (first..).step_by(CHUNK).zip(out.chunks_mut(CHUNK)) {
            let words = words.at(stage, first, out.len());
            for (i, place) in out.iter_mut().enumerate() {
                let Some(row) = rows.next()? else { return Ok(()) };
                let index = self.index(row, words[i], |e| stage.extension(first + i as u64, e))?;
                rows.selected(index);
                *place = declassify::found(index as u64).cast_signed();
            }
        }
        Ok(())
    }

    /// The function of the contract from a word and extension words to a candidate.
    pub(crate) fn index(
        &mut self,
        row: Candidates<'_>,
        word: u64,
        mut extension: impl FnMut(usize) -> u64,
    ) -> Result<usize, OutOfMemory> {
        let (levels, room) = (&*self.levels, &mut self.row);
        // The work depends on the candidate, and the candidate is released.
        let word = declassify::word(word);
        let mut extension = |e| declassify::word(extension(e));
        if let Some(kept) = &mut self.kept {
            let thresholds = kept.of(row.costs, || RowThresholds::new(levels, row, room))?;
            return thresholds.index(levels, row, word, extension);
        }
        match room.index(levels, row, word)? {
            Some(index) => Ok(index),
            None => exact_index(levels, row, word, &mut extension),
        }
    }
}

#[cold]
fn exact_index(levels: &Levels, row: Candidates<'_>, word: u64, extension: &mut Extension<'_>) -> Result<usize, OutOfMemory> {
    declassify::slow_path();
    // There is no guess: the search begins in the middle.
    levels.choice(row)?.index(word, extension, row.costs.len() / 2)
}
