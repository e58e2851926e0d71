//! Mechanisms that draw a value from several words, and truncated Laplace.
//!
//! Compares a fill with its pieces and with values one at a time, released values with the noise, and bounded noise with its bounds.

use stairnoise::{
    Arete, DrawError, Gaussian, GeneralizedDiscreteLaplace, LatticeNoise, Mechanism, MechanismFill, MergedLaplace,
    MultiScaleDiscreteLaplace, TruncatedLaplace,
};

use super::input::Input;
use super::oracle::{float, int, log2_of_power, rounded};

pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    match input.byte() % 7 {
        0 => {
            let (eps, sensitivity) = (input.parameter(), input.parameter());
            let delta = (-f64::from(input.byte())).exp2();
            let bounds = [-1.0, 1.0].map(|sign| {
                let distance = sensitivity * (1.0 + f64::from(input.byte()));
                input.byte().is_multiple_of(3).then_some(sign * distance)
            });
            if let Ok(mechanism) = TruncatedLaplace::new(eps, delta, sensitivity, bounds[0], bounds[1]) {
                let (below, above) = mechanism.bounds();
                let drawn = check(&mechanism, &mut input, 700, ONE_DRAW);
                for steps in drawn.map_or(vec![], |drawn| drawn.steps) {
                    assert!(
                        -i128::from(below) <= steps.into() && i128::from(steps) <= above.into(),
                        "{steps} of {mechanism:?}"
                    );
                }
            }
        }
        1 => {
            let eps: Vec<f64> = (0..=input.below(6)).map(|_| input.parameter()).collect();
            let sensitivity = input.parameter();
            let mut reach = 0.0;
            let breaks: Vec<f64> = eps[1..]
                .iter()
                .map(|_| {
                    reach += input.ordinary() * sensitivity;
                    reach
                })
                .collect();
            checked(MergedLaplace::new(&eps, &breaks, sensitivity), &mut input, 500);
        }
        2 => {
            let (beta, a) = (input.parameter(), input.parameter());
            let share = input.share();
            checked(GeneralizedDiscreteLaplace::new(beta, a, share), &mut input, 700);
        }
        3 => {
            let (eps, sensitivity) = (input.parameter(), f64::from(input.byte() % 40));
            let share = input.share();
            checked(MultiScaleDiscreteLaplace::new(eps, sensitivity, share), &mut input, 200);
        }
        4 => {
            let (alpha, theta) = (input.parameter(), input.parameter());
            let lam = theta * (f64::from(input.byte()) / 16.0 - 8.0).exp2();
            let share = input.share();
            checked(Arete::new(alpha, theta, lam, share), &mut input, 500);
        }
        5 => {
            let mut weights: Vec<f64> = (0..=2 * input.below(20)).map(|_| input.ordinary().abs()).collect();
            if let Some(hole) = weights.get_mut(usize::from(input.byte())) {
                *hole = 0.0;
            }
            let ratio = input.byte().is_multiple_of(2).then(|| f64::from(input.byte()) / 256.0);
            let granularity = [1.0, 0.25, 1024.0, 3.0][input.below(4)];
            let steps = f64::from(input.byte() % 8);
            checked(
                LatticeNoise::new(&weights, ratio, granularity, steps * granularity),
                &mut input,
                700,
            );
        }
        _ => {
            let sigma2 = input.parameter();
            let log2_granularity = [0, -1074, 960, -1075, 961, -40][input.below(6)];
            if let Ok(mechanism) = Gaussian::scaled(sigma2, log2_granularity) {
                check(&mechanism, &mut input, 1200, ONE_DRAW);
            }
        }
    }
}

fn checked<L: Mechanism, E>(mechanism: Result<L, E>, input: &mut Input<'_>, most: usize) {
    if let Ok(mechanism) = mechanism {
        check(&mechanism, input, most, SEVERAL_DRAWS);
    }
}

/// The base-2 logarithm of a fill's number of indices, and the error for other indices: for mechanisms with one draw a value, and for others.
pub const ONE_DRAW: (u32, DrawError) = (62, DrawError::IndexTooLarge);
const SEVERAL_DRAWS: (u32, DrawError) = (40, DrawError::StagedIndexTooLarge);

/// A part of fill 0 of a key, from an index on.
pub struct Drawn {
    pub steps: Vec<i64>,
    pub key: [u8; 32],
    pub start: u64,
}

/// Compares a fill of the mechanism with the same fill in other forms. Returns `None` if the fill is refused.
pub fn check<L: Mechanism>(
    mechanism: &L,
    input: &mut Input<'_>,
    most: usize,
    (log2_end, refusal): (u32, DrawError),
) -> Option<Drawn> {
    let log2_granularity = log2_of_power(mechanism.granularity());
    assert_eq!(log2_granularity, mechanism.log2_granularity());
    let (mut generator, key) = input.generator();
    let start = input.start(log2_end);
    let n = input.count(most);
    let mut view = generator.at(start).expect("no fork");
    let fits = start + n as u64 <= 1 << log2_end;
    let Ok(fill) = mechanism.next_fill(&mut view, n) else {
        assert!(!fits);
        let mut untouched = vec![7.0; n];
        let refused = mechanism.fill(&mut view, &mut untouched);
        assert_eq!(refused, Err(refusal));
        assert!(untouched.iter().all(|value| *value == 7.0));
        return None;
    };
    assert!(fits);
    let mut steps = vec![0_i64; n];
    fill.write(0, &mut steps).unwrap();
    pieces(mechanism, &fill, &steps, &input.cuts(n));
    let mut floats = vec![0.0_f64; n];
    fill.write(0, &mut floats).unwrap();
    let answers: Vec<f64> = (0..n)
        .map(|i| if i % 8 == 0 { input.number() } else { i as f64 / 3.0 })
        .collect();
    let fits = |answer: &f64| answer.is_finite() && rounded(*answer, log2_granularity).unsigned_abs() < 1 << 126;
    if let Some(index) = answers.iter().position(|answer| !fits(answer)) {
        let refused = mechanism.release(&mut generator, &answers, &mut vec![0.0; n]);
        let rule: fn(usize) -> DrawError = if answers[index].is_finite() {
            DrawError::OffLattice
        } else {
            DrawError::NotFinite
        };
        assert_eq!(refused, Err(rule(index)));
    } else {
        let whole = log2_granularity == 0;
        let mut released = (vec![0.0_f64; n], vec![0_i64; n]);
        fill.release(0, &answers, &mut released.0).unwrap();
        if whole {
            fill.release(0, &answers, &mut released.1).unwrap();
        }
        for (i, &answer) in answers.iter().enumerate() {
            let sum = rounded(answer, log2_granularity) + i128::from(steps[i]);
            assert_eq!(
                released.0[i],
                float(sum, log2_granularity),
                "{answer} + {} of {mechanism:?}",
                steps[i]
            );
            let integer = if whole { int(sum) } else { 0 };
            assert_eq!(released.1[i], integer, "{answer} + {} of {mechanism:?}", steps[i]);
        }
    }
    for (i, &value) in floats.iter().enumerate() {
        assert_eq!(
            value,
            float(steps[i].into(), log2_granularity),
            "{} steps of {mechanism:?}",
            steps[i]
        );
    }
    Some(Drawn { steps, key, start })
}

pub fn pieces<L: Mechanism>(mechanism: &L, fill: &MechanismFill<'_>, steps: &[i64], cuts: &[usize]) {
    for ends in cuts.windows(2) {
        let mut piece = vec![0_i64; ends[1] - ends[0]];
        fill.write(ends[0] as u64, &mut piece).unwrap();
        assert_eq!(piece, steps[ends[0]..ends[1]], "{ends:?} of {} of {mechanism:?}", steps.len());
    }
    for &i in cuts.iter().filter(|i| **i < steps.len()) {
        let mut one = [0_i64];
        fill.write(i as u64, &mut one).unwrap();
        assert_eq!(one[0], steps[i], "value {i} of {} of {mechanism:?}", steps.len());
    }
}
