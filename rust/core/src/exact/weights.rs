//! Laws on 0, 1, 2, … given by weights: the exact answer to which of them a binary expansion means.

use core::fmt::Debug;

use super::Extension;
use super::enclosure::Enclosure;
use super::limbs::{self, Limbs};

/// Limbs of fraction at the first attempt.
const FIRST_PRECISION: usize = 4;

/// With so many limbs v is known to its last bit (contract, section 1).
const LAST_PRECISION: usize = 1 << 14;

/// Unnormalised weights w(0), w(1), … of a law.
pub trait Weights: Send + Sync + Debug {
    /// Enclosures of w(0), w(1), …, with `p` limbs of fraction and one integer limb, and an upper bound in units of 2^(−64p) of what all
    /// further ones come to.
    ///
    /// All of them together must be below 2⁶³ and should not be far below 1; the enclosures must shrink to points, and the bound to nothing, as
    /// `p` grows.
    fn enclose(&self, p: usize) -> (Vec<Enclosure>, u64);
}

/// Σ w(k) over k ≥ j for every listed j, with the same precision as the weights.
pub struct Tails {
    p: usize,
    sums: Vec<Enclosure>,
    /// What all weights beyond the list come to, in units.
    rest: u64,
}

impl Tails {
    /// From weights enclosed with `p` limbs.
    pub fn new(weights: &dyn Weights, p: usize) -> Self {
        let (mut tails, rest) = weights.enclose(p);
        let mut sum = Enclosure::above(Limbs::zero(p + 1), rest);
        for tail in tails.iter_mut().rev() {
            limbs::add(&mut sum.lo, &tail.lo);
            limbs::add(&mut sum.hi, &tail.hi);
            tail.clone_from(&sum);
        }
        Self { p, sums: tails, rest }
    }

    /// Σ w(k) over k ≥ j for j = 0, 1, …
    pub fn listed(&self) -> &[Enclosure] {
        &self.sums
    }

    /// v < S(j), if that is decided at this precision. `v` is enclosed with as many limbs.
    fn below(&self, v: &Enclosure, j: usize) -> Option<bool> {
        match self.sums.get(j) {
            // v·Σw < Σ_{k ≥ j} w(k), both with 2p limbs of fraction.
            Some(tail) => v.mul(&self.sums[0]).less(&tail.mul(&Enclosure::point(1, self.p))),
            None if self.rest == 0 => Some(false),
            None => None,
        }
    }
}

/// The number of j ≥ 1 with v < S(j) = Σ_{k ≥ j} w(k) / Σ w(k), for the 63 leading bits `v63` < 2⁶³ of v and the extension, given that at least
/// `least` of them are.
///
/// Where the expansions of v and of a threshold agree as far as v goes, v is not less: it is the smaller real number or the same.
pub fn index(weights: &dyn Weights, v63: u64, extension: &mut impl Extension, least: u64) -> u64 {
    let mut index = usize::try_from(least).unwrap_or(usize::MAX);
    let mut p = FIRST_PRECISION;
    loop {
        let tails = Tails::new(weights, p);
        let v = leading_bits(v63, extension, p);
        loop {
            match tails.below(&v, index + 1) {
                Some(true) => index += 1,
                Some(false) => return index as u64,
                None if p >= LAST_PRECISION => return index as u64,
                None => break,
            }
        }
        p *= 2;
    }
}

/// v from its 63 given bits and p − 1 extension words, with `p` limbs of fraction.
fn leading_bits(v63: u64, extension: &mut impl Extension, p: usize) -> Enclosure {
    let mut half = Limbs::zero(p + 1);
    half[p - 1] = v63;
    for i in 0..p - 1 {
        half[p - 2 - i] = extension.word(i);
    }
    let mut v = Enclosure::above(half, 1);
    v.shl(1);
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: u64 = 1 << 62;

    /// w(k) = 2^−k, every one known to within a unit of the last place only.
    #[derive(Debug)]
    struct Halves;

    impl Weights for Halves {
        fn enclose(&self, p: usize) -> (Vec<Enclosure>, u64) {
            let weight = |k: usize| {
                let mut lo = Limbs::zero(p + 1);
                let below = k.div_ceil(64);
                lo[p - below] = 1 << (64 * below - k);
                Enclosure::above(lo, 1)
            };
            ((0..64 * p).map(weight).collect(), 2)
        }
    }

    /// Evidence: S(j) = 2^−j by hand. Next to a threshold the first precisions leave the answer open.
    #[test]
    fn precision_grows_until_the_bits_decide() {
        assert_eq!(index(&Halves, HALF + 1, &mut |_| 0, 0), 0);
        assert_eq!(index(&Halves, HALF - 1, &mut |_| 0, 0), 1);
        for words in [1, 3, 9] {
            let below = index(&Halves, HALF - 1, &mut |e| if e < words { u64::MAX } else { 0 }, 0);
            assert_eq!(below, 1, "½ − 2^−(63 + 64·{words})");
            let above = index(&Halves, HALF, &mut |e| u64::from(e == words), 0);
            assert_eq!(above, 0, "½ + 2^−(63 + 64·({words} + 1))");
        }
    }
}
