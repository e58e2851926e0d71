//! `exp`, `exp_m1` and `half_log_ratio`.

use super::super::{EXP, EXP_M1, EXPONENTS, HALF_LOG_RATIO, LARGEST_F, SECOND_ORDER, U, left_out_of_exp};
use super::script::{Claim, DOUBLE, Goal, text};
use super::symbol::{Symbol, above, literal, results, take};
use crate::kernel::arithmetic::{Fused, Separate};
use crate::kernel::elementary::{self, LN2_HIGH, LN2_LOW, MulAdd};

pub fn scripts() -> Vec<(String, String)> {
    let mut all = vec![
        ("half_log_ratio_1_quotient".into(), quotient()),
        ("half_log_ratio_2_series".into(), series()),
        ("half_log_ratio_3_product".into(), product()),
    ];
    scripts_on::<Separate>(&mut all, "separate", "separately");
    scripts_on::<Fused>(&mut all, "fused", "once");
    all
}

fn scripts_on<A: MulAdd<Symbol>>(all: &mut Vec<(String, String)>, ending: &str, how: &str) {
    all.push((format!("exp_exponent_0_{ending}"), exp_near_0::<A>(how)));
    all.push((format!("exp_exponent_from_1_{ending}"), exp::<A>(how)));
    all.push((format!("exp_m1_exponent_0_{ending}"), exp_m1_near_0::<A>(how)));
    for growth in &GROWTHS {
        all.push((
            format!("exp_m1_exponent_{}_{ending}", growth.exponents),
            exp_m1::<A>(growth, how),
        ));
    }
}

/// `exp_m1` in units of 2ⁿ, for some exponents n. w is 2⁻ⁿ.
struct Growth {
    exponents: &'static str,
    w: &'static str,
    /// 1 − w, computed and exactly.
    less_one: [&'static str; 2],
    bound: f64,
    too_tight: f64,
}

/// Exact is 1 − w up to n = 53; beyond it rounds to 1. From n = 2 on the bound is less than [`EXP_M1`]: [`FROM_EXPONENT_2`].
const GROWTHS: [Growth; 4] = [
    Growth {
        exponents: "1",
        w: "w in [0.5, 0.5]",
        less_one: ["1 - w", "1 - w"],
        bound: EXP_M1,
        too_tight: 2.5 * U,
    },
    Growth {
        exponents: "2",
        w: "w in [0.25, 0.25]",
        less_one: ["1 - w", "1 - w"],
        bound: FROM_EXPONENT_2,
        too_tight: U,
    },
    Growth {
        exponents: "3_to_53",
        w: "w in [0x1p-53, 0.125]",
        less_one: ["1 - w", "1 - w"],
        bound: FROM_EXPONENT_2,
        too_tight: U,
    },
    Growth {
        exponents: "from_54",
        w: "w in [0, 0x1p-54]",
        less_one: ["1", "1 - w"],
        bound: FROM_EXPONENT_2,
        too_tight: U,
    },
];

pub const FROM_EXPONENT_2: f64 = 3.5 * U;

/// The argument of the series, as the formula has it, what is known of it, and that its first step rounds nothing.
struct Reduced {
    hypotheses: Vec<String>,
    hints: Vec<String>,
}

/// The exponent n as −k: the formulas have −n, and Gappa's library for Coq has no theorem about what a negated product rounds to.
fn minus_k() -> Symbol {
    -Symbol::whole("k")
}

fn reduced<A: MulAdd<Symbol>>(n: Symbol, x: Symbol, x_low: Symbol) -> Reduced {
    let first = A::mul_add(-n, LN2_HIGH.into(), x);
    let second = A::mul_add(-n, LN2_LOW.into(), x_low);
    let f = first + second;
    Reduced {
        hypotheses: vec![
            format!("k in [-{EXPONENTS}, -1]"),
            "x in [0.25, 700]".into(),
            format!("|{}| <= {LARGEST_F}", f.exact()),
        ],
        hints: vec![
            format!(
                "{0} -> ({1} - {2}) + ({0} - {3});",
                first.unrounded(),
                f.exact(),
                second.exact(),
                first.exact()
            ),
            format!("$ {} in 64;", f.exact()),
        ],
    }
}

/// x_low for x up to `most`.
fn low_part(most: f64) -> (Symbol, Vec<String>) {
    let most = most * (-25.0_f64).exp2();
    let x_low = Symbol::float("low");
    let x_low = Symbol::pair(&x_low.computed(), "LOW");
    let hypotheses = vec![
        format!("low in [0, {}]", above(most)),
        format!("|low - LOW| <= {}", above(most * U)),
    ];
    (x_low, hypotheses)
}

fn exp<A: MulAdd<Symbol>>(how: &str) -> String {
    let about = format!(
        "`exp` with an exponent n from 1 on, where a product and a sum are rounded {how}: EXP.\n\
         In units of 2^n, a power of two; k is -n. X is e^(x + LOW - n ln 2); what the series leaves of it is a hypothesis.\n\
         `low` is LOW rounded."
    );
    text(&about, DOUBLE, || {
        let (n, x) = (minus_k(), Symbol::float("x"));
        let (x_low, low) = low_part(700.0);
        let Reduced { hypotheses, hints, .. } = reduced::<A>(n, x, x_low);
        let result = elementary::exp_scaled::<A, Symbol>(Symbol::scale(["1", "1"]), n, x, x_low);
        let hypotheses = [hypotheses, low, vec![left_out(result)]].concat();
        Claim {
            hypotheses,
            goals: vec![Goal::new(format!("|{} -/ X|", result.computed()), EXP, U)],
            hints,
            ..Claim::default()
        }
    })
}

fn exp_near_0<A: MulAdd<Symbol>>(how: &str) -> String {
    let about = format!(
        "`exp` with the exponent 0, where a product and a sum are rounded {how}: EXP.\n\
         X is e^(x + LOW); what the series leaves of it is a hypothesis. `low` is LOW rounded."
    );
    text(&about, DOUBLE, || {
        let x = Symbol::float("x");
        let (x_low, low) = low_part(LARGEST_F);
        let result = elementary::exp_scaled::<A, Symbol>(Symbol::scale(["1", "1"]), 0.0.into(), x, x_low);
        let range = format!("x in [0, {LARGEST_F}]");
        Claim {
            hypotheses: [vec![range], low, vec![left_out(result)]].concat(),
            goals: vec![Goal::new(format!("|{} -/ X|", result.computed()), EXP, U)],
            hints: vec!["$ x in 16;".into()],
            ..Claim::default()
        }
    })
}

fn left_out(result: Symbol) -> String {
    format!("|X - {}| <= {}", result.exact(), above(left_out_of_exp(LARGEST_F)))
}

fn exp_m1<A: MulAdd<Symbol>>(growth: &Growth, how: &str) -> String {
    let about = format!(
        "`exp_m1` with the exponent n ({}), where a product and a sum are rounded {how}: EXP_M1 is 4.5u.\n\
         In units of 2^n, a power of two; k is -n, w is 2^-n. X is e^(x - n ln 2) - w; what the series leaves of it is a hypothesis.",
        growth.exponents.replace('_', " ")
    );
    text(&about, DOUBLE, || {
        let (n, x) = (minus_k(), Symbol::float("x"));
        let Reduced { hypotheses, hints, .. } = reduced::<A>(n, x, 0.0.into());
        let result = elementary::exp_m1_scaled::<A, Symbol>(Symbol::scale(growth.less_one), n, x);
        Claim {
            hypotheses: [hypotheses, vec![growth.w.into(), left_out(result)]].concat(),
            goals: vec![Goal::new(
                format!("|{} -/ X|", result.computed()),
                growth.bound,
                growth.too_tight,
            )],
            hints,
            ..Claim::default()
        }
    })
}

fn exp_m1_near_0<A: MulAdd<Symbol>>(how: &str) -> String {
    let about = format!(
        "`exp_m1` with the exponent 0, where a product and a sum are rounded {how}: EXP_M1.\n\
         X is e^x - 1; what the series leaves of it is a hypothesis."
    );
    text(&about, DOUBLE, || {
        let x = Symbol::float("x");
        let result = elementary::exp_m1_scaled::<A, Symbol>(Symbol::scale(["0", "0"]), 0.0.into(), x);
        let exact = result.exact();
        Claim {
            hypotheses: vec![
                format!("x in [0x1p-60, {LARGEST_F}]"),
                format!("|X -/ {exact}| <= {}", above(left_out_of_exp(LARGEST_F) / LARGEST_F)),
            ],
            goals: vec![Goal::new(format!("|{} -/ X|", result.computed()), EXP_M1, U)],
            hints: vec!["$ x in 16;".into()],
            ..Claim::default()
        }
    })
}

/// The bounds of the two factors of `half_log_ratio`.
const QUOTIENT: f64 = 8.0 * U;
const SERIES: f64 = 4.0 * U;

/// As [`elementary::log_ratio_of_growth`] has it, of e^x − 1.
fn quotient_of(growth: Symbol) -> Symbol {
    Symbol::from(1.0) / (Symbol::from(3.0) + Symbol::from(4.0) / growth)
}

fn quotient() -> String {
    let about = "`half_log_ratio`, first part: z = 1/(3 + 4/g) of g, which is e^x - 1 with the error EXP_M1.";
    text(about, DOUBLE, || {
        let z = quotient_of(Symbol::pair("g", "G"));
        Claim {
            hypotheses: vec!["G in [0x1p-61, 0x1p1015]".into(), format!("|g -/ G| <= {}", literal(EXP_M1))],
            goals: vec![Goal::relative(z, QUOTIENT, 7.0 * U)],
            hints: vec!["(4 / G) / (3 + 4 / G) -> 1 / (1 + 3 / (4 / G));".into()],
            ..Claim::default()
        }
    })
}

fn series() -> String {
    let about = "`half_log_ratio`, second part: the sum of (atanh z)/z. Z is at most 1/3.";
    text(about, DOUBLE, || {
        let z = Symbol::float("z");
        let z = Symbol::pair(&z.computed(), "Z");
        let sum = elementary::atanh_ratio(z * z);
        Claim {
            hypotheses: vec!["Z in [0, 0.33333334]".into(), format!("|z -/ Z| <= {}", literal(QUOTIENT))],
            goals: vec![
                Goal::relative(sum, SERIES, U),
                Goal::new(format!("|{}|", sum.exact()), 1.125, 1.01),
            ],
            ..Claim::default()
        }
    })
}

fn product() -> String {
    let about = "`half_log_ratio`, its product: HALF_LOG_RATIO. z and a are the first two parts.\n\
        X is the exact result; what the series leaves of it is a hypothesis.";
    // z⁴⁰/41 + z⁴²/43 + …, relative to the first term, z ≤ ⅓.
    let left_out = 9.0_f64.powi(-20) / 41.0 * 9.0 / 8.0 * SECOND_ORDER;
    check_parts();
    text(about, DOUBLE, || {
        let (x, z, a) = (Symbol::float("x"), Symbol::pair("z", "Z"), Symbol::pair("a", "A"));
        let result = Symbol::from(2.0) * (z / x) * a;
        Claim {
            hypotheses: vec![
                "x in [0x1p-60, 0x1p10]".into(),
                "Z in [0x1p-64, 0.33333334]".into(),
                format!("|z -/ Z| <= {}", literal(QUOTIENT)),
                "A in [1, 1.125]".into(),
                format!("|a -/ A| <= {}", literal(SERIES)),
                format!("|{} -/ X| <= {}", result.exact(), above(left_out)),
            ],
            goals: vec![Goal::new(format!("|{} -/ X|", result.computed()), HALF_LOG_RATIO, 13.0 * U)],
            ..Claim::default()
        }
    })
}

/// The three parts together are what [`elementary::log_ratio_of_growth`] computes.
fn check_parts() {
    let (g, x) = (Symbol::pair("g", "G"), Symbol::pair("x", "x"));
    let whole = elementary::log_ratio_of_growth(g, x);
    let all = results();
    let z = quotient_of(g);
    assert_eq!(Symbol::from(2.0) * (z / x) * elementary::atanh_ratio(z * z), whole);
    assert_eq!(results(), all);
    take();
}
