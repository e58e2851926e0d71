//! Which instructions the kernels are compiled to. The source is one; only [`Arithmetic`] differs between tiers.
//!
//! Tiers may differ in which words they are sure of, never in a value: the slow path decides the rest.

use std::sync::OnceLock;

use super::coin::{Coin, Verdicts, toss};
use super::own::{Drawn, Family, Given, draw};
use super::{BLOCK, Kernel, fill, float};
use crate::lattice::Value;

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// What every target of this architecture has.
    Portable,
    /// AVX2 and fused multiply-add, x86-64.
    Avx2,
    /// AVX-512 F, DQ, VL and BW as well, x86-64: what every server has that has AVX-512 at all, from Skylake-X and Zen 4 on.
    Avx512,
}

impl Tier {
    /// From slowest to fastest.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];

    /// Whether this processor has the instructions.
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// Its name in `STAIRNOISE_CPU`.
    fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    fn available() -> impl DoubleEndedIterator<Item = Self> {
        Self::ALL.into_iter().filter(|tier| tier.is_available())
    }

    /// Those that a test can run here; it names the others on standard error.
    #[cfg(test)]
    pub fn tested() -> Vec<Self> {
        let (available, missing): (Vec<_>, Vec<_>) = Self::ALL.into_iter().partition(|tier| tier.is_available());
        for tier in missing {
            eprintln!("skipped: {tier:?} is not available here");
        }
        available
    }

    /// The one that the environment names, if it is available; otherwise the fastest. Decided once.
    pub fn current() -> Self {
        static CURRENT: OnceLock<Tier> = OnceLock::new();
        *CURRENT.get_or_init(|| {
            Self::asked_for()
                .ok()
                .flatten()
                .or_else(|| Self::available().next_back())
                .unwrap_or(Self::Portable)
        })
    }

    fn asked_for() -> Result<Option<Self>, String> {
        let Some(name) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        match Self::available().find(|tier| name == tier.name()) {
            Some(tier) => Ok(Some(tier)),
            None => Err(format!(
                "{VARIABLE} must be one of {} here, got {}",
                cpu_tiers().join(", "),
                name.display()
            )),
        }
    }
}

const VARIABLE: &str = "STAIRNOISE_CPU";

/// The instruction sets that this processor can run, from slowest to fastest; `STAIRNOISE_CPU` may name one of them.
pub fn cpu_tiers() -> Vec<&'static str> {
    Tier::available().map(Tier::name).collect()
}

/// The instruction set in use.
///
/// # Errors
/// The text says what is wrong with `STAIRNOISE_CPU`; the fastest instruction set is in use then.
pub fn cpu_tier() -> Result<&'static str, String> {
    Tier::asked_for().map(|_| Tier::current().name())
}

/// The operations that tiers do differently.
pub(crate) trait Arithmetic {
    /// a·b + c.
    fn mul_add(a: f64, b: f64, c: f64) -> f64;

    /// `n` as an `f64`, rounded once, for n < 2⁶³.
    #[inline(always)]
    fn from_bits(n: u64) -> f64 {
        float::from_bits(n)
    }

    /// ⌊x⌋ for |x| < 2⁵¹, but possibly one off where x is a whole number or next to one; beyond, something within 3 of x.
    #[inline(always)]
    fn floor(x: f64) -> f64 {
        float::round(x - 0.5)
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
}

/// Two roundings.
pub(crate) struct Separate;

/// One rounding; every error bound holds for it too, with room to spare. In software, where the instruction is missing, it is slow.
#[allow(dead_code, reason = "no tier of some architectures has it")]
pub(crate) struct Fused;

/// The portable tier's: fused where every processor of the architecture does it in one instruction. On AArch64 a lane with a logarithm runs
/// 6 % fewer instructions a value for it; the others run as many.
#[cfg(target_arch = "aarch64")]
pub(crate) type Baseline = Fused;
#[cfg(not(target_arch = "aarch64"))]
pub(crate) type Baseline = Separate;

/// [`Fused`] where an instruction converts integers of 64 bits. The numbers are the same.
#[allow(dead_code, reason = "no tier of some architectures has it")]
pub(super) struct Wide;

impl Arithmetic for Separate {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }

    /// SSE2 takes three instructions to choose between two numbers, and two for this: a staircase of eight rungs is 13 % faster for it.
    #[inline(always)]
    fn raised(a: f64, b: f64, raised: bool) -> f64 {
        float::larger(a, if raised { b } else { 0.0 })
    }
}

impl Arithmetic for Fused {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn floor(x: f64) -> f64 {
        x.floor()
    }
}

impl Arithmetic for Wide {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        Fused::mul_add(a, b, c)
    }

    #[inline(always)]
    fn floor(x: f64) -> f64 {
        Fused::floor(x)
    }

    #[inline(always)]
    fn from_bits(n: u64) -> f64 {
        n as f64
    }

    /// The last that is above counts. A comparison makes a mask there, by which one instruction chooses and two count: laws of four and of eight
    /// thresholds take a quarter less.
    #[inline(always)]
    fn count_above<const N: usize>(thresholds: &[i64; N], v: i64) -> f64 {
        let mut count = 0.0;
        for (j, threshold) in thresholds.iter().enumerate() {
            count = if v < *threshold { (j + 1) as f64 } else { count };
        }
        count
    }
}

/// [`Kernel::fill`] on a tier that is available; on another it panics.
#[allow(unsafe_code, reason = "calls of functions compiled for more than the baseline")]
pub(super) fn fill_on<T: Value>(
    tier: Tier,
    kernel: &Kernel,
    words: &[u64],
    granularity: f64,
    out: &mut [T],
    doubt: impl FnMut(usize, &mut T),
) {
    assert!(tier.is_available(), "{tier:?} on a processor without it");
    match tier {
        Tier::Portable => fill_portable(kernel, words, granularity, out, doubt),
        // SAFETY: the processor has AVX2 and FMA, as just asserted.
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2 => unsafe { fill_avx2(kernel, words, granularity, out, doubt) },
        // SAFETY: the processor has AVX-512 F, DQ, VL and BW, AVX2 and FMA, as just asserted.
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => unsafe { fill_avx512(kernel, words, granularity, out, doubt) },
        #[cfg(not(target_arch = "x86_64"))]
        Tier::Avx2 | Tier::Avx512 => unreachable!("never available here"),
    }
}

// Portable code is not inlined, as the others cannot be: what it leaves on the stack is to lie where `stack::wipe` wipes.

#[inline(never)]
fn fill_portable<T: Value>(kernel: &Kernel, words: &[u64], granularity: f64, out: &mut [T], doubt: impl FnMut(usize, &mut T)) {
    fill::<Baseline, T>(kernel, words, granularity, out, doubt);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fill_avx2<T: Value>(kernel: &Kernel, words: &[u64], granularity: f64, out: &mut [T], doubt: impl FnMut(usize, &mut T)) {
    fill::<Fused, T>(kernel, words, granularity, out, doubt);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
fn fill_avx512<T: Value>(kernel: &Kernel, words: &[u64], granularity: f64, out: &mut [T], doubt: impl FnMut(usize, &mut T)) {
    fill::<Wide, T>(kernel, words, granularity, out, doubt);
}

/// A loop over `f64`s that gains from wider instructions. Everything in `run` must be inlined into it.
pub(crate) trait Work {
    /// What it gives.
    type Result;

    /// All of it.
    fn run<A: Arithmetic>(self) -> Self::Result;
}

/// [`Work::run`] on a tier that is available; on another it panics.
#[allow(unsafe_code, reason = "calls of functions compiled for more than the baseline")]
pub(crate) fn run_on<W: Work>(tier: Tier, work: W) -> W::Result {
    assert!(tier.is_available(), "{tier:?} on a processor without it");
    match tier {
        Tier::Portable => run_portable(work),
        // SAFETY: the processor has AVX2 and FMA, as just asserted.
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2 => unsafe { run_avx2(work) },
        // SAFETY: the processor has AVX-512 F, DQ, VL and BW, AVX2 and FMA, as just asserted.
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => unsafe { run_avx512(work) },
        #[cfg(not(target_arch = "x86_64"))]
        Tier::Avx2 | Tier::Avx512 => unreachable!("never available here"),
    }
}

#[inline(never)]
fn run_portable<W: Work>(work: W) -> W::Result {
    work.run::<Baseline>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<W: Work>(work: W) -> W::Result {
    work.run::<Fused>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
fn run_avx512<W: Work>(work: W) -> W::Result {
    work.run::<Wide>()
}

/// [`Drawn::draw`]; on a tier that is not available it panics.
#[allow(unsafe_code, reason = "calls of functions compiled for more than the baseline")]
pub(super) fn draw_on(tier: Tier, family: Family, given: &Given<'_>, words: &[u64; BLOCK], drawn: &mut Drawn) {
    assert!(tier.is_available(), "{tier:?} on a processor without it");
    match tier {
        Tier::Portable => draw_portable(family, given, words, drawn),
        // SAFETY: the processor has AVX2 and FMA, as just asserted.
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2 => unsafe { draw_avx2(family, given, words, drawn) },
        // SAFETY: the processor has AVX-512 F, DQ, VL and BW, AVX2 and FMA, as just asserted.
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => unsafe { draw_avx512(family, given, words, drawn) },
        #[cfg(not(target_arch = "x86_64"))]
        Tier::Avx2 | Tier::Avx512 => unreachable!("never available here"),
    }
}

#[inline(never)]
fn draw_portable(family: Family, given: &Given<'_>, words: &[u64; BLOCK], drawn: &mut Drawn) {
    draw::<Baseline>(family, given, words, drawn);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn draw_avx2(family: Family, given: &Given<'_>, words: &[u64; BLOCK], drawn: &mut Drawn) {
    draw::<Fused>(family, given, words, drawn);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
fn draw_avx512(family: Family, given: &Given<'_>, words: &[u64; BLOCK], drawn: &mut Drawn) {
    draw::<Wide>(family, given, words, drawn);
}

/// [`Coin::toss`]; on a tier that is not available it panics.
#[allow(unsafe_code, reason = "calls of functions compiled for more than the baseline")]
pub(super) fn toss_on(tier: Tier, coin: &Coin, proposals: &[i64; BLOCK], words: &[u64; BLOCK]) -> Verdicts {
    assert!(tier.is_available(), "{tier:?} on a processor without it");
    match tier {
        Tier::Portable => toss_portable(coin, proposals, words),
        // SAFETY: the processor has AVX2 and FMA, as just asserted.
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2 => unsafe { toss_avx2(coin, proposals, words) },
        // SAFETY: the processor has AVX-512 F, DQ, VL and BW, AVX2 and FMA, as just asserted.
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => unsafe { toss_avx512(coin, proposals, words) },
        #[cfg(not(target_arch = "x86_64"))]
        Tier::Avx2 | Tier::Avx512 => unreachable!("never available here"),
    }
}

#[inline(never)]
fn toss_portable(coin: &Coin, proposals: &[i64; BLOCK], words: &[u64; BLOCK]) -> Verdicts {
    toss::<Baseline>(coin, proposals, words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn toss_avx2(coin: &Coin, proposals: &[i64; BLOCK], words: &[u64; BLOCK]) -> Verdicts {
    toss::<Fused>(coin, proposals, words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
fn toss_avx512(coin: &Coin, proposals: &[i64; BLOCK], words: &[u64; BLOCK]) -> Verdicts {
    toss::<Wide>(coin, proposals, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence: equality with the language's own operations, on this processor; the kernels' tests compare whole tiers.
    #[test]
    fn tiers_convert_and_round_alike() {
        converts_and_rounds::<Separate>();
        converts_and_rounds::<Fused>();
        converts_and_rounds::<Wide>();
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
