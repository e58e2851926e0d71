use core::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::cipher::Cipher;
use super::fill::Fill;
use crate::error::DrawError;
use crate::noise::LOG2_VALUES;

/// A key and the count of its fills: the source of all noise.
///
/// Every fill takes the next substream, so successive fills never share randomness, whatever their laws. Value `i` of a fill is a
/// function of (key, fill, i) alone: chunking, threads and machines do not matter.
///
/// There is deliberately no `Clone`, no serialisation and no key in `Debug`: a copy would repeat noise. The expanded key is wiped on drop.
pub struct Generator {
    cipher: Arc<Cipher>,
    origin: Origin,
    next_fill: u64,
    next_child: u64,
    start: u64,
}

/// Where the key came from, which decides what a forked child does.
#[derive(Clone, Copy)]
enum Origin {
    /// The operating system, in the process of this id.
    Os { process: u32 },
    /// The user, who asked for these very values.
    Given,
}

impl Generator {
    const FILLS: u64 = 1 << 48;
    const INDICES: u64 = 1 << 62;

    /// A key from the operating system.
    ///
    /// In a forked child the generator takes a new key before its first draw: parent and child never share noise.
    ///
    /// # Errors
    /// [`DrawError::Entropy`] if the operating system gives no entropy; there is no fallback.
    pub fn from_os() -> Result<Self, DrawError> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(key.as_mut())?;
        let process = std::process::id();
        Ok(Self::new(&key, Origin::Os { process }))
    }

    /// A key of the caller's: equal keys give equal noise, in every process, forked children included.
    pub fn from_key(key: &[u8; 32]) -> Self {
        Self::new(key, Origin::Given)
    }

    /// A reproducible stream for tests and studies. A seed is no secret: never publish a release made with one.
    pub fn from_seed(seed: u128) -> Self {
        let mut key = Zeroizing::new([0; 32]);
        key[..16].copy_from_slice(&seed.to_le_bytes());
        key[16..].copy_from_slice(b"stairnoise/seed1");
        Self::new(&key, Origin::Given)
    }

    fn new(key: &[u8; 32], origin: Origin) -> Self {
        Self {
            cipher: Arc::new(Cipher::new(key)),
            origin,
            next_fill: 0,
            next_child: 0,
            start: 0,
        }
    }

    /// An independent generator with a key of its own, derived from this one and the count of its children.
    ///
    /// # Errors
    /// [`DrawError::Entropy`] if a forked child must take a new key and cannot.
    pub fn spawn(&mut self) -> Result<Self, DrawError> {
        self.rekey_after_fork()?;
        let child = Self::new(&self.cipher.child_key(self.next_child), self.origin);
        self.next_child += 1;
        Ok(child)
    }

    /// The same key and the same next fill, with every fill starting at value `index`: for computing a slice of a fill elsewhere.
    ///
    /// A view draws the very noise that the original would draw. Use one or the other for a release, never both.
    ///
    /// # Errors
    /// [`DrawError::Entropy`] if a forked child must take a new key and cannot.
    pub fn at(&mut self, index: u64) -> Result<Self, DrawError> {
        self.rekey_after_fork()?;
        Ok(Self {
            cipher: Arc::clone(&self.cipher),
            origin: self.origin,
            next_fill: self.next_fill,
            next_child: self.next_child,
            start: index,
        })
    }

    /// The number of the next fill.
    pub fn next_fill(&self) -> u64 {
        self.next_fill
    }

    /// The index that fills start at: 0 unless made by [`Generator::at`].
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Takes the next fill, for `n` values. An accepted fill counts even if `n` is 0, so that generators that each draw a slice stay in step.
    ///
    /// # Errors
    /// [`DrawError`]; the fill is then not taken.
    pub fn next(&mut self, n: usize) -> Result<Fill, DrawError> {
        self.next_below(Self::INDICES, DrawError::IndexTooLarge, n)
    }

    /// [`Generator::next`] for a law of several draws, which leaves fewer indices to the values.
    ///
    /// # Errors
    /// [`DrawError`]; the fill is then not taken.
    pub fn next_staged(&mut self, n: usize) -> Result<Fill, DrawError> {
        self.next_below(1 << LOG2_VALUES, DrawError::StagedIndexTooLarge, n)
    }

    fn next_below(&mut self, indices: u64, too_large: DrawError, n: usize) -> Result<Fill, DrawError> {
        self.rekey_after_fork()?;
        if self.next_fill >= Self::FILLS {
            return Err(DrawError::FillsExhausted);
        }
        let end = self.start.checked_add(n as u64);
        if end.is_none_or(|end| end > indices) {
            return Err(too_large);
        }
        let fill = self.next_fill;
        self.next_fill += 1;
        Ok(Fill::new(Arc::clone(&self.cipher), fill, self.start))
    }

    /// The fill of a given number, from value 0 on.
    #[cfg(test)]
    pub(crate) fn fill_number(&self, fill: u64) -> Fill {
        Fill::new(Arc::clone(&self.cipher), fill, 0)
    }

    fn rekey_after_fork(&mut self) -> Result<(), DrawError> {
        match self.origin {
            Origin::Os { process } if process != std::process::id() => {
                let start = self.start;
                *self = Self {
                    start,
                    ..Self::from_os()?
                };
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator")
            .field("next_fill", &self.next_fill)
            .field("start", &self.start)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::CHUNK;

    fn words(generator: &mut Generator, n: usize) -> Vec<u64> {
        let stream = generator.next(n).unwrap();
        (0..n as u64).map(|i| stream.word(i)).collect()
    }

    #[test]
    fn every_way_to_a_word_gives_the_same_word() {
        let mut generator = Generator::from_seed(1);
        let all = words(&mut generator, 3 * CHUNK);
        for start in 0..20 {
            let mut view = Generator::from_seed(1).at(start).unwrap();
            let stream = view.next(2 * CHUNK).unwrap();
            for n in (0..20).chain(CHUNK - 3..=CHUNK) {
                let mut buffer = stream.words();
                for first in [0, 1, 2, 7] {
                    let from = (start + first) as usize;
                    assert_eq!(buffer.at(first, n), &all[from..from + n], "{start} {first} {n}");
                }
            }
        }
    }

    #[test]
    fn fills_children_and_keys_differ() {
        let mut generator = Generator::from_seed(1);
        let mut children = [generator.spawn().unwrap(), generator.spawn().unwrap()];
        let mut seen = vec![words(&mut generator, 4), words(&mut generator, 4)];
        seen.extend(children.iter_mut().map(|child| words(child, 4)));
        seen.push(words(&mut Generator::from_seed(2), 4));
        seen.push(words(&mut Generator::from_os().unwrap(), 4));
        let mut distinct = seen.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), seen.len());
    }

    #[test]
    fn indices_and_fills_end_with_an_error() {
        let mut far = Generator::from_seed(1).at(Generator::INDICES - 1).unwrap();
        assert!(far.next(1).is_ok());
        assert_eq!(far.next(2).err(), Some(DrawError::IndexTooLarge));
        assert_eq!(far.next_fill(), 1, "a refused fill takes nothing");
        far.next_fill = Generator::FILLS;
        assert_eq!(far.next(0).err(), Some(DrawError::FillsExhausted));
    }

    #[test]
    fn debug_shows_no_key() {
        let shown = format!("{:?}", Generator::from_seed(0x1234_5678));
        assert_eq!(shown, "Generator { next_fill: 0, start: 0, .. }");
    }
}
