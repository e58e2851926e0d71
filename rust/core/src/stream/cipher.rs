use aes::Aes256Enc;
use aes::cipher::{Array, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use zeroize::Zeroizing;

#[cfg(target_arch = "x86_64")]
use super::{vaes256::Vaes256, vaes512::Vaes512};
#[cfg(target_arch = "x86_64")]
use crate::kernel::Tier;

type Block = Array<u8, <Aes256Enc as BlockSizeUser>::BlockSize>;

/// What a block is for; the top four bits of its tweak, so that no two purposes ever share an input.
#[derive(Clone, Copy)]
pub(super) enum Domain {
    Noise = 0,
    Extension = 1,
    Spawn = 2,
}

/// AES-256 under one key. Expanded keys are wiped on drop, and nothing prints or copies them.
pub(super) struct Cipher {
    /// AES-NI, ARMv8 or constant-time software, as the `aes` crate finds at run time.
    aes: Aes256Enc,
    #[cfg(target_arch = "x86_64")]
    wide: Option<Wide>,
}

/// Several blocks per instruction, where the `aes` crate would encrypt one.
#[cfg(target_arch = "x86_64")]
#[allow(clippy::large_enum_variant, reason = "a generator has one, behind a pointer")]
enum Wide {
    Vaes512(Vaes512),
    Vaes256(Vaes256),
}

#[cfg(target_arch = "x86_64")]
impl Wide {
    /// As wide as the processor has it, and `STAIRNOISE_CPU` allows.
    fn new(key: &[u8; 32], tier: Tier) -> Option<Self> {
        let vaes512 = (tier == Tier::Avx512).then(|| Vaes512::new(key)).flatten();
        vaes512.map(Self::Vaes512).or_else(|| Vaes256::new(key).map(Self::Vaes256))
    }
}

impl Cipher {
    pub fn new(key: &[u8; 32]) -> Self {
        Self {
            aes: Aes256Enc::new(key.into()),
            #[cfg(target_arch = "x86_64")]
            wide: Wide::new(key, Tier::current()),
        }
    }

    /// Both words of one block.
    pub fn block(&self, domain: Domain, level: u64, fill: u64, index: u64) -> [u64; 2] {
        let mut block = input(tweak(domain, level, fill), index);
        self.aes.encrypt_block(&mut block);
        words(&block)
    }

    /// The words of the noise blocks `first`, `first + 1`, … of a fill.
    pub fn noise(&self, fill: u64, first: u64, out: &mut [[u64; 2]]) {
        let tweak = tweak(Domain::Noise, 0, fill);
        #[cfg(target_arch = "x86_64")]
        match &self.wide {
            Some(Wide::Vaes512(cipher)) => return cipher.encrypt_counters(tweak, first, out),
            Some(Wide::Vaes256(cipher)) => return cipher.encrypt_counters(tweak, first, out),
            None => {}
        }
        self.encrypt_counters(tweak, first, out);
    }

    /// The words of the noise blocks at `indices`, as many as `out` takes.
    pub fn scattered_noise(&self, fill: u64, indices: impl Iterator<Item = u64>, out: &mut [[u64; 2]]) {
        let tweak = tweak(Domain::Noise, 0, fill);
        let mut indices = indices.fuse();
        let mut blocks = Zeroizing::new([[0; 16]; 16]);
        for out in out.chunks_mut(blocks.len()) {
            let blocks = Array::cast_slice_from_core_mut(&mut blocks[..out.len()]);
            for (block, index) in blocks.iter_mut().zip(&mut indices) {
                *block = input(tweak, index);
            }
            self.aes.encrypt_blocks(blocks);
            for (pair, block) in out.iter_mut().zip(blocks) {
                *pair = words(block);
            }
        }
    }

    /// AES of (index, tweak) for consecutive indices: the portable twin of `encrypt_counters` in `vaes256` and `vaes512`.
    fn encrypt_counters(&self, tweak: u64, first: u64, out: &mut [[u64; 2]]) {
        let mut blocks = Zeroizing::new([[0; 16]; 32]);
        for (out, first) in out.chunks_mut(blocks.len()).zip((first..).step_by(blocks.len())) {
            let blocks = Array::cast_slice_from_core_mut(&mut blocks[..out.len()]);
            for (block, index) in blocks.iter_mut().zip(first..) {
                *block = input(tweak, index);
            }
            self.aes.encrypt_blocks(blocks);
            for (pair, block) in out.iter_mut().zip(blocks) {
                *pair = words(block);
            }
        }
    }

    /// The key of the child `child`.
    pub fn child_key(&self, child: u64) -> Zeroizing<[u8; 32]> {
        let mut key = Zeroizing::new([0; 32]);
        for (half, bytes) in key.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let mut block = input(tweak(Domain::Spawn, 0, 0), 2 * child + half as u64);
            self.aes.encrypt_block(&mut block);
            bytes.copy_from_slice(&block);
        }
        key
    }
}

fn tweak(domain: Domain, level: u64, fill: u64) -> u64 {
    debug_assert!(fill < 1 << 48 && level < 1 << 12);
    fill | level << 48 | (domain as u64) << 60
}

fn input(tweak: u64, index: u64) -> Block {
    (u128::from(tweak) << 64 | u128::from(index)).to_le_bytes().into()
}

fn words(block: &Block) -> [u64; 2] {
    let number = u128::from_le_bytes((*block).into());
    [number as u64, (number >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence: FIPS-197, appendix C.3, through the door that the key and the block come in by.
    #[test]
    fn known_answer() {
        let key = core::array::from_fn(|i| i as u8);
        let mut block: Block = core::array::from_fn(|i| (i * 0x11) as u8).into();
        let cipher = Cipher::new(&key);
        cipher.aes.encrypt_block(&mut block);
        assert_eq!(u128::from_be_bytes(block.into()), 0x8ea2_b7ca_5167_45bf_eafc_4990_4b49_6089);
    }

    /// Evidence: equality of the implementations at every length around a batch, and at both ends of the counter.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn wide_ones_agree_with_the_aes_crate() {
        let key = core::array::from_fn(|i| (7 * i + 1) as u8);
        let cipher = Cipher::new(&key);
        let vaes256 = Vaes256::new(&key);
        let vaes512 = Vaes512::new(&key);
        for (name, here) in [("VAES-256", vaes256.is_some()), ("VAES-512", vaes512.is_some())] {
            if !here {
                eprintln!("skipped: no {name} here");
            }
        }
        for first in [0, 1, 31, u64::from(u32::MAX) - 3, 1 << 62] {
            for n in (0..72).chain([95, 96, 97, 257]) {
                let mut plain = vec![[0; 2]; n];
                cipher.encrypt_counters(1 << 60 | 5, first, &mut plain);
                let mut wide = vec![[0; 2]; n];
                if let Some(vaes256) = &vaes256 {
                    vaes256.encrypt_counters(1 << 60 | 5, first, &mut wide);
                    assert_eq!(wide, plain, "VAES-256: {n} blocks from {first}");
                }
                wide.fill([0; 2]);
                if let Some(vaes512) = &vaes512 {
                    vaes512.encrypt_counters(1 << 60 | 5, first, &mut wide);
                    assert_eq!(wide, plain, "VAES-512: {n} blocks from {first}");
                }
            }
        }
    }

    /// Each tier chooses the widest that it may: on a processor with all, AVX-512 the widest, the others the next.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn no_tier_below_avx512_uses_512_bits() {
        let key = [1; 32];
        for tier in [Tier::Portable, Tier::Avx2] {
            assert_eq!(
                matches!(Wide::new(&key, tier), Some(Wide::Vaes256(_))),
                Vaes256::new(&key).is_some()
            );
            assert!(!matches!(Wide::new(&key, tier), Some(Wide::Vaes512(_))));
        }
        let widest = Wide::new(&key, Tier::Avx512);
        assert_eq!(matches!(widest, Some(Wide::Vaes512(_))), Vaes512::new(&key).is_some());
        assert_eq!(widest.is_some(), Vaes256::new(&key).is_some());
    }
}
