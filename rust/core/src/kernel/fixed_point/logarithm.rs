//! −ln v of a word in fixed point. A number "in 2^−n" counts steps of that size.

use super::super::float::{from_bits, nearest};
use crate::lattice::dyadic::power_of_two;

/// −ln v of a word.
pub(super) struct Logarithm {
    /// In 2^−[`BITS`].
    pub minus_ln: u128,
    /// V ≥ 2^(63 − `zeros`), but for V = 0.
    pub zeros: u32,
}

/// −ln v is at most 63 ln 2 < 44: with a sign it fits 128 bits.
pub(super) const BITS: u32 = 121;

/// Bound on the error of −ln v, which `tests` adds up.
pub(super) const ERROR: f64 = 1.0 / (1_u128 << 84) as f64;

/// ⌊ln 2·2^121⌋.
pub(super) const LN2: u128 = 0x162_e42f_efa3_9ef3_5793_c767_3007_e5ed;

/// ⌈√2·2^62⌉.
const SQRT2: u64 = 0x5a82_7999_fcef_3243;

/// Terms of the series (atanh s)/s = 1 + z/3 + z²/5 + …, z = s².
const TERMS: usize = 16;

/// From this term on 64 bits are enough.
const SHORT_FROM: usize = 4;

const COEFFICIENTS: [u128; TERMS] = odd_reciprocals();

/// 1/(2k + 1) in 2^−128, k = 0, 1, …
pub(super) const fn odd_reciprocals<const N: usize>() -> [u128; N] {
    let mut reciprocals = [0; N];
    let mut k = 0;
    while k < N {
        reciprocals[k] = u128::MAX / (2 * k as u128 + 1);
        k += 1;
    }
    reciprocals
}

impl Logarithm {
    /// −ln v of a word; V = 0 gives that of V = 1.
    pub fn of(bits: u64) -> Self {
        // 0 becomes 1. No other V has a difference with bit 63.
        let bits = bits | bits.wrapping_sub(1) >> 63;
        let zeros = (bits | 1).leading_zeros();
        Self::of_digits(bits.wrapping_shl(zeros) >> 1, zeros)
    }

    /// −ln v of V and the 64 bits that follow it; V = 0 gives some number.
    ///
    /// With ρ the part of m that those bits make, ln(m + ρ) is ln m + ρ/m but for 2^−125. The quotient is off by 2^−113 and 3u of 2^−62.
    pub fn of_long(v: u128) -> Self {
        let (bits, rest) = ((v >> 64) as u64, v as u64);
        let zeros = (bits | 1).leading_zeros();
        let shift = zeros.wrapping_sub(1);
        let m = bits.wrapping_shl(shift) | (rest >> 1).wrapping_shr(63_u32.wrapping_sub(shift));
        let part = from_bits(rest.wrapping_shl(shift) >> 1) / from_bits(m);
        let beyond = u128::from(nearest(part * power_of_two(49)).1.cast_unsigned()) << (BITS - 112);
        let mut logarithm = Self::of_digits(m, zeros);
        logarithm.minus_ln = logarithm.minus_ln.wrapping_sub(beyond);
        logarithm
    }

    /// v = m/c·2^−e with c = 2^62 or 2^63 and m/c in [√½, √2): −ln v = e·ln 2 − 2 atanh s, s = (m − c)/(m + c).
    fn of_digits(m: u64, zeros: u32) -> Self {
        // 1 where m ≥ √2·2^62, which makes s negative.
        let upper = (SQRT2 - 1).wrapping_sub(m) >> 63;
        let c = (1_u64 << 62).wrapping_shl(upper as u32);
        let negative = upper.wrapping_neg();
        // |m − c|, by a mask.
        let difference = (m.wrapping_sub(c) ^ negative).wrapping_sub(negative);
        // In 2^−127 it is 2 atanh |s|.
        let ln = atanh(quotient(difference, m.wrapping_add(c))) >> (127 - BITS);
        // All ones where s is not negative: 2 atanh s is then subtracted.
        let subtract = u128::from(upper).wrapping_sub(1);
        let exponent = u64::from(zeros).wrapping_sub(upper);
        Self {
            minus_ln: LN2
                .wrapping_mul(exponent.into())
                .wrapping_add((ln ^ subtract).wrapping_sub(subtract)),
            zeros,
        }
    }
}

/// n/d in 2^−128, for n < 0.172·d and 2^63 ≤ d < 2^64. Error at most 2^−100.
///
/// R, the integer next to 2^113/d in `f64`, is off by less than 0.76: half a step, and 2^50 times u for either operation. With e = 2^113 − d·R, below
/// 2^63.7, n/d is n·R·(1 + e/2^113)/2^113 but for e²/2^226 < 2^−98 of it.
fn quotient(n: u64, d: u64) -> u128 {
    let inverse = power_of_two(62) / from_bits(d >> 1);
    let r = u128::from(nearest(inverse * power_of_two(50)).1.cast_unsigned());
    let e = (1_u128 << 113).wrapping_sub(u128::from(d).wrapping_mul(r)).cast_signed();
    // Below 2^111.5, and the product with e below 2^126.2.
    let rough = u128::from(n).wrapping_mul(r);
    let correction = (rough >> 49).cast_signed().wrapping_mul(e) >> 64;
    // From 2^−113 to 2^−128.
    rough.wrapping_add_signed(correction) << 15
}

/// atanh s in 2^−128, for s < 0.172.
fn atanh(s: u128) -> u128 {
    let z = high(s, s);
    let mut short = COEFFICIENTS[TERMS - 1] >> 64;
    for k in (SHORT_FROM..TERMS - 1).rev() {
        short = (COEFFICIENTS[k] >> 64).wrapping_add((z >> 64).wrapping_mul(short) >> 64);
    }
    let mut sum = short << 64;
    for k in (1..SHORT_FROM).rev() {
        sum = COEFFICIENTS[k].wrapping_add(high(z, sum));
    }
    s.wrapping_add(high(s, high(z, sum)))
}

/// a/b as digits·2^(log2 − 127), ⌊⌋ of digits from 2^127 to 2^128, for a and b from 1 on.
pub(super) fn ratio(a: u64, b: u64) -> (u128, i32) {
    let (top, bottom) = (a << a.leading_zeros(), u128::from(b << b.leading_zeros()));
    let below = u32::from(u128::from(top) < bottom);
    let dividend = u128::from(top) << (63 + below);
    // Two digits of 64 bits: a remainder is below 2^64, and fits when it is shifted.
    let rest = (dividend % bottom) << 64;
    let log2 = b.leading_zeros().cast_signed() - a.leading_zeros().cast_signed() - below.cast_signed();
    (((dividend / bottom) << 64) | (rest / bottom), log2)
}

/// ⌊a·b / 2^128⌋ or up to 2 less.
pub(super) fn high(a: u128, b: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let middle = (a1.wrapping_mul(b0) >> 64).wrapping_add(a0.wrapping_mul(b1) >> 64);
    a1.wrapping_mul(b1).wrapping_add(middle)
}

#[cfg(test)]
mod tests;
