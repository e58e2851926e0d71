//! Wiping what calls leave on the stack, and in vector registers.

use zeroize::optimization_barrier;

use crate::kernel::clear_registers;

/// Wipes what kernels left, once a fill is done.
pub(crate) fn wipe_kernels() {
    // The largest frame of a kernel has 2.7 KiB, the frame of the lanes that a first level calls 2.2 KiB, and the frames of their callers 1.5 KiB.
    wipe::<KERNELS>();
}

pub(crate) const KERNELS: usize = 8 << 10;

/// [`wipe_kernels`] for fills in stages, whose undecided values take deeper calls, and for the exact path.
pub(crate) fn wipe_deep() {
    wipe::<{ 16 << 10 }>();
}

/// What `work` returns. It runs in a frame of its own, below which nothing of it is left: the compiler spills registers there.
pub(crate) fn erasing<const BYTES: usize, R>(work: impl FnOnce() -> R) -> R {
    #[inline(never)]
    fn apart<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
    let result = apart(work);
    wipe::<BYTES>();
    result
}

/// Clears the vector registers, and overwrites `BYTES` of stack below its caller's frame, where functions that are not inlined just ran.
#[inline(never)]
pub(crate) fn wipe<const BYTES: usize>() {
    clear_registers();
    // A variable: `&[0; BYTES]` would be a reference to a constant, and no stack would be written.
    let frames = [0_u8; BYTES];
    optimization_barrier(&frames);
}
