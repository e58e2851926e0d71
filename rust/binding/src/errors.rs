use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use stairnoise::{DrawError, ParamError};

pyo3::import_exception!(stairnoise._errors, ParameterError);

pub(crate) fn parameter(error: ParamError) -> PyErr {
    match error {
        ParamError::OutOfMemory => memory(),
        _ => ParameterError::new_err(error.to_string()),
    }
}

/// Without a text, as Python's own: making one would take memory.
pub(crate) fn memory() -> PyErr {
    PyMemoryError::new_err(())
}

/// A broken rule at one element of arrays of parameters.
pub(crate) fn parameter_at(error: ParamError, index: &[usize]) -> PyErr {
    let index = match index {
        _ if error == ParamError::OutOfMemory => return memory(),
        [] => return parameter(error),
        [i] => format!("({i},)"),
        _ => format!("({})", index.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    };
    ParameterError::new_err(format!("{error} at index {index}"))
}

pub(crate) fn draw(error: DrawError) -> PyErr {
    match error {
        DrawError::Entropy(_) | DrawError::FillsExhausted => PyRuntimeError::new_err(error.to_string()),
        DrawError::OutOfMemory => memory(),
        _ => ParameterError::new_err(error.to_string()),
    }
}
