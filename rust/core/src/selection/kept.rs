//! The thresholds of rows that come again.

use std::collections::HashMap;

use super::thresholds::RowThresholds;
use crate::memory::{self, OutOfMemory};

/// What a [`Selector`](super::Selector) keeps of rows has at most this many words: 32 MiB.
pub(super) const MOST: usize = 1 << 22;

/// Thresholds of rows, by the address of their costs.
#[derive(Debug, Default)]
pub(super) struct Kept {
    rows: Vec<RowThresholds>,
    number: HashMap<usize, usize>,
    /// Address and number of the row used last, which often comes next.
    last: Option<(usize, usize)>,
    /// Words of memory.
    size: usize,
}

impl Kept {
    pub fn of(
        &mut self,
        costs: &[f64],
        make: impl FnOnce() -> Result<RowThresholds, OutOfMemory>,
    ) -> Result<&RowThresholds, OutOfMemory> {
        let address = costs.as_ptr().addr();
        let last = self.last.filter(|(last, _)| *last == address).map(|(_, number)| number);
        let number = if let Some(number) = last.or_else(|| self.number.get(&address).copied()) {
            number
        } else {
            self.keep(address, make()?)?
        };
        self.last = Some((address, number));
        Ok(&self.rows[number])
    }

    fn keep(&mut self, address: usize, row: RowThresholds) -> Result<usize, OutOfMemory> {
        let size = row.len();
        if self.size + size > MOST {
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
