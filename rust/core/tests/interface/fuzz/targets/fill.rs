//! Fills of the four mechanisms, with any key, number, start and length.
//!
//! Compares a fill with its pieces, with other types and with several threads' output, and some values with those that the exact path makes from
//! the contract's words.

use stairnoise::{DrawError, Fill, Mechanism, OneWordMechanism, Value};

use super::input::Input;
use super::oracle::{Words, float, int, log2_of_power};

const LAST: u64 = 1 << 62;

pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let Some(mechanism) = input.mechanism() else { return };
    let (mut generator, key) = input.generator();
    for _ in 0..input.below(3) {
        generator.next(0).expect("an empty fill");
    }
    let number = generator.next_fill();
    let start = input.start(62);
    let n = input.count(1100);
    let mut view = generator.at(start).expect("no fork");
    let fill = match view.next(n) {
        Ok(fill) => fill,
        Err(error) => {
            assert_eq!(error, DrawError::IndexTooLarge);
            assert!(start + n as u64 > LAST);
            assert_eq!(view.next_fill(), number);
            return;
        }
    };
    assert!(start + n as u64 <= LAST);
    let cuts = input.cuts(n);
    let steps = same_in_pieces::<i64>(&mechanism, &fill, n, &cuts);
    let narrow = same_in_pieces::<i32>(&mechanism, &fill, n, &cuts);
    let floats = same_in_pieces::<f64>(&mechanism, &fill, n, &cuts);
    let short = same_in_pieces::<f32>(&mechanism, &fill, n, &cuts);
    let log2_granularity = log2_of_power(mechanism.granularity());
    for (i, &value) in floats.iter().enumerate() {
        assert!(value.is_finite() && value.to_bits() != (-0.0_f64).to_bits());
        assert!(short[i].is_finite() && short[i].to_bits() != (-0.0_f32).to_bits());
        assert_eq!(narrow[i], steps[i].clamp(i32::MIN.into(), i32::MAX.into()) as i32);
    }
    let words = Words::new(&key, number);
    let mut stream = vec![0; n];
    fill.keystream(0, &mut stream);
    for _ in 0..12.min(n) {
        let i = input.below(n);
        assert_eq!(stream[i], words.word(start + i as u64));
        let expected = words.steps(&mechanism, start + i as u64);
        assert_eq!(steps[i], int(expected.into()), "value {i} from {start} of {mechanism:?}");
        assert_eq!(
            floats[i],
            float(expected.into(), log2_granularity),
            "value {i} from {start} of {mechanism:?}"
        );
    }
    let mut again = vec![0.0; n];
    let mut view = generator.at(start).expect("no fork");
    mechanism.fill_parallel(&mut view, &mut again, 2).expect("the same fill");
    assert_eq!(again, floats);
}

fn same_in_pieces<T: Value + PartialEq + std::fmt::Debug>(
    mechanism: &OneWordMechanism,
    fill: &Fill,
    n: usize,
    cuts: &[usize],
) -> Vec<T> {
    let mut whole = vec![T::default(); n];
    mechanism.write(fill, 0, &mut whole);
    for ends in cuts.windows(2) {
        let mut piece = vec![T::default(); ends[1] - ends[0]];
        mechanism.write(fill, ends[0] as u64, &mut piece);
        assert_eq!(piece, whole[ends[0]..ends[1]], "{ends:?} of {n} of {mechanism:?}");
    }
    whole
}
