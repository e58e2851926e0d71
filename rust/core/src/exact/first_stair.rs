//! r, the half-width of a staircase's first stair, exactly.

use super::enclosure::{Enclosure, decided};
use super::exp::Step;
use super::search::last_true;
use crate::lattice::decompose;

/// ⌈D/(1 + e^(ε/2))⌉ for finite ε > 0 and 1 ≤ D ≤ 2^53: the r of least E|X|.
///
/// A floating-point quotient decides unless an integer lies within its error. e^(ε/2) is within 8 units in the last place, a margin over what
/// libraries promise. The sum and the quotient are within half a unit each. Together that is below 10·2^(−52) < 2^(−48).
pub fn optimal_r_l1(eps: f64, sensitivity_steps: u64) -> u64 {
    let quotient = sensitivity_steps as f64 / (1.0 + (eps / 2.0).exp());
    let error = quotient * (-48.0_f64).exp2();
    let (least, most) = ((quotient - error).ceil() as u64, (quotient + error).ceil() as u64);
    // The quotient may underflow to 0, but r is positive: `most` ≤ 1 decides.
    if least == most || most <= 1 {
        most.max(1)
    } else {
        optimal_r_l1_exact(eps, sensitivity_steps, most)
    }
}

/// One more than the last r with r < D/(1 + e^(ε/2)), that is r < (D − r)·e^(−ε/2). Never equal: e^(−ε/2) is irrational and D > r > 0.
fn optimal_r_l1_exact(eps: f64, sensitivity_steps: u64, guess: u64) -> u64 {
    let decide = decider(Step::new(eps, 2));
    1 + last_true(guess - 1, sensitivity_steps, |r| {
        decide(&|s, p| Enclosure::point(r, p).less(&s.linear(0, sensitivity_steps - r)))
    })
}

/// The r of least E X² (docs/contract.md section 3) for finite ε > 0 and 1 ≤ D ≤ 2^53.
///
/// One more than the last r that fails Q(4Q² − (1−b)²) ≥ 2D³·b(1+b), Q = r(1−b) + D·b. The left side is a product of three factors, and so is
/// the right; all are linear forms in b with nonnegative integer coefficients (r < D, since r = D never fails):
///
/// ```text
/// Q = r + (D−r)·b,   2Q ∓ (1−b) = (2r∓1) + (2(D−r)±1)·b;      D·b,   D + D·b,   2D.
/// ```
///
/// Never equal: b is transcendental, and the two sides differ at b = 0, where the left is r(4r²−1) > 0.
pub fn optimal_r_l2(eps: f64, sensitivity_steps: u64) -> u64 {
    let decide = decider(Step::new(eps, 1));
    let insufficient = |r: u64| {
        let rest = sensitivity_steps - r;
        decide(&|b, p| {
            let q = b.linear(r, rest);
            let (below, above) = (b.linear(2 * r - 1, 2 * rest + 1), b.linear(2 * r + 1, 2 * rest - 1));
            let right = b
                .linear(0, sensitivity_steps)
                .mul(&b.linear(sensitivity_steps, sensitivity_steps))
                .mul(&Enclosure::point(2 * sensitivity_steps, p));
            q.mul(&below).mul(&above).less(&right)
        })
    };
    1 + last_true(guess_l2(eps, sensitivity_steps), sensitivity_steps, insufficient)
}

/// The continuous optimum D·γ without its cancellation: γ = b(1+2b) / (2(y² + yb + b²)), y³ = b(1+b)/2. NaN, where b underflows, gives 0.
fn guess_l2(eps: f64, sensitivity_steps: u64) -> u64 {
    let b = (-eps).exp();
    let y = (b * (1.0 + b) / 2.0).cbrt();
    let gamma = b * (1.0 + 2.0 * b) / (2.0 * (y * y + y * b + b * b));
    (sensitivity_steps as f64 * gamma) as u64
}

type Question<'a> = dyn Fn(&Enclosure, usize) -> Option<bool> + 'a;

/// Answers questions about e^(−step) with p limbs of fraction, by more and more limbs. The first two, which nearly always decide, are kept.
fn decider(step: Step) -> impl Fn(&Question<'_>) -> bool {
    let first = step.decay(2);
    move |question| question(&first, 2).unwrap_or_else(|| decided(3, |p| question(&step.decay(p), p)))
}

/// ⌈γ·D⌉, exactly, for 0 < γ ≤ 1 and 1 ≤ D ≤ 2^53.
pub fn ceil_product(gamma: f64, sensitivity_steps: u64) -> u64 {
    // The product is below 2^106 units of 2^exponent, and exponent ≤ −52 since γ ≤ 1.
    let (mantissa, exponent) = decompose(gamma);
    let product = u128::from(mantissa) * u128::from(sensitivity_steps);
    // From 2^106 on every divisor gives 1: the cut keeps the shift in range.
    let bits = exponent.unsigned_abs().min(127);
    product.div_ceil(1 << bits) as u64
}

#[cfg(test)]
mod tests {
    use super::super::search::questions;
    use super::*;

    /// Evidence: the questions of a search, whose answer does not depend on its guess.
    #[test]
    fn guesses_are_near() {
        for eps in [1e-6, 0.01, 0.5, 1.0, 4.0, 20.0, 100.0, 700.0] {
            for sensitivity_steps in [1, 2, 10, 1000, 1 << 20, 1 << 33] {
                let (r, asked) = questions::of(|| optimal_r_l2(eps, sensitivity_steps));
                assert!(asked <= 4, "{asked} for {r} of {eps} and {sensitivity_steps}");
            }
        }
    }
}
