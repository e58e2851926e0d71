//! Arrays that are read, in the order in which the output is written.
#![allow(
    unsafe_code,
    reason = "NumPy's memory: elements at any strides, read and written by several threads"
)]

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
use std::marker::PhantomData;
use std::ops::Range;
use std::slice;

use numpy::ndarray::ArrayViewD;
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use stairnoise::{OutOfMemory, Unread};

use super::array::{Elements, Inputs, LONGER, STAGE, base, filled, same_memory, same_shape};
use crate::borrows::Borrow;
use crate::errors::{self, ParameterError};
use crate::layout::{Block, Layout};

/// An array to be read. No other call writes to it at the same time. This call may, but reads an element before it writes to the place.
pub(crate) struct Input<'py, A> {
    pub(super) first: *const A,
    pub(super) layout: Layout,
    /// `None` if the memory is the output's.
    borrow: Option<Borrow>,
    frozen: bool,
    _array: PhantomData<&'py A>,
}

// SAFETY: the memory is only read, or only the piece that owns a place reads and writes there (see `Input::for_output`).
unsafe impl<A: Sync> Sync for Input<'_, A> {}
// SAFETY: as above.
unsafe impl<A: Sync> Send for Input<'_, A> {}

impl<'py, A: Element + Copy> Input<'py, A> {
    pub fn new(name: &str, array: &'py Bound<'_, PyArrayDyn<A>>) -> PyResult<Self> {
        let input = Self::unborrowed(array);
        let borrow = Borrow::new(input.first.addr(), &input.layout, size_of::<A>(), false)
            .ok_or_else(|| ParameterError::new_err(format!("{name} must not be written to by another call, nor overlap out")))?;
        Ok(Self {
            borrow: Some(borrow),
            ..input
        })
    }

    /// True answers for an output that is already borrowed; they may lie in the output's places.
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
            frozen: is_frozen(array.as_untyped()),
            _array: PhantomData,
        }
    }

    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Whether the elements are contiguous and in C order. If they are the output's, each is copied before it is overwritten.
    pub fn is_slice(&self) -> bool {
        self.layout.is_contiguous() && self.first.is_aligned()
    }

    /// Copies the elements from `first` on, in C order, of an input that [is a slice](Self::is_slice).
    pub fn copy_to(&self, first: usize, part: &mut [A]) {
        assert!(self.is_slice() && first <= self.len() && part.len() <= self.len() - first);
        // SAFETY: the elements are initialised and contiguous, and `part` is memory of its own.
        unsafe { self.first.add(first).copy_to_nonoverlapping(part.as_mut_ptr(), part.len()) };
    }

    /// All elements in C order.
    pub fn copied(&self) -> Result<Vec<A>, OutOfMemory> {
        if self.len() == 0 {
            return Ok(Vec::new());
        }
        if self.is_slice() {
            let mut all = Vec::new();
            all.try_reserve_exact(self.len()).map_err(|_| OutOfMemory)?;
            // SAFETY: there is room for all elements, which are initialised and contiguous.
            unsafe {
                self.first.copy_to_nonoverlapping(all.as_mut_ptr(), self.len());
                all.set_len(self.len());
            }
            return Ok(all);
        }
        let mut all = filled(self.get(0), self.len())?;
        self.copy_all(&mut all)?;
        Ok(all)
    }

    /// Copies all elements in C order.
    pub fn copy_all(&self, all: &mut [A]) -> Result<(), OutOfMemory> {
        if self.is_slice() {
            self.copy_to(0, all);
            return Ok(());
        }
        let mut done = 0;
        self.in_parts(STAGE, |part| {
            all[done..][..part.len()].copy_from_slice(part);
            done += part.len();
        })
    }

    /// Calls `work` with copies of all elements in C order, up to `most` at a time.
    pub fn in_parts(&self, most: usize, mut work: impl FnMut(&[A])) -> Result<(), OutOfMemory> {
        let mut elements = self.in_order(most)?;
        for part in Block::parts(self.len(), most) {
            elements.begin(&part)?;
            elements.advance(part.first, part.len());
            work(elements.part());
        }
        Ok(())
    }

    /// Calls `work` with all elements in C order, up to `most` at a time, and the position of their first.
    pub fn in_unread_parts(&self, most: usize, mut work: impl FnMut(usize, Unread<'_, A>)) -> Result<(), OutOfMemory> {
        let mut elements = self.unread_in_order(most, true)?;
        for part in Block::parts(self.len(), most) {
            elements.begin(&part)?;
            elements.advance(part.first, part.len());
            work(part.first, elements.unread());
        }
        Ok(())
    }

    /// The elements in step with an output that is written `most` at a time.
    pub fn in_order(&self, most: usize) -> Result<InOrder<'_, A>, OutOfMemory> {
        Ok(if self.is_slice() && self.frozen {
            // SAFETY: the elements are initialised and contiguous, and never change.
            InOrder::own(unsafe { slice::from_raw_parts(self.first, self.len()) })
        } else if self.is_slice() && self.len() > 0 {
            InOrder::Contiguous {
                input: self,
                part: 0..0,
                place: self.first,
                stage: Some(filled(self.get(0), (most * LONGER).min(self.len()))?),
            }
        } else if self.layout.is_one_element() && self.len() > 0 {
            InOrder::Same {
                n: 0,
                stage: filled(self.get(0), (most * LONGER).min(self.len()))?,
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

    /// [`Input::in_order`] of elements that are read by [`Elements::unread`] alone, and not copied where that is possible: from the output's places if
    /// what reads them is `in_place`, which reads those that it writes over first.
    pub fn unread_in_order(&self, most: usize, in_place: bool) -> Result<InOrder<'_, A>, OutOfMemory> {
        if self.is_slice() && (in_place || self.borrow.is_some()) {
            return Ok(InOrder::Contiguous {
                input: self,
                part: 0..0,
                place: self.first,
                stage: None,
            });
        }
        self.in_order(most)
    }

    /// The element at a position in C order.
    pub fn get(&self, position: usize) -> A {
        assert!(position < self.len());
        // SAFETY: the array's shape and strides give the place of an element, which need not be aligned.
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
                    // SAFETY: eight contiguous elements are here; as in `get`.
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

/// Elements of an input, a part at a time and in step with [`Piece::write`]. Another Python thread may write to the caller's array. So they are copies,
/// or are read once each: a part can differ from an earlier pass, but does not change while it is used. A copy takes 0.1 ns a value.
pub(crate) enum InOrder<'a, A> {
    Contiguous {
        input: &'a Input<'a, A>,
        part: Range<usize>,
        /// That of the part's first element; in an output, by the output's own pointer.
        place: *const A,
        /// `None` if no element is copied.
        stage: Option<Vec<A>>,
    },
    /// A scalar that was broadcast.
    Same { n: usize, stage: Vec<A> },
    /// Elements at strides.
    Staged {
        input: &'a Input<'a, A>,
        tile: Block,
        part: Range<usize>,
        stage: Vec<A>,
    },
    /// Elements of memory that nobody writes to.
    Own { all: &'a [A], part: Range<usize> },
}

impl<'a, A> InOrder<'a, A> {
    pub fn own(all: &'a [A]) -> Self {
        Self::Own { all, part: 0..0 }
    }
}

impl<A: Element + Copy> Elements<A> for InOrder<'_, A> {
    fn is_piecemeal(&self) -> bool {
        matches!(self, Self::Contiguous { .. })
    }

    fn advance_to<T>(&mut self, first: usize, out: &[T]) {
        match self {
            Self::Contiguous {
                input,
                part,
                place,
                stage,
            } if input.borrow.is_none() => {
                assert!(size_of::<T>() == size_of::<A>() && align_of::<T>() == align_of::<A>());
                (*part, *place) = (first..first + out.len(), out.as_ptr().cast());
                if let Some(stage) = stage {
                    assert!(out.len() <= stage.len());
                    // SAFETY: the input's elements are those of the output, in the same order, and these are not yet written.
                    unsafe { place.copy_to_nonoverlapping(stage.as_mut_ptr(), out.len()) };
                }
                prefetch_after(out);
            }
            _ => self.advance(first, out.len()),
        }
    }

    fn unread(&self) -> Unread<'_, A> {
        let Self::Contiguous {
            part,
            place,
            stage: None,
            ..
        } = self
        else {
            return Unread::of(self.part());
        };
        // SAFETY: the elements are aligned, initialised and contiguous.
        unsafe { Unread::new(*place, part.len()) }
    }

    fn part(&self) -> &[A] {
        match self {
            Self::Contiguous { part, stage, .. } => &stage.as_ref().expect("unread elements have no copies")[..part.len()],
            Self::Same { n, stage } => &stage[..*n],
            Self::Staged { stage, part, .. } => &stage[part.clone()],
            Self::Own { all, part } => &all[part.clone()],
        }
    }
}

/// Asks for as many elements after these, which arrive while noise for these is drawn.
fn prefetch_after<T>(elements: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for byte in (0..size_of_val(elements)).step_by(64) {
        let place = elements.as_ptr_range().end.cast::<i8>().wrapping_add(byte);
        // SAFETY: x86-64 has SSE, and the instruction takes any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = elements;
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
            Self::Contiguous {
                input,
                part,
                place,
                stage,
            } => {
                assert!(first <= input.len() && count <= input.len() - first);
                // SAFETY: there are as many elements.
                (*part, *place) = (first..first + count, unsafe { input.first.add(first) });
                if let Some(stage) = stage {
                    input.copy_to(first, &mut stage[..count]);
                }
            }
            Self::Same { n, .. } => *n = count,
            Self::Staged { tile, part, .. } => {
                let place = tile.place(first);
                *part = place..place + count;
            }
            Self::Own { part, .. } => *part = first..first + count,
        }
    }
}

/// Rows of contiguous elements, at any strides from each other; rows may repeat.
pub(crate) struct Rows<'py, A> {
    first: *const A,
    layout: Layout,
    /// Elements of a row, at least one.
    pub length: usize,
    /// How often every row is repeated.
    pub repeats: usize,
    _borrow: Borrow,
    _array: PhantomData<&'py A>,
}

// SAFETY: no call writes the memory while it is borrowed.
unsafe impl<A: Sync> Sync for Rows<'_, A> {}
// SAFETY: as above.
unsafe impl<A: Sync> Send for Rows<'_, A> {}

impl<'py, A: Element> Rows<'py, A> {
    /// The rows along the last axis, one for every place of an output of shape `out`.
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
        // An empty array is never read, and a row of one element has no step.
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
        // SAFETY: `length` aligned elements are contiguous, and no call writes them while they are borrowed.
        unsafe { slice::from_raw_parts(self.first.byte_offset(self.layout.offset(position)), self.length) }
    }
}

/// The memory of an array that nobody can write to.
#[pyclass(frozen, module = "stairnoise._native")]
struct Frozen(Vec<f64>);

/// A copy in C order that nobody can write to, so that its elements need no further copy; errors call the array `name`.
#[pyfunction]
pub(crate) fn frozen<'py>(name: &str, array: &Bound<'py, PyArrayDyn<f64>>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let copy = Input::new(name, array)?.copied().map_err(|OutOfMemory| errors::memory())?;
    let owner = Bound::new(array.py(), Frozen(copy))?;
    let elements = ArrayViewD::from_shape(array.shape(), &owner.get().0).expect("as many elements");
    // SAFETY: the elements live as long as their owner.
    let copy = unsafe { PyArrayDyn::borrow_from_array(&elements, owner.clone().into_any()) };
    copy.try_readwrite()?.make_nonwriteable();
    Ok(copy)
}

/// Whether the memory is that of a [`Frozen`] copy. NumPy makes no such array writable again.
fn is_frozen(array: &Bound<'_, PyUntypedArray>) -> bool {
    let mut array = array.clone();
    while let Some(base) = base(&array) {
        match base.cast_into() {
            Ok(viewed) => array = viewed,
            Err(other) => return other.into_inner().is_instance_of::<Frozen>(),
        }
    }
    false
}
