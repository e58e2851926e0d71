//! What is kept of rows that come again.

use std::collections::HashMap;

use crate::memory::{self, OutOfMemory};

/// What a [`Selector`](super::Selector) keeps of rows has at most this many words: 32 MiB.
pub(super) const MOST: usize = 1 << 22;

/// What is kept of rows, by the address of their costs.
#[derive(Debug)]
pub(super) struct Kept<T> {
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
    pub fn of(
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
