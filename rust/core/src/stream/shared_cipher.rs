//! The block function for callers that may call it at once: the key and what is written are atomic numbers.
//!
//! It writes words in pieces so small that the processor encrypts one while it runs what the caller does next.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use zeroize::{Zeroizing, optimization_barrier};

use super::cipher::{Cipher, key_of};
use super::pieces::{PIECE, PIECES, Piece, RoundKeys};
use super::vaes::Wide;
use crate::cache_lines::CacheLines;
use crate::wiped::wipe;

/// AES-256 under a key that is set again and again; wiped on drop.
pub(super) struct SharedCipher {
    round_keys: RoundKeys,
    wide: Option<Wide>,
}

impl SharedCipher {
    /// A place for a key, where it will be used: a move would leave a copy.
    pub fn without_key(wide: Option<Wide>) -> Self {
        Self {
            round_keys: [const { [const { AtomicU64::new(0) }; 2] }; 15],
            wide,
        }
    }

    pub fn key(&self) -> Zeroizing<[u8; 32]> {
        key_of(self.numbers().map(|word| word.load(Relaxed)))
    }

    /// Sets the key. Traces of it stay on the stack, for the caller to wipe.
    pub fn set_key(&self, key: &[u8; 32]) {
        if let Some(wide) = self.wide {
            return wide.expand(key, &self.round_keys);
        }
        for (word, bytes) in self.numbers().zip(key.as_chunks::<8>().0) {
            word.store(u64::from_le_bytes(*bytes), Relaxed);
        }
    }

    /// Writes pieces of a buffer, which come with their numbers.
    pub fn encrypt<'a>(&self, tweak: u64, pieces: impl Iterator<Item = (usize, &'a Piece)>) {
        if self.wide.is_some() {
            for (n, piece) in pieces {
                self.encrypt_quickly(tweak, n, piece);
            }
            return;
        }
        Cipher::once(&self.key(), |cipher| {
            let mut blocks = CacheLines([[[0; 2]; PIECE / 2]; PIECES]);
            cipher.encrypt_counters(tweak, 0, blocks.0.as_flattened_mut());
            for (n, piece) in pieces {
                for (number, place) in blocks.0[n].as_flattened().iter().zip(piece) {
                    place.store(*number, Relaxed);
                }
            }
            wipe(blocks.0.as_flattened_mut().as_flattened_mut());
        });
    }

    /// Writes one piece, if that takes no longer than among others; otherwise returns false. No word is left in registers or on the stack.
    #[inline]
    pub fn encrypt_quickly(&self, tweak: u64, n: usize, piece: &Piece) -> bool {
        let Some(wide) = self.wide else {
            return false;
        };
        wide.encrypt(&self.round_keys, tweak, (n * PIECE / 2) as u64, piece);
        true
    }

    pub fn numbers(&self) -> impl Iterator<Item = &AtomicU64> {
        self.round_keys.as_flattened().iter()
    }
}

impl Drop for SharedCipher {
    fn drop(&mut self) {
        self.numbers().for_each(|number| number.store(0, Relaxed));
        optimization_barrier(&self.round_keys);
    }
}

#[cfg(test)]
mod tests {
    use super::super::cipher::{Domain, tweak};
    use super::*;

    const KEY: [u8; 32] = [7; 32];

    fn all() -> impl Iterator<Item = SharedCipher> {
        let wide = Wide::all().map(Some);
        wide.chain([None]).map(SharedCipher::without_key)
    }

    /// Evidence: equality with the blocks one by one.
    #[test]
    fn pieces_are_the_blocks_of_their_numbers() {
        let blocks = Cipher::new(&KEY);
        for cipher in all() {
            cipher.set_key(&KEY);
            let pieces: [Piece; 5] = [const { [const { AtomicU64::new(0) }; PIECE] }; 5];
            cipher.encrypt(tweak(Domain::BitGenerator, 1, 3), pieces.iter().enumerate().skip(1));
            for (n, word) in pieces.as_flattened().iter().enumerate() {
                let expected = blocks.block(tweak(Domain::BitGenerator, 1, 3), n as u64 / 2)[n % 2];
                assert_eq!(word.load(Relaxed), if n < PIECE { 0 } else { expected }, "{n}");
            }
        }
    }

    #[test]
    fn a_key_takes_the_place_of_another() {
        for cipher in all() {
            cipher.set_key(&[5; 32]);
            let held: Vec<u64> = cipher
                .numbers()
                .map(|number| number.load(Relaxed))
                .filter(|n| *n != 0)
                .collect();
            assert_eq!(held.len(), if cipher.wide.is_some() { 30 } else { 4 });
            cipher.set_key(&KEY);
            assert_eq!(*cipher.key(), KEY);
            assert!(cipher.numbers().all(|number| !held.contains(&number.load(Relaxed))));
        }
    }
}
