//! The stair of a cost: J = 0 for c < γΔ, otherwise ⌊c/Δ − γ⌋ + 1, in integers and, where that is certain, in floating point.

use crate::lattice::decompose;

/// Stairs saturate here.
pub(super) const HIGHEST: u64 = (1 << 63) - 1;

const BITS: u32 = 53;

/// A finite non-negative number with a significand of exactly 53 bits, unless it is 0.
fn normalized(x: f64) -> (u64, i32) {
    let (significand, exponent) = decompose(x);
    if significand == 0 {
        return (0, exponent);
    }
    let shift = significand.leading_zeros() + BITS - 64;
    (significand << shift, exponent - shift as i32)
}

/// J, exactly, for a finite cost ≥ 0; at most [`HIGHEST`].
///
/// Let k = ⌊c/Δ⌋ and f = c/Δ − k. J is k + 1 if f ≥ γ, otherwise k, because 0 < γ ≤ 1. All comparisons are of integers.
pub(super) fn stair(cost: f64, sensitivity: f64, gamma: f64) -> u64 {
    // −0.0 is a cost of 0.
    let (c, above) = normalized(cost.abs());
    let ((unit, below), (g, point)) = (normalized(sensitivity), normalized(gamma));
    if c == 0 {
        return 0;
    }
    // c·2^above / (unit·2^below) = (c/unit)·2^shift, and c/unit is between 1/2 and 2.
    let shift = above - below;
    // f ≥ γ means rest·2^lead ≥ g·unit.
    let product = u128::from(g) * u128::from(unit);
    let (whole, rest, lead) = match shift {
        // At least ½·2^64 sensitivities.
        64.. => return HIGHEST,
        0..64 => {
            let (whole, rest) = divide(c, shift as u32, unit);
            (whole, rest, -point)
        }
        // c/Δ is below 1, and c its remainder.
        _ => (0, c, -point + shift),
    };
    let reached = if lead < 0 {
        // g·unit·2^−lead ≥ 2^105 is more than any rest.
        false
    } else {
        // From 2^127 on rest·2^lead might not fit, and it is above the product, which is below 2^106.
        rest > 0 && (rest.leading_zeros() as i32 + 64 <= lead || u128::from(rest) << lead >= product)
    };
    whole.saturating_add(u64::from(reached)).min(HIGHEST)
}

/// Quotient, saturating, and remainder of c·2^shift by `unit`; a short number takes the processor's own division.
fn divide(c: u64, shift: u32, unit: u64) -> (u64, u64) {
    if shift < 64 - BITS {
        let c = c << shift;
        return (c / unit, c % unit);
    }
    let (c, unit) = (u128::from(c) << shift, u128::from(unit));
    (u64::try_from(c / unit).unwrap_or(u64::MAX), (c % unit) as u64)
}

/// Stairs in floating point, with a bound on their error: what it leaves open is decided in integers.
#[derive(Clone, Copy, Debug)]
pub(super) struct CostStairs {
    pub sensitivity: f64,
    pub gamma: f64,
    per_unit: f64,
    offset: f64,
    /// Relative error of what is rounded down; infinite where 1/Δ is out of range.
    tolerance: f64,
}

/// Independent chains of comparisons: the compiler makes vectors of them.
pub(super) const LANES: usize = 8;

/// The smaller of two numbers, neither a NaN.
#[inline(always)]
pub(super) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// 2^52: adding and subtracting it rounds numbers up to 2^51 to integers.
const ROUND: f64 = 4_503_599_627_370_496.0;

/// Stairs from here on have no fast path, because not every larger integer is an `f64`.
pub(super) const HIGHEST_EXACT: u64 = 1 << BITS;

impl CostStairs {
    pub fn new(sensitivity: f64, gamma: f64) -> Self {
        let in_range = (1e-300..=1e300).contains(&sensitivity);
        Self {
            sensitivity,
            gamma,
            per_unit: if in_range { 1.0 / sensitivity } else { 1.0 },
            offset: 1.0 - gamma,
            // z = c/Δ + (1 − γ) has the errors of 1/Δ, the product, 1 − γ and the sum: below (3.1·z + 1.1)·2^−53.
            tolerance: if in_range { (-51.0_f64).exp2() } else { f64::INFINITY },
        }
    }

    /// J of one cost, as [`stair`] has it.
    #[inline]
    pub fn of(&self, cost: f64) -> u64 {
        let (floor, unsure) = self.rough(cost.abs());
        if !unsure && floor < HIGHEST_EXACT as f64 {
            return floor as u64;
        }
        stair(cost, self.sensitivity, self.gamma)
    }

    /// Writes J of every cost, and returns the least. Finite stairs are at most [`HIGHEST_EXACT`]; a cost of 2^1024 sensitivities or more has an
    /// infinite one. If floating point leaves any open, those are decided in integers.
    #[inline(always)]
    pub fn fill(&self, costs: &[f64], stairs: &mut [f64]) -> f64 {
        let (mut least, mut unsure) = ([f64::INFINITY; LANES], [false; LANES]);
        let (eights, rest) = costs.as_chunks::<LANES>();
        let (stair_eights, stair_rest) = stairs.as_chunks_mut::<LANES>();
        for (stairs, costs) in stair_eights.iter_mut().zip(eights) {
            for lane in 0..LANES {
                let (stair, undecided) = self.rough(costs[lane]);
                stairs[lane] = stair;
                least[lane] = smaller(stair, least[lane]);
                unsure[lane] |= undecided;
            }
        }
        for ((place, &cost), lane) in stair_rest.iter_mut().zip(rest).zip(0..) {
            let (stair, undecided) = self.rough(cost);
            *place = stair;
            least[lane] = smaller(stair, least[lane]);
            unsure[lane] |= undecided;
        }
        // One question for all costs: a branch for each would keep the compiler from vectors.
        if unsure.contains(&true) {
            return self.fill_exactly(costs, stairs);
        }
        least.into_iter().fold(f64::INFINITY, smaller)
    }

    /// ⌊z⌋, and whether it may be off.
    #[inline(always)]
    fn rough(&self, cost: f64) -> (f64, bool) {
        let z = cost * self.per_unit + self.offset;
        // `f64::floor` is a call of a function where the instruction is missing.
        let rounded = (z + ROUND) - ROUND;
        let floor = if rounded > z { rounded - 1.0 } else { rounded };
        (floor, self.unsure(z, z - floor))
    }

    /// Whether an integer lies within the error of z. An infinite z is its own stair, whose distance is a NaN and fails both comparisons.
    #[inline(always)]
    fn unsure(&self, z: f64, fraction: f64) -> bool {
        let error = self.tolerance * (z + 1.0);
        (fraction <= error) | (fraction >= 1.0 - error)
    }

    #[cold]
    fn fill_exactly(&self, costs: &[f64], stairs: &mut [f64]) -> f64 {
        let mut least = f64::INFINITY;
        for (place, &cost) in stairs.iter_mut().zip(costs) {
            if self.rough(cost).1 {
                *place = stair(cost, self.sensitivity, self.gamma).min(HIGHEST_EXACT) as f64;
            }
            least = least.min(*place);
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random::Random;
    use dashu_int::IBig;

    /// The same from big integers: every number times 2^1074 is whole.
    fn by_big_integers(cost: f64, sensitivity: f64, gamma: f64) -> u64 {
        let whole = |x: f64| {
            let (significand, exponent) = decompose(x);
            IBig::from(significand) << (exponent + 1074) as usize
        };
        let one = IBig::from(1) << 1074;
        // c/Δ − γ = (c·2^1074 − γ·Δ)/(Δ·2^1074), all times 2^1074; shifted by Δ so that nothing is negative.
        let (c, unit, g) = (whole(cost), whole(sensitivity), whole(gamma));
        let shifted = &c * &one - &g * &unit + &unit * &one;
        let stair: IBig = shifted / (unit * one);
        u64::try_from(stair).unwrap_or(u64::MAX).min(HIGHEST)
    }

    #[test]
    fn stairs_agree_with_big_integers() {
        let mut random = Random(17);
        let special = [0.0, 5e-324, 1e-310, 0.1, 0.5, 1.0, 3.0, 1e17, 9.3e18, 1e300, f64::MAX];
        let units = [5e-324, 1e-310, 0.1, 1.0, 1.5, 3.0, 1e300, f64::MAX];
        let gammas = [5e-324, 1e-300, 2.0_f64.powi(-53), 0.1, 0.5, 1.0_f64.next_down(), 1.0];
        let mut count = 0;
        for &unit in &units {
            for &gamma in &gammas {
                let drawn = (0..200).map(|_| unit.min(1e280) * random.power(1e-3, 1e22));
                let edges: Vec<f64> = (0..60)
                    .flat_map(|k| {
                        let edge = unit.min(1e300) * (f64::from(k) + gamma);
                        [edge.next_down().max(0.0), edge, edge.next_up()]
                    })
                    .collect();
                for cost in special.into_iter().chain(drawn).chain(edges) {
                    assert_eq!(
                        stair(cost, unit, gamma),
                        by_big_integers(cost, unit, gamma),
                        "{cost:e} {unit:e} {gamma:e}"
                    );
                    count += 1;
                }
            }
        }
        assert!(count > 20_000);
    }

    #[test]
    fn the_float_path_agrees_with_the_exact_one() {
        let mut random = Random(18);
        for case in 0..4000 {
            let unit = if case % 3 == 0 { 1.0 } else { random.power(1e-3, 1e3) };
            let gamma = if case % 2 == 0 {
                0.125 * (1.0 + (8.0 * random.next()).floor())
            } else {
                1.0 - random.next()
            };
            let costs: Vec<f64> = (0..40)
                .map(|i| match i % 4 {
                    0 => unit * (f64::from(i) + gamma),
                    1 => unit * random.power(1e-3, 1e20),
                    2 => (20.0 * random.next()).floor(),
                    _ => unit * 10.0 * random.next(),
                })
                .collect();
            let mut stairs = [0.0; 40];
            let by_floats = CostStairs::new(unit, gamma);
            let least = by_floats.fill(&costs, &mut stairs);
            for cost in costs.iter().copied().chain([-0.0, -unit, f64::MAX, f64::INFINITY, f64::NAN]) {
                assert_eq!(by_floats.of(cost), stair(cost, unit, gamma), "{cost:e} {unit:e} {gamma:e}");
            }
            let exact = costs.iter().map(|&cost| stair(cost, unit, gamma).min(HIGHEST_EXACT) as f64);
            assert!(exact.eq(stairs), "{unit} {gamma} {costs:?}");
            assert_eq!(least, stairs.into_iter().fold(f64::INFINITY, f64::min));
        }
    }
}
