use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;
use stairnoise::parallel::PIECE;
use stairnoise::{Answer, DrawError, MultivariateStaircase, OutOfMemory, ParamError, Share, StagedFill, Value, noise};

use crate::buffer::{Parts, same_shape, with_answers, with_output};
use crate::drawing;
use crate::errors;
use crate::stream::Stream;

/// Values of more draws come in pieces of 64 all the same: fewer at a time would take longer each.
const DEAREST: usize = PIECE / 64;

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
        let take = |n| stream.next_staged(n);
        with_output!(out, out => {
            drawing::fill(py, out, self.parts(), threads, take, |fill, first, part| noise::write(&*self.0, fill, first, part))
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
        let take = |n| stream.next_staged(n);
        with_answers!(values, values => with_output!(out, out => {
            let check = |answers: &[_]| noise::check_answers(&*self.0, answers);
            drawing::release(py, values, out, self.parts(), check, take, |fill, first, answers, part| {
                noise::release_part(&*self.0, fill, first, answers, part)
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
        drawing::release_short(py, values, whole, &*self.0, |n| stream.next_staged(n))
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
    fn parts(&self) -> Parts {
        Parts {
            price: self.0.draws().min(DEAREST),
            together: self.0.together(),
        }
    }

    fn draw<T: Value>(&self, stream: &Stream) -> PyResult<T> {
        let mut value = [T::default()];
        let fill = stream.next_staged(1).map_err(errors::draw)?;
        noise::write(&*self.0, &fill, 0, &mut value).map_err(|OutOfMemory| errors::memory())?;
        Ok(value[0])
    }
}

impl drawing::Part for dyn stairnoise::Noise {
    type Fill = StagedFill;

    fn check_answers<A: Answer>(&self, answers: &[A]) -> Result<(), DrawError> {
        noise::check_answers(self, answers)
    }

    fn release_part<A: Answer, T: Value>(&self, fill: &StagedFill, answers: &[A], out: &mut [T]) -> Result<(), OutOfMemory> {
        noise::release_part(self, fill, 0, answers, out)
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
pub(crate) fn merged_laplace(
    eps: &Bound<'_, PyList>,
    breakpoints: &Bound<'_, PyList>,
    sensitivity: f64,
) -> PyResult<(Noise, u64, Vec<u64>)> {
    let (eps, breakpoints) = (floats(eps)?, floats(breakpoints)?);
    let law = stairnoise::MergedLaplace::new(&eps, &breakpoints, sensitivity).map_err(errors::parameter)?;
    let (cells, breaks) = (law.cells(), law.breaks().to_vec());
    Ok((Noise(Box::new(law)), cells, breaks))
}

/// Memory for them is asked for with an answer, which `extract` does not wait for.
fn floats(list: &Bound<'_, PyList>) -> PyResult<Vec<f64>> {
    let mut floats = Vec::new();
    floats.try_reserve_exact(list.len()).map_err(|_| errors::memory())?;
    for item in list {
        floats.push(item.extract()?);
    }
    Ok(floats)
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
