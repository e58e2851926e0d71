//! Words one after another, for generators of other libraries, such as NumPy's (contract, section 17).
//!
//! Words are made a buffer at a time. The key that makes a buffer makes its own successor too and is overwritten by it, and a word is erased
//! as it is taken: memory that is read later does not tell the words taken before. A forked child starts with an empty buffer and a key of
//! its own.
//!
//! A draw cannot report an error, so that nothing here can fail once a generator is made: no memory is asked for, nothing is locked, and a
//! forked child gets its key whether or not the operating system has entropy. All of the state is atomic numbers. Draws of several threads at
//! once, which the callers' lock is to prevent, may therefore repeat a word and can do no other harm.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex, PoisonError};

use zeroize::{Zeroizing, optimization_barrier};

use super::cipher::Cipher;
use super::entropy;
use super::pages::Pages;
use super::process::{found_family, number_in_family, process_mark};
use crate::error::DrawError;
use crate::lines::Lines;
use crate::memory;
use crate::stack;
use crate::wiped::wipe;

type Key = [u8; 32];

/// Blocks of a buffer, the two of the next key among them.
const BLOCKS: usize = 256;

/// Blocks that are made at once: a multiple of what every cipher makes.
const BATCH: usize = 32;

/// Words of a buffer.
const WORDS: usize = 2 * BLOCKS - KEY_WORDS;

const KEY_WORDS: usize = 4;

/// Numbers before the words of a buffer: the place, the half and the mark. With the fourth, a buffer is one page of 4 KiB.
const HEAD: usize = 4;

/// What blocks of [`Domain::BitGenerator`](super::cipher::Domain) are for; the level of their tweak.
const BUFFERS: u64 = 0;
const TWO_KEYS: u64 = 1;
const FORKED: u64 = 2;

/// An endless sequence of words under a key that is erased as it is used.
///
/// Like [`Generator`](crate::Generator), it has no `Clone`, no serialisation and no `Debug`: a copy would repeat its words.
pub struct BitGenerator {
    /// Place, half, mark, nothing, and the words of a buffer.
    ///
    /// The place counts up to 0 from `WORDS` below it. Zeros, which a forked child finds where the kernel wipes pages, are therefore an empty
    /// buffer. The half is 2³² plus the upper half of a word whose lower half was taken, or 0. The mark is 1 where `key` is this process's own.
    buffer: Pages<{ HEAD + WORDS }>,
    /// Makes the next buffer.
    key: [AtomicU64; KEY_WORDS],
    forks: Forks,
    /// Where the key was given: the key of the next child and of those after it.
    children: Option<Mutex<Zeroizing<Key>>>,
}

/// What tells a forked child that it is one.
enum Forks {
    /// Nothing: the key was given, and a forked child draws what its parent draws.
    Unseen,
    /// The zeros in its buffer.
    Wiped,
    /// A mark other than this one, for which every draw has to ask.
    Asked(AtomicU64),
}

impl BitGenerator {
    /// A key from the operating system. In a forked child the generator takes a new key before its first draw.
    ///
    /// # Errors
    /// [`DrawError::Entropy`] if the operating system gives no entropy; [`DrawError::OutOfMemory`].
    pub fn from_os() -> Result<Arc<Self>, DrawError> {
        match Pages::wiped() {
            Some(buffer) => Self::fresh(buffer, Forks::Wiped),
            None => Self::asking(),
        }
    }

    /// [`BitGenerator::from_os`] where the kernel wipes no pages.
    fn asking() -> Result<Arc<Self>, DrawError> {
        Self::fresh(Pages::copied()?, Forks::Asked(AtomicU64::new(process_mark())))
    }

    fn fresh(buffer: Pages<{ HEAD + WORDS }>, forks: Forks) -> Result<Arc<Self>, DrawError> {
        let made = Self::fresh_on_the_stack(buffer, forks);
        stack::wipe_kernels();
        made
    }

    // Functions that hold a key in their frame are never inlined, and the stack below their callers' is wiped: the compiler copies what it has no
    // register for.

    #[inline(never)]
    fn fresh_on_the_stack(buffer: Pages<{ HEAD + WORDS }>, forks: Forks) -> Result<Arc<Self>, DrawError> {
        found_family()?;
        memory::has_room()?;
        let mut key = Zeroizing::new([0; 32]);
        entropy::fill(key.as_mut())?;
        Ok(Self::new(buffer, forks, &key, None))
    }

    /// A key of the caller's: equal keys give equal words, in every process, forked children included.
    ///
    /// # Errors
    /// [`DrawError::OutOfMemory`].
    pub fn from_key(key: &[u8; 32]) -> Result<Arc<Self>, DrawError> {
        let made = Self::from_key_on_the_stack(key);
        stack::wipe_kernels();
        made
    }

    #[inline(never)]
    fn from_key_on_the_stack(key: &[u8; 32]) -> Result<Arc<Self>, DrawError> {
        let buffer = Pages::copied()?;
        memory::has_room()?;
        let [words, children] = two_keys(key);
        Ok(Self::new(buffer, Forks::Unseen, &words, Some(Mutex::new(children))))
    }

    /// The key is set where it stays: a move would leave a copy.
    fn new(buffer: Pages<{ HEAD + WORDS }>, forks: Forks, key: &Key, children: Option<Mutex<Zeroizing<Key>>>) -> Arc<Self> {
        let generator = Arc::new(Self {
            buffer,
            key: [const { AtomicU64::new(0) }; KEY_WORDS],
            forks,
            children,
        });
        generator.set_key(key);
        generator
    }

    /// An independent generator. Its key is from the operating system if this one's is. Otherwise it is derived from this one's key and the
    /// count of its children.
    ///
    /// # Errors
    /// As of [`BitGenerator::from_os`]. Then no child is counted.
    pub fn spawn(&self) -> Result<Arc<Self>, DrawError> {
        let Some(children) = &self.children else {
            return Self::from_os();
        };
        let child = Self::child_on_the_stack(children);
        stack::wipe_kernels();
        child
    }

    #[inline(never)]
    fn child_on_the_stack(children: &Mutex<Zeroizing<Key>>) -> Result<Arc<Self>, DrawError> {
        let mut key = children.lock().unwrap_or_else(PoisonError::into_inner);
        let [child, next] = two_keys(&key);
        let child = Self::from_key(&child)?;
        key.copy_from_slice(&*next);
        Ok(child)
    }

    /// Whether the key was given, so that somebody can draw the same words again.
    pub fn is_given(&self) -> bool {
        self.children.is_some()
    }

    /// The next word.
    #[inline]
    pub fn next_word(&self) -> u64 {
        self.take().unwrap_or_else(|| self.word_slowly())
    }

    /// The lower half of the next word, or the upper half of the word whose lower half was the last that this gave.
    #[inline]
    pub fn next_half(&self) -> u32 {
        let [_, half, ..] = &*self.buffer;
        let kept = half.load(Relaxed);
        if kept != 0 && !self.asks() {
            half.store(0, Relaxed);
            return kept as u32;
        }
        match self.take() {
            Some(word) => self.halve(word),
            None => self.half_slowly(),
        }
    }

    /// The upper 53 bits of the next word, as a number from 0 to 1 − 2⁻⁵³.
    #[inline]
    pub fn next_double(&self) -> f64 {
        match self.take() {
            Some(word) => double(word),
            None => self.double_slowly(),
        }
    }

    // Draws that the buffer does not answer at once. Functions of C cannot unwind, so that callers save no registers and go there by a jump.

    #[cold]
    #[inline(never)]
    extern "C" fn word_slowly(&self) -> u64 {
        self.look_for_fork();
        loop {
            if let Some(word) = self.take_here() {
                return word;
            }
            if self.is_empty() {
                self.refill();
                stack::wipe_kernels();
            }
        }
    }

    #[cold]
    #[inline(never)]
    extern "C" fn half_slowly(&self) -> u32 {
        self.look_for_fork();
        let [_, half, ..] = &*self.buffer;
        match half.swap(0, Relaxed) {
            0 => self.halve(self.word_slowly()),
            kept => kept as u32,
        }
    }

    #[cold]
    #[inline(never)]
    extern "C" fn double_slowly(&self) -> f64 {
        double(self.word_slowly())
    }

    /// Keeps the upper half of a word, and returns the lower one.
    #[inline]
    fn halve(&self, word: u64) -> u32 {
        let [_, half, ..] = &*self.buffer;
        half.store(1 << 32 | word >> 32, Relaxed);
        word as u32
    }

    /// Whether a draw has to ask for forks first.
    #[inline]
    fn asks(&self) -> bool {
        matches!(self.forks, Forks::Asked(_))
    }

    /// The next word of the buffer, unless a draw has more to do.
    #[inline]
    fn take(&self) -> Option<u64> {
        if self.asks() { None } else { self.take_here() }
    }

    /// The word at the place in the buffer, which is erased there. `None` if it is 0, or if there is none.
    ///
    /// A word that is 0 is passed over. Where threads drew at once, the place may have gone back to words that are erased.
    #[inline]
    fn take_here(&self) -> Option<u64> {
        let [place, _, _, _, words @ ..] = &*self.buffer;
        let at = place.load(Relaxed);
        let word = words.get(WORDS.wrapping_add(at as usize))?;
        place.store(at.wrapping_add(1), Relaxed);
        let taken = word.load(Relaxed);
        word.store(0, Relaxed);
        (taken != 0).then_some(taken)
    }

    fn is_empty(&self) -> bool {
        let [place, ..] = &*self.buffer;
        WORDS.wrapping_add(place.load(Relaxed) as usize) >= WORDS
    }

    /// Fills the buffer, and puts the next key in the place of the one that did.
    #[inline(never)]
    fn refill(&self) {
        let [place, _, mark, _, words @ ..] = &*self.buffer;
        if mark.load(Acquire) == 0 {
            self.take_key_of_own();
            stack::wipe_kernels();
        }
        Cipher::once(&self.key(), |cipher| {
            // A batch is copied after the next one is made: a load of 8 bytes waits for a store of 64 that has not reached the cache, and the copies
            // of one take their turns with the cipher of another.
            let mut batches = Lines([[[0; 2]; BATCH]; 2]);
            for n in 0..=BLOCKS / BATCH {
                let [even, odd] = &mut batches.0;
                let (made, next) = if n % 2 == 0 { (odd, even) } else { (even, odd) };
                if n < BLOCKS / BATCH {
                    cipher.bit_generator(BUFFERS, 0, (n * BATCH) as u64, next);
                }
                let made = made.as_flattened();
                match n {
                    0 => {}
                    1 => {
                        let (key, made) = made.split_at(KEY_WORDS);
                        store(key, &self.key);
                        store(made, words);
                    }
                    _ => store(made, &words[2 * BATCH * (n - 1) - KEY_WORDS..]),
                }
            }
            wipe(batches.0.as_flattened_mut().as_flattened_mut());
        });
        place.store((WORDS as u64).wrapping_neg(), Relaxed);
    }

    /// Where the kernel does not wipe the buffer of a forked child, the child does.
    #[inline]
    fn look_for_fork(&self) {
        if let Forks::Asked(process) = &self.forks {
            self.ask(process);
        }
    }

    #[inline(never)]
    fn ask(&self, process: &AtomicU64) {
        let here = process_mark();
        if process.load(Relaxed) != here {
            self.buffer.iter().for_each(|number| number.store(0, Relaxed));
            self.take_key_of_own();
            stack::wipe_kernels();
            process.store(here, Relaxed);
        }
    }

    /// The key of a forked child. It is the XOR of two, either of which is enough: one from the operating system, and one that the parent's key
    /// makes of a number that no other process gets.
    ///
    /// Without entropy the second remains. A draw has no way to report an error, and could else only end the process, wait for ever, or repeat
    /// the parent's words.
    #[cold]
    #[inline(never)]
    fn take_key_of_own(&self) {
        let mut derived = Zeroizing::new([[0; 2]; 2]);
        let number = number_in_family() % (1 << 48);
        Cipher::once(&self.key(), |cipher| cipher.bit_generator(FORKED, number, 0, &mut *derived));
        let mut key = bytes(&derived);
        let mut fresh = Zeroizing::new([0; 32]);
        // Whatever a failure leaves there does not depend on the other key.
        let _ = entropy::fill(fresh.as_mut());
        for (byte, fresh) in key.iter_mut().zip(&*fresh) {
            *byte ^= fresh;
        }
        self.set_key(&key);
    }

    /// A copy of the key; wiped on drop.
    fn key(&self) -> Zeroizing<Key> {
        let mut key = Zeroizing::new([0; 32]);
        for (bytes, word) in key.as_chunks_mut::<8>().0.iter_mut().zip(&self.key) {
            *bytes = word.load(Relaxed).to_le_bytes();
        }
        key
    }

    /// Sets the key, and the mark after it.
    fn set_key(&self, key: &Key) {
        for (word, bytes) in self.key.iter().zip(key.as_chunks::<8>().0) {
            word.store(u64::from_le_bytes(*bytes), Relaxed);
        }
        let [_, _, mark, ..] = &*self.buffer;
        mark.store(1, Release);
    }
}

impl Drop for BitGenerator {
    fn drop(&mut self) {
        self.key
            .iter()
            .chain(&*self.buffer)
            .for_each(|number| number.store(0, Relaxed));
        optimization_barrier(&self.key);
        optimization_barrier(&*self.buffer);
    }
}

/// The upper 53 bits of a word.
#[inline]
fn double(word: u64) -> f64 {
    const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
    (word >> 11) as f64 * STEP
}

fn store(numbers: &[u64], places: &[AtomicU64]) {
    for (number, place) in numbers.iter().zip(places) {
        place.store(*number, Relaxed);
    }
}

/// Two keys that a key makes; without it, nothing relates one to the other.
fn two_keys(key: &Key) -> [Zeroizing<Key>; 2] {
    let mut blocks = Zeroizing::new([[[0; 2]; 2]; 2]);
    Cipher::once(key, |cipher| cipher.bit_generator(TWO_KEYS, 0, 0, blocks.as_flattened_mut()));
    [bytes(&blocks[0]), bytes(&blocks[1])]
}

/// A key of its blocks.
fn bytes(blocks: &[[u64; 2]; 2]) -> Zeroizing<Key> {
    let mut key = Zeroizing::new([0; 32]);
    for (bytes, word) in key.as_chunks_mut::<8>().0.iter_mut().zip(blocks.as_flattened()) {
        *bytes = word.to_le_bytes();
    }
    key
}

#[cfg(test)]
mod tests;
