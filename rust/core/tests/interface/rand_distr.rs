//! Evidence: conformance. The mechanisms are `rand_distr` distributions, and draw the contract's values from the generator's words.

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::Distribution;
use stairnoise::{DiscreteLaplace, DiscreteStaircase, Gamma, Laplace, R, Staircase};

/// Returns the words in turn, and panics if there are no more.
struct Words<'a>(core::slice::Iter<'a, u64>);

impl rand::TryRng for Words<'_> {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        unreachable!("the mechanisms draw 64-bit words")
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(*self.0.next().expect("a word too many was drawn"))
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
        unreachable!("the mechanisms draw 64-bit words")
    }
}

fn one<T, D: Distribution<T>>(mechanism: &D, words: &[u64]) -> T {
    let mut rng = Words(words.iter());
    let value = mechanism.sample(&mut rng);
    assert_eq!(rng.0.len(), 0, "a word was left over");
    value
}

#[test]
fn one_word_decides_a_plain_value() {
    let mechanism = DiscreteLaplace::new(1.0, 1).unwrap();
    // v = ½: S(0) = 1 > v, S(1) = 2/(e + 1) = 0.5379 > v, S(2) = 0.198.
    assert_eq!(one::<i64, _>(&mechanism, &[1 << 62]), 1);
    assert_eq!(one::<i64, _>(&mechanism, &[3 << 62]), -1);
}

#[test]
fn further_words_are_drawn_when_the_first_is_all_zero() {
    let mechanism = DiscreteLaplace::new(1.0, 1).unwrap();
    // v = 2⁻⁶³·½, so that |X| = ⌊64 ln 2 + ln(2/(1 + 1/e))⌋ = ⌊44.36 + 0.38⌋.
    assert_eq!(one::<i64, _>(&mechanism, &[0, 1 << 63]), 44);
}

#[test]
fn every_mechanism_samples_its_type() {
    let mut rng = StdRng::seed_from_u64(1);
    // A mechanism has one type of values, so no annotations are needed.
    let staircase = Staircase::new(4.0, 1.0, Gamma::L2).unwrap().sample(&mut rng);
    let laplace = Laplace::new(4.0, 1.0).unwrap().sample(&mut rng);
    assert!(staircase.is_finite() && laplace.is_finite());
    let stairs = DiscreteStaircase::new(1.0, 5, R::Value(2)).unwrap().sample(&mut rng);
    let counts = DiscreteLaplace::new(1.0, 5)
        .unwrap()
        .sample_iter(&mut rng)
        .take(3)
        .sum::<i64>();
    assert!(stairs.abs() < 1 << 40 && counts.abs() < 1 << 40);
}
