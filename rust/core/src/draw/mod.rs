//! How integers are drawn: a law on the integers made ready, one draw or several a value.
//!
//! | file | subject |
//! |---|---|
//! | `sampler` | one law on the integers, one word a value: kernel first, exact when in doubt |
//! | `table` | a law given by weights: thresholds first, exact when in doubt |
//! | `given` | a law by its weights, with geometric tails or none |
//! | `segments` | laws that fall geometrically, segment by segment |
//! | `differences` | sums of differences of draws: the infinitely divisible laws |
//! | `negative_binomial` | the weights of those differences |
//! | `share` | parts of an infinitely divisible law |
//! | `skellam` | the weights of the Skellam law's magnitudes |
//! | `truncated` | the truncated staircase, symmetric or moved |
//! | `staged` | lattice steps of several draws each, as values and in releases |

pub(crate) mod differences;
pub(crate) mod given;
pub(crate) mod negative_binomial;
pub(crate) mod sampler;
pub(crate) mod segments;
pub(crate) mod share;
pub(crate) mod skellam;
pub(crate) mod staged;
pub(crate) mod table;
pub(crate) mod truncated;
