//! Evidence: comparison with an independent library. Every enclosure of e^(−x) must contain the value that `dashu-float` gives with 32 more
//! bits, and be no wider than documented. Points are fixed, pseudo-random or directed; nothing here is statistical.

use crate::long;
use crate::oracle::{Points, exp_minus, floor_scaled, from_limbs};
use dashu_int::IBig;
use stairnoise::exact::exp::Step;

/// Asserts lo ≤ e^(−x) ≤ hi and the width, for x = eps·count/parts.
fn check(eps: f64, count: u64, parts: u64, p: usize) {
    let case = || format!("eps {eps:e}, count {count}, parts {parts}, {p} limbs");
    let power = Step::new(eps, parts)
        .power(count, p)
        .unwrap_or_else(|| panic!("no power: {}", case()));
    let (lo, hi) = (from_limbs(&power.mantissa.lo), from_limbs(&power.mantissa.hi));
    // The mantissa is below 4, so the truth is known to two units of 2^(−64p − 32).
    let truth = floor_scaled(&exp_minus(eps, count, parts, 64 * p + 40), power.shift + 64 * p + 32);
    assert!(lo.clone() << 32 <= truth.clone() + 2, "lower end above the truth: {}", case());
    assert!(truth - 2 <= hi.clone() << 32, "upper end below the truth: {}", case());
    let one = IBig::ONE << (64 * p);
    assert!(one <= lo && hi < one * 3, "mantissa outside [1, 3): {}", case());
    assert!(hi - lo <= width_bound(power.shift, p), "too wide: {}", case());
}

/// The documented width, restated.
fn width_bound(shift: usize, p: usize) -> IBig {
    if p == 2 {
        IBig::from(12 * shift + 6150)
    } else {
        IBig::ONE << 38
    }
}

/// Precisions from 128 to 1024 bits: mostly short ones, which decide nearly all values, and rarely one beyond the table of ln 2.
fn precision(points: &mut Points) -> usize {
    match points.word() % 64 {
        0 => 17,
        1 => 16,
        2..6 => usize::try_from(points.between(5, 15)).unwrap(),
        6..12 => 4,
        12..24 => 3,
        _ => 2,
    }
}

/// Points with x from 2^−60 to 2^20.
#[test]
fn encloses_at_random_points() {
    let mut points = Points(1);
    for _ in 0..if long() { 20_000 } else { 5_000 } {
        let x = points.magnitude(-60, 20);
        let count = points.word() >> (1 + points.word() % 63);
        let parts = 1 + (points.word() >> (11 + points.word() % 53));
        let eps = x / (count.max(1) as f64) * parts as f64;
        if eps * count as f64 / (parts as f64) < 1e6 {
            check(eps, count, parts, precision(&mut points));
        }
    }
}

/// 10 000 points within a few float64 of n·ln 2, where the reduction is on the verge of another n.
#[test]
fn encloses_near_multiples_of_ln2() {
    let mut points = Points(2);
    for i in 0..10_000_u64 {
        let n = if i < 4000 { i + 1 } else { points.between(1, 1_500_000) };
        let near = n as f64 * std::f64::consts::LN_2;
        let eps = f64::from_bits(near.to_bits() + points.between(0, 4) - 2);
        check(eps, 1, 1, precision(&mut points));
    }
}

/// The ends of the range: subnormal x, x just below the underflow limit, and exact 1 at x = 0.
#[test]
fn encloses_at_extremes() {
    for p in [2, 3, 4, 8, 16, 17, 40] {
        for eps in [
            5e-324,
            f64::MIN_POSITIVE,
            1e-300,
            (-60.0_f64).exp2(),
            (-40.0_f64).exp2(),
            1_048_575.999,
        ] {
            check(eps, 1, 1, p);
            check(eps, 1, (1 << 53) - 1, p);
        }
        check((-40.0_f64).exp2(), u64::MAX >> 5, 1, p);
        let unit = Step::new(1.0, 1).power(0, p).unwrap();
        assert_eq!(unit.shift, 0);
        assert_eq!(from_limbs(&unit.mantissa.lo), IBig::ONE << (64 * p));
        assert_eq!(unit.mantissa.lo[..], unit.mantissa.hi[..]);
    }
}

/// Beyond the limit there is no power, and no panic.
#[test]
fn underflows_to_none() {
    for (eps, count, parts) in [
        (1_048_576.0, 1, 1),
        (1e308, 1, 1),
        (1e308, u64::MAX, 1),
        (4.0, u64::MAX, 1 << 40),
        (f64::MAX, 1, 1 << 53),
    ] {
        assert!(Step::new(eps, parts).power(count, 2).is_none(), "eps {eps:e}");
    }
}
