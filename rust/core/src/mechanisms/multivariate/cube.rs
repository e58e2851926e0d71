//! A uniform point of the ℓ∞ ball: a uniform magnitude and a fair sign for each coordinate.

use super::sign::{bits, signed};
use super::undecided::UndecidedVector;
use crate::declassify;

/// ⌊ρ·v + ½⌋ for a real number v that lies from `bits`·2⁻⁶³ to (`bits` + `width`)·2⁻⁶³, the upper end excluded, and whether that decides it.
pub(super) fn rounded(radius: u64, bits: u64, width: u64) -> (u64, bool) {
    // Below 2¹²⁶ and above 0: a check would be a branch on noise.
    let times_radius = |n: u64| u128::from(radius).wrapping_mul(n.into());
    // 2⁶² is the ½.
    let least = times_radius(bits).wrapping_add(1 << 62);
    let below = least.wrapping_add(times_radius(width));
    let (magnitude, most) = (least >> 63, below.wrapping_sub(1) >> 63);
    (magnitude as u64, magnitude == most)
}

/// Not inlined, so that its loops have all registers.
#[inline(never)]
pub(super) fn point(undecided: &UndecidedVector<'_>, words: &[u64], steps: &mut [i64]) {
    for (i, (word, step)) in words.iter().zip(steps).enumerate() {
        let (mut magnitude, sure) = rounded(undecided.radius, bits(*word), 1);
        if !declassify::condition(sure) {
            magnitude = undecided.cube(i, magnitude);
        }
        *step = signed(magnitude, *word);
    }
}
