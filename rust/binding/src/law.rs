use numpy::{PyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::{Answer, Value};

use crate::arguments::{self, Kind};
use crate::buffer::{InOrder, readable, same_shape, with_answers, with_output, writable, write_in_order};
use crate::errors::{self, ParameterError};
use crate::stream::Stream;
use crate::threads;

/// One law with scalar parameters, ready to draw.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct Law(stairnoise::Law);

#[pymethods]
impl Law {
    #[new]
    fn new(kind: Kind, eps: f64, sensitivity: f64, shape: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let shape = arguments::shape(shape)?;
        stairnoise::Law::new(kind.0, eps, sensitivity, shape)
            .map(Self)
            .map_err(errors::parameter)
    }

    #[getter]
    fn eps(&self) -> f64 {
        self.0.eps()
    }

    #[getter]
    fn sensitivity(&self) -> f64 {
        self.0.sensitivity()
    }

    #[getter]
    fn granularity(&self) -> f64 {
        self.0.granularity()
    }

    #[getter]
    fn cells(&self) -> u64 {
        self.0.cells()
    }

    #[getter]
    fn r(&self) -> u64 {
        self.0.r().unwrap_or(0)
    }

    #[pyo3(signature = (stream, out, threads = 0))]
    fn fill(&self, py: Python<'_>, stream: &Stream, out: &Bound<'_, PyUntypedArray>, threads: usize) -> PyResult<()> {
        with_output!(out, out => self.fill_array(py, stream, out, threads))
    }

    fn draw_float(&self, stream: &Stream) -> PyResult<f64> {
        self.draw(stream)
    }

    fn draw_int(&self, stream: &Stream) -> PyResult<i64> {
        self.draw(stream)
    }

    fn release(
        &self,
        py: Python<'_>,
        stream: &Stream,
        values: &Bound<'_, PyUntypedArray>,
        out: &Bound<'_, PyUntypedArray>,
    ) -> PyResult<()> {
        same_shape("values", values.shape(), out.shape())?;
        with_answers!(values, values => with_output!(out, out => self.release_array(py, stream, values, out)))
    }
}

impl Law {
    fn draw<T: Value>(&self, stream: &Stream) -> PyResult<T> {
        let mut value = [T::default()];
        self.0.fill(&mut stream.lock(), &mut value).map_err(errors::draw)?;
        Ok(value[0])
    }

    fn fill_array<T: Value + numpy::Element>(
        &self,
        py: Python<'_>,
        stream: &Stream,
        out: &Bound<'_, PyArrayDyn<T>>,
        threads: usize,
    ) -> PyResult<()> {
        let mut out = writable(out)?;
        let out = out.as_array_mut();
        let threads = threads::number(threads, out.len())?;
        let fill = stream.lock().next(out.len()).map_err(errors::draw)?;
        threads::fill(
            py,
            out,
            (),
            threads,
            || (),
            |(), piece| {
                write_in_order(piece.first, piece.out, |first, part| {
                    self.0.write(&fill, first, part);
                    Ok(())
                })
            },
        )
    }

    fn release_array<A: Answer + numpy::Element + Sync, T: Value + numpy::Element>(
        &self,
        py: Python<'_>,
        stream: &Stream,
        values: &Bound<'_, PyArrayDyn<A>>,
        out: &Bound<'_, PyArrayDyn<T>>,
    ) -> PyResult<()> {
        let mut out = writable(out)?;
        let out = out.as_array_mut();
        let values = readable("values", values)?;
        let values = values.as_array();
        all_finite(&values)?;
        let threads = threads::number(0, out.len())?;
        let fill = stream.lock().next(out.len()).map_err(errors::draw)?;
        threads::fill(
            py,
            out,
            values,
            threads,
            || (),
            |(), piece| {
                let mut answers = InOrder::new(&piece.inputs);
                write_in_order(piece.first, piece.out, |first, part| {
                    self.0.release_part(&fill, first, answers.next(part.len()), part);
                    Ok(())
                })
            },
        )
    }
}

/// Refuses a true answer that is not a number, by its position in C order.
pub(crate) fn all_finite<A: Answer>(values: &numpy::ndarray::ArrayViewD<'_, A>) -> PyResult<()> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(errors::draw(stairnoise::DrawError::NotFinite(index))),
        None => Ok(()),
    }
}

/// The largest float not above eps/k.
#[pyfunction]
pub(crate) fn largest_quotient(eps: f64, k: u64) -> PyResult<f64> {
    if !(1..1 << 53).contains(&k) {
        return Err(ParameterError::new_err(format!("k must be from 1 to 2**53 - 1, got {k}")));
    }
    Ok(stairnoise::largest_quotient(eps, k))
}
