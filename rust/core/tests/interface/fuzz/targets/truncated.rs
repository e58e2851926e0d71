//! Truncated staircases, with any bounds.
//!
//! Compares the middle and the bounds of a mechanism with the contract's rule (section 14), a fill with its pieces, and some values with those that
//! the exact path makes from the contract's words.

use stairnoise::exact::{Staircase, magnitude};
use stairnoise::{AnyMechanism, Mechanism, TruncatedDiscreteStaircase, TruncatedStaircase};

use super::input::Input;
use super::oracle::Words;
use super::staged::{Drawn, ONE_DRAW, check};

pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (eps, delta) = (input.parameter(), (-f64::from(input.byte()) / 2.0).exp2());
    if input.flag() {
        let sensitivity = input.word() >> input.below(64);
        let r = 1 + input.word() % sensitivity.max(1);
        let [lower, upper] = [(); 2].map(|()| input.flag().then(|| input.word() as i64 >> input.below(64)));
        if let Ok(mechanism) = TruncatedDiscreteStaircase::new(eps, delta, sensitivity, r, lower, upper) {
            assert_eq!(mechanism.lengths()[0], r);
            drawn(
                &mechanism,
                eps,
                mechanism.bounds(),
                [lower, upper].map(|bound| bound.map(i128::from)),
                &mut input,
            );
        }
    } else {
        let (sensitivity, gamma) = (input.parameter(), f64::from(u32::from(input.byte()) + 1) / 256.0);
        let [lower, upper] = [(); 2].map(|()| input.flag().then(|| input.number()));
        if let Ok(mechanism) = TruncatedStaircase::new(eps, delta, sensitivity, gamma, lower, upper) {
            let g = mechanism.granularity();
            // The bound is below 2⁶¹, so an `i128` holds it.
            let inside = [lower.map(|bound| (bound / g).ceil()), upper.map(|bound| (bound / g).floor())];
            // A quotient below the smallest float is not zero, and must not be rounded to the integer 0.
            let up = |bound: Option<f64>| bound.is_some_and(|bound| bound > 0.0 && bound / g == 0.0);
            let down = |bound: Option<f64>| bound.is_some_and(|bound| bound < 0.0 && bound / g == 0.0);
            let steps = [
                inside[0].map(|steps| steps as i128 + i128::from(up(lower))),
                inside[1].map(|steps| steps as i128 - i128::from(down(upper))),
            ];
            drawn(&mechanism, eps, mechanism.bounds(), steps, &mut input);
        }
    }
}

fn drawn(mechanism: &impl Mechanism, eps: f64, bounds: (i64, i64), [lower, upper]: [Option<i128>; 2], input: &mut Input<'_>) {
    let [r, most, above, below] = mechanism.lengths() else {
        panic!("{mechanism:?}")
    };
    let (end, centre) = (i128::from(*most), i128::from(*above) - i128::from(*below));
    let least = lower.map_or(i128::MIN, |lower| lower + end);
    assert_eq!(
        centre,
        0.clamp(least, upper.map_or(i128::MAX, |upper| upper - end)),
        "{mechanism:?}"
    );
    assert_eq!(
        (bounds.0.into(), bounds.1.into()),
        (centre - end, centre + end),
        "{mechanism:?}"
    );
    let Some(Drawn { steps, key, start }) = check(mechanism, input, 1100, ONE_DRAW) else {
        return;
    };
    let integers = Staircase::new(eps, mechanism.sensitivity_steps(), *r).truncated(*most);
    let words = Words::new(&key, 0);
    for _ in 0..12.min(steps.len()) {
        let i = input.below(steps.len());
        let (index, word) = (start + i as u64, words.word(start + i as u64));
        let magnitude = i128::from(magnitude(&integers, word & !(1 << 63), &mut |e| words.extension(index, e)));
        let expected = centre + if word >> 63 == 1 { -magnitude } else { magnitude };
        assert_eq!(i128::from(steps[i]), expected, "value {i} from {start} of {mechanism:?}");
    }
}
