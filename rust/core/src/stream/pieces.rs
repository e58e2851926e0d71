//! What the block function reads and writes for callers that may call it at once: atomic numbers.

use std::sync::atomic::AtomicU64;

/// Words of a piece. The registers that one takes are enough to hide the latency of a round; with twice as many the processor cannot look as
/// far ahead as it encrypts.
pub(super) const PIECE: usize = 32;

/// Pieces of a buffer.
pub(super) const PIECES: usize = 16;

/// Words that are made together.
pub(super) type Piece = [AtomicU64; PIECE];

/// The first two are the key. Without VAES the others stay zero.
pub(super) type RoundKeys = [[AtomicU64; 2]; 15];
