//! Python values as the core's enums.

use pyo3::prelude::*;
use pyo3::types::PyString;
use stairnoise::{Norm, Shape};

use crate::errors::ParameterError;

/// One of the four mechanisms whose parameters can be arrays, from its name.
#[derive(Clone, Copy)]
pub(crate) struct Kind(pub stairnoise::Kind);

impl<'py> FromPyObject<'_, 'py> for Kind {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let name = object.cast::<PyString>()?;
        Ok(Self(match name.to_str()? {
            "staircase" => stairnoise::Kind::Staircase,
            "discrete_staircase" => stairnoise::Kind::DiscreteStaircase,
            "laplace" => stairnoise::Kind::Laplace,
            "discrete_laplace" => stairnoise::Kind::DiscreteLaplace,
            name => {
                return Err(ParameterError::new_err(format!(
                    "mechanism must be staircase, discrete_staircase, laplace or discrete_laplace, got {name:?}"
                )));
            }
        }))
    }
}

/// The shape for `None`, `"l1"` or `"l2"`; `None` for any other object, which the caller extracts.
pub(crate) fn named_shape(object: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Shape>> {
    let Some(object) = object else {
        return Ok(Some(Shape::L1));
    };
    let Ok(name) = object.cast::<PyString>() else {
        return Ok(None);
    };
    match name.to_str()? {
        "l1" => Ok(Some(Shape::L1)),
        "l2" => Ok(Some(Shape::L2)),
        name => Err(ParameterError::new_err(format!(
            "the shape must be \"l1\", \"l2\" or a number, got {name:?}"
        ))),
    }
}

/// The shape of one mechanism.
pub(crate) fn shape(object: Option<&Bound<'_, PyAny>>) -> PyResult<Shape> {
    match (named_shape(object)?, object) {
        (None, Some(object)) => Ok(Shape::Number(object.extract()?)),
        (named, _) => Ok(named.unwrap_or_default()),
    }
}

/// A norm by its name.
pub(crate) fn norm(name: &str) -> PyResult<Norm> {
    match name {
        "l1" => Ok(Norm::L1),
        "l2" => Ok(Norm::L2),
        "linf" => Ok(Norm::LInf),
        _ => {
            let text = format!("norm must be \"l1\", \"l2\" or \"linf\", got {name:?}");
            Err(ParameterError::new_err(text))
        }
    }
}
