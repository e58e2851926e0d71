//! The four mechanisms of one word as [`Distribution`]s, the trait that `rand_distr` re-exports, for programs with a `rand` generator of their own.
//!
//! Each has one type of values, so a call needs no annotation. Mechanisms of several draws read words by index, which no generator of `rand` has.
//!
//! A value takes one 64-bit word, and rarely more: the function of contract, section 2, with the generator's next words instead of extension words.
//! The guarantees are only as good as the generator: for releases, use [`crate::Generator`].

use rand::Rng;
use rand::distr::Distribution;

use crate::lattice::Value;
use crate::{DiscreteLaplace, DiscreteStaircase, Laplace, Mechanism, OneWordMechanism, Staircase};

fn sample<T: Value, R: Rng + ?Sized>(mechanism: &OneWordMechanism, rng: &mut R) -> T {
    let word = rng.next_u64();
    let mut drawn = Vec::new();
    let steps = mechanism.sampler().steps(word, |e| {
        // The exact path may ask for a word again.
        while drawn.len() <= e {
            drawn.push(rng.next_u64());
        }
        drawn[e]
    });
    mechanism.sampler().value(steps)
}

macro_rules! distribution {
    ($mechanism:ident) => {
        /// Noise from words of any generator. It is only as good as that generator; releases are made with a [`crate::Generator`].
        impl Distribution<<$mechanism as Mechanism>::Value> for $mechanism {
            fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> <$mechanism as Mechanism>::Value {
                sample(&self.0, rng)
            }
        }
    };
}

distribution!(Staircase);
distribution!(Laplace);
distribution!(DiscreteStaircase);
distribution!(DiscreteLaplace);
