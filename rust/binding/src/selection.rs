//! The class of mechanisms that select.

use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::OutOfMemory;

use crate::buffer::{Elements, Input, Inputs, Output, Parts, Rows, STAGE, same_shape};
use crate::drawing;
use crate::errors;
use crate::layout::Block;
use crate::stream::Stream;
use crate::threads::{self, Signals};

/// So often a row must come before its thresholds are worth making.
const AGAIN_FROM: usize = 4;

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

    /// The position in C order of the first cost that is no cost.
    fn refused(&self, costs: &Bound<'_, PyArrayDyn<f64>>) -> PyResult<Option<usize>> {
        let costs = Input::new("costs", costs)?;
        // A part at a time, so that a long check can be interrupted.
        let mut in_order = costs.in_order(STAGE).map_err(|OutOfMemory| errors::memory())?;
        let mut signals = Signals::new();
        for part in Block::parts(costs.len(), STAGE) {
            in_order.begin(&part).map_err(|OutOfMemory| errors::memory())?;
            in_order.advance(part.first, part.len());
            if let Some(index) = self.0.refused(in_order.part()) {
                return Ok(Some(part.first + index));
            }
            signals.check()?;
        }
        Ok(None)
    }

    /// The stair of every cost; nothing for a mechanism without stairs.
    fn stairs(&self, py: Python<'_>, costs: &Bound<'_, PyArrayDyn<f64>>, out: &Bound<'_, PyArrayDyn<i64>>) -> PyResult<()> {
        same_shape("costs", costs.shape(), out.shape())?;
        drawing::map(py, ("costs", costs), out, |cost| self.0.stair(cost).unwrap_or(0) as i64)
    }

    /// Selects for every place of `out` from the row of `costs` at that place. Rows must be contiguous; they may repeat by strides of 0.
    #[pyo3(signature = (stream, costs, out, threads = 0))]
    fn select(
        &self,
        py: Python<'_>,
        stream: &Stream,
        costs: &Bound<'_, PyArrayDyn<f64>>,
        out: &Bound<'_, PyArrayDyn<i64>>,
        threads: usize,
    ) -> PyResult<()> {
        let rows = Rows::new("costs", costs, out.shape())?;
        let out = Output::new(out)?;
        let again = rows.repeats >= AGAIN_FROM;
        // Without kept thresholds a selection reads its whole row.
        let price = if again { 1 } else { rows.length };
        let threads = threads::number(threads, out.len().saturating_mul(price))?;
        let fill = stream.next(out.len()).map_err(errors::draw)?;
        threads::fill(
            py,
            out,
            Parts { price, together: 1 },
            threads,
            || self.0.selector(again),
            |selector, piece| {
                piece.write((), STAGE, |first, &(), part| {
                    let places = (first as usize..).map(|place| rows.row(place));
                    Ok(selector.write(&fill, first, places, part)?)
                })
            },
        )
    }
}
