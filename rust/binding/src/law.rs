use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::{Answer, DrawError, Fill, OutOfMemory, Value};

use crate::arguments::{self, Kind};
use crate::buffer::{Parts, same_shape, with_answers, with_output};
use crate::drawing;
use crate::errors::{self, ParameterError};
use crate::stream::Stream;

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
        let take = |n| stream.next(n);
        with_output!(out, out => {
            drawing::fill(py, out, Parts::USUAL, threads, take, |fill, first, part| {
                self.0.write(fill, first, part);
                Ok(())
            })
        })
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
        let take = |n| stream.next(n);
        with_answers!(values, values => with_output!(out, out => {
            let check = |answers: &[_]| self.0.check_answers(answers);
            drawing::release(py, values, out, Parts::USUAL, check, take, |fill, first, answers, part| {
                self.0.release_part(fill, first, answers, part);
                Ok(())
            })
        }))
    }

    fn release_short<'py>(
        &self,
        py: Python<'py>,
        stream: &Stream,
        values: &Bound<'py, PyAny>,
        whole: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        drawing::release_short(py, values, whole, &self.0, |n| stream.next(n))
    }
}

impl Law {
    fn draw<T: Value>(&self, stream: &Stream) -> PyResult<T> {
        let mut value = [T::default()];
        let fill = stream.next(1).map_err(errors::draw)?;
        self.0.write(&fill, 0, &mut value);
        Ok(value[0])
    }
}

impl drawing::Part for stairnoise::Law {
    type Fill = Fill;

    fn check_answers<A: Answer>(&self, answers: &[A]) -> Result<(), DrawError> {
        self.check_answers(answers)
    }

    fn release_part<A: Answer, T: Value>(&self, fill: &Fill, answers: &[A], out: &mut [T]) -> Result<(), OutOfMemory> {
        self.release_part(fill, 0, answers, out);
        Ok(())
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
