//! Evidence: words beside the edges between magnitudes, where an error of the tolerance would show.

use super::super::arithmetic::BLOCK;
use super::super::fill::Kernel;
use super::super::lane::SIGN;
use super::super::per_element::{BlockParameters, DrawnBlock, Family};
use super::super::tier::Tier;
use crate::exact;
use crate::lattice::value::Scaling;
use crate::mechanism::one_word::{Kind, OneWordMechanism, Shape};
use crate::testing::{long, random::Random};

/// The last word whose magnitude, followed by zeros, is at least that of `word`: magnitudes fall as words grow.
fn last_of(magnitude: impl Fn(u64, u64) -> u64, word: u64) -> u64 {
    let level = magnitude(word, 0);
    let (mut least, mut most) = (word, !SIGN);
    while least < most {
        let middle = least.midpoint(most) + 1;
        if magnitude(middle, 0) >= level {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    least
}

/// Words at distances 0, 1, 2, 4, … on either side of an edge.
fn beside(edge: u64) -> [u64; BLOCK] {
    core::array::from_fn(|i| {
        let distance = (1_u64 << (i / 2)) >> 1;
        let word = if i % 2 == 0 {
            edge.saturating_sub(distance)
        } else {
            edge.saturating_add(distance)
        };
        word.min(!SIGN)
    })
}

/// On every tier, with constants made in the lanes and with those of one distribution.
fn check(tiers: &[Tier], kind: Kind, family: Family, eps: f64, sensitivity: f64, shape: Shape, random: &mut Random) {
    let Ok((distribution, lattice)) = OneWordMechanism::place(kind, eps, sensitivity, shape) else {
        return;
    };
    let magnitude = |word: u64, rest: u64| exact::magnitude(&distribution, word, &mut |_: usize| rest);
    let number = if let Shape::Number(number) = shape { number } else { 0.0 };
    let parameters = BlockParameters {
        eps: &[eps; BLOCK],
        sensitivity: &[sensitivity; BLOCK],
        shape: &[number; BLOCK],
    };
    let word = random.word() & !SIGN;
    // The least words too, where logarithms are of zero and stairs are highest.
    let blocks = [beside(last_of(magnitude, word)), core::array::from_fn(|i| i as u64)];
    for words in blocks {
        // What a word decides whatever follows it.
        let decided = words.map(|word| Some(magnitude(word, 0)).filter(|least| *least == magnitude(word, u64::MAX)));
        for &tier in tiers {
            let right = |i: usize, steps: f64| {
                let decided = decided[i].map(|magnitude| magnitude as f64);
                assert_eq!(Some(steps), decided, "{tier:?} {distribution:?} {:#x}", words[i]);
            };
            // A distribution has a first level from its second fill on.
            let kernel = Kernel::new(&distribution);
            for kernel in [&kernel, &kernel, &Kernel::quick(&distribution)] {
                let (mut steps, mut sure) = ([0.0_f64; BLOCK], [true; BLOCK]);
                kernel.fill(tier, &words, Scaling::WHOLE, &mut steps, |i, _| sure[i] = false);
                (0..BLOCK).filter(|i| sure[*i]).for_each(|i| right(i, steps[i]));
            }
            // Each of them among words that leave the verdict on the block to it.
            for i in 0..BLOCK {
                let (mut steps, mut sure) = ([0.0_f64; BLOCK], true);
                let mut block = [word; BLOCK];
                block[i] = words[i];
                kernel.fill(tier, &block, Scaling::WHOLE, &mut steps, |k, _| sure &= k != i);
                if sure {
                    right(i, steps[i]);
                }
            }
            let mut drawn = DrawnBlock::NOTHING;
            drawn.draw(tier, family, &parameters, &words);
            for i in (0..BLOCK).filter(|i| !drawn.steps[*i].is_nan()) {
                right(i, drawn.steps[i]);
                assert_eq!(drawn.granularity[i], lattice.granularity());
            }
        }
    }
}

#[test]
fn words_beside_an_edge_are_right_or_not_sure() {
    let random = &mut Random(1);
    let tiers = &Tier::tested();
    for _ in 0..if long() { 400 } else { 100 } {
        let eps = 2.0_f64.powf(random.next() * 30.0 - 20.5);
        let delta = 2.0_f64.powf(random.next() * 40.0 - 20.0);
        let whole = 2.0_f64.powf(random.next() * 30.0).floor();
        let gamma = 1.0 - random.next();
        let r = (gamma * whole).ceil();
        check(tiers, Kind::Laplace, Family::Laplace, eps, delta, Shape::L1, random);
        check(
            tiers,
            Kind::DiscreteLaplace,
            Family::DiscreteLaplace,
            eps,
            whole,
            Shape::L1,
            random,
        );
        check(tiers, Kind::Staircase, Family::StaircaseL1, eps, delta, Shape::L1, random);
        check(
            tiers,
            Kind::Staircase,
            Family::StaircaseNumber,
            eps,
            delta,
            Shape::Number(gamma),
            random,
        );
        check(
            tiers,
            Kind::DiscreteStaircase,
            Family::DiscreteStaircaseL1,
            eps,
            whole,
            Shape::L1,
            random,
        );
        check(
            tiers,
            Kind::DiscreteStaircase,
            Family::DiscreteStaircaseNumber,
            eps,
            whole,
            Shape::Number(r),
            random,
        );
    }
}
