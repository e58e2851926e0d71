//! The first level of geometric distributions of small scale: `f32`, twice as many lanes to a vector.

use super::super::arithmetic::{Arithmetic, BLOCK, map_all};
use super::super::lane::WORD_BITS;
use super::super::mapped::Map;
use super::block::{Block, MOST_IN_DOUBT};
use crate::lattice::dyadic::power_of_two;
use crate::lattice::value::{Scaling, Value};

/// The formula of [`GeometricLane`](super::super::geometric::GeometricLane), |X| = ⌊κ·(−ln v) + β⌋, on the 31 leading bits V of v in `f32`.
///
/// What is rounded is x − ½, so that the distance to the nearest whole number shows how far x is from an edge.
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
///
/// `MAPPED`: all of this is about U instead of V, and [`MAPPED_WORD`] is instead of the first line.
#[derive(Clone, Debug)]
pub(in super::super) struct Narrow<const MAPPED: bool> {
    map: NarrowMap,
    scale: f32,
    /// β − ½.
    offset: f32,
    certain: Certain,
}

/// Half an ulp of 1.
pub(super) const U: f64 = f32::EPSILON as f64 / 2.0;

/// The error of −ln m for a significand m.
pub(in super::super) const LOGARITHM: f64 = 1.5 * U;

/// 1.5·2²³: adding it rounds to the nearest whole number and leaves that number in the low bits.
const SHIFTER: f32 = 12_582_912.0;

/// √½, where the significand of [`split`] begins; it ends before twice this.
pub(in super::super) const SQRT_HALF: u32 = 0x3f35_04f3;

pub(super) const BITS: u32 = 31;

/// U = scale·V + offset of `canonical`, on the 31 leading bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct NarrowMap {
    scale: f32,
    offset: f32,
}

/// Error of U, relative to it. V's part has four: V, the scale, their product, the sum. The offset's has two. Those of `f64` are far less.
pub(in super::super) const MAPPED_WORD: f64 = 4.5 * U;

impl NarrowMap {
    pub fn new(map: Map) -> Self {
        Self {
            scale: map.scale as f32,
            offset: (map.offset * power_of_two(BITS.cast_signed() - WORD_BITS.cast_signed())) as f32,
        }
    }
}

/// Tolerance on x for each unit of κ, for what the map adds.
pub(super) fn per_scale_of_map<const MAPPED: bool>() -> f64 {
    if MAPPED { MAPPED_WORD - U } else { 0.0 }
}

impl<const MAPPED: bool> Narrow<MAPPED> {
    /// The level for scale κ and offset β. `None` where too many blocks would be undecided.
    pub fn new(scale: f64, offset: f64, map: Map) -> Option<Self> {
        let least = least(scale);
        let longest = longest(least);
        let x = scale * longest + 1.0;
        let per_scale = 2.0 * U + LOGARITHM + 5.0 * longest * U + per_scale_of_map::<MAPPED>();
        let tolerance = scale * per_scale + (x + 4.0) * U + scale / f64::from(least);
        Some(Self {
            map: NarrowMap::new(map),
            scale: scale as f32,
            offset: (offset - 0.5) as f32,
            certain: Certain::new(tolerance, least)?,
        })
    }
}

/// The least leading bits that are certain: there the two kinds of doubt that depend on it are equal, words below it and words beside an edge.
pub(super) fn least(scale: f64) -> u32 {
    (2.0 * scale * power_of_two(BITS.cast_signed())).sqrt().max(1024.0) as u32
}

/// −ln v at these leading bits.
pub(super) fn longest(least: u32) -> f64 {
    (power_of_two(BITS.cast_signed()) / f64::from(least)).ln().max(0.0)
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

impl<const MAPPED: bool> Block for Narrow<MAPPED> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        let leading = A::high_halves(words);
        let x = map_all(&magnitudes::<A, MAPPED>(&leading, self.map), |v| {
            let (e, m) = split(v);
            let logarithm = A::mul_add_narrow(e, core::f32::consts::LN_2, minus_ln::<A>(m));
            A::mul_add_narrow(self.scale, logarithm, self.offset)
        });
        self.certain.write::<A, T>(&leading, &x, scaling, out)
    }
}

/// The leading bits of words without their signs, as `f32`, mapped or not.
#[inline(always)]
pub(super) fn magnitudes<A: Arithmetic, const MAPPED: bool>(leading: &[i32; BLOCK], map: NarrowMap) -> [f32; BLOCK] {
    map_all(leading, |leading| {
        let whole = (leading & i32::MAX) as f32;
        if MAPPED {
            A::mul_add_narrow(whole, map.scale, map.offset)
        } else {
            whole
        }
    })
}

/// Which x and which words are certain.
#[derive(Clone, Debug)]
pub(super) struct Certain {
    /// ½ less the tolerance.
    inside: f32,
    /// The least of the leading bits of a word that is.
    least: u32,
}

impl Certain {
    /// With this tolerance on x. `None` where too many blocks would be undecided.
    pub fn new(tolerance: f64, least: u32) -> Option<Self> {
        let in_doubt = BLOCK as f64 * (f64::from(least) * power_of_two(-BITS.cast_signed()) + 2.0 * tolerance);
        (in_doubt <= MOST_IN_DOUBT).then_some(Self {
            // Rounded, and compared with a rounded distance.
            inside: (0.5 - tolerance * (1.0 + power_of_two(-20)) - U) as f32,
            least,
        })
    }

    /// Writes x rounded, with the signs of the words; whether all of them are certain.
    #[inline(always)]
    pub fn write<A: Arithmetic, T: Value>(
        &self,
        leading: &[i32; BLOCK],
        x: &[f32; BLOCK],
        scaling: Scaling,
        out: &mut [T; BLOCK],
    ) -> bool {
        // Differences of bits, of which a sign says that a word is not certain: numbers from zero upwards are in the order of their bits.
        let mut undecided = 0_u32;
        let (inside, least) = (self.inside.to_bits(), self.least);
        let mut steps = [0; BLOCK];
        for i in 0..BLOCK {
            let (magnitude, sign) = (leading[i].cast_unsigned() & !SIGN, leading[i].cast_unsigned() & SIGN);
            let x = f32::from_bits(x[i].to_bits() ^ sign);
            let shifted = x + SHIFTER;
            let off = (x - (shifted - SHIFTER)).abs();
            undecided |= inside.wrapping_sub(off.to_bits()) | magnitude.wrapping_sub(least);
            steps[i] = shifted.to_bits().wrapping_sub(SHIFTER.to_bits()).cast_signed();
        }
        for (out, steps) in out.iter_mut().zip(A::widened(&steps)) {
            *out = T::from_near(steps, scaling.granularity());
        }
        undecided & SIGN == 0
    }
}

/// The sign of a word in its high half.
const SIGN: u32 = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u_is_the_largest_that_rounding_drops_beside_1() {
        assert_eq!(1.0 + U as f32, 1.0);
        assert_ne!(1.0 + (U as f32) * (1.0 + f32::EPSILON), 1.0);
    }

    /// Evidence: the difference of the errors that are stated.
    #[test]
    fn mapped_words_have_a_larger_tolerance() {
        let scale = 10.0;
        let as_they_are = Narrow::<false>::new(scale, 0.5, Map::NONE).unwrap().certain.inside;
        let mapped = Narrow::<true>::new(scale, 0.5, Map::NONE).unwrap().certain.inside;
        let more = f64::from(as_they_are - mapped) / (scale * (MAPPED_WORD - U));
        assert!((more - 1.0).abs() < 0.05, "{more}");
    }
}
