use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::{Answer, Fill, MultivariateStaircase, ParamError, Share, Value, noise};

use crate::buffer::{STAGE, same_shape, with_answers, with_output};
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
        with_output!(out, out => drawing::fill(py, out, threads, self.part(), take, |fill, first, part| noise::write(&*self.0, fill, first, part)))
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
            drawing::release(py, values, out, self.part(), take, |fill, first, answers, part| {
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
    /// Values written at a time: whole vectors.
    fn part(&self) -> usize {
        STAGE.next_multiple_of(self.0.together())
    }

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

/// The law; ⌈Δ/g⌉, and the steps that it reaches below and above 0.
#[pyfunction]
pub(crate) fn truncated_laplace(
    eps: f64,
    delta: f64,
    sensitivity: f64,
    lower: Option<f64>,
    upper: Option<f64>,
) -> PyResult<(Noise, u64, u64, u64)> {
    let law = stairnoise::TruncatedLaplace::new(eps, delta, sensitivity, lower, upper).map_err(errors::parameter)?;
    let (cells, (below, above)) = (law.cells(), law.bounds());
    Ok((Noise(Box::new(law)), cells, below, above))
}

/// The law; ⌈Δ/g⌉, and the breakpoints in lattice steps.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python lists become vectors")]
pub(crate) fn merged_laplace(eps: Vec<f64>, breakpoints: Vec<f64>, sensitivity: f64) -> PyResult<(Noise, u64, Vec<u64>)> {
    let law = stairnoise::MergedLaplace::new(&eps, &breakpoints, sensitivity).map_err(errors::parameter)?;
    let (cells, breaks) = (law.cells(), law.breaks().to_vec());
    Ok((Noise(Box::new(law)), cells, breaks))
}

/// The discrete Gaussian law with the parameter σ², in steps of the lattice 2^log2_granularity.
#[pyfunction]
#[pyo3(signature = (sigma2, log2_granularity = 0))]
pub(crate) fn discrete_gaussian(sigma2: f64, log2_granularity: i32) -> PyResult<Noise> {
    let law = stairnoise::DiscreteGaussian::scaled(sigma2, log2_granularity).map_err(errors::parameter)?;
    Ok(Noise(Box::new(law)))
}

fn boxed<L: stairnoise::Noise + 'static>(law: Result<L, ParamError>) -> PyResult<Noise> {
    law.map(|law| Noise(Box::new(law))).map_err(errors::parameter)
}

#[pyfunction]
pub(crate) fn arete(alpha: f64, theta: f64, lam: f64, n_parties: u64, present: u64) -> PyResult<Noise> {
    boxed(Share::new(present, n_parties).and_then(|share| stairnoise::Arete::new(alpha, theta, lam, share)))
}

#[pyfunction]
pub(crate) fn generalized_discrete_laplace(beta: f64, a: f64, n_parties: u64, present: u64) -> PyResult<Noise> {
    boxed(Share::new(present, n_parties).and_then(|share| stairnoise::GeneralizedDiscreteLaplace::new(beta, a, share)))
}

#[pyfunction]
pub(crate) fn multi_scale_discrete_laplace(eps: f64, sensitivity: f64, n_parties: u64, present: u64) -> PyResult<Noise> {
    boxed(Share::new(present, n_parties).and_then(|share| stairnoise::MultiScaleDiscreteLaplace::new(eps, sensitivity, share)))
}
