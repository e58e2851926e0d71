//! Elementary functions with stated errors, in operations that every tier has. Relative errors are in units of u = 2⁻⁵³.
//!
//! A bound is the remainder of a series and the roundings. `proof` evaluates these same formulas on other kinds of [`Number`] and checks every
//! bound stated here over the whole range of the arguments.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::arithmetic::{Arithmetic, Separate, map_all};
use super::float::{exp2, minus_small, round};

/// What a formula is evaluated on: `f64` in the lanes.
pub(super) trait Number:
    Copy + From<f64> + Neg<Output = Self> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
}

impl Number for f64 {}

/// [`Arithmetic`] on any kind of number: a·b + c.
pub(super) trait MulAdd<N> {
    fn mul_add(a: N, b: N, c: N) -> N;
}

impl<A: Arithmetic> MulAdd<f64> for A {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        <A as Arithmetic>::mul_add(a, b, c)
    }
}

/// ln 2 in two parts: 32 bits, so that its product with a whole number below 2²⁰ is exact, and the rest.
pub(super) const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
pub(super) const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// 1/3, 1/5, … 1/19: what follows 1 in the series of (atanh s)/s.
const ATANH: [f64; 9] = [
    1.0 / 3.0,
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
];

/// The factors of t², t³, … t⁷ that stand for the series of −ln(1 + t) to t⁹. Its t⁸ and t⁹ are replaced by lower powers, from t² on, so that what is
/// left out are multiples of Chebyshev's polynomials T₈(32t) and T₉(32t) but for their terms in 1 and t (economisation: Lanczos 1938). Where
/// |t| ≤ h = 1/32, that is at most 2h⁸/(8·128) + 10h⁹/(9·256) = 17.2u.
const MINUS_LN_1P: [f64; 6] = {
    const H2: f64 = 1024.0;
    const H4: f64 = H2 * H2;
    const H6: f64 = H4 * H2;
    // Whole numbers below 2⁵³, so that each is rounded once: 1/2 + h⁶/32, −1/3 − 5h⁶/96, 1/4 − 5h⁴/32, −1/5 + 3h⁴/16, 1/6 + h²/4, −1/7 − h²/4.
    [
        (16.0 * H6 + 1.0) / (32.0 * H6),
        -(32.0 * H6 + 5.0) / (96.0 * H6),
        (8.0 * H4 - 5.0) / (32.0 * H4),
        -(16.0 * H4 - 15.0) / (80.0 * H4),
        (2.0 * H2 + 3.0) / (12.0 * H2),
        -(4.0 * H2 + 7.0) / (28.0 * H2),
    ]
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
pub(super) fn cubic<A: MulAdd<N>, N: Number>(c: [N; 4], x: N, x2: N) -> N {
    A::mul_add(A::mul_add(c[3], x, c[2]), x2, A::mul_add(c[1], x, c[0]))
}

/// x = 2^(bits − e)·m with m in [√½, √2), as (e, s): ln m = 2 atanh s, s = (m − 1)/(m + 1), |s| < 0.1716. Relative error of s: 2u.
#[inline(always)]
pub(super) fn split_ln(bits: f64, x: f64) -> (f64, f64) {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    // As integers: m begins at √½ instead of 1, so the exponent field of the difference is that of x/m.
    let shifted = x.to_bits().wrapping_sub(SQRT_HALF);
    let e = minus_small(bits, shifted >> 52);
    let m = f64::from_bits((shifted & ((1 << 52) - 1)).wrapping_add(SQRT_HALF));
    // The difference is exact; the sum and the quotient cost u each.
    (e, (m - 1.0) / (m + 1.0))
}

/// −ln(2^−e·m) for a whole 0 ≤ e ≤ 64 and s of m, by [`split_ln`]. Error at most 1.2u + u·|result|.
///
/// ln m costs 0.8u by [`atanh`], e·LN2_HIGH is exact, the inner sum costs ¼u and the outer u·|result|.
#[inline(always)]
pub(super) fn minus_ln<A: MulAdd<N>, N: Number>(e: N, s: N) -> N {
    let ln_m = N::from(2.0) * atanh::<A, N>(s);
    A::mul_add(e, LN2_HIGH.into(), A::mul_add(e, LN2_LOW.into(), -ln_m))
}

/// [`minus_ln`] to 0.52·2⁻²⁴.
#[inline(always)]
pub(super) fn rough_minus_ln<A: MulAdd<N>, N: Number>(e: N, s: N) -> N {
    let ln_m = N::from(2.0) * rough_atanh::<A, N>(s);
    A::mul_add(e, core::f64::consts::LN_2.into(), -ln_m)
}

/// atanh s for s of [`split_ln`]. Error at most 0.45u, with that of s.
///
/// With z = s² < 0.02945 the series s + s·(z/3 + z²/5 + …) stops at z⁹, which leaves less than 0.05u. The sum is below 0.1735.
#[inline(always)]
pub(super) fn atanh<A: MulAdd<N>, N: Number>(s: N) -> N {
    let z = s * s;
    let z2 = z * z;
    let z4 = z2 * z2;
    let [c0, c1, c2, c3, c4, c5, c6, c7, c8] = map_all(&ATANH, N::from);
    let high = A::mul_add(c8, z4, cubic::<A, N>([c4, c5, c6, c7], z, z2));
    let tail = A::mul_add(high, z4, cubic::<A, N>([c0, c1, c2, c3], z, z2));
    A::mul_add(s, z * tail, s)
}

/// [`atanh`] to 0.26·2⁻²⁴: the series stops at z³.
#[inline(always)]
pub(super) fn rough_atanh<A: MulAdd<N>, N: Number>(s: N) -> N {
    let z = s * s;
    let [c0, c1, c2, ..] = map_all(&ATANH, N::from);
    let tail = A::mul_add(A::mul_add(c2, z, c1), z, c0);
    A::mul_add(s, z * tail, s)
}

/// −ln(1 + t) for |t| ≤ 1/32. Error at most 20u: 17.2u by [`MINUS_LN_1P`], less than u for t¹⁰ and beyond, and the rest is rounding.
///
/// In Horner's form, which has the fewest operations; the words of a block do not wait for each other.
#[inline(always)]
pub(super) fn minus_ln_1p<A: MulAdd<N>, N: Number>(t: N) -> N {
    let [c2, c3, c4, c5, c6, c7] = map_all(&MINUS_LN_1P, N::from);
    let series = [c6, c5, c4, c3, c2].into_iter().fold(c7, |sum, c| A::mul_add(sum, t, c));
    A::mul_add(t * t, series, -t)
}

/// n = round(x/ln 2): the binary exponent of exp(x), about.
#[inline(always)]
pub(super) fn exponent(x: f64) -> f64 {
    round(x * core::f64::consts::LOG2_E)
}

/// e^f − 1 for f = x + x_low − n·ln 2, |f| < 0.3467. Absolute error about 0.8u, where f is not small.
///
/// x − n·LN2_HIGH is exact: a multiple of the last places of both, and small. Its sum with the correction costs ¼u, and so does the last
/// sum; what lies between costs less, and the Taylor series to degree 13 leaves less than 0.04u.
#[inline(always)]
fn reduced_exp_m1<A: MulAdd<N>, N: Number>(n: N, x: N, x_low: N) -> N {
    let f = A::mul_add(-n, LN2_HIGH.into(), x) + A::mul_add(-n, LN2_LOW.into(), x_low);
    let f2 = f * f;
    let f4 = f2 * f2;
    let [c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11] = map_all(&EXP, N::from);
    let high = A::mul_add(
        cubic::<A, N>([c8, c9, c10, c11], f, f2),
        f4,
        cubic::<A, N>([c4, c5, c6, c7], f, f2),
    );
    let tail = A::mul_add(high, f4, cubic::<A, N>([c0, c1, c2, c3], f, f2));
    A::mul_add(f2, tail, f)
}

/// exp(x + x_low) for 0 ≤ x ≤ 700 and 0 ≤ x_low ≤ 2⁻²⁵·x, itself rounded, and for −700 ≤ x ≤ 0 and x_low = 0. Relative error at most 2u: that of
/// [`reduced_exp_m1`], whose f is of either sign, and up to u for the last sum.
#[inline(always)]
pub(crate) fn exp<A: Arithmetic>(x: f64, x_low: f64) -> f64 {
    let n = exponent(x);
    exp_scaled::<A, f64>(exp2(n), n, x, x_low)
}

#[inline(always)]
pub(super) fn exp_scaled<A: MulAdd<N>, N: Number>(scale: N, n: N, x: N, x_low: N) -> N {
    scale * (N::from(1.0) + reduced_exp_m1::<A, N>(n, x, x_low))
}

/// exp(x) − 1 for x ≥ 2⁻⁶⁰; beyond 700 it returns infinity. Relative error at most 4.5u, near x = 0.4, where 2(1 + q) − 1 cancels.
pub(super) fn exp_m1(x: f64) -> f64 {
    if x > 700.0 {
        return f64::INFINITY;
    }
    growth::<Separate>(x)
}

/// [`exp_m1`] for 2⁻⁶⁰ ≤ x ≤ 700, in a lane.
#[inline(always)]
pub(super) fn growth<A: Arithmetic>(x: f64) -> f64 {
    let n = exponent(x);
    exp_m1_scaled::<A, f64>(exp2(n), n, x)
}

#[inline(always)]
pub(super) fn exp_m1_scaled<A: MulAdd<N>, N: Number>(scale: N, n: N, x: N) -> N {
    scale * reduced_exp_m1::<A, N>(n, x, N::from(0.0)) + (scale - N::from(1.0))
}

/// ln(2/(1 + e^−x))/x for x ≥ 2⁻⁶⁰: in (0, ½], falling from ½. Relative error at most 16u.
pub(super) fn half_log_ratio(x: f64) -> f64 {
    log_ratio_of_growth(exp_m1(x), x)
}

/// [`half_log_ratio`], given e^x − 1. The logarithm is 2 atanh z, z = (1 − b)/(3 + b) ≤ ⅓, b = e^−x; 20 terms leave less than 9⁻²⁰/36 of z.
pub(super) fn log_ratio_of_growth<N: Number>(growth: N, x: N) -> N {
    // (1 − b)/(3 + b) = (e^x − 1)/(3 e^x + 1) = 1/(3 + 4/(e^x − 1)).
    let z = N::from(1.0) / (N::from(3.0) + N::from(4.0) / growth);
    // z/x first: both go to 0 together, and their quotient does not.
    N::from(2.0) * (z / x) * atanh_ratio(z * z)
}

/// (atanh z)/z for z² ≤ 1/9.
pub(super) fn atanh_ratio<N: Number>(z2: N) -> N {
    (0..20)
        .rev()
        .fold(N::from(0.0), |tail, k| tail * z2 + N::from(1.0 / f64::from(2 * k + 1)))
}

#[cfg(test)]
mod tests {
    use super::super::arithmetic::Fused;
    use super::super::float::U;
    use super::*;

    /// Evidence: spot checks with the language's own functions, which are good to about an ulp; the bounds are argued above.
    #[test]
    fn errors_are_within_the_bounds() {
        bounds::<Separate>();
        bounds::<Fused>();
    }

    fn bounds<A: Arithmetic>() {
        for i in 1..200_000_u64 {
            let whole = (i.wrapping_mul(i).wrapping_mul(i * i) >> 11).max(1) as f64;
            let (e, s) = split_ln(63.0, whole);
            let truth = 63.0 * core::f64::consts::LN_2 - whole.ln();
            let libm = 64.0 * U;
            assert!(
                (minus_ln::<A, f64>(e, s) - truth).abs() <= 2.0 * U + 2.0 * U * truth + libm,
                "{whole}"
            );
            assert!((rough_minus_ln::<A, f64>(e, s) - truth).abs() <= 2.0_f64.powi(-23), "{whole}");
            let x = i as f64 * 0.0035;
            assert!((exp::<A>(x, 0.0) / x.exp() - 1.0).abs() <= 6.0 * U, "{x}");
            assert!((exp_m1(x) / x.exp_m1() - 1.0).abs() <= 10.0 * U, "{x}");
            let ratio = (2.0 / (1.0 + (-x).exp())).ln() / x;
            assert!((half_log_ratio(x) / ratio - 1.0).abs() <= 1e-12, "{x}");
        }
        assert_eq!(split_ln(63.0, 2.0_f64.powi(63)), (0.0, 0.0));
        assert_eq!(minus_ln::<A, f64>(0.0, 0.0), 0.0);
        assert_eq!(exp_m1(1e300), f64::INFINITY);
        assert!((half_log_ratio(1e-15) - 0.5).abs() <= 8.0 * U);
    }
}
