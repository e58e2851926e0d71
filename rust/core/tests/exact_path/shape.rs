//! Evidence: three independent computations of the exact shapes: brute force over all r by the moment formulas, the defining inequality in
//! `dashu-float`, and recorded reference values.

use crate::oracle::{Points, Real, exp_minus, integer};
use dashu_int::IBig;
use stairnoise::exact::{ceil_product, optimal_r_l1, optimal_r_l2};

/// Working precision: 1 − b loses up to 170 bits (ε ≥ 10^−50), and random (ε, D) leave r more than 2^−100 from the edge.
const BITS: usize = 600;

/// Whether r ≥ D/(1 + e^(ε/2)).
fn enough_l1(eps: f64, sensitivity_steps: u64, r: u64) -> bool {
    let s = exp_minus(eps, 1, 2, BITS);
    integer(r, BITS) * (integer(1, BITS) + &s) >= integer(sensitivity_steps, BITS) * s
}

/// Whether Q(4Q² − (1−b)²) ≥ 2D³·b(1+b), with Q = r(1−b) + D·b.
fn enough_l2(eps: f64, sensitivity_steps: u64, r: u64) -> bool {
    let b = exp_minus(eps, 1, 1, BITS);
    let rest = integer(1, BITS) - &b;
    let q = integer(r, BITS) * &rest + integer(sensitivity_steps, BITS) * &b;
    let cubed = Real::from(IBig::from(sensitivity_steps).pow(3));
    let left = &q * (integer(4, BITS) * &q * &q - &rest * &rest);
    left >= integer(2, BITS) * cubed * &b * (integer(1, BITS) + &b)
}

fn is_least(enough: impl Fn(u64) -> bool, r: u64) -> bool {
    enough(r) && (r == 1 || !enough(r - 1))
}

fn pairs(points: &mut Points) -> Vec<(f64, u64)> {
    let mut pairs = Vec::new();
    for eps in [
        5e-324,
        1e-300,
        (-40.0_f64).exp2(),
        1e-9,
        1e-3,
        1.0,
        36.0,
        40.0,
        700.0,
        745.2,
        1419.0,
        1e6,
        1e300,
        f64::MAX,
    ] {
        for sensitivity_steps in [1, 2, 3, 1000, (1 << 35) - 1, 1 << 52, (1 << 53) - 1, 1 << 53] {
            pairs.push((eps, sensitivity_steps));
        }
    }
    for _ in 0..3000 {
        pairs.push((points.magnitude(-41, 7), 1 + (points.word() >> (11 + points.word() % 53))));
    }
    pairs
}

/// Whether b is below every number used; then r = 1 for both costs, and the oracle need not compute b.
fn underflows(eps: f64) -> bool {
    eps > 10_000.0
}

#[test]
fn shapes_are_the_least_that_suffice() {
    for (eps, sensitivity_steps) in pairs(&mut Points(6)) {
        let (l1, l2) = (optimal_r_l1(eps, sensitivity_steps), optimal_r_l2(eps, sensitivity_steps));
        assert!(
            1 <= l1 && l1 <= l2 && l2 <= sensitivity_steps,
            "eps {eps:e}, sensitivity_steps {sensitivity_steps}: {l1}, {l2}"
        );
        if underflows(eps) {
            assert_eq!((l1, l2), (1, 1), "eps {eps:e}, sensitivity_steps {sensitivity_steps}");
        } else {
            assert!(
                is_least(|r| enough_l1(eps, sensitivity_steps, r), l1),
                "l1: eps {eps:e}, sensitivity_steps {sensitivity_steps}: {l1}"
            );
            if eps > 1e-50 {
                assert!(
                    is_least(|r| enough_l2(eps, sensitivity_steps, r), l2),
                    "l2: eps {eps:e}, sensitivity_steps {sensitivity_steps}: {l2}"
                );
            }
        }
    }
}

/// E|X| and E X² for all r come from sums of probabilities, without the closed optima.
#[test]
fn shapes_are_optimal_by_brute_force() {
    for eps in [0.05, 0.3, 1.0, 2.5, 5.0, 9.0, 14.0] {
        for sensitivity_steps in [1, 2, 3, 5, 8, 13, 40] {
            let (first, second): (Vec<Real>, Vec<Real>) =
                (1..=sensitivity_steps).map(|r| costs(eps, sensitivity_steps, r)).unzip();
            for (name, r, costs) in [
                ("l1", optimal_r_l1(eps, sensitivity_steps), first),
                ("l2", optimal_r_l2(eps, sensitivity_steps), second),
            ] {
                let least = costs.iter().min().unwrap();
                assert!(
                    &costs[r as usize - 1] == least,
                    "{name}, eps {eps}, sensitivity_steps {sensitivity_steps}: r = {r} is not optimal"
                );
            }
        }
    }
}

/// (E|X|, E X²) of the staircase distribution, from sums of its pmf ∝ b^J until b^J is below 2^−200.
fn costs(eps: f64, sensitivity_steps: u64, r: u64) -> (Real, Real) {
    const BITS: usize = 256;
    let b = exp_minus(eps, 1, 1, BITS);
    let (mut mass, mut first, mut second) = (integer(1, BITS), integer(0, BITS), integer(0, BITS));
    let mut height = integer(1, BITS);
    let (mut from, mut to) = (1, r);
    while height > integer(1, BITS) >> 200 {
        let sum = |power: u32| (from..to).map(|j| IBig::from(j).pow(power as usize)).sum::<IBig>();
        mass += Real::from(sum(0) * 2) * &height;
        first += Real::from(sum(1) * 2) * &height;
        second += Real::from(sum(2) * 2) * &height;
        (from, to) = (to, to + sensitivity_steps);
        height *= &b;
    }
    (first / &mass, second / mass)
}

/// Compares ⌈γ·D⌉ with big integers, for γ from subnormal to 1.
#[test]
fn ceil_product_is_exact() {
    let mut points = Points(7);
    let mut gammas = vec![5e-324, f64::MIN_POSITIVE, 1e-300, 0.5, 1.0 - f64::EPSILON / 2.0, 1.0];
    gammas.extend((0..20_000).map(|_| points.magnitude(-60, 0)));
    for gamma in gammas {
        for sensitivity_steps in [
            1,
            2,
            3,
            (1 << 53) - 1,
            1 << 53,
            1 + (points.word() >> (11 + points.word() % 53)),
        ] {
            let r = IBig::from(ceil_product(gamma, sensitivity_steps));
            let product = Real::try_from(gamma).unwrap().with_precision(200).value() * integer(sensitivity_steps, 200);
            assert!(
                Real::from(r.clone()) >= product && Real::from(r - 1) < product,
                "gamma {gamma:e}, sensitivity_steps {sensitivity_steps}"
            );
        }
    }
}

/// Compares with the group `ds_opt` of ../shared/reference/values.json (its eps are decimals; none is within rounding of a change of r).
#[test]
fn shapes_agree_with_reference_values() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/values.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("SKIPPED shapes_agree_with_reference_values: {path} is absent");
        return;
    };
    let mut count = 0;
    for entry in text.split("\"id\":").filter(|entry| field(entry, "group") == Some("ds_opt")) {
        let eps = field(entry, "eps").unwrap().parse().unwrap();
        let sensitivity_steps = field(entry, "D").unwrap().parse().unwrap();
        let r = match field(entry, "quantity").unwrap() {
            "r_l1" => optimal_r_l1(eps, sensitivity_steps),
            "r_l2" => optimal_r_l2(eps, sensitivity_steps),
            other => panic!("unknown quantity {other}"),
        };
        assert_eq!(r.to_string(), field(entry, "value").unwrap(), "{entry}");
        count += 1;
    }
    assert!(count > 100, "only {count} reference values found");
}

/// The scalar after `"name":`, without quotes.
fn field<'a>(entry: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = entry.split_once(&format!("\"{name}\":"))?;
    let value = rest.split([',', '\n', '}']).next()?;
    Some(value.trim().trim_matches('"'))
}
