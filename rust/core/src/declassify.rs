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
    let word = hooks::told(&hooks::DECLASSIFY, word);
    word
}

/// Called wherever a slow path begins, for counting them.
#[inline(always)]
pub(crate) fn slow_path() {
    #[cfg(feature = "probe")]
    hooks::SLOW_PATHS.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
}

/// What was found for a word that passed through [`word`], which is no more public than the word is elsewhere.
#[inline(always)]
pub(crate) fn found(found: u64) -> u64 {
    #[cfg(feature = "probe")]
    let found = hooks::told(&hooks::CLASSIFY, found);
    found
}

/// Functions that receive what passes: the programs of `make test-taint`, `make test-trace` and `make test-time` set them.
#[cfg(feature = "probe")]
pub(crate) mod hooks {
    use std::hint::black_box;
    use std::sync::OnceLock;
    use std::sync::atomic::AtomicU64;

    /// Told of everything that is let through; it may change how the word is regarded, not its value.
    pub static DECLASSIFY: OnceLock<fn(&mut u64)> = OnceLock::new();

    /// Told of what was found by way of a word that was let through; as [`DECLASSIFY`].
    pub static CLASSIFY: OnceLock<fn(&mut u64)> = OnceLock::new();

    /// How often a slow path was taken.
    pub static SLOW_PATHS: AtomicU64 = AtomicU64::new(0);

    #[inline]
    pub(super) fn told(hook: &OnceLock<fn(&mut u64)>, mut word: u64) -> u64 {
        if let Some(hook) = hook.get() {
            hook(&mut word);
            // The compiler must not know the word again: the hook may have marked it.
            word = black_box(word);
        }
        word
    }
}
