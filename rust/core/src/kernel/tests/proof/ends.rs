//! The ends of what words and parameters can be: splits and remainders are exact there, and nothing wrong is accepted.

use super::{LONGEST, SQRT_HALF};
use crate::exact::{self, IntegerDistribution, Staircase};
use crate::kernel::arithmetic::{Arithmetic, Fused, Separate};
use crate::kernel::fill::Kernel;
use crate::kernel::geometric::GeometricLane;
use crate::kernel::ladder::LadderLane;
use crate::kernel::lane::{Lane, MAX_SPAN};
use crate::kernel::mapped::MappedLane;
use crate::kernel::staircase::{self, StaircaseLane};
use crate::kernel::{canonical, elementary};
use crate::lattice::dyadic::power_of_two;

#[test]
fn words_split_into_exponent_and_significand() {
    for e in 0..=64_u64 {
        for offset in [0, 1, 1 << 51, (1 << 52) - 1] {
            let m = f64::from_bits(SQRT_HALF + offset);
            let x = m * power_of_two(e as i32);
            assert_eq!(elementary::split_ln(63.0, x), (63.0 - e as f64, (m - 1.0) / (m + 1.0)));
        }
    }
}

/// The fused remainder of an exact product is zero. ε·J stays below 76 on any stair that a word reaches: e^(εJ) ≤ e^ε·t/(2Dc)/v.
#[test]
fn the_exponent_of_a_stair_is_exact_in_its_high_part() {
    for k in -20..6 {
        for fraction in [
            0,
            1,
            (1 << 52) - 1,
            0x000a_aaaa_aaaa_aaaa,
            0x0005_5555_5555_5555,
            (1 << 27) - 1,
            1 << 27,
        ] {
            let eps = f64::from_bits(power_of_two(k).to_bits() | fraction);
            let high = f64::from_bits(eps.to_bits() & staircase::UPPER_PART);
            let low = eps - high;
            assert_eq!(high + low, eps);
            assert!((0.0..=power_of_two(-25) * high).contains(&low));
            let last = (76.0 / eps).ceil();
            for stair in [last, last - 1.0, (last / 3.0).floor()] {
                assert_eq!(stair.mul_add(high, -(stair * high)), 0.0, "{eps} {stair}");
            }
        }
    }
}

/// |X| ≤ κ·ℓ + β, and r + J·D with εJ ≤ ℓ + ε but for the rough logarithm's error.
#[test]
fn accepted_magnitudes_are_below_2_to_the_51() {
    assert!(MAX_SPAN * (LONGEST + 1.0) < power_of_two(51));
    assert!(MAX_SPAN * (LONGEST + 4.0) < power_of_two(51));
    for sensitivity_steps in [1, 1000, 1 << 25, (1 << 45) - 1] {
        for eps in [sensitivity_steps as f64 / MAX_SPAN * 1.01, 1.0, 30.0] {
            let lanes = [
                IntegerDistribution::Geometric { eps, sensitivity_steps },
                IntegerDistribution::OneSided { eps, sensitivity_steps },
                IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, sensitivity_steps)),
            ];
            for distribution in lanes {
                for word in 1..64 {
                    let answer = Kernel::new(&distribution).decide(word);
                    assert!(
                        answer.unwrap_or(0.0) < power_of_two(51),
                        "{distribution:?} {word}: {answer:?}"
                    );
                }
            }
        }
    }
}

fn refused<A: Arithmetic>(lane: &impl Lane, what: &dyn std::fmt::Debug) {
    let answer = lane.magnitude::<A>(0);
    assert!(!answer.1, "{what:?}: {answer:?}");
}

/// Where exponentials overflow and logarithms are of zero, a word is accepted only if the exact path says the same.
#[test]
fn nothing_wrong_is_accepted_at_the_ends() {
    let dense = (1..400).map(|i| f64::from(i) * 3.7);
    for eps in dense.chain([1e-300, 1e-20, 1e-7, 1e-3, 0.5, 700.0, 700.1, 1e4, 1e300, f64::MAX]) {
        for sensitivity_steps in [1, 1000, 1 << 33, 1 << 50] {
            for r in [1, sensitivity_steps] {
                let distribution = IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r));
                let lane = StaircaseLane::new(&Staircase::new(eps, sensitivity_steps, r), 63);
                refused::<Separate>(&lane, &distribution);
                refused::<Fused>(&lane, &distribution);
                refused::<Separate>(&LadderLane::<4>::new(&lane), &distribution);
                refused::<Separate>(&LadderLane::<8>::new(&lane), &distribution);
                refused::<Fused>(&LadderLane::<4>::new(&lane), &distribution);
                refused::<Fused>(&LadderLane::<8>::new(&lane), &distribution);
                agrees(&distribution);
            }
            let distribution = IntegerDistribution::Geometric { eps, sensitivity_steps };
            let lane = GeometricLane::new(eps, sensitivity_steps, 63);
            refused::<Separate>(&lane, &distribution);
            refused::<Fused>(&lane, &distribution);
            agrees(&distribution);
            agrees(&IntegerDistribution::OneSided { eps, sensitivity_steps });
        }
        for delta in [f64::from_bits(1), 1e-300, 1e-39, 1e-9, 0.3, 1.0_f64.next_down()] {
            if eps >= (-40.0_f64).exp2() {
                let most = exact::most_canonical(eps, delta);
                agrees(&IntegerDistribution::Canonical { eps, delta, most });
                let lane = MappedLane::new(canonical::map(eps, delta, 63), GeometricLane::mapped(eps, 63));
                agrees_on::<Separate>(&lane, &IntegerDistribution::Canonical { eps, delta, most });
                agrees_on::<Fused>(&lane, &IntegerDistribution::Canonical { eps, delta, most });
            }
        }
    }
}

const WORDS: [u64; 9] = [0, 1, 2, 3, 1000, 1 << 20, 1 << 40, 1 << 62, (1 << 63) - 1];

fn agrees_on<A: Arithmetic>(lane: &impl Lane, distribution: &IntegerDistribution) {
    for word in WORDS {
        let (magnitude, sure) = lane.magnitude::<A>(word);
        for rest in [0, u64::MAX] {
            let exact = exact::magnitude(distribution, word, &mut |_: usize| rest);
            assert!(!sure || magnitude == exact as f64, "{distribution:?} {word}: {magnitude}");
        }
    }
}

fn agrees(distribution: &IntegerDistribution) {
    let kernel = Kernel::new(distribution);
    for word in WORDS {
        if let Some(magnitude) = kernel.decide(word) {
            for rest in [0, u64::MAX] {
                let exact = exact::magnitude(distribution, word, &mut |_: usize| rest);
                assert_eq!(magnitude, exact as f64, "{distribution:?} {word}");
            }
        }
    }
}
