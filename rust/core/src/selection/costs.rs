//! Which costs are costs, and which are infinite.

use crate::kernel::{Tier, on_tier};

/// Costs between two questions whether all are ordinary. A loop that may end at any element has no vectors.
const PART: usize = 1024;

/// Whether any cost is infinite.
///
/// # Errors
/// The position of the first that is NaN or below `least`.
pub(super) fn has_infinite(costs: &[f64], least: f64) -> Result<bool, usize> {
    let (tier, mut infinite) = (Tier::current(), false);
    // A NaN fails the comparison.
    let allowed = |cost: &f64| *cost >= least;
    for (costs, first) in costs.chunks(PART).zip((0..).step_by(PART)) {
        if on_tier!(tier, are_ordinary(costs, least)) {
            continue;
        }
        if let Some(place) = costs.iter().position(|cost| !allowed(cost)) {
            return Err(first + place);
        }
        infinite = true;
    }
    Ok(infinite)
}

#[inline(always)]
fn are_ordinary(costs: &[f64], least: f64) -> bool {
    let mut other = 0;
    for &cost in costs {
        // In words: of `bool`s the compiler makes slower vectors.
        other |= u64::from(!((cost >= least) & (cost <= f64::MAX)));
    }
    other == 0
}
