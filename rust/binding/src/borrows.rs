//! Which memory the calls that are running read and write.
//!
//! Long calls let other Python threads run. A second call that would write what the first one uses, or read what it writes, is refused. This
//! knows of calls of this extension alone: that nobody else writes to an array meanwhile is the caller's affair, as it is with NumPy.
//!
//! A child that was forked during a call has a copy of the list, but not the thread that would end the call. So entries hold for the process
//! that made them. The list is locked only with the interpreter attached, where no other thread can fork.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use stairnoise::process_mark;

use crate::layout::{Layout, gcd};

static USES: Mutex<Uses> = Mutex::new(Uses {
    next: 0,
    all: Vec::new(),
});

struct Uses {
    next: u64,
    all: Vec<Use>,
}

struct Use {
    number: u64,
    process: u64,
    memory: Memory,
    writes: bool,
}

/// The addresses of an array's elements.
#[derive(Clone)]
struct Memory {
    all: Range<usize>,
    first: usize,
    /// Each element begins a multiple of this from the first.
    step: usize,
    size: usize,
}

impl Memory {
    fn new(first: usize, layout: &Layout, size: usize) -> Self {
        let reach = layout.reach();
        Self {
            all: first.wrapping_add_signed(reach.start)..first.wrapping_add_signed(reach.end),
            first,
            step: layout.step(),
            size,
        }
    }

    /// Whether an element may share a byte with one of the other. Not those of two columns of a table, which lie between each other.
    fn meets(&self, other: &Self) -> bool {
        if self.all.start >= other.all.end || other.all.start >= self.all.end {
            return false;
        }
        let step = gcd(self.step, other.step);
        if step == 0 {
            return true;
        }
        let (low, high) = if self.first <= other.first {
            (self, other)
        } else {
            (other, self)
        };
        let apart = (high.first - low.first) % step;
        !(apart >= low.size && step - apart >= high.size)
    }
}

/// The right to use an array's memory, until it is dropped.
pub(crate) struct Borrow(u64);

impl Borrow {
    /// `None` if another call stands in the way.
    pub fn new(first: usize, layout: &Layout, size: usize, writes: bool) -> Option<Self> {
        let (memory, process) = (Memory::new(first, layout, size), process_mark());
        let mut uses = uses();
        uses.all.retain(|held| held.process == process);
        let free = |held: &Use| !(writes || held.writes) || !held.memory.meets(&memory);
        if !uses.all.iter().all(free) {
            return None;
        }
        uses.next += 1;
        let number = uses.next;
        uses.all.push(Use {
            number,
            process,
            memory,
            writes,
        });
        Some(Self(number))
    }
}

impl Drop for Borrow {
    fn drop(&mut self) {
        uses().all.retain(|held| held.number != self.0);
    }
}

fn uses() -> MutexGuard<'static, Uses> {
    // The list is never left half-changed.
    USES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(first: usize, shape: &[usize], strides: &[isize], size: usize) -> Memory {
        Memory::new(first, &Layout::new(shape, strides, size), size)
    }

    /// Evidence: the sets of bytes, listed.
    #[test]
    fn what_shares_a_byte_meets() {
        let kinds: &[(&[usize], &[isize])] = &[
            (&[], &[]),
            (&[3], &[8]),
            (&[3], &[-16]),
            (&[2, 3], &[48, 8]),
            (&[3, 2], &[8, 24]),
            (&[2, 0], &[8, 8]),
            (&[4], &[0]),
            (&[3], &[9]),
        ];
        let bytes = |first: usize, (shape, strides): (&[usize], &[isize]), size: usize| -> Vec<usize> {
            let layout = Layout::new(shape, strides, size);
            let begins = (0..layout.len()).map(|i| first.wrapping_add_signed(layout.offset(i)));
            begins.flat_map(|begin| begin..begin + size).collect()
        };
        for a in kinds {
            for b in kinds {
                for first in 960..1060 {
                    for (size, other) in [(8, 8), (8, 4), (4, 8)] {
                        let shared = bytes(1000, *a, size)
                            .iter()
                            .any(|byte| bytes(first, *b, other).contains(byte));
                        let meets = memory(1000, a.0, a.1, size).meets(&memory(first, b.0, b.1, other));
                        assert!(meets || !shared, "{a:?} {b:?} {first}");
                    }
                }
            }
        }
        let column = |i| memory(1000 + 8 * i, &[50], &[24], 8);
        assert!(!column(0).meets(&column(1)) && !column(2).meets(&column(0)) && column(1).meets(&column(1)));
    }

    #[test]
    fn readers_share_and_a_writer_does_not() {
        let layout = Layout::new(&[10], &[8], 8);
        let borrow = |first, writes| Borrow::new(first, &layout, 8, writes);
        let (first, second) = (borrow(8000, false), borrow(8008, false));
        assert!(first.is_some() && second.is_some() && borrow(8000, true).is_none());
        drop((first, second));
        let writer = borrow(8000, true);
        assert!(writer.is_some() && borrow(8072, false).is_none() && borrow(8080, false).is_some());
    }
}
