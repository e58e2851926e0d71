//! The first level of staircase distributions where an instruction looks up tables of 16 numbers: the lines of each word's octave.

use super::super::arithmetic::{Arithmetic, BLOCK};
use super::super::float::larger;
use super::super::mapped::Map;
use super::super::staircase::StaircaseLane;
use super::block::{Block, Certain, wholes};
use super::lines::{Line, even, tolerance};
use crate::lattice::dyadic::power_of_two;
use crate::lattice::value::{Scaling, Value};

/// The largest of the lines of [`Lines`](super::lines::Lines) is that of V's stair, and few stairs meet an octave of V: up to N lines for each octave
/// from 2⁴⁸ on, found by the four last bits of e.
///
/// A line of a stair that begins or ends within 2⁻⁴⁰ of the octave's ends is among them: an error of V, and of where lines meet, is far less.
///
/// For a truncated staircase, `MAPPED`, all of this is about U ([`super::super::mapped::Map`]) instead of V.
#[derive(Clone, Debug)]
pub(in super::super) struct Octaves<const N: usize, const MAPPED: bool> {
    map: Map,
    /// L_J(0) + ½.
    offsets: [[f64; ENTRIES]; N],
    /// −unit_J.
    slopes: [[f64; ENTRIES]; N],
    certain: Certain,
}

const ENTRIES: usize = 16;

/// The exponent of the least word that is certain.
const LEAST: i32 = 48;

/// Where the exponent of an `f64` begins.
const EXPONENT: u32 = 52;

/// How far beyond its octave a stair is looked for, as a part of V.
const MARGIN: f64 = 1.0 / (1_u64 << 40) as f64;

impl<const N: usize, const MAPPED: bool> Octaves<N, MAPPED> {
    /// `None` where an octave has more lines, or too many blocks would be undecided.
    pub fn new(staircase: &StaircaseLane, map: Map) -> Option<Self> {
        let stairs = &staircase.stairs;
        let lowest = even(stairs).max(power_of_two(LEAST));
        let [mut offsets, mut slopes] = [[[0.0; ENTRIES]; N]; 2];
        // Stairs rise as words fall.
        let (mut stair, mut first) = (0.0, Line::new(stairs, 0.0));
        let mut line = first;
        for e in (LEAST..=63).rev() {
            let (low, high) = (power_of_two(e) * (1.0 - MARGIN), power_of_two(e + 1) * (1.0 + MARGIN));
            while first.end(stairs) > high {
                stair += 1.0;
                first = Line::new(stairs, stair);
            }
            line = first;
            let place = (1023 + e) as usize % ENTRIES;
            for n in 0..N {
                (offsets[n][place], slopes[n][place]) = (line.offset, line.slope);
                if n + 1 < N && line.end(stairs) > low {
                    line = Line::new(stairs, stair + (n + 1) as f64);
                }
            }
            if line.end(stairs) > low && high > lowest.max(map.offset) {
                return None;
            }
        }
        Some(Self {
            map,
            offsets,
            slopes,
            certain: Certain::new(tolerance(stairs, lowest, line.offset), lowest)?,
        })
    }
}

impl<const N: usize, const MAPPED: bool> Block for Octaves<N, MAPPED> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        let whole = wholes::<A, MAPPED>(words, self.map);
        let mut largest = [f64::MIN; BLOCK];
        for n in 0..N {
            let offsets = A::look_up::<EXPONENT>(&self.offsets[n], &whole);
            let slopes = A::look_up::<EXPONENT>(&self.slopes[n], &whole);
            for i in 0..BLOCK {
                let line = A::mul_add(whole[i], slopes[i], offsets[i]);
                largest[i] = if n == 0 { line } else { larger(largest[i], line) };
            }
        }
        self.certain.write::<A, T>(words, |i| (whole[i], largest[i]), scaling, out)
    }
}
