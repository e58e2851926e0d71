//! Long fills, on several threads and stopped by Ctrl-C.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use numpy::Element;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use stairnoise::parallel::PIECE;
use stairnoise::{OutOfMemory, parallel, process_mark};

use crate::buffer::{Inputs, Output, Parts, Piece, STAGE, detach_for};
use crate::errors::{Failure, ParameterError};
use crate::layout::{Block, Order};

/// How often a long fill checks for signals: rarely enough not to wait for other Python threads all the time.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Shorter arrays are checked by one thread: a check takes a quarter of a nanosecond a value, and starting a thread 30 µs.
const CHECK_SPLIT_FROM: usize = 1 << 20;

/// Values checked at a time: their copies stay in the nearest cache.
pub(crate) const CHECKED: usize = 1 << 10;

const VARIABLE: &str = "STAIRNOISE_NUM_THREADS";

/// The number of threads for a fill of `values`: `asked`, or if it is 0, the environment's number or all threads that the process can use.
pub(crate) fn number(asked: usize, values: usize) -> PyResult<usize> {
    // A fill too short for threads does not read the environment.
    if asked > 0 || values < parallel::SPLIT_FROM {
        return Ok(asked.max(1));
    }
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(parallel::available_threads());
    };
    match text.to_str().and_then(|text| text.parse().ok()) {
        Some(threads @ 1..=parallel::MOST_THREADS) => Ok(threads),
        _ => Err(ParameterError::new_err(format!(
            "{VARIABLE} must be an integer from 1 to 2**{}, got {}",
            parallel::MOST_THREADS.ilog2(),
            text.display()
        ))),
    }
}

/// Calls `write(state, piece)` for every piece of `out`, on up to `threads` threads.
///
/// Signal handlers run every 100 ms. If one raises, or forks (in the child), filling stops and the exception is returned.
pub(crate) fn fill<T: Element, S>(
    py: Python<'_>,
    mut out: Output<'_, T>,
    parts: Parts,
    threads: usize,
    state: impl Fn() -> S + Sync + Send,
    write: impl Fn(&mut S, Piece<'_, T>) -> Result<(), Failure> + Sync + Send,
) -> PyResult<()> {
    // Threads share values of one word in pages. Pieces of slower values take as long as `PIECE` values of one word.
    let most = match parts.price {
        0 | 1 if threads > 1 => parallel::piece(out.len(), size_of::<T>(), threads),
        price => (PIECE / price.max(1)).max(1),
    }
    .next_multiple_of(parts.joint_values);
    let work = out.len().saturating_mul(parts.price);
    // A single piece is too short to share, or to look for signals.
    if out.len() <= most {
        return Ok(detach_for(py, work, || write(&mut state(), out.whole()))?);
    }
    let write = &write;
    let writer = || -> Work<'_, Piece<'_, T>, Failure> {
        let mut state = state();
        Box::new(move |piece| write(&mut state, piece))
    };
    let mut signals = Signals::new();
    let pieces = out.pieces(most, parts.joint_values);
    detach_for(py, work, || run(&mut signals, pieces, threads, &writer))?;
    signals.result
}

/// What a thread does with every item.
type Work<'a, I, E> = Box<dyn FnMut(I) -> Result<(), E> + 'a>;

/// Has every item worked on, until `signals` have an exception. Dynamic, so that it is compiled once for a kind of items.
fn run<'a, I, E: Send>(
    signals: &mut Signals,
    items: impl Iterator<Item = I> + Send,
    threads: usize,
    work: &'a (dyn Fn() -> Work<'a, I, E> + Sync),
) -> Result<bool, E> {
    parallel::run(items, threads, work, |work, item| work(item), || signals.look())
}

/// Calls `look(state, inputs)` for all `len` values, in parts in this order, on up to `threads` threads. Returns `refusal(position, error)` for the
/// first refused value in C order.
pub(crate) fn check<S, I: Inputs, E: From<OutOfMemory> + Send>(
    py: Python<'_>,
    (order, len, threads): (Order, usize, usize),
    state: impl Fn() -> S + Sync + Send,
    inputs: impl Fn() -> Result<I, OutOfMemory> + Sync + Send,
    look: impl Fn(&mut S, &I) -> Result<(), (usize, E)> + Sync + Send,
    refusal: impl Fn(usize, E) -> PyErr,
) -> PyResult<()> {
    let look_at = &|state: &mut S, order: Order, piece: Block| {
        let mut inputs = inputs().map_err(|error| (piece.first, error.into()))?;
        for tile in order.tiles(piece, STAGE).1 {
            inputs.begin(&tile).map_err(|error| (tile.first, error.into()))?;
            for (first, n) in tile.runs(CHECKED) {
                inputs.advance(first, n);
                look(state, &inputs).map_err(|(position, error)| (first + position, error))?;
            }
        }
        Ok(())
    };
    // A single part is not interrupted by signals, so the clock is not read.
    if len <= STAGE {
        let order = Order::of_values(len);
        return look_at(&mut state(), order, order.all(len)).map_err(|(position, error)| refusal(position, error));
    }
    let looker = || -> Work<'_, (Order, Block), (usize, E)> {
        let mut state = state();
        Box::new(move |(order, piece)| look_at(&mut state, order, piece))
    };
    let refused = first_refused(py, (order, len, threads), &looker)?;
    refused.map_or(Ok(()), |(position, error)| Err(refusal(position, error)))
}

type Looker<'a, E> = &'a (dyn Fn() -> Work<'a, (Order, Block), (usize, E)> + Sync);

/// The first refused value in C order. Dynamic, so that it is compiled once for a kind of errors.
fn first_refused<E: Send>(
    py: Python<'_>,
    (order, len, threads): (Order, usize, usize),
    looker: Looker<'_, E>,
) -> PyResult<Option<(usize, E)>> {
    let threads = if len < CHECK_SPLIT_FROM { 1 } else { threads };
    let refused_in = |order: Order| -> PyResult<Option<(usize, E)>> {
        let refused = Mutex::new(None);
        let worker = || -> Work<'_, Block, ()> {
            let (mut look, refused) = (looker(), &refused);
            Box::new(move |piece| {
                look((order, piece)).map_err(|(position, error)| {
                    // Pieces begin in order and all of them end, so the first refusal is found, on whichever thread.
                    let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
                    if refused.as_ref().is_none_or(|(earlier, _)| position < *earlier) {
                        *refused = Some((position, error));
                    }
                })
            })
        };
        let mut signals = Signals::new();
        let pieces = order.pieces(order.all(len), PIECE, 1);
        // The outcome is read from `signals` and `refused`.
        let _ = detach_for(py, len, || run(&mut signals, pieces, threads, &worker));
        signals.result?;
        Ok(refused.into_inner().unwrap_or_else(PoisonError::into_inner))
    };
    let refused = refused_in(order)?;
    // Rows are read in groups, so an earlier row may also be refused.
    if refused.is_some() && !order.is_of_values() {
        return Ok(refused_in(Order::of_values(len))?.or(refused));
    }
    Ok(refused)
}

/// The time of the last check for signals, and the exception that a handler raised.
pub(crate) struct Signals {
    last: Instant,
    process: u64,
    pub result: PyResult<()>,
}

impl Signals {
    pub fn new() -> Self {
        Self {
            last: Instant::now(),
            process: process_mark(),
            result: Ok(()),
        }
    }

    /// Refuses to continue in a child that a signal handler forked: the child would complete the fill with its parent's noise.
    fn same_process(&self) -> PyResult<()> {
        if self.process == process_mark() {
            Ok(())
        } else {
            Err(PyRuntimeError::new_err(
                "the process was forked by a signal handler during this fill, whose noise belongs to the parent",
            ))
        }
    }

    /// Returns the exception that a handler raised, if it is time to check.
    pub fn check(&mut self) -> PyResult<()> {
        self.look();
        std::mem::replace(&mut self.result, Ok(()))
    }

    /// Returns whether to continue. If it is time to check and a handler raised, its exception becomes the `result`.
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is not general enough in its lifetime"
    )]
    pub fn look(&mut self) -> bool {
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
