//! What a mechanism makes of costs: levels, whose distances from the least give the exponents of the weights. An infinite cost has an infinite level.

use super::candidates::Candidates;
use super::stair::{CostStairs, HIGHEST_EXACT, LANES, smaller, stair};
use crate::exact::{Choice, Exponent};
use crate::memory::{self, OutOfMemory};

/// ln(weight of the best/weight) = ε · (level − least level)/(unit · shares · 2^halvings).
#[derive(Clone, Debug)]
pub(super) struct Levels {
    pub eps: f64,
    halvings: i32,
    /// How many selections share ε.
    shares: u64,
    /// Whether the weights are those of permute-and-flip, which has these for coins.
    pub flips: bool,
    /// The exponent of a level's distance from the least: ε or ε/2 for a stair, per unit of the sensitivity for a cost.
    pub factor: f64,
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
    /// The level is the stair of the cost, and the unit 1.
    Staircase(CostStairs),
    /// The level is the cost itself, and the unit the sensitivity.
    Exponential { sensitivity: f64, in_range: bool },
}

impl Levels {
    pub fn staircase(eps: f64, sensitivity: f64, gamma: f64, monotonic: bool) -> Self {
        Self::new(eps, 1.0, monotonic, Rule::Staircase(CostStairs::new(sensitivity, gamma)))
    }

    pub fn exponential(eps: f64, sensitivity: f64, monotonic: bool) -> Self {
        // The factor is then between 5·10⁻³⁰¹ and 10³⁰⁰: a normal number, off by one rounding.
        let in_range = [eps, sensitivity].iter().all(|x| (1e-150..=1e150).contains(x));
        Self::new(eps, sensitivity, monotonic, Rule::Exponential { sensitivity, in_range })
    }

    fn new(eps: f64, unit: f64, monotonic: bool, rule: Rule) -> Self {
        Self {
            eps,
            halvings: i32::from(!monotonic),
            shares: 1,
            flips: false,
            factor: if monotonic { eps } else { eps / 2.0 } / unit,
            rule,
        }
    }

    /// The same for one of `shares` selections that share ε: the exponents are an exact part of those with all of it.
    pub fn shared(&self, shares: u64) -> Self {
        Self {
            shares,
            factor: self.factor / shares as f64,
            ..self.clone()
        }
    }

    /// Whether a cost may be negative: only where all costs may be shifted together.
    pub fn allows_negative(&self) -> bool {
        matches!(self.rule, Rule::Exponential { .. })
    }

    #[inline]
    pub fn stair(&self, cost: f64) -> Option<u64> {
        match &self.rule {
            Rule::Staircase(stairs) => Some(stairs.of(cost)),
            Rule::Exponential { .. } => None,
        }
    }

    /// The level of every cost, and the least. `None` if an exponent q ≤ 45 may be off by over 4·2^−53 of itself, or a larger one pass for less.
    ///
    /// Differences of stairs below 2^53 and ε/2 are exact; the factor must be large enough for the stairs that are cut off. Between costs, the
    /// difference, the factor (1, 2 if ε is shared; halving is exact) and the product are rounded; overflow makes q > 2^1024·10^−300.
    #[inline(always)]
    pub fn fill(&self, costs: &[f64], levels: &mut [f64]) -> Option<f64> {
        match &self.rule {
            Rule::Staircase(stairs) => {
                let least = stairs.fill(costs, levels);
                // A stair that was cut off is at least 2^52 above the least, so that q > 64.
                (least <= HIGHEST_EXACT as f64 / 2.0 && self.factor > 5e-13).then_some(least)
            }
            Rule::Exponential { in_range, .. } => {
                levels.copy_from_slice(costs);
                (*in_range && self.factor > 1e-300).then(|| least(costs))
            }
        }
    }

    fn of_stairs(&self, above: u64) -> Exponent {
        Exponent::multiple(self.eps, above, self.halvings).divided(self.shares)
    }

    fn of_costs(&self, cost: f64, least: f64, sensitivity: f64) -> Exponent {
        Exponent::quotient(self.eps, cost, least, sensitivity, self.halvings).divided(self.shares)
    }

    /// The row for exact draws.
    pub fn choice(&self, row: Candidates<'_>) -> Result<Choice, OutOfMemory> {
        let costs = row.costs;
        let finite = |cost: &f64| (*cost < f64::INFINITY).then_some(*cost);
        match &self.rule {
            Rule::Staircase(stairs) => {
                let stair = |cost| stair(cost, stairs.sensitivity, stairs.gamma);
                let least = stair(least(costs));
                self.classes(row, costs.iter().map(|cost| finite(cost).map(stair)), |stair| {
                    self.of_stairs(stair - least)
                })
            }
            Rule::Exponential { sensitivity, .. } => {
                let least = least(costs);
                let exponent = |bits| self.of_costs(f64::from_bits(bits), least, *sensitivity);
                // −0.0 + 0.0 is 0.0: one class for both zeros.
                self.classes(
                    row,
                    costs.iter().map(|cost| finite(cost).map(|cost| (cost + 0.0).to_bits())),
                    exponent,
                )
            }
        }
    }

    /// Candidates with equal keys have equal weights, and those without a key the weight 0.
    fn classes(
        &self,
        row: Candidates<'_>,
        keys: impl Iterator<Item = Option<u64>> + Clone,
        exponent: impl Fn(u64) -> Exponent,
    ) -> Result<Choice, OutOfMemory> {
        let mut distinct = memory::collected(keys.clone().flatten())?;
        distinct.sort_unstable();
        distinct.dedup();
        let place = |key: Option<u64>| key.map_or(distinct.len(), |key| distinct.partition_point(|other| *other < key));
        let class = memory::collected(keys.map(place))?;
        let exponents = memory::collected(distinct.iter().map(|key| exponent(*key)))?;
        let multiplicities = memory::collected(row.multiplicities.iter().map(|number| *number as u64))?;
        Choice::new(self.flips, class, multiplicities, exponents)
    }
}

#[inline(always)]
fn least(costs: &[f64]) -> f64 {
    let (eights, rest) = costs.as_chunks::<LANES>();
    let mut least = [f64::INFINITY; LANES];
    for costs in eights {
        for (least, &cost) in least.iter_mut().zip(costs) {
            *least = smaller(cost, *least);
        }
    }
    least.iter().chain(rest).copied().fold(f64::INFINITY, smaller)
}
