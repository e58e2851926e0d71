//! Instructions of AVX-512 that no loop compiles to, for the tier that has them.
#![allow(unsafe_code, reason = "intrinsics of AVX-512")]
#![allow(
    clippy::inline_always,
    reason = "functions of their own would be compiled for the baseline (`tier::on_tier`)"
)]

use core::arch::x86_64::{
    __m512i, _CMP_NEQ_UQ, _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEG_INF, _MM_FROUND_TO_POS_INF, _MM_FROUND_TO_ZERO, _MM_MANT_NORM_1_2,
    _MM_MANT_SIGN_SRC, _mm512_add_round_pd, _mm512_castpd_si512, _mm512_castsi512_pd, _mm512_castsi512_si256, _mm512_cmp_pd_mask,
    _mm512_fmadd_pd, _mm512_getexp_ps, _mm512_getmant_pd, _mm512_getmant_ps, _mm512_inserti64x4, _mm512_loadu_epi16,
    _mm512_loadu_epi32, _mm512_loadu_epi64, _mm512_loadu_pd, _mm512_loadu_ps, _mm512_mask_mov_epi32, _mm512_mask_or_epi64,
    _mm512_permutex2var_epi16, _mm512_permutex2var_pd, _mm512_permutexvar_ps, _mm512_set1_epi64, _mm512_set1_pd,
    _mm512_setzero_pd, _mm512_slli_epi64, _mm512_srai_epi64, _mm512_srli_epi32, _mm512_srli_epi64, _mm512_storeu_epi16,
    _mm512_storeu_epi32, _mm512_storeu_epi64, _mm512_storeu_pd, _mm512_storeu_ps, _mm512_sub_pd,
};
use core::array;

// SAFETY, of every block here: only the arithmetic of the tier of AVX-512 calls these functions, on a processor that has AVX-512 F. A pointer is to
// the element of an array at i, and as many follow as a register takes: i goes in steps of that number, of which the length is a multiple.

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

/// Eight vectors take their coefficients from one load of a table: 1.3 to 1.5 times as fast as one vector after the other.
#[inline(always)]
pub(super) fn polynomials<const N: usize, const M: usize>(tables: &[[f64; 16]; N], numbers: &[f64; M]) -> [f64; M] {
    const TOGETHER: usize = 8;
    const EXPONENT: u32 = 52;
    let mut sums = [0.0; M];
    const { assert!(M.is_multiple_of(8 * TOGETHER)) };
    for i in (0..M).step_by(8 * TOGETHER) {
        // SAFETY: as said above; a table is of twice eight.
        unsafe {
            let at: [__m512i; TOGETHER] = array::from_fn(|j| _mm512_loadu_epi64(numbers.as_ptr().add(i + 8 * j).cast()));
            let middle = _mm512_set1_pd(1.5);
            let (mut from_middle, mut places) = ([middle; TOGETHER], at);
            for j in 0..TOGETHER {
                let significand = _mm512_getmant_pd::<_MM_MANT_NORM_1_2, _MM_MANT_SIGN_SRC>(_mm512_castsi512_pd(at[j]));
                from_middle[j] = _mm512_sub_pd(significand, middle);
                places[j] = _mm512_srli_epi64::<EXPONENT>(at[j]);
            }
            let mut sum = [_mm512_setzero_pd(); TOGETHER];
            for table in tables.iter().rev() {
                let (low, high) = (_mm512_loadu_pd(table.as_ptr()), _mm512_loadu_pd(table.as_ptr().add(8)));
                for j in 0..TOGETHER {
                    sum[j] = _mm512_fmadd_pd(sum[j], from_middle[j], _mm512_permutex2var_pd(low, places[j], high));
                }
            }
            for (j, sum) in sum.into_iter().enumerate() {
                _mm512_storeu_pd(sums.as_mut_ptr().add(i + 8 * j), sum);
            }
        }
    }
    sums
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

/// `float::sum_to_odd`: the neighbour towards zero, whose last bit becomes 1 if the other neighbour is another number.
#[inline(always)]
pub(super) fn sum_to_odd<const N: usize>(a: &[f64; N], b: &[f64; N]) -> [f64; N] {
    const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
    const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    const INWARDS: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
    let mut sums = [0.0; N];
    const { assert!(N.is_multiple_of(8)) };
    for i in (0..N).step_by(8) {
        // SAFETY: as said above.
        unsafe {
            let (a, b) = (_mm512_loadu_pd(a.as_ptr().add(i)), _mm512_loadu_pd(b.as_ptr().add(i)));
            let (up, down) = (_mm512_add_round_pd::<UP>(a, b), _mm512_add_round_pd::<DOWN>(a, b));
            let inexact = _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(up, down);
            let sum = _mm512_castpd_si512(_mm512_add_round_pd::<INWARDS>(a, b));
            let odd = _mm512_mask_or_epi64(sum, inexact, sum, _mm512_set1_epi64(1));
            _mm512_storeu_pd(sums.as_mut_ptr().add(i), _mm512_castsi512_pd(odd));
        }
    }
    sums
}
