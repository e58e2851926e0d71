//! How integers are drawn: a distribution on the integers made ready, one draw or several a value.

mod differences;
mod negative_binomial;
pub(crate) mod sampler;
mod segments;
mod share;
mod skellam;
pub(crate) mod staged;
pub(crate) mod table;
mod truncated;
mod weighted;

pub(crate) use differences::{Difference, Differences};
pub(crate) use negative_binomial::NegativeBinomial;
pub(crate) use sampler::Sampler;
pub(crate) use segments::Segments;
pub use share::Share;
pub(crate) use skellam::SkellamMagnitude;
pub(crate) use staged::Staged;
pub(crate) use table::{LaterTable, Table};
pub(crate) use truncated::{LEAST_DELTA, MOST_STEPS, TruncatedStairs, check_delta};
pub(crate) use weighted::WeightedDistribution;
