//! Weights of the magnitude of the Skellam distribution: modified Bessel functions, by their recurrence alone.

use core::ops::ControlFlow;

use crate::draw::Share;
use crate::error::ParamError;
use crate::exact::{Enclosure, Limbs, Weights, limbs};
use crate::lattice::decompose;

/// Below, the distribution is 0 but for a probability of 2⁻²⁰.
const LEAST_MU: f64 = 1.0 / (1 << 20) as f64;
/// Above, a value would take more than 64 draws.
const MOST_MU: f64 = (1 << 30) as f64;
/// A share of less would have an inverse without room for the index in its one integer limb.
const LEAST_SHARE: f64 = 1.0 / (1_u64 << 40) as f64;
/// log₂ of the largest variance of a table, which then has some 38 000 thresholds.
const LOG2_MOST_TABLE: i32 = 24;

/// P(|X| = k) ∝ I₀(ν) for k = 0 and 2·I_k(ν) beyond, ν = μ·present/(parties·terms). The ν of independent X add up: the share is a sum of `terms`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkellamMagnitude {
    mu: f64,
    share: Share,
    pub terms: u64,
    /// ν in floating point, for choices that no value depends on.
    approximate: f64,
}

impl SkellamMagnitude {
    /// One of as few equal terms as tables allow.
    pub fn new(mu: f64, share: Share) -> Result<Self, ParamError> {
        let whole = mu * share.fraction();
        ParamError::require((LEAST_MU..=MOST_MU).contains(&mu), "mu", "from 2**-20 to 2**30", mu)?;
        ParamError::require(whole >= LEAST_SHARE, "mu", "at least 2**-40 for each party", mu)?;
        let terms = terms(mu, share);
        Ok(Self {
            mu,
            share,
            terms,
            approximate: whole / terms as f64,
        })
    }

    /// 2/ν with `p` limbs of fraction.
    fn step(&self, p: usize) -> Enclosure {
        let (significand, exponent) = decompose(self.mu);
        let (inverse, divisors) = ([2 * self.share.parties() * self.terms], [significand, self.share.present()]);
        Enclosure::above(limbs::scaled_quotient(&inverse, -exponent, &divisors, p), 1)
    }

    /// −ln(I_k/I₀) by the first term of the uniform expansion (DLMF 10.41.3), off by less than 2.
    fn decay(&self, k: u64) -> f64 {
        let (nu, k) = (self.approximate, k as f64);
        let hypotenuse = k.hypot(nu);
        let (two_pi, fall) = (
            core::f64::consts::TAU,
            k.mul_add((k / nu).asinh(), -k * k / (hypotenuse + nu)),
        );
        fall + 0.5 * (two_pi * hypotenuse / (two_pi * nu).max(1.0)).max(1.0).ln()
    }

    /// The least k with I_k/I₀ below 2^(−bits), roughly.
    fn reach(&self, bits: usize) -> u64 {
        let nepers = bits as f64 * core::f64::consts::LN_2;
        let far = |k: &u64| self.decay(*k) >= nepers;
        let (mut below, mut above) = (0, 1);
        while !far(&above) {
            (below, above) = (above, 2 * above);
        }
        while above - below > 1 {
            let middle = below.midpoint(above);
            (below, above) = if far(&middle) { (below, middle) } else { (middle, above) };
        }
        above
    }

    /// Enclosures of A·I₀ and A·I₁ for some A > 0, A·I₀ near 1.
    ///
    /// Miller's algorithm: y_{k−1} = y_{k+1} + (2k/ν)·y_k, the recurrence of I_k, from y_{far+1} = 0 and y_far = 2^(−e) on; A = y₀/I₀.
    ///
    /// * I_far/I₀ ≤ y_far/y₀, because I is I_far/y_far times y plus a solution that starts with I_{far+1} > 0 and stays positive;
    /// * |I₀·y₁ − I₁·y₀| = I_{far+1}·y_far, as |I_k·y_{k+1} − I_{k+1}·y_k| is the same for every k.
    ///
    /// With I_{far+1} < I_far (the distribution is symmetric and falls from 0: Poisson distributions are log-concave) A·I₁ is within y_far²/y₀ of y₁.
    fn descend(&self, far: u64, step: &Enclosure, p: usize) -> (Enclosure, Enclosure) {
        let e = (self.decay(far) * core::f64::consts::LOG2_E).round() as usize;
        let bit = |place: usize| {
            let mut number = Limbs::zero(p + 1);
            number[place / 64] = 1 << (place % 64);
            number
        };
        let (mut this, mut next) = (Enclosure::above(bit(64 * p - e), 0), Enclosure::point(0, p));
        for k in (1..=far).rev() {
            let before = next.plus(&step.linear(0, k).times(&this));
            (next, this) = (this, before);
        }
        // y₀ ≥ 2^(leading − 64p), so y_far²/y₀ ≤ 2^(64p − 2e − leading).
        let empty = this.lo.iter().rev().take_while(|limb| **limb == 0).count();
        let leading = 64 * (p + 1 - empty) - 1 - this.lo[p - empty].leading_zeros() as usize;
        let cut = bit(128 * p - 2 * e - leading);
        if limbs::sub(&mut next.lo, &cut) {
            next.lo.fill(0);
        }
        limbs::add(&mut next.hi, &cut);
        (this, next)
    }
}

/// The least n with μ·present/(parties·n) ≤ 2²⁴, exactly.
fn terms(mu: f64, share: Share) -> u64 {
    let (significand, exponent) = decompose(mu);
    // The exponent is from −72 to −22: below 2³²·2⁹⁶.
    let most = u128::from(share.parties()) << (LOG2_MOST_TABLE - exponent);
    (u128::from(significand) * u128::from(share.present())).div_ceil(most) as u64
}

/// c·I_k as a weight with `p` limbs of fraction, rounded outwards, from one with more: twice that for `doubled`.
fn weight(bessel: &Enclosure, p: usize, doubled: bool) -> Enclosure {
    let more = bessel.lo.len() - 1 - p;
    let mut weight = bessel.map(|end| Limbs::from_slice(&end[more..]));
    limbs::add_small(&mut weight.hi, 1);
    weight.shl(doubled.into());
    weight
}

impl Weights for SkellamMagnitude {
    /// Down from a far k to I₀ and I₁, and up again by I_{k+1} = I_{k−1} − (2k/ν)·I_k.
    ///
    /// **Down.** The start leaves a relative width of (I_far/I₀)², and each rounding of a unit adds at most I₀/I_far units. `far` has I_far/I₀ near
    /// 2^(−64p − 64), or up to 2⁻⁴⁵ below, the most that one step loses: with 3p + 4 limbs the widths of I₀ and I₁ are below 2^(−128p − 100).
    ///
    /// **Up.** Widths follow W_{k+1} = W_{k−1} + (2k/ν)·W_k, which grows like I₀/I_k does (both are solutions of one recurrence, whose Casoratian is
    /// constant). The list ends where I_k/I₀ is near 2^(−64p), or up to 2⁻⁴⁵ below: widths stay below 2^(−64p − 50).
    ///
    /// **The rest.** I_{j−1} − I_{j+1} = (2j/ν)·I_j, summed over j > k, gives I_k + I_{k+1} = (2/ν)·Σ j·I_j ≥ (2(k+1)/ν)·Σ I_j. So all weights beyond
    /// the last add up to at most ν/(k + 1) times it.
    fn enclose(&self, p: usize, visit: &mut dyn FnMut(&Enclosure) -> ControlFlow<()>) -> u64 {
        let precision = 3 * p + 4;
        let (end, far) = (self.reach(64 * p), self.reach(64 * p + 64));
        let step = self.step(precision);
        let (mut this, mut next) = self.descend(far, &step, precision);
        let mut last = Enclosure::point(0, p);
        for k in 0..=end {
            last = weight(&this, p, k > 0);
            if visit(&last).is_break() {
                return 0;
            }
            let after = this.minus(&step.linear(0, k + 1).times(&next));
            (this, next) = (next, after);
        }
        debug_assert!(
            last.hi[1..].iter().all(|limb| *limb == 0),
            "a list that ends before its weights do"
        );
        // The rest covers the rounding of ν and of the quotient.
        (last.hi[0] as f64 * (1.001 * self.approximate / (end + 1) as f64)).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::draw::table::{Table, check_beside_thresholds};
    use crate::exact::{self, Sums};

    fn distribution(mu: f64, share: Share) -> SkellamMagnitude {
        SkellamMagnitude::new(mu, share).unwrap()
    }

    fn number(x: &Limbs) -> f64 {
        let top = x.len() - 1;
        x[top] as f64 + x[top - 1] as f64 / 2_f64.powi(64) + x[top - 2] as f64 / 2_f64.powi(128)
    }

    /// Distributions of every kind: tiny ones, a share of a share, counted and searched tables, the largest table.
    fn distributions() -> Vec<SkellamMagnitude> {
        let part = |present, parties| Share::new(present, parties).unwrap();
        [
            (LEAST_MU, Share::WHOLE),
            (1.0, part(1, (1 << 32) - 1)),
            (0.25, Share::WHOLE),
            (1.0, part(2, 3)),
            (7.3, Share::WHOLE),
            (100.0, part(99, 100)),
            (1e4, Share::WHOLE),
            (1e6, Share::WHOLE),
            (2_f64.powi(24), Share::WHOLE),
        ]
        .map(|(mu, share)| distribution(mu, share))
        .to_vec()
    }

    /// Evidence: closed form. Σ w(k)/w(0) is e^ν/I₀(ν), by the power series of I₀ and by its asymptotic expansion, to float64's accuracy.
    #[test]
    fn the_weights_add_up() {
        for distribution in distributions() {
            let nu = distribution.approximate;
            let expected = if nu < 30.0 {
                let term = |m: i32| (1..=m).fold(1.0, |product, i| product * (nu / (2.0 * f64::from(i))).powi(2));
                nu.exp() / (0..60).map(term).sum::<f64>()
            } else {
                let odd = |j: i32| f64::from((2 * j - 1) * (2 * j - 1)) / (8.0 * f64::from(j) * nu);
                let term = |j: i32| (1..=j).map(odd).product::<f64>();
                (core::f64::consts::TAU * nu).sqrt() / (0..20).map(term).sum::<f64>()
            };
            for p in [2, 3] {
                let sums = Sums::new(&distribution, p);
                let first = exact_first(&distribution, p);
                for (total, first) in [(&sums.total.lo, &first.lo), (&sums.total.hi, &first.hi)] {
                    assert!(
                        (number(total) / number(first) / expected - 1.0).abs() < 1e-12,
                        "{distribution:?} {p}"
                    );
                }
            }
        }
    }

    fn exact_first(distribution: &SkellamMagnitude, p: usize) -> Enclosure {
        let mut first = None;
        distribution.enclose(p, &mut |weight| {
            first = Some(weight.clone());
            ControlFlow::Break(())
        });
        first.unwrap()
    }

    /// Evidence: the bound itself. Every enclosure is four units wide at most, the last of them holds next to nothing, and the rest is less than 2¹⁶
    /// units: what the argument in [`SkellamMagnitude::enclose`] says, at the ends of what is accepted.
    #[test]
    fn enclosures_are_narrow() {
        for distribution in distributions() {
            for p in [2, 4] {
                let (weights, rest) = exact::listed(&distribution, p);
                for (k, weight) in weights.iter().enumerate() {
                    let mut width = weight.hi.clone();
                    assert!(!limbs::sub(&mut width, &weight.lo), "{distribution:?} {p} {k}");
                    assert!(
                        width[0] <= 4 && width[1..].iter().all(|limb| *limb == 0),
                        "{distribution:?} {p} {k} {width:?}"
                    );
                }
                let last = weights.last().unwrap();
                assert!(
                    last.hi[0] < 8 && last.hi[1..].iter().all(|limb| *limb == 0),
                    "{distribution:?} {p}"
                );
                assert!(rest < 1 << 16, "{distribution:?} {p} {rest}");
            }
        }
    }

    /// Evidence: closed form of the ratio of neighbours, a continued fraction, in floating point.
    #[test]
    fn the_ratio_of_neighbours() {
        for distribution in distributions() {
            let (weights, _) = exact::listed(&distribution, 2);
            let mut ratio = 0.0;
            for k in (1..2 * weights.len() + 100).rev() {
                ratio = 1.0 / (2.0 * k as f64 / distribution.approximate + ratio);
                // Where the weight has 64 bits and more.
                if k < weights.len() && number(&weights[k].lo) > 2_f64.powi(-60) {
                    let before = if k == 1 { 2.0 } else { 1.0 } * number(&weights[k - 1].lo);
                    assert!(
                        (number(&weights[k].lo) / before / ratio - 1.0).abs() < 1e-12,
                        "{distribution:?} {k}"
                    );
                }
            }
        }
    }

    /// Evidence: a second way to the same number, where it is hardest.
    #[test]
    fn the_table_and_the_exact_path_agree_beside_thresholds() {
        for distribution in distributions()
            .into_iter()
            .filter(|distribution| distribution.approximate < 1000.0)
        {
            check_beside_thresholds(&distribution);
        }
    }

    /// Evidence: the bound itself, at the largest variance of a table.
    #[test]
    fn no_table_is_large() {
        let table = Table::new(Arc::new(distribution(2_f64.powi(24), Share::WHOLE))).unwrap();
        assert!(table.bytes() <= 600_000, "{}", table.bytes());
    }

    /// Evidence: by hand, at the edges in exact arithmetic.
    #[test]
    fn as_few_terms_as_tables_allow() {
        let most = 2_f64.powi(24);
        let terms = |mu, present, parties| distribution(mu, Share::new(present, parties).unwrap()).terms;
        assert_eq!(terms(most, 1, 1), 1);
        assert_eq!(terms(most.next_up(), 1, 1), 2);
        assert_eq!(terms(MOST_MU, 1, 1), 64);
        assert_eq!(terms(2.0 * most, 1, 2), 1);
        assert_eq!(terms((2.0 * most).next_up(), 1, 2), 2);
        assert_eq!(terms(3.0 * most, (1 << 32) - 2, (1 << 32) - 1), 3);
        assert_eq!(terms(LEAST_MU, 1, 1 << 20), 1);
    }

    #[test]
    fn refuses_what_a_table_does_not_hold() {
        let error = |mu: f64, share| SkellamMagnitude::new(mu, share).unwrap_err().to_string();
        for mu in [f64::NAN, 0.0, -1.0, LEAST_MU.next_down(), MOST_MU.next_up(), f64::INFINITY] {
            assert!(error(mu, Share::WHOLE).starts_with("mu must be from 2**-20 to 2**30, got "));
        }
        let part = Share::new(1, (1 << 20) + 1).unwrap();
        assert!(error(LEAST_MU, part).starts_with("mu must be at least 2**-40 for each party, got "));
    }
}
