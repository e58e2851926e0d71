//! A coin that falls heads with probability e^(−x), for an exact rational x ≥ 0.

use super::enclosure::further;
use super::exp::Power;
use super::exponent::Exponent;
use super::uniform::{Extension, Uniform};

/// Whether u < e^(−x), u the number whose binary expansion is `word` followed by the extension.
///
/// Never equal for x > 0: e to a rational power other than 0 is transcendental (Lindemann), and u has finitely many bits. For x = 0 it is true.
pub fn bernoulli(x: &Exponent, word: u64, extension: &mut Extension<'_>) -> bool {
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
        let more = further(p);
        uniform.extend(more);
        p += more;
    }
}

/// u = 2^(−z)·f < 2^(−n)·mantissa, if this precision decides it; f is in [1/2, 1) and the mantissa in [1, 3).
fn below(u: &mut Uniform<'_>, power: &Power, p: usize) -> Option<bool> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence: e^(−100) is about 2^−144, and 1 − e^(−2^−300) about 2^−300.
    #[test]
    fn magnitudes_far_apart_decide() {
        let large = Exponent::multiple(100.0, 1, 0);
        let small = Exponent::multiple(1.0, 1, 300);
        for (word, extension) in [(1 << 63, 0), (1, 7)] {
            assert!(!bernoulli(&large, word, &mut |_| extension), "{word}");
            assert!(bernoulli(&small, word, &mut |_| extension), "{word}");
        }
        assert!(bernoulli(&large, 0, &mut |e| u64::from(e > 4)));
    }

    /// Evidence: the digits of 1/e by Python's `decimal`. The last word decides.
    #[test]
    fn digits_are_compared_to_the_last() {
        let digits = [
            0x5e2d_58d8_b3bc_df1a,
            0xbade_c782_9054_f90d,
            0xda98_05aa_b56c_7733,
            0x3024_b9d0_a507_daed,
            0xb164_00bf_472b_4215,
        ];
        let one = Exponent::multiple(1.0, 1, 0);
        for (more, below) in [(0, true), (1, false)] {
            let extension = &mut |e: usize| digits.get(1 + e).map_or(0, |digit| digit + more * u64::from(e == 3));
            assert_eq!(bernoulli(&one, digits[0], extension), below);
        }
    }
}
