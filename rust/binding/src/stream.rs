//! The classes of generators.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyList};
use stairnoise::{DrawError, Fill, Generator, Mechanism, MechanismFill};
use zeroize::Zeroizing;

use crate::errors::{self, ParameterError};

/// A key and the count of its fills. The key cannot be copied, pickled or printed.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct Stream {
    generator: Mutex<Generator>,
    /// False for a seed, unless the user allows releases.
    allow_release: bool,
}

impl Stream {
    fn new(generator: Generator, allow_release: bool) -> Self {
        Self {
            generator: Mutex::new(generator),
            allow_release,
        }
    }

    pub fn may_release(&self) -> bool {
        self.allow_release
    }

    /// The lock is held only to take a fill, with the interpreter attached and without calls of Python. `os.fork` in another thread waits for its
    /// release, by the interpreter's lock or by stopping every attached thread, so a child never finds it locked.
    fn lock(&self) -> MutexGuard<'_, Generator> {
        // A thread that panics with the lock never leaves the generator half-changed.
        self.generator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next fill of `n` values.
    pub fn next(&self, n: usize) -> Result<Fill, DrawError> {
        self.lock().next(n)
    }

    /// The next fill of `n` values of a mechanism.
    pub fn next_fill<'a>(&self, mechanism: &'a impl Mechanism, n: usize) -> Result<MechanismFill<'a>, DrawError> {
        mechanism.next_fill(&mut self.lock(), n)
    }

    /// Takes the next fill of `n` values of a mechanism and returns a view of it; another thread's call gets a later fill.
    pub fn next_view_of(&self, mechanism: &impl Mechanism, n: u64) -> Result<Self, DrawError> {
        let view = mechanism.next_view(&mut self.lock(), n)?;
        Ok(Self::new(view, self.allow_release))
    }
}

#[pymethods]
impl Stream {
    #[staticmethod]
    fn from_os() -> PyResult<Self> {
        Ok(Self::new(Generator::from_os().map_err(errors::draw)?, true))
    }

    /// A `bytearray`, which the caller can wipe; its length is checked there.
    #[staticmethod]
    fn from_key(key: &Bound<'_, PyByteArray>) -> PyResult<Self> {
        with_key(key, |key| Ok(Self::new(Generator::from_key(key), true)))
    }

    #[staticmethod]
    #[pyo3(signature = (seed, allow_release = false))]
    fn from_seed(seed: u128, allow_release: bool) -> Self {
        Self::new(Generator::from_seed(seed), allow_release)
    }

    /// A list of the next `n` children.
    fn children<'py>(&self, py: Python<'py>, n: u64) -> PyResult<Bound<'py, PyList>> {
        let siblings = Arc::new(Siblings {
            children: self.lock().children(n).map_err(errors::draw)?,
            allow_release: self.allow_release,
        });
        let list = PyList::empty(py);
        for number in 0..n {
            list.append(Bound::new(py, Child::new(&siblings, number))?)?;
        }
        Ok(list)
    }

    fn at(&self, index: u64) -> PyResult<Self> {
        let view = self.lock().at(index).map_err(errors::draw)?;
        Ok(Self::new(view, self.allow_release))
    }

    /// [`Stream::next_view_of`] for values with their own parameters.
    fn next_view(&self, n: u64) -> PyResult<Self> {
        let view = self.lock().next_view(n).map_err(errors::draw)?;
        Ok(Self::new(view, self.allow_release))
    }

    /// A view that begins `first` values after this one.
    fn after(&self, first: u64) -> PyResult<Self> {
        let mut generator = self.lock();
        // A fill ends below 2⁶².
        let start = generator.start().saturating_add(first);
        let view = generator.at(start).map_err(errors::draw)?;
        Ok(Self::new(view, self.allow_release))
    }

    fn rekey_from_os(&self) -> PyResult<()> {
        // On an error the old key stays.
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

    /// Whether the caller gave the key, or a seed.
    #[getter]
    fn given(&self) -> bool {
        self.lock().is_given()
    }

    /// Whether a release may draw from it.
    #[getter]
    fn allow_release(&self) -> bool {
        self.allow_release
    }

    /// `copy` and every pickle protocol call this method.
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

/// Calls `make` with a copy of the key, and wipes the copy; the caller can wipe the original.
pub(crate) fn with_key<T>(key: &Bound<'_, PyByteArray>, make: impl FnOnce(&[u8; 32]) -> PyResult<T>) -> PyResult<T> {
    if key.len() != 32 {
        return Err(ParameterError::new_err(format!(
            "key must be 32 bytes, got {} bytes",
            key.len()
        )));
    }
    let bytes = Zeroizing::new(key.to_vec());
    match <&[u8; 32]>::try_from(&**bytes) {
        Ok(key) => make(key),
        Err(_) => Err(PyValueError::new_err("key changed while it was read")),
    }
}

/// The data that the children of one call share.
struct Siblings {
    children: stairnoise::Children,
    allow_release: bool,
}

/// A child of a stream; its first draw derives its key.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct Child {
    siblings: Arc<Siblings>,
    number: u64,
    stream: PyOnceLock<Py<Stream>>,
}

impl Child {
    fn new(siblings: &Arc<Siblings>, number: u64) -> Self {
        Self {
            siblings: Arc::clone(siblings),
            number,
            stream: PyOnceLock::new(),
        }
    }
}

#[pymethods]
impl Child {
    /// The child's only stream; a second one would repeat its noise. Racing threads all get the stream that was kept first; the other streams are
    /// dropped before a draw.
    fn stream(&self, py: Python<'_>) -> PyResult<Py<Stream>> {
        if let Some(kept) = self.stream.get(py) {
            return Ok(kept.clone_ref(py));
        }
        let child = self.siblings.children.child(self.number).map_err(errors::draw)?;
        let made = Py::new(py, Stream::new(child, self.siblings.allow_release))?;
        // This fails if another thread was first.
        let _ = self.stream.set(py, made.clone_ref(py));
        Ok(self.stream.get(py).map_or(made, |kept| kept.clone_ref(py)))
    }
}
