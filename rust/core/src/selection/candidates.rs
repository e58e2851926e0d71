//! What a selection reads of a row.

/// A row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidates<'a> {
    pub costs: &'a [f64],
    /// How many candidates every cost stands for: whole numbers below 2^53 together. Empty: one.
    pub multiplicities: &'a [f64],
}

impl<'a> From<&'a [f64]> for Candidates<'a> {
    fn from(costs: &'a [f64]) -> Self {
        Self {
            costs,
            multiplicities: &[],
        }
    }
}

impl Candidates<'_> {
    /// By how much more than 200·2^−53 weights are off: small ones count where they have many candidates, and those for q from 45 to 700 are off by
    /// 4·q + 9 units.
    pub fn error(&self) -> f64 {
        if self.multiplicities.is_empty() { 0.0 } else { 2700.0 }
    }
}
