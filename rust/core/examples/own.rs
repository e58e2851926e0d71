//! Nanoseconds per value where every value has its own ε in 0.1..5, single thread: `cargo run --release --example own`.
use std::time::Instant;

use stairnoise::{Generator, Kind, Laws, Parameters, Shape, Shapes};

fn main() {
    let n = 1_000_000;
    let mut out = vec![0.0_f64; n];
    let mut whole = vec![0_i64; n];
    let mut generator = Generator::from_seed(1);
    let mut state = 1_u64;
    let eps: Vec<f64> = (0..n)
        .map(|_| {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
            0.1 + 4.9 * (state >> 11) as f64 / (1_u64 << 53) as f64
        })
        .collect();
    let cases = [
        (Kind::Staircase, 1.0, Shape::L1, n),
        (Kind::Laplace, 1.0, Shape::L1, n),
        (Kind::DiscreteLaplace, 1.0, Shape::L1, n),
        (Kind::DiscreteStaircase, 10.0, Shape::L1, n),
        (Kind::Staircase, 1.0, Shape::Number(0.3), n),
        (Kind::DiscreteStaircase, 10.0, Shape::Number(3.0), n),
        (Kind::Staircase, 1.0, Shape::L1, 1000),
        (Kind::Laplace, 1.0, Shape::L1, 1000),
        (Kind::DiscreteLaplace, 1.0, Shape::L1, 1000),
        (Kind::DiscreteStaircase, 10.0, Shape::L1, 300),
        (Kind::Staircase, 1.0, Shape::L2, 300),
    ];
    for (kind, sensitivity, shape, recur) in cases {
        let sensitivities = vec![sensitivity; n];
        let eps: Vec<f64> = (0..n).map(|i| eps[i % recur]).collect();
        let mut times: Vec<f64> = (0..5)
            .map(|_| {
                let mut laws = Laws::new(kind);
                let fill = generator.next(n).expect("fills are left");
                let start = Instant::now();
                let parameters = Parameters {
                    eps: &eps,
                    sensitivity: &sensitivities,
                    shape: Shapes::Same(shape),
                };
                match kind {
                    Kind::Staircase | Kind::Laplace => laws.write(&fill, 0, &mut out, &parameters),
                    _ => laws.write(&fill, 0, &mut whole, &parameters),
                }
                .expect("valid parameters");
                start.elapsed().as_secs_f64() * 1e9 / n as f64
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("{kind:?} {shape:?} recurring every {recur}: {:.2} ns/value", times[2]);
    }
}
