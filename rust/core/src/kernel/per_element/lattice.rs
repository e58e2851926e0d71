//! The lattice of contract, section 3, as `params` places it, in exact operations on normal numbers.

use super::super::float::{ceil, exp2, floor, inverse_power, round};
use super::super::lane::MAX_SPAN;
use super::super::staircase::LEAST_EPS;

pub(super) struct Placed {
    /// D, a whole number below 2⁵¹ if it is `known`.
    pub sensitivity_steps: f64,
    /// g.
    pub granularity: f64,
    /// Whether the rest is right: an ordinary ε between 2⁻²⁰ and 700, and a lattice that `params` would not refuse.
    pub known: bool,
}

pub(super) trait Placement {
    fn place(eps: f64, sensitivity: f64) -> Placed;
}

/// g = 1.
pub(super) struct Integers;

impl Placement for Integers {
    #[inline(always)]
    fn place(eps: f64, sensitivity: f64) -> Placed {
        let whole = (1.0..=MAX_SPAN).contains(&sensitivity) & (round(sensitivity) == sensitivity);
        Placed {
            sensitivity_steps: sensitivity,
            granularity: 1.0,
            known: whole & ordinary(eps),
        }
    }
}

/// g = 2^(⌊log₂ Δ⌋ − 32 − s), s = max(0, ⌊log₂ ε⌋ + 1): at most 10 for an ordinary ε.
pub(super) struct LaplacePowers;

impl Placement for LaplacePowers {
    #[inline(always)]
    fn place(eps: f64, sensitivity: f64) -> Placed {
        // 2^⌊log₂ 2ε⌋, or 1 if that is more.
        let refinement = f64::from_bits((2.0 * eps).to_bits() & POWER).max(1.0);
        on_powers(eps, sensitivity, refinement)
    }
}

/// The same with s = min(20, ⌊0.75·ε⌋).
pub(super) struct StaircasePowers;

impl Placement for StaircasePowers {
    #[inline(always)]
    fn place(eps: f64, sensitivity: f64) -> Placed {
        // The product is rounded once, as the contract says.
        on_powers(eps, sensitivity, exp2(floor(0.75 * eps).min(20.0)))
    }
}

/// The exponent bits: those of a positive normal `f64` are the power of two that is not above it.
const POWER: u64 = 0x7ff0_0000_0000_0000;

/// `refinement` is 2^s.
#[inline(always)]
fn on_powers(eps: f64, sensitivity: f64, refinement: f64) -> Placed {
    const STEPS: f64 = (1_u64 << 32) as f64;
    const MOST: f64 = f64::from_bits((960 + 1023) << 52);
    let steps = STEPS * refinement;
    let power = f64::from_bits(sensitivity.to_bits() & POWER);
    let significand = f64::from_bits((sensitivity.to_bits() & !POWER) | 1.0_f64.to_bits());
    // A product of powers of two is exact unless it is subnormal. Subnormal ones are refused, and so are a Δ that is 0, subnormal or infinite.
    let granularity = power * inverse_power(steps);
    let normal = (sensitivity > 0.0) & (f64::MIN_POSITIVE..=MOST).contains(&granularity);
    Placed {
        // Exact: a significand times a power of two. From D = 2⁵¹ on, D + D/ε is beyond `MAX_SPAN` for an ordinary ε.
        sensitivity_steps: ceil(significand * steps),
        granularity,
        known: normal & ordinary(eps),
    }
}

#[inline(always)]
fn ordinary(eps: f64) -> bool {
    (LEAST_EPS..=700.0).contains(&eps)
}
