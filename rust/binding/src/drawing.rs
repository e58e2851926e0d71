//! Noise and releases of one mechanism into arrays of any strides. All steps that can fail come before a fill is taken.

use std::marker::PhantomData;

use numpy::{Element, PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use stairnoise::parallel::PIECE;
use stairnoise::{Answer, Answers, DrawError, Mechanism, MechanismFill, Modulus, OutOfMemory, Residue, Unread, Value};

use crate::buffer::{Elements, Input, Output, Parts, STAGE, same_shape};
use crate::column::Column;
use crate::errors::{self, Failure};
use crate::layout::Order;
use crate::stream::Stream;
use crate::threads;

/// Pieces hold at least 64 values, however many draws each takes: smaller pieces take longer per value.
const MAX_PRICE: usize = PIECE / 64;

fn parts(mechanism: &impl Mechanism) -> Parts {
    Parts {
        price: mechanism.draws().min(MAX_PRICE),
        joint_values: mechanism.joint_values(),
    }
}

/// Writes noise to every place of `out`.
pub(crate) fn fill<T: Value + Element>(
    py: Python<'_>,
    out: &Bound<'_, PyArrayDyn<T>>,
    mechanism: &impl Mechanism,
    stream: &Stream,
    threads: usize,
) -> PyResult<()> {
    let (out, parts) = (Output::new(out)?, parts(mechanism));
    let threads = threads::number(threads, out.len().saturating_mul(parts.price))?;
    let fill = stream.next_fill(mechanism, out.len()).map_err(errors::draw)?;
    threads::fill(
        py,
        out,
        parts,
        threads,
        || (),
        |(), piece| {
            if let Some(pitch) = piece.pitch_of_lines()
                && let Some(fill) = fill.in_tiles(pitch)
            {
                piece.write_tiles(fill);
                return Ok(());
            }
            piece.write((), parts.stage(), |first, &(), part| Ok(fill.write(first, part)?))
        },
    )
}

/// Writes noise to memory that nothing else refers to.
pub(crate) fn fill_new<T: Value>(out: &mut [T], mechanism: &impl Mechanism, stream: &Stream) -> PyResult<()> {
    let fill = stream.next_fill(mechanism, out.len()).map_err(errors::draw)?;
    fill.write(0, out).map_err(|OutOfMemory| errors::memory())
}

/// Writes the released answers, in an array of this shape, to memory that nothing else refers to.
pub(crate) fn release_new<A: Answer, T: Value>(
    answers: &[A],
    shape: &[usize],
    out: &mut [T],
    mechanism: &impl Mechanism,
    stream: &Stream,
) -> PyResult<()> {
    mechanism
        .check_answers(answers)
        .map_err(|error| errors::answer(error, 0, shape))?;
    let fill = stream.next_fill(mechanism, out.len()).map_err(errors::draw)?;
    fill.release(0, answers, out).map_err(|OutOfMemory| errors::memory())
}

/// Writes the released answers to their places of `out`; `checked` ones have passed [`first_refused`].
#[allow(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is not general enough in its lifetime"
)]
pub(crate) fn release<A: Answer + Element + Sync, T: Value + Element>(
    py: Python<'_>,
    values: &Bound<'_, PyArrayDyn<A>>,
    out: &Bound<'_, PyArrayDyn<T>>,
    mechanism: &impl Mechanism,
    stream: &Stream,
    threads: usize,
    checked: bool,
) -> PyResult<()> {
    let (places, answers) = (Output::new(out)?, Input::for_output("values", values, out)?);
    let places = places.in_step_with(&answers);
    release_in_order(
        py,
        |most| answers.unread_in_order(most, T::TO_ODD),
        |fill, first, answers, part| fill.release_next(first, answers, part),
        values.shape(),
        places,
        mechanism,
        stream,
        threads,
        checked,
    )
}

/// The position in C order of the first answer that the mechanism refuses.
pub(crate) fn first_refused<A: Answer + Element>(
    values: &Bound<'_, PyArrayDyn<A>>,
    mechanism: &impl Mechanism,
) -> PyResult<Option<usize>> {
    let mut refused = None;
    Input::new("values", values)?
        .in_unread_parts(4 * STAGE, |first, part| {
            if let Err(DrawError::NotFinite(i) | DrawError::OffLattice(i)) = mechanism.check_unread(part) {
                refused = refused.or(Some(first + i));
            }
        })
        .map_err(|OutOfMemory| errors::memory())?;
    Ok(refused)
}

/// Writes the residues of the released answers to their places of `out`.
pub(crate) fn release_modulo<T: Residue + Element>(
    py: Python<'_>,
    values: &Bound<'_, PyArrayDyn<i64>>,
    modulus: Modulus,
    out: &Bound<'_, PyArrayDyn<T>>,
    mechanism: &impl Mechanism,
    stream: &Stream,
    threads: usize,
) -> PyResult<()> {
    let (places, answers) = (Output::new(out)?, Input::for_output("values", values, out)?);
    let places = places.in_step_with(&answers);
    release_in_order(
        py,
        |most| answers.unread_in_order(most, false),
        |fill, first, answers, part| {
            fill.release_modulo(first, answers, modulus, part)?;
            Ok(true)
        },
        values.shape(),
        places,
        mechanism,
        stream,
        threads,
        false,
    )
}

/// Writes the released numbers of a column to their places of `out`; if nulls are `kept`, their places get 0.
pub(crate) fn release_column<A: Answer + Element + Sync, T: Value + Element>(
    py: Python<'_>,
    (column, kept): (&Column<'_, A>, bool),
    out: &Bound<'_, PyArrayDyn<T>>,
    mechanism: &impl Mechanism,
    stream: &Stream,
    threads: usize,
) -> PyResult<()> {
    same_shape("values", &[column.len()], out.shape())?;
    release_in_order(
        py,
        |most| column.in_order(most),
        |fill, first, answers, part| {
            let taken = fill.release_next(first, answers, part)?;
            if kept {
                column.erase_nulls(first as usize, part);
            }
            Ok(taken)
        },
        out.shape(),
        Output::new(out)?,
        mechanism,
        stream,
        threads,
        false,
    )
}

/// Releases answers of this shape, which `in_order` reads in step with `places`, by calling `release(fill, first, answers, part)` for every part. It
/// returns whether the mechanism takes the answers.
#[allow(clippy::too_many_arguments, reason = "three callers")]
fn release_in_order<A: Answer, T: Copy + Default + Send + Element, I: Elements<A>>(
    py: Python<'_>,
    in_order: impl Fn(usize) -> Result<I, OutOfMemory> + Sync + Send,
    release: impl Fn(&MechanismFill<'_>, u64, &mut dyn Answers<A, T>, &mut [T]) -> Result<bool, OutOfMemory> + Sync + Send,
    shape: &[usize],
    places: Output<'_, T>,
    mechanism: &impl Mechanism,
    stream: &Stream,
    threads: usize,
    checked: bool,
) -> PyResult<()> {
    let parts = parts(mechanism);
    let threads = threads::number(threads, places.len().saturating_mul(parts.price))?;
    // Answers that may change are checked once more when they are read again.
    if !(checked || mechanism.takes_all::<A>()) {
        // All of them are checked before a fill is taken.
        check(py, (places.order(), places.len(), threads), &in_order, mechanism, shape)?;
    }
    let fill = stream.next_fill(mechanism, places.len()).map_err(errors::draw)?;
    threads::fill(
        py,
        places,
        parts,
        threads,
        || (),
        |(), piece| {
            let (mut inputs, most) = (in_order(parts.stage())?, parts.stage());
            let release = |first, answers: &mut dyn Answers<A, T>, part: &mut [T]| {
                if release(&fill, first, answers, part)? {
                    return Ok(());
                }
                // Another thread has written to the answers since the check.
                part.fill(T::default());
                Err(Failure::Changed("values"))
            };
            if inputs.is_piecemeal() {
                return piece.write((), most, |first, &(), part| {
                    let at = first as usize;
                    release(first, &mut NextOf(&mut inputs, at, PhantomData), part)
                });
            }
            piece.write(inputs, most, |first, inputs, part| release(first, &mut inputs.part(), part))
        },
    )
}

/// Refuses the first answer that the mechanism does not take. Not inlined: it is compiled once for a type of answers, whatever their output.
#[inline(never)]
fn check<A: Answer, I: Elements<A>>(
    py: Python<'_>,
    places: (Order, usize, usize),
    in_order: &(dyn Fn(usize) -> Result<I, OutOfMemory> + Sync),
    mechanism: &impl Mechanism,
    shape: &[usize],
) -> PyResult<()> {
    threads::check(
        py,
        places,
        || (),
        || in_order(STAGE),
        |(), answers| mechanism.check_unread(answers.unread()).map_err(|error| (0, error)),
        |first, error| errors::answer(error, first, shape),
    )
}

/// Answers that are read, or copied, just before their noise is added: a copy of few stays in the nearest cache.
struct NextOf<'a, I, A>(&'a mut I, usize, PhantomData<A>);

impl<A: Copy, T, I: Elements<A>> Answers<A, T> for NextOf<'_, I, A> {
    fn next(&mut self, out: &[T]) -> Unread<'_, A> {
        let Self(inputs, at, _) = self;
        inputs.advance_to(*at, out);
        *at += out.len();
        inputs.unread()
    }
}

/// Writes `function` of every element of `values` to its place of `out`, on this thread; errors call `values` `name`.
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
        Parts::ONE_WORD,
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
