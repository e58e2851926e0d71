//! Which costs a selection reads: those of the next row, or of a row from which some candidates have been taken.

use std::marker::PhantomData;

use super::candidates::Candidates;
use crate::memory::{self, OutOfMemory};

/// One row for every value.
pub(super) trait Rows {
    /// The row of the next value; `None` after the last.
    fn next(&mut self) -> Result<Option<Candidates<'_>>, OutOfMemory>;

    /// What was selected from them.
    fn selected(&mut self, index: usize);
}

/// One selection from each row.
pub(super) struct Once<'c, I>(pub I, pub PhantomData<&'c f64>);

impl<'c, I: Iterator<Item = Candidates<'c>>> Rows for Once<'c, I> {
    fn next(&mut self) -> Result<Option<Candidates<'_>>, OutOfMemory> {
        Ok(self.0.next())
    }

    fn selected(&mut self, _: usize) {}
}

/// Several selections from each row, without replacement.
#[derive(Debug)]
pub(super) struct Rounds {
    of: usize,
    /// The value that comes next.
    next: u64,
    /// The row's costs; infinite for candidates that have been taken.
    left: Vec<f64>,
}

impl Rounds {
    /// `k` rounds for each row.
    pub fn of(k: usize) -> Self {
        Self {
            of: k,
            next: 0,
            left: Vec::new(),
        }
    }

    /// How many values before value `first` belong to its row and have to be drawn again.
    pub fn ahead(&self, first: u64) -> usize {
        if first == self.next {
            0
        } else {
            (first % self.of as u64) as usize
        }
    }

    /// The costs of the values from `first` on.
    pub fn over<F>(&mut self, first: u64, row: F) -> Taking<'_, F> {
        self.next = first;
        Taking { rounds: self, row }
    }
}

/// Rounds over the rows `row(0)`, `row(1)`, …
pub(super) struct Taking<'a, F> {
    rounds: &'a mut Rounds,
    row: F,
}

impl<'c, F: Fn(usize) -> &'c [f64]> Rows for Taking<'_, F> {
    fn next(&mut self) -> Result<Option<Candidates<'_>>, OutOfMemory> {
        let Rounds { of, next, left } = self.rounds;
        let k = *of as u64;
        if next.is_multiple_of(k) {
            // A row whose number has more bits than an address lies in no memory.
            let place = usize::try_from(*next / k).map_err(|_| OutOfMemory)?;
            let costs = (self.row)(place);
            memory::resize(left, costs.len())?;
            left.copy_from_slice(costs);
        }
        Ok(Some((&**left).into()))
    }

    fn selected(&mut self, index: usize) {
        self.rounds.left[index] = f64::INFINITY;
        self.rounds.next += 1;
    }
}
