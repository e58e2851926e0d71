//! The certified fast path: from a 64-bit word to the integer that the word decides, or "not sure".
//!
//! Every lane evaluates the inverse of the survival function in `f64` with a bound on its total error: rounding, polynomial, parameters and the bits
//! of `v` beyond the word. If the whole error interval lies inside the interval of one integer, that integer is the answer, whatever arithmetic
//! produced the approximation; otherwise the slow path ([`crate::exact`]) decides. So no polynomial, compiler or instruction set can change a value.
//!
//! `u` is 2⁻⁵³, half an ulp of 1, in every bound.

pub(crate) mod arithmetic;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod canonical;
mod elementary;
mod fill;
mod first_level;
mod fixed_point;
pub(crate) mod float;
mod geometric;
mod ladder;
mod lane;
#[cfg(target_arch = "x86_64")]
mod leading;
mod mapped;
mod per_element;
mod quantile;
mod registers;
mod sides;
mod staircase;
#[cfg(test)]
mod tests;
mod thresholds;
pub(crate) mod tier;

pub(crate) use arithmetic::{Arithmetic, BLOCK, Baseline, ones};
pub(crate) use elementary::exp;
pub(crate) use fill::Kernel;
pub(crate) use fixed_point::FixedPoint;
pub(crate) use float::{U, less, nearest};
pub(crate) use lane::WORD_BITS;
pub(crate) use per_element::gaussian::{LEAST_SIGMA2, MOST_SIGMA2, extent as gaussian_extent};
pub(crate) use per_element::{BlockParameters, DrawnBlock, Family};
pub(crate) use registers::clear as clear_registers;
pub(crate) use tier::{Tier, on_tier};
pub use tier::{cpu_tier, cpu_tiers};
