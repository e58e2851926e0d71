//! Long vectors in huge pages, as NumPy has its arrays.
#![allow(unsafe_code, reason = "an allocator, and advice to Linux about its memory")]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator. On Linux it asks for huge pages: a small page of new memory takes 1 to 3 µs, longer than copying a column of labels into it.
pub(crate) struct HugePages;

/// Shorter allocations are left alone, as by NumPy.
#[cfg(target_os = "linux")]
const LONG: usize = 1 << 22;

#[cfg(target_os = "linux")]
unsafe extern "C" {
    fn madvise(first: *mut u8, length: usize, advice: i32) -> i32;
}

// SAFETY: all memory is the system allocator's, and advice changes no content.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises, here and below.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[cfg(target_os = "linux")]
fn advised(memory: *mut u8, size: usize) -> *mut u8 {
    const PAGE: usize = 1 << 12;
    const MADV_HUGEPAGE: i32 = 14;
    if size >= LONG && !memory.is_null() {
        let first = memory.wrapping_add(memory.addr().wrapping_neg() % PAGE);
        // SAFETY: whole pages from within the allocation on, of which Linux keeps the content. It may refuse, where pages are longer or never huge.
        unsafe { madvise(first, size - PAGE, MADV_HUGEPAGE) };
    }
    memory
}

#[cfg(not(target_os = "linux"))]
fn advised(memory: *mut u8, _size: usize) -> *mut u8 {
    memory
}
