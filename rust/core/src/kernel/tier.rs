//! Which instruction set a loop is compiled for, and run on: the source is one, and only [`Arithmetic`] differs between tiers.
//!
//! Tiers may differ in which words they are sure of, never in a value: the slow path decides the rest.

use std::sync::OnceLock;

use super::arithmetic::{Arithmetic, Baseline};
#[cfg(target_arch = "x86_64")]
use super::arithmetic::{Fused, FusedWide};

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
    /// All of them, from slowest to fastest.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];

    /// Whether this processor has the instructions. Asked once: there are seven kinds of them.
    pub fn is_available(self) -> bool {
        static AVAILABLE: OnceLock<[bool; 3]> = OnceLock::new();
        AVAILABLE.get_or_init(|| Self::ALL.map(Self::is_detected))[self as usize]
    }

    fn is_detected(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_detected()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// Whether an instruction looks up tables of 16 numbers.
    pub fn has_tables(self) -> bool {
        self == Self::Avx512
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
            // A name that cannot be followed is no error here: `cpu_tier` reports it.
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

/// A loop that gains from wider instructions.
///
/// Everything in `run` must be inlined into it: a function of its own would be compiled for the baseline. It should hand slices to functions rather
/// than loop over fields, which the compiler takes to overlap.
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

/// Not inlined, as the others cannot be: what it leaves on the stack is then below the caller's frame, where `stack::wipe` wipes.
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
    work.run::<FusedWide>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_processor_has_is_named_from_slowest_to_fastest() {
        let names = cpu_tiers();
        assert!(["portable", "avx2", "avx512"].starts_with(&names), "{names:?}");
        assert_eq!(names.len(), Tier::tested().len());
    }
}
