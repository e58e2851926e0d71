//! How integers are drawn: a distribution on the integers made ready, one draw or several a value.
//!
//! | file | subject |
//! |---|---|
//! | `sampler` | one distribution on the integers, one word a value: kernel first, exact when undecided |
//! | `table` | a distribution given by weights: thresholds first, exact when undecided |
//! | `weighted` | a distribution by its weights, with geometric tails or none |
//! | `segments` | distributions that fall geometrically, segment by segment |
//! | `differences` | sums of differences of draws: the infinitely divisible distributions |
//! | `negative_binomial` | the weights of those differences |
//! | `share` | parts of an infinitely divisible distribution |
//! | `skellam` | the weights of the Skellam distribution's magnitudes |
//! | `truncated` | the truncated staircase, symmetric or moved |
//! | `staged` | lattice steps of several draws each, as values and in releases |

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
