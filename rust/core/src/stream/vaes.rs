//! AES-256 in counter mode, one, two or four blocks per instruction.
//!
//! The `aes` crate (0.9.4) has such backends too, but turns to those of several blocks only where the operating system saves AVX-512 registers, and for
//! batches of 64 blocks; fewer go through one by one. On Zen 3 and on Alder Lake and its kin this one is about twice as fast.
#![allow(
    unsafe_code,
    reason = "assembly, and calls of functions compiled for more than the baseline"
)]

use core::arch::asm;
use core::arch::x86_64::{__m128i, _mm_setzero_si128};

use zeroize::Zeroize;

use super::pieces::{PIECE, Piece, RoundKeys, STEPS};
use super::schedule::{self, ROUNDS};
use crate::kernel::Tier;
use crate::wiped::wipe;

/// Blocks encrypted together: those of a piece.
const BATCH: usize = PIECE / 2;

type Batch = [[u64; 2]; BATCH];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Width {
    One,
    Two,
    Four,
}

/// A proof that the processor has instructions for rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wide(Width);

impl Wide {
    /// The widest that a tier may use. On the portable tier one block: `STAIRNOISE_CPU=portable` runs the cipher of processors without VAES.
    pub fn of(tier: Tier) -> Option<Self> {
        // No registers of 512 bits below the tier that uses them for kernels too.
        let widest = match tier {
            Tier::Portable => 1,
            Tier::Avx2 => 2,
            Tier::Avx512 => 3,
        };
        Self::WIDTHS[..widest].iter().rev().find_map(|&width| Self::detect(width))
    }

    const WIDTHS: [Width; 3] = [Width::One, Width::Two, Width::Four];

    /// All that the processor has, whatever the tier.
    #[cfg(test)]
    pub fn all() -> impl Iterator<Item = Self> {
        Self::WIDTHS.into_iter().filter_map(Self::detect)
    }

    fn detect(width: Width) -> Option<Self> {
        let available = is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("ssse3")
            && match width {
                Width::One => true,
                Width::Two => is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx2"),
                Width::Four => is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx512f"),
            };
        available.then_some(Self(width))
    }

    /// Sets the round keys of a key. Not all traces of them are wiped from the stack.
    #[allow(clippy::unused_self, reason = "to have one is the proof")]
    pub fn expand(self, key: &[u8; 32], keys: &RoundKeys) {
        // SAFETY: `self` exists, so `detect` found AES-NI and SSSE3.
        unsafe { schedule::expand_shared(key, keys) }
    }

    /// Writes AES(index, tweak) for index = `first`, `first + 1`, …, as little-endian words.
    #[inline]
    pub fn encrypt(self, keys: &RoundKeys, tweak: u64, first: u64, out: &Piece) {
        let (keys, out) = (keys.as_ptr().cast(), out.as_ptr().cast_mut().cast());
        // SAFETY: the arrays have the sizes that it needs. Atomic numbers may be written behind a shared reference.
        unsafe { self.encrypt_batch(keys, &raw const STEPS.0, tweak, first, out) };
    }

    /// Writes AES(index + first, other + tweak) for the pairs (index, other) of a batch; `inputs` and `out` may be the same.
    ///
    /// # Safety
    /// The pointers are to the round keys of a key, to a batch, and to a batch that may be written.
    #[inline]
    unsafe fn encrypt_batch(
        self,
        keys: *const [__m128i; ROUNDS + 1],
        inputs: *const Batch,
        tweak: u64,
        first: u64,
        out: *mut Batch,
    ) {
        match self.0 {
            // SAFETY: `self` exists, so `detect` found the features; the caller promises the rest.
            Width::One => unsafe { encrypt_one(keys, inputs, tweak, first, out) },
            // SAFETY: as above.
            Width::Two => unsafe { encrypt_two(keys, inputs, tweak, first, out) },
            // SAFETY: as above.
            Width::Four => unsafe { encrypt_four(keys, inputs, tweak, first, out) },
        }
    }
}

/// AES-256 under one key; wiped on drop. Round keys are broadcast when read, which costs nothing. Kept twice, they would need an allocation aligned
/// to 32 bytes, for which a short fill waits.
pub(crate) struct WideCipher {
    wide: Wide,
    keys: [__m128i; ROUNDS + 1],
}

impl WideCipher {
    /// A place for a key, where it will be used: a move would leave a copy.
    pub fn without_key(wide: Wide) -> Self {
        // SAFETY: x86-64 has SSE2.
        let keys = [unsafe { _mm_setzero_si128() }; ROUNDS + 1];
        Self { wide, keys }
    }

    pub fn set_key(&mut self, key: &[u8; 32]) {
        // SAFETY: a `Wide` exists, so AES-NI and SSSE3 were found.
        unsafe { schedule::expand(key, &mut self.keys) }
    }

    /// Writes AES(index, tweak) for index = `first`, `first + 1`, …, as little-endian words.
    pub fn encrypt_counters(&self, tweak: u64, first: u64, out: &mut [[u64; 2]]) {
        // Indices wrap only in tests: those of a fill are below 2⁶³.
        let index = |batch: usize| first.wrapping_add((batch * BATCH) as u64);
        let (batches, rest) = out.as_chunks_mut();
        let whole = batches.len();
        for (n, batch) in batches.iter_mut().enumerate() {
            self.encrypt(&raw const STEPS.0, tweak, index(n), batch);
        }
        encrypt_rest(rest, |batch| self.encrypt(&raw const STEPS.0, tweak, index(whole), batch));
    }

    /// AES of blocks, each written over its input.
    pub fn encrypt_in_place(&self, blocks: &mut [[u64; 2]]) {
        let in_place = |batch: &mut Batch| self.encrypt(&raw const *batch, 0, 0, batch);
        let (batches, rest) = blocks.as_chunks_mut();
        batches.iter_mut().for_each(in_place);
        encrypt_rest(rest, in_place);
    }

    #[inline]
    fn encrypt(&self, inputs: *const Batch, tweak: u64, first: u64, out: &mut Batch) {
        // SAFETY: both callers give a batch, which `out` may be.
        unsafe { self.wide.encrypt_batch(&raw const self.keys, inputs, tweak, first, out) };
    }
}

impl Drop for WideCipher {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}

fn encrypt_rest(rest: &mut [[u64; 2]], encrypt: impl FnOnce(&mut Batch)) {
    if rest.is_empty() {
        return;
    }
    let mut batch = [[0; 2]; BATCH];
    batch[..rest.len()].copy_from_slice(rest);
    encrypt(&mut batch);
    rest.copy_from_slice(&batch[..rest.len()]);
    wipe(batch.as_flattened_mut());
}

/// A batch in as many registers as are numbered. Their rounds overlap with each other and with what the processor runs next.
///
/// In assembly, which the compiler takes for any use of the memory that Rust allows, such as of atomic numbers: another thread may store there at
/// once. It leaves nothing on the stack or in registers.
macro_rules! encrypt_batch {
    (
        fn $name:ident with $features:literal, $spread:literal;
        $vector:literal of $bytes:literal: $numbers:literal to $last:literal, key $key:literal, [$($register:tt)+];
        $broadcast:literal $xor:literal $store:literal
    ) => {
        #[target_feature(enable = $features)]
        unsafe fn $name(keys: *const [__m128i; ROUNDS + 1], inputs: *const Batch, tweak: u64, first: u64, out: *mut Batch) {
            // SAFETY: it reads the round keys and inputs, and writes the 256 bytes of `out`, of which every value is valid. Its registers are named.
            unsafe {
                asm!(
                    concat!("vmovq xmm", $last, ", {first}"),
                    concat!("vmovq xmm", $key, ", {tweak}"),
                    concat!("vpunpcklqdq xmm", $last, ", xmm", $last, ", xmm", $key),
                    $spread,
                    concat!($broadcast, " ", $vector, $key, ", xmmword ptr [{keys}]"),
                    concat!(".irp n, ", $numbers),
                    // Sums of 64 bits: no carry of an index reaches its tweak.
                    concat!("vpaddq ", $vector, "\\n, ", $vector, $last, ", ", $vector, "word ptr [{inputs} + ", $bytes, " * \\n]"),
                    concat!($xor, " ", $vector, "\\n, ", $vector, "\\n, ", $vector, $key),
                    ".endr",
                    ".irp at, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208",
                    concat!($broadcast, " ", $vector, $key, ", xmmword ptr [{keys} + \\at]"),
                    concat!(".irp n, ", $numbers),
                    concat!("vaesenc ", $vector, "\\n, ", $vector, "\\n, ", $vector, $key),
                    ".endr",
                    ".endr",
                    concat!($broadcast, " ", $vector, $key, ", xmmword ptr [{keys} + 224]"),
                    concat!(".irp n, ", $numbers),
                    concat!("vaesenclast ", $vector, "\\n, ", $vector, "\\n, ", $vector, $key),
                    concat!($store, " ", $vector, "word ptr [{out} + ", $bytes, " * \\n], ", $vector, "\\n"),
                    ".endr",
                    concat!(".irp n, ", $numbers, ", ", $key),
                    "vpxor xmm\\n, xmm\\n, xmm\\n",
                    ".endr",
                    "vzeroupper",
                    first = in(reg) first,
                    tweak = in(reg) tweak,
                    inputs = in(reg) inputs,
                    keys = in(reg) keys,
                    out = in(reg) out,
                    $(out($register) _,)+
                    options(nostack, preserves_flags)
                );
            }
        }
    };
}

encrypt_batch! {
    fn encrypt_two with "vaes,avx2,aes", "vinserti128 ymm7, ymm7, xmm7, 1";
    "ymm" of "32": "0, 1, 2, 3, 4, 5, 6, 7" to "7", key "8", ["ymm0" "ymm1" "ymm2" "ymm3" "ymm4" "ymm5" "ymm6" "ymm7" "ymm8"];
    "vbroadcasti128" "vpxor" "vmovdqu"
}

encrypt_batch! {
    fn encrypt_four with "vaes,avx512f,aes", "vshufi64x2 zmm3, zmm3, zmm3, 0";
    "zmm" of "64": "0, 1, 2, 3" to "3", key "4", ["zmm0" "zmm1" "zmm2" "zmm3" "zmm4"];
    "vbroadcasti32x4" "vpxorq" "vmovdqu64"
}

/// A batch in two halves, by instructions of two operands: processors with these ones may have no AVX.
#[target_feature(enable = "aes")]
unsafe fn encrypt_one(keys: *const [__m128i; ROUNDS + 1], inputs: *const Batch, tweak: u64, first: u64, out: *mut Batch) {
    // SAFETY: as above.
    unsafe {
        asm!(
            "movq xmm8, {first}",
            "movq xmm9, {tweak}",
            "punpcklqdq xmm8, xmm9",
            ".irp half, 0, 128",
            "movdqu xmm9, xmmword ptr [{keys}]",
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7",
            "movdqu xmm\\n, xmmword ptr [{inputs} + \\half + 16 * \\n]",
            "paddq xmm\\n, xmm8",
            "pxor xmm\\n, xmm9",
            ".endr",
            ".irp at, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208",
            "movdqu xmm9, xmmword ptr [{keys} + \\at]",
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7",
            "aesenc xmm\\n, xmm9",
            ".endr",
            ".endr",
            "movdqu xmm9, xmmword ptr [{keys} + 224]",
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7",
            "aesenclast xmm\\n, xmm9",
            "movdqu xmmword ptr [{out} + \\half + 16 * \\n], xmm\\n",
            ".endr",
            ".endr",
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 9",
            "pxor xmm\\n, xmm\\n",
            ".endr",
            first = in(reg) first,
            tweak = in(reg) tweak,
            inputs = in(reg) inputs,
            keys = in(reg) keys,
            out = in(reg) out,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _,
            out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _,
            options(nostack, preserves_flags)
        );
    }
}
