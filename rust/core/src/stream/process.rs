//! A number that tells a process from those that it was forked from.
//!
//! A process id is not enough: ids are used again, and the first process of every container has the id 1. A handler of `pthread_atfork` runs
//! only for forks through the C library. A page that the kernel wipes in every child misses no fork, and reading it costs a load; asking for
//! the id costs a system call.
#![allow(unsafe_code, reason = "calls of the C library")]

#[cfg(unix)]
pub use unix::process_mark;

/// There is no fork.
#[cfg(not(unix))]
pub fn process_mark() -> u64 {
    0
}

#[cfg(unix)]
mod unix {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// A number that differs between a process and every process that it was forked from.
    pub fn process_mark() -> u64 {
        static GUARD: OnceLock<Guard> = OnceLock::new();
        GUARD.get_or_init(Guard::new).mark()
    }

    pub(super) enum Guard {
        /// A word that the kernel wipes in every child: Linux from 4.14 on.
        #[cfg(target_os = "linux")]
        Page(&'static AtomicU64),
        /// The count of forks through the C library, and the process id for others.
        Handler,
    }

    /// The largest mark that this process, or one that it was forked from, took by a page.
    #[cfg(target_os = "linux")]
    static LAST: AtomicU64 = AtomicU64::new(0);

    /// How many forks through the C library lie between the first process and this one.
    static FORKS: AtomicU64 = AtomicU64::new(0);

    impl Guard {
        fn new() -> Self {
            #[cfg(target_os = "linux")]
            if let Some(page) = linux::wiped_word() {
                return Self::Page(page);
            }
            Self::with_handler()
        }

        pub(super) fn with_handler() -> Self {
            // SAFETY: `count_fork` is a function of this library, which is never unloaded, and does nothing but add to an atomic. A handler
            // that is refused for lack of memory leaves the process id.
            unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
            Self::Handler
        }

        pub(super) fn mark(&self) -> u64 {
            match self {
                #[cfg(target_os = "linux")]
                Self::Page(word) => match word.load(Relaxed) {
                    0 => fresh_mark(word),
                    mark => mark,
                },
                Self::Handler => FORKS.load(Relaxed) << 32 | u64::from(std::process::id()),
            }
        }
    }

    /// Marks a process that has no mark yet. Its copy of `LAST` is no less than any mark of a process that it was forked from.
    #[cfg(target_os = "linux")]
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

    #[cfg(target_os = "linux")]
    pub(super) mod linux {
        use core::ptr;
        use std::sync::atomic::AtomicU64;

        /// No page is smaller, and a larger one is mapped and wiped as a whole.
        const LENGTH: usize = 4096;

        /// A zero word in a page that is zero again in every child; `None` if the kernel knows no such pages.
        pub fn wiped_word() -> Option<&'static AtomicU64> {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            // SAFETY: a new anonymous mapping, which touches no other memory.
            let page = unsafe { libc::mmap(ptr::null_mut(), LENGTH, protection, flags, -1, 0) };
            if page == libc::MAP_FAILED {
                return None;
            }
            // Miri knows no advice, and no fork after which a page would have to be wiped.
            // SAFETY: the mapping just made. Emulators that accept any advice also accept −1, and wipe nothing (BoringSSL, fork_detect.cc).
            let wipes = cfg!(miri)
                || unsafe { libc::madvise(page, LENGTH, libc::MADV_WIPEONFORK) == 0 && libc::madvise(page, LENGTH, -1) != 0 };
            if !wipes {
                // SAFETY: the mapping just made, to which nothing points.
                unsafe { libc::munmap(page, LENGTH) };
                return None;
            }
            // SAFETY: aligned as a page, readable, writable, zero, never unmapped, and reached only through this reference.
            Some(unsafe { AtomicU64::from_ptr(page.cast()) })
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
pub(super) mod tests {
    use std::io::{Read, Write};

    use super::process_mark;
    use super::unix::{Guard, linux};

    /// What `child` returns in a process made by `fork`. It must not allocate where another thread may hold the allocator's lock.
    pub fn in_child<const N: usize>(fork: fn() -> libc::c_long, child: impl FnOnce() -> [u8; N]) -> [u8; N] {
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        let process = fork();
        assert!(process >= 0, "fork failed");
        if process == 0 {
            let sent = writer.write_all(&child());
            // SAFETY: ends the child at once, without the handlers of its parent.
            unsafe { libc::_exit(i32::from(sent.is_err())) }
        }
        drop(writer);
        let mut bytes = [0; N];
        reader.read_exact(&mut bytes).unwrap();
        // SAFETY: waits for the child just made, and asks for no status.
        unsafe { libc::waitpid(process as libc::pid_t, core::ptr::null_mut(), 0) };
        bytes
    }

    /// Through the C library, whose handlers run.
    pub fn fork() -> libc::c_long {
        // SAFETY: the child uses its own memory, allocates (which glibc allows) and ends by `_exit`.
        unsafe { libc::fork() }.into()
    }

    /// Past the C library: no handler runs.
    pub fn clone() -> libc::c_long {
        // SAFETY: as `fork`; no stack is given, so that the child gets a copy of this one.
        unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) }
    }

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
        let Some(word) = linux::wiped_word() else {
            eprintln!("skipped: this kernel wipes no pages");
            return;
        };
        let page = Guard::Page(word);
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
}
