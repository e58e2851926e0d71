//! The operating system's random source: the only one, without fallback. Without the feature `entropy` there is none.

use core::fmt;

#[cfg(feature = "entropy")]
use getrandom as source;

/// Replaces `getrandom`, which knows no source on some targets, such as WebAssembly in a web page.
#[cfg(not(feature = "entropy"))]
mod source {
    use core::fmt;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Error;

    impl Error {
        #[cfg(test)]
        pub const UNSUPPORTED: Self = Self;
    }

    impl fmt::Display for Error {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the crate stairnoise was built without its feature `entropy`")
        }
    }

    pub fn fill(_: &mut [u8]) -> Result<(), Error> {
        Err(Error)
    }
}

/// Why there was no entropy of the operating system's: what it said, or that the crate was built without the feature `entropy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntropyError(source::Error);

impl fmt::Display for EntropyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::error::Error for EntropyError {}

pub(super) fn fill(bytes: &mut [u8]) -> Result<(), EntropyError> {
    #[cfg(test)]
    if tests::FAILS.get() {
        return Err(tests::FAILURE);
    }
    source::fill(bytes).map_err(EntropyError)
}

#[cfg(test)]
pub(super) mod tests {
    use core::cell::Cell;

    use super::*;

    thread_local! {
        pub static FAILS: Cell<bool> = const { Cell::new(false) };
    }

    /// What a system says whose random source fails.
    pub const FAILURE: EntropyError = EntropyError(source::Error::UNSUPPORTED);

    /// Runs `work` on a system whose random source fails.
    pub fn without_entropy<R>(work: impl FnOnce() -> R) -> R {
        FAILS.set(true);
        let result = work();
        FAILS.set(false);
        result
    }

    #[test]
    fn the_error_says_the_cause() {
        let cause = source::Error::UNSUPPORTED;
        assert_eq!(FAILURE.to_string(), cause.to_string());
    }

    /// Evidence: everything that makes a key, and a generator of a given key as the control.
    #[test]
    #[cfg(not(feature = "entropy"))]
    fn without_the_feature_no_key_is_made() {
        use crate::{BitGenerator, Generator};
        let refused = EntropyError(source::Error);
        assert!(refused.to_string().contains("feature `entropy`"));
        let mut bytes = [7; 32];
        assert_eq!((fill(&mut bytes), bytes), (Err(refused), [7; 32]));
        assert_eq!(Generator::from_os().err(), Some(refused.into()));
        assert_eq!(BitGenerator::from_os().err(), Some(refused.into()));
        let mut given = Generator::from_key(&[7; 32]);
        assert!(given.spawn().and_then(|mut child| child.next(1)).is_ok());
    }
}
