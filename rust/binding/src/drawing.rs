//! Noise and releases of one law into arrays of any strides: everything that can fail is done before a fill is taken.

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::parallel::PIECE;
use stairnoise::{Answer, Law, OutOfMemory, Value};

use crate::buffer::{Input, Inputs, Output, Parts, STAGE, zeros};
use crate::errors;
use crate::layout::Block;
use crate::stream::Stream;
use crate::threads::{self, Signals};

/// Longer releases are worth their preparations, and let other threads run.
const SHORT: usize = 1 << 10;

/// Values of more draws come in pieces of 64 all the same: fewer at a time would take longer each.
const DEAREST: usize = PIECE / 64;

fn parts(law: &impl Law) -> Parts {
    Parts {
        price: law.draws().min(DEAREST),
        together: law.together(),
    }
}

/// Writes noise to every place of `out`.
pub(crate) fn fill<T: Value + Element>(
    py: Python<'_>,
    out: &Bound<'_, PyArrayDyn<T>>,
    law: &impl Law,
    stream: &Stream,
    threads: usize,
) -> PyResult<()> {
    let (out, parts) = (Output::new(out)?, parts(law));
    let threads = threads::number(threads, out.len().saturating_mul(parts.price))?;
    let fill = stream.next_fill(law, out.len()).map_err(errors::draw)?;
    threads::fill(
        py,
        out,
        parts,
        threads,
        || (),
        |(), piece| piece.write((), parts.stage(), |first, &(), part| Ok(fill.write(first, part)?)),
    )
}

/// Writes the released answers to their places of `out`.
pub(crate) fn release<A: Answer + Element + Sync, T: Value + Element>(
    py: Python<'_>,
    values: &Bound<'_, PyArrayDyn<A>>,
    out: &Bound<'_, PyArrayDyn<T>>,
    law: &impl Law,
    stream: &Stream,
) -> PyResult<()> {
    let (places, answers) = (Output::new(out)?, Input::for_output("values", values, out)?);
    let places = places.in_step_with(&answers);
    let mut in_order = answers.in_order(STAGE).map_err(|OutOfMemory| errors::memory())?;
    check(&places, &mut in_order, |answers| law.check_answers(answers.part()))?
        .map_err(|(error, first)| errors::answer(error, first, values.shape()))?;
    let parts = parts(law);
    let threads = threads::number(0, places.len().saturating_mul(parts.price))?;
    let fill = stream.next_fill(law, places.len()).map_err(errors::draw)?;
    threads::fill(
        py,
        places,
        parts,
        threads,
        || (),
        |(), piece| {
            let answers = answers.in_order(parts.stage())?;
            piece.write(answers, parts.stage(), |first, answers, part| {
                Ok(fill.release(first, answers.part(), part)?)
            })
        },
    )
}

/// Has `check` look at all inputs of `out` before a fill is taken; they are read twice. What it refuses first, in C order, is returned with the number
/// of the first value of its part.
pub(crate) fn check<T: Element, I: Inputs, E>(
    out: &Output<'_, T>,
    inputs: &mut I,
    check: impl Fn(&I) -> Result<(), E>,
) -> PyResult<Result<(), (E, usize)>> {
    let mut signals = Signals::new();
    let mut look = |tiles: &mut dyn Iterator<Item = Block>| -> PyResult<_> {
        for tile in tiles {
            inputs.begin(&tile).map_err(|OutOfMemory| errors::memory())?;
            for (first, n) in tile.runs(STAGE) {
                inputs.advance(first, n);
                if let Err(error) = check(inputs) {
                    return Ok(Err((error, first)));
                }
            }
            // A long check can be interrupted too: no fill is taken yet.
            signals.check()?;
        }
        Ok(Ok(()))
    };
    let found = look(&mut out.tiles(STAGE))?;
    // Of rows that were read together another may have come before.
    Ok(match found {
        Err(_) => look(&mut Block::parts(out.len(), STAGE))?.and(found),
        Ok(()) => found,
    })
}

/// Writes `function` of every element of `values`, which errors call `name`, to its place of `out`, on this thread.
pub(crate) fn map<A: Element + Copy + Sync, T: Element + Copy + Default>(
    py: Python<'_>,
    (name, values): (&str, &Bound<'_, PyArrayDyn<A>>),
    out: &Bound<'_, PyArrayDyn<T>>,
    function: impl Fn(A) -> T + Sync + Send,
) -> PyResult<()> {
    let (out, values) = (Output::new(out)?, Input::new(name, values)?);
    threads::fill(
        py,
        out,
        Parts::USUAL,
        1,
        || (),
        |(), piece| {
            let values = values.in_order(STAGE)?;
            piece.write(values, STAGE, |_, values, part| {
                for (place, value) in part.iter_mut().zip(values.part()) {
                    *place = function(*value);
                }
                Ok(())
            })
        },
    )
}

/// Releases what counts and sums usually are, an array of float64 or int64 that is short, contiguous and of no subclass, as a new array; `None` for
/// anything else. Where the law is `whole`, releases of integers are integers.
///
/// For seven counts 1.5 µs from Python, where the general way takes 5.8.
pub(crate) fn release_short<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    whole: bool,
    law: &impl Law,
    stream: &Stream,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Ok(values) = values.cast_exact::<PyUntypedArray>() else {
        return Ok(None);
    };
    if values.ndim() == 0 || values.len() > SHORT || !values.is_c_contiguous() {
        return Ok(None);
    }
    if let Ok(values) = values.cast::<PyArrayDyn<f64>>() {
        release_new::<f64, f64>(py, values, law, stream)
    } else if let Ok(values) = values.cast::<PyArrayDyn<i64>>() {
        if whole {
            release_new::<i64, i64>(py, values, law, stream)
        } else {
            release_new::<i64, f64>(py, values, law, stream)
        }
    } else {
        Ok(None)
    }
}

fn release_new<'py, A: Answer + Element, T: Value + Element>(
    py: Python<'py>,
    values: &Bound<'py, PyArrayDyn<A>>,
    law: &impl Law,
    stream: &Stream,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let input = Input::new("values", values)?;
    let Some(answers) = input.as_slice() else {
        return Ok(None);
    };
    law.check_answers(answers)
        .map_err(|error| errors::answer(error, 0, values.shape()))?;
    // Before the fill is taken: where there is no memory, none is used up.
    let out = zeros::<T>(py, values.shape())?;
    let fill = stream.next_fill(law, answers.len()).map_err(errors::draw)?;
    fill.release(0, answers, out.try_readwrite()?.as_slice_mut()?)
        .map_err(|OutOfMemory| errors::memory())?;
    Ok(Some(out.into_any()))
}
