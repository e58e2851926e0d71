//! The geometric distribution on −a … b (docs/contract.md, truncated Laplace): from the bits of v to X.
//!
//! With x = e^(−ε/D) and N = 1 + x − x^(a+1) − x^(b+1), which is (1 − x) times the sum of all weights,
//!
//! ```text
//! P(X ≥ k) = (x^k − x^(b+1))/N  for k = 0 … b,     P(X ≤ −k) = (x^k − x^(a+1))/N  for k = 1 … a.
//! ```
//!
//! X ≥ k means v < P(X ≥ k), and X ≤ −k means 1 − v ≤ P(X ≤ −k). With w for v or 1 − v, and e for b or a, either becomes, without differences,
//!
//! ```text
//! w·(1 + x) + x^(e+1) < x^k + w·(x^(a+1) + x^(b+1)).
//! ```
//!
//! Equality is impossible for 0 < w < 1 ([`super`]): the constant term is w, or w − 1 where k = 0. v = 0 gives b. The digits that follow the last
//! extension word are 0 for v, and taken as 0 for 1 − v: that is short by 2^−524351.

use super::enclosure::Enclosure;
use super::exp::Step;
use super::limbs;
use super::uniform::{Extension, Uniform};

/// Limbs of fraction at the first attempt.
const FIRST_PRECISION: usize = 3;

/// e^(−ε|k|/D) on −`below` … `above`, 1 ≤ D ≤ 2^53, with ends from 1 to 2^62.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruncatedGeometric {
    pub eps: f64,
    pub sensitivity_steps: u64,
    pub below: u64,
    pub above: u64,
}

impl TruncatedGeometric {
    /// The least m for which N·2^m ≥ 1; and 1, x^(b+1) and x^(a+1) divided by N·2^m, in 2^−127, off by less than 2^−120.
    ///
    /// Powers are known to 2^14 units of 2^−192 (`exp::width`), and N is above 2^−42, because a and b are at least D − 1 and ε at least 2^−40.
    pub fn shares(&self) -> (u32, [u128; 3]) {
        let terms = Terms::new(self, FIRST_PRECISION);
        let mut total = terms.sum.minus(&terms.ends[0].plus(&terms.ends[1])).lo;
        let shift = if total[FIRST_PRECISION] > 0 {
            0
        } else {
            1 + total[FIRST_PRECISION - 1].leading_zeros()
        };
        // Half of each share, in 2^−128.
        limbs::shl(&mut total, shift as usize + 1);
        let one = Enclosure::point(1, FIRST_PRECISION);
        let share = |numerator: &Enclosure| limbs::wide(&limbs::quotient(&numerator.lo, &total, 2));
        (shift, [&one, &terms.ends[0], &terms.ends[1]].map(share))
    }

    /// X for the 63 leading bits of v and the extension.
    pub fn steps(&self, v63: u64, extension: &mut Extension<'_>) -> i64 {
        let Some(mut v) = Uniform::new(v63, extension) else {
            return self.above.cast_signed();
        };
        let terms = |p| Terms::new(self, p);
        let is_negative = v.search(1, 2, FIRST_PRECISION, terms, |terms, v, _| terms.is_below(v, 0, 0)) == 0;
        let (flip, side, end) = if is_negative {
            (u64::MAX, 1, self.below)
        } else {
            (0, 0, self.above)
        };
        // The number of k from 1 to the end with w < (x^k − x^(e+1))/N, which is all of them for w = 0.
        let mut digits = |e| extension(e) ^ flip;
        let distance = Uniform::new(v63 ^ (flip >> 1), &mut digits).map_or(end, |mut w| {
            let guess = self.guess(w.ln(), end);
            w.search(guess, end + 1, FIRST_PRECISION, terms, |terms, w, k| {
                terms.is_below(w, side, k)
            })
        });
        if is_negative {
            -distance.cast_signed()
        } else {
            distance.cast_signed()
        }
    }

    /// Where x^k, interpolated between the integers, meets w·N + x^(`end` + 1), in floating point and rounded.
    fn guess(&self, ln_half_w: f64, end: u64) -> u64 {
        let rate = Step::new(self.eps, self.sensitivity_steps).approximate();
        let tail = |end: u64| (-rate * (end as f64 + 1.0)).exp();
        let total = 1.0 + (-rate).exp() - tail(self.below) - tail(self.above);
        // A number that underflows has the logarithm −∞, the guess of which is the end.
        let met = 2.0 * ln_half_w.exp() * total + tail(end);
        ((-met.ln() / rate).round() as u64).max(1)
    }
}

/// What the comparisons are made of, with `p` limbs of fraction.
struct Terms {
    step: Step,
    p: usize,
    /// 1 + x.
    sum: Enclosure,
    /// x^(b+1) and x^(a+1).
    ends: [Enclosure; 2],
}

impl Terms {
    fn new(distribution: &TruncatedGeometric, p: usize) -> Self {
        let step = Step::new(distribution.eps, distribution.sensitivity_steps);
        Self {
            step,
            p,
            sum: step.decay(p).linear(1, 1),
            ends: [distribution.above, distribution.below].map(|end| step.fixed_power(end + 1, p)),
        }
    }

    /// Whether w·N + x^(e+1) < x^k, if this precision decides it; `side` is 0 for e = b and 1 for e = a.
    fn is_below(&self, w: &mut Uniform<'_>, side: usize, k: u64) -> Option<bool> {
        let digits = w.half(self.p).doubled();
        let [above, below] = &self.ends;
        let right = self.step.fixed_power(k, self.p).plus(&digits.times(&above.plus(below)));
        digits.times(&self.sum).plus(&self.ends[side]).less(&right)
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::questions;
    use super::*;

    fn distributions() -> impl Iterator<Item = TruncatedGeometric> {
        let of = |(eps, sensitivity_steps, below, above)| TruncatedGeometric {
            eps,
            sensitivity_steps,
            below,
            above,
        };
        [
            (1.0, 1, 1, 1),
            (1.0, 1, 3, 1),
            (0.3, 7, 9, 20),
            (1e-3, 4, 5, 4),
            (1e-9, 1 << 20, 1 << 20, 1 << 21),
            (4.0, 1 << 35, 1 << 36, 1 << 37),
            (0.5, 1 << 33, 1 << 36, 1 << 34),
            (700.0, 1 << 40, 1 << 41, 1 << 42),
        ]
        .into_iter()
        .map(of)
    }

    /// Evidence: counting, against what a search costs whose guess is right or off by one; the side is one question.
    #[test]
    fn guesses_are_near() {
        for distribution in distributions() {
            for v63 in (1..64).map(|i| (i << 57) | 0x0123_4567_89ab_cdef) {
                let (x, asked) = questions::of(|| distribution.steps(v63, &mut |_: usize| 0x5555_5555_5555_5555));
                // A large X is not known to the unit.
                let beyond = 2 * (64 - (x.unsigned_abs() >> 44).leading_zeros());
                assert!(asked <= 5 + beyond, "{distribution:?} {v63:x}: {x}, {asked}");
            }
        }
    }

    /// Evidence: the same with twice as many limbs, by cross-multiplication in floating point.
    #[test]
    fn shares_are_those_of_the_powers() {
        for distribution in distributions() {
            let rate = distribution.eps / distribution.sensitivity_steps as f64;
            let tail = |end: u64| (-rate * (end as f64 + 1.0)).exp();
            let (above, below) = (tail(distribution.above), tail(distribution.below));
            // 1 + x − x^(a+1) − x^(b+1) without a difference of nearly equal numbers.
            let total = -(-rate * (distribution.above as f64 + 1.0)).exp_m1()
                - (-rate).exp() * (-rate * distribution.below as f64).exp_m1();
            let (shift, shares) = distribution.shares();
            for (share, expected) in shares.into_iter().zip([1.0, above, below]) {
                let share = share as f64 * (f64::from(shift) - 127.0).exp2();
                assert!(
                    (share * total / expected.max(1e-30) - expected / expected.max(1e-30)).abs() < 1e-9,
                    "{distribution:?}: {share}"
                );
            }
            assert!(
                total * f64::from(shift).exp2() >= 1.0 - 1e-12 && total * f64::from(shift).exp2() < 2.0,
                "{distribution:?}"
            );
        }
    }

    /// Evidence: the digits of P(X ≥ 1) = (x − x²)/(1 + x − 2x²) with x = 1/e, by Python's `decimal`. The last word decides; v = 0 and the v next to 1
    /// give the ends.
    #[test]
    fn digits_are_compared_to_the_last() {
        let digits = [
            0x1b20_e6a5_5078_a426,
            0x0cc8_0b30_a233_cb54,
            0xc307_fdb6_ad46_540e,
            0x60e7_a1a5_ae60_40a2,
            0x72a9_cc37_5459_7632,
        ];
        let distribution = TruncatedGeometric {
            eps: 1.0,
            sensitivity_steps: 1,
            below: 1,
            above: 1,
        };
        for (more, expected) in [(0, 1), (1, 0)] {
            let extension = &mut |e: usize| digits.get(1 + e).map_or(0, |digit| digit + more * u64::from(e == 3));
            assert_eq!(distribution.steps(digits[0], extension), expected);
        }
        assert_eq!(distribution.steps(0, &mut |_: usize| 0), 1);
        assert_eq!(distribution.steps((1 << 63) - 1, &mut |_: usize| u64::MAX), -1);
    }
}
