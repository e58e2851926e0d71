use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use stairnoise::Generator;
use zeroize::Zeroizing;

use crate::errors::{self, ParameterError};

/// A key and the count of its fills. No copying, pickling or printing of the key.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct Stream(Mutex<Generator>);

impl Stream {
    /// Held only to take a fill, with the interpreter attached: a fork in another thread cannot leave it locked.
    pub fn lock(&self) -> MutexGuard<'_, Generator> {
        // A generator is never left half-changed, whatever happened to the thread that held it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Generator> for Stream {
    fn from(generator: Generator) -> Self {
        Self(Mutex::new(generator))
    }
}

#[pymethods]
impl Stream {
    #[staticmethod]
    fn from_os() -> PyResult<Self> {
        Generator::from_os().map(Self::from).map_err(errors::draw)
    }

    /// A `bytearray`, which the caller can wipe; its length is checked there.
    #[staticmethod]
    fn from_key(key: &Bound<'_, PyByteArray>) -> PyResult<Self> {
        let bytes = Zeroizing::new(key.to_vec());
        match <&[u8; 32]>::try_from(&**bytes) {
            Ok(key) => Ok(Generator::from_key(key).into()),
            Err(_) => Err(ParameterError::new_err(format!(
                "key must be 32 bytes, got {} bytes",
                bytes.len()
            ))),
        }
    }

    #[staticmethod]
    fn from_seed(seed: u128) -> Self {
        Generator::from_seed(seed).into()
    }

    fn spawn(&self, n: usize) -> PyResult<Vec<Self>> {
        let mut generator = self.lock();
        (0..n)
            .map(|_| generator.spawn().map(Self::from).map_err(errors::draw))
            .collect()
    }

    fn at(&self, index: u64) -> PyResult<Self> {
        self.lock().at(index).map(Self::from).map_err(errors::draw)
    }

    fn rekey_from_os(&self) -> PyResult<()> {
        let fresh = Generator::from_os().map_err(errors::draw)?;
        *self.lock() = fresh;
        Ok(())
    }

    fn rekey_from_seed(&self, seed: u128) {
        *self.lock() = Generator::from_seed(seed);
    }

    #[getter]
    fn fill_count(&self) -> u64 {
        self.lock().next_fill()
    }

    /// What `copy` and every pickle protocol ask for.
    #[allow(clippy::unused_self, reason = "Python calls it as a method")]
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Stream cannot be copied or pickled: the copy would repeat its noise",
        ))
    }

    fn __repr__(&self) -> String {
        let generator = self.lock();
        format!(
            "<stairnoise._native.Stream fill_count={} index={}>",
            generator.next_fill(),
            generator.start()
        )
    }
}
