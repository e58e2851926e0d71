//! AES-256 in counter mode, two blocks per instruction.
//!
//! The `aes` crate has such a backend too, but turns to it only where the operating system also saves AVX-512 registers; on Zen 3 and on
//! Alder Lake and its kin this one is about twice as fast.
#![allow(
    unsafe_code,
    reason = "intrinsics that store to memory, and calls of functions compiled for more than the baseline"
)]

use core::arch::x86_64::{
    __m128i, __m256i, _mm_aeskeygenassist_si128, _mm_set_epi64x, _mm_setzero_si128, _mm_shuffle_epi32, _mm_slli_si128,
    _mm_xor_si128, _mm256_add_epi64, _mm256_aesenc_epi128, _mm256_aesenclast_epi128, _mm256_broadcastsi128_si256,
    _mm256_set_epi64x, _mm256_setzero_si256, _mm256_storeu_si256, _mm256_xor_si256,
};

use zeroize::Zeroize;

/// Rounds of AES-256.
const ROUNDS: usize = 14;

/// Registers in flight: enough to hide the latency of a round, and with its key they fit the sixteen there are.
const LANES: usize = 8;

/// Blocks in flight.
const BATCH: usize = 2 * LANES;

/// The expanded key, every round key twice; wiped on drop.
pub(super) struct Vaes256([__m256i; ROUNDS + 1]);

impl Vaes256 {
    /// `None` where the processor lacks VAES, AVX2 or AES-NI: a `Vaes256` is the proof that it has them.
    pub fn new(key: &[u8; 32]) -> Option<Self> {
        let available = is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("aes");
        // SAFETY: the features of `expand` have just been found.
        available.then(|| Self(unsafe { expand(key) }))
    }

    /// Writes AES(index, tweak) for index = `first`, `first + 1`, …, as little-endian words.
    pub fn encrypt_counters(&self, tweak: u64, first: u64, out: &mut [[u64; 2]]) {
        // SAFETY: `self` exists, so `new` found the features.
        unsafe { encrypt_counters(&self.0, tweak, first, out) }
    }
}

impl Drop for Vaes256 {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[target_feature(enable = "vaes,avx2,aes")]
fn encrypt_counters(keys: &[__m256i; ROUNDS + 1], tweak: u64, first: u64, out: &mut [[u64; 2]]) {
    let (batches, rest) = out.as_chunks_mut::<BATCH>();
    let mut first = first;
    for batch in batches {
        encrypt_batch(keys, tweak, first, batch);
        first = first.wrapping_add(BATCH as u64);
    }
    if !rest.is_empty() {
        let mut batch = [[0; 2]; BATCH];
        encrypt_batch(keys, tweak, first, &mut batch);
        rest.copy_from_slice(&batch[..rest.len()]);
        batch.zeroize();
    }
}

#[inline]
#[target_feature(enable = "vaes,avx2,aes")]
fn encrypt_batch(keys: &[__m256i; ROUNDS + 1], tweak: u64, first: u64, out: &mut [[u64; 2]; BATCH]) {
    let tweak = tweak.cast_signed();
    let mut counter = _mm256_set_epi64x(tweak, first.wrapping_add(1).cast_signed(), tweak, first.cast_signed());
    let step = _mm256_set_epi64x(0, 2, 0, 2);
    let mut lanes = [_mm256_setzero_si256(); LANES];
    for lane in &mut lanes {
        *lane = _mm256_xor_si256(counter, keys[0]);
        counter = _mm256_add_epi64(counter, step);
    }
    for key in &keys[1..ROUNDS] {
        for lane in &mut lanes {
            *lane = _mm256_aesenc_epi128(*lane, *key);
        }
    }
    for (lane, pair) in lanes.iter().zip(out.as_chunks_mut::<2>().0) {
        let pair: *mut [[u64; 2]; 2] = pair;
        // SAFETY: `pair` is a live exclusive reference to 32 bytes, and the store needs no alignment.
        unsafe { _mm256_storeu_si256(pair.cast(), _mm256_aesenclast_epi128(*lane, keys[ROUNDS])) };
    }
}

/// FIPS-197, section 5.2, for eight key words: a new half takes the last half but one, its own running XOR, and a word of the other half
/// through the S-box, rotated and with a round constant for even halves, as it is for odd ones.
#[target_feature(enable = "avx2,aes")]
fn expand(key: &[u8; 32]) -> [__m256i; ROUNDS + 1] {
    let mut keys = [_mm_setzero_si128(); ROUNDS + 1];
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
    let twice = keys.map(|key| _mm256_broadcastsi128_si256(key));
    keys.zeroize();
    twice
}

#[inline]
#[target_feature(enable = "aes")]
fn even_half<const ROUND: i32>(before: __m128i, last: __m128i) -> __m128i {
    let word = _mm_shuffle_epi32::<0b11_11_11_11>(_mm_aeskeygenassist_si128::<ROUND>(last));
    _mm_xor_si128(running_xor(before), word)
}

#[inline]
#[target_feature(enable = "aes")]
fn odd_half(before: __m128i, last: __m128i) -> __m128i {
    let word = _mm_shuffle_epi32::<0b10_10_10_10>(_mm_aeskeygenassist_si128::<0>(last));
    _mm_xor_si128(running_xor(before), word)
}

/// Word i becomes the XOR of words 0 to i.
#[inline]
#[target_feature(enable = "aes")]
fn running_xor(half: __m128i) -> __m128i {
    let half = _mm_xor_si128(half, _mm_slli_si128::<4>(half));
    _mm_xor_si128(half, _mm_slli_si128::<8>(half))
}
