//! Elementary functions with stated errors, in operations that every tier has. Relative errors are in units of u = 2⁻⁵³.
//!
//! The Taylor coefficients are correctly rounded quotients, so that each bound is one remainder and a count of roundings.

use super::float::{exp2, from_small, round};
use super::tier::{Arithmetic, Separate};

/// ln 2 in two parts: 33 bits, so that its product with a whole number below 2²⁰ is exact, and the rest.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// 1/3, 1/5, … 1/19: what follows 1 in the series of (atanh s)/s.
const ATANH: [f64; 9] = {
    let mut terms = [0.0; 9];
    let mut k = 0;
    while k < terms.len() {
        terms[k] = 1.0 / (2 * k + 3) as f64;
        k += 1;
    }
    terms
};

/// 1/2!, 1/3!, … 1/13!: what follows 1 in the series of (e^f − 1)/f.
const EXP: [f64; 12] = {
    let mut terms = [0.0; 12];
    let mut factorial = 1;
    let mut k = 0;
    while k < terms.len() {
        factorial *= k as u64 + 2;
        terms[k] = 1.0 / factorial as f64;
        k += 1;
    }
    terms
};

/// c₀ + c₁x + c₂x² + c₃x³ as two pairs: a short chain of dependent operations.
#[inline(always)]
fn cubic<A: Arithmetic>(c: [f64; 4], x: f64, x2: f64) -> f64 {
    A::mul_add(A::mul_add(c[3], x, c[2]), x2, A::mul_add(c[1], x, c[0]))
}

/// x = 2^e·m with m in [√½, √2), as (e, s): ln m = 2 atanh s, s = (m − 1)/(m + 1), |s| < 0.1716. Relative error of s: 2u.
#[inline(always)]
pub(super) fn split_ln(x: f64) -> (f64, f64) {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let shifted = x.to_bits().wrapping_sub(SQRT_HALF);
    let e = from_small(shifted >> 52);
    let m = f64::from_bits((shifted & ((1 << 52) - 1)).wrapping_add(SQRT_HALF));
    // The difference is exact; the sum and the quotient cost u each.
    (e, (m - 1.0) / (m + 1.0))
}

/// −ln(2^−e·m) for a whole 0 ≤ e ≤ 63 and s of m, by [`split_ln`]. Absolute error at most 2u + 2u·|result|.
///
/// With z = s² < 0.02945 the series 2s + 2s·(z/3 + z²/5 + …) stops at z⁹: what is left is below 2⁻⁵⁵ of s. Its tail is at most 0.0102 s, so that
/// its own roundings (12u) count 0.13u, and the sum costs u: ln m is right to 4u·|ln m| ≤ 1.4u. e·LN2_HIGH is exact; the inner sum costs
/// 0.4u and the outer u·|result|.
#[inline(always)]
pub(super) fn minus_ln<A: Arithmetic>(e: f64, s: f64) -> f64 {
    let z = s * s;
    let z2 = z * z;
    let z4 = z2 * z2;
    let [c0, c1, c2, c3, c4, c5, c6, c7, c8] = ATANH;
    let high = A::mul_add(c8, z4, cubic::<A>([c4, c5, c6, c7], z, z2));
    let tail = A::mul_add(high, z4, cubic::<A>([c0, c1, c2, c3], z, z2));
    let ln_m = 2.0 * A::mul_add(s, z * tail, s);
    A::mul_add(e, LN2_HIGH, A::mul_add(e, LN2_LOW, -ln_m))
}

/// [`minus_ln`] to 2⁻²³: the series stops at z³.
#[inline(always)]
pub(super) fn rough_minus_ln<A: Arithmetic>(e: f64, s: f64) -> f64 {
    let z = s * s;
    let [c0, c1, c2, ..] = ATANH;
    let tail = A::mul_add(A::mul_add(c2, z, c1), z, c0);
    let ln_m = 2.0 * A::mul_add(s, z * tail, s);
    A::mul_add(e, core::f64::consts::LN_2, -ln_m)
}

/// exp(x) − 1 for x ≥ 0, as (2ⁿ, q): exp(x) = 2ⁿ(1 + q), |q| < 0.42. `x_low` is a correction to x. Relative error of q at most 4u, for x ≤ 700.
///
/// n = round(x/ln 2). x − n·LN2_HIGH is exact (Sterbenz), and the correction costs u of a quantity below 0.347. The Taylor series of
/// exp − 1 to degree 13 leaves less than 2⁻⁵⁶ of q; its evaluation costs 2u, for all but f itself is at most 0.22 of q.
#[inline(always)]
fn split_exp<A: Arithmetic>(x: f64, x_low: f64) -> (f64, f64) {
    let n = round(x * core::f64::consts::LOG2_E);
    let f = A::mul_add(-n, LN2_HIGH, x) + A::mul_add(-n, LN2_LOW, x_low);
    let f2 = f * f;
    let f4 = f2 * f2;
    let [c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11] = EXP;
    let high = A::mul_add(cubic::<A>([c8, c9, c10, c11], f, f2), f4, cubic::<A>([c4, c5, c6, c7], f, f2));
    let tail = A::mul_add(high, f4, cubic::<A>([c0, c1, c2, c3], f, f2));
    (exp2(n), A::mul_add(f2, tail, f))
}

/// exp(x + x_low) for 0 ≤ x ≤ 700 and |x_low| ≤ 2⁻²⁵·x. Relative error at most 4u: 4u of |q| ≤ 0.42, and u for each of two roundings.
#[inline(always)]
pub(super) fn exp<A: Arithmetic>(x: f64, x_low: f64) -> f64 {
    let (scale, q) = split_exp::<A>(x, x_low);
    scale * (1.0 + q)
}

/// exp(x) − 1 for x ≥ 0; beyond 700 it returns infinity. Relative error at most 8u: where 2ⁿ = 1 the result is q itself; otherwise
/// 2ⁿ − 1 is exact and the error of 2ⁿ·q is at most 1.42 times that of the result, times 4u, plus u.
pub(super) fn exp_m1(x: f64) -> f64 {
    if x > 700.0 {
        return f64::INFINITY;
    }
    let (scale, q) = split_exp::<Separate>(x, 0.0);
    scale * q + (scale - 1.0)
}

/// ln(2/(1 + e^−x))/x for x > 0: in (0, ½], falling from ½. Relative error at most 2⁻⁴⁹.
///
/// The logarithm is 2 atanh z, z = (1 − b)/(3 + b) ≤ ⅓, b = e^−x; 20 terms of its series leave less than 9⁻²⁰/41 of z.
pub(super) fn half_log_ratio(x: f64) -> f64 {
    let growth = exp_m1(x);
    // (1 − b)/(3 + b) = (e^x − 1)/(3 e^x + 1) = 1/(3 + 4/(e^x − 1)).
    let z = 1.0 / (3.0 + 4.0 / growth);
    let tail = (0..20).rev().fold(0.0, |tail, k| tail * (z * z) + 1.0 / f64::from(2 * k + 1));
    // z/x first: both vanish together.
    2.0 * (z / x) * tail
}

#[cfg(test)]
mod tests {
    use super::super::tier::Fused;
    use super::*;

    const U: f64 = f64::EPSILON / 2.0;

    /// Evidence: spot checks with the language's own functions, which are good to about an ulp; the bounds are argued above.
    #[test]
    fn errors_are_within_the_bounds() {
        bounds::<Separate>();
        bounds::<Fused>();
    }

    fn bounds<A: Arithmetic>() {
        for i in 1..200_000_u64 {
            let whole = (i.wrapping_mul(i).wrapping_mul(i * i) >> 11).max(1) as f64;
            let (e, s) = split_ln(whole);
            let truth = 63.0 * core::f64::consts::LN_2 - whole.ln();
            let libm = 64.0 * U;
            assert!(
                (minus_ln::<A>(63.0 - e, s) - truth).abs() <= 2.0 * U + 2.0 * U * truth + libm,
                "{whole}"
            );
            assert!(
                (rough_minus_ln::<A>(63.0 - e, s) - truth).abs() <= 2.0_f64.powi(-23),
                "{whole}"
            );
            let x = i as f64 * 0.0035;
            assert!((exp::<A>(x, 0.0) / x.exp() - 1.0).abs() <= 6.0 * U, "{x}");
            assert!((exp_m1(x) / x.exp_m1() - 1.0).abs() <= 10.0 * U, "{x}");
            let ratio = (2.0 / (1.0 + (-x).exp())).ln() / x;
            assert!((half_log_ratio(x) / ratio - 1.0).abs() <= 1e-12, "{x}");
        }
        assert_eq!(split_ln(2.0_f64.powi(63)), (63.0, 0.0));
        assert_eq!(minus_ln::<A>(0.0, 0.0), 0.0);
        assert_eq!(exp_m1(1e300), f64::INFINITY);
        assert!((half_log_ratio(1e-15) - 0.5).abs() <= 8.0 * U);
    }
}
