//! Nanoseconds per value of every mechanism, single thread: `cargo run --release --example speed`.
use std::time::Instant;

use stairnoise::{Generator, Kind, Mechanism, OneWordMechanism, Shape};

fn main() {
    let mut out = vec![0.0_f64; 10_000_000];
    let mut generator = Generator::from_seed(1);
    for kind in [Kind::Staircase, Kind::DiscreteStaircase, Kind::Laplace, Kind::DiscreteLaplace] {
        for eps in [0.01, 0.1, 1.0, 4.0, 10.0] {
            let mechanism = OneWordMechanism::new(kind, eps, 1.0, Shape::L1).expect("valid parameters");
            let best = (0..3)
                .map(|_| {
                    let start = Instant::now();
                    mechanism.fill(&mut generator, &mut out).expect("fills are left");
                    start.elapsed().as_secs_f64()
                })
                .fold(f64::INFINITY, f64::min);
            println!("{kind:?} eps={eps}: {:.2} ns/value", best * 1e9 / out.len() as f64);
        }
    }
}
