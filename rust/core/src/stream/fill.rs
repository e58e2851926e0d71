use std::sync::Arc;

use zeroize::Zeroize;

use super::cipher::{Block, Cipher, Domain, input, tweak, words};

/// Words handed out at a time: 4 KiB of keystream stay in the first-level cache beside 4 KiB of output.
pub(crate) const CHUNK: usize = 512;

/// Extension words of one value; later ones are zero.
const EXTENSION_WORDS: usize = 1 << 13;

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

    /// A buffer for its words.
    pub(crate) fn words(&self) -> Words<'_> {
        Words {
            stream: self,
            blocks: [Block::default(); CHUNK / 2 + 1],
            lanes: [0; CHUNK + 2],
        }
    }
}

/// Up to [`CHUNK`] consecutive words of a fill at a time; wiped on drop.
pub(crate) struct Words<'a> {
    stream: &'a Fill,
    blocks: [Block; CHUNK / 2 + 1],
    lanes: [u64; CHUNK + 2],
}

impl Words<'_> {
    /// The words of the values `first .. first + n`, with `n` at most [`CHUNK`].
    pub fn at(&mut self, first: u64, n: usize) -> &[u64] {
        let first = self.stream.start + first;
        let skip = (first % 2) as usize;
        let blocks = &mut self.blocks[..(skip + n).div_ceil(2)];
        let tweak = tweak(Domain::Noise, 0, self.stream.number);
        for (i, block) in blocks.iter_mut().enumerate() {
            *block = input(tweak, (first / 2).wrapping_add(i as u64));
        }
        self.stream.cipher.encrypt(blocks);
        for (pair, block) in self.lanes.as_chunks_mut::<2>().0.iter_mut().zip(&*blocks) {
            *pair = words(block);
        }
        &self.lanes[skip..skip + n]
    }
}

impl Drop for Words<'_> {
    fn drop(&mut self) {
        self.lanes.zeroize();
        for block in &mut self.blocks {
            block.as_mut_slice().zeroize();
        }
    }
}
