//! Keys and the count of their fills: taking a fill, spawning children, views, and new keys after a fork.

use core::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::cipher::Cipher;
use super::erasure::FillKeys;
use super::fill::{Fill, LOG2_VALUES};
use super::process::process_mark;
use crate::error::DrawError;
use crate::memory;

/// A key and the count of its fills: the source of all noise.
///
/// Every fill takes the next substream, so successive fills never share randomness, whatever their mechanisms. Value `i` of a fill is a
/// function of (key, fill, i) alone: chunking, threads and machines do not matter.
///
/// There is deliberately no `Clone`, no serialisation and no key in `Debug`: a copy would repeat noise. Keys are wiped on drop.
pub struct Generator {
    source: Source,
    next_fill: u64,
    start: u64,
    /// Whether it draws what another generator draws too.
    is_view: bool,
    /// False for a seed unless [`Generator::allow_release`] was called.
    may_release: bool,
}

/// Origin of the key. It decides what a forked child does and what a fill leaves in memory. Clones are for views.
#[derive(Clone)]
enum Source {
    /// The operating system, in the process of this mark.
    Os { keys: FillKeys, process: u64 },
    /// The caller, who wants the values of this key.
    Given { cipher: Arc<Cipher>, next_child: u64 },
    /// A fill that another generator took: the key of this fill alone.
    Taken {
        cipher: Arc<Cipher>,
        number: u64,
        /// Where the key is the operating system's.
        process: Option<u64>,
    },
}

impl Source {
    fn from_os() -> Result<Self, DrawError> {
        Ok(Self::Os {
            keys: FillKeys::from_os()?,
            process: process_mark(),
        })
    }

    /// The process in which the operating system gave the key.
    fn process(&self) -> Option<u64> {
        match self {
            Self::Os { process, .. } => Some(*process),
            Self::Given { .. } => None,
            Self::Taken { process, .. } => *process,
        }
    }
}

/// Children of a [`Generator`], made on demand.
///
/// Making the same child of a given key twice repeats its noise.
pub struct Children {
    /// The parent's key and the number of the first child, where the key is a given one.
    given: Option<(Arc<Cipher>, u64)>,
    n: u64,
    may_release: bool,
}

impl Children {
    /// The child of this number, from 0 on.
    ///
    /// # Errors
    /// [`DrawError::NoChild`] if fewer were asked for, [`DrawError::Entropy`] if the system gives no entropy, [`DrawError::OutOfMemory`].
    pub fn child(&self, number: u64) -> Result<Generator, DrawError> {
        if number >= self.n {
            return Err(DrawError::NoChild);
        }
        memory::has_room()?;
        match &self.given {
            None => Generator::from_os(),
            Some((cipher, first)) => Ok(Generator {
                may_release: self.may_release,
                ..Generator::from_key(&cipher.child_key(first + number))
            }),
        }
    }
}

impl Generator {
    /// The number of a fill has 48 bits of an AES input.
    const FILLS: u64 = 1 << 48;

    /// The key of a child has two indices of AES inputs, which have 64 bits.
    const CHILDREN: u64 = 1 << 63;

    /// A key from the operating system, with the feature `entropy`.
    ///
    /// In a forked child the generator takes a new key before its first draw: parent and child never share noise. Keys are erased as they
    /// are used: memory that is read after a fill was dropped does not reveal its noise (contract, section 11).
    ///
    /// # Errors
    /// [`DrawError::Entropy`] if the operating system gives no entropy, and always without the feature `entropy`; there is no fallback.
    pub fn from_os() -> Result<Self, DrawError> {
        Source::from_os().map(Self::new)
    }

    /// A key of the caller's: equal keys give equal noise, in every process, forked children included.
    pub fn from_key(key: &[u8; 32]) -> Self {
        Self::new(Source::Given {
            cipher: Cipher::new(key),
            next_child: 0,
        })
    }

    /// A reproducible stream for tests and studies. Noise may be drawn from it, but releases and selections refuse it ([`DrawError::Seeded`]):
    /// anyone who guesses the seed can subtract the noise.
    ///
    /// ```
    /// use stairnoise::{DrawError, Generator, Laplace, Mechanism};
    ///
    /// let mechanism = Laplace::new(1.0, 1.0)?;
    /// let noise = mechanism.draw_vec(&mut Generator::from_seed(7), 3)?;
    /// assert_eq!(mechanism.draw_vec(&mut Generator::from_seed(7), 3)?, noise);
    /// assert_eq!(mechanism.release_one(&mut Generator::from_seed(7), 12.5), Err(DrawError::Seeded));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_seed(seed: u128) -> Self {
        // The key that the contract, section 1, gives a seed.
        let mut key = Zeroizing::new([0; 32]);
        key[..16].copy_from_slice(&seed.to_le_bytes());
        key[16..].copy_from_slice(b"stairnoise/seed1");
        Self {
            may_release: false,
            ..Self::from_key(&key)
        }
    }

    /// Lets releases and selections accept this generator although it has a seed, in tests of code that releases.
    ///
    /// ```
    /// use stairnoise::{Generator, Laplace, Mechanism};
    ///
    /// let mechanism = Laplace::new(1.0, 1.0)?;
    /// let released = mechanism.release_one(&mut Generator::from_seed(7).allow_release(), 12.5)?;
    /// assert_eq!(mechanism.release_one(&mut Generator::from_seed(7).allow_release(), 12.5)?, released);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn allow_release(mut self) -> Self {
        self.may_release = true;
        self
    }

    /// Whether a release may draw from this generator. Whole releases and selections ask it themselves; those in pieces, from a [`Fill`] or a
    /// [`MechanismFill`](crate::MechanismFill), leave it to the caller.
    ///
    /// # Errors
    /// [`DrawError::Seeded`] for a generator with a seed, its children and its views, unless [`Generator::allow_release`] was called.
    pub fn check_release(&self) -> Result<(), DrawError> {
        self.may_release.then_some(()).ok_or(DrawError::Seeded)
    }

    fn new(source: Source) -> Self {
        Self {
            source,
            next_fill: 0,
            start: 0,
            is_view: false,
            may_release: true,
        }
    }

    /// An independent generator. Its key is from the operating system if this one's is. Otherwise it is derived from this one's key and the count
    /// of its children, and no fill is taken. Only its own views draw what a child draws.
    ///
    /// # Errors
    /// [`DrawError::ViewSpawns`] for a view, whose children would be its generator's; [`DrawError::Entropy`] if the system gives no entropy.
    pub fn spawn(&mut self) -> Result<Self, DrawError> {
        self.children(1)?.child(0)
    }

    /// The next `n` children, which [`Generator::spawn`] would make one by one, to be made when they are needed.
    ///
    /// A given key stays in memory for as long as children of it are to be made.
    ///
    /// # Errors
    /// [`DrawError::ViewSpawns`] for a view; [`DrawError::NoChild`] beyond the 2⁶³ children that a key has.
    pub fn children(&mut self, n: u64) -> Result<Children, DrawError> {
        if self.is_view {
            return Err(DrawError::ViewSpawns);
        }
        let given = match &mut self.source {
            Source::Os { .. } | Source::Taken { .. } => None,
            Source::Given { cipher, next_child } => {
                let first = *next_child;
                if n > Self::CHILDREN - first {
                    return Err(DrawError::NoChild);
                }
                *next_child += n;
                Some((Arc::clone(cipher), first))
            }
        };
        Ok(Children {
            given,
            n,
            may_release: self.may_release,
        })
    }

    /// The same key and the same next fill, with every fill starting at value `index`: for computing a slice of a fill elsewhere.
    ///
    /// A view draws the noise that the original would draw: use one or the other for a release, never both. Children are spawned from the original.
    ///
    /// # Errors
    /// [`DrawError::Entropy`] if a forked child must take a new key and cannot.
    pub fn at(&mut self, index: u64) -> Result<Self, DrawError> {
        // A view made in a forked child must not have the parent's keys.
        self.rekey_after_fork()?;
        Ok(Self {
            source: self.source.clone(),
            next_fill: self.next_fill,
            start: index,
            is_view: true,
            may_release: self.may_release,
        })
    }

    /// Takes the next fill, for `n` values, and returns a view of it. Views of that view ([`Generator::at`]) draw the fill in parts.
    ///
    /// Such a view draws no other fill and holds no other fill's key. In a forked child it takes a new key, unless the key was given.
    pub fn next_view(&mut self, n: u64) -> Result<Self, DrawError> {
        self.take_view(LOG2_VALUES, n)
    }

    /// [`Generator::next_view`] of a fill whose indices are below 2 to this power.
    pub(crate) fn take_view(&mut self, log2_values: u32, n: u64) -> Result<Self, DrawError> {
        let fill = self.take(log2_values, n)?;
        let (cipher, number, process) = (fill.cipher, fill.number, self.source.process());
        Ok(Self {
            source: Source::Taken { cipher, number, process },
            next_fill: number,
            start: fill.start,
            is_view: true,
            may_release: self.may_release,
        })
    }

    /// Whether the caller gave the key, so that the same values can be drawn again.
    pub fn is_given(&self) -> bool {
        self.source.process().is_none()
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
    pub fn next(&mut self, n: usize) -> Result<Fill, DrawError> {
        self.take(LOG2_VALUES, n as u64)
    }

    /// [`Generator::next`] for a mechanism of several draws for a value. Its stages leave fewer indices to the values.
    #[cfg(test)]
    pub(crate) fn next_staged(&mut self, n: usize) -> Result<Fill, DrawError> {
        self.take(super::fill::LOG2_STAGED, n as u64)
    }

    /// [`Generator::next`] of a fill whose indices are below 2 to this power.
    pub(crate) fn take(&mut self, log2_values: u32, n: u64) -> Result<Fill, DrawError> {
        self.rekey_after_fork()?;
        if self.next_fill >= Self::FILLS {
            return Err(DrawError::FillsExhausted);
        }
        // Refused before the fill is counted: a view that begins too late must not use up a number.
        let end = self.start.checked_add(n);
        if end.is_none_or(|end| end > 1 << log2_values) {
            return Err(if log2_values == LOG2_VALUES {
                DrawError::IndexTooLarge
            } else {
                DrawError::StagedIndexTooLarge
            });
        }
        let (cipher, number) = match &mut self.source {
            // The key serves this fill only, which is then its number 0.
            Source::Os { keys, .. } => (keys.next(), 0),
            Source::Given { cipher, .. } => (Arc::clone(cipher), self.next_fill),
            Source::Taken { cipher, number, .. } if self.next_fill == *number => (Arc::clone(cipher), *number),
            Source::Taken { .. } => return Err(DrawError::FillsExhausted),
        };
        self.next_fill += 1;
        Ok(Fill::new(cipher, number, self.start, log2_values))
    }

    /// The fill of a given number, from value 0 on.
    #[cfg(test)]
    pub(crate) fn fill_number(&self, fill: u64) -> Fill {
        match &self.source {
            Source::Os { .. } | Source::Taken { .. } => panic!("the keys of other fills are gone"),
            Source::Given { cipher, .. } => Fill::new(Arc::clone(cipher), fill, 0, LOG2_VALUES),
        }
    }

    fn rekey_after_fork(&mut self) -> Result<(), DrawError> {
        if self.source.process().is_some_and(|process| process != process_mark()) {
            self.source = Source::from_os()?;
            // The new key has made no fill yet.
            self.next_fill = 0;
        }
        Ok(())
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
mod tests;
