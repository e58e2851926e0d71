//! What is computed: Taylor polynomials, and one that Chebyshev's polynomials shorten, with correctly rounded coefficients.

use std::f64::consts::LN_2;

use super::U;
use super::series::Series;
use crate::kernel::arithmetic::Separate;
use crate::kernel::elementary::{self, LN2_HIGH, LN2_LOW};
use crate::lattice::dyadic::power_of_two;

#[test]
fn the_formulas_are_taylor_polynomials() {
    let (zero, one, t) = (Series::from(0.0), Series::from(1.0), Series::linear(1.0));

    // −2 atanh t = −2(t + t³/3 + …).
    let atanh = |degree: usize| Series::new(|k| if k % 2 == 1 && k <= degree { -2.0 / k as f64 } else { 0.0 });
    assert_eq!(elementary::minus_ln::<Separate, Series>(zero, t), atanh(19));
    assert_eq!(elementary::rough_minus_ln::<Separate, Series>(zero, t), atanh(7));
    assert_eq!(elementary::minus_ln::<Separate, Series>(t, zero), Series::linear(LN_2));
    assert_eq!(elementary::rough_minus_ln::<Separate, Series>(t, zero), Series::linear(LN_2));

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

/// −ln(1 + t) to t⁹, less multiples of T₈(32t) and T₉(32t), but for their terms in 1 and t, so that t⁸ and t⁹ vanish: numerators and denominators.
pub(super) fn economised_logarithm() -> [[i128; 2]; 10] {
    // Of 9!·32⁸·2⁸ parts.
    let whole = (1..=9).product::<i128>() << (40 + 8);
    let mut expected: [i128; 10] = std::array::from_fn(|k| match k {
        0 => 0,
        k if k % 2 == 0 => whole / k as i128,
        k => -whole / k as i128,
    });
    // T(n + 1) = 2x·T(n) − T(n − 1).
    let (mut before, mut chebyshev) = ([0_i128; 11], [0_i128; 11]);
    (before[0], chebyshev[1]) = (1, 1);
    for n in 1..=9 {
        if n >= 8 {
            let highest = expected[n];
            for k in 2..=n {
                // The coefficient of t^k over that of t^n: 32^k of 32^n, and 2^(n − 1) leads.
                expected[k] -= (highest >> (5 * (n - k) + n - 1)) * chebyshev[k];
            }
        }
        let next = std::array::from_fn(|k| if k == 0 { 0 } else { 2 * chebyshev[k - 1] } - before[k]);
        (before, chebyshev) = (chebyshev, next);
    }
    expected.map(|mut numerator| {
        let mut denominator = whole;
        for prime in [2, 3, 5, 7] {
            while numerator % prime == 0 && denominator % prime == 0 {
                (numerator, denominator) = (numerator / prime, denominator / prime);
            }
        }
        [numerator, denominator]
    })
}

#[test]
fn the_logarithm_near_one_is_economised() {
    let expected = economised_logarithm();
    assert_eq!(expected[..2], [[0, 1], [-1, 1]]);
    assert_eq!(expected[8..], [[0, 1]; 2]);
    let Series(found) = elementary::minus_ln_1p::<Separate, Series>(Series::linear(1.0));
    assert!(found[8..].iter().all(|c| *c == 0.0));
    for (k, [numerator, denominator]) in expected.into_iter().enumerate() {
        assert!(numerator.abs().max(denominator) < 1 << 53, "{k}");
        assert_eq!(found[k], numerator as f64 / denominator as f64, "{k}");
    }
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
