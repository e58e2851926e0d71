//! The classes of keyed releases.

use numpy::{Element, PyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use stairnoise::keyed::{Keyed, Mask, RowKeys, address};
use stairnoise::{Answer, AnyMechanism, DrawError, Holds, Mechanism as _, OutOfMemory};
use zeroize::Zeroizing;

use crate::agreement::repeated;
use crate::buffer::{
    Elements, InOrder, Input, Output, Parts, STAGE, detach_for, filled, new_array, same_shape, with_answers, with_output,
};
use crate::errors::{self, Failure, ParameterError};
use crate::labels::{Column, Labels};
use crate::layout::Order;
use crate::mechanism::Mechanism;
use crate::threads::{self, Signals};

/// A row takes as long as this many values of one word.
const PRICE: usize = 8;

/// The keys derived from a secret, one for each purpose.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct Keys {
    noise: Keyed,
    fingerprint: Keyed,
    /// Distinguishes two secrets, and reveals nothing about either.
    identity: [u8; 16],
}

#[pymethods]
impl Keys {
    /// A `bytearray`, which the caller can wipe; its length is checked there.
    #[staticmethod]
    fn of(secret: &Bound<'_, PyByteArray>) -> PyResult<Self> {
        // This copy is wiped here; the caller can wipe the original.
        let bytes = Zeroizing::new(secret.to_vec());
        let Ok(secret) = <&[u8; 32]>::try_from(&**bytes) else {
            return Err(PyValueError::new_err("secret must have 32 bytes"));
        };
        let identity = Keyed::new(secret, b"stairnoise/keyed1/identity").digest(&[]);
        let mut first = [0; 16];
        first.copy_from_slice(&identity[..16]);
        Ok(Self {
            noise: Keyed::new(secret, b"stairnoise/keyed1/noise"),
            fingerprint: Keyed::new(secret, b"stairnoise/keyed1/fingerprint"),
            identity: first,
        })
    }

    #[getter]
    fn identity<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.identity)
    }

    /// Writes the released answers of rows to `out`. `head` is common to the rows' addresses; a row is a number or a vector of `width` numbers.
    #[pyo3(signature = (mechanism, head, labels, values, out, *, bind_value, width = None, threads = 0))]
    #[allow(clippy::too_many_arguments, reason = "as Python calls it")]
    fn release(
        &self,
        py: Python<'_>,
        mechanism: &Mechanism,
        head: &[u8],
        labels: &Labels,
        values: &Bound<'_, PyUntypedArray>,
        out: &Bound<'_, PyUntypedArray>,
        bind_value: bool,
        width: Option<usize>,
        threads: usize,
    ) -> PyResult<()> {
        same_shape("values", values.shape(), out.shape())?;
        let release = Release {
            keys: self.noise.rows(head),
            mechanism,
            rows: Rows {
                labels: &labels.0,
                width,
            },
            bind_value,
        };
        if mechanism.0.joint_values() != width.unwrap_or(1) {
            return Err(PyValueError::new_err(
                "width must be the number of values that the mechanism draws together",
            ));
        }
        release.rows.check(values.len())?;
        with_answers!(values, values => with_output!(out, out => release.write(py, values, out, threads)))
    }

    /// The fingerprint of rows: 32 bytes.
    #[pyo3(signature = (head, labels, values, *, width = None))]
    fn fingerprint<'py>(
        &self,
        py: Python<'py>,
        head: &[u8],
        labels: &Labels,
        values: &Bound<'_, PyUntypedArray>,
        width: Option<usize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (key, rows) = (
            self.fingerprint.under(head),
            Rows {
                labels: &labels.0,
                width,
            },
        );
        rows.check(values.len())?;
        let found = with_answers!(values, values => rows.fingerprint(py, &key, values))?;
        Ok(PyBytes::new(py, &found))
    }
}

/// Labels, each with one number or a vector of `width` numbers.
#[derive(Clone, Copy)]
struct Rows<'a> {
    labels: &'a Column,
    width: Option<usize>,
}

impl Rows<'_> {
    fn check(&self, values: usize) -> PyResult<()> {
        let width = self.width.unwrap_or(1);
        if width == 0 || self.labels.len().checked_mul(width) != Some(values) {
            return Err(PyValueError::new_err("labels must be as many as the rows"));
        }
        Ok(())
    }

    /// Appends the field of a row's value.
    fn value<A: Number>(&self, values: &[A], bytes: &mut Vec<u8>) {
        match (self.width, values) {
            (None, [value]) => value.write(bytes),
            _ => address::tuple(bytes, |bytes| values.iter().for_each(|value| value.write(bytes))),
        }
    }

    /// Writes the masks of the labels, and returns the rows that repeat one, each with the first row of its label.
    fn masks(&self, py: Python<'_>, keys: &RowKeys, masks: &mut [Mask], threads: usize) -> PyResult<Vec<(usize, usize)>> {
        let mut signals = Signals::new();
        let found = detach_for(py, self.labels.len() * PRICE, || {
            self.labels.masks(keys, masks, threads, &mut || signals.look())?;
            repeated(masks, threads, || signals.look())
        });
        signals.result?;
        found.map_err(|OutOfMemory| errors::memory())
    }

    /// Requires that equal labels have equal values.
    fn agree<A: Number>(&self, repeated: &[(usize, usize)], values: &[A]) -> PyResult<()> {
        let width = self.width.unwrap_or(1);
        let value = |row: usize| &values[row * width..][..width];
        let other = repeated.iter().find(|(row, first)| value(*row) != value(*first));
        other.map_or(Ok(()), |(row, _)| {
            Err(ParameterError::new_err(format!(
                "labels must have one value each, got a label that has another value before, at index ({row},)"
            )))
        })
    }

    fn fingerprint<A: Number + Element>(
        &self,
        py: Python<'_>,
        key: &Keyed,
        values: &Bound<'_, PyArrayDyn<A>>,
    ) -> PyResult<[u8; 32]> {
        let values = copied(&Input::new("values", values)?)?;
        let mut masks = filled([0; 2], self.labels.len()).map_err(|OutOfMemory| errors::memory())?;
        let repeated = self.masks(py, &key.rows(b"agreement"), &mut masks, 1)?;
        self.agree(&repeated, &values)?;
        let width = self.width.unwrap_or(1);
        let mut repeated = repeated.into_iter().map(|(row, _)| row).peekable();
        let distinct = (0..self.labels.len()).filter(|row| repeated.next_if_eq(row).is_none());
        let address = |row: usize, bytes: &mut Vec<u8>| {
            address::tuple(bytes, |bytes| {
                self.labels.write(row, bytes);
                self.value(&values[row * width..][..width], bytes);
            });
        };
        let mut signals = Signals::new();
        let found = detach_for(py, self.labels.len(), || {
            key.fingerprint(distinct, address, || signals.look())
        });
        signals.result?;
        found.ok_or_else(errors::memory)
    }
}

/// A copy of true answers, which no other thread can change between two reads.
fn copied<A: Number>(values: &Input<'_, A>) -> PyResult<Vec<A>> {
    values.copied().map_err(|OutOfMemory| errors::memory())
}

struct Release<'a> {
    keys: RowKeys,
    mechanism: &'a Mechanism,
    rows: Rows<'a>,
    bind_value: bool,
}

impl Release<'_> {
    fn write<A: Number + Answer + Element, T: Holds<Box<dyn AnyMechanism>> + Element>(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyArrayDyn<A>>,
        out: &Bound<'_, PyArrayDyn<T>>,
        threads: usize,
    ) -> PyResult<()> {
        let (mechanism, width) = (&self.mechanism.0, self.rows.width.unwrap_or(1));
        let places = Output::new(out)?;
        let input = Input::for_output("values", values, out)?;
        let parts = Parts {
            price: (PRICE / width).max(1).saturating_mul(mechanism.draws()).min(1 << 10),
            joint_values: width,
        };
        let threads = threads::number(threads, places.len().saturating_mul(parts.price))?;
        // All rows are checked before any is drawn.
        self.check(py, &input, (places.order(), threads), values.shape())?;
        // NumPy's memory, because it has huge pages.
        let draw = |masks: &mut [u64]| {
            let masks = masks.as_chunks_mut().0;
            let repeated = self.rows.masks(py, &self.keys, masks, threads)?;
            let own = (!repeated.is_empty()).then(|| copied(&input)).transpose()?;
            if let Some(answers) = &own {
                self.rows.agree(&repeated, answers)?;
            }
            let answers = || match &own {
                Some(answers) => Ok(InOrder::own(answers)),
                None => input.in_order(parts.stage()),
            };
            self.draw(py, places, (parts, threads), masks, answers)
        };
        new_array(py, &[2 * self.rows.labels.len()], draw).map(drop)
    }

    /// Refuses the first answer that no row takes. Not inlined: it is compiled once for a type of answers, whatever their output.
    #[inline(never)]
    fn check<A: Number + Answer>(
        &self,
        py: Python<'_>,
        answers: &Input<'_, A>,
        (order, threads): (Order, usize),
        shape: &[usize],
    ) -> PyResult<()> {
        threads::check(
            py,
            (order, answers.len(), threads),
            || (),
            || answers.in_order(STAGE),
            |(), answers| {
                self.mechanism
                    .0
                    .check_answers(answers.part())
                    .map_err(|error| (0, Refusal::Answer(error)))?;
                let fraction = answers.part().iter().position(|answer| !answer.is_whole());
                fraction
                    .filter(|_| self.bind_value)
                    .map_or(Ok(()), |place| Err((place, Refusal::Fraction)))
            },
            |first, refusal| match refusal {
                Refusal::Answer(error) => errors::answer(error, first, shape),
                Refusal::Fraction => ParameterError::new_err(format!(
                    "values must be whole numbers with bind=\"value\", got one that is not{}",
                    errors::place(first, shape)
                )),
            },
        )
    }

    /// Draws the noise of checked answers. An answer is read once: had it changed between mask and release, it would get another answer's noise.
    fn draw<'a, A: Answer + Element + 'a, T: Holds<Box<dyn AnyMechanism>> + Element>(
        &self,
        py: Python<'_>,
        places: Output<'_, T>,
        (parts, threads): (Parts, usize),
        masks: &[Mask],
        answers: impl Fn() -> Result<InOrder<'a, A>, OutOfMemory> + Sync + Send,
    ) -> PyResult<()> {
        let width = parts.joint_values;
        let write = |first: u64, answers: &InOrder<'a, A>, part: &mut [T]| {
            let masks = &masks[first as usize / width..][..part.len() / width];
            let mut own = filled([0; 2], masks.len())?;
            own.copy_from_slice(masks);
            if self.bind_value {
                self.keys.bind(answers.part(), &mut own);
            }
            match self.keys.release(&self.mechanism.0, own, answers.part(), part) {
                Err(DrawError::OutOfMemory) => Err(OutOfMemory.into()),
                released => released.map_err(|_| Failure::Changed("values")),
            }
        };
        threads::fill(
            py,
            places,
            parts,
            threads,
            || (),
            |(), piece| piece.write(answers()?, parts.stage(), write),
        )
    }
}

enum Refusal {
    Answer(DrawError),
    Fraction,
}

impl From<stairnoise::OutOfMemory> for Refusal {
    fn from(error: stairnoise::OutOfMemory) -> Self {
        Self::Answer(error.into())
    }
}

/// A true answer that an address can contain.
trait Number: Copy + PartialEq + Sync + Send + Element {
    fn is_whole(self) -> bool;
    fn write(self, bytes: &mut Vec<u8>);
}

impl Number for i64 {
    fn is_whole(self) -> bool {
        true
    }

    fn write(self, bytes: &mut Vec<u8>) {
        address::integer(bytes, self.into());
    }
}

impl Number for f64 {
    fn is_whole(self) -> bool {
        self.fract() == 0.0
    }

    fn write(self, bytes: &mut Vec<u8>) {
        address::number(bytes, self);
    }
}
