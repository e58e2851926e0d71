//! Evidence: exhaustion. At a reduced word width every word is tried. What a kernel accepts is what the exact path says, whatever bits follow the
//! word; and it accepts nearly all words.

use super::super::arithmetic::{Arithmetic, BLOCK, Fused, Separate};
use super::super::canonical;
use super::super::fill::Kernel;
use super::super::geometric::GeometricLane;
use super::super::ladder::LadderLane;
use super::super::lane::{Lane, SIGN};
use super::super::mapped::{MappedLane, Truncated};
use super::super::staircase::StaircaseLane;
use super::super::thresholds::ThresholdLane;
use super::super::tier::Tier;
use crate::exact::{self, IntegerDistribution, Staircase, TruncatedGeometric};
use crate::lattice::value::Scaling;
use crate::testing::{long, pairs};

/// A sign bit less than 16.
const BITS: u32 = 15;

/// What the exact path says of all 2¹⁵ leading parts of v.
struct Truth<'a> {
    distribution: &'a IntegerDistribution,
    /// The magnitudes of each, followed by zeros and by ones.
    ends: Vec<[f64; 2]>,
}

impl<'a> Truth<'a> {
    fn new(distribution: &'a IntegerDistribution) -> Self {
        let decide = |bits: usize, rest: u64| {
            // The 48 bits that follow in a full word, then extension words.
            let (low, next) = (rest & ((1 << 48) - 1), rest);
            exact::magnitude(distribution, (bits as u64) << 48 | low, &mut |_: usize| next) as f64
        };
        let mut ends = vec![[f64::NAN; 2]; 1 << BITS];
        let mut open = vec![(0, 1 << BITS)];
        while let Some((start, end)) = open.pop() {
            // Magnitudes fall as v grows: between equal ones all are equal.
            let (first, last) = (decide(start, 0), decide(end - 1, u64::MAX));
            if first == last || end - start == 1 {
                ends[start..end].fill([first, last]);
            } else {
                let middle = start.midpoint(end);
                open.extend([(start, middle), (middle, end)]);
            }
        }
        Self { distribution, ends }
    }

    /// Tries them all; returns how many were accepted, by each arithmetic.
    fn accepted(&self, lane: &impl Lane) -> [usize; 2] {
        [self.accepted_by::<Separate>(lane), self.accepted_by::<Fused>(lane)]
    }

    fn accepted_by<A: Arithmetic>(&self, lane: &impl Lane) -> usize {
        let accepts = |(bits, ends): (u64, &[f64; 2])| {
            let (magnitude, sure) = lane.magnitude::<A>(bits);
            assert!(!sure || *ends == [magnitude; 2], "{:?} {bits}", self.distribution);
            sure
        };
        (0..).zip(&self.ends).filter(|word| accepts(*word)).count()
    }
}

/// An accepted word must decide; a word that decides must be accepted unless it lies near an edge.
fn most_of(accepted: [usize; 2], distribution: &IntegerDistribution, edges: f64) {
    let all = f64::from(1_u32 << BITS);
    assert!(
        accepted.iter().all(|count| *count as f64 >= all * 0.999 - 3.0 * edges),
        "{accepted:?} accepted, {edges} edges: {distribution:?}"
    );
}

fn at_most(fewer: [usize; 2], more: [usize; 2]) -> bool {
    fewer.iter().zip(more).all(|(fewer, more)| *fewer <= more)
}

#[test]
fn geometric() {
    for (eps, sensitivity_steps) in pairs(&[1e-3, 0.1, 1.0, 4.0, 50.0, 700.0], &[1, 10, 1000]) {
        let distribution = IntegerDistribution::Geometric { eps, sensitivity_steps };
        let truth = Truth::new(&distribution);
        let fine = GeometricLane::new(eps, sensitivity_steps, BITS);
        most_of(truth.accepted(&fine), &distribution, 11.0 * sensitivity_steps as f64 / eps);
        if let Some(thresholds) = ThresholdLane::<8>::new(&distribution, BITS) {
            most_of(truth.accepted(&thresholds), &distribution, 16.0);
        }
        let distribution = IntegerDistribution::OneSided { eps, sensitivity_steps };
        let truth = Truth::new(&distribution);
        let fine = GeometricLane::one_sided(eps, sensitivity_steps, BITS);
        most_of(truth.accepted(&fine), &distribution, 11.0 * sensitivity_steps as f64 / eps);
        if let Some(thresholds) = ThresholdLane::<8>::new(&distribution, BITS) {
            most_of(truth.accepted(&thresholds), &distribution, 16.0);
        }
    }
}

#[test]
fn staircase() {
    for (eps, sensitivity_steps) in pairs(&[0.01, 0.5, 2.0, 4.0, 50.0], &[1, 5, 1000]) {
        for r in [1, exact::optimal_r_l1(eps, sensitivity_steps), sensitivity_steps] {
            let distribution = IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r));
            let truth = Truth::new(&distribution);
            let stairs = StaircaseLane::new(&Staircase::new(eps, sensitivity_steps, r), BITS);
            let by_logarithm = truth.accepted(&stairs);
            let edges = 11.0 / eps * sensitivity_steps as f64 + sensitivity_steps as f64;
            most_of(by_logarithm, &distribution, edges);
            let by_ladder = truth.accepted(&LadderLane::<8>::new(&stairs));
            assert!(at_most(by_ladder, by_logarithm));
            if eps >= 2.0 {
                assert_eq!(by_ladder, by_logarithm, "{distribution:?}");
            }
        }
    }
}

#[test]
fn truncated_staircase() {
    for (eps, sensitivity_steps) in pairs(&[1e-3, 0.5, 4.0, 50.0], &[1, 5, 1000]) {
        let first = exact::optimal_r_l1(eps, sensitivity_steps);
        for (r, delta) in [(1, 0.5), (first, 0.1), (first, 1e-3), (sensitivity_steps, 1e-9)] {
            let most = exact::most_truncated_staircase(&Staircase::new(eps, sensitivity_steps, r), delta);
            let distribution = Staircase::new(eps, sensitivity_steps, r).truncated(most);
            let truth = Truth::new(&distribution);
            let truncated = Truncated::new(&Staircase::new(eps, sensitivity_steps, r), most, BITS);
            let by_logarithm = truth.accepted(&MappedLane::new(truncated.map, truncated.stairs.clone()));
            // A step of V counts as one of the staircase's words, which the map makes smaller.
            let edges = 11.0 / eps * sensitivity_steps as f64 + sensitivity_steps as f64;
            most_of(by_logarithm, &distribution, edges);
            let ladder = LadderLane::<8>::new(&truncated.stairs);
            let by_ladder = truth.accepted(&MappedLane::new(truncated.map, ladder));
            assert!(at_most(by_ladder, by_logarithm));
            if truncated.reached <= 8 {
                assert_eq!(by_ladder, by_logarithm, "{distribution:?}");
            }
        }
    }
}

#[test]
fn canonical_noise() {
    for (eps, delta) in pairs(&[1e-3, 0.5, 3.0, 50.0], &[0.9, 0.1, 1e-3, 1e-9]) {
        let distribution = canonical_distribution(eps, delta);
        let truth = Truth::new(&distribution);
        let map = canonical::map(eps, delta, BITS);
        let fine = GeometricLane::mapped(eps, BITS);
        // A step of V counts as one of the geometric distribution's words, which the map makes smaller.
        let edges = ((22.0 / eps).min(2.0 + 1.0 / delta) + 1.0) * (1.0 + 2.0 * delta / eps);
        let count = truth.accepted(&MappedLane::new(map, fine));
        assert!(eps <= 3.0 || count == [0; 2]);
        if eps <= 3.0 {
            most_of(count, &distribution, edges);
        }
        if let Some(thresholds) = ThresholdLane::<8>::new(&distribution, BITS) {
            most_of(truth.accepted(&thresholds), &distribution, 16.0);
        }
    }
}

fn canonical_distribution(eps: f64, delta: f64) -> IntegerDistribution {
    let most = exact::most_canonical(eps, delta);
    IntegerDistribution::Canonical { eps, delta, most }
}

/// Evidence: words beside the edges of canonical noise, where an error of the tolerance would show, followed by zeros and by ones; both levels.
#[test]
fn canonical_words_beside_an_edge_are_right_or_not_sure() {
    let mut decided = 0;
    for (eps, delta) in pairs(
        &[1e-12, 1e-9, 1e-6, 1e-3, 0.05, 0.3, 1.5, 4.0, 20.0],
        &[1.0 - 1e-12, 0.5, 0.01, 1e-9, 1e-30],
    ) {
        decided += beside_edges(&canonical_distribution(eps, delta));
    }
    assert!(decided > if long() { 30_000 } else { 15_000 }, "{decided}");
}

/// Evidence: words beside the edges of truncated staircases, where an error of the tolerance would show, followed by zeros and by ones; both levels.
#[test]
fn truncated_words_beside_an_edge_are_right_or_not_sure() {
    let mut decided = 0;
    for (eps, sensitivity_steps) in pairs(&[1e-3, 0.3, 1.5, 4.0, 20.0], &[1, 7, 1000, 1 << 20, 1 << 33]) {
        for delta in [0.5, 0.01, 1e-9] {
            let r = exact::optimal_r_l1(eps, sensitivity_steps);
            let most = exact::most_truncated_staircase(&Staircase::new(eps, sensitivity_steps, r), delta);
            decided += beside_edges(&Staircase::new(eps, sensitivity_steps, r).truncated(most));
        }
    }
    assert!(decided > if long() { 50_000 } else { 25_000 }, "{decided}");
}

/// Checks both levels beside some edges of a distribution; returns how many words a lane was sure of.
fn beside_edges(distribution: &IntegerDistribution) -> usize {
    let mut decided = 0;
    let steps = |word: u64, rest: u64| exact::steps(distribution, word, &mut |_: usize| rest);
    let kernels = [Kernel::new(distribution), Kernel::quick(distribution)];
    for start in (1..12_u64)
        .map(|i| (i << 59) + i * i)
        .chain([1, 1 << 20, 1 << 40])
        // The last word of X = 0 is beside the edge between two sides.
        .chain([last_with(|word| steps(word, 0).max(0), 1 << 40)])
        .map(|word| word & !SIGN)
    {
        let edge = last_with(|word| steps(word, 0), start);
        let beside = (0..40).flat_map(|i| [edge.saturating_sub(1 << i >> 1), edge.saturating_add(1 << i >> 1)]);
        for word in beside.map(|word| word.min(!SIGN)) {
            let ends = [steps(word, 0) as f64, steps(word, u64::MAX) as f64];
            for kernel in &kernels {
                if let Some(steps) = kernel.decide(word) {
                    decided += 1;
                    assert_eq!(ends, [steps; 2], "{distribution:?} {word:#x}");
                }
                for tier in Tier::tested() {
                    let mut out = [f64::NAN; BLOCK];
                    kernel.fill(tier, &[word; BLOCK], Scaling::WHOLE, &mut out, |_, value| *value = f64::NAN);
                    assert!(
                        out[0].is_nan() || ends == [out[0]; 2],
                        "{distribution:?} {word:#x} {tier:?} {}",
                        out[0]
                    );
                }
            }
        }
    }
    decided
}

/// Evidence: words beside the edges of one-sided distributions, where an error of the tolerance would show, followed by zeros and by ones.
#[test]
fn one_sided_words_beside_an_edge_are_right_or_not_sure() {
    let mut decided = 0;
    for (eps, sensitivity_steps) in pairs(&[1e-3, 0.3, 1.5, 4.0, 20.0], &[1, 7, 1000, 1 << 20, 1 << 33]) {
        let distribution = IntegerDistribution::OneSided { eps, sensitivity_steps };
        let steps = |word: u64, rest: u64| exact::steps(&distribution, word, &mut |_: usize| rest);
        for start in (1..40_u64).map(|i| (i << 57) + i * i) {
            let edge = last_with(|word| steps(word, 0), start);
            let beside = (0..40).flat_map(|i| [edge.saturating_sub(1 << i >> 1), edge.saturating_add(1 << i >> 1)]);
            for word in beside.map(|word| word.min(!SIGN)) {
                for kernel in [Kernel::new(&distribution), Kernel::quick(&distribution)] {
                    let Some(found) = kernel.decide(word) else { continue };
                    decided += 1;
                    let ends = [steps(word, 0) as f64, steps(word, u64::MAX) as f64];
                    assert_eq!(ends, [found; 2], "{distribution:?} {word:#x}");
                }
            }
        }
    }
    assert!(decided > if long() { 10_000 } else { 5_000 }, "{decided}");
}

/// Evidence: words beside the edges of truncated geometric distributions, and beside the edge between their sides; both levels.
#[test]
fn sided_words_beside_an_edge_are_right_or_not_sure() {
    let mut decided = 0;
    for (eps, sensitivity_steps) in pairs(&[1e-9, 1e-3, 0.3, 1.5, 20.0], &[1, 7, 1000, 1 << 20, 1 << 33]) {
        for (below, above) in [(1.0, 1.0), (1.0, 30.0), (3.0, 1.2), (40.0 / eps, 2.0 / eps)] {
            let [below, above] = [below, above].map(|end| (end * sensitivity_steps as f64).clamp(1.0, 1e18) as u64);
            decided += beside_edges(&IntegerDistribution::TruncatedGeometric(TruncatedGeometric {
                eps,
                sensitivity_steps,
                below,
                above,
            }));
        }
    }
    assert!(decided > if long() { 50_000 } else { 25_000 }, "{decided}");
}

/// The last word with the X of `word`, or a larger one: X falls as words without a sign grow.
fn last_with(steps: impl Fn(u64) -> i64, word: u64) -> u64 {
    let level = steps(word);
    let (mut least, mut most) = (word, !SIGN);
    while least < most {
        let middle = least.midpoint(most) + 1;
        if steps(middle) >= level {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    least
}

#[test]
fn full_words_agree_with_the_exact_path() {
    let mut word = 1_u64;
    for eps in [0.01, 0.1, 1.0, 4.0, 20.0] {
        for sensitivity_steps in [1, 7, 1 << 20, 1 << 33, (1 << 35) + 12_345] {
            let r = exact::optimal_r_l1(eps, sensitivity_steps);
            let geometric = IntegerDistribution::Geometric { eps, sensitivity_steps };
            let staircase = IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r));
            for distribution in [geometric, IntegerDistribution::OneSided { eps, sensitivity_steps }, staircase] {
                let kernel = Kernel::new(&distribution);
                let mut decided = 0_u32;
                for _ in 0..2000 {
                    word = word.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
                    let Some(steps) = kernel.decide(word) else { continue };
                    decided += 1;
                    let magnitude = exact::magnitude(&distribution, word & !SIGN, &mut |_: usize| word);
                    assert_eq!(steps.abs(), magnitude as f64, "{distribution:?} {word:#x}");
                    assert_eq!(steps.is_sign_negative(), word & SIGN != 0);
                }
                // The error bound is at most 2⁻⁴⁸ of the noise scale and the sensitivity, on either side of an edge.
                let span = sensitivity_steps as f64 * (1.0 + 1.0 / eps);
                let undecided = 2000.0 * 2.0 * span / (1_u64 << 48) as f64;
                assert!(
                    f64::from(decided) >= 1995.0 - 2.0 * undecided,
                    "{decided} of 2000: {distribution:?}"
                );
            }
        }
    }
}
