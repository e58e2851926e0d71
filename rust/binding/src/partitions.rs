//! The class of partition selection.

use numpy::{Element, PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyInt;
use stairnoise::{DrawError, Fill, OutOfMemory, Unread};

use crate::buffer::{Elements, Input, Output, Parts, STAGE, same_shape};
use crate::errors::{self, Failure, ParameterError, place};
use crate::stream::Stream;
use crate::threads;

/// Selects the partitions to show by their counts of people.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct PartitionSelection(stairnoise::PartitionSelection);

#[pymethods]
impl PartitionSelection {
    #[new]
    fn new(eps: f64, delta: f64, max_partitions_contributed: u64) -> PyResult<Self> {
        stairnoise::PartitionSelection::new(eps, delta, max_partitions_contributed)
            .map(Self)
            .map_err(errors::parameter)
    }

    /// One partition's share of ε.
    #[getter]
    fn eps(&self) -> f64 {
        self.0.eps()
    }

    #[getter]
    fn delta(&self) -> f64 {
        self.0.delta()
    }

    #[getter]
    fn rising(&self) -> u64 {
        self.0.rising()
    }

    #[getter]
    fn certain(&self) -> u64 {
        self.0.certain()
    }

    #[getter]
    fn median(&self) -> u64 {
        self.0.median()
    }

    #[pyo3(signature = (stream, counts, out, threads = 0))]
    fn select(
        &self,
        py: Python<'_>,
        stream: &Stream,
        counts: &Bound<'_, PyArrayDyn<i64>>,
        out: &Bound<'_, PyArrayDyn<bool>>,
        threads: usize,
    ) -> PyResult<()> {
        self.write(py, stream, counts, out, threads, stairnoise::PartitionSelection::write_shown)
    }

    /// The released count of one partition, and 0 if it is not shown; `None` if the count is not a Python integer from 0 to 2⁶³ − 1.
    fn release_one(&self, py: Python<'_>, stream: &Stream, count: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
        let integer = count.is_exact_instance_of::<PyInt>().then(|| count.extract().ok()).flatten();
        let Some(count) = integer.filter(|count| *count >= 0) else {
            return Ok(None);
        };
        py.detach(|| self.0.prepare()).map_err(|OutOfMemory| errors::memory())?;
        let fill = stream.next(1).map_err(errors::draw)?;
        let mut released = [0];
        self.0.write_released(&fill, 0, Unread::of(&[count]), &mut released);
        Ok(Some(released[0]))
    }

    /// Writes 0 for a partition that is not shown.
    #[pyo3(signature = (stream, counts, out, threads = 0))]
    fn release(
        &self,
        py: Python<'_>,
        stream: &Stream,
        counts: &Bound<'_, PyArrayDyn<i64>>,
        out: &Bound<'_, PyArrayDyn<i64>>,
        threads: usize,
    ) -> PyResult<()> {
        self.write(
            py,
            stream,
            counts,
            out,
            threads,
            stairnoise::PartitionSelection::write_released,
        )
    }
}

impl PartitionSelection {
    fn write<T: Element + Copy + Default + Send>(
        &self,
        py: Python<'_>,
        stream: &Stream,
        counts: &Bound<'_, PyArrayDyn<i64>>,
        out: &Bound<'_, PyArrayDyn<T>>,
        threads: usize,
        draw: impl Fn(&stairnoise::PartitionSelection, &Fill, u64, Unread<'_, i64>, &mut [T]) -> bool + Sync + Send,
    ) -> PyResult<()> {
        let shape = counts.shape();
        same_shape("counts", shape, out.shape())?;
        let (places, counts) = (Output::new(out)?, Input::new("counts", counts)?);
        let places = places.in_step_with(&counts);
        let threads = threads::number(threads, places.len())?;
        // Counts are read twice, because all of them are checked before a fill is taken.
        threads::check(
            py,
            (places.order(), places.len(), threads),
            || (),
            || counts.unread_in_order(STAGE, false),
            |(), counts| {
                let refused = self.0.refused(counts.unread());
                refused.map_or(Ok(()), |index| Err((0, DrawError::Count(index))))
            },
            |first, error| match error {
                DrawError::Count(index) => ParameterError::new_err(format!(
                    "counts must be at least 0, got one that is not{}",
                    place(first + index, shape)
                )),
                other => errors::draw(other),
            },
        )?;
        py.detach(|| self.0.prepare()).map_err(|OutOfMemory| errors::memory())?;
        let fill = stream.next(places.len()).map_err(errors::draw)?;
        threads::fill(
            py,
            places,
            Parts::ONE_WORD,
            threads,
            || (),
            |(), piece| {
                let counts = counts.unread_in_order(STAGE, false)?;
                piece.write(counts, STAGE, |first, counts, part| {
                    // Another thread may have written to the counts since the check.
                    let checked = draw(&self.0, &fill, first, counts.unread(), part);
                    checked.then_some(()).ok_or(Failure::Changed("counts"))
                })
            },
        )
    }
}
