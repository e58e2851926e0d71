//! Blocks of values with parameters of their own, against mechanisms made one by one.

use super::*;
use crate::testing::random::Random;
use crate::{Generator, Mechanism};

const KINDS: [Kind; 4] = [Kind::Staircase, Kind::DiscreteStaircase, Kind::Laplace, Kind::DiscreteLaplace];

/// What [`Parameters`] are made of: single parameters whose shapes are of one form.
struct Columns {
    eps: Vec<f64>,
    sensitivity: Vec<f64>,
    numbers: Vec<f64>,
    same: Option<Shape>,
}

impl Columns {
    fn new(given: &[(f64, f64, Shape)]) -> Self {
        let number = |shape| {
            if let Shape::Number(number) = shape {
                Some(number)
            } else {
                None
            }
        };
        Self {
            eps: given.iter().map(|given| given.0).collect(),
            sensitivity: given.iter().map(|given| given.1).collect(),
            numbers: given.iter().filter_map(|given| number(given.2)).collect(),
            same: given.first().map(|given| given.2).filter(|shape| number(*shape).is_none()),
        }
    }

    fn parameters(&self) -> Parameters<'_> {
        Parameters {
            eps: &self.eps,
            sensitivity: &self.sensitivity,
            shape: self.same.map_or(Shapes::Numbers(&self.numbers), Shapes::Same),
        }
    }
}

fn alone(kind: Kind, (eps, sensitivity, shape): (f64, f64, Shape), fill: &Fill, index: u64) -> (OneWordMechanism, i64) {
    let mechanism = OneWordMechanism::new(kind, eps, sensitivity, shape).unwrap();
    let steps = mechanism
        .sampler()
        .steps(fill.stage(0).word(index), |e| fill.stage(0).extension(index, e));
    (mechanism, steps)
}

fn same_values<T: Value + PartialEq + core::fmt::Debug>(kind: Kind, tier: Tier, fill: &Fill, given: &[(f64, f64, Shape)]) {
    // The last are beyond 64-bit integers, where answers are not converted in a register.
    let scale = |i: usize| [1.0, 1e-3 * given[i].1, given[i].1, 1e9 * given[i].1, 1e19 * given[i].1][i % 5];
    let mut answers: Vec<f64> = (0..given.len()).map(|i| (i as f64 * 0.37 - 50.0) * scale(i)).collect();
    refused_off_the_lattice(kind, given, &mut answers);
    let lengths = [1, 7, 63, 64, 65, 128, 129, CHUNK - 1, CHUNK + 1, given.len()];
    for (first, n) in lengths.into_iter().flat_map(|n| [(0, n), (3, n)]) {
        let n = n.min(given.len());
        let (mut noise, mut released) = (vec![T::default(); n], vec![T::default(); n]);
        let mut mechanisms = PerElement::new(kind);
        let columns = Columns::new(&given[..n]);
        let parameters = columns.parameters();
        mechanisms.check(&parameters).unwrap();
        mechanisms
            .write_blocks(tier, fill, first, &mut noise, &parameters, NoiseAlone)
            .unwrap();
        mechanisms
            .write_blocks(tier, fill, first, &mut released, &parameters, Released(&answers))
            .unwrap();
        for i in 0..n {
            let (mechanism, steps) = alone(kind, given[i], fill, first + i as u64);
            let log2_granularity = mechanism.sampler().lattice.log2_granularity;
            assert_eq!(noise[i], mechanism.sampler().value(steps), "{tier:?} {kind:?} {:?}", given[i]);
            let sum = answers[i].round_to_lattice(log2_granularity) + i128::from(steps);
            assert_eq!(released[i], T::from_steps(sum, log2_granularity), "{:?}", given[i]);
        }
    }
}

/// Has every answer refused that its own mechanism refuses, and puts a zero in its place.
fn refused_off_the_lattice(kind: Kind, given: &[(f64, f64, Shape)], answers: &mut [f64]) {
    let (mechanisms, columns) = (PerElement::new(kind), Columns::new(given));
    for i in 0..given.len() {
        let mechanism = OneWordMechanism::quick(kind, given[i].0, given[i].1, given[i].2).unwrap();
        if let Err(error) = mechanism.check_answers(&answers[i..=i]) {
            let refused = mechanisms.check_answers(answers, &columns.parameters());
            assert_eq!(refused, Err(error.at(i)));
            answers[i] = 0.0;
        }
    }
    assert_eq!(mechanisms.check_answers(answers, &columns.parameters()), Ok(()));
}

/// Evidence: equality with values drawn one by one, for every tier, kind, form of shape, and lengths around a block and a chunk.
#[test]
fn blocks_have_the_values_of_single_mechanisms() {
    let (mut generator, mut random) = (Generator::from_seed(5), Random(5));
    for tier in Tier::tested() {
        for kind in KINDS {
            let discrete = matches!(kind, Kind::DiscreteLaplace | Kind::DiscreteStaircase);
            for form in 0..3 {
                let n = if form < 2 { CHUNK + 65 } else { 65 };
                let given: Vec<_> = (0..n).map(|i| random.parameters(kind, form, i % 8 > 0)).collect();
                let fill = generator.next(n + 3).unwrap();
                same_values::<f64>(kind, tier, &fill, &given);
                same_values::<f32>(kind, tier, &fill, &given);
                if discrete {
                    same_values::<i64>(kind, tier, &fill, &given);
                    same_values::<i32>(kind, tier, &fill, &given);
                }
            }
        }
    }
}

/// Evidence: the ends of what a mechanism may have, where the fast path must not be sure.
#[test]
fn ends_have_the_values_of_single_mechanisms() {
    let mut generator = Generator::from_seed(6);
    let fill = generator.next(1 << 14).unwrap();
    let eps = [
        1e-12, 9e-7, 9.6e-7, 1e-3, 0.5, 1.0, 1.5, 26.7, 30.0, 699.0, 700.0, 700.1, 1e4, 1e300,
    ];
    let real = [
        1e-301,
        4e-299,
        2.3e-298,
        1e-290,
        0.1,
        1.0,
        2.0_f64.next_down(),
        3.0,
        1e280,
        1e298,
        8e298,
    ];
    let whole = [
        1.0,
        2.0,
        3.0,
        1e6,
        1e12,
        (1_u64 << 45) as f64,
        (1_u64 << 45) as f64 + 1.0,
        1e15,
    ];
    for tier in Tier::tested() {
        for kind in KINDS {
            let discrete = matches!(kind, Kind::DiscreteLaplace | Kind::DiscreteStaircase);
            let sensitivities = if discrete { &whole[..] } else { &real[..] };
            for shape in [Shape::L1, Shape::Number(1.0), Shape::Number(0.5), Shape::Number(5e-324)] {
                let given: Vec<_> = eps
                    .into_iter()
                    .flat_map(|eps| sensitivities.iter().map(move |sensitivity| (eps, *sensitivity, shape)))
                    .filter(|(eps, sensitivity, shape)| OneWordMechanism::check(kind, *eps, *sensitivity, *shape).is_ok())
                    .collect();
                if !given.is_empty() {
                    same_values::<f64>(kind, tier, &fill, &given);
                }
                if discrete && !given.is_empty() {
                    same_values::<i64>(kind, tier, &fill, &given);
                }
            }
        }
    }
}

#[test]
fn the_first_parameters_that_no_mechanism_has_are_refused() {
    let mut generator = Generator::from_seed(7);
    let fill = generator.next(200).unwrap();
    let bad = [
        (0.0, 1.0, Shape::L1),
        (f64::NAN, 1.0, Shape::L1),
        (-1.0, 1.0, Shape::L1),
        (f64::INFINITY, 1.0, Shape::L1),
        (1.0, 0.0, Shape::L1),
        (1.0, -1.0, Shape::L1),
        (1.0, f64::NAN, Shape::L1),
        (1.0, f64::INFINITY, Shape::L1),
        (1.0, f64::NEG_INFINITY, Shape::L1),
        (1.0, -5e-324, Shape::L1),
        (1.0, f64::MAX, Shape::L1),
        (1e-300, 1.0, Shape::L1),
        (1.0, 1.0, Shape::Number(0.0)),
        (1.0, 1.0, Shape::Number(-0.5)),
        (1.0, 1.0, Shape::Number(1.5)),
        (1.0, 1.0, Shape::Number(f64::NAN)),
        (1.0, 1.5, Shape::Number(1.0)),
    ];
    for kind in KINDS {
        for bad in bad {
            let Err(expected) = OneWordMechanism::check(kind, bad.0, bad.1, bad.2) else {
                continue;
            };
            let mut out = [0.0_f64; 200];
            let good = (
                1.0,
                1.0,
                if let Shape::Number(_) = bad.2 {
                    Shape::Number(1.0)
                } else {
                    Shape::L1
                },
            );
            let mut given = [good; 200];
            given[70] = bad;
            let columns = Columns::new(&given);
            let (parameters, mut mechanisms) = (columns.parameters(), PerElement::new(kind));
            let error = mechanisms.write(&fill, 0, &mut out, &parameters).unwrap_err();
            assert_eq!(format!("{error:?}"), format!("{expected:?}"), "{kind:?} {bad:?}");
            let (position, error) = mechanisms.check(&parameters).unwrap_err();
            assert_eq!((position, format!("{error:?}")), (70, format!("{expected:?}")));
        }
    }
}

/// Mechanisms that are kept are found by the bits of their parameters.
#[test]
fn no_number_is_taken_for_the_name_of_a_shape() {
    let mut generator = Generator::from_seed(7);
    let fill = generator.next(4).unwrap();
    for (name, bits) in [(Shape::L1, u64::MAX), (Shape::L2, u64::MAX - 1)] {
        let mut mechanisms = PerElement::new(Kind::Staircase);
        let mut written = |shape| {
            let columns = Columns::new(&[(1e3, 1.0, shape); 4]);
            mechanisms.write(&fill, 0, &mut [0.0_f64; 4], &columns.parameters())
        };
        assert!(written(name).is_ok());
        assert!(written(Shape::Number(f64::from_bits(bits))).is_err(), "{name:?}");
    }
}

/// The fast path is there to be taken.
#[test]
fn ordinary_parameters_leave_few_values_in_doubt() {
    let (mut generator, mut random) = (Generator::from_seed(8), Random(8));
    for tier in Tier::tested() {
        for kind in KINDS {
            for form in 0..2 {
                let (mut padding, mut drawn) = (Padding::new(), DrawnBlock::NOTHING);
                let fill = generator.next(1000 * BLOCK).unwrap();
                let mut undecided = 0;
                for first in (0..1000 * BLOCK as u64).step_by(BLOCK) {
                    let given: [_; BLOCK] = core::array::from_fn(|_| random.parameters(kind, form, false));
                    let columns = Columns::new(&given);
                    let mut words = Words::new();
                    padding.draw(
                        tier,
                        kind,
                        &columns.parameters(),
                        words.at(fill.stage(0), first, BLOCK),
                        &mut drawn,
                    );
                    undecided += write_block(tier, &drawn, &mut [0.0_f64; BLOCK], NoiseAlone).count_ones();
                }
                assert!(undecided < 64, "{undecided} of 64000: {tier:?} {kind:?} {form}");
            }
        }
    }
}
