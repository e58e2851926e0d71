//! What the block function reads and writes for callers that may call it at once: atomic numbers.

use std::sync::atomic::AtomicU64;

#[cfg(target_arch = "x86_64")]
use crate::cache_lines::CacheLines;

/// Words of a piece. Its registers are enough to hide the latency of a round; with twice as many the processor cannot look far enough ahead.
pub(super) const PIECE: usize = 32;

pub(super) const PIECES: usize = 16;

pub(super) type Piece = [AtomicU64; PIECE];

/// The first two are the key. Without VAES the others stay zero.
pub(super) type RoundKeys = [[AtomicU64; 2]; 15];

/// The counters of a piece from its first on: (0, 0), …, (15, 0).
#[cfg(target_arch = "x86_64")]
pub(super) static STEPS: CacheLines<[[u64; 2]; PIECE / 2]> = CacheLines({
    let mut steps = [[0; 2]; PIECE / 2];
    let mut n = 0;
    while n < steps.len() {
        steps[n][0] = n as u64;
        n += 1;
    }
    steps
});
