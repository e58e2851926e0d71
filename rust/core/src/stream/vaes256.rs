//! AES-256 in counter mode, two blocks per instruction.
//!
//! The `aes` crate has such a backend too, but turns to it only where the operating system also saves AVX-512 registers; on Zen 3 and on
//! Alder Lake and its kin this one is about twice as fast.
#![allow(
    unsafe_code,
    reason = "vectors as bytes in memory, and calls of functions compiled for more than the baseline"
)]

use core::arch::x86_64::{
    __m128i, __m256i, _mm_setzero_si128, _mm256_add_epi64, _mm256_aesenc_epi128, _mm256_aesenclast_epi128,
    _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_set_epi64x, _mm256_setzero_si256, _mm256_xor_si256,
};
use core::mem::transmute;

use zeroize::Zeroize;

use super::schedule::{self, ROUNDS};
use crate::wiped::wipe;

/// Registers in flight: enough to hide the latency of a round, and with its key they fit the sixteen there are.
const LANES: usize = 8;

/// Blocks in flight.
const BATCH: usize = 2 * LANES;

/// The expanded key; wiped on drop. Round keys are doubled when they are read, which costs nothing: kept twice they would be aligned to 32 bytes,
/// and a short fill would wait for an allocation of that alignment.
pub(super) struct Vaes256([__m128i; ROUNDS + 1]);

impl Vaes256 {
    /// A place for a key, where it will be used: a move would leave a copy. `None` where the processor lacks VAES, AVX2 or AES-NI: a `Vaes256` is the proof that it
    /// has them.
    pub fn without_key() -> Option<Self> {
        let available = is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("aes");
        // SAFETY: x86-64 has SSE2.
        available.then(|| Self([unsafe { _mm_setzero_si128() }; ROUNDS + 1]))
    }

    pub fn set_key(&mut self, key: &[u8; 32]) {
        // SAFETY: `self` exists, so `without_key` found AES-NI and AVX2, which implies SSSE3.
        unsafe { schedule::expand(key, &mut self.0) }
    }

    /// Writes AES(index, tweak) for index = `first`, `first + 1`, …, as little-endian words.
    pub fn encrypt_counters(&self, tweak: u64, first: u64, out: &mut [[u64; 2]]) {
        // SAFETY: `self` exists, so `without_key` found the features.
        unsafe { encrypt_counters(&self.0, tweak, first, out) }
    }

    /// The same for the indices given, one for each place of `out`.
    pub fn encrypt_indices(&self, tweak: u64, indices: &[u64], out: &mut [[u64; 2]]) {
        for (input, index) in out.iter_mut().zip(indices) {
            *input = [*index, tweak];
        }
        let (batches, rest) = out.as_chunks_mut::<BATCH>();
        for batch in batches {
            // SAFETY: `self` exists, so `without_key` found the features.
            unsafe { encrypt_in_place(&self.0, batch) };
        }
        if !rest.is_empty() {
            let mut batch = [[0; 2]; BATCH];
            batch[..rest.len()].copy_from_slice(rest);
            // SAFETY: as above.
            unsafe { encrypt_in_place(&self.0, &mut batch) };
            rest.copy_from_slice(&batch[..rest.len()]);
            wipe(batch.as_flattened_mut());
        }
    }
}

impl Drop for Vaes256 {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[target_feature(enable = "vaes,avx2,aes")]
fn encrypt_counters(keys: &[__m128i; ROUNDS + 1], tweak: u64, first: u64, out: &mut [[u64; 2]]) {
    let (batches, rest) = out.as_chunks_mut::<BATCH>();
    // Indices wrap only in tests: those of a fill are below 2⁶³.
    let mut first = first;
    for batch in batches {
        encrypt_successors(keys, tweak, first, batch);
        first = first.wrapping_add(BATCH as u64);
    }
    if !rest.is_empty() {
        let mut batch = [[0; 2]; BATCH];
        encrypt_successors(keys, tweak, first, &mut batch);
        rest.copy_from_slice(&batch[..rest.len()]);
        wipe(batch.as_flattened_mut());
    }
}

// Neither function is inlined: around a loop the compiler would keep round keys in registers, and spill those that do not fit to a stack that
// nobody wipes. Neither takes or returns vectors, because these would pass through the stack.

/// Writes AES(index, tweak) for index = `first`, `first + 1`, …
#[inline(never)]
#[target_feature(enable = "vaes,avx2,aes")]
fn encrypt_successors(keys: &[__m128i; ROUNDS + 1], tweak: u64, first: u64, out: &mut [[u64; 2]; BATCH]) {
    let tweak = tweak.cast_signed();
    let mut counter = _mm256_set_epi64x(tweak, first.wrapping_add(1).cast_signed(), tweak, first.cast_signed());
    // Sums of 64 bits: no carry of an index reaches its tweak.
    let step = _mm256_set_epi64x(0, 2, 0, 2);
    let mut lanes = [_mm256_setzero_si256(); LANES];
    for lane in &mut lanes {
        *lane = counter;
        counter = _mm256_add_epi64(counter, step);
    }
    encrypt(keys, lanes, out);
}

/// Encrypts every block.
#[inline(never)]
#[target_feature(enable = "vaes,avx2,aes")]
fn encrypt_in_place(keys: &[__m128i; ROUNDS + 1], blocks: &mut [[u64; 2]; BATCH]) {
    let mut lanes = [_mm256_setzero_si256(); LANES];
    for (lane, pair) in lanes.iter_mut().zip(blocks.as_chunks::<2>().0) {
        let pair: *const [[u64; 2]; 2] = pair;
        // SAFETY: `pair` is a live reference to 32 bytes, and the load needs no alignment.
        *lane = unsafe { _mm256_loadu_si256(pair.cast()) };
    }
    encrypt(keys, lanes, blocks);
}

#[inline]
#[target_feature(enable = "vaes,avx2,aes")]
fn encrypt(keys: &[__m128i; ROUNDS + 1], mut lanes: [__m256i; LANES], out: &mut [[u64; 2]; BATCH]) {
    let key = |round: usize| _mm256_broadcastsi128_si256(keys[round]);
    for lane in &mut lanes {
        *lane = _mm256_xor_si256(*lane, key(0));
    }
    for round in 1..ROUNDS {
        let key = key(round);
        for lane in &mut lanes {
            *lane = _mm256_aesenc_epi128(*lane, key);
        }
    }
    let last = key(ROUNDS);
    for (lane, pair) in lanes.iter().zip(out.as_chunks_mut::<2>().0) {
        // Not a store by its intrinsic: with debug assertions that takes the address of a lane, which the compiler then leaves on the stack.
        // SAFETY: both types are 32 bytes, and every value of these is valid.
        *pair = unsafe { transmute::<__m256i, [[u64; 2]; 2]>(_mm256_aesenclast_epi128(*lane, last)) };
    }
}
