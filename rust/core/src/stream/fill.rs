use std::sync::Arc;

use zeroize::{Zeroize, Zeroizing};

use super::cipher::{Cipher, Domain};
use crate::kernel::{BLOCK, Lines};
use crate::stack;

/// Words handed out at a time: 4 KiB of keystream stay in the first-level cache beside 4 KiB of output.
pub(crate) const CHUNK: usize = 512;

/// So few values are drawn one by one, without a long buffer to make and wipe.
pub(crate) const FEW: usize = 8;

/// Extension words of one value; later ones are zero.
pub(crate) const EXTENSION_WORDS: usize = 1 << 13;

/// One fill of one generator: the randomness of any number of values, by index. Made by [`Generator::next`](crate::Generator::next).
///
/// Writing from the same fill twice repeats its noise.
pub struct Fill {
    cipher: Arc<Cipher>,
    number: u64,
    start: u64,
}

impl Fill {
    pub(super) fn new(cipher: Arc<Cipher>, number: u64, start: u64) -> Self {
        Self { cipher, number, start }
    }

    /// The same fill from its first value on, and the value that this view of it begins with: for laws whose values are not all of one index.
    pub(crate) fn whole(&self) -> (Self, u64) {
        (Self::new(Arc::clone(&self.cipher), self.number, 0), self.start)
    }

    /// The word of value `index`.
    pub(crate) fn word(&self, index: u64) -> u64 {
        let index = self.start + index;
        self.cipher.block(Domain::Noise, 0, self.number, index / 2)[(index % 2) as usize]
    }

    /// Extension word `e` of value `index`.
    pub(crate) fn extension(&self, index: u64, e: usize) -> u64 {
        if e >= EXTENSION_WORDS {
            return 0;
        }
        let level = (e / 2) as u64;
        self.cipher.block(Domain::Extension, level, self.number, self.start + index)[e % 2]
    }

    /// The words of the values `first .. first + n` with `n` at most [`FEW`], without a long buffer to make and wipe.
    pub(crate) fn few_words(&self, first: u64, n: usize) -> Zeroizing<[u64; FEW + 1]> {
        let first = self.start + first;
        let skip = (first % 2) as usize;
        let mut blocks = Zeroizing::new([[0; 2]; FEW / 2 + 1]);
        self.cipher
            .noise(self.number, first / 2, &mut blocks[..(skip + n).div_ceil(2)]);
        let mut words = Zeroizing::new([0; FEW + 1]);
        words.copy_from_slice(&blocks.as_flattened()[skip..=skip + FEW]);
        words
    }

    /// The pair of words `2·(start + index)` and the next: one block.
    pub(crate) fn pair(&self, index: u64) -> [u64; 2] {
        self.cipher.block(Domain::Noise, 0, self.number, self.start + index)
    }

    /// The pairs of `first`, `first + 1`, …
    pub(crate) fn pairs(&self, first: u64, out: &mut [[u64; 2]]) {
        self.cipher.noise(self.number, self.start + first, out);
    }

    /// The pairs of `indices`, as many as `out` takes.
    pub(crate) fn scattered_pairs(&self, indices: impl Iterator<Item = u64>, out: &mut [[u64; 2]]) {
        self.cipher
            .scattered_noise(self.number, indices.map(|index| self.start + index), out);
    }

    /// The words of the values `index(0)`, `index(1)`, …, as many as `out` takes.
    pub(crate) fn scattered_words(&self, index: impl Fn(usize) -> u64, out: &mut [u64]) {
        let mut blocks = Zeroizing::new([[0; 2]; 32]);
        for (begin, out) in (0..).step_by(blocks.len()).zip(out.chunks_mut(blocks.len())) {
            let index = |k| self.start + index(begin + k);
            let halves = (0..out.len()).map(|k| index(k) / 2);
            self.cipher.scattered_noise(self.number, halves, &mut blocks[..out.len()]);
            for (k, (word, block)) in out.iter_mut().zip(&*blocks).enumerate() {
                *word = block[(index(k) % 2) as usize];
            }
        }
    }

    /// Extension word `e` of word `lane` of a pair.
    pub(crate) fn pair_extension(&self, index: u64, lane: u64, e: usize) -> u64 {
        // The extension of word n is that of value n, and `extension` counts from `start`.
        self.extension(self.start + 2 * index + lane, e)
    }

    /// A buffer for its words.
    pub(crate) fn words(&self) -> Words<'_> {
        Words {
            fill: self,
            blocks: Lines([[0; 2]; CHUNK / 2 + 1]),
            used: 0,
        }
    }

    /// The words of the values `first`, `first + 1`, …, for tests and benchmarks of the stream.
    #[doc(hidden)]
    pub fn keystream(&self, first: u64, out: &mut [u64]) {
        let mut words = self.words();
        for (out, first) in out.chunks_mut(CHUNK).zip((first..).step_by(CHUNK)) {
            out.copy_from_slice(words.at(first, out.len()));
        }
    }
}

/// Up to [`CHUNK`] consecutive words of a fill at a time; wiped on drop, and with them what kernels that were called from the same function left of
/// them on the stack.
pub(crate) struct Words<'a> {
    fill: &'a Fill,
    blocks: Lines<[[u64; 2]; CHUNK / 2 + 1]>,
    /// The most blocks that were used at a time.
    used: usize,
}

impl Words<'_> {
    /// The words of the values `first .. first + n`, with `n` at most [`CHUNK`].
    pub fn at(&mut self, first: u64, n: usize) -> &[u64] {
        let first = self.fill.start + first;
        let skip = (first % 2) as usize;
        let blocks = &mut self.blocks.0[..(skip + n).div_ceil(2)];
        self.used = self.used.max(blocks.len());
        self.fill.cipher.noise(self.fill.number, first / 2, blocks);
        &blocks.as_flattened()[skip..skip + n]
    }
}

impl Drop for Words<'_> {
    fn drop(&mut self) {
        self.blocks.0[..self.used].as_flattened_mut().zeroize();
        // Fewer words go through no vectors.
        if 2 * self.used >= BLOCK {
            stack::wipe_kernels();
        }
    }
}
