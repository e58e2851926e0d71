//! Intervals of nonnegative binary fractions of any length: sums, differences and products without rounding.

use crate::exact::{Enclosure, Limbs, limbs};

/// An enclosure with `fraction` limbs behind the point.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    ends: Enclosure,
    fraction: usize,
}

impl Fixed {
    /// From the words of a binary expansion, the first with 63 bits: between it and one unit of its last bit more, or exactly it.
    pub fn expansion(words: &[u64], exactly: bool) -> Self {
        Self {
            ends: Enclosure::expansion(words.len(), words.iter().copied(), u64::from(!exactly)),
            fraction: words.len(),
        }
    }

    pub fn integer(n: u128) -> Self {
        Self {
            ends: Enclosure::above(Limbs::from_slice(&limbs::of(n)), 0),
            fraction: 0,
        }
    }

    pub fn times(&self, other: &Self) -> Self {
        Self {
            ends: self.ends.mul(&other.ends),
            fraction: self.fraction + other.fraction,
        }
    }

    pub fn plus(&self, other: &Self) -> Self {
        let (a, b) = aligned(self, other);
        Self {
            ends: a.ends.plus(&b.ends),
            ..a
        }
    }

    /// The difference, which is known not to be negative.
    pub fn minus(&self, other: &Self) -> Self {
        let (a, b) = aligned(self, other);
        Self {
            ends: a.ends.minus(&b.ends),
            ..a
        }
    }

    /// Whether this is less, if the enclosures decide it.
    pub fn less(&self, other: &Self) -> Option<bool> {
        let (a, b) = aligned(self, other);
        a.ends.less(&b.ends)
    }

    /// Sorts by the lower ends and by the upper ends: the i-th of the result encloses the i-th smallest of the numbers.
    pub fn sort(numbers: &mut [Self]) {
        let sorted = |ends: &mut Vec<Limbs>| ends.sort_by(|a, b| a.iter().rev().cmp(b.iter().rev()));
        let mut low: Vec<_> = numbers.iter().map(|x| x.ends.lo.clone()).collect();
        let mut high: Vec<_> = numbers.iter().map(|x| x.ends.hi.clone()).collect();
        sorted(&mut low);
        sorted(&mut high);
        for ((number, lo), hi) in numbers.iter_mut().zip(low).zip(high) {
            number.ends = Enclosure { lo, hi };
        }
    }

    fn padded(&self, fraction: usize, integer: usize) -> Self {
        let ends = self.ends.map(|x| {
            let mut wide = Limbs::zero(fraction + integer);
            wide[fraction - self.fraction..][..x.len()].copy_from_slice(x);
            wide
        });
        Self { ends, fraction }
    }
}

/// Both with as many limbs on either side, and room for a sum.
fn aligned(a: &Fixed, b: &Fixed) -> (Fixed, Fixed) {
    let fraction = a.fraction.max(b.fraction);
    let integer = (a.ends.lo.len() - a.fraction).max(b.ends.lo.len() - b.fraction) + 1;
    (a.padded(fraction, integer), b.padded(fraction, integer))
}
