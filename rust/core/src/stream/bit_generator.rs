//! Words one after another, for generators of other libraries, such as NumPy's (contract, section 17).
//!
//! The key that makes a buffer of words makes its own successor too and is overwritten by it, and a word is erased as it is taken: memory that is
//! read later does not reveal the words taken before. A forked child starts with an empty buffer and a key of its own.
//!
//! While words are taken from one buffer, the next buffer is made piece by piece in the places of words that were taken. The key of the next buffer
//! is in memory anyway, so its words reveal nothing more. A piece is so small that the processor encrypts it beside the draws that follow, which have other work to do.
//!
//! A draw cannot report an error, so that nothing here can fail once a generator is made: no memory is asked for, nothing is locked, and a
//! forked child gets its key whether or not the operating system has entropy. All of the state is atomic numbers. Draws of several threads at
//! once, which the callers' lock is to prevent, may therefore repeat a word and can do no other harm.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zeroize::{Zeroizing, optimization_barrier};

use super::cipher::{Cipher, Domain, key_of, tweak};
use super::entropy;
use super::pages::Pages;
use super::pieces::{PIECE, PIECES, Piece};
use super::process::{found_family, number_in_family, process_mark};
use super::shared_cipher::SharedCipher;
use super::vaes::Wide;
use crate::cache_lines::CacheLines;
use crate::error::DrawError;
use crate::kernel::Tier;
use crate::memory;
use crate::stack::{self, KERNELS};

type Key = [u8; 32];

/// A piece and the number before it, which is 0: so a draw stops there, and needs no other test than that for 0.
const ROW: usize = 1 + PIECE;

/// The place of the first word. In the place of the four before, which are the next key, a page has the state.
const FIRST: u64 = 5;

/// A power of two, so that every place is one of a page.
const NUMBERS: usize = 1024;

/// Purposes of blocks of [`Domain::BitGenerator`]: the levels of their tweaks.
const BUFFERS: u64 = 0;
const TWO_KEYS: u64 = 1;
const FORKED: u64 = 2;

/// An endless sequence of words under a key that is erased as it is used.
///
/// Like [`Generator`](crate::Generator), it has no `Clone`, no serialisation and no `Debug`: a copy would repeat its words.
// The page comes first: what a draw reads of this then needs no offset, and its code is shorter.
#[repr(C)]
pub struct BitGenerator {
    /// 0, place, half, made and mark, and the words of a buffer.
    ///
    /// The place is that of the next word, or the end of a row. The half is 2³² plus the upper half of a word whose lower half was taken, or 0. The
    /// next buffer's pieces 1 to `made` are in their places. The mark is 1 where `next` has this process's own key. Zeros, which a forked
    /// child finds where the kernel wipes pages, are an empty buffer.
    page: Pages<NUMBERS>,
    next: SharedCipher,
    // No field has room that is used at times only: a generator is moved to its place with whatever the stack had there, such as parts of a key.
    forks: Forks,
    /// Place and half of a generator that asks for forks, and the mark of its process. In the page both stay 0, so every draw takes the slow way.
    asking: [AtomicU64; 3],
    given: bool,
    /// The key of the next child and of those after it, if the key was given.
    children: Mutex<Zeroizing<Key>>,
}

/// How a forked child recognises that it is one.
#[derive(PartialEq)]
enum Forks {
    /// Nothing: the key was given, and a forked child draws what its parent draws.
    Unseen,
    /// The zeros in its page.
    Wiped,
    /// Another mark than its parent's, for which every draw has to ask.
    Asked,
}

impl BitGenerator {
    /// A key from the operating system. In a forked child the generator takes a new key before its first draw.
    ///
    /// # Errors
    /// [`DrawError::Entropy`] if the operating system gives no entropy; [`DrawError::OutOfMemory`].
    pub fn from_os() -> Result<Arc<Self>, DrawError> {
        match Pages::wiped() {
            Some(page) => Self::fresh(page, Forks::Wiped),
            None => Self::asking(),
        }
    }

    /// [`BitGenerator::from_os`] where the kernel wipes no pages.
    fn asking() -> Result<Arc<Self>, DrawError> {
        Self::fresh(Pages::copied()?, Forks::Asked)
    }

    fn fresh(page: Pages<NUMBERS>, forks: Forks) -> Result<Arc<Self>, DrawError> {
        stack::erasing::<KERNELS, _>(|| {
            found_family()?;
            memory::has_room()?;
            let generator = Self::without_key(page, forks);
            let mut key = Zeroizing::new([0; 32]);
            entropy::fill(key.as_mut())?;
            generator.set_key(&key);
            Ok(generator)
        })
    }

    /// A key of the caller's: equal keys give equal words, in every process, forked children included.
    pub fn from_key(key: &[u8; 32]) -> Result<Arc<Self>, DrawError> {
        stack::erasing::<KERNELS, _>(|| {
            let page = Pages::copied()?;
            memory::has_room()?;
            let generator = Self::without_key(page, Forks::Unseen);
            let [words, children] = two_keys(key);
            generator.set_key(&words);
            generator.next_child().copy_from_slice(&*children);
            Ok(generator)
        })
    }

    /// The keys are set where they stay: a move would leave copies.
    fn without_key(page: Pages<NUMBERS>, forks: Forks) -> Arc<Self> {
        let [place, half] = [const { AtomicU64::new(0) }; 2];
        Arc::new(Self {
            page,
            next: SharedCipher::without_key(Wide::of(Tier::current())),
            given: forks == Forks::Unseen,
            forks,
            asking: [place, half, AtomicU64::new(process_mark())],
            children: Mutex::new(Zeroizing::new([0; 32])),
        })
    }

    fn next_child(&self) -> MutexGuard<'_, Zeroizing<Key>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An independent generator. Its key is from the operating system if this one's is, else derived from this one's key and a count.
    ///
    /// # Errors
    /// As for [`BitGenerator::from_os`]. Then no child is counted.
    pub fn spawn(&self) -> Result<Arc<Self>, DrawError> {
        if !self.given {
            return Self::from_os();
        }
        stack::erasing::<KERNELS, _>(|| {
            let mut key = self.next_child();
            let [child, next] = two_keys(&key);
            let child = Self::from_key(&child)?;
            key.copy_from_slice(&*next);
            Ok(child)
        })
    }

    /// Whether the caller gave the key, so that the same words can be drawn again.
    pub fn is_given(&self) -> bool {
        self.given
    }

    /// The next word.
    #[inline]
    pub fn next_word(&self) -> u64 {
        self.take().unwrap_or_else(|| self.word_slowly())
    }

    /// The lower half of the next word, or the upper half of the word whose lower half was the last that this gave.
    #[inline]
    pub fn next_half(&self) -> u32 {
        let [_, _, half, ..] = &*self.page;
        let kept = half.load(Relaxed);
        if kept != 0 {
            half.store(0, Relaxed);
            return kept as u32;
        }
        match self.take() {
            Some(word) => halve(word, half),
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

    /// The next word of the buffer, unless a draw has more to do.
    #[inline]
    fn take(&self) -> Option<u64> {
        let [_, place, ..] = &*self.page;
        self.take_at(place)
    }

    /// The word at a place, which is erased there. `None` if it is 0.
    #[inline]
    fn take_at(&self, place: &AtomicU64) -> Option<u64> {
        // A draw waits for the place that the last one stored, so what is stored is not reduced: the remainder only keeps the place within the page.
        let at = place.load(Relaxed);
        let word = &self.page[at as usize % NUMBERS];
        let taken = word.load(Relaxed);
        if taken == 0 {
            return None;
        }
        word.store(0, Relaxed);
        place.store(at.wrapping_add(1), Relaxed);
        Some(taken)
    }

    // Draws that the buffer does not answer at once. Functions of C cannot unwind, so that callers save no registers and go there by a jump.

    #[cold]
    #[inline(never)]
    extern "C" fn word_slowly(&self) -> u64 {
        self.look_for_fork();
        let [place, _] = self.place_and_half();
        loop {
            if let Some(word) = self.take_at(place) {
                return word;
            }
            self.go_on(place);
        }
    }

    #[cold]
    #[inline(never)]
    extern "C" fn half_slowly(&self) -> u32 {
        self.look_for_fork();
        let [_, half] = self.place_and_half();
        match half.swap(0, Relaxed) {
            0 => halve(self.word_slowly(), half),
            kept => kept as u32,
        }
    }

    #[cold]
    #[inline(never)]
    extern "C" fn double_slowly(&self) -> f64 {
        double(self.word_slowly())
    }

    fn place_and_half(&self) -> [&AtomicU64; 2] {
        let ([_, place, half, ..], [own_place, own_half, _]) = (&*self.page, &self.asking);
        if self.forks == Forks::Asked {
            [own_place, own_half]
        } else {
            [place, half]
        }
    }

    /// Where there is no word: the end of a row, or a word that is 0, which is skipped. Or, if threads drew at once, an erased word.
    fn go_on(&self, place: &AtomicU64) {
        let [_, _, _, made, ..] = &*self.page;
        let at = place.load(Relaxed) as usize % NUMBERS;
        let (row, within) = (at / ROW % PIECES, at % ROW);
        if (row, within) == (0, 0) {
            self.refill();
            // The frame of `refill` has 0.8 KiB. To wipe as much as after a fill would take a twentieth of the time of all draws.
            stack::wipe::<{ 2 << 10 }>();
            place.store(FIRST, Relaxed);
            return;
        }
        // The piece that ends here is used up. The first waits for `refill`: it has the key after the next.
        if within == 0
            && row > 1
            && self
                .next
                .encrypt_quickly(tweak(Domain::BitGenerator, BUFFERS, 0), row - 1, self.piece(row - 1))
        {
            made.store(row as u64 - 1, Relaxed);
        }
        place.store(at as u64 + 1, Relaxed);
    }

    fn piece(&self, n: usize) -> &Piece {
        let [_, piece @ ..] = &self.page.as_chunks::<ROW>().0[n % PIECES];
        piece
    }

    /// Completes the next buffer, and replaces the key that made it by the key after it.
    #[inline(never)]
    fn refill(&self) {
        let [_, _, _, made, mark, words @ ..] = &*self.page;
        if mark.load(Acquire) == 0 {
            self.take_key_of_own();
        }
        // In memory that no other thread can erase.
        let mut first = CacheLines([const { AtomicU64::new(0) }; PIECE]);
        let others = (made.load(Relaxed) as usize + 1..PIECES).map(|n| (n, self.piece(n)));
        self.next.encrypt(
            tweak(Domain::BitGenerator, BUFFERS, 0),
            std::iter::once((0, &first.0)).chain(others),
        );
        let (key, first_words) = first.0.split_at(4);
        for (number, word) in first_words.iter().zip(words) {
            word.store(number.load(Relaxed), Relaxed);
        }
        self.next.set_key(&key_of(key.iter().map(|number| number.load(Relaxed))));
        first.0.iter_mut().for_each(|number| *number.get_mut() = 0);
        optimization_barrier(&first.0);
        made.store(0, Relaxed);
    }

    /// Where the kernel does not wipe the page of a forked child, the child does.
    fn look_for_fork(&self) {
        if self.forks != Forks::Asked {
            return;
        }
        let ([.., process], here) = (&self.asking, process_mark());
        if process.load(Relaxed) != here {
            self.forget();
            self.take_key_of_own();
            process.store(here, Relaxed);
        }
    }

    fn forget(&self) {
        let numbers = self.page.iter().chain(self.place_and_half());
        numbers.for_each(|number| number.store(0, Relaxed));
    }

    /// The key of a forked child: the XOR of two, either of which is enough. The operating system gives one, the parent's key another.
    ///
    /// Without entropy the second key alone is used. A draw cannot report an error; it could only end the process, hang or repeat words.
    #[cold]
    fn take_key_of_own(&self) {
        stack::erasing::<KERNELS, _>(|| {
            let mut derived = Zeroizing::new([[0; 2]; 2]);
            let number = number_in_family() % (1 << 48);
            Cipher::once(&self.next.key(), |cipher| {
                cipher.bit_generator(FORKED, number, 0, &mut *derived);
            });
            let mut key = key_of(derived.as_flattened().iter().copied());
            let mut fresh = Zeroizing::new([0; 32]);
            // Whatever a failure leaves there does not depend on the other key.
            let _ = entropy::fill(fresh.as_mut());
            for (byte, fresh) in key.iter_mut().zip(&*fresh) {
                *byte ^= fresh;
            }
            self.set_key(&key);
        });
    }

    fn set_key(&self, key: &Key) {
        self.next.set_key(key);
        let [_, _, _, _, mark, ..] = &*self.page;
        mark.store(1, Release);
    }
}

impl Drop for BitGenerator {
    fn drop(&mut self) {
        self.forget();
        optimization_barrier(&*self.page);
        optimization_barrier(&self.asking);
    }
}

/// Keeps the upper half of a word, and returns the lower one.
#[inline]
fn halve(word: u64, half: &AtomicU64) -> u32 {
    half.store(1 << 32 | word >> 32, Relaxed);
    word as u32
}

#[inline]
fn double(word: u64) -> f64 {
    const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
    (word >> 11) as f64 * STEP
}

/// Two keys that a key makes; without it, nothing relates one to the other.
fn two_keys(key: &Key) -> [Zeroizing<Key>; 2] {
    let mut blocks = Zeroizing::new([[[0; 2]; 2]; 2]);
    Cipher::once(key, |cipher| cipher.bit_generator(TWO_KEYS, 0, 0, blocks.as_flattened_mut()));
    blocks.each_ref().map(|key| key_of(key.as_flattened().iter().copied()))
}

#[cfg(test)]
mod tests;
