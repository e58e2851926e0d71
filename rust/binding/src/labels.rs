//! The class of labels: columns of any library. A label has the same encoding in all of them.

use std::collections::HashMap;
use std::sync::Arc;

use numpy::{Element, PyArray1, PyArrayDyn, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyList, PyString};
use stairnoise::keyed::{Mask, RowKeys, address};
use stairnoise::{OutOfMemory, parallel};

use crate::buffer::{Input, STAGE, filled};
use crate::errors;

/// The labels of a release's rows, copied so that the caller can change the originals.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct Labels(pub Arc<Column>);

pub(crate) struct Column {
    kind: Kind,
    /// Which labels are missing, if any can be.
    missing: Option<Vec<bool>>,
}

enum Kind {
    Integers(Vec<i64>),
    /// Days from 1970-01-01.
    Dates(Vec<i64>),
    /// `write` appends the field of label i, of which `data` has the bytes from `offsets[i]` to `offsets[i + 1]`.
    Bytes {
        write: fn(&mut Vec<u8>, &[u8]),
        offsets: Vec<i64>,
        data: Vec<u8>,
    },
    /// Label i is number `places[i]` of another column, or missing if that is −1.
    Taken {
        of: Arc<Column>,
        places: Vec<i64>,
    },
    /// Tuples of the labels of several columns.
    Tuples(Vec<Arc<Column>>),
}

impl Column {
    pub fn len(&self) -> usize {
        match &self.kind {
            Kind::Integers(numbers) | Kind::Dates(numbers) => numbers.len(),
            Kind::Bytes { offsets, .. } => offsets.len() - 1,
            Kind::Taken { places, .. } => places.len(),
            Kind::Tuples(columns) => columns.first().map_or(0, |column| column.len()),
        }
    }

    /// Appends the field of a label.
    pub fn write(&self, row: usize, bytes: &mut Vec<u8>) {
        if self.is_missing(row) {
            address::none(bytes);
            return;
        }
        match &self.kind {
            Kind::Integers(numbers) => address::integer(bytes, numbers[row].into()),
            Kind::Dates(days) => address::date(bytes, days[row]),
            Kind::Bytes { write, offsets, data } => write(bytes, &data[offsets[row] as usize..offsets[row + 1] as usize]),
            Kind::Taken { of, places } => match usize::try_from(places[row]) {
                Ok(place) => of.write(place, bytes),
                Err(_) => address::none(bytes),
            },
            Kind::Tuples(columns) => address::tuple(bytes, |bytes| columns.iter().for_each(|column| column.write(row, bytes))),
        }
    }

    /// Writes the masks of all labels; not all of them if `go_on` said no, on this thread, which is one of `threads`.
    pub fn masks(
        &self,
        keys: &RowKeys,
        masks: &mut [Mask],
        threads: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), OutOfMemory> {
        let Kind::Taken { of, places } = &self.kind else {
            let write = |first: u64, part: &mut [Mask]| keys.labels(|row, bytes| self.write(first as usize + row, bytes), part);
            return parallel::fill(masks, threads, write, go_on).map(drop);
        };
        // A label that many rows have is encrypted once.
        let (mut known, mut none) = (filled([0; 2], of.len())?, [[0; 2]]);
        of.masks(keys, &mut known, threads, go_on)?;
        keys.labels(|_, bytes| address::none(bytes), &mut none)?;
        for (mask, place) in masks.iter_mut().zip(places) {
            *mask = *known.get(*place as usize).unwrap_or(&none[0]);
        }
        Ok(())
    }

    fn is_missing(&self, row: usize) -> bool {
        self.missing.as_ref().is_some_and(|missing| missing[row])
    }
}

#[pymethods]
impl Labels {
    #[staticmethod]
    #[pyo3(signature = (numbers, missing = None))]
    fn integers(numbers: &Bound<'_, PyArrayDyn<i64>>, missing: Option<&Bound<'_, PyArrayDyn<bool>>>) -> PyResult<Self> {
        Self::new(Kind::Integers(copied(numbers)?), missing)
    }

    /// Days from 1970-01-01.
    #[staticmethod]
    #[pyo3(signature = (days, missing = None))]
    fn dates(days: &Bound<'_, PyArrayDyn<i64>>, missing: Option<&Bound<'_, PyArrayDyn<bool>>>) -> PyResult<Self> {
        Self::new(Kind::Dates(copied(days)?), missing)
    }

    /// Texts in Arrow's form: text i is `data[offsets[i] − offsets[0] .. offsets[i + 1] − offsets[0]]`. Offsets of u32 are the texts' lengths.
    #[staticmethod]
    #[pyo3(signature = (offsets, data, missing = None))]
    fn texts(
        offsets: &Bound<'_, PyUntypedArray>,
        data: &Bound<'_, PyArrayDyn<u8>>,
        missing: Option<&Bound<'_, PyArrayDyn<bool>>>,
    ) -> PyResult<Self> {
        let offsets = if let Ok(lengths) = offsets.cast::<PyArrayDyn<u32>>() {
            let mut end = 0;
            numbers(lengths, Some(0), |length| {
                end += i64::from(length);
                end
            })?
        } else if let Ok(narrow) = offsets.cast::<PyArrayDyn<i32>>() {
            from_first(narrow)?
        } else {
            from_first::<i64>(offsets.cast()?)?
        };
        let data = copied(data)?;
        if !offsets.is_sorted() || offsets.last().is_none_or(|last| *last as usize > data.len()) {
            return Err(PyValueError::new_err(
                "offsets must rise, and end with the length of data or less",
            ));
        }
        // All at once takes a tenth of the time of text by text.
        let texts = &data[..offsets[offsets.len() - 1] as usize];
        let whole = |texts: &str| offsets.iter().all(|offset| texts.is_char_boundary(*offset as usize));
        if !texts.is_ascii() && !std::str::from_utf8(texts).is_ok_and(whole) {
            return Err(PyValueError::new_err("data must be UTF-8"));
        }
        let write = address::utf8;
        Self::new(Kind::Bytes { write, offsets, data }, missing)
    }

    /// Texts of up to `width` code points, filled up with zeros; `None` if one has no UTF-8.
    #[staticmethod]
    fn code_points(characters: &Bound<'_, PyArrayDyn<u32>>, width: usize) -> PyResult<Option<Self>> {
        Self::of_rows(characters, width, address::utf8, |row, data| {
            if row.iter().fold(0, |all, point| all | point) < 0x80 {
                data.extend(row.iter().map(|point| *point as u8));
                return true;
            }
            row.iter().all(|point| {
                let character = char::from_u32(*point);
                character
                    .map(|one| data.extend(one.encode_utf8(&mut [0; 4]).bytes()))
                    .is_some()
            })
        })
    }

    /// Bytes, up to `width` of them, filled up with zeros.
    #[staticmethod]
    fn binaries(bytes: &Bound<'_, PyArrayDyn<u8>>, width: usize) -> PyResult<Option<Self>> {
        Self::of_rows(bytes, width, address::binary, |row, data| {
            data.extend_from_slice(row);
            true
        })
    }

    /// Labels of a list; `encode(label, index)` returns the field of a label other than `str`, 64-bit `int`, `bool`, `bytes` and `None`.
    #[staticmethod]
    fn objects(list: &Bound<'_, PyList>, encode: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (mut offsets, mut data) = (Vec::new(), Vec::new());
        offsets.try_reserve_exact(list.len() + 1).map_err(|_| errors::memory())?;
        offsets.push(0);
        for (index, label) in list.iter().enumerate() {
            // A number's field fits; longer fields reserve their own memory.
            data.try_reserve(32).map_err(|_| errors::memory())?;
            append(&label, index, encode, &mut data)?;
            offsets.push(data.len() as i64);
        }
        let write: fn(&mut Vec<u8>, &[u8]) = |bytes, field| bytes.extend_from_slice(field);
        Self::new(Kind::Bytes { write, offsets, data }, None)
    }

    /// The labels of this column at `places`; −1 stands for a missing label.
    fn taken(&self, places: &Bound<'_, PyArrayDyn<i64>>) -> PyResult<Self> {
        let places = copied(places)?;
        let n = self.0.len();
        if !places.iter().all(|place| (-1..n as i64).contains(place)) {
            return Err(PyValueError::new_err("places must be those of labels, or -1"));
        }
        let of = Arc::clone(&self.0);
        Self::new(Kind::Taken { of, places }, None)
    }

    /// Tuples of labels of several columns of one length.
    #[staticmethod]
    fn tuples(columns: &Bound<'_, PyList>) -> PyResult<Self> {
        let of = |column: Bound<'_, PyAny>| Ok(Arc::clone(&column.cast::<Self>()?.get().0));
        let columns: Vec<_> = columns.iter().map(of).collect::<PyResult<_>>()?;
        let mut lengths = columns.iter().map(|column| column.len());
        let first = lengths.next();
        if first.is_none() || !lengths.all(|length| Some(length) == first) {
            return Err(PyValueError::new_err("columns must be one or more of one length"));
        }
        Self::new(Kind::Tuples(columns), None)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The number of every label among `known`, which are present and distinct; −1 for a missing label, −2 for an unknown one.
    fn places_among<'py>(&self, py: Python<'py>, known: &Self) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let mut places = HashMap::new();
        places.try_reserve(known.__len__() + 1).map_err(|_| errors::memory())?;
        for (place, field) in (0_i64..).zip(fields(&known.0)) {
            places.insert(field, place);
        }
        let found = places_of(&self.0, &places).map_err(|OutOfMemory| errors::memory())?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// The index of the first label whose field has neither this tag nor that of a missing label.
    fn first_besides(&self, tag: u8) -> Option<usize> {
        let mut bytes = Vec::new();
        (0..self.__len__()).find(|&row| {
            bytes.clear();
            self.0.write(row, &mut bytes);
            !bytes.starts_with(&[tag]) && !bytes.starts_with(b"N")
        })
    }

    /// The field of a label, for tests.
    fn field<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyBytes>> {
        if row >= self.__len__() {
            return Err(PyValueError::new_err("row must be that of a label"));
        }
        let mut bytes = Vec::new();
        self.0.write(row, &mut bytes);
        Ok(PyBytes::new(py, &bytes))
    }
}

impl Labels {
    /// Labels of rows of `width` characters, without the zeros at their ends; `None` if `convert`, which appends what one has, returns false.
    fn of_rows<T: Element + Copy + Default + PartialEq>(
        characters: &Bound<'_, PyArrayDyn<T>>,
        width: usize,
        write: fn(&mut Vec<u8>, &[u8]),
        convert: impl Fn(&[T], &mut Vec<u8>) -> bool,
    ) -> PyResult<Option<Self>> {
        let input = Input::new("labels", characters)?;
        let (mut offsets, mut data, mut fine) = (Vec::new(), Vec::new(), true);
        offsets
            .try_reserve_exact(input.len() / width + 1)
            .map_err(|_| errors::memory())?;
        offsets.push(0);
        // Enough for characters of one byte. If there is no memory for it, less may do.
        let _ = data.try_reserve_exact(input.len());
        let convert_all = |part: &[T]| {
            fine = fine && data.try_reserve(part.len().saturating_mul(4)).is_ok();
            let begin = data.len();
            // Rows of full length are converted together, if their characters have a byte each.
            let full = part.iter().skip(width - 1).step_by(width).all(|last| *last != T::default());
            if fine && full && convert(part, &mut data) && data.len() == begin + part.len() {
                offsets.extend((begin..data.len()).step_by(width).map(|first| (first + width) as i64));
                return;
            }
            data.truncate(begin);
            for row in part.chunks_exact(width) {
                let used = row.iter().rposition(|character| *character != T::default());
                fine = fine && convert(&row[..used.map_or(0, |last| last + 1)], &mut data);
                offsets.push(data.len() as i64);
            }
        };
        let read = input.in_parts(STAGE.next_multiple_of(width), convert_all);
        read.map_err(|OutOfMemory| errors::memory())?;
        let made = fine.then(|| Self::new(Kind::Bytes { write, offsets, data }, None));
        made.transpose()
    }

    fn new(kind: Kind, missing: Option<&Bound<'_, PyArrayDyn<bool>>>) -> PyResult<Self> {
        let column = Column {
            kind,
            missing: missing.map(copied).transpose()?,
        };
        let n = column.len();
        if column.missing.as_ref().is_some_and(|missing| missing.len() != n) {
            return Err(PyValueError::new_err("missing must be as long as the labels"));
        }
        Ok(Self(Arc::new(column)))
    }
}

/// The field of each label.
fn fields(labels: &Column) -> impl Iterator<Item = Vec<u8>> {
    (0..labels.len()).map(|row| {
        let mut bytes = Vec::new();
        labels.write(row, &mut bytes);
        bytes
    })
}

/// The entry of `places` for every label's field; −1 for a missing label, −2 for an unknown one.
fn places_of(labels: &Column, places: &HashMap<Vec<u8>, i64>) -> Result<Vec<i64>, OutOfMemory> {
    let n = labels.len();
    let mut found = Vec::new();
    found.try_reserve_exact(n).map_err(|_| OutOfMemory)?;
    if let Kind::Taken { of, places: taken } = &labels.kind {
        let known = places_of(of, places)?;
        found.extend(taken.iter().map(|place| *known.get(*place as usize).unwrap_or(&-1)));
        return Ok(found);
    }
    let (mut field, mut none) = (Vec::new(), Vec::new());
    address::none(&mut none);
    for row in 0..n {
        field.clear();
        labels.write(row, &mut field);
        let other = if field == none { -1 } else { -2 };
        found.push(places.get(&field).copied().unwrap_or(other));
    }
    Ok(found)
}

/// Appends the field of a label.
fn append(label: &Bound<'_, PyAny>, index: usize, encode: &Bound<'_, PyAny>, data: &mut Vec<u8>) -> PyResult<()> {
    if let Ok(text) = label.cast_exact::<PyString>() {
        // A lone surrogate has no UTF-8; the package's error does not show the text.
        if let Ok(text) = text.to_str() {
            data.try_reserve(text.len() + 16).map_err(|_| errors::memory())?;
            address::text(data, text);
            return Ok(());
        }
    } else if let Ok(number) = label.cast_exact::<PyInt>() {
        if let Ok(number) = number.extract::<i64>() {
            address::integer(data, number.into());
            return Ok(());
        }
    } else if let Ok(truth) = label.cast_exact::<PyBool>() {
        address::bool(data, truth.is_true());
        return Ok(());
    } else if label.is_none() {
        address::none(data);
        return Ok(());
    } else if let Ok(bytes) = label.cast_exact::<PyBytes>() {
        let bytes = bytes.as_bytes();
        data.try_reserve(bytes.len() + 16).map_err(|_| errors::memory())?;
        address::binary(data, bytes);
        return Ok(());
    }
    let field = encode.call1((label, index))?;
    let field = field.cast::<PyBytes>()?.as_bytes();
    data.try_reserve(field.len()).map_err(|_| errors::memory())?;
    data.extend(field);
    Ok(())
}

/// The numbers of an array, less the first of them.
fn from_first<A: Element + Copy + Into<i64>>(array: &Bound<'_, PyArrayDyn<A>>) -> PyResult<Vec<i64>> {
    let mut first = None;
    numbers(array, None, |number| {
        let number = number.into();
        number.wrapping_sub(*first.get_or_insert(number))
    })
}

/// A number, if there is one, and what `of` makes of those of an array.
fn numbers<A: Element + Copy>(
    array: &Bound<'_, PyArrayDyn<A>>,
    before: Option<i64>,
    mut of: impl FnMut(A) -> i64,
) -> PyResult<Vec<i64>> {
    let (input, mut numbers) = (Input::new("labels", array)?, Vec::new());
    numbers.try_reserve_exact(input.len() + 1).map_err(|_| errors::memory())?;
    numbers.extend(before);
    let extend = |part: &[A]| numbers.extend(part.iter().map(|number| of(*number)));
    input.in_parts(STAGE, extend).map_err(|OutOfMemory| errors::memory())?;
    Ok(numbers)
}

/// The elements of an array in C order.
fn copied<A: Element + Copy>(array: &Bound<'_, PyArrayDyn<A>>) -> PyResult<Vec<A>> {
    let input = Input::new("labels", array)?;
    input.copied().map_err(|OutOfMemory| errors::memory())
}
