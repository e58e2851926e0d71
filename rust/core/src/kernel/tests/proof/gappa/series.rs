//! What the scripts suppose of ln 2 and of series, as theorems for Coq's tactic `interval`.

use std::f64::consts::LN_2;

use super::super::polynomials::economised_logarithm;
use super::super::{LARGEST_F, U, left_out_of_exp, left_out_of_ln_1p};
use super::logarithms::{LARGEST_S, left_out};
use crate::kernel::elementary::{LN2_HIGH, LN2_LOW};
use crate::kernel::first_level::narrow_table;
use crate::lattice::dyadic::decompose;

/// An `f64` as a quotient of integers.
fn real(x: f64) -> String {
    let (significand, exponent) = decompose(x.abs());
    let zeros = significand.trailing_zeros();
    let (digits, exponent) = (significand >> zeros, exponent + zeros as i32);
    assert!((-120..=0).contains(&exponent), "{x}");
    let sign = if x < 0.0 { "- " } else { "" };
    format!("({sign}({digits} / {}))", 1_u128 << -exponent)
}

/// c₁·x + c₂·x² + … as Horner's scheme.
fn polynomial(x: &str, coefficients: &[String]) -> String {
    let tail = coefficients.iter().rev().fold(String::new(), |tail, c| {
        if tail.is_empty() {
            c.clone()
        } else {
            format!("({c} + {x} * {tail})")
        }
    });
    format!("{x} * {tail}")
}

fn lemma(name: &str, claim: &str, tactic: &str) -> String {
    format!("Lemma {name} : {claim}.\nProof. {tactic} Qed.\nPrint Assumptions {name}.\n")
}

pub fn text() -> String {
    let mut lemmas = vec![
        "(* What the scripts of Gappa suppose of ln 2, and of what series leave. Written by `make proofs`. *)\n\
         From Coq Require Import Reals.\nFrom Interval Require Import Tactic.\nOpen Scope R_scope.\n"
            .to_owned(),
        lemma(
            "ln_2_in_two_parts",
            &format!(
                "Rabs (ln 2 - ({} + {})) <= {}",
                real(LN2_HIGH),
                real(LN2_LOW),
                real((-86.0_f64).exp2())
            ),
            "interval with (i_prec 140).",
        ),
        lemma(
            "ln_2_rounded",
            &format!("Rabs (ln 2 - {}) <= {}", real(LN_2), real(U / 2.0)),
            "interval with (i_prec 100).",
        ),
    ];
    let odd = |terms: usize| -> Vec<String> { (0..terms).map(|k| format!("/ {}", 2 * k + 1)).collect() };
    for (name, terms) in [("minus_ln", 10), ("rough_minus_ln", 4)] {
        let sum = polynomial("(s * s)", &odd(terms)).replacen("(s * s) * ", "", 1);
        lemmas.push(lemma(
            name,
            &format!(
                "forall s, Rabs s <= {} -> Rabs (ln ((1 + s) / (1 - s)) - 2 * s * {sum}) <= {}",
                real(LARGEST_S),
                real(left_out(terms as i32))
            ),
            "intros s small. interval with (i_taylor s, i_degree 30, i_prec 140, i_bisect s, i_depth 8).",
        ));
    }
    // t to t⁷.
    let economised: Vec<_> = economised_logarithm()[1..8]
        .iter()
        .map(|[n, d]| format!("({n} / {d})"))
        .collect();
    lemmas.push(lemma(
        "minus_ln_1p",
        &format!(
            "forall t, Rabs t <= / 32 -> Rabs (- ln (1 + t) - {}) <= {}",
            polynomial("t", &economised),
            real(left_out_of_ln_1p())
        ),
        "intros t small. interval with (i_taylor t, i_degree 16, i_prec 100, i_bisect t, i_depth 8).",
    ));
    let factorials: Vec<_> = (1..=13_u64).map(|k| format!("/ {}", (1..=k).product::<u64>())).collect();
    lemmas.push(lemma(
        "exp",
        &format!(
            "forall f, Rabs f <= {} -> Rabs (exp f - (1 + {})) <= {}",
            real(LARGEST_F),
            polynomial("f", &factorials),
            real(left_out_of_exp(LARGEST_F))
        ),
        "intros f small. interval with (i_taylor f, i_degree 24, i_prec 140, i_bisect f, i_depth 8).",
    ));
    let cubic = narrow_table::FACTORS.map(real);
    // t itself is rounded, to half a last place of 1/32.
    let rounding = f64::from(f32::EPSILON) / 64.0;
    lemmas.push(lemma(
        "narrow_table",
        &format!(
            "forall t, Rabs t <= {} -> Rabs (- ln (1 + t) - {}) <= {}",
            real(1.0 / 32.0 + f64::from(f32::EPSILON)),
            polynomial("t", &cubic),
            real(narrow_table::LOGARITHM - 1.1 * rounding)
        ),
        "intros t small. interval with (i_taylor t, i_degree 10, i_prec 80, i_bisect t, i_depth 8).",
    ));
    lemmas.concat()
}
