use super::elementary::{half_log_ratio, minus_ln};
use super::float::{from_bits, round};
use super::{Lane, MAX_SPAN, WORD_BITS};

/// Fast path of geometric(ε, D): S(j) = 2e^(−εj/D)/(1 + e^(−ε/D)), hence
///
/// ```text
/// |X| = ⌊x⌋,   x = κ·(−ln v) + β,   κ = D/ε,   β = κ·ln(2/(1 + e^(−1/κ)))  in (0, ½].
/// ```
///
/// Error of x, with v = (V + θ)·2^−bits, 0 ≤ θ < 1, and ℓ the computed logarithm:
///
/// ```text
/// V as an f64        κ·u             (relative u of V)
/// logarithm          κ·(2u + 2uℓ)
/// θ                  κ/V ≤ κ·2^−clear
/// κ, κ·ℓ, the sum    3u·x
/// β                  2⁻⁵⁰
/// ```
///
/// which `slack + 2⁻⁵⁰·x`, slack = κ·(2^−clear + 2⁻⁵⁰) + 2⁻⁴⁸, covers, with room for the roundings of the acceptance test itself.
#[derive(Clone, Debug)]
pub(crate) struct Geometric {
    bits: f64,
    scale: f64,
    offset: f64,
    slack: f64,
    /// 2^clear.
    least: f64,
}

/// Words whose V is below 2^(63 − 15) go to the slow path, so that θ counts little; as many (2⁻¹⁵) are ambiguous because of θ at 2³² cells.
const CLEAR_BITS: u32 = WORD_BITS - 15;

impl Geometric {
    pub fn new(eps: f64, cells: u64, bits: u32) -> Self {
        let clear = bits * CLEAR_BITS / WORD_BITS;
        let scale = cells as f64 / eps;
        let theta = (-f64::from(clear)).exp2();
        let (scale, offset, slack) = if scale > MAX_SPAN {
            (0.0, 0.0, f64::INFINITY)
        } else if scale < 1.0 / 256.0 {
            // x < 45/256 + β, β = κ·ln(…) < κ: every accepted word decides zero, which these constants say without doubt.
            (0.0, 0.5, 0.0)
        } else {
            let unit = (-50.0_f64).exp2();
            (scale, half_log_ratio(1.0 / scale), scale * (theta + unit) + 4.0 * unit)
        };
        Self {
            bits: f64::from(bits),
            scale,
            offset,
            slack,
            least: f64::from(clear).exp2(),
        }
    }
}

impl Lane for Geometric {
    #[inline(always)]
    fn magnitude(&self, bits: u64) -> (f64, bool) {
        let whole = from_bits(bits);
        let x = self.scale * minus_ln(whole, self.bits) + self.offset;
        let floor = round(x - 0.5);
        let tolerance = self.slack + x * (1.0 / (1_u64 << 50) as f64);
        // Positive comparisons only: NaN and infinity are not sure.
        let inside = ((x - floor) - 0.5).abs() <= 0.5 - tolerance;
        (floor, inside & (whole >= self.least))
    }
}
