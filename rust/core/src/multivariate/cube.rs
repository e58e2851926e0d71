//! A uniform point of the ℓ∞ ball: a uniform magnitude and a fair sign for each coordinate.

use super::doubt::Doubt;
use super::{bits, signed};

/// ⌊ρ·v + ½⌋ for the real number v = (`bits` + θ)·2⁻⁶³ with `bits` ≤ θ unknown bits ≤ `bits` + `width`, if that decides it.
pub(super) fn rounded(radius: u64, bits: u64, width: u64) -> (u64, bool) {
    let least = u128::from(radius) * u128::from(bits) + (1 << 62);
    let below = least + u128::from(radius) * u128::from(width);
    let (magnitude, most) = (least >> 63, (below - 1) >> 63);
    (magnitude as u64, magnitude == most)
}

/// Not inlined, so that its loops have all registers.
#[inline(never)]
pub(super) fn point(doubt: &Doubt<'_>, words: &[u64], cells: &mut [i64]) {
    for (i, (word, cell)) in words.iter().zip(cells).enumerate() {
        let (mut magnitude, sure) = rounded(doubt.radius, bits(*word), 1);
        if !sure {
            magnitude = doubt.cube(i, magnitude);
        }
        *cell = signed(magnitude, *word);
    }
}
