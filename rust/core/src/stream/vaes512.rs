//! AES-256 in counter mode, four blocks per instruction.
//!
//! The `aes` crate (0.9.4) has a backend as wide, but for batches of 64 blocks only: fewer go through one by one. It also reads its blocks from
//! memory, where this one makes them in registers.
#![allow(
    unsafe_code,
    reason = "vectors as bytes in memory, and calls of functions compiled for more than the baseline"
)]

use core::arch::asm;
use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_set_epi64x, _mm_setzero_si128, _mm512_add_epi64, _mm512_aesenc_epi128,
    _mm512_aesenclast_epi128, _mm512_broadcast_i32x4, _mm512_castsi256_si512, _mm512_mask_permutexvar_epi64, _mm512_set_epi64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_xor_si512,
};
use core::mem::transmute;
use zeroize::Zeroize;

use super::pieces::{Piece, RoundKeys, STEPS};
use super::schedule::{self, ROUNDS};
use crate::wiped::wipe;

/// Registers in flight: enough to hide the latency of a round where two are done per cycle, and they fit beside all round keys.
const LANES: usize = 8;

/// Blocks in flight.
const BATCH: usize = 4 * LANES;

/// The proof that the processor has VAES, AVX-512 F and AES-NI.
#[derive(Clone, Copy)]
pub(super) struct HasVaes512(());

#[allow(clippy::unused_self, reason = "to have one is the proof")]
impl HasVaes512 {
    pub fn detect() -> Option<Self> {
        let available =
            is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("aes");
        available.then_some(Self(()))
    }

    /// Sets the round keys of a key.
    pub fn expand(self, key: &[u8; 32], keys: &RoundKeys) {
        // SAFETY: `self` exists, so `detect` found AES-NI and AVX-512 F, which implies SSSE3.
        unsafe { schedule::expand_shared(key, keys) }
    }

    /// Writes AES(index, tweak) for index = `first`, `first + 1`, …, as little-endian words.
    pub fn encrypt(self, keys: &RoundKeys, tweak: u64, first: u64, out: &Piece) {
        // SAFETY: `self` exists, so `detect` found the features.
        unsafe { encrypt_shared(keys, tweak, first, out) }
    }
}

/// The expanded key; wiped on drop.
pub(super) struct Vaes512([__m128i; ROUNDS + 1]);

impl Vaes512 {
    /// A place for a key, where it will be used: a move would leave a copy. A `Vaes512` is a proof as well.
    pub fn without_key(_proof: HasVaes512) -> Self {
        // SAFETY: x86-64 has SSE2.
        Self([unsafe { _mm_setzero_si128() }; ROUNDS + 1])
    }

    pub fn set_key(&mut self, key: &[u8; 32]) {
        // SAFETY: `self` exists, so `HasVaes512::detect` found AES-NI and AVX-512 F, which implies SSSE3.
        unsafe { schedule::expand(key, &mut self.0) }
    }

    /// Writes AES(index, tweak) for index = `first`, `first + 1`, …, as little-endian words.
    pub fn encrypt_counters(&self, tweak: u64, first: u64, out: &mut [[u64; 2]]) {
        // SAFETY: `self` exists, so `HasVaes512::detect` found the features.
        unsafe { encrypt_counters(&self.0, tweak, first, out) }
    }

    /// The same for the indices given, one for each place of `out`.
    pub fn encrypt_indices(&self, tweak: u64, indices: &[u64], out: &mut [[u64; 2]]) {
        // SAFETY: `self` exists, so `HasVaes512::detect` found the features.
        unsafe { encrypt_indices(&self.0, tweak, indices, out) }
    }
}

impl Drop for Vaes512 {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[target_feature(enable = "vaes,avx512f,aes")]
fn encrypt_counters(keys: &[__m128i; ROUNDS + 1], tweak: u64, first: u64, out: &mut [[u64; 2]]) {
    let (batches, rest) = out.as_chunks_mut::<BATCH>();
    let mut first = first;
    for batch in batches {
        encrypt_batch(keys, successors(tweak, first), batch);
        first = first.wrapping_add(BATCH as u64);
    }
    if !rest.is_empty() {
        let mut batch = [[0; 2]; BATCH];
        encrypt_batch(keys, successors(tweak, first), &mut batch);
        rest.copy_from_slice(&batch[..rest.len()]);
        wipe(batch.as_flattened_mut());
    }
}

#[target_feature(enable = "vaes,avx512f,aes")]
fn encrypt_indices(keys: &[__m128i; ROUNDS + 1], tweak: u64, indices: &[u64], out: &mut [[u64; 2]]) {
    let (batches, rest) = out.as_chunks_mut::<BATCH>();
    let (indices, rest_indices) = indices.as_chunks::<BATCH>();
    for (batch, indices) in batches.iter_mut().zip(indices) {
        encrypt_indexed(keys, tweak, indices, batch);
    }
    if !rest.is_empty() {
        let mut counters = [0; BATCH];
        counters[..rest.len()].copy_from_slice(rest_indices);
        let mut batch = [[0; 2]; BATCH];
        encrypt_indexed(keys, tweak, &counters, &mut batch);
        rest.copy_from_slice(&batch[..rest.len()]);
        wipe(batch.as_flattened_mut());
    }
}

/// Not inlined: around a loop that also makes inputs, the compiler would spill round keys to a stack that is never wiped. It takes no vectors, which
/// would pass through the stack.
#[inline(never)]
#[target_feature(enable = "vaes,avx512f,aes")]
fn encrypt_indexed(keys: &[__m128i; ROUNDS + 1], tweak: u64, indices: &[u64; BATCH], out: &mut [[u64; 2]; BATCH]) {
    encrypt_batch(keys, inputs(tweak, indices), out);
}

/// (index, tweak) for index = `first`, `first + 1`, …
#[inline]
#[target_feature(enable = "avx512f")]
fn successors(tweak: u64, first: u64) -> [__m512i; LANES] {
    let block = _mm_set_epi64x(tweak.cast_signed(), first.cast_signed());
    let mut counter = _mm512_add_epi64(_mm512_broadcast_i32x4(block), _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
    // Sums of 64 bits: no carry of an index reaches its tweak.
    let step = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);
    let mut lanes = [_mm512_setzero_si512(); LANES];
    for lane in &mut lanes {
        *lane = counter;
        counter = _mm512_add_epi64(counter, step);
    }
    lanes
}

/// (index, tweak) for the indices given.
#[inline]
#[target_feature(enable = "avx512f")]
fn inputs(tweak: u64, indices: &[u64; BATCH]) -> [__m512i; LANES] {
    let tweaks = _mm512_set1_epi64(tweak.cast_signed());
    let twice = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
    let mut lanes = [_mm512_setzero_si512(); LANES];
    for (lane, four) in lanes.iter_mut().zip(indices.as_chunks::<4>().0) {
        // SAFETY: both types are 32 bytes, and every value of these is valid.
        let four = unsafe { transmute::<[u64; 4], __m256i>(*four) };
        *lane = _mm512_mask_permutexvar_epi64(tweaks, 0b0101_0101, twice, _mm512_castsi256_si512(four));
    }
    lanes
}

#[inline]
#[target_feature(enable = "vaes,avx512f,aes")]
fn encrypt_batch(keys: &[__m128i; ROUNDS + 1], mut lanes: [__m512i; LANES], out: &mut [[u64; 2]; BATCH]) {
    let keys = keys.map(|key| _mm512_broadcast_i32x4(key));
    for lane in &mut lanes {
        *lane = _mm512_xor_si512(*lane, keys[0]);
    }
    for key in &keys[1..ROUNDS] {
        for lane in &mut lanes {
            *lane = _mm512_aesenc_epi128(*lane, *key);
        }
    }
    for (lane, four) in lanes.iter().zip(out.as_chunks_mut::<4>().0) {
        // Not a store by its intrinsic, as in `vaes256`.
        // SAFETY: both types are 64 bytes, and every value of these is valid.
        *four = unsafe { transmute::<__m512i, [[u64; 2]; 4]>(_mm512_aesenclast_epi128(*lane, keys[ROUNDS])) };
    }
}

/// Four registers in flight: the rounds of one overlap with those of the others, and all of them with what the processor runs next.
///
/// In assembly, which the compiler takes for any use of the memory that Rust allows, such as of atomic numbers: another thread may store there at
/// once. It leaves nothing on the stack or in registers.
#[target_feature(enable = "vaes,avx512f,aes")]
fn encrypt_shared(keys: &RoundKeys, tweak: u64, first: u64, out: &Piece) {
    // SAFETY: it reads the round keys and the steps, and writes the 256 bytes of `out`, of which every value is valid. The registers are named.
    unsafe {
        asm!(
            "vmovq xmm3, {first}",
            "vmovq xmm4, {tweak}",
            "vpunpcklqdq xmm3, xmm3, xmm4",
            "vshufi64x2 zmm3, zmm3, zmm3, 0",
            // Sums of 64 bits: no carry of an index reaches its tweak.
            "vpaddq zmm0, zmm3, zmmword ptr [{steps}]",
            "vpaddq zmm1, zmm3, zmmword ptr [{steps} + 64]",
            "vpaddq zmm2, zmm3, zmmword ptr [{steps} + 128]",
            "vpaddq zmm3, zmm3, zmmword ptr [{steps} + 192]",
            "vbroadcasti32x4 zmm4, xmmword ptr [{keys}]",
            "vpxorq zmm0, zmm0, zmm4",
            "vpxorq zmm1, zmm1, zmm4",
            "vpxorq zmm2, zmm2, zmm4",
            "vpxorq zmm3, zmm3, zmm4",
            ".irp at, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208",
            "vbroadcasti32x4 zmm4, xmmword ptr [{keys} + \\at]",
            "vaesenc zmm0, zmm0, zmm4",
            "vaesenc zmm1, zmm1, zmm4",
            "vaesenc zmm2, zmm2, zmm4",
            "vaesenc zmm3, zmm3, zmm4",
            ".endr",
            "vbroadcasti32x4 zmm4, xmmword ptr [{keys} + 224]",
            "vaesenclast zmm0, zmm0, zmm4",
            "vaesenclast zmm1, zmm1, zmm4",
            "vaesenclast zmm2, zmm2, zmm4",
            "vaesenclast zmm3, zmm3, zmm4",
            "vmovdqu64 zmmword ptr [{out}], zmm0",
            "vmovdqu64 zmmword ptr [{out} + 64], zmm1",
            "vmovdqu64 zmmword ptr [{out} + 128], zmm2",
            "vmovdqu64 zmmword ptr [{out} + 192], zmm3",
            "vpxor xmm0, xmm0, xmm0",
            "vpxor xmm1, xmm1, xmm1",
            "vpxor xmm2, xmm2, xmm2",
            "vpxor xmm3, xmm3, xmm3",
            "vpxor xmm4, xmm4, xmm4",
            "vzeroupper",
            first = in(reg) first,
            tweak = in(reg) tweak,
            steps = in(reg) &raw const STEPS,
            keys = in(reg) keys.as_ptr(),
            out = in(reg) out.as_ptr(),
            out("zmm0") _,
            out("zmm1") _,
            out("zmm2") _,
            out("zmm3") _,
            out("zmm4") _,
            options(nostack, preserves_flags)
        );
    }
}
