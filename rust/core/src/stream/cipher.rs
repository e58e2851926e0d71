use aes::Aes256Enc;
use aes::cipher::{Array, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use zeroize::Zeroizing;

#[cfg(target_arch = "x86_64")]
use super::vaes256::Vaes256;

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
    /// VAES-512, AES-NI, ARMv8 or constant-time software, as the `aes` crate finds at run time.
    aes: Aes256Enc,
    /// Processors with VAES but without AVX-512, where the `aes` crate would encrypt one block per instruction.
    #[cfg(target_arch = "x86_64")]
    vaes256: Option<Vaes256>,
}

impl Cipher {
    pub fn new(key: &[u8; 32]) -> Self {
        Self {
            aes: Aes256Enc::new(key.into()),
            #[cfg(target_arch = "x86_64")]
            vaes256: if is_x86_feature_detected!("avx512f") {
                None
            } else {
                Vaes256::new(key)
            },
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
        if let Some(vaes256) = &self.vaes256 {
            return vaes256.encrypt_counters(tweak, first, out);
        }
        self.encrypt_counters(tweak, first, out);
    }

    /// AES of (index, tweak) for consecutive indices: the portable twin of [`Vaes256::encrypt_counters`].
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

    /// Evidence: equality of the two implementations at every length around a batch, and at both ends of the counter.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn vaes256_agrees_with_the_aes_crate() {
        let key = core::array::from_fn(|i| (7 * i + 1) as u8);
        let cipher = Cipher::new(&key);
        let Some(vaes256) = Vaes256::new(&key) else {
            eprintln!("skipped: no VAES here");
            return;
        };
        for first in [0, 1, 31, u64::from(u32::MAX) - 3, 1 << 62] {
            for n in (0..40).chain([63, 64, 65, 257]) {
                let (mut fast, mut plain) = (vec![[0; 2]; n], vec![[0; 2]; n]);
                vaes256.encrypt_counters(1 << 60 | 5, first, &mut fast);
                cipher.encrypt_counters(1 << 60 | 5, first, &mut plain);
                assert_eq!(fast, plain, "{n} blocks from {first}");
            }
        }
    }
}
