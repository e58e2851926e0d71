//! The integer slow path: what the fast kernels cannot decide is decided here, exactly.
//!
//! | file | subject |
//! |---|---|
//! | `distribution` | a distribution on the integers |
//! | `limbs` | natural numbers as 64-bit limbs, short ones without allocation |
//! | `enclosure` | intervals of nonnegative numbers, and the one comparison that may say "not yet" |
//! | `ln2` | lower bounds of ln 2 |
//! | `exp` | enclosures of e^(−x) for exact rationals x |
//! | `exponent` | exact rationals built from `f64`s, to be exponents |
//! | `geometric_sum` | enclosures of 1 + x + … + x^(n−1), x = e^(−step) |
//! | `uniform` | the bits of v: 63 given, the rest drawn when needed |
//! | `search` | from a guess to the last true case of a monotone question |
//! | `magnitude` | bits to |X| (docs/contract.md section 2) |
//! | `weights` | bits to an index, for a distribution given by weights |
//! | `choice` | bits to one of finitely many candidates |
//! | `bernoulli` | coins of probability e^(−x) |
//! | `growth` | coins of the best probabilities of showing a partition |
//! | `gaussian` | acceptance of a discrete Gaussian proposal |
//! | `first_stair` | r: the optimal ones and ⌈γ·D⌉, exactly (docs/contract.md section 3) |
//! | `truncation` | the exact bounds of a truncated Laplace distribution |
//! | `truncated_staircase` | those of a truncated staircase distribution, and bits to its |X| |
//! | `canonical` | where canonical noise ends, and bits to its |X| |
//!
//! Every question has the same form: which of two real numbers is larger, both built from integers, a binary expansion and powers of e with
//! rational exponents. Enclose both at some precision; if the intervals overlap, go to the next precision (Ziv's strategy). Each caller proves
//! that equality is impossible, hence that the loop ends.

mod bernoulli;
mod canonical;
mod choice;
mod distribution;
pub mod enclosure;
pub mod exp;
mod exponent;
mod first_stair;
mod gaussian;
mod geometric_sum;
mod growth;
pub mod limbs;
mod ln2;
mod magnitude;
pub mod search;
mod truncated_staircase;
mod truncation;
mod uniform;
mod weights;

pub use bernoulli::bernoulli;
pub use canonical::most as most_canonical;
pub use choice::Choice;
pub use distribution::IntegerDistribution;
pub use exponent::Exponent;
pub use first_stair::{ceil_product, optimal_r_l1, optimal_r_l2};
pub use gaussian::{accept, nearest_sqrt};
pub use geometric_sum::geometric_sum;
pub use growth::Growth;
pub use magnitude::magnitude;
pub use truncated_staircase::{most as most_truncated_staircase, tail};
pub use truncation::{MOST as MOST_TRUNCATION, Truncation};
pub use uniform::Extension;
#[cfg(test)]
pub use weights::listed;
pub use weights::{Sums, Weights, index};
