//! The lattice of multiples of the granularity: which one a mechanism lives on, and how integers on it become values and releases.
//!
//! | file | subject |
//! |---|---|
//! | `params` | validated parameters, the choice of lattice: the only key to a sampler |
//! | `dyadic` | `f64`s as significand · 2^exponent |
//! | `answer` | true answers, rounded to the lattice |
//! | `value` | from integers to the element types of an output |
//! | `release` | noise added to true answers on the lattice |
//! | `modulus` | released integers modulo m |

pub(crate) mod answer;
pub(crate) mod dyadic;
pub(crate) mod modulus;
pub(crate) mod params;
pub(crate) mod release;
pub(crate) mod value;

pub use answer::Answer;
pub use modulus::{Modulus, Residue};
pub use value::Value;
