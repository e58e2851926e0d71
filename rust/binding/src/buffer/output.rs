//! Arrays that are written, piece by piece.
#![allow(
    unsafe_code,
    reason = "NumPy's memory: elements at any strides, read and written by several threads"
)]

use std::marker::PhantomData;
use std::slice;

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::{OutOfMemory, Tiles, Value, parallel};

use super::array::{Inputs, filled, is_writable};
use super::input::Input;
use crate::borrows::Borrow;
use crate::errors::ParameterError;
use crate::layout::{Block, Layout, Order};
use crate::transpose;

/// An array that only this call writes. No two elements share a byte: `_output` has refused such arrays.
pub(crate) struct Output<'py, T> {
    first: *mut T,
    layout: Layout,
    order: Order,
    _borrow: Borrow,
    _array: PhantomData<&'py mut T>,
}

// SAFETY: only this call uses the array's memory, and the elements are plain numbers.
unsafe impl<T: Send> Send for Output<'_, T> {}
// SAFETY: a shared reference reads and writes nothing; pieces are cut from an exclusive one.
unsafe impl<T: Send> Sync for Output<'_, T> {}

impl<'py, T: Element> Output<'py, T> {
    pub fn new(out: &'py Bound<'_, PyArrayDyn<T>>) -> PyResult<Self> {
        if !is_writable(out.as_untyped()) {
            return Err(ParameterError::new_err("out must be writable, got a read-only array"));
        }
        let layout = Layout::new(out.shape(), out.strides(), size_of::<T>());
        let first = out.data();
        let borrow = Borrow::new(first.addr(), &layout, size_of::<T>(), true)
            .ok_or_else(|| ParameterError::new_err("out must not be in use by another call"))?;
        Ok(Self {
            first,
            order: layout.order(first.addr()),
            layout,
            _borrow: borrow,
            _array: PhantomData,
        })
    }

    /// Chooses an order of writing in which `answers` are read fast too.
    pub fn in_step_with<A>(self, answers: &Input<'_, A>) -> Self {
        let order = self.order.or(answers.layout.order(answers.first.addr()));
        Self { order, ..self }
    }

    pub fn len(&self) -> usize {
        self.layout.len()
    }

    pub fn order(&self) -> Order {
        self.order
    }

    pub fn whole(&mut self) -> Piece<'_, T> {
        self.piece(self.order.all(self.len()))
    }

    /// Pieces of about `most` values. If values come in C order, long pieces begin with a page, so that no two threads touch the same new page.
    /// If `most` is a multiple of `joint_values`, jointly drawn values stay in one piece, and pieces begin anywhere in a page.
    pub fn pieces(&mut self, most: usize, joint_values: usize) -> impl Iterator<Item = Piece<'_, T>> + Send {
        let all = self.order.all(self.len());
        let ahead = if joint_values == 1 && self.layout.is_contiguous() && all.rows == 1 {
            parallel::ahead(self.first, self.len(), most)
        } else {
            0
        };
        let (head, rest) = all.split(ahead);
        let this = &*self;
        // Pieces do not overlap, and the output stays mutably borrowed while any of them lives.
        let head = (ahead > 0).then_some(head);
        head.into_iter()
            .chain(self.order.pieces(rest, most, joint_values))
            .map(|block| this.piece(block))
    }

    /// No two pieces that live at the same time may share an element.
    fn piece(&self, block: Block) -> Piece<'_, T> {
        Piece {
            block,
            order: self.order,
            memory: self.first,
            layout: &self.layout,
        }
    }
}

/// Values of an output that no other code writes or reads.
pub(crate) struct Piece<'a, T> {
    block: Block,
    order: Order,
    memory: *mut T,
    layout: &'a Layout,
}

// SAFETY: the values of a piece are its own, and plain numbers.
unsafe impl<T: Send> Send for Piece<'_, T> {}

impl<T: Copy + Default> Piece<'_, T> {
    /// Calls `write(first, inputs, part)` for all values: up to [`Inputs::LONGER`] times `most` at a time in contiguous memory, otherwise tile by tile in a
    /// copy. A tile has at most `most` values, or the minimum number of rows. Inputs of a tile are read before its places are written.
    pub fn write<I: Inputs, E: From<OutOfMemory>>(
        self,
        mut inputs: I,
        most: usize,
        mut write: impl FnMut(u64, &I, &mut [T]) -> Result<(), E>,
    ) -> Result<(), E> {
        let direct = self.layout.is_contiguous() && self.memory.is_aligned();
        let longest = most * I::LONGER;
        let (largest, tiles) = self.order.tiles(self.block, if direct { longest } else { most });
        let mut stage = filled(T::default(), if direct { 0 } else { largest })?;
        for tile in tiles {
            inputs.begin(&tile)?;
            for (first, n) in tile.runs(longest) {
                inputs.advance(first, n);
                let part = if direct {
                    // SAFETY: `n` aligned, initialised values of this piece are contiguous. Nothing else refers to them, because the inputs'
                    // elements lie elsewhere or are copies (see `Input`).
                    unsafe { slice::from_raw_parts_mut(self.memory.add(first), n) }
                } else {
                    &mut stage[tile.place(first)..][..n]
                };
                write(first as u64, &inputs, part)?;
            }
            if !direct {
                self.scatter(&tile, &stage);
            }
        }
        if !direct {
            transpose::fence();
        }
        Ok(())
    }

    /// Values from one row to the next, if eight rows share cache lines; then [`Piece::write_tiles`] is faster. For sixteen rows it is not.
    pub fn pitch_of_lines(&self) -> Option<u64> {
        self.order.pitch_of_rows::<8>().map(|pitch| pitch as u64)
    }

    /// Writes the values of a fill to a piece with such rows, tile by tile, so that memory takes one tile's lines while the next is drawn. If a whole
    /// band of rows is written at once, nothing is drawn meanwhile: a value of 2000 × 2000 then takes 1.27 ns instead of 1.12 (Zen 4).
    pub fn write_tiles(self, mut fill: Tiles<'_, T>)
    where
        T: Value,
    {
        for tile in self.order.small_tiles(self.block, Tiles::<T>::MOST) {
            self.scatter(&tile, fill.draw(&tile.as_tile()));
        }
        transpose::fence();
    }

    /// Copies the values of a tile to their places.
    fn scatter(&self, tile: &Block, values: &[T]) {
        if size_of::<T>() == 8 {
            self.scatter_lines::<8>(tile, values);
        } else {
            self.scatter_lines::<16>(tile, values);
        }
    }

    fn scatter_lines<const ROWS: usize>(&self, tile: &Block, values: &[T]) {
        self.layout.patches::<ROWS>(tile, |patch| {
            if let Some(rows) = patch.dense() {
                let rows = rows.map(|place| &values[place..][..patch.columns]);
                let first = self.memory.wrapping_byte_offset(patch.offset);
                // SAFETY: every column has places for `ROWS` contiguous elements of this piece; as below.
                unsafe { transpose::write_columns(rows, first, patch.stride, self.layout.len() * size_of::<T>()) };
                return;
            }
            for (place, offset) in patch.rows() {
                for (i, value) in (0_isize..).zip(&values[place..][..patch.columns]) {
                    // SAFETY: the array's shape and strides give the place of an element of this piece, which need not be aligned.
                    unsafe { self.memory.byte_offset(offset + i * patch.stride).write_unaligned(*value) };
                }
            }
        });
    }
}
