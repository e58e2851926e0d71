//! A law of its own for every value: arrays of parameters.

use crate::error::ParamError;
use crate::exact::IntegerLaw;
use crate::law::{Kind, Law, Shape};
use crate::release::Answer;
use crate::stream::{CHUNK, Fill};
use crate::value::Value;

/// Laws by their parameters, so that parameters which recur (a row of ε broadcast over many rows) are prepared once.
///
/// Direct-mapped: a newcomer takes the place of whatever was there. Parameters seen for the first time get a law that is quick to make;
/// only when they come again is one made that is quick to draw from, and kept.
#[derive(Debug)]
pub struct Laws {
    kind: Kind,
    places: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    key: [u64; 3],
    law: Option<Law>,
}

const PLACES: usize = 1024;

impl Laws {
    /// An empty collection of laws of one kind.
    pub fn new(kind: Kind) -> Self {
        // No law has an ε of zero bits.
        let places = vec![Entry { key: [0; 3], law: None }; PLACES];
        Self { kind, places }
    }

    /// Whether there is a law with these parameters.
    ///
    /// # Errors
    /// [`ParamError`], as [`Law::new`].
    pub fn check(&self, eps: f64, sensitivity: f64, shape: Shape) -> Result<(), ParamError> {
        Law::check(self.kind, eps, sensitivity, shape).map(drop)
    }

    /// Granularity, cells and r (0 for the Laplace kinds) of the law with these parameters.
    ///
    /// # Errors
    /// [`ParamError`], as [`Law::new`].
    pub fn describe(&self, eps: f64, sensitivity: f64, shape: Shape) -> Result<(f64, u64, u64), ParamError> {
        let (law, lattice) = Law::place(self.kind, eps, sensitivity, shape)?;
        let r = match law {
            IntegerLaw::Geometric { .. } => 0,
            IntegerLaw::Staircase { r, .. } => r,
        };
        Ok((lattice.granularity(), lattice.cells, r))
    }

    /// Calls `draw` with the law of these parameters.
    fn with<R>(&mut self, eps: f64, sensitivity: f64, shape: Shape, draw: impl FnOnce(&Law) -> R) -> Result<R, ParamError> {
        let shape_key = match shape {
            Shape::L1 => u64::MAX,
            Shape::L2 => u64::MAX - 1,
            Shape::Number(number) => number.to_bits(),
        };
        let key = [eps.to_bits(), sensitivity.to_bits(), shape_key];
        let entry = &mut self.places[place(key)];
        if entry.key != key {
            let law = Law::quick(self.kind, eps, sensitivity, shape)?;
            *entry = Entry { key, law: None };
            return Ok(draw(&law));
        }
        if entry.law.is_none() {
            entry.law = Some(Law::new(self.kind, eps, sensitivity, shape)?);
        }
        match &entry.law {
            Some(law) => Ok(draw(law)),
            None => unreachable!("it was just made"),
        }
    }

    /// Writes value `first + i` of the fill, drawn from the law of `parameters(i)`, to `out[i]`.
    ///
    /// # Errors
    /// [`ParamError`] at the first parameters that no law has; values before it have been written.
    pub fn write<T: Value>(
        &mut self,
        fill: &Fill,
        first: u64,
        out: &mut [T],
        parameters: impl Fn(usize) -> (f64, f64, Shape),
    ) -> Result<(), ParamError> {
        self.each(fill, first, out, parameters, |law, _, noise| law.sampler().value(noise))
    }

    /// Writes `answers[i]` plus value `first + i` of the fill, on the lattice of the law of `parameters(i)`, to `out[i]`.
    ///
    /// # Errors
    /// [`ParamError`] at the first parameters that no law has; values before it have been written.
    pub fn release<A: Answer, T: Value>(
        &mut self,
        fill: &Fill,
        first: u64,
        answers: &[A],
        out: &mut [T],
        parameters: impl Fn(usize) -> (f64, f64, Shape),
    ) -> Result<(), ParamError> {
        self.each(fill, first, out, parameters, |law, i, noise| {
            let log2_granularity = law.sampler().lattice().log2_granularity;
            let cells = answers[i].round_to_lattice(log2_granularity) + i128::from(noise);
            T::from_cells(cells, log2_granularity)
        })
    }

    fn each<T: Value>(
        &mut self,
        fill: &Fill,
        first: u64,
        out: &mut [T],
        parameters: impl Fn(usize) -> (f64, f64, Shape),
        value: impl Fn(&Law, usize, i64) -> T,
    ) -> Result<(), ParamError> {
        let mut words = fill.words();
        for (chunk, out) in out.chunks_mut(CHUNK).enumerate() {
            let base = chunk * CHUNK;
            let words = words.at(first + base as u64, out.len());
            for (i, (word, out)) in words.iter().zip(out).enumerate() {
                let i = base + i;
                let (eps, sensitivity, shape) = parameters(i);
                *out = self.with(eps, sensitivity, shape, |law| {
                    let noise = law.sampler().cells(*word, |e| fill.extension(first + i as u64, e));
                    value(law, i, noise)
                })?;
            }
        }
        Ok(())
    }
}

/// A few multiplications spread neighbouring floats, whose low bits are often all zero, over the places.
fn place(key: [u64; 3]) -> usize {
    let mixed = key.iter().fold(0_u64, |mixed, part| {
        (mixed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    (mixed >> 32) as usize % PLACES
}
