//! Intervals of positive numbers with 128 bits and an exponent, whose products are rounded outwards.

use crate::exact::limbs::product;
use crate::lattice::power_of_two;

/// mantissa·2^exponent with the leading bit of the mantissa set, or 0 with an exponent below all others: so they compare as tuples do.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct WideFloat {
    exponent: i32,
    mantissa: u128,
}

impl WideFloat {
    const ZERO: Self = Self {
        exponent: -(1 << 20),
        mantissa: 0,
    };

    fn new(n: u128, exponent: i32) -> Self {
        if n == 0 {
            return Self::ZERO;
        }
        let zeros = n.leading_zeros();
        Self {
            exponent: exponent - zeros as i32,
            mantissa: n << zeros,
        }
    }

    /// The product with 127 bits of it or more.
    fn times_down(self, other: Self) -> Self {
        let (high, low) = product(self.mantissa, other.mantissa);
        // A product of two leading bits has at most one zero before its own.
        let zeros = 1 - (high >> 127) as u32;
        Self {
            exponent: self.exponent + other.exponent + 128 - zeros as i32,
            mantissa: high << zeros | (low >> 127) & u128::from(zeros),
        }
    }

    fn times_up(self, other: Self) -> Self {
        let down = self.times_down(other);
        match down.mantissa.checked_add(1) {
            Some(mantissa) => Self { mantissa, ..down },
            // All ones and one more: the next power of two.
            None => Self::new(1, down.exponent + 128),
        }
    }
}

/// A number between two, both included; the upper one is not 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    lo: WideFloat,
    hi: WideFloat,
}

impl Between {
    /// The integer n > 0.
    pub fn integer(n: u128) -> Self {
        let n = WideFloat::new(n, 0);
        Self { lo: n, hi: n }
    }

    /// From `lo` to `hi` in units of 2⁻¹²⁷.
    pub fn fraction(lo: u128, hi: u128) -> Self {
        let [lo, hi] = [lo, hi].map(|end| WideFloat::new(end, -127));
        Self { lo, hi }
    }

    pub fn times(&self, other: &Self) -> Self {
        Self {
            lo: self.lo.times_down(other.lo),
            hi: self.hi.times_up(other.hi),
        }
    }

    /// Whether this is less, if the intervals decide it.
    pub fn less(&self, other: &Self) -> Option<bool> {
        if self.hi < other.lo {
            Some(true)
        } else if self.lo < other.hi {
            None
        } else {
            Some(false)
        }
    }

    /// About this over the other.
    pub fn over(&self, other: &Self) -> f64 {
        let mantissas = self.hi.mantissa as f64 / other.hi.mantissa as f64;
        mantissas * power_of_two(self.hi.exponent - other.hi.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::limbs;
    use crate::testing::random::Random;

    fn number(random: &mut Random) -> u128 {
        let bits = u128::from(random.word()) << 64 | u128::from(random.word());
        bits >> (random.word() % 128)
    }

    /// Evidence: multiplication limb by limb, a second way.
    #[test]
    fn products_have_all_their_bits() {
        let mut random = Random(5);
        let ends = [0, 1, u128::from(u64::MAX), u128::MAX];
        let pairs = ends.iter().flat_map(|a| ends.map(|b| (*a, b)));
        let at_random: Vec<_> = (0..1000).map(|_| (number(&mut random), number(&mut random))).collect();
        for (a, b) in pairs.chain(at_random) {
            let [a_limbs, b_limbs] = [a, b].map(|x| [x as u64, (x >> 64) as u64]);
            let limbs = limbs::mul(&a_limbs, &b_limbs);
            let (high, low) = product(a, b);
            assert_eq!(*limbs, [low as u64, (low >> 64) as u64, high as u64, (high >> 64) as u64]);
        }
    }

    /// Evidence: exact comparison of limbs. A product of three numbers lies between its ends, which are 2⁻¹²⁴ of it apart or less.
    #[test]
    fn products_lie_between_their_ends() {
        let mut random = Random(6);
        for _ in 0..1000 {
            // Below 2⁴²: their product is an integer that 128 bits hold.
            let few: Vec<u128> = (0..3).map(|_| number(&mut random) % (1 << 42) + 1).collect();
            let exactly = Between::integer(few[0] * few[1] * few[2]);
            let found = few.iter().map(|x| Between::integer(*x)).reduce(|a, b| a.times(&b)).unwrap();
            assert!(found.lo <= exactly.lo && exactly.hi <= found.hi);
            let [a, b] = [number(&mut random) | 1, number(&mut random) | 1];
            let both = Between::integer(a).times(&Between::integer(b));
            assert!(both.lo.times_down(WideFloat::new((1 << 126) + 4, -126)) >= both.hi);
            assert!((both.over(&Between::integer(b)) / a as f64 - 1.0).abs() < 1e-15);
        }
        let below_two = WideFloat::new(u128::MAX, 0);
        assert_eq!(below_two.times_up(WideFloat::new(1, 0)), WideFloat::new(1, 128));
    }

    #[test]
    fn nothing_is_less_than_everything() {
        let (nothing, least) = (Between::fraction(0, 1), Between::fraction(1, 1));
        assert_eq!(nothing.times(&nothing).lo.mantissa, 0);
        assert!(nothing.times(&nothing).lo < least.times(&least).times(&least).lo);
        assert_eq!(least.less(&nothing), Some(false));
        assert_eq!(nothing.less(&least), None);
    }
}
