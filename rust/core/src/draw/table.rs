//! A distribution on 0, 1, 2, … given by weights, drawn by comparing the word with thresholds; the exact path answers where they are too close.
//!
//! Some thresholds are counted, by the leading bits of a block of words: the same work for every value that those decide. Many are searched: which of
//! them are read depends on the value.

use core::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use crate::cache_lines::CacheLines;
use crate::declassify;
use crate::exact::{self, Extension, Sums, Weights, limbs};
use crate::kernel::{Arithmetic, BLOCK, Tier, WORD_BITS, on_tier, ones};
use crate::lattice::Value;
use crate::memory::{self, OutOfMemory};
use crate::stream::{self, AnyWords, SHORT, ShortWords, Stage, Words};

/// Limbs of fraction that the thresholds are computed with: twice what a word has.
const PRECISION: usize = 2;

/// The most leading bits that choose where the search begins.
const MOST_GUIDE_BITS: u32 = 12;

/// Buckets to a threshold, as a power of two: most buckets then have no more thresholds than are compared at once.
const LOG2_BUCKETS: u32 = 3;

/// Thresholds that a search compares at once, without a branch. Four take 2 ns where a search of the bucket by halves takes 5, for its branches.
const AT_ONCE: usize = 4;

/// Up to this number, thresholds are counted by all bits of a word where the leading ones do not decide, rather than searched.
const FEW: usize = 16;

/// Up to this number above 2⁻¹⁵, thresholds are counted by the leading bits of words: 44 take 1.0 ns (Zen 4), a search 3.5.
const MOST_COUNTED: usize = 96;

/// The leading bits of a word but for its sign, of which vectors have the most.
const LEADING: u32 = 15;
const LARGEST: u64 = (1 << LEADING) - 1;

const SIGN: u64 = 1 << WORD_BITS;

/// A table that is made for the first fill. That may take milliseconds, and many distributions are made for their moments alone.
#[derive(Debug)]
pub(crate) struct LaterTable {
    weights: Arc<dyn Weights>,
    made: OnceLock<Table>,
}

impl LaterTable {
    pub fn new(weights: impl Weights + 'static) -> Self {
        Self {
            weights: Arc::new(weights),
            made: OnceLock::new(),
        }
    }

    pub fn table(&self) -> Result<&Table, OutOfMemory> {
        memory::made(&self.made, || Table::new(Arc::clone(&self.weights)))
    }

    #[cfg(test)]
    pub fn weights(&self) -> &Arc<dyn Weights> {
        &self.weights
    }
}

/// The inverse of S(j) = Σ_{k ≥ j} w(k) / Σ w(k). V is the 63 low bits of the word, θ in [0, 1) the bits beyond, and v = (V + θ)·2⁻⁶³.
///
/// S(j)·2⁶³ lies from T(j) to T(j) + `margin`. V < T(j) means v < S(j), and V ≥ T(j) + `margin` means v ≥ S(j). The exact path decides the rest.
#[derive(Debug)]
pub(crate) struct Table {
    weights: Arc<dyn Weights>,
    /// T(1) ≥ T(2) ≥ …, those above zero, and [`AT_ONCE`] + 1 zeros.
    thresholds: Vec<u64>,
    margin: u64,
    /// For each choice of V's leading bits, the number of thresholds at or above the least V that begins with them; one more entry closes the last.
    guide: Vec<u32>,
    guide_bits: u32,
    /// The leading bits of thresholds, those of which some are 1, then 0, in four quarters: one of the first, and what makes it that of the next.
    /// Each as often as vectors take it, on whole lines: without AVX2, copying one to all places takes three instructions. Empty where none are counted.
    leading: Vec<CacheLines<[[i16; LANES]; 4]>>,
}

impl Table {
    pub fn new(weights: Arc<dyn Weights>) -> Result<Self, OutOfMemory> {
        let sums = Sums::new(&*weights, PRECISION);
        let (least, most) = (Divisor::new(&sums.total.hi), Divisor::new(&sums.total.lo));
        let (mut thresholds, mut margin, mut result) = (Vec::new(), 2, Ok(()));
        sums.visit_tails(&mut |tail| {
            let below = least.quotient(&tail.lo);
            // A quotient is rounded down, or one less: the upper end lies below it plus 2.
            margin = margin.max(most.quotient(&tail.hi) + 2 - below);
            // Thresholds fall: those that follow are zero too.
            if below == 0 {
                return ControlFlow::Break(());
            }
            result = memory::push(&mut thresholds, below);
            result.map_or(ControlFlow::Break(()), ControlFlow::Continue)
        });
        result?;
        let guide_bits = thresholds
            .len()
            .checked_ilog2()
            .map_or(0, |log2| (log2 + LOG2_BUCKETS).min(MOST_GUIDE_BITS));
        (0..=AT_ONCE).try_for_each(|_| memory::push(&mut thresholds, 0))?;
        let guide = (0..=1_u64 << guide_bits).map(|lead| {
            let least = lead << (WORD_BITS - guide_bits);
            // Above `least` − 1 means at or above `least`; for `least` = 0 that is all of them, because none is zero.
            count_above(&thresholds, least.saturating_sub(1)) as u32
        });
        Ok(Self {
            weights,
            guide: memory::collected(guide)?,
            guide_bits,
            leading: leading(&thresholds, margin)?,
            thresholds,
            margin,
        })
    }

    /// Bytes of thresholds and guide.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        8 * self.thresholds.capacity() + 4 * self.guide.capacity()
    }

    /// The number of j ≥ 1 with v < S(j). Bit 63 is ignored.
    pub fn index(&self, word: u64, extension: impl FnMut(usize) -> u64) -> u64 {
        declassify::found(self.search(declassify::word(word), extension))
    }

    #[inline]
    fn search(&self, word: u64, mut extension: impl FnMut(usize) -> u64) -> u64 {
        let v63 = word & !SIGN;
        let lead = (v63 >> (WORD_BITS - self.guide_bits)) as usize;
        let least = self.guide[lead + 1] as usize;
        let nearest = &self.thresholds[least..][..=AT_ONCE];
        let above = nearest[..AT_ONCE]
            .iter()
            .map(|threshold| usize::from(*threshold > v63))
            .sum::<usize>();
        // Beyond the last threshold S(j)·2⁶³ lies from 0 to the margin. Where all that were compared are above V, more may be.
        if v63 >= nearest[above].saturating_add(self.margin) {
            (least + above) as u64
        } else {
            self.search_all(lead, v63, &mut extension)
        }
    }

    /// [`Table::search`] of a whole bucket, and by the exact path.
    #[cold]
    #[inline(never)]
    fn search_all(&self, lead: usize, v63: u64, extension: &mut Extension<'_>) -> u64 {
        let (least, most) = (self.guide[lead + 1] as usize, self.guide[lead] as usize);
        let index = least + count_above(&self.thresholds[least..most], v63);
        if v63 >= self.thresholds[index].saturating_add(self.margin) {
            index as u64
        } else {
            declassify::slow_path();
            exact::index(&*self.weights, v63, &mut |e| declassify::word(extension(e)), index as u64)
        }
    }

    fn above_zero(&self) -> &[u64] {
        &self.thresholds[..self.thresholds.len() - 1 - AT_ONCE]
    }

    /// [`Table::index`] of each word, `extension(i, e)` the extension of the i-th; if `SIGNED`, bit 63 of a word is the sign.
    pub fn indices<const SIGNED: bool, T: Value>(&self, words: &[u64], extension: impl Fn(usize, usize) -> u64, out: &mut [T]) {
        let few = self.above_zero().len() <= FEW;
        let one = |i: usize, word| {
            let index = if few { self.count(word) } else { None };
            let index = index.unwrap_or_else(|| self.index(word, |e| extension(i, e)).cast_signed());
            // A mask: a branch would depend on the sign of the noise.
            let sign = if SIGNED { word.cast_signed() >> WORD_BITS } else { 0 };
            T::from_near((index ^ sign).wrapping_sub(sign), 1.0)
        };
        // What a block leaves on the stack is wiped after more words.
        let counted = !self.leading.is_empty() && words.len() > stream::FEW;
        let (mut first, tier) = (0, Tier::current());
        for (words, out) in words.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
            let mut open = u64::MAX;
            if counted {
                open = declassify::word(on_tier!(tier, A => self.count_leading::<A, SIGNED, T>(words, out)));
            }
            // Of a few thresholds, those of the whole block are counted again.
            let again = if few && open != 0 { u64::MAX } else { open };
            for i in ones(again).take_while(|i| *i < words.len()) {
                out[i] = one(first + i, words[i]);
            }
            first += BLOCK;
        }
    }

    /// How many thresholds are above each word, and the places of words that their leading bits do not decide.
    #[inline(always)]
    fn count_leading<A: Arithmetic, const SIGNED: bool, T: Value>(&self, words: &[u64], out: &mut [T]) -> u64 {
        if let (Ok(words), Ok(out)) = (words.try_into(), out.try_into()) {
            return self.count_block::<A, SIGNED, T>(words, out);
        }
        let (mut block, mut values) = ([words[0]; BLOCK], [T::default(); BLOCK]);
        block[..words.len()].copy_from_slice(words);
        let open = self.count_block::<A, SIGNED, T>(&block, &mut values);
        out.copy_from_slice(&values[..words.len()]);
        open
    }

    /// [`Table::count_leading`] of a block: a word is compared with a quarter of the thresholds, which is chosen by masks.
    #[inline(always)]
    fn count_block<A: Arithmetic, const SIGNED: bool, T: Value>(&self, words: &[u64; BLOCK], out: &mut [T; BLOCK]) -> u64 {
        let leading = A::leading(words);
        let (mut counts, mut nearest) = ([0_i16; BLOCK], [0_i16; BLOCK]);
        if A::FUSED {
            self.count_parts::<BLOCK>(&leading, &mut counts, &mut nearest);
        } else {
            self.count_parts::<LANES>(&leading, &mut counts, &mut nearest);
        }
        let mut any = 0;
        for i in 0..BLOCK {
            let sign = if SIGNED { leading[i] >> LEADING } else { 0 };
            counts[i] = (counts[i] ^ sign).wrapping_sub(sign);
            any |= i16::from(nearest[i] == i16::MIN);
        }
        for i in 0..BLOCK {
            out[i] = T::from_narrow(counts[i].into(), 1.0);
        }
        if !declassify::condition(any != 0) {
            return 0;
        }
        (0..BLOCK).fold(0, |open, i| open | u64::from(nearest[i] == i16::MIN) << i)
    }

    /// How many thresholds are above each word, and how far the nearest one is, from −2¹⁵ for equal numbers upwards; N at a time, for which there are
    /// registers.
    #[inline(always)]
    fn count_parts<const N: usize>(&self, leading: &[i16; BLOCK], counts: &mut [i16; BLOCK], nearest: &mut [i16; BLOCK]) {
        const { assert!(N == LANES || N == BLOCK) };
        // Where vectors are long, an instruction copies a number to all places.
        let at_place = |bits: &[i16; LANES], i: usize| if N == LANES { bits[i] } else { bits[0] };
        let Some(CacheLines([first, second, third, _])) = self.leading.last() else {
            return;
        };
        let quarter = self.leading.len() as i16;
        for at in (0..BLOCK).step_by(N) {
            let (mut above, mut count, mut least, mut bits) = ([[0_i16; N]; 3], [0_i16; N], [0_i16; N], [0_i16; N]);
            for i in 0..N {
                // Quarters that are above as a whole, by masks.
                let magnitude = leading[at + i] & i16::MAX;
                let [first, second, third] = [first, second, third].map(|bits| at_place(bits, i));
                let ends = [first, first ^ second, first ^ second ^ third];
                for k in 0..3 {
                    above[k][i] = i16::from(magnitude < ends[k]).wrapping_neg();
                    count[i] = count[i].wrapping_sub(above[k][i]);
                }
                count[i] = count[i].wrapping_add(1).wrapping_mul(quarter);
                bits[i] = leading[at + i] | i16::MIN;
            }
            for CacheLines([first, second, third, fourth]) in &self.leading {
                for i in 0..N {
                    let threshold = at_place(first, i)
                        ^ (at_place(second, i) & above[0][i])
                        ^ (at_place(third, i) & above[1][i])
                        ^ (at_place(fourth, i) & above[2][i]);
                    // Not negative where the threshold is above.
                    let beyond = bits[i].wrapping_sub(threshold);
                    count[i] = count[i].wrapping_add(beyond >> LEADING);
                    least[i] = least[i].min(beyond);
                }
            }
            for i in 0..N {
                (counts[at + i], nearest[at + i]) = (count[i], least[i]);
            }
        }
    }

    /// How many of a few thresholds are above a word, if the word alone decides it, by the same work for every word.
    fn count(&self, word: u64) -> Option<i64> {
        let v63 = word & !SIGN;
        // Bit 63 of a difference is set where the threshold is above: a huge number, which is not near.
        let near = |beyond: u64| u64::from(beyond < self.margin);
        let (count, undecided) = self
            .above_zero()
            .iter()
            .fold((0_u64, near(v63)), |(count, undecided), threshold| {
                let beyond = v63.wrapping_sub(*threshold);
                (count.wrapping_add(beyond >> WORD_BITS), undecided | near(beyond))
            });
        (!declassify::condition(undecided != 0)).then_some(count.cast_signed())
    }

    /// The values `first .. first + out.len()` of a stage.
    pub fn write(&self, stage: Stage<'_>, first: u64, out: &mut [i64]) {
        if out.len() <= SHORT {
            self.write_in::<false, _>(&mut ShortWords::new(), stage, first, out);
        } else {
            self.write_in::<false, _>(&mut Words::new(), stage, first, out);
        }
    }

    /// [`Table::write`] by way of words of the caller's, who wipes them after several stages; if `SIGNED`, bit 63 of a word is the sign.
    pub fn write_in<const SIGNED: bool, T: Value>(&self, words: &mut AnyWords, stage: Stage<'_>, first: u64, out: &mut [T]) {
        if out.len() <= stream::FEW {
            // This path makes and wipes no buffers.
            let words = stage.few_words(first, out.len());
            self.indices::<SIGNED, T>(&words[..out.len()], |i, e| stage.extension(first + i as u64, e), out);
            return;
        }
        let capacity = words.capacity();
        for (first, out) in (first..).step_by(capacity).zip(out.chunks_mut(capacity)) {
            let extension = |i, e| stage.extension(first + i as u64, e);
            self.indices::<SIGNED, T>(words.at(stage, first, out.len()), extension, out);
        }
    }
}

/// Places for a number in a table's thresholds.
const LANES: usize = 16;

/// [`Table::leading`]: none where there are too many, or a margin reaches other leading bits.
fn leading(thresholds: &[u64], margin: u64) -> Result<Vec<CacheLines<[[i16; LANES]; 4]>>, OutOfMemory> {
    let bits = |end: u64| (end >> (WORD_BITS - LEADING)).min(LARGEST) as i16;
    let one = |threshold: &&u64| bits(**threshold) == bits(threshold.saturating_add(margin));
    let counted = thresholds.partition_point(|threshold| bits(*threshold) > 0);
    if counted > MOST_COUNTED || thresholds.iter().take_while(one).count() < thresholds.len() {
        return Ok(Vec::new());
    }
    let quarter = counted / 4 + 1;
    // Below all of them the leading bits do not decide.
    let at = |place: usize| if place < counted { bits(thresholds[place]) } else { 0 };
    memory::collected((0..quarter).map(|k| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|n| at(n * quarter + k));
        CacheLines([a, a ^ b, b ^ c, c ^ d].map(|bits| [bits; LANES]))
    }))
}

/// How many of the descending `thresholds` are above `v`.
fn count_above(thresholds: &[u64], v: u64) -> usize {
    thresholds.partition_point(|threshold| *threshold > v)
}

/// A divisor b > 0 of numbers a ≥ 0. Both have two limbs of fraction and one integer limb.
struct Divisor<'a> {
    b: &'a [u64],
    /// Zeros before the leading bit of b.
    leading: usize,
    /// The 127 bits of b from its leading bit on, and 1.
    cut: u128,
    /// 2¹⁹⁰/`cut`, or up to three less.
    inverse: u64,
}

impl<'a> Divisor<'a> {
    fn new(b: &'a [u64]) -> Self {
        let empty = b.iter().rev().take_while(|limb| **limb == 0).count();
        let leading = 64 * empty + b[2 - empty].leading_zeros() as usize;
        let cut = cut(b, leading) + 1;
        let inverse = (1 << 127) / ((cut >> WORD_BITS) + 1);
        Self {
            b,
            leading,
            cut,
            inverse: inverse as u64,
        }
    }

    /// a/b·2⁶³, rounded down, or one less, and at most 2⁶³.
    ///
    /// An upper end of a tail may be above a lower end of the total, where the tail is nearly all of it.
    ///
    /// The division takes 127 bits of each from the leading bit of b on and rounds b up, which lowers the quotient by less than 2⁶³·2⁻¹²⁵.
    fn quotient(&self, a: &[u64]) -> u64 {
        if !limbs::less(a, self.b) {
            return SIGN;
        }
        let rest = cut(a, self.leading);
        // The leading bits of both are at most a few too low a quotient. It is then raised to the quotient of all bits.
        let mut quotient = (((rest >> WORD_BITS) * u128::from(self.inverse)) >> 64) as u64;
        let scaled = (rest >> (128 - WORD_BITS), rest << WORD_BITS);
        while limbs::product(self.cut, u128::from(quotient) + 1) <= scaled {
            quotient += 1;
        }
        quotient
    }
}

/// The 127 bits of x that follow the first `leading` ones.
fn cut(x: &[u64], leading: usize) -> u128 {
    let mut x = [x[0], x[1], x[2]];
    limbs::shl(&mut x, leading);
    (u128::from(x[2]) << 64 | u128::from(x[1])) >> 1
}

#[cfg(test)]
pub(super) fn check_beside_thresholds(distribution: &(impl Weights + Clone + 'static)) {
    let table = Table::new(Arc::new(distribution.clone())).unwrap();
    for j in 1..30 {
        let (mut below, mut above) = (0, 1_u64 << WORD_BITS);
        while above - below > 1 {
            let middle = below.midpoint(above);
            let reached = table.index(middle, |_| 0) >= j;
            (below, above) = if reached { (middle, above) } else { (below, middle) };
        }
        for word in [below.saturating_sub(2), below.saturating_sub(1), below, above, above + 1] {
            for extension in [0, u64::MAX, 1 << 63] {
                if word > 0 && word < 1 << WORD_BITS {
                    let exact = exact::index(distribution, word, &mut |_| extension, 0);
                    assert_eq!(table.index(word, |_| extension), exact, "{distribution:?} {j} {word:x}");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::enclosure::Enclosure;
    use crate::exact::exp::Step;
    use crate::exact::limbs::Limbs;
    use crate::stream::CHUNK;
    use crate::testing::random::Random;

    /// Weights e^(−k·step) for k = 0, 1, …: all of them, or some.
    #[derive(Clone, Copy, Debug)]
    struct Powers {
        step: f64,
        count: Option<usize>,
    }

    impl Weights for Powers {
        fn enclose(&self, p: usize, visit: &mut dyn FnMut(&Enclosure) -> ControlFlow<()>) -> u64 {
            let step = Step::new(self.step, 1);
            // Beyond, all together are below 2^(−64p)·e^step/(1 − e^(−step)).
            let all = (64.0 * p as f64 / self.step).ceil() as u64 + 1;
            let count = self.count.map_or(all, |count| count as u64);
            let fixed = |k| step.power(k, p).expect("no underflow").to_fixed();
            let _ = (0..count).map(fixed).try_for_each(|weight| visit(&weight));
            if self.count.is_some() {
                0
            } else {
                (2.0 / self.step) as u64 + 3
            }
        }
    }

    /// Evidence: a second way to the same number. Where V decides, the index from the thresholds is the one that the exact path finds on its own;
    /// words beside all thresholds and at random, extensions of all zeros, of all ones and at random.
    #[test]
    fn thresholds_and_the_exact_path_agree() {
        let mut random = Random(1);
        for (step, count) in [
            (0.7, None),
            (3.0, None),
            (0.5, Some(1)),
            (0.25, Some(2)),
            (1.5, Some(5)),
            (0.01, Some(20)),
        ] {
            let powers = Powers { step, count };
            let table = Table::new(Arc::new(powers)).unwrap();
            let beside = table
                .thresholds
                .iter()
                .flat_map(|t| (0..6).map(move |i| (t + i).saturating_sub(2)));
            let at_random: Vec<_> = (0..20).map(|i| random.word() >> i).collect();
            for v63 in beside.chain(at_random).map(|word| word & !SIGN).filter(|v63| *v63 > 1 << 8) {
                let tail = random.word();
                for extension in [0, u64::MAX, tail] {
                    let words = |e| if e == 0 { extension } else { tail.rotate_left(e as u32) };
                    let exact = exact::index(&powers, v63, &mut { words }, 0);
                    assert_eq!(table.index(v63, words), exact, "{powers:?} {v63:x} {extension:x}");
                    assert_eq!(table.index(v63 | SIGN, words), exact);
                    let mut many = [i64::MAX; 3];
                    table.indices::<true, _>(&[v63, u64::MAX >> 2, v63 | SIGN], |_, e| words(e), &mut many);
                    assert_eq!([many[0], -many[2]], [exact as i64; 2]);
                }
            }
        }
    }

    /// Evidence: equality. Words of every length of a fill, beside thresholds and at random, have the index that each has alone, for tables of few
    /// thresholds, of more, whose leading bits are counted, and of many.
    #[test]
    fn blocks_have_the_indices_of_their_words() {
        let mut random = Random(4);
        for (step, is_counted) in [(3.0, true), (0.7, true), (0.25, true), (0.12, true), (0.03, false)] {
            let table = Table::new(Arc::new(Powers { step, count: None })).unwrap();
            assert_eq!(!table.leading.is_empty(), is_counted, "{step}");
            let some = table.thresholds.iter().step_by(1 + table.thresholds.len() / 8);
            let beside = some.flat_map(|t| [t.saturating_sub(9), *t + 9, t ^ 1 << 40, t | SIGN]);
            let at_random: Vec<_> = (0..CHUNK).map(|i| random.word() >> (i % 20)).collect();
            let words: Vec<_> = beside.chain(at_random).take(CHUNK).collect();
            for n in [8, 9, 64, 65, CHUNK] {
                for words in words.chunks(n).take(4) {
                    let mut indices = vec![-1; words.len()];
                    table.indices::<false, _>(words, |_, e| e as u64, &mut indices);
                    let alone: Vec<_> = words.iter().map(|word| table.index(*word, |e| e as u64) as i64).collect();
                    assert_eq!(indices, alone, "{step} {n}");
                }
            }
        }
    }

    /// Evidence: a second way to the same number, bit by bit. Divisors of every length, and quotients next to 0 and to 2⁶³.
    #[test]
    fn quotients_are_those_of_long_division() {
        let mut random = Random(3);
        for round in 0..3000 {
            let b = [
                random.word(),
                random.word() >> (round % 65).min(63),
                random.word() >> (round / 2 % 64),
            ];
            let b = if round % 5 == 0 {
                [b[0], b[1] | 1, 0]
            } else {
                [b[0], b[1], b[2] | 1]
            };
            let mut a = b;
            limbs::shr(&mut a, round % 130);
            limbs::sub(&mut a, &[u64::from(round % 7 == 0 && round % 130 == 0), 0, 0]);
            let divisor = Divisor::new(&b);
            let (mut rest, mut expected) = (cut(&a, divisor.leading), 0);
            for _ in 0..WORD_BITS {
                rest <<= 1;
                let bit = rest >= divisor.cut;
                expected = expected << 1 | u64::from(bit);
                rest -= if bit { divisor.cut } else { 0 };
            }
            let expected = if limbs::less(&a, &b) { expected } else { SIGN };
            assert_eq!(divisor.quotient(&a), expected, "{a:x?} {b:x?}");
        }
    }

    /// Evidence: closed form. S(j) = e^(−j·step), so the index is ⌊−ln v/step⌋, away from whole numbers.
    #[test]
    fn all_powers_are_a_geometric_distribution() {
        let table = Table::new(Arc::new(Powers { step: 0.3, count: None })).unwrap();
        let mut random = Random(2);
        for _ in 0..1000 {
            let word = random.word();
            let x = -((word & !SIGN) as f64 / SIGN as f64).ln() / 0.3;
            if (x - x.round()).abs() > 1e-9 {
                assert_eq!(table.index(word, |_| 0), x.floor() as u64, "{word:x}");
            }
        }
    }

    /// Evidence: a case that is nearly certain, with a total that lies on either side of a power of two.
    #[test]
    fn a_weight_of_next_to_nothing_is_never_drawn() {
        #[derive(Debug)]
        struct Faint;
        impl Weights for Faint {
            fn enclose(&self, p: usize, visit: &mut dyn FnMut(&Enclosure) -> ControlFlow<()>) -> u64 {
                let mut nearly_one = Limbs::zero(p + 1);
                nearly_one[..p].fill(u64::MAX);
                let _ = visit(&Enclosure::point(0, p)).is_continue() && visit(&Enclosure::above(nearly_one, 1000)).is_continue();
                0
            }
        }
        let table = Table::new(Arc::new(Faint)).unwrap();
        for word in [0, 1, 1 << 62, (1 << 62) + 12_345, SIGN - 2000] {
            assert_eq!(table.index(word, |_| 77), 1, "{word:x}");
        }
    }

    /// Evidence: far tails, where V is zero and the extension decides, by the closed form.
    #[test]
    fn the_extension_reaches_beyond_the_table() {
        let table = Table::new(Arc::new(Powers { step: 0.3, count: None })).unwrap();
        let finite = Table::new(Arc::new(Powers {
            step: 0.3,
            count: Some(7),
        }))
        .unwrap();
        for shift in [0, 1, 10, 62] {
            let x = (64.0 + f64::from(shift)).mul_add(std::f64::consts::LN_2, -(1.5_f64).ln()) / 0.3;
            let extension = |e| if e == 0 { (3 << 62) >> shift } else { 5 };
            let index = table.index(0, extension);
            assert_eq!(index, x.floor() as u64, "{shift} {x}");
            assert_eq!(finite.index(0, extension), 6);
        }
    }

    /// Evidence: every bucket of the guide gives what a search of all thresholds gives, at both of its ends.
    #[test]
    fn the_guide_never_misses() {
        for step in [0.002, 0.1, 2.0, 40.0] {
            let table = Table::new(Arc::new(Powers { step, count: None })).unwrap();
            for lead in 0..1_u64 << table.guide_bits {
                let width = 1 << (WORD_BITS - table.guide_bits);
                for v63 in [lead * width, lead * width + width / 2, (lead + 1) * width - 1] {
                    let index = table.index(v63, |_| 1 << 63) as usize;
                    let all = count_above(&table.thresholds, v63);
                    assert!(
                        index == all || v63 < table.thresholds.get(all).copied().unwrap_or(0) + table.margin,
                        "{step} {v63:x}"
                    );
                }
            }
        }
    }
}
