//! Fills of Gaussian noise in which every value has its own σ² and lattice.
//!
//! Compares refusals of parameters, answers and outputs, and every value with the mechanism that has its parameters.

use stairnoise::{DiscreteGaussians, DrawError, Gaussian, GaussianParameters, Generator, Mechanism, ParamError};

use super::input::Input;

/// Exponents of mechanisms, the minimum and maximum, and invalid ones.
const EXPONENTS: [i64; 16] = [
    0,
    0,
    0,
    0,
    0,
    0,
    -33,
    -40,
    5,
    -1074,
    960,
    -1075,
    961,
    1 << 40,
    i64::MIN,
    i64::MAX,
];

pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let n = input.count(400);
    // Few parameters are different, so that some recur; in most cases all have a mechanism.
    let known = if input.byte() < 224 { 11 } else { EXPONENTS.len() };
    let few: Vec<(f64, i64)> = (0..=input.below(20))
        .map(|_| (input.parameter(), EXPONENTS[input.below(known)]))
        .collect();
    let chosen = input.mixture(few.len(), n);
    let sigma2: Vec<f64> = chosen.iter().map(|&k| few[k].0).collect();
    let log2_granularity: Vec<i64> = chosen.iter().map(|&k| few[k].1).collect();
    let parameters = GaussianParameters {
        sigma2: &sigma2,
        log2_granularity: &log2_granularity,
    };
    let alone: Vec<_> = few.iter().map(|&(sigma2, exponent)| mechanism(sigma2, exponent)).collect();
    let refused = chosen
        .iter()
        .enumerate()
        .find_map(|(i, &k)| alone[k].as_ref().err().map(|error| (i, *error)));
    // Errors are compared as text, because NaN is not equal to itself.
    let said = DiscreteGaussians::new().check(&parameters).err();
    assert_eq!(format!("{said:?}"), format!("{refused:?}"));
    if refused.is_some() {
        return;
    }
    let answers: Vec<f64> = (0..n)
        .map(|i| if i % 64 == 63 { input.number() } else { input.ordinary() })
        .collect();
    let unfit = (0..n).find_map(|i| {
        let mechanism = alone[chosen[i]].as_ref().expect("as checked");
        let error = mechanism.check_answers(&answers[i..=i]).err()?;
        Some(match error {
            DrawError::NotFinite(_) => DrawError::NotFinite(i),
            DrawError::OffLattice(_) => DrawError::OffLattice(i),
            other => panic!("{other}"),
        })
    });
    assert_eq!(DiscreteGaussians::new().check_answers(&answers, &parameters).err(), unfit);
    let (_, key) = input.generator();
    let cuts = input.cuts(n);
    let drawn = draw(&key, &parameters, unfit.is_none().then_some(&answers), &cuts);
    let fills: Vec<_> = alone
        .iter()
        .map(|mechanism| mechanism.as_ref().ok()?.next_fill(&mut Generator::from_key(&key), n).ok())
        .collect();
    for i in 0..n {
        let (mechanism, fill) = (
            &alone[chosen[i]],
            fills[chosen[i]].as_ref().expect("few values of a mechanism"),
        );
        let (mut noise, mut sum) = ([0.0], [0.0]);
        fill.write(i as u64, &mut noise).expect("memory for a value");
        assert_eq!(drawn.noise[i], noise[0], "value {i} of {mechanism:?}");
        if unfit.is_none() {
            fill.release(i as u64, &answers[i..=i], &mut sum).expect("memory for a value");
            assert_eq!(drawn.released[i], sum[0], "value {i} of {mechanism:?}");
        }
        if let Some(whole) = &drawn.whole {
            assert_eq!(whole[i] as f64, noise[0], "value {i} of {mechanism:?}");
        }
    }
}

/// Exponents that are too large for the parameter's type have no mechanism either.
fn mechanism(sigma2: f64, log2_granularity: i64) -> Result<Gaussian, ParamError> {
    Gaussian::scaled(sigma2, log2_granularity.clamp(-2000, 2000) as i32)
}

struct Drawn {
    noise: Vec<f64>,
    /// Zeros if there are no answers.
    released: Vec<f64>,
    /// `None` unless every lattice has the step 1.
    whole: Option<Vec<i64>>,
}

/// Fill 0 of a key, in pieces.
fn draw(key: &[u8; 32], parameters: &GaussianParameters<'_>, answers: Option<&Vec<f64>>, cuts: &[usize]) -> Drawn {
    let n = parameters.sigma2.len();
    let fill = Generator::from_key(key).next(n).expect("few values");
    let (mut noise, mut released, mut whole) = (vec![0.0; n], vec![0.0; n], vec![0_i64; n]);
    let mut mechanisms = DiscreteGaussians::new();
    for ends in cuts.windows(2) {
        let range = ends[0]..ends[1];
        let part = GaussianParameters {
            sigma2: &parameters.sigma2[range.clone()],
            log2_granularity: &parameters.log2_granularity[range.clone()],
        };
        mechanisms
            .write(&fill, ends[0] as u64, &mut noise[range.clone()], &part)
            .expect("as checked");
        if let Some(answers) = answers {
            let out = &mut released[range.clone()];
            mechanisms
                .release_part(&fill, ends[0] as u64, &answers[range], out, &part)
                .expect("as checked");
        }
    }
    let integers = parameters.log2_granularity.iter().all(|exponent| *exponent == 0);
    let written = mechanisms.write(&fill, 0, &mut whole, parameters);
    assert_eq!(written.err(), (!integers).then_some(ParamError::NotWhole));
    Drawn {
        noise,
        released,
        whole: integers.then_some(whole),
    }
}
