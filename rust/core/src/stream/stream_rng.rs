//! The words of a fill as a generator of `rand_core`, for distributions of other crates.

use core::fmt;

use rand::rand_core::utils::fill_bytes_via_next_word;
use rand::{TryCryptoRng, TryRng};

use super::fill::{CHUNK, LOG2_VALUES};
use super::generator::Generator;
use super::process::process_mark;
use crate::error::DrawError;
use crate::memory;
use crate::wiped::Wiped;

/// The words of one fill, in order, as a cryptographic generator of `rand_core`; made by [`Generator::rng`].
///
/// It gives the generator's guarantees to what other crates draw: words of AES-256 in counter mode, another key in a forked child, no copies, and
/// words that are wiped on drop. What these crates make of the words is theirs: no exactness, and no protection against timing.
///
/// Words are refused, by a [`DrawError`], after the last of the fill's 2⁶², and in a forked child if the operating system gives no entropy for a new
/// key. `rand_core::UnwrapErr` makes a generator without errors of it, which panics then.
///
/// ```
/// use rand_distr::{Distribution, Poisson};
/// use stairnoise::Generator;
///
/// let mut rng = rand::rand_core::UnwrapErr(Generator::from_os()?.rng()?);
/// let arrivals: f64 = Poisson::new(3.5)?.sample(&mut rng);
/// assert!(arrivals >= 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StreamRng {
    /// A view of the fill: it draws no other one, and takes a new key in a forked child.
    fill: Generator,
    /// The index of the word after the last in `words`.
    next: u64,
    words: Wiped<u64>,
    used: usize,
    /// The process that `words` were made in, where their key is the operating system's.
    process: Option<u64>,
}

impl Generator {
    /// Takes the next fill, and gives its words in order to distributions of other crates.
    ///
    /// Anyone who guesses a seed can draw the words again: no release can be refused, as other crates have the generator.
    pub fn rng(&mut self) -> Result<StreamRng, DrawError> {
        memory::has_room()?;
        let words = Wiped::from(memory::filled(0, CHUNK)?);
        let fill = self.next_view((1_u64 << LOG2_VALUES).saturating_sub(self.start()))?;
        Ok(StreamRng {
            next: fill.start(),
            process: (!fill.is_given()).then(process_mark),
            fill,
            used: words.len(),
            words,
        })
    }
}

impl StreamRng {
    fn word(&mut self) -> Result<u64, DrawError> {
        let here = self.process.map(|_| process_mark());
        if self.used == self.words.len() || here != self.process {
            self.refill()?;
            self.process = here;
        }
        let word = self.words[self.used];
        self.used += 1;
        Ok(word)
    }

    fn refill(&mut self) -> Result<(), DrawError> {
        let left = usize::try_from((1 << LOG2_VALUES) - self.next).unwrap_or(usize::MAX);
        let n = left.clamp(1, CHUNK);
        let fill = self.fill.at(self.next)?.next(n)?;
        self.words.truncate(n);
        fill.keystream(0, &mut self.words);
        self.next += n as u64;
        self.used = 0;
        Ok(())
    }
}

impl TryRng for StreamRng {
    type Error = DrawError;

    fn try_next_u32(&mut self) -> Result<u32, DrawError> {
        self.word().map(|word| word as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, DrawError> {
        self.word()
    }

    /// Words, least significant byte first; of the last word as many bytes as are left.
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), DrawError> {
        fill_bytes_via_next_word(out, || self.word())
    }
}

impl TryCryptoRng for StreamRng {}

impl fmt::Debug for StreamRng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamRng").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Fill;

    fn words(fill: &Fill, n: usize) -> Vec<u64> {
        let mut words = vec![0; n];
        fill.keystream(0, &mut words);
        words
    }

    /// Evidence: equality with the words of the fill, across the ends of the buffer and from either parity; for both sources of keys.
    #[test]
    fn the_words_are_those_of_one_fill() {
        const N: usize = 2 * CHUNK + 9;
        for start in [0, 7] {
            for mut generator in [Generator::from_seed(3), Generator::from_os().unwrap()] {
                let mut generator = generator.at(start).unwrap();
                let expected = words(&generator.at(start).unwrap().next(N).unwrap(), N);
                let mut rng = generator.rng().unwrap();
                let drawn: Vec<u64> = (0..N).map(|_| rng.try_next_u64().unwrap()).collect();
                assert_eq!(drawn, expected);
                assert_eq!(generator.next_fill(), 1);
                assert_ne!(generator.rng().unwrap().try_next_u64().unwrap(), expected[0]);
            }
        }
    }

    /// Evidence: the bytes of the words, by the documentation's rule.
    #[test]
    fn halves_and_bytes_are_parts_of_words() {
        let expected = words(&Generator::from_seed(3).next(4).unwrap(), 4);
        let mut rng = Generator::from_seed(3).rng().unwrap();
        assert_eq!(rng.try_next_u32(), Ok(expected[0] as u32));
        let mut bytes = [0; 11];
        rng.try_fill_bytes(&mut bytes).unwrap();
        assert_eq!(bytes[..8], expected[1].to_le_bytes());
        assert_eq!(bytes[8..], expected[2].to_le_bytes()[..3]);
        assert_eq!(rng.try_next_u64(), Ok(expected[3]));
    }

    #[test]
    fn after_the_last_word_there_is_an_error() {
        let mut rng = Generator::from_seed(3).at((1 << LOG2_VALUES) - 3).unwrap().rng().unwrap();
        for _ in 0..3 {
            rng.try_next_u64().unwrap();
        }
        for _ in 0..2 {
            assert_eq!(rng.try_next_u64(), Err(DrawError::IndexTooLarge));
        }
    }

    /// Evidence: real children; a generator of a given key is the control that repeats.
    #[test]
    #[cfg(target_os = "linux")]
    #[cfg_attr(miri, ignore = "Miri has no fork")]
    fn a_forked_child_draws_other_words() {
        use crate::testing::children::{fork, in_child};
        let next = |rng: &mut StreamRng| rng.try_next_u64().unwrap().to_le_bytes();
        let mut rng = Generator::from_os().unwrap().rng().unwrap();
        next(&mut rng);
        let there = in_child(fork, || next(&mut rng));
        assert_ne!(there, next(&mut rng));
        let mut given = Generator::from_seed(1).rng().unwrap();
        next(&mut given);
        let there = in_child(fork, || next(&mut given));
        assert_eq!(there, next(&mut given));
    }
}
