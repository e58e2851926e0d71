//! The class of every law with scalar parameters.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::parallel::PIECE;
use stairnoise::{Answer, DrawError, Fill, OutOfMemory, StagedFill, Value, noise};

use crate::buffer::{Parts, same_shape, with_answers, with_output};
use crate::drawing;
use crate::errors;
use crate::stream::Stream;

/// Values of more draws come in pieces of 64 all the same: fewer at a time would take longer each.
const DEAREST: usize = PIECE / 64;

/// A noise law with scalar parameters, ready to draw.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct Law {
    inner: Inner,
    cells: u64,
    lengths: Vec<u64>,
}

/// Which of the two is asked once a call or a part of one, never for a value.
enum Inner {
    OneWord(Box<stairnoise::Law>),
    Several(Box<dyn stairnoise::Noise>),
}

/// A fill of the kind that the law draws from.
pub(crate) enum Taken {
    OneWord(Fill),
    Several(StagedFill),
}

#[pymethods]
impl Law {
    #[getter]
    fn granularity(&self) -> f64 {
        match &self.inner {
            Inner::OneWord(law) => law.granularity(),
            Inner::Several(law) => law.granularity(),
        }
    }

    /// ⌈Δ/g⌉; 0 for a law that has no sensitivity.
    #[getter]
    fn cells(&self) -> u64 {
        self.cells
    }

    /// The law's own lengths in lattice steps, at most 1024.
    #[getter]
    fn lengths(&self) -> Vec<u64> {
        self.lengths.clone()
    }

    #[pyo3(signature = (stream, out, threads = 0))]
    fn fill(&self, py: Python<'_>, stream: &Stream, out: &Bound<'_, PyUntypedArray>, threads: usize) -> PyResult<()> {
        with_output!(out, out => drawing::fill(py, out, self, stream, threads))
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
        with_answers!(values, values => with_output!(out, out => drawing::release(py, values, out, self, stream)))
    }

    /// Releases a short array of integers or floats into a new one; `None` for anything else, which [`Law::release`] takes.
    fn release_short<'py>(
        &self,
        py: Python<'py>,
        stream: &Stream,
        values: &Bound<'py, PyAny>,
        whole: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        drawing::release_short(py, values, whole, self, stream)
    }
}

impl Law {
    /// A law of one word a value.
    pub fn one_word(law: stairnoise::Law) -> Self {
        Self {
            cells: law.cells(),
            lengths: law.r().into_iter().collect(),
            inner: Inner::OneWord(Box::new(law)),
        }
    }

    /// A law of several draws a value.
    pub fn several(law: impl stairnoise::Noise + 'static, cells: u64, lengths: Vec<u64>) -> Self {
        Self {
            inner: Inner::Several(Box::new(law)),
            cells,
            lengths,
        }
    }

    fn draw<T: Value>(&self, stream: &Stream) -> PyResult<T> {
        let mut value = [T::default()];
        let fill = self.take(stream, 1).map_err(errors::draw)?;
        self.write(&fill, 0, &mut value).map_err(|OutOfMemory| errors::memory())?;
        Ok(value[0])
    }

    /// The next fill of `n` values of the stream.
    pub fn take(&self, stream: &Stream, n: usize) -> Result<Taken, DrawError> {
        match self.inner {
            Inner::OneWord(_) => stream.next(n).map(Taken::OneWord),
            Inner::Several(_) => stream.next_staged(n).map(Taken::Several),
        }
    }

    pub fn parts(&self) -> Parts {
        match &self.inner {
            Inner::OneWord(_) => Parts::USUAL,
            Inner::Several(law) => Parts {
                price: law.draws().min(DEAREST),
                together: law.together(),
            },
        }
    }

    /// Writes the values `first .. first + out.len()` of a fill.
    pub fn write<T: Value>(&self, fill: &Taken, first: u64, out: &mut [T]) -> Result<(), OutOfMemory> {
        match (&self.inner, fill) {
            (Inner::OneWord(law), Taken::OneWord(fill)) => law.write(fill, first, out),
            (Inner::Several(law), Taken::Several(fill)) => noise::write(&**law, fill, first, out)?,
            _ => unreachable!("a fill of another law"),
        }
        Ok(())
    }

    /// Refuses answers that cannot be released.
    pub fn check_answers<A: Answer>(&self, answers: &[A]) -> Result<(), DrawError> {
        match &self.inner {
            Inner::OneWord(law) => law.check_answers(answers),
            Inner::Several(law) => noise::check_answers(&**law, answers),
        }
    }

    /// Releases answers, which have passed [`Law::check_answers`], with the values of a fill from `first` on.
    pub fn release_part<A: Answer, T: Value>(
        &self,
        fill: &Taken,
        first: u64,
        answers: &[A],
        out: &mut [T],
    ) -> Result<(), OutOfMemory> {
        match (&self.inner, fill) {
            (Inner::OneWord(law), Taken::OneWord(fill)) => law.release_part(fill, first, answers, out),
            (Inner::Several(law), Taken::Several(fill)) => noise::release_part(&**law, fill, first, answers, out)?,
            _ => unreachable!("a fill of another law"),
        }
        Ok(())
    }
}
