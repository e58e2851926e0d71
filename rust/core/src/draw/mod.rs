//! How integers are drawn: a distribution on the integers made ready, one draw or several a value.

pub(crate) mod differences;
pub(crate) mod negative_binomial;
pub(crate) mod sampler;
pub(crate) mod segments;
pub(crate) mod share;
pub(crate) mod skellam;
pub(crate) mod staged;
pub(crate) mod table;
pub(crate) mod truncated;
pub(crate) mod weighted;
