//! `Arithmetic::leading` by SSE2 and AVX2: of loops the compiler makes up to twice as many instructions.
#![allow(unsafe_code, reason = "intrinsics of SSE2 and AVX2")]
#![allow(clippy::inline_always, reason = "as in `avx512`")]

use core::arch::x86_64::{
    _mm_castps_si128, _mm_castsi128_ps, _mm_loadu_si128, _mm_packs_epi32, _mm_shuffle_ps, _mm_srai_epi32, _mm_storeu_si128,
    _mm256_castps_si256, _mm256_castsi256_ps, _mm256_loadu_si256, _mm256_packs_epi32, _mm256_permutevar8x32_epi32,
    _mm256_setr_epi32, _mm256_shuffle_ps, _mm256_srai_epi32, _mm256_storeu_si256,
};

/// The high half of every word of two vectors.
const HIGH: i32 = 0b11_01_11_01;

// SAFETY, of both functions: x86-64 has SSE2, and only the arithmetic of the tier of AVX2 calls the function that needs it, on a processor that has it.
// Pointers are to the element of an array at a multiple of what a register takes, of which the length is a multiple.

#[inline(always)]
pub(super) fn by_sse2<const N: usize>(words: &[u64; N]) -> [i16; N] {
    let mut leading = [0; N];
    const { assert!(N.is_multiple_of(8)) };
    for i in (0..N).step_by(8) {
        // SAFETY: as said above.
        unsafe {
            let load = |j: usize| _mm_castsi128_ps(_mm_loadu_si128(words.as_ptr().add(i + 2 * j).cast()));
            let first = _mm_castps_si128(_mm_shuffle_ps::<HIGH>(load(0), load(1)));
            let second = _mm_castps_si128(_mm_shuffle_ps::<HIGH>(load(2), load(3)));
            let packed = _mm_packs_epi32(_mm_srai_epi32::<16>(first), _mm_srai_epi32::<16>(second));
            _mm_storeu_si128(leading.as_mut_ptr().add(i).cast(), packed);
        }
    }
    leading
}

#[inline(always)]
pub(super) fn by_avx2<const N: usize>(words: &[u64; N]) -> [i16; N] {
    let mut leading = [0; N];
    const { assert!(N.is_multiple_of(16)) };
    for i in (0..N).step_by(16) {
        // SAFETY: as said above.
        unsafe {
            let load = |j: usize| _mm256_castsi256_ps(_mm256_loadu_si256(words.as_ptr().add(i + 4 * j).cast()));
            let first = _mm256_castps_si256(_mm256_shuffle_ps::<HIGH>(load(0), load(1)));
            let second = _mm256_castps_si256(_mm256_shuffle_ps::<HIGH>(load(2), load(3)));
            let packed = _mm256_packs_epi32(_mm256_srai_epi32::<16>(first), _mm256_srai_epi32::<16>(second));
            // Each half of a register has pairs of every vector.
            let ordered = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
            _mm256_storeu_si256(leading.as_mut_ptr().add(i).cast(), ordered);
        }
    }
    leading
}
