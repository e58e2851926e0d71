//! The certified fast path: from a 64-bit word to the integer that it decides, or "not sure".
//!
//! Every lane evaluates the inverse of the survival function in `f64` with a bound on its total error: rounding, polynomial, parameters
//! and the bits of `v` beyond the word. If the whole error interval lies inside the interval of one integer, that integer is the answer, whatever
//! arithmetic produced the approximation; otherwise the integer slow path ([`crate::exact`]) decides. So no polynomial, compiler or
//! instruction set can change a value: only how often the slow path is asked.
//!
//! | file | subject |
//! |---|---|
//! | `geometric`, `staircase` | the two families: formula, error bound, acceptance |
//! | `ladder`, `thresholds` | the same with few stairs, or few magnitudes: comparisons instead of the logarithm |
//! | `mapped` | truncated staircases: a linear map of v, then the staircase |
//! | `canonical` | canonical noise: another linear map of v, then the geometric distribution |
//! | `fixed_point` | the same in fixed point of 128 bits, for the widest distributions |
//! | `coin` | the acceptance of the discrete Gaussian distribution |
//! | `lane` | what the families have in common |
//! | `fill` | which of them draws a distribution, and fills by it |
//! | `first_level` | the first level: blocks of words decided together |
//! | `per_element` | the families where every value has parameters of its own |
//! | `elementary` | −ln, exp and exp − 1 with stated errors |
//! | `tier` | the chooser of instruction sets |
//! | `arithmetic` | the operations that they do differently |
//! | `avx512` | those for which AVX-512 has instructions that no loop compiles to |
//! | `registers` | clearing the vector registers |
//! | `float` | whole numbers in and out of `f64` without branches |
//! | `tests` | proofs of the stated bounds, and every word of a small width |
//!
//! `u` is 2⁻⁵³, half an ulp of 1, in every bound.

mod arithmetic;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod canonical;
mod coin;
mod elementary;
mod fill;
mod first_level;
mod fixed_point;
mod float;
mod geometric;
mod ladder;
mod lane;
mod mapped;
mod per_element;
mod registers;
mod staircase;
#[cfg(test)]
mod tests;
mod thresholds;
mod tier;

pub(crate) use arithmetic::{Arithmetic, BLOCK, Baseline};
pub(crate) use coin::Coin;
pub(crate) use fill::Kernel;
pub(crate) use fixed_point::FixedPoint;
pub(crate) use float::{U, less, nearest};
pub(crate) use lane::WORD_BITS;
pub(crate) use per_element::{BlockParameters, DrawnBlock, Family};
pub(crate) use registers::clear as clear_registers;
pub(crate) use tier::{Tier, Work, run_on};
pub use tier::{cpu_tier, cpu_tiers};
