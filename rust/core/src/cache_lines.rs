//! Memory on whole cache lines.

/// On whole cache lines. The stack is aligned to 16 bytes only, so that vectors may lie across two lines. Storing and reading such vectors takes a
/// quarter longer, and a time that depends on what they hold (docs/evidence/timing.md).
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct CacheLines<T: ?Sized>(pub T);
