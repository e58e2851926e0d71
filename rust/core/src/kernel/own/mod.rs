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

use std::marker::PhantomData;

use zeroize::Zeroize;

use super::tier::{self, Arithmetic, Work};
use super::{BLOCK, MAX_SPAN, SIGN, Tier, with_sign};
use geometric::{Few, Many};
use lattice::{Integers, LaplacePowers, Lattice, StaircasePowers};
use shape::{Fraction, OptimalL1, Shape, Whole};
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    pub eps: &'a [f64; BLOCK],
    pub sensitivity: &'a [f64; BLOCK],
    pub shape: &'a [f64; BLOCK],
}

impl Given<'_> {
    /// Whether they all are within the range of the fast path, hence have laws. On a tier that is available.
    pub fn are_ordinary(&self, tier: Tier, family: Family) -> bool {
        match family {
            Family::Laplace => self.are_on::<LaplacePowers, OptimalL1>(tier),
            Family::DiscreteLaplace | Family::DiscreteStaircaseL1 => self.are_on::<Integers, OptimalL1>(tier),
            Family::StaircaseL1 => self.are_on::<StaircasePowers, OptimalL1>(tier),
            Family::StaircaseNumber => self.are_on::<StaircasePowers, Fraction>(tier),
            Family::DiscreteStaircaseNumber => self.are_on::<Integers, Whole>(tier),
        }
    }

    fn are_on<L: Lattice, S: Shape>(&self, tier: Tier) -> bool {
        tier::run_on(tier, Ordinary(self, PhantomData::<(L, S)>))
    }
}

/// Whether all are, on a lattice with a shape.
struct Ordinary<'a, F>(&'a Given<'a>, PhantomData<F>);

impl<L: Lattice, S: Shape> Work for Ordinary<'_, (L, S)> {
    type Result = bool;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> bool {
        let Given { eps, sensitivity, shape } = self.0;
        let mut ordinary = 0_u64;
        for i in 0..BLOCK {
            let place = L::place(eps[i], sensitivity[i]);
            let decidable = place.known & (place.cells + place.cells / eps[i] <= MAX_SPAN);
            ordinary = ordinary.wrapping_add(u64::from(decidable & S::exists(shape[i], place.cells)));
        }
        ordinary == BLOCK as u64
    }
}

/// The values of a block, all arrays from the beginning of a cache line on ([`super::Lines`]).
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Drawn {
    /// X, signed; NaN where it is not certain.
    pub cells: [f64; BLOCK],
    /// g.
    pub granularity: [f64; BLOCK],
    /// Between the stages: kept, because to clear it for every block takes time.
    constants: [[f64; BLOCK]; MOST_CONSTANTS],
    reduced: [[f64; BLOCK]; 3],
}

/// Those of a staircase.
const MOST_CONSTANTS: usize = 8;

impl Drawn {
    pub const NOTHING: Self = Self {
        cells: [f64::NAN; BLOCK],
        granularity: [1.0; BLOCK],
        constants: [[0.0; BLOCK]; MOST_CONSTANTS],
        reduced: [[0.0; BLOCK]; 3],
    };

    /// A block of which nothing is certain.
    pub fn nothing(&mut self) {
        self.cells = [f64::NAN; BLOCK];
    }

    /// Draws a block on a tier that is available.
    pub fn draw(&mut self, tier: Tier, family: Family, given: &Given<'_>, words: &[u64; BLOCK]) {
        tier::draw_on(tier, family, given, words, self);
    }
}

/// What tells the noise is wiped: of a release it is as secret as the answers.
impl Drop for Drawn {
    fn drop(&mut self) {
        self.cells.zeroize();
        self.reduced.zeroize();
    }
}

/// A family's law in a lane: [`super::Lane`] with its constants, N numbers, made on the way.
///
/// A block goes through each stage before it goes through the next. They are short, for a staircase and AVX2 27 to 95 instructions for four
/// lanes: the processor has room for several of their chains at a time.
trait Own<const N: usize> {
    /// What takes longest of the constants, and g.
    fn place<A: Arithmetic>(eps: f64, sensitivity: f64) -> ([f64; 3], f64);

    /// The constants.
    fn prepare<A: Arithmetic>(eps: f64, shape: f64, placed: [f64; 3]) -> [f64; N];

    /// As [`super::Lane::reduce`].
    fn reduce<A: Arithmetic>(constants: [f64; N], bits: u64) -> [f64; 3];

    /// The elementary function of what is reduced.
    fn evaluate<A: Arithmetic>(constants: [f64; N], reduced: [f64; 3]) -> [f64; 3];

    /// As [`super::Lane::finish`].
    fn finish<A: Arithmetic>(constants: [f64; N], evaluated: [f64; 3]) -> (f64, bool);
}

/// [`Drawn::draw`], to be compiled for the instructions of whoever inlines it.
#[inline(always)]
pub(super) fn draw<A: Arithmetic>(family: Family, given: &Given<'_>, words: &[u64; BLOCK], drawn: &mut Drawn) {
    match family {
        Family::Laplace => draw_lanes::<A, Many<LaplacePowers>, _>(given, words, drawn),
        Family::DiscreteLaplace => draw_lanes::<A, Few<Integers>, _>(given, words, drawn),
        Family::StaircaseL1 => draw_lanes::<A, Stepped<StaircasePowers, OptimalL1>, _>(given, words, drawn),
        Family::StaircaseNumber => draw_lanes::<A, Stepped<StaircasePowers, Fraction>, _>(given, words, drawn),
        Family::DiscreteStaircaseL1 => draw_lanes::<A, Stepped<Integers, OptimalL1>, _>(given, words, drawn),
        Family::DiscreteStaircaseNumber => draw_lanes::<A, Stepped<Integers, Whole>, _>(given, words, drawn),
    }
}

#[inline(always)]
fn draw_lanes<A: Arithmetic, L: Own<N>, const N: usize>(given: &Given<'_>, words: &[u64; BLOCK], drawn: &mut Drawn) {
    const { assert!(N <= MOST_CONSTANTS) };
    let Drawn {
        cells,
        granularity,
        constants,
        reduced,
    } = drawn;
    for i in 0..BLOCK {
        let (placed, g) = L::place::<A>(given.eps[i], given.sensitivity[i]);
        [reduced[0][i], reduced[1][i], reduced[2][i]] = placed;
        granularity[i] = g;
    }
    for i in 0..BLOCK {
        let made = L::prepare::<A>(given.eps[i], given.shape[i], at(reduced, i));
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
        cells[i] = if sure { signed } else { f64::NAN };
    }
}

/// The first N numbers of lane `i`.
#[inline(always)]
fn at<const N: usize>(columns: &[[f64; BLOCK]], i: usize) -> [f64; N] {
    core::array::from_fn(
        #[inline(always)]
        |n| columns[n][i],
    )
}

#[cfg(test)]
mod edges;
#[cfg(test)]
pub(super) use {
    geometric::{BETA, PER_SCALE_FEW},
    shape::L1_ERROR,
    staircase::{FLOOR_ERROR, PER_SPAN, rise},
};
