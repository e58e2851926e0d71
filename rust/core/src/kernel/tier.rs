//! Which instruction set a loop is compiled for, and run on: the source is one, and only [`Arithmetic`] differs between tiers.
//!
//! Tiers may differ in which words they are sure of, never in a value: the slow path decides the rest.

use std::sync::OnceLock;

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

/// The value of an expression, compiled for a tier's instructions: `on_tier!(tier, A => sum::<A>(numbers))`, where A is the tier's [`Arithmetic`].
///
/// Every function in the expression must be inlined into it: a function of its own would be compiled for the baseline. It should take slices rather
/// than loop over fields, which the compiler takes to overlap. It panics on a tier that is not available.
///
/// [`Arithmetic`]: super::arithmetic::Arithmetic
macro_rules! on_tier {
    ($tier:expr, $work:expr) => {
        $crate::kernel::on_tier!($tier, Unused => $work)
    };
    ($tier:expr, $arithmetic:ident => $work:expr) => {
        match $tier {
            $crate::kernel::Tier::Portable => $crate::kernel::on_tier!(@portable, Baseline as $arithmetic, $work),
            #[cfg(target_arch = "x86_64")]
            $crate::kernel::Tier::Avx2 => $crate::kernel::on_tier!(@avx2, Fused as $arithmetic, $work),
            #[cfg(target_arch = "x86_64")]
            $crate::kernel::Tier::Avx512 => $crate::kernel::on_tier!(@avx512, FusedWide as $arithmetic, $work),
            #[cfg(not(target_arch = "x86_64"))]
            _ => unreachable!("never available here"),
        }
    };
    (@$run:ident, $type:ident as $arithmetic:ident, $work:expr) => {{
        #[allow(dead_code, reason = "not all work has arithmetic")]
        type $arithmetic = $crate::kernel::arithmetic::$type;
        $crate::kernel::tier::$run(
            #[inline(always)]
            || $work,
        )
    }};
}
pub(crate) use on_tier;

/// Not inlined, as the others cannot be: what it leaves on the stack is then below the caller's frame, where `stack::wipe` wipes.
#[inline(never)]
pub(crate) fn portable<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// A function that calls another one compiled for features of x86-64.
#[cfg(target_arch = "x86_64")]
macro_rules! wide_tier {
    ($name:ident, $tier:ident, $features:literal) => {
        #[allow(unsafe_code, reason = "a call of a function compiled for more than the baseline")]
        pub(crate) fn $name<R>(work: impl FnOnce() -> R) -> R {
            #[target_feature(enable = $features)]
            fn run<R>(work: impl FnOnce() -> R) -> R {
                // The frame then begins on a cache line, and so does every vector in it: whether they do would otherwise depend on the callers.
                // A staircase took a fifth longer where they did not.
                zeroize::optimization_barrier(&crate::cache_lines::CacheLines([0_u8; 64]));
                work()
            }

            assert!(
                Tier::$tier.is_available(),
                "{:?} on a processor without it",
                Tier::$tier
            );
            // SAFETY: the processor has the features, as just asserted.
            unsafe { run(work) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
wide_tier!(avx2, Avx2, "avx2,fma");
#[cfg(target_arch = "x86_64")]
wide_tier!(avx512, Avx512, "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma");

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
