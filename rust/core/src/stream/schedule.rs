//! The key schedule of AES-256, with AES-NI.

use core::arch::x86_64::{
    __m128i, _mm_aesenclast_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_set1_epi32, _mm_setzero_si128, _mm_shuffle_epi8,
    _mm_slli_si128, _mm_unpackhi_epi64, _mm_xor_si128,
};
use core::sync::atomic::Ordering::Relaxed;

use super::pieces::RoundKeys;

pub(super) const ROUNDS: usize = 14;

/// FIPS-197, section 5.2, for eight key words. A new half of a round key is the running XOR of the last half but one, XORed with a word. That is the
/// last word of the last half, through the S-box. For even halves it is rotated and gets a round constant.
///
/// The caller wipes `keys`.
#[target_feature(enable = "aes,ssse3")]
pub(super) fn expand(key: &[u8; 32], keys: &mut [__m128i; ROUNDS + 1]) {
    for (half, bytes) in keys.iter_mut().zip(key.as_chunks::<16>().0) {
        let number = u128::from_le_bytes(*bytes);
        *half = _mm_set_epi64x((number >> 64) as i64, number as i64);
    }
    keys[2] = even_half::<0x01>(keys[0], keys[1]);
    keys[3] = odd_half(keys[1], keys[2]);
    keys[4] = even_half::<0x02>(keys[2], keys[3]);
    keys[5] = odd_half(keys[3], keys[4]);
    keys[6] = even_half::<0x04>(keys[4], keys[5]);
    keys[7] = odd_half(keys[5], keys[6]);
    keys[8] = even_half::<0x08>(keys[6], keys[7]);
    keys[9] = odd_half(keys[7], keys[8]);
    keys[10] = even_half::<0x10>(keys[8], keys[9]);
    keys[11] = odd_half(keys[9], keys[10]);
    keys[12] = even_half::<0x20>(keys[10], keys[11]);
    keys[13] = odd_half(keys[11], keys[12]);
    keys[14] = even_half::<0x40>(keys[12], keys[13]);
}

/// The same into atomic numbers. Not inlined: it leaves round keys on the stack, which the caller wipes.
#[inline(never)]
#[target_feature(enable = "aes,ssse3")]
pub(super) fn expand_shared(key: &[u8; 32], keys: &RoundKeys) {
    let mut expanded = [_mm_setzero_si128(); ROUNDS + 1];
    expand(key, &mut expanded);
    for ([low, high], key) in keys.iter().zip(expanded) {
        low.store(_mm_cvtsi128_si64(key).cast_unsigned(), Relaxed);
        high.store(_mm_cvtsi128_si64(_mm_unpackhi_epi64(key, key)).cast_unsigned(), Relaxed);
    }
}

/// The S-box is that of a last round, whose shift of rows changes nothing in four equal columns; `aeskeygenassist` takes longer.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn even_half<const ROUND: i32>(before: __m128i, last: __m128i) -> __m128i {
    // Bytes 13, 14, 15, 12: the last word, rotated, in all four columns.
    let rotated = _mm_shuffle_epi8(last, _mm_set1_epi32(0x0c0f_0e0d));
    _mm_xor_si128(running_xor(before), _mm_aesenclast_si128(rotated, _mm_set1_epi32(ROUND)))
}

#[inline]
#[target_feature(enable = "aes,ssse3")]
fn odd_half(before: __m128i, last: __m128i) -> __m128i {
    // The last word in all four columns.
    let word = _mm_shuffle_epi8(last, _mm_set1_epi32(0x0f0e_0d0c));
    _mm_xor_si128(running_xor(before), _mm_aesenclast_si128(word, _mm_setzero_si128()))
}

/// Word i becomes the XOR of words 0 to i.
#[inline]
#[target_feature(enable = "aes")]
fn running_xor(half: __m128i) -> __m128i {
    let half = _mm_xor_si128(half, _mm_slli_si128::<4>(half));
    _mm_xor_si128(half, _mm_slli_si128::<8>(half))
}
