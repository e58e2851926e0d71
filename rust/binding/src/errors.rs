//! The core's errors as Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use stairnoise::{DrawError, OFF_LATTICE, OutOfMemory, ParamError};

const NOT_FINITE: &str = "values must be finite, got one that is not";

pyo3::import_exception!(stairnoise._errors, ParameterError);

/// Why a fill stops before its end.
pub(crate) enum Failure {
    Parameter(ParamError),
    /// The input of this name passed its check, but another thread then wrote invalid elements to it.
    Changed(&'static str),
}

impl From<ParamError> for Failure {
    fn from(error: ParamError) -> Self {
        Self::Parameter(error)
    }
}

impl From<OutOfMemory> for Failure {
    fn from(error: OutOfMemory) -> Self {
        Self::Parameter(error.into())
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Parameter(error) => parameter(error),
            Failure::Changed(name) => {
                ParameterError::new_err(format!("{name} must not be written to by another thread during the call"))
            }
        }
    }
}

pub(crate) fn parameter(error: ParamError) -> PyErr {
    match error {
        ParamError::OutOfMemory => memory(),
        _ => ParameterError::new_err(error.to_string()),
    }
}

/// Has no text, like Python's own `MemoryError`, because a text would take memory.
pub(crate) fn memory() -> PyErr {
    PyMemoryError::new_err(())
}

/// A broken rule at one element of arrays of parameters, whose common shape is `shape`.
pub(crate) fn parameter_at(error: ParamError, position: usize, shape: &[usize]) -> PyErr {
    match error {
        ParamError::OutOfMemory => memory(),
        _ => ParameterError::new_err(format!("{error}{}", place(position, shape))),
    }
}

/// A refused answer in a part that begins at `first` in an array of shape `shape`.
pub(crate) fn answer(error: DrawError, first: usize, shape: &[usize]) -> PyErr {
    match error {
        DrawError::NotFinite(index) => ParameterError::new_err(format!("{NOT_FINITE}{}", place(first + index, shape))),
        DrawError::OffLattice(index) => ParameterError::new_err(format!("{OFF_LATTICE}{}", place(first + index, shape))),
        other => draw(other),
    }
}

/// The index of an element from its position in C order, in words; empty for a single number.
pub(crate) fn place(mut position: usize, shape: &[usize]) -> String {
    // NumPy has at most 64 axes.
    let mut index = vec![0; shape.len()];
    for (place, length) in index.iter_mut().zip(shape).rev() {
        (position, *place) = (position / length, position % length);
    }
    match *index {
        [] => String::new(),
        [i] => format!(" at index ({i},)"),
        _ => format!(
            " at index ({})",
            index.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ),
    }
}

pub(crate) fn draw(error: DrawError) -> PyErr {
    match error {
        DrawError::Entropy(_) | DrawError::FillsExhausted => PyRuntimeError::new_err(error.to_string()),
        DrawError::OutOfMemory => memory(),
        _ => ParameterError::new_err(error.to_string()),
    }
}
