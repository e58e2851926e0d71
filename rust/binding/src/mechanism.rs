//! The class of every mechanism with scalar parameters.

use numpy::{Element, PyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;
use stairnoise::{Mechanism as _, Modulus, OutOfMemory, Value};

use crate::buffer::{same_shape, with_answers, with_floats, with_output, with_residues};
use crate::column::Column;
use crate::drawing;
use crate::errors;
use crate::fast_path::{self, Found};
use crate::stream::Stream;

/// A noise mechanism with scalar parameters, ready to draw.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct Mechanism(pub Box<dyn stairnoise::AnyMechanism>);

#[pymethods]
impl Mechanism {
    #[getter]
    fn granularity(&self) -> f64 {
        self.0.granularity()
    }

    /// ⌈Δ/g⌉; 0 for a mechanism without a sensitivity.
    #[getter]
    fn sensitivity_steps(&self) -> u64 {
        self.0.sensitivity_steps()
    }

    /// The mechanism's own lengths in lattice steps, fewer than 1024.
    #[getter]
    fn lengths(&self) -> Vec<u64> {
        self.0.lengths().to_vec()
    }

    fn draw_float(&self, stream: &Stream) -> PyResult<f64> {
        self.draw(stream)
    }

    fn draw_int(&self, stream: &Stream) -> PyResult<i64> {
        self.draw(stream)
    }

    #[pyo3(signature = (stream, out, threads = 0))]
    fn fill(&self, py: Python<'_>, stream: &Stream, out: &Bound<'_, PyUntypedArray>, threads: usize) -> PyResult<()> {
        with_output!(out, out => drawing::fill(py, out, &self.0, stream, threads))
    }

    #[pyo3(signature = (stream, values, out, threads = 0))]
    fn release(
        &self,
        py: Python<'_>,
        stream: &Stream,
        values: &Bound<'_, PyUntypedArray>,
        out: &Bound<'_, PyUntypedArray>,
        threads: usize,
    ) -> PyResult<()> {
        same_shape("values", values.shape(), out.shape())?;
        with_answers!(values, values => with_output!(out, out => drawing::release(py, values, out, &self.0, stream, threads, false)))
    }

    /// [`Mechanism::release`] of floats as floats, in which [`Mechanism::first_refused`] has found nothing to refuse.
    fn release_checked(
        &self,
        py: Python<'_>,
        stream: &Stream,
        values: &Bound<'_, PyUntypedArray>,
        out: &Bound<'_, PyUntypedArray>,
        threads: usize,
    ) -> PyResult<()> {
        same_shape("values", values.shape(), out.shape())?;
        with_floats!("values", values, values => with_floats!("out", out, out => {
            drawing::release(py, values, out, &self.0, stream, threads, true)
        }))
    }

    /// The position in C order of the first of some floats that no release takes.
    fn first_refused(&self, values: &Bound<'_, PyUntypedArray>) -> PyResult<Option<usize>> {
        with_floats!("values", values, values => drawing::first_refused(values, &self.0))
    }

    /// Releases integers modulo `largest` + 1, by a mechanism of integers. An element of `out` can hold `largest`.
    #[pyo3(signature = (stream, values, largest, out, threads = 0))]
    fn release_modulo(
        &self,
        py: Python<'_>,
        stream: &Stream,
        values: &Bound<'_, PyArrayDyn<i64>>,
        largest: u64,
        out: &Bound<'_, PyUntypedArray>,
        threads: usize,
    ) -> PyResult<()> {
        same_shape("values", values.shape(), out.shape())?;
        let modulus = Modulus::new(u128::from(largest) + 1).map_err(errors::parameter)?;
        with_residues!(out, out => drawing::release_modulo(py, values, modulus, out, &self.0, stream, threads))
    }

    /// Releases a chunked column; nulls become noisy 0 or, with `kept`, stay null. `nulls` has a byte other than 0 for each null.
    #[allow(clippy::too_many_arguments, reason = "Python's")]
    #[pyo3(signature = (stream, chunks, nulls, out, kept = false, threads = 0))]
    fn release_column(
        &self,
        py: Python<'_>,
        stream: &Stream,
        chunks: &Bound<'_, PyList>,
        nulls: Option<&Bound<'_, PyArrayDyn<u8>>>,
        out: &Bound<'_, PyUntypedArray>,
        kept: bool,
        threads: usize,
    ) -> PyResult<()> {
        if let Ok(chunks) = arrays::<i64>(chunks) {
            let column = Column::new(&chunks, nulls)?;
            with_output!(out, out => drawing::release_column(py, (&column, kept), out, &self.0, stream, threads))
        } else {
            let chunks = arrays::<f64>(chunks)?;
            let column = Column::new(&chunks, nulls)?;
            with_output!(out, out => drawing::release_column(py, (&column, kept), out, &self.0, stream, threads))
        }
    }

    /// Takes the stream's next fill of `n` values and returns a view of it.
    fn next_view(&self, stream: &Stream, n: u64) -> PyResult<Stream> {
        stream.next_view_of(&self.0, n).map_err(errors::draw)
    }

    /// A new array of a few draws; `None` for more draws, for which the package makes an array.
    fn fast_sample<'py>(&self, py: Python<'py>, stream: &Stream, n: usize, whole: bool) -> PyResult<Option<Bound<'py, PyAny>>> {
        fast_path::sample(py, n, whole, &self.0, stream)
    }

    /// Fills a common `out`; returns false for other arrays, which [`Mechanism::fill`] takes.
    fn fast_fill(&self, py: Python<'_>, stream: &Stream, out: &Bound<'_, PyAny>, whole: bool) -> PyResult<bool> {
        fast_path::fill(py, out, whole, &self.0, stream)
    }

    /// Releases common values as floats; `None` for other values, which [`Mechanism::release`] takes, and for a stream that may not release.
    fn fast_release<'py>(&self, stream: &Stream, values: &Bound<'py, PyAny>, out: Option<&Bound<'py, PyAny>>) -> Found<'py> {
        fast_path::release(values, out, (false, true), &self.0, stream)
    }

    /// [`Mechanism::fast_release`] of a mechanism of integers: releases of integers are integers.
    fn fast_release_whole<'py>(
        &self,
        stream: &Stream,
        values: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> Found<'py> {
        fast_path::release(values, out, (true, true), &self.0, stream)
    }

    /// [`Mechanism::fast_release_whole`] that takes integers only.
    fn fast_release_integers<'py>(
        &self,
        stream: &Stream,
        values: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> Found<'py> {
        fast_path::release(values, out, (true, false), &self.0, stream)
    }
}

/// The arrays of a list. `extract` would call the list's `__len__`, which a subclass can override.
fn arrays<'py, A: Element>(list: &Bound<'py, PyList>) -> PyResult<Vec<Bound<'py, PyArrayDyn<A>>>> {
    list.iter().map(|array| Ok(array.cast_into()?)).collect()
}

impl Mechanism {
    fn draw<T: Value>(&self, stream: &Stream) -> PyResult<T> {
        let mut value = [T::default()];
        let fill = stream.next_fill(&self.0, 1).map_err(errors::draw)?;
        fill.write(0, &mut value).map_err(|OutOfMemory| errors::memory())?;
        Ok(value[0])
    }
}
