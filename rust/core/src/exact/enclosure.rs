//! Intervals that contain a nonnegative real number, and comparisons that know when they do not know.

use super::limbs::{self, Limbs};

/// How many limbs more the next attempt has, from two limbs on. Half as many again: the total work is then about that of the last attempt.
pub fn further(p: usize) -> usize {
    p / 2
}

/// A real number between `lo` and `hi`, both included.
///
/// The ends are integers in units of 2^(−64·p), `p` the precision in limbs: [`Enclosure::point`] and the functions that return an enclosure
/// say which. All operations here are exact on the ends, so no rounding can turn an end to the wrong side; only the sources of enclosures
/// (`exp`, `uniform`) round, and say how.
#[derive(Clone, Debug)]
pub struct Enclosure {
    /// The lower end.
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

    /// a + c·x for an x of one integer limb; the result must fit one too.
    ///
    /// Callers need only a ≥ 0 and c ≥ 0, so the form grows with x and its ends are those of x.
    #[must_use]
    pub fn linear(&self, a: u64, c: u64) -> Self {
        let end = |x: &Limbs| {
            let mut x = x.clone();
            limbs::mul_add_small(&mut x, c, 0);
            let units = x.len() - 1;
            limbs::add_small(&mut x[units..], a);
            x
        };
        Self {
            lo: end(&self.lo),
            hi: end(&self.hi),
        }
    }

    /// x + y; the result must fit.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        limbs::add(&mut sum.lo, &other.lo);
        limbs::add(&mut sum.hi, &other.hi);
        sum
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
        let mut hi = limbs::mul_floor(&self.hi, &other.hi);
        limbs::add_small(&mut hi, 1);
        Self {
            lo: limbs::mul_floor(&self.lo, &other.lo),
            hi,
        }
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
