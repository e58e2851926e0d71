//! Whole numbers in and out of `f64`, without branches and in operations that every vector unit has.
//!
//! Instructions that round and convert come only with later instruction sets. Adding a large constant does both everywhere. Where [`DIRECT`] is true,
//! every processor has them, and one takes the place of two to six (docs/evidence/aarch64.md).

use crate::lattice::dyadic::{DIRECT, SHIFTER, power_of_two};

/// Half an ulp of 1: what one rounding is off by at most, relatively.
pub(crate) const U: f64 = f64::EPSILON / 2.0;

pub(crate) const TWO_52: f64 = 4_503_599_627_370_496.0;
const TWO_84: f64 = 19_342_813_113_834_066_795_298_816.0;

/// An integer below 2⁵¹ as an `f64`: vectorised everywhere, as a conversion is not; exact, as the sum is.
#[inline(always)]
pub(crate) fn near(n: i64) -> f64 {
    if DIRECT {
        return n as f64;
    }
    f64::from_bits(SHIFTER.to_bits().wrapping_add_signed(n)) - SHIFTER
}

/// `n` as an `f64`, rounded once, for n < 2⁶³.
#[inline(always)]
pub(super) fn from_bits(n: u64) -> f64 {
    if DIRECT {
        return n as f64;
    }
    // Each half sits in the significand of a constant: 2⁸⁴ + high·2³² and 2⁵² + low. Both are exact, and so is the subtraction.
    let high = f64::from_bits((n >> 32) | TWO_84.to_bits());
    let low = f64::from_bits((n & 0xffff_ffff) | TWO_52.to_bits());
    (high - (TWO_84 + TWO_52)) + low
}

/// [`from_bits`] times 2⁻⁶³.
#[inline(always)]
pub(super) fn unit(n: u64) -> f64 {
    const BELOW: u64 = 63 << 52;
    if DIRECT {
        return n as f64 * power_of_two(-63);
    }
    let high = f64::from_bits((n >> 32) | (TWO_84.to_bits() - BELOW));
    let low = f64::from_bits((n & 0xffff_ffff) | (TWO_52.to_bits() - BELOW));
    (high - (TWO_84 + TWO_52) * power_of_two(-63)) + low
}

/// `n` as an `f64`, exactly, for n < 2⁵².
#[inline(always)]
pub(super) fn from_small(n: u64) -> f64 {
    if DIRECT {
        return n as f64;
    }
    f64::from_bits(n | TWO_52.to_bits()) - TWO_52
}

/// `top` − `n`, exactly, for whole numbers below 2⁵⁰.
#[inline(always)]
pub(super) fn minus_small(top: f64, n: u64) -> f64 {
    if DIRECT {
        return top - n as f64;
    }
    (top + TWO_52) - f64::from_bits(n | TWO_52.to_bits())
}

/// How many of the thresholds are above `v`.
#[inline(always)]
pub(super) fn count_above(thresholds: &[i64], v: i64) -> f64 {
    from_small(thresholds.iter().map(|threshold| u64::from(v < *threshold)).sum())
}

/// The nearest whole number, ties to even, for |x| < 2⁵¹; beyond, something within 2 of x.
#[inline(always)]
pub(super) fn round(x: f64) -> f64 {
    if DIRECT {
        return x.round_ties_even();
    }
    (x + SHIFTER) - SHIFTER
}

/// The nearest whole number, ties to even, for |x| < 2⁵¹; beyond, some numbers.
#[inline(always)]
pub(crate) fn nearest(x: f64) -> (f64, i64) {
    if DIRECT {
        return (x.round_ties_even(), x.round_ties_even() as i64);
    }
    let shifted = x + SHIFTER;
    let whole = shifted.to_bits().wrapping_sub(SHIFTER.to_bits()).cast_signed();
    (shifted - SHIFTER, whole)
}

/// ⌊x⌋ for |x| < 2⁵¹; beyond, something within 3 of x.
#[inline(always)]
pub(super) fn floor(x: f64) -> f64 {
    if DIRECT {
        return x.floor();
    }
    let near = round(x);
    near - if near > x { 1.0 } else { 0.0 }
}

/// ⌈x⌉ for |x| < 2⁵¹; beyond, something within 3 of x.
#[inline(always)]
pub(super) fn ceil(x: f64) -> f64 {
    if DIRECT {
        return x.ceil();
    }
    let near = round(x);
    near + if near < x { 1.0 } else { 0.0 }
}

/// 2^−⌊log₂ x⌋ for a normal x ≥ 1; zero gives 2¹⁰²³.
#[inline(always)]
pub(super) fn inverse_power(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    f64::from_bits((2046_u64 << 52).wrapping_sub(x.to_bits() & EXPONENT))
}

/// `x` where every bit of `mask` is 1, 0 where none is. The compiler would make a branch of a choice between floats outside vectors.
#[inline(always)]
pub(super) fn masked(mask: u64, x: f64) -> f64 {
    f64::from_bits(x.to_bits() & mask)
}

/// All bits 1 if a < b, for finite a and any b but NaN; otherwise all 0. A difference keeps its sign where it underflows.
#[inline(always)]
pub(crate) fn less(a: f64, b: f64) -> u64 {
    ((a - b).to_bits().cast_signed() >> 63).cast_unsigned()
}

/// The larger of two numbers, neither a NaN, in vectors: [`f64::max`] takes two instructions more, but is no branch elsewhere either.
#[inline(always)]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if DIRECT {
        return a.max(b);
    }
    if a > b { a } else { b }
}

/// 2ⁿ for a whole −1022 ≤ n ≤ 1023; any other n gives some `f64`.
#[inline(always)]
pub(super) fn exp2(n: f64) -> f64 {
    let n = (n + (SHIFTER + 1023.0)).to_bits().wrapping_sub(SHIFTER.to_bits());
    f64::from_bits(n << 52)
}

/// a + b if an `f64` holds it, otherwise the one of its two neighbours whose last bit is 1. Both are whole numbers.
#[inline(always)]
pub(crate) fn sum_to_odd(a: f64, b: f64) -> f64 {
    // The error of a sum (Knuth, TwoSum).
    let sum = a + b;
    let of_a = sum - b;
    let error = (a - of_a) + (b - (sum - of_a));
    // An even neighbour is one beside the odd one, which lies on the side of the error.
    let bits = sum.to_bits();
    let even = u64::from(error != 0.0) & !bits & 1;
    let inwards = (error.to_bits() ^ bits) >> 63;
    f64::from_bits(bits.wrapping_add(even).wrapping_sub((even & inwards) << 1))
}

/// ⌊x + ½⌋, exactly and never −0.0, where an instruction rounds down.
#[inline(always)]
pub(super) fn half_up_by_floor(x: f64) -> f64 {
    // The difference is rounded between −½ and 0 alone, and stays ½ or more there.
    let whole = x.floor();
    whole + if x - whole >= 0.5 { 1.0 } else { 0.0 }
}

/// The same everywhere.
#[inline(always)]
pub(super) fn half_up_by_sum(x: f64) -> f64 {
    // Adding 2⁵² rounds to a whole number, halves to even. From there on all numbers are whole.
    let shift = if x.abs() < TWO_52 { TWO_52.copysign(x) } else { 0.0 };
    let nearest = (x + shift) - shift;
    // A half that went down to the even number goes up here.
    nearest + if x - nearest >= 0.5 { 1.0 } else { 0.0 }
}

/// A table of sixteen `f64`s as their low halves and their high ones.
pub(super) type Halves = [[u32; 16]; 2];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u_is_the_largest_that_rounding_drops_beside_1() {
        assert_eq!(1.0 + U, 1.0);
        assert_ne!(1.0 + U * (1.0 + f64::EPSILON), 1.0);
    }

    #[test]
    fn conversions_agree_with_the_language() {
        for n in [0, 1, 2, 0xffff_ffff, 1 << 32, (1 << 53) + 1, (1 << 62) + 513, (1 << 63) - 1] {
            assert_eq!(from_bits(n), n as f64);
            assert_eq!(unit(n), n as f64 / 9_223_372_036_854_775_808.0);
            assert_eq!(from_small(n >> 11), (n >> 11) as f64);
            assert_eq!(minus_small(1086.0, n >> 14), 1086.0 - (n >> 14) as f64);
        }
        for x in [0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 1e15, -1e15, 0.499_999_999_999_999_94] {
            assert_eq!(round(x), f64::round_ties_even(x));
            assert_eq!(floor(x), f64::floor(x));
            assert_eq!(ceil(x), f64::ceil(x));
            assert_eq!(nearest(x), (f64::round_ties_even(x), f64::round_ties_even(x) as i64));
        }
        for (x, inverse) in [
            (1.0, 1.0),
            (1.9, 1.0),
            (2.0, 0.5),
            (1023.0, 1.0 / 512.0),
            (0.0, crate::lattice::dyadic::power_of_two(1023)),
        ] {
            assert_eq!(inverse_power(x), inverse);
        }
        for n in -1022..=1023 {
            assert_eq!(exp2(f64::from(n)), crate::lattice::dyadic::power_of_two(n));
        }
    }
}
