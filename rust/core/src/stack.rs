//! Wiping what calls leave on the stack, and in vector registers.

use zeroize::optimization_barrier;

use crate::kernel::clear_registers;

/// Wipes what kernels left, once a fill is done.
pub(crate) fn wipe_kernels() {
    // The largest frame of a kernel has 2.7 KiB, that of lanes, which a first level calls, 2.2 KiB, and theirs who call them 1.5 KiB.
    wipe::<{ 8 << 10 }>();
}

/// The same for fills in stages, whose undecided values take deeper calls; and what an exact path left.
pub(crate) fn wipe_deep() {
    wipe::<{ 16 << 10 }>();
}

/// Clears the vector registers, and overwrites `BYTES` of stack below the frame of its caller: there ran the functions just called that were
/// not inlined.
#[inline(never)]
pub(crate) fn wipe<const BYTES: usize>() {
    clear_registers();
    // A variable: `&[0; BYTES]` would be a reference to a constant, and no stack would be written.
    let frames = [0_u8; BYTES];
    optimization_barrier(&frames);
}
