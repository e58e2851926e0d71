//! The weights e^(−εm) (r + mD)^d of the balls.

use core::ops::ControlFlow;

use crate::exact::{Enclosure, Limbs, Step, Weights};

/// The largest weight is scaled to about 2 to this power; all of them together then stay below 2⁶³.
const LOG2_LARGEST: i64 = 40;

/// A list of weights ends with one below this number of units.
const LAST_WEIGHT: u64 = 1 << 32;

/// A power of e that is too small is taken as this power of a larger one.
const ROOTS: u64 = 16;

/// Smaller weights cannot matter: volumes differ by less than (2⁵³·2¹⁸)^100 000 = 2^7 100 000 from ball to ball.
const TINY: i64 = -(ROOTS as i64) * 1_500_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Balls {
    pub eps: f64,
    pub dim: u64,
    pub sensitivity_steps: u64,
    pub r: u64,
}

impl Balls {
    fn weight(&self, m: u64, p: usize) -> Scaled {
        let radius = u128::from(self.r) + u128::from(m) * u128::from(self.sensitivity_steps);
        let volume = Scaled::integer(radius, p).power(self.dim);
        let power = |parts| {
            let root = Step::new(self.eps, parts).power(m, p)?;
            Some(Scaled::new(root.mantissa, -(root.shift as i64)).power(parts))
        };
        let decay = power(1).or_else(|| power(ROOTS)).unwrap_or_else(|| Scaled::tiny(p));
        volume.times(&decay)
    }

    /// The exponent of the largest weight, or nearly: the logarithm is concave and largest at d/ε − γ, between this ball and the next.
    fn largest_exponent(&self, p: usize) -> i64 {
        let mode = (self.dim as f64 / self.eps - self.r as f64 / self.sensitivity_steps as f64).max(0.0) as u64;
        self.weight(mode, p).exponent.max(self.weight(mode + 1, p).exponent)
    }

    /// From here on every weight is less than e^(−ε/5) times the one before: w(m + 1)/w(m) ≤ e^(−ε + d/m).
    fn falling_from(&self) -> u64 {
        // From m = 1.25·d/ε on d/m is at most 4ε/5. The rest is room for rounding.
        (1.26 * self.dim as f64 / self.eps) as u64 + 1
    }
}

impl Weights for Balls {
    fn enclose(&self, p: usize, visit: &mut dyn FnMut(&Enclosure) -> ControlFlow<()>) -> u64 {
        let (unit, falling_from) = (self.largest_exponent(p) - LOG2_LARGEST, self.falling_from());
        for m in 0.. {
            let weight = self.weight(m, p).to_fixed(unit);
            let last = m >= falling_from && weight.hi[0] < LAST_WEIGHT && weight.hi[1..].iter().all(|limb| *limb == 0);
            if visit(&weight).is_break() || last {
                // Σ e^(−εk/5) over k ≥ 1 is below 5/ε.
                let factor = (5.0 / self.eps).ceil() as u64 + 1;
                return if last { weight.hi[0] * factor } else { 0 };
            }
        }
        unreachable!("weights fall below every bound")
    }
}

/// mantissa·2^exponent, the mantissa's lower end in [1, 2).
#[derive(Clone)]
struct Scaled {
    mantissa: Enclosure,
    exponent: i64,
}

impl Scaled {
    /// From a positive number below 2⁶⁴ with one integer limb and at least one bit in its two upper limbs: a product, or a mantissa up to 3.
    fn new(mut mantissa: Enclosure, exponent: i64) -> Self {
        // The lower end of `tiny` is 0 and stays.
        let bits = mantissa.lo[mantissa.lo.len() - 1].checked_ilog2().unwrap_or(0);
        if bits > 0 {
            mantissa.shr(bits as usize);
        }
        let exponent = exponent + i64::from(bits);
        Self { mantissa, exponent }
    }

    fn integer(n: u128, p: usize) -> Self {
        let zeros = n.leading_zeros() as usize;
        let leading = n << zeros;
        let mut lo = Limbs::zero(p + 1);
        // The leading bit is the integer limb, and 127 bits fill the two limbs below.
        lo[p] = (leading >> 127) as u64;
        lo[p - 1] = (leading >> 63) as u64;
        lo[p - 2] = (leading << 1) as u64;
        Self {
            mantissa: Enclosure::above(lo, 0),
            exponent: 127 - zeros as i64,
        }
    }

    /// Something instead of a power of e below 2^(−24 000 000): between nothing and that.
    fn tiny(p: usize) -> Self {
        let (lo, hi) = (Limbs::zero(p + 1), Enclosure::point(1, p).hi);
        Self {
            mantissa: Enclosure { lo, hi },
            exponent: TINY,
        }
    }

    fn times(&self, other: &Self) -> Self {
        Self::new(self.mantissa.times(&other.mantissa), self.exponent + other.exponent)
    }

    fn power(&self, n: u64) -> Self {
        let mut power = self.clone();
        // The leading bit of n is the number itself.
        for bit in (0..n.ilog2()).rev() {
            power = power.times(&power);
            if n >> bit & 1 == 1 {
                power = power.times(self);
            }
        }
        power
    }

    /// In units of 2^unit: as many limbs as the mantissa.
    fn to_fixed(&self, unit: i64) -> Enclosure {
        let mut fixed = self.mantissa.clone();
        let shift = self.exponent - unit;
        if shift >= 0 {
            // Beside the largest weight there are none much above it.
            fixed.shl(shift as usize);
        } else {
            // A shift by the whole length leaves 0, and so would any longer one.
            fixed.shr(shift.unsigned_abs().min(64 * fixed.lo.len() as u64) as usize);
        }
        fixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{self, limbs};

    /// Evidence: the formula in floating point, relative to the largest weight, and enclosures that shrink with the precision.
    #[test]
    fn weights_are_the_formula() {
        for (eps, dim, sensitivity_steps, r) in [
            (1.0, 2, 1 << 33, 5_000_000_000),
            (0.05, 10, (1 << 32) + 9, 3),
            (30.0, 1, 1 << 52, 1 << 33),
            (7.0, 300, 12_345_678_901, 12_345_678_901),
            (7.0, 5, 1 << 34, 9),
        ] {
            let balls = Balls {
                eps,
                dim,
                sensitivity_steps,
                r,
            };
            let log = |m: u64| {
                dim as f64 * ((r as f64 + m as f64 * sensitivity_steps as f64) / sensitivity_steps as f64).ln() - eps * m as f64
            };
            let value = |x: &Limbs| x.iter().rev().fold(0.0, |sum, limb| sum * 2_f64.powi(64) + *limb as f64);
            let (weights, _) = exact::listed(&balls, 2);
            let mode = (0..weights.len())
                .max_by(|a, b| log(*a as u64).total_cmp(&log(*b as u64)))
                .unwrap();
            for (m, weight) in weights.iter().enumerate() {
                let expected = (log(m as u64) - log(mode as u64)).exp();
                let ratio = value(&weight.lo) / value(&weights[mode].hi);
                assert!(
                    (ratio - expected).abs() <= 1e-10 * expected + 1e-38,
                    "{balls:?} {m}: {ratio} {expected}"
                );
            }
            let (finer, rest) = exact::listed(&balls, 5);
            assert!(finer.len() > weights.len() && rest < 1 << 46);
            for (coarse, fine) in weights.iter().zip(&finer) {
                assert!(!limbs::less(&fine.hi[3..], &coarse.lo) && !limbs::less(&coarse.hi, &fine.lo[3..]));
                let mut width = fine.hi.clone();
                assert!(!limbs::sub(&mut width, &fine.lo) && width[1..].iter().all(|limb| *limb == 0));
            }
        }
    }

    /// Evidence: mpmath. Powers of e below 2^(−1 500 000) beside volumes above 2^(1 500 000): two balls of nearly the same weight.
    #[test]
    fn many_dimensions_have_weights_beyond_the_range_of_powers() {
        let balls = Balls {
            eps: 2_218_071.0,
            dim: 100_000,
            sensitivity_steps: 1 << 52,
            r: 1 << 20,
        };
        let (weights, _) = exact::listed(&balls, 2);
        let value = |x: &Limbs| x.iter().rev().fold(0.0, |sum, limb| sum * 2_f64.powi(64) + *limb as f64);
        let ratio = value(&weights[1].lo) / value(&weights[0].hi);
        assert!((ratio / 0.978_059_383_030_539_1 - 1.0).abs() < 1e-14, "{ratio}");
        let beyond = Balls { eps: 1e300, ..balls };
        assert!(value(&exact::listed(&beyond, 2).0[0].lo) > 1.0);
    }

    /// Evidence: bound. What is left out is less than was said, by the next thousand weights of a longer list.
    #[test]
    fn the_rest_is_bounded() {
        let balls = Balls {
            eps: 0.01,
            dim: 7,
            sensitivity_steps: 1 << 32,
            r: 77,
        };
        let (weights, rest) = exact::listed(&balls, 2);
        let (longer, _) = exact::listed(&balls, 3);
        let beyond: f64 = longer[weights.len()..]
            .iter()
            .map(|w| w.hi[0] as f64 * 2_f64.powi(-64) + w.hi[1] as f64)
            .sum();
        assert!(beyond > 0.0 && beyond < rest as f64, "{beyond} {rest}");
    }
}
