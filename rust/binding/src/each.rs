//! Laws with arrays of parameters, which have been broadcast to the output's shape (zero strides included).

use numpy::ndarray::{ArrayViewD, Axis, IxDyn};
use numpy::{IntoPyArray, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::{Answer, Laws, ParamError, Shape, Value};

use crate::arguments::{self, Kind};
use crate::buffer::{
    InOrder, Inputs, STAGE, elements, readable, same_shape, with_answers, with_output, writable, write_in_order,
};
use crate::drawing::all_finite;
use crate::errors;
use crate::stream::Stream;
use crate::threads;

/// The parameters of every value.
struct Parameters<'py> {
    kind: stairnoise::Kind,
    eps: PyReadonlyArrayDyn<'py, f64>,
    sensitivity: PyReadonlyArrayDyn<'py, f64>,
    shape: Shapes<'py>,
}

enum Shapes<'py> {
    Same(Shape),
    Each(PyReadonlyArrayDyn<'py, f64>),
}

impl<'py> Parameters<'py> {
    fn new(
        kind: Kind,
        eps: &Bound<'py, PyArrayDyn<f64>>,
        sensitivity: &Bound<'py, PyArrayDyn<f64>>,
        shape: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let shape = match (arguments::named_shape(shape)?, shape) {
            (None, Some(shape)) => Shapes::Each(readable("the shape", shape.cast()?)?),
            (named, _) => Shapes::Same(named.unwrap_or_default()),
        };
        same_shape("sensitivity", sensitivity.shape(), eps.shape())?;
        if let Shapes::Each(shape) = &shape {
            same_shape("the shape", shape.shape(), eps.shape())?;
        }
        Ok(Self {
            kind: kind.0,
            eps: readable("eps", eps)?,
            sensitivity: readable("sensitivity", sensitivity)?,
            shape,
        })
    }

    fn views(&self) -> Views<'_> {
        Views {
            eps: self.eps.as_array(),
            sensitivity: self.sensitivity.as_array(),
            shape: match &self.shape {
                Shapes::Same(shape) => Err(*shape),
                Shapes::Each(shapes) => Ok(shapes.as_array()),
            },
        }
    }

    /// How many usual values one of these takes as long as, at least: without a fast path laws are prepared one by one.
    fn price(&self) -> usize {
        if matches!(self.shape, Shapes::Same(Shape::L2)) { 4 } else { 1 }
    }

    /// Refuses parameters that some value has no law for, before anything is drawn.
    fn check(&self) -> PyResult<()> {
        let laws = Laws::new(self.kind);
        self.in_parts(|first, part| laws.check(part).map_err(|(i, error)| (first + i, error)))
    }

    /// Calls `look` with the parameters of consecutive values and the position of the first, in C order; what it refuses is reported with its
    /// index.
    fn in_parts(
        &self,
        mut look: impl FnMut(usize, &stairnoise::Parameters<'_>) -> Result<(), (usize, ParamError)>,
    ) -> PyResult<()> {
        let (views, total) = (self.views(), self.eps.len());
        let mut parameters = views.in_order();
        for first in (0..total).step_by(STAGE) {
            let part = parameters.next(STAGE.min(total - first));
            look(first, &part).map_err(|(i, error)| errors::parameter_at(error, &unravel(i, self.eps.shape())))?;
        }
        Ok(())
    }
}

/// The index of an element from its position in C order.
fn unravel(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (place, length) in index.iter_mut().zip(shape).rev() {
        (position, *place) = (position / length, position % length);
    }
    index
}

struct Views<'a> {
    eps: ArrayViewD<'a, f64>,
    sensitivity: ArrayViewD<'a, f64>,
    shape: Result<ArrayViewD<'a, f64>, Shape>,
}

impl Inputs for Views<'_> {
    fn split_at(self, axis: Axis, index: usize) -> (Self, Self) {
        let (eps, sensitivity) = (self.eps.split_at(axis, index), self.sensitivity.split_at(axis, index));
        let shape = match self.shape {
            Err(same) => (Err(same), Err(same)),
            Ok(shapes) => {
                let (left, right) = shapes.split_at(axis, index);
                (Ok(left), Ok(right))
            }
        };
        let part = |eps, sensitivity, shape| Self { eps, sensitivity, shape };
        (part(eps.0, sensitivity.0, shape.0), part(eps.1, sensitivity.1, shape.1))
    }
}

impl Views<'_> {
    fn in_order(&self) -> PartsInOrder<'_> {
        PartsInOrder {
            eps: InOrder::new(&self.eps, STAGE),
            sensitivity: InOrder::new(&self.sensitivity, STAGE),
            shape: self
                .shape
                .as_ref()
                .map(|shape| InOrder::new(shape, STAGE))
                .map_err(|same| *same),
        }
    }
}

struct PartsInOrder<'a> {
    eps: InOrder<'a, f64>,
    sensitivity: InOrder<'a, f64>,
    shape: Result<InOrder<'a, f64>, Shape>,
}

impl PartsInOrder<'_> {
    /// The parameters of the next `n` values, at most [`STAGE`].
    fn next(&mut self, n: usize) -> stairnoise::Parameters<'_> {
        stairnoise::Parameters {
            eps: self.eps.next(n),
            sensitivity: self.sensitivity.next(n),
            shape: match &mut self.shape {
                Ok(numbers) => stairnoise::Shapes::Numbers(numbers.next(n)),
                Err(same) => stairnoise::Shapes::Same(*same),
            },
        }
    }
}

/// Of parameters that [`check`] has let through: a second look takes about a sixth of the time of the noise. What no law has is refused here too, but
/// when it is come to.
#[pyfunction]
#[pyo3(signature = (kind, eps, sensitivity, shape, stream, out, threads = 0))]
#[allow(clippy::too_many_arguments, reason = "one more than the fill of a single law has")]
pub(crate) fn fill_each<'py>(
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
    let parameters = Parameters::new(kind, eps, sensitivity, shape)?;
    with_output!(out, out => fill_array(py, &parameters, stream, out, threads))
}

fn fill_array<T: Value + numpy::Element>(
    py: Python<'_>,
    parameters: &Parameters<'_>,
    stream: &Stream,
    out: &Bound<'_, PyArrayDyn<T>>,
    threads: usize,
) -> PyResult<()> {
    let mut out = writable(out)?;
    let out = elements(&mut out);
    let threads = threads::number(threads, out.len())?;
    let fill = stream.lock().next(out.len()).map_err(errors::draw)?;
    let kind = parameters.kind;
    let laws = || Laws::new(kind);
    threads::fill_parts(
        py,
        out,
        parameters.views(),
        [parameters.price(), 1],
        threads,
        laws,
        |laws, piece| {
            let mut parameters = piece.inputs.in_order();
            write_in_order(piece.first, piece.out, STAGE, |first, part| {
                laws.write(&fill, first, part, &parameters.next(part.len()))
            })
        },
    )
}

#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "one more than the release of a single law has")]
pub(crate) fn release_each<'py>(
    py: Python<'py>,
    kind: Kind,
    eps: &Bound<'py, PyArrayDyn<f64>>,
    sensitivity: &Bound<'py, PyArrayDyn<f64>>,
    shape: Option<&Bound<'py, PyAny>>,
    stream: &Stream,
    values: &Bound<'py, PyUntypedArray>,
    out: &Bound<'py, PyUntypedArray>,
) -> PyResult<()> {
    same_shape("eps", eps.shape(), out.shape())?;
    same_shape("values", values.shape(), out.shape())?;
    let parameters = Parameters::new(kind, eps, sensitivity, shape)?;
    with_answers!(values, values => with_output!(out, out => release_array(py, &parameters, stream, values, out)))
}

fn release_array<A: Answer + numpy::Element + Sync, T: Value + numpy::Element>(
    py: Python<'_>,
    parameters: &Parameters<'_>,
    stream: &Stream,
    values: &Bound<'_, PyArrayDyn<A>>,
    out: &Bound<'_, PyArrayDyn<T>>,
) -> PyResult<()> {
    let mut out = writable(out)?;
    let out = elements(&mut out);
    let values = readable("values", values)?;
    let values = values.as_array();
    all_finite(&values)?;
    let threads = threads::number(0, out.len())?;
    parameters.check()?;
    let fill = stream.lock().next(out.len()).map_err(errors::draw)?;
    let (kind, inputs) = (parameters.kind, (values, parameters.views()));
    let laws = || Laws::new(kind);
    threads::fill(py, out, inputs, threads, laws, |laws, piece| {
        let (values, parameters) = piece.inputs;
        let (mut answers, mut parameters) = (InOrder::new(&values, STAGE), parameters.in_order());
        write_in_order(piece.first, piece.out, STAGE, |first, part| {
            let n = part.len();
            laws.release(&fill, first, answers.next(n), part, &parameters.next(n))
        })
    })
}

/// Refuses the first parameters that no law has, by their index.
#[pyfunction]
pub(crate) fn check(
    kind: Kind,
    eps: &Bound<'_, PyArrayDyn<f64>>,
    sensitivity: &Bound<'_, PyArrayDyn<f64>>,
    shape: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    Parameters::new(kind, eps, sensitivity, shape)?.check()
}

/// Granularity, cells and r of every law; refuses the first that does not exist, by its index.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "three arrays")]
pub(crate) fn describe<'py>(
    py: Python<'py>,
    kind: Kind,
    eps: &Bound<'py, PyArrayDyn<f64>>,
    sensitivity: &Bound<'py, PyArrayDyn<f64>>,
    shape: Option<&Bound<'py, PyAny>>,
) -> PyResult<(
    Bound<'py, PyArrayDyn<f64>>,
    Bound<'py, PyArrayDyn<i64>>,
    Bound<'py, PyArrayDyn<i64>>,
)> {
    let parameters = Parameters::new(kind, eps, sensitivity, shape)?;
    let laws = Laws::new(kind.0);
    let total = eps.len();
    let (mut granularity, mut cells, mut r) = (vec![0.0; total], vec![0; total], vec![0; total]);
    parameters.in_parts(|first, part| {
        for i in 0..part.eps.len() {
            let (eps, sensitivity, shape) = part.at(i);
            let law = laws.describe(eps, sensitivity, shape).map_err(|error| (first + i, error))?;
            (granularity[first + i], cells[first + i], r[first + i]) = (law.0, law.1 as i64, law.2 as i64);
        }
        Ok(())
    })?;
    let shape = eps.shape();
    Ok((
        shaped(py, granularity, shape)?,
        shaped(py, cells, shape)?,
        shaped(py, r, shape)?,
    ))
}

fn shaped<'py, T: numpy::Element>(py: Python<'py>, values: Vec<T>, shape: &[usize]) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    values.into_pyarray(py).reshape(IxDyn(shape))
}
