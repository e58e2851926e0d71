//! The lattice of multiples of the granularity: which one a mechanism lives on, and how integers on it become values and releases.

pub(crate) mod answer;
pub(crate) mod dyadic;
pub(crate) mod modulus;
pub(crate) mod params;
pub(crate) mod release;
mod unread;
pub(crate) mod value;

pub use answer::Answer;
pub(crate) use answer::limit;
pub(crate) use dyadic::{DIRECT, SHIFTER, ceil_scaled, decompose, floor_log2, floor_scaled, power_of_two};
pub use modulus::{Modulus, Residue};
pub use params::largest_quotient;
pub(crate) use params::{LEAST_EPS, Lattice, Narrowing, check_gamma, check_positive, exactly};
pub use unread::{Answers, Unread};
pub use value::Value;
pub(crate) use value::{Elements, Scaling};
