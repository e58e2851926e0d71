//! Distributions on 0, 1, 2, … given by weights: from a binary expansion to an index, exactly.

use core::fmt::Debug;
use core::ops::ControlFlow;

use super::enclosure::Enclosure;
use super::limbs;
use super::uniform::Extension;
use crate::memory;

/// Limbs of fraction at the first attempt.
const FIRST_PRECISION: usize = 4;

/// Up to this number, weights are kept.
const FEW: usize = 64;

/// With this many limbs every bit of v is known (contract, section 1).
const LAST_PRECISION: usize = 1 << 14;

/// Unnormalised weights w(0), w(1), … of a distribution.
pub trait Weights: Send + Sync + Debug {
    /// Calls `visit` with enclosures of w(0), w(1), …, of `p` limbs of fraction and one integer limb, until it breaks or the list ends. Returns an
    /// upper bound, in units of 2^(−64p), of the sum of all weights not in the list. Where `visit` broke, the number returned has no meaning.
    ///
    /// All together must be below 2⁶³ and should not be far below 1. As `p` grows, enclosures must shrink to points and the bound to nothing.
    fn enclose(&self, p: usize, visit: &mut dyn FnMut(&Enclosure) -> ControlFlow<()>) -> u64;
}

/// The sums of weights, enclosed with `p` limbs of fraction.
pub struct Sums<'a> {
    weights: &'a dyn Weights,
    p: usize,
    /// Σ w(k) over all k.
    pub total: Enclosure,
    /// The weights, if they are few and there is memory. Otherwise they are made twice: a small rate has some 10⁵ weights of 200 bytes.
    kept: Option<Vec<Enclosure>>,
}

impl<'a> Sums<'a> {
    /// The ends of the total are the sums of the ends of the terms.
    pub fn new(weights: &'a dyn Weights, p: usize) -> Self {
        let (mut total, mut kept) = (Enclosure::point(0, p), Some(Vec::new()));
        let rest = weights.enclose(p, &mut |weight| {
            limbs::add(&mut total.lo, &weight.lo);
            limbs::add(&mut total.hi, &weight.hi);
            kept.take_if(|list| list.len() == FEW || memory::push(list, weight.clone()).is_err());
            ControlFlow::Continue(())
        });
        // Weights that are not in the list are positive: the lower end holds without them.
        limbs::add_small(&mut total.hi, rest);
        Self { weights, p, total, kept }
    }

    /// Calls `visit` with Σ w(k) over k ≥ j for j = 1, 2, … until it breaks or the list of weights ends.
    pub fn visit_tails(&self, visit: &mut dyn FnMut(&Enclosure) -> ControlFlow<()>) {
        let mut tail = self.total.clone();
        let mut next = |weight: &Enclosure| {
            limbs::sub(&mut tail.lo, &weight.lo);
            limbs::sub(&mut tail.hi, &weight.hi);
            visit(&tail)
        };
        if let Some(kept) = &self.kept {
            let _ = kept.iter().try_for_each(next);
        } else {
            self.weights.enclose(self.p, &mut next);
        }
    }
}

/// All weights and the bound of the rest.
#[cfg(test)]
pub fn listed(weights: &dyn Weights, p: usize) -> (Vec<Enclosure>, u64) {
    let mut list = Vec::new();
    let rest = weights.enclose(p, &mut |weight| {
        list.push(weight.clone());
        ControlFlow::Continue(())
    });
    (list, rest)
}

/// The number of j ≥ 1 with v < S(j) = Σ_{k ≥ j} w(k) / Σ w(k). v is `v63` < 2⁶³, then the extension. It is at least `least`.
///
/// Where the expansions of v and of a threshold agree as far as v goes, v is not less: it is the smaller real number or the same.
pub fn index(weights: &dyn Weights, v63: u64, extension: &mut Extension<'_>, least: u64) -> u64 {
    let mut index = least;
    let mut p = FIRST_PRECISION;
    loop {
        let sums = Sums::new(weights, p);
        // v < S(j) is v·Σw < Σ_{k ≥ j} w(k), both with 2p limbs of fraction.
        let words = core::iter::once(v63).chain((0..p - 1).map(&mut *extension));
        let (left, one) = (Enclosure::expansion(p, words, 1).mul(&sums.total), Enclosure::point(1, p));
        let (mut j, mut decided) = (0, false);
        sums.visit_tails(&mut |tail| {
            j += 1;
            // The caller or a lower precision has decided these.
            if j <= index {
                return ControlFlow::Continue(());
            }
            let below = left.less(&tail.mul(&one));
            decided = below == Some(false);
            if below == Some(true) {
                index = j;
                return ControlFlow::Continue(());
            }
            ControlFlow::Break(())
        });
        if decided || p >= LAST_PRECISION {
            return index;
        }
        p *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::super::limbs::Limbs;
    use super::*;

    const HALF: u64 = 1 << 62;

    /// w(k) = 2^−k, every one known to within a unit of the last place only.
    #[derive(Debug)]
    struct Halves;

    impl Weights for Halves {
        fn enclose(&self, p: usize, visit: &mut dyn FnMut(&Enclosure) -> ControlFlow<()>) -> u64 {
            let weight = |k: usize| {
                let mut lo = Limbs::zero(p + 1);
                let below = k.div_ceil(64);
                lo[p - below] = 1 << (64 * below - k);
                Enclosure::above(lo, 1)
            };
            let _ = (0..64 * p).map(weight).try_for_each(|weight| visit(&weight));
            2
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
