//! Doors for the checks of timing and taint (docs/evidence/timing.md), and the laws that checks go over, behind the feature `probe`. No part of
//! the public interface.

use crate::kernel::Tier;
use crate::lattice::value::Steps;
use crate::laws::PROBED;
pub use crate::laws::probed::{Named, Numbers, Probed};
use crate::lines::Lines;
pub use crate::reveal::hooks::{CLASSIFY, DECLASSIFY, SLOW_PATHS};
use crate::stream::CHUNK;
use crate::{Answer, OneWordLaw, ParamError, PartitionSelection, Value};

/// [`OneWordLaw::write`] for given words, whose extension words are all zero.
pub fn write<T: Value>(law: &OneWordLaw, words: &[u64], out: &mut [T]) {
    law.sampler().write_words(Tier::current(), words, |_, _| 0, out);
}

/// [`OneWordLaw::release_part`] for given words, whose extension words are all zero.
pub fn release<A: Answer, T: Value>(law: &OneWordLaw, words: &[u64], answers: &[A], out: &mut [T]) {
    let Lines(noise) = &mut Lines([0_i64; CHUNK]);
    let tier = Tier::current();
    for ((words, answers), out) in words.chunks(CHUNK).zip(answers.chunks(CHUNK)).zip(out.chunks_mut(CHUNK)) {
        let noise = &mut noise[..out.len()];
        law.sampler().release_words(tier, words, |_, _| 0, answers, noise, out);
    }
}

/// [`PartitionSelection::write_released`] for given words, at most a chunk, whose extension words are all zero.
pub fn release_partitions(mechanism: &PartitionSelection, words: &[u64], counts: &[i64], out: &mut [i64]) {
    mechanism.release_words(words, counts, out);
}

/// Calls `found` with the position of every word that the fast path leaves to the slow path. `scratch` is as long as `words`.
pub fn doubts(law: &OneWordLaw, words: &[u64], scratch: &mut [f64], mut found: impl FnMut(usize)) {
    law.sampler()
        .kernel()
        .fill(Tier::current(), words, Steps::WHOLE, scratch, |i, _: &mut f64| found(i));
}

/// Which kernel draws a law: its second level.
pub fn kernel(law: &OneWordLaw) -> &'static str {
    law.sampler().kernel().name()
}

/// Which first level draws a law; "none" of one that has the second alone.
pub fn first_level(law: &OneWordLaw) -> &'static str {
    law.sampler().kernel().first_level(Tier::current())
}

/// Whether the first level is certain of a block of this word; true where there is none.
pub fn is_certain(law: &OneWordLaw, word: u64) -> bool {
    law.sampler().kernel().is_certain(Tier::current(), word)
}

/// The first levels that laws have on the instruction set in use.
pub fn first_levels() -> &'static [&'static str] {
    if Tier::current().has_tables() {
        &["counts", "lines", "narrow table", "none", "octaves", "table"]
    } else {
        &["counts", "lines", "logarithm", "narrow", "none"]
    }
}

/// What the file of each law of several draws calls `PROBED`.
pub fn several_draws() -> &'static [Probed] {
    &PROBED
}

/// The examples of all laws of several draws.
pub fn examples() -> Result<Vec<Named>, ParamError> {
    let laws: Vec<_> = PROBED.iter().map(|law| (law.examples)()).collect::<Result<_, _>>()?;
    Ok(laws.into_iter().flatten().collect())
}
