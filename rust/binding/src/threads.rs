use std::time::{Duration, Instant};

use numpy::ndarray::ArrayViewMutD;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use stairnoise::parallel::PIECE;
use stairnoise::{ParamError, parallel, process_mark};

use crate::buffer::{Inputs, Piece, Pieces, detach_for};
use crate::errors::{self, ParameterError};

/// How often a long fill looks whether a signal has come: rarely enough not to wait for other Python threads all the time.
const LOOK_EVERY: Duration = Duration::from_millis(100);

const VARIABLE: &str = "STAIRNOISE_NUM_THREADS";

/// The number of threads for a fill of `values`: as asked, or 0 for what the environment says, or all that the process may use.
pub(crate) fn number(asked: usize, values: usize) -> PyResult<usize> {
    if asked > 0 || values < parallel::SPLIT_FROM {
        return Ok(asked.max(1));
    }
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(parallel::available_threads());
    };
    match text.to_str().and_then(|text| text.parse().ok()) {
        Some(threads) if threads > 0 => Ok(threads),
        _ => Err(ParameterError::new_err(format!(
            "{VARIABLE} must be a positive integer, got {}",
            text.display()
        ))),
    }
}

/// Has `write(state, piece)` write every piece of `out`, on up to `threads` threads.
///
/// Python's signal handlers run every now and then; if one raises, as Ctrl-C's does, or forks, in its child, the rest is left as it was and the exception is returned.
pub(crate) fn fill<T: Send, I: Inputs, S>(
    py: Python<'_>,
    out: ArrayViewMutD<'_, T>,
    inputs: I,
    threads: usize,
    state: impl Fn() -> S + Sync + Send,
    write: impl Fn(&mut S, Piece<'_, T, I>) -> Result<(), ParamError> + Sync + Send,
) -> PyResult<()> {
    fill_parts(py, out, inputs, [1, 1], threads, state, write)
}

/// [`fill`] of values each of which takes as long as `price` usual ones, in pieces of at least so many.
pub(crate) fn fill_parts<T: Send, I: Inputs, S>(
    py: Python<'_>,
    out: ArrayViewMutD<'_, T>,
    inputs: I,
    [price, least]: [usize; 2],
    threads: usize,
    state: impl Fn() -> S + Sync + Send,
    write: impl Fn(&mut S, Piece<'_, T, I>) -> Result<(), ParamError> + Sync + Send,
) -> PyResult<()> {
    let most = match price {
        0 | 1 if threads > 1 => parallel::piece(out.len(), size_of::<T>(), threads),
        _ => PIECE / price.max(1),
    }
    .max(least);
    let work = out.len().saturating_mul(price);
    if out.len() <= most {
        let only = Piece { first: 0, out, inputs };
        return detach_for(py, work, || write(&mut state(), only)).map_err(errors::parameter);
    }
    detach_for(py, work, || {
        let mut signals = Signals::new();
        let pieces = Pieces::new(out, inputs, most);
        parallel::each(pieces, threads, state, write, || signals.look()).map_err(errors::parameter)?;
        signals.result
    })
}

/// The clock of the last look for a signal, and what a handler raised.
struct Signals {
    last: Instant,
    process: u64,
    result: PyResult<()>,
}

impl Signals {
    fn new() -> Self {
        Self {
            last: Instant::now(),
            process: process_mark(),
            result: Ok(()),
        }
    }

    /// Refuses to go on in a child that a signal handler forked: it would end the fill with its parent's noise.
    fn same_process(&self) -> PyResult<()> {
        if self.process == process_mark() {
            Ok(())
        } else {
            Err(PyRuntimeError::new_err(
                "the process was forked by a signal handler during this fill, whose noise belongs to the parent",
            ))
        }
    }

    /// Whether to go on.
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is not general enough in its lifetime"
    )]
    fn look(&mut self) -> bool {
        if self.result.is_ok() && self.last.elapsed() >= LOOK_EVERY {
            self.result = Python::attach(|py| py.check_signals()).and_then(|()| self.same_process());
            self.last = Instant::now();
        }
        self.result.is_ok()
    }
}

/// The instruction sets that this processor can run, slowest first.
#[pyfunction]
pub(crate) fn cpu_tiers() -> Vec<&'static str> {
    stairnoise::cpu_tiers()
}

/// The instruction set in use; refuses a `STAIRNOISE_CPU` that it cannot follow.
#[pyfunction]
pub(crate) fn cpu_tier() -> PyResult<&'static str> {
    stairnoise::cpu_tier().map_err(ParameterError::new_err)
}
