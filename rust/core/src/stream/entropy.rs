//! The operating system's random source: the only one, without fallback.

use crate::error::DrawError;

/// Fills `bytes` from the operating system.
pub(super) fn fill(bytes: &mut [u8]) -> Result<(), DrawError> {
    #[cfg(test)]
    if tests::FAILS.get() {
        return Err(getrandom::Error::UNSUPPORTED.into());
    }
    Ok(getrandom::fill(bytes)?)
}

#[cfg(test)]
pub(super) mod tests {
    use core::cell::Cell;

    thread_local! {
        pub static FAILS: Cell<bool> = const { Cell::new(false) };
    }

    /// Runs `work` on a system whose random source fails.
    pub fn without_entropy<R>(work: impl FnOnce() -> R) -> R {
        FAILS.set(true);
        let result = work();
        FAILS.set(false);
        result
    }
}
