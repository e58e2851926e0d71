//! How often the slow path is asked, by counting (docs/timing.md): `cargo run --release --features probe --example slow_path -- [WORDS]`.
//! One line per law: kind, ε, Δ, kernel, words, words in doubt.

use stairnoise::{Generator, Kind, Law, Shape, probe};

const WORDS: usize = 100_000_000;
const N: usize = 1 << 16;

fn main() {
    let words = std::env::args()
        .nth(1)
        .map_or(WORDS, |n| n.parse().expect("a number of words"));
    let mut generator = Generator::from_seed(63);
    for (kind, sensitivity) in [
        (Kind::Laplace, 1.0),
        (Kind::Staircase, 1.0),
        (Kind::DiscreteLaplace, 1.0),
        (Kind::DiscreteStaircase, 1.0),
        (Kind::DiscreteStaircase, 10.0),
    ] {
        for eps in [0.01, 0.1, 1.0, 4.0, 10.0] {
            let law = Law::new(kind, eps, sensitivity, Shape::L1).expect("valid parameters");
            let (mut drawn, mut doubts) = (0_usize, 0_usize);
            let (mut buffer, mut scratch) = (vec![0_u64; N], vec![0.0_f64; N]);
            while drawn < words {
                generator.next(N).expect("fills are left").keystream(0, &mut buffer);
                probe::doubts(&law, &buffer, &mut scratch, |_| doubts += 1);
                drawn += N;
            }
            println!("{kind:?} {eps} {sensitivity} {} {drawn} {doubts}", probe::kernel(&law));
        }
    }
}
