//! A function for every mechanism that makes it from its parameters.

use pyo3::prelude::*;
use pyo3::types::PyList;
use stairnoise::{Kind, OneWordMechanism, ParamError, Shape, Share};

use crate::arguments;
use crate::errors::{self, ParameterError};
use crate::mechanism::Mechanism;

/// Adds the functions of this file to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(staircase, module)?)?;
    module.add_function(wrap_pyfunction!(discrete_staircase, module)?)?;
    module.add_function(wrap_pyfunction!(laplace, module)?)?;
    module.add_function(wrap_pyfunction!(discrete_laplace, module)?)?;
    module.add_function(wrap_pyfunction!(truncated_laplace, module)?)?;
    module.add_function(wrap_pyfunction!(truncated_staircase, module)?)?;
    module.add_function(wrap_pyfunction!(truncated_discrete_staircase, module)?)?;
    module.add_function(wrap_pyfunction!(truncated_staircase_ends, module)?)?;
    module.add_function(wrap_pyfunction!(merged_laplace, module)?)?;
    module.add_function(wrap_pyfunction!(lattice_noise, module)?)?;
    module.add_function(wrap_pyfunction!(discrete_canonical, module)?)?;
    module.add_function(wrap_pyfunction!(discrete_gaussian, module)?)?;
    module.add_function(wrap_pyfunction!(arete, module)?)?;
    module.add_function(wrap_pyfunction!(generalized_discrete_laplace, module)?)?;
    module.add_function(wrap_pyfunction!(multi_scale_discrete_laplace, module)?)?;
    module.add_function(wrap_pyfunction!(skellam, module)?)?;
    module.add_function(wrap_pyfunction!(randomized_response, module)?)?;
    module.add_function(wrap_pyfunction!(multivariate_staircase, module)?)?;
    module.add_function(wrap_pyfunction!(largest_quotient, module)?)
}

fn boxed(mechanism: Result<impl stairnoise::AnyMechanism + 'static, ParamError>) -> PyResult<Mechanism> {
    mechanism
        .map(|mechanism| Mechanism(Box::new(mechanism)))
        .map_err(errors::parameter)
}

fn share(present: u64, n_parties: u64) -> PyResult<Share> {
    Share::new(present, n_parties).map_err(errors::parameter)
}

#[pyfunction]
fn staircase(eps: f64, sensitivity: f64, gamma: Option<&Bound<'_, PyAny>>) -> PyResult<Mechanism> {
    boxed(OneWordMechanism::new(
        Kind::Staircase,
        eps,
        sensitivity,
        arguments::shape(gamma)?,
    ))
}

#[pyfunction]
fn discrete_staircase(eps: f64, sensitivity: f64, r: Option<&Bound<'_, PyAny>>) -> PyResult<Mechanism> {
    boxed(OneWordMechanism::new(
        Kind::DiscreteStaircase,
        eps,
        sensitivity,
        arguments::shape(r)?,
    ))
}

#[pyfunction]
fn laplace(eps: f64, sensitivity: f64) -> PyResult<Mechanism> {
    boxed(OneWordMechanism::new(Kind::Laplace, eps, sensitivity, Shape::default()))
}

#[pyfunction]
fn discrete_laplace(eps: f64, sensitivity: f64) -> PyResult<Mechanism> {
    boxed(OneWordMechanism::new(
        Kind::DiscreteLaplace,
        eps,
        sensitivity,
        Shape::default(),
    ))
}

/// `lengths` are the steps that the noise reaches below and above 0.
#[pyfunction]
fn truncated_laplace(eps: f64, delta: f64, sensitivity: f64, lower: Option<f64>, upper: Option<f64>) -> PyResult<Mechanism> {
    boxed(stairnoise::TruncatedLaplace::new(eps, delta, sensitivity, lower, upper))
}

/// `lengths` are r, the steps from the middle to the ends, and the middle's distance from 0.
#[pyfunction]
fn truncated_staircase(
    eps: f64,
    delta: f64,
    sensitivity: f64,
    gamma: f64,
    lower: Option<f64>,
    upper: Option<f64>,
) -> PyResult<Mechanism> {
    boxed(stairnoise::TruncatedStaircase::new(
        eps,
        delta,
        sensitivity,
        gamma,
        lower,
        upper,
    ))
}

/// `lengths` is as in `truncated_staircase`.
#[pyfunction]
fn truncated_discrete_staircase(
    eps: f64,
    delta: f64,
    sensitivity: u64,
    r: u64,
    lower: Option<i64>,
    upper: Option<i64>,
) -> PyResult<Mechanism> {
    boxed(stairnoise::TruncatedDiscreteStaircase::new(
        eps,
        delta,
        sensitivity,
        r,
        lower,
        upper,
    ))
}

/// The bound A of `truncated_discrete_staircase` for every r.
#[pyfunction]
fn truncated_staircase_ends(eps: f64, delta: f64, sensitivity: u64, r: &Bound<'_, PyList>) -> PyResult<Vec<u64>> {
    r.iter()
        .map(|r| stairnoise::TruncatedDiscreteStaircase::end(eps, delta, sensitivity, r.extract()?).map_err(errors::parameter))
        .collect()
}

/// `lengths` are the breakpoints.
#[pyfunction]
fn merged_laplace(eps: &Bound<'_, PyList>, breakpoints: &Bound<'_, PyList>, sensitivity: f64) -> PyResult<Mechanism> {
    boxed(stairnoise::MergedLaplace::new(
        &floats(eps)?,
        &floats(breakpoints)?,
        sensitivity,
    ))
}

#[pyfunction]
fn lattice_noise(
    weights: &Bound<'_, PyList>,
    tail_ratio: Option<f64>,
    granularity: f64,
    sensitivity: f64,
) -> PyResult<Mechanism> {
    boxed(stairnoise::LatticeNoise::new(
        &floats(weights)?,
        tail_ratio,
        granularity,
        sensitivity,
    ))
}

/// The numbers of a list of any length. `extract` would abort the process if memory ran out.
fn floats(list: &Bound<'_, PyList>) -> PyResult<Vec<f64>> {
    let mut floats = Vec::new();
    floats.try_reserve_exact(list.len()).map_err(|_| errors::memory())?;
    // A conversion may run Python code that makes the list longer.
    for item in list.iter().take(floats.capacity()) {
        floats.push(item.extract()?);
    }
    Ok(floats)
}

/// `lengths` has the largest integer that can be drawn.
#[pyfunction]
fn discrete_canonical(eps: f64, delta: f64) -> PyResult<Mechanism> {
    boxed(stairnoise::DiscreteCanonical::new(eps, delta))
}

/// `sigma2` is in squared steps of the lattice 2^log2_granularity.
#[pyfunction]
#[pyo3(signature = (sigma2, log2_granularity = 0))]
fn discrete_gaussian(sigma2: f64, log2_granularity: i32) -> PyResult<Mechanism> {
    boxed(stairnoise::Gaussian::scaled(sigma2, log2_granularity))
}

#[pyfunction]
fn arete(alpha: f64, theta: f64, lam: f64, n_parties: u64, present: u64) -> PyResult<Mechanism> {
    boxed(stairnoise::Arete::new(alpha, theta, lam, share(present, n_parties)?))
}

#[pyfunction]
fn generalized_discrete_laplace(beta: f64, a: f64, n_parties: u64, present: u64) -> PyResult<Mechanism> {
    boxed(stairnoise::GeneralizedDiscreteLaplace::new(
        beta,
        a,
        share(present, n_parties)?,
    ))
}

#[pyfunction]
fn multi_scale_discrete_laplace(eps: f64, sensitivity: f64, n_parties: u64, present: u64) -> PyResult<Mechanism> {
    boxed(stairnoise::MultiScaleDiscreteLaplace::new(
        eps,
        sensitivity,
        share(present, n_parties)?,
    ))
}

#[pyfunction]
fn skellam(mu: f64, n_parties: u64, present: u64) -> PyResult<Mechanism> {
    boxed(stairnoise::Skellam::new(mu, share(present, n_parties)?))
}

#[pyfunction]
fn randomized_response(eps: f64, categories: u64) -> PyResult<Mechanism> {
    boxed(stairnoise::RandomizedResponse::new(eps, categories))
}

/// `out` and `values` of the mechanism's methods hold one vector after the other.
#[pyfunction]
fn multivariate_staircase(eps: f64, sensitivity: f64, dim: u64, gamma: f64, norm: &str) -> PyResult<Mechanism> {
    let norm = arguments::norm(norm)?;
    boxed(stairnoise::MultivariateStaircase::new(eps, sensitivity, dim, gamma, norm))
}

/// The largest float not above eps/k.
#[pyfunction]
fn largest_quotient(eps: f64, k: u64) -> PyResult<f64> {
    if !(1..1 << 53).contains(&k) {
        return Err(ParameterError::new_err(format!("k must be from 1 to 2**53 - 1, got {k}")));
    }
    Ok(stairnoise::largest_quotient(eps, k))
}
