//! A coin that falls heads with probability e^(−x), for an exact rational x ≥ 0.

use super::exp::Power;
use super::exponent::Exponent;
use super::uniform::{Extension, Uniform};

/// Whether u < e^(−x), u the number whose binary expansion is `word` followed by the extension.
///
/// Never equal for x > 0: e to a rational power other than 0 is transcendental (Lindemann), and u has finitely many bits. For x = 0 it is true.
pub fn bernoulli(x: &Exponent, word: u64, extension: &mut impl Extension) -> bool {
    if x.is_zero() {
        return true;
    }
    let Some(mut uniform) = Uniform::new(word, extension) else {
        // u = 0 is below every power of e.
        return true;
    };
    let mut p = 2;
    loop {
        // Where there is no power, e^(−x) is below 2^(−1 500 000), and u is above 2^(−64·8193).
        let Some(power) = x.power(p) else { return false };
        if let Some(answer) = below(&mut uniform, &power, p) {
            return answer;
        }
        // Half as much again each time: the total work is then about that of the last step.
        let more = (p / 2).max(1);
        uniform.extend(more);
        p += more;
    }
}

/// u = 2^(−z)·f < 2^(−n)·mantissa, if this precision decides it; f is in [1/2, 1) and the mantissa in [1, 3).
fn below<E: Extension>(u: &mut Uniform<'_, E>, power: &Power, p: usize) -> Option<bool> {
    let (z, n) = (u.exponent(), power.shift);
    // Both factors are in [1/2, 3): exponents 60 apart decide alone, and a smaller shift fits the integer limb.
    if z.abs_diff(n) >= 60 {
        return Some(n < z);
    }
    let mut left = u.enclosure(p);
    let mut right = power.mantissa.clone();
    left.shl(n.saturating_sub(z));
    right.shl(z.saturating_sub(n));
    left.less(&right)
}
