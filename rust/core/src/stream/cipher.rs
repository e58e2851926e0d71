//! The block function: AES-256 of a counter, in the widest instructions that the processor has.

use std::sync::Arc;

use aes::Aes256Enc;
use aes::cipher::{Array, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use zeroize::Zeroizing;

use super::vaes::{Wide, WideCipher};
use crate::kernel::Tier;
use crate::stack::{self, KERNELS};

type Block = Array<u8, <Aes256Enc as BlockSizeUser>::BlockSize>;

/// What a block is for; the top four bits of its tweak, so that no two purposes ever share an input.
#[derive(Clone, Copy)]
pub(crate) enum Domain {
    Noise = 0,
    Extension = 1,
    Spawn = 2,
    FillKeys = 3,
    BitGenerator = 4,
}

/// AES-256 under one key. Expanded keys are wiped on drop, and nothing prints, copies or moves them.
#[allow(clippy::large_enum_variant, reason = "always behind a pointer")]
pub(crate) enum Cipher {
    /// ARMv8 or constant-time software, as the `aes` crate finds at run time.
    Aes(Aes256Enc),
    /// AES-NI or VAES.
    Wide(WideCipher),
}

impl Cipher {
    /// As wide as the processor has it, and `STAIRNOISE_CPU` allows.
    pub fn new(key: &[u8; 32]) -> Arc<Self> {
        Wide::of(Tier::current()).map_or_else(|| Self::portable(key), |wide| Self::wide(wide, key))
    }

    /// Calls `work` with the cipher of a key that serves this once. The cipher lies on the stack: nothing is allocated, so that nothing can fail.
    pub fn once(key: &[u8; 32], work: impl FnOnce(&Self)) {
        let Some(wide) = Wide::of(Tier::current()) else {
            // The key is expanded on the stack and moved from there.
            return stack::erasing::<KERNELS, _>(|| work(&Self::Aes(Aes256Enc::new(key.into()))));
        };
        let mut cipher = Self::Wide(WideCipher::without_key(wide));
        if let Self::Wide(cipher) = &mut cipher {
            cipher.set_key(key);
        }
        work(&cipher);
    }

    fn wide(wide: Wide, key: &[u8; 32]) -> Arc<Self> {
        let mut cipher = Arc::new(Self::Wide(WideCipher::without_key(wide)));
        // Expanded where it stays: a move would leave a copy.
        if let Some(Self::Wide(cipher)) = Arc::get_mut(&mut cipher) {
            cipher.set_key(key);
        }
        cipher
    }

    fn portable(key: &[u8; 32]) -> Arc<Self> {
        stack::erasing::<KERNELS, _>(|| Arc::new(Self::Aes(Aes256Enc::new(key.into()))))
    }

    /// Both words of one block.
    pub fn block(&self, tweak: u64, index: u64) -> [u64; 2] {
        let mut block = [[0; 2]];
        self.encrypt_counters(tweak, index, &mut block);
        block[0]
    }

    /// The words of the noise blocks `first`, `first + 1`, … of a fill.
    pub fn noise(&self, fill: u64, first: u64, out: &mut [[u64; 2]]) {
        self.encrypt_counters(tweak(Domain::Noise, 0, fill), first, out);
    }

    /// The words of the noise blocks `first`, `first + 1`, … for every row of `length` blocks; `firsts` has one for each.
    pub fn noise_rows(&self, fill: u64, firsts: impl Iterator<Item = u64>, length: usize, out: &mut [[u64; 2]]) {
        let tweak = tweak(Domain::Noise, 0, fill);
        match self {
            // One call, which wipes what it leaves: by rows of 64 blocks that would take a quarter longer.
            Self::Aes(_) => {
                let indices = firsts.flat_map(|first| successors(first).take(length));
                self.encrypt_inputs(indices.map(|index| [index, tweak]), out);
            }
            Self::Wide(cipher) => {
                for (first, row) in firsts.zip(out.chunks_mut(length)) {
                    cipher.encrypt_counters(tweak, first, row);
                }
            }
        }
    }

    /// The keys that this one makes: two blocks each.
    pub fn fill_keys(&self, out: &mut [[u64; 2]]) {
        self.encrypt_counters(tweak(Domain::FillKeys, 0, 0), 0, out);
    }

    /// The blocks `first`, `first + 1`, … of a bit generator, of one of its purposes.
    pub fn bit_generator(&self, level: u64, number: u64, first: u64, out: &mut [[u64; 2]]) {
        self.encrypt_counters(tweak(Domain::BitGenerator, level, number), first, out);
    }

    /// The key of the child `child`.
    pub fn child_key(&self, child: u64) -> Zeroizing<[u8; 32]> {
        let mut blocks = Zeroizing::new([[0; 2]; 2]);
        self.encrypt_counters(tweak(Domain::Spawn, 0, 0), 2 * child, &mut *blocks);
        key_of(blocks.as_flattened().iter().copied())
    }

    /// AES of (index, tweak) for consecutive indices.
    pub fn encrypt_counters(&self, tweak: u64, first: u64, out: &mut [[u64; 2]]) {
        match self {
            Self::Wide(cipher) => cipher.encrypt_counters(tweak, first, out),
            Self::Aes(_) => self.encrypt_inputs(successors(first).map(|index| [index, tweak]), out),
        }
    }

    /// AES of the blocks `inputs`, one for each place of `out`.
    pub fn encrypt_inputs(&self, inputs: impl Iterator<Item = [u64; 2]>, out: &mut [[u64; 2]]) {
        for (place, input) in out.iter_mut().zip(inputs) {
            *place = input;
        }
        self.encrypt_in_place(out);
    }

    /// AES of blocks, each written over its input.
    pub fn encrypt_in_place(&self, blocks: &mut [[u64; 2]]) {
        match self {
            Self::Wide(cipher) => cipher.encrypt_in_place(blocks),
            Self::Aes(cipher) => encrypt(cipher, blocks),
        }
    }
}

/// The key that the first four words make.
pub(super) fn key_of(words: impl Iterator<Item = u64>) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0; 32]);
    for (bytes, word) in key.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    key
}

/// `first`, `first + 1`, …; after the last number comes 0.
fn successors(first: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |i| first.wrapping_add(i))
}

/// The portable twin of `encrypt_in_place` in `vaes`.
fn encrypt(aes: &Aes256Enc, pairs: &mut [[u64; 2]]) {
    let mut blocks = Zeroizing::new([[0; 16]; 32]);
    for pairs in pairs.chunks_mut(blocks.len()) {
        let blocks = Array::cast_slice_from_core_mut(&mut blocks[..pairs.len()]);
        for (block, [low, high]) in blocks.iter_mut().zip(&*pairs) {
            *block = (u128::from(*high) << 64 | u128::from(*low)).to_le_bytes().into();
        }
        encrypt_in_place(aes, blocks);
        for (pair, block) in pairs.iter_mut().zip(blocks) {
            *pair = words(block);
        }
    }
    stack::wipe::<{ 4 << 10 }>();
}

/// Round keys that find no room in registers are left on the stack: never inlined, so that they lie below the caller's frame, where it wipes.
///
/// Where the `aes` crate is the cipher, the search of memory (`tests/generators/test_keys_in_memory.py`) finds keys where less is wiped than here.
#[inline(never)]
fn encrypt_in_place(aes: &Aes256Enc, blocks: &mut [Block]) {
    aes.encrypt_blocks(blocks);
}

pub(super) fn tweak(domain: Domain, level: u64, fill: u64) -> u64 {
    debug_assert!(fill < 1 << 48 && level < 1 << 12);
    fill | level << 48 | (domain as u64) << 60
}

fn words(block: &Block) -> [u64; 2] {
    let number = u128::from_le_bytes((*block).into());
    [number as u64, (number >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::golden::{is_packaged, vectors};

    /// Every implementation that this processor has.
    fn all(key: &[u8; 32]) -> Vec<(String, Arc<Cipher>)> {
        let wide = Wide::all().map(|wide| (format!("{wide:?}"), Cipher::wide(wide, key)));
        std::iter::once(("aes crate".into(), Cipher::portable(key)))
            .chain(wide)
            .collect()
    }

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().as_chunks::<2>().0;
        let byte = |pair: &[u8; 2]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.iter().map(byte).collect()
    }

    fn hex(bytes: impl Iterator<Item = u8>) -> String {
        bytes.fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    }

    /// Encrypts plain blocks as (index, tweak), at every place of two batches: the first index is that much lower.
    fn encrypts(key: &str, plain: &str, expected: &str) {
        let key: [u8; 32] = bytes(key).try_into().unwrap();
        let (plain, expected) = (bytes(plain), bytes(expected));
        assert_eq!(plain.len(), expected.len());
        for (name, cipher) in all(&key) {
            for (plain, expected) in plain.as_chunks::<8>().0.chunks(2).zip(expected.as_chunks::<16>().0) {
                let [index, tweak] = [0, 1].map(|half| u64::from_le_bytes(plain[half]));
                for place in (0..64).step_by(if cfg!(miri) { 21 } else { 1 }) {
                    let mut out = vec![[0; 2]; place + 1];
                    cipher.encrypt_counters(tweak, index.wrapping_sub(place as u64), &mut out);
                    assert_eq!(
                        (u128::from(out[place][1]) << 64 | u128::from(out[place][0])).to_le_bytes(),
                        *expected,
                        "{name}, place {place}"
                    );
                }
            }
        }
    }

    /// Evidence: FIPS-197, appendix C.3.
    #[test]
    fn fips_197() {
        encrypts(
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            "00112233445566778899aabbccddeeff",
            "8ea2b7ca516745bfeafc49904b496089",
        );
    }

    const SP_800_38A_KEY: &str = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";
    const SP_800_38A_PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                                    30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

    /// Evidence: NIST SP 800-38A, F.1.5.
    #[test]
    fn sp_800_38a_ecb() {
        encrypts(
            SP_800_38A_KEY,
            SP_800_38A_PLAIN,
            "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870\
             b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
        );
    }

    /// Evidence: NIST SP 800-38A, F.5.5 and, since counter mode is its own inverse, F.5.6. Its counter is 16 big-endian bytes, where this
    /// one's are 8 little-endian ones: the blocks are encrypted one by one.
    #[test]
    fn sp_800_38a_ctr() {
        let counter = 0xf0f1_f2f3_f4f5_f6f7_f8f9_fafb_fcfd_feff_u128;
        let counters = hex((0..4).flat_map(|i| (counter + i).to_be_bytes()));
        let cipher = bytes(
            "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5\
             2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
        );
        let keystream = hex(cipher
            .iter()
            .zip(bytes(SP_800_38A_PLAIN))
            .map(|(cipher, plain)| cipher ^ plain));
        encrypts(SP_800_38A_KEY, &counters, &keystream);
    }

    /// Evidence: equality with the `cryptography` package (OpenSSL), by which the golden vectors were made, on every implementation.
    #[test]
    fn golden_vectors() {
        if is_packaged() && vectors("stream.json").is_empty() {
            return;
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/stream.json");
        let entries: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        assert!(entries.len() > 10);
        for entry in entries.iter().step_by(if cfg!(miri) { 5 } else { 1 }) {
            let key: [u8; 32] = bytes(entry["key"].as_str().unwrap()).try_into().unwrap();
            for (name, cipher) in all(&key) {
                for case in entry["words"].as_array().unwrap() {
                    let [fill, index] = [0, 1].map(|i| case[i].as_u64().unwrap());
                    let word = cipher.block(tweak(Domain::Noise, 0, fill), index / 2)[(index % 2) as usize];
                    assert_eq!(format!("{word:016x}"), case[2].as_str().unwrap(), "{name}, {case}");
                }
                for case in entry["children"].as_array().unwrap() {
                    let key = cipher.child_key(case[0].as_u64().unwrap());
                    assert_eq!(*key, *bytes(case[1].as_str().unwrap()), "{name}, {case}");
                }
            }
        }
    }

    /// Evidence: equality of the implementations at every length around a batch, and at both ends of the counter.
    #[test]
    #[cfg_attr(miri, ignore = "Miri has one implementation")]
    fn all_agree() {
        let key = core::array::from_fn(|i| (7 * i + 1) as u8);
        let all = all(&key);
        for first in [0, 1, 31, u64::from(u32::MAX) - 3, 1 << 62, u64::MAX - 40] {
            for n in (0..72).chain([95, 96, 97, 257]) {
                let [plain, others @ ..] = &*all else { unreachable!() };
                let mut expected = vec![[0; 2]; n];
                plain.1.encrypt_counters(1 << 60 | 5, first, &mut expected);
                for (name, cipher) in others {
                    let mut out = vec![[0; 2]; n];
                    cipher.encrypt_counters(1 << 60 | 5, first, &mut out);
                    assert_eq!(out, expected, "{name}: {n} blocks from {first}");
                    let indices: Vec<u64> = successors(first).take(n).collect();
                    out.fill([0; 2]);
                    cipher.encrypt_inputs(indices.iter().map(|index| [*index, 1 << 60 | 5]), &mut out);
                    assert_eq!(out, expected, "{name}: {n} blocks from {first}, by their inputs");
                }
            }
        }
    }

    /// Evidence: the blocks one by one, for rows of lengths around a batch.
    #[test]
    fn blocks_of_rows() {
        let key = core::array::from_fn(|i| (5 * i + 3) as u8);
        for (name, cipher) in all(&key) {
            for length in [1, 15, 16, 33, 64] {
                let first = |row: usize| 1000 * row as u64 + 7;
                let mut out = vec![[0; 2]; 3 * length];
                cipher.noise_rows(9, (0..3).map(first), length, &mut out);
                for (i, pair) in out.iter().enumerate() {
                    let index = first(i / length) + (i % length) as u64;
                    assert_eq!(
                        *pair,
                        cipher.block(tweak(Domain::Noise, 0, 9), index),
                        "{name}: {i} of rows of {length}"
                    );
                }
            }
        }
    }

    /// Evidence: the blocks one by one, at indices in no order, for every length around a batch.
    #[test]
    fn scattered_blocks() {
        let key = core::array::from_fn(|i| (5 * i + 3) as u8);
        for (name, cipher) in all(&key) {
            for n in (0..40).chain([63, 64, 65, 200]).step_by(if cfg!(miri) { 13 } else { 1 }) {
                let index = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8;
                let mut out = vec![[0; 2]; n];
                cipher.encrypt_inputs((0..n).map(|i| [index(i), tweak(Domain::Noise, 0, 9)]), &mut out);
                for (i, pair) in out.iter().enumerate() {
                    assert_eq!(
                        *pair,
                        cipher.block(tweak(Domain::Noise, 0, 9), index(i)),
                        "{name}: {i} of {n}"
                    );
                }
            }
        }
    }

    /// Each tier chooses the widest that it may: on a processor with all, AVX-512 the widest, AVX2 the next, and the portable one the last.
    #[test]
    fn every_tier_has_its_own_width() {
        let all: Vec<Wide> = Wide::all().collect();
        for (i, tier) in Tier::ALL.into_iter().enumerate() {
            assert_eq!(Wide::of(tier), all.get(i).or(all.last()).copied());
        }
    }
}
