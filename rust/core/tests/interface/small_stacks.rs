//! Evidence: the threads end. Every mechanism draws and releases in a thread with a stack of 128 KiB, musl's default, with the test run's debug
//! assertions and instruction set.

use std::thread;

use stairnoise::{
    Generator, Kind, Mechanism, OneWordMechanism, Parameters, PartitionSelection, PerElement, Selection, Shape, Shapes,
};

use crate::fuzz::targets::several_draws::examples;

/// Enough values for every buffer, not a whole number of blocks, and a whole number of vectors of every length in the list.
const VALUES: usize = 5250;

const KINDS: [Kind; 4] = [Kind::Laplace, Kind::DiscreteLaplace, Kind::Staircase, Kind::DiscreteStaircase];

fn on_a_small_stack(work: fn()) {
    thread::Builder::new()
        .stack_size(128 << 10)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn the_four_mechanisms() {
    on_a_small_stack(|| {
        let (mut generator, answers) = (Generator::from_seed(1).allow_release(), vec![3.0; VALUES]);
        let (mut wide, mut narrow) = (vec![0.0_f64; VALUES], vec![0_i32; VALUES]);
        for kind in KINDS {
            for (eps, sensitivity, shape) in [
                (4.0, 1.0, Shape::L1),
                (1e-3, 1000.0, Shape::L2),
                (1e-5, 7.0, Shape::Number(1.0)),
            ] {
                let mechanism = OneWordMechanism::new(kind, eps, sensitivity, shape).unwrap();
                mechanism.fill(&mut generator, &mut wide).unwrap();
                let fill = mechanism.next_fill(&mut generator, VALUES).unwrap();
                fill.write(0, &mut narrow).unwrap();
                mechanism.release(&mut generator, &answers, &mut wide).unwrap();
                mechanism.release(&mut generator, &answers[..1], &mut wide[..1]).unwrap();
            }
        }
    });
}

#[test]
fn a_mechanism_for_every_value() {
    on_a_small_stack(|| {
        let (mut generator, answers) = (Generator::from_seed(1).allow_release(), vec![3.0; VALUES]);
        let mut out = vec![0.0_f64; VALUES];
        let (eps, sensitivity, numbers) = (vec![0.5; VALUES], vec![2.0; VALUES], vec![1.0; VALUES]);
        for kind in KINDS {
            for shape in [Shapes::Same(Shape::L1), Shapes::Same(Shape::L2), Shapes::Numbers(&numbers)] {
                let parameters = Parameters {
                    eps: &eps,
                    sensitivity: &sensitivity,
                    shape,
                };
                let mut mechanisms = PerElement::new(kind);
                mechanisms.check(&parameters).unwrap();
                let fill = generator.next(VALUES).unwrap();
                mechanisms.write(&fill, 0, &mut out, &parameters).unwrap();
                mechanisms.release_part(&fill, 0, &answers, &mut out, &parameters).unwrap();
            }
        }
    });
}

#[test]
fn mechanisms_of_several_draws() {
    on_a_small_stack(|| {
        for (_, mechanism) in examples().unwrap() {
            draw(&mechanism);
        }
    });
}

fn draw(mechanism: &impl Mechanism) {
    let (mut generator, answers) = (Generator::from_seed(1).allow_release(), vec![3.0; VALUES]);
    let mut out = vec![0.0_f64; VALUES];
    mechanism.fill(&mut generator, &mut out).unwrap();
    mechanism.fill(&mut generator, &mut out[..5]).unwrap();
    mechanism.release(&mut generator, &answers, &mut out).unwrap();
}

#[test]
fn selections() {
    on_a_small_stack(|| {
        let costs: Vec<f64> = (0..300).map(f64::from).collect();
        let mut generator = Generator::from_seed(1).allow_release();
        for mechanism in [
            Selection::staircase(1.0, 1.0, 0.5, false).unwrap(),
            Selection::exponential(1.0, 1.0, false).unwrap(),
            Selection::permute_and_flip(1.0, 1.0, false).unwrap(),
        ] {
            let mut selected = vec![0; VALUES];
            mechanism.select(&mut generator, &costs, &mut selected[..20]).unwrap();
            mechanism.select_often(&mut generator, &costs, &mut selected).unwrap();
            mechanism.top(&mut generator, &costs, 20, &mut selected[..20]).unwrap();
        }
        let counts: Vec<i64> = (0..VALUES as i64).collect();
        for eps in [1e-7, 0.01, 1.0] {
            let groups = PartitionSelection::new(eps, 1e-6, 1).unwrap();
            groups.select(&mut generator, &counts[..20], &mut [false; 20]).unwrap();
            groups.release(&mut generator, &counts[..20], &mut [0; 20]).unwrap();
            let mut noisy = vec![0; if eps < 1e-6 { 20 } else { VALUES }];
            groups.release(&mut generator, &counts[..noisy.len()], &mut noisy).unwrap();
        }
    });
}
