//! How well: the errors of the formulas of `elementary`, and of the first levels' own logarithms.

use std::f64::consts::LN_2;

use super::bounded::Bounded;
use super::{
    ATANH, EXP, EXP_M1, EXPONENTS, HALF_LOG_RATIO, LARGEST_F, LONGEST, MINUS_LN, MINUS_LN_1P, PIECES, ROUGH_ATANH,
    ROUGH_MINUS_LN, SECOND_ORDER, SQRT_HALF, U, arguments, binades, exp_m1_near_zero, left_out_of_exp, left_out_of_ln_1p, pieces,
};
use crate::kernel::arithmetic::{Fused, Separate};
use crate::kernel::elementary::{self, LN2_HIGH, MulAdd};
use crate::kernel::first_level::{narrow, narrow_table, table};
use crate::kernel::float;
use crate::lattice::dyadic::power_of_two;

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
        let fine = elementary::atanh::<A, Bounded>(s).off_by(left_out(10) / 2.0);
        assert!(fine.error <= ATANH, "atanh of {m:?}: {fine:?}");
        let rough = elementary::rough_atanh::<A, Bounded>(s).off_by(left_out(4) / 2.0);
        assert!(rough.error <= ROUGH_ATANH, "rough atanh of {m:?}: {rough:?}");
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
    for t in pieces(-1.0 / 32.0, 1.0 / 32.0, PIECES) {
        let logarithm = elementary::minus_ln_1p::<Fused, Bounded>(t).off_by(left_out_of_ln_1p());
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
        let (e, s) = elementary::split_ln(63.0, whole);
        let truth = LONGEST - whole.ln();
        let (model_e, model_s) = (Bounded::from(e), Bounded::argument(s.abs(), s.abs()));
        let model_s = if s < 0.0 { -model_s } else { model_s };
        holds(
            elementary::minus_ln::<Separate, Bounded>(model_e, model_s),
            elementary::minus_ln::<Separate, f64>(e, s),
            truth,
        );
        holds(
            elementary::minus_ln::<Fused, Bounded>(model_e, model_s),
            elementary::minus_ln::<Fused, f64>(e, s),
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
