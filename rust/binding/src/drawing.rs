//! Noise and releases of one law into arrays of any strides: everything that can fail is done before a fill is taken.

use numpy::{Element, PyArrayDyn};
use pyo3::prelude::*;
use stairnoise::{Answer, DrawError, Fill, Value};

use crate::buffer::{InOrder, readable, writable, write_in_order};
use crate::errors;
use crate::threads;

/// Has `write(fill, first, part)` write every part of `out`, from the fill that `take` takes for so many values.
pub(crate) fn fill<T: Value + Element>(
    py: Python<'_>,
    out: &Bound<'_, PyArrayDyn<T>>,
    threads: usize,
    take: impl FnOnce(usize) -> Result<Fill, DrawError>,
    write: impl Fn(&Fill, u64, &mut [T]) + Sync + Send,
) -> PyResult<()> {
    let mut out = writable(out)?;
    let out = out.as_array_mut();
    let threads = threads::number(threads, out.len())?;
    let fill = take(out.len()).map_err(errors::draw)?;
    threads::fill(
        py,
        out,
        (),
        threads,
        || (),
        |(), piece| {
            write_in_order(piece.first, piece.out, |first, part| {
                write(&fill, first, part);
                Ok(())
            })
        },
    )
}

/// Has `write(fill, first, answers, part)` write every part of `out` with the answers of its places.
pub(crate) fn release<A: Answer + Element + Sync, T: Value + Element>(
    py: Python<'_>,
    values: &Bound<'_, PyArrayDyn<A>>,
    out: &Bound<'_, PyArrayDyn<T>>,
    take: impl FnOnce(usize) -> Result<Fill, DrawError>,
    write: impl Fn(&Fill, u64, &[A], &mut [T]) + Sync + Send,
) -> PyResult<()> {
    let mut out = writable(out)?;
    let out = out.as_array_mut();
    let values = readable("values", values)?;
    let values = values.as_array();
    all_finite(&values)?;
    let threads = threads::number(0, out.len())?;
    let fill = take(out.len()).map_err(errors::draw)?;
    threads::fill(
        py,
        out,
        values,
        threads,
        || (),
        |(), piece| {
            let mut answers = InOrder::new(&piece.inputs);
            write_in_order(piece.first, piece.out, |first, part| {
                write(&fill, first, answers.next(part.len()), part);
                Ok(())
            })
        },
    )
}

/// Refuses a true answer that is not a number, by its position in C order.
pub(crate) fn all_finite<A: Answer>(values: &numpy::ndarray::ArrayViewD<'_, A>) -> PyResult<()> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(errors::draw(DrawError::NotFinite(index))),
        None => Ok(()),
    }
}
