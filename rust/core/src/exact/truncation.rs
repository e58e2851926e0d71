//! Where a truncated geometric distribution ends (docs/contract.md, truncated Laplace): exact bounds for a given δ.
//!
//! The distribution gives the integers from −a to b probabilities proportional to x^|k|, x = e^(−ε/D). Shift it by s ≤ D steps. Where both
//! distributions are positive, neither probability is more than e^ε times the other. δ(ε) is therefore the mass of the places where only one is
//! positive: the s outermost integers of an end. It is largest for s = D. Intervals of D integers nearer 0 have more mass, so the nearer bound
//! decides. With m and M the smaller and the larger of a and b, and m ≥ D − 1,
//!
//! ```text
//! δ = x^(m+1)·(e^ε − 1) / (1 + x − x^(m+1) − x^(M+1)),
//! ```
//!
//! which falls with m and with M. The question δ ≤ `delta` becomes, by x^(m+1)·e^ε = x^(m+1−D) and without differences,
//!
//! ```text
//! x^(m+1−D) + delta·(x^(M+1) + x^(m+1)) < delta·(1 + x) + x^(m+1).
//! ```
//!
//! Equality is impossible ([`super`]): the constant term is −`delta`, or 1 − `delta` where m + 1 = D.

use super::enclosure::decided;
use super::exp::Step;
use super::search::last_true;

/// Bounds are below this many steps.
pub const MOST: u64 = 1 << 62;

/// ε, D and δ of a truncated distribution: ε finite and positive, 1 ≤ D ≤ 2^53, 2^−128 ≤ δ ≤ ½.
#[derive(Clone, Copy, Debug)]
pub struct Truncation {
    pub eps: f64,
    pub sensitivity_steps: u64,
    pub delta: f64,
}

impl Truncation {
    /// Whether δ is at most what is allowed, for ends after `short` steps on one side and `long` on the other: D − 1 ≤ `short` ≤ `long` ≤ 2^62.
    pub fn holds(&self, short: u64, long: u64) -> bool {
        debug_assert!(self.sensitivity_steps - 1 <= short && short <= long && long <= MOST);
        let step = Step::new(self.eps, self.sensitivity_steps);
        // Equality is impossible (see above), so some precision decides.
        decided(2, |p| {
            let power = |count| step.fixed_power(count, p);
            let (near, far) = (power(short + 1), power(long + 1));
            let left = power(short + 1 - self.sensitivity_steps).plus(&near.plus(&far).scaled(self.delta));
            left.less(&power(1).linear(1, 1).scaled(self.delta).plus(&near))
        })
    }

    /// The least K for which the distribution on −K … K has at most δ. It is not D − 1, whose δ is (1 − b)/(1 + x − 2b) > ½.
    pub fn symmetric(&self) -> u64 {
        let ratio = self.eps.exp_m1() / (2.0 * self.delta);
        // Where e^ε overflows, ln(1 + ratio) is ε − ln(2·delta) to more digits than a guess needs.
        let depth = if ratio.is_finite() {
            ratio.ln_1p()
        } else {
            self.eps - (2.0 * self.delta).ln()
        };
        let inside = self.sensitivity_steps - 1;
        let guess = self.guess(depth) - inside;
        1 + inside
            + last_true(guess.saturating_sub(1), MOST - inside, |beyond| {
                !self.holds(inside + beyond, inside + beyond)
            })
    }

    /// The least bound from D on that the other side may have if one side ends after `given` ≥ D − 1 steps; `None` if there is none below 2^62.
    pub fn other(&self, given: u64) -> Option<u64> {
        let symmetric = self.symmetric();
        // x and y = x^(given + 1), rounded: for guesses alone.
        let theta = self.eps / self.sensitivity_steps as f64;
        let (x, y) = ((-theta).exp(), (-theta * (given as f64 + 1.0)).exp());
        if given >= symmetric {
            // The other side has at least D steps. The search below begins beyond.
            if self.sensitivity_steps <= given && self.holds(self.sensitivity_steps, given) {
                return Some(self.sensitivity_steps);
            }
            // x^(m+1)·(e^ε − 1 + delta) = delta·(1 + x − x^(M+1)).
            let depth = (self.eps.exp_m1() + self.delta).ln() - (self.delta * (1.0 + x - y)).ln();
            let guess = self.guess(depth) - self.sensitivity_steps;
            let fails = |more: u64| !self.holds(self.sensitivity_steps + more, given);
            return Some(1 + self.sensitivity_steps + last_true(guess.saturating_sub(1), given - self.sensitivity_steps, fails));
        }
        // δ falls with the other bound: if the farthest one leaves too much, all do.
        if !self.holds(given, MOST) {
            return None;
        }
        // delta·x^(M+1) = delta·(1 + x) − x^(m+1)·(e^ε − 1 + delta); NaN where that is not positive.
        let depth = -(1.0 + x - y * (self.eps.exp_m1() + self.delta) / self.delta).ln();
        let guess = self.guess(depth).max(given + 1) - given;
        Some(1 + given + last_true(guess - 1, MOST - given, |more| !self.holds(given, given + more)))
    }

    /// From the logarithm of x^−(K+1) to K, at least D and below 2^62.
    fn guess(&self, depth: f64) -> u64 {
        // NaN converts to 0, which becomes D.
        ((depth / self.eps * self.sensitivity_steps as f64) as u64).clamp(self.sensitivity_steps, MOST - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::questions;
    use super::*;

    /// δ by the formula, in floating point.
    fn delta(eps: f64, sensitivity_steps: u64, short: u64, long: u64) -> f64 {
        let theta = eps / sensitivity_steps as f64;
        let power = |count: u64| (-theta * count as f64).exp();
        power(short + 1 - sensitivity_steps) * -(-eps).exp_m1() / (1.0 + power(1) - power(short + 1) - power(long + 1))
    }

    fn cases() -> impl Iterator<Item = Truncation> {
        let eps = [1e-6, 1e-3, 0.1, 0.7, 1.0, 4.0, 30.0, 650.0];
        let sensitivity_steps = [1, 2, 3, 10, 1000, (1 << 33) + 5];
        let delta = [0.5, 0.3, 0.01, 1e-6, 1e-20, (-128.0_f64).exp2()];
        eps.into_iter()
            .flat_map(move |eps| {
                sensitivity_steps
                    .into_iter()
                    .map(move |sensitivity_steps| (eps, sensitivity_steps))
            })
            .flat_map(move |(eps, sensitivity_steps)| {
                delta.into_iter().map(move |delta| Truncation {
                    eps,
                    sensitivity_steps,
                    delta,
                })
            })
    }

    /// Evidence: δ in floating point, to 11 digits: what is allowed, and less would not do.
    #[test]
    fn symmetric_bounds_are_the_least() {
        for distribution in cases() {
            let (k, asked) = questions::of(|| distribution.symmetric());
            // A large K is not known to the unit.
            assert!(asked <= 4 + 2 * (64 - (k >> 44).leading_zeros()), "{distribution:?}: {asked}");
            assert!(k >= distribution.sensitivity_steps);
            let achieved = |k| delta(distribution.eps, distribution.sensitivity_steps, k, k) / distribution.delta;
            assert!(achieved(k) <= 1.0 + 1e-9, "{distribution:?}: {}", achieved(k));
            assert!(achieved(k - 1) >= 1.0 - 1e-9, "{distribution:?}: {}", achieved(k - 1));
            assert!(distribution.holds(k, k) && !distribution.holds(k - 1, k - 1));
        }
    }

    /// Evidence: the definition, and counting.
    #[test]
    fn other_bounds_are_the_least() {
        let (mut found, mut searches) = ([0; 3], [0; 2]);
        for distribution in cases() {
            let k = distribution.symmetric();
            for given in [
                distribution.sensitivity_steps,
                k - 1,
                k,
                k + 1,
                k + distribution.sensitivity_steps,
                3 * k,
            ] {
                let (_, first) = questions::of(|| distribution.symmetric());
                let (other, asked) = questions::of(|| distribution.other(given));
                let asked = asked - first;
                if given < k {
                    searches[0] += 1;
                    searches[1] += asked;
                } else {
                    // As above, a large bound is not known to the unit.
                    let bound = other.unwrap();
                    assert!(
                        asked <= 4 + 2 * (64 - (bound >> 44).leading_zeros()),
                        "{distribution:?} {given}: {asked}"
                    );
                }
                let Some(other) = other else {
                    found[0] += 1;
                    assert!(given < k && !distribution.holds(given, MOST));
                    continue;
                };
                let holds = |other: u64| distribution.holds(given.min(other), given.max(other));
                assert!(holds(other), "{distribution:?} {given} {other}");
                assert!(
                    other == distribution.sensitivity_steps || !holds(other - 1),
                    "{distribution:?} {given} {other}"
                );
                found[1 + usize::from(other > given)] += 1;
            }
        }
        assert!(found.iter().all(|&n| n > 20), "{found:?}");
        // So they are where `given` is the nearer end, but for a few whose guess is a difference of nearly equal numbers.
        assert!(searches[1] <= searches[0], "{searches:?}");
    }
}
