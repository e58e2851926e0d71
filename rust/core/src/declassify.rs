//! Every branch on noise passes through here, except the sorts of long vectors (docs/evidence/timing.md).
//!
//! The taint check (docs/evidence/timing.md) declares what passes public and reports every other branch and address that depends on random words.
//! These functions are identities unless the feature `probe` is on.

/// Whether a condition that depends on noise holds.
#[inline(always)]
pub(crate) fn condition(holds: bool) -> bool {
    word(u64::from(holds)) != 0
}

/// A random word of a value on the slow path, whose work depends on all of its bits.
///
/// Or of a draw whose main path depends on it: docs/evidence/timing.md lists these mechanisms.
#[inline(always)]
pub(crate) fn word(word: u64) -> u64 {
    #[cfg(feature = "probe")]
    let word = crate::probe::told(&crate::probe::DECLASSIFY, word);
    word
}

/// Called wherever a slow path begins, for counting them.
#[inline(always)]
pub(crate) fn slow_path() {
    #[cfg(feature = "probe")]
    crate::probe::SLOW_PATHS.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
}

/// What was found for a word that passed through [`word`], which is no more public than the word is elsewhere.
#[inline(always)]
pub(crate) fn found(found: u64) -> u64 {
    #[cfg(feature = "probe")]
    let found = crate::probe::told(&crate::probe::CLASSIFY, found);
    found
}
