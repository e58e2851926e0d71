//! A coin that falls heads with probability e^(−x), for an exact rational x ≥ 0.

use super::Extension;
use super::exp::{Power, UNDERFLOW, decay};
use super::limbs::{self, Limbs};
use super::uniform::Uniform;

/// The rational numerator / (2^shift · d₁ · d₂ · …).
#[derive(Clone, Debug)]
pub struct Exponent<'a> {
    /// Any number of limbs.
    pub numerator: Limbs,
    /// The power of two in the denominator.
    pub shift: usize,
    /// The other factors of the denominator, none of them zero.
    pub divisors: &'a [u64],
}

impl Exponent<'_> {
    /// In floating point: one rounding for each limb and each divisor, of 2^−53 relatively.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "the error is stated; a shift is far below 2^31"
    )]
    fn approximation(&self) -> f64 {
        let limb = 64.0_f64.exp2();
        let numerator = self.numerator.iter().rev().fold(0.0, |sum, &digit| sum * limb + digit as f64);
        let quotient = self.divisors.iter().fold(numerator, |rest, &divisor| rest / divisor as f64);
        quotient * f64::from(-(self.shift as i32)).exp2()
    }

    /// ⌊x·2^(64p)⌋ for x < 2^64, in p + 1 limbs.
    fn floor(&self, p: usize) -> Limbs {
        let mut x = Limbs::zero(self.numerator.len() + p + 1);
        x[..self.numerator.len()].copy_from_slice(&self.numerator);
        if 64 * p >= self.shift {
            limbs::shl(&mut x, 64 * p - self.shift);
        } else {
            // The floor of a floor is the floor of the quotient by the product, so this loses nothing.
            limbs::shr(&mut x, self.shift - 64 * p);
        }
        for &divisor in self.divisors {
            limbs::div_small(&mut x, divisor);
        }
        Limbs::from_slice(&x[..=p])
    }
}

/// Whether u < e^(−x), u the number whose binary expansion is `word` followed by the extension.
///
/// Never equal for x > 0: e to a rational power other than 0 is transcendental (Lindemann), and u has finitely many bits. For x = 0 it is true.
pub fn bernoulli(x: &Exponent<'_>, word: u64, extension: &mut impl Extension) -> bool {
    if x.numerator.iter().all(|&limb| limb == 0) {
        return true;
    }
    let Some(mut uniform) = Uniform::new(word, extension) else {
        return true;
    };
    let approximation = x.approximation();
    // e^(−x) is below 2^(−1 500 000) there and u above 2^(−64·8193).
    if approximation >= UNDERFLOW {
        return false;
    }
    let mut p = 2;
    loop {
        if let Some(answer) = below(&mut uniform, &decay(&x.floor(p), approximation, p), p) {
            return answer;
        }
        let more = (p / 2).max(1);
        uniform.extend(more);
        p += more;
    }
}

/// u = 2^(−z)·f < 2^(−n)·mantissa, if this precision decides it; f is in [1/2, 1) and the mantissa in [1, 3).
fn below<E: Extension>(u: &mut Uniform<'_, E>, power: &Power, p: usize) -> Option<bool> {
    let (z, n) = (u.exponent(), power.shift);
    if z.abs_diff(n) >= 60 {
        return Some(n < z);
    }
    let mut left = u.enclosure(p);
    let mut right = power.mantissa.clone();
    left.shl(n.saturating_sub(z));
    right.shl(z.saturating_sub(n));
    left.less(&right)
}
