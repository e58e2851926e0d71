//! What the work of a draw depends on besides its parameters: each branch on noise passes through here.
//!
//! The taint check (docs/timing.md) declares what passes public and reports every other branch and address that depends on random words.
//! Elsewhere these are identities.

/// Whether a condition that depends on noise holds.
#[inline(always)]
pub(crate) fn condition(holds: bool) -> bool {
    word(u64::from(holds)) != 0
}

/// A random word of a value on the slow path, whose work depends on all of its bits.
#[inline(always)]
pub(crate) fn word(word: u64) -> u64 {
    #[cfg(feature = "probe")]
    let word = crate::probe::declassify(word);
    word
}
