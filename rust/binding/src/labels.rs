//! The class of labels: columns of any library. A label has the same encoding in all of them.

use std::collections::HashMap;
use std::sync::Arc;

use numpy::{Element, PyArray1, PyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyList, PyString};
use stairnoise::OutOfMemory;
use stairnoise::keyed::address;

use crate::buffer::Input;
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
    /// Label i ends at `ends[i]`, where the next begins.
    Texts {
        begin: usize,
        ends: Vec<usize>,
        data: Vec<u8>,
    },
    /// Whole fields, delimited as texts are.
    Fields {
        ends: Vec<usize>,
        data: Vec<u8>,
    },
    /// Label i is number `places[i]` of another column.
    Taken {
        of: Arc<Column>,
        places: Vec<usize>,
    },
    /// Tuples of the labels of several columns.
    Tuples(Vec<Arc<Column>>),
}

impl stairnoise::keyed::Labels for Column {
    fn len(&self) -> usize {
        match &self.kind {
            Kind::Integers(numbers) | Kind::Dates(numbers) => numbers.len(),
            Kind::Texts { ends, .. } | Kind::Fields { ends, .. } => ends.len(),
            Kind::Taken { places, .. } => places.len(),
            Kind::Tuples(columns) => columns.first().map_or(0, |column| column.len()),
        }
    }

    fn write(&self, row: usize, bytes: &mut Vec<u8>) {
        if self.missing.as_ref().is_some_and(|missing| missing[row]) {
            address::none(bytes);
            return;
        }
        let before = |ends: &[usize], begin| if row == 0 { begin } else { ends[row - 1] };
        match &self.kind {
            Kind::Integers(numbers) => address::integer(bytes, numbers[row].into()),
            Kind::Dates(days) => address::date(bytes, days[row]),
            Kind::Texts { begin, ends, data } => address::utf8(bytes, &data[before(ends, *begin)..ends[row]]),
            Kind::Fields { ends, data } => bytes.extend(&data[before(ends, 0)..ends[row]]),
            Kind::Taken { of, places } => of.write(places[row], bytes),
            Kind::Tuples(columns) => address::tuple(bytes, |bytes| columns.iter().for_each(|column| column.write(row, bytes))),
        }
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

    /// Texts in Arrow's form: text i is `data[offsets[i] .. offsets[i + 1]]`.
    #[staticmethod]
    #[pyo3(signature = (offsets, data, missing = None))]
    fn texts(
        offsets: &Bound<'_, PyArrayDyn<i64>>,
        data: &Bound<'_, PyArrayDyn<u8>>,
        missing: Option<&Bound<'_, PyArrayDyn<bool>>>,
    ) -> PyResult<Self> {
        let (offsets, data) = (copied(offsets)?, copied(data)?);
        let rising = offsets.is_sorted() && offsets.first().is_some_and(|first| *first >= 0);
        if !rising || offsets.last().is_none_or(|last| *last as usize > data.len()) {
            return Err(PyValueError::new_err(
                "offsets must rise from 0 or more to the length of data or less",
            ));
        }
        let text = |part: &[i64]| std::str::from_utf8(&data[part[0] as usize..part[1] as usize]).is_ok();
        if !offsets.windows(2).all(text) {
            return Err(PyValueError::new_err("data must be UTF-8"));
        }
        let ends = offsets[1..].iter().map(|end| *end as usize).collect();
        let begin = offsets[0] as usize;
        Self::new(Kind::Texts { begin, ends, data }, missing)
    }

    /// Labels of a list; `encode(label, index)` returns the field of a label other than `str`, 64-bit `int`, `bool`, `bytes` and `None`.
    #[staticmethod]
    fn objects(list: &Bound<'_, PyList>, encode: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (mut ends, mut data) = (Vec::new(), Vec::new());
        ends.try_reserve_exact(list.len()).map_err(|_| errors::memory())?;
        for (index, label) in list.iter().enumerate() {
            // A number's field fits; longer fields reserve their own memory.
            data.try_reserve(32).map_err(|_| errors::memory())?;
            append(&label, index, encode, &mut data)?;
            ends.push(data.len());
        }
        Self::new(Kind::Fields { ends, data }, None)
    }

    /// The labels of this column at `places`; −1 stands for a missing label.
    fn taken(&self, places: &Bound<'_, PyArrayDyn<i64>>) -> PyResult<Self> {
        let places = copied(places)?;
        let n = stairnoise::keyed::Labels::len(&*self.0);
        if !places.iter().all(|place| (-1..n as i64).contains(place)) {
            return Err(PyValueError::new_err("places must be those of labels, or -1"));
        }
        let missing = places.contains(&-1).then(|| places.iter().map(|place| *place < 0).collect());
        let places = places.into_iter().map(|place| place.max(0) as usize).collect();
        let of = Arc::clone(&self.0);
        Ok(Self(Arc::new(Column {
            kind: Kind::Taken { of, places },
            missing,
        })))
    }

    /// Tuples of labels of several columns of one length.
    #[staticmethod]
    fn tuples(columns: &Bound<'_, PyList>) -> PyResult<Self> {
        let of = |column: Bound<'_, PyAny>| Ok(Arc::clone(&column.cast::<Self>()?.get().0));
        let columns: Vec<_> = columns.iter().map(of).collect::<PyResult<_>>()?;
        let mut lengths = columns.iter().map(|column| stairnoise::keyed::Labels::len(&**column));
        let first = lengths.next();
        if first.is_none() || !lengths.all(|length| Some(length) == first) {
            return Err(PyValueError::new_err("columns must be one or more of one length"));
        }
        Self::new(Kind::Tuples(columns), None)
    }

    fn __len__(&self) -> usize {
        stairnoise::keyed::Labels::len(&*self.0)
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
            stairnoise::keyed::Labels::write(&*self.0, row, &mut bytes);
            !bytes.starts_with(&[tag]) && !bytes.starts_with(b"N")
        })
    }

    /// The field of a label, for tests.
    fn field<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyBytes>> {
        if row >= self.__len__() {
            return Err(PyValueError::new_err("row must be that of a label"));
        }
        let mut bytes = Vec::new();
        stairnoise::keyed::Labels::write(&*self.0, row, &mut bytes);
        Ok(PyBytes::new(py, &bytes))
    }
}

impl Labels {
    fn new(kind: Kind, missing: Option<&Bound<'_, PyArrayDyn<bool>>>) -> PyResult<Self> {
        let column = Column {
            kind,
            missing: missing.map(copied).transpose()?,
        };
        let n = stairnoise::keyed::Labels::len(&column);
        if column.missing.as_ref().is_some_and(|missing| missing.len() != n) {
            return Err(PyValueError::new_err("missing must be as long as the labels"));
        }
        Ok(Self(Arc::new(column)))
    }
}

/// The field of each label.
fn fields(labels: &Column) -> impl Iterator<Item = Vec<u8>> {
    (0..stairnoise::keyed::Labels::len(labels)).map(|row| {
        let mut bytes = Vec::new();
        stairnoise::keyed::Labels::write(labels, row, &mut bytes);
        bytes
    })
}

/// The entry of `places` for every label's field; −1 for a missing label, −2 for an unknown one.
fn places_of(labels: &Column, places: &HashMap<Vec<u8>, i64>) -> Result<Vec<i64>, OutOfMemory> {
    let n = stairnoise::keyed::Labels::len(labels);
    let mut found = Vec::new();
    found.try_reserve_exact(n).map_err(|_| OutOfMemory)?;
    if let Kind::Taken { of, places: taken } = &labels.kind {
        let known = places_of(of, places)?;
        let missing = |row: usize| labels.missing.as_ref().is_some_and(|missing| missing[row]);
        found.extend(
            taken
                .iter()
                .enumerate()
                .map(|(row, place)| if missing(row) { -1 } else { known[*place] }),
        );
        return Ok(found);
    }
    let (mut field, mut none) = (Vec::new(), Vec::new());
    address::none(&mut none);
    for row in 0..n {
        field.clear();
        stairnoise::keyed::Labels::write(labels, row, &mut field);
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

/// The elements of an array in C order.
fn copied<A: Element + Copy>(array: &Bound<'_, PyArrayDyn<A>>) -> PyResult<Vec<A>> {
    let input = Input::new("labels", array)?;
    input.copied().map_err(|OutOfMemory| errors::memory())
}
