//! The gate between NumPy's memory and the core: element types, strides, borrows, and when to let other threads run.
//!
//! Every fact about an array is read from NumPy's own structure, where no subclass can tell another. Noise is written to the memory found there
//! and to nothing else. Elements need not be aligned. Everything that can fail is done before a fill is taken.
#![allow(
    unsafe_code,
    reason = "NumPy's memory: elements at any strides, read and written by several threads"
)]

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ops::Range;
use std::slice;

use numpy::npyffi::objects::_PyArray_GET_ITEM_DATA;
use numpy::npyffi::{PY_ARRAY_API, npy_intp};
use numpy::{Element, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use stairnoise::{OutOfMemory, Tiles, Value, parallel};

use crate::borrows::Borrow;
use crate::errors::{self, ParameterError};
use crate::layout::{Block, Layout, Order};
use crate::transpose;

/// Fills of fewer values keep the interpreter: a detach and attach cost about 100 ns, this many values some 10 µs.
const DETACH_FROM: usize = 1 << 11;

/// Values staged on the way to memory that is not contiguous, and written at a time.
pub(crate) const STAGE: usize = 1 << 12;

/// So many times as many are written at a time where they lie one after the other: what a call prepares and wipes is a smaller part of its work.
pub(crate) const LONGER: usize = 4;

/// What the values of a mechanism cost, and which of them belong together.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    /// A value takes as long as this many usual ones.
    pub price: usize,
    /// How many values are drawn together, as the coordinates of a vector are.
    pub joint_values: usize,
}

impl Parts {
    pub const ONE_WORD: Self = Self {
        price: 1,
        joint_values: 1,
    };

    /// Values written at a time.
    pub fn stage(self) -> usize {
        STAGE.next_multiple_of(self.joint_values)
    }
}

/// Room for `n` values.
pub(crate) fn room<T: Copy>(value: T, n: usize) -> Result<Vec<T>, OutOfMemory> {
    // On the heap: draws must run in threads of 128 KiB of stack, which is musl's default.
    let mut room = Vec::new();
    room.try_reserve_exact(n).map_err(|_| OutOfMemory)?;
    room.resize(n, value);
    Ok(room)
}

/// Runs `work`, letting other Python threads run if it is long.
pub(crate) fn detach_for<R: Send>(py: Python<'_>, values: usize, work: impl FnOnce() -> R + Send) -> R {
    if values < DETACH_FROM { work() } else { py.detach(work) }
}

/// Runs `$body` with `$array` bound to `$out` as an array of whichever supported element type it has.
macro_rules! with_output {
    ($out:expr, $array:ident => $body:expr) => {{
        let out: &Bound<'_, numpy::PyUntypedArray> = $out;
        if let Ok($array) = out.cast::<numpy::PyArrayDyn<f64>>() {
            $body
        } else if let Ok($array) = out.cast::<numpy::PyArrayDyn<i64>>() {
            $body
        } else if let Ok($array) = out.cast::<numpy::PyArrayDyn<f32>>() {
            $body
        } else if let Ok($array) = out.cast::<numpy::PyArrayDyn<i32>>() {
            $body
        } else {
            Err($crate::buffer::element_type("out", out, "float64, float32, int64 or int32"))
        }
    }};
}

/// Runs `$body` with `$array` bound to `$values` as an array of `f64` or `i64`.
macro_rules! with_answers {
    ($values:expr, $array:ident => $body:expr) => {{
        let values: &Bound<'_, numpy::PyUntypedArray> = $values;
        if let Ok($array) = values.cast::<numpy::PyArrayDyn<f64>>() {
            $body
        } else if let Ok($array) = values.cast::<numpy::PyArrayDyn<i64>>() {
            $body
        } else {
            Err($crate::buffer::element_type("values", values, "float64 or int64"))
        }
    }};
}

/// Runs `$body` with `$array` bound to `$out` as an array of whichever type of residues it has.
macro_rules! with_residues {
    ($out:expr, $array:ident => $body:expr) => {{
        let out: &Bound<'_, numpy::PyUntypedArray> = $out;
        if let Ok($array) = out.cast::<numpy::PyArrayDyn<u64>>() {
            $body
        } else if let Ok($array) = out.cast::<numpy::PyArrayDyn<i64>>() {
            $body
        } else if let Ok($array) = out.cast::<numpy::PyArrayDyn<u32>>() {
            $body
        } else {
            Err($crate::buffer::element_type("out", out, "uint64, int64 or uint32"))
        }
    }};
}

pub(crate) use {with_answers, with_output, with_residues};

pub(crate) fn element_type(name: &str, array: &Bound<'_, PyUntypedArray>, allowed: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{name} must be an array of {allowed} in native byte order, got {}",
        array.dtype()
    ))
}

/// An input must have the output's shape.
pub(crate) fn same_shape(name: &str, got: &[usize], out: &[usize]) -> PyResult<()> {
    if got == out {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{name} must have the shape of out {out:?}, got {got:?}"
    )))
}

/// Whether two arrays have the same elements at the same places: first element, shape and strides.
#[pyfunction]
pub(crate) fn same_memory(a: &Bound<'_, PyUntypedArray>, b: &Bound<'_, PyUntypedArray>) -> bool {
    let facts = |array: &Bound<'_, PyUntypedArray>| (data(array), array.dtype().itemsize());
    facts(a) == facts(b) && a.shape() == b.shape() && a.strides() == b.strides()
}

/// A new array of the same elements in C order, which no other call knows; errors call the array `name`.
#[pyfunction]
pub(crate) fn own<'py>(name: &str, array: &Bound<'py, PyArrayDyn<f64>>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let input = Input::new(name, array)?;
    new_array(array.py(), array.shape(), |own| {
        input.copy_all(own).map_err(|OutOfMemory| errors::memory())
    })
}

/// A new array of zeros. NumPy's error is returned, where `PyArray::zeros` would panic for want of memory.
pub(crate) fn zeros<'py, T: Element>(py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    // NumPy has at most 64 axes, and no axis is longer than an `isize` counts.
    let mut lengths: Vec<npy_intp> = shape.iter().map(|&length| length as npy_intp).collect();
    let (axes, dtype) = (lengths.len() as c_int, T::get_dtype(py).into_dtype_ptr());
    // SAFETY: `axes` lengths, and an element type whose reference NumPy takes over; NULL is turned into its error.
    let array = unsafe {
        let array = PY_ARRAY_API.PyArray_Zeros(py, axes, lengths.as_mut_ptr(), dtype, 0);
        Bound::from_owned_ptr_or_err(py, array)?
    };
    Ok(array.cast_into()?)
}

/// A new array whose elements `write` has written; its error, and no array, if it fails.
pub(crate) fn new_array<'py, T: Element + Copy>(
    py: Python<'py>,
    shape: &[usize],
    write: impl FnOnce(&mut [T]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let array = zeros::<T>(py, shape)?;
    // SAFETY: aligned, initialised elements, one after the other, of an array that nothing else refers to yet.
    write(unsafe { slice::from_raw_parts_mut(array.data(), array.len()) })?;
    Ok(array)
}

/// Where the first element lies.
pub(crate) fn data(array: &Bound<'_, PyUntypedArray>) -> *const c_void {
    // SAFETY: the pointer is that of a live array, and this thread is attached to the interpreter.
    unsafe { (*_PyArray_GET_ITEM_DATA(array.as_array_ptr())).data.cast() }
}

pub(crate) fn is_writable(array: &Bound<'_, PyUntypedArray>) -> bool {
    // SAFETY: as in `data`.
    let flags = unsafe { (*_PyArray_GET_ITEM_DATA(array.as_array_ptr())).flags };
    flags & numpy::npyffi::NPY_ARRAY_WRITEABLE != 0
}

/// An array to be written, by this call alone. No two of its elements share a byte: `_output` has refused those.
pub(crate) struct Output<'py, T> {
    first: *mut T,
    layout: Layout,
    order: Order,
    _borrow: Borrow,
    _array: PhantomData<&'py mut T>,
}

// SAFETY: the memory of an array that this call alone may use, whose elements are plain numbers.
unsafe impl<T: Send> Send for Output<'_, T> {}
// SAFETY: through a shared reference nothing is read or written; pieces are cut from an exclusive one.
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

    /// Written in an order in which `answers` are read fast too.
    pub fn in_step_with<A>(self, answers: &Input<'_, A>) -> Self {
        let order = self.order.or(answers.layout.order(answers.first.addr()));
        Self { order, ..self }
    }

    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// How it is written.
    pub fn order(&self) -> Order {
        self.order
    }

    /// All of it.
    pub fn whole(&mut self) -> Piece<'_, T> {
        self.piece(self.order.all(self.len()))
    }

    /// Pieces of about `most` values. Where values come in C order, long ones begin with a page, so that no two threads reach the same new one.
    /// Values that belong `joint_values` are not parted where `most` is a multiple of their number; their pieces begin anywhere in a page.
    pub fn pieces(&mut self, most: usize, joint_values: usize) -> impl Iterator<Item = Piece<'_, T>> + Send {
        let all = self.order.all(self.len());
        let ahead = if joint_values == 1 && self.layout.is_contiguous() && all.rows == 1 {
            parallel::ahead(self.first, self.len(), most)
        } else {
            0
        };
        let (head, rest) = all.split(ahead);
        let this = &*self;
        // Pieces do not overlap, and the output is borrowed as mutable for as long as any of them lives.
        let head = (ahead > 0).then_some(head);
        head.into_iter()
            .chain(self.order.pieces(rest, most, joint_values))
            .map(|block| this.piece(block))
    }

    /// No two pieces that live at a time may share an element.
    fn piece(&self, block: Block) -> Piece<'_, T> {
        Piece {
            block,
            order: self.order,
            memory: self.first,
            layout: &self.layout,
        }
    }
}

/// Values of an output, which nobody else writes or reads.
pub(crate) struct Piece<'a, T> {
    block: Block,
    order: Order,
    memory: *mut T,
    layout: &'a Layout,
}

// SAFETY: the values of a piece are its own, and plain numbers.
unsafe impl<T: Send> Send for Piece<'_, T> {}

/// What is read in step with an output.
pub(crate) trait Inputs {
    /// Comes to a tile, none of whose places has been written.
    fn begin(&mut self, tile: &Block) -> Result<(), OutOfMemory>;

    /// Comes to what belongs to `n` values of the tile, the first of which has the number `first`.
    fn advance(&mut self, first: usize, n: usize);
}

/// Inputs of one element type.
pub(crate) trait Elements<A>: Inputs {
    /// Whether another pass may give other elements, because another thread writes to them.
    const MAY_CHANGE: bool = true;

    /// The elements that [`Inputs::advance`] has reached.
    fn part(&self) -> &[A];
}

impl Inputs for () {
    fn begin(&mut self, _: &Block) -> Result<(), OutOfMemory> {
        Ok(())
    }

    fn advance(&mut self, _: usize, _: usize) {}
}

impl<A: Inputs, B: Inputs> Inputs for (A, B) {
    fn begin(&mut self, tile: &Block) -> Result<(), OutOfMemory> {
        self.0.begin(tile)?;
        self.1.begin(tile)
    }

    fn advance(&mut self, first: usize, n: usize) {
        self.0.advance(first, n);
        self.1.advance(first, n);
    }
}

impl<T: Copy + Default> Piece<'_, T> {
    /// Has `write(first, inputs, part)` write all values, at most [`LONGER`] times `most` at a time: straight into contiguous memory, and into other
    /// tile by tile, by a copy. A tile has at most `most` values, or as few rows as it may. Inputs are asked for before any place of theirs is
    /// written.
    pub fn write<I: Inputs, E: From<OutOfMemory>>(
        self,
        mut inputs: I,
        most: usize,
        mut write: impl FnMut(u64, &I, &mut [T]) -> Result<(), E>,
    ) -> Result<(), E> {
        let direct = self.layout.is_contiguous() && self.memory.is_aligned();
        let longest = most * LONGER;
        let (largest, tiles) = self.order.tiles(self.block, if direct { longest } else { most });
        let mut stage = room(T::default(), if direct { 0 } else { largest })?;
        for tile in tiles {
            inputs.begin(&tile)?;
            for (first, n) in tile.runs(longest) {
                inputs.advance(first, n);
                let part = if direct {
                    // SAFETY: `n` aligned, initialised values of this piece, one after the other. Nothing else refers to them: what the inputs
                    // give lies elsewhere or is a copy (see `Input`).
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
            transpose::settle();
        }
        Ok(())
    }

    /// Values from one row to the next, if eight rows share lines of the cache: they are written faster by [`Piece::write_tiles`]. Sixteen are not.
    pub fn pitch_of_lines(&self) -> Option<u64> {
        self.order.pitch_of_rows::<8>().map(|pitch| pitch as u64)
    }

    /// Writes the values of a fill to such a piece, tile by tile: memory takes the lines of one while the next is drawn. It takes those of a whole
    /// band of rows after each other, and nothing is drawn meanwhile: 1.27 ns a value of 2000 × 2000 in place of 1.12 (Zen 4).
    pub fn write_tiles(self, mut fill: Tiles<'_, T>)
    where
        T: Value,
    {
        for tile in self.order.small_tiles(self.block, Tiles::<T>::MOST) {
            self.scatter(&tile, fill.draw(&tile.as_tile()));
        }
        transpose::settle();
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
                // SAFETY: for every column the places of `ROWS` elements of this piece, one after the other; as below.
                unsafe { transpose::write_columns(rows, first, patch.stride, self.layout.len() * size_of::<T>()) };
                return;
            }
            for (place, offset) in patch.rows() {
                for (i, value) in (0_isize..).zip(&values[place..][..patch.columns]) {
                    // SAFETY: the place of an element of this piece, by the array's own shape and strides; it may not be aligned.
                    unsafe { self.memory.byte_offset(offset + i * patch.stride).write_unaligned(*value) };
                }
            }
        });
    }
}

/// An array to be read. No other call writes to it at the same time. This call may, but reads each value before it writes it.
pub(crate) struct Input<'py, A> {
    first: *const A,
    layout: Layout,
    /// `None` where the memory is the output's.
    borrow: Option<Borrow>,
    _array: PhantomData<&'py A>,
}

// SAFETY: memory that is read alone, or by the piece that owns the place (see `Input::in_place_of`).
unsafe impl<A: Sync> Sync for Input<'_, A> {}
// SAFETY: as above.
unsafe impl<A: Sync> Send for Input<'_, A> {}

impl<'py, A: Element + Copy> Input<'py, A> {
    pub fn new(name: &str, array: &'py Bound<'_, PyArrayDyn<A>>) -> PyResult<Self> {
        let mut input = Self::unborrowed(array);
        let borrow = Borrow::new(input.first.addr(), &input.layout, size_of::<A>(), false)
            .ok_or_else(|| ParameterError::new_err(format!("{name} must not be written to by another call, nor overlap out")))?;
        input.borrow = Some(borrow);
        Ok(input)
    }

    /// The true answers for an output that is borrowed already; they may lie in its very places.
    pub fn for_output<T: Element>(
        name: &str,
        array: &'py Bound<'_, PyArrayDyn<A>>,
        out: &Bound<'_, PyArrayDyn<T>>,
    ) -> PyResult<Self> {
        if same_memory(array.as_untyped(), out.as_untyped()) {
            return Ok(Self::unborrowed(array));
        }
        Self::new(name, array)
    }

    fn unborrowed(array: &'py Bound<'_, PyArrayDyn<A>>) -> Self {
        Self {
            first: array.data(),
            layout: Layout::new(array.shape(), array.strides(), size_of::<A>()),
            borrow: None,
            _array: PhantomData,
        }
    }

    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Whether the elements lie in C order, apart from the output.
    pub fn is_slice(&self) -> bool {
        self.borrow.is_some() && self.layout.is_contiguous() && self.first.is_aligned()
    }

    /// Copies the elements from `first` on, in C order, of an input that [is a slice](Self::is_slice).
    pub fn copy_to(&self, first: usize, part: &mut [A]) {
        assert!(self.is_slice() && first <= self.len() && part.len() <= self.len() - first);
        // SAFETY: initialised elements one after the other, and memory of this process's own.
        unsafe { self.first.add(first).copy_to_nonoverlapping(part.as_mut_ptr(), part.len()) };
    }

    /// All elements in C order.
    pub fn copied(&self) -> Result<Vec<A>, OutOfMemory> {
        if self.len() == 0 {
            return Ok(Vec::new());
        }
        let mut all = room(self.get(0), self.len())?;
        self.copy_all(&mut all)?;
        Ok(all)
    }

    /// Copies all elements in C order.
    fn copy_all(&self, all: &mut [A]) -> Result<(), OutOfMemory> {
        if self.is_slice() {
            self.copy_to(0, all);
            return Ok(());
        }
        let mut elements = self.in_order(STAGE)?;
        for part in Block::parts(self.len(), STAGE) {
            elements.begin(&part)?;
            elements.advance(part.first, part.len());
            all[part.first..][..part.len()].copy_from_slice(elements.part());
        }
        Ok(())
    }

    /// The elements in step with an output that is written `most` at a time.
    pub fn in_order(&self, most: usize) -> Result<InOrder<'_, A>, OutOfMemory> {
        Ok(if self.is_slice() && self.len() > 0 {
            InOrder::Contiguous {
                input: self,
                n: 0,
                stage: room(self.get(0), (most * LONGER).min(self.len()))?,
            }
        } else if self.layout.is_one_element() && self.len() > 0 {
            InOrder::Same {
                n: 0,
                stage: room(self.get(0), (most * LONGER).min(self.len()))?,
            }
        } else {
            InOrder::Staged {
                input: self,
                tile: Block::default(),
                part: 0..0,
                stage: Vec::new(),
            }
        })
    }

    /// The element at a position in C order.
    pub fn get(&self, position: usize) -> A {
        assert!(position < self.len());
        // SAFETY: the place of an element, by the array's own shape and strides; it may not be aligned.
        unsafe { self.first.byte_offset(self.layout.offset(position)).read_unaligned() }
    }

    /// Copies the elements of a tile to the beginning of `stage`.
    fn gather(&self, tile: &Block, stage: &mut Vec<A>) -> Result<(), OutOfMemory> {
        if let Some(more) = tile.len().checked_sub(stage.len()).filter(|more| *more > 0) {
            stage.try_reserve_exact(more).map_err(|_| OutOfMemory)?;
            stage.resize(tile.len(), self.get(tile.first));
        }
        self.layout.patches::<8>(tile, |patch| {
            if let Some(rows) = patch.dense() {
                for column in 0..patch.columns {
                    let place = self.first.wrapping_byte_offset(patch.offset + column as isize * patch.stride);
                    // SAFETY: the places of eight elements, one after the other; as in `get`.
                    let line = unsafe { place.cast::<[A; 8]>().read_unaligned() };
                    for (row, value) in rows.iter().zip(line) {
                        stage[row + column] = value;
                    }
                }
                return;
            }
            for (place, offset) in patch.rows() {
                for (i, value) in (0_isize..).zip(&mut stage[place..][..patch.columns]) {
                    // SAFETY: as in `get`.
                    *value = unsafe { self.first.byte_offset(offset + i * patch.stride).read_unaligned() };
                }
            }
        });
        Ok(())
    }
}

/// Elements of an input, a part at a time and in step with [`Piece::write`]: copies, because another Python thread may write to the caller's. A part
/// may not hold what it held in an earlier pass, but it does not change while it is used. The copy stays in the cache: a tenth of a nanosecond a
/// value.
pub(crate) enum InOrder<'a, A> {
    Contiguous {
        input: &'a Input<'a, A>,
        n: usize,
        stage: Vec<A>,
    },
    /// A scalar that was broadcast.
    Same { n: usize, stage: Vec<A> },
    /// Elements at strides, or in the places that are written.
    Staged {
        input: &'a Input<'a, A>,
        tile: Block,
        part: Range<usize>,
        stage: Vec<A>,
    },
}

impl<A: Element + Copy> Elements<A> for InOrder<'_, A> {
    fn part(&self) -> &[A] {
        match self {
            Self::Contiguous { n, stage, .. } | Self::Same { n, stage } => &stage[..*n],
            Self::Staged { stage, part, .. } => &stage[part.clone()],
        }
    }
}

/// Elements of this process's own memory, a part at a time.
pub(crate) struct OwnInOrder<'a, A> {
    all: &'a [A],
    part: Range<usize>,
}

impl<'a, A> OwnInOrder<'a, A> {
    pub fn of(all: &'a [A]) -> Self {
        Self { all, part: 0..0 }
    }
}

impl<A> Elements<A> for OwnInOrder<'_, A> {
    const MAY_CHANGE: bool = false;

    fn part(&self) -> &[A] {
        &self.all[self.part.clone()]
    }
}

impl<A> Inputs for OwnInOrder<'_, A> {
    fn begin(&mut self, _: &Block) -> Result<(), OutOfMemory> {
        Ok(())
    }

    fn advance(&mut self, first: usize, n: usize) {
        self.part = first..first + n;
    }
}

impl<A: Element + Copy> Inputs for InOrder<'_, A> {
    fn begin(&mut self, block: &Block) -> Result<(), OutOfMemory> {
        if let Self::Staged { input, tile, stage, .. } = self {
            *tile = *block;
            input.gather(tile, stage)?;
        }
        Ok(())
    }

    fn advance(&mut self, first: usize, count: usize) {
        match self {
            Self::Contiguous { input, n, stage } => {
                *n = count;
                input.copy_to(first, &mut stage[..count]);
            }
            Self::Same { n, .. } => *n = count,
            Self::Staged { tile, part, .. } => {
                let place = tile.place(first);
                *part = place..place + count;
            }
        }
    }
}

/// Rows of elements that lie one after the other, at any strides; they may repeat.
pub(crate) struct Rows<'py, A> {
    first: *const A,
    layout: Layout,
    /// Elements of a row, at least one.
    pub length: usize,
    /// How often each row comes.
    pub repeats: usize,
    _borrow: Borrow,
    _array: PhantomData<&'py A>,
}

// SAFETY: memory that no call writes while it is borrowed.
unsafe impl<A: Sync> Sync for Rows<'_, A> {}
// SAFETY: as above.
unsafe impl<A: Sync> Send for Rows<'_, A> {}

impl<'py, A: Element> Rows<'py, A> {
    /// The rows along the last axis: one for every place of an output of shape `out`.
    pub fn new(name: &str, array: &'py Bound<'_, PyArrayDyn<A>>, out: &[usize]) -> PyResult<Self> {
        let (Some((&length, rows)), Some((&step, strides))) = (array.shape().split_last(), array.strides().split_last()) else {
            return Err(PyValueError::new_err(format!(
                "{name} must have candidates along the last axis"
            )));
        };
        if length == 0 {
            return Err(PyValueError::new_err(format!(
                "{name} must have candidates along the last axis"
            )));
        }
        same_shape("the rows of costs", rows, out)?;
        let size = size_of::<A>();
        let whole = Layout::new(array.shape(), array.strides(), size);
        let first = array.data();
        // Nothing is read of an empty array, and a row of one element has no step.
        if whole.len() > 0
            && ((length > 1 && step != size as isize) || !first.is_aligned() || !whole.step().is_multiple_of(align_of::<A>()))
        {
            return Err(PyValueError::new_err(format!(
                "{name} must be contiguous along the last axis, and aligned"
            )));
        }
        let borrow = Borrow::new(first.addr(), &whole, size, false)
            .ok_or_else(|| ParameterError::new_err(format!("{name} must not be written to by another call, nor overlap out")))?;
        let repeated = rows.iter().zip(strides).filter(|(_, stride)| **stride == 0);
        Ok(Self {
            first,
            layout: Layout::new(rows, strides, length * size),
            length,
            repeats: repeated.map(|(times, _)| times).product(),
            _borrow: borrow,
            _array: PhantomData,
        })
    }

    /// The row for place `position` of the output.
    pub fn row(&self, position: usize) -> &[A] {
        assert!(position < self.layout.len());
        // SAFETY: `length` aligned elements one after the other, which no call writes while they are borrowed.
        unsafe { slice::from_raw_parts(self.first.byte_offset(self.layout.offset(position)), self.length) }
    }
}
