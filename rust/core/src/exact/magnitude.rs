//! From the bits of v to |X|.
//!
//! With b = e^(−step) all survival functions of docs/contract.md are quotients of linear forms in b,
//!
//! ```text
//! S(j)/2 = e^(−count·step) · (k + m·b) / (A + B·b)
//!
//! geometric   step = ε/D   count = j   k = 1            m = 0       A = 1        B = 1
//! one-sided   step = ε/D   count = j   k = 1            m = 0       A = 2        B = 0
//! staircase   step = ε     count = J   k = r + JD − j   m = D − k   A = 2r − 1   B = 2D − A
//! ```
//!
//! (the staircase by multiplying numerator and denominator by 1 − b: k(1 − b) + D·b = k + (D − k)·b). All of k, m, A, B are nonnegative
//! integers, k and A positive, so nothing cancels. The question v < S(j) becomes
//!
//! ```text
//! v/2 · (A + B·b) < e^(−count·step) · (k + m·b).
//! ```
//!
//! Equality is impossible ([`super`]): for count > 0 the constant term is v/2·A > 0. For count = 0 all coefficients vanish only if v/2·A = k and
//! v/2·B = D − k. With A + B = 2D that gives A = 2k, but A is odd.

use super::canonical;
use super::distribution::{Forms, IntegerDistribution, LARGEST};
use super::enclosure::Enclosure;
use super::exp::Power;
use super::gaussian;
use super::truncated_staircase;
use super::uniform::{Extension, Uniform};

/// X for a word and the extension.
pub fn steps(distribution: &IntegerDistribution, word: u64, extension: &mut Extension<'_>) -> i64 {
    let v63 = word & (u64::MAX >> 1);
    if let IntegerDistribution::TruncatedGeometric(truncated) = distribution {
        return truncated.steps(v63, extension);
    }
    // `magnitude` saturates at `i64::MAX`, so that the negation cannot overflow.
    let magnitude = magnitude(distribution, v63, extension).cast_signed();
    if word == v63 { magnitude } else { -magnitude }
}

/// |X| for the 63 leading bits `v63` < 2^63 of v and the extension: the number of integers j ≥ 1 with v < S(j), at most `i64::MAX`.
///
/// v = 0 is below every S(j) and gives `i64::MAX`. Extension words are drawn for a `v63` of fewer than 52 bits or left open.
pub fn magnitude(distribution: &IntegerDistribution, v63: u64, extension: &mut Extension<'_>) -> u64 {
    debug_assert!(v63 < 1 << 63);
    let forms = match *distribution {
        IntegerDistribution::Geometric { eps, sensitivity_steps } => Forms::geometric(eps, sensitivity_steps, (1, 1)),
        IntegerDistribution::OneSided { eps, sensitivity_steps } => Forms::geometric(eps, sensitivity_steps, (2, 0)),
        IntegerDistribution::Staircase(staircase) => Forms::staircase(staircase),
        IntegerDistribution::TruncatedStaircase { staircase, most } => {
            return truncated_staircase::magnitude(&staircase, most, v63, extension);
        }
        IntegerDistribution::TruncatedGeometric(truncated) => return truncated.steps(v63, extension).unsigned_abs(),
        IntegerDistribution::Canonical { eps, delta, most } => return canonical::magnitude(eps, delta, most, v63, extension),
        IntegerDistribution::Gaussian { sigma2 } => return gaussian::magnitude(sigma2, v63, extension),
    };
    let Some(mut uniform) = Uniform::new(v63, extension) else {
        return LARGEST;
    };
    let guess = forms.guess(uniform.ln());
    // b, known to 2^13 units of 2^−128 (`exp::width`), enters with a factor up to 2·D beside A ≥ 1: below 2^46 steps the error is below 2^−67.
    let p = if forms.sensitivity_steps < 1 << 46 { 2 } else { 3 };
    uniform.search(guess, LARGEST + 1, p, |p| Terms::new(&forms, p), Terms::is_below)
}

/// What the comparisons are made of, with `p` limbs of fraction.
struct Terms<'a> {
    forms: &'a Forms,
    p: usize,
    /// A + B·b.
    denominator: Enclosure,
    b: Enclosure,
    /// The power of b last used, because neighbouring thresholds often share it.
    recent: (u64, Option<Power>),
}

impl<'a> Terms<'a> {
    fn new(forms: &'a Forms, p: usize) -> Self {
        let power = forms.step.power(1, p);
        // `decay` would make the power a second time; it is kept for count = 1.
        let b = Power::fixed_or_tiny(power.as_ref(), p);
        let (constant, slope) = forms.denominator;
        Self {
            forms,
            p,
            denominator: b.linear(constant, slope),
            b,
            recent: (1, power),
        }
    }

    /// v/2 · (A + B·b) < e^(−count·step) · (k + m·b), if this precision decides it.
    ///
    /// With z and n the binary exponents of the two sides, left·2^z is in [1/2, 2^54) and right·2^n in [1, 2^55): exponents 60 apart decide alone,
    /// and otherwise a shift by the difference fits the integer limb.
    fn is_below(&mut self, uniform: &mut Uniform<'_>, j: u64) -> Option<bool> {
        let numerator = self.forms.numerator(j);
        if self.recent.0 != numerator.count {
            self.recent = (numerator.count, self.forms.step.power(numerator.count, self.p));
        }
        // Where there is no power, the right side is below 2^(−1 500 000), and v is above 2^(−64·8193).
        let Some(power) = &self.recent.1 else {
            return Some(false);
        };
        let (z, n) = (uniform.exponent(), power.shift);
        if z.abs_diff(n) >= 60 {
            return Some(n < z);
        }
        let mut left = uniform.enclosure(self.p);
        let mut right = power.mantissa.clone();
        left.shl(n.saturating_sub(z));
        right.shl(z.saturating_sub(n));
        left.mul(&self.denominator)
            .less(&right.mul(&self.b.linear(numerator.k, numerator.m)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Staircase;

    /// Evidence: the definition of a guess. Values do not depend on it, so that no other test sees one that is far off: it would cost many questions.
    #[test]
    fn a_guess_is_the_magnitude_or_one_more() {
        let v63s =
            (0..50).flat_map(|zeros| [0x5555_5555_5555_5555, 0x7123_4567_89ab_cdef, (1_u64 << 63) - 1].map(|bits| bits >> zeros));
        let mut distributions = Vec::new();
        for eps in [0.003, 0.3, 4.0, 30.0] {
            for (sensitivity_steps, r) in [(1, 1), (10, 4), (1000, 1000), (1 << 20, 77)] {
                distributions.extend([
                    IntegerDistribution::Geometric { eps, sensitivity_steps },
                    IntegerDistribution::OneSided { eps, sensitivity_steps },
                    IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r)),
                ]);
            }
            for delta in [0.1, 1e-6, 1e-20] {
                let most = canonical::most(eps, delta);
                distributions.push(IntegerDistribution::Canonical { eps, delta, most });
            }
        }
        for v63 in v63s {
            for distribution in &distributions {
                let mut extension = |_| 0x0123_4567_89ab_cdef;
                let x = magnitude(distribution, v63, &mut extension);
                let ln = Uniform::new(v63, &mut extension).expect("not zero").ln();
                let guess = match *distribution {
                    IntegerDistribution::Geometric { eps, sensitivity_steps } => {
                        Forms::geometric(eps, sensitivity_steps, (1, 1)).guess(ln)
                    }
                    IntegerDistribution::OneSided { eps, sensitivity_steps } => {
                        Forms::geometric(eps, sensitivity_steps, (2, 0)).guess(ln)
                    }
                    IntegerDistribution::Staircase(staircase) => staircase.guess(ln),
                    IntegerDistribution::Canonical { eps, delta, .. } => canonical::guess(eps, delta, ln),
                    _ => unreachable!(),
                };
                let beyond = matches!(*distribution, IntegerDistribution::Canonical { most, .. } if x == most && guess > most);
                assert!(
                    guess == x || guess == x + 1 || beyond,
                    "{distribution:?} {v63:x}: {guess} of {x}"
                );
            }
        }
    }

    /// Evidence: κ·(−ln v) is 10^300 or so.
    #[test]
    fn magnitudes_saturate_at_the_largest_integer() {
        let (eps, sensitivity_steps, r) = (1e-300, 1, 1);
        for distribution in [
            IntegerDistribution::Geometric { eps, sensitivity_steps },
            IntegerDistribution::OneSided { eps, sensitivity_steps },
            IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r)),
        ] {
            assert_eq!(
                magnitude(&distribution, 1 << 61, &mut |_| 0),
                i64::MAX.cast_unsigned(),
                "{distribution:?}"
            );
        }
    }
}
