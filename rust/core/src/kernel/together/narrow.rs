//! The first level of geometric laws of small scale: `f32`, twice as many lanes to a vector.

use super::super::arithmetic::Arithmetic;
use super::super::lane::BLOCK;
use super::{Block, MOST_IN_DOUBT};
use crate::lattice::dyadic::power_of_two;
use crate::lattice::value::Value;

/// The formula of [`GeometricLane`](super::super::geometric::GeometricLane), |X| = ⌊κ·(−ln v) + β⌋, on the 31 leading bits V of v in `f32`.
///
/// What is rounded is x − ½, so that the distance to the nearest whole number tells how far x is from an edge.
///
/// Error of x, ℓ the logarithm, in units of 2⁻²⁴:
///
/// ```text
/// V as an f32                 κ
/// −ln m                       1.5κ       seen for every significand
/// ln 2, its product, the sum  (3ℓ + 0.7)·κ
/// κ, κ·ℓ                      2ℓ·κ
/// β − ½ and the sum           1 + x
/// θ                           κ/V        in x: the bits beyond those 31
/// ```
#[derive(Clone, Debug)]
pub(in super::super) struct Narrow {
    scale: f32,
    /// β − ½.
    offset: f32,
    /// ½ less the tolerance.
    inside: f32,
    /// Words below it are not certain.
    least: f32,
}

/// Half an ulp of 1.
const U: f64 = f32::EPSILON as f64 / 2.0;

/// The error of −ln m for a significand m.
pub(in super::super) const LOGARITHM: f64 = 1.5 * U;

/// 1.5·2²³: adding it rounds to the nearest whole number and leaves that number in the low bits.
const SHIFTER: f32 = 12_582_912.0;

/// √½, where the significand of [`split`] begins; it ends before twice this.
pub(in super::super) const SQRT_HALF: u32 = 0x3f35_04f3;

const BITS: u32 = 31;

impl Narrow {
    /// Of scale κ, with β. `None` where too many blocks would be in doubt.
    pub fn new(scale: f64, offset: f64) -> Option<Self> {
        let all = power_of_two(BITS.cast_signed());
        // Where the two kinds of doubt that depend on it are equal: words below it, and words beside an edge.
        let least = (2.0 * scale * all).sqrt().max(1024.0) as f32;
        let longest = (all / f64::from(least)).ln().max(0.0);
        let x = scale * longest + 1.0;
        let tolerance = scale * (2.0 * U + LOGARITHM + 5.0 * longest * U) + (x + 4.0) * U + scale / f64::from(least);
        let tolerance = tolerance * (1.0 + power_of_two(-20));
        let in_doubt = BLOCK as f64 * (f64::from(least) / all + 2.0 * tolerance);
        (in_doubt <= MOST_IN_DOUBT).then_some(Self {
            scale: scale as f32,
            offset: (offset - 0.5) as f32,
            inside: (0.5 - tolerance) as f32,
            least,
        })
    }
}

/// −ln v for v = V·2⁻³¹: the multiple of ln 2, and the significand from √½ to √2.
#[inline(always)]
fn split(v: f32) -> (f32, f32) {
    let above = v.to_bits().wrapping_sub(SQRT_HALF);
    let exponent = above.cast_signed() >> 23;
    let significand = f32::from_bits((above & 0x007f_ffff) + SQRT_HALF);
    ((BITS as i32 - exponent) as f32, significand)
}

/// −ln m = −2·atanh(s), s = (m − 1)/(m + 1), with an error below [`LOGARITHM`].
#[inline(always)]
pub(in super::super) fn minus_ln<A: Arithmetic>(m: f32) -> f32 {
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let series = A::mul_add_narrow(z, A::mul_add_narrow(z, -2.0 / 7.0, -2.0 / 5.0), -2.0 / 3.0);
    A::mul_add_narrow(s * z, series, -2.0 * s)
}

impl Block for Narrow {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], granularity: f64, out: &mut [T; BLOCK]) -> bool {
        // The sign bit of a sum of these.
        let mut doubt = 0_u32;
        let leading = words.map(|word| (word >> 32) as i32);
        let mut cells = [0_i32; BLOCK];
        for (leading, cells) in leading.into_iter().zip(&mut cells) {
            let v = (leading & i32::MAX) as f32;
            let (e, m) = split(v);
            let logarithm = A::mul_add_narrow(e, core::f32::consts::LN_2, minus_ln::<A>(m));
            let x = A::mul_add_narrow(self.scale, logarithm, self.offset);
            let shifted = x + SHIFTER;
            let off = x - (shifted - SHIFTER);
            doubt |= (self.inside - off.abs()).to_bits() | (v - self.least).to_bits();
            let (magnitude, sign) = (
                (shifted.to_bits().wrapping_sub(SHIFTER.to_bits())).cast_signed(),
                leading >> 31,
            );
            *cells = (magnitude ^ sign).wrapping_sub(sign);
        }
        for (out, cells) in out.iter_mut().zip(cells) {
            *out = T::from_narrow(cells, granularity);
        }
        doubt >> 31 == 0
    }
}
