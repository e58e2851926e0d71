//! Keys and the count of their fills: taking a fill, spawning children, views, and new keys after a fork.

use core::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::cipher::Cipher;
use super::erasure::FillKeys;
use super::fill::{Fill, StagedFill, Substream};
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

/// Origin of the key. It decides what a forked child does and what a fill leaves in memory.
enum Source {
    /// The operating system, in the process of this mark.
    Os { keys: Box<FillKeys>, process: u64 },
    /// The user, who asked for these very values.
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
    /// [`DrawError::NoChild`] if fewer were asked for, [`DrawError::Entropy`] if the operating system gives no entropy,
    /// [`DrawError::OutOfMemory`].
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
    /// of its children, and no fill is taken. No other generator draws what a child draws, but its own views.
    ///
    /// # Errors
    /// [`DrawError::ViewSpawns`] for a view, whose children would be those of its generator; [`DrawError::Entropy`] if the operating system gives
    /// no entropy.
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
    /// A view draws the very noise that the original would draw. Use one or the other for a release, never both. It has no children: spawn them from
    /// the original, before or after.
    ///
    /// # Errors
    /// [`DrawError::Entropy`] if a forked child must take a new key and cannot.
    pub fn at(&mut self, index: u64) -> Result<Self, DrawError> {
        // A view made in a forked child must not have the parent's keys.
        self.rekey_after_fork()?;
        let source = match &self.source {
            Source::Os { keys, process } => Source::Os {
                keys: keys.share(),
                process: *process,
            },
            Source::Given { cipher, next_child } => Source::Given {
                cipher: Arc::clone(cipher),
                next_child: *next_child,
            },
            Source::Taken { cipher, number, process } => Source::Taken {
                cipher: Arc::clone(cipher),
                number: *number,
                process: *process,
            },
        };
        Ok(Self {
            source,
            next_fill: self.next_fill,
            start: index,
            is_view: true,
            may_release: self.may_release,
        })
    }

    /// Takes the next fill, for `n` values, and returns a view of it. Views of that view ([`Generator::at`]) draw the fill in parts.
    ///
    /// Such a view draws no other fill and holds no other fill's key. Where the key is from the operating system, it takes a new one in a forked
    /// child.
    ///
    /// # Errors
    /// [`DrawError`]; the fill is then not taken.
    pub fn next_view(&mut self, n: u64) -> Result<Self, DrawError> {
        let fill = self.next_below(Fill::INDICES, DrawError::IndexTooLarge, n)?;
        Ok(self.view(fill))
    }

    /// [`Generator::next_view`] for a mechanism of several draws for a value.
    ///
    /// # Errors
    /// [`DrawError`]; the fill is then not taken.
    pub fn next_staged_view(&mut self, n: u64) -> Result<Self, DrawError> {
        let fill = self.next_below(StagedFill::INDICES, DrawError::StagedIndexTooLarge, n)?;
        Ok(self.view(fill))
    }

    fn view(&self, fill: Substream) -> Self {
        let (cipher, number, start) = fill.into_parts();
        let process = match self.source {
            Source::Os { process, .. } => Some(process),
            Source::Given { .. } => None,
            Source::Taken { process, .. } => process,
        };
        Self {
            source: Source::Taken { cipher, number, process },
            next_fill: number,
            start,
            is_view: true,
            may_release: self.may_release,
        }
    }

    /// Whether the caller gave the key, so that the same values can be drawn again.
    pub fn is_given(&self) -> bool {
        matches!(self.source, Source::Given { .. } | Source::Taken { process: None, .. })
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
        self.next_below(Fill::INDICES, DrawError::IndexTooLarge, n as u64)
            .map(Fill::new)
    }

    /// [`Generator::next`] for values that take `words` words in a row each: there are as many times fewer indices.
    ///
    /// # Errors
    /// [`DrawError`]; the fill is then not taken.
    pub fn next_wide(&mut self, n: usize, words: u64) -> Result<Fill, DrawError> {
        self.next_below(Fill::INDICES / words, DrawError::IndexTooLarge, n as u64)
            .map(Fill::new)
    }

    /// [`Generator::next`] for a mechanism of several draws for a value. Its stages leave fewer indices to the values: 2⁴⁰.
    ///
    /// # Errors
    /// [`DrawError`]; the fill is then not taken.
    pub fn next_staged(&mut self, n: usize) -> Result<StagedFill, DrawError> {
        self.next_below(StagedFill::INDICES, DrawError::StagedIndexTooLarge, n as u64)
            .map(StagedFill::new)
    }

    fn next_below(&mut self, indices: u64, too_large: DrawError, n: u64) -> Result<Substream, DrawError> {
        self.rekey_after_fork()?;
        if self.next_fill >= Self::FILLS {
            return Err(DrawError::FillsExhausted);
        }
        // Refused before the fill is counted: a view that begins too late must not use up a number.
        let end = self.start.checked_add(n);
        if end.is_none_or(|end| end > indices) {
            return Err(too_large);
        }
        let substream = match &mut self.source {
            // The key serves this fill only, which is then its number 0.
            Source::Os { keys, .. } => Substream::new(keys.next(), 0, self.start),
            Source::Given { cipher, .. } => Substream::new(Arc::clone(cipher), self.next_fill, self.start),
            Source::Taken { cipher, number, .. } if self.next_fill == *number => {
                Substream::new(Arc::clone(cipher), *number, self.start)
            }
            Source::Taken { .. } => return Err(DrawError::FillsExhausted),
        };
        self.next_fill += 1;
        Ok(substream)
    }

    /// The fill of a given number, from value 0 on.
    #[cfg(test)]
    pub(crate) fn fill_number(&self, fill: u64) -> Fill {
        match &self.source {
            Source::Os { .. } | Source::Taken { .. } => panic!("the keys of other fills are gone"),
            Source::Given { cipher, .. } => Fill::new(Substream::new(Arc::clone(cipher), fill, 0)),
        }
    }

    fn rekey_after_fork(&mut self) -> Result<(), DrawError> {
        let process = match self.source {
            Source::Os { process, .. } => Some(process),
            Source::Given { .. } => None,
            Source::Taken { process, .. } => process,
        };
        if process.is_some_and(|process| process != process_mark()) {
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
mod tests {
    use super::super::entropy::tests::{FAILURE, without_entropy};
    use super::*;
    use crate::Mechanism;
    use crate::stream::{CHUNK, TILE, Tile, TileWords, Words};

    fn words(generator: &mut Generator, n: usize) -> Vec<u64> {
        let stream = generator.next(n).unwrap();
        (0..n as u64).map(|i| stream.stage().word(i)).collect()
    }

    /// Evidence: equality with the fill itself, for both sources of keys. The view of the operating system's has no other fill's key.
    #[test]
    fn a_view_of_the_next_fill_draws_it_in_parts_and_nothing_else() {
        let whole = words(&mut Generator::from_seed(5).at(3).unwrap(), 12);
        let mut seeded = Generator::from_seed(5).at(3).unwrap();
        let mut secure = Generator::from_os().unwrap();
        let expected = words(&mut secure.at(0).unwrap(), 12);
        for (generator, start, expected) in [(&mut seeded, 3, whole), (&mut secure, 0, expected)] {
            let mut view = generator.next_view(12).unwrap();
            assert_eq!((view.start(), view.is_given()), (start, generator.is_given()));
            assert_eq!(generator.next_fill(), 1);
            for first in [0, 1, 5, 11] {
                let mut part = view.at(start + first).unwrap();
                assert_eq!(words(&mut part, 12 - first as usize), &expected[first as usize..]);
                assert!(matches!(part.next(1), Err(DrawError::FillsExhausted)));
            }
            assert_eq!(words(&mut view.next_view(12).unwrap(), 12), expected);
            assert!(matches!(view.next_view(12), Err(DrawError::FillsExhausted)));
            assert_ne!(words(generator, 12), expected);
            assert!(matches!(generator.next_view(1 << 63), Err(DrawError::IndexTooLarge)));
            assert!(matches!(
                generator.next_staged_view(1 << 41),
                Err(DrawError::StagedIndexTooLarge)
            ));
            assert_eq!(generator.next_fill(), 2);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "slow: thousands of words one by one")]
    fn every_way_to_a_word_gives_the_same_word() {
        let mut generator = Generator::from_seed(1);
        let all = words(&mut generator, 3 * CHUNK);
        for start in 0..20 {
            let mut view = Generator::from_seed(1).at(start).unwrap();
            let stream = view.next(2 * CHUNK).unwrap();
            for n in (0..20).chain(CHUNK - 3..=CHUNK) {
                let mut buffer = Words::new();
                for first in [0, 1, 2, 7] {
                    let from = (start + first) as usize;
                    assert_eq!(
                        buffer.at(stream.stage(), first, n),
                        &all[from..from + n],
                        "{start} {first} {n}"
                    );
                }
                let index = |k| (k * k % CHUNK) as u64;
                let mut scattered = vec![0; n];
                stream.stage().scattered_words(index, &mut scattered);
                for (k, word) in scattered.iter().enumerate() {
                    assert_eq!(*word, all[(start + index(k)) as usize], "{start} {k}");
                }
            }
        }
    }

    /// Evidence: equality with words one by one, for rows apart and rows one after the other.
    #[test]
    #[cfg_attr(miri, ignore = "slow: thousands of words one by one")]
    fn words_of_tiles_are_those_of_their_values() {
        let all = words(&mut Generator::from_seed(1), 4 * TILE);
        let mut buffer = TileWords::new();
        for (rows, columns) in [(1, 2), (1, TILE), (2, 6), (7, 20), (8, 126), (8, 128)] {
            for (start, first, apart) in [(0, 0, 0), (2, 0, 64), (0, 10, 2), (8, 2, 98)] {
                let stream = Generator::from_seed(1).at(start).unwrap().next(3 * TILE).unwrap();
                let pitch = (columns + apart) as u64;
                let tile = Tile {
                    first,
                    pitch,
                    rows,
                    columns,
                };
                let value = |row, column| first + row as u64 * pitch + column as u64;
                let values: Vec<u64> = (0..rows)
                    .flat_map(|row| (0..columns).map(move |column| value(row, column)))
                    .collect();
                let expected: Vec<u64> = values.iter().map(|value| all[(start + value) as usize]).collect();
                assert_eq!(buffer.of_tile(stream.stage(), &tile), expected, "{start} {tile:?}");
                assert!((0..tile.len()).map(|i| tile.index(i)).eq(values), "{tile:?}");
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
        let mut far = Generator::from_seed(1).at(Fill::INDICES - 1).unwrap();
        assert!(far.next(1).is_ok());
        assert_eq!(far.next(2).err(), Some(DrawError::IndexTooLarge));
        assert_eq!(far.next_fill(), 1, "a refused fill takes nothing");
        far.next_fill = Generator::FILLS;
        assert_eq!(far.next(0).err(), Some(DrawError::FillsExhausted));
    }

    /// Makes a generator what it is in a forked child.
    fn as_in_a_forked_child(generator: &mut Generator) {
        match &mut generator.source {
            Source::Os { process, .. }
            | Source::Taken {
                process: Some(process), ..
            } => *process = process.wrapping_sub(1),
            Source::Given { .. } | Source::Taken { process: None, .. } => panic!("forks change nothing"),
        }
    }

    #[test]
    fn without_entropy_no_generator_is_made() {
        let mut parent = Generator::from_os().unwrap();
        without_entropy(|| {
            assert_eq!(Generator::from_os().err(), Some(FAILURE.into()));
            assert_eq!(parent.spawn().err(), Some(FAILURE.into()));
        });
    }

    #[test]
    fn a_forked_child_that_gets_no_new_key_draws_nothing() {
        let mut generator = Generator::from_os().unwrap();
        let mut same = generator.at(0).unwrap();
        as_in_a_forked_child(&mut generator);
        let mut out = [7_i64; 3];
        without_entropy(|| {
            for _ in 0..3 {
                assert_eq!(generator.next(1).err(), Some(FAILURE.into()));
                assert_eq!(generator.next_staged(1).err(), Some(FAILURE.into()));
                assert_eq!(generator.at(0).err(), Some(FAILURE.into()));
                assert_eq!(generator.spawn().err(), Some(FAILURE.into()));
                let mechanism = crate::DiscreteLaplace::new(1.0, 1).unwrap();
                assert_eq!(mechanism.fill(&mut generator, &mut out), Err(FAILURE.into()));
            }
        });
        assert_eq!((generator.next_fill(), out), (0, [7; 3]));
        assert_ne!(
            words(&mut generator, 4),
            words(&mut same, 4),
            "entropy is back, and so is a new key"
        );
    }

    #[test]
    fn views_of_a_generator_of_the_operating_systems_agree_with_it_fill_for_fill() {
        let mut generator = Generator::from_os().unwrap();
        for _ in 0..if cfg!(miri) { 6 } else { 40 } {
            let mut view = generator.at(2).unwrap();
            for _ in 0..3 {
                let all = words(&mut generator, 6);
                assert_eq!(words(&mut view, 4), all[2..]);
            }
            assert_eq!(view.next_fill(), generator.next_fill());
        }
    }

    /// Evidence: the parts are those of one fill again, which is not the parent's.
    #[test]
    fn in_a_forked_child_the_parts_of_a_view_are_of_one_new_fill() {
        let mut view = Generator::from_os().unwrap().next_view(12).unwrap();
        let parents = words(&mut view.at(0).unwrap(), 12);
        as_in_a_forked_child(&mut view);
        let all = words(&mut view.at(0).unwrap(), 12);
        assert_ne!(all, parents);
        assert_eq!(words(&mut view.at(5).unwrap(), 7), all[5..]);
    }

    /// Evidence: every way to a view, of every source of keys. The generator itself goes on to spawn the children that it would have without views.
    #[test]
    fn a_view_has_no_children() {
        let makers: [fn() -> Generator; 2] = [|| Generator::from_seed(1), || Generator::from_os().unwrap()];
        for make in makers {
            let mut generator = make();
            let mut views = [generator.at(0).unwrap(), generator.at(1000).unwrap()];
            let mut views_of_views = [
                views[1].at(3).unwrap(),
                generator.next_view(4).unwrap(),
                generator.next_staged_view(4).unwrap(),
                generator.spawn().unwrap().at(2).unwrap(),
            ];
            for view in views.iter_mut().chain(&mut views_of_views) {
                assert_eq!(view.spawn().err(), Some(DrawError::ViewSpawns));
                assert_eq!(view.children(0).err(), Some(DrawError::ViewSpawns));
            }
            let mut second = Generator::from_seed(1).children(2).unwrap().child(1).unwrap();
            let drawn = words(&mut generator.spawn().unwrap(), 4);
            assert_eq!(drawn == words(&mut second, 4), generator.is_given());
        }
    }

    /// Evidence: one child more than was asked for is the first of those that are spawned next; and the indices of an AES input end at 2⁶⁴.
    #[test]
    fn no_child_is_made_beyond_those_that_were_asked_for() {
        for mut generator in [Generator::from_seed(1), Generator::from_os().unwrap()] {
            let two = generator.children(2).unwrap();
            assert!(two.child(1).is_ok());
            assert_eq!(two.child(2).err(), Some(DrawError::NoChild));
            assert_eq!(generator.children(0).unwrap().child(0).err(), Some(DrawError::NoChild));
        }
        let mut generator = Generator::from_seed(1);
        assert!(generator.children(3).is_ok());
        assert_eq!(generator.children(Generator::CHILDREN - 2).err(), Some(DrawError::NoChild));
        let last = generator.children(Generator::CHILDREN - 3).unwrap();
        let mut fourth = Generator::from_seed(1).children(4).unwrap().child(3).unwrap();
        assert_eq!(words(&mut last.child(0).unwrap(), 4), words(&mut fourth, 4));
        assert!(last.child(Generator::CHILDREN - 4).is_ok());
        assert_eq!(generator.spawn().err(), Some(DrawError::NoChild));
    }

    /// Evidence: real children, by the C library and past it; the parent's own keys, given ones, are the control that repeats.
    #[test]
    #[cfg(target_os = "linux")]
    #[cfg_attr(miri, ignore = "Miri has no fork")]
    fn a_forked_child_draws_other_words() {
        use crate::testing::children::{clone, fork, in_child};
        let next_word = |generator: &mut Generator| generator.next(1).unwrap().stage().word(0).to_le_bytes();
        for made_by in [fork, clone] {
            let itself: fn(Generator) -> Generator = |generator| generator;
            for view in [
                itself,
                |mut whole| whole.at(0).unwrap(),
                |mut whole| whole.next_view(1).unwrap(),
            ] {
                let mut generator = Generator::from_os().unwrap();
                next_word(&mut generator);
                let mut generator = view(generator);
                let there = in_child(made_by, || next_word(&mut generator));
                assert_ne!(there, next_word(&mut generator));
                let mut given = Generator::from_seed(1);
                let there = in_child(made_by, || next_word(&mut given));
                assert_eq!(there, next_word(&mut given));
            }
        }
    }

    #[test]
    fn debug_shows_no_key() {
        let shown = format!("{:?}", Generator::from_seed(0x1234_5678));
        assert_eq!(shown, "Generator { next_fill: 0, start: 0, .. }");
    }
}
