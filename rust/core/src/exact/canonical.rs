//! Canonical noise on the integers (docs/contract.md, canonical noise): where it ends, and from the bits of v to |X|.
//!
//! With b = e^(−ε) and c = δb/(1 − b) its survival function is, as long as it is positive,
//!
//! ```text
//! S(j) = 2a_j,   a_j = (a_1 + c)·b^(j−1) − c,   a_1 = b·(1 − δ)/(1 + b),   a_1 + c = b·(1 − b + 2δb)/((1 − b)·(1 + b)).
//! ```
//!
//! **|X|.** Times (1 − b)·(1 + b), and without differences, v < S(j) becomes
//!
//! ```text
//! v/2 + δ·(b + b²) + b^(j+1) < b^j + v/2·b² + 2δ·b^(j+1).
//! ```
//!
//! Equality is impossible for v > 0 ([`super`]): the constant term is v/2.
//!
//! **A**, the largest j with S(j) > 0. At v = 0 every term has the factor b, and what is left is
//!
//! ```text
//! δ·(1 + b) + b^j < b^(j−1) + 2δ·b^j.
//! ```
//!
//! Equality is impossible for j > 1, where the constant term is δ > 0. For j = 1 the difference of both sides is (1 − δ)·(1 − b) > 0.

use super::distribution::Forms;
use super::enclosure::decided;
use super::exp::Step;
use super::search::last_true;
use super::uniform::{Extension, Uniform};

/// Limbs of fraction at the first attempt.
const FIRST_PRECISION: usize = 3;

/// A is below this: 1 + 745/ε, and ε ≥ 2^−40.
const MOST: u64 = 1 << 50;

/// A, for 0 < `delta` < 1 and ε ≥ 2^−40.
pub fn most(eps: f64, delta: f64) -> u64 {
    let decay = (-eps).exp();
    let ratio = delta * (1.0 + decay) / (2.0 * delta).mul_add(decay, -(-eps).exp_m1());
    // NaN and negative numbers become 0.
    let guess = 1 + (-ratio.ln() / eps) as u64;
    last_true(guess, MOST, |j| is_inside(eps, delta, j))
}

/// Whether S(j) > 0.
fn is_inside(eps: f64, delta: f64, j: u64) -> bool {
    // Equality is impossible (see above), so some precision decides.
    decided(FIRST_PRECISION, |p| {
        let power = |count| Step::new(eps, 1).fixed_power(count, p);
        let here = power(j);
        let left = power(1).linear(1, 1).scaled(delta).plus(&here);
        left.less(&power(j - 1).plus(&here.scaled(delta).doubled()))
    })
}

/// |X| for the 63 leading bits of v and the extension: the number of j from 1 to `most` with v < S(j). v = 0 gives `most`.
pub fn magnitude(eps: f64, delta: f64, most: u64, v63: u64, extension: &mut Extension<'_>) -> u64 {
    let Some(mut uniform) = Uniform::new(v63, extension) else {
        return most;
    };
    let guess = guess(eps, delta, uniform.ln());
    let step = Step::new(eps, 1);
    // b², and δ·(b + b²).
    let terms = |p| {
        let decay = step.decay(p);
        let square = decay.times(&decay);
        (p, decay.plus(&square).scaled(delta), square)
    };
    uniform.search(guess, most + 1, FIRST_PRECISION, terms, |(p, tail, square), uniform, j| {
        let half_v = uniform.half(*p);
        let [here, next] = [j, j + 1].map(|count| step.fixed_power(count, *p));
        let right = here.plus(&half_v.times(square)).plus(&next.scaled(delta).doubled());
        half_v.plus(tail).plus(&next).less(&right)
    })
}

/// [`Forms::guess`] from ln(v/2): of ln(u/2), u = v + τ(1 − v), where the geometric distribution has the magnitude (`kernel::canonical`).
pub(super) fn guess(eps: f64, delta: f64, ln_half_v: f64) -> u64 {
    let (decay, drop) = ((-eps).exp(), -(-eps).exp_m1());
    // A number that underflows has the logarithm −∞, the guess of which is A.
    let mapped = (ln_half_v.exp().mul_add(drop, delta * decay) / (2.0 * delta).mul_add(decay, drop)).ln();
    Forms::geometric(eps, 1, (1, 1)).guess(mapped)
}

#[cfg(test)]
mod tests {
    use super::super::search::questions;
    use super::*;

    /// Evidence: counting, against what a search costs whose guess is right or off by one.
    #[test]
    fn guesses_of_the_bound_are_near() {
        for eps in [1e-6, 1e-3, 0.1, 0.7, 4.0, 30.0] {
            for delta in [0.9, 0.5, 0.01, 1e-6, 1e-20, 1e-38, 1e-300] {
                let (bound, asked) = questions::of(|| most(eps, delta));
                assert!(asked <= 4, "{eps} {delta}: {bound}, {asked}");
            }
        }
    }

    /// Evidence: the digits of S(1) = 2(1 − δ)/(1 + e) for δ = 1/16, by Python's `decimal`. The last word decides.
    #[test]
    fn digits_are_compared_to_the_last() {
        let digits = [
            0x408b_c2cc_3dbb_77a2,
            0x7d34_180a_c154_f732,
            0x5606_06ec_a9d3_67b1,
            0x729e_862c_d54f_6402,
            0xdafd_4b48_e5b9_2cc0,
        ];
        let (eps, delta) = (1.0, 1.0 / 16.0);
        for (more, expected) in [(0, 1), (1, 0)] {
            let extension = &mut |e: usize| digits.get(1 + e).map_or(0, |digit| digit + more * u64::from(e == 3));
            assert_eq!(magnitude(eps, delta, most(eps, delta), digits[0], extension), expected);
        }
    }
}
