//! Proof: the errors stated in `elementary` hold over the whole range of the arguments, and those of the lanes follow from them.
//!
//! The formulas of `elementary` are evaluated, from the source that the lanes use, on two other kinds of number. [`Series`] show what is
//! computed: Taylor polynomials of the stated degree whose coefficients are correctly rounded; what a polynomial leaves of its series is
//! bounded by the first term left out. [`Bounded`] shows how well. The arguments are cut into pieces without gaps. On each piece every
//! rounding is charged half a last place of the largest number that can occur there.

mod bounded;
mod series;

use std::f64::consts::LN_2;

use super::super::arithmetic::{Arithmetic, Fused, Separate};
use super::super::elementary::{self, LN2_HIGH, LN2_LOW, MulAdd};
use super::super::fill::Kernel;
use super::super::geometric::{self, CoarseLane, GeometricLane};
use super::super::ladder::LadderLane;
use super::super::lane::{Lane, MAX_SPAN};
use super::super::mapped::MappedLane;
use super::super::staircase::{self, StaircaseLane};
use super::super::together::{lines, narrow, narrow_table, table};
use super::super::{canonical, each, float};
use crate::exact::{self, IntegerLaw};
use crate::lattice::dyadic::power_of_two;
use bounded::Bounded;
use series::Series;

const U: f64 = f64::EPSILON / 2.0;

/// What `elementary` states. −ln: absolute, and relative to the result.
const MINUS_LN: [f64; 2] = [1.2 * U, U];
const ROUGH_MINUS_LN: f64 = 0.52 / (1 << 24) as f64;
const MINUS_LN_1P: f64 = 32.0 * U;
const EXP: f64 = 2.0 * U;
const EXP_M1: f64 = 4.5 * U;
const HALF_LOG_RATIO: f64 = 16.0 * U;

/// Room for products of errors: every relative error is below 2⁻⁴⁰.
const SECOND_ORDER: f64 = 1.0 + 1.0 / (1_u64 << 40) as f64;

/// −ln v at its largest, V = 1.
const LONGEST: f64 = 63.0 * LN_2;

/// √½, where the significand m of `split_ln` begins; it ends before twice this.
const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;

/// Exponents of exp: up to x = 700.
const EXPONENTS: u32 = 1010;

/// On each reduced range.
const PIECES: u32 = 256;

/// `lo ..= hi` in pieces, each beginning where the one before ends.
fn pieces(lo: f64, hi: f64, count: u32) -> impl Iterator<Item = Bounded> {
    let end = move |i: u32| {
        if i == count {
            hi
        } else {
            lo + (hi - lo) * (f64::from(i) / f64::from(count))
        }
    };
    (0..count).map(move |i| Bounded::argument(end(i), end(i + 1)))
}

/// The binades from 2^first to 2^last, each in pieces.
fn binades(first: i32, last: i32, count: u32) -> impl Iterator<Item = Bounded> {
    (first..last).flat_map(move |k| pieces(power_of_two(k), power_of_two(k + 1), count))
}

// ---------------------------------------------------------------- what is computed

#[test]
fn the_formulas_are_taylor_polynomials() {
    let (zero, one, t) = (Series::from(0.0), Series::from(1.0), Series::linear(1.0));

    // −2 atanh t = −2(t + t³/3 + …).
    let atanh = |degree: usize| Series::new(|k| if k % 2 == 1 && k <= degree { -2.0 / k as f64 } else { 0.0 });
    assert_eq!(elementary::minus_ln::<Separate, Series>(zero, t), atanh(19));
    assert_eq!(elementary::rough_minus_ln::<Separate, Series>(zero, t), atanh(7));
    assert_eq!(elementary::minus_ln::<Separate, Series>(t, zero), Series::linear(LN_2));
    assert_eq!(elementary::rough_minus_ln::<Separate, Series>(t, zero), Series::linear(LN_2));

    let ln_1p = Series::new(|k| {
        if (1..=8).contains(&k) {
            (-1.0_f64).powi(k as i32) / k as f64
        } else {
            0.0
        }
    });
    assert_eq!(elementary::minus_ln_1p::<Separate, Series>(t), ln_1p);

    let ratio = Series::new(|k| if k < 20 { 1.0 / (2 * k + 1) as f64 } else { 0.0 });
    assert_eq!(elementary::atanh_ratio(t), ratio);

    let factorial = |k: usize| (1..=k as u64).product::<u64>() as f64;
    let exp = Series::new(|k| if k <= 13 { 1.0 / factorial(k) } else { 0.0 });
    let exp_scaled = elementary::exp_scaled::<Separate, Series>;
    assert_eq!(exp_scaled(one, zero, t, zero), exp);
    assert_eq!(exp_scaled(one, zero, zero, t), exp);
    assert_eq!(exp_scaled(t, zero, zero, zero), t);
    assert_eq!(elementary::exp_m1_scaled::<Separate, Series>(one, zero, t), exp - one);
    assert_eq!(elementary::exp_m1_scaled::<Separate, Series>(t, zero, zero), t - one);
    // e^(n ln 2 − n ln 2) = 1, but for the rounding of `LN_2`.
    let difference = LN_2 - LN2_HIGH - LN2_LOW;
    assert!(difference.abs() <= U / 2.0);
    let Series([constant, slope, ..]) = exp_scaled(one, t, Series::linear(LN_2), zero);
    assert_eq!([constant, slope], [1.0, difference]);
}

/// ln 2 = Σ 1/(k·2^k) in units of 2⁻¹²⁸, short by less than 2 units a term.
#[test]
fn the_parts_of_ln_2_are_correctly_rounded() {
    let ln_2: u128 = (1..128).map(|k| (u128::MAX / k) >> k).sum();
    let part = |x: f64| (x * power_of_two(117)) as u128;
    let rest = (ln_2 >> 11).abs_diff(part(LN2_HIGH) + part(LN2_LOW));
    // Half a last place of the lower part, which is below 2⁻³².
    assert!(rest <= 1 << (117 - 33 - 53), "{rest}");
}

// ---------------------------------------------------------------- how well

#[test]
fn logarithms() {
    logarithms_on::<Separate>();
    logarithms_on::<Fused>();
}

fn logarithms_on<A: MulAdd<Bounded>>() {
    let least = f64::from_bits(SQRT_HALF);
    let one = Bounded::from(1.0);
    for m in pieces(least, (2.0 * least).next_down(), PIECES) {
        let s = (m - one) / (m + one);
        // 2s·(z^n/(2n + 1) + …), z = s².
        let left_out = |n: i32| {
            let z = s.largest().powi(2) * SECOND_ORDER;
            2.0 * SECOND_ORDER * s.largest() * z.powi(n) / (f64::from(2 * n + 1) * (1.0 - z))
        };
        for e in 0..=64 {
            let e = Bounded::from(f64::from(e));
            let fine = elementary::minus_ln::<A, Bounded>(e, s).off_by(left_out(10));
            let [absolute, relative] = MINUS_LN;
            assert!(
                fine.error <= absolute + relative * fine.smallest(),
                "−ln at {e:?}, {m:?}: {fine:?}"
            );
            let rough = elementary::rough_minus_ln::<A, Bounded>(e, s).off_by(left_out(4));
            assert!(rough.error <= ROUGH_MINUS_LN, "rough −ln at {e:?}, {m:?}: {rough:?}");
        }
    }
}

/// −ln(1 + t) as the first level has it, and the reach of t = m·R − 1.
#[test]
fn logarithms_near_one() {
    for i in 0..16 {
        let first = 1.0 + i as f64 / 16.0;
        for m in [first, first + 1.0 / 16.0] {
            assert!(m.mul_add(table::reciprocal(i), -1.0).abs() <= 1.0 / 32.0, "{i} {m}");
        }
    }
    let left_out = (1.0 / 32.0_f64).powi(9) / 9.0 * (32.0 / 31.0) * SECOND_ORDER;
    for t in pieces(-1.0 / 32.0, 1.0 / 32.0, PIECES) {
        let logarithm = elementary::minus_ln_1p::<Fused, Bounded>(t).off_by(left_out);
        assert!(logarithm.error <= MINUS_LN_1P, "−ln(1 + t) at {t:?}: {logarithm:?}");
    }
}

/// −ln m of the first level in `f32`, for every significand; the language's logarithm is off by less than 2⁻⁵².
#[test]
fn narrow_logarithms() {
    let mut worst = [0.0_f64; 2];
    for bits in narrow::SQRT_HALF..narrow::SQRT_HALF + (1 << 23) {
        let m = f32::from_bits(bits);
        let truth = -f64::from(m).ln();
        for (worst, found) in worst
            .iter_mut()
            .zip([narrow::minus_ln::<Separate>(m), narrow::minus_ln::<Fused>(m)])
        {
            *worst = worst.max((f64::from(found) - truth).abs());
        }
    }
    assert!(worst.iter().all(|worst| *worst + 2.0 * U <= narrow::LOGARITHM), "{worst:?}");
}

/// −ln(1 + t) of the first level by tables in `f32`, and t, for every significand: a cubic with its own factors.
#[test]
fn narrow_logarithms_by_tables() {
    let u = f64::from(f32::EPSILON) / 2.0;
    let [first, second, third] = narrow_table::FACTORS;
    let mut worst = 0.0_f64;
    for bits in 0..1_u32 << 23 {
        let m = f32::from_bits(1.0_f32.to_bits() | bits);
        let reciprocal = narrow_table::RECIPROCALS[(bits >> 19) as usize];
        // Rounded once, as in the kernel.
        let t = f64::from(m.mul_add(reciprocal, -1.0));
        assert!(t.abs() <= 1.0 / 32.0 + u, "{m}");
        let truth = -(f64::from(m) * f64::from(reciprocal)).ln();
        worst = worst.max((((third * t + second) * t + first) * t - truth).abs());
    }
    assert!(
        worst + 4.0 * U <= narrow_table::LOGARITHM,
        "{} of {}",
        worst / u,
        narrow_table::LOGARITHM / u
    );
}

/// The arguments of exp with exponent n. The exponent rises with x: a product with a constant and a sum with one, each rounded.
fn arguments(n: u32) -> (f64, f64) {
    let first = |n: u32| {
        // Numbers from zero upwards are in the order of their bits.
        let (mut low, mut high) = (0, 701.0_f64.to_bits());
        while low < high {
            let middle = low.midpoint(high);
            if elementary::exponent(f64::from_bits(middle)) >= f64::from(n) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        f64::from_bits(low)
    };
    (first(n), first(n + 1).next_down().min(700.0))
}

/// f¹⁴/14! + f¹⁵/15! + …, what the polynomial leaves of e^f.
fn left_out_of_exp(f: f64) -> f64 {
    let next: f64 = (1..=14).map(|k| f / f64::from(k)).product();
    SECOND_ORDER * next / (1.0 - f / 15.0)
}

/// The largest |f|: half of ln 2, the rounding of n, and x_low.
const LARGEST_F: f64 = 0.3467;

#[test]
fn exponentials() {
    exponentials_on::<Separate>();
    exponentials_on::<Fused>();
}

fn exponentials_on<A: MulAdd<Bounded>>() {
    let mut next = 0.0;
    for n in 0..=EXPONENTS {
        let (lo, hi) = arguments(n);
        assert_eq!(lo, next, "a gap before exponent {n}");
        next = hi.next_up();
        let scale = power_of_two(n as i32);
        let (scale, n) = (Bounded::from(scale), Bounded::from(f64::from(n)));
        let left_out = scale.lo * left_out_of_exp(LARGEST_F);
        for x in pieces(lo, hi, PIECES) {
            // x_low is a rounded product.
            let x_low = Bounded::argument(0.0, x.hi * power_of_two(-25)).off_by(x.hi * power_of_two(-25) * U);
            let f = [x.lo - n.lo * LN_2, x.hi - n.lo * LN_2 + x_low.hi];
            assert!(f.iter().all(|f| f.abs() < LARGEST_F - 1e-6), "{f:?}");
            if n.lo > 0.0 {
                assert_eq!((x - n * LN2_HIGH.into()).error, 0.0, "the first step of the reduction rounds");
            }
            let exp = elementary::exp_scaled::<A, Bounded>(scale, n, x, x_low).off_by(left_out);
            assert!(exp.relative() <= EXP, "exp at {x:?}: {exp:?}");
            if n.lo > 0.0 {
                let exp_m1 = elementary::exp_m1_scaled::<A, Bounded>(scale, n, x).off_by(left_out);
                assert!(exp_m1.relative() <= EXP_M1, "exp − 1 at {x:?}: {exp_m1:?}");
            }
        }
    }
    assert_eq!(next, 700.0_f64.next_up());
}

/// e^x − 1 is near zero with x: there pieces follow the binades.
#[test]
fn exponentials_minus_one_near_zero_and_ratios() {
    let end = arguments(0).1;
    for x in binades(-60, -2, PIECES).chain(pieces(0.25, end, PIECES)) {
        let growth = exp_m1_near_zero::<Separate>(x);
        assert!(growth.relative() <= EXP_M1, "exp − 1 at {x:?}: {growth:?}");
        let fused = exp_m1_near_zero::<Fused>(x);
        assert!(fused.relative() <= EXP_M1, "exp − 1 at {x:?}: {fused:?}");
        check_ratio(x, growth);
    }
    for n in 1..=EXPONENTS {
        let (lo, hi) = arguments(n);
        let (scale, n) = (power_of_two(n as i32), f64::from(n));
        for x in pieces(lo, hi, PIECES) {
            let left_out = scale * left_out_of_exp(LARGEST_F);
            let growth = elementary::exp_m1_scaled::<Separate, Bounded>(scale.into(), n.into(), x).off_by(left_out);
            check_ratio(x, growth);
        }
    }
    // From 700 on e^x − 1 is replaced by infinity, and 4/(e^x − 1) by zero.
    let huge = Bounded::argument(1e300, f64::MAX);
    for x in binades(9, 10, PIECES) {
        check_ratio(x, huge);
    }
}

fn exp_m1_near_zero<A: MulAdd<Bounded>>(x: Bounded) -> Bounded {
    elementary::exp_m1_scaled::<A, Bounded>(1.0.into(), 0.0.into(), x).off_by(left_out_of_exp(x.hi))
}

fn check_ratio(x: Bounded, growth: Bounded) {
    let ratio = elementary::log_ratio_of_growth(growth, x);
    // z⁴⁰/41 + z⁴²/43 + …, relative to the first term, z ≤ ⅓.
    let left_out = ratio.hi * 9.0_f64.powi(-20) / 41.0 * 9.0 / 8.0 * SECOND_ORDER;
    let ratio = ratio.off_by(left_out);
    assert!(ratio.relative() <= HALF_LOG_RATIO, "the ratio at {x:?}: {ratio:?}");
}

/// The model against the machine: at single points the kernel's numbers, and the language's, lie where [`Bounded`] says.
#[test]
fn bounds_contain_what_the_machine_computes() {
    let holds = |model: Bounded, machine: f64, truth: f64| {
        assert!(machine >= (model.lo - model.error).next_down() && machine <= (model.hi + model.error).next_up());
        let close = 64.0 * U * (truth.abs() + 1.0);
        assert!(model.lo - close <= truth && truth <= model.hi + close, "{truth} {model:?}");
        assert!(model.hi - model.lo <= 256.0 * U * (truth.abs() + 1.0), "{model:?}");
    };
    let mut word = 1_u64;
    for _ in 0..20_000 {
        word = word.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let whole = float::from_bits((word >> 1) >> (word % 63)).max(1.0);
        let (e, s) = elementary::split_ln(whole);
        let truth = LONGEST - whole.ln();
        let (model_e, model_s) = (Bounded::from(63.0 - e), Bounded::argument(s.abs(), s.abs()));
        let model_s = if s < 0.0 { -model_s } else { model_s };
        holds(
            elementary::minus_ln::<Separate, Bounded>(model_e, model_s),
            elementary::minus_ln::<Separate, f64>(63.0 - e, s),
            truth,
        );
        holds(
            elementary::minus_ln::<Fused, Bounded>(model_e, model_s),
            elementary::minus_ln::<Fused, f64>(63.0 - e, s),
            truth,
        );
        let x = (word >> 11) as f64 * power_of_two(-53) * 30.0;
        let n = elementary::exponent(x);
        let scale = Bounded::from(n.exp2());
        let point = Bounded::argument(x, x);
        holds(
            elementary::exp_scaled::<Fused, Bounded>(scale, n.into(), point, 0.0.into()),
            elementary::exp::<Fused>(x, 0.0),
            x.exp(),
        );
        holds(
            elementary::exp_m1_scaled::<Separate, Bounded>(scale, n.into(), point),
            elementary::exp_m1(x),
            x.exp_m1(),
        );
        let growth = elementary::exp_m1_scaled::<Separate, Bounded>(scale, n.into(), point);
        let truth = -((-x).exp_m1() / 2.0).ln_1p() / x;
        holds(
            elementary::log_ratio_of_growth(growth, point),
            elementary::half_log_ratio(x),
            truth,
        );
    }
}

// ---------------------------------------------------------------- the lanes

/// x = κ·ℓ + β for every scale and logarithm that can occur: its error is below the tolerance of the acceptance test.
#[test]
fn geometric_tolerance() {
    let [absolute, _] = MINUS_LN;
    let all = || binades(-30, 45, 64).chain([Bounded::argument(0.0, power_of_two(-30))]);
    // Of 1/κ: κ and the quotient are rounded, and β depends on it less than in proportion.
    let offset = Bounded::argument(0.0, 0.5).off_by(0.5 * (HALF_LOG_RATIO + 2.0 * U) * SECOND_ORDER);
    // V as an `f64` is off by u of V.
    geometric_tolerance_on_tiers(all, offset, U + absolute, geometric::PER_SCALE, geometric::FIXED);
    let per_scale = geometric::PER_SCALE + geometric::PER_SCALE_ROUGH;
    geometric_tolerance_on_tiers(all, offset, U + ROUGH_MINUS_LN, per_scale, geometric::FIXED);

    // Mapped words: V, the scale, their product and the sum; or τ and the sum. Sensitivity is 1, so that κ ≤ 2⁴⁰.
    let quotient = EXP_M1 + U + U;
    let word = f64::max(U + quotient + U, quotient) + U;
    let mapped = geometric::PER_SCALE + geometric::PER_SCALE_MAPPED;
    geometric_tolerance_on_tiers(all, offset, word + absolute, mapped, geometric::FIXED);
    let rough = mapped + geometric::PER_SCALE_ROUGH;
    geometric_tolerance_on_tiers(all, offset, word + ROUGH_MINUS_LN, rough, geometric::FIXED);

    // With constants made in the lane: κ from 2³²/700 up, and β in the tolerance;
    let half = Bounded::argument(0.5, 0.5).off_by(each::BETA);
    let fixed = geometric::FIXED + each::BETA;
    geometric_tolerance_on_tiers(|| binades(22, 45, 64), half, U + absolute, geometric::PER_SCALE, fixed);
    // or β in the logarithm.
    let decay = (EXP + U) * 0.5;
    let word = (0.3 * U + decay + 3.0 * U) * SECOND_ORDER;
    geometric_tolerance_on_tiers(all, 0.0.into(), word + absolute, each::PER_SCALE_FEW, geometric::FIXED);
}

fn geometric_tolerance_on_tiers<S: Iterator<Item = Bounded>>(
    scales: impl Fn() -> S,
    offset: Bounded,
    logarithm: f64,
    per_scale: f64,
    fixed: f64,
) {
    geometric_tolerance_on::<Separate>(scales(), offset, logarithm, per_scale, fixed);
    geometric_tolerance_on::<Fused>(scales(), offset, logarithm, per_scale, fixed);
}

fn geometric_tolerance_on<A: MulAdd<Bounded>>(
    scales: impl Iterator<Item = Bounded>,
    offset: Bounded,
    absolute: f64,
    per_scale: f64,
    fixed: f64,
) {
    let [_, relative] = MINUS_LN;
    // x − ⌊x⌋ up to 1, its distance from ½, ½ less the tolerance: each half a last place.
    let test = U / 2.0 + U / 2.0 + U / 2.0;
    let logarithms: Vec<_> = pieces(0.0, 1.0, 64)
        .chain(binades(0, 5, 64))
        .chain(pieces(32.0, LONGEST + LN_2, 64))
        .collect();
    for scale in scales {
        let scale = scale.off_by(scale.hi * U);
        for &exact in &logarithms {
            let logarithm = exact.off_by((absolute + relative * exact.hi) * SECOND_ORDER);
            let x = A::mul_add(scale, logarithm, offset);
            let theta = scale.lo * THETA;
            let tolerance = per_scale * scale.lo + geometric::PER_X * x.lo.max(0.0) + fixed;
            assert!(
                (x.error + test + theta) * SECOND_ORDER <= tolerance,
                "{scale:?} {exact:?} {x:?}"
            );
        }
    }
}

/// β ≥ ½ − 1/(8κ) on the lattices of powers; and an error of u in x = 1/κ moves b = e^(−x) by x·u, 1 + b by x/(1 + e^x) of that.
#[test]
fn the_offset_in_a_lane() {
    assert!(700.0 / power_of_two(32) / 8.0 <= each::BETA);
    for x in binades(-45, 10, 64) {
        assert!(x.hi / (1.0 + x.lo.exp()) <= 0.3, "{x:?}");
    }
}

/// Where ε is by the value, D·c comes from m = e^(ε/2) − 1: D/(m·(2 + m)), and D/(1 + e^(ε/2)) is m of it.
#[test]
fn quotients_in_a_lane() {
    quotients_in_a_lane_on::<Separate>();
    quotients_in_a_lane_on::<Fused>();
}

fn quotients_in_a_lane_on<A: MulAdd<Bounded>>() {
    let check = |m: Bounded, x: Bounded| {
        assert!(m.relative() <= EXP_M1, "{x:?}");
        let floor = Bounded::from(1.0) / each::rise(m);
        assert!(
            floor.relative() * SECOND_ORDER <= each::FLOOR_ERROR,
            "{x:?}: {}",
            floor.relative() / U
        );
        // m cancels: what is left of its error is that of 2 + m, and two roundings follow the quotient.
        let sum = Bounded::from(2.0) + m;
        let shape = sum.relative() + 3.0 * U;
        assert!(shape * SECOND_ORDER <= each::L1_ERROR, "{x:?}: {}", shape / U);
    };
    // Half of an ordinary ε: near zero by binades, then exponent by exponent.
    for x in binades(-21, -2, PIECES).chain(pieces(0.25, arguments(0).1, PIECES)) {
        check(exp_m1_near_zero::<A>(x), x);
    }
    for n in 1..=EXPONENTS {
        let (lo, hi) = arguments(n);
        let (scale, n) = (power_of_two(n as i32), f64::from(n));
        for x in pieces(lo, hi.min(350.0), if lo < 350.0 { PIECES } else { 0 }) {
            let m = elementary::exp_m1_scaled::<A, Bounded>(scale.into(), n.into(), x);
            check(m.off_by(scale * left_out_of_exp(LARGEST_F)), x);
        }
    }
}

/// By how much ln(1 + 1/V) may exceed the computed 2^−⌊log₂ V⌋: its factor κ and its sum are off by u each, and V by another.
const THETA: f64 = U / 1024.0;

#[test]
fn bits_beyond_the_word_move_the_logarithm_by_less_than_the_inverse_power() {
    for v in 1..=4096_u32 {
        let power = power_of_two(-(v.ilog2() as i32));
        assert!((1.0 / f64::from(v)).ln_1p() < power * (1.0 - 16.0 * U), "{v}");
    }
    // Beyond, ln(1 + 1/V) ≤ 1/V and V is rounded to at most V·(1 + u): three errors of a number below 1/4096.
    const { assert!(3.0 * U / 4096.0 * SECOND_ORDER <= THETA) };
}

/// The table of `StaircaseLane`.
#[test]
fn staircase_tolerance() {
    let (quotient, sum, product, difference, word) = (U, U, U, U, U);
    let floor = EXP_M1 + quotient;
    // t/2 is that sum, the unit and y are products.
    let y = sum + EXP + product + word + product;
    let total = (floor + y + difference) * SECOND_ORDER;
    // The tolerance is computed from a y off by less than 2⁻⁴⁰.
    assert!(
        total <= staircase::PER_Y / SECOND_ORDER,
        "{} of {}",
        total / U,
        staircase::PER_Y / U
    );
    // With constants made in the lane: y and D·c are at most D + D/ε, itself off by less than 2⁻⁴⁰.
    let total = (each::FLOOR_ERROR + y + difference) * SECOND_ORDER;
    assert!(total <= (staircase::PER_Y + each::PER_SPAN) / SECOND_ORDER, "{}", total / U);
    // The acceptance test works on numbers up to 2, each off by less than 2u, and with a floor of zero where e^ε overflows.
    let beyond = MAX_SPAN * (-700.0_f64).exp();
    assert!(8.0 * 2.0 * U + 2.0 * beyond <= staircase::FIXED);
}

/// The table of `mapped`, for lanes and for lines.
#[test]
fn mapped_tolerance() {
    let (quotient, sum, product, difference) = (U, U, U, U);
    let (word, scale, tail) = (U, U, U);
    let floor = EXP_M1 + quotient;
    let unit = sum + EXP + product;
    // By the part that scale·V has of U; an error of τ counts by the part that the offset has.
    let whole = f64::max(word + scale + product, tail) + sum;
    let alone = (floor + unit + whole + product + difference) * SECOND_ORDER;
    // A slope is a product with the scale, and both are multiplied with V; an offset has a product with τ. Two sums are rounded relative to themselves,
    // which are at least −(D + D·c).
    let parts = f64::max(word + scale + product + product, tail + product);
    let line = (floor + unit + parts + 2.0 * sum) * SECOND_ORDER;
    for total in [alone, line] {
        assert!(
            total <= staircase::PER_Y / SECOND_ORDER,
            "{} of {}",
            total / U,
            staircase::PER_Y / U
        );
    }
}

/// The recursion of `canonical`: errors of numbers below 1, of which none grows.
#[test]
fn canonical_thresholds() {
    let rise = EXP_M1 + U;
    let first = U + (rise + U) + U;
    let step = U + rise + U;
    assert!((first + 15.0 * step) * SECOND_ORDER <= canonical::ERROR);
}

/// The map of `Narrow`: four roundings of the part of V, and those of the map in `f64`.
#[test]
fn mapped_words_in_f32() {
    let u = f64::from(f32::EPSILON) / 2.0;
    assert!((4.0 * u + 7.0 * U) * SECOND_ORDER + u * u * 8.0 <= narrow::MAPPED_WORD);
}

/// The table of `Lines`: an offset and the line are rounded three times, and half less the tolerance once.
#[test]
fn tolerance_of_lines() {
    let offset = (3.0 + 1.0) * U * SECOND_ORDER;
    assert!(offset <= lines::PER_OFFSET);
    // On the right stair as in the lane: V, unit, D·c and their products (`staircase_tolerance`).
    let line = (U + U + EXP + U + U + U + EXP_M1 + U) * SECOND_ORDER;
    assert!(
        line <= staircase::PER_Y / SECOND_ORDER,
        "{} of {}",
        line / U,
        staircase::PER_Y / U
    );
}

/// The table of `Table`.
#[test]
fn tolerance_of_the_table() {
    let longest = LONGEST - table::LEAST.ln() + U;
    let [absolute, relative] = MINUS_LN;
    let (word, t, product) = (U, U / 32.0, 2.0 * U / 32.0);
    let offset = absolute + (relative + 3.0 * U) * LN_2 + U;
    // κ, ln 2, their product, and its product in a fused sum.
    let octaves = 4.0 * U * (longest + LN_2);
    let sums = 2.0 * U * (longest + 1.0);
    let total = (word + t + MINUS_LN_1P + product + offset + octaves + sums) * SECOND_ORDER;
    assert!(total <= table::PER_SCALE, "{} of {}", total / U, table::PER_SCALE / U);
    const { assert!(2.0 * HALF_LOG_RATIO + 4.0 * U <= table::FIXED) };
}

/// The tables of `Narrow`.
#[test]
fn tolerance_of_narrow_laws() {
    let u = f64::from(f32::EPSILON) / 2.0;
    for longest in (0..=22).map(f64::from) {
        // e·ln 2 is at most ℓ + ½·ln 2: the constant and the product; then their sum, κ and the product with it.
        let octaves = 2.0 * u * (longest + 0.5 * LN_2);
        let total = (u + narrow::LOGARITHM + octaves + u * longest + 2.0 * u * longest) * SECOND_ORDER;
        assert!(total <= 2.0 * u + narrow::LOGARITHM + 5.0 * longest * u);
    }
}

/// The table of `NarrowTable`.
#[test]
fn tolerance_of_narrow_tables() {
    let u = f64::from(f32::EPSILON) / 2.0;
    let whole = 31.0 * LN_2;
    // κ times each factor is rounded, and so are two sums: of the squares' factors, below ¾, and all of them, below 1 + ¼, times t.
    let t = 1.0 / 32.0 + u;
    let series = (u * (1.0 + 0.51 * t + t * t) + u * 0.75 * t + u * 1.25) * t;
    // κ·(L + ln R) + β − ½, rounded, and e·κ·ln 2 with its factor rounded.
    let (offset, octaves) = (u * whole, u * whole);
    let total = (u + narrow_table::LOGARITHM + series + offset + octaves) * SECOND_ORDER;
    let sums = 0.1 * u;
    assert!(
        total + sums <= narrow_table::PER_SCALE + narrow_table::LOGARITHM,
        "{} of {}",
        (total + sums) / u,
        (narrow_table::PER_SCALE + narrow_table::LOGARITHM) / u
    );
}

/// The table of `Logarithm`, which is that of `GeometricLane`: the sum with β − ½ is rounded as the one with β, or by half an ulp of ½.
#[test]
fn tolerance_of_logarithms() {
    let rounding = U / 2.0;
    // β 9u and the test 1.5u, as in `geometric_tolerance`; β − ½, its sum with x and half less the tolerance are rounded once more.
    assert!((9.0 + 1.5) * U + 3.0 * rounding <= geometric::FIXED);
}

// ---------------------------------------------------------------- edges

#[test]
fn words_split_into_exponent_and_significand() {
    for e in 0..=64_u64 {
        for offset in [0, 1, 1 << 51, (1 << 52) - 1] {
            let m = f64::from_bits(SQRT_HALF + offset);
            let x = m * power_of_two(e as i32);
            assert_eq!(elementary::split_ln(x), (e as f64, (m - 1.0) / (m + 1.0)));
        }
    }
}

/// The fused remainder of an exact product is zero. ε·J stays below 76 on any stair that a word reaches: e^(εJ) ≤ e^ε·t/(2Dc)/v.
#[test]
fn the_exponent_of_a_stair_is_exact_in_its_high_part() {
    for k in -20..6 {
        for fraction in [
            0,
            1,
            (1 << 52) - 1,
            0x000a_aaaa_aaaa_aaaa,
            0x0005_5555_5555_5555,
            (1 << 27) - 1,
            1 << 27,
        ] {
            let eps = f64::from_bits(power_of_two(k).to_bits() | fraction);
            let high = f64::from_bits(eps.to_bits() & staircase::UPPER_PART);
            let low = eps - high;
            assert_eq!(high + low, eps);
            assert!((0.0..=power_of_two(-25) * high).contains(&low));
            let last = (76.0 / eps).ceil();
            for stair in [last, last - 1.0, (last / 3.0).floor()] {
                assert_eq!(stair.mul_add(high, -(stair * high)), 0.0, "{eps} {stair}");
            }
        }
    }
}

/// |X| ≤ κ·ℓ + β, and r + J·D with εJ ≤ ℓ + ε but for the rough logarithm's error.
#[test]
fn accepted_magnitudes_are_below_2_to_the_51() {
    assert!(MAX_SPAN * (LONGEST + 1.0) < power_of_two(51));
    assert!(MAX_SPAN * (LONGEST + 4.0) < power_of_two(51));
    for cells in [1, 1000, 1 << 25, (1 << 45) - 1] {
        for eps in [cells as f64 / MAX_SPAN * 1.01, 1.0, 30.0] {
            let lanes = [
                IntegerLaw::Geometric { eps, cells },
                IntegerLaw::OneSided { eps, cells },
                IntegerLaw::Staircase { eps, cells, r: cells },
            ];
            for law in lanes {
                for word in 1..64 {
                    let answer = Kernel::new(&law).decide(word);
                    assert!(answer.unwrap_or(0.0) < power_of_two(51), "{law:?} {word}: {answer:?}");
                }
            }
        }
    }
}

fn refused<A: Arithmetic>(lane: &impl Lane, what: &dyn std::fmt::Debug) {
    let answer = lane.magnitude::<A>(0);
    assert!(!answer.1, "{what:?}: {answer:?}");
}

/// Where exponentials overflow and logarithms are of zero, a word is accepted only if the exact path says the same.
#[test]
fn nothing_wrong_is_accepted_at_the_ends() {
    let dense = (1..400).map(|i| f64::from(i) * 3.7);
    for eps in dense.chain([1e-300, 1e-20, 1e-7, 1e-3, 0.5, 700.0, 700.1, 1e4, 1e300, f64::MAX]) {
        for cells in [1, 1000, 1 << 33, 1 << 50] {
            for r in [1, cells] {
                let law = IntegerLaw::Staircase { eps, cells, r };
                let lane = StaircaseLane::new(eps, cells, r, 63);
                refused::<Separate>(&lane, &law);
                refused::<Fused>(&lane, &law);
                refused::<Separate>(&LadderLane::<4>::new(&lane), &law);
                refused::<Separate>(&LadderLane::<8>::new(&lane), &law);
                refused::<Fused>(&LadderLane::<4>::new(&lane), &law);
                refused::<Fused>(&LadderLane::<8>::new(&lane), &law);
                agrees(&law);
            }
            let law = IntegerLaw::Geometric { eps, cells };
            let lane = GeometricLane::new(eps, cells, 63);
            refused::<Separate>(&lane, &law);
            refused::<Fused>(&lane, &law);
            if let Some(coarse) = CoarseLane::new(eps, cells, 63) {
                refused::<Separate>(&coarse, &law);
                refused::<Fused>(&coarse, &law);
            }
            agrees(&law);
            agrees(&IntegerLaw::OneSided { eps, cells });
        }
        for delta in [f64::from_bits(1), 1e-300, 1e-39, 1e-9, 0.3, 1.0_f64.next_down()] {
            if eps >= (-40.0_f64).exp2() {
                let most = exact::most_canonical(eps, delta);
                agrees(&IntegerLaw::Canonical { eps, delta, most });
                let lane = MappedLane::new(canonical::map(eps, delta, 63), GeometricLane::mapped(eps, 63));
                agrees_on::<Separate>(&lane, &IntegerLaw::Canonical { eps, delta, most });
                agrees_on::<Fused>(&lane, &IntegerLaw::Canonical { eps, delta, most });
            }
        }
    }
}

const WORDS: [u64; 9] = [0, 1, 2, 3, 1000, 1 << 20, 1 << 40, 1 << 62, (1 << 63) - 1];

fn agrees_on<A: Arithmetic>(lane: &impl Lane, law: &IntegerLaw) {
    for word in WORDS {
        let (magnitude, sure) = lane.magnitude::<A>(word);
        for rest in [0, u64::MAX] {
            let exact = exact::magnitude(law, word, &mut |_: usize| rest);
            assert!(!sure || magnitude == exact as f64, "{law:?} {word}: {magnitude}");
        }
    }
}

fn agrees(law: &IntegerLaw) {
    let kernel = Kernel::new(law);
    for word in WORDS {
        if let Some(magnitude) = kernel.decide(word) {
            for rest in [0, u64::MAX] {
                let exact = exact::magnitude(law, word, &mut |_: usize| rest);
                assert_eq!(magnitude, exact as f64, "{law:?} {word}");
            }
        }
    }
}
