//! AES-256 in counter mode, two blocks per instruction.
//!
//! The `aes` crate has such a backend too, but turns to it only where the operating system also saves AVX-512 registers; on Zen 3 and on
//! Alder Lake and its kin this one is about twice as fast.
#![allow(
    unsafe_code,
    reason = "vectors as bytes in memory, and calls of functions compiled for more than the baseline"
)]

use core::arch::asm;
use core::arch::x86_64::{
    __m128i, __m256i, _mm_setzero_si128, _mm256_add_epi64, _mm256_aesenc_epi128, _mm256_aesenclast_epi128,
    _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_set_epi64x, _mm256_setzero_si256, _mm256_xor_si256,
};
use core::mem::transmute;

use zeroize::Zeroize;

use super::pieces::{Piece, RoundKeys, STEPS};
use super::schedule::{self, ROUNDS};
use crate::wiped::wipe;

/// Registers in flight: enough to hide the latency of a round, and with its key they fit the sixteen there are.
const LANES: usize = 8;

/// Blocks in flight.
const BATCH: usize = 2 * LANES;

/// The proof that the processor has VAES, AVX2 and AES-NI.
#[derive(Clone, Copy)]
pub(super) struct HasVaes256(());

#[allow(clippy::unused_self, reason = "to have one is the proof")]
impl HasVaes256 {
    pub fn detect() -> Option<Self> {
        let available = is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("aes");
        available.then_some(Self(()))
    }

    /// Sets the round keys of a key.
    pub fn expand(self, key: &[u8; 32], keys: &RoundKeys) {
        // SAFETY: `self` exists, so `detect` found AES-NI and AVX2, which implies SSSE3.
        unsafe { schedule::expand_shared(key, keys) }
    }

    /// Writes AES(index, tweak) for index = `first`, `first + 1`, …, as little-endian words.
    pub fn encrypt(self, keys: &RoundKeys, tweak: u64, first: u64, out: &Piece) {
        // SAFETY: `self` exists, so `detect` found the features.
        unsafe { encrypt_shared(keys, tweak, first, out) }
    }
}

/// The expanded key; wiped on drop. Round keys are doubled when they are read, which costs nothing: kept twice they would be aligned to 32 bytes,
/// and a short fill would wait for an allocation of that alignment.
pub(super) struct Vaes256([__m128i; ROUNDS + 1]);

impl Vaes256 {
    /// A place for a key, where it will be used: a move would leave a copy. A `Vaes256` is a proof as well.
    pub fn without_key(_proof: HasVaes256) -> Self {
        // SAFETY: x86-64 has SSE2.
        Self([unsafe { _mm_setzero_si128() }; ROUNDS + 1])
    }

    pub fn set_key(&mut self, key: &[u8; 32]) {
        // SAFETY: `self` exists, so `HasVaes256::detect` found AES-NI and AVX2, which implies SSSE3.
        unsafe { schedule::expand(key, &mut self.0) }
    }

    /// Writes AES(index, tweak) for index = `first`, `first + 1`, …, as little-endian words.
    pub fn encrypt_counters(&self, tweak: u64, first: u64, out: &mut [[u64; 2]]) {
        // SAFETY: `self` exists, so `HasVaes256::detect` found the features.
        unsafe { encrypt_counters(&self.0, tweak, first, out) }
    }

    /// The same for the indices given, one for each place of `out`.
    pub fn encrypt_indices(&self, tweak: u64, indices: &[u64], out: &mut [[u64; 2]]) {
        for (input, index) in out.iter_mut().zip(indices) {
            *input = [*index, tweak];
        }
        let (batches, rest) = out.as_chunks_mut::<BATCH>();
        for batch in batches {
            // SAFETY: `self` exists, so `HasVaes256::detect` found the features.
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

// Neither function is inlined: around a loop the compiler would keep round keys in registers, and spill those that do not fit to a stack that is
// never wiped. Neither takes or returns vectors, because these would pass through the stack.

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

/// The rounds of one register overlap with those of the others, and all of them with what the processor runs next.
///
/// In assembly, which the compiler takes for any use of the memory that Rust allows, such as of atomic numbers: another thread may store there at
/// once. It leaves nothing on the stack or in registers.
#[target_feature(enable = "vaes,avx2,aes")]
fn encrypt_shared(keys: &RoundKeys, tweak: u64, first: u64, out: &Piece) {
    // SAFETY: it reads the round keys and the steps, and writes the 256 bytes of `out`, of which every value is valid. The registers are named.
    unsafe {
        asm!(
            "vmovq xmm7, {first}",
            "vmovq xmm8, {tweak}",
            "vpunpcklqdq xmm7, xmm7, xmm8",
            "vinserti128 ymm7, ymm7, xmm7, 1",
            // Sums of 64 bits: no carry of an index reaches its tweak.
            "vpaddq ymm0, ymm7, ymmword ptr [{steps}]",
            "vpaddq ymm1, ymm7, ymmword ptr [{steps} + 32]",
            "vpaddq ymm2, ymm7, ymmword ptr [{steps} + 64]",
            "vpaddq ymm3, ymm7, ymmword ptr [{steps} + 96]",
            "vpaddq ymm4, ymm7, ymmword ptr [{steps} + 128]",
            "vpaddq ymm5, ymm7, ymmword ptr [{steps} + 160]",
            "vpaddq ymm6, ymm7, ymmword ptr [{steps} + 192]",
            "vpaddq ymm7, ymm7, ymmword ptr [{steps} + 224]",
            "vbroadcasti128 ymm8, xmmword ptr [{keys}]",
            "vpxor ymm0, ymm0, ymm8",
            "vpxor ymm1, ymm1, ymm8",
            "vpxor ymm2, ymm2, ymm8",
            "vpxor ymm3, ymm3, ymm8",
            "vpxor ymm4, ymm4, ymm8",
            "vpxor ymm5, ymm5, ymm8",
            "vpxor ymm6, ymm6, ymm8",
            "vpxor ymm7, ymm7, ymm8",
            ".irp at, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208",
            "vbroadcasti128 ymm8, xmmword ptr [{keys} + \\at]",
            "vaesenc ymm0, ymm0, ymm8",
            "vaesenc ymm1, ymm1, ymm8",
            "vaesenc ymm2, ymm2, ymm8",
            "vaesenc ymm3, ymm3, ymm8",
            "vaesenc ymm4, ymm4, ymm8",
            "vaesenc ymm5, ymm5, ymm8",
            "vaesenc ymm6, ymm6, ymm8",
            "vaesenc ymm7, ymm7, ymm8",
            ".endr",
            "vbroadcasti128 ymm8, xmmword ptr [{keys} + 224]",
            "vaesenclast ymm0, ymm0, ymm8",
            "vaesenclast ymm1, ymm1, ymm8",
            "vaesenclast ymm2, ymm2, ymm8",
            "vaesenclast ymm3, ymm3, ymm8",
            "vaesenclast ymm4, ymm4, ymm8",
            "vaesenclast ymm5, ymm5, ymm8",
            "vaesenclast ymm6, ymm6, ymm8",
            "vaesenclast ymm7, ymm7, ymm8",
            "vmovdqu ymmword ptr [{out}], ymm0",
            "vmovdqu ymmword ptr [{out} + 32], ymm1",
            "vmovdqu ymmword ptr [{out} + 64], ymm2",
            "vmovdqu ymmword ptr [{out} + 96], ymm3",
            "vmovdqu ymmword ptr [{out} + 128], ymm4",
            "vmovdqu ymmword ptr [{out} + 160], ymm5",
            "vmovdqu ymmword ptr [{out} + 192], ymm6",
            "vmovdqu ymmword ptr [{out} + 224], ymm7",
            "vpxor xmm0, xmm0, xmm0",
            "vpxor xmm1, xmm1, xmm1",
            "vpxor xmm2, xmm2, xmm2",
            "vpxor xmm3, xmm3, xmm3",
            "vpxor xmm4, xmm4, xmm4",
            "vpxor xmm5, xmm5, xmm5",
            "vpxor xmm6, xmm6, xmm6",
            "vpxor xmm7, xmm7, xmm7",
            "vpxor xmm8, xmm8, xmm8",
            "vzeroupper",
            first = in(reg) first,
            tweak = in(reg) tweak,
            steps = in(reg) &raw const STEPS,
            keys = in(reg) keys.as_ptr(),
            out = in(reg) out.as_ptr(),
            out("ymm0") _,
            out("ymm1") _,
            out("ymm2") _,
            out("ymm3") _,
            out("ymm4") _,
            out("ymm5") _,
            out("ymm6") _,
            out("ymm7") _,
            out("ymm8") _,
            options(nostack, preserves_flags)
        );
    }
}
