//! From the bits of v to one of finitely many candidates (docs/contract.md, selection).
//!
//! Candidates of equal weight e^(−x_k) form class k. With n_k of them among all candidates and m_k among those from j on, where every index counts as
//! many as it stands for, v < S(j) is
//!
//! ```text
//! v · Σ n_k e^(−x_k) < Σ m_k e^(−x_k).
//! ```
//!
//! The x_k are different rationals. By the theorem of Lindemann and Weierstrass their powers are linearly independent over the rationals. v is
//! rational, so equality means v·n_k = m_k for every k. If the m_k are proportional to the n_k, S(j) is the rational m/n and the
//! question one about integers; otherwise equality is impossible, and growing precision decides.

use super::enclosure::{Enclosure, decided, further};
use super::exponent::Exponent;
use super::flips;
use super::limbs::{self, Limbs};
use super::search::last_true;
use super::uniform::{EXTENSION_WORDS, Extension};
use crate::memory::{self, OutOfMemory};

/// The words of a value.
const WORDS: usize = 1 + EXTENSION_WORDS;

/// The precision of the first answer, in limbs.
const FIRST: usize = 2;

/// Candidates with weights, ready for any number of draws.
#[derive(Debug)]
pub struct Choice {
    /// Whether e^(−x) is the probability of a coin of permute-and-flip, and not the weight itself.
    flips: bool,
    /// The class of each candidate; one more than the last is that of weight 0.
    class: Vec<usize>,
    /// How many candidates each index stands for; empty: one. All together are below 2^53.
    multiplicities: Vec<u64>,
    /// The exponent of each class; no two are equal.
    exponents: Vec<Exponent>,
    counts: Vec<u64>,
    first: Precision,
}

/// Every class's weight, and all weights together, with `p` limbs of fraction.
#[derive(Debug)]
struct Precision {
    p: usize,
    weights: Vec<Enclosure>,
    total: Enclosure,
}

impl Precision {
    fn new(exponents: &[Exponent], counts: &[u64], p: usize) -> Result<Self, OutOfMemory> {
        let weights = memory::collected(exponents.iter().map(|exponent| exponent.weight(p)))?;
        let total = sum(&weights, counts, p);
        Ok(Self { p, weights, total })
    }
}

/// Σ counts · weights, below 2^64.
fn sum(weights: &[Enclosure], counts: &[u64], p: usize) -> Enclosure {
    let mut sum = Enclosure::point(0, p);
    for (weight, &count) in weights.iter().zip(counts).filter(|(_, count)| **count > 0) {
        let term = weight.linear(0, count);
        limbs::add(&mut sum.lo, &term.lo);
        limbs::add(&mut sum.hi, &term.hi);
    }
    sum
}

impl Choice {
    /// From the class of each candidate and the exponent of each class: all different, the least of them 0. Class `exponents.len()` has the weight 0.
    pub fn new(flips: bool, class: Vec<usize>, multiplicities: Vec<u64>, exponents: Vec<Exponent>) -> Result<Self, OutOfMemory> {
        let mut counts = memory::filled(0, exponents.len())?;
        count(&class, &multiplicities, &mut counts);
        let first = Precision::new(&exponents, &counts, FIRST)?;
        Ok(Self {
            flips,
            class,
            multiplicities,
            exponents,
            counts,
            first,
        })
    }

    /// The number of j from 1 to n − 1 with v < S(j); 0 if no candidate has a weight. A bad `guess` costs time and changes nothing.
    pub fn index(&self, word: u64, extension: &mut Extension<'_>, guess: usize) -> Result<usize, OutOfMemory> {
        let end = self.class.len();
        let mut v = Expansion { word, extension };
        if self.counts.is_empty() {
            return Ok(0);
        }
        // v = 0 is below every S(j) but 0.
        if (0..WORDS).all(|i| v.word(i) == 0) {
            let last = self.class.iter().rposition(|&class| class < self.counts.len());
            return Ok(last.unwrap_or(0));
        }
        let (mut tail, mut finer) = (memory::filled(0, self.counts.len())?, None);
        let mut failure = None;
        let index = last_true(guess as u64, end as u64, |j| {
            let from = j as usize;
            count(
                &self.class[from..],
                self.multiplicities.get(from..).unwrap_or_default(),
                &mut tail,
            );
            let below = self.below(&mut v, &tail, &mut finer);
            // The search has no way to stop early: any answer will do, since the index is not used.
            below.unwrap_or_else(|error| {
                failure = Some(error);
                false
            })
        });
        failure.map_or(Ok(index as usize), Err)
    }

    /// Whether v < S(j), given the counts of the candidates from j on, 1 ≤ j < n. `finer` is kept from question to question of one search.
    fn below(&self, v: &mut Expansion<'_>, tail: &[u64], finer: &mut Option<Precision>) -> Result<bool, OutOfMemory> {
        if let Some((m, n)) = self.proportion(tail) {
            return Ok(v.less_than_ratio(m, n));
        }
        loop {
            let precision = finer.as_ref().unwrap_or(&self.first);
            let p = precision.p;
            let answer = if self.flips {
                let share = flips::share(&precision.weights, &self.counts, tail, p)?;
                v.enclosure(p).less(&share)
            } else {
                let left = v.enclosure(p).mul(&precision.total);
                // By 1 with p limbs: then both sides have 2p limbs of fraction.
                left.less(&sum(&precision.weights, tail, p).mul(&Enclosure::point(1, p)))
            };
            if let Some(answer) = answer {
                return Ok(answer);
            }
            *finer = Some(Precision::new(&self.exponents, &self.counts, p + further(p))?);
        }
    }

    /// (m, n) if every class has the share m/n of its candidates in the tail.
    fn proportion(&self, tail: &[u64]) -> Option<(u64, u64)> {
        let (m, n) = (tail[0], self.counts[0]);
        let product = |x: u64, y: u64| u128::from(x) * u128::from(y);
        let same = tail.iter().zip(&self.counts).all(|(&a, &b)| product(a, n) == product(b, m));
        same.then_some((m, n))
    }
}

/// How many candidates each class of a weight has.
fn count(class: &[usize], multiplicities: &[u64], counts: &mut [u64]) {
    counts.fill(0);
    for (i, &class) in class.iter().enumerate() {
        if let Some(count) = counts.get_mut(class) {
            *count += multiplicities.get(i).copied().unwrap_or(1);
        }
    }
}

/// v = 0 . word e₀ e₁ …
pub(super) struct Expansion<'a> {
    pub word: u64,
    pub extension: &'a mut Extension<'a>,
}

impl Expansion<'_> {
    fn word(&mut self, i: usize) -> u64 {
        match i {
            0 => self.word,
            _ if i < WORDS => (self.extension)(i - 1),
            _ => 0,
        }
    }

    /// v from its first `p` words: the unknown words add between nothing and one unit.
    pub fn enclosure(&mut self, p: usize) -> Enclosure {
        let mut lo = Limbs::zero(p + 1);
        for i in 0..p {
            lo[p - 1 - i] = self.word(i);
        }
        Enclosure::above(lo, u64::from(p < WORDS))
    }

    /// v < m/n, by integers. With all words at hand the enclosure is a point, which decides.
    fn less_than_ratio(&mut self, m: u64, n: u64) -> bool {
        decided(FIRST, |p| self.enclosure(p).linear(0, n).less(&Enclosure::point(m, p)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence: docs/contract.md section 1. A value has its word and 8192 extension words, and zeros after them.
    #[test]
    fn words_beyond_the_last_are_zero() {
        let mut v = Expansion {
            word: 1,
            extension: &mut |e: usize| e as u64 + 2,
        };
        let words = 1 + 8192;
        for (p, unknown) in [(words - 1, 1), (words, 0), (words + 2, 0)] {
            let Enclosure { lo, hi } = v.enclosure(p);
            assert!(
                (0..p).all(|i| lo[p - 1 - i] == if i < words { i as u64 + 1 } else { 0 }),
                "{p}"
            );
            assert_eq!(hi[0], lo[0] + unknown, "{p}");
        }
    }

    /// Evidence: the definition: v = 0 is below every S(j) but 0.
    #[test]
    fn the_least_word_chooses_the_last_candidate_that_has_a_weight() {
        let choice = Choice::new(false, vec![0, 0, 1], Vec::new(), vec![Exponent::multiple(1.0, 0, 0)]).unwrap();
        assert_eq!(choice.index(0, &mut |_| 0, 0), Ok(1));
    }

    /// Evidence: the rule: 0. A caller who checks no costs gets some candidate, and no panic.
    #[test]
    fn without_a_weight_there_is_an_answer() {
        let choice = Choice::new(false, vec![0, 0, 0], Vec::new(), Vec::new()).unwrap();
        for word in [0, 1, u64::MAX] {
            assert_eq!(choice.index(word, &mut |_| 0, 1), Ok(0));
        }
    }

    /// Evidence: the binary digits of ⅓, which are 01 without end. v is below ⅓ by those that would follow, or above it by its last digit.
    #[test]
    fn a_third_is_told_from_its_digits() {
        const DIGITS: u64 = 0x5555_5555_5555_5555;
        for (more, below) in [(0, true), (1, false)] {
            let extension = &mut |e: usize| DIGITS + more * u64::from(e == 8191);
            let mut v = Expansion { word: DIGITS, extension };
            assert_eq!(v.less_than_ratio(1, 3), below);
        }
    }
}
