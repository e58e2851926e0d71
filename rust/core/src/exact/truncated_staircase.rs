//! The staircase distribution on −A … A (docs/contract.md, truncated staircases): the least A for a given δ, and from the bits of v to |X|.
//!
//! With b = e^(−ε), and k, m, A, B of `magnitude` (A and B written A₀ and B₀ here), let
//!
//! ```text
//! W(j) = b^J·(k + m·b) = S(j)·(A₀ + B₀·b)/2.
//! ```
//!
//! Where j grows by D, J grows by 1 and k stays: W(j + D) = b·W(j), for every j ≥ 1.
//!
//! **A.** The outermost D integers of one end of −A … A have, with j = A + 1 − D ≥ 1, the mass
//!
//! ```text
//! (S(j) − S(j + D))/2 / (1 − S(j + D)) = W(j)·(1 − b) / (A₀ + B₀·b − 2b·W(j)),
//! ```
//!
//! which falls with j. It is more than δ where, without differences,
//!
//! ```text
//! W(j) + 2δ·b·W(j) > δ·(A₀ + B₀·b) + b·W(j).
//! ```
//!
//! A = D + the number of j ≥ 1 for which that is so. Equality is impossible ([`super`]). For J > 0 the constant term is −δ·A₀. For J = 0 the
//! coefficients are k − δ·A₀, then, where that is zero, (D − k)(1 − 2δ) and its negative. With k < D that leaves δ = ½, and then A₀ is odd and k −
//! A₀/2 not zero.
//!
//! **|X|.** v < (S(j) − S(A + 1))/(1 − S(A + 1)) becomes, with T = W(A + 1) and without differences,
//!
//! ```text
//! v/2·(A₀ + B₀·b) + T < W(j) + v·T,   j ≤ A.
//! ```
//!
//! Equality is impossible. At v = 0 it would be W(A + 1) = W(j), but W falls. For v > 0, T has no constant term because A + 1 > D. For J > 0, v·A₀/2
//! is the only one. For J = 0 it is v·A₀/2 − k. Where that is zero, the coefficient of b is (v − 1)·(D − k'), k' being the k of A + 1 where that is
//! on stair 1 and 0 elsewhere. It is not zero: k' is D only at A + 1 = r, which is below.

use super::distribution::Staircase;
use super::enclosure::{Enclosure, decided};
use super::limbs;
use super::search::last_true;
use super::truncation::MOST;
use super::uniform::{Extension, Uniform};

/// Limbs of fraction at the first attempt: products have up to 2^55 units before the point.
const FIRST_PRECISION: usize = 3;

/// A, the least from D on for which the outermost D integers of an end have at most `delta`, 2^−128 to ½. It is below 2^61, as 2D + 89·D/ε is.
pub fn most(staircase: &Staircase, delta: f64) -> u64 {
    // S(j) > 2δ/(1 − b + 2δb), about.
    let (eps, sensitivity_steps) = (staircase.eps, staircase.sensitivity_steps);
    let decay = (-eps).exp();
    let guess = staircase.guess((delta / (2.0 * delta).mul_add(decay, -(-eps).exp_m1())).ln());
    sensitivity_steps + last_true(guess, MOST - sensitivity_steps, |j| is_more(staircase, j, delta))
}

/// Whether the outermost D integers of an end of −(D + j − 1) … D + j − 1 have more than `delta`.
fn is_more(staircase: &Staircase, j: u64, delta: f64) -> bool {
    // Equality is impossible (see above), so some precision decides.
    let is_less = decided(FIRST_PRECISION, |p| {
        let terms = Terms::new(staircase, p);
        let weight = terms.weight(j);
        let next = weight.times(&terms.decay);
        let left = weight.plus(&next.scaled(delta).doubled());
        left.less(&terms.denominator.scaled(delta).plus(&next))
    });
    !is_less
}

/// τ = S(A + 1) of a staircase distribution in 2^−128, off by less than 2^−120.
///
/// Powers of b are known to 2^14 units of 2^−192 (`exp::width`). Factors are at most 2^54, the denominator at least 1: 2^−121 in all.
pub fn tail(staircase: &Staircase, most: u64) -> u128 {
    tail_from(&Terms::new(staircase, FIRST_PRECISION), most)
}

fn tail_from(terms: &Terms<'_>, most: u64) -> u128 {
    let mut twice = terms.weight(most + 1).lo;
    limbs::shl(&mut twice, 1);
    limbs::wide(&limbs::quotient(&twice, &terms.denominator.lo, 2))
}

/// |X| for the 63 leading bits of v and the extension: the number of j from 1 to `most` for which v < S_A(j). v = 0 gives `most`.
pub fn magnitude(staircase: &Staircase, most: u64, v63: u64, extension: &mut Extension<'_>) -> u64 {
    let Some(mut uniform) = Uniform::new(v63, extension) else {
        return most;
    };
    let guess = staircase.guess(ln_mapped(staircase, most, uniform.ln()));
    // Two limbs as for the staircase (`magnitude`), where there are no more steps: a fifth less time for a value at ε = 1/200.
    let few = staircase.sensitivity_steps < 1 << 46;
    let first = if few { 2 } else { FIRST_PRECISION };
    let terms = |p| {
        let terms = Terms::new(staircase, p);
        let tail = terms.weight(most + 1);
        (terms, tail)
    };
    uniform.search(guess, most + 1, first, terms, |(terms, tail), uniform, j| {
        terms.is_below(uniform, tail, j)
    })
}

/// ln(u/2) with u = v + (1 − v)·S(A + 1), in floating point, from ln(v/2): for a guess.
fn ln_mapped(staircase: &Staircase, most: u64, ln_half_v: f64) -> f64 {
    let eps = staircase.step().approximate();
    let (numerator, (a, b)) = (staircase.numerator(most + 1), staircase.denominator());
    let decay = (-eps).exp();
    let height = (numerator.k as f64 + numerator.m as f64 * decay) / (a as f64 + b as f64 * decay);
    let half_tail = height * (-eps * numerator.count as f64).exp();
    let half_v = ln_half_v.exp();
    // As in `canonical`, a number that underflows gives A.
    (half_v + (1.0 - 2.0 * half_v) * half_tail).ln()
}

/// What the comparisons are made of, with `p` limbs of fraction.
struct Terms<'a> {
    staircase: &'a Staircase,
    p: usize,
    /// b.
    decay: Enclosure,
    /// A₀ + B₀·b.
    denominator: Enclosure,
}

impl<'a> Terms<'a> {
    fn new(staircase: &'a Staircase, p: usize) -> Self {
        let decay = staircase.step().decay(p);
        let (a, b) = staircase.denominator();
        let denominator = decay.linear(a, b);
        Self {
            staircase,
            p,
            decay,
            denominator,
        }
    }

    /// W(j).
    fn weight(&self, j: u64) -> Enclosure {
        let numerator = self.staircase.numerator(j);
        let power = self.staircase.step().fixed_power(numerator.count, self.p);
        self.decay.linear(numerator.k, numerator.m).times(&power)
    }

    /// Whether v < S_A(j), if this precision decides it; `tail` is W(A + 1).
    fn is_below(&self, uniform: &mut Uniform<'_>, tail: &Enclosure, j: u64) -> Option<bool> {
        let half_v = uniform.half(self.p);
        let left = half_v.times(&self.denominator).plus(tail);
        left.less(&self.weight(j).plus(&half_v.doubled().times(tail)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence: as in `magnitude`.
    #[test]
    fn a_guess_is_the_magnitude_or_one_more() {
        for eps in [0.003, 0.3, 4.0, 30.0] {
            for (sensitivity_steps, r) in [(1, 1), (10, 4), (1 << 20, 77)] {
                for delta in [0.3, 0.01, 1e-6] {
                    let distribution = Staircase::new(eps, sensitivity_steps, r);
                    let most = most(&distribution, delta);
                    for v63 in (0..40).map(|zeros| 0x7123_4567_89ab_cdef >> zeros) {
                        let mut extension = |_| 0x0123_4567_89ab_cdef;
                        let x = magnitude(&distribution, most, v63, &mut extension);
                        let ln = Uniform::new(v63, &mut extension).expect("not zero").ln();
                        let guess = distribution.guess(ln_mapped(&distribution, most, ln)).min(most + 1);
                        assert!(
                            guess == x || guess == x + 1,
                            "{distribution:?} {most} {v63:x}: {guess} of {x}"
                        );
                    }
                }
            }
        }
    }

    /// Evidence: the same with twice as many limbs, and in floating point the sum of what is beyond A over the sum of all.
    #[test]
    fn the_tail_is_known_to_2_to_the_minus_120() {
        for eps in [1e-12, 1e-4, 0.3, 4.0, 60.0, 700.0] {
            for (sensitivity_steps, r) in [(1, 1), (10, 4), (1 << 32, 1 << 31), (1 << 53, 1), (1 << 53, 1 << 53)] {
                for delta in [0.5, 1e-6, 1e-38] {
                    let distribution = Staircase::new(eps, sensitivity_steps, r);
                    let most = most(&distribution, delta);
                    let (found, finer) = (
                        tail(&distribution, most),
                        tail_from(&Terms::new(&distribution, 2 * FIRST_PRECISION), most),
                    );
                    assert!(
                        found.abs_diff(finer) < 1 << 8,
                        "{distribution:?} {delta}: {found:x} {finer:x}"
                    );
                    if most < 100_000 {
                        let weight = |x: u64| {
                            (-eps
                                * if x < r {
                                    0.0
                                } else {
                                    ((x - r) / sensitivity_steps + 1) as f64
                                })
                            .exp()
                        };
                        let above = |least: u64| {
                            (least..least + 2_000 + (800.0 * sensitivity_steps as f64 / eps) as u64)
                                .map(weight)
                                .sum::<f64>()
                        };
                        if eps > 0.1 {
                            let expected = 2.0 * above(most + 1) / (weight(0) + 2.0 * above(1));
                            let got = found as f64 * (-128.0_f64).exp2();
                            assert!(
                                (got - expected).abs() <= 1e-12 * expected + 1e-38,
                                "{distribution:?} {delta}: {got} {expected}"
                            );
                        }
                    }
                }
            }
        }
    }

    /// Evidence: the digits of (S(1) − S(3))/(1 − S(3)) with S(j) = 2e^(−j)/(1 + 1/e), by Python's `decimal`. The last word decides.
    #[test]
    fn digits_are_compared_to_the_last() {
        let digits = [
            0x4034_8053_12b7_d922,
            0x73f6_c705_a853_2e70,
            0x81e8_d509_383e_1bf6,
            0x2e5c_a708_dde6_a4dd,
            0x34ff_fd84_f95e_e37a,
        ];
        let distribution = Staircase::new(1.0, 1, 1);
        for (more, expected) in [(0, 1), (1, 0)] {
            let extension = &mut |e: usize| digits.get(1 + e).map_or(0, |digit| digit + more * u64::from(e == 3));
            assert_eq!(magnitude(&distribution, 2, digits[0], extension), expected);
        }
    }
}
