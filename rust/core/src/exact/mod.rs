//! The integer slow path: what the fast kernels cannot decide is decided here, exactly.
//!
//! | file | subject |
//! |---|---|
//! | `limbs` | natural numbers as 64-bit limbs, short ones without allocation |
//! | `enclosure` | intervals of nonnegative numbers, and the one comparison that may say "not yet" |
//! | `ln2` | lower bounds of ln 2 |
//! | `exp` | enclosures of e^(−x) for exact rationals x |
//! | `exponent` | exact rationals built from `f64`s, to be exponents |
//! | `geometric_sum` | enclosures of 1 + x + … + x^(n−1), x = e^(−step) |
//! | `uniform` | the bits of v: 63 given, the rest drawn when needed |
//! | `search` | from a guess to the last true case of a monotone question |
//! | `magnitude` | bits to |X| (docs/contract.md section 2) |
//! | `weights` | bits to an index, for a law given by weights |
//! | `choice` | bits to one of finitely many candidates |
//! | `bernoulli` | coins of probability e^(−x) |
//! | `gaussian` | acceptance of a discrete Gaussian proposal |
//! | `shape` | the exact optimal shapes and ⌈γ·D⌉ (docs/contract.md section 3) |
//! | `truncation` | the exact bounds of a truncated law |
//!
//! Every question has the same form: which of two real numbers is larger, both built from integers, a binary expansion and powers of e with
//! rational exponents. Enclose both at some precision; if the intervals overlap, go to the next precision (Ziv's strategy). Each caller proves
//! that equality is impossible, hence that the loop ends.

mod bernoulli;
mod choice;
pub mod enclosure;
pub mod exp;
mod exponent;
mod gaussian;
mod geometric_sum;
pub mod limbs;
mod ln2;
mod magnitude;
pub mod search;
mod shape;
mod truncation;
mod uniform;
mod weights;

pub use bernoulli::bernoulli;
pub use choice::Choice;
pub use exponent::Exponent;
pub use gaussian::{accept, nearest_sqrt};
pub use geometric_sum::geometric_sum;
pub use magnitude::magnitude;
pub use shape::{ceil_product, optimal_r_l1, optimal_r_l2};
pub use truncation::{MOST as MOST_TRUNCATION, Truncation};
#[cfg(test)]
pub use weights::listed;
pub use weights::{Weights, each_tail, index, total};

/// A law on the integers (docs/contract.md section 2), its parameters already validated:
/// ε finite and positive, 1 ≤ cells ≤ 2⁵³, 1 ≤ r ≤ cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntegerLaw {
    /// S(j) = 2 e^(−εj/D) / (1 + e^(−ε/D)).
    Geometric {
        /// ε.
        eps: f64,
        /// D.
        cells: u64,
    },
    /// S(j) = e^(−εj/D), the law of a one-sided geometric number: only the magnitude has a meaning.
    OneSided {
        /// ε.
        eps: f64,
        /// D.
        cells: u64,
    },
    /// S(j) = (2/t) · b^J · (r + JD − j + Dc).
    Staircase {
        /// ε.
        eps: f64,
        /// D.
        cells: u64,
        /// Half-width of the middle step, 1 ≤ r ≤ D.
        r: u64,
    },
}

/// The bits of v beyond the first 63.
pub trait Extension {
    /// The e-th 64-bit extension word; the same e gives the same word, whatever was asked before.
    fn word(&mut self, e: usize) -> u64;
}

impl<F: FnMut(usize) -> u64> Extension for F {
    fn word(&mut self, e: usize) -> u64 {
        self(e)
    }
}
