//! The certified fast path: from a 64-bit word to the integer that it decides, or "not sure".
//!
//! Every lane evaluates the inverse of the survival function in `f64` with a bound on its total error: rounding, polynomial, parameters
//! and the bits of `v` beyond the word. If the whole error interval lies inside one cell, that integer is the answer, whatever
//! arithmetic produced the approximation; otherwise the integer slow path ([`crate::exact`]) decides. So no polynomial, compiler or
//! instruction set can change a value: only how often the slow path is asked.
//!
//! | file | subject |
//! |---|---|
//! | `geometric`, `staircase` | the two families: formula, error bound, acceptance |
//! | `elementary` | −ln, exp and exp − 1 with stated errors |
//! | `float` | whole numbers in and out of `f64` without branches |
//!
//! `u` is 2⁻⁵³, half an ulp of 1, in every bound.

mod elementary;
mod float;
mod geometric;
mod staircase;

use crate::exact::IntegerLaw;
use crate::value::Value;

pub(crate) use geometric::Geometric;
pub(crate) use staircase::Staircase;

/// Bits of `v` in a word: all but the sign.
pub(crate) const WORD_BITS: u32 = 63;

const SIGN: u64 = 1 << 63;

/// Words decided together.
const BLOCK: usize = 64;

/// Beyond this many cells in a sensitivity and in the noise scale a double cannot tell neighbouring cells apart, and every word goes to
/// the slow path. It also keeps every accepted magnitude below 2⁵¹: the scale is at most 2⁴⁵ cells and −ln v at most 45.
const MAX_SPAN: f64 = (1_u64 << 45) as f64;

/// One family's lane.
pub(crate) trait Lane {
    /// |X| as a whole `f64`, and whether it is certain, for the leading bits of `v`. An uncertain magnitude may be anything.
    fn magnitude(&self, bits: u64) -> (f64, bool);
}

/// The fast path of a law.
#[derive(Clone, Debug)]
pub(crate) enum Kernel {
    Geometric(Geometric),
    Staircase(Staircase),
}

impl Kernel {
    pub fn new(law: &IntegerLaw) -> Self {
        match *law {
            IntegerLaw::Geometric { eps, cells } => {
                Self::Geometric(Geometric::new(eps, cells, WORD_BITS))
            }
            IntegerLaw::Staircase { eps, cells, r } => {
                Self::Staircase(Staircase::new(eps, cells, r, WORD_BITS))
            }
        }
    }

    /// The signed answer for one word, if the word alone is certain to decide it.
    pub fn decide(&self, word: u64) -> Option<f64> {
        let (cells, sure) = match self {
            Self::Geometric(lane) => signed(lane, word),
            Self::Staircase(lane) => signed(lane, word),
        };
        sure.then_some(cells)
    }

    /// Writes an answer for every word and calls `doubt` with the positions whose answer the caller must replace.
    pub fn fill<T: Value>(&self, words: &[u64], granularity: f64, out: &mut [T], doubt: impl FnMut(usize, &mut T)) {
        match self {
            Self::Geometric(lane) => fill(lane, words, granularity, out, doubt),
            Self::Staircase(lane) => fill(lane, words, granularity, out, doubt),
        }
    }
}

#[inline(always)]
fn signed(lane: &impl Lane, word: u64) -> (f64, bool) {
    let (magnitude, sure) = lane.magnitude(word & !SIGN);
    (f64::from_bits(magnitude.to_bits() ^ (word & SIGN)), sure)
}

fn fill<T: Value>(
    lane: &impl Lane,
    words: &[u64],
    granularity: f64,
    out: &mut [T],
    mut doubt: impl FnMut(usize, &mut T),
) {
    for (b, (words, out)) in words.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).enumerate() {
        // No branch depends on a lane until the whole block is written, so the compiler may do several lanes at a time.
        let mut all_sure = true;
        for (word, value) in words.iter().zip(&mut *out) {
            let (cells, sure) = signed(lane, *word);
            *value = T::from_whole(cells, granularity);
            all_sure &= sure;
        }
        if !all_sure {
            for (i, (word, value)) in words.iter().zip(out).enumerate() {
                if !signed(lane, *word).1 {
                    doubt(b * BLOCK + i, value);
                }
            }
        }
    }
}

#[cfg(test)]
mod exhaustive;
