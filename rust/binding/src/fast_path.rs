//! Fast path for common arguments; all others take the Python checks, which need a few microseconds more.
//!
//! A common array has NumPy's own class, the element type of the mechanism's draws or of true answers, C order and 1 to 32 axes, and is contiguous.
//! No two of its elements share a byte. The package converts or refuses all other arrays.

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyList, PyTuple};
use pyo3::{IntoPyObjectExt, PyTypeInfo};
use stairnoise::{Answer, Mechanism, OutOfMemory, Value};

use crate::buffer::{Input, is_writable, new_array, same_memory, zeros};
use crate::drawing;
use crate::errors;
use crate::stream::Stream;

/// The package makes longer new arrays: other threads run while they are written, and their memory is not cleared first.
const SHORT: usize = 1 << 10;

/// The package's maximum number of axes.
const MOST_AXES: usize = 32;

/// What a call of Python returns: `None` if the general path must take the arguments.
pub(crate) type Found<'py> = PyResult<Option<Bound<'py, PyAny>>>;

fn array<'a, 'py, A: Element>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyArrayDyn<A>>> {
    let array = object.cast_exact::<PyUntypedArray>().ok()?;
    let fits = (1..=MOST_AXES).contains(&array.ndim()) && array.is_c_contiguous();
    fits.then(|| array.cast().ok()).flatten()
}

fn output<'a, 'py, T: Element>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyArrayDyn<T>>> {
    array(object).filter(|array: &&Bound<'py, PyArrayDyn<T>>| is_writable(array.as_untyped()))
}

/// Fills `out` and returns true if it is a common array of the draws' dtype: int64 if draws are `whole`, otherwise float64.
pub(crate) fn fill(
    py: Python<'_>,
    out: &Bound<'_, PyAny>,
    whole: bool,
    mechanism: &impl Mechanism,
    stream: &Stream,
) -> PyResult<bool> {
    if whole {
        fill_as::<i64>(py, out, mechanism, stream)
    } else {
        fill_as::<f64>(py, out, mechanism, stream)
    }
}

fn fill_as<T: Value + Element>(
    py: Python<'_>,
    out: &Bound<'_, PyAny>,
    mechanism: &impl Mechanism,
    stream: &Stream,
) -> PyResult<bool> {
    let out = output::<T>(out);
    if let Some(out) = out {
        drawing::fill(py, out, mechanism, stream, 0)?;
    }
    Ok(out.is_some())
}

/// A new array of `n` values: int64 if they are `whole`, otherwise float64. `None` if they take more than [`SHORT`] draws, for which other threads
/// and Ctrl-C might wait too long.
pub(crate) fn sample<'py>(py: Python<'py>, n: usize, whole: bool, mechanism: &impl Mechanism, stream: &Stream) -> Found<'py> {
    if n.saturating_mul(mechanism.draws()) > SHORT {
        return Ok(None);
    }
    let array = if whole {
        new_array::<i64>(py, &[n], |out| drawing::fill_new(out, mechanism, stream))?.into_any()
    } else {
        new_array::<f64>(py, &[n], |out| drawing::fill_new(out, mechanism, stream))?.into_any()
    };
    Ok(Some(array))
}

/// Releases a Python number, a short list of them, or a common array of float64 or int64; `None` for all else. If the mechanism is `whole`, releases of
/// integers are integers. Their type decides where `floats` are not allowed. A given `out` must be a common array of the release's default dtype, and
/// share no byte with the values or have the same memory.
pub(crate) fn release<'py>(
    values: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    (whole, floats): (bool, bool),
    mechanism: &impl Mechanism,
    stream: &Stream,
) -> Found<'py> {
    if !stream.may_release() {
        return Ok(None);
    }
    let py = values.py();
    if floats {
        let released = release_as::<f64, f64, PyFloat>(py, values, out, mechanism, stream)?;
        if released.is_some() {
            return Ok(released);
        }
    }
    let released = if whole {
        release_as::<i64, i64, PyInt>(py, values, out, mechanism, stream)?
    } else {
        release_as::<i64, f64, PyInt>(py, values, out, mechanism, stream)?
    };
    if released.is_some() || out.is_some() {
        return Ok(released);
    }
    let integer = |item: &Bound<'py, PyAny>| item.is_exact_instance_of::<PyInt>().then(|| item.extract().ok())?;
    if let Some(answers) = listed(values, integer) {
        return if whole {
            release_list::<i64, i64>(py, &answers, mechanism, stream)
        } else {
            release_list::<i64, f64>(py, &answers, mechanism, stream)
        };
    }
    match listed(values, |item| number(item, !floats)) {
        Some(answers) if floats => release_list::<f64, f64>(py, &answers, mechanism, stream),
        _ => Ok(None),
    }
}

fn release_list<'py, A: Answer, T: Value + Element>(
    py: Python<'py>,
    answers: &[A],
    mechanism: &impl Mechanism,
    stream: &Stream,
) -> Found<'py> {
    if answers.len().saturating_mul(mechanism.draws()) > SHORT {
        return Ok(None);
    }
    let shape = [answers.len()];
    let release = |out: &mut [T]| drawing::release_new(answers, &shape, out, mechanism, stream);
    Ok(Some(new_array(py, &shape, release)?.into_any()))
}

/// The 1 to [`SHORT`] items of a list or tuple; `None` for all else, and if one of them is no such number.
fn listed<'py, A>(object: &Bound<'py, PyAny>, number: impl Fn(&Bound<'py, PyAny>) -> Option<A>) -> Option<Vec<A>> {
    let short = |n: usize| (1..=SHORT).contains(&n);
    if let Ok(list) = object.cast_exact::<PyList>() {
        return short(list.len()).then(|| list.iter().map(|item| number(&item)).collect())?;
    }
    let tuple = object.cast_exact::<PyTuple>().ok().filter(|tuple| short(tuple.len()))?;
    tuple.iter().map(|item| number(&item)).collect()
}

/// A row of 1 to [`SHORT`] costs: a list or tuple of Python numbers, or a common array of one axis; `None` for all else, and for numbers that float64
/// might round. Where only `integers` are allowed, their type decides.
pub(crate) fn row(object: &Bound<'_, PyAny>, integers: bool) -> Option<Vec<f64>> {
    if let Some(row) = listed(object, |item| number(item, integers)) {
        return Some(row);
    }
    let one_row = |array: &Bound<'_, PyUntypedArray>| array.ndim() == 1 && (1..=SHORT).contains(&array.len());
    if let Some(array) = array::<i64>(object).filter(|array| one_row(array.as_untyped())) {
        return Input::new("costs", array)
            .ok()?
            .copied()
            .ok()?
            .iter()
            .map(|&n| exact(n))
            .collect();
    }
    let array = array::<f64>(object).filter(|array| !integers && one_row(array.as_untyped()))?;
    Input::new("costs", array).ok()?.copied().ok()
}

fn number(object: &Bound<'_, PyAny>, integers: bool) -> Option<f64> {
    if object.is_exact_instance_of::<PyInt>() {
        return exact(object.extract().ok()?);
    }
    (!integers && object.is_exact_instance_of::<PyFloat>()).then(|| object.extract().ok())?
}

/// An integer that float64 holds, as those up to 2^53 are.
fn exact(n: i64) -> Option<f64> {
    (n.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS).then_some(n as f64)
}

/// Releases an array of `A` or a Python number of exactly the class `N`.
fn release_as<'py, A, T, N>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    mechanism: &impl Mechanism,
    stream: &Stream,
) -> Found<'py>
where
    A: Answer + Element + Sync + for<'a> FromPyObject<'a, 'py>,
    T: Value + Element + IntoPyObject<'py>,
    N: PyTypeInfo,
{
    if !values.is_exact_instance_of::<N>() {
        return array::<A>(values).map_or(Ok(None), |values| release_array::<A, T>(py, values, out, mechanism, stream));
    }
    let Some(value) = values.extract::<A>().ok().filter(|_| out.is_none()) else {
        return Ok(None);
    };
    let mut released = [T::default()];
    drawing::release_new(&[value], &[], &mut released, mechanism, stream)?;
    released[0].into_bound_py_any(py).map(Some)
}

fn release_array<'py, A: Answer + Element + Sync, T: Value + Element>(
    py: Python<'py>,
    values: &Bound<'py, PyArrayDyn<A>>,
    out: Option<&Bound<'py, PyAny>>,
    mechanism: &impl Mechanism,
    stream: &Stream,
) -> Found<'py> {
    let out = match out {
        Some(out) => {
            let Some(places) = output::<T>(out) else {
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
            // A few draws for contiguous answers need neither tiles nor pauses for other threads.
            if answers.is_slice() && answers.len().saturating_mul(mechanism.draws()) <= SHORT {
                let own = answers.copied().map_err(|OutOfMemory| errors::memory())?;
                let release = |out: &mut [T]| drawing::release_new(&own, values.shape(), out, mechanism, stream);
                return Ok(Some(new_array(py, values.shape(), release)?.into_any()));
            }
            zeros::<T>(py, values.shape())?
        }
    };
    drawing::release(py, values, &out, mechanism, stream, 0, false)?;
    Ok(Some(out.into_any()))
}

/// Whether two contiguous arrays of one shape share no byte, or have the same elements.
fn apart_or_same<A: Element, T: Element>(values: &Bound<'_, PyArrayDyn<A>>, out: &Bound<'_, PyArrayDyn<T>>) -> bool {
    let (a, b) = (values.data().addr(), out.data().addr());
    let apart = a + values.len() * size_of::<A>() <= b || b + out.len() * size_of::<T>() <= a;
    apart || same_memory(values.as_untyped(), out.as_untyped())
}
