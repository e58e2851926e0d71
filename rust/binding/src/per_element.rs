//! Mechanisms with arrays of parameters, broadcast to the output's shape (with strides of 0).

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::{Answer, OutOfMemory, ParamError, PerElement, Shape, Value, largest_quotient};

use crate::arguments::{self, Kind};
use crate::buffer::{Elements, InOrder, Input, Inputs, Output, Parts, STAGE, same_shape, with_answers, with_output};
use crate::drawing;
use crate::errors::{self, Failure};
use crate::layout::{Block, Order};
use crate::stream::Stream;
use crate::threads::{self, Signals};

/// The parameters of every value, with ε divided among `k`.
struct Parameters<'py> {
    kind: stairnoise::Kind,
    eps: Input<'py, f64>,
    sensitivity: Input<'py, f64>,
    shape: Shapes<'py>,
    index: &'py [usize],
    k: u64,
}

enum Shapes<'py> {
    Same(Shape),
    Each(Input<'py, f64>),
}

impl<'py> Parameters<'py> {
    fn new(
        kind: Kind,
        eps: &'py Bound<'py, PyArrayDyn<f64>>,
        sensitivity: &'py Bound<'py, PyArrayDyn<f64>>,
        shape: Option<&'py Bound<'py, PyAny>>,
        k: u64,
    ) -> PyResult<Self> {
        let shape = match (arguments::named_shape(shape)?, shape) {
            (None, Some(shape)) => {
                let shape = shape.cast()?;
                same_shape("the shape", shape.shape(), eps.shape())?;
                Shapes::Each(Input::new("the shape", shape)?)
            }
            (named, _) => Shapes::Same(named.unwrap_or_default()),
        };
        same_shape("sensitivity", sensitivity.shape(), eps.shape())?;
        Ok(Self {
            kind: kind.0,
            eps: Input::new("eps", eps)?,
            sensitivity: Input::new("sensitivity", sensitivity)?,
            shape,
            index: eps.shape(),
            k,
        })
    }

    /// The parameters, a part at a time.
    fn in_order(&self) -> Result<PartsInOrder<'_>, OutOfMemory> {
        let mut shares = Vec::new();
        if self.k > 1 {
            // `advance` must not run out of memory.
            shares.try_reserve_exact(STAGE).map_err(|_| OutOfMemory)?;
        }
        Ok(PartsInOrder {
            eps: self.eps.in_order(STAGE)?,
            sensitivity: self.sensitivity.in_order(STAGE)?,
            shape: match &self.shape {
                Shapes::Same(shape) => Err(*shape),
                Shapes::Each(numbers) => Ok(numbers.in_order(STAGE)?),
            },
            k: self.k,
            shares,
        })
    }

    /// A value of the shape l2 takes at least as long as four values of one word, because it has no fast path and its mechanism is prepared alone.
    fn parts(&self) -> Parts {
        let price = if matches!(self.shape, Shapes::Same(Shape::L2)) { 4 } else { 1 };
        Parts { price, joint_values: 1 }
    }

    /// Refuses parameters without a mechanism, before anything is drawn.
    fn check(&self, py: Python<'_>, threads: usize) -> PyResult<()> {
        threads::check(
            py,
            (Order::of_values(self.eps.len()), self.eps.len(), threads),
            || PerElement::new(self.kind),
            || self.in_order(),
            |mechanisms, parameters| mechanisms.check(&parameters.part()),
            |position, error| errors::parameter_at(error, position, self.index),
        )
    }

    /// Calls `look` with the parameters of consecutive values and the position of the first, in C order. An error names the refused index.
    fn in_parts(
        &self,
        mut look: impl FnMut(usize, &stairnoise::Parameters<'_>) -> Result<(), (usize, ParamError)>,
    ) -> PyResult<()> {
        let total = self.eps.len();
        let mut parameters = self.in_order().map_err(|OutOfMemory| errors::memory())?;
        let mut signals = Signals::new();
        for part in Block::parts(total, STAGE) {
            parameters.begin(&part).map_err(|OutOfMemory| errors::memory())?;
            parameters.advance(part.first, part.len());
            look(part.first, &parameters.part()).map_err(|(i, error)| errors::parameter_at(error, i, self.index))?;
            signals.check()?;
        }
        Ok(())
    }
}

struct PartsInOrder<'a> {
    eps: InOrder<'a, f64>,
    sensitivity: InOrder<'a, f64>,
    shape: Result<InOrder<'a, f64>, Shape>,
    k: u64,
    /// ε/k for the elements of a part.
    shares: Vec<f64>,
}

impl Inputs for PartsInOrder<'_> {
    fn begin(&mut self, tile: &Block) -> Result<(), OutOfMemory> {
        self.eps.begin(tile)?;
        self.sensitivity.begin(tile)?;
        self.shape.as_mut().map_or(Ok(()), |numbers| numbers.begin(tile))
    }

    fn advance(&mut self, first: usize, n: usize) {
        self.eps.advance(first, n);
        self.sensitivity.advance(first, n);
        if let Ok(numbers) = &mut self.shape {
            numbers.advance(first, n);
        }
        if self.k > 1 {
            self.shares.clear();
            self.shares
                .extend(self.eps.part().iter().map(|eps| largest_quotient(*eps, self.k)));
        }
    }
}

impl PartsInOrder<'_> {
    fn part(&self) -> stairnoise::Parameters<'_> {
        stairnoise::Parameters {
            eps: if self.k > 1 { &self.shares } else { self.eps.part() },
            sensitivity: self.sensitivity.part(),
            shape: match &self.shape {
                Ok(numbers) => stairnoise::Shapes::Numbers(numbers.part()),
                Err(same) => stairnoise::Shapes::Same(*same),
            },
        }
    }
}

/// Writes noise for parameters that [`check`] has accepted; another check would add a sixth to the time. Invalid parameters are refused when their
/// element is reached.
#[pyfunction]
#[pyo3(signature = (kind, eps, sensitivity, shape, stream, out, threads = 0))]
#[allow(clippy::too_many_arguments, reason = "one more than the fill of a single mechanism has")]
pub(crate) fn fill_per_element<'py>(
    py: Python<'py>,
    kind: Kind,
    eps: &Bound<'py, PyArrayDyn<f64>>,
    sensitivity: &Bound<'py, PyArrayDyn<f64>>,
    shape: Option<&Bound<'py, PyAny>>,
    stream: &Stream,
    out: &Bound<'py, PyUntypedArray>,
    threads: usize,
) -> PyResult<()> {
    same_shape("eps", eps.shape(), out.shape())?;
    let parameters = Parameters::new(kind, eps, sensitivity, shape, 1)?;
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
    let mechanisms = || PerElement::new(parameters.kind);
    threads::fill(py, out, parameters.parts(), threads, mechanisms, |mechanisms, piece| {
        let parameters = parameters.in_order()?;
        piece.write(parameters, STAGE, |first, parameters, part| {
            Ok(mechanisms.write(&fill, first, part, &parameters.part())?)
        })
    })
}

/// Every ε is divided by `k` on the way, so that no array of quotients is needed.
#[pyfunction]
#[pyo3(signature = (kind, eps, sensitivity, shape, stream, values, out, k = 1, threads = 0))]
#[allow(clippy::too_many_arguments, reason = "those of a mechanism and of its release")]
pub(crate) fn release_per_element<'py>(
    py: Python<'py>,
    kind: Kind,
    eps: &Bound<'py, PyArrayDyn<f64>>,
    sensitivity: &Bound<'py, PyArrayDyn<f64>>,
    shape: Option<&Bound<'py, PyAny>>,
    stream: &Stream,
    values: &Bound<'py, PyUntypedArray>,
    out: &Bound<'py, PyUntypedArray>,
    k: u64,
    threads: usize,
) -> PyResult<()> {
    same_shape("eps", eps.shape(), out.shape())?;
    same_shape("values", values.shape(), out.shape())?;
    let parameters = Parameters::new(kind, eps, sensitivity, shape, k)?;
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
    let mechanisms = || PerElement::new(parameters.kind);
    let places = places.in_step_with(&answers);
    // As in `drawing::release`, all answers are checked before a fill is taken.
    if !mechanisms().takes_all::<A>() {
        check_answers(py, parameters, &answers, (places.order(), threads), values.shape())?;
    }
    let fill = stream.next(places.len()).map_err(errors::draw)?;
    threads::fill(py, places, parameters.parts(), threads, mechanisms, |mechanisms, piece| {
        let inputs = (answers.in_order(STAGE)?, parameters.in_order()?);
        piece.write(inputs, STAGE, |first, (answers, parameters), part| {
            let (answers, parameters) = (answers.part(), parameters.part());
            mechanisms
                .check_answers(answers, &parameters)
                .map_err(|_| Failure::Changed("values"))?;
            Ok(mechanisms.release_part(&fill, first, answers, part, &parameters)?)
        })
    })
}

/// Refuses the first answer that its mechanism does not take. Not inlined: it is compiled once for a type of answers, whatever their output.
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
        || PerElement::new(parameters.kind),
        || Ok((answers.in_order(STAGE)?, parameters.in_order()?)),
        |mechanisms, (answers, parameters)| {
            mechanisms
                .check_answers(answers.part(), &parameters.part())
                .map_err(|error| (0, error))
        },
        |first, error| errors::answer(error, first, shape),
    )
}

/// Refuses the first parameters without a mechanism, and names their index; every ε is divided by `k`.
#[pyfunction]
#[pyo3(signature = (kind, eps, sensitivity, shape, k = 1))]
pub(crate) fn check(
    py: Python<'_>,
    kind: Kind,
    eps: &Bound<'_, PyArrayDyn<f64>>,
    sensitivity: &Bound<'_, PyArrayDyn<f64>>,
    shape: Option<&Bound<'_, PyAny>>,
    k: u64,
) -> PyResult<()> {
    Parameters::new(kind, eps, sensitivity, shape, k)?.check(py, 1)
}

/// The largest float not above eps/k, for every ε.
#[pyfunction]
pub(crate) fn largest_quotients(
    py: Python<'_>,
    eps: &Bound<'_, PyArrayDyn<f64>>,
    k: u64,
    out: &Bound<'_, PyArrayDyn<f64>>,
) -> PyResult<()> {
    same_shape("eps", eps.shape(), out.shape())?;
    drawing::map(py, ("eps", eps), out, |eps| largest_quotient(eps, k))
}

/// Writes granularity, sensitivity in steps and r of every mechanism to contiguous arrays; refuses the first parameters without a mechanism, and
/// names their index.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "three outputs")]
pub(crate) fn describe(
    kind: Kind,
    eps: &Bound<'_, PyArrayDyn<f64>>,
    sensitivity: &Bound<'_, PyArrayDyn<f64>>,
    shape: Option<&Bound<'_, PyAny>>,
    granularity: &Bound<'_, PyArrayDyn<f64>>,
    sensitivity_steps: &Bound<'_, PyArrayDyn<i64>>,
    r: &Bound<'_, PyArrayDyn<i64>>,
) -> PyResult<()> {
    same_shape("granularity", granularity.shape(), eps.shape())?;
    same_shape("sensitivity_steps", sensitivity_steps.shape(), eps.shape())?;
    same_shape("r", r.shape(), eps.shape())?;
    let parameters = Parameters::new(kind, eps, sensitivity, shape, 1)?;
    let mechanisms = PerElement::new(kind.0);
    let (mut granularity, mut sensitivity_steps, mut r) = (
        granularity.try_readwrite()?,
        sensitivity_steps.try_readwrite()?,
        r.try_readwrite()?,
    );
    let (granularity, sensitivity_steps, r) = (
        granularity.as_slice_mut()?,
        sensitivity_steps.as_slice_mut()?,
        r.as_slice_mut()?,
    );
    parameters.in_parts(|first, part| {
        for i in 0..part.eps.len() {
            let (eps, sensitivity, shape) = part.at(i);
            let mechanism = mechanisms
                .describe(eps, sensitivity, shape)
                .map_err(|error| (first + i, error))?;
            (granularity[first + i], sensitivity_steps[first + i], r[first + i]) =
                (mechanism.0, mechanism.1 as i64, mechanism.2 as i64);
        }
        Ok(())
    })
}
