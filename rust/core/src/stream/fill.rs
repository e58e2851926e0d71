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

pub(crate) type Words = WordsIn<{ CHUNK / 2 + 1 }>;

/// [`SHORT`] words at a time, in a room that takes less time to make.
pub(crate) type ShortWords = WordsIn<{ SHORT / 2 + 1 }>;

/// Values of a [`Tile`] at most: 8 KiB of words and as much output are in the first cache.
pub(crate) const TILE: usize = 1024;

pub(crate) type TileWords = WordsIn<{ TILE / 2 }>;

/// Extension words of one value; later ones are zero.
pub(crate) const EXTENSION_WORDS: usize = 1 << 13;

/// Values of a fill of several draws have indices below 2 to this power (contract, section 5), so that a fill has 2²² stages.
const LOG2_VALUES: u32 = 40;

/// Indices that a fill has for all of its stages together.
const LOG2_INDICES: u32 = 62;

/// A fill of any kind: which keystream, and which of its values comes first.
pub(crate) struct Substream {
    pub cipher: Arc<Cipher>,
    pub number: u64,
    pub start: u64,
    masks: Option<Arc<Vec<[u64; 2]>>>,
}

impl Substream {
    pub fn new(cipher: Arc<Cipher>, number: u64, start: u64) -> Self {
        Self {
            cipher,
            number,
            start,
            masks: None,
        }
    }

    /// Fill 0 of keyed rows: value i, or vector i, is value 0 under mask i (contract, section 13).
    pub fn masked(cipher: Arc<Cipher>, masks: Vec<[u64; 2]>) -> Self {
        Self {
            masks: Some(Arc::new(masks)),
            ..Self::new(cipher, 0, 0)
        }
    }
}

/// One fill of a mechanism of one draw a value: the randomness of its values, by index. Made by [`Generator::next`](crate::Generator::next).
///
/// Writing from the same fill twice repeats its noise.
pub struct Fill(Substream);

impl Fill {
    /// Values of such a fill have indices below this.
    pub(super) const INDICES: u64 = 1 << LOG2_INDICES;

    pub(crate) fn new(substream: Substream) -> Self {
        Self(substream)
    }

    /// What its draw reads.
    pub(crate) fn stage(&self) -> Stage<'_> {
        Stage::new(&self.0, 0)
    }

    /// The index of the value that this view begins with.
    pub(crate) fn start(&self) -> u64 {
        self.0.start
    }

    /// The words of the values `first`, `first + 1`, …, for tests and benchmarks of the stream.
    #[doc(hidden)]
    pub fn keystream(&self, first: u64, out: &mut [u64]) {
        let (stage, mut words) = (self.stage(), Words::new());
        for (out, first) in out.chunks_mut(CHUNK).zip((first..).step_by(CHUNK)) {
            out.copy_from_slice(words.at(stage, first, out.len()));
        }
    }
}

/// One fill of a mechanism that takes several draws for a value: every draw reads a stage of its own, and no two stages share a word. Made by
/// [`Generator::next_staged`](crate::Generator::next_staged).
///
/// Writing from the same fill twice repeats its noise.
pub struct StagedFill {
    substream: Substream,
    /// Stage s begins at index s·2^`log2_values`.
    log2_values: u32,
}

impl StagedFill {
    /// Values of such a fill have indices below this.
    pub(super) const INDICES: u64 = 1 << LOG2_VALUES;

    pub(crate) fn new(substream: Substream) -> Self {
        Self {
            substream,
            log2_values: LOG2_VALUES,
        }
    }

    /// The same fill from its first value on, and the index of this view's first value: for mechanisms that draw several values together.
    ///
    /// There are 2^`log2_fewer` times fewer indices to a stage, and as many times more stages.
    pub(crate) fn whole(&self, log2_fewer: u32) -> (Self, u64) {
        let Substream {
            cipher,
            number,
            start,
            masks,
        } = &self.substream;
        let substream = Substream {
            masks: masks.clone(),
            ..Substream::new(Arc::clone(cipher), *number, 0)
        };
        let log2_values = LOG2_VALUES - log2_fewer;
        (Self { substream, log2_values }, *start)
    }

    /// What draw number `s` reads.
    pub(crate) fn stage(&self, s: u64) -> Stage<'_> {
        Stage::new(&self.substream, self.offset(s))
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
        debug_assert!(s >> (LOG2_INDICES - self.log2_values) == 0, "stage {s}");
        s << self.log2_values
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

impl<'a> Stage<'a> {
    fn new(substream: &'a Substream, offset: u64) -> Self {
        Self {
            cipher: &substream.cipher,
            number: substream.number,
            start: substream.start + offset,
            masks: substream.masks.as_deref().map(Vec::as_slice),
        }
    }

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
pub(crate) struct WordsIn<const BLOCKS: usize> {
    blocks: CacheLines<[[u64; 2]; BLOCKS]>,
    /// The most blocks that were used at a time.
    used: usize,
}

impl<const BLOCKS: usize> WordsIn<BLOCKS> {
    /// Words that it holds, from the first or second of a block on.
    pub const CAPACITY: usize = 2 * (BLOCKS - 1);

    pub fn new() -> Self {
        Self {
            blocks: CacheLines([[0; 2]; BLOCKS]),
            used: 0,
        }
    }

    /// The words of the values `first .. first + n`, with `n` at most twice the blocks, less one.
    pub fn at(&mut self, stage: Stage<'_>, first: u64, n: usize) -> &[u64] {
        if stage.masks.is_some() {
            self.used = self.used.max(n.div_ceil(2));
            let words = &mut self.blocks.0.as_flattened_mut()[..n];
            stage.scattered_words(|k| (0, first + k as u64), words);
            return words;
        }
        let first = stage.start + first;
        let skip = (first % 2) as usize;
        let blocks = &mut self.blocks.0[..(skip + n).div_ceil(2)];
        self.used = self.used.max(blocks.len());
        stage.cipher.noise(stage.number, first / 2, blocks);
        &blocks.as_flattened()[skip..skip + n]
    }

    /// The words of the values of a tile, row after row. Its rows are whole blocks, at most `BLOCKS` of them.
    pub fn of_tile(&mut self, stage: Stage<'_>, tile: &Tile) -> &[u64] {
        assert!(
            stage.masks.is_none() && (stage.start | tile.first | tile.pitch | tile.columns as u64).is_multiple_of(2),
            "{tile:?}"
        );
        let blocks = &mut self.blocks.0[..tile.len() / 2];
        self.used = self.used.max(blocks.len());
        let firsts = (0..tile.rows as u64).map(|row| (stage.start + tile.first + row * tile.pitch) / 2);
        stage.cipher.noise_rows(stage.number, firsts, tile.columns / 2, blocks);
        blocks.as_flattened()
    }
}

impl<const BLOCKS: usize> Drop for WordsIn<BLOCKS> {
    fn drop(&mut self) {
        wipe(self.blocks.0[..self.used].as_flattened_mut());
        // Kernels take more than a few words as a block.
        if 2 * self.used > FEW {
            stack::wipe_kernels();
        }
    }
}
