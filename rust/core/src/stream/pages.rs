//! Numbers in memory of their own, chosen by what a forked child finds there: a copy, zeros, or the same memory.
#![allow(unsafe_code, reason = "mappings of memory, by calls of the C library")]

use core::ops::Deref;
use core::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use crate::memory::OutOfMemory;

/// `N` numbers that begin as zeros.
pub(super) struct Pages<const N: usize>(NonNull<[AtomicU64; N]>);

// SAFETY: the numbers belong to this value alone, as those of a box do, and atomic numbers may be used by any thread.
unsafe impl<const N: usize> Send for Pages<N> {}
// SAFETY: as above.
unsafe impl<const N: usize> Sync for Pages<N> {}

impl<const N: usize> Deref for Pages<N> {
    type Target = [AtomicU64; N];

    fn deref(&self) -> &[AtomicU64; N] {
        // SAFETY: aligned, readable and writable for `N` numbers, of which zeros are values, until `self` is dropped.
        unsafe { self.0.as_ref() }
    }
}

#[cfg(unix)]
impl<const N: usize> Pages<N> {
    const LENGTH: usize = size_of::<[AtomicU64; N]>();

    /// A forked child has a copy.
    pub fn copied() -> Result<Self, OutOfMemory> {
        Self::mapped(libc::MAP_PRIVATE)
    }

    /// Forked children have the same memory.
    pub fn shared() -> Result<Self, OutOfMemory> {
        Self::mapped(libc::MAP_SHARED)
    }

    /// All numbers are zero again in a child, however it was forked. `None` where the kernel has no such memory (Linux has it from 4.14 on).
    pub fn wiped() -> Option<Self> {
        let pages = Self::copied().ok()?;
        pages.are_wiped().then_some(pages)
    }

    #[cfg(target_os = "linux")]
    fn are_wiped(&self) -> bool {
        let first = self.0.as_ptr().cast();
        // Miri knows no advice, and no fork after which a page would have to be wiped.
        // SAFETY: the mapping of this value; a length is rounded up to whole pages. Emulators that accept any advice also accept −1, and wipe
        // nothing (BoringSSL, fork_detect.cc).
        cfg!(miri)
            || unsafe {
                libc::madvise(first, Self::LENGTH, libc::MADV_WIPEONFORK) == 0 && libc::madvise(first, Self::LENGTH, -1) != 0
            }
    }

    #[cfg(not(target_os = "linux"))]
    #[allow(clippy::unused_self, reason = "as on Linux")]
    fn are_wiped(&self) -> bool {
        false
    }

    fn mapped(kind: libc::c_int) -> Result<Self, OutOfMemory> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new anonymous mapping, which touches no other memory. It is zero, and aligned as a page.
        let first = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                Self::LENGTH,
                protection,
                kind | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if first == libc::MAP_FAILED {
            return Err(OutOfMemory);
        }
        NonNull::new(first.cast()).map(Self).ok_or(OutOfMemory)
    }
}

#[cfg(unix)]
impl<const N: usize> Drop for Pages<N> {
    fn drop(&mut self) {
        // SAFETY: the mapping of this value, to which no reference is left.
        unsafe { libc::munmap(self.0.as_ptr().cast(), Self::LENGTH) };
    }
}

/// There is no fork.
#[cfg(not(unix))]
impl<const N: usize> Pages<N> {
    const LAYOUT: std::alloc::Layout = std::alloc::Layout::new::<[AtomicU64; N]>();

    pub fn copied() -> Result<Self, OutOfMemory> {
        // SAFETY: no `N` is 0.
        let first = unsafe { std::alloc::alloc_zeroed(Self::LAYOUT) };
        NonNull::new(first.cast()).map(Self).ok_or(OutOfMemory)
    }

    pub fn wiped() -> Option<Self> {
        Self::copied().ok()
    }
}

#[cfg(not(unix))]
impl<const N: usize> Drop for Pages<N> {
    fn drop(&mut self) {
        // SAFETY: allocated by `copied` with this layout; no reference is left.
        unsafe { std::alloc::dealloc(self.0.as_ptr().cast(), Self::LAYOUT) };
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::testing::children::{clone, fork, in_child};

    /// What children find in the first and the last number, and the parent afterwards, where the parent wrote 7 and children write 9.
    fn found<const N: usize>(pages: &Pages<N>, fork: fn() -> libc::c_long) -> [u64; 4] {
        pages[0].store(7, Relaxed);
        pages[N - 1].store(7, Relaxed);
        let theirs = in_child::<16>(fork, || {
            let found = [&pages[0], &pages[N - 1]].map(|number| number.swap(9, Relaxed));
            (u128::from(found[1]) << 64 | u128::from(found[0])).to_le_bytes()
        });
        let theirs = u128::from_le_bytes(theirs);
        [
            theirs as u64,
            (theirs >> 64) as u64,
            pages[0].load(Relaxed),
            pages[N - 1].load(Relaxed),
        ]
    }

    /// Evidence: real children, with and without the C library's knowledge; of more than one page.
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no fork")]
    fn a_forked_child_finds_what_was_asked_for() {
        for fork in [fork, clone] {
            assert_eq!(found(&Pages::<1000>::copied().unwrap(), fork), [7, 7, 7, 7]);
            assert_eq!(found(&Pages::<1000>::shared().unwrap(), fork), [7, 7, 9, 9]);
            match Pages::<1000>::wiped() {
                Some(pages) => assert_eq!(found(&pages, fork), [0, 0, 7, 7]),
                None => eprintln!("skipped: this kernel wipes no pages"),
            }
        }
    }

    #[test]
    fn numbers_begin_as_zeros() {
        let pages = Pages::<512>::copied().unwrap();
        assert!(pages.iter().all(|number| number.load(Relaxed) == 0));
    }

    /// Memory that does not exist is an error.
    #[test]
    #[cfg_attr(miri, ignore = "Miri cannot be asked for so much")]
    fn no_memory_is_an_error() {
        const TOO_MANY: usize = 1 << 57;
        assert!(Pages::<TOO_MANY>::copied().is_err());
        assert!(Pages::<TOO_MANY>::shared().is_err());
    }
}
