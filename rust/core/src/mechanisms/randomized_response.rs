//! Randomized response over k categories (docs/contract.md, section 18).
//!
//! Where the word does not decide the shift, v < S(j) = (k − j)/(e^ε + k − 1) is, with b = e^(−ε) and without division,
//!
//! ```text
//! v·(1 + (k − 1)·b) < (k − j)·b.
//! ```
//!
//! Equality is impossible ([`crate::exact`]): the constant term is v > 0. v = 0 is below every S(j).

use core::convert::identity;
use core::hint::black_box;

use crate::declassify;
use crate::draw::Staged;
use crate::error::ParamError;
use crate::exact::{Enclosure, Extension, Limbs, Step, Uniform, limbs};
use crate::kernel::{Tier, on_tier};
use crate::lattice::{LEAST_EPS, Lattice, exactly};
use crate::mechanism::{Source, implement};
use crate::memory::OutOfMemory;
use crate::stream::{AnyWords, FEW, Fill, SHORT, ShortWords, Stage, Words};

/// Randomized response: one of k categories is kept, or replaced by another one, ε-differentially private for the person before anybody sees it.
///
/// # Probabilities
/// A category stays with probability e^ε/(e^ε + k − 1) and becomes any other one with 1/(e^ε + k − 1).
///
/// # What is drawn
/// The shift: 0, or one of 1 … k − 1. [`release_modulo`](crate::Mechanism::release_modulo) of k adds it to categories 0 … k − 1; `release` may go
/// beyond.
///
/// # Example
/// ```
/// use stairnoise::{Generator, Mechanism, Modulus, RandomizedResponse};
///
/// let mechanism = RandomizedResponse::new(1.0, 4)?;
/// let mut released = [0_i64; 3];
/// mechanism.release_modulo(&mut Generator::from_os()?, &[0, 3, 2], Modulus::new(4)?, &mut released)?;
/// assert!(released.iter().all(|category| (0..4).contains(category)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RandomizedResponse {
    eps: f64,
    categories: u64,
    product: Product,
    narrow: Option<Narrow>,
}

/// [`Product`] of the 31 leading bits of v alone, in 64-bit integers, which vectors hold.
#[derive(Clone, Copy, Debug)]
struct Narrow {
    factor: u32,
    slack: u64,
    bits: u32,
}

/// Up to so many categories, few chunks have a word that 31 bits do not decide: one in 10⁵ for ten categories.
const MOST_NARROW: u64 = 1 << 16;

/// v·(e^ε + k − 1), whose integer part chooses the category: from V·`factor`/2^`bits` to (V·`factor` + `slack`)/2^`bits`, V the 63 leading bits of v.
#[derive(Clone, Copy, Debug)]
struct Product {
    factor: u64,
    slack: u128,
    /// From 64 on, so that the integer part is in the upper half.
    bits: u32,
}

/// Limbs of fraction at the first attempt of the exact path: products have up to 53 bits before the point.
const FIRST_PRECISION: usize = 3;

/// Where e^ε + k − 1 is 2⁶² or more, the fast path decides no shift but 0.
const MOST_LOG2_TOTAL: u32 = 62;

impl RandomizedResponse {
    /// # Errors
    /// [`ParamError`] unless ε ≥ 2⁻⁴⁰ is finite and k is an integer from 2 to 2⁵³.
    pub fn new(eps: f64, categories: u64) -> Result<Self, ParamError> {
        // A range: NaN is in none.
        let in_range = (LEAST_EPS..f64::INFINITY).contains(&eps);
        ParamError::require(in_range, "eps", "finite and at least 2**-40", eps)?;
        let (possible, value) = ((2..=1 << 53).contains(&categories), exactly("categories", categories)?);
        ParamError::require(possible, "categories", "an integer from 2 to 2**53", value)?;
        let product = Product::new(eps, categories);
        Ok(Self {
            eps,
            categories,
            product,
            narrow: Narrow::new(product, categories),
        })
    }

    /// The shift that a word alone decides, and 0 if it is no other one.
    #[inline(always)]
    fn shift(&self, word: u64) -> (i64, u64) {
        let Product { factor, slack, bits } = self.product;
        let product = u128::from(word & (u64::MAX >> 1)) * u128::from(factor);
        let integer = |product: u128| ((product >> 64) as u64) >> (bits - 64);
        // The sum is below 2¹²⁸: a check of that would be a branch on the word.
        shift_below(
            self.categories - 1,
            integer(product),
            integer(product.wrapping_add(slack)),
            black_box,
        )
    }

    /// Writes the shifts of some words, of which the first is that of the value `first` of the stage.
    fn write_words(&self, stage: Stage<'_>, first: u64, words: &[u64], out: &mut [i64]) {
        let near = match self.narrow {
            Some(narrow) => on_tier!(Tier::current(), narrow.write(self.categories - 1, words, out)),
            None => self.write_wide(words, out),
        };
        if declassify::condition(near) {
            self.decide(stage, first, words, out);
        }
    }

    /// Writes the shifts of some words; whether one of them may be another one.
    fn write_wide(&self, words: &[u64], out: &mut [i64]) -> bool {
        let mut near = 0;
        for (word, out) in words.iter().zip(out) {
            let (shift, unsure) = self.shift(*word);
            *out = shift;
            near |= unsure;
        }
        near != 0
    }

    /// Writes the shifts again, exact ones where a word does not decide them.
    #[cold]
    #[inline(never)]
    fn decide(&self, stage: Stage<'_>, first: u64, words: &[u64], out: &mut [i64]) {
        for (index, (word, out)) in (first..).zip(words.iter().zip(out)) {
            let (guess, unsure) = self.shift(*word);
            *out = guess;
            if declassify::condition(unsure != 0) {
                declassify::slow_path();
                let (word, guess) = (declassify::word(*word), declassify::word(guess.cast_unsigned()));
                let mut extension = |e| declassify::word(stage.extension(index, e));
                let shift = exact_shift(self.eps, self.categories, word & (u64::MAX >> 1), guess, &mut extension);
                *out = declassify::found(shift).cast_signed();
            }
        }
    }

    fn write(&self, words: &mut AnyWords, stage: Stage<'_>, first: u64, out: &mut [i64]) {
        let capacity = words.capacity();
        for (first, out) in (first..).step_by(capacity).zip(out.chunks_mut(capacity)) {
            self.write_words(stage, first, words.at(stage, first, out.len()), out);
        }
    }
}

/// `last` less the integer part of a product, which is `low` or up to `high`, and 0 where that is more; then 0 if both give the same. They are below
/// 2⁶³. `hidden` hides what a mask is from the compiler, which turns that of a single word into a branch on the word (docs/evidence/timing.md).
#[inline(always)]
fn shift_below(last: u64, low: u64, high: u64, hidden: impl Fn(i64) -> i64) -> (i64, u64) {
    let shift = last.wrapping_sub(low).cast_signed();
    let certain = hidden(shift.wrapping_sub(1) >> 63);
    (shift & !certain, (low ^ high) & !certain.cast_unsigned())
}

impl Narrow {
    fn new(product: Product, categories: u64) -> Option<Self> {
        // Below 2³¹, 31 bits of v and 32 of the total have 63 bits together, of which `bits` are after the point.
        let bits = product.bits - 63;
        let factor = (product.factor >> 31) as u32;
        (bits >= 32 && categories <= MOST_NARROW).then_some(Self {
            factor,
            // (h + 1)·(factor + 2) is beyond the product of h, the 31 bits, by less.
            slack: (1 << 32) + u64::from(factor) + 2,
            bits,
        })
    }

    /// Writes the shifts of some words, 0 to `last`; whether one of them may be another one.
    #[inline(always)]
    fn write(self, last: u64, words: &[u64], out: &mut [i64]) -> bool {
        let mut near = 0;
        for (word, out) in words.iter().zip(out) {
            let product = (word << 1 >> 33).wrapping_mul(self.factor.into());
            let (low, high) = (product >> self.bits, product.wrapping_add(self.slack) >> self.bits);
            let (shift, unsure) = shift_below(last, low, high, identity);
            *out = shift;
            near |= unsure;
        }
        near != 0
    }
}

impl Product {
    fn new(eps: f64, categories: u64) -> Self {
        // Four limbs: e^(−ε) is above 2^−62 where the quotient is used.
        let (numerator, mut denominator) = total(eps, categories, 4);
        for log2_total in 1..=MOST_LOG2_TOTAL {
            denominator.shl(1);
            if limbs::less(&numerator.hi, &denominator.lo) {
                // Half, so that sums of the product and the slack stay below 2^128.
                let half = |quotient: Limbs| quotient[0] >> 1;
                let least = half(limbs::quotient(&numerator.lo, &denominator.hi, 1));
                let most = half(limbs::quotient(&numerator.hi, &denominator.lo, 1)) + 1;
                return Self {
                    factor: least,
                    slack: (u128::from(most - least) << 63) + u128::from(most),
                    bits: 126 - log2_total,
                };
            }
        }
        // v·2⁶² or more: above k − 1 it is decided.
        Self {
            factor: (1 << 63) - 1,
            slack: 1 << 126,
            bits: 64,
        }
    }
}

/// e^ε + k − 1 = numerator/denominator, each with `p` limbs of fraction.
fn total(eps: f64, categories: u64, p: usize) -> (Enclosure, Enclosure) {
    let decay = Step::new(eps, 1).decay(p);
    (decay.linear(1, categories - 1), decay)
}

/// The number of j from 1 to k − 1 with v < S(j), for the 63 leading bits of v and the extension.
fn exact_shift(eps: f64, categories: u64, v63: u64, guess: u64, extension: &mut Extension<'_>) -> u64 {
    let Some(mut uniform) = Uniform::new(v63, extension) else {
        return categories - 1;
    };
    let terms = |p| (total(eps, categories, p), p);
    uniform.search(
        guess,
        categories,
        FIRST_PRECISION,
        terms,
        |((numerator, decay), p), uniform, j| {
            uniform
                .half(*p)
                .doubled()
                .times(numerator)
                .less(&decay.linear(0, categories - j))
        },
    )
}

impl Staged for RandomizedResponse {
    fn bound(&self) -> u64 {
        self.categories
    }

    fn write_steps(&self, fill: &Fill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory> {
        let stage = fill.stage(0);
        if out.len() <= FEW {
            self.write_words(stage, first, &stage.few_words(first, out.len())[..out.len()], out);
        } else if out.len() <= SHORT {
            self.write(&mut ShortWords::new(), stage, first, out);
        } else {
            self.write(&mut Words::new(), stage, first, out);
        }
        Ok(())
    }
}

implement!(RandomizedResponse of i64, this => Source::staged(this, Lattice::without_sensitivity(0), &[]));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::golden::several_draws::draws;
    use crate::testing::golden::{float, list, vectors, whole, word};
    use crate::testing::random::Random;
    use crate::{Generator, Mechanism};

    fn mechanism(eps: f64, categories: u64) -> RandomizedResponse {
        RandomizedResponse::new(eps, categories).unwrap()
    }

    const PARAMETERS: [(f64, u64); 12] = [
        (1.0, 2),
        (0.1, 5),
        (3.7, 1000),
        (1e-12, 3),
        (1e-9, 1 << 53),
        (30.0, 1 << 53),
        (40.0, 2),
        (42.9, 7),
        (43.0, 7),
        (50.0, 7),
        (700.0, 2),
        (1e7, 4),
    ];

    #[test]
    fn refuses_what_is_no_mechanism() {
        let error = |eps, categories| RandomizedResponse::new(eps, categories).unwrap_err().to_string();
        for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY, LEAST_EPS.next_down()] {
            assert!(
                error(bad, 2).starts_with("eps must be finite and at least 2**-40, got"),
                "{bad}"
            );
        }
        for bad in [0, 1, (1 << 53) + 2] {
            assert!(
                error(1.0, bad).starts_with("categories must be an integer from 2 to 2**53, got"),
                "{bad}"
            );
        }
    }

    /// Evidence: a second way to the same number. Where the word decides, the exact path finds the same; words at every scale and beside thresholds.
    #[test]
    fn words_and_the_exact_path_agree() {
        let mut random = Random(29);
        for (eps, categories) in PARAMETERS {
            let mechanism = mechanism(eps, categories);
            let total = eps.exp() + (categories - 1) as f64;
            for i in 0..if cfg!(miri) { 3 } else { 300 } {
                let v63 = if i % 2 == 0 {
                    (random.word() >> 1) >> (random.word() % 63)
                } else {
                    let threshold = (random.word() % categories) as f64 / total * (63.0_f64).exp2();
                    (threshold as u64).wrapping_add(random.word() % 5).wrapping_sub(2) & (u64::MAX >> 1)
                };
                let extension = random.word();
                let (shift, unsure) = mechanism.shift(v63);
                let found = exact_shift(eps, categories, v63, shift.cast_unsigned(), &mut |e: usize| {
                    extension.rotate_left(e as u32)
                });
                assert!(
                    unsure != 0 || shift == found.cast_signed(),
                    "{eps} {categories} {v63:x}: {shift} {found}"
                );
                if let Some(narrow) = mechanism.narrow {
                    let mut alone = [0];
                    let unsure = narrow.write(categories - 1, &[v63 | i << 63], &mut alone);
                    assert!(
                        unsure || alone[0] == found.cast_signed(),
                        "{eps} {categories} {v63:x}: {alone:?} {found}"
                    );
                }
                assert!(shift.cast_unsigned() < categories && found < categories);
            }
        }
    }

    /// The least words give the last shift, by way of the exact path where ε is large; other words give 0 there.
    #[test]
    fn the_least_words_give_the_last_shift() {
        for (eps, categories) in PARAMETERS {
            assert_eq!(exact_shift(eps, categories, 0, 1, &mut |_| 0), categories - 1);
            assert_eq!(mechanism(eps, categories).shift(u64::MAX).0, 0, "{eps} {categories}");
        }
        assert_eq!(exact_shift(50.0, 7, 1, 1, &mut |_| 0), 0);
        assert_eq!(exact_shift(50.0, 7, 0, 1, &mut |e| u64::from(e == 3)), 6);
    }

    /// Evidence: frequencies of 200 000 values within 5 standard deviations (23 of them: a false alarm in 7·10⁴ seeds; the seed is fixed).
    #[test]
    fn frequencies_are_the_probabilities() {
        for (eps, categories) in [(1.0, 2), (0.1, 5), (2.0, 16)] {
            let n = 200_000;
            let mut out = vec![0_i64; n];
            mechanism(eps, categories)
                .fill(&mut Generator::from_seed(21), &mut out)
                .unwrap();
            let total = eps.exp() + (categories - 1) as f64;
            for shift in 0..categories as i64 {
                let p = if shift == 0 { eps.exp() } else { 1.0 } / total;
                let count = out.iter().filter(|&&x| x == shift).count() as f64;
                let deviation = (count - n as f64 * p) / (n as f64 * p * (1.0 - p)).sqrt();
                assert!(deviation.abs() < 5.0, "{eps} {categories} {shift}: {count}");
            }
        }
    }

    #[test]
    fn golden_vectors() {
        for entry in vectors("randomized_response.json") {
            let [eps, categories] = list(&entry["arguments"]) else {
                panic!("{entry}")
            };
            let mechanism = mechanism(float(eps), whole(categories));
            draws(&mechanism, &entry);
            // The exact path alone finds them too. A word that leaves a shift undecided has probability k·2^−61.
            for (words, value) in list(&entry["words"]).iter().zip(list(&entry["values"])) {
                let v63 = word(&list(words)[0]) & (u64::MAX >> 1);
                let shift = exact_shift(float(eps), whole(categories), v63, 0, &mut |_| 1 << 63);
                assert_eq!(shift, whole(value), "{entry}");
            }
        }
    }
}
