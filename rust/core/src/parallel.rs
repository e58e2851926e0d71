//! Work shared by several threads: a slice filled in pieces, or any other items.
//!
//! Threads live for one call: there is no pool that a forked child would miss, and none is left behind when the call ends, however it ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Values handed to a thread at a time: some 100 µs of work, so that taking the next piece costs nothing and no thread waits long for the last.
pub const PIECE: usize = if cfg!(miri) { 1 << 6 } else { 1 << 16 };

/// Bytes of a huge page, which Linux gives to arrays of NumPy. Two threads that reach one new page both clear it.
const PAGE: usize = if cfg!(miri) { 1 << 11 } else { 1 << 21 };

/// Pieces begin at a multiple of this number of values, which are drawn together.
const BLOCK: usize = 64;

/// Values of `bytes` each handed to one of `threads` threads at a time: of long work a page's, but a fair share for each.
pub fn piece(values: usize, bytes: usize, threads: usize) -> usize {
    let share = values / threads.max(1).saturating_mul(4) / BLOCK * BLOCK;
    (PAGE / bytes.max(1)).min(share).max(PIECE)
}

/// How many of `values` values at `place` come before the pieces of `most`, so that long pieces begin with a page.
pub fn ahead<T>(place: *const T, values: usize, most: usize) -> usize {
    let page = place.cast::<u8>().align_offset(PAGE).div_ceil(size_of::<T>().max(1));
    let page = page.next_multiple_of(BLOCK);
    if most > PIECE && page < values { page % most } else { 0 }
}

/// Slices shorter than this are filled by the calling thread: starting a thread costs about 30 µs, as much as 10⁴ values.
pub const SPLIT_FROM: usize = 4 * PIECE;

/// Threads of a call at most: far more than any machine runs at once, so that a slip is no storm of threads.
pub const MOST_THREADS: usize = 1 << 12;

/// Bytes of stack of a thread that is started here: ten times what the deepest draw takes.
const STACK: usize = 1 << 19;

/// Has `work(first, piece)` fill every piece of `out`, whose first element is number `first`, on up to `threads` threads, this one included.
///
/// This thread asks `go_on` after each piece that it fills itself; once it is false no other piece is begun. Returns whether all were filled.
///
/// # Errors
/// One that `work` returned, after which no other piece is begun.
pub fn fill<T: Send, E: Send>(
    out: &mut [T],
    threads: usize,
    work: impl Fn(u64, &mut [T]) -> Result<(), E> + Sync,
    go_on: impl FnMut() -> bool,
) -> Result<bool, E> {
    let threads = if out.len() < SPLIT_FROM { 1 } else { threads };
    let most = if threads > 1 {
        piece(out.len(), size_of::<T>(), threads)
    } else {
        PIECE
    };
    let ahead = ahead(out.as_ptr(), out.len(), most);
    let (head, rest) = out.split_at_mut(ahead);
    let rest = (ahead as u64..).step_by(most).zip(rest.chunks_mut(most));
    let pieces = head.chunks_mut(most).map(|head| (0, head)).chain(rest);
    run(pieces, threads, || (), |(), (first, piece)| work(first, piece), go_on)
}

/// Has every item worked on, on up to `threads` threads, this one included; each thread makes a state of its own first.
///
/// There are no more threads than items, by the least number of them that the iterator's `size_hint` promises, and no more than [`MOST_THREADS`].
///
/// This thread asks `go_on` after each of its own items; once it is false no other item is begun. Returns whether all were worked on.
///
/// # Errors
/// One that `work` returned, after which no other item is begun.
pub fn run<I: Iterator + Send, S, E: Send>(
    items: I,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I::Item) -> Result<(), E> + Sync,
    mut go_on: impl FnMut() -> bool,
) -> Result<bool, E> {
    let threads = threads.min(MOST_THREADS).min(items.size_hint().0);
    // Relaxed loads and stores are enough: the flag carries no data, and the end of the scope orders all else.
    let stop = AtomicBool::new(false);
    // Fused, because every thread asks once more after the end.
    let items = Mutex::new(items.fuse());
    let failure = Mutex::new(None);
    let work_on_next = |state: &mut S| {
        let next = items.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(item) = next else { return false };
        if let Err(error) = work(state, item) {
            failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            stop.store(true, Ordering::Relaxed);
        }
        !stop.load(Ordering::Relaxed)
    };
    let work_alone = |go_on: &mut dyn FnMut() -> bool| {
        let mut state = state();
        while work_on_next(&mut state) {
            if !go_on() {
                stop.store(true, Ordering::Relaxed);
                break;
            }
        }
    };
    on_threads(threads, &work_alone, &mut go_on);
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(!stop.into_inner()),
    }
}

/// Has `work` done by every one of `threads` threads, of which only this one asks `go_on`. Dynamic, so that starting threads is compiled once.
fn on_threads(threads: usize, work: &(dyn Fn(&mut dyn FnMut() -> bool) + Sync), go_on: &mut dyn FnMut() -> bool) {
    if threads <= 1 {
        return work(go_on);
    }
    thread::scope(|scope| {
        for _ in 1..threads {
            let helper = || work(&mut || true);
            // Where no more threads can be had, those there are do the work.
            if thread::Builder::new().stack_size(STACK).spawn_scoped(scope, helper).is_err() {
                break;
            }
        }
        work(go_on);
    });
}

/// The default number of threads of a long fill: as many as the process may run at once.
pub fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn every_piece_is_filled_once_by_any_number_of_threads() {
        for n in [
            0,
            1,
            PIECE,
            SPLIT_FROM - 1,
            SPLIT_FROM,
            SPLIT_FROM + 1,
            9 * PIECE + 5,
            40 * PIECE + 7,
        ] {
            for &threads in if cfg!(miri) { &[1, 3][..] } else { &[1, 2, 3, 16] } {
                let mut out = vec![0_u64; n];
                let count = |first, piece: &mut [u64]| {
                    piece.iter_mut().zip(first..).for_each(|(x, i)| *x += i + 1);
                    Ok::<(), Infallible>(())
                };
                assert_eq!(fill(&mut out, threads, count, || true), Ok(true));
                assert!(out.iter().zip(1..).all(|(x, i)| *x == i), "{n} values, {threads} threads");
            }
        }
    }

    /// Evidence: the addresses of pieces. Two pieces share less than a block of a page.
    #[test]
    fn long_pieces_are_pages() {
        let mut out = vec![0_u64; 40 * PIECE + 7];
        let begins = Mutex::new(Vec::new());
        let done = fill(
            &mut out,
            2,
            |first, piece| {
                assert_eq!(first % BLOCK as u64, 0);
                begins.lock().unwrap().push(piece.as_ptr().addr());
                Ok::<(), Infallible>(())
            },
            || true,
        );
        assert_eq!(done, Ok(true));
        let mut begins = begins.into_inner().unwrap();
        begins.sort_unstable();
        assert!(begins.len() >= 40 * PIECE * 8 / PAGE, "{}", begins.len());
        assert!(begins[1..].iter().all(|begin| begin % PAGE < 8 * BLOCK), "{begins:x?}");
    }

    #[test]
    fn an_error_ends_the_work_and_is_returned() {
        for threads in [1, 2, 5] {
            let refuse = |made: &mut usize, item| {
                *made += 1;
                if item == 20 { Err(item) } else { Ok(()) }
            };
            assert_eq!(run(0..1_000_000, threads, || 0, refuse, || true), Err(20));
            assert_eq!(run(0..20, threads, || 0, refuse, || true), Ok(true));
        }
    }

    /// Every thread makes a state, so that states are counted for threads.
    #[test]
    fn there_are_no_more_threads_than_items() {
        for (items, threads, most) in [(0, 5, 1), (1, 5, 1), (3, usize::MAX, 3), (5, 2, 2)] {
            let states = AtomicUsize::new(0);
            let make = || states.fetch_add(1, Ordering::Relaxed);
            let done: Result<bool, Infallible> = run(0..items, threads, make, |_, _| Ok(()), || true);
            assert_eq!(done, Ok(true));
            assert!((1..=most).contains(&states.into_inner()), "{items} items, {threads} threads");
        }
    }

    /// Opens a gate when it is dropped, in the calling thread: after that thread's last item, when the stop is known to all.
    struct Gate<'a>(&'a AtomicBool, bool);

    impl Drop for Gate<'_> {
        fn drop(&mut self) {
            self.0.fetch_or(self.1, Ordering::Release);
        }
    }

    /// The helper is held at its first item until the calling thread has stopped, so that neither speed nor load decides.
    #[test]
    fn a_stop_leaves_the_rest_untouched() {
        let (caller, open) = (thread::current().id(), AtomicBool::new(false));
        let mut out = [false; 100];
        let mut asked = 0;
        let done: Result<bool, Infallible> = run(
            out.iter_mut(),
            2,
            || Gate(&open, thread::current().id() == caller),
            |gate, item| {
                while !gate.1 && !gate.0.load(Ordering::Acquire) {
                    thread::yield_now();
                }
                *item = true;
                Ok(())
            },
            || {
                asked += 1;
                asked < 3
            },
        );
        assert_eq!((done, asked), (Ok(false), 3));
        // Three of the caller's, and at most the one that the helper had begun.
        assert!([3, 4].contains(&out.iter().filter(|worked_on| **worked_on).count()));
        assert!(!out[99]);
    }

    #[test]
    fn a_fill_that_is_stopped_says_so() {
        let mut out = vec![false; SPLIT_FROM];
        let set = |_, piece: &mut [bool]| {
            piece.fill(true);
            Ok::<(), Infallible>(())
        };
        assert_eq!(fill(&mut out, 1, set, || false), Ok(false));
        assert!(out[..PIECE].iter().all(|filled| *filled) && !out[PIECE..].iter().any(|filled| *filled));
    }
}
