//! Natural numbers as little-endian 64-bit limbs.
//!
//! Two limbs of fraction decide nearly every question, so numbers of up to `INLINE` limbs live on the stack; longer ones go to the heap.

use std::ops::{Deref, DerefMut};

/// Room for a product of three factors of four limbs, the largest number met at the first two precisions.
const INLINE: usize = 12;

/// A natural number of a fixed count of limbs, least significant first.
#[derive(Clone, Debug)]
pub enum Limbs {
    /// The first `.0` entries of `.1`.
    Short(usize, [u64; INLINE]),
    /// More than `INLINE` limbs.
    Long(Vec<u64>),
}

impl Limbs {
    /// Zero, with room for `len` limbs.
    pub fn zero(len: usize) -> Self {
        if len <= INLINE {
            Self::Short(len, [0; INLINE])
        } else {
            Self::Long(vec![0; len])
        }
    }

    /// The number whose limbs are `limbs`.
    pub fn from_slice(limbs: &[u64]) -> Self {
        let mut number = Self::zero(limbs.len());
        number.copy_from_slice(limbs);
        number
    }
}

impl Deref for Limbs {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        match self {
            Self::Short(len, limbs) => &limbs[..*len],
            Self::Long(limbs) => limbs,
        }
    }
}

impl DerefMut for Limbs {
    fn deref_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Short(len, limbs) => &mut limbs[..*len],
            Self::Long(limbs) => limbs,
        }
    }
}

const fn low(wide: u128) -> u64 {
    wide as u64
}

const fn high(wide: u128) -> u64 {
    low(wide >> 64)
}

/// (low, high) of x·y + a + b, which is at most (2^64 − 1)² + 2(2^64 − 1) = 2^128 − 1: the wrapping forms only spare the overflow checks.
pub const fn mul_add(x: u64, y: u64, a: u64, b: u64) -> (u64, u64) {
    let wide = (x as u128 * y as u128).wrapping_add(a as u128).wrapping_add(b as u128);
    (low(wide), high(wide))
}

/// The product, exactly: as many limbs as both factors together.
pub fn mul(a: &[u64], b: &[u64]) -> Limbs {
    let mut product = Limbs::zero(a.len() + b.len());
    for (i, &x) in a.iter().enumerate() {
        let row = &mut product[i..=i + b.len()];
        let mut carry = 0;
        for (digit, &y) in row.iter_mut().zip(b) {
            (*digit, carry) = mul_add(x, y, *digit, carry);
        }
        // No earlier row reached this limb.
        row[b.len()] = carry;
    }
    product
}

/// ⌊a·b / 2^(64(n − 1))⌋ for factors of n limbs: the product of two numbers with one integer limb each. It must fit one integer limb.
pub fn mul_floor(a: &[u64], b: &[u64]) -> Limbs {
    let mut product = Limbs::zero(a.len());
    // The common lengths as constants let the compiler unroll, which halves the time of `exp::Step::power`.
    match a.len() {
        3 => add_product_floor(&mut product[..3], &a[..3], &b[..3]),
        4 => add_product_floor(&mut product[..4], &a[..4], &b[..4]),
        _ => add_product_floor(&mut product, a, b),
    }
    product
}

/// [`mul_floor`], and one unit more where `up` is 1, which makes it an upper bound.
pub fn mul_rounded(a: &[u64], b: &[u64], up: u64) -> Limbs {
    let mut product = mul_floor(a, b);
    add_small(&mut product, up);
    product
}

/// `sum ← ⌊a·b / 2^(64(n − 1))⌋`; `sum` is zero and has n limbs. The lowest limb of each row is final, so it is dropped at once.
#[expect(clippy::inline_always, reason = "constant lengths reach the loops only by inlining")]
#[inline(always)]
fn add_product_floor(sum: &mut [u64], a: &[u64], b: &[u64]) {
    let n = sum.len();
    for &x in &a[..n - 1] {
        let (_, mut carry) = mul_add(x, b[0], sum[0], 0);
        for j in 1..n {
            (sum[j - 1], carry) = mul_add(x, b[j], sum[j], carry);
        }
        sum[n - 1] = carry;
    }
    let mut carry = 0;
    for (digit, &y) in sum.iter_mut().zip(b) {
        (*digit, carry) = mul_add(a[n - 1], y, *digit, carry);
    }
    debug_assert_eq!(carry, 0, "a·b does not fit");
}

/// `a ← a·factor`. The result must fit.
pub fn mul_small(a: &mut [u64], factor: u64) {
    let mut carry = 0;
    for digit in a {
        (*digit, carry) = mul_add(*digit, factor, 0, carry);
    }
    debug_assert_eq!(carry, 0, "a·factor does not fit");
}

/// `a ← a + addend`. The result must fit.
pub fn add_small(a: &mut [u64], addend: u64) {
    let mut carry = addend;
    for digit in a {
        let overflow;
        (*digit, overflow) = digit.overflowing_add(carry);
        carry = u64::from(overflow);
        if carry == 0 {
            return;
        }
    }
    debug_assert_eq!(carry, 0, "a + addend does not fit");
}

/// `a ← a + b`, equal lengths. The result must fit.
pub fn add(a: &mut [u64], b: &[u64]) {
    debug_assert_eq!(a.len(), b.len());
    let mut carry = 0;
    for (digit, &y) in a.iter_mut().zip(b) {
        let wide = u128::from(*digit) + u128::from(y) + u128::from(carry);
        *digit = low(wide);
        carry = high(wide);
    }
    debug_assert_eq!(carry, 0, "a + b does not fit");
}

/// `a ← a − b` modulo the length, equal lengths; true if the true difference is negative.
pub fn sub(a: &mut [u64], b: &[u64]) -> bool {
    debug_assert_eq!(a.len(), b.len());
    let mut borrow = false;
    for (digit, &y) in a.iter_mut().zip(b) {
        let (first, under) = digit.overflowing_sub(y);
        let (second, again) = first.overflowing_sub(u64::from(borrow));
        // At most one of the two borrows: a first difference that wrapped is not 0.
        *digit = second;
        borrow = under | again;
    }
    borrow
}

/// `a ← ⌊a / divisor⌋`.
pub fn div_small(a: &mut [u64], divisor: u64) {
    let mut rest = 0;
    // The rest is below the divisor, so that every quotient fits a limb.
    for digit in a.iter_mut().rev() {
        let wide = (u128::from(rest) << 64) | u128::from(*digit);
        *digit = low(wide / u128::from(divisor));
        rest = low(wide).wrapping_sub(digit.wrapping_mul(divisor));
    }
}

/// ⌊a·2^(`log2_unit` + 64p)/d⌋ with `p` + 1 limbs, d the product of the `divisors`, for a quotient below 2^(64p + 63).
pub fn scaled_quotient(a: &[u64], log2_unit: i32, divisors: &[u64], p: usize) -> Limbs {
    let scale = i64::from(log2_unit) + 64 * p as i64;
    // Room for the product before the divisions.
    let mut x = Limbs::zero(a.len().max(p + 1) + divisors.len());
    x[..a.len()].copy_from_slice(a);
    if scale >= 0 {
        shl(&mut x, scale.unsigned_abs() as usize);
    } else {
        shr(&mut x, scale.unsigned_abs() as usize);
    }
    // The floor of a floor is the floor of the quotient by the product.
    for &divisor in divisors {
        div_small(&mut x, divisor);
    }
    Limbs::from_slice(&x[..=p])
}

/// The number of the two lowest limbs.
pub fn wide(limbs: &[u64]) -> u128 {
    u128::from(limbs[1]) << 64 | u128::from(limbs[0])
}

/// The upper and the lower 128 bits of a product.
#[inline]
pub fn product(a: u128, b: u128) -> (u128, u128) {
    let ([a0, a1], [b0, b1]) = (of(a), of(b));
    let (first, carry) = mul_add(a0, b0, 0, 0);
    let (middle, high) = mul_add(a1, b0, carry, 0);
    let (second, carry) = mul_add(a0, b1, middle, 0);
    let (third, fourth) = mul_add(a1, b1, high, carry);
    (wide(&[third, fourth]), wide(&[first, second]))
}

/// The limbs of a number.
pub const fn of(n: u128) -> [u64; 2] {
    [low(n), high(n)]
}

/// ⌊a/b·2^(64p)⌋ with `p` + 1 limbs for a ≤ b of equal lengths, bit by bit; 2b must fit.
pub fn quotient(a: &[u64], b: &[u64], p: usize) -> Limbs {
    let (mut rest, mut quotient) = (Limbs::from_slice(a), Limbs::zero(p + 1));
    for _ in 0..=64 * p {
        shl(&mut quotient, 1);
        if !less(&rest, b) {
            sub(&mut rest, b);
            add_small(&mut quotient, 1);
        }
        shl(&mut rest, 1);
    }
    quotient
}

/// `a ← a·2^bits`. The result must fit.
pub fn shl(a: &mut [u64], bits: usize) {
    let (whole, part) = (bits / 64, bits % 64);
    // From the top down: every limb is read before it is written over. Double limbs need no case for a shift by 0.
    for i in (0..a.len()).rev() {
        let digit = |from: usize| i.checked_sub(from).map_or(0, |i| u128::from(a[i]));
        a[i] = high((digit(whole) << 64 | digit(whole + 1)) << part);
    }
}

/// `a ← ⌊a / 2^bits⌋`.
pub fn shr(a: &mut [u64], bits: usize) {
    let (whole, part) = (bits / 64, bits % 64);
    // From the bottom up, for the same reason.
    for i in 0..a.len() {
        let digit = |from: usize| a.get(i + from).map_or(0, |&d| u128::from(d));
        a[i] = low((digit(whole + 1) << 64 | digit(whole)) >> part);
    }
}

/// a < b, equal lengths.
pub fn less(a: &[u64], b: &[u64]) -> bool {
    debug_assert_eq!(a.len(), b.len());
    a.iter().rev().lt(b.iter().rev())
}
