//! Releases of any answers by the four mechanisms.
//!
//! A release refuses different lengths, answers that are not finite or do not fit the lattice, and integers for a continuous mechanism; then it
//! draws and writes nothing. Otherwise every value is the rounded answer plus the noise, added in integers (contract, section 4).

use std::fmt::Debug;

use stairnoise::{Answer, DrawError, Generator, Mechanism, OneWordMechanism};

use super::input::Input;
use super::oracle::{True, float, int, log2_of_power, rounded};

pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let Some(mechanism) = input.mechanism() else { return };
    let n = input.count(150);
    let (mut generator, _) = input.generator();
    let places = if input.byte() == 0 { n + 1 } else { n };
    let g = mechanism.granularity();
    if input.flag() {
        let answers: Vec<f64> = (0..n)
            .map(|_| match input.byte() % 4 {
                0 => input.number(),
                1 => (f64::from(input.byte()) - 127.5) * g / 2.0,
                _ => input.ordinary(),
            })
            .collect();
        check(&mechanism, &mut generator, &answers, places, f64::is_finite);
    } else {
        let answers: Vec<i64> = (0..n)
            .map(|_| {
                if input.flag() {
                    input.word() as i64
                } else {
                    input.byte().into()
                }
            })
            .collect();
        check(&mechanism, &mut generator, &answers, places, |_| true);
    }
}

fn check<A: Answer + True + Debug>(
    mechanism: &OneWordMechanism,
    generator: &mut Generator,
    answers: &[A],
    places: usize,
    finite: impl Fn(A) -> bool,
) {
    let log2_granularity = log2_of_power(mechanism.granularity());
    let mut floats = vec![7.0; places];
    let mut whole = vec![7_i64; places];
    let mut noise = vec![0_i64; places];
    let first = generator.next_fill();
    let mut same = generator.at(0).expect("no fork");
    mechanism
        .next_fill(&mut same, places)
        .and_then(|fill| Ok(fill.write(0, &mut noise)?))
        .expect("noise");
    let mut view = generator.at(0).expect("no fork");
    let done = mechanism.release(generator, answers, &mut floats);
    let refused = |(index, &answer): (usize, &A)| {
        if !finite(answer) {
            Some(DrawError::NotFinite(index))
        } else if rounded(answer, log2_granularity).unsigned_abs() >= 1 << 126 {
            Some(DrawError::OffLattice(index))
        } else {
            None
        }
    };
    let done_whole = mechanism.release(&mut view, answers, &mut whole);
    let equal = answers.len() == places;
    if equal && log2_granularity != 0 {
        assert_eq!(done_whole, Err(DrawError::NotWhole));
    } else {
        assert_eq!(done, done_whole);
    }
    let expected = if equal {
        answers.iter().enumerate().find_map(refused).map_or(Ok(()), Err)
    } else {
        Err(DrawError::Lengths {
            answers: answers.len(),
            out: places,
        })
    };
    assert_eq!(done, expected);
    assert_eq!(generator.next_fill(), first + u64::from(done.is_ok()));
    if done.is_err() {
        assert!(floats.iter().all(|value| *value == 7.0) && whole.iter().all(|value| *value == 7));
        return;
    }
    for (i, &answer) in answers.iter().enumerate() {
        let sum = rounded(answer, log2_granularity) + i128::from(noise[i]);
        assert_eq!(
            floats[i],
            float(sum, log2_granularity),
            "{answer:?} + {} of {mechanism:?}",
            noise[i]
        );
        let integer = if log2_granularity == 0 { int(sum) } else { 7 };
        assert_eq!(whole[i], integer, "{answer:?} + {} of {mechanism:?}", noise[i]);
    }
}
