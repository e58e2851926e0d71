//! Laws with arrays of parameters, which have been broadcast to the output's shape (zero strides included).

use numpy::ndarray::{ArrayD, ArrayViewD, Dimension as _, IxDyn};
use numpy::{IntoPyArray, PyArrayDyn, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::{Answer, Laws, Shape, Value};

use crate::arguments::{self, Kind};
use crate::buffer::{InOrder, detach_for, readable, same_shape, with_answers, with_output, writable, write_in_order};
use crate::errors;
use crate::law::all_finite;
use crate::stream::Stream;

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

    /// Refuses parameters that some value has no law for, before anything is drawn.
    fn check(&self) -> PyResult<Laws> {
        let laws = Laws::new(self.kind);
        for (index, (eps, sensitivity, shape)) in self.views().indexed() {
            laws.check(eps, sensitivity, shape)
                .map_err(|error| errors::parameter_at(error, index.slice()))?;
        }
        Ok(laws)
    }
}

struct Views<'a> {
    eps: ArrayViewD<'a, f64>,
    sensitivity: ArrayViewD<'a, f64>,
    shape: Result<ArrayViewD<'a, f64>, Shape>,
}

impl Views<'_> {
    fn indexed(&self) -> impl Iterator<Item = (IxDyn, (f64, f64, Shape))> {
        let mut shapes = self.shape.as_ref().map(|shapes| shapes.iter()).map_err(|same| *same);
        self.eps
            .indexed_iter()
            .zip(&self.sensitivity)
            .map(move |((index, eps), sensitivity)| {
                let shape = match &mut shapes {
                    Ok(shapes) => Shape::Number(*shapes.next().expect("the shape has the shape of eps")),
                    Err(same) => *same,
                };
                (index, (*eps, *sensitivity, shape))
            })
    }

    fn in_order(&self) -> PartsInOrder<'_> {
        PartsInOrder {
            eps: InOrder::new(&self.eps),
            sensitivity: InOrder::new(&self.sensitivity),
            shape: self.shape.as_ref().map(InOrder::new).map_err(|same| *same),
        }
    }
}

struct PartsInOrder<'a> {
    eps: InOrder<'a, f64>,
    sensitivity: InOrder<'a, f64>,
    shape: Result<InOrder<'a, f64>, Shape>,
}

impl PartsInOrder<'_> {
    /// The parameters of the next `n` values, by position.
    fn next(&mut self, n: usize) -> impl Fn(usize) -> (f64, f64, Shape) {
        let (eps, sensitivity) = (self.eps.next(n), self.sensitivity.next(n));
        let shape = match &mut self.shape {
            Ok(shapes) => Ok(shapes.next(n)),
            Err(same) => Err(*same),
        };
        move |i| {
            (
                eps[i],
                sensitivity[i],
                shape.map_or_else(|same| same, |shapes| Shape::Number(shapes[i])),
            )
        }
    }
}

#[pyfunction]
pub(crate) fn fill_each<'py>(
    py: Python<'py>,
    kind: Kind,
    eps: &Bound<'py, PyArrayDyn<f64>>,
    sensitivity: &Bound<'py, PyArrayDyn<f64>>,
    shape: Option<&Bound<'py, PyAny>>,
    stream: &Stream,
    out: &Bound<'py, PyUntypedArray>,
) -> PyResult<()> {
    same_shape("eps", eps.shape(), out.shape())?;
    let parameters = Parameters::new(kind, eps, sensitivity, shape)?;
    with_output!(out, out => fill_array(py, &parameters, stream, out))
}

fn fill_array<T: Value + numpy::Element>(
    py: Python<'_>,
    parameters: &Parameters<'_>,
    stream: &Stream,
    out: &Bound<'_, PyArrayDyn<T>>,
) -> PyResult<()> {
    let mut out = writable(out)?;
    let out = out.as_array_mut();
    let mut laws = parameters.check()?;
    let fill = stream.lock().next(out.len()).map_err(errors::draw)?;
    let views = parameters.views();
    detach_for(py, out.len(), || {
        let mut parameters = views.in_order();
        write_in_order(out, |first, part| laws.write(&fill, first, part, parameters.next(part.len())))
    })
    .map_err(errors::parameter)
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
    let out = out.as_array_mut();
    let values = readable("values", values)?;
    let values = values.as_array();
    all_finite(&values)?;
    let mut laws = parameters.check()?;
    let fill = stream.lock().next(out.len()).map_err(errors::draw)?;
    let views = parameters.views();
    detach_for(py, out.len(), || {
        let (mut answers, mut parameters) = (InOrder::new(&values), views.in_order());
        write_in_order(out, |first, part| {
            let n = part.len();
            laws.release(&fill, first, answers.next(n), part, parameters.next(n))
        })
    })
    .map_err(errors::parameter)
}

/// Refuses the first parameters that no law has, by their index.
#[pyfunction]
pub(crate) fn check(
    kind: Kind,
    eps: &Bound<'_, PyArrayDyn<f64>>,
    sensitivity: &Bound<'_, PyArrayDyn<f64>>,
    shape: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    Parameters::new(kind, eps, sensitivity, shape)?.check().map(drop)
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
    let laws = parameters.check()?;
    let dimensions = IxDyn(eps.shape());
    let mut granularity = ArrayD::zeros(dimensions.clone());
    let mut cells = ArrayD::zeros(dimensions.clone());
    let mut r = ArrayD::zeros(dimensions);
    for (index, (eps, sensitivity, shape)) in parameters.views().indexed() {
        let law = laws.describe(eps, sensitivity, shape).map_err(errors::parameter)?;
        granularity[&index] = law.0;
        cells[&index] = law.1 as i64;
        r[&index] = law.2 as i64;
    }
    Ok((granularity.into_pyarray(py), cells.into_pyarray(py), r.into_pyarray(py)))
}
