//! Access for the checks of timing and taint (docs/evidence/timing.md), with the feature `probe`; not part of the public interface.

use crate::cache_lines::CacheLines;
pub use crate::declassify::hooks::{CLASSIFY, DECLASSIFY, SLOW_PATHS};
use crate::kernel::Tier;
use crate::lattice::value::Scaling;
use crate::stream::CHUNK;
use crate::{Answer, OneWordMechanism, PartitionSelection, Unread, Value};

/// [`OneWordMechanism::write`] for given words, whose extension words are all zero.
pub fn write<T: Value>(mechanism: &OneWordMechanism, words: &[u64], out: &mut [T]) {
    mechanism.sampler().write_words(Tier::current(), words, &|_, _| 0, out);
}

/// [`OneWordMechanism::release_part`] for given words, whose extension words are all zero.
pub fn release<A: Answer, T: Value>(mechanism: &OneWordMechanism, words: &[u64], answers: &[A], out: &mut [T]) {
    let CacheLines(noise) = &mut CacheLines([0_i64; CHUNK]);
    let tier = Tier::current();
    for ((words, answers), out) in words.chunks(CHUNK).zip(answers.chunks(CHUNK)).zip(out.chunks_mut(CHUNK)) {
        let noise = &mut noise[..out.len()];
        let answers = Unread::of(answers);
        mechanism.sampler().release_words(tier, words, &|_, _| 0, answers, noise, out);
    }
}

/// [`PartitionSelection::write_released`] for given words, at most a chunk, whose extension words are all zero.
pub fn release_partitions(mechanism: &PartitionSelection, words: &[u64], counts: &[i64], out: &mut [i64]) {
    mechanism.release_words(words, |_, _| 0, Unread::of(counts), out);
}

/// Calls `found` with the position of every word that the fast path leaves to the slow path. `scratch` is as long as `words`.
pub fn undecided(mechanism: &OneWordMechanism, words: &[u64], scratch: &mut [f64], mut found: impl FnMut(usize)) {
    mechanism
        .sampler()
        .kernel
        .fill(Tier::current(), words, Scaling::WHOLE, scratch, |i, _: &mut f64| found(i));
}

/// Which kernel draws a mechanism: its second level.
pub fn kernel(mechanism: &OneWordMechanism) -> &'static str {
    mechanism.sampler().kernel.name()
}

/// Which first level draws a mechanism; "none" of one that has the second alone.
pub fn first_level(mechanism: &OneWordMechanism) -> &'static str {
    mechanism.sampler().kernel.first_level(Tier::current())
}

/// Whether the first level is certain of a block of this word; true where there is none.
pub fn is_certain(mechanism: &OneWordMechanism, word: u64) -> bool {
    mechanism.sampler().kernel.is_certain(Tier::current(), word)
}

/// The first levels that mechanisms have on the instruction set in use.
pub fn first_levels() -> &'static [&'static str] {
    if Tier::current().has_tables() {
        &["counts", "lines", "narrow table", "none", "octaves", "table"]
    } else {
        &["counts", "lines", "logarithm", "narrow", "none"]
    }
}
