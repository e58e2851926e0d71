//! Weights of the magnitude of the Skellam law: modified Bessel functions, by their recurrence alone.

use core::ops::ControlFlow;

use crate::draw::share::Share;
use crate::error::ParamError;
use crate::exact::Weights;
use crate::exact::enclosure::Enclosure;
use crate::exact::limbs::{self, Limbs};
use crate::lattice::dyadic::decompose;

/// Below, the law is 0 but for a probability of 2⁻²⁰.
const LEAST_MU: f64 = 1.0 / (1 << 20) as f64;
/// Above, a value would take more than 64 draws.
const MOST_MU: f64 = (1 << 30) as f64;
/// Of a share: the inverse has one integer limb with room for the index.
const LEAST_SHARE: f64 = 1.0 / (1_u64 << 40) as f64;
/// log₂ of the largest variance of a table, which then has some 38 000 thresholds.
const LOG2_MOST_TABLE: i32 = 24;

/// P(|X| = k) ∝ I₀(ν) for k = 0 and 2·I_k(ν) beyond, ν = μ·present/(parties·terms). Independent X add up, and so do their ν: the sum of `terms` of
/// them is the share of the law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkellamMagnitude {
    mu: f64,
    share: Share,
    terms: u64,
    /// ν in floating point, for choices that no value depends on.
    approximate: f64,
}

impl SkellamMagnitude {
    /// One of as few equal terms as tables allow.
    pub fn new(mu: f64, share: Share) -> Result<Self, ParamError> {
        let whole = mu * share.fraction();
        // The condition is negated, so that NaN is refused.
        let rule = if !(LEAST_MU..=MOST_MU).contains(&mu) {
            "from 2**-20 to 2**30"
        } else if whole < LEAST_SHARE {
            "at least 2**-40 for each party"
        } else {
            let terms = terms(mu, share);
            return Ok(Self {
                mu,
                share,
                terms,
                approximate: whole / terms as f64,
            });
        };
        let (parameter, value) = ("mu", mu);
        Err(ParamError::Rule { parameter, rule, value })
    }

    /// How many independent draws add up to a value.
    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// 2/ν with `p` limbs of fraction.
    fn step(&self, p: usize) -> Enclosure {
        let (significand, exponent) = decompose(self.mu);
        // μ = significand·2^exponent ≥ 2⁻²⁰ has 53 bits: the exponent is from −72 to −22.
        let mut step = Limbs::zero(p + 3);
        step[0] = 2 * self.share.parties() * self.terms;
        limbs::shl(&mut step, (64 * p as i32 - exponent).unsigned_abs() as usize);
        // The floor of a floor is the floor of the quotient by the product.
        limbs::div_small(&mut step, significand);
        limbs::div_small(&mut step, self.share.present());
        Enclosure::above(Limbs::from_slice(&step[..=p]), 1)
    }

    /// −ln(I_k/I₀) by the first term of the uniform expansion (DLMF 10.41.3), off by less than 2.
    fn decay(&self, k: u64) -> f64 {
        let (nu, k) = (self.approximate, k as f64);
        let hypotenuse = k.hypot(nu);
        let (two_pi, fall) = (core::f64::consts::TAU, k.mul_add((k / nu).asinh(), -k * k / (hypotenuse + nu)));
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
    /// Miller's algorithm: y_{k−1} = y_{k+1} + (2k/ν)·y_k, the recurrence of I_k, from y_{far+1} = 0 and y_far = 2^(−e). Its terms are positive. Let
    /// A = y₀/I₀. The recurrence also says
    ///
    /// * I_far/I₀ ≤ y_far/y₀, because I is I_far/y_far times y plus a solution that starts with I_{far+1} > 0 and stays positive;
    /// * |I₀·y₁ − I₁·y₀| = I_{far+1}·y_far, as |I_k·y_{k+1} − I_{k+1}·y_k| is the same for every k.
    ///
    /// With I_{far+1} < I_far (a symmetric law that falls from 0, since Poisson laws are log-concave) A·I₁ lies within y_far²/y₀ of y₁.
    fn descend(&self, far: u64, step: &Enclosure, p: usize) -> (Enclosure, Enclosure) {
        let e = (self.decay(far) * core::f64::consts::LOG2_E).round() as usize;
        let bit = |place: usize| {
            let mut number = Limbs::zero(p + 1);
            number[place / 64] = 1 << (place % 64);
            number
        };
        let start = bit(64 * p - e);
        let (mut this, mut next) = (Enclosure { lo: start.clone(), hi: start }, Enclosure::point(0, p));
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
    let mut weight = Enclosure {
        lo: Limbs::from_slice(&bessel.lo[more..]),
        hi: Limbs::from_slice(&bessel.hi[more..]),
    };
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
                break;
            }
            let fall = step.linear(0, k + 1).times(&next);
            let mut after = this;
            if limbs::sub(&mut after.lo, &fall.hi) {
                after.lo.fill(0);
            }
            limbs::sub(&mut after.hi, &fall.lo);
            (this, next) = (next, after);
        }
        debug_assert!(last.hi[1..].iter().all(|limb| *limb == 0) || p < 2, "a list without end");
        // The rest covers the rounding of ν and of the quotient.
        (last.hi[0] as f64 * (1.001 * self.approximate / (end + 1) as f64)).ceil() as u64
    }
}
