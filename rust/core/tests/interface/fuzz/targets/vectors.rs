//! The staircase for vectors.
//!
//! Compares a fill with its pieces and with coordinates one at a time, from any place, and a vector's norm with the largest ball's.

use stairnoise::{AnyMechanism, Mechanism, MultivariateStaircase, Norm};

use super::input::Input;
use super::oracle::log2_of_power;
use super::staged::pieces;

pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (eps, sensitivity) = (input.parameter(), input.parameter());
    let dim = if input.byte() < 16 {
        input.word() % 5000
    } else {
        u64::from(input.byte() % 40)
    };
    let gamma = if input.flag() {
        f64::from(input.byte()) / 255.0
    } else {
        input.number()
    };
    let norm = [Norm::L1, Norm::L2, Norm::LInf][input.below(3)];
    let Ok(mechanism) = MultivariateStaircase::new(eps, sensitivity, dim, gamma, norm) else {
        return;
    };
    assert!((1..=100_000).contains(&dim) && 1 <= mechanism.r() && mechanism.r() <= mechanism.sensitivity_steps());
    assert_eq!(log2_of_power(mechanism.granularity()), mechanism.log2_granularity());
    let (mut generator, _) = input.generator();
    let start = input.start(39);
    let n = input.count(if dim > 64 { 5000 } else { 600 });
    let mut view = generator.at(start).expect("no fork");
    let fill = mechanism.next_fill(&mut view, n).expect("indices below 2^40");
    let mut steps = vec![0_i64; n];
    fill.write(0, &mut steps).unwrap();
    pieces(&mechanism, &fill, &steps, &input.cuts(n));
}
