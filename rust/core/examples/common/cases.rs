//! Mechanisms, answers and a control for the checks of branches and addresses.

use std::hint::black_box;

use stairnoise::Kind;

/// At least one mechanism for every one of the seven kernels and for every first level, and two that are drawn in fixed point.
pub const MECHANISMS: [(Kind, f64, f64); 15] = [
    (Kind::Laplace, 0.01, 1.0),
    (Kind::Laplace, 1.0, 3.0),
    (Kind::Laplace, 10.0, 1.0),
    (Kind::DiscreteLaplace, 0.01, 1.0),
    (Kind::DiscreteLaplace, 0.1, 1.0),
    (Kind::DiscreteLaplace, 1.5, 1.0),
    (Kind::DiscreteLaplace, 4.0, 1.0),
    (Kind::Staircase, 0.1, 1.0),
    (Kind::Staircase, 1.0, 1.0),
    (Kind::Staircase, 4.0, 1.0),
    (Kind::DiscreteStaircase, 0.1, 5.0),
    (Kind::DiscreteStaircase, 2.0, 5.0),
    (Kind::DiscreteStaircase, 10.0, 100.0),
    (Kind::Laplace, 1e-4, 1.0),
    (Kind::Staircase, 1e-4, 5.0),
];
pub const KERNELS: usize = 6;

/// True answers near the origin of a lattice, far from it, and near its end.
pub fn answers(n: usize, granularity: f64) -> Vec<f64> {
    let end = granularity * 2.0_f64.powi(125);
    (0..n).map(|i| [0.0, -0.3, 1e6, 1e16, -end, 5e-324][i % 6]).collect()
}

/// A geometric magnitude by inversion, in a loop that stops when it is found.
pub fn one_by_one(word: u64) -> f64 {
    let v = (word >> 11) as f64 / (1_u64 << 53) as f64;
    let mut magnitude = 0.0;
    let mut survival = 0.9_f64;
    while v < black_box(survival) {
        magnitude += 1.0;
        survival *= 0.9;
    }
    // The word's own bits make a secret word's result secret.
    magnitude + v
}
