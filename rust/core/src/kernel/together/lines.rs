//! The first level of staircase laws of few stairs: the largest of a few lines.

use super::super::arithmetic::{Arithmetic, Separate};
use super::super::float::{larger, round};
use super::super::lane::{BLOCK, SIGN, WORD_BITS, with_sign};
use super::super::staircase::{PER_Y, StaircaseLane};
use super::{Block, MOST_IN_DOUBT};
use crate::lattice::dyadic::power_of_two;
use crate::lattice::value::Value;

/// On stair J a word V has |X| = ⌈L_J(V)⌉ with the line
///
/// ```text
/// L_J(V) = r − 1 + J·D + D·c − V·unit_J,
/// ```
///
/// from the formula of [`StaircaseLane`]. Neighbouring lines meet where the stair changes, and slopes grow with J: the inverse of the survival function
/// is convex, and the largest line is the one of V's stair. No stair is looked for, and no word is on a wrong one.
///
/// What is rounded is the largest line and a half, so that the distance to the nearest whole number tells how far the line is from an edge.
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
/// A line of another stair is off by more. But an error of V and of its unit by a factor 1 + δ is that of the same line at V·(1 + δ): no line is above the
/// largest one there, which is by at most s·δ above the one here.
#[derive(Clone, Debug)]
pub(in super::super) struct Lines<const N: usize> {
    /// L_J(0) + ½.
    offsets: [f64; N],
    /// −unit_J.
    slopes: [f64; N],
    /// ½ less the tolerance.
    inside: f64,
    /// Words below it are not certain: below the last line's stair, or where θ counts for more than the tolerance.
    lowest: f64,
}

/// Tolerance for each unit of the largest offset: its three roundings, and those of the test.
pub(in super::super) const PER_OFFSET: f64 = 6.0 * (f64::EPSILON / 2.0);

impl<const N: usize> Lines<N> {
    /// `None` where too many blocks would be in doubt.
    pub fn new(staircase: &StaircaseLane) -> Option<Self> {
        let stairs = staircase.stairs;
        // No word reaches a stair beyond e^76 (`LadderLane`), and e^700 has no unit: the last stair that there is stands for those.
        let last = (76.0 / stairs.eps).floor();
        let numbers: [f64; N] = core::array::from_fn(|stair| (stair as f64).min(last));
        let offsets = numbers.map(|stair| stairs.outermost(stair) + stairs.floor + 0.5);
        let slopes = numbers.map(|stair| -stairs.unit_of::<Separate>(stair));
        let span = stairs.cells + stairs.floor;
        // Where the two kinds of doubt that depend on it are equal: words below it, and words beside an edge.
        let even = (2.0 * span * power_of_two(WORD_BITS.cast_signed())).sqrt();
        let top = -stairs.floor / slopes[N - 1];
        let lowest = even.max(top * (1.0 + power_of_two(-40)));
        let tolerance = span * (PER_Y + (1.0 + PER_Y) / lowest) + offsets[N - 1] * PER_OFFSET;
        let in_doubt = BLOCK as f64 * (lowest * power_of_two(-WORD_BITS.cast_signed()) + 2.0 * tolerance);
        // False where a number is NaN.
        (in_doubt <= MOST_IN_DOUBT && stairs.slack < 1.0).then_some(Self {
            offsets,
            slopes,
            inside: 0.5 - tolerance,
            lowest,
        })
    }
}

impl<const N: usize> Block for Lines<N> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], granularity: f64, out: &mut [T; BLOCK]) -> bool {
        // The sign bit of a sum of these.
        let mut doubt = 0_u64;
        let Self {
            offsets,
            slopes,
            inside,
            lowest,
        } = *self;
        for i in 0..BLOCK {
            let whole = A::from_bits(words[i] & !SIGN);
            let mut line = A::mul_add(whole, slopes[0], offsets[0]);
            for j in 1..N {
                line = larger(line, A::mul_add(whole, slopes[j], offsets[j]));
            }
            let line = with_sign(line, words[i]);
            let nearest = round(line);
            doubt |= (inside - (line - nearest).abs()).to_bits() | (whole - lowest).to_bits();
            out[i] = T::from_whole(nearest, granularity);
        }
        doubt >> 63 == 0
    }
}
