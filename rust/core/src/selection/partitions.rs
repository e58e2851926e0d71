//! Which partitions of a data set may be shown, and with which counts (docs/contract.md, selecting partitions).

use std::hint::black_box;
use std::sync::OnceLock;

use crate::declassify;
use crate::draw::{LEAST_DELTA, check_delta};
use crate::error::{DrawError, ParamError};
use crate::exact::{Extension, Growth, last_true};
use crate::kernel::{BLOCK, Tier, on_tier};
use crate::lattice::{LEAST_EPS, Unread, check_positive, largest_quotient, release::check_lengths};
use crate::memory::{self, OutOfMemory};
use crate::stream::{CHUNK, Fill, Generator, Words};
use crate::wiped::wipe;

/// Thresholds of more counts are not kept: they would take more than 32 MiB.
const MOST_KEPT: u64 = 1 << 22;

/// Up to this number, thresholds are counted rather than searched: the same work for every word.
const FEW: usize = 32;

/// The most leading bits that choose where a search begins.
const MOST_GUIDE_BITS: u32 = 14;

const SIGN: u64 = 1 << 63;

const MOST_PARTITIONS: u64 = (1 << 53) - 1;

/// Shows each of many partitions with the largest probability that (ε, δ)-differential privacy allows for its count of people, exactly
/// (Desfontaines, Voss, Gipson and Mandayam 2022). A partition without people is never shown.
///
/// It is the largest for people of one partition each. For several, the Python class takes discrete Gaussian noise where that is better.
///
/// ```
/// use stairnoise::{Generator, PartitionSelection};
///
/// let mechanism = PartitionSelection::new(1.0, 1e-6, 1)?;
/// let counts = [0, 1, 14, 1000];
/// let mut shown = [false; 4];
/// mechanism.select(&mut Generator::from_os()?, &counts, &mut shown)?;
/// assert!(!shown[0] && shown[3]);
/// let mut noisy = [0; 4];
/// mechanism.release(&mut Generator::from_os()?, &counts, &mut noisy)?;
/// assert!(noisy[0] == 0 && noisy[3] > 980);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PartitionSelection {
    eps: f64,
    delta: f64,
    growth: Growth,
    median: u64,
    /// Made for the first draw: that may take milliseconds, and many are made for their probabilities alone.
    thresholds: OnceLock<Option<Thresholds>>,
}

impl PartitionSelection {
    /// ε and δ are for all partitions to whose counts one person adds 1, at most `max_partitions_contributed`; each has an equal share, rounded down.
    ///
    /// # Errors
    /// [`ParamError`] unless ε is finite and its share at least 2⁻⁴⁰, δ at most ½ and its share at least 2⁻¹²⁸, and partitions from 1 to 2⁵³ − 1.
    pub fn new(eps: f64, delta: f64, max_partitions_contributed: u64) -> Result<Self, ParamError> {
        let k = max_partitions_contributed;
        check_positive("eps", eps)?;
        check_delta(delta)?;
        let (possible, rule) = ((1..=MOST_PARTITIONS).contains(&k), "from 1 to 2**53 - 1");
        ParamError::require(possible, "max_partitions_contributed", rule, k as f64)?;
        let (share, share_of_delta) = (largest_quotient(eps, k), largest_quotient(delta, k));
        ParamError::require(share >= LEAST_EPS, "eps", "at least 2**-40 for each partition", eps)?;
        let enough = share_of_delta >= LEAST_DELTA;
        ParamError::require(enough, "delta", "at least 2**-128 for each partition", delta)?;
        let growth = Growth::new(share, share_of_delta);
        Ok(Self {
            eps: share,
            delta: share_of_delta,
            median: growth.median(),
            growth,
            thresholds: OnceLock::new(),
        })
    }

    /// The share of ε that one partition has.
    pub fn eps(&self) -> f64 {
        self.eps
    }

    /// The share of δ that one partition has.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// The count up to which π(n + 1) = e^ε·π(n) + δ.
    pub fn rising(&self) -> u64 {
        self.growth.rising
    }

    /// The least count that is always shown.
    pub fn certain(&self) -> u64 {
        self.growth.certain
    }

    /// The least count that is shown with a probability above ½, which is the least count that is released.
    pub fn median(&self) -> u64 {
        self.median
    }

    /// The position of the first count that is negative.
    pub fn refused(&self, counts: Unread<'_, i64>) -> Option<usize> {
        // In one pass without branches first: the sign bit of all of them.
        let any = (0..counts.len()).fold(0, |all, i| all | counts.read(i)) < 0;
        any.then(|| (0..counts.len()).position(|i| counts.read(i) < 0)).flatten()
    }

    /// Writes whether each partition is shown, by its count of people.
    ///
    /// # Errors
    /// [`DrawError`]: a generator that is exhausted or has a seed ([`DrawError::Seeded`]), lengths that differ, a negative count, no memory. Then
    /// nothing was drawn or written.
    pub fn select(&self, generator: &mut Generator, counts: &[i64], out: &mut [bool]) -> Result<(), DrawError> {
        let fill = self.next(generator, counts, out)?;
        self.write_shown(&fill, 0, Unread::of(counts), out);
        Ok(())
    }

    /// Writes the noisy count of each partition that is shown, which is at least [`PartitionSelection::median`], and 0 for each that is not.
    pub fn release(&self, generator: &mut Generator, counts: &[i64], out: &mut [i64]) -> Result<(), DrawError> {
        let fill = self.next(generator, counts, out)?;
        self.write_released(&fill, 0, Unread::of(counts), out);
        Ok(())
    }

    fn next<T>(&self, generator: &mut Generator, counts: &[i64], out: &[T]) -> Result<Fill, DrawError> {
        generator.check_release()?;
        check_lengths(counts, out)?;
        if let Some(index) = self.refused(Unread::of(counts)) {
            return Err(DrawError::Count(index));
        }
        self.prepare()?;
        generator.next(out.len())
    }

    /// Makes what draws need; they make it themselves where there is memory.
    pub fn prepare(&self) -> Result<(), OutOfMemory> {
        memory::made(&self.thresholds, || Thresholds::new(&self.growth, MOST_KEPT)).map(drop)
    }

    /// The values `first .. first + out.len()` of a fill: whether the partitions with these counts are shown. Returns whether no count was negative.
    pub fn write_shown(&self, fill: &Fill, first: u64, counts: Unread<'_, i64>, out: &mut [bool]) -> bool {
        let (stage, mut words, mut own) = (fill.stage(0), Words::new(), [0; CHUNK]);
        let chunks = (first..).step_by(CHUNK).zip(out.chunks_mut(CHUNK));
        chunks.enumerate().all(|(n, (first, out))| {
            let (own, counts) = (&mut own[..out.len()], counts.from(n * CHUNK));
            let allowed = on_tier!(Tier::current(), copy(counts, own));
            let words = words.at(stage, first, out.len());
            self.shown(words, |i, e| stage.extension(first + i as u64, e), own, out);
            allowed
        })
    }

    /// As [`PartitionSelection::write_shown`], with the noisy count instead of true and 0 instead of false.
    pub fn write_released(&self, fill: &Fill, first: u64, counts: Unread<'_, i64>, out: &mut [i64]) -> bool {
        let (stage, mut words) = (fill.stage(0), Words::new());
        let chunks = (first..).step_by(CHUNK).zip(out.chunks_mut(CHUNK));
        chunks.enumerate().all(|(n, (first, out))| {
            let words = words.at(stage, first, out.len());
            self.release_words(
                words,
                |i, e| stage.extension(first + i as u64, e),
                counts.from(n * CHUNK),
                out,
            )
        })
    }

    /// [`PartitionSelection::write_released`] for given words, at most a chunk; `extension` as in [`PartitionSelection::shown`].
    pub(crate) fn release_words(
        &self,
        words: &[u64],
        extension: impl Fn(usize, usize) -> u64,
        counts: Unread<'_, i64>,
        out: &mut [i64],
    ) -> bool {
        let (mut needed, mut all) = ([0; CHUNK], 0);
        self.needed(words, extension, &mut needed[..words.len()]);
        for (i, (out, needed)) in out.iter_mut().zip(needed).enumerate() {
            let count = counts.read(i);
            all |= count;
            *out = self.noisy(count, needed);
        }
        wipe(&mut needed[..words.len()]);
        all >= 0
    }

    /// The released count, without a branch: `needed` is the least count that is shown by the same word.
    fn noisy(&self, count: i64, needed: u64) -> i64 {
        let above = count.saturating_sub(needed.cast_signed());
        // LLVM 22 makes a branch of a mask that it knows.
        let shown = black_box(!(above >> 63));
        above.saturating_add(self.median.cast_signed()) & shown
    }

    /// Whether each count is shown by its word; `extension(i, e)` is extension word `e` of `words[i]`.
    fn shown(&self, words: &[u64], extension: impl Fn(usize, usize) -> u64, counts: &[i64], out: &mut [bool]) {
        let coin = |i: usize, count: i64| {
            declassify::slow_path();
            let mut extension = |e| declassify::word(extension(i, e));
            self.growth
                .contains(count.cast_unsigned(), declassify::word(words[i]), &mut extension)
        };
        let Some(prefixes) = self.prefixes() else {
            for (i, (out, &count)) in out.iter_mut().zip(counts).enumerate() {
                *out = coin(i, count);
            }
            return;
        };
        let last = prefixes.len() - 1;
        let prefix = |count: i64| prefixes[count.cast_unsigned().min(last as u64) as usize];
        let mut tied = 0;
        for ((out, &word), &count) in out.iter_mut().zip(words).zip(counts) {
            let prefix = prefix(count);
            *out = word < prefix;
            tied |= u64::from(word == prefix);
        }
        if declassify::condition(tied != 0) {
            for (i, (out, &count)) in out.iter_mut().zip(counts).enumerate() {
                if declassify::condition(words[i] == prefix(count)) {
                    *out = coin(i, count);
                }
            }
        }
    }

    /// The least count that each word shows, from 1 to n₂; `extension` as in [`PartitionSelection::shown`].
    fn needed(&self, words: &[u64], extension: impl Fn(usize, usize) -> u64, out: &mut [u64]) {
        if let Some(prefixes) = self.prefixes().filter(|prefixes| prefixes.len() - 2 <= FEW) {
            // The first and the last are no thresholds.
            let thresholds = &prefixes[1..prefixes.len() - 1];
            if declassify::condition(on_tier!(Tier::current(), count(thresholds, words, out))) {
                return;
            }
        }
        for (i, (&word, out)) in words.iter().zip(out).enumerate() {
            let word = declassify::word(word);
            let mut extension = |e| declassify::word(extension(i, e));
            *out = declassify::found(self.search_needed(word, &mut extension));
        }
    }

    fn search_needed(&self, word: u64, extension: &mut Extension<'_>) -> u64 {
        let certain = self.growth.certain;
        let Some(thresholds) = self.kept() else {
            return 1 + last_true(self.median, certain, |n| !self.growth.contains(n, word, extension));
        };
        let mut n = thresholds.first_not_below(word);
        while n < certain && thresholds.prefixes[n as usize] == word {
            declassify::slow_path();
            if self.growth.contains(n, word, extension) {
                break;
            }
            n += 1;
        }
        n
    }

    /// ⌊π(n)·2^64⌋ by n, if they are kept; 2^64 − 1 for n₂, where the coin says what is beyond.
    fn prefixes(&self) -> Option<&[u64]> {
        self.kept().map(|thresholds| &*thresholds.prefixes)
    }

    fn kept(&self) -> Option<&Thresholds> {
        self.thresholds.get()?.as_ref()
    }
}

/// Copies the first counts; whether none of them is negative.
#[inline(always)]
fn copy(counts: Unread<'_, i64>, own: &mut [i64]) -> bool {
    let (mut done, mut all) = (0, 0);
    let (blocks, rest) = own.as_chunks_mut::<BLOCK>();
    for block in blocks {
        *block = counts.read_all(done);
        all |= block.iter().fold(0, |all, count| all | count);
        done += BLOCK;
    }
    counts.from(done).copy_to(rest);
    rest.iter().fold(all, |all, count| all | count) >= 0
}

/// Writes one more than the number of thresholds that are not above each word; whether none is equal to one.
#[inline(always)]
fn count(thresholds: &[u64], words: &[u64], out: &mut [u64]) -> bool {
    out.fill(1);
    let mut tied = 0;
    for &threshold in thresholds {
        // Signed, because AVX2 compares signed integers only.
        let signed = (threshold ^ SIGN).cast_signed();
        for (out, &word) in out.iter_mut().zip(words) {
            *out = out.wrapping_add(u64::from((word ^ SIGN).cast_signed() >= signed));
            tied |= u64::from(word == threshold);
        }
    }
    tied == 0
}

/// The words of π(n), and where among them to look for a word.
#[derive(Debug)]
struct Thresholds {
    prefixes: Vec<u64>,
    /// For each choice of leading bits, the first n ≥ 1 whose prefix is not below the least word of them; one more entry closes the last.
    guide: Vec<u32>,
    guide_bits: u32,
}

impl Thresholds {
    /// `None` if there are `most` or more.
    fn new(growth: &Growth, most: u64) -> Result<Option<Self>, OutOfMemory> {
        let certain = growth.certain;
        if certain >= most {
            return Ok(None);
        }
        let mut prefixes = memory::filled(0, certain as usize + 1)?;
        growth.visit_prefixes(|n, prefix| prefixes[n as usize] = prefix);
        prefixes[certain as usize] = u64::MAX;
        let guide_bits = (certain.ilog2() + 2).min(MOST_GUIDE_BITS);
        let guide = (0..=1_u64 << guide_bits).map(|lead| {
            let least = u128::from(lead) << (64 - guide_bits);
            let below = prefixes[1..certain as usize].partition_point(|prefix| u128::from(*prefix) < least);
            1 + below as u32
        });
        let guide = memory::collected(guide)?;
        Ok(Some(Self {
            prefixes,
            guide,
            guide_bits,
        }))
    }

    /// The first n from 1 to n₂ whose prefix is not below the word.
    fn first_not_below(&self, word: u64) -> u64 {
        let lead = (word >> (64 - self.guide_bits)) as usize;
        let (least, most) = (self.guide[lead] as usize, self.guide[lead + 1] as usize);
        let below = self.prefixes[least..most].partition_point(|prefix| *prefix < word);
        (least + below) as u64
    }
}

#[cfg(test)]
mod tests;
