//! Discrete Gaussian mechanisms with arrays of σ² and lattices, broadcast to the output's shape (with strides of 0).

use std::cell::RefCell;

use numpy::{PyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::{Answer, DiscreteGaussians, GaussianParameters, NextParameters, OutOfMemory, Value};

use crate::buffer::{Elements, InOrder, Input, Inputs, Output, Parts, STAGE, same_shape, with_answers, with_output};
use crate::errors::{self, Failure};
use crate::layout::{Block, Order};
use crate::stream::Stream;
use crate::threads;

/// A value with a σ² of its own takes up to four times as long as others.
const PARTS: Parts = Parts {
    price: 4,
    joint_values: 1,
};

/// Half of the parameters that are read at a time, when they are checked or drawn from.
const AT_A_TIME: usize = 512;

/// The parameters of every value.
struct Parameters<'py> {
    sigma2: Input<'py, f64>,
    log2_granularity: Input<'py, i64>,
    index: &'py [usize],
}

impl<'py> Parameters<'py> {
    fn new(
        sigma2: &'py Bound<'py, PyArrayDyn<f64>>,
        log2_granularity: &'py Bound<'py, PyArrayDyn<i64>>,
        shape: &[usize],
    ) -> PyResult<Self> {
        same_shape("sigma2", sigma2.shape(), shape)?;
        same_shape("log2_granularity", log2_granularity.shape(), shape)?;
        Ok(Self {
            sigma2: Input::new("sigma2", sigma2)?,
            log2_granularity: Input::new("log2_granularity", log2_granularity)?,
            index: sigma2.shape(),
        })
    }

    /// The parameters, a part at a time: at most twice `most`.
    fn in_order(&self, most: usize) -> Result<PartsInOrder<'_>, OutOfMemory> {
        Ok(PartsInOrder {
            sigma2: self.sigma2.in_order(most)?,
            log2_granularity: self.log2_granularity.in_order(most)?,
        })
    }

    /// Refuses parameters without a mechanism, before anything is drawn.
    fn check(&self, py: Python<'_>, threads: usize) -> PyResult<()> {
        threads::check(
            py,
            (Order::of_values(self.sigma2.len()), self.sigma2.len(), threads),
            || (),
            || self.in_order(AT_A_TIME),
            |(), parameters| DiscreteGaussians::new().check(&parameters.part()),
            |position, error| errors::parameter_at(error, position, self.index),
        )
    }
}

struct PartsInOrder<'a> {
    sigma2: InOrder<'a, f64>,
    log2_granularity: InOrder<'a, i64>,
}

impl Inputs for PartsInOrder<'_> {
    fn begin(&mut self, tile: &Block) -> Result<(), OutOfMemory> {
        self.sigma2.begin(tile)?;
        self.log2_granularity.begin(tile)
    }

    fn advance(&mut self, first: usize, n: usize) {
        self.sigma2.advance(first, n);
        self.log2_granularity.advance(first, n);
    }
}

impl PartsInOrder<'_> {
    fn part(&self) -> GaussianParameters<'_> {
        GaussianParameters {
            sigma2: self.sigma2.part(),
            log2_granularity: self.log2_granularity.part(),
        }
    }
}

/// Parameters that are copied just before their values are drawn: a copy of few stays in the nearest cache.
struct Late<'a>(RefCell<PartsInOrder<'a>>);

impl Inputs for Late<'_> {
    fn begin(&mut self, tile: &Block) -> Result<(), OutOfMemory> {
        self.0.get_mut().begin(tile)
    }

    fn advance(&mut self, _: usize, _: usize) {}
}

struct Next<'a, 'b> {
    inputs: &'a mut PartsInOrder<'b>,
    at: usize,
}

impl NextParameters for Next<'_, '_> {
    fn next(&mut self, n: usize) -> GaussianParameters<'_> {
        self.inputs.advance(self.at, n);
        self.at += n;
        self.inputs.part()
    }
}

/// Refuses the first parameters without a mechanism, and names their index.
#[pyfunction]
pub(crate) fn check_gaussians(
    py: Python<'_>,
    sigma2: &Bound<'_, PyArrayDyn<f64>>,
    log2_granularity: &Bound<'_, PyArrayDyn<i64>>,
) -> PyResult<()> {
    Parameters::new(sigma2, log2_granularity, sigma2.shape())?.check(py, 1)
}

/// Writes noise for parameters that [`check_gaussians`] has accepted. Invalid parameters are refused when their part is reached.
#[pyfunction]
#[pyo3(signature = (sigma2, log2_granularity, stream, out, threads = 0))]
pub(crate) fn fill_gaussians<'py>(
    py: Python<'py>,
    sigma2: &Bound<'py, PyArrayDyn<f64>>,
    log2_granularity: &Bound<'py, PyArrayDyn<i64>>,
    stream: &Stream,
    out: &Bound<'py, PyUntypedArray>,
    threads: usize,
) -> PyResult<()> {
    let parameters = Parameters::new(sigma2, log2_granularity, out.shape())?;
    with_output!(out, out => fill_array(py, &parameters, stream, out, threads))
}

fn fill_array<T: Value + numpy::Element>(
    py: Python<'_>,
    parameters: &Parameters<'_>,
    stream: &Stream,
    out: &Bound<'_, PyArrayDyn<T>>,
    threads: usize,
) -> PyResult<()> {
    let out = Output::new(out)?;
    let threads = threads::number(threads, out.len())?;
    let fill = stream.next(out.len()).map_err(errors::draw)?;
    // Every thread keeps its own mechanisms.
    threads::fill(py, out, PARTS, threads, DiscreteGaussians::new, |mechanisms, piece| {
        let late = Late(RefCell::new(parameters.in_order(AT_A_TIME)?));
        piece.write(late, STAGE, |first, Late(inputs), part| {
            let (inputs, at) = (&mut *inputs.borrow_mut(), first as usize);
            Ok(mechanisms.write_next(&fill, first, part, &mut Next { inputs, at })?)
        })
    })
}

/// Releases every answer with its own parameters.
#[pyfunction]
#[pyo3(signature = (sigma2, log2_granularity, stream, values, out, threads = 0))]
pub(crate) fn release_gaussians<'py>(
    py: Python<'py>,
    sigma2: &Bound<'py, PyArrayDyn<f64>>,
    log2_granularity: &Bound<'py, PyArrayDyn<i64>>,
    stream: &Stream,
    values: &Bound<'py, PyUntypedArray>,
    out: &Bound<'py, PyUntypedArray>,
    threads: usize,
) -> PyResult<()> {
    same_shape("values", values.shape(), out.shape())?;
    let parameters = Parameters::new(sigma2, log2_granularity, out.shape())?;
    let threads = threads::number(threads, out.len())?;
    parameters.check(py, threads)?;
    with_answers!(values, values => with_output!(out, out => release_array(py, &parameters, stream, values, out, threads)))
}

fn release_array<A: Answer + numpy::Element + Sync, T: Value + numpy::Element>(
    py: Python<'_>,
    parameters: &Parameters<'_>,
    stream: &Stream,
    values: &Bound<'_, PyArrayDyn<A>>,
    out: &Bound<'_, PyArrayDyn<T>>,
    threads: usize,
) -> PyResult<()> {
    let (places, answers) = (Output::new(out)?, Input::for_output("values", values, out)?);
    let places = places.in_step_with(&answers);
    // As in `drawing::release`, all answers are checked before a fill is taken.
    check_answers(py, parameters, &answers, (places.order(), threads), values.shape())?;
    let fill = stream.next(places.len()).map_err(errors::draw)?;
    threads::fill(py, places, PARTS, threads, DiscreteGaussians::new, |mechanisms, piece| {
        let inputs = (answers.in_order(STAGE)?, parameters.in_order(STAGE)?);
        piece.write(inputs, STAGE, |first, (answers, parameters), part| {
            let (answers, parameters) = (answers.part(), parameters.part());
            mechanisms
                .check_answers(answers, &parameters)
                .map_err(|_| Failure::Changed("values"))?;
            Ok(mechanisms.release_part(&fill, first, answers, part, &parameters)?)
        })
    })
}

/// Refuses the first answer that its lattice does not take. Not inlined: it is compiled once for a type of answers, whatever their output.
#[inline(never)]
fn check_answers<A: Answer + numpy::Element + Sync>(
    py: Python<'_>,
    parameters: &Parameters<'_>,
    answers: &Input<'_, A>,
    (order, threads): (Order, usize),
    shape: &[usize],
) -> PyResult<()> {
    threads::check(
        py,
        (order, answers.len(), threads),
        || (),
        || Ok((answers.in_order(STAGE)?, parameters.in_order(STAGE)?)),
        |(), (answers, parameters)| {
            DiscreteGaussians::new()
                .check_answers(answers.part(), &parameters.part())
                .map_err(|error| (0, error))
        },
        |first, error| errors::answer(error, first, shape),
    )
}
