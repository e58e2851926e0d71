use aes::Aes256Enc;
use aes::cipher::{Array, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use zeroize::Zeroizing;

pub(super) type Block = Array<u8, <Aes256Enc as BlockSizeUser>::BlockSize>;

/// What a block is for; the top four bits of its tweak, so that no two purposes ever share an input.
#[derive(Clone, Copy)]
pub(super) enum Domain {
    Noise = 0,
    Extension = 1,
    Spawn = 2,
}

/// AES-256 under one key. The expanded key is wiped on drop, and nothing prints or copies it.
pub(super) struct Cipher(Aes256Enc);

impl Cipher {
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Aes256Enc::new(key.into()))
    }

    /// Encrypts in place; the `aes` crate picks VAES-512, VAES-256, AES-NI, ARMv8 or constant-time software at run time.
    pub fn encrypt(&self, blocks: &mut [Block]) {
        self.0.encrypt_blocks(blocks);
    }

    pub fn block(&self, domain: Domain, level: u64, fill: u64, index: u64) -> [u64; 2] {
        let mut block = input(tweak(domain, level, fill), index);
        self.0.encrypt_block(&mut block);
        words(&block)
    }

    /// The key of the child `child`.
    pub fn child_key(&self, child: u64) -> Zeroizing<[u8; 32]> {
        let mut key = Zeroizing::new([0; 32]);
        for (half, bytes) in key.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let mut block = input(tweak(Domain::Spawn, 0, 0), 2 * child + half as u64);
            self.0.encrypt_block(&mut block);
            bytes.copy_from_slice(&block);
        }
        key
    }
}

pub(super) fn tweak(domain: Domain, level: u64, fill: u64) -> u64 {
    debug_assert!(fill < 1 << 48 && level < 1 << 12);
    fill | level << 48 | (domain as u64) << 60
}

pub(super) fn input(tweak: u64, index: u64) -> Block {
    (u128::from(tweak) << 64 | u128::from(index)).to_le_bytes().into()
}

pub(super) fn words(block: &Block) -> [u64; 2] {
    let number = u128::from_le_bytes((*block).into());
    [number as u64, (number >> 64) as u64]
}
