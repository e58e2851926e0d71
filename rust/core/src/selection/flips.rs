//! Permute-and-flip (docs/contract.md, selection): a coin of probability e^(−x) for every candidate, and one of those whose coin fell heads.
//!
//! The mechanism visits the candidates in a uniformly random order; the first whose coin falls heads is the answer (McKenna and Sheldon 2020,
//! algorithm 1). Order and coins are independent, so the answer is uniform among all candidates whose coins fall heads: no order is drawn.

use super::decay;
use super::levels::{Levels, least};
use crate::declassify;
use crate::exact::bernoulli;
use crate::kernel::{Arithmetic, BLOCK, Tier, on_tier, ones};
use crate::lattice::dyadic::SHIFTER;
use crate::memory::{self, OutOfMemory};
use crate::stream::{CHUNK, EXTENSION_WORDS, Fill, Stage, Words};
use crate::wiped::Wiped;

/// A word has the leading bits of this many coins.
const COINS: usize = 4;

/// Blocks of coins tossed at a time, the verdicts on a block in the bits of a word: their words and the first of the selection are one chunk.
const BATCH: usize = CHUNK / (BLOCK / COINS) - 1;

/// Words of a selection from `n` candidates: one that decides among those whose coins fell heads, then those of the coins.
pub(super) fn words(n: usize) -> u64 {
    n.div_ceil(COINS) as u64 + 1
}

/// The bits of one fill's selections: words by index, and extension words.
pub(crate) trait Bits {
    /// The `n` ≤ [`CHUNK`] − 1 words from `first` on.
    fn words(&mut self, first: u64, n: usize) -> &[u64];

    fn extension(&self, index: u64, e: usize) -> u64;
}

pub(super) struct Consecutive<'a> {
    stage: Stage<'a>,
    room: Words,
    /// Which words are in the room.
    first: u64,
    held: usize,
    /// Words from here on are not asked for.
    end: u64,
}

impl<'a> Consecutive<'a> {
    pub fn new(fill: &'a Fill, end: u64) -> Self {
        Self {
            stage: fill.whole(),
            room: Words::new(),
            first: 0,
            held: 0,
            end,
        }
    }
}

impl Bits for Consecutive<'_> {
    fn words(&mut self, first: u64, n: usize) -> &[u64] {
        if first < self.first || first + n as u64 > self.first + self.held as u64 {
            // From the first word of a block on, so that the words in the room begin with it.
            self.first = first & !1;
            self.held = (self.end - self.first).min(CHUNK as u64) as usize;
            self.room.at(self.stage, self.first, self.held);
        }
        &self.room.made()[(first - self.first) as usize..][..n]
    }

    fn extension(&self, index: u64, e: usize) -> u64 {
        self.stage.extension(index, e)
    }
}

/// A row's probabilities, ready for any number of selections.
#[derive(Debug, Default)]
pub(super) struct Coins {
    /// Whether floating point bounds the errors of the weights; otherwise every coin is decided exactly.
    bounded: bool,
    /// e^(−x), with the errors of [`decay::fill`].
    weights: Vec<f64>,
    /// An integer t for every coin, of whole blocks of them: with f = 2^16·e^(−x), f − 2 < t < f, or t = 0 where f < 2.
    thresholds: Vec<u16>,
}

impl Coins {
    pub fn fill(&mut self, tier: Tier, levels: &Levels, costs: &[f64], scratch: &mut Vec<f64>) -> Result<(), OutOfMemory> {
        memory::resize(scratch, costs.len())?;
        memory::resize(&mut self.weights, costs.len())?;
        memory::resize(&mut self.thresholds, costs.len().next_multiple_of(BLOCK))?;
        self.bounded = on_tier!(tier, A => self.weigh::<A>(levels, costs, scratch));
        Ok(())
    }

    /// Whether the errors of the weights and thresholds that it writes are bounded.
    #[inline(always)]
    fn weigh<A: Arithmetic>(&mut self, levels: &Levels, costs: &[f64], scratch: &mut [f64]) -> bool {
        let Some(least) = levels.fill(costs, scratch) else {
            return false;
        };
        decay::fill::<A>(scratch, least, levels.factor, &mut self.weights);
        for (threshold, &weight) in self.thresholds.iter_mut().zip(&self.weights) {
            // The nearest integer to f − ¾ is from f − 1¼ to f − ¼; the weights' errors are below 2^16·(200·2^−53 + 2^−90) in these units.
            let near = weight * 65536.0 - 0.75;
            let near = if near > 0.0 { near } else { 0.0 };
            *threshold = (near + SHIFTER).to_bits() as u16;
        }
        true
    }

    pub fn len(&self) -> usize {
        self.weights.len() + self.thresholds.len() / COINS
    }
}

#[derive(Debug)]
pub(super) struct Flips {
    tier: Tier,
    scratch: Vec<f64>,
    coins: Coins,
    /// Bit i of word b: the coin of candidate 64·b + i fell heads. Wiped, because only one candidate is released.
    heads: Wiped<u64>,
    unsure: Wiped<u64>,
}

impl Flips {
    pub fn new() -> Self {
        Self {
            tier: Tier::current(),
            scratch: Vec::new(),
            coins: Coins::default(),
            heads: Vec::new().into(),
            unsure: Vec::new().into(),
        }
    }

    /// The coins of a row that comes again.
    pub fn coins(&mut self, levels: &Levels, costs: &[f64]) -> Result<Coins, OutOfMemory> {
        let mut coins = Coins::default();
        coins.fill(self.tier, levels, costs, &mut self.scratch)?;
        Ok(coins)
    }

    /// The candidate that the words from `first` on select.
    pub fn index(
        &mut self,
        levels: &Levels,
        costs: &[f64],
        kept: Option<&Coins>,
        bits: &mut impl Bits,
        first: u64,
    ) -> Result<usize, OutOfMemory> {
        if kept.is_none() {
            self.coins.fill(self.tier, levels, costs, &mut self.scratch)?;
        }
        let coins = kept.unwrap_or(&self.coins);
        let blocks = costs.len().div_ceil(BLOCK);
        memory::resize(&mut self.heads, blocks)?;
        memory::resize(&mut self.unsure, blocks)?;
        // First, so that the words of the coins are made with it.
        let word = bits.words(first, 1)[0];
        for begin in (0..blocks).step_by(BATCH) {
            let end = blocks.min(begin + BATCH);
            let from = begin * (BLOCK / COINS);
            let n = costs.len().div_ceil(COINS).min(end * (BLOCK / COINS)) - from;
            let words = bits.words(first + 1 + from as u64, n);
            let thresholds = &coins.thresholds.as_chunks().0[begin..end];
            let (heads, unsure) = (&mut self.heads[begin..end], &mut self.unsure[begin..end]);
            on_tier!(self.tier, toss(words, thresholds, heads, unsure));
        }
        // The last block may have places without a candidate.
        let last = u64::MAX >> (blocks * BLOCK - costs.len());
        self.heads[blocks - 1] &= last;
        self.unsure[blocks - 1] &= last;
        if !coins.bounded {
            self.heads.fill(0);
            self.unsure.fill(u64::MAX);
            self.unsure[blocks - 1] = last;
        }
        decide(levels, costs, coins, &mut self.heads, &self.unsure, bits, first);
        // If no cost is finite, no coin falls heads.
        let index = one_of(&self.heads, word, |e| bits.extension(first, e));
        Ok(index.min(costs.len() - 1))
    }
}

/// Tosses whole blocks of coins. At the end of a row there are fewer words than for whole blocks.
#[inline(always)]
fn toss(words: &[u64], thresholds: &[[u16; BLOCK]], heads: &mut [u64], unsure: &mut [u64]) {
    let verdicts = heads.iter_mut().zip(unsure);
    for ((words, thresholds), (heads, unsure)) in words.chunks(BLOCK / COINS).zip(thresholds).zip(verdicts) {
        let mut leading = [0_u16; BLOCK];
        for (four, word) in leading.as_chunks_mut::<COINS>().0.iter_mut().zip(words) {
            *four = [0, 16, 32, 48].map(|place| (word >> place) as u16);
        }
        let (mut below, mut near) = ([0_u8; BLOCK], [0_u8; BLOCK]);
        for i in 0..BLOCK {
            // With leading bits l and any bits after them, u·2^16 is from l to l + 1: below f if l < t, and above if l > t + 1.
            below[i] = u8::from(leading[i] < thresholds[i]);
            near[i] = u8::from(leading[i].wrapping_sub(thresholds[i]) < 2);
        }
        (*heads, *unsure) = (packed(&below), packed(&near));
    }
}

/// Bit i is the lowest of byte i; the others of a byte are 0.
#[inline(always)]
fn packed(bytes: &[u8; BLOCK]) -> u64 {
    let mut mask = 0;
    for (i, &eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        // Byte k is moved to bit 56 + k.
        let gathered = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= gathered << (8 * i);
    }
    mask
}

fn decide(levels: &Levels, costs: &[f64], coins: &Coins, heads: &mut [u64], unsure: &[u64], bits: &mut impl Bits, first: u64) {
    let mut best = None;
    for (b, (heads, unsure)) in heads.iter_mut().zip(unsure).enumerate() {
        for place in ones(declassify::word(*unsure)) {
            let j = b * BLOCK + place;
            let (index, coin) = (first + 1 + (j / COINS) as u64, j % COINS);
            let leading = bits.words(index, 1)[0] >> (16 * coin) << 48;
            let extension = |e| declassify::word(continuation(bits, index, coin, e));
            let word = declassify::word(leading) | extension(0) >> 16;
            let weight = coins.bounded.then(|| coins.weights[j]);
            let fell = weight.and_then(|weight| rough(weight, word)).unwrap_or_else(|| {
                declassify::slow_path();
                // The bits after the word, in words again: the first has 48 of the first extension word.
                let mut rest = |e| extension(e) << 48 | extension(e + 1) >> 16;
                let best = *best.get_or_insert_with(|| least(costs));
                let exponent = levels.exponent(costs[j], best);
                exponent.is_some_and(|x| bernoulli(&x, word, &mut rest))
            });
            *heads |= u64::from(fell) << place;
        }
    }
}

/// Extension word `e` of a coin: the four coins of a word take turns.
fn continuation(bits: &impl Bits, index: u64, coin: usize, e: usize) -> u64 {
    let e = COINS * e + coin;
    if e < EXTENSION_WORDS { bits.extension(index, e) } else { 0 }
}

/// u < e^(−x) for u = 0.word…, where that is sure: the weight is off by less than 2^−45 of itself plus 2^−90, and the word by a rounding.
fn rough(weight: f64, word: u64) -> Option<bool> {
    let (u, scaled) = (word as f64, weight * 64.0_f64.exp2());
    let error = scaled * (-40.0_f64).exp2() + 4.0;
    if u + error < scaled {
        Some(true)
    } else {
        (u > scaled + error).then_some(false)
    }
}

/// Candidate ⌊m·u⌋, from 0, of the m ≥ 1 whose coins fell heads. Only the candidate's place, which is released, changes the work.
fn one_of(heads: &[u64], word: u64, extension: impl Fn(usize) -> u64) -> usize {
    // Nothing here overflows; wrapping operations have no check, which would be a branch on noise.
    let counts = heads.iter().map(|mask| u64::from(mask.count_ones()));
    let m = counts.fold(0, u64::wrapping_add);
    let mut wanted = part_of(m, word, extension);
    let (mut mask, mut begin, mut passed) = (0, 0, false);
    for (b, &block) in heads.iter().enumerate() {
        let count = u64::from(block.count_ones());
        // All ones at the block that the candidate is in.
        let here = u64::from(declassify::condition(!passed & (wanted < count))).wrapping_neg();
        mask |= block & here;
        begin |= (b * BLOCK) as u64 & here;
        passed |= here != 0;
        wanted = wanted.wrapping_sub(count & u64::from(!passed).wrapping_neg());
    }
    declassify::word(begin.wrapping_add(nth(mask, wanted))) as usize
}

/// The place of set bit number `n` of a mask, counted from 0.
fn nth(mut mask: u64, mut n: u64) -> u64 {
    let mut place = 0;
    for half in [32, 16, 8, 4, 2, 1] {
        let low = u64::from((mask & ((1 << half) - 1)).count_ones());
        let above = u64::from(declassify::condition(n >= low));
        n = n.wrapping_sub(low & above.wrapping_neg());
        mask >>= half & above.wrapping_neg();
        place |= half & above.wrapping_neg();
    }
    place
}

/// ⌊m·u⌋ for u = 0.word extension…, exactly.
fn part_of(m: u64, word: u64, extension: impl Fn(usize) -> u64) -> u64 {
    let product = u128::from(m) * u128::from(word);
    let (whole, mut rest) = ((product >> 64) as u64, product as u64);
    // The bits that follow add less than m units: a carry is open only where that reaches a whole.
    if !declassify::condition(rest > m.wrapping_neg()) {
        return whole;
    }
    declassify::slow_path();
    for e in 0..EXTENSION_WORDS {
        let product = u128::from(declassify::word(m)) * u128::from(declassify::word(extension(e)));
        let (sum, carried) = declassify::word(rest).overflowing_add((product >> 64) as u64);
        // `sum` lacks what comes from later words: less than 1 + m/2^64, so at most one more unit.
        if carried || sum != u64::MAX {
            return whole + u64::from(carried);
        }
        rest = product as u64;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;
    use crate::exact::Exponent;
    use crate::testing::random::Random;

    /// Evidence: ⌊m·u⌋ in 192-bit integers, at words about every multiple of 1/m and with one extension word on either side.
    #[test]
    fn parts_are_whole_numbers_of_words() {
        for m in [1_u64, 2, 3, 5, 64, 1000, (1 << 40) + 1] {
            for part in [0, 1, 2, m / 2, m - 1] {
                let edge = (u128::from(part) << 64).div_ceil(u128::from(m)) as u64;
                for word in [edge.wrapping_sub(1), edge, edge.wrapping_add(1)] {
                    for following in [0, 1, 1 << 63, u64::MAX - 1, u64::MAX] {
                        let low = (u128::from(m) * u128::from(following)) >> 64;
                        let exact = (u128::from(m) * u128::from(word) + low) >> 64;
                        let found = part_of(m, word, |e| if e == 0 { following } else { 0 });
                        assert_eq!(u128::from(found), exact, "{m} {word} {following}");
                    }
                }
            }
        }
        // u is just below ½, and a carry is open for many words.
        assert_eq!(part_of(2, (1 << 63) - 1, |e| if e < 5 { u64::MAX } else { 0 }), 0);
        assert_eq!(part_of(3, u64::MAX / 3, |_| u64::MAX / 3), 0);
        assert_eq!(part_of(3, u64::MAX / 3, |e| u64::MAX / 3 + u64::from(e == 9)), 1);
    }

    #[test]
    fn set_bits_are_counted_from_the_lowest() {
        let mut random = Random(3);
        for _ in 0..500 {
            let mask = (random.next() * 1.8e19) as u64 & (random.next() * 1.8e19) as u64;
            let places = (0..64).filter(|i| mask >> i & 1 == 1);
            for (n, place) in (0..).zip(places) {
                assert_eq!(nth(mask, n), place);
            }
        }
    }

    /// Evidence: all 2^16 leading bits of a coin on every tier, against the exact path; what is sure must be right, whatever bits follow.
    #[test]
    fn sure_coins_are_right() {
        for tier in Tier::tested() {
            for eps in [1e-9, 0.3, 2.0, 9.0, 24.0, 300.0] {
                let levels = Levels::exponential(eps, 1.0, true);
                let costs = [0.0, 1.0];
                let mut coins = Coins::default();
                coins.fill(tier, &levels, &costs, &mut Vec::new()).unwrap();
                assert!(coins.bounded);
                let x = levels.exponent(1.0, 0.0).unwrap();
                let exact = |leading: u64, rest: u64| bernoulli(&x, leading << 48 | rest >> 16, &mut |_| rest);
                let (mut heads, mut unsure, mut open) = ([0], [0], 0);
                for leading in (0..1 << 16).step_by(if cfg!(miri) { 4099 } else { 1 }) {
                    let words = [leading << 16];
                    let thresholds = coins.thresholds.as_chunks().0;
                    on_tier!(tier, toss(&words, thresholds, &mut heads, &mut unsure));
                    open += unsure[0] >> 1 & 1;
                    let near = coins.thresholds[1].abs_diff(leading as u16) < 4;
                    if unsure[0] >> 1 & 1 == 0 && (near || leading % 997 == 0) {
                        let fell = heads[0] >> 1 & 1 == 1;
                        assert_eq!((exact(leading, 0), exact(leading, u64::MAX)), (fell, fell), "{eps} {leading}");
                    }
                }
                assert!(open <= 2, "{eps} {open}");
            }
        }
    }

    /// Evidence: the exact coin, for words about the probability.
    #[test]
    fn rough_verdicts_are_exact_ones() {
        let mut random = Random(12);
        for _ in 0..2000 {
            let q = random.power(1e-12, 60.0);
            let weight = (-q).exp();
            let word = weight * 64.0_f64.exp2();
            let word = (word as u64).saturating_add_signed(((random.next() - 0.5) * 8.0 * (1.0 + word * 1e-12)) as i64);
            if let Some(fell) = rough(weight, word) {
                let exact = |rest| bernoulli(&Exponent::quotient(q, 1.0, 0.0, 1.0, 0), word, &mut |_| rest);
                assert_eq!((exact(0), exact(u64::MAX)), (fell, fell), "{q} {word}");
            }
        }
    }

    /// Evidence: equality. Rows longer than one part of coins, candidates at the ends of blocks, with and without what is kept.
    #[test]
    fn long_rows_are_drawn_as_one_by_one() {
        let levels = Levels::exponential(1.0, 1.0, false);
        let mut random = Random(6);
        for n in [1, 63, 64, 65, 1984, 1985, 5000] {
            let costs: Vec<f64> = (0..n).map(|_| 40.0 * random.next()).collect();
            let mut generator = Generator::from_seed(7);
            let fill = generator.next_wide(20, words(n)).unwrap();
            let (mut whole, mut flips) = (Consecutive::new(&fill, 20 * words(n)), Flips::new());
            let kept = flips.coins(&levels, &costs).unwrap();
            for i in 0..20 {
                let mut alone = Consecutive::new(&fill, (i + 1) * words(n));
                let index = flips.index(&levels, &costs, None, &mut whole, i * words(n)).unwrap();
                let again = flips.index(&levels, &costs, Some(&kept), &mut alone, i * words(n)).unwrap();
                assert_eq!(index, again);
                assert_eq!(
                    index,
                    by_hand(&levels, &costs, &mut alone, i * words(n)),
                    "{n} candidates, selection {i}"
                );
            }
        }
    }

    /// The contract's text, coin by coin.
    fn by_hand(levels: &Levels, costs: &[f64], bits: &mut impl Bits, first: u64) -> usize {
        let best = least(costs);
        let heads: Vec<usize> = (0..costs.len())
            .filter(|&j| {
                let index = first + 1 + j as u64 / 4;
                let leading = bits.words(index, 1)[0] >> (16 * (j % 4)) & 0xffff;
                let extension = |e: usize| bits.extension(index, 4 * e + j % 4);
                let mut word = |i: usize| extension(i) << 48 | extension(i + 1) >> 16;
                let exponent = levels.exponent(costs[j], best).unwrap();
                bernoulli(&exponent, leading << 48 | extension(0) >> 16, &mut word)
            })
            .collect();
        let u = u128::from(bits.words(first, 1)[0]);
        heads[((u * heads.len() as u128) >> 64) as usize]
    }
}
