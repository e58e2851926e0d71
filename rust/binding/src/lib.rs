//! `stairnoise._native`: signatures, buffers and errors; no mathematics.
//!
//! | file | subject |
//! |---|---|
//! | `arguments` | Python values as the core's enums |
//! | `arrow` | memory that Polars lends and takes |
//! | `bit_generator` | words for NumPy's `Generator` |
//! | `borrows` | which memory the running calls read and write |
//! | `buffer` | facts about a caller's array, and writing noise to it |
//! | `column` | numbers in chunks, with nulls among them |
//! | `drawing` | noise and releases of one mechanism into a caller's array; functions of every element |
//! | `per_element` | mechanisms of one word with arrays of parameters |
//! | `errors` | the core's errors as Python exceptions |
//! | `gaussians` | discrete Gaussian mechanisms with arrays of parameters |
//! | `huge_pages` | the allocator |
//! | `keyed` | the classes of keyed releases |
//! | `labels` | the class of labels |
//! | `layout` | places of an array's elements |
//! | `mechanism` | the class of every mechanism with scalar parameters |
//! | `mechanisms` | a function for every mechanism that makes it |
//! | `names` | names of arguments |
//! | `partitions` | the class of partition selection |
//! | `selection` | the class of mechanisms that select |
//! | `stream` | the classes of generators |
//! | `threads` | long fills, on several threads and stopped by Ctrl-C |
//! | `transpose` | rows written as columns |
//! | `fast_path` | fast path for common arguments |
#![deny(unsafe_code)]

use pyo3::prelude::*;

mod agreement;
mod arguments;
mod arrow;
mod bit_generator;
mod borrows;
mod buffer;
mod column;
mod drawing;
mod errors;
mod fast_path;
mod gaussians;
mod huge_pages;
mod keyed;
mod labels;
mod layout;
mod mechanism;
mod mechanisms;
mod names;
mod partitions;
mod per_element;
mod selection;
mod stream;
mod threads;
mod transpose;

#[global_allocator]
static ALLOCATOR: huge_pages::HugePages = huge_pages::HugePages;

// A class changes only behind its own lock, and no lock is held while Python runs, so threads do not need the interpreter's lock.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::arrow::{ArrowArray, arrow_chunks};
    #[pymodule_export]
    use crate::bit_generator::BitSource;
    #[pymodule_export]
    use crate::buffer::{frozen, same_memory};
    #[pymodule_export]
    use crate::gaussians::{check_gaussians, fill_gaussians, release_gaussians};
    #[pymodule_export]
    use crate::keyed::Keys;
    #[pymodule_export]
    use crate::labels::Labels;
    #[pymodule_export]
    use crate::mechanism::Mechanism;
    #[pymodule_export]
    use crate::names::Named;
    #[pymodule_export]
    use crate::partitions::PartitionSelection;
    #[pymodule_export]
    use crate::per_element::{check, describe, fill_per_element, largest_quotients, release_per_element};
    #[pymodule_export]
    use crate::selection::Selection;
    #[pymodule_export]
    use crate::stream::{Child, Stream};
    #[pymodule_export]
    use crate::threads::{cpu_tier, cpu_tiers};

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    const MOST_THREADS: usize = stairnoise::parallel::MOST_THREADS;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::mechanisms::add(module)
    }
}
