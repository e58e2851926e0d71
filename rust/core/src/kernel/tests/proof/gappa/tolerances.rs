//! The tolerances of the acceptance tests, from the errors of the functions: sums of relative errors with their products.
//!
//! A rounding is a factor 1 + d, |d| ≤ u: nothing here is subnormal.

use std::f64::consts::LN_2;

use super::super::tolerances::THETA;
use super::super::{ATANH, EXP, EXP_M1, HALF_LOG_RATIO, LONGEST, MINUS_LN, MINUS_LN_1P, ROUGH_ATANH, SECOND_ORDER, U};
use super::exponentials::FROM_EXPONENT_2;
use super::script::{Claim, DOUBLE, Goal, SINGLE, text};
use super::symbol::{Symbol, literal};
use crate::kernel::first_level::{lines, logarithm, narrow, narrow_table, table};
use crate::kernel::{canonical, geometric, per_element, sides, staircase};

/// u of `f32`.
const NARROW_U: f64 = f32::EPSILON as f64 / 2.0;

pub fn scripts() -> Vec<(String, String)> {
    let mut all = vec![
        ("offset_of_stair".into(), offset_of_stair()),
        (
            "staircase".into(),
            staircase("`StaircaseLane`: PER_Y", EXP_M1, staircase::PER_Y, 12.0 * U),
        ),
        (
            "staircase_in_a_lane".into(),
            staircase(
                "`per_element::staircase`: PER_Y and PER_SPAN, with FLOOR_ERROR for D c",
                per_element::FLOOR_ERROR - U,
                staircase::PER_Y + per_element::PER_SPAN,
                17.0 * U,
            ),
        ),
        ("mapped_lane".into(), mapped_lane()),
        ("mapped_lines".into(), mapped_lines()),
        ("lines".into(), offset_of_a_line()),
        ("sided".into(), sided()),
        ("canonical".into(), canonical_thresholds()),
        ("table".into(), table()),
        (
            "logarithm".into(),
            logarithm("PER_SCALE, PER_X and FIXED", ATANH, 0.0, 65.0 * U),
        ),
        (
            "logarithm_rough".into(),
            logarithm(
                "PER_SCALE_ROUGH, PER_SCALE, PER_X and FIXED",
                ROUGH_ATANH,
                geometric::PER_SCALE_ROUGH,
                0.5 * geometric::PER_SCALE_ROUGH,
            ),
        ),
        ("narrow_mapped_word".into(), narrow_mapped_word()),
        ("narrow".into(), narrow()),
        ("narrow_table".into(), narrow_table()),
        (
            "floor_in_a_lane_small".into(),
            floor_in_a_lane(
                "[0x1p-22, 1.84]",
                "up to 1.84, which are those of the exponents 0 and 1",
                EXP_M1,
                6.0 * U,
                2.5 * U,
            ),
        ),
        (
            "floor_in_a_lane_large".into(),
            floor_in_a_lane(
                "[1.8, 0x1p506]",
                "from 1.8 on, which are those of the exponents from 2",
                FROM_EXPONENT_2,
                9.5 * U,
                4.0 * U,
            ),
        ),
    ];
    all.extend(Geometric::all().iter().map(|scale| (scale.name.into(), scale.text())));
    all
}

/// |name| ≤ bound, for each.
fn errors<const N: usize>(of: [(&str, f64); N]) -> Vec<String> {
    of.map(|(name, bound)| format!("|{name}| <= {}", literal(bound))).to_vec()
}

fn roundings<const N: usize>(names: [&str; N]) -> Vec<String> {
    errors(names.map(|name| (name, U)))
}

fn ranges<const N: usize>(of: [(&str, f64, f64); N]) -> Vec<String> {
    of.map(|(name, lo, hi)| format!("{name} in [{}, {}]", literal(lo), literal(hi)))
        .to_vec()
}

/// A whole J below 2²⁷ times the upper part of ε.
fn offset_of_stair() -> String {
    let about = "`Stairs::unit_of`: J times the upper part of eps, of 26 digits, is exact for J below 2^27.";
    text(about, DOUBLE, || Claim {
        definitions: vec![
            "high = float<26, -1200, ne>(high_);".into(),
            "J = int<ne>(J_);".into(),
            "t rnd= J * high;".into(),
        ],
        // Gappa must not prove it of four times as many stairs.
        hypotheses: [
            vec!["|J| <= 0x1p27  # not 0x1p29".into()],
            ranges([("high", (-20.0_f64).exp2(), 701.0)]),
        ]
        .concat(),
        goals: vec![Goal::exact("|t - J * high|")],
        ..Claim::default()
    })
}

/// x = κ·ℓ + β: how much of its error goes with x, with κ and with neither.
struct Geometric {
    name: &'static str,
    about: &'static str,
    /// W, the relative error of the number whose logarithm is taken, and its definitions.
    word: &'static [&'static str],
    hypotheses: Vec<String>,
    /// Absolute error of the logarithm.
    logarithm: f64,
    /// Of β.
    offset: f64,
    per_scale: f64,
    too_tight: f64,
    fixed: f64,
}

/// U = scale·V + τ of `canonical`: g is off by `g`, and is the part `part` of g + 2δ; scale·V is the part `s` of U.
const MAPPED: &[&str] = &[
    "Q = (1 + g * (1 - part) / (1 + g * part)) * (1 + q2) / (1 + q1) - 1;",
    "P = (1 - g * part / (1 + g * part)) * (1 + q4) / (1 + q3) - 1;",
    "S = (1 + v) * (1 + Q) * (1 + p) - 1;",
    "W = (s * S + (1 - s) * P) * (1 + f) + f;",
];

impl Geometric {
    fn all() -> [Self; 4] {
        let beta = 0.5 * (HALF_LOG_RATIO + 2.0 * U) * SECOND_ORDER;
        let word: &[&str] = &["W = v;"];
        let mapped = || {
            let shares = ranges([("s", 0.0, 1.0), ("part", 0.0, 1.0)]);
            [
                roundings(["v", "q1", "q2", "q3", "q4", "p", "f"]),
                errors([("g", EXP_M1)]),
                shares,
            ]
            .concat()
        };
        let [fine, _] = MINUS_LN;
        let of_mapped = geometric::PER_SCALE + geometric::PER_SCALE_MAPPED;
        [
            Self {
                name: "geometric",
                about: "`GeometricLane`: PER_SCALE, PER_X and FIXED",
                word,
                hypotheses: roundings(["v"]),
                logarithm: fine,
                offset: beta,
                per_scale: geometric::PER_SCALE,
                too_tight: 2.1 * U,
                fixed: geometric::FIXED,
            },
            Self {
                name: "geometric_mapped",
                about: "`GeometricLane::mapped`: PER_SCALE_MAPPED. U = scale V + tau, the first being the part s. g, the error of\n\
                    e^eps - 1, counts by its part in the sum with 2 delta. q1 to q4 are of sums and quotients, p of scale V, f of U",
                word: MAPPED,
                hypotheses: mapped(),
                logarithm: fine,
                offset: beta,
                per_scale: of_mapped,
                too_tight: 9.0 * U,
                fixed: geometric::FIXED,
            },
            Self {
                name: "geometric_in_a_lane_many",
                about: "`per_element::geometric::Many`: BETA, by which the offset is off",
                word,
                hypotheses: roundings(["v"]),
                logarithm: fine,
                offset: per_element::BETA,
                per_scale: geometric::PER_SCALE,
                too_tight: 2.1 * U,
                fixed: geometric::FIXED + per_element::BETA,
            },
            Self {
                name: "geometric_in_a_lane_few",
                about: "`per_element::geometric::Few`: PER_SCALE_FEW. The offset is in the logarithm: V (1 + b), b = e^(-1/K), whose\n\
                    error r counts at most half. Relative errors: x of 1/K, as far as it counts, e of exp, q of its inverse, f of\n\
                    1 + b, p of the product",
                word: &[
                    "r = (1 + e) / (1 + q) - 1;",
                    "W = (1 + v) * (1 + x) * (1 + r * h) * (1 + f) * (1 + p) - 1;",
                ],
                hypotheses: [
                    roundings(["v", "q", "f", "p"]),
                    errors([("e", EXP), ("x", 0.3 * U)]),
                    ranges([("h", 0.0, 0.5)]),
                ]
                .concat(),
                logarithm: fine,
                offset: 0.0,
                per_scale: per_element::PER_SCALE_FEW,
                too_tight: 5.5 * U,
                fixed: geometric::FIXED,
            },
        ]
    }

    /// |x − X| ≤ (first goal)·x + (second goal)·κ + (third goal), from
    ///
    /// ```text
    /// x = (p + b)(1 + ds),   p = K L M + K a (1 + dk)(1 + dp),   M = (1 + dk)(1 + dp)(1 + dr),   X = K L + B,
    /// ```
    ///
    /// because p ≤ x/(1 + ds) and K L = (p − …)/M.
    fn text(&self) -> String {
        let about = format!(
            "{}.\n|x - X| is at most x times the first, and K times the second, and the third, for x = K l + b and X = K L + B.\n\
             Relative errors: v of V, W of the logarithm's argument, ds of the sum, dk of K, dp of the product, dr of the logarithm,\n\
             whose absolute error is A. b is the error of the offset, test that of the acceptance test. Of the bound for K 2^-63 are\n\
             left to the bits beyond the word (THETA).",
            self.about
        );
        // |ln(1 + W)| ≤ |W|·(1 + |W|) for |W| ≤ ½.
        let mut definitions: Vec<String> = self.word.iter().map(|&line| line.into()).collect();
        definitions.push("M = (1 + dk) * (1 + dp) * (1 + dr);".into());
        definitions.push("A = |W| * (1 + |W|) + l;".into());
        definitions.push("X1 = |ds / (1 + ds)|;  X2 = |(M - 1) / (M * (1 + ds))|;".into());
        definitions.push("K1 = A * ((1 + dk) * (1 + dp));  K2 = |M - 1| * A / (1 + dr);".into());
        let hypotheses = [
            self.hypotheses.clone(),
            roundings(["ds", "dk", "dp", "dr"]),
            ranges([("l", 0.0, self.logarithm), ("b", 0.0, self.offset), ("test", 0.0, 1.5 * U)]),
        ];
        let split = if self.word.len() > 3 {
            vec!["$ s in 64;".into()]
        } else {
            vec![]
        };
        text(&about, DOUBLE, || Claim {
            definitions,
            hypotheses: hypotheses.concat(),
            goals: vec![
                Goal::new("|X1 + X2|", geometric::PER_X / SECOND_ORDER, 3.9 * U),
                Goal::new("|K1 + K2|", (self.per_scale - THETA) / SECOND_ORDER, self.too_tight),
                Goal::new("|b + test|", self.fixed / SECOND_ORDER, (self.offset + 1.5 * U) * 0.9),
            ],
            hints: split,
        })
    }
}

/// D/(m·(2 + m)), and m of it.
fn floor_in_a_lane(range: &str, which: &str, of_m: f64, floor_too_tight: f64, sum_too_tight: f64) -> String {
    let about = format!(
        "`per_element::staircase`: FLOOR_ERROR of 1/(m (2 + m)), and L1_ERROR, for\n\
         m = e^(eps/2) - 1 {which}.\n\
         m cancels in the second, which has the error of 2 + m and three roundings."
    );
    text(&about, DOUBLE, || {
        let m = Symbol::pair("m", "M");
        let floor = Symbol::from(1.0) / per_element::rise(m);
        let sum = Symbol::from(2.0) + m;
        Claim {
            hypotheses: vec![format!("M in {range}"), format!("|m -/ M| <= {}", literal(of_m))],
            goals: vec![
                Goal::relative(floor, per_element::FLOOR_ERROR / SECOND_ORDER, floor_too_tight),
                Goal::relative(sum, per_element::L1_ERROR / SECOND_ORDER - 3.001 * U, sum_too_tight),
            ],
            hints: vec!["M / (2 + M) -> 1 / (1 + 2 / M);".into()],
            ..Claim::default()
        }
    })
}

/// What all of the staircase have: F = D·c off by `PHI`, t/2 = h + F with the part s of F, y from 0 to 1 and F from 0 to 1, the larger one being 1.
const STAIR: &str = "y and F = D c are in units of the larger; s is the part of D c in t/2, phi the error of D c. Relative errors: g of e^eps - 1,\n\
    q of the quotient D c, t of t/2, e of exp, u of the unit, v of V.";

fn of_a_stair(more: Vec<String>) -> Vec<String> {
    [ranges([("y", 0.0, 1.0), ("F", 0.0, 1.0), ("s", 0.0, 1.0)]), more].concat()
}

fn staircase(what: &str, of_growth: f64, bound: f64, too_tight: f64) -> String {
    let about = format!("{what}.\n{STAIR} p of y, d of y - D c.");
    text(&about, DOUBLE, || Claim {
        definitions: vec![
            "phi = (1 + q) / (1 + g) - 1;".into(),
            "R = (1 + t) * (1 + e) * (1 + u) * (1 + v) * (1 + p);".into(),
            "E = y * (R - 1) * (1 + s * phi) + phi * (s * y - F);".into(),
        ],
        hypotheses: of_a_stair(
            [
                errors([("g", of_growth), ("e", EXP)]),
                roundings(["q", "t", "u", "v", "p", "d"]),
            ]
            .concat(),
        ),
        goals: vec![Goal::new("|E * (1 + d) + d * (y - F)|", bound / SECOND_ORDER, too_tight)],
        ..Claim::default()
    })
}

fn mapped_lane() -> String {
    let about = format!(
        "`mapped`, in a lane: PER_Y.\n{STAIR} p of y, d of y - D c.\n\
         V is U = scale V + tau, of which the first is the part x: c of scale, m of its product, a of tau, f of their sum."
    );
    text(&about, DOUBLE, || Claim {
        definitions: vec![
            "phi = (1 + q) / (1 + g) - 1;".into(),
            "W = x * ((1 + v) * (1 + c) * (1 + m) - 1) + (1 - x) * a;".into(),
            "R = (1 + t) * (1 + e) * (1 + u) * (1 + W) * (1 + f) * (1 + p);".into(),
            "E = y * (R - 1) * (1 + s * phi) + phi * (s * y - F);".into(),
        ],
        hypotheses: of_a_stair(
            [
                errors([("g", EXP_M1), ("e", EXP)]),
                roundings(["q", "t", "u", "v", "c", "m", "a", "f", "p", "d"]),
                ranges([("x", 0.0, 1.0)]),
            ]
            .concat(),
        ),
        goals: vec![Goal::new(
            "|E * (1 + d) + d * (y - F)|",
            staircase::PER_Y / SECOND_ORDER,
            15.0 * U,
        )],
        hints: vec!["$ x in 16;".into()],
    })
}

fn mapped_lines() -> String {
    let about = format!(
        "`mapped`, on lines: PER_Y.\n{STAIR}\nV is U = scale V + tau, of which the first is the part x; \
         slope and offset are multiplied with both:\n\
         c of scale, m and p of the slope's products with scale and V, a of tau, o of its product, d1 and d2 of two sums."
    );
    text(&about, DOUBLE, || Claim {
        definitions: vec![
            "phi = (1 + q) / (1 + g) - 1;".into(),
            "W = x * ((1 + v) * (1 + c) * (1 + m) * (1 + p) - 1) + (1 - x) * ((1 + a) * (1 + o) - 1);".into(),
            "R = (1 + t) * (1 + e) * (1 + u) * (1 + W);".into(),
            "E = y * (R - 1) * (1 + s * phi) + phi * (s * y - F);".into(),
            "D = (1 + d1) * (1 + d2);".into(),
        ],
        hypotheses: of_a_stair(
            [
                errors([("g", EXP_M1), ("e", EXP)]),
                roundings(["q", "t", "u", "v", "c", "m", "p", "a", "o", "d1", "d2"]),
                ranges([("x", 0.0, 1.0)]),
            ]
            .concat(),
        ),
        goals: vec![Goal::new(
            "|E * D + (D - 1) * (y - F)|",
            staircase::PER_Y / SECOND_ORDER,
            15.0 * U,
        )],
        hints: vec!["$ x in 16;".into()],
    })
}

fn offset_of_a_line() -> String {
    let about = "`Lines`: PER_OFFSET, for three sums and the test. Its other error is that of `staircase`.";
    text(about, DOUBLE, || Claim {
        hypotheses: roundings(["a", "b", "c", "d"]),
        goals: vec![Goal::new(
            "|(1 + a) * (1 + b) * (1 + c) * (1 + d) - 1|",
            lines::PER_OFFSET,
            3.9 * U,
        )],
        ..Claim::default()
    })
}

/// β = −κ·L, L = ln(N·2^m).
fn sided() -> String {
    let about = "`Sided`: PER_SCALE_SIDED. In units of K: the error of beta = -K L. Relative errors: w of 1/(N 2^m), r of the logarithm, whose\n\
        absolute error is n, k of K, p of the product. In a lane three roundings of K l = x - beta come to it, in a first level two\n\
        sums, of numbers up to L.";
    let [absolute, _] = MINUS_LN;
    let offset = sides::PER_SCALE_SIDED - 3.01 * U * LN_2;
    text(about, DOUBLE, || Claim {
        definitions: vec!["E = L * ((1 + r) * (1 + k) * (1 + p) - 1) + (n + w * (1 + w)) * ((1 + k) * (1 + p));".into()],
        hypotheses: [
            roundings(["w", "r", "k", "p"]),
            errors([("n", absolute)]),
            ranges([("L", 0.0, LN_2)]),
        ]
        .concat(),
        goals: vec![Goal::new("|E|", offset / SECOND_ORDER, 4.0 * U)],
        ..Claim::default()
    })
}

/// e^ε is 1 + g; S is at most 1, and so is 2δ; z is e^−ε.
fn canonical_thresholds() -> String {
    let about = "`canonical::survivals`: the error of S(1), and what a step from S to (S - W)/e^eps adds to the error of S.\n\
        z is e^-eps, r the error of e^eps, k its part in 1 + e^eps; w is the error of S, and W is 2 delta. Relative errors: m of\n\
        e^eps - 1, a to f of single operations. ERROR is above the first and fifteen times the second.";
    let [first, step] = [8.6 * U, 7.6 * U];
    assert!((first + 15.0 * step) * SECOND_ORDER <= canonical::ERROR);
    let most = canonical::ERROR;
    text(about, DOUBLE, || Claim {
        definitions: vec![
            "r = (1 + m) * (1 + a) - 1;".into(),
            "first = (1 + b) * (1 + c) / ((1 + r * k) * (1 + d)) - 1;".into(),
            "R = (1 + e) * (1 + f) / (1 + r) - 1;".into(),
            "step = w * z * (1 + R) + (S - W) * z * R;".into(),
        ],
        hypotheses: [
            errors([("m", EXP_M1), ("w", most)]),
            roundings(["a", "b", "c", "d", "e", "f"]),
            ranges([("k", 0.0, 1.0), ("z", 0.0, 1.0), ("S", 0.0, 1.0), ("W", 0.0, 1.0)]),
        ]
        .concat(),
        goals: vec![
            Goal::new("|first|", first, 8.0 * U),
            Goal::new("|step|", most + step, most + 7.0 * U),
        ],
        ..Claim::default()
    })
}

fn table() -> String {
    let longest = LONGEST - table::LEAST.ln() + U;
    let about = "`Table`: PER_SCALE. In units of K: L = e ln 2 of the octaves, O = ln R, N = -ln(1 + t). Relative errors: k of K,\n\
        a, b, c of ln 2 and its products, r of ln R, d and f of its product and sum, g of N's product, s1 and s2 of the sums,\n\
        w of V. Absolute ones: o of ln R, n of N, t of t.";
    text(about, DOUBLE, || Claim {
        definitions: vec![
            "E = L * ((1 + k) * (1 + a) * (1 + b) * (1 + c) - 1) + O * ((1 + r) * (1 + k) * (1 + d) * (1 + f) - 1)".into(),
            "  + o * ((1 + k) * (1 + d) * (1 + f));".into(),
            "T = N * ((1 + k) * (1 + g) - 1) + (n + t) * ((1 + k) * (1 + g));".into(),
            "X = E * ((1 + s1) * (1 + s2)) + T * (1 + s2) + (L + O) * (s1 * (1 + s2)) + (L + O + N) * s2;".into(),
        ],
        hypotheses: [
            roundings(["w", "k", "a", "b", "c", "r", "d", "f", "g", "s1", "s2"]),
            ranges([("L", 0.0, longest + LN_2), ("O", -LN_2, 0.0), ("N", -0.0325, 0.0325)]),
            // t is rounded once, of at most 1/32.
            errors([("n", MINUS_LN_1P), ("t", U / 31.0), ("o", MINUS_LN[0])]),
        ]
        .concat(),
        goals: vec![Goal::new("|X + w * (1 + w)|", table::PER_SCALE / SECOND_ORDER, 90.0 * U)],
        ..Claim::default()
    })
}

/// β − ½, which is not in units of κ, has a goal of its own.
fn logarithm(what: &str, atanh: f64, rough: f64, too_tight: f64) -> String {
    let longest = LONGEST - logarithm::LEAST.ln() + U;
    let offset = 0.5 * (HALF_LOG_RATIO + 2.0 * U) * SECOND_ORDER;
    let about = format!(
        "`Logarithm`: {what}. In units of K: l = -ln v, L = e ln 2 of the octaves, A = 2 atanh s = L - l.\n\
         B = beta - 1/2 is in none, and has the second goal. Relative errors: k of K, a, b, c of ln 2 and its products, d of A's\n\
         product, s1 and s2 of the sums, f of B, w of V. Absolute ones: n of A, o of beta, test of the acceptance test."
    );
    text(&about, DOUBLE, || Claim {
        definitions: vec![
            "L = l + A;".into(),
            "E = L * ((1 + k) * (1 + a) * (1 + b) * (1 + c) - 1);".into(),
            "T = A * ((1 + k) * (1 + d) - 1) + n * ((1 + k) * (1 + d));".into(),
            "X = E * ((1 + s1) * (1 + s2)) - T * (1 + s2) + L * (s1 * (1 + s2)) + l * s2;".into(),
            "S = (1 + f) * (1 + s1) * (1 + s2);".into(),
        ],
        hypotheses: [
            roundings(["w", "k", "a", "b", "c", "d", "f", "s1", "s2"]),
            ranges([("l", 0.0, longest), ("A", -0.3466, 0.3466), ("B", -0.5, 0.0)]),
            errors([("n", 2.0 * atanh), ("o", offset), ("test", 2.0 * U)]),
        ]
        .concat(),
        goals: vec![
            Goal::new(
                "|X + w * (1 + w)|",
                (logarithm::PER_SCALE + longest * logarithm::PER_X + rough) / SECOND_ORDER,
                too_tight,
            ),
            Goal::new("|B * (S - 1) + o * S + test|", geometric::FIXED / SECOND_ORDER, 12.0 * U),
        ],
        ..Claim::default()
    })
}

fn narrow_roundings<const N: usize>(names: [&str; N]) -> Vec<String> {
    errors(names.map(|name| (name, NARROW_U)))
}

fn narrow_mapped_word() -> String {
    let about = "`NarrowMap`: MAPPED_WORD, in f32; x is the part of scale V. Relative errors: v of V, c of scale, m of their\n\
        product, o of the offset, f of the sum; w, 7u of f64, is in scale and offset before.";
    text(about, SINGLE, || Claim {
        definitions: vec!["W = x * ((1 + v) * (1 + c) * (1 + m) * (1 + w) - 1) + (1 - x) * ((1 + o) * (1 + w) - 1);".into()],
        hypotheses: [
            narrow_roundings(["v", "c", "m", "o", "f"]),
            errors([("w", 7.0 * U)]),
            ranges([("x", 0.0, 1.0)]),
        ]
        .concat(),
        goals: vec![Goal::new(
            "|W * (1 + f) + f|",
            narrow::MAPPED_WORD / SECOND_ORDER,
            3.9 * NARROW_U,
        )],
        hints: vec!["$ x in 16;".into()],
    })
}

/// The logarithm ℓ is e·ln 2 + N.
fn narrow() -> String {
    let about = "`Narrow`: its tolerance is 2u + LOGARITHM + 5 l u for each unit of K, in f32. l is e ln 2 + N, and N = -ln m.\n\
        The first is the part that goes with l, of which 2^-44 l, l up to 22, is left to the second. Relative errors: c and p of\n\
        ln 2 and its product, s of the sum, k of K, m of its product, w of V. n is the absolute one of N.";
    let second = (-44.0_f64).exp2();
    text(about, SINGLE, || Claim {
        definitions: vec![
            "O = (1 + c) * (1 + p);".into(),
            "S = (1 + s) * (1 + k) * (1 + m);".into(),
            "E = n * S - N * S * (O - 1);".into(),
        ],
        hypotheses: [
            narrow_roundings(["c", "p", "s", "k", "m", "w"]),
            errors([("n", narrow::LOGARITHM), ("N", 0.3466)]),
        ]
        .concat(),
        goals: vec![
            Goal::new("|O * S - 1|", 5.0 * NARROW_U + second, 4.9 * NARROW_U),
            Goal::new(
                "|E + w * (1 + w)|",
                2.0 * NARROW_U + narrow::LOGARITHM - 22.0 * second,
                2.5 * NARROW_U,
            ),
        ],
        ..Claim::default()
    })
}

fn narrow_table() -> String {
    let whole = 31.0 * LN_2;
    let [first, second, third] = narrow_table::FACTORS.map(literal);
    let about = "`NarrowTable`: PER_SCALE + LOGARITHM, in f32. In units of K: a, b, c are the errors of the factors of t, d and e of\n\
        two sums; f and g of the offset O and the octaves L, at most 31 ln 2; h is what the first sum is rounded beyond x; w is the\n\
        error of V, n the absolute one of N = -ln(1 + t).";
    text(about, SINGLE, || Claim {
        definitions: vec![
            format!("I = {third} * t * ((1 + a) * (1 + d) - 1) + {second} * ((1 + b) * (1 + d) - 1);"),
            format!("J = I * t * (1 + e) + ({third} * t + {second}) * t * e + {first} * ((1 + c) * (1 + e) - 1);"),
        ],
        hypotheses: [
            narrow_roundings(["a", "b", "c", "d", "e", "f", "g", "w", "h"]),
            errors([("n", narrow_table::LOGARITHM), ("t", 1.0 / 32.0 + NARROW_U), ("N", 0.0325)]),
            ranges([("O", 0.0, whole), ("L", 0.0, whole)]),
        ]
        .concat(),
        goals: vec![Goal::new(
            "|J * t * (1 + h) + n + O * f + L * g + N * h + w * (1 + w)|",
            (narrow_table::PER_SCALE + narrow_table::LOGARITHM) / SECOND_ORDER,
            44.0 * NARROW_U,
        )],
        ..Claim::default()
    })
}
