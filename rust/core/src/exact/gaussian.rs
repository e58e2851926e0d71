//! The discrete Gaussian distribution, P(k) ∝ e^(−k²/(2σ²)), by rejection from a geometric one (docs/contract.md, section 8).

use super::bernoulli::bernoulli;
use super::exponent::Exponent;
use super::limbs::{self, Limbs};
use super::uniform::Extension;
use crate::lattice::dyadic::decompose;

/// σ to the nearest integer, ties upwards, but at least 1: the largest t with (2t − 1)² ≤ 4σ². For 0 < σ² ≤ 2^90.
pub fn nearest_sqrt(sigma2: f64) -> u64 {
    // 4σ² < 4 leaves t = 1 alone.
    if sigma2 < 1.0 {
        return 1;
    }
    let (mantissa, exponent) = decompose(sigma2);
    let enough = |t: u64| {
        let square = u128::from(2 * t - 1).pow(2);
        let four_sigma2 = u128::from(mantissa) << 2;
        if exponent < 0 {
            square << -exponent <= four_sigma2
        } else {
            square <= four_sigma2 << exponent
        }
    };
    // The root is rounded correctly. It may come up to a half that it does not reach, and never stays below one that it does.
    let guess = sigma2.sqrt().round() as u64;
    if enough(guess) { guess } else { guess - 1 }
}

/// Whether a proposal of magnitude |Y| is accepted: u < e^(−(|Y| − σ²/t)²/(2σ²)), u given by `word` and the extension.
///
/// With σ² = m·2^e and q = max(0, −e) the exponent is N²/(2^(1 + |e|)·m·t²), N = ||Y|·t·2^q − σ²·2^q|. N is below 2^192 for 2^−20 ≤ σ² ≤ 2^90.
pub fn accept(sigma2: f64, t: u64, magnitude: u64, word: u64, extension: &mut impl Extension) -> bool {
    let (m, e) = decompose(sigma2);
    let shift = e.unsigned_abs() as usize;
    let (mut scaled, mut centre) = (Limbs::from_slice(&[magnitude, 0, 0]), Limbs::from_slice(&[m, 0, 0]));
    limbs::mul_small(&mut scaled, t);
    limbs::shl(if e < 0 { &mut scaled } else { &mut centre }, shift);
    // Only the square of the difference counts.
    if limbs::less(&scaled, &centre) {
        core::mem::swap(&mut scaled, &mut centre);
    }
    limbs::sub(&mut scaled, &centre);
    let exponent = Exponent {
        numerator: limbs::mul(&scaled, &scaled),
        log2_unit: -1 - e.abs(),
        divisors: [m, t, t],
    };
    bernoulli(&exponent, word, extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence: the definition in integers, at squares of half-integers and their neighbours, where it is tight.
    #[test]
    fn the_nearest_integer_to_a_root() {
        for t in (1..200_u64).chain((8..44).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1])) {
            let edge = (t as f64 - 0.5).powi(2);
            // Exact for t < 2^26. A larger square is rounded, and the rounded number is the σ² that is tested.
            for sigma2 in [edge.next_down(), edge, edge.next_up()] {
                let (m, e) = decompose(sigma2);
                let found = nearest_sqrt(sigma2);
                let square = |t: u64| u128::from(2 * t - 1).pow(2);
                let (left, right) = ((-e).max(0), e.max(0));
                assert!(
                    found == 1 || square(found) << left <= u128::from(m) << (2 + right),
                    "{sigma2}"
                );
                assert!(square(found + 1) << left > u128::from(m) << (2 + right), "{sigma2}");
            }
        }
        assert_eq!(
            [1e-6, 0.25, 1.0, 2.25, 1e6, 2.0_f64.powi(90)].map(nearest_sqrt),
            [1, 1, 1, 2, 1000, 1 << 45]
        );
    }
}
