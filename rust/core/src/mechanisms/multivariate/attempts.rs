//! Which stages of a fill the pairs of coordinates in the ℓ2 ball read: an attempt after another until one is a point of the unit disk.

/// Points of the square tried for a pair at most: the last, from half the square, is always in the disk. All others miss it with a
/// probability below 2^(−280).
pub(super) const ATTEMPTS: u64 = 128;

/// The stage of the first of the two words of an attempt for pair j.
pub(super) const fn attempt_word(pairs: usize, j: usize, attempt: u64) -> u64 {
    1 + 2 * (attempt * pairs as u64 + j as u64)
}

/// Pairs of coordinates; in an odd dimension the last coordinate of the last pair is dropped.
pub(super) const fn pairs(dim: usize) -> usize {
    dim.div_ceil(2)
}
