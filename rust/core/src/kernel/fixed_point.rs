//! The step between the lanes and the exact path, for distributions with more steps than an `f64` distinguishes.
//!
//! It evaluates the formulas of `geometric` and `staircase` in fixed point of 128 bits, with an error bound: an integer, or "not sure".
//!
//! No branch or address depends on the word, so operations wrap; none overflows for an accepted word. A number "in 2^−n" counts steps of that size.

mod gaussian;
mod logarithm;

use super::elementary::exp_m1;
use super::float::{ceil, floor, nearest};
use super::lane::{SIGN, WORD_BITS};
use super::sides::Sides;
use super::staircase::PER_Y;
use crate::declassify;
use crate::exact::{self, IntegerDistribution, Staircase, TruncatedGeometric};
use crate::lattice::dyadic::{decompose, power_of_two};
use gaussian::FixedGaussian;
use logarithm::{BITS, ERROR, Logarithm, high, ratio};

#[derive(Clone, Debug)]
pub(crate) enum FixedPoint {
    Geometric(FixedGeometric),
    Staircase(FixedStaircase),
    /// A staircase after the map of v ([`super::mapped`]), and τ in 2^−128.
    Truncated(FixedStaircase, u128),
    /// A geometric distribution after [`Sides`] have turned the word.
    Sided(FixedGeometric, Sides),
    Gaussian(Box<FixedGaussian>),
}

/// Below this noise scale the lanes leave at most 0.2 % of the words undecided, and this step is not used.
const LEAST_SCALE: f64 = (1_u64 << 40) as f64;

const LEAST_SCALE_SIDED: f64 = (1_u64 << 20) as f64;

/// No distribution of numbers has a larger noise scale.
const MOST_SCALE: f64 = (1_u64 << 54) as f64;

/// A staircase has no more steps and no larger ε: a stair's places fit an `f64`, and the series of e^ε is short.
const MOST_STEPS: u64 = 1 << 45;
const MOST_EPS: f64 = 1.0 / 256.0;

impl FixedPoint {
    /// `None` where the lanes are sure of nearly every word, and where this step would not be.
    pub fn new(distribution: &IntegerDistribution) -> Option<Self> {
        let in_range = |eps: f64, steps: u64| (LEAST_SCALE..=MOST_SCALE).contains(&(steps as f64 / eps));
        let geometric = |eps, steps, offset| {
            let lane = || Self::Geometric(FixedGeometric::new(eps, steps, offset));
            in_range(eps, steps).then(lane)
        };
        let staircase = |staircase: &Staircase| {
            let fits = staircase.sensitivity_steps <= MOST_STEPS && staircase.eps <= MOST_EPS;
            let lane = || FixedStaircase::new(staircase.eps, staircase.sensitivity_steps, staircase.r);
            (in_range(staircase.eps, staircase.sensitivity_steps) && fits).then(lane)
        };
        match distribution {
            IntegerDistribution::Geometric { eps, sensitivity_steps } => geometric(*eps, *sensitivity_steps, 1 << 63),
            IntegerDistribution::OneSided { eps, sensitivity_steps } => geometric(*eps, *sensitivity_steps, 0),
            IntegerDistribution::Staircase(stairs) => staircase(stairs).map(Self::Staircase),
            IntegerDistribution::TruncatedStaircase { staircase: stairs, most } => {
                staircase(stairs).map(|lane| Self::Truncated(lane, exact::tail(stairs, *most)))
            }
            IntegerDistribution::TruncatedGeometric(truncated) => {
                let sides = Sides::new(truncated);
                // Their lanes leave more words, and their exact path takes longer.
                (LEAST_SCALE_SIDED..=MOST_SCALE)
                    .contains(&sides.scale)
                    .then(|| Self::Sided(FixedGeometric::sided(truncated, &sides), sides))
            }
            IntegerDistribution::Gaussian { sigma2 } => FixedGaussian::new(*sigma2).map(Box::new).map(Self::Gaussian),
            // Not written for the map of canonical noise.
            IntegerDistribution::Canonical { .. } => None,
        }
    }

    /// X, if the word alone is certain to decide it.
    pub fn decide(&self, mut word: u64) -> Option<i64> {
        if let Self::Sided(_, sides) = self {
            word = sides.turn(word);
        }
        let bits = word & !SIGN;
        let (magnitude, sure) = match self {
            Self::Geometric(distribution) | Self::Sided(distribution, _) => distribution.place(&Logarithm::of(bits)),
            Self::Gaussian(distribution) => distribution.place(bits),
            Self::Staircase(distribution) => distribution.place(&Logarithm::of(bits)),
            Self::Truncated(distribution, tail) => distribution.place(&Logarithm::of_long(mapped(bits, *tail))),
        };
        // A mask: a branch would depend on the sign of the noise.
        let sign = word.cast_signed() >> WORD_BITS;
        declassify::condition(sure).then_some((magnitude.cast_signed() ^ sign).wrapping_sub(sign))
    }
}

/// u = τ + (1 − τ)·v in 2^−127, for v in 2^−63 and τ in 2^−128. What is cut off is at most 2 units.
fn mapped(bits: u64, tail: u128) -> u128 {
    let v = u128::from(bits);
    let part = (tail >> 64)
        .wrapping_mul(v)
        .wrapping_add(u128::from(tail as u64).wrapping_mul(v) >> 64);
    (v << 64).wrapping_add(tail >> 1).wrapping_sub(part)
}

/// |X| = ⌊x⌋, x = κ·(−ln v) + β, as in [`super::geometric::GeometricLane`].
///
/// β is ½ to within 1/(8κ) (see `per_element::geometric`); of the one-sided distribution it is 0. Bits beyond the word lower x by at most κ/V.
#[derive(Clone, Debug)]
pub(crate) struct FixedGeometric {
    /// κ in 2^(p − 127), 2^p ≤ κ < 2^(p + 1).
    scale: u128,
    p: u32,
    /// β in 2^−64,
    offset: u64,
    /// and the error of x.
    slack: u64,
    /// ln(N·2^m) of [`Sides`], in 2^−[`BITS`], which −ln v exceeds,
    less: u128,
    /// and by how many powers of two more than others a word is off.
    beyond: u32,
}

/// By this much `less` is too small, more than the errors of two logarithms, so that what is left of −ln v is not negative: 2^−82.
const LESS_ERROR: u128 = 1 << (BITS - 82);

impl FixedGeometric {
    fn new(eps: f64, sensitivity_steps: u64, offset: u64) -> Self {
        let (significand, exponent) = decompose(eps);
        let (scale, log2) = ratio(sensitivity_steps, significand);
        let p = (log2 - exponent).cast_unsigned();
        Self {
            scale,
            p,
            offset,
            // 2^(p + 1) times the logarithm's error, that of β, and less than 4 for what is cut off.
            slack: (1 << (p - 19)) + (1 << (61 - p)) + 4,
            less: 0,
            beyond: 0,
        }
    }

    fn sided(distribution: &TruncatedGeometric, sides: &Sides) -> Self {
        let geometric = Self::new(distribution.eps, distribution.sensitivity_steps, 0);
        let less = Logarithm::of_long(sides.inverse.min((1 << 127) - 1)).minus_ln;
        Self {
            // κ·2^−82 is below 2^(p + 1 − 82).
            slack: geometric.slack + (1 << (geometric.p - 17)),
            less: less.saturating_sub(LESS_ERROR),
            beyond: 1,
            ..geometric
        }
    }

    fn place(&self, logarithm: &Logarithm) -> (u64, bool) {
        // The product is in 2^(p − 120).
        let x = (high(self.scale, logarithm.minus_ln.wrapping_sub(self.less)) >> (BITS - 65 - self.p))
            .wrapping_add(self.offset.into());
        let part = x as u64;
        // κ/V ≤ κ·2^(zeros − 63), rounded up.
        let capacity = 61_u32.wrapping_sub(self.p).wrapping_sub(self.beyond);
        // Where the zeros exceed the room, the shift wraps to some number. Such a word is not accepted.
        let beyond = ((self.scale >> 65) as u64).wrapping_shr(capacity.wrapping_sub(logarithm.zeros));
        let least = beyond.wrapping_add(self.slack).wrapping_add(1);
        let inside = (part >= least) & (part <= u64::MAX - self.slack);
        ((x >> 64) as u64, inside & (logarithm.zeros <= capacity))
    }
}

/// |X| = r + J·D − 1 − q, q = ⌊y − D·c⌋, as in [`super::staircase::StaircaseLane`], but for small ε and in logarithms. With C = ln((t/2)/(D·c)),
///
/// ```text
/// y = D·c·e^w,   w = εJ − (−ln v) + C,   y − D·c = D·c·(e^w − 1),
/// ```
///
/// and J is the least whole number ≥ 0 for which w ≥ 0, so that w < ε: D·c is large, e^w − 1 small, and an `f64` holds it well. As there, J need not
/// be right: it is off by one at most, and with a wrong J the interval around y − D·c lies outside [0, D].
///
/// Error of y − D·c, relative to it, in units of u:
///
/// ```text
/// D·c                                    5.5   (e^ε − 1: 4.5, quotient)
/// w as an f64, its product with D·c      2
/// (e^w − 1)/w to w⁵/720, its product     3     (1.1 for the sum, 2^−59 for what follows)
/// ```
///
/// Words that are mapped have an error of u as well: below 2^−119 with that of τ, beside u > 2^−24, as y·2^−63/u ≤ 1 and y > 2^39 where a word is
/// accepted. [`ERROR`] has room for the 2^−95 by which that moves w.
///
/// 10.5, which [`PER_Y`] covers; and D·c times the logarithm's error, D·2^−59 for what `shift` cuts off, and the roundings of the acceptance test.
#[derive(Clone, Debug)]
pub(crate) struct FixedStaircase {
    /// ε in 2^−[`BITS`], exact.
    eps: u128,
    /// C in 2^−[`BITS`].
    offset: u128,
    /// 2^−57/ε.
    stairs: f64,
    /// w in 2^−([`BITS`] − `shift`) is below 2^61,
    shift: u32,
    /// and this is its unit.
    unit: f64,
    /// D·c.
    floor: f64,
    sensitivity_steps: u64,
    /// r − 1.
    first: u64,
    slack: f64,
}

impl FixedStaircase {
    fn new(eps: f64, sensitivity_steps: u64, r: u64) -> Self {
        let (significand, exponent) = decompose(eps);
        let fixed_eps = u128::from(significand) << (BITS.cast_signed() + exponent);
        let shift = 128 - fixed_eps.leading_zeros() - 60;
        let floor = sensitivity_steps as f64 / exp_m1(eps);
        Self {
            eps: fixed_eps,
            offset: offset(fixed_eps << (128 - BITS), sensitivity_steps, r) >> (128 - BITS),
            stairs: power_of_two(64 - BITS.cast_signed()) / eps,
            shift,
            unit: power_of_two(shift.cast_signed() - BITS.cast_signed()),
            floor,
            sensitivity_steps,
            first: r - 1,
            slack: floor * (2.0 * ERROR) + sensitivity_steps as f64 * power_of_two(-58) + power_of_two(-48),
        }
    }

    fn place(&self, logarithm: &Logarithm) -> (u64, bool) {
        let length = logarithm.minus_ln.wrapping_sub(self.offset).cast_signed();
        // The upper half is enough, because J may be off by one.
        let stair = ceil((length >> 64) as i64 as f64 * self.stairs).max(0.0);
        let stair = nearest(stair).1.cast_unsigned();
        let w = self.eps.wrapping_mul(stair.into()).cast_signed().wrapping_sub(length);
        let depth = self.floor * rise((w >> self.shift) as i64 as f64 * self.unit);
        let q = floor(depth);
        let tolerance = depth * PER_Y + self.slack;
        // y/V ≤ y·2^(zeros − 63).
        let beyond = (depth + self.floor) * f64::from_bits(u64::from(logarithm.zeros).wrapping_add(1023 - 63) << 52);
        let below = depth - q;
        let inside = (below >= tolerance) & (below + (beyond + tolerance) <= 1.0);
        let on_stair = (q >= 0.0) & (q < self.sensitivity_steps as f64);
        let outermost = self.first.wrapping_add(stair.wrapping_mul(self.sensitivity_steps));
        (outermost.wrapping_sub(nearest(q).1.cast_unsigned()), inside & on_stair)
    }
}

/// e^w − 1 for w below 1/128.
fn rise(w: f64) -> f64 {
    // Ratios of neighbouring coefficients: 1/2! is ½, 1/3! is a third of it, 1/4! a quarter of that, …
    let tail = [1.0 / 6.0, 1.0 / 5.0, 1.0 / 4.0, 1.0 / 3.0, 1.0 / 2.0];
    w * tail.iter().fold(1.0, |sum, part| 1.0 + sum * w * part)
}

/// Terms of the two series below: what follows is less than 2^−128 of the first.
const TERMS: usize = 17;

/// C = ln(1 + ρ·(e^ε − 1)) in 2^−128, ρ = (r − ½)/D, for ε in 2^−128: an error of less than 2^−120.
fn offset(eps: u128, sensitivity_steps: u64, r: u64) -> u128 {
    let (mut exp, mut factorial) = (0, [1_u128; TERMS]);
    for k in 1..TERMS {
        factorial[k] = factorial[k - 1] * (k as u128 + 1);
    }
    // 1/2! + ε/3! + …
    for divisor in factorial[1..].iter().rev() {
        exp = u128::MAX / divisor + high(eps, exp);
    }
    let growth = eps + high(eps, high(eps, exp));
    let (digits, log2) = ratio(2 * r - 1, 2 * sensitivity_steps);
    let g = high(digits >> (-1 - log2), growth);
    // ½ − g/3 + g²/4 − …
    let ln = (2..=TERMS as u128).rev().fold(0, |sum, k| u128::MAX / k - high(g, sum));
    g - high(g, high(g, ln))
}

#[cfg(test)]
mod tests;
