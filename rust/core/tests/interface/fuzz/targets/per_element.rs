//! Fills in which every value has its own parameters.
//!
//! Compares refusals of parameters, and every value with the mechanism that has its parameters.

use stairnoise::{AnyMechanism, DrawError, Kind, Mechanism, OneWordMechanism, Parameters, PerElement, Shape, Shapes};

use super::input::Input;

pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let kind = input.kind();
    let n = input.count(200);
    // Few parameters are different, so that some recur.
    let few: Vec<(f64, f64, Shape)> = (0..=input.below(20)).map(|_| input.parameters(kind)).collect();
    let chosen: Vec<(f64, f64, Shape)> = input.mixture(few.len(), n).into_iter().map(|k| few[k]).collect();
    let eps: Vec<f64> = chosen.iter().map(|one| one.0).collect();
    let sensitivity: Vec<f64> = chosen.iter().map(|one| one.1).collect();
    let numbers: Vec<f64> = chosen
        .iter()
        .map(|one| match one.2 {
            Shape::Number(number) => number,
            Shape::L1 | Shape::L2 => 1.0,
        })
        .collect();
    let shape = if input.flag() {
        Shapes::Numbers(&numbers)
    } else {
        Shapes::Same(few[0].2)
    };
    let parameters = Parameters {
        eps: &eps,
        sensitivity: &sensitivity,
        shape,
    };
    let answers: Vec<f64> = (0..n).map(|_| input.ordinary()).collect();
    let (mut generator, _) = input.generator();
    compare(kind, &parameters, &answers, &generator.next(n).expect("a fill"));
}

fn compare(kind: Kind, parameters: &Parameters<'_>, answers: &[f64], fill: &stairnoise::Fill) {
    let n = answers.len();
    let alone: Vec<_> = (0..n)
        .map(|i| {
            let (eps, sensitivity, shape) = parameters.at(i);
            OneWordMechanism::new(kind, eps, sensitivity, shape)
        })
        .collect();
    let mut mechanisms = PerElement::new(kind);
    let refused = alone
        .iter()
        .enumerate()
        .find_map(|(i, mechanism)| mechanism.as_ref().err().map(|error| (i, *error)));
    let said = mechanisms.check(parameters);
    // Errors are compared as text, because NaN is not equal to itself.
    assert_eq!(format!("{:?}", said.err()), format!("{refused:?}"));
    if refused.is_some() {
        return;
    }
    let fit = |(mechanism, answer): (&Result<OneWordMechanism, _>, _)| {
        mechanism
            .as_ref()
            .is_ok_and(|mechanism| mechanism.check_answers(&[answer]).is_ok())
    };
    let unfit = alone.iter().zip(answers.iter().copied()).position(|pair| !fit(pair));
    if let Some(index) = unfit {
        assert_eq!(
            mechanisms.check_answers(answers, parameters),
            Err(DrawError::OffLattice(index))
        );
        return;
    }
    assert_eq!(mechanisms.check_answers(answers, parameters), Ok(()));
    let (mut noise, mut steps, mut released) = (vec![0.0; n], vec![0_i64; n], vec![0.0; n]);
    mechanisms.write(fill, 0, &mut noise, parameters).expect("as checked");
    mechanisms.write(fill, 0, &mut steps, parameters).expect("as checked");
    mechanisms
        .release_part(fill, 0, answers, &mut released, parameters)
        .expect("as checked");
    for (i, mechanism) in alone.into_iter().enumerate() {
        let mechanism = mechanism.expect("as checked");
        let (mut one, mut whole, mut sum) = ([0.0], [0_i64], [0.0]);
        mechanism.write(fill, i as u64, &mut one);
        mechanism.write(fill, i as u64, &mut whole);
        mechanism.release_part(fill, i as u64, &answers[i..=i], &mut sum);
        assert_eq!(
            (noise[i], steps[i], released[i]),
            (one[0], whole[0], sum[0]),
            "value {i} of {mechanism:?}"
        );
        let described = mechanisms.describe(mechanism.eps(), mechanism.sensitivity(), parameters.at(i).2);
        assert_eq!(
            described,
            Ok((
                mechanism.granularity(),
                mechanism.sensitivity_steps(),
                mechanism.r().unwrap_or(0)
            ))
        );
    }
}
