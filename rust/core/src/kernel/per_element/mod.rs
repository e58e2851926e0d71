//! Parameters per element: each lane also computes the constants of its distribution, without branches.
//!
//! Out-of-range parameters get an infinite tolerance: the slow path decides, and refuses invalid parameters.

mod first_stair;
pub(super) mod gaussian;
mod geometric;
mod lattice;
mod staircase;

use super::arithmetic::{Arithmetic, BLOCK};
use super::lane::{MAX_SPAN, OwnLane, SIGN, with_sign};
use super::tier::{Tier, on_tier};
use crate::wiped::wipe;
use first_stair::{FirstStair, Fraction, OptimalL1, Whole};
use geometric::{Few, Many};
use lattice::{Integers, LaplacePowers, Placement, StaircasePowers};
use staircase::Stepped;

/// What the values of a block share: the kind of distribution and, for a staircase, how r is specified (`L1`: least E|X|; `Number`: a γ or r).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Laplace,
    DiscreteLaplace,
    StaircaseL1,
    StaircaseNumber,
    DiscreteStaircaseL1,
    DiscreteStaircaseNumber,
}

/// The parameters of each value of a block. `shape` is read where the family says that it is a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockParameters<'a> {
    pub eps: &'a [f64; BLOCK],
    pub sensitivity: &'a [f64; BLOCK],
    pub shape: &'a [f64; BLOCK],
}

impl BlockParameters<'_> {
    /// Whether all of them are in the range of the fast path, and so have distributions. On a tier that is available.
    pub fn are_ordinary(&self, tier: Tier, family: Family) -> bool {
        match family {
            Family::Laplace => self.are_on::<LaplacePowers, OptimalL1>(tier),
            Family::DiscreteLaplace | Family::DiscreteStaircaseL1 => self.are_on::<Integers, OptimalL1>(tier),
            Family::StaircaseL1 => self.are_on::<StaircasePowers, OptimalL1>(tier),
            Family::StaircaseNumber => self.are_on::<StaircasePowers, Fraction>(tier),
            Family::DiscreteStaircaseNumber => self.are_on::<Integers, Whole>(tier),
        }
    }

    fn are_on<L: Placement, S: FirstStair>(&self, tier: Tier) -> bool {
        on_tier!(tier, self.count_ordinary::<L, S>() == BLOCK as u64)
    }

    /// How many parameters are in the range of the fast path, by one way to a lattice and one to r.
    #[inline(always)]
    fn count_ordinary<L: Placement, S: FirstStair>(&self) -> u64 {
        let Self { eps, sensitivity, shape } = self;
        // Counting, not a flag: the compiler turns a sum into a vector sum.
        let mut ordinary = 0_u64;
        for i in 0..BLOCK {
            let place = L::place(eps[i], sensitivity[i]);
            let decidable = place.known & (place.sensitivity_steps + place.sensitivity_steps / eps[i] <= MAX_SPAN);
            ordinary = ordinary.wrapping_add(u64::from(decidable & S::exists(shape[i], place.sensitivity_steps)));
        }
        ordinary
    }
}

/// The values of a block, all arrays from the beginning of a cache line on ([`crate::cache_lines::CacheLines`]).
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct DrawnBlock {
    /// X, signed; NaN where it is not certain.
    pub steps: [f64; BLOCK],
    /// g.
    pub granularity: [f64; BLOCK],
    /// What one stage hands to the next. Kept from block to block, because clearing it takes time.
    constants: [[f64; BLOCK]; MOST_CONSTANTS],
    reduced: [[f64; BLOCK]; 3],
}

const MOST_CONSTANTS: usize = 8;

impl DrawnBlock {
    pub const NOTHING: Self = Self {
        steps: [f64::NAN; BLOCK],
        granularity: [1.0; BLOCK],
        constants: [[0.0; BLOCK]; MOST_CONSTANTS],
        reduced: [[0.0; BLOCK]; 3],
    };

    /// A block of which nothing is certain.
    pub fn nothing(&mut self) {
        self.steps = [f64::NAN; BLOCK];
    }

    /// Values of discrete Gaussian distributions of these σ², times powers of two.
    pub fn draw_gaussian(&mut self, tier: Tier, sigma2: &[f64; BLOCK], log2_granularity: &[i64; BLOCK], words: &[u64; BLOCK]) {
        on_tier!(tier, A => gaussian::draw::<A>(sigma2, log2_granularity, words, self));
    }

    pub fn draw(&mut self, tier: Tier, family: Family, parameters: &BlockParameters<'_>, words: &[u64; BLOCK]) {
        on_tier!(tier, A => draw::<A>(family, parameters, words, self));
    }
}

/// Wipes what reveals the noise, which in a release is as secret as the answers.
impl Drop for DrawnBlock {
    fn drop(&mut self) {
        wipe(&mut self.steps);
        wipe(self.reduced.as_flattened_mut());
    }
}

#[inline(always)]
fn draw<A: Arithmetic>(family: Family, parameters: &BlockParameters<'_>, words: &[u64; BLOCK], drawn: &mut DrawnBlock) {
    match family {
        Family::Laplace => draw_lanes::<A, Many<LaplacePowers>, _>(parameters, words, drawn),
        Family::DiscreteLaplace => draw_lanes::<A, Few<Integers>, _>(parameters, words, drawn),
        Family::StaircaseL1 => draw_lanes::<A, Stepped<StaircasePowers, OptimalL1>, _>(parameters, words, drawn),
        Family::StaircaseNumber => draw_lanes::<A, Stepped<StaircasePowers, Fraction>, _>(parameters, words, drawn),
        Family::DiscreteStaircaseL1 => draw_lanes::<A, Stepped<Integers, OptimalL1>, _>(parameters, words, drawn),
        Family::DiscreteStaircaseNumber => draw_lanes::<A, Stepped<Integers, Whole>, _>(parameters, words, drawn),
    }
}

#[inline(always)]
fn draw_lanes<A: Arithmetic, L: OwnLane<N>, const N: usize>(
    parameters: &BlockParameters<'_>,
    words: &[u64; BLOCK],
    drawn: &mut DrawnBlock,
) {
    const { assert!(N <= MOST_CONSTANTS) };
    let DrawnBlock {
        steps,
        granularity,
        constants,
        reduced,
    } = drawn;
    for i in 0..BLOCK {
        let (placed, g) = L::place::<A>(parameters.eps[i], parameters.sensitivity[i]);
        [reduced[0][i], reduced[1][i], reduced[2][i]] = placed;
        granularity[i] = g;
    }
    for i in 0..BLOCK {
        let made = L::prepare::<A>(parameters.eps[i], parameters.shape[i], at(reduced, i));
        for (all, one) in constants.iter_mut().zip(made) {
            all[i] = one;
        }
    }
    let constants = &*constants;
    for i in 0..BLOCK {
        [reduced[0][i], reduced[1][i], reduced[2][i]] = L::reduce::<A>(at(constants, i), words[i] & !SIGN);
    }
    for i in 0..BLOCK {
        [reduced[0][i], reduced[1][i], reduced[2][i]] = L::evaluate::<A>(at(constants, i), at(reduced, i));
    }
    for i in 0..BLOCK {
        let (magnitude, sure) = L::finish::<A>(at(constants, i), at(reduced, i));
        let signed = with_sign(magnitude, words[i]);
        // NaN marks doubt: no mask has to be kept beside the values.
        steps[i] = if sure { signed } else { f64::NAN };
    }
}

#[inline(always)]
fn at<const N: usize>(columns: &[[f64; BLOCK]], i: usize) -> [f64; N] {
    let mut row = [0.0; N];
    for n in 0..N {
        row[n] = columns[n][i];
    }
    row
}

#[cfg(test)]
pub(super) use {
    first_stair::L1_ERROR,
    geometric::{BETA, PER_SCALE_FEW},
    staircase::{FLOOR_ERROR, PER_SPAN, rise},
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence: the definition, ε from 2⁻²⁰ to 700 and D + D/ε up to 2⁴⁵, on both sides of its bounds.
    #[test]
    fn ordinary_parameters_are_those_of_the_fast_path() {
        for (log2_eps, log2_steps, expected) in [
            (-10, 34, true),
            (-10, 35, false),
            (0, 44, true),
            (0, 45, false),
            (-20, 0, true),
            (-21, 0, false),
            (9, 0, true),
            (10, 0, false),
        ] {
            let [eps, sensitivity_steps] = [log2_eps, log2_steps].map(|log2| 2.0_f64.powi(log2));
            let mut parameters = [[1.0; BLOCK], [1.0; BLOCK]];
            (parameters[0][BLOCK - 1], parameters[1][BLOCK - 1]) = (eps, sensitivity_steps);
            let parameters = BlockParameters {
                eps: &parameters[0],
                sensitivity: &parameters[1],
                shape: &[1.0; BLOCK],
            };
            for tier in Tier::tested() {
                for family in [
                    Family::DiscreteLaplace,
                    Family::DiscreteStaircaseL1,
                    Family::DiscreteStaircaseNumber,
                ] {
                    assert_eq!(
                        parameters.are_ordinary(tier, family),
                        expected,
                        "{eps} {sensitivity_steps} {family:?}"
                    );
                }
            }
        }
    }
}
