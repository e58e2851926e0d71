//! A uniform point of the ℓ1 ball: the spacings of d uniform numbers, the last one dropped, with fair signs.
//!
//! The spacings U₍ᵢ₎ − U₍ᵢ₋₁₎ of sorted uniform numbers are uniform on the simplex, because sorting has the Jacobian 1 (Devroye 1986, V.2.1).

use super::cube::rounded;
use super::sign::{bits, signed};
use super::sort;
use super::undecided::UndecidedVector;
use crate::declassify;

/// Not inlined, so that its loops have all registers.
#[inline(never)]
pub(super) fn point(undecided: &UndecidedVector<'_>, words: &[u64], sorted: &mut [u64], steps: &mut [i64]) {
    for (bits_of, word) in sorted.iter_mut().zip(words) {
        *bits_of = bits(*word);
    }
    sort::ascending(sorted);
    // With bits unknown, a spacing is less than one unit off in both directions; the first in one only.
    let mut before = None;
    for (i, (word, step)) in words.iter().zip(steps).enumerate() {
        let (least, width) = match before {
            None => (sorted[0], 1),
            Some(before) if declassify::condition(sorted[i] > before) => (sorted[i].wrapping_sub(before).wrapping_sub(1), 2),
            // Equal in all bits known: less than one unit apart.
            Some(_) => (0, 1),
        };
        let (mut magnitude, sure) = rounded(undecided.radius, least, width);
        if !declassify::condition(sure) {
            magnitude = decided_exactly(undecided, words, sorted, i, magnitude);
        }
        *step = signed(magnitude, *word);
        before = Some(sorted[i]);
    }
}

#[cold]
pub(super) fn decided_exactly(undecided: &UndecidedVector<'_>, words: &[u64], sorted: &[u64], i: usize, guess: u64) -> u64 {
    let rank = |i: usize| sort::Rank::of(words.iter().map(|word| declassify::word(bits(*word))), sorted, i);
    let lower = i.checked_sub(1).map(rank);
    undecided.cross(lower.as_ref(), &rank(i), guess)
}
