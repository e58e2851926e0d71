//! Discrete Gaussian distributions with a σ² for every value.

use super::super::arithmetic::{Arithmetic, BLOCK};
use super::super::elementary::exp;
use super::super::float::{less, masked};
use super::super::lane::{SIGN, WORD_BITS, with_sign};
use super::super::quantile;
use super::DrawnBlock;
use crate::lattice::dyadic::power_of_two;

/// Below this σ², |X| is found among [`WEIGHTS`] numbers, from there on by the normal quantile.
const FEW: f64 = 1.0;

/// Weights of a narrow distribution: those from the next on are together below 2⁻⁵⁰ of the first.
const WEIGHTS: usize = 8;

/// Beyond, the tail of the mechanism would come near the end of an `i64`, and `f64` does not distinguish neighbouring integers.
pub(crate) const MOST_SIGMA2: f64 = (1_u128 << 90) as f64;
/// Below, the mechanism is 0 but for a probability of 2^−756 000.
pub(crate) const LEAST_SIGMA2: f64 = 1.0 / (1 << 20) as f64;

/// The least and the largest σ² and log₂ g. As integers, σ² that are negative or NaN are beyond others.
#[inline(always)]
pub(crate) fn extent(sigma2: &[f64], log2_granularity: &[i64]) -> [(f64, i64); 2] {
    let (mut least, mut most) = ((i64::MAX, i64::MAX), (i64::MIN, i64::MIN));
    for (sigma2, log2) in sigma2.iter().zip(log2_granularity) {
        let bits = sigma2.to_bits().cast_signed();
        least = (least.0.min(bits), least.1.min(*log2));
        most = (most.0.max(bits), most.1.max(*log2));
    }
    [least, most].map(|(bits, log2)| (f64::from_bits(bits.cast_unsigned()), log2))
}

/// Draws X of every word. A block with parameters of no mechanism, or a lattice that is finer than the normal numbers, is not for the fast path.
#[inline(always)]
pub(super) fn draw<A: Arithmetic>(
    sigma2: &[f64; BLOCK],
    log2_granularity: &[i64; BLOCK],
    words: &[u64; BLOCK],
    drawn: &mut DrawnBlock,
) {
    // What parameters are is no secret.
    let [(least, finest), (most, coarsest)] = extent(sigma2, log2_granularity);
    if !(least >= LEAST_SIGMA2 && most <= MOST_SIGMA2 && finest > -1023 && coarsest <= 960) {
        return drawn.nothing();
    }
    for (granularity, log2) in drawn.granularity.iter_mut().zip(log2_granularity) {
        *granularity = f64::from_bits(log2.wrapping_add(1023).cast_unsigned() << 52);
    }
    if most >= FEW {
        quantile::write_own::<A>(sigma2, [least, most], words, &mut drawn.steps);
    }
    if least < FEW {
        write_narrow::<A>(sigma2, words, drawn);
    }
}

/// The number of j with v·(½ + w₁ + w₂ + …) below wⱼ + wⱼ₊₁ + …, wⱼ = q^(j²) and q = e^(−1/(2σ²)), where σ² is narrow.
///
/// The relative error of wⱼ is below j²(2x + 4)u + 2ju, x = 1/(2σ²): for weights above 2⁻⁴⁵, of which j²x ≤ 32, below 400u. With the sums and products
/// it stays below 2⁻⁴¹ of the tail; what is left out is below 2⁻⁵⁰.
#[inline(always)]
fn write_narrow<A: Arithmetic>(sigma2: &[f64; BLOCK], words: &[u64; BLOCK], drawn: &mut DrawnBlock) {
    const RELATIVE: f64 = 1.0 / (1_u64 << 41) as f64;
    const ABSOLUTE: f64 = 1.0 / (1_u64 << 49) as f64;
    let DrawnBlock { steps, constants, .. } = drawn;
    let [ratio, square, total, ..] = constants;
    let mut weights = [[0.0; BLOCK]; WEIGHTS];
    for i in 0..BLOCK {
        let q = 1.0 / exp::<A>((0.5 / sigma2[i]).min(700.0), 0.0);
        (ratio[i], square[i], total[i]) = (q, q * q, 0.5);
    }
    for j in 0..WEIGHTS {
        for i in 0..BLOCK {
            let before = if j == 0 { 1.0 } else { weights[j - 1][i] };
            weights[j][i] = before * ratio[i];
            ratio[i] *= square[i];
            total[i] += weights[j][i];
        }
    }
    // The sums v·total, the tails and how many are surely and perhaps above.
    let [tail, surely, perhaps] = [ratio, square, &mut [0.0; BLOCK]];
    *surely = [0.0; BLOCK];
    *tail = [0.0; BLOCK];
    for weights in weights.iter().rev() {
        for i in 0..BLOCK {
            let v = A::from_bits(words[i] & !SIGN) * power_of_two(-WORD_BITS.cast_signed()) * total[i];
            tail[i] += weights[i];
            let error = A::mul_add(tail[i], RELATIVE, ABSOLUTE);
            surely[i] += masked(less(v, tail[i] - error), 1.0);
            perhaps[i] += masked(less(v, tail[i] + error), 1.0);
        }
    }
    for i in 0..BLOCK {
        // Ones make NaN.
        let doubt = less(surely[i], perhaps[i]) | !less(perhaps[i], WEIGHTS as f64);
        let drawn = f64::from_bits(with_sign(surely[i], words[i]).to_bits() | doubt);
        steps[i] = if sigma2[i] < FEW { drawn } else { steps[i] };
    }
}
