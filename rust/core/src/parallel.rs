//! A slice filled by several threads, in pieces.
//!
//! Threads live for one call: there is no pool that a forked child would miss, and none is left behind when the call ends, however it ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Values handed to a thread at a time: some 100 µs of work, so that taking the next piece costs nothing and no thread waits long for the last.
pub const PIECE: usize = 1 << 16;

/// Slices shorter than this are filled by the calling thread: starting a thread costs about 30 µs, as much as 10⁴ values.
pub const SPLIT_FROM: usize = 4 * PIECE;

/// Has `work(first, piece)` fill every piece of `out`, whose first element is number `first`, on up to `threads` threads, this one included.
///
/// This thread asks `go_on` after each piece that it fills itself; once it is false no further piece is begun. Returns whether all were filled.
pub fn fill<T: Send>(
    out: &mut [T],
    threads: usize,
    work: impl Fn(u64, &mut [T]) + Sync,
    mut go_on: impl FnMut() -> bool,
) -> bool {
    let helpers = if out.len() < SPLIT_FROM {
        0
    } else {
        threads.min(out.len().div_ceil(PIECE)).saturating_sub(1)
    };
    let stop = AtomicBool::new(false);
    let pieces = Mutex::new(out.chunks_mut(PIECE).enumerate());
    let fill_next = || {
        let next = pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some((i, piece)) = next else { return false };
        work((i * PIECE) as u64, piece);
        true
    };
    thread::scope(|scope| {
        for _ in 0..helpers {
            let helper = || {
                while !stop.load(Ordering::Relaxed) {
                    if !fill_next() {
                        break;
                    }
                }
            };
            // Where no more threads can be had, those there are do the work.
            if thread::Builder::new().spawn_scoped(scope, helper).is_err() {
                break;
            }
        }
        while fill_next() {
            if !go_on() {
                stop.store(true, Ordering::Relaxed);
                break;
            }
        }
    });
    let done = pieces.lock().unwrap_or_else(PoisonError::into_inner).len() == 0;
    done && !stop.into_inner()
}

/// How many threads a long fill uses if nobody says: as many as the process may run at once.
pub fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_filled_once_by_any_number_of_threads() {
        for n in [0, 1, PIECE, SPLIT_FROM - 1, SPLIT_FROM, SPLIT_FROM + 1, 9 * PIECE + 5] {
            for threads in [1, 2, 3, 16] {
                let mut out = vec![0_u64; n];
                let done = fill(
                    &mut out,
                    threads,
                    |first, piece| piece.iter_mut().zip(first..).for_each(|(x, i)| *x += i + 1),
                    || true,
                );
                assert!(done);
                assert!(out.iter().zip(1..).all(|(x, i)| *x == i), "{n} values, {threads} threads");
            }
        }
    }

    #[test]
    fn a_stop_leaves_the_rest_untouched() {
        let mut out = vec![false; 100 * PIECE];
        let mut asked = 0;
        let done = fill(
            &mut out,
            2,
            |_, piece| piece.fill(true),
            || {
                asked += 1;
                asked < 3
            },
        );
        assert!(!done);
        assert_eq!(asked, 3);
        assert!(out[0] && !out[out.len() - 1]);
    }
}
