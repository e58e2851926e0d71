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

/// Draws X of every word. A lattice that is finer than the normal numbers takes its block from the fast path.
#[inline(always)]
pub(super) fn draw<A: Arithmetic>(
    sigma2: &[f64; BLOCK],
    log2_granularity: &[i64; BLOCK],
    words: &[u64; BLOCK],
    drawn: &mut DrawnBlock,
) {
    let mut finest = 0;
    for (granularity, log2) in drawn.granularity.iter_mut().zip(log2_granularity) {
        finest = finest.min(*log2);
        *granularity = f64::from_bits((log2 + 1023).cast_unsigned() << 52);
    }
    let [least, most] = sigma2.iter().fold([f64::INFINITY, 0.0], |[least, most], sigma2| {
        [sigma2.min(least), sigma2.max(most)]
    });
    let whole = words.map(|word| A::from_bits(word & !SIGN));
    // What parameters are is no secret.
    if most >= FEW {
        quantile::write_own::<A>(sigma2, most, words, &whole, &mut drawn.steps);
    }
    if least < FEW {
        write_narrow::<A>(sigma2, words, &whole, drawn);
    }
    if finest <= -1023 {
        drawn.nothing();
    }
}

/// The number of j with v·(½ + w₁ + w₂ + …) below wⱼ + wⱼ₊₁ + …, wⱼ = q^(j²) and q = e^(−1/(2σ²)), where σ² is narrow.
///
/// The relative error of wⱼ is below j²(2x + 4)u + 2ju, x = 1/(2σ²): for weights above 2⁻⁴⁵, of which j²x ≤ 32, below 400u. With the sums and products
/// it stays below 2⁻⁴¹ of the tail; what is left out is below 2⁻⁵⁰.
#[inline(always)]
fn write_narrow<A: Arithmetic>(sigma2: &[f64; BLOCK], words: &[u64; BLOCK], whole: &[f64; BLOCK], drawn: &mut DrawnBlock) {
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
            let v = whole[i] * power_of_two(-WORD_BITS.cast_signed()) * total[i];
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
