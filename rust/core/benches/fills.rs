//! Every mechanism at several ε, and every element type: `cargo bench -p stairnoise --bench fills`.

mod common;

use common::fills;
use stairnoise::{DiscreteLaplace, Gamma, Kind, Laplace, OneWordMechanism, Shape, Staircase};

const EPSILONS: [f64; 5] = [0.01, 0.1, 1.0, 4.0, 10.0];
const KINDS: [Kind; 3] = [Kind::Staircase, Kind::Laplace, Kind::DiscreteLaplace];

fn main() {
    mechanisms();
    discrete_staircases();
    types();
}

/// E|X| at sensitivity 1; the staircase has the γ that minimises E|X| (Geng and Viswanath 2014, section V).
fn mean_magnitude(kind: Kind, eps: f64) -> f64 {
    match kind {
        Kind::Staircase => 0.5 / (eps / 2.0).sinh(),
        Kind::Laplace => 1.0 / eps,
        Kind::DiscreteLaplace | Kind::DiscreteStaircase => 1.0 / eps.sinh(),
    }
}

fn mechanisms() {
    for kind in KINDS {
        for eps in EPSILONS {
            let mechanism = OneWordMechanism::new(kind, eps, 1.0, Shape::L1).expect("valid parameters");
            let name = format!("{kind:?}/eps/{eps}");
            fills(&name, &mechanism, mean_magnitude(kind, eps), |x: f64| x);
        }
    }
}

fn discrete_staircases() {
    for eps in [1.0, 4.0] {
        for sensitivity in [10.0, 1000.0] {
            for (shape, r) in [("l1", Shape::L1), ("l2", Shape::L2)] {
                let mechanism = OneWordMechanism::new(Kind::DiscreteStaircase, eps, sensitivity, r).expect("valid parameters");
                let expected = staircase_magnitude(eps, sensitivity, mechanism.r().expect("a staircase has one") as f64);
                let name = format!("DiscreteStaircase/eps={eps}/sensitivity={sensitivity}/r={shape}");
                fills(&name, &mechanism, expected, |x: i64| x as f64);
            }
        }
    }
}

/// E|X| of the discrete staircase with stairs of width `d` and a first stair of half-width `r`.
fn staircase_magnitude(eps: f64, d: f64, r: f64) -> f64 {
    let c = 1.0 / eps.exp_m1();
    (r * (r - 1.0) + (2.0 * r - 1.0) * d * c + d * d * c * (1.0 + 2.0 * c)) / (2.0 * r - 1.0 + 2.0 * d * c)
}

fn types() {
    let staircase = Staircase::new(4.0, 1.0, Gamma::L1).expect("valid parameters");
    fills("Staircase/f32", &staircase, mean_magnitude(Kind::Staircase, 4.0), |x: f32| {
        x.into()
    });
    let laplace = Laplace::new(4.0, 1.0).expect("valid parameters");
    fills("Laplace/f32", &laplace, mean_magnitude(Kind::Laplace, 4.0), |x: f32| x.into());
    let counting = DiscreteLaplace::new(4.0, 1).expect("valid parameters");
    let expected = mean_magnitude(Kind::DiscreteLaplace, 4.0);
    fills("DiscreteLaplace/i32", &counting, expected, |x: i32| x.into());
    fills("DiscreteLaplace/i64", &counting, expected, |x: i64| x as f64);
}
