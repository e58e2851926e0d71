//! The integer slow path: what the fast kernels cannot decide is decided here, exactly.
//!
//! Every question is which of two real numbers is larger, both built from integers, a binary expansion and powers of e with rational exponents.
//! Enclose both at some precision; if the intervals overlap, go to the next (Ziv's strategy). That ends, because equality is impossible: it would
//! make a power of e, which is transcendental (Lindemann), a root of a rational polynomial. Each caller names a coefficient that is not 0. Only for the
//! discrete Gaussian distribution is that unproven; its search ends by the rule of `gaussian`.

mod canonical;
mod choice;
mod constants;
mod distribution;
pub mod enclosure;
pub mod exp;
mod exponent;
mod first_stair;
mod flips;
mod gaussian;
mod geometric_sum;
mod growth;
pub mod limbs;
mod magnitude;
pub mod search;
mod truncated_geometric;
mod truncated_staircase;
mod truncation;
pub mod uniform;
mod weights;
mod wide_gaussian;

pub use canonical::most as most_canonical;
pub use choice::Choice;
pub use distribution::{IntegerDistribution, Staircase};
pub use enclosure::Enclosure;
pub use exp::Step;
pub use exponent::Exponent;
pub use first_stair::{ceil_product, optimal_r_l1, optimal_r_l2};
#[cfg(test)]
pub use flips::share;
pub use geometric_sum::geometric_sum;
pub use growth::Growth;
pub use limbs::Limbs;
pub use magnitude::{magnitude, steps};
pub use search::last_true;
pub use truncated_geometric::TruncatedGeometric;
pub use truncated_staircase::{most as most_truncated_staircase, tail};
pub use truncation::{MOST as MOST_TRUNCATION, Truncation};
pub use uniform::{Extension, Uniform};
#[cfg(test)]
pub use weights::listed;
pub use weights::{Sums, Weights, index};
