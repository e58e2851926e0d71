//! Blocks of parameters and words as the kernels take them.

use super::parameters::{Parameters, Shapes};
use crate::kernel::{BLOCK, BlockParameters, DrawnBlock, Family, Tier};
use crate::mechanism::one_word::{Kind, Shape};
use crate::wiped::wipe;

/// Where blocks that are not full are filled up, with ordinary parameters; on whole cache lines ([`crate::cache_lines::CacheLines`]).
#[repr(align(64))]
pub(super) struct Padding {
    words: [u64; BLOCK],
    parameters: [[f64; BLOCK]; 3],
}

impl Padding {
    pub fn new() -> Self {
        Self {
            words: [0; BLOCK],
            // 1 is an ordinary ε, Δ, γ and r: a lane without a value must not take its block off the fast path.
            parameters: [[1.0; BLOCK]; 3],
        }
    }

    pub fn block_parameters<'a>(&'a mut self, parameters: &Parameters<'a>) -> BlockParameters<'a> {
        block_parameters(&mut self.parameters, parameters)
    }

    /// Draws a value for every word, at most [`BLOCK`]; none is sure if their shapes have no fast path.
    pub fn draw(&mut self, tier: Tier, kind: Kind, parameters: &Parameters<'_>, words: &[u64], drawn: &mut DrawnBlock) {
        match family(kind, parameters.shape.form()) {
            Some(family) => drawn.draw(
                tier,
                family,
                &block_parameters(&mut self.parameters, parameters),
                full(words, &mut self.words),
            ),
            None => drawn.nothing(),
        }
    }
}

impl Drop for Padding {
    fn drop(&mut self) {
        wipe(&mut self.words);
    }
}

fn block_parameters<'a>(
    [eps, sensitivity, shape]: &'a mut [[f64; BLOCK]; 3],
    parameters: &Parameters<'a>,
) -> BlockParameters<'a> {
    BlockParameters {
        eps: full(parameters.eps, eps),
        sensitivity: full(parameters.sensitivity, sensitivity),
        shape: match parameters.shape {
            Shapes::Same(Shape::Number(number)) => {
                shape.fill(number);
                shape
            }
            // Families that take no number do not read it.
            Shapes::Same(_) => shape,
            Shapes::Numbers(numbers) => full(numbers, shape),
        },
    }
}

/// A block of elements, filled up from `padding` if there are fewer.
pub(crate) fn full<'a, E: Copy>(elements: &'a [E], padding: &'a mut [E; BLOCK]) -> &'a [E; BLOCK] {
    if let Some(block) = elements.first_chunk() {
        return block;
    }
    padding[..elements.len()].copy_from_slice(elements);
    padding
}

pub(super) fn family(kind: Kind, shape: Shape) -> Option<Family> {
    match (kind, shape) {
        (Kind::Laplace, _) => Some(Family::Laplace),
        (Kind::DiscreteLaplace, _) => Some(Family::DiscreteLaplace),
        (_, Shape::L2) => None,
        (Kind::Staircase, Shape::L1) => Some(Family::StaircaseL1),
        (Kind::Staircase, Shape::Number(_)) => Some(Family::StaircaseNumber),
        (Kind::DiscreteStaircase, Shape::L1) => Some(Family::DiscreteStaircaseL1),
        (Kind::DiscreteStaircase, Shape::Number(_)) => Some(Family::DiscreteStaircaseNumber),
    }
}
