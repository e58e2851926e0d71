//! One function for every law, which makes it from its parameters.

use pyo3::prelude::*;
use pyo3::types::PyList;
use stairnoise::{Kind, ParamError, Share};

use crate::arguments;
use crate::errors::{self, ParameterError};
use crate::law::Law;

/// What a constructor of this file takes for a share of a law: how many of how many parties.
fn share(present: u64, n_parties: u64) -> PyResult<Share> {
    Share::new(present, n_parties).map_err(errors::parameter)
}

fn one_word(kind: Kind, eps: f64, sensitivity: f64, shape: stairnoise::Shape) -> PyResult<Law> {
    let law = stairnoise::Law::new(kind, eps, sensitivity, shape).map_err(errors::parameter)?;
    Ok(Law::one_word(law))
}

/// A law without lengths and without a sensitivity in lattice steps.
fn plain(law: Result<impl stairnoise::Noise + 'static, ParamError>) -> PyResult<Law> {
    Ok(Law::several(law.map_err(errors::parameter)?, 0, Vec::new()))
}

#[pyfunction]
pub(crate) fn staircase(eps: f64, sensitivity: f64, gamma: Option<&Bound<'_, PyAny>>) -> PyResult<Law> {
    one_word(Kind::Staircase, eps, sensitivity, arguments::shape(gamma)?)
}

#[pyfunction]
pub(crate) fn discrete_staircase(eps: f64, sensitivity: f64, r: Option<&Bound<'_, PyAny>>) -> PyResult<Law> {
    one_word(Kind::DiscreteStaircase, eps, sensitivity, arguments::shape(r)?)
}

#[pyfunction]
pub(crate) fn laplace(eps: f64, sensitivity: f64) -> PyResult<Law> {
    one_word(Kind::Laplace, eps, sensitivity, stairnoise::Shape::default())
}

#[pyfunction]
pub(crate) fn discrete_laplace(eps: f64, sensitivity: f64) -> PyResult<Law> {
    one_word(Kind::DiscreteLaplace, eps, sensitivity, stairnoise::Shape::default())
}

/// Its lengths are the steps that it reaches below and above 0.
#[pyfunction]
pub(crate) fn truncated_laplace(eps: f64, delta: f64, sensitivity: f64, lower: Option<f64>, upper: Option<f64>) -> PyResult<Law> {
    let law = stairnoise::TruncatedLaplace::new(eps, delta, sensitivity, lower, upper).map_err(errors::parameter)?;
    let (cells, (below, above)) = (law.cells(), law.bounds());
    Ok(Law::several(law, cells, vec![below, above]))
}

/// Its lengths are the breakpoints.
#[pyfunction]
pub(crate) fn merged_laplace(eps: &Bound<'_, PyList>, breakpoints: &Bound<'_, PyList>, sensitivity: f64) -> PyResult<Law> {
    let (eps, breakpoints) = (floats(eps)?, floats(breakpoints)?);
    let law = stairnoise::MergedLaplace::new(&eps, &breakpoints, sensitivity).map_err(errors::parameter)?;
    let (cells, breaks) = (law.cells(), law.breaks().to_vec());
    Ok(Law::several(law, cells, breaks))
}

/// The numbers of a list of any length, where `extract` would abort the process for want of memory.
fn floats(list: &Bound<'_, PyList>) -> PyResult<Vec<f64>> {
    let mut floats = Vec::new();
    floats.try_reserve_exact(list.len()).map_err(|_| errors::memory())?;
    for item in list.iter().take(floats.capacity()) {
        floats.push(item.extract()?);
    }
    Ok(floats)
}

/// `sigma2` is in steps of the lattice 2^log2_granularity, squared.
#[pyfunction]
#[pyo3(signature = (sigma2, log2_granularity = 0))]
pub(crate) fn discrete_gaussian(sigma2: f64, log2_granularity: i32) -> PyResult<Law> {
    plain(stairnoise::DiscreteGaussian::scaled(sigma2, log2_granularity))
}

#[pyfunction]
pub(crate) fn arete(alpha: f64, theta: f64, lam: f64, n_parties: u64, present: u64) -> PyResult<Law> {
    plain(stairnoise::Arete::new(alpha, theta, lam, share(present, n_parties)?))
}

#[pyfunction]
pub(crate) fn generalized_discrete_laplace(beta: f64, a: f64, n_parties: u64, present: u64) -> PyResult<Law> {
    plain(stairnoise::GeneralizedDiscreteLaplace::new(
        beta,
        a,
        share(present, n_parties)?,
    ))
}

#[pyfunction]
pub(crate) fn multi_scale_discrete_laplace(eps: f64, sensitivity: f64, n_parties: u64, present: u64) -> PyResult<Law> {
    plain(stairnoise::MultiScaleDiscreteLaplace::new(
        eps,
        sensitivity,
        share(present, n_parties)?,
    ))
}

/// `out` and `values` of its methods hold one vector after the other.
#[pyfunction]
pub(crate) fn multivariate_staircase(eps: f64, sensitivity: f64, dim: u64, gamma: f64, norm: &str) -> PyResult<Law> {
    let norm = arguments::norm(norm)?;
    plain(stairnoise::MultivariateStaircase::new(eps, sensitivity, dim, gamma, norm))
}

/// The largest float not above eps/k.
#[pyfunction]
pub(crate) fn largest_quotient(eps: f64, k: u64) -> PyResult<f64> {
    if !(1..1 << 53).contains(&k) {
        return Err(ParameterError::new_err(format!("k must be from 1 to 2**53 - 1, got {k}")));
    }
    Ok(stairnoise::largest_quotient(eps, k))
}
