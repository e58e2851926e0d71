//! Noise and releases of one law into arrays of any strides: everything that can fail is done before a fill is taken.

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::{Answer, DrawError, Fill, Value};

use crate::buffer::{InOrder, elements, readable, writable, write_in_order};
use crate::errors;
use crate::threads;

/// Longer releases are worth their preparations, and let other threads run meanwhile.
const SHORT: usize = 1 << 10;

/// Has `write(fill, first, part)` write every part of `out`, of at most `most` values, from the fill that `take` takes for so many values.
pub(crate) fn fill<T: Value + Element>(
    py: Python<'_>,
    out: &Bound<'_, PyArrayDyn<T>>,
    threads: usize,
    most: usize,
    take: impl FnOnce(usize) -> Result<Fill, DrawError>,
    write: impl Fn(&Fill, u64, &mut [T]) + Sync + Send,
) -> PyResult<()> {
    let mut out = writable(out)?;
    let out = elements(&mut out);
    let threads = threads::number(threads, out.len())?;
    let fill = take(out.len()).map_err(errors::draw)?;
    threads::fill_parts(
        py,
        out,
        (),
        [1, most],
        threads,
        || (),
        |(), piece| {
            write_in_order(piece.first, piece.out, most, |first, part| {
                write(&fill, first, part);
                Ok(())
            })
        },
    )
}

/// Has `write(fill, first, answers, part)` write every part of `out`, of at most `most` values, with the answers of its places.
pub(crate) fn release<A: Answer + Element + Sync, T: Value + Element>(
    py: Python<'_>,
    values: &Bound<'_, PyArrayDyn<A>>,
    out: &Bound<'_, PyArrayDyn<T>>,
    most: usize,
    take: impl FnOnce(usize) -> Result<Fill, DrawError>,
    write: impl Fn(&Fill, u64, &[A], &mut [T]) + Sync + Send,
) -> PyResult<()> {
    let mut out = writable(out)?;
    let out = elements(&mut out);
    let values = readable("values", values)?;
    let values = values.as_array();
    all_finite(&values)?;
    let threads = threads::number(0, out.len())?;
    let fill = take(out.len()).map_err(errors::draw)?;
    threads::fill_parts(
        py,
        out,
        values,
        [1, most],
        threads,
        || (),
        |(), piece| {
            let mut answers = InOrder::new(&piece.inputs, most);
            write_in_order(piece.first, piece.out, most, |first, part| {
                write(&fill, first, answers.next(part.len()), part);
                Ok(())
            })
        },
    )
}

/// Releases what counts and sums usually are, an array of float64 or int64 that is short, contiguous and of no subclass, as a new array; `None` for
/// anything else. Where the law is `whole`, releases of integers are integers.
///
/// For seven counts 1.5 µs from Python, where the general way takes 5.8.
pub(crate) fn release_short<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    whole: bool,
    law: &(impl Part + ?Sized),
    take: impl FnOnce(usize) -> Result<Fill, DrawError>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Ok(values) = values.cast_exact::<PyUntypedArray>() else {
        return Ok(None);
    };
    if values.ndim() == 0 || values.len() > SHORT || !values.is_c_contiguous() {
        return Ok(None);
    }
    if let Ok(values) = values.cast::<PyArrayDyn<f64>>() {
        release_new::<f64, f64>(py, values, law, take)
    } else if let Ok(values) = values.cast::<PyArrayDyn<i64>>() {
        if whole {
            release_new::<i64, i64>(py, values, law, take)
        } else {
            release_new::<i64, f64>(py, values, law, take)
        }
    } else {
        Ok(None)
    }
}

fn release_new<'py, A: Answer + Element, T: Value + Element>(
    py: Python<'py>,
    values: &Bound<'py, PyArrayDyn<A>>,
    law: &(impl Part + ?Sized),
    take: impl FnOnce(usize) -> Result<Fill, DrawError>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !values.data().is_aligned() {
        return Ok(None);
    }
    let answers = readable("values", values)?;
    let answers = answers.as_slice()?;
    if let Some(index) = answers.iter().position(|answer| !answer.is_finite()) {
        return Err(errors::draw(DrawError::NotFinite(index)));
    }
    let out = PyArrayDyn::<T>::zeros(py, values.shape(), false);
    let fill = take(answers.len()).map_err(errors::draw)?;
    law.release_part(&fill, answers, out.try_readwrite()?.as_slice_mut()?);
    Ok(Some(out.into_any()))
}

/// What releases a part of a fill, for answers and outputs of any element type.
pub(crate) trait Part {
    /// Releases the answers with the first values of the fill.
    fn release_part<A: Answer, T: Value>(&self, fill: &Fill, answers: &[A], out: &mut [T]);
}

/// Refuses a true answer that is not a number, by its position in C order.
pub(crate) fn all_finite<A: Answer>(values: &numpy::ndarray::ArrayViewD<'_, A>) -> PyResult<()> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(errors::draw(DrawError::NotFinite(index))),
        None => Ok(()),
    }
}
