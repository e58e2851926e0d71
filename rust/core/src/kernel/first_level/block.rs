//! What the families have in common.

use super::super::arithmetic::{Arithmetic, BLOCK, map_all};
use super::super::lane::{SIGN, WORD_BITS, with_sign};
use super::super::mapped::Map;
use crate::lattice::dyadic::power_of_two;
use crate::lattice::value::{Scaling, Value};

/// The share of blocks that may be left to the lanes.
pub(super) const MOST_IN_DOUBT: f64 = 1.0 / 16.0;

pub(in super::super) trait Block {
    /// Writes an answer for every word; whether all of them are certain.
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool;
}

/// V of every word, or U of a [`Map`].
#[inline(always)]
pub(super) fn wholes<A: Arithmetic, const MAPPED: bool>(words: &[u64; BLOCK], map: Map) -> [f64; BLOCK] {
    map_all(words, |word| {
        let whole = A::from_bits(word & !SIGN);
        if MAPPED {
            A::mul_add(whole, map.scale, map.offset)
        } else {
            whole
        }
    })
}

/// Which x and which words are certain.
#[derive(Clone, Debug)]
pub(in super::super) struct Certain {
    /// ½ less the tolerance.
    inside: f64,
    /// Words below it are not certain.
    pub(in super::super) lowest: f64,
}

impl Certain {
    /// With this tolerance on x. `None` where too many blocks would be undecided, or a number is NaN.
    pub fn new(tolerance: f64, lowest: f64) -> Option<Self> {
        let in_doubt = BLOCK as f64 * (lowest * power_of_two(-WORD_BITS.cast_signed()) + 2.0 * tolerance);
        (in_doubt <= MOST_IN_DOUBT).then_some(Self {
            inside: 0.5 - tolerance,
            lowest,
        })
    }

    /// The same where `reduced` has the bits of V themselves, which are in the order of V, for a number.
    pub fn of_words(self) -> Self {
        Self {
            lowest: f64::from_bits(self.lowest as u64),
            ..self
        }
    }

    /// Writes the whole numbers nearest to x, with the signs of the words; whether all are certain. `reduced(i)` is V or U of word i, and x.
    #[inline(always)]
    pub fn write<A: Arithmetic, T: Value>(
        &self,
        words: &[u64; BLOCK],
        reduced: impl Fn(usize) -> (f64, f64),
        scaling: Scaling,
        out: &mut [T; BLOCK],
    ) -> bool {
        // A loop for either: a sum with 0 takes the other distributions 1 to 6 % more time.
        if scaling.is_moved() {
            self.write_by::<A, _>(words, reduced, out, |_, nearest| T::from_moved(nearest, scaling))
        } else {
            let granularity = scaling.granularity();
            self.write_by::<A, _>(words, reduced, out, |x, nearest| {
                if A::FUSED {
                    T::from_nearest::<true>(x, nearest, granularity)
                } else {
                    T::from_nearest::<false>(x, nearest, granularity)
                }
            })
        }
    }

    #[inline(always)]
    fn write_by<A: Arithmetic, T>(
        &self,
        words: &[u64; BLOCK],
        reduced: impl Fn(usize) -> (f64, f64),
        out: &mut [T; BLOCK],
        value: impl Fn(f64, f64) -> T,
    ) -> bool {
        // A difference of bits is negative if a word is not certain: numbers from zero upwards are in the order of their bits, and NaN is beyond all.
        let mut undecided = 0;
        let (inside, lowest) = (self.inside.to_bits(), self.lowest.to_bits());
        for i in 0..BLOCK {
            let (whole, x) = reduced(i);
            let x = with_sign(x, words[i]);
            let nearest = A::round(x);
            undecided |= inside.wrapping_sub((x - nearest).abs().to_bits()) | whole.to_bits().wrapping_sub(lowest);
            out[i] = value(x, nearest);
        }
        undecided & SIGN == 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::geometric::PER_SCALE_MAPPED;
    use super::super::table::{self, Table};
    use super::*;

    /// Evidence: the share of blocks undecided. A scale that leaves room for the table's own tolerance is too large where words are mapped.
    #[test]
    fn mapped_words_have_a_larger_tolerance() {
        let most = (MOST_IN_DOUBT / BLOCK as f64 - table::LEAST * power_of_two(-63)) / 2.0;
        for (part, mapped) in [(0.9, true), (0.98, false)] {
            let scale = part * most / (table::PER_SCALE + 1.0 / table::LEAST);
            assert!(Table::<false>::new(scale, 0.5, Map::NONE).is_some(), "{part}");
            let map = Map {
                per_scale: PER_SCALE_MAPPED,
                ..Map::NONE
            };
            assert_eq!(Table::<true>::new(scale, 0.5, map).is_some(), mapped, "{part}");
        }
    }
}
