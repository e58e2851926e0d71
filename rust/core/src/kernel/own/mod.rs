//! Values with a law of their own each: a lane works out the constants of its law as well, in the same branch-free style.
//!
//! | file | subject |
//! |---|---|
//! | `lattice` | parameters to cells and granularity |
//! | `shape` | r of a staircase |
//! | `geometric`, `staircase` | constants of a law, and the lane that uses them |
//!
//! What is out of the ordinary in a parameter, and whatever no law has, gives a value that is not sure, by an infinite tolerance.

mod geometric;
mod lattice;
mod shape;
mod staircase;

use super::tier::{self, Arithmetic};
use super::{BLOCK, SIGN, Tier, with_sign};
use geometric::{Few, Many};
use lattice::{Integers, LaplacePowers, StaircasePowers};
use shape::{Fraction, OptimalL1, Whole};
use staircase::Stepped;

/// What the values of a block have in common. `Staircase` of the least E|X| or of a number γ or r.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Laplace,
    DiscreteLaplace,
    StaircaseL1,
    StaircaseNumber,
    DiscreteStaircaseL1,
    DiscreteStaircaseNumber,
}

/// What they have of their own; the shape where it is a number.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub eps: [f64; BLOCK],
    pub sensitivity: [f64; BLOCK],
    pub shape: [f64; BLOCK],
}

impl Parameters {
    /// Ordinary ones, for lanes that are not used.
    pub const ONES: Self = Self {
        eps: [1.0; BLOCK],
        sensitivity: [1.0; BLOCK],
        shape: [1.0; BLOCK],
    };
}

/// The values of a block.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// X, signed; NaN where it is not certain.
    pub cells: [f64; BLOCK],
    /// g.
    pub granularity: [f64; BLOCK],
}

impl Drawn {
    pub const NOTHING: Self = Self {
        cells: [f64::NAN; BLOCK],
        granularity: [1.0; BLOCK],
    };

    /// Draws a block on a tier that is available.
    pub fn draw(&mut self, tier: Tier, family: Family, parameters: &Parameters, words: &[u64; BLOCK]) {
        tier::draw_on(tier, family, parameters, words, self);
    }
}

/// A family's law in a lane: [`super::Lane`] with its constants, N numbers, made on the way.
trait Own<const N: usize> {
    /// The constants, and g.
    fn prepare<A: Arithmetic>(eps: f64, sensitivity: f64, shape: f64) -> ([f64; N], f64);

    /// As [`super::Lane::reduce`].
    fn reduce<A: Arithmetic>(constants: [f64; N], bits: u64) -> [f64; 3];

    /// As [`super::Lane::finish`].
    fn finish<A: Arithmetic>(constants: [f64; N], reduced: [f64; 3]) -> (f64, bool);
}

/// [`Drawn::draw`], to be compiled for the instructions of whoever inlines it.
#[inline(always)]
pub(super) fn draw<A: Arithmetic>(family: Family, parameters: &Parameters, words: &[u64; BLOCK], drawn: &mut Drawn) {
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
fn draw_lanes<A: Arithmetic, L: Own<N>, const N: usize>(parameters: &Parameters, words: &[u64; BLOCK], drawn: &mut Drawn) {
    let mut constants = [[0.0; BLOCK]; N];
    for i in 0..BLOCK {
        let (made, granularity) = L::prepare::<A>(parameters.eps[i], parameters.sensitivity[i], parameters.shape[i]);
        for (all, one) in constants.iter_mut().zip(made) {
            all[i] = one;
        }
        drawn.granularity[i] = granularity;
    }
    let of = |i: usize| {
        core::array::from_fn(
            #[inline(always)]
            |n| constants[n][i],
        )
    };
    let mut reduced = [[0.0; BLOCK]; 3];
    for i in 0..BLOCK {
        [reduced[0][i], reduced[1][i], reduced[2][i]] = L::reduce::<A>(of(i), words[i] & !SIGN);
    }
    for i in 0..BLOCK {
        let (magnitude, sure) = L::finish::<A>(of(i), [reduced[0][i], reduced[1][i], reduced[2][i]]);
        let signed = with_sign(magnitude, words[i]);
        drawn.cells[i] = if sure { signed } else { f64::NAN };
    }
}

#[cfg(test)]
mod edges;
#[cfg(test)]
pub(super) use {
    geometric::{BETA, PER_SCALE_FEW},
    shape::L1_ERROR,
};
