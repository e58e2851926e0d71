//! The four laws of one word as [`Distribution`]s, the trait that `rand_distr` re-exports, for programs with a `rand` generator of their own.
//!
//! Each has one type of values, so that a call needs no annotation. Laws of several draws read words by index, in stages, and no generator of `rand`
//! has an index.
//!
//! One 64-bit word a value, and further words in the rare case that it does not decide: the function of contract, section 2, with the
//! generator's next words in place of the extension words. The guarantees are only as good as the generator: for releases, use
//! [`crate::Generator`].

use rand::Rng;
use rand::distr::Distribution;

use crate::lattice::Value;
use crate::{DiscreteLaplace, DiscreteStaircase, Laplace, Law, OneWordLaw, Staircase};

fn sample<T: Value, R: Rng + ?Sized>(law: &OneWordLaw, rng: &mut R) -> T {
    let word = rng.next_u64();
    let mut drawn = Vec::new();
    let cells = law.sampler().cells(word, |e| {
        // The exact path may ask for a word again.
        while drawn.len() <= e {
            drawn.push(rng.next_u64());
        }
        drawn[e]
    });
    law.sampler().value(cells)
}

macro_rules! distribution {
    ($law:ident) => {
        /// Noise from words of any generator. It is only as good as that generator; releases are made with a [`crate::Generator`].
        impl Distribution<<$law as Law>::Value> for $law {
            fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> <$law as Law>::Value {
                sample(&self.0, rng)
            }
        }
    };
}

distribution!(Staircase);
distribution!(Laplace);
distribution!(DiscreteStaircase);
distribution!(DiscreteLaplace);
