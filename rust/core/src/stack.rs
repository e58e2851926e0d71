//! Wiping what calls leave on the stack, and in vector registers.

use zeroize::optimization_barrier;

use crate::kernel::{Tier, clear_registers};

/// Wipes what kernels left in vector registers and on the stack, once a fill is done.
pub(crate) fn wipe_kernels() {
    clear_registers();
    // The largest frame of a kernel has 6 KiB in instructions of AVX-512, whose registers hold more, and 12 KiB in others: arrays of parameters. That of
    // lanes that a first level calls has 3 KiB.
    if Tier::current() == Tier::Avx512 {
        wipe::<{ 10 << 10 }>();
    } else {
        wipe::<{ 16 << 10 }>();
    }
}

/// Overwrites `BYTES` of stack below the frame of its caller: there ran the functions just called that were not inlined.
#[inline(never)]
pub(crate) fn wipe<const BYTES: usize>() {
    // A variable: `&[0; BYTES]` would be a reference to a constant, and no stack would be written.
    let frames = [0_u8; BYTES];
    optimization_barrier(&frames);
}
