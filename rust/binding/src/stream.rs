use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use stairnoise::{DrawError, Fill, Generator};
use zeroize::Zeroizing;

use crate::errors::{self, ParameterError};

/// A key and the count of its fills. No copying, pickling or printing of the key.
///
/// Its generator is with those of its family, so that a child that was never drawn from is small.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct Stream {
    family: Arc<Family>,
    number: u64,
}

/// A generator on its own, or the children of one.
struct Family {
    /// Where those come from that are not there yet.
    children: Option<stairnoise::Children>,
    /// What a user said of a seed.
    allow_release: bool,
    generators: Mutex<HashMap<u64, Generator>>,
}

impl Family {
    /// Held only to take a fill, with the interpreter attached: a fork in another thread cannot leave it locked.
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Generator>> {
        // A generator is never left half-changed, whatever happened to the thread that held it.
        self.generators.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.family.lock().remove(&self.number);
    }
}

impl Stream {
    fn alone(generator: Generator, allow_release: bool) -> PyResult<Self> {
        let mut generators = HashMap::new();
        generators.try_reserve(1).map_err(|_| errors::memory())?;
        generators.insert(0, generator);
        let family = Family {
            children: None,
            allow_release,
            generators: Mutex::new(generators),
        };
        Ok(Self {
            family: Arc::new(family),
            number: 0,
        })
    }

    /// Has the generator do something; a child that was never drawn from takes its key first.
    fn with<R>(&self, work: impl FnOnce(&mut Generator) -> Result<R, DrawError>) -> Result<R, DrawError> {
        let mut generators = self.family.lock();
        if let Some(generator) = generators.get_mut(&self.number) {
            return work(generator);
        }
        let Some(children) = &self.family.children else {
            unreachable!("a stream on its own has a generator")
        };
        generators.try_reserve(1).map_err(|_| DrawError::OutOfMemory)?;
        let child = children.child(self.number)?;
        work(generators.entry(self.number).or_insert(child))
    }

    /// The next fill of `n` values.
    pub fn next(&self, n: usize) -> Result<Fill, DrawError> {
        self.with(|generator| generator.next(n))
    }

    /// [`Stream::next`], for a law of several draws.
    pub fn next_staged(&self, n: usize) -> Result<Fill, DrawError> {
        self.with(|generator| generator.next_staged(n))
    }

    /// Goes on with another generator.
    fn replace(&self, generator: Generator) -> PyResult<()> {
        let mut generators = self.family.lock();
        generators.try_reserve(1).map_err(|_| errors::memory())?;
        generators.insert(self.number, generator);
        Ok(())
    }

    /// Number of the next fill, and the index that fills start at.
    fn place(&self) -> (u64, u64) {
        let generators = self.family.lock();
        let place = |generator: &Generator| (generator.next_fill(), generator.start());
        generators.get(&self.number).map_or((0, 0), place)
    }
}

#[pymethods]
impl Stream {
    #[staticmethod]
    fn from_os() -> PyResult<Self> {
        Self::alone(Generator::from_os().map_err(errors::draw)?, true)
    }

    /// A `bytearray`, which the caller can wipe; its length is checked there.
    #[staticmethod]
    fn from_key(key: &Bound<'_, PyByteArray>) -> PyResult<Self> {
        if key.len() != 32 {
            return Err(ParameterError::new_err(format!(
                "key must be 32 bytes, got {} bytes",
                key.len()
            )));
        }
        let bytes = Zeroizing::new(key.to_vec());
        match <&[u8; 32]>::try_from(&**bytes) {
            Ok(key) => Self::alone(Generator::from_key(key), true),
            Err(_) => Err(PyValueError::new_err("key changed while it was read")),
        }
    }

    #[staticmethod]
    #[pyo3(signature = (seed, allow_release = false))]
    fn from_seed(seed: u128, allow_release: bool) -> PyResult<Self> {
        Self::alone(Generator::from_seed(seed), allow_release)
    }

    fn children(&self, n: u64) -> PyResult<Children> {
        let children = self.with(|generator| Ok(generator.children(n))).map_err(errors::draw)?;
        Ok(Children(Arc::new(Family {
            children: Some(children),
            allow_release: self.family.allow_release,
            generators: Mutex::default(),
        })))
    }

    fn at(&self, index: u64) -> PyResult<Self> {
        let view = self.with(|generator| generator.at(index)).map_err(errors::draw)?;
        Self::alone(view, self.family.allow_release)
    }

    fn rekey_from_os(&self) -> PyResult<()> {
        self.replace(Generator::from_os().map_err(errors::draw)?)
    }

    fn rekey_from_seed(&self, seed: u128) -> PyResult<()> {
        self.replace(Generator::from_seed(seed))
    }

    #[getter]
    fn fill_count(&self) -> u64 {
        self.place().0
    }

    /// Whether the key was given, by a key or a seed.
    #[getter]
    fn given(&self) -> bool {
        let generators = self.family.lock();
        let of_child = || self.family.children.as_ref().is_some_and(stairnoise::Children::are_given);
        generators.get(&self.number).map_or_else(of_child, Generator::is_given)
    }

    /// Whether a release may draw from it.
    #[getter]
    fn allow_release(&self) -> bool {
        self.family.allow_release
    }

    /// What `copy` and every pickle protocol ask for.
    #[allow(clippy::unused_self, reason = "Python calls it as a method")]
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Stream cannot be copied or pickled: the copy would repeat its noise",
        ))
    }

    fn __repr__(&self) -> String {
        let (fill_count, index) = self.place();
        format!("<stairnoise._native.Stream fill_count={fill_count} index={index}>")
    }
}

/// Children of a stream, which take their keys when they are first drawn from. Each number is for one stream.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct Children(Arc<Family>);

#[pymethods]
impl Children {
    fn stream(&self, number: u64) -> Stream {
        Stream {
            family: Arc::clone(&self.0),
            number,
        }
    }
}
