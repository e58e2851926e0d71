//! Intervals that contain a nonnegative real number, and comparisons that know when they do not know.

use super::limbs::{self, Limbs};
use crate::lattice::decompose;

/// How many limbs more the next attempt has, from two limbs on. Half as many again: the total work is then about that of the last attempt.
pub fn further(p: usize) -> usize {
    p / 2
}

/// The answer to a question at the first precision that has one, in limbs from `first` on.
pub fn decided(first: usize, mut question: impl FnMut(usize) -> Option<bool>) -> bool {
    let mut p = first;
    loop {
        if let Some(answer) = question(p) {
            return answer;
        }
        p += further(p);
    }
}

/// A real number between `lo` and `hi`, both included.
///
/// The ends are integers in units of 2^(−64·p), `p` the precision in limbs, which every source of an enclosure names. Operations here are exact on
/// the ends or round them outwards; the sources (`exp`, `uniform`) say how they round.
#[derive(Clone, Debug)]
pub struct Enclosure {
    pub lo: Limbs,
    /// The upper end, of as many limbs.
    pub hi: Limbs,
}

impl Enclosure {
    /// The integer n exactly, with `p` limbs of fraction.
    pub fn point(n: u64, p: usize) -> Self {
        let mut lo = Limbs::zero(p + 1);
        lo[p] = n;
        Self { hi: lo.clone(), lo }
    }

    /// Between `lo` and `lo` + `width` units.
    pub fn above(lo: Limbs, width: u64) -> Self {
        let mut hi = lo.clone();
        limbs::add_small(&mut hi, width);
        Self { lo, hi }
    }

    /// The number of a binary expansion of `p` words, of whose first 63 bits count, and up to twice `width` units of the last one more.
    pub fn expansion(p: usize, words: impl Iterator<Item = u64>, width: u64) -> Self {
        // The first word has 63 bits, so whole words make up half of the number.
        let mut half = Limbs::zero(p + 1);
        for (limb, word) in half[..p].iter_mut().rev().zip(words) {
            *limb = word;
        }
        Self::above(half, width).doubled()
    }

    /// What `end` makes of either end.
    #[must_use]
    pub fn map(&self, end: impl Fn(&Limbs) -> Limbs) -> Self {
        Self {
            lo: end(&self.lo),
            hi: end(&self.hi),
        }
    }

    /// a + c·x for an x of one integer limb; the result must fit one too.
    ///
    /// Callers need only a ≥ 0 and c ≥ 0, so the form grows with x and its ends are those of x.
    #[must_use]
    pub fn linear(&self, a: u64, c: u64) -> Self {
        self.map(|x| {
            let mut x = x.clone();
            limbs::mul_small(&mut x, c);
            let units = x.len() - 1;
            limbs::add_small(&mut x[units..], a);
            x
        })
    }

    /// x + y; the result must fit.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        limbs::add(&mut sum.lo, &other.lo);
        limbs::add(&mut sum.hi, &other.hi);
        sum
    }

    /// x − y for x ≥ y. A lower end below 0 is taken as 0.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let mut difference = self.clone();
        if limbs::sub(&mut difference.lo, &other.hi) {
            difference.lo.fill(0);
        }
        let negative = limbs::sub(&mut difference.hi, &other.lo);
        debug_assert!(!negative, "a negative difference");
        difference
    }

    /// x·2^bits; the result must fit.
    pub fn shl(&mut self, bits: usize) {
        limbs::shl(&mut self.lo, bits);
        limbs::shl(&mut self.hi, bits);
    }

    /// ⌊x / 2^bits⌋ at the lower end, one unit above the floor at the upper.
    pub fn shr(&mut self, bits: usize) {
        limbs::shr(&mut self.lo, bits);
        limbs::shr(&mut self.hi, bits);
        limbs::add_small(&mut self.hi, 1);
    }

    /// x/n, rounded outwards.
    #[must_use]
    pub fn divided(mut self, n: u64) -> Self {
        limbs::div_small(&mut self.lo, n);
        limbs::div_small(&mut self.hi, n);
        limbs::add_small(&mut self.hi, 1);
        self
    }

    /// x·y, exactly: fractions and integer parts have as many limbs as in both factors together.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        Self {
            lo: limbs::mul(&self.lo, &other.lo),
            hi: limbs::mul(&self.hi, &other.hi),
        }
    }

    /// x·y with as many limbs as either, rounded outwards; it must fit one integer limb.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        Self {
            lo: limbs::mul_floor(&self.lo, &other.lo),
            hi: limbs::mul_rounded(&self.hi, &other.hi, 1),
        }
    }

    /// x·factor for a positive `factor` ≤ 1, rounded outwards, for an x of at most 55 bits before the point.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let (significand, exponent) = decompose(factor);
        // One limb more before the point, for the 53 bits of the significand.
        let mut product = self.mul(&Self::point(significand, 0));
        product.shr(exponent.unsigned_abs() as usize);
        product.map(|end| Limbs::from_slice(&end[..self.lo.len()]))
    }

    /// 2x, which must fit.
    #[must_use]
    pub fn doubled(mut self) -> Self {
        self.shl(1);
        self
    }

    /// x < y if the enclosures decide it. Callers rule out x = y, so that some precision does.
    pub fn less(&self, other: &Self) -> Option<bool> {
        if limbs::less(&self.hi, &other.lo) {
            Some(true)
        } else if limbs::less(&self.lo, &other.hi) {
            None
        } else {
            Some(false)
        }
    }
}

#[cfg(test)]
mod tests {
    /// Values do not depend on it, but the work does.
    #[test]
    fn precision_grows_by_half() {
        assert_eq!([2, 3, 4, 6, 9].map(super::further), [1, 1, 2, 3, 4]);
    }
}
