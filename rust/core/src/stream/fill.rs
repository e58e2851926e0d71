use std::sync::Arc;

use zeroize::{Zeroize, Zeroizing};

use super::cipher::{Cipher, Domain};

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

    /// A buffer for its words.
    pub(crate) fn words(&self) -> Words<'_> {
        Words {
            fill: self,
            blocks: [[0; 2]; CHUNK / 2 + 1],
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

/// Up to [`CHUNK`] consecutive words of a fill at a time; wiped on drop.
pub(crate) struct Words<'a> {
    fill: &'a Fill,
    blocks: [[u64; 2]; CHUNK / 2 + 1],
}

impl Words<'_> {
    /// The words of the values `first .. first + n`, with `n` at most [`CHUNK`].
    pub fn at(&mut self, first: u64, n: usize) -> &[u64] {
        let first = self.fill.start + first;
        let skip = (first % 2) as usize;
        let blocks = &mut self.blocks[..(skip + n).div_ceil(2)];
        self.fill.cipher.noise(self.fill.number, first / 2, blocks);
        &blocks.as_flattened()[skip..skip + n]
    }
}

impl Drop for Words<'_> {
    fn drop(&mut self) {
        self.blocks.zeroize();
    }
}
