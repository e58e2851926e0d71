//! A law of its own for every value: arrays of parameters.

use crate::error::ParamError;
use crate::exact::IntegerLaw;
use crate::law::{Kind, Law, Shape};
use crate::release::Answer;
use crate::stream::{CHUNK, Fill};
use crate::value::Value;

/// Laws by their parameters, so that parameters which recur (a row of ε broadcast over many rows) are prepared once.
///
/// Direct-mapped: a newcomer takes the place of whatever was there.
#[derive(Debug)]
pub struct Laws {
    kind: Kind,
    places: Vec<Option<Entry>>,
}

#[derive(Debug)]
struct Entry {
    key: [u64; 3],
    law: Law,
}

const PLACES: usize = 1024;

impl Laws {
    /// An empty collection of laws of one kind.
    pub fn new(kind: Kind) -> Self {
        let places = (0..PLACES).map(|_| None).collect();
        Self { kind, places }
    }

    /// Whether [`Laws::get`] would accept these parameters.
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

    /// The law with these parameters.
    ///
    /// # Errors
    /// [`ParamError`], as [`Law::new`].
    pub fn get(&mut self, eps: f64, sensitivity: f64, shape: Shape) -> Result<&Law, ParamError> {
        let shape_key = match shape {
            Shape::L1 => u64::MAX,
            Shape::L2 => u64::MAX - 1,
            Shape::Number(number) => number.to_bits(),
        };
        let key = [eps.to_bits(), sensitivity.to_bits(), shape_key];
        let place = &mut self.places[place(key)];
        if place.as_ref().is_none_or(|entry| entry.key != key) {
            let law = Law::new(self.kind, eps, sensitivity, shape)?;
            *place = Some(Entry { key, law });
        }
        match place {
            Some(entry) => Ok(&entry.law),
            None => unreachable!("the place was just filled"),
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
                let law = self.get(eps, sensitivity, shape)?;
                let noise = law.sampler().cells(*word, |e| fill.extension(first + i as u64, e));
                *out = value(law, i, noise);
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
