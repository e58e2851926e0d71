//! Wiping what calls leave on the stack, and in vector registers.

use zeroize::optimization_barrier;

use crate::kernel::clear_registers;

/// Wipes what kernels left, once a fill is done.
pub(crate) fn wipe_kernels() {
    clear_registers();
    // The largest of their frames has 12 KiB, that of arrays of parameters on AVX2.
    wipe::<{ 16 << 10 }>();
}

/// Wipes so many bytes below the frame of its caller, where the functions just called had theirs, but for those that were inlined.
#[inline(never)]
pub(crate) fn wipe<const BYTES: usize>() {
    // A variable: a reference to the zeros themselves would be to a constant, and nothing wiped.
    let frames = [0_u8; BYTES];
    optimization_barrier(&frames);
}
