//! Partition selection with any counts.
//!
//! Compares refused counts, and compares shown partitions and released counts, by kept thresholds or by coins, with the coins of the contract's
//! words.

use stairnoise::exact::Growth;
use stairnoise::{DrawError, PartitionSelection, Unread};

use super::input::Input;
use super::oracle::Words;

/// Tables with so many thresholds take long to make; longer ones are not kept.
const SLOW: std::ops::Range<u64> = if cfg!(miri) { 64..u64::MAX } else { 1 << 16..1 << 22 };

pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (eps, delta) = (input.parameter(), (-f64::from(input.byte()) / 2.0).exp2());
    let partitions = input.word() >> input.below(64);
    let Ok(mechanism) = PartitionSelection::new(eps, delta, partitions) else {
        return;
    };
    assert!(mechanism.eps() * partitions as f64 <= eps * 1.000_001 && mechanism.delta() <= delta);
    if SLOW.contains(&mechanism.certain()) {
        return;
    }
    let n = input.count(if mechanism.certain() < SLOW.start { 600 } else { 12 });
    let counts: Vec<i64> = (0..n)
        .map(|_| match input.byte() {
            0 => input.word() as i64,
            1..=15 => input.word() as i64 & i64::MAX,
            16..=31 => i64::from(input.byte()),
            near => (mechanism.median() + u64::from(near)).saturating_sub(input.byte().into()) as i64,
        })
        .collect();
    let refused = counts.iter().position(|count| *count < 0);
    assert_eq!(mechanism.refused(Unread::of(&counts)), refused);
    let (mut generator, key) = input.generator();
    let mut view = generator.at(0).expect("no fork");
    let (mut shown, mut noisy) = (vec![false; n], vec![-1; n]);
    let done = mechanism.select(&mut generator, &counts, &mut shown);
    assert_eq!(mechanism.release(&mut view, &counts, &mut noisy), done);
    assert_eq!(done, refused.map_or(Ok(()), |index| Err(DrawError::Count(index))));
    assert_eq!(
        (generator.next_fill(), view.next_fill()),
        if done.is_ok() { (1, 1) } else { (0, 0) }
    );
    if done.is_err() {
        assert!(shown.iter().all(|shown| !shown) && noisy.iter().all(|value| *value == -1));
        return;
    }
    let growth = Growth::new(mechanism.eps(), mechanism.delta());
    let words = Words::new(&key, 0);
    for (i, (&count, (&shown, &value))) in (0..).zip(counts.iter().zip(shown.iter().zip(&noisy))) {
        let coin = |n: i64| growth.contains(n as u64, words.word(i), &mut |e| words.extension(i, e));
        assert_eq!((shown, value != 0), (coin(count), shown), "{count} of {mechanism:?}");
        if shown && value < i64::MAX {
            let needed = count - (value - mechanism.median() as i64);
            assert!(coin(needed) && !coin(needed - 1), "{value} for {count} of {mechanism:?}");
        }
    }
}
