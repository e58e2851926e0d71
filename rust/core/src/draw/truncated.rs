//! The truncated staircase distribution on a lattice, symmetric or moved: one word a value.

use crate::draw::Sampler;
use crate::error::ParamError;
use crate::exact::{self, Staircase};
use crate::lattice::Lattice;
use crate::mechanism::Source;

/// The staircase distribution between −A and A steps, plus a whole number of steps: as few as its bounds require.
#[derive(Clone, Debug)]
pub(crate) struct TruncatedStairs {
    sampler: Sampler,
    /// r, A, and how far the middle is above 0, or below.
    lengths: [u64; 4],
}

/// 2⁻¹²⁸ keeps bounds far inside 64 bits.
pub(crate) const LEAST_DELTA: f64 = f64::from_bits((1023 - 128) << 52);

/// Bounds are at most this many steps from 0.
pub(crate) const MOST_STEPS: i64 = 1 << 61;

impl TruncatedStairs {
    /// On a lattice that has been checked, with 1 ≤ r ≤ D. Bounds are in steps, at most [`MOST_STEPS`] from 0.
    pub fn new(
        eps: f64,
        delta: f64,
        lattice: Lattice,
        r: u64,
        lower: Option<i64>,
        upper: Option<i64>,
    ) -> Result<Self, ParamError> {
        let staircase = Staircase::new(eps, lattice.sensitivity_steps, r);
        let most = exact::most_truncated_staircase(&staircase, check_delta(delta)?);
        let rule = "large enough for the noise to fit between lower and upper";
        let centre = centre(most.cast_signed(), lower, upper).ok_or(ParamError::rule("delta", rule, delta))?;
        Ok(Self {
            sampler: Sampler::moved(staircase.truncated(most), lattice, centre),
            lengths: [r, most, centre.max(0).unsigned_abs(), centre.min(0).unsigned_abs()],
        })
    }

    pub fn bounds(&self) -> (i64, i64) {
        let [_, most, above, below] = self.lengths.map(u64::cast_signed);
        (above - below - most, above - below + most)
    }

    pub fn source(&self) -> Source<'_> {
        Source::one_word(&self.sampler, &self.lengths)
    }
}

/// Rules in the positive: NaN fails them.
pub(crate) fn check_delta(delta: f64) -> Result<f64, ParamError> {
    ParamError::require((LEAST_DELTA..=0.5).contains(&delta), "delta", "from 2**-128 to 0.5", delta)?;
    Ok(delta)
}

/// The whole number nearest to 0 with lower ≤ centre − A and centre + A ≤ upper. Nothing is beyond 2⁶³: A < 2⁶¹, as D·(1 + 89/ε) is.
fn centre(most: i64, lower: Option<i64>, upper: Option<i64>) -> Option<i64> {
    let least = lower.map_or(i64::MIN, |lower| lower + most);
    let largest = upper.map_or(i64::MAX, |upper| upper - most);
    (least <= largest).then(|| 0.clamp(least, largest))
}
