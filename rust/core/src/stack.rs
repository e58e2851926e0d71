//! Wiping what calls leave on the stack, and in vector registers.

use zeroize::optimization_barrier;

use crate::kernel::clear_registers;

/// Wipes what kernels left in vector registers and on the stack, once a fill is done.
pub(crate) fn wipe_kernels() {
    clear_registers();
    // The largest frame of a kernel has 12 KiB: arrays of parameters on AVX2. That of lanes, which a first level calls, has 3 KiB.
    wipe::<{ 16 << 10 }>();
}

/// Overwrites `BYTES` of stack below the frame of its caller: there ran the functions just called that were not inlined.
#[inline(never)]
pub(crate) fn wipe<const BYTES: usize>() {
    // A variable: `&[0; BYTES]` would be a reference to a constant, and no stack would be written.
    let frames = [0_u8; BYTES];
    optimization_barrier(&frames);
}
