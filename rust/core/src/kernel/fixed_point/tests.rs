//! Evidence: the exact path. What the fixed-point step is sure of is what the exact path says, whatever bits follow the word; and the step is sure
//! of nearly all words.

use super::*;
use crate::exact;
use crate::kernel::float::U;
use crate::mechanism::one_word::{Kind, OneWordMechanism, Shape};
use crate::testing::random::Random;

const WORDS: u64 = 1 << 63;

/// The distribution of a kind at random, so wide that there is a step.
fn wide(kind: Kind, random: &mut Random) -> IntegerDistribution {
    loop {
        let eps = random.power(1e-12, 2e-3);
        let sensitivity = match kind {
            Kind::Laplace | Kind::Staircase => random.power(1e-3, 1e3),
            Kind::DiscreteLaplace | Kind::DiscreteStaircase => random.power(1.0, 1e13).round(),
        };
        let shape = if kind == Kind::Staircase {
            Shape::Number(1.0 - random.next())
        } else {
            Shape::L1
        };
        if let Ok((distribution, _)) = OneWordMechanism::place(kind, eps, sensitivity, shape)
            && FixedPoint::new(&distribution).is_some()
        {
            return distribution;
        }
    }
}

/// The distribution on −A … A.
fn truncated(eps: f64, sensitivity_steps: u64, r: u64, delta: f64) -> IntegerDistribution {
    let most = exact::most_truncated_staircase(&Staircase::new(eps, sensitivity_steps, r), delta);
    Staircase::new(eps, sensitivity_steps, r).truncated(most)
}

/// The geometric distribution from −a to b, with ends so many times D from 0.
fn sided(eps: f64, sensitivity_steps: u64, ends: [f64; 2]) -> IntegerDistribution {
    let [below, above] = ends.map(|end| (end * sensitivity_steps as f64).min(1e18) as u64);
    IntegerDistribution::TruncatedGeometric(exact::TruncatedGeometric {
        eps,
        sensitivity_steps,
        below,
        above,
    })
}

/// The last word with the X of `word`, or a larger one.
fn last_of(distribution: &IntegerDistribution, word: u64) -> u64 {
    last_at(distribution, exact::steps(distribution, word, &mut |_: usize| 0), word)
}

/// The last word from `least` on with that X, or a larger one: X falls as words without a sign grow.
fn last_at(distribution: &IntegerDistribution, level: i64, mut least: u64) -> u64 {
    let mut most = WORDS - 1;
    while least < most {
        let middle = least.midpoint(most) + 1;
        if exact::steps(distribution, middle, &mut |_: usize| 0) >= level {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    least
}

/// Whether it is sure, and then right.
fn sure(step: &FixedPoint, distribution: &IntegerDistribution, word: u64) -> bool {
    let Some(steps) = step.decide(word) else {
        return false;
    };
    let ends = [0, u64::MAX].map(|rest| exact::steps(distribution, word, &mut |_: usize| rest));
    assert_eq!(ends, [steps; 2], "{distribution:?} {word:#x}");
    true
}

const KINDS: [Kind; 4] = [Kind::Laplace, Kind::DiscreteLaplace, Kind::Staircase, Kind::DiscreteStaircase];

#[test]
fn words_beside_an_edge_are_right_or_not_sure() {
    let (mut random, mut decided) = (Random(6), 0);
    for kind in KINDS {
        for _ in 0..60 {
            let mut distribution = wide(kind, &mut random);
            if let IntegerDistribution::Geometric { eps, sensitivity_steps } = distribution
                && random.next() < 0.3
            {
                distribution = IntegerDistribution::OneSided { eps, sensitivity_steps };
            }
            if let IntegerDistribution::Staircase(Staircase {
                eps,
                sensitivity_steps,
                r,
            }) = distribution
                && random.next() < 0.5
            {
                distribution = truncated(eps, sensitivity_steps, r, random.power(1e-38, 0.5));
            }
            if let IntegerDistribution::Geometric { eps, sensitivity_steps } = distribution
                && random.next() < 0.3
            {
                let ends = [(); 2].map(|()| random.power(1.0, 40.0 / eps));
                distribution = sided(eps, sensitivity_steps, ends);
            }
            let step = FixedPoint::new(&distribution).unwrap();
            let edge = last_of(&distribution, random.word() >> 1 >> (random.word() % 20));
            let distances = (0..50).map(|i| 1_u64 << i >> 1);
            let beside = distances.flat_map(|d| [edge.saturating_sub(d), edge.saturating_add(d).min(WORDS - 1)]);
            decided += beside.filter(|word| sure(&step, &distribution, *word)).count();
            // The least words, and those of the least noise.
            (0..20).for_each(|word| _ = sure(&step, &distribution, word));
            (1..20).for_each(|i| _ = sure(&step, &distribution, WORDS - i));
        }
    }
    assert!(decided > 10_000, "{decided}");
}

/// Every word whose leading 15 bits are given, followed by the same 48.
#[test]
fn every_leading_part_of_a_word_is_right_or_not_sure() {
    for distribution in [
        IntegerDistribution::Geometric {
            eps: 3e-6,
            sensitivity_steps: 1 << 32,
        },
        IntegerDistribution::Staircase(Staircase::new(1e-4, 5 << 30, 3 << 29)),
        truncated(1e-4, 5 << 30, 3 << 29, 1e-6),
        sided(3e-6, 1 << 32, [1e6, 7e6]),
        sided(3e-6, 1 << 32, [2.0, 1.0]),
    ] {
        let step = FixedPoint::new(&distribution).unwrap();
        let decided = (0..1_u64 << 15)
            .filter(|part| sure(&step, &distribution, part << 48 | 0x5a5a_1234_8765))
            .count();
        assert!(decided > (1 << 15) - 400, "{decided} of {distribution:?}");
    }
}

/// False alarms: none, the words are fixed.
#[test]
fn few_words_are_left_in_doubt() {
    let mut random = Random(7);
    for (distribution, most) in [
        (
            IntegerDistribution::Geometric {
                eps: 3e-6,
                sensitivity_steps: 1 << 32,
            },
            0.003,
        ),
        (
            IntegerDistribution::OneSided {
                eps: 3e-6,
                sensitivity_steps: 1 << 32,
            },
            0.003,
        ),
        (
            IntegerDistribution::Geometric {
                eps: 1e-9,
                sensitivity_steps: 1 << 24,
            },
            0.02,
        ),
        (IntegerDistribution::Staircase(Staircase::new(1e-4, 5 << 30, 3 << 29)), 0.001),
        (IntegerDistribution::Staircase(Staircase::new(1e-9, 1 << 24, 5 << 20)), 0.02),
        (truncated(1e-4, 5 << 30, 3 << 29, 1e-6), 0.001),
        (sided(3e-6, 1 << 32, [1e6, 7e6]), 0.006),
        (sided(3e-6, 1 << 32, [2.0, 1.0]), 0.006),
        (truncated(1e-9, 1 << 24, 5 << 20, 0.5), 0.02),
    ] {
        let step = FixedPoint::new(&distribution).unwrap();
        let undecided = (0..100_000).filter(|_| step.decide(random.word() >> 1).is_none()).count();
        println!("{distribution:?}: {undecided}");
        assert!(undecided as f64 <= 1e5 * most, "{undecided} of {distribution:?}");
    }
}

/// Evidence: the definition. At an edge the logarithm's own error leaves both sides undecided, where the depth below a stair's outermost step adds
/// none.
#[test]
fn logarithms_at_an_edge_are_not_sure() {
    let (sensitivity_steps, r) = (1 << 24, 5 << 20);
    let stairs = FixedStaircase::new(1e-9, sensitivity_steps, r);
    let place = |minus_ln| stairs.place(&Logarithm { minus_ln, zeros: 0 });
    let outermost = r - 1 + 1_000_000_000 * sensitivity_steps;
    let (mut inside, mut outside) = (0, 2_u128 << BITS);
    while outside - inside > 1 {
        let middle = inside.midpoint(outside);
        *(if place(middle).0 < outermost {
            &mut inside
        } else {
            &mut outside
        }) = middle;
    }
    assert_eq!([inside, outside].map(place), [(outermost - 1, false), (outermost, false)]);
}

/// The errors named in the table of `FixedStaircase`, added up.
#[test]
fn staircase_tolerance() {
    // The Taylor polynomial at its largest argument, a Horner step of three roundings each.
    let w = 2.0 * MOST_EPS;
    let left_out = w.powi(6) / 5040.0;
    let polynomial = (1..=5).fold(0.0, |error, _| (error + 3.5 * U) * w / 2.0 + U);
    let total = 5.5 * U + 2.0 * U + left_out + polynomial + 2.0 * U;
    assert!(total <= PER_Y, "{} of {}", total / U, PER_Y / U);
    // e^w − 1 magnifies an error of w by e^w, which is below 2.
    assert!(w.exp() < 2.0);
}

/// Evidence: `f64`s, good to 2^−45 of C.
#[test]
fn the_offset_is_a_logarithm() {
    let mut random = Random(8);
    for _ in 0..500 {
        let distribution = wide(Kind::Staircase, &mut random);
        let IntegerDistribution::Staircase(Staircase {
            eps,
            sensitivity_steps,
            r,
        }) = distribution
        else {
            unreachable!()
        };
        let Some(FixedPoint::Staircase(step)) = FixedPoint::new(&distribution) else {
            unreachable!()
        };
        let truth = ((r as f64 - 0.5) / sensitivity_steps as f64 * eps.exp_m1()).ln_1p();
        let computed = step.offset as f64 * power_of_two(-(BITS as i32));
        assert!(
            (computed / truth - 1.0).abs() <= 1e-13,
            "{distribution:?}: {computed:e} {truth:e}"
        );
    }
}

/// Where a stair ends, an error of J's quotient has up to 170 words taken for the stair before. Half of it are roundings that grow with J, half is
/// that of 1/ε: this ε has a large one. The steps that such words seem to have differ from theirs by one for a few words of each stair.
#[test]
fn words_beside_the_end_of_a_stair_are_right_or_not_sure() {
    let (eps, sensitivity_steps, r) = (0.003_874_172_871_859_349_4, 1_u64 << 45, 1_i64 << 44);
    let distribution = IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r.cast_unsigned()));
    let step = FixedPoint::new(&distribution).unwrap();
    let mut decided = 0;
    for stair in (960..=992).step_by(2) {
        let end = last_at(&distribution, r + stair * sensitivity_steps.cast_signed(), 0);
        decided += (end - 200..end + 20).filter(|word| sure(&step, &distribution, *word)).count();
    }
    assert!(decided > 1000, "{decided}");
}
