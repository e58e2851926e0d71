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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::pages::Pages;
    use super::process_mark;
    use super::unix::Guard;
    use super::{found_family, number_in_family};
    use crate::testing::children::{clone, fork, in_child};

    fn marks_down_the_line(mark: &dyn Fn() -> u64, fork: fn() -> libc::c_long) -> [u64; 3] {
        let here = mark();
        assert_eq!(mark(), here);
        let below = in_child::<16>(fork, || {
            let there = u128::from(mark());
            let below = u64::from_le_bytes(in_child(fork, || mark().to_le_bytes()));
            (there << 64 | u128::from(below)).to_le_bytes()
        });
        let below = u128::from_le_bytes(below);
        [here, (below >> 64) as u64, below as u64]
    }

    fn all_differ(marks: &[u64; 3]) {
        assert!(
            marks[0] != marks[1] && marks[0] != marks[2] && marks[1] != marks[2],
            "{marks:?}"
        );
    }

    /// Evidence: real children and grandchildren, with and without the C library's knowledge.
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no fork")]
    fn processes_down_the_line_have_marks_of_their_own() {
        all_differ(&marks_down_the_line(&process_mark, fork));
        all_differ(&marks_down_the_line(&process_mark, clone));
    }

    /// The page alone, so that no process id can help.
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no fork")]
    fn the_kernel_wipes_the_page_however_a_child_is_made() {
        let Some(page) = Pages::wiped().map(Guard::Page) else {
            eprintln!("skipped: this kernel wipes no pages");
            return;
        };
        all_differ(&marks_down_the_line(&|| page.mark(), fork));
        all_differ(&marks_down_the_line(&|| page.mark(), clone));
    }

    /// Without such pages: the count of forks alone, and the process id alone.
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no fork")]
    fn elsewhere_the_handler_counts_forks_and_the_process_id_tells_the_rest() {
        let handler = Guard::with_handler();
        let forks = marks_down_the_line(&|| handler.mark() >> 32, fork);
        all_differ(&forks);
        all_differ(&marks_down_the_line(&|| handler.mark() & u64::from(u32::MAX), clone));
    }

    /// A child that asks for its mark after its own child was made does not share it with that child.
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no fork")]
    fn a_grandchild_of_a_child_that_never_asked_differs_from_the_first() {
        let here = process_mark();
        let there = in_child(clone, || in_child(clone, || process_mark().to_le_bytes()));
        assert_ne!(there, here.to_le_bytes());
    }

    /// Evidence: real siblings and their children, whose marks are equal, with and without the C library's knowledge.
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no fork")]
    fn relatives_have_numbers_of_their_own() {
        found_family().unwrap();
        let mut numbers = vec![number_in_family()];
        for fork in [fork, clone, fork] {
            let theirs = in_child::<16>(fork, || {
                let below = u64::from_le_bytes(in_child(fork, || number_in_family().to_le_bytes()));
                (u128::from(below) << 64 | u128::from(number_in_family())).to_le_bytes()
            });
            let theirs = u128::from_le_bytes(theirs);
            numbers.extend([theirs as u64, (theirs >> 64) as u64, number_in_family()]);
        }
        let all = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), all);
    }
}
