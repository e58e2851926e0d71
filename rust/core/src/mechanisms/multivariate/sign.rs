//! A word as a magnitude and a sign.

use crate::kernel::WORD_BITS;

/// The bit of a word that is no magnitude's.
pub(super) const SIGN: u64 = 1 << WORD_BITS;

/// A magnitude below 2⁶³ with the sign of a word, without a branch: half of all guesses would be wrong.
pub(super) fn signed(magnitude: u64, word: u64) -> i64 {
    let mask = word.cast_signed() >> WORD_BITS;
    (magnitude.cast_signed() ^ mask).wrapping_sub(mask)
}

pub(super) const fn bits(word: u64) -> u64 {
    word & !SIGN
}
