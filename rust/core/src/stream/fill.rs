//! One fill: words and extension words by index, and the stages of a mechanism that draws several times for a value.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::cipher::{Cipher, Domain, tweak};
use crate::cache_lines::CacheLines;
use crate::kernel::BLOCK;
use crate::stack;
use crate::wiped::wipe;

/// Words handed out at a time: 4 KiB of keystream fit the first-level cache beside 4 KiB of output.
pub(crate) const CHUNK: usize = 512;

/// Up to this many values are drawn without [`Words`], a long buffer to make and wipe.
pub(crate) const FEW: usize = 8;

/// Up to this many values are drawn with [`ShortWords`].
pub(crate) const SHORT: usize = 2 * BLOCK;

pub(crate) type Words = WordsIn<[[u64; 2]; CHUNK / 2 + 1]>;

/// Words for several draws of a value, of which each takes time to begin.
pub(crate) type LongWords = WordsIn<[[u64; 2]; CHUNK + 1]>;

/// [`SHORT`] words at a time, in a room that takes less time to make.
pub(crate) type ShortWords = WordsIn<[[u64; 2]; SHORT / 2 + 1]>;

/// Any of these, so that a function is compiled once for all.
pub(crate) type AnyWords = WordsIn<[[u64; 2]]>;

/// Values of a [`Tile`] at most: 8 KiB of words and as much output are in the first cache.
pub(crate) const TILE: usize = 1024;

pub(crate) type TileWords = WordsIn<[[u64; 2]; TILE / 2]>;

/// Extension words of one value; later ones are zero.
pub(crate) const EXTENSION_WORDS: usize = 1 << 13;

/// Values of a fill have indices below 2 to this power.
pub(crate) const LOG2_VALUES: u32 = 62;

/// The same for a mechanism of several draws for a value, whose fill has 2²² stages (contract, section 5).
pub(crate) const LOG2_STAGED: u32 = 40;

/// One fill: the randomness of its values, by index. Made by [`Generator::next`](crate::Generator::next).
///
/// A mechanism of several draws for a value reads a stage of the fill for each draw, and no two stages share a word.
///
/// Writing from the same fill twice repeats its noise.
pub struct Fill {
    pub(super) cipher: Arc<Cipher>,
    pub(super) number: u64,
    /// The index of the value that this view begins with.
    pub(crate) start: u64,
    /// Stage s begins at index s·2^`log2_values`.
    log2_values: u32,
    masks: Option<Arc<Vec<[u64; 2]>>>,
}

impl Fill {
    pub(super) fn new(cipher: Arc<Cipher>, number: u64, start: u64, log2_values: u32) -> Self {
        Self {
            cipher,
            number,
            start,
            log2_values,
            masks: None,
        }
    }

    /// Fill 0 of keyed rows: value i, or vector i, is value 0 under mask i (contract, section 13).
    pub(crate) fn masked(cipher: Arc<Cipher>, masks: Vec<[u64; 2]>, log2_values: u32) -> Self {
        Self {
            masks: Some(Arc::new(masks)),
            ..Self::new(cipher, 0, 0, log2_values)
        }
    }

    /// The same fill from its first value on, and the index of this view's first value: for mechanisms that draw several values together.
    ///
    /// There are 2^`log2_fewer` times fewer indices to a stage, and as many times more stages.
    pub(crate) fn whole(&self, log2_fewer: u32) -> (Self, u64) {
        let whole = Self {
            masks: self.masks.clone(),
            ..Self::new(Arc::clone(&self.cipher), self.number, 0, self.log2_values - log2_fewer)
        };
        (whole, self.start)
    }

    /// What draw number `s` reads.
    pub(crate) fn stage(&self, s: u64) -> Stage<'_> {
        Stage {
            cipher: &self.cipher,
            number: self.number,
            start: self.start + self.offset(s),
            masks: self.masks.as_deref().map(Vec::as_slice),
        }
    }

    /// The words of stages and values `place(0)`, `place(1)`, …, as many as `out` takes.
    pub(crate) fn scattered_words(&self, place: impl Fn(usize) -> (u64, u64), out: &mut [u64]) {
        let place = |k| {
            let (s, i) = place(k);
            (self.offset(s), i)
        };
        self.stage(0).scattered_words(place, out);
    }

    fn offset(&self, s: u64) -> u64 {
        debug_assert!(s >> (LOG2_VALUES - self.log2_values) == 0, "stage {s}");
        s << self.log2_values
    }

    /// The words of the values `first`, `first + 1`, …, for tests and benchmarks of the stream.
    #[doc(hidden)]
    pub fn keystream(&self, first: u64, out: &mut [u64]) {
        let (stage, mut words) = (self.stage(0), Words::new());
        for (out, first) in out.chunks_mut(CHUNK).zip((first..).step_by(CHUNK)) {
            out.copy_from_slice(words.at(stage, first, out.len()));
        }
    }
}

/// What one draw of every value reads: a word for each, and extension words.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a> {
    cipher: &'a Cipher,
    number: u64,
    start: u64,
    masks: Option<&'a [[u64; 2]]>,
}

impl Stage<'_> {
    /// The mask of value `index` and its index in the fill, `offset` after those of this stage.
    #[inline]
    fn place(self, offset: u64, index: u64) -> ([u64; 2], u64) {
        match self.masks {
            None => ([0; 2], self.start + offset + index),
            Some(masks) => (masks[index as usize], self.start + offset),
        }
    }

    /// A block of the fill that a mask makes.
    fn block(self, domain: Domain, level: u64, mask: [u64; 2], index: u64) -> [u64; 2] {
        let tweak = tweak(domain, level, self.number);
        self.cipher.block(tweak ^ mask[1], index ^ mask[0])
    }

    /// The word of value `index`.
    pub fn word(self, index: u64) -> u64 {
        let (mask, index) = self.place(0, index);
        // A block holds the words of two values (contract, section 1).
        self.block(Domain::Noise, 0, mask, index / 2)[(index % 2) as usize]
    }

    /// Extension word `e` of value `index`.
    pub fn extension(self, index: u64, e: usize) -> u64 {
        let (mask, index) = self.place(0, index);
        self.extension_at(mask, index, e)
    }

    fn extension_at(self, mask: [u64; 2], index: u64, e: usize) -> u64 {
        if e >= EXTENSION_WORDS {
            return 0;
        }
        // A block holds two extension words of one value (contract, section 1).
        self.block(Domain::Extension, (e / 2) as u64, mask, index)[e % 2]
    }

    /// The words of the values `first .. first + n` with `n` at most [`FEW`]; what follows them has no meaning.
    pub fn few_words(self, first: u64, n: usize) -> Zeroizing<[u64; FEW + 1]> {
        if self.masks.is_some() {
            return self.few_masked_words(first, n);
        }
        let first = self.start + first;
        // A block holds two words, and the first wanted may be its second.
        let skip = (first % 2) as usize;
        let mut blocks = Zeroizing::new([[0; 2]; FEW / 2 + 1]);
        self.cipher
            .noise(self.number, first / 2, &mut blocks[..(skip + n).div_ceil(2)]);
        let mut words = Zeroizing::new([0; FEW + 1]);
        words.copy_from_slice(&blocks.as_flattened()[skip..=skip + FEW]);
        words
    }

    /// Not inlined: words that are returned from one of two places are moved, which leaves a copy.
    #[inline(never)]
    fn few_masked_words(self, first: u64, n: usize) -> Zeroizing<[u64; FEW + 1]> {
        let mut words = Zeroizing::new([0; FEW + 1]);
        self.scattered_words(|k| (0, first + k as u64), &mut words[..n]);
        words
    }

    /// The words of the values at `place(0)`, `place(1)`, …, as many as `out` takes: an offset and the index of a value.
    pub fn scattered_words(self, place: impl Fn(usize) -> (u64, u64), out: &mut [u64]) {
        let tweak = tweak(Domain::Noise, 0, self.number);
        // 32 blocks are whole batches of every cipher.
        let mut blocks = Zeroizing::new([[0; 2]; 32]);
        for (begin, out) in (0..).step_by(blocks.len()).zip(out.chunks_mut(blocks.len())) {
            let place = |k| {
                let (offset, index) = place(begin + k);
                self.place(offset, index)
            };
            let inputs = (0..out.len()).map(|k| {
                let (mask, index) = place(k);
                [(index / 2) ^ mask[0], tweak ^ mask[1]]
            });
            self.cipher.encrypt_inputs(inputs, &mut blocks[..out.len()]);
            for (k, (word, block)) in out.iter_mut().zip(&*blocks).enumerate() {
                *word = block[(place(k).1 % 2) as usize];
            }
        }
    }
}

/// At most 1024 values of a fill: rows of consecutive ones, `pitch` from one row to the next. All of its numbers but that of rows are even.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    /// The first value.
    pub first: u64,
    /// Values from the beginning of a row to that of the next.
    pub pitch: u64,
    /// How many rows there are.
    pub rows: usize,
    /// Values of a row.
    pub columns: usize,
}

impl Tile {
    pub(crate) fn len(&self) -> usize {
        self.rows * self.columns
    }

    /// The value that comes after `i` others, row after row.
    pub(crate) fn index(&self, i: usize) -> u64 {
        self.first + (i / self.columns) as u64 * self.pitch + (i % self.columns) as u64
    }
}

/// Consecutive words of a stage, some at a time; wiped on drop, with what kernels called from the same function left of them on the stack.
pub(crate) struct WordsIn<B: AsMut<[[u64; 2]]> + ?Sized> {
    /// The most blocks that were used at a time.
    used: usize,
    blocks: CacheLines<B>,
}

impl<const BLOCKS: usize> WordsIn<[[u64; 2]; BLOCKS]> {
    pub fn new() -> Self {
        Self {
            used: 0,
            blocks: CacheLines([[0; 2]; BLOCKS]),
        }
    }
}

impl AnyWords {
    /// Words that it holds, from the first or second of a block on.
    pub fn capacity(&self) -> usize {
        2 * (self.blocks.0.len() - 1)
    }
}

impl<B: AsMut<[[u64; 2]]> + ?Sized> WordsIn<B> {
    /// The words of the values `first .. first + n`, with `n` at most twice the blocks, less one.
    pub fn at(&mut self, stage: Stage<'_>, first: u64, n: usize) -> &[u64] {
        if stage.masks.is_some() {
            self.used = self.used.max(n.div_ceil(2));
            let words = &mut self.blocks.0.as_mut().as_flattened_mut()[..n];
            stage.scattered_words(|k| (0, first + k as u64), words);
            return words;
        }
        let first = stage.start + first;
        let skip = (first % 2) as usize;
        let blocks = &mut self.blocks.0.as_mut()[..(skip + n).div_ceil(2)];
        self.used = self.used.max(blocks.len());
        stage.cipher.noise(stage.number, first / 2, blocks);
        &blocks.as_flattened()[skip..skip + n]
    }

    /// The words of the values of a tile, row after row. Its rows are whole blocks, no more than there are here.
    pub fn of_tile(&mut self, stage: Stage<'_>, tile: &Tile) -> &[u64] {
        assert!(
            stage.masks.is_none() && (stage.start | tile.first | tile.pitch | tile.columns as u64).is_multiple_of(2),
            "{tile:?}"
        );
        let blocks = &mut self.blocks.0.as_mut()[..tile.len() / 2];
        self.used = self.used.max(blocks.len());
        let firsts = (0..tile.rows as u64).map(|row| (stage.start + tile.first + row * tile.pitch) / 2);
        stage.cipher.noise_rows(stage.number, firsts, tile.columns / 2, blocks);
        blocks.as_flattened()
    }
}

impl<B: AsMut<[[u64; 2]]> + ?Sized> Drop for WordsIn<B> {
    fn drop(&mut self) {
        wipe(self.blocks.0.as_mut()[..self.used].as_flattened_mut());
        // Kernels take more than a few words as a block.
        if 2 * self.used > FEW {
            stack::wipe_kernels();
        }
    }
}
