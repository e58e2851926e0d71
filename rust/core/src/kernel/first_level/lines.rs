//! The first level of staircase distributions of few stairs: the largest of a few lines.

use super::super::arithmetic::{Arithmetic, BLOCK, Separate, map_all};
use super::super::float::{U, larger};
use super::super::lane::{SIGN, WORD_BITS};
use super::super::mapped::Truncated;
use super::super::staircase::{PER_Y, Stairs};
use super::block::{Block, Certain};
use crate::lattice::dyadic::power_of_two;
use crate::lattice::value::{Scaling, Value};

/// On stair J a word V has |X| = ⌈L_J(V)⌉ with the line
///
/// ```text
/// L_J(V) = r − 1 + J·D + D·c − V·unit_J,
/// ```
///
/// from the formula of [`StaircaseLane`]. Neighbouring lines meet where the stair changes, and slopes grow with J: the inverse of the survival
/// function is convex, and the largest line is the one of V's stair. No stair is looked for, and no word is on a wrong one.
///
/// What is rounded is the largest line and a half, so that the distance to the nearest whole number shows how far the line is from an edge.
///
/// Error of the largest line, D + D·c = s, in units of u, and steps of V:
///
/// ```text
/// V, unit and D·c      12.5·s        as in the lane, on the right stair, where y ≤ s
/// sums of an offset    2·offset      r − 1 + J·D is exact
/// the line             1·offset
/// θ                    s/V           the bits beyond the word: y grows by less than one unit
/// ```
///
/// A line of another stair is off by more. But an error of V and of its unit by a factor 1 + δ is that of the same line at V·(1 + δ): no line is
/// above the largest one there, which is by at most s·δ above the one here.
#[derive(Clone, Debug)]
pub(in super::super) struct Lines<const N: usize> {
    /// L_J(0) + ½.
    offsets: [f64; N],
    /// −unit_J.
    slopes: [f64; N],
    certain: Certain,
}

/// Tolerance for each unit of the largest offset: its three roundings, and those of the test.
pub(in super::super) const PER_OFFSET: f64 = 6.0 * U;

/// Up to this number, lines go in stages ([`Arithmetic::IN_STAGES`]); eight take 1.25 ns so, and 1.09 in one loop.
const FEW: usize = 4;

/// L_J, and ½.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub offset: f64,
    pub slope: f64,
}

impl Line {
    pub fn new(stairs: &Stairs, stair: f64) -> Self {
        Self {
            offset: stairs.outermost(stair) + stairs.floor + 0.5,
            slope: -stairs.unit_of::<Separate>(stair),
        }
    }

    /// The V at which its stair ends and the next begins.
    pub fn end(&self, stairs: &Stairs) -> f64 {
        -stairs.floor / self.slope
    }
}

/// Where the two kinds of doubt that depend on it are equal: words below it, and words beside an edge.
pub(super) fn even(stairs: &Stairs) -> f64 {
    (2.0 * (stairs.sensitivity_steps + stairs.floor) * power_of_two(WORD_BITS.cast_signed())).sqrt()
}

/// On the largest line of words from `lowest` on, given the largest offset.
pub(super) fn tolerance(stairs: &Stairs, lowest: f64, largest: f64) -> f64 {
    // Infinite where no word is decided.
    (stairs.sensitivity_steps + stairs.floor) * (PER_Y + (1.0 + PER_Y) / lowest) + largest * PER_OFFSET + stairs.slack
}

impl<const N: usize> Lines<N> {
    /// `None` where too many blocks would be undecided.
    ///
    /// The lines of the staircase at U = scale·V + offset ([`super::super::mapped::Map`]) are lines of V; a step of V is less than one of U.
    ///
    /// In place of the 12.5·s above: y as there without V and without the product with it, 9.5, and with x the part of scale·V in U,
    ///
    /// ```text
    /// V, scale, their products with each other and the unit    4·x
    /// τ, and its product with the unit                         2·(1 − x)
    /// ```
    ///
    /// A sum of an offset is rounded relative to itself. It is not below −s where a word reaches the line: 2 more, 15.5 in all.
    pub fn new(distribution: &Truncated) -> Option<Self> {
        let (stairs, map) = (&distribution.stairs.stairs, distribution.map);
        let lines = Self::first_lines(stairs, (distribution.reached - 1) as f64);
        // The last V of the last line but those that are not reached; negative where all are there.
        let end = (lines[N - 1].end(stairs) * (1.0 + power_of_two(-40)) - map.offset) / map.scale;
        let lowest = if distribution.reached <= N as u64 {
            even(stairs)
        } else {
            even(stairs).max(end)
        };
        let largest = lines[N - 1].offset;
        Some(Self {
            offsets: lines.map(|line| line.offset + line.slope * map.offset),
            slopes: lines.map(|line| line.slope * map.scale),
            certain: Certain::new(tolerance(stairs, lowest, largest), lowest)?,
        })
    }

    /// The lines of the stairs 0, 1, …, of which those beyond `reached` are that of `reached`.
    fn first_lines(stairs: &Stairs, reached: f64) -> [Line; N] {
        // No word reaches a stair beyond e^76 (`LadderLane`), and e^700 has no unit: the last stair that there is stands for those.
        let last = (76.0 / stairs.eps).floor().min(reached);
        core::array::from_fn(|stair| Line::new(stairs, (stair as f64).min(last)))
    }
}

impl<const N: usize> Block for Lines<N> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        let Self { offsets, slopes, .. } = *self;
        let largest = |whole| {
            let mut line = A::mul_add(whole, slopes[0], offsets[0]);
            for j in 1..N {
                line = larger(line, A::mul_add(whole, slopes[j], offsets[j]));
            }
            line
        };
        if A::IN_STAGES && N <= FEW {
            let whole = map_all(words, |word| A::from_bits(word & !SIGN));
            let largest = map_all(&whole, largest);
            self.certain.write::<A, T>(words, |i| (whole[i], largest[i]), scaling, out)
        } else {
            let reduced = |i: usize| {
                let whole = A::from_bits(words[i] & !SIGN);
                (whole, largest(whole))
            };
            self.certain.write::<A, T>(words, reduced, scaling, out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Staircase;

    /// Evidence: counting. The stairs end at 3, 13, 23 and 33, and u = τ = S(24) is the first word of the fourth.
    #[test]
    fn a_truncated_distribution_has_the_lines_that_it_reaches() {
        let lines = Lines::<8>::new(&Truncated::new(&Staircase::new(1.0, 10, 4), 23, WORD_BITS)).unwrap();
        assert!(lines.offsets[..4].is_sorted_by(|one, next| one < next), "{lines:?}");
        assert_eq!(lines.offsets[4..], [lines.offsets[3]; 4]);
    }

    /// Evidence: the definition. If the distribution has more stairs, the least word that is certain is mapped to where the last line's stair ends.
    #[test]
    fn words_of_a_truncated_distribution_beyond_the_last_line_are_not_certain() {
        let [few, many] = [25, 50].map(|most| Truncated::new(&Staircase::new(4.0, 10, 4), most, WORD_BITS));
        assert_eq!((few.reached, many.reached), (4, 6));
        let stairs = &few.stairs.stairs;
        let [least, lowest] = [&few, &many].map(|distribution| Lines::<4>::new(distribution).unwrap().certain.lowest);
        assert_eq!(least, even(stairs));
        let end = Line::new(stairs, 3.0).end(stairs);
        assert!(((lowest * many.map.scale + many.map.offset) / end - 1.0).abs() < 1e-9);
    }

    /// The errors that the table names, added up: those of y, of bits beyond the word, of an offset, and what every distribution has.
    #[test]
    fn the_tolerance_is_the_sum_of_all_errors() {
        let distribution = Truncated::endless(&Staircase::new(4.0, 10, 4), WORD_BITS);
        let (stairs, lowest, largest) = (&distribution.stairs.stairs, 1e12, 41.5);
        let s = stairs.sensitivity_steps + stairs.floor;
        let sum = [s * PER_Y, s / lowest, s * PER_Y / lowest, largest * PER_OFFSET, stairs.slack];
        let expected: f64 = sum.iter().sum();
        assert!((tolerance(stairs, lowest, largest) / expected - 1.0).abs() < 1e-9);
    }
}
