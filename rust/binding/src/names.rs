//! Checks the names of arguments where the interpreter makes an object; in Python the check would take a quarter of a microsecond.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// The base of a class with its own error for a misspelt argument: `_known` has the names, `_unknown(name)` returns the error's text.
#[pyclass(frozen, subclass, module = "stairnoise._native")]
pub(crate) struct Named;

#[pymethods]
impl Named {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*_arguments, **named))]
    fn new(cls: &Bound<'_, PyType>, _arguments: &Bound<'_, PyTuple>, named: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let Some(named) = named else {
            return Ok(Self);
        };
        let known = cls.getattr(intern!(cls.py(), "_known"))?;
        for (name, _) in named {
            if !known.contains(&name)? {
                let text: String = cls.call_method1(intern!(cls.py(), "_unknown"), (name,))?.extract()?;
                return Err(PyTypeError::new_err(text));
            }
        }
        Ok(Self)
    }
}
