//! The class of mechanisms that select.

use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::{Fill, OutOfMemory, Selector};

use crate::buffer::{Input, Output, Parts, Rows, STAGE, new_array, same_shape};
use crate::drawing;
use crate::errors::{self, ParameterError};
use crate::fast_path;
use crate::layout::Block;
use crate::stream::Stream;
use crate::threads::{self, CHECKED, Signals};

/// Thresholds pay off for a row that is repeated this often.
const MIN_REPEATS: usize = 4;

type Checked<'py> = (Bound<'py, PyArrayDyn<f64>>, Option<usize>, bool);

/// A mechanism that selects one of finitely many candidates.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct Selection(stairnoise::Selection);

#[pymethods]
impl Selection {
    #[staticmethod]
    fn staircase(eps: f64, sensitivity: f64, gamma: f64, monotonic: bool) -> PyResult<Self> {
        stairnoise::Selection::staircase(eps, sensitivity, gamma, monotonic)
            .map(Self)
            .map_err(errors::parameter)
    }

    #[staticmethod]
    fn exponential(eps: f64, sensitivity: f64, monotonic: bool) -> PyResult<Self> {
        stairnoise::Selection::exponential(eps, sensitivity, monotonic)
            .map(Self)
            .map_err(errors::parameter)
    }

    #[staticmethod]
    fn permute_and_flip(eps: f64, sensitivity: f64, monotonic: bool) -> PyResult<Self> {
        stairnoise::Selection::permute_and_flip(eps, sensitivity, monotonic)
            .map(Self)
            .map_err(errors::parameter)
    }

    /// A copy of costs, or of the negative of `scores`, which errors call `name`; then the position in C order of the first invalid cost; if there is
    /// none, whether any cost is infinite.
    fn checked<'py>(&self, name: &str, costs: &Bound<'py, PyArrayDyn<f64>>, scores: bool) -> PyResult<Checked<'py>> {
        let input = Input::new(name, costs)?;
        let (mut signals, mut refused, mut infinite) = (Signals::new(), None, false);
        let own = new_array(costs.py(), costs.shape(), |own| {
            if !input.is_slice() {
                input.copy_all(own).map_err(|OutOfMemory| errors::memory())?;
            }
            // Parts stay in the nearest cache, and let Ctrl-C interrupt a long check.
            for part in Block::parts(input.len(), CHECKED) {
                let own = &mut own[part.first..][..part.len()];
                if input.is_slice() {
                    input.copy_to(part.first, own);
                }
                if scores {
                    for score in &mut *own {
                        *score = -*score;
                    }
                }
                match self.0.has_infinite(own) {
                    Ok(any) => infinite |= any,
                    Err(index) => refused = refused.or(Some(part.first + index)),
                }
                signals.check()?;
            }
            Ok(())
        })?;
        Ok((own, refused, infinite))
    }

    /// Writes the stair of every cost; nothing for a mechanism without stairs.
    fn stairs(&self, py: Python<'_>, costs: &Bound<'_, PyArrayDyn<f64>>, out: &Bound<'_, PyArrayDyn<i64>>) -> PyResult<()> {
        same_shape("costs", costs.shape(), out.shape())?;
        drawing::map(py, ("costs", costs), out, |cost| self.0.stair(cost).unwrap_or(0) as i64)
    }

    /// Selects once from a common row of costs, or of `scores`; `None` for all else, and if the package's checks would refuse the row.
    fn select_one(&self, stream: &Stream, costs: &Bound<'_, PyAny>, scores: bool, integers: bool) -> PyResult<Option<i64>> {
        let Some(mut row) = fast_path::row(costs, integers) else {
            return Ok(None);
        };
        if scores {
            for score in &mut row {
                *score = -*score;
            }
        }
        match self.0.has_infinite(&row) {
            Ok(false) => (),
            Ok(true) if row.iter().any(|cost| cost.is_finite()) => (),
            _ => return Ok(None),
        }
        let fill = stream.next(1).map_err(errors::draw)?;
        let mut selected = [0];
        let written = self
            .0
            .selector(false)
            .write(&fill, 0, std::iter::once(&row[..]), &mut selected);
        written.map_err(|OutOfMemory| errors::memory())?;
        Ok(Some(selected[0]))
    }

    /// Selects for every place of `out` from the row of `costs` at this place, whose candidates come with their `multiplicities`: checked, or none.
    /// Rows must be contiguous; strides of 0 can repeat them, and then those of both.
    #[pyo3(signature = (stream, costs, out, threads = 0, multiplicities = None))]
    fn select(
        &self,
        py: Python<'_>,
        stream: &Stream,
        costs: &Bound<'_, PyArrayDyn<f64>>,
        out: &Bound<'_, PyArrayDyn<i64>>,
        threads: usize,
        multiplicities: Option<&Bound<'_, PyArrayDyn<f64>>>,
    ) -> PyResult<()> {
        let rows = Rows::new("costs", costs, out.shape())?;
        let multiplicities = multiplicities
            .map(|numbers| {
                same_shape("multiplicities", numbers.shape(), costs.shape())?;
                Rows::new("multiplicities", numbers, out.shape())
            })
            .transpose()?;
        let again = rows.repeats >= MIN_REPEATS;
        // A selection without kept thresholds reads its whole row.
        let price = self.0.price(rows.length, again);
        fill(
            py,
            stream,
            (out, threads),
            Parts { price, joint_values: 1 },
            || self.0.selector(again),
            |selector, fill, first, part| {
                let costs = (first as usize..).map(|place| rows.row(place));
                let Some(numbers) = &multiplicities else {
                    return selector.write(fill, first, costs, part);
                };
                let numbers = (first as usize..).map(|place| numbers.row(place));
                selector.write_multiplied(fill, first, costs.zip(numbers), part)
            },
        )
    }

    /// Selects different candidates along the last axis of `out`, best first, from the row of `costs` at the place of the other axes.
    #[pyo3(signature = (stream, costs, out, threads = 0))]
    fn top(
        &self,
        py: Python<'_>,
        stream: &Stream,
        costs: &Bound<'_, PyArrayDyn<f64>>,
        out: &Bound<'_, PyArrayDyn<i64>>,
        threads: usize,
    ) -> PyResult<()> {
        let Some((&k, places)) = out.shape().split_last().filter(|(k, _)| **k > 0) else {
            return Err(ParameterError::new_err("out must have a place for every candidate"));
        };
        let rows = Rows::new("costs", costs, places)?;
        let price = self.0.price(rows.length, false);
        fill(
            py,
            stream,
            (out, threads),
            Parts { price, joint_values: k },
            || self.0.top_selector(k),
            |selector, fill, first, part| selector.write_top(fill, first, |place| rows.row(place), part),
        )
    }
}

/// Calls `write(selector, fill, first, part)` for the parts of `out`, which comes with the number of threads.
fn fill<'a>(
    py: Python<'_>,
    stream: &Stream,
    (out, threads): (&Bound<'_, PyArrayDyn<i64>>, usize),
    parts: Parts,
    selector: impl Fn() -> Selector<'a> + Sync + Send,
    write: impl Fn(&mut Selector<'a>, &Fill, u64, &mut [i64]) -> Result<(), OutOfMemory> + Sync + Send,
) -> PyResult<()> {
    let out = Output::new(out)?;
    let threads = threads::number(threads, out.len().saturating_mul(parts.price))?;
    let fill = stream.next(out.len()).map_err(errors::draw)?;
    threads::fill(py, out, parts, threads, selector, |selector, piece| {
        piece.write((), STAGE, |first, &(), part| Ok(write(selector, &fill, first, part)?))
    })
}
