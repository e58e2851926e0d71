//! Proof: the errors stated in `elementary` hold over the whole range of the arguments, and those of the lanes follow from them.
//!
//! The formulas of `elementary` are evaluated, from the source that the lanes use, on two other kinds of number. On `Series` the file `polynomials`
//! shows what is computed: Taylor polynomials of the stated degree, and an economised one, whose coefficients are correctly rounded; what a
//! polynomial leaves of its series is bounded by the terms left out. On `Bounded` the file `formulas` shows how well. The arguments are cut into
//! pieces without gaps. On each piece every rounding is charged half a last place of the largest number that can occur there.

mod bounded;
mod ends;
mod formulas;
mod gappa;
mod polynomials;
mod quantiles;
mod series;
mod tolerances;

use std::f64::consts::LN_2;

use crate::kernel::elementary::{self, MulAdd};
use crate::kernel::float::U;
use crate::lattice::dyadic::power_of_two;
use bounded::Bounded;

/// What `elementary` states. −ln: absolute, and relative to the result.
const MINUS_LN: [f64; 2] = [1.2 * U, U];
const ROUGH_MINUS_LN: f64 = 0.52 / (1 << 24) as f64;
const ATANH: f64 = 0.45 * U;
const ROUGH_ATANH: f64 = 0.26 / (1 << 24) as f64;
const MINUS_LN_1P: f64 = 20.0 * U;
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

/// What −ln(1 + t) leaves where |t| ≤ h = 1/32: |T₈ − 1| ≤ 2 over 2⁷·8, |T₉ − 9x| ≤ 10 over 2⁸·9, and t¹⁰/10 + … ≤ t¹⁰/10·(1 + h + h² + …).
fn left_out_of_ln_1p() -> f64 {
    let h = 1.0 / 32.0_f64;
    h.powi(8) * (2.0 / 1024.0 + h * (10.0 / 2304.0) + h * h / 10.0 / (1.0 - h)) * SECOND_ORDER
}

/// f¹⁴/14! + f¹⁵/15! + …, what the polynomial leaves of e^f.
fn left_out_of_exp(f: f64) -> f64 {
    let next: f64 = (1..=14).map(|k| f / f64::from(k)).product();
    SECOND_ORDER * next / (1.0 - f / 15.0)
}

/// The largest |f|: half of ln 2, the rounding of n, and x_low.
const LARGEST_F: f64 = 0.3467;

/// e^x − 1 for x of exponent 0.
fn exp_m1_near_zero<A: MulAdd<Bounded>>(x: Bounded) -> Bounded {
    elementary::exp_m1_scaled::<A, Bounded>(1.0.into(), 0.0.into(), x).off_by(left_out_of_exp(x.hi))
}
