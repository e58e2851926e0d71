//! Code for both input and output arrays.
#![allow(
    unsafe_code,
    reason = "NumPy's memory: elements at any strides, read and written by several threads"
)]

use std::ffi::{c_int, c_void};
use std::slice;

use numpy::npyffi::objects::_PyArray_GET_ITEM_DATA;
use numpy::npyffi::{PY_ARRAY_API, npy_intp};
use numpy::{Element, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use stairnoise::{OutOfMemory, Unread};

use crate::layout::Block;

/// Shorter fills stay attached to the interpreter: detaching and attaching cost about 100 ns, this many values some 10 µs.
const DETACH_FROM: usize = 1 << 11;

/// The maximum number of values staged for non-contiguous memory, and written at a time.
pub(crate) const STAGE: usize = 1 << 12;

/// Contiguous writes with inputs are this much longer, to amortise setup and wiping. A copy of as many 8-byte inputs is memory that glibc reuses; from
/// 128 KiB on, each allocation takes new pages.
pub(crate) const LONGER: usize = 2;

/// The cost of a mechanism's values, and how many are drawn jointly.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    /// A value takes as long as this many values of one word.
    pub price: usize,
    /// The number of values drawn jointly, as the coordinates of a vector are.
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

/// `n` copies of `value`, in memory that is then written.
pub(crate) fn filled<T: Copy>(value: T, n: usize) -> Result<Vec<T>, OutOfMemory> {
    // The memory is on the heap, because draws must run in threads with 128 KiB of stack, which is musl's default.
    let mut values = Vec::new();
    values.try_reserve_exact(n).map_err(|_| OutOfMemory)?;
    values.resize(n, value);
    Ok(values)
}

/// Runs `work`; if it is long, other Python threads can run meanwhile.
pub(crate) fn detach_for<R: Send>(py: Python<'_>, values: usize, work: impl FnOnce() -> R + Send) -> R {
    if values < DETACH_FROM { work() } else { py.detach(work) }
}

/// Runs `$body` with `$array` bound to `$out` as an array of its element type, if this type is supported.
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
            Err($crate::buffer::array::element_type(
                "out",
                out,
                "float64, float32, int64 or int32",
            ))
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
            Err($crate::buffer::array::element_type("values", values, "float64 or int64"))
        }
    }};
}

/// Runs `$body` with `$array` bound to `$floats`, an argument called `$name`, as an array of `f64` or `f32`.
macro_rules! with_floats {
    ($name:literal, $floats:expr, $array:ident => $body:expr) => {{
        let floats: &Bound<'_, numpy::PyUntypedArray> = $floats;
        if let Ok($array) = floats.cast::<numpy::PyArrayDyn<f64>>() {
            $body
        } else if let Ok($array) = floats.cast::<numpy::PyArrayDyn<f32>>() {
            $body
        } else {
            Err($crate::buffer::array::element_type($name, floats, "float64 or float32"))
        }
    }};
}

/// Runs `$body` with `$array` bound to `$out` as an array of its type of residues.
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
            Err($crate::buffer::array::element_type("out", out, "uint64, int64 or uint32"))
        }
    }};
}

pub(crate) use {with_answers, with_floats, with_output, with_residues};

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

/// A new array of zeros. Returns NumPy's error if memory runs out; `PyArray::zeros` would panic.
pub(crate) fn zeros<'py, T: Element>(py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    // NumPy has at most 64 axes, and no axis is longer than an `isize` counts.
    let mut lengths: Vec<npy_intp> = shape.iter().map(|&length| length as npy_intp).collect();
    let (axes, dtype) = (lengths.len() as c_int, T::get_dtype(py).into_dtype_ptr());
    // SAFETY: there are `axes` lengths, NumPy takes over the element type's reference, and NULL becomes NumPy's error.
    let array = unsafe {
        let array = PY_ARRAY_API.PyArray_Zeros(py, axes, lengths.as_mut_ptr(), dtype, 0);
        Bound::from_owned_ptr_or_err(py, array)?
    };
    Ok(array.cast_into()?)
}

/// A new array with the elements that `write` has written, or the error of `write`.
pub(crate) fn new_array<'py, T: Element + Copy>(
    py: Python<'py>,
    shape: &[usize],
    write: impl FnOnce(&mut [T]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let array = zeros::<T>(py, shape)?;
    // SAFETY: the elements are aligned, initialised and contiguous, and nothing else refers to the array yet.
    write(unsafe { slice::from_raw_parts_mut(array.data(), array.len()) })?;
    Ok(array)
}

/// The address of the first element.
pub(crate) fn data(array: &Bound<'_, PyUntypedArray>) -> *const c_void {
    // SAFETY: the array is alive, and this thread is attached to the interpreter.
    unsafe { (*_PyArray_GET_ITEM_DATA(array.as_array_ptr())).data.cast() }
}

/// The object whose memory the array has; `None` if it is the array's own.
pub(super) fn base<'py>(array: &Bound<'py, PyUntypedArray>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: as in `data`. The array holds a reference to its base.
    unsafe { Bound::from_borrowed_ptr_or_opt(array.py(), (*_PyArray_GET_ITEM_DATA(array.as_array_ptr())).base) }
}

pub(crate) fn is_writable(array: &Bound<'_, PyUntypedArray>) -> bool {
    // SAFETY: as in `data`.
    let flags = unsafe { (*_PyArray_GET_ITEM_DATA(array.as_array_ptr())).flags };
    flags & numpy::npyffi::NPY_ARRAY_WRITEABLE != 0
}

/// Inputs that are read in step with an output.
pub(crate) trait Inputs {
    /// Contiguous writes are this many times as long as others.
    const LONGER: usize = LONGER;

    /// Moves to a tile, none of whose places has been written.
    fn begin(&mut self, tile: &Block) -> Result<(), OutOfMemory>;

    /// Moves to the inputs of `n` values of the tile, from number `first` on.
    fn advance(&mut self, first: usize, n: usize);
}

/// Inputs of one element type.
pub(crate) trait Elements<A>: Inputs {
    /// Whether [`Elements::advance_to`] can be called, and [`Inputs::begin`] does nothing.
    fn is_piecemeal(&self) -> bool {
        false
    }

    /// [`Inputs::advance`] to the inputs of the places `out`, which are not yet written.
    fn advance_to<T>(&mut self, first: usize, out: &[T]) {
        self.advance(first, out.len());
    }

    /// The elements that [`Inputs::advance`] has reached, to be read once each.
    fn unread(&self) -> Unread<'_, A>
    where
        A: Copy,
    {
        Unread::of(self.part())
    }

    /// Copies of the elements that [`Inputs::advance`] has reached.
    fn part(&self) -> &[A];
}

impl Inputs for () {
    const LONGER: usize = 2 * LONGER;

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
