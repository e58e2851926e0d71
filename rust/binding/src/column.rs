//! Columns as other libraries hold them: numbers in chunks, with meaningless elements in the places of nulls.

use numpy::{Element, PyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use stairnoise::OutOfMemory;

use crate::buffer::{Elements, Input, Inputs, LONGER, filled};
use crate::layout::Block;

/// A chunked column, read as one array with 0 for null.
pub(crate) struct Column<'py, A> {
    /// Chunks, and how many numbers come before each.
    chunks: Vec<(Input<'py, A>, usize)>,
    len: usize,
    /// A byte for every number: not 0 for null.
    nulls: Option<Input<'py, u8>>,
    zero: A,
}

impl<'py, A: Element + Copy + Default> Column<'py, A> {
    pub fn new(chunks: &'py [Bound<'_, PyArrayDyn<A>>], nulls: Option<&'py Bound<'_, PyArrayDyn<u8>>>) -> PyResult<Self> {
        let mut len = 0;
        let chunks = chunks.iter().map(|chunk| {
            let (chunk, start) = (contiguous("values", chunk)?, len);
            len += chunk.len();
            Ok((chunk, start))
        });
        let chunks = chunks.collect::<PyResult<_>>()?;
        let nulls = nulls.map(|nulls| contiguous("nulls", nulls)).transpose()?;
        if nulls.as_ref().is_some_and(|nulls| nulls.len() != len) {
            return Err(PyValueError::new_err("nulls must have a byte for every value"));
        }
        Ok(Self {
            chunks,
            len,
            nulls,
            zero: A::default(),
        })
    }
}

impl<A: Copy> Column<'_, A> {
    pub fn len(&self) -> usize {
        self.len
    }

    /// Writes 0 to the places of nulls in a part of an output, which begins at number `first`.
    pub fn erase_nulls<T: Copy + Default>(&self, first: usize, part: &mut [T]) {
        if let Some(nulls) = &self.nulls {
            fill_nulls(part, nulls, first, T::default());
        }
    }

    /// The numbers in step with an output that is written `most` at a time.
    pub fn in_order(&self, most: usize) -> Result<InOrder<'_, A>, OutOfMemory> {
        Ok(InOrder {
            column: self,
            n: 0,
            stage: filled(self.zero, (most * LONGER).min(self.len))?,
        })
    }
}

/// An array whose elements are contiguous and aligned.
fn contiguous<'py, A: Element + Copy>(name: &str, array: &'py Bound<'_, PyArrayDyn<A>>) -> PyResult<Input<'py, A>> {
    let input = Input::new(name, array)?;
    if !input.is_slice() {
        return Err(PyValueError::new_err(format!("{name} must be contiguous and aligned")));
    }
    Ok(input)
}

/// Numbers of a column, a part at a time.
pub(crate) struct InOrder<'a, A> {
    column: &'a Column<'a, A>,
    /// The number of copied elements.
    n: usize,
    stage: Vec<A>,
}

impl<A: Element + Copy> Elements<A> for InOrder<'_, A> {
    fn is_piecemeal(&self) -> bool {
        true
    }

    fn part(&self) -> &[A] {
        &self.stage[..self.n]
    }
}

impl<A: Element + Copy> Inputs for InOrder<'_, A> {
    fn begin(&mut self, _: &Block) -> Result<(), OutOfMemory> {
        Ok(())
    }

    fn advance(&mut self, first: usize, n: usize) {
        let Column { chunks, nulls, zero, .. } = self.column;
        // The last chunk that begins at `first` or before; an empty chunk begins where the next one does.
        let at = chunks.partition_point(|(_, start)| *start <= first).saturating_sub(1);
        self.n = 0;
        for (chunk, start) in &chunks[at..] {
            let begin = first + self.n - start;
            let more = (chunk.len() - begin).min(n - self.n);
            chunk.copy_to(begin, &mut self.stage[self.n..][..more]);
            self.n += more;
            if self.n == n {
                break;
            }
        }
        if let Some(nulls) = nulls {
            fill_nulls(&mut self.stage[..n], nulls, first, *zero);
        }
    }
}

/// Nulls copied at a time.
const NULLS: usize = 1024;

/// Writes `value` to the places of nulls; `numbers` begin at number `first` of the column.
fn fill_nulls<A: Copy>(numbers: &mut [A], nulls: &Input<'_, u8>, mut first: usize, value: A) {
    let mut own = [0; NULLS];
    for numbers in numbers.chunks_mut(NULLS) {
        let own = &mut own[..numbers.len()];
        nulls.copy_to(first, own);
        fill_nulls_of(numbers, own, value);
        first += numbers.len();
    }
}

fn fill_nulls_of<A: Copy>(numbers: &mut [A], nulls: &[u8], value: A) {
    let (words, last) = nulls.as_chunks::<8>();
    // Most words of eight bytes are 0; testing words takes a quarter of the time of testing bytes.
    for (numbers, word) in numbers.chunks_mut(8).zip(words) {
        let mut bits = u64::from_le_bytes(*word);
        while bits != 0 {
            numbers[bits.trailing_zeros() as usize / 8] = value;
            bits &= bits - 1;
        }
    }
    for (number, null) in numbers[nulls.len() - last.len()..].iter_mut().zip(last) {
        if *null != 0 {
            *number = value;
        }
    }
}
