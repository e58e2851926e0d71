//! The operations that instruction sets do differently.

use super::float::{self, Halves};
#[cfg(target_arch = "x86_64")]
use super::{avx512, leading};

/// Words decided together: whole vectors, and several of them, on every tier.
pub(crate) const BLOCK: usize = 64;

/// `array.map`, in the caller's instructions: where units are compiled apart, the library's own is a function for the baseline, and a value of Gaussian
/// noise takes up to a hundred times as long. Not for an `f` that chooses, which for the first element alone would be a branch.
#[inline(always)]
pub(crate) fn map_all<T: Copy, U: Copy, const N: usize>(array: &[T; N], f: impl Fn(T) -> U) -> [U; N] {
    let mut mapped = [f(array[0]); N];
    for i in 0..N {
        mapped[i] = f(array[i]);
    }
    mapped
}

/// The places of the ones of a block's mask, from the lowest.
pub(crate) fn ones(mut mask: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let place = (mask != 0).then_some(mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        place
    })
}

pub(crate) trait Arithmetic {
    /// Whether short work on a block is faster in stages, by way of arrays, than word by word.
    const IN_STAGES: bool = false;

    /// Whether a product and a sum are one instruction with one rounding, and rounding is one: −0.3 to −0.0, where [`float::round`] gives 0.0.
    const FUSED: bool;

    /// Whether instructions look up tables of 16 numbers.
    const TABLES: bool = false;

    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        if Self::FUSED { a.mul_add(b, c) } else { a * b + c }
    }

    #[inline(always)]
    fn mul_add_narrow(a: f32, b: f32, c: f32) -> f32 {
        if Self::FUSED { a.mul_add(b, c) } else { a * b + c }
    }

    /// `n` as an `f64`, rounded once, for n < 2⁶³.
    #[inline(always)]
    fn from_bits(n: u64) -> f64 {
        float::from_bits(n)
    }

    /// [`float::round`], but for the sign of a zero.
    #[inline(always)]
    fn round(x: f64) -> f64 {
        if Self::FUSED { x.round_ties_even() } else { float::round(x) }
    }

    /// ⌊x⌋ for |x| < 2⁵¹, but possibly one off where x is a whole number or next to one; beyond, something within 3 of x.
    #[inline(always)]
    fn floor(x: f64) -> f64 {
        if Self::FUSED { x.floor() } else { float::round(x - 0.5) }
    }

    /// `b` if `raised`, otherwise `a`, where 0 ≤ a ≤ b, for vectors of lanes.
    #[inline(always)]
    fn raised(a: f64, b: f64, raised: bool) -> f64 {
        if raised { b } else { a }
    }

    /// How many of the falling `thresholds` are above `v`, for vectors of lanes.
    #[inline(always)]
    fn count_above<const N: usize>(thresholds: &[i64; N], v: i64) -> f64 {
        float::count_above(thresholds, v)
    }

    /// The high halves of words, in an order of its own.
    #[inline(always)]
    fn high_halves(words: &[u64; BLOCK]) -> [i32; BLOCK] {
        map_all(words, |word| (word >> 32) as i32)
    }

    /// The leading 16 bits of words.
    #[inline(always)]
    fn leading(words: &[u64; BLOCK]) -> [i16; BLOCK] {
        map_all(words, |word| (word >> 48) as i16)
    }

    /// Integers in the order of [`Arithmetic::high_halves`], in the order of the words.
    #[inline(always)]
    fn widened(integers: &[i32; BLOCK]) -> [i64; BLOCK] {
        map_all(integers, i64::from)
    }

    /// The numbers of a table at the four bits from bit `AT` on of each of `numbers`. Only AVX-512 has an instruction for it.
    #[inline(always)]
    fn look_up<const AT: u32>(_table: &[f64; 16], _numbers: &[f64; BLOCK]) -> [f64; BLOCK] {
        unreachable!("no instruction for it");
    }

    /// The formula of [`quantile::Octaves`](super::quantile::Octaves) for the magnitudes of words, and whether any is below the lowest. Only AVX-512
    /// has an instruction for it.
    #[inline(always)]
    fn polynomials<const N: usize, const H: usize>(
        _wide: &[Halves; N],
        _narrow: &[[f32; 16]; H],
        _words: &[u64; BLOCK],
        _lowest: f64,
    ) -> ([f64; BLOCK], bool) {
        unreachable!("no instruction for it");
    }

    /// An integer below 2⁵¹.
    #[inline(always)]
    fn near(n: i64) -> f64 {
        float::near(n)
    }

    /// ⌊x + ½⌋, exactly and never −0.0.
    #[inline(always)]
    fn half_up(x: f64) -> f64 {
        // Where a product and a sum are one instruction, rounding is one too.
        if Self::FUSED {
            float::half_up_by_floor(x)
        } else {
            float::half_up_by_sum(x)
        }
    }

    /// [`Arithmetic::half_up`] of all, but for the sign of a zero.
    #[inline(always)]
    fn halves_up<const N: usize>(x: &[f64; N]) -> [f64; N] {
        map_all(x, Self::half_up)
    }

    /// [`float::sum_to_odd`] of whole numbers.
    #[inline(always)]
    fn sums_to_odd<const N: usize>(a: &[f64; N], b: &[f64; N]) -> [f64; N] {
        let mut sums = [0.0; N];
        for i in 0..N {
            sums[i] = float::sum_to_odd(a[i], b[i]);
        }
        sums
    }

    #[inline(always)]
    fn look_up_narrow<const AT: u32>(_table: &[f32; 16], _numbers: &[f32; BLOCK]) -> [f32; BLOCK] {
        unreachable!("no instruction for it");
    }

    /// The exponents of positive numbers, and their significands from 1 to 2. Only AVX-512 has instructions for it.
    #[inline(always)]
    fn split_narrow(_numbers: &[f32; BLOCK]) -> [[f32; BLOCK]; 2] {
        unreachable!("no instruction for it");
    }
}

/// A product and a sum with two roundings.
pub(crate) struct Separate;

/// A product and a sum with one rounding: every error bound holds for it too. Where the instruction is missing it is done in software, slowly.
#[allow(dead_code, reason = "no tier of some architectures has it")]
pub(crate) struct Fused;

/// The arithmetic of the portable tier: fused where every processor of the architecture does it in one instruction. On AArch64 a lane with a
/// logarithm then runs 6 % fewer instructions for a value, and the other lanes run as many.
#[cfg(target_arch = "aarch64")]
pub(crate) type Baseline = Fused;
#[cfg(not(target_arch = "aarch64"))]
pub(crate) type Baseline = Separate;

/// [`Fused`] where an instruction converts integers of 64 bits. The numbers are the same.
#[allow(dead_code, reason = "no tier of some architectures has it")]
pub(crate) struct FusedWide;

impl Arithmetic for Separate {
    const FUSED: bool = false;

    /// SSE2 takes three instructions to choose between two numbers, and two for this: a staircase of eight rungs is 13 % faster for it.
    #[inline(always)]
    fn raised(a: f64, b: f64, raised: bool) -> f64 {
        float::larger(a, if raised { b } else { 0.0 })
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn leading(words: &[u64; BLOCK]) -> [i16; BLOCK] {
        leading::by_sse2(words)
    }
}

impl Arithmetic for Fused {
    /// A chain of instructions for one vector is longer than a processor looks ahead. A value of three lines takes 0.60 ns in stages and 0.74 in one
    /// loop, on the portable tier 1.70 and 1.55, and the same with the registers of AVX-512 (Zen 4).
    const IN_STAGES: bool = true;
    const FUSED: bool = true;

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn leading(words: &[u64; BLOCK]) -> [i16; BLOCK] {
        leading::by_avx2(words)
    }
}

impl Arithmetic for FusedWide {
    const FUSED: bool = true;
    const TABLES: bool = cfg!(target_arch = "x86_64");

    #[inline(always)]
    fn from_bits(n: u64) -> f64 {
        n as f64
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn high_halves(words: &[u64; BLOCK]) -> [i32; BLOCK] {
        avx512::high_halves(words)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn leading(words: &[u64; BLOCK]) -> [i16; BLOCK] {
        avx512::leading(words)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn widened(integers: &[i32; BLOCK]) -> [i64; BLOCK] {
        avx512::widened(integers)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn look_up<const AT: u32>(table: &[f64; 16], numbers: &[f64; BLOCK]) -> [f64; BLOCK] {
        avx512::look_up::<AT, BLOCK>(table, numbers)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn polynomials<const N: usize, const H: usize>(
        wide: &[Halves; N],
        narrow: &[[f32; 16]; H],
        words: &[u64; BLOCK],
        lowest: f64,
    ) -> ([f64; BLOCK], bool) {
        avx512::polynomials(wide, narrow, words, lowest)
    }

    #[inline(always)]
    fn near(n: i64) -> f64 {
        n as f64
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn halves_up<const N: usize>(x: &[f64; N]) -> [f64; N] {
        avx512::half_up(x)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn sums_to_odd<const N: usize>(a: &[f64; N], b: &[f64; N]) -> [f64; N] {
        avx512::sum_to_odd(a, b)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn look_up_narrow<const AT: u32>(table: &[f32; 16], numbers: &[f32; BLOCK]) -> [f32; BLOCK] {
        avx512::look_up_narrow::<AT, BLOCK>(table, numbers)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn split_narrow(numbers: &[f32; BLOCK]) -> [[f32; BLOCK]; 2] {
        avx512::split_narrow(numbers)
    }

    /// The last threshold above `v` gives the count. On AVX-512 one masked instruction chooses where two would count: a quarter less time.
    #[inline(always)]
    fn count_above<const N: usize>(thresholds: &[i64; N], v: i64) -> f64 {
        let mut count = 0.0;
        for (j, threshold) in thresholds.iter().enumerate() {
            count = if v < *threshold { (j + 1) as f64 } else { count };
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence: equality with the language's own operations, on this processor; the kernels' tests compare whole tiers.
    #[test]
    fn tiers_convert_and_round_alike() {
        converts_and_rounds::<Separate>();
        converts_and_rounds::<Fused>();
        converts_and_rounds::<FusedWide>();
    }

    fn converts_and_rounds<A: Arithmetic>() {
        for shift in 1..64 {
            for n in [
                0,
                1,
                u64::MAX,
                0xaaaa_aaaa_aaaa_aaaa,
                0x8000_0000_0000_0400,
                0x8000_0000_0000_0c01,
            ] {
                let n = n >> shift;
                assert_eq!(A::from_bits(n), n as f64, "{n}");
                let whole = (n >> 13) as f64;
                for x in [0.25, 0.5, 0.75].map(|part| whole + part) {
                    assert_eq!(A::round(x), x.round_ties_even(), "{x}");
                    assert_eq!(A::round(-x), (-x).round_ties_even(), "{x}");
                    assert_eq!(A::floor(x), x.floor(), "{x}");
                    assert_eq!(A::floor(-x), (-x).floor(), "{x}");
                }
                for x in [whole.next_down(), whole, whole.next_up()] {
                    assert!((A::floor(x) - x).abs() <= 1.0, "{x}");
                }
            }
        }
        assert!(A::floor(f64::NAN).is_nan());
    }
}
