//! Memory that begins with a cache line, or with a page.

/// On whole cache lines. The stack is aligned to 16 bytes only, so that vectors may lie across two lines. Storing and reading such vectors takes a
/// quarter longer, and a time that depends on what they hold (docs/evidence/timing.md).
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct CacheLines<T: ?Sized>(pub T);

/// From the beginning of a page on. A processor at first takes a load for one of a recent store if both addresses agree in their last 12 bits. Large
/// arrays begin near the beginning of a page. If words do too, kernels load none from such an address. Elsewhere on the stack, fills of every third
/// process took a third longer (discrete Laplace noise, AVX2 of Zen 4).
#[derive(Debug)]
#[repr(align(4096))]
pub(crate) struct Page<T>(pub T);
