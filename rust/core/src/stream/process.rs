//! A number that differs between a process and its ancestors by fork.
//!
//! A process id is not enough: ids are used again, and the first process of every container has the id 1. A handler of `pthread_atfork` runs only for
//! forks through the C library. A page that the kernel wipes in every child misses no fork, and reading it costs a load instead of a system call.
//!
//! Such a mark differs from the ancestors'. A number that differs from siblings' and cousins' too comes from a count in memory that they share.
#![allow(unsafe_code, reason = "calls of the C library")]

#[cfg(unix)]
pub use unix::process_mark;
#[cfg(unix)]
pub(super) use unix::{found_family, number_in_family};

/// There is no fork.
#[cfg(not(unix))]
pub fn process_mark() -> u64 {
    0
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "the signature on Unix")]
pub(super) fn found_family() -> Result<(), crate::memory::OutOfMemory> {
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn number_in_family() -> u64 {
    0
}

#[cfg(unix)]
mod unix {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::super::pages::Pages;
    use crate::memory::{self, OutOfMemory};

    /// A number that differs between a process and every process that it was forked from.
    pub fn process_mark() -> u64 {
        static GUARD: OnceLock<Guard> = OnceLock::new();
        GUARD.get_or_init(Guard::new).mark()
    }

    pub(super) enum Guard {
        /// A word that the kernel wipes in every child.
        Page(Pages<1>),
        /// The count of forks through the C library, and the process id for others.
        Handler,
    }

    /// The largest mark that this process, or one that it was forked from, took by a page.
    static LAST: AtomicU64 = AtomicU64::new(0);

    /// How many forks through the C library lie between the first process and this one.
    static FORKS: AtomicU64 = AtomicU64::new(0);

    impl Guard {
        fn new() -> Self {
            Pages::wiped().map_or_else(Self::with_handler, Self::Page)
        }

        pub(super) fn with_handler() -> Self {
            // SAFETY: `count_fork` is a function of this library, which is never unloaded, and does nothing but add to an atomic. A handler
            // that is refused for lack of memory leaves the process id.
            unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
            Self::Handler
        }

        pub(super) fn mark(&self) -> u64 {
            match self {
                Self::Page(page) => match page[0].load(Relaxed) {
                    0 => fresh_mark(&page[0]),
                    mark => mark,
                },
                Self::Handler => FORKS.load(Relaxed) << 32 | u64::from(std::process::id()),
            }
        }
    }

    /// Marks a process that has no mark yet. Its copy of `LAST` is no less than any mark of a process that it was forked from.
    #[cold]
    fn fresh_mark(word: &AtomicU64) -> u64 {
        let fresh = LAST.fetch_add(1, Relaxed) + 1;
        match word.compare_exchange(0, fresh, Relaxed, Relaxed) {
            Ok(_) => fresh,
            Err(of_another_thread) => of_another_thread,
        }
    }

    extern "C" fn count_fork() {
        FORKS.fetch_add(1, Relaxed);
    }

    /// A count that a process shares with all that were forked from it since.
    static FAMILY: OnceLock<Pages<1>> = OnceLock::new();

    /// Makes the count, unless there is one. What is to be told apart by [`number_in_family`] must be made after this.
    pub(in super::super) fn found_family() -> Result<(), OutOfMemory> {
        memory::made(&FAMILY, Pages::shared).map(drop)
    }

    /// A number that no relative of this process ever gets, not even siblings of the same mark. It cannot fail.
    pub(in super::super) fn number_in_family() -> u64 {
        FAMILY.get().map_or(0, |count| count[0].fetch_add(1, Relaxed))
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
