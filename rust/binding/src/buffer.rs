//! The gate between NumPy's memory and the core: element types, strides, borrows, and when to let other threads run.
//!
//! rust-numpy tracks borrows of the same base object, so an array that is being read or written by another call is refused, never
//! aliased. Everything that can fail is done before a fill is taken.

use numpy::ndarray::{ArrayViewD, ArrayViewMut1, ArrayViewMutD, Axis};
use numpy::{
    Element, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use stairnoise::parallel;

/// Fills of fewer values keep the interpreter: a detach and attach cost about 100 ns, this many values some 10 µs.
const DETACH_FROM: usize = 1 << 11;

/// Values written at a time by most laws, and staged on the way to memory that is not contiguous.
pub(crate) const STAGE: usize = 1 << 12;

/// Pieces of contiguous memory begin at a multiple of this: the core draws that many at a time.
const BLOCK: usize = 64;

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

pub(crate) use {with_answers, with_output};

pub(crate) fn element_type(name: &str, array: &Bound<'_, PyUntypedArray>, allowed: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{name} must be an array of {allowed} in native byte order, got {}",
        array.dtype()
    ))
}

/// The output, for this call alone.
pub(crate) fn writable<'py, T: Element>(out: &Bound<'py, PyArrayDyn<T>>) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    out.try_readwrite()
        .map_err(|error| PyValueError::new_err(format!("out must be writable and not in use elsewhere: {error}")))
}

/// The elements of an output; of an empty one, none along one axis. `ndarray` asks that no two indices share an element, and looks for that at strides,
/// which mean nothing in an empty array: with debug assertions it panics at those that NumPy gives.
pub(crate) fn elements<'a, T: Element>(out: &'a mut PyReadwriteArrayDyn<'_, T>) -> ArrayViewMutD<'a, T> {
    if out.is_empty() {
        return ArrayViewMut1::from(&mut []).into_dyn();
    }
    out.as_array_mut()
}

/// An input that nobody writes to during this call.
pub(crate) fn readable<'py, T: Element>(name: &str, array: &Bound<'py, PyArrayDyn<T>>) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    array
        .try_readonly()
        .map_err(|error| PyValueError::new_err(format!("{name} must not overlap out or be in use elsewhere: {error}")))
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

/// Has `write(first, part)` write all values in C order, from value `first` on and at most `most` at a time: straight into contiguous
/// memory, by a copy into other.
pub(crate) fn write_in_order<T: Copy + Default, E>(
    first: u64,
    mut out: ArrayViewMutD<'_, T>,
    most: usize,
    mut write: impl FnMut(u64, &mut [T]) -> Result<(), E>,
) -> Result<(), E> {
    if let Some(out) = out.as_slice_mut() {
        return (first..)
            .step_by(most)
            .zip(out.chunks_mut(most))
            .try_for_each(|(first, part)| write(first, part));
    }
    let total = out.len();
    // Row by row: one iterator over all axes would cost ten times as much an element.
    let mut places = out.rows_mut().into_iter().flatten();
    let mut stage = vec![T::default(); most.min(total)];
    for done in (0..total).step_by(most) {
        let stage = &mut stage[..most.min(total - done)];
        write(first + done as u64, stage)?;
        for (value, place) in stage.iter().zip(&mut places) {
            *place = *value;
        }
    }
    Ok(())
}

/// Arrays of the output's shape that are read in step with it.
pub(crate) trait Inputs: Send + Sized {
    fn split_at(self, axis: Axis, index: usize) -> (Self, Self);
}

impl Inputs for () {
    fn split_at(self, _: Axis, _: usize) -> (Self, Self) {
        ((), ())
    }
}

impl<A: Sync> Inputs for ArrayViewD<'_, A> {
    fn split_at(self, axis: Axis, index: usize) -> (Self, Self) {
        ArrayViewD::split_at(self, axis, index)
    }
}

impl<A: Inputs, B: Inputs> Inputs for (A, B) {
    fn split_at(self, axis: Axis, index: usize) -> (Self, Self) {
        let (a, b) = (self.0.split_at(axis, index), self.1.split_at(axis, index));
        ((a.0, b.0), (a.1, b.1))
    }
}

/// An output of any strides, with its inputs, cut along its axes into pieces of consecutive values in C order.
pub(crate) struct Pieces<'a, T, I> {
    /// What is left, the first piece last.
    rest: Vec<Piece<'a, T, I>>,
    /// Values of a piece.
    most: usize,
}

pub(crate) struct Piece<'a, T, I> {
    /// The number of its first value.
    pub first: u64,
    pub out: ArrayViewMutD<'a, T>,
    pub inputs: I,
}

impl<'a, T, I: Inputs> Pieces<'a, T, I> {
    /// Pieces of at most `most` ≥ 1 values.
    pub fn new(out: ArrayViewMutD<'a, T>, inputs: I, most: usize) -> Self {
        Self {
            rest: vec![Piece { first: 0, out, inputs }],
            most,
        }
    }
}

impl<'a, T, I: Inputs> Iterator for Pieces<'a, T, I> {
    type Item = Piece<'a, T, I>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut piece = self.rest.pop()?;
        while piece.out.len() > self.most {
            let (left, right) = piece.halves();
            self.rest.push(right);
            piece = left;
        }
        Some(piece)
    }
}

impl<T, I: Inputs> Piece<'_, T, I> {
    /// The first block of a page from the block at `middle` on, if the piece goes on there: see [`parallel::piece`].
    fn on_page(&self, middle: usize) -> Option<usize> {
        let values = self.out.as_slice()?;
        let page = (middle + parallel::to_next_page(&raw const values[middle])).next_multiple_of(BLOCK);
        (page < values.len()).then_some(page)
    }

    /// Cut across the outermost axis that can be, so that each half is consecutive in C order.
    fn halves(self) -> (Self, Self) {
        let Some((axis, length)) = self.out.shape().iter().copied().enumerate().find(|(_, length)| *length > 1) else {
            unreachable!("several values lie along some axis");
        };
        let (inner, axis) = (self.out.len() / length, Axis(axis));
        let middle = if inner == 1 && length >= 2 * BLOCK {
            let middle = (length / 2).next_multiple_of(BLOCK);
            self.on_page(middle).unwrap_or(middle)
        } else {
            length / 2
        };
        let (left, right) = self.out.split_at(axis, middle);
        let inputs = self.inputs.split_at(axis, middle);
        let second = self.first + (middle * inner) as u64;
        (
            Self {
                first: self.first,
                out: left,
                inputs: inputs.0,
            },
            Self {
                first: second,
                out: right,
                inputs: inputs.1,
            },
        )
    }
}

/// Elements of an array in C order, a part at a time and in step with [`write_in_order`].
pub(crate) enum InOrder<'a, A> {
    Contiguous(&'a [A]),
    Same(Vec<A>),
    Strided {
        elements: Box<dyn Iterator<Item = &'a A> + Send + 'a>,
        stage: Vec<A>,
    },
}

impl<'a, A: Copy + Sync> InOrder<'a, A> {
    /// Parts have at most `most` elements.
    pub fn new(view: &'a ArrayViewD<'_, A>, most: usize) -> Self {
        match (view.as_slice(), view.first()) {
            (Some(slice), _) => Self::Contiguous(slice),
            // A scalar that was broadcast.
            (None, Some(element)) if view.strides().iter().all(|stride| *stride == 0) => {
                Self::Same(vec![*element; most.min(view.len())])
            }
            _ => Self::Strided {
                elements: Box::new(view.rows().into_iter().flatten()),
                stage: Vec::with_capacity(most.min(view.len())),
            },
        }
    }

    /// The next `n` elements.
    pub fn next(&mut self, n: usize) -> &[A] {
        match self {
            Self::Contiguous(rest) => {
                let (part, after) = rest.split_at(n);
                *rest = after;
                part
            }
            Self::Same(stage) => &stage[..n],
            Self::Strided { elements, stage } => {
                stage.clear();
                stage.extend(elements.take(n).copied());
                stage
            }
        }
    }
}
