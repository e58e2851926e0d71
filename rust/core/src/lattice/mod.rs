//! The lattice of multiples of the granularity: which one a mechanism lives on, and how integers on it become values and releases.

pub(crate) mod answer;
pub(crate) mod dyadic;
pub(crate) mod modulus;
pub(crate) mod params;
pub(crate) mod release;
pub(crate) mod value;

pub use answer::{Answer, Answers};
pub use modulus::{Modulus, Residue};
pub use value::Value;
