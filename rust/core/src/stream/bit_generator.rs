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
mod tests {
    use super::super::cipher::Domain;
    use super::super::entropy::tests::without_entropy;
    #[cfg(target_os = "linux")]
    use super::super::process::tests::{clone, fork, in_child};
    use super::*;

    const KEY: Key = [9; 32];

    fn words(generator: &BitGenerator, n: usize) -> Vec<u64> {
        (0..n).map(|_| generator.next_word()).collect()
    }

    #[cfg(target_os = "linux")]
    type Make = fn() -> Arc<BitGenerator>;

    /// Makers of every kind, with the name of the kind.
    #[cfg(target_os = "linux")]
    const KINDS: [(&str, Make); 3] = [
        ("wiped", || BitGenerator::from_os().unwrap()),
        ("asked", || BitGenerator::asking().unwrap()),
        ("given", || BitGenerator::from_key(&KEY).unwrap()),
    ];

    /// Evidence: equality with the contract's text, one block at a time, over several buffers.
    #[test]
    fn words_are_those_of_the_contract() {
        let number = |key: &Key, level, n: u64| Cipher::new(key).block(Domain::BitGenerator, level, 0, n / 2)[(n % 2) as usize];
        let key_at = |key: &Key, level, first: u64| -> Key {
            let numbers: Vec<u8> = (first..first + 4).flat_map(|n| number(key, level, n).to_le_bytes()).collect();
            numbers.try_into().unwrap()
        };
        let generator = BitGenerator::from_key(&KEY).unwrap();
        let mut key = key_at(&KEY, 1, 0);
        for _ in 0..if cfg!(miri) { 2 } else { 5 } {
            let step = if cfg!(miri) { 100 } else { 1 };
            let drawn = words(&generator, WORDS);
            for n in (0..WORDS).step_by(step) {
                assert_eq!(drawn[n], number(&key, 0, 4 + n as u64), "{n}");
            }
            key = key_at(&key, 0, 0);
        }
        let mut children = key_at(&KEY, 1, 4);
        for _ in 0..3 {
            let expected = BitGenerator::from_key(&key_at(&children, 1, 0)).unwrap();
            assert_eq!(words(&generator.spawn().unwrap(), 3), words(&expected, 3));
            children = key_at(&children, 1, 4);
        }
    }

    /// Evidence: `tests/vectors/bit_generator.json`, which the oracle wrote by OpenSSL's cipher.
    #[test]
    fn golden_vectors() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/bit_generator.json");
        let entries: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let hex = |value: &serde_json::Value| u64::from_str_radix(value.as_str().unwrap(), 16).unwrap();
        assert!(entries.len() > 5);
        for entry in entries.iter().step_by(if cfg!(miri) { 4 } else { 1 }) {
            let digits = entry["key"].as_str().unwrap();
            let key: Vec<u8> = (0..32)
                .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
                .collect();
            let made = || BitGenerator::from_key(key.as_slice().try_into().unwrap()).unwrap();
            let (generator, mut drawn) = (made(), vec![]);
            for case in entry["words"].as_array().unwrap() {
                let n = case[0].as_u64().unwrap() as usize;
                drawn.extend(words(&generator, n + 1 - drawn.len()));
                assert_eq!(drawn[n], hex(&case[1]), "{case}");
            }
            let generator = made();
            for case in entry["mixed"].as_array().unwrap() {
                let found = match case[0].as_str().unwrap() {
                    "uint64" => generator.next_word(),
                    "uint32" => generator.next_half().into(),
                    _ => generator.next_double().to_bits(),
                };
                assert_eq!(found, hex(&case[1]), "{case}");
            }
            let mut children = vec![];
            for case in entry["children"].as_array().unwrap() {
                let child = case[0].as_u64().unwrap() as usize;
                while children.len() <= child {
                    children.push(generator.spawn().unwrap());
                }
                for word in case[1].as_array().unwrap() {
                    assert_eq!(children[child].next_word(), hex(word), "{case}");
                }
            }
        }
    }

    #[test]
    fn a_double_is_the_upper_bits_of_a_word() {
        let [drawn, same] = [0, 1].map(|_| BitGenerator::from_key(&KEY).unwrap());
        for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
            let double = drawn.next_double();
            assert!((0.0..1.0).contains(&double));
            assert_eq!(double * (1_u64 << 53) as f64, (same.next_word() >> 11) as f64);
        }
    }

    #[test]
    fn generators_of_the_operating_system_and_their_children_differ() {
        let parent = BitGenerator::from_os().unwrap();
        let mut all = vec![words(&parent, 4), words(&BitGenerator::from_os().unwrap(), 4)];
        all.extend((0..3).map(|_| words(&parent.spawn().unwrap(), 4)));
        all.push(words(&parent, 4));
        assert!(!parent.is_given());
        let n = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), n);
    }

    /// Evidence: what the state holds after every draw. No word that was taken and no key that made one is there, and what is there makes other
    /// words.
    #[test]
    fn the_state_does_not_lead_to_the_words_before() {
        let generator = BitGenerator::from_key(&KEY).unwrap();
        let mut past = vec![];
        let draws = if cfg!(miri) { 20 } else { 2 * WORDS + 3 };
        for _ in 0..draws {
            let key = generator.key();
            past.push(generator.next_word());
            if generator.key() != key {
                past.extend(key.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
            }
            let held: Vec<u64> = generator
                .buffer
                .iter()
                .chain(&generator.key)
                .map(|n| n.load(Relaxed))
                .collect();
            assert!(past.iter().all(|word| !held.contains(word)));
            let at = generator.buffer[0].load(Relaxed) as usize;
            let used = &generator.buffer[HEAD..HEAD + WORDS.wrapping_add(at)];
            assert!(used.iter().all(|word| word.load(Relaxed) == 0), "used places are wiped");
        }
        // The search can find what is there: the next word.
        let next = WORDS.wrapping_add(generator.buffer[0].load(Relaxed) as usize);
        assert_eq!(generator.buffer[HEAD + next].load(Relaxed), generator.next_word());
    }

    /// What a generator made before gives in the parent and in children: siblings, and a child's child.
    #[cfg(target_os = "linux")]
    fn down_the_line(generator: &BitGenerator, fork: fn() -> libc::c_long) -> Vec<[u8; 24]> {
        let draw = || {
            let mut bytes = [0; 24];
            bytes[..4].copy_from_slice(&generator.next_half().to_le_bytes());
            bytes[4..12].copy_from_slice(&generator.next_word().to_le_bytes());
            bytes[12..16].copy_from_slice(&generator.next_half().to_le_bytes());
            bytes[16..].copy_from_slice(&generator.next_word().to_le_bytes());
            bytes
        };
        let mut drawn = vec![
            in_child(fork, draw),
            in_child(fork, draw),
            in_child(fork, || in_child(fork, draw)),
        ];
        let of_one_child: [u8; 48] = in_child(fork, || {
            let below = in_child(fork, draw);
            let mut bytes = [0; 48];
            bytes[..24].copy_from_slice(&draw());
            bytes[24..].copy_from_slice(&below);
            bytes
        });
        drawn.extend(of_one_child.as_chunks::<24>().0);
        drawn.push(draw());
        drawn
    }

    /// Whether any half or word of one process came in another; a repeat by chance has probability below 1e-7.
    #[cfg(target_os = "linux")]
    fn repeats(drawn: &[[u8; 24]]) -> bool {
        let pieces: Vec<&[u8]> = drawn
            .iter()
            .flat_map(|bytes| [&bytes[..4], &bytes[4..12], &bytes[12..16], &bytes[16..]])
            .collect();
        (0..pieces.len()).any(|i| (0..i).any(|j| pieces[i] == pieces[j]))
    }

    /// Evidence: real children, with and without the C library's knowledge, with a buffer that is new, begun, or nearly used up, and a half kept.
    /// Generators of a given key repeat their words, which shows that the search finds repeats.
    #[test]
    #[cfg(target_os = "linux")]
    #[cfg_attr(miri, ignore = "Miri has no fork")]
    fn forked_children_draw_words_of_their_own() {
        for (name, make) in KINDS {
            for fork in [fork, clone] {
                for before in [0, 1, 2, WORDS - 1, WORDS, WORDS + 1] {
                    let generator = make();
                    words(&generator, before);
                    generator.next_half();
                    let drawn = down_the_line(&generator, fork);
                    assert_eq!(repeats(&drawn), name == "given", "{name} {before}");
                    assert_eq!(
                        drawn.iter().all(|bytes| *bytes == drawn[0]),
                        name == "given",
                        "{name} {before}"
                    );
                }
            }
        }
    }

    /// Evidence: as above, where the operating system has no entropy for a child. Then keys are AES of numbers that no relative has.
    #[test]
    #[cfg(target_os = "linux")]
    #[cfg_attr(miri, ignore = "Miri has no fork")]
    fn forked_children_draw_words_of_their_own_without_entropy() {
        for (name, make) in KINDS {
            let generator = make();
            generator.next_half();
            let drawn = without_entropy(|| down_the_line(&generator, clone));
            assert_eq!(repeats(&drawn), name == "given", "{name}");
            assert!(drawn.iter().flatten().any(|byte| *byte != 0));
        }
    }

    #[test]
    fn without_entropy_no_generator_is_made() {
        let (secure, given) = (BitGenerator::from_os().unwrap(), BitGenerator::from_key(&KEY).unwrap());
        without_entropy(|| {
            for refused in [BitGenerator::from_os(), BitGenerator::asking(), secure.spawn()] {
                assert!(matches!(refused, Err(DrawError::Entropy(_))));
            }
            assert!(given.spawn().is_ok());
        });
    }

    /// Evidence: draws of several threads with no lock among them end, and give no zeros. Under Miri also: none of them is a data race.
    #[test]
    fn threads_without_a_lock_do_no_harm() {
        let generator = BitGenerator::from_key(&KEY).unwrap();
        let n = if cfg!(miri) { 30 } else { 20 * WORDS };
        let drawn: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| words(&generator, n))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(drawn.len(), 3 * n);
        assert!(!drawn.contains(&0));
    }

    #[test]
    fn a_word_of_zero_is_passed_over() {
        let [generator, same] = [0, 1].map(|_| BitGenerator::from_key(&KEY).unwrap());
        let expected = words(&same, WORDS + 1);
        generator.refill();
        for erased in [0, 1, 7, WORDS - 1] {
            generator.buffer[HEAD + erased].store(0, Relaxed);
        }
        let left: Vec<u64> = (2..=WORDS)
            .filter(|n| ![7, WORDS - 1].contains(n))
            .map(|n| expected[n])
            .collect();
        assert_eq!(words(&generator, left.len()), left);
    }
}
