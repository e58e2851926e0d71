//! Erasure of keys: after a fill, the memory of a generator with the operating system's key does not reveal that fill's key (contract, section 11).
//!
//! Fast key erasure (Bernstein 2017): a key makes its successor and the keys of the next fills, and is overwritten by them.
//!
//! A key of its own costs a fill 65 ns on Zen 3: one value takes 160 ns, and 95 ns from a generator of a given key.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::cipher::{Cipher, key_of};
use super::entropy;
use crate::error::DrawError;
use crate::wiped::wipe;

/// Keys made at a time, the successor among them: 32 blocks, two batches of a wide cipher.
const KEYS: usize = 16;

/// The key of a generator and those of its next fills; wiped on drop.
pub(super) struct FillKeys {
    /// Key `j` is the blocks 2j and 2j + 1; key 0 is the generator's, the others below `next` are zero. Behind a pointer: a move would leave a copy.
    blocks: Box<[[u64; 2]; 2 * KEYS]>,
    /// The key of the next fill; [`KEYS`] if there is none left.
    next: usize,
}

impl FillKeys {
    /// A key from the operating system.
    pub fn from_os() -> Result<Self, DrawError> {
        let mut key = Zeroizing::new([0; 32]);
        entropy::fill(key.as_mut())?;
        Ok(Self::new(&key))
    }

    fn new(key: &[u8; 32]) -> Self {
        let mut blocks = Box::new([[0; 2]; 2 * KEYS]);
        for (word, bytes) in blocks.as_flattened_mut().iter_mut().zip(key.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Self { blocks, next: KEYS }
    }

    /// The cipher of the next fill, whose key is then kept nowhere else.
    pub fn next(&mut self) -> Arc<Cipher> {
        if self.next == KEYS {
            self.renew();
        }
        let cipher = self.cipher(self.next);
        // Erased before the fill is used: nothing that happens to the fill can leave its key here.
        wipe(self.blocks[2 * self.next..][..2].as_flattened_mut());
        self.next += 1;
        cipher
    }

    fn renew(&mut self) {
        // Overwrites key 0, which made them, with its successor.
        self.cipher(0).fill_keys(&mut *self.blocks);
        self.next = 1;
    }

    fn cipher(&self, j: usize) -> Arc<Cipher> {
        Cipher::new(&key_of(self.blocks[2 * j..].as_flattened().iter().copied()))
    }
}

/// The same keys once more, for a view, copied from heap to heap.
impl Clone for FillKeys {
    fn clone(&self) -> Self {
        let mut blocks = Box::new([[0; 2]; 2 * KEYS]);
        blocks.copy_from_slice(&*self.blocks);
        Self { blocks, next: self.next }
    }
}

impl Drop for FillKeys {
    fn drop(&mut self) {
        wipe(self.blocks.as_flattened_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::super::cipher::{Domain, tweak};
    use super::super::fill::{Fill, LOG2_VALUES};
    use super::*;

    const KEY: [u8; 32] = [9; 32];

    fn words(cipher: Arc<Cipher>) -> [u64; 6] {
        let fill = Fill::new(cipher, 0, 0, LOG2_VALUES);
        core::array::from_fn(|i| fill.stage(0).word(i as u64))
    }

    /// Keys by the contract's text, one block at a time: those of the first `n` fills, and the generator's key after them.
    fn by_the_text(n: usize) -> (Vec<[u8; 32]>, [u8; 32]) {
        let (mut key, mut fills) = (KEY, Vec::new());
        while fills.len() < n {
            let cipher = Cipher::new(&key);
            let made = |j: u64| {
                let blocks = [2 * j, 2 * j + 1].map(|index| cipher.block(tweak(Domain::FillKeys, 0, 0), index));
                let bytes: Vec<u8> = blocks.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
                <[u8; 32]>::try_from(bytes).unwrap()
            };
            fills.extend((1..16).map(made));
            key = made(0);
        }
        fills.truncate(n);
        (fills, key)
    }

    /// Evidence: equality with the contract, section 11, over several renewals.
    #[test]
    fn keys_of_fills_are_those_of_the_contract() {
        let mut keys = FillKeys::new(&KEY);
        for expected in by_the_text(if cfg!(miri) { 17 } else { 50 }).0 {
            assert_eq!(words(keys.next()), words(Cipher::new(&expected)));
        }
    }

    /// Every key that the state holds or leads to, for as many renewals as there were before.
    fn reachable(keys: &FillKeys) -> Vec<[u64; 6]> {
        let mut reachable = Vec::new();
        let mut state = keys.clone();
        for _ in 0..4 {
            reachable.extend((0..KEYS).map(|j| words(state.cipher(j))));
            state.renew();
        }
        reachable
    }

    /// Evidence: after each of fifty fills, the state holds none of the keys taken so far and no key that made one. What it holds makes none of
    /// them.
    #[test]
    #[cfg_attr(miri, ignore = "slow: hundreds of keys")]
    fn the_state_after_a_fill_does_not_lead_to_its_words() {
        let mut keys = FillKeys::new(&KEY);
        let mut past = Vec::new();
        // Past three renewals.
        for n in 1..=50 {
            let maker = keys.next;
            let before = words(keys.cipher(0));
            past.push(words(keys.next()));
            if maker == KEYS {
                past.push(before);
            }
            let now = reachable(&keys);
            assert!(past.iter().all(|key| !now.contains(key)), "after fill {n}");
            let zero_below = &keys.blocks[2..2 * keys.next];
            assert!(zero_below.iter().all(|block| *block == [0; 2]), "used keys are wiped");
        }
        // The search can find what is there: the next fill's key.
        let now = reachable(&keys);
        assert!(now.contains(&words(keys.next())));
    }

    #[test]
    fn a_shared_state_goes_the_same_way() {
        let mut keys = FillKeys::new(&KEY);
        let expected = by_the_text(if cfg!(miri) { 20 } else { 60 }).0;
        // Past one renewal under Miri, past two elsewhere.
        let (most_taken, most_ahead) = if cfg!(miri) { (16, 3) } else { (40, 20) };
        for taken in 0..most_taken {
            if !cfg!(miri) || taken == 14 {
                let mut shared = keys.clone();
                for ahead in 0..most_ahead {
                    assert_eq!(words(shared.next()), words(Cipher::new(&expected[taken + ahead])));
                }
            }
            keys.next();
        }
    }
}
