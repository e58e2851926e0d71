//! Instructions of AVX-512 that no loop compiles to, for the tier that has them.
#![allow(unsafe_code, reason = "intrinsics of AVX-512")]
#![allow(
    clippy::inline_always,
    reason = "functions of their own would be compiled for the baseline (`tier::on_tier`)"
)]
#![allow(clippy::needless_range_loop, reason = "iterators too would be functions of their own")]

use core::arch::x86_64::{
    __m512, __m512d, __m512i, _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEG_INF, _MM_FROUND_TO_POS_INF, _MM_MANT_NORM_1_2,
    _MM_MANT_SIGN_SRC, _mm512_add_epi32, _mm512_add_round_pd, _mm512_and_epi32, _mm512_and_epi64, _mm512_castpd_si512,
    _mm512_castps_si512, _mm512_castsi512_pd, _mm512_castsi512_ps, _mm512_castsi512_si256, _mm512_cvtepi64_pd, _mm512_fmadd_pd,
    _mm512_fmadd_ps, _mm512_fmsub_pd, _mm512_getexp_ps, _mm512_getmant_ps, _mm512_inserti64x4, _mm512_loadu_epi16,
    _mm512_loadu_epi32, _mm512_loadu_epi64, _mm512_loadu_pd, _mm512_loadu_ps, _mm512_mask_blend_pd, _mm512_mask_mov_epi32,
    _mm512_movepi64_mask, _mm512_or_epi64, _mm512_permutex2var_epi16, _mm512_permutex2var_pd, _mm512_permutexvar_epi32,
    _mm512_permutexvar_ps, _mm512_roundscale_pd, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_set1_pd, _mm512_set1_ps,
    _mm512_setzero_pd, _mm512_setzero_ps, _mm512_setzero_si512, _mm512_shuffle_ps, _mm512_slli_epi32, _mm512_slli_epi64,
    _mm512_srai_epi32, _mm512_srai_epi64, _mm512_srli_epi32, _mm512_srli_epi64, _mm512_storeu_epi16, _mm512_storeu_epi32,
    _mm512_storeu_epi64, _mm512_storeu_pd, _mm512_storeu_ps, _mm512_sub_epi64, _mm512_sub_pd, _mm512_sub_ps,
    _mm512_ternarylogic_epi32, _mm512_ternarylogic_epi64, _mm512_test_epi64_mask, _mm512_unpackhi_epi32, _mm512_unpacklo_epi32,
};
use core::hint::black_box;

use super::float::Halves;
use crate::lattice::dyadic::power_of_two;

// SAFETY, of every block here: only the arithmetic of the tier of AVX-512 calls these functions, on a processor that has the tier's instructions. A
// pointer is to the element of an array at i, and as many follow as a register takes: i goes in steps of that number, of which the length is a
// multiple.

/// `Arithmetic::high_halves`: two vectors of words give one, whose even places are the first vector's and whose odd places the second's.
#[inline(always)]
pub(super) fn high_halves<const N: usize>(words: &[u64; N]) -> [i32; N] {
    const ODD: u16 = 0xaaaa;
    let mut halves = [0; N];
    const { assert!(N.is_multiple_of(16)) };
    for i in (0..N).step_by(16) {
        // SAFETY: as said above.
        unsafe {
            let first = _mm512_srli_epi64::<32>(_mm512_loadu_epi64(words.as_ptr().add(i).cast()));
            let second = _mm512_loadu_epi32(words.as_ptr().add(i + 8).cast());
            _mm512_storeu_epi32(halves.as_mut_ptr().add(i), _mm512_mask_mov_epi32(first, ODD, second));
        }
    }
    halves
}

/// `Arithmetic::leading`: of two vectors of words one instruction takes every fourth 16 bits.
#[inline(always)]
pub(super) fn leading<const N: usize>(words: &[u64; N]) -> [i16; N] {
    const PLACES: [i16; 32] = {
        let mut places = [0; 32];
        let mut i = 0;
        while i < places.len() {
            places[i] = (4 * i + 3) as i16;
            i += 1;
        }
        places
    };
    let mut leading = [0; N];
    const { assert!(N.is_multiple_of(32)) };
    for i in (0..N).step_by(32) {
        // SAFETY: as said above; AVX-512 BW is a part of the tier.
        unsafe {
            let places = _mm512_loadu_epi16(PLACES.as_ptr());
            let [first, second, third, fourth] = [0, 8, 16, 24].map(|j| _mm512_loadu_epi64(words.as_ptr().add(i + j).cast()));
            let low = _mm512_permutex2var_epi16(first, places, second);
            let high = _mm512_permutex2var_epi16(third, places, fourth);
            let all = _mm512_inserti64x4::<1>(low, _mm512_castsi512_si256(high));
            _mm512_storeu_epi16(leading.as_mut_ptr().add(i), all);
        }
    }
    leading
}

#[inline(always)]
pub(super) fn widened<const N: usize>(integers: &[i32; N]) -> [i64; N] {
    let mut wide = [0; N];
    const { assert!(N.is_multiple_of(16)) };
    for i in (0..N).step_by(16) {
        // SAFETY: as said above.
        unsafe {
            let both = _mm512_loadu_epi64(integers.as_ptr().add(i).cast());
            let first = _mm512_srai_epi64::<32>(_mm512_slli_epi64::<32>(both));
            _mm512_storeu_epi64(wide.as_mut_ptr().add(i), first);
            _mm512_storeu_epi64(wide.as_mut_ptr().add(i + 8), _mm512_srai_epi64::<32>(both));
        }
    }
    wide
}

#[inline(always)]
pub(super) fn look_up<const AT: u32, const N: usize>(table: &[f64; 16], numbers: &[f64; N]) -> [f64; N] {
    let mut found = [0.0; N];
    const { assert!(N.is_multiple_of(8)) };
    for i in (0..N).step_by(8) {
        // SAFETY: as said above; the table is of twice eight.
        unsafe {
            let (low, high) = (_mm512_loadu_pd(table.as_ptr()), _mm512_loadu_pd(table.as_ptr().add(8)));
            let places = _mm512_srli_epi64::<AT>(_mm512_loadu_epi64(numbers.as_ptr().add(i).cast()));
            _mm512_storeu_pd(found.as_mut_ptr().add(i), _mm512_permutex2var_pd(low, places, high));
        }
    }
    found
}

/// `Arithmetic::polynomials`. Eight vectors take their numbers from one load of a table.
///
/// Each half of a table takes an instruction of one source for two vectors together. One of two sources for either vector would leave no unit for
/// products (Zen 4).
#[inline(always)]
pub(super) fn polynomials<const N: usize, const H: usize, const M: usize>(
    wide: &[Halves; N],
    narrow: &[[f32; 16]; H],
    words: &[u64; M],
    lowest: f64,
) -> ([f64; M], bool) {
    let (mut sums, mut below) = ([0.0; M], 0);
    const { assert!(M.is_multiple_of(16 * PAIRS)) };
    for i in (0..M).step_by(16 * PAIRS) {
        // SAFETY: as said above.
        unsafe {
            let (octaves, doubt) = Octaves::new(words.as_ptr().add(i), lowest);
            below |= doubt;
            let factors = octaves.narrow_sums(narrow);
            let mut sum = octaves.wide_sums(wide);
            for j in 0..PAIRS {
                let factor = doubles(factors[j]);
                for k in 0..2 {
                    let mut product = octaves.from_middle[j][k];
                    for n in 0..N.ilog2() {
                        product = _mm512_fmsub_pd(product, product, _mm512_set1_pd(power_of_two(1 - (4 << n))));
                    }
                    sum[j][k] = _mm512_fmadd_pd(product, factor[k], sum[j][k]);
                    _mm512_storeu_pd(sums.as_mut_ptr().add(i + 16 * j + 8 * k), sum[j][k]);
                }
            }
        }
    }
    (sums, below != 0)
}

/// Pairs of vectors that take their numbers from one load of a table.
const PAIRS: usize = 4;

/// Numbers V = m·2^e. Pairs of vectors share one of 32 bits, two places of either by turns: the order in which instructions unpack it.
struct Octaves {
    /// The place of e in a table, in the last four bits.
    places: [__m512i; PAIRS],
    /// m − 3/2.
    from_middle: [[__m512d; 2]; PAIRS],
    /// The same for the 24 first bits of m.
    narrow_from_middle: [__m512; PAIRS],
}

impl Octaves {
    /// The magnitudes of words, and a mask that is not 0 if any is below the lowest.
    #[inline(always)]
    unsafe fn new(words: *const u64, lowest: f64) -> (Self, u8) {
        // SAFETY: as said above.
        unsafe {
            let (none, zero) = (_mm512_setzero_si512(), _mm512_setzero_pd());
            let mut octaves = Self {
                places: [none; PAIRS],
                from_middle: [[zero; 2]; PAIRS],
                narrow_from_middle: [_mm512_setzero_ps(); PAIRS],
            };
            let mut below = none;
            let lowest = _mm512_set1_epi64(lowest.to_bits().cast_signed());
            let (fraction, one) = (
                _mm512_set1_epi64((1 << 52) - 1),
                _mm512_set1_epi64(1.0_f64.to_bits().cast_signed()),
            );
            let (narrow_fraction, narrow_one) = (
                _mm512_set1_epi32((1 << 23) - 1),
                _mm512_set1_epi32(1.0_f32.to_bits().cast_signed()),
            );
            for j in 0..PAIRS {
                let mut v = [none; 2];
                for k in 0..2 {
                    let word = _mm512_loadu_epi64(words.add(16 * j + 8 * k).cast());
                    v[k] = _mm512_castpd_si512(_mm512_cvtepi64_pd(_mm512_and_epi64(word, _mm512_set1_epi64(i64::MAX))));
                    // The difference is negative where it is: positive numbers are in the order of their bits.
                    below = _mm512_or_epi64(below, _mm512_sub_epi64(v[k], lowest));
                    let m = _mm512_ternarylogic_epi64::<AND_OR>(v[k], fraction, one);
                    octaves.from_middle[j][k] = _mm512_sub_pd(_mm512_castsi512_pd(m), _mm512_set1_pd(1.5));
                }
                octaves.places[j] = _mm512_srli_epi32::<20>(high_halves_by_two(v));
                let leading = high_halves_by_two([_mm512_slli_epi64::<3>(v[0]), _mm512_slli_epi64::<3>(v[1])]);
                let m = _mm512_ternarylogic_epi32::<AND_OR>(leading, narrow_fraction, narrow_one);
                octaves.narrow_from_middle[j] = _mm512_sub_ps(_mm512_castsi512_ps(m), _mm512_set1_ps(1.5));
            }
            (octaves, _mm512_movepi64_mask(below))
        }
    }

    /// Σ cₖ·(m − 3/2)ᵏ in `f32`.
    #[inline(always)]
    unsafe fn narrow_sums<const H: usize>(&self, tables: &[[f32; 16]; H]) -> [__m512; PAIRS] {
        // SAFETY: as said above; a table is of sixteen.
        unsafe {
            let (mut sums, last) = ([_mm512_setzero_ps(); PAIRS], _mm512_loadu_ps(tables[H - 1].as_ptr()));
            for j in 0..PAIRS {
                sums[j] = _mm512_permutexvar_ps(self.places[j], last);
            }
            for table in rolled(&tables[..H - 1]).iter().rev() {
                let table = _mm512_loadu_ps(table.as_ptr());
                for j in 0..PAIRS {
                    let c = _mm512_permutexvar_ps(self.places[j], table);
                    sums[j] = _mm512_fmadd_ps(sums[j], self.narrow_from_middle[j], c);
                }
            }
            sums
        }
    }

    /// Σ cₖ·(m − 3/2)ᵏ.
    #[inline(always)]
    unsafe fn wide_sums<const N: usize>(&self, tables: &[Halves; N]) -> [[__m512d; 2]; PAIRS] {
        // SAFETY: as said above.
        unsafe {
            let mut sums = [[_mm512_setzero_pd(); 2]; PAIRS];
            for j in 0..PAIRS {
                sums[j] = self.look_up(j, &tables[N - 1]);
            }
            for table in rolled(&tables[..N - 1]).iter().rev() {
                for j in 0..PAIRS {
                    let c = self.look_up(j, table);
                    for k in 0..2 {
                        sums[j][k] = _mm512_fmadd_pd(sums[j][k], self.from_middle[j][k], c[k]);
                    }
                }
            }
            sums
        }
    }

    #[inline(always)]
    unsafe fn look_up(&self, j: usize, [low, high]: &Halves) -> [__m512d; 2] {
        // SAFETY: as said above; a table is of sixteen.
        unsafe {
            let (low, high) = (
                _mm512_loadu_epi32(low.as_ptr().cast()),
                _mm512_loadu_epi32(high.as_ptr().cast()),
            );
            unpacked(
                _mm512_permutexvar_epi32(self.places[j], low),
                _mm512_permutexvar_epi32(self.places[j], high),
            )
        }
    }
}

/// (a & b) | c, as a table of truth.
const AND_OR: i32 = 0xea;

/// The high halves of two vectors, two of either by turns.
#[inline(always)]
unsafe fn high_halves_by_two([first, second]: [__m512i; 2]) -> __m512i {
    // SAFETY: as said above.
    unsafe {
        _mm512_castps_si512(_mm512_shuffle_ps::<0b11_01_11_01>(
            _mm512_castsi512_ps(first),
            _mm512_castsi512_ps(second),
        ))
    }
}

#[inline(always)]
unsafe fn unpacked(low: __m512i, high: __m512i) -> [__m512d; 2] {
    // SAFETY: as said above.
    unsafe {
        [
            _mm512_castsi512_pd(_mm512_unpacklo_epi32(low, high)),
            _mm512_castsi512_pd(_mm512_unpackhi_epi32(low, high)),
        ]
    }
}

/// Normal numbers of a pair as `f64`s.
#[inline(always)]
unsafe fn doubles(singles: __m512) -> [__m512d; 2] {
    // SAFETY: as said above.
    unsafe {
        let bits = _mm512_castps_si512(singles);
        // The sign is there four times.
        let high = _mm512_and_epi32(_mm512_srai_epi32::<3>(bits), _mm512_set1_epi32(0x8fff_ffff_u32.cast_signed()));
        let high = _mm512_add_epi32(high, _mm512_set1_epi32((1023 - 127) << 20));
        unpacked(_mm512_slli_epi32::<29>(bits), high)
    }
}

/// In a straight line of code the compiler would put one vector after the other: of a loop over this it makes a loop.
#[inline(always)]
fn rolled<T>(tables: &[T]) -> &[T] {
    black_box(tables)
}

#[inline(always)]
pub(super) fn look_up_narrow<const AT: u32, const N: usize>(table: &[f32; 16], numbers: &[f32; N]) -> [f32; N] {
    let mut found = [0.0; N];
    const { assert!(N.is_multiple_of(16)) };
    for i in (0..N).step_by(16) {
        // SAFETY: as said above.
        unsafe {
            let places = _mm512_srli_epi32::<AT>(_mm512_loadu_epi32(numbers.as_ptr().add(i).cast()));
            let values = _mm512_permutexvar_ps(places, _mm512_loadu_ps(table.as_ptr()));
            _mm512_storeu_ps(found.as_mut_ptr().add(i), values);
        }
    }
    found
}

#[inline(always)]
pub(super) fn split_narrow<const N: usize>(numbers: &[f32; N]) -> [[f32; N]; 2] {
    let [mut exponents, mut significands] = [[0.0; N]; 2];
    const { assert!(N.is_multiple_of(16)) };
    for i in (0..N).step_by(16) {
        // SAFETY: as said above.
        unsafe {
            let x = _mm512_loadu_ps(numbers.as_ptr().add(i));
            _mm512_storeu_ps(exponents.as_mut_ptr().add(i), _mm512_getexp_ps(x));
            let significand = _mm512_getmant_ps::<_MM_MANT_NORM_1_2, _MM_MANT_SIGN_SRC>(x);
            _mm512_storeu_ps(significands.as_mut_ptr().add(i), significand);
        }
    }
    [exponents, significands]
}

/// `Arithmetic::half_up`, but for the sign of a zero: ⌊y⌋ of the y next to x + ½ towards −∞, and no whole number lies between.
#[inline(always)]
pub(super) fn half_up<const N: usize>(x: &[f64; N]) -> [f64; N] {
    let mut rounded = [0.0; N];
    const { assert!(N.is_multiple_of(8)) };
    for i in (0..N).step_by(8) {
        // SAFETY: as said above.
        unsafe {
            let sum = _mm512_add_round_pd::<DOWN>(_mm512_loadu_pd(x.as_ptr().add(i)), _mm512_set1_pd(0.5));
            let floor = _mm512_roundscale_pd::<DOWN>(sum);
            _mm512_storeu_pd(rounded.as_mut_ptr().add(i), floor);
        }
    }
    rounded
}

const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

/// `float::sum_to_odd`: of the neighbours of a sum, the one whose last bit is 1; if they are one number, that one.
#[inline(always)]
pub(super) fn sum_to_odd<const N: usize>(a: &[f64; N], b: &[f64; N]) -> [f64; N] {
    const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
    let mut sums = [0.0; N];
    const { assert!(N.is_multiple_of(8)) };
    for i in (0..N).step_by(8) {
        // SAFETY: as said above.
        unsafe {
            let (a, b) = (_mm512_loadu_pd(a.as_ptr().add(i)), _mm512_loadu_pd(b.as_ptr().add(i)));
            let (up, down) = (_mm512_add_round_pd::<UP>(a, b), _mm512_add_round_pd::<DOWN>(a, b));
            // A zero is even, and `up` has the one without a sign.
            let is_odd = _mm512_test_epi64_mask(_mm512_castpd_si512(down), _mm512_set1_epi64(1));
            _mm512_storeu_pd(sums.as_mut_ptr().add(i), _mm512_mask_blend_pd(is_odd, up, down));
        }
    }
    sums
}
