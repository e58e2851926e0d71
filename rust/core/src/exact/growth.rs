//! The best probabilities of showing a partition (docs/contract.md, selecting partitions): exact comparisons with π(n).
//!
//! With b = e^(−ε), π(n) follows one rule up to n₁ and another beyond:
//!
//! ```text
//! π(n)        = δ·(1 − b^n) / (b^(n−1)·(1 − b)),                 1 ≤ n ≤ n₁
//! 1 − π(n₁+m) = b^m·(1 − π(n₁)) − δ·b·(1 − b^m) / (1 − b),       m ≥ 1, while it is positive
//! ```
//!
//! n₁ is the first n with π(n)·(1 + b) > b·(1 − δ), from which on the second rule gives less than the first; n₂ is the first n with π(n) = 1. Each
//! question is multiplied by its denominators and by the power of b that leaves no negative exponent, and has what is subtracted on the other side.
//!
//! Equality is impossible ([`super`]): each question names its constant term, which is not 0.

use super::choice::Expansion;
use super::enclosure::{Enclosure, decided};
use super::exp::Step;
use super::limbs;
use super::search::last_true;
use super::uniform::Extension;

/// n₂ is below this for ε ≥ 2^−40 and δ ≥ 2^−128.
const MOST: u64 = 1 << 50;

/// The precision of the first answer, in limbs.
const FIRST: usize = 2;

/// Limbs of fraction of the prefixes' enclosures. A step adds an error of three units and shrinks earlier ones by b ≤ 1 − 2^−41: 2^43 units.
const PREFIX: usize = 3;

/// Limbs of fraction for π(n₁), which is a quotient by at least δ·(1 − b) > 2^−170.
const QUOTIENT: usize = 8;

/// ε and δ, and where the rules change: ε ≥ 2^−40 finite, 2^−128 ≤ δ ≤ ½.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    eps: f64,
    delta: f64,
    /// n₁.
    pub rising: u64,
    /// n₂.
    pub certain: u64,
}

impl Growth {
    /// Finds n₁ and n₂.
    pub fn new(eps: f64, delta: f64) -> Self {
        let mut growth = Self {
            eps,
            delta,
            rising: 0,
            certain: MOST,
        };
        growth.rising = 1 + last_true(growth.guess_rising(), MOST, |n| growth.is_rising(n));
        let guess = growth.guess_certain();
        // `last_true` takes its 0 as true: that is m = −1.
        growth.certain = growth.rising + last_true(guess, MOST, |above| !growth.is_last(above - 1)) + 1;
        growth
    }

    /// The least n with π(n) > ½, which is n₁ or n₁ + 1: π(n₁ − 1) ≤ b·(1 − δ)/(1 + b) < ½ < 1 − b·(1 − δ)/(1 + b) < π(n₁ + 1).
    pub fn median(&self) -> u64 {
        let half = self.contains(self.rising, 1 << 63, &mut |_| 0);
        self.rising + u64::from(!half)
    }

    /// Whether u < π(n), u the number whose binary expansion is `word` followed by the extension.
    pub fn contains(&self, n: u64, word: u64, extension: &mut Extension<'_>) -> bool {
        let mut u = Expansion { word, extension };
        match n {
            0 => false,
            // δ has at most 53 + 128 bits, so three limbs hold it, and u < δ means that u's first three words are below.
            1 => limbs::less(&u.enclosure(PREFIX).lo, &self.delta(PREFIX).lo),
            n if n >= self.certain => true,
            n => decided(FIRST, |p| self.is_below(n, &u.enclosure(p), p)),
        }
    }

    /// Calls `visit` with n and ⌊π(n)·2^64⌋ for every n from 1 to n₂ − 1, in some order.
    pub fn visit_prefixes(&self, mut visit: impl FnMut(u64, u64)) {
        let (b, delta, one) = (self.b(PREFIX), self.delta(PREFIX), Enclosure::point(1, PREFIX));
        visit(1, delta.lo[PREFIX - 1]);
        // Both rules are followed in the direction in which they multiply by b, which shrinks errors.
        let top = self.top();
        let mut shown = top.clone();
        for n in (2..=self.rising).rev() {
            visit(n, self.prefix(n, &shown));
            shown = shown.minus(&delta).times(&b);
        }
        let mut hidden = one.minus(&top);
        for n in self.rising + 1..self.certain {
            hidden = hidden.minus(&delta).times(&b);
            visit(n, self.prefix(n, &one.minus(&hidden)));
        }
    }

    /// ⌊π(n)·2^64⌋ for n ≥ 2. Where the enclosure leaves it open, which has probability 2^−80 or so, the coin says.
    fn prefix(&self, n: u64, shown: &Enclosure) -> u64 {
        let low = shown.lo[PREFIX - 1];
        // The integer limb of the upper end is 1 where rounding outwards reached it.
        let mut prefix = if shown.hi[PREFIX] > 0 {
            u64::MAX
        } else {
            shown.hi[PREFIX - 1]
        };
        while prefix > low && !self.contains(n, prefix, &mut |_| 0) {
            prefix -= 1;
        }
        prefix
    }

    /// π(n₁), with [`PREFIX`] limbs.
    fn top(&self) -> Enclosure {
        let p = QUOTIENT;
        let one = Enclosure::point(1, p);
        let power = |count| self.power(count, p);
        let numerator = one.minus(&power(self.rising)).scaled(self.delta);
        let denominator = power(self.rising - 1).times(&one.minus(&power(1)));
        let mut hi = limbs::quotient(&numerator.hi, &denominator.lo, PREFIX);
        limbs::add_small(&mut hi, 1);
        Enclosure {
            lo: limbs::quotient(&numerator.lo, &denominator.hi, PREFIX),
            hi,
        }
    }

    /// π(n)·(1 + b) < b·(1 − δ), for n ≥ 1 under the first rule. The constant term is δ.
    fn is_rising(&self, n: u64) -> bool {
        decided(FIRST, |p| {
            let (one, b) = (Enclosure::point(1, p), self.b(p));
            let after = self.power(n + 1, p);
            let left = one.plus(&b).scaled(self.delta).plus(&after);
            let right = self.power(n, p).plus(&after.plus(&after).scaled(self.delta));
            left.less(&right)
        })
    }

    /// Whether π(n₁ + m + 1) = 1: 1 − π(n₁ + m) ≤ δ. The constant term is one of the right side's alone, but for n₁ + m = 1.
    fn is_last(&self, m: u64) -> bool {
        if self.rising + m == 1 {
            // 1 − δ ≤ δ.
            return self.delta >= 0.5;
        }
        let (k, first) = self.cleared(m);
        decided(FIRST, |p| {
            let power = |count| self.power(count, p);
            let beyond = power(m + k + 1);
            let left = power(m + k).plus(&beyond.plus(&beyond).scaled(self.delta));
            let right = beyond.plus(&power(first).plus(&power(k)).scaled(self.delta));
            left.less(&right)
        })
    }

    /// u < π(n) for 2 ≤ n < n₂, if this precision decides it.
    fn is_below(&self, n: u64, u: &Enclosure, p: usize) -> Option<bool> {
        match n.checked_sub(self.rising) {
            None | Some(0) => self.is_below_rising(n, u, p),
            Some(above) => self.is_below_falling(above, u, p),
        }
    }

    /// The constant term is δ.
    fn is_below_rising(&self, n: u64, u: &Enclosure, p: usize) -> Option<bool> {
        let (before, at) = (self.power(n - 1, p), self.power(n, p));
        let left = u.times(&before).plus(&at.scaled(self.delta));
        let right = u.times(&at).plus(&self.delta(p));
        left.less(&right)
    }

    /// u < π(n₁ + m). The constant term is δ, or where k = 0 it is 1 − u or that and δ.
    fn is_below_falling(&self, m: u64, u: &Enclosure, p: usize) -> Option<bool> {
        let power = |count| self.power(count, p);
        let (k, first) = self.cleared(m);
        let (low, next) = (power(k), power(k + 1));
        let (far, beyond) = (power(m + k), power(m + k + 1));
        let left = u
            .times(&low)
            .plus(&next)
            .plus(&far)
            .plus(&beyond.plus(&beyond).scaled(self.delta));
        let right = u
            .times(&next)
            .plus(&low)
            .plus(&beyond)
            .plus(&power(first).plus(&next).scaled(self.delta));
        left.less(&right)
    }

    /// The power k of b by which the second rule is multiplied, and the exponent of b^(m + 1 − n₁) after that: m + k + 1 − n₁.
    fn cleared(&self, m: u64) -> (u64, u64) {
        let k = self.rising.saturating_sub(m + 1);
        (k, k + m + 1 - self.rising)
    }

    fn b(&self, p: usize) -> Enclosure {
        self.power(1, p)
    }

    fn power(&self, count: u64, p: usize) -> Enclosure {
        Step::new(self.eps, 1).fixed_power(count, p)
    }

    fn delta(&self, p: usize) -> Enclosure {
        Enclosure::point(1, p).scaled(self.delta)
    }

    /// How many n are rising, about. NaN converts to 0.
    fn guess_rising(&self) -> u64 {
        let b = (-self.eps).exp();
        let depth = ((1.0 - b + 2.0 * self.delta * b) / (self.delta * (1.0 + b))).ln();
        (depth / self.eps) as u64
    }

    /// How many m ≥ 0 are not the last, about. NaN converts to 0.
    fn guess_certain(&self) -> u64 {
        let b = (-self.eps).exp();
        let top = self.delta * (-self.eps * self.rising as f64).exp_m1() / (-self.eps).exp_m1()
            * ((self.rising - 1) as f64 * self.eps).exp();
        let beyond = self.delta * b / -(-self.eps).exp_m1();
        (((1.0 - top + beyond) / (self.delta + beyond)).ln() / self.eps + 1.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory;

    /// π(n) in floating point by the recursion that defines it, until it is 1.
    fn recursion(eps: f64, delta: f64) -> Vec<f64> {
        let (mut shown, mut hidden, b) = (vec![0.0], 1.0, (-eps).exp());
        while hidden > 0.0 {
            let last = shown[shown.len() - 1];
            let (up, down) = (last / b + delta, b * (hidden - delta));
            let rises = up < 1.0 - down;
            hidden = if rises { 1.0 - up } else { down.max(0.0) };
            shown.push(if rises { up } else { 1.0 - hidden });
        }
        shown
    }

    fn cases() -> impl Iterator<Item = (f64, f64)> {
        let eps = [0.01, 0.1, 0.7, 1.0, 3.0, 9.5, 40.0];
        let delta = [0.45, 0.1, 1e-3, 1e-6, 1e-12, 1e-30];
        eps.into_iter()
            .flat_map(move |eps| delta.into_iter().map(move |delta| (eps, delta)))
    }

    /// Evidence: the definition, in floating point, to the digits that it has.
    #[test]
    fn prefixes_are_those_of_the_definition() {
        for (eps, delta) in cases() {
            let (growth, shown) = (Growth::new(eps, delta), recursion(eps, delta));
            assert_eq!(growth.certain, shown.len() as u64 - 1, "{growth:?}");
            assert!(shown[growth.median() as usize] > 0.5 && shown[growth.median() as usize - 1] < 0.5);
            let mut found = memory::filled(u64::MAX, shown.len()).unwrap();
            growth.visit_prefixes(|n, prefix| found[n as usize] = prefix);
            for (n, prefix) in (1..growth.certain).map(|n| (n, found[n as usize])) {
                let p = prefix as f64 / 64.0_f64.exp2();
                assert!(
                    (p - shown[n as usize]).abs() <= 1e-12 * shown[n as usize] + 1e-19,
                    "{growth:?} {n} {p}"
                );
            }
        }
    }

    /// Evidence: the coin, which computes each probability alone, agrees with each prefix: words on both sides of it.
    #[test]
    fn prefixes_are_exact() {
        for (eps, delta) in cases().chain([
            (1e-9, 0.5),
            (700.0, 0.5),
            (700.0, 2.0_f64.powi(-128)),
            (60.0, 2.0_f64.powi(-128)),
        ]) {
            let growth = Growth::new(eps, delta);
            if growth.certain > 3000 {
                continue;
            }
            growth.visit_prefixes(|n, prefix| {
                let shows = |word: u64, rest: u64| growth.contains(n, word, &mut |_| rest);
                assert!(prefix == 0 || shows(prefix - 1, u64::MAX), "{growth:?} {n}");
                assert!(prefix == u64::MAX || !shows(prefix + 1, 0), "{growth:?} {n}");
                assert!(n == 1 || shows(prefix, 0), "{growth:?} {n}");
            });
        }
    }

    /// Evidence: the same prefixes, from enclosures that leave several of them open.
    #[test]
    fn an_open_prefix_is_settled_by_the_coin() {
        let growth = Growth::new(0.7, 1e-3);
        let end = |prefix| {
            let mut end = limbs::Limbs::zero(PREFIX + 1);
            end[PREFIX - 1] = prefix;
            end
        };
        growth.visit_prefixes(|n, prefix| {
            // δ is no question for the coin.
            let widths = if n > 1 { &[(0, 0), (0, 3), (2, 0), (2, 3)][..] } else { &[] };
            for (below, above) in widths {
                let open = Enclosure {
                    lo: end(prefix - below),
                    hi: end(prefix + above),
                };
                assert_eq!(growth.prefix(n, &open), prefix, "{n} {below} {above}");
            }
        });
    }

    /// Evidence: where the searches end. Numbers do not depend on a guess, so that no other test sees one that is far off.
    #[test]
    fn guesses_are_right_but_for_rounding() {
        for (eps, delta) in cases() {
            let growth = Growth::new(eps, delta);
            assert!(growth.guess_rising().abs_diff(growth.rising - 1) <= 1, "{growth:?}");
            // Where nothing is between, the search begins at 1.
            let above = growth.certain.saturating_sub(growth.rising + 1);
            assert!(growth.guess_certain().abs_diff(above) <= 1, "{growth:?}");
        }
    }

    /// Evidence: δ is rational, so that its own digits are not below it, and those just before are.
    #[test]
    fn one_person_is_shown_below_delta() {
        let growth = Growth::new(1.0, 0.25 + 2.0_f64.powi(-54));
        let shows = |word, first: u64| growth.contains(1, word, &mut |e| if e == 0 { first } else { 0 });
        assert!(shows(1 << 62, u64::MAX) && shows((1 << 62) + 1023, u64::MAX) && !shows((1 << 62) + 1024, 0));
        let growth = Growth::new(1.0, 2.0_f64.powi(-120));
        let shows = |first: u64, then: u64| growth.contains(1, 0, &mut |e| [first, then].get(e).copied().unwrap_or(0));
        assert!(shows(255, u64::MAX) && !shows(256, 0));
    }

    #[test]
    fn nobody_is_never_shown_and_from_some_number_on_all_are() {
        for (eps, delta) in cases().chain([(2.0_f64.powi(-40), 2.0_f64.powi(-128)), (700.0, 0.5), (1e300, 0.5)]) {
            let growth = Growth::new(eps, delta);
            assert!(!growth.contains(0, 0, &mut |_| 0));
            assert!(growth.contains(growth.certain, u64::MAX, &mut |_| u64::MAX));
            assert!(growth.contains(1, 0, &mut |_| 0));
            assert!(!growth.contains(growth.certain - 1, u64::MAX, &mut |_| u64::MAX));
        }
        // 1 − π(2) is far below the last bit of u.
        assert!(Growth::new(1e7, 1e-9).contains(2, u64::MAX, &mut |e| u64::from(e > 3) * u64::MAX));
    }

    #[test]
    fn half_is_shown_from_two_on() {
        let growth = Growth::new(1.0, 0.5);
        assert_eq!((growth.rising, growth.certain, growth.median()), (1, 2, 2));
    }
}
