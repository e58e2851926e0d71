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

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
