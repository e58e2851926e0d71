//! Exponents of weights: exact rationals built from `f64`s.

use super::enclosure::Enclosure;
use super::exp::{self, Power};
use super::limbs::{self, Limbs};
use crate::lattice::{decompose, power_of_two};

/// The rational numerator · 2^log2_unit / (product of the divisors) ≥ 0, exactly; no divisor is zero.
#[derive(Clone, Debug)]
pub struct Exponent {
    /// Any number of limbs.
    pub numerator: Limbs,
    /// The power of two.
    pub log2_unit: i32,
    /// The factors of the denominator.
    pub divisors: [u64; MOST_DIVISORS],
}

const MOST_DIVISORS: usize = 3;

impl Exponent {
    /// eps · count / 2^halvings, for finite eps > 0.
    pub fn multiple(eps: f64, count: u64, halvings: i32) -> Self {
        let (mantissa, exponent) = decompose(eps);
        Self {
            numerator: limbs::mul(&[mantissa], &[count]),
            log2_unit: exponent - halvings,
            divisors: [1; MOST_DIVISORS],
        }
    }

    /// eps · (high − low) / (unit · 2^halvings), for finite numbers with high ≥ low, eps > 0 and unit > 0.
    pub fn quotient(eps: f64, high: f64, low: f64, unit: f64, halvings: i32) -> Self {
        let (mantissa, exponent) = decompose(eps);
        let (difference, place) = difference(high, low);
        let (divisor, below) = decompose(unit);
        Self {
            numerator: limbs::mul(&difference, &[mantissa]),
            log2_unit: place + exponent - below - halvings,
            divisors: [divisor, 1, 1],
        }
    }

    /// A `count`-th of it, exactly. The third divisor is for this.
    #[must_use]
    pub fn divided(mut self, count: u64) -> Self {
        self.divisors[MOST_DIVISORS - 1] *= count;
        self
    }

    /// e^(−x) as a fixed-point number with `p` limbs of fraction and one integer limb.
    pub fn weight(&self, p: usize) -> Enclosure {
        if self.is_zero() {
            return Enclosure::point(1, p);
        }
        Power::fixed_or_tiny(self.power(p).as_ref(), p)
    }

    /// e^(−x) with `p` ≥ 2 limbs of fraction, or `None` if it is below 2^(−1 500 000).
    pub fn power(&self, p: usize) -> Option<Power> {
        let approximation = self.approximate();
        (approximation < exp::UNDERFLOW).then(|| {
            let floor = limbs::scaled_quotient(&self.numerator, self.log2_unit, &self.divisors, p);
            exp::power(&floor, approximation, p)
        })
    }

    /// Whether e^(−x) is 1.
    pub fn is_zero(&self) -> bool {
        self.numerator.iter().all(|&limb| limb == 0)
    }

    /// x, off by less than 2^−50 of it or by less than 2^−1000; infinite if it is too large for an `f64`.
    fn approximate(&self) -> f64 {
        let Some(top) = self.numerator.iter().rposition(|&limb| limb != 0) else {
            return 0.0;
        };
        // Two limbs from the leading one on have at least 65 significant bits, more than an `f64` holds.
        let below = if top > 0 { self.numerator[top - 1] } else { 0 };
        let head = u128::from(self.numerator[top]) << 64 | u128::from(below);
        let quotient = self.divisors.iter().fold(head as f64, |rest, &divisor| rest / divisor as f64);
        scaled(quotient, self.log2_unit + 64 * (top as i32 - 1))
    }
}

/// x·2^e for 2^−192 ≤ x < 2^128, to float64's range.
fn scaled(mut x: f64, mut e: i32) -> f64 {
    while e != 0 && x != 0.0 && x < f64::INFINITY {
        // Steps stay in the range of `power_of_two`. They have one sign, so that an overflow or underflow on the way is that of the result.
        let step = e.clamp(-1000, 1000);
        x *= power_of_two(step);
        e -= step;
    }
    x
}

/// high − low ≥ 0 as limbs · 2^place, exactly.
fn difference(high: f64, low: f64) -> (Limbs, i32) {
    let (a, b) = (decompose(high.abs()), decompose(low.abs()));
    // A zero has no place: the other number decides.
    let place = match (a.0, b.0) {
        (0, _) => b.1,
        (_, 0) => a.1,
        _ => a.1.min(b.1),
    };
    let place_of = |(mantissa, exponent): (u64, i32)| if mantissa == 0 { 0 } else { (exponent - place) as usize };
    // 53 bits shifted by less than a limb take two limbs, with room for the carry of the sum.
    let len = place_of(a).max(place_of(b)) / 64 + 2;
    let placed = |number: (u64, i32)| {
        let mut limbs = Limbs::zero(len);
        limbs[0] = number.0;
        limbs::shl(&mut limbs, place_of(number));
        limbs
    };
    let (mut a, mut b) = (placed(a), placed(b));
    let negative = if high.is_sign_positive() != low.is_sign_positive() {
        limbs::add(&mut a, &b);
        false
    } else if high.is_sign_positive() {
        limbs::sub(&mut a, &b)
    } else {
        // Both are negative, so `low` has the larger magnitude.
        std::mem::swap(&mut a, &mut b);
        limbs::sub(&mut a, &b)
    };
    debug_assert!(!negative, "{high} < {low}");
    (a, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence: [`exp::UNDERFLOW`] is 2^20, and (2^20 − 1)/ln 2 is 1 512 773.95.
    #[test]
    fn powers_end_at_the_underflow() {
        let power = |count| Exponent::multiple(1.0, count, 0).power(2);
        assert!(power(1 << 20).is_none());
        let last = power((1 << 20) - 1).expect("not yet below 2^(−1 500 000)");
        assert_eq!(last.shift, 1_512_774);
    }

    /// Evidence: powers of two, whose difference is a row of ones.
    #[test]
    fn differences_of_numbers_far_apart_are_exact() {
        for (high, low) in [(0, -1), (10, -60), (500, 100), (700, 0), (1000, -1000), (1023, -1074)] {
            let (limbs, place) = difference(f64::from(high).exp2(), f64::from(low).exp2());
            let bits: u32 = limbs.iter().map(|limb| limb.count_ones()).sum();
            let least = (0..)
                .zip(&*limbs)
                .find(|(_, limb)| **limb != 0)
                .map(|(i, limb)| 64 * i + limb.trailing_zeros() as i32);
            assert_eq!((bits, least), ((high - low) as u32, Some(low - place)), "{high} {low}");
        }
    }
}
