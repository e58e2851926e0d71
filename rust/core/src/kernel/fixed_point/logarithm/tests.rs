//! Evidence: the errors added up from the constants of the source, and comparison with `dashu-float`, which shares no code with it.

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use dashu_int::IBig;

use super::*;
use crate::testing::random::Random;

type Real = FBig<HalfEven, 2>;

/// The largest s, (√2 − 1)/(√2 + 1), rounded up, and z = s².
const LARGEST: f64 = 0.171_572_876;
const Z: f64 = LARGEST * LARGEST;

const STEP: f64 = 1.0 / (1_u128 << 127) as f64 / 2.0;

fn power(e: i32) -> f64 {
    power_of_two(e)
}

/// Everything that −ln v is off by.
#[test]
fn errors_add_up_to_less_than_the_bound() {
    // R: half a step, and u of at most 2^50 for d and for the division; its relative error, the square of which is left out.
    let r = 0.5 + power(50) * 2.05 * power(-53);
    assert!(r < 0.76);
    let e = r * power(64) * power(-113);
    let quotient = LARGEST * e * e + 3.0 * power(-113);
    assert!(quotient < power(-98), "{}", quotient.log2());
    // z, and what it does to the sum of the series, whose derivative is below ½ there.
    let z = 2.0 * LARGEST * quotient + 3.0 * STEP;
    // The short terms: a coefficient and a product cut off each, and z.
    let short = (2.0 / (1.0 - Z) + 1.0) * power(-64);
    let long = 8.0 * STEP;
    let left_out = Z.powi(TERMS as i32) / (2 * TERMS + 1) as f64 / (1.0 - Z);
    let sum = Z.powi(SHORT_FROM as i32) * short + z + long + left_out;
    let atanh = quotient + LARGEST * sum + 6.0 * STEP;
    // Twice, cut off once, and 63 times what ln 2 is off by.
    let total = 2.0 * atanh + 65.0 * power(-(BITS as i32));
    assert!(total <= ERROR, "{} of {}", total.log2(), ERROR.log2());
    // The bits beyond m, and how far u may be off (`FixedStaircase`).
    let long = power(-113) + 3.0 * power(-53 - 62) + power(-125);
    assert!(total + long + power(-95) <= ERROR, "{}", (ERROR - total).log2());
}

fn real(n: u128) -> Real {
    Real::from(IBig::from(n)).with_precision(256).value()
}

fn minus_ln(bits: u64) -> Real {
    let v = real(bits.into()) >> 63;
    -v.ln()
}

#[test]
fn logarithms_are_those_of_another_library() {
    assert!(real(SQRT2.into()) * real(SQRT2.into()) > real(1 << 125));
    assert!(real(u128::from(SQRT2) - 1) * real(u128::from(SQRT2) - 1) < real(1 << 125));
    let mut random = Random(5);
    let at_random = (0..4000).map(|i| (random.word() >> 1 >> (i % 63)).max(1));
    let ends = (0..63).flat_map(|k| [1_u64 << k, (1 << k) + 1, (1 << k) - 1, (1 << k) + (1 << k >> 20)]);
    let middles = (0..63).flat_map(|k| [SQRT2 >> k, (SQRT2 - 1) >> k]);
    for bits in at_random.chain(ends).chain(middles).map(|bits| bits.clamp(1, (1 << 63) - 1)) {
        let logarithm = Logarithm::of(bits);
        assert_eq!(logarithm.zeros, bits.leading_zeros());
        let error = (real(logarithm.minus_ln) >> BITS as isize) - minus_ln(bits);
        let error = (error << 84).to_f64().value();
        assert!(error.abs() <= 1.0, "{bits}: {error} of 2^-84");
    }
}

#[test]
fn logarithms_of_longer_numbers_are_those_of_another_library() {
    let mut random = Random(6);
    for i in 0..4000 {
        let rest = [random.word(), 0, u64::MAX, 1][i % 4];
        let v = u128::from((random.word() >> 1 >> (i % 60)).max(1)) << 64 | u128::from(rest);
        let logarithm = Logarithm::of_long(v);
        assert_eq!(logarithm.zeros, (v >> 64).leading_zeros() - 64);
        let error = (real(logarithm.minus_ln) >> BITS as isize) + (real(v) >> 127).ln();
        let error = (error << 84).to_f64().value();
        assert!(error.abs() <= 1.0, "{v}: {error} of 2^-84");
    }
}

#[test]
fn zero_is_taken_for_one() {
    assert_eq!(Logarithm::of(0).minus_ln, Logarithm::of(1).minus_ln);
    assert_eq!(Logarithm::of(0).zeros, 63);
}
