//! Memory shared with Polars through Arrow's C data interface (<https://arrow.apache.org/docs/format/CDataInterface.html>): numbers of one type, and
//! bits that mark the non-null values, without a copy.
#![allow(unsafe_code, reason = "structures of C, and memory behind pointers in them")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::{mem, ptr};

use numpy::ndarray::ArrayView1;
use numpy::{PyArray1, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::buffer::data;

/// Arrow's and NumPy's names of the types of numbers; NumPy's name ends with the size in bytes.
const TYPES: [(&CStr, &str); 11] = [
    (c"c", "i1"),
    (c"C", "u1"),
    (c"s", "i2"),
    (c"S", "u2"),
    (c"i", "i4"),
    (c"I", "u4"),
    (c"l", "i8"),
    (c"L", "u8"),
    (c"e", "f2"),
    (c"f", "f4"),
    (c"g", "f8"),
];

/// The flag of a type that has nulls.
const NULLABLE: i64 = 2;

/// An array of numbers has two buffers: bits, then numbers.
const BUFFERS: i64 = 2;

#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

// SAFETY: the interface lets a consumer release from any thread, and lent memory is never written to.
unsafe impl Send for Schema {}
// SAFETY: as above.
unsafe impl Send for Array {}
// SAFETY: as above.
unsafe impl Sync for Array {}

impl Drop for Schema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the producer filled the structure, which is neither released nor taken, because both leave `None`.
            unsafe { release(self) };
        }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as for a schema.
            unsafe { release(self) };
        }
    }
}

/// Owns an array that a producer lent, and is the base of NumPy arrays that view its memory.
#[pyclass(frozen, module = "stairnoise._native")]
struct Lent {
    _array: Array,
}

/// The bytes of a chunk's numbers, the bits that mark non-null values (`None` if there is no null), and how many bits to skip.
type Chunk<'py> = (Bound<'py, PyArray1<u8>>, Option<Bound<'py, PyArray1<u8>>>, usize);

/// NumPy's name for the type of a column of numbers that a capsule lends as a stream, and the column's chunks.
#[pyfunction]
pub(crate) fn arrow_chunks<'py>(capsule: &Bound<'py, PyCapsule>) -> PyResult<(&'static str, Vec<Chunk<'py>>)> {
    let stream = capsule
        .pointer_checked(Some(c"arrow_array_stream"))?
        .cast::<Stream>()
        .as_ptr();
    // SAFETY: a capsule of this name holds a stream, which lives as long as the capsule.
    let &Stream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        release: Some(_),
        ..
    } = (unsafe { &*stream })
    else {
        return Err(refused());
    };
    // SAFETY: a schema and an array of zeros have null pointers and no functions, and nothing to release.
    let (mut schema, empty) = unsafe { (mem::zeroed::<Schema>(), || mem::zeroed::<Array>()) };
    // SAFETY: a stream that has not been released, and a schema for it to fill.
    if unsafe { get_schema(stream, &raw mut schema) } != 0
        || schema.format.is_null()
        || schema.n_children != 0
        || !schema.dictionary.is_null()
    {
        return Err(refused());
    }
    // SAFETY: the format is a C string that lives as long as the schema.
    let format = unsafe { CStr::from_ptr(schema.format) };
    let (_, name) = TYPES.iter().find(|(arrow, _)| *arrow == format).ok_or_else(refused)?;
    let mut chunks = Vec::new();
    loop {
        let mut array = empty();
        // SAFETY: as above.
        if unsafe { get_next(stream, &raw mut array) } != 0 {
            return Err(refused());
        }
        // An empty array marks the end of the stream.
        if array.release.is_none() {
            return Ok((name, chunks));
        }
        chunks.push(chunk(capsule.py(), array, size(name))?);
    }
}

fn refused() -> PyErr {
    PyValueError::new_err("the capsule must lend a column of numbers")
}

fn size(name: &str) -> usize {
    usize::from(name.as_bytes()[1] - b'0')
}

fn chunk(py: Python<'_>, array: Array, size: usize) -> PyResult<Chunk<'_>> {
    let (Ok(length), Ok(offset)) = (usize::try_from(array.length), usize::try_from(array.offset)) else {
        return Err(refused());
    };
    if array.n_buffers != BUFFERS || array.buffers.is_null() {
        return Err(refused());
    }
    // SAFETY: an array of numbers has two pointers.
    let [valid, numbers] = unsafe { array.buffers.cast::<[*const u8; 2]>().read() };
    let all_valid = valid.is_null() || array.null_count == 0;
    let owner = Bound::new(py, Lent { _array: array })?;
    let view = |first: *const u8, n| {
        let first = if n == 0 { ptr::dangling() } else { first };
        // SAFETY: the owner keeps the buffer, which holds `offset + length` numbers, or bits.
        let bytes = unsafe { PyArray1::borrow_from_array(&ArrayView1::from_shape_ptr(n, first), owner.clone().into_any()) };
        bytes.call_method1("setflags", (false,))?;
        PyResult::Ok(bytes)
    };
    let skipped = offset % 8;
    let numbers = view(numbers.wrapping_add(offset * size), length * size)?;
    let valid = if all_valid {
        None
    } else {
        Some(view(valid.wrapping_add(offset / 8), (skipped + length).div_ceil(8))?)
    };
    Ok((numbers, valid, skipped))
}

/// Numbers and nulls that another library can take.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct ArrowArray {
    numbers: Py<PyUntypedArray>,
    /// A bit for every value, the lowest first: 1 for a number, 0 for null.
    valid: Py<PyArray1<u8>>,
    format: &'static CStr,
}

#[pymethods]
impl ArrowArray {
    /// From here on nobody must write to the arrays.
    #[new]
    fn new(numbers: &Bound<'_, PyUntypedArray>, valid: &Bound<'_, PyArray1<u8>>) -> PyResult<Self> {
        let dtype = numbers.dtype();
        let name = format!("{}{}", char::from(dtype.kind()), dtype.itemsize());
        match TYPES.iter().find(|(_, numpy)| *numpy == name) {
            Some((format, _))
                if numbers.ndim() == 1
                    && numbers.is_c_contiguous()
                    && valid.is_c_contiguous()
                    && valid.len() == numbers.len().div_ceil(8) =>
            {
                Ok(Self {
                    numbers: numbers.clone().unbind(),
                    valid: valid.clone().unbind(),
                    format,
                })
            }
            _ => Err(PyValueError::new_err(
                "numbers and bits must be contiguous, a bit for every number",
            )),
        }
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A producer with only one type ignores the requested one.
        let _ = requested_schema;
        let (numbers, valid) = (self.numbers.bind(py), self.valid.bind(py));
        let schema = Schema {
            format: self.format.as_ptr(),
            name: c"".as_ptr(),
            metadata: ptr::null(),
            flags: NULLABLE,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: Some(release_schema),
            private_data: ptr::null_mut(),
        };
        let held = Box::into_raw(Box::new(Held {
            buffers: [data(valid.as_untyped()), data(numbers)],
            _numbers: self.numbers.clone_ref(py),
            _valid: self.valid.clone_ref(py),
        }));
        let array = Array {
            length: numbers.len() as i64,
            null_count: -1, // to be counted
            offset: 0,
            n_buffers: BUFFERS,
            n_children: 0,
            // SAFETY: the pointer is to the structure made above.
            buffers: unsafe { (&raw mut (*held).buffers).cast() },
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: Some(release_array),
            private_data: held.cast(),
        };
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}

/// The memory that a lent array keeps alive.
struct Held {
    buffers: [*const c_void; 2],
    _numbers: Py<PyUntypedArray>,
    _valid: Py<PyArray1<u8>>,
}

/// # Safety
/// The schema comes from `__arrow_c_array__`, and all of it is static.
unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: as the caller promises.
    unsafe { (*schema).release = None };
}

/// # Safety
/// The array comes from `__arrow_c_array__` and has not been released. Any thread may call.
unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: as the caller promises. If the thread is not attached to the interpreter, PyO3 drops the references later.
    unsafe {
        (*array).release = None;
        drop(Box::from_raw((*array).private_data.cast::<Held>()));
    }
}
