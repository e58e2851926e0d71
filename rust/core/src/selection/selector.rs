//! Selections in pieces: what draws, with room to work in.

use std::borrow::Cow;

use super::candidates::Candidates;
use super::kept::Kept;
use super::levels::Levels;
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
    /// How many candidates [`Selector::write_top`] selects from a row, and which value comes next.
    k: u64,
    next: u64,
    /// The costs of its row; infinite for candidates that have been taken.
    left: Vec<f64>,
}

impl<'a> Selector<'a> {
    pub(super) fn new(levels: Cow<'a, Levels>, again: bool, k: u64) -> Self {
        Self {
            levels,
            row: Row::new(),
            kept: again.then(Kept::default),
            k,
            next: 0,
            left: Vec::new(),
        }
    }

    /// The values `first .. first + out.len()` of a fill, one for each of the `rows`, which are equally long, have a finite cost and only costs that
    /// are not [refused](super::Selection::refused). Rows that begin at the same place must be the same, for as long as this selector is used.
    pub fn write<'c>(
        &mut self,
        fill: &Fill,
        first: u64,
        rows: impl Iterator<Item = &'c [f64]>,
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        self.write_rows(fill, first, rows.map(Candidates::from), out)
    }

    /// The same for costs and how many candidates each of them stands for: whole numbers ≥ 1, below 2⁵³ together. Not for permute-and-flip, of
    /// which rows repeat the cost.
    pub fn write_multiplied<'c>(
        &mut self,
        fill: &Fill,
        first: u64,
        rows: impl Iterator<Item = (&'c [f64], &'c [f64])>,
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        let rows = rows.map(|(costs, multiplicities)| Candidates { costs, multiplicities });
        self.write_rows(fill, first, rows, out)
    }

    fn write_rows<'c>(
        &mut self,
        fill: &Fill,
        first: u64,
        mut rows: impl Iterator<Item = Candidates<'c>>,
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        let (stage, mut words) = (fill.stage(0), Words::new());
        for (first, out) in (first..).step_by(CHUNK).zip(out.chunks_mut(CHUNK)) {
            let words = words.at(stage, first, out.len());
            for (i, (place, row)) in out.iter_mut().zip(&mut rows).enumerate() {
                let index = self.index(row, words[i], |e| stage.extension(first + i as u64, e))?;
                *place = declassify::found(index as u64).cast_signed();
            }
        }
        Ok(())
    }

    /// The values `first .. first + out.len()` of a fill for a [`Selection::top_selector`](super::Selection::top_selector): value i·k + r is
    /// candidate r of the `k` from `row(i)`, the best first. Rows have at least `k` finite costs.
    pub fn write_top<'c>(
        &mut self,
        fill: &Fill,
        first: u64,
        row: impl Fn(usize) -> &'c [f64],
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        // A part that begins within a row needs what was taken from it: the rounds before are drawn again, unless the last part ended here.
        let ahead = if first == self.next { 0 } else { first % self.k };
        let mut earlier = memory::filled(0, ahead as usize)?;
        self.write_rounds(fill, first - ahead, &row, &mut earlier)?;
        self.write_rounds(fill, first, row, out)
    }

    fn write_rounds<'c>(
        &mut self,
        fill: &Fill,
        first: u64,
        row: impl Fn(usize) -> &'c [f64],
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        self.next = first;
        let (stage, mut words) = (fill.stage(0), Words::new());
        for (first, out) in (first..).step_by(CHUNK).zip(out.chunks_mut(CHUNK)) {
            let words = words.at(stage, first, out.len());
            for (i, place) in out.iter_mut().enumerate() {
                if self.next.is_multiple_of(self.k) {
                    // A row whose number has more bits than an address lies in no memory.
                    let costs = row(usize::try_from(self.next / self.k).map_err(|_| OutOfMemory)?);
                    memory::resize(&mut self.left, costs.len())?;
                    self.left.copy_from_slice(costs);
                }
                let left = std::mem::take(&mut self.left);
                let index = self.index((&*left).into(), words[i], |e| stage.extension(first + i as u64, e));
                self.left = left;
                let index = index?;
                self.left[index] = f64::INFINITY;
                self.next += 1;
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
