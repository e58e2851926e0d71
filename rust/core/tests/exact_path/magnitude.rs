//! Evidence: comparison with an independent library at the points where an error would show. `dashu-float` computes thresholds S(j) by the
//! formula of docs/contract.md. v is placed just below a threshold, at its leading bits and just above it, at several depths of extension
//! words, and the magnitude must change exactly there.

use crate::long;
use crate::oracle::{Points, Real, exp_minus, floor_scaled, integer, real};
use dashu_int::IBig;
use stairnoise::exact::{
    IntegerDistribution, Staircase, TruncatedGeometric, magnitude, most_canonical, most_truncated_staircase, optimal_r_l1,
    optimal_r_l2,
};

/// Extension words of a value.
const WORDS: usize = 8192;

const GAUSSIAN: &str = "boundaries_gaussian.json has its thresholds";

/// Working precision of thresholds: the deepest v below has at most 63 + 64·5 significant bits.
const BITS: usize = 450;

/// Working precision if 1 − b loses up to 40 bits (ε ≥ 2^−40).
const MORE: usize = BITS + 64;

/// e^(−ε/D) for the geometric distribution, e^(−ε) for the staircase.
fn decay(distribution: &IntegerDistribution) -> Real {
    match *distribution {
        IntegerDistribution::Geometric { eps, sensitivity_steps } | IntegerDistribution::OneSided { eps, sensitivity_steps } => {
            exp_minus(eps, 1, sensitivity_steps, BITS)
        }
        IntegerDistribution::Staircase(Staircase { eps, .. })
        | IntegerDistribution::TruncatedStaircase {
            staircase: Staircase { eps, .. },
            ..
        }
        | IntegerDistribution::Canonical { eps, .. } => exp_minus(eps, 1, 1, MORE),
        IntegerDistribution::TruncatedGeometric(_) => unreachable!("it has a test of its own"),
        IntegerDistribution::Gaussian { .. } => unreachable!("{GAUSSIAN}"),
    }
}

/// S(j) by the formula of docs/contract.md, from `decay(distribution)`.
fn survival(distribution: &IntegerDistribution, b: &Real, j: u64) -> Real {
    match *distribution {
        IntegerDistribution::OneSided { eps, sensitivity_steps } => exp_minus(eps, j, sensitivity_steps, BITS),
        IntegerDistribution::Geometric { eps, sensitivity_steps } => {
            integer(2, BITS) * exp_minus(eps, j, sensitivity_steps, BITS) / (integer(1, BITS) + b)
        }
        IntegerDistribution::Staircase(Staircase {
            eps,
            sensitivity_steps,
            r,
        }) => {
            let dc = integer(sensitivity_steps, MORE) * b / (integer(1, MORE) - b);
            let stair = if j < r { 0 } else { (j - r) / sensitivity_steps + 1 };
            let t = integer(2 * r - 1, MORE) + integer(2, MORE) * &dc;
            let edge = IBig::from(r) + IBig::from(stair) * IBig::from(sensitivity_steps) - IBig::from(j);
            integer(2, MORE) / t * exp_minus(eps, stair, 1, MORE) * (Real::from(edge) + dc)
        }
        IntegerDistribution::TruncatedStaircase {
            staircase: Staircase {
                eps,
                sensitivity_steps,
                r,
            },
            most,
        } => {
            let distribution = IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r));
            let beyond = survival(&distribution, b, most + 1);
            (survival(&distribution, b, j) - &beyond) / (integer(1, MORE) - beyond)
        }
        IntegerDistribution::Canonical { eps, delta, .. } => {
            let (one, delta) = (integer(1, MORE), real(delta, MORE));
            let fixed = &delta * b / (&one - b);
            let first = b * (&one - delta) / (one + b);
            integer(2, MORE) * ((first + &fixed) * exp_minus(eps, j - 1, 1, MORE) - fixed)
        }
        IntegerDistribution::TruncatedGeometric(_) => unreachable!("it has a test of its own"),
        IntegerDistribution::Gaussian { .. } => unreachable!("{GAUSSIAN}"),
    }
}

/// The magnitude of v = numerator / 2^(63 + 64·words) followed by `tail` in every later word.
fn at(distribution: &IntegerDistribution, numerator: &IBig, words: usize, tail: u64) -> u64 {
    let word = |shift: usize| -> u64 {
        let mask = (IBig::ONE << 64) - 1;
        u64::try_from((numerator.clone() >> shift) & mask).unwrap()
    };
    let v63 = word(64 * words);
    let mut extension = |e: usize| {
        assert!(e < WORDS, "extension word {e} does not exist");
        if e < words { word(64 * (words - 1 - e)) } else { tail }
    };
    magnitude(distribution, v63, &mut extension)
}

/// Checks all v around S(j) at one depth; returns whether neighbouring thresholds were far enough apart for a decision.
fn check_threshold(distribution: &IntegerDistribution, j: u64, thresholds: &[Real; 3], words: usize) -> bool {
    let scale = 63 + 64 * words;
    let below = floor_scaled(&thresholds[1], scale);
    let above: IBig = below.clone() + 1;
    // v in [below − 1, below] has magnitude j, v in [above, above + 1] has j − 1, if S(j+1) and S(j−1) are farther away.
    let isolated = floor_scaled(&thresholds[2], scale) < below.clone() - 2
        && (j == 1 || floor_scaled(&thresholds[0], scale) > above.clone() + 2);
    if !isolated || above >= IBig::ONE << scale {
        return false;
    }
    let case = || format!("{distribution:?}, j {j}, {words} words");
    assert_eq!(
        at(distribution, &(below.clone() - 1), words, u64::MAX),
        j,
        "just below: {}",
        case()
    );
    assert_eq!(at(distribution, &below, words, 0), j, "at the leading bits: {}", case());
    assert_eq!(at(distribution, &above, words, 0), j - 1, "just above: {}", case());
    if below > IBig::from(2) {
        assert_eq!(
            at(distribution, &(below - 2), words, 0x5555_5555_5555_5555),
            j,
            "below: {}",
            case()
        );
    }
    assert_eq!(
        at(distribution, &above, words, 0x5555_5555_5555_5555),
        j - 1,
        "above: {}",
        case()
    );
    true
}

/// Interesting thresholds: the first, the edges of the first stairs, and pseudo-random ones up to the tail.
fn interesting(distribution: &IntegerDistribution, points: &mut Points) -> Vec<u64> {
    let (eps, sensitivity_steps, r) = match *distribution {
        IntegerDistribution::Geometric { eps, sensitivity_steps } | IntegerDistribution::OneSided { eps, sensitivity_steps } => {
            (eps, sensitivity_steps, 1)
        }
        IntegerDistribution::Staircase(Staircase {
            eps,
            sensitivity_steps,
            r,
        })
        | IntegerDistribution::TruncatedStaircase {
            staircase: Staircase {
                eps,
                sensitivity_steps,
                r,
            },
            ..
        } => (eps, sensitivity_steps, r),
        IntegerDistribution::Canonical { eps, .. } => (eps, 1, 1),
        IntegerDistribution::TruncatedGeometric(_) => unreachable!("it has a test of its own"),
        IntegerDistribution::Gaussian { .. } => unreachable!("{GAUSSIAN}"),
    };
    let mut js = vec![
        1,
        2,
        r.saturating_sub(1),
        r,
        r + 1,
        r + sensitivity_steps - 1,
        r + sensitivity_steps,
        r + sensitivity_steps + 1,
        r + 2 * sensitivity_steps,
    ];
    js.push(points.between(1, r));
    js.push(r + points.between(0, sensitivity_steps));
    for depth in [1.0, 40.0, 300.0] {
        // Below 2^62, j + 1 is still far from saturation.
        js.push(points.between(1, ((sensitivity_steps as f64 / eps * depth) as u64).clamp(1, 1 << 62)));
    }
    if let IntegerDistribution::TruncatedStaircase { most, .. } = *distribution {
        js.extend([
            most - 1,
            most,
            most + 1 - sensitivity_steps,
            most - points.between(0, most / 2),
        ]);
        js.retain(|&j| j <= most);
    }
    if let IntegerDistribution::Canonical { most, .. } = *distribution {
        js.extend([most.max(2) - 1, most, most - points.between(0, most / 2)]);
        js.retain(|&j| j <= most);
    }
    js.sort_unstable();
    js.dedup();
    js.retain(|&j| j >= 1 && eps * (j as f64 / sensitivity_steps as f64 - 1.0) < 2000.0);
    js
}

/// Checks the interesting thresholds of one distribution; returns the number of decidable cases.
fn walk(distribution: &IntegerDistribution, points: &mut Points) -> usize {
    let b = decay(distribution);
    let mut count = 0;
    for j in interesting(distribution, points) {
        let thresholds = [j - 1, j, j + 1].map(|j| {
            if j == 0 {
                integer(1, BITS)
            } else {
                survival(distribution, &b, j)
            }
        });
        let first = (-thresholds[1].log2().to_f64().value()).max(0.0) as usize / 64;
        if first + 5 > WORDS {
            continue;
        }
        for depth in [0, 1, 2, 4] {
            count += usize::from(check_threshold(distribution, j, &thresholds, first + depth));
        }
    }
    count
}

/// Pairs of eps from 2^−40 to 10^6 and D from 1 to 2^53 with D + D/eps ≤ 2^54, or every third of them.
fn pairs() -> Vec<(f64, u64)> {
    let mut pairs = Vec::new();
    for eps in [
        (-40.0_f64).exp2(),
        1e-3,
        0.1,
        0.5,
        1.0,
        2.0,
        4.0,
        10.0,
        30.0,
        50.0,
        700.0,
        1e6,
    ] {
        for sensitivity_steps in [
            1,
            2,
            3,
            10,
            1000,
            1_000_000,
            1 << 32,
            (1 << 35) + 12_345,
            1 << 46,
            (1 << 52) + 1,
            1 << 53,
        ] {
            if sensitivity_steps as f64 + sensitivity_steps as f64 / eps <= 18_014_398_509_481_984.0 {
                pairs.push((eps, sensitivity_steps));
            }
        }
    }
    pairs.into_iter().step_by(if long() { 1 } else { 3 }).collect()
}

#[test]
fn geometric_steps_at_its_thresholds() {
    let mut points = Points(3);
    let count: usize = pairs()
        .iter()
        .map(|&(eps, sensitivity_steps)| walk(&IntegerDistribution::Geometric { eps, sensitivity_steps }, &mut points))
        .sum();
    assert!(count > 25 * pairs().len(), "only {count} cases were decidable");
}

#[test]
fn one_sided_steps_at_its_thresholds() {
    let mut points = Points(5);
    let count: usize = pairs()
        .iter()
        .map(|&(eps, sensitivity_steps)| walk(&IntegerDistribution::OneSided { eps, sensitivity_steps }, &mut points))
        .sum();
    assert!(count > 25 * pairs().len(), "only {count} cases were decidable");
}

#[test]
fn staircase_steps_at_its_thresholds() {
    let mut points = Points(4);
    let mut count = 0;
    for (eps, sensitivity_steps) in pairs() {
        let mut shapes = vec![
            1,
            optimal_r_l1(eps, sensitivity_steps),
            optimal_r_l2(eps, sensitivity_steps),
            sensitivity_steps,
        ];
        shapes.dedup();
        for r in shapes {
            count += walk(
                &IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r)),
                &mut points,
            );
        }
    }
    assert!(count > 50 * pairs().len(), "only {count} cases were decidable");
}

/// Truncated distributions with ε of 0.1 or more, for which S(A + 1) leaves the thresholds their digits.
#[test]
fn truncated_staircase_steps_at_its_thresholds() {
    let mut points = Points(6);
    let mut count = 0;
    // Every pair gets one of three widths and δ, because survival functions take long.
    for (i, (eps, sensitivity_steps)) in pairs().into_iter().filter(|(eps, _)| *eps >= 0.1).enumerate() {
        let (r, delta) = [
            (1, 0.5),
            (optimal_r_l1(eps, sensitivity_steps), 1e-3),
            (sensitivity_steps, 1e-30),
        ][i % 3];
        let staircase = Staircase::new(eps, sensitivity_steps, r);
        let most = most_truncated_staircase(&staircase, delta);
        count += walk(&staircase.truncated(most), &mut points);
    }
    assert!(count > 8 * pairs().len(), "only {count} cases were decidable");
}

/// ε from 2^−40 to 700 and δ from nearly 1 to the minimum that leaves the thresholds their digits. The last threshold decides where noise ends.
#[test]
fn canonical_noise_steps_at_its_thresholds() {
    let mut points = Points(7);
    let mut count = 0;
    for eps in [(-40.0_f64).exp2(), 1e-6, 1e-3, 0.1, 0.5, 1.0, 3.0, 20.0, 300.0, 700.0] {
        for delta in [1.0_f64.next_down(), 0.9, 0.3, 0.01, 1e-6, 1e-20, 1e-40] {
            let distribution = |most| IntegerDistribution::Canonical { eps, delta, most };
            let most = most_canonical(eps, delta);
            let b = decay(&distribution(most));
            let zero = integer(0, MORE);
            assert!(
                survival(&distribution(most), &b, most) > zero && survival(&distribution(most), &b, most + 1) <= zero,
                "{eps} {delta}"
            );
            count += walk(&distribution(most), &mut points);
            assert_eq!(magnitude(&distribution(most), 0, &mut |_: usize| 0), most);
            assert_eq!(magnitude(&distribution(most), (1 << 63) - 1, &mut |_: usize| u64::MAX), 0);
        }
    }
    assert!(count > 800, "only {count} cases were decidable");
}

/// P(X ≥ k) by the formula of docs/contract.md, at both ends, on both sides of 0 and between: v just below has X ≥ k, v just above has not.
#[test]
fn truncated_geometric_steps_at_its_thresholds() {
    let mut points = Points(8);
    let mut count = 0;
    for (i, (eps, sensitivity_steps)) in pairs().into_iter().enumerate() {
        let longest = (sensitivity_steps as f64 * [1.0, 40.0 / eps, 1.0 + 2.0 / eps][i % 3]).clamp(1.0, 1e18) as u64;
        let [below, above] = [(); 2].map(|()| points.between(sensitivity_steps.min(longest), longest));
        let truncated = TruncatedGeometric {
            eps,
            sensitivity_steps,
            below,
            above,
        };
        let power = |n: u64| exp_minus(eps, n, sensitivity_steps, MORE);
        let total = integer(1, MORE) + power(1) - power(below + 1) - power(above + 1);
        let threshold = |k: i64| {
            if k >= 0 {
                (power(k.unsigned_abs()) - power(above + 1)) / &total
            } else {
                integer(1, MORE) - (power(k.unsigned_abs() + 1) - power(below + 1)) / &total
            }
        };
        let [low, high] = [-below.cast_signed(), above.cast_signed()];
        let inner = [
            points.between(1, above).cast_signed(),
            -points.between(1, below).cast_signed(),
        ];
        for k in [-1, 0, 1, low + 1, low + 2, high - 1, high, inner[0], inner[1]] {
            if k <= low || k > high {
                continue;
            }
            let at = |v: &IBig, words: usize, tail: u64| {
                let word = |shift: usize| u64::try_from((v.clone() >> shift) & ((IBig::ONE << 64) - 1)).unwrap();
                let mut extension = |e: usize| if e < words { word(64 * (words - 1 - e)) } else { tail };
                truncated.steps(word(64 * words), &mut extension)
            };
            for words in [1, 2, 4] {
                let edge = floor_scaled(&threshold(k), 63 + 64 * words);
                if edge <= IBig::ONE || edge.clone() + 2 >= IBig::ONE << (63 + 64 * words) {
                    continue;
                }
                assert!(at(&(edge.clone() - 1), words, u64::MAX) >= k, "{truncated:?} {k}: below");
                assert!(at(&edge, words, 0) >= k, "{truncated:?} {k}: at the leading bits");
                assert!(at(&(edge + 1), words, 0) < k, "{truncated:?} {k}: above");
                count += 1;
            }
        }
    }
    assert!(count > 15 * pairs().len(), "only {count} cases were decidable");
}

/// Bits of 0 give the end of the distribution, and bits of 1 the centre.
#[test]
fn truncated_staircases_end() {
    for (eps, sensitivity_steps) in pairs() {
        for delta in [0.5, 1e-9] {
            let most = most_truncated_staircase(&Staircase::new(eps, sensitivity_steps, 1), delta);
            let distribution = Staircase::new(eps, sensitivity_steps, 1).truncated(most);
            assert_eq!(magnitude(&distribution, 0, &mut |_: usize| 0), most, "{distribution:?}");
            // v = 2^(−63 − 64·201) is below S_A(A), if e^(−ε) is far above it.
            if eps < 1000.0 {
                assert_eq!(
                    magnitude(&distribution, 0, &mut |e: usize| u64::from(e == 200)),
                    most,
                    "{distribution:?}"
                );
            }
            assert_eq!(
                magnitude(&distribution, (1 << 63) - 1, &mut |_: usize| u64::MAX),
                0,
                "{distribution:?}"
            );
        }
    }
}

/// A staircase of sensitivity 1 is the geometric distribution: two formulas must give one function of the bits.
#[test]
fn one_cell_staircase_is_geometric() {
    let mut points = Points(5);
    for _ in 0..20_000 {
        let eps = points.magnitude(-30, 12);
        let v63 = points.word() >> (1 + points.word() % 63);
        let key = points.word();
        let mut extension = |e: usize| Points(key ^ e as u64).word();
        let geometric = magnitude(
            &IntegerDistribution::Geometric {
                eps,
                sensitivity_steps: 1,
            },
            v63,
            &mut extension,
        );
        let staircase = magnitude(
            &IntegerDistribution::Staircase(Staircase::new(eps, 1, 1)),
            v63,
            &mut extension,
        );
        assert_eq!(geometric, staircase, "eps {eps:e}, v63 {v63}");
    }
}

/// With leading zero words the tail is reached, and v = 0 saturates, for every distribution that validation accepts.
#[test]
fn zeros_reach_the_tail_and_saturate() {
    for (eps, sensitivity_steps) in pairs().into_iter().chain([(1e300, 1), (1e308, 1 << 53), (f64::MAX, 7)]) {
        for distribution in [
            IntegerDistribution::Geometric { eps, sensitivity_steps },
            IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, 1)),
            IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, sensitivity_steps)),
        ] {
            assert_eq!(
                magnitude(&distribution, 0, &mut |_: usize| 0),
                i64::MAX as u64,
                "{distribution:?}"
            );
            for zeros in [1, 5, 64, WORDS - 1] {
                let mut extension = |e: usize| u64::from(e == zeros);
                let found = magnitude(&distribution, 0, &mut extension);
                // v = 2^−(63 + 64(zeros + 1)); S(j) falls by e^−eps per D steps, and S(1) ≥ v unless b underflows.
                let depth = (63 + 64 * (zeros + 1)) as f64 * std::f64::consts::LN_2;
                let expected = sensitivity_steps as f64 * depth / eps;
                let slack = 2.0 * sensitivity_steps as f64 * (1.0 + 40.0 / eps) + expected * 1e-12;
                let capped = expected.min(i64::MAX as f64);
                assert!(
                    (found as f64 - capped).abs() <= slack + 1.0,
                    "{distribution:?}: {found} against {capped}"
                );
            }
        }
    }
}
