//! Words for NumPy's `Generator`: functions of C in the structure that NumPy keeps for them.
//!
//! NumPy's class makes the structure (numpy/random/bitgen.h) and lends it by a capsule. The capsule gets a share of the core's generator, so the
//! functions' state lives as long as NumPy's object, whatever Python code does to the object's attributes.
#![allow(unsafe_code, reason = "a structure of NumPy's, and functions that C code calls")]

#[cfg(target_arch = "x86_64")]
use std::arch::asm;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use std::arch::global_asm;
use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyCapsule};
use stairnoise::BitGenerator;

use crate::errors;
use crate::stream::with_key;

const NAME: &CStr = c"BitGenerator";

/// The beginning of NumPy's `bitgen_t`, which has been the same since NumPy 1.17. NumPy's own members may follow.
#[repr(C)]
struct BitGen {
    state: *mut c_void,
    next_uint64: unsafe extern "C" fn(*mut c_void) -> u64,
    next_uint32: unsafe extern "C" fn(*mut c_void) -> u32,
    next_double: unsafe extern "C" fn(*mut c_void) -> f64,
    next_raw: unsafe extern "C" fn(*mut c_void) -> u64,
}

/// A generator of words for one NumPy object.
#[pyclass(frozen, module = "stairnoise._native")]
pub(crate) struct BitSource {
    generator: Arc<BitGenerator>,
    installed: AtomicBool,
}

impl BitSource {
    fn new(generator: Arc<BitGenerator>) -> Self {
        Self {
            generator,
            installed: AtomicBool::new(false),
        }
    }
}

#[pymethods]
impl BitSource {
    #[staticmethod]
    fn from_os() -> PyResult<Self> {
        Ok(Self::new(BitGenerator::from_os().map_err(errors::draw)?))
    }

    /// A `bytearray`, which the caller can wipe.
    #[staticmethod]
    fn from_key(key: &Bound<'_, PyByteArray>) -> PyResult<Self> {
        with_key(key, |key| Ok(Self::new(BitGenerator::from_key(key).map_err(errors::draw)?)))
    }

    fn spawn(&self) -> PyResult<Self> {
        Ok(Self::new(self.generator.spawn().map_err(errors::draw)?))
    }

    /// Whether the caller gave the key.
    #[getter]
    fn given(&self) -> bool {
        self.generator.is_given()
    }

    /// Makes a capsule's owner draw from this source. Only one owner can, because every owner has its own lock.
    fn install(&self, capsule: &Bound<'_, PyCapsule>) -> PyResult<()> {
        let structure = capsule.pointer_checked(Some(NAME))?.cast::<BitGen>();
        let taken = || PyValueError::new_err("a capsule and a source belong to each other alone");
        if !capsule.context()?.is_null() || self.installed.swap(true, Relaxed) {
            return Err(taken());
        }
        let state = Arc::into_raw(Arc::clone(&self.generator)).cast_mut().cast::<c_void>();
        // SAFETY: NumPy sets no destructor for this capsule. `release` frees the context, which is the share made above.
        if unsafe {
            ffi::PyCapsule_SetContext(capsule.as_ptr(), state) | ffi::PyCapsule_SetDestructor(capsule.as_ptr(), Some(release))
        } != 0
        {
            return Err(PyErr::fetch(capsule.py()));
        }
        // SAFETY: a capsule of this name points to a `bitgen_t`, which begins with these members and is aligned as pointers are. No draw reads them
        // now, because NumPy draws with the interpreter attached or under the object's lock, and the object is still being made.
        unsafe {
            structure.write(BitGen {
                state,
                next_uint64,
                next_uint32,
                next_double,
                next_raw: next_uint64,
            });
        }
        Ok(())
    }

    /// `copy` and every pickle protocol call this method.
    #[allow(clippy::unused_self, reason = "Python calls it as a method")]
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a BitSource cannot be copied or pickled: the copy would repeat its words",
        ))
    }
}

unsafe extern "C" fn release(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule to which `install` gave this context calls once.
    unsafe {
        let state = ffi::PyCapsule_GetContext(capsule).cast_const().cast::<BitGenerator>();
        drop(Arc::from_raw(state));
    }
}

// Every function gets the `state` that `install` wrote into a NumPy object, whose capsule holds a share of the generator. NumPy holds the object
// while it calls a function. Callers through `ctypes`, `cffi` and Numba have to hold it too, as with NumPy's own generators.
//
// The generator is only read through a shared reference, and its state is atomic numbers. So threads that draw at once without the object's lock
// cause no data race; their draws may repeat (see the core's `bit_generator`). No function panics, allocates, waits or calls Python.

// On Linux every function's code has its own section, so that it begins with a cache line; the code of `next_uint64` and `next_double` ends within
// the line. A draw is so short that fetching code dominates: if the code lies across two lines, a draw takes 1.5 times as long (Zen 4).
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
global_asm!(
    ".pushsection .text.next_uint64, \"ax\", @progbits",
    ".balign 64",
    ".popsection",
    ".pushsection .text.next_uint32, \"ax\", @progbits",
    ".balign 64",
    ".popsection",
    ".pushsection .text.next_double, \"ax\", @progbits",
    ".balign 64",
    ".popsection",
);

#[cfg_attr(
    all(target_arch = "x86_64", target_os = "linux"),
    unsafe(link_section = ".text.next_uint64")
)]
unsafe extern "C" fn next_uint64(state: *mut c_void) -> u64 {
    // SAFETY: as above.
    unsafe { &*state.cast::<BitGenerator>() }.next_word()
}

#[cfg_attr(
    all(target_arch = "x86_64", target_os = "linux"),
    unsafe(link_section = ".text.next_uint32")
)]
unsafe extern "C" fn next_uint32(state: *mut c_void) -> u32 {
    // SAFETY: as above.
    unsafe { &*state.cast::<BitGenerator>() }.next_half()
}

#[cfg_attr(
    all(target_arch = "x86_64", target_os = "linux"),
    unsafe(link_section = ".text.next_double")
)]
unsafe extern "C" fn next_double(state: *mut c_void) -> f64 {
    // SAFETY: as above.
    double(unsafe { &*state.cast::<BitGenerator>() }.next_word())
}

/// The upper 53 bits of a word, as a number from 0 to 1 − 2⁻⁵³.
///
/// The conversion keeps the upper half of its register, so it waits for the previous draw unless the register is new. Compilers use a new register in
/// a loop, but not at the start of a function: then a draw took 2.2 to 2.6 ns instead of 1.6 (Zen 4).
fn double(word: u64) -> f64 {
    const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
    #[cfg(target_arch = "x86_64")]
    {
        let mut number = 0.0;
        // SAFETY: every x86-64 has SSE2.
        unsafe {
            asm!("cvtsi2sd {}, {}", inout(xmm_reg) number, in(reg) word >> 11, options(pure, nomem, nostack, preserves_flags));
        }
        number * STEP
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        (word >> 11) as f64 * STEP
    }
}
