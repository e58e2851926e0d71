//! `split_ln`, `atanh`, `minus_ln`, rough or not, and `minus_ln_1p`.

use super::super::{ATANH, MINUS_LN, MINUS_LN_1P, ROUGH_ATANH, ROUGH_MINUS_LN, SQRT_HALF, U, left_out_of_ln_1p};
use super::script::{Claim, DOUBLE, Goal, SINGLE, text};
use super::single;
use super::symbol::{Symbol, above, literal};
use crate::kernel::arithmetic::{Fused, Separate};
use crate::kernel::elementary::{self, MulAdd};
use crate::kernel::first_level::narrow;

pub fn scripts() -> Vec<(String, String)> {
    let mut all = vec![("split_ln".into(), split_ln())];
    scripts_on::<Separate>(&mut all, "separate", "separately");
    scripts_on::<Fused>(&mut all, "fused", "once");
    all
}

fn scripts_on<A: MulAdd<Symbol>>(all: &mut Vec<(String, String)>, ending: &str, how: &str) {
    all.push((format!("atanh_{ending}"), atanh::<A>(how)));
    all.push((format!("rough_atanh_{ending}"), rough_atanh::<A>(how)));
    all.push((format!("minus_ln_{ending}"), minus_ln::<A>(how)));
    all.push((format!("rough_minus_ln_{ending}"), rough_minus_ln::<A>(how)));
    all.push((format!("narrow_minus_ln_{ending}"), narrow_minus_ln::<A>(how)));
    all.push((format!("minus_ln_1p_{ending}"), minus_ln_1p::<A>(how)));
}

/// From √½ to 2√½.
fn significands() -> String {
    let least = f64::from_bits(SQRT_HALF);
    format!("m in [{}, {}]", literal(least), literal((2.0 * least).next_down()))
}

/// s of m, as [`elementary::split_ln`] has it.
fn quotient() -> Symbol {
    let (m, one) = (Symbol::float("m"), Symbol::from(1.0));
    (m - one) / (m + one)
}

fn split_ln() -> String {
    let about = "`split_ln`: the relative error of s = (m - 1)/(m + 1). For m = 1, s = 0.\n\
        The bound is 2u and the product of two errors. Without that product: a rounding is at most u/(1 + u), which Gappa does not know.";
    text(about, DOUBLE, || {
        let s = quotient();
        let bound = 2.0 * U * (1.0 + (-24.0_f64).exp2());
        Claim {
            hypotheses: vec![significands(), "|m - 1| >= 0x1p-53".into()],
            goals: vec![Goal::relative(s, bound, 1.9 * U)],
            ..Claim::default()
        }
    })
}

/// What the series of −ln m leaves from z^`n` on: 2s·(zⁿ/(2n + 1) + …), z = s².
pub fn left_out(n: i32) -> f64 {
    let s: f64 = LARGEST_S;
    let z = s * s;
    2.0 * s * z.powi(n) / (f64::from(2 * n + 1) * (1.0 - z))
}

/// (√2 − 1)/(√2 + 1), rounded up.
pub const LARGEST_S: f64 = 0.171_572_876;

fn atanh<A: MulAdd<Symbol>>(how: &str) -> String {
    let about = format!("`atanh`, where a product and a sum are rounded {how}: ATANH");
    half_logarithm(&about, elementary::atanh::<A, Symbol>, 10, ATANH, 0.4 * U)
}

fn rough_atanh<A: MulAdd<Symbol>>(how: &str) -> String {
    let about = format!("`rough_atanh`, where a product and a sum are rounded {how}: ROUGH_ATANH");
    half_logarithm(
        &about,
        elementary::rough_atanh::<A, Symbol>,
        4,
        ROUGH_ATANH,
        0.94 * ROUGH_ATANH,
    )
}

/// ½·ln m by a series that stops before z^`terms`.
fn half_logarithm(about: &str, formula: fn(Symbol) -> Symbol, terms: i32, bound: f64, too_tight: f64) -> String {
    let about = format!(
        "{about}. m is from sqrt(1/2) to sqrt(2).\n\
         X is (ln m)/2; what the series leaves of it is a hypothesis, half of that for ln m."
    );
    text(&about, DOUBLE, || {
        let result = formula(quotient());
        let (computed, exact) = (result.computed(), result.exact());
        Claim {
            hypotheses: vec![significands(), format!("|X - {exact}| <= {}", above(left_out(terms) / 2.0))],
            goals: vec![Goal::new(format!("|{computed} - X|"), bound, too_tight)],
            hints: vec!["$ m in 64;".into()],
            ..Claim::default()
        }
    })
}

fn minus_ln<A: MulAdd<Symbol>>(how: &str) -> String {
    let about = format!(
        "`minus_ln`, where a product and a sum are rounded {how}: MINUS_LN is 1.2u + u |result|. m is from sqrt(1/2) to sqrt(2).\n\
         The last rounding is left out: it is the second part. X is -ln(2^-e m); what the series leaves of it is a hypothesis."
    );
    text(&about, DOUBLE, || {
        let s = quotient();
        let result = elementary::minus_ln::<A, Symbol>(Symbol::whole("e"), s);
        let [absolute, _] = MINUS_LN;
        let (computed, exact) = (result.unrounded(), result.exact());
        Claim {
            hypotheses: vec![
                significands(),
                "e in [0, 64]".into(),
                format!("|X - {exact}| <= {}", above(left_out(10))),
            ],
            goals: vec![Goal::new(format!("|({computed}) - X|"), absolute, 1.1 * U)],
            hints: vec!["$ m in 64;".into()],
            ..Claim::default()
        }
    })
}

fn rough_minus_ln<A: MulAdd<Symbol>>(how: &str) -> String {
    let about = format!(
        "`rough_minus_ln`, where a product and a sum are rounded {how}: ROUGH_MINUS_LN.\n\
         X is -ln(2^-e m); what the series leaves of it is a hypothesis."
    );
    text(&about, DOUBLE, || {
        let s = quotient();
        let result = elementary::rough_minus_ln::<A, Symbol>(Symbol::whole("e"), s);
        let (computed, exact) = (result.computed(), result.exact());
        Claim {
            hypotheses: vec![
                significands(),
                "e in [0, 64]".into(),
                format!("|X - {exact}| <= {}", above(left_out(4))),
            ],
            goals: vec![Goal::new(format!("|{computed} - X|"), ROUGH_MINUS_LN, ROUGH_MINUS_LN * 0.94)],
            hints: vec!["$ m in 64;".into()],
            ..Claim::default()
        }
    })
}

fn minus_ln_1p<A: MulAdd<Symbol>>(how: &str) -> String {
    let about = format!(
        "`minus_ln_1p`, where a product and a sum are rounded {how}: MINUS_LN_1P.\n\
         X is -ln(1 + t); what the polynomial leaves of it is a hypothesis."
    );
    text(&about, DOUBLE, || {
        let t = Symbol::float("t");
        let result = elementary::minus_ln_1p::<A, Symbol>(t);
        let (computed, exact) = (result.computed(), result.exact());
        Claim {
            hypotheses: vec![
                "|t| <= 0x1p-5".into(),
                format!("|X - {exact}| <= {}", above(left_out_of_ln_1p())),
            ],
            goals: vec![Goal::new(format!("|{computed} - X|"), MINUS_LN_1P, 17.9 * U)],
            ..Claim::default()
        }
    })
}

fn narrow_minus_ln<A: MulAdd<Symbol>>(how: &str) -> String {
    let about = format!(
        "`narrow::minus_ln`, in f32, where a product and a sum are rounded {how}: LOGARITHM is 1.5u.\n\
         X is -ln m; what the series leaves of it is a hypothesis."
    );
    text(&about, SINGLE, || {
        let factors = [("c3", 3), ("c5", 5), ("c7", 7)].map(|(name, k)| Symbol::ratio(name, -2, k));
        let result = single::minus_ln::<A, Symbol>(Symbol::float("m"), factors);
        let (computed, exact) = (result.computed(), result.exact());
        let least = f64::from(f32::from_bits(narrow::SQRT_HALF));
        Claim {
            hypotheses: vec![
                format!("m in [{}, {}]", literal(least), literal(2.0 * least)),
                format!("|X - {exact}| <= {}", above(left_out(4))),
            ],
            goals: vec![Goal::new(
                format!("|{computed} - X|"),
                narrow::LOGARITHM,
                narrow::LOGARITHM * 0.6,
            )],
            hints: vec!["$ m in 64;".into()],
            ..Claim::default()
        }
    })
}
