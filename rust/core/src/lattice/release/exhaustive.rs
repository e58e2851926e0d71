//! Evidence: exhaustion, against attacks on the output (Mironov 2012; Haney et al. 2022). Every word of 16 bits draws noise for true answers one
//! sensitivity apart. Privacy needs three facts, which are checked. Neighbours are rounded to at most ⌈Δ/g⌉ steps from each other. The output is a
//! function of rounded answer plus noise alone. Both neighbours reach the same outputs. Statistical attacks are in tests/attacks/.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use super::super::answer::{Answer, private};
use super::add;
use crate::lattice::power_of_two;
use crate::{AnyMechanism, Kind, OneWordMechanism, Shape, Value};

/// Noise for every word of `bits` leading bits, followed by zeros and by ones.
fn noises(mechanism: &OneWordMechanism, bits: u32) -> BTreeSet<i64> {
    let rest = u64::MAX >> bits;
    (0..1_u64 << bits)
        .map(|word| word << (64 - bits))
        .flat_map(|word| {
            [
                mechanism.sampler().steps(word, |_| 0),
                mechanism.sampler().steps(word | rest, |_| u64::MAX),
            ]
        })
        .collect()
}

/// The largest m for which all of −m, …, m were drawn.
fn reach(noises: &BTreeSet<i64>) -> i64 {
    (0..i64::MAX)
        .take_while(|m| noises.contains(m) && noises.contains(&-m))
        .last()
        .unwrap()
}

fn indistinct<A: Answer + Debug, T: Value + PartialEq + Debug>(mechanism: &OneWordMechanism, noises: &BTreeSet<i64>, x: A, y: A) {
    let lattice = mechanism.sampler().lattice;
    let rounded = [x, y].map(|answer| answer.round_to_lattice(lattice.log2_granularity));
    let apart = rounded[0].abs_diff(rounded[1]);
    assert!(
        apart <= mechanism.sensitivity_steps().into(),
        "{x:?} and {y:?} are {apart} steps apart: {mechanism:?}"
    );

    let mut outputs: BTreeMap<i128, T> = BTreeMap::new();
    let mut reached = [BTreeSet::new(), BTreeSet::new()];
    for (i, answer) in [x, y].into_iter().enumerate() {
        for &noise in noises {
            let sum = rounded[i] + i128::from(noise);
            let output: T = add(answer, noise, lattice.log2_granularity);
            assert_ne!(format!("{output:?}"), "-0.0", "{answer:?} with {noise}");
            let known = *outputs.entry(sum).or_insert(output);
            assert_eq!(output, known, "{x:?} and {y:?} reach {sum} differently: {mechanism:?}");
            reached[i].insert(sum);
        }
    }
    // Neighbours both reach the middle without a gap; the ends of the range of a short word differ.
    let (low, high) = (rounded[0].min(rounded[1]), rounded[0].max(rounded[1]));
    let m = i128::from(reach(noises));
    for sum in high - m..=low + m {
        assert!(reached.iter().all(|reached| reached.contains(&sum)), "{sum}: {mechanism:?}");
    }
    // Where m is 0 there are too many steps for a short word, and only the function above is checked.
    assert!(m == 0 || high - m < low + m, "{mechanism:?}");
}

/// Δ = 1 and Δ = 3.
fn small() -> Vec<OneWordMechanism> {
    [
        (Kind::DiscreteLaplace, 0.5, 1.0),
        (Kind::DiscreteLaplace, 2.0, 1.0),
        (Kind::DiscreteStaircase, 1.0, 1.0),
        (Kind::DiscreteLaplace, 1.0, 3.0),
        (Kind::DiscreteStaircase, 1.0, 3.0),
    ]
    .map(|(kind, eps, sensitivity)| OneWordMechanism::new(kind, eps, sensitivity, Shape::L1).unwrap())
    .into()
}

#[test]
fn neighbours_on_a_small_lattice() {
    for mechanism in small() {
        let noises = noises(&mechanism, 16);
        let delta = mechanism.sensitivity();
        let quarters = (-24..24).map(|n| f64::from(n) / 4.0).map(|x| (x, x + delta));
        let awkward = [
            (0.1 + 0.2, 0.3),
            (0.0, -0.0),
            (-0.0, 5e-324),
            (0.5, 0.5_f64.next_down()),
            (-0.5, (-0.5_f64).next_down()),
            (1.0 / 3.0, 4.0 / 3.0),
            (1e16, 1e16 + 1.0),
            (2.0_f64.powi(52) - 0.5, 2.0_f64.powi(52) + 0.5),
            (2.0_f64.powi(53) - 1.0, 2.0_f64.powi(53)),
        ];
        for (x, y) in quarters.chain(awkward) {
            indistinct::<f64, f64>(&mechanism, &noises, x, y);
            indistinct::<f64, f32>(&mechanism, &noises, x, y);
            indistinct::<f64, i64>(&mechanism, &noises, x, y);
            indistinct::<f64, i32>(&mechanism, &noises, x, y);
        }
        for x in [0, -1, 1 << 53, (1 << 53) + 1, 10_000_000_000_000_001] {
            indistinct::<i64, f64>(&mechanism, &noises, x, x + delta as i64);
            indistinct::<i64, i64>(&mechanism, &noises, x, x + delta as i64);
        }
    }
}

#[test]
fn neighbours_at_the_ends_of_integers() {
    for mechanism in small() {
        let noises = noises(&mechanism, 16);
        let delta = mechanism.sensitivity() as i64;
        for end in [i64::MAX, i64::MIN + delta] {
            indistinct::<i64, i64>(&mechanism, &noises, end, end - delta);
            indistinct::<i64, f32>(&mechanism, &noises, end, end - delta);
        }
        for end in [i32::MAX, i32::MIN] {
            indistinct::<i64, i32>(&mechanism, &noises, end.into(), i64::from(end) - delta);
            indistinct::<f64, i32>(&mechanism, &noises, end.into(), f64::from(end) - mechanism.sensitivity());
        }
    }
}

/// Lattices of 2³² steps and more: short words reach some of the steps.
#[test]
fn neighbours_on_default_lattices() {
    for kind in [Kind::Laplace, Kind::Staircase] {
        for (log2, x) in [
            (0, 0.1 + 0.2),
            (0, 1e9),
            (0, 9e27),
            (-1040, 5e-324),
            (100, f64::from(f32::MAX)),
            (992, f64::MAX),
            (992, f64::MIN),
        ] {
            let delta = power_of_two(log2);
            let mechanism = OneWordMechanism::new(kind, 1.0, delta, Shape::L1).unwrap();
            let noises = noises(&mechanism, 11);
            let inwards = -delta.copysign(x);
            indistinct::<f64, f64>(&mechanism, &noises, x, x + inwards);
            indistinct::<f64, f32>(&mechanism, &noises, x, x + inwards);
        }
    }
}

/// The same, rounded to the lattice as IEEE does by default.
#[derive(Clone, Copy, Debug)]
struct HalfEven(f64);

impl private::Sealed for HalfEven {}

impl Answer for HalfEven {
    fn round_to_lattice(self, log2_granularity: i32) -> i128 {
        (self.0 / power_of_two(log2_granularity)).round_ties_even() as i128
    }

    fn is_quick(self, _: bool) -> bool {
        false
    }

    fn nearest(self) -> f64 {
        self.0
    }
}

#[test]
#[should_panic(expected = "are 2 steps apart")]
fn half_to_even_is_found() {
    let mechanism = OneWordMechanism::new(Kind::DiscreteLaplace, 0.5, 1.0, Shape::L1).unwrap();
    indistinct::<HalfEven, f64>(&mechanism, &noises(&mechanism, 16), HalfEven(0.5), HalfEven(1.5));
}
