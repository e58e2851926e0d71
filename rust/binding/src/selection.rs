use std::convert::Infallible;
use std::iter;

use numpy::ndarray::{ArrayViewD, ArrayViewMutD, Axis};
use numpy::{PyArrayDyn, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use stairnoise::{Fill, Selector};

use crate::buffer::{Piece, STAGE, elements, readable, same_shape, writable, write_in_order};
use crate::errors;
use crate::stream::Stream;
use crate::threads;

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
        let costs = readable("costs", costs)?;
        let costs = costs.as_array();
        if let Some(costs) = costs.as_slice() {
            return Ok(self.0.refused(costs));
        }
        Ok(costs.iter().position(|cost| self.0.refused(&[*cost]).is_some()))
    }

    /// The stair of every cost; nothing for a mechanism without stairs.
    fn stairs(&self, costs: &Bound<'_, PyArrayDyn<f64>>, out: &Bound<'_, PyArrayDyn<i64>>) -> PyResult<()> {
        same_shape("costs", costs.shape(), out.shape())?;
        let (costs, mut out) = (readable("costs", costs)?, writable(out)?);
        for (place, cost) in elements(&mut out).iter_mut().zip(costs.as_array()) {
            *place = self.0.stair(*cost).unwrap_or(0) as i64;
        }
        Ok(())
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
        let mut out = writable(out)?;
        let costs = readable("costs", costs)?;
        let candidates = rows_fit(&costs, out.shape())?;
        let out = elements(&mut out);
        let costs = costs.as_array();
        let again = repeats(&costs) >= AGAIN_FROM;
        let price = if again { 1 } else { candidates };
        let threads = threads::number(threads, out.len().saturating_mul(price))?;
        let fill = stream.lock().next(out.len()).map_err(errors::draw)?;
        threads::fill_parts(
            py,
            out,
            costs,
            [price, 1],
            threads,
            || self.0.selector(again),
            |selector, piece| {
                write(selector, &fill, piece);
                Ok(())
            },
        )
    }
}

/// The number of candidates of a row, if there is a contiguous row for every place of an output of shape `out`.
fn rows_fit(costs: &PyReadonlyArrayDyn<'_, f64>, out: &[usize]) -> PyResult<usize> {
    let view = costs.as_array();
    match view.shape().split_last() {
        Some((&candidates, rows)) if candidates > 0 => {
            same_shape("the rows of costs", rows, out)?;
            let stride = view.strides().last().copied();
            if candidates == 1 || stride == Some(1) || view.is_empty() {
                return Ok(candidates);
            }
            Err(PyValueError::new_err("costs must be contiguous along the last axis"))
        }
        _ => Err(PyValueError::new_err("costs must have candidates along the last axis")),
    }
}

/// How often each row comes.
fn repeats(costs: &ArrayViewD<'_, f64>) -> usize {
    let axes = costs.shape().iter().zip(costs.strides());
    axes.take(costs.ndim() - 1)
        .filter(|(_, stride)| **stride == 0)
        .map(|(length, _)| *length)
        .product()
}

/// One piece: the same row throughout, rows one after the other, or rows anywhere.
fn write(selector: &mut Selector<'_>, fill: &Fill, piece: Piece<'_, i64, ArrayViewD<'_, f64>>) {
    let Piece {
        first,
        out,
        inputs: costs,
    } = piece;
    if out.is_empty() {
        return;
    }
    let candidates = costs.shape()[costs.ndim() - 1];
    if repeats(&costs) == out.len() {
        let row = row(&costs);
        write_rows(selector, fill, first, out, iter::repeat(row));
    } else if let Some(slice) = costs.as_slice() {
        write_rows(selector, fill, first, out, slice.chunks_exact(candidates));
    } else {
        let rows = costs.rows();
        write_rows(
            selector,
            fill,
            first,
            out,
            rows.into_iter().map(|row| row.to_slice().unwrap_or_default()),
        );
    }
}

fn write_rows<'c>(
    selector: &mut Selector<'_>,
    fill: &Fill,
    first: u64,
    out: ArrayViewMutD<'_, i64>,
    mut rows: impl Iterator<Item = &'c [f64]>,
) {
    let Ok(()) = write_in_order(first, out, STAGE, |first, part| {
        selector.write(fill, first, &mut rows, part);
        Ok::<(), Infallible>(())
    });
}

/// The row that all are.
fn row<'c>(costs: &ArrayViewD<'c, f64>) -> &'c [f64] {
    let mut row = costs.clone();
    while row.ndim() > 1 {
        row.index_axis_inplace(Axis(0), 0);
    }
    row.to_slice().unwrap_or_default()
}
