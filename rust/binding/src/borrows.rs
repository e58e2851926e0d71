//! A list of the memory that running calls read and write.
//!
//! Long calls let other Python threads run. A second call is refused if it would write memory that the first one uses, or read memory that the
//! first one writes. The list has only calls of this extension. As with NumPy, the caller must make sure that no other code writes to an array
//! at the same time.
//!
//! A child that was forked during a call has a copy of the list, but not the thread that would end the call. So an entry counts only in the
//! process that made it. A thread locks the list only while attached to the interpreter, and `os.fork` in another thread waits for its end.

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
    /// Every element begins at a multiple of this distance from the first.
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

    /// Whether elements of the two arrays may share a byte. Two columns of a table share none, although their elements alternate.
    fn meets(&self, other: &Self) -> bool {
        if self.all.start >= other.all.end || other.all.start >= self.all.end {
            return false;
        }
        let step = gcd(self.step, other.step);
        // Two single elements meet, because their ranges overlap.
        if step == 0 {
            return true;
        }
        let (low, high) = if self.first <= other.first {
            (self, other)
        } else {
            (other, self)
        };
        // Modulo the step, elements begin at two places. They are disjoint if each ends before the other begins.
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
        // In a forked child the parent's calls never end, so their entries are dropped.
        uses.all.retain(|held| held.process == process);
        // Two calls may read the same memory.
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
