//! The tolerances of the lanes' acceptance tests follow from the errors of the formulas.

use std::f64::consts::LN_2;

use super::bounded::Bounded;
use super::{
    ATANH, EXP, EXP_M1, EXPONENTS, HALF_LOG_RATIO, LARGEST_F, LONGEST, MINUS_LN, MINUS_LN_1P, PIECES, ROUGH_ATANH, SECOND_ORDER,
    U, arguments, binades, exp_m1_near_zero, left_out_of_exp, pieces,
};
use crate::kernel::arithmetic::{Fused, Separate};
use crate::kernel::elementary::{self, MulAdd};
use crate::kernel::first_level::{lines, logarithm, narrow, narrow_table, table};
use crate::kernel::lane::MAX_SPAN;
use crate::kernel::{canonical, geometric, per_element, sides, staircase};
use crate::lattice::dyadic::power_of_two;

/// x = κ·ℓ + β for every scale and logarithm that can occur: its error is below the tolerance of the acceptance test.
#[test]
fn geometric_tolerance() {
    let [absolute, _] = MINUS_LN;
    let all = || binades(-30, 45, 64).chain([Bounded::argument(0.0, power_of_two(-30))]);
    // Of 1/κ: κ and the quotient are rounded, and β depends on it less than in proportion.
    let offset = Bounded::argument(0.0, 0.5).off_by(0.5 * (HALF_LOG_RATIO + 2.0 * U) * SECOND_ORDER);
    // V as an `f64` is off by u of V.
    geometric_tolerance_on_tiers(all, |_| offset, U + absolute, geometric::PER_SCALE, geometric::FIXED);

    // Mapped words: V, the scale, their product and the sum; or τ and the sum. Sensitivity is 1, so that κ ≤ 2⁴⁰.
    let quotient = EXP_M1 + U + U;
    let word = f64::max(U + quotient + U, quotient) + U;
    let mapped = geometric::PER_SCALE + geometric::PER_SCALE_MAPPED;
    geometric_tolerance_on_tiers(all, |_| offset, word + absolute, mapped, geometric::FIXED);

    // With β = −κ·L for two sides. Twice as many bits beyond the word count twice.
    let sided = geometric::PER_SCALE + sides::PER_SCALE_SIDED;
    for logarithm in pieces(0.0, LN_2, 8) {
        let logarithm = logarithm.off_by(sided_logarithm());
        let offset = |scale: Bounded| -(scale * logarithm);
        geometric_tolerance_on_tiers(all, offset, U + absolute + THETA, sided, geometric::FIXED);
    }

    // With constants made in the lane: κ from 2³²/700 up, and β in the tolerance;
    let half = Bounded::argument(0.5, 0.5).off_by(per_element::BETA);
    let fixed = geometric::FIXED + per_element::BETA;
    geometric_tolerance_on_tiers(|| binades(22, 45, 64), |_| half, U + absolute, geometric::PER_SCALE, fixed);
    // or β in the logarithm.
    let decay = (EXP + U) * 0.5;
    let word = (0.3 * U + decay + 3.0 * U) * SECOND_ORDER;
    geometric_tolerance_on_tiers(
        all,
        |_| 0.0.into(),
        word + absolute,
        per_element::PER_SCALE_FEW,
        geometric::FIXED,
    );
}

/// Error of ln(N·2^m) of `Sided`: 1/(N·2^m) is rounded once.
fn sided_logarithm() -> f64 {
    let [absolute, relative] = MINUS_LN;
    (U + absolute + relative * LN_2) * SECOND_ORDER
}

/// β of `Sided` in the sums of `Table` and `Logarithm`: less ½, and added to a number up to ln 2.
#[test]
fn tolerance_of_sides() {
    let offset = sided_logarithm() + 2.0 * U * LN_2;
    let sums = 2.0 * U * LN_2;
    let total = (offset + sums) * SECOND_ORDER;
    assert!(total <= sides::PER_SCALE_SIDED, "{}", total / U);
}

fn geometric_tolerance_on_tiers<S: Iterator<Item = Bounded>>(
    scales: impl Fn() -> S,
    offset: impl Fn(Bounded) -> Bounded,
    logarithm: f64,
    per_scale: f64,
    fixed: f64,
) {
    geometric_tolerance_on::<Separate>(scales(), &offset, logarithm, per_scale, fixed);
    geometric_tolerance_on::<Fused>(scales(), &offset, logarithm, per_scale, fixed);
}

fn geometric_tolerance_on<A: MulAdd<Bounded>>(
    scales: impl Iterator<Item = Bounded>,
    offset: &impl Fn(Bounded) -> Bounded,
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
        let offset = offset(scale);
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
    assert!(700.0 / power_of_two(32) / 8.0 <= per_element::BETA);
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
        let floor = Bounded::from(1.0) / per_element::rise(m);
        assert!(
            floor.relative() * SECOND_ORDER <= per_element::FLOOR_ERROR,
            "{x:?}: {}",
            floor.relative() / U
        );
        // m cancels: what is left of its error is that of 2 + m, and two roundings follow the quotient.
        let sum = Bounded::from(2.0) + m;
        let shape = sum.relative() + 3.0 * U;
        assert!(shape * SECOND_ORDER <= per_element::L1_ERROR, "{x:?}: {}", shape / U);
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
pub(super) const THETA: f64 = U / 1024.0;

#[test]
fn bits_beyond_the_word_move_the_logarithm_by_less_than_the_inverse_power() {
    for v in 1..=4096_u32 {
        let power = power_of_two(-(v.ilog2() as i32));
        for beyond in [1.0, 2.0] {
            assert!((beyond / f64::from(v)).ln_1p() < beyond * power * (1.0 - 16.0 * U), "{v}");
        }
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
    let total = (per_element::FLOOR_ERROR + y + difference) * SECOND_ORDER;
    assert!(
        total <= (staircase::PER_Y + per_element::PER_SPAN) / SECOND_ORDER,
        "{}",
        total / U
    );
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
    // A slope is a product with the scale, and both are multiplied with V; an offset has a product with τ. Two sums are rounded relative to
    // themselves, which are at least −(D + D·c).
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
fn tolerance_of_narrow_distributions() {
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

/// The table of `Logarithm`.
#[test]
fn tolerance_of_logarithms() {
    // atanh of the largest s, (1 − √½)/(1 + √½), is a quarter of ln 2.
    let (longest, twice) = (LONGEST - logarithm::LEAST.ln() + U, LN_2 / 2.0);
    let (word, product) = (U, 2.0 * U * twice);
    // κ, ln 2, their product, and its product with e; then two sums.
    let octaves = (4.0 + 2.0) * U * (longest + LN_2 / 2.0);
    let per_scale = |atanh: f64| (word + 2.0 * atanh + product + octaves) * SECOND_ORDER;
    let allowed = logarithm::PER_SCALE + longest * logarithm::PER_X;
    assert!(per_scale(ATANH) <= allowed, "{} of {}", per_scale(ATANH) / U, allowed / U);
    assert!(per_scale(ROUGH_ATANH) <= allowed + geometric::PER_SCALE_ROUGH);
    // β 9u and the test 1.5u, as in `geometric_tolerance`; β − ½ and half less the tolerance, rounded, and u of that ½ in two sums.
    const { assert!((9.0 + 1.5 + 0.5 + 0.5 + 1.0) * U <= geometric::FIXED) };
}
