use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::{Answer, Fill, MultivariateStaircase, Value, noise};

use crate::buffer::{same_shape, with_answers, with_output};
use crate::drawing;
use crate::errors;
use crate::stream::Stream;

/// A law of several draws for a value, ready to draw.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct Noise(Box<dyn stairnoise::Noise>);

#[pymethods]
impl Noise {
    #[getter]
    fn granularity(&self) -> f64 {
        self.0.granularity()
    }

    #[pyo3(signature = (stream, out, threads = 0))]
    fn fill(&self, py: Python<'_>, stream: &Stream, out: &Bound<'_, PyUntypedArray>, threads: usize) -> PyResult<()> {
        let take = |n| stream.lock().next_staged(n);
        with_output!(out, out => drawing::fill(py, out, threads, take, |fill, first, part| noise::write(&*self.0, fill, first, part)))
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
        let take = |n| stream.lock().next_staged(n);
        with_answers!(values, values => with_output!(out, out => {
            drawing::release(py, values, out, take, |fill, first, answers, part| {
                noise::release_part(&*self.0, fill, first, answers, part);
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
        drawing::release_short(py, values, whole, &*self.0, |n| stream.lock().next_staged(n))
    }
}

/// The staircase of vectors; `out` and `values` of its methods hold one vector after the other.
#[pyfunction]
pub(crate) fn multivariate_staircase(eps: f64, sensitivity: f64, dim: u64, gamma: f64, norm: &str) -> PyResult<Noise> {
    let norm = match norm {
        "l1" => stairnoise::Norm::L1,
        "l2" => stairnoise::Norm::L2,
        "linf" => stairnoise::Norm::LInf,
        _ => {
            let text = format!("norm must be \"l1\", \"l2\" or \"linf\", got {norm:?}");
            return Err(errors::ParameterError::new_err(text));
        }
    };
    let law = MultivariateStaircase::new(eps, sensitivity, dim, gamma, norm).map_err(errors::parameter)?;
    Ok(Noise(Box::new(law)))
}

impl Noise {
    fn draw<T: Value>(&self, stream: &Stream) -> PyResult<T> {
        let mut value = [T::default()];
        let fill = stream.lock().next_staged(1).map_err(errors::draw)?;
        noise::write(&*self.0, &fill, 0, &mut value);
        Ok(value[0])
    }
}

impl drawing::Part for dyn stairnoise::Noise {
    fn release_part<A: Answer, T: Value>(&self, fill: &Fill, answers: &[A], out: &mut [T]) {
        noise::release_part(self, fill, 0, answers, out);
    }
}
