//! Arguments as they usually are, recognised here in one look; the package's checks of all others take a few microseconds more.
//!
//! A usual array is of NumPy's own class, of the element type of the law's draws or of true answers, C-contiguous, and has from 1 to 32 axes. No
//! two of its elements share a byte. Anything else is left to the package, which converts it or says what is wrong with it.

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};
use stairnoise::{Answer, Law, OutOfMemory, Value};

use crate::buffer::{Input, is_writable, new_array, same_memory, zeros};
use crate::drawing;
use crate::errors;
use crate::stream::Stream;

/// Longer new arrays come from the package: other threads run while they are written, and their memory is not cleared before.
const SHORT: usize = 1 << 10;

/// As many axes as the package allows.
const MOST_AXES: usize = 32;

fn array<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyUntypedArray>> {
    let array = object.cast_exact::<PyUntypedArray>().ok()?;
    ((1..=MOST_AXES).contains(&array.ndim()) && array.is_c_contiguous()).then_some(array)
}

fn output<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyUntypedArray>> {
    array(object).filter(|array| is_writable(array))
}

/// Fills `out` if it is usual and of the dtype of the law's draws: int64 if they are `whole`, otherwise float64. Tells whether it did.
pub(crate) fn fill(py: Python<'_>, out: &Bound<'_, PyAny>, whole: bool, law: &impl Law, stream: &Stream) -> PyResult<bool> {
    let Some(out) = output(out) else {
        return Ok(false);
    };
    if whole && let Ok(out) = out.cast::<PyArrayDyn<i64>>() {
        drawing::fill(py, out, law, stream, 0)?;
    } else if !whole && let Ok(out) = out.cast::<PyArrayDyn<f64>>() {
        drawing::fill(py, out, law, stream, 0)?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// A new array of `n` values, of int64 if they are `whole`, otherwise of float64; `None` if they take more than [`SHORT`] draws, which may last
/// longer than other threads and Ctrl-C should wait.
pub(crate) fn sample<'py>(
    py: Python<'py>,
    n: usize,
    whole: bool,
    law: &impl Law,
    stream: &Stream,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if n.saturating_mul(law.draws()) > SHORT {
        return Ok(None);
    }
    let array = if whole {
        new_array::<i64>(py, &[n], |out| drawing::fill_new(out, law, stream))?.into_any()
    } else {
        new_array::<f64>(py, &[n], |out| drawing::fill_new(out, law, stream))?.into_any()
    };
    Ok(Some(array))
}

/// Releases a Python number or a usual array of float64 or int64; `None` for anything else. Where the law is `whole`, releases of integers are
/// integers. A given `out` is usual too, of a dtype that the release would have without it, and apart from the values or in their very place.
pub(crate) fn release<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    whole: bool,
    law: &impl Law,
    stream: &Stream,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(values) = array(values) {
        return if let Ok(values) = values.cast::<PyArrayDyn<f64>>() {
            release_array::<f64, f64>(py, values, out, law, stream)
        } else if let Ok(values) = values.cast::<PyArrayDyn<i64>>() {
            if whole {
                release_array::<i64, i64>(py, values, out, law, stream)
            } else {
                release_array::<i64, f64>(py, values, out, law, stream)
            }
        } else {
            Ok(None)
        };
    }
    if out.is_some() {
        return Ok(None);
    }
    if let Ok(value) = values.cast_exact::<PyFloat>() {
        return release_number::<f64, f64>(py, value.extract()?, law, stream);
    }
    match values.cast_exact::<PyInt>().map(|value| value.extract()) {
        Ok(Ok(value)) if whole => release_number::<i64, i64>(py, value, law, stream),
        Ok(Ok(value)) => release_number::<i64, f64>(py, value, law, stream),
        _ => Ok(None),
    }
}

fn release_array<'py, A: Answer + Element + Sync, T: Value + Element>(
    py: Python<'py>,
    values: &Bound<'py, PyArrayDyn<A>>,
    out: Option<&Bound<'py, PyAny>>,
    law: &impl Law,
    stream: &Stream,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let out = match out {
        Some(out) => {
            let Some(Ok(places)) = output(out).map(|out| out.cast::<PyArrayDyn<T>>()) else {
                return Ok(None);
            };
            if values.shape() != places.shape() || !apart_or_same(values, places) {
                return Ok(None);
            }
            places.clone()
        }
        None if values.len() > SHORT => return Ok(None),
        None => {
            let answers = Input::new("values", values)?;
            // Few draws of answers that lie one after the other need neither tiles nor a look at other threads.
            if answers.is_slice() && answers.len().saturating_mul(law.draws()) <= SHORT {
                let own = answers.copied().map_err(|OutOfMemory| errors::memory())?;
                let release = |out: &mut [T]| drawing::release_new(&own, values.shape(), out, law, stream);
                return Ok(Some(new_array(py, values.shape(), release)?.into_any()));
            }
            zeros::<T>(py, values.shape())?
        }
    };
    drawing::release(py, values, &out, law, stream, 0)?;
    Ok(Some(out.into_any()))
}

/// Whether two contiguous arrays of one shape share no byte, or have the same elements.
fn apart_or_same<A: Element, T: Element>(values: &Bound<'_, PyArrayDyn<A>>, out: &Bound<'_, PyArrayDyn<T>>) -> bool {
    let (a, b) = (values.data().addr(), out.data().addr());
    let apart = a + values.len() * size_of::<A>() <= b || b + out.len() * size_of::<T>() <= a;
    apart || same_memory(values.as_untyped(), out.as_untyped())
}

fn release_number<'py, A: Answer, T: Value + IntoPyObject<'py>>(
    py: Python<'py>,
    value: A,
    law: &impl Law,
    stream: &Stream,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut released = [T::default()];
    drawing::release_new(&[value], &[], &mut released, law, stream)?;
    released[0].into_bound_py_any(py).map(Some)
}
