//! Selections from any rows of costs.
//!
//! Compares refused costs, rows drawn together with rows drawn one at a time and with kept thresholds, and the selected candidate with the exact
//! path's, from the contract's words and stairs. For several candidates it compares only parts of a fill.

use std::collections::BTreeMap;

use stairnoise::exact::{Choice, Exponent};
use stairnoise::{DrawError, Fill, Selection};

use super::input::Input;
use super::oracle::Words;

pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (eps, sensitivity) = (input.parameter(), input.parameter());
    let (gamma, monotonic, stairs) = (f64::from(input.byte()) / 255.0, input.flag(), input.flag());
    // The exponential mechanism has no γ.
    let flips = !stairs && gamma < 0.25;
    let made = if stairs {
        Selection::staircase(eps, sensitivity, gamma, monotonic)
    } else if flips {
        Selection::permute_and_flip(eps, sensitivity, monotonic)
    } else {
        Selection::exponential(eps, sensitivity, monotonic)
    };
    let Ok(mechanism) = made else { return };
    let (rows, n) = (input.below(12), input.below(40));
    let costs: Vec<f64> = (0..rows * n)
        .map(|_| match input.byte() {
            0..=8 => input.number(),
            9..=63 => sensitivity * f64::from(input.byte() % 8) / 4.0,
            _ => input.ordinary() * sensitivity,
        })
        .collect();
    let bad = |cost: &f64| cost.is_nan() || *cost == f64::NEG_INFINITY || stairs && *cost < 0.0;
    let refused = costs.iter().position(bad);
    assert_eq!(mechanism.refused(&costs), refused);
    let empty = costs
        .chunks(n.max(1))
        .position(|row| row.iter().all(|cost| *cost == f64::INFINITY));
    let (mut generator, key) = input.generator();
    let mut view = generator.at(0).expect("no fork");
    let mut selected = vec![-1; rows];
    let done = mechanism.select(&mut generator, &costs, &mut selected);
    match (done, refused) {
        (Err(DrawError::Cost(index)), Some(first)) => assert_eq!(index, first),
        (Err(DrawError::Candidates { .. }), _) => assert!(rows > 0 && n == 0),
        (Err(DrawError::TooFewFinite { row, .. }), None) => assert_eq!(Some(row), empty),
        (Ok(()), None) => assert!(rows == 0 || n > 0 && empty.is_none()),
        other => panic!("{other:?} for {costs:?}"),
    }
    if done.is_err() {
        assert!(selected.iter().all(|index| *index == -1));
        assert_eq!(generator.next_fill(), 0);
        return;
    }
    let fill = view.next(rows).expect("a fill");
    several(&mechanism, &fill, &costs, n.max(1));
    let words = Words::new(&key, 0);
    for (i, row) in costs.chunks(n.max(1)).enumerate() {
        let exact = |i: u64| {
            let choice = choice(&mechanism, (eps, sensitivity, monotonic, flips), row);
            choice.index(words.word(i), &mut |e| words.extension(i, e), 0).unwrap() as i64
        };
        assert_eq!(selected[i], exact(i as u64), "row {i} {row:?} of {mechanism:?}");
        let mut one = [-1];
        mechanism
            .selector(false)
            .write(&fill, i as u64, std::iter::once(row), &mut one)
            .unwrap();
        assert_eq!(one[0], selected[i]);
        let mut often = [-1; 9];
        let mut again = generator.at(0).expect("no fork");
        mechanism.select_often(&mut again, row, &mut often).expect("good costs");
        let words = Words::new(&key, 1);
        let choice = choice(&mechanism, (eps, sensitivity, monotonic, flips), row);
        for (i, index) in (0..).zip(often) {
            let exact = choice.index(words.word(i), &mut |e| words.extension(i, e), 0).unwrap() as i64;
            assert_eq!(index, exact, "value {i} of {row:?} of {mechanism:?}");
        }
    }
}

/// Compares several candidates of every row, drawn together and one value at a time.
fn several(mechanism: &Selection, fill: &Fill, costs: &[f64], n: usize) {
    let rows: Vec<&[f64]> = costs.chunks(n).collect();
    let finite = |row: &&[f64]| row.iter().filter(|cost| **cost < f64::INFINITY).count();
    let k = rows.iter().map(finite).min().unwrap_or(1).min(5);
    let mut all = vec![-1; rows.len() * k];
    mechanism.top_selector(k).write_top(fill, 0, |i| rows[i], &mut all).unwrap();
    for (i, index) in all.iter().enumerate() {
        let mut one = [-1];
        mechanism
            .top_selector(k)
            .write_top(fill, i as u64, |i| rows[i], &mut one)
            .unwrap();
        assert_eq!(one[0], *index);
        assert!(rows[i / k][*index as usize] < f64::INFINITY);
        assert!(!all[i - i % k..i].contains(index), "{all:?}");
    }
}

/// The row for exact draws, by the formulas of the contract, section 10, with the crate's stairs.
fn choice(mechanism: &Selection, (eps, sensitivity, monotonic, flips): (f64, f64, bool, bool), row: &[f64]) -> Choice {
    let halvings = i32::from(!monotonic);
    let least = row.iter().copied().fold(f64::INFINITY, f64::min);
    let mut known = BTreeMap::new();
    let mut exponents = Vec::new();
    let classes: Vec<usize> = row
        .iter()
        .map(|&cost| {
            if cost == f64::INFINITY {
                return usize::MAX;
            }
            let stair = mechanism.stair(cost);
            let key = stair.unwrap_or((cost + 0.0).to_bits());
            *known.entry(key).or_insert_with(|| {
                exponents.push(match (stair, mechanism.stair(least)) {
                    (Some(stair), Some(lowest)) => Exponent::multiple(eps, stair - lowest, halvings),
                    _ => Exponent::quotient(eps, cost, least, sensitivity, halvings),
                });
                exponents.len() - 1
            })
        })
        .collect();
    Choice::new(flips, classes, Vec::new(), exponents).unwrap()
}
