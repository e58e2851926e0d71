//! A law of its own for every value: arrays of parameters.

use crate::dyadic::floor_log2;
use crate::error::ParamError;
use crate::exact::IntegerLaw;
use crate::kernel::{BLOCK, Drawn, Family, Parameters, Tier};
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
        self.each(Tier::current(), fill, first, out, parameters, &Noise)
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
        self.each(Tier::current(), fill, first, out, parameters, &Released(answers))
    }

    /// Block by block on the fast path; what it is not sure of, value by value.
    fn each<T: Value>(
        &mut self,
        tier: Tier,
        fill: &Fill,
        first: u64,
        out: &mut [T],
        parameters: impl Fn(usize) -> (f64, f64, Shape),
        output: &impl Output<T>,
    ) -> Result<(), ParamError> {
        let mut words = fill.words();
        let mut block = Block::new(self.kind, tier);
        for (chunk, out) in out.chunks_mut(CHUNK).enumerate() {
            let base = chunk * CHUNK;
            let words = words.at(first + base as u64, out.len());
            for (n, (words, out)) in words.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).enumerate() {
                let base = base + n * BLOCK;
                block.draw(words, |i| parameters(base + i));
                for i in ones(block.write(base, out, output)) {
                    let value = base + i;
                    let (eps, sensitivity, shape) = parameters(value);
                    out[i] = self.with(eps, sensitivity, shape, |law| {
                        let sampler = law.sampler();
                        let noise = sampler.cells(words[i], |e| fill.extension(first + value as u64, e));
                        output.cells(value, noise, sampler.lattice().log2_granularity)
                    })?;
                }
            }
        }
        Ok(())
    }
}

/// What becomes of the cells that are drawn for value i.
trait Output<T> {
    /// From the fast path: below 2⁵¹, or anything if they are NaN.
    fn whole(&self, i: usize, cells: f64, granularity: f64) -> T;

    fn cells(&self, i: usize, cells: i64, log2_granularity: i32) -> T;
}

struct Noise;

impl<T: Value> Output<T> for Noise {
    #[inline(always)]
    fn whole(&self, _: usize, cells: f64, granularity: f64) -> T {
        T::from_whole(cells, granularity)
    }

    fn cells(&self, _: usize, cells: i64, log2_granularity: i32) -> T {
        T::from_cells(cells.into(), log2_granularity)
    }
}

struct Released<'a, A>(&'a [A]);

impl<A: Answer, T: Value> Output<T> for Released<'_, A> {
    fn whole(&self, i: usize, cells: f64, granularity: f64) -> T {
        if cells.is_nan() {
            return T::default();
        }
        self.cells(i, cells as i64, floor_log2(granularity))
    }

    fn cells(&self, i: usize, cells: i64, log2_granularity: i32) -> T {
        let sum = self.0[i].round_to_lattice(log2_granularity) + i128::from(cells);
        T::from_cells(sum, log2_granularity)
    }
}

/// Room for the parameters of a block and for what is drawn.
struct Block {
    kind: Kind,
    tier: Tier,
    parameters: Parameters,
    drawn: Drawn,
}

impl Block {
    fn new(kind: Kind, tier: Tier) -> Self {
        Self {
            kind,
            tier,
            parameters: Parameters::ONES,
            drawn: Drawn::NOTHING,
        }
    }

    /// Draws a value for every word, at most [`BLOCK`]; none is sure if their shapes are not of one form that has a fast path.
    fn draw(&mut self, words: &[u64], parameters: impl Fn(usize) -> (f64, f64, Shape)) {
        let form = family(self.kind, parameters(0).2);
        let mut alike = 0;
        for i in 0..words.len() {
            let (eps, sensitivity, shape) = parameters(i);
            self.parameters.eps[i] = eps;
            self.parameters.sensitivity[i] = sensitivity;
            if let Shape::Number(number) = shape {
                self.parameters.shape[i] = number;
            }
            alike += usize::from(family(self.kind, shape) == form);
        }
        match form {
            Some(family) if alike == words.len() => {
                let mut all = [0; BLOCK];
                all[..words.len()].copy_from_slice(words);
                self.drawn.draw(self.tier, family, &self.parameters, &all);
            }
            _ => self.drawn = Drawn::NOTHING,
        }
    }

    /// Writes what was drawn, and returns the positions that are not sure, as ones: anything was written there.
    #[inline(always)]
    fn write<T, O: Output<T>>(&self, base: usize, out: &mut [T], output: &O) -> u64 {
        let mut doubtful = 0_u64;
        for (i, out) in out.iter_mut().enumerate() {
            let cells = self.drawn.cells[i];
            *out = output.whole(base + i, cells, self.drawn.granularity[i]);
            doubtful |= u64::from(cells.is_nan()) << i;
        }
        doubtful
    }
}

/// The positions of the ones, from the lowest.
fn ones(mut mask: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let position = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (position < u64::BITS as usize).then_some(position)
    })
}

/// The fast path of a kind and a form of shape, if there is one.
fn family(kind: Kind, shape: Shape) -> Option<Family> {
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

/// A few multiplications spread neighbouring floats, whose low bits are often all zero, over the places.
fn place(key: [u64; 3]) -> usize {
    let mixed = key.iter().fold(0_u64, |mixed, part| {
        (mixed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    (mixed >> 32) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;

    const KINDS: [Kind; 4] = [Kind::Staircase, Kind::DiscreteStaircase, Kind::Laplace, Kind::DiscreteLaplace];

    struct Random(u64);

    impl Random {
        /// Uniform in 0..1.
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn power(&mut self, least: f64, most: f64) -> f64 {
            (least.ln() + self.next() * (most.ln() - least.ln())).exp()
        }

        /// Parameters that some law has; `form` 0 and 1 are l1 and a number, 2 is l2, 3 any of them, `wide` from where the fast path ends to
        /// where the laws end.
        fn parameters(&mut self, kind: Kind, form: usize, wide: bool) -> (f64, f64, Shape) {
            let discrete = matches!(kind, Kind::DiscreteLaplace | Kind::DiscreteStaircase);
            let (eps, sensitivity) = match (wide, discrete) {
                (true, true) => (self.power(1e-6, 1e3), self.power(1.0, 1e6).round()),
                (true, false) => (self.power(1e-6, 1e3), self.power(1e-300, 1e290)),
                (false, true) => (0.1 + 4.9 * self.next(), (1.0 + 20.0 * self.next()).floor()),
                (false, false) => (0.1 + 4.9 * self.next(), self.power(1e-3, 1e3)),
            };
            let form = if form == 3 { (self.next() * 3.0) as usize } else { form };
            let shape = match form {
                0 => Shape::L1,
                1 if discrete => Shape::Number((sensitivity * self.next()).floor() + 1.0),
                1 if self.next() < 0.2 => Shape::Number(0.125 * (1.0 + (8.0 * self.next()).floor())),
                1 => Shape::Number(1.0 - self.next()),
                _ => Shape::L2,
            };
            (eps, sensitivity, shape)
        }
    }

    fn alone(kind: Kind, (eps, sensitivity, shape): (f64, f64, Shape), fill: &Fill, index: u64) -> (Law, i64) {
        let law = Law::new(kind, eps, sensitivity, shape).unwrap();
        let cells = law.sampler().cells(fill.word(index), |e| fill.extension(index, e));
        (law, cells)
    }

    fn same_values<T: Value + PartialEq + core::fmt::Debug>(kind: Kind, tier: Tier, fill: &Fill, given: &[(f64, f64, Shape)]) {
        let answers: Vec<f64> = (0..given.len()).map(|i| i as f64 * 0.37 - 50.0).collect();
        let lengths = [1, 7, 63, 64, 65, 128, 129, CHUNK - 1, CHUNK + 1, given.len()];
        for (first, n) in lengths.into_iter().flat_map(|n| [(0, n), (3, n)]) {
            let n = n.min(given.len());
            let (mut noise, mut released) = (vec![T::default(); n], vec![T::default(); n]);
            let mut laws = Laws::new(kind);
            laws.each(tier, fill, first, &mut noise, |i| given[i], &Noise).unwrap();
            laws.each(tier, fill, first, &mut released, |i| given[i], &Released(&answers))
                .unwrap();
            for i in 0..n {
                let (law, cells) = alone(kind, given[i], fill, first + i as u64);
                let log2_granularity = law.sampler().lattice().log2_granularity;
                assert_eq!(noise[i], law.sampler().value(cells), "{tier:?} {kind:?} {:?}", given[i]);
                let sum = answers[i].round_to_lattice(log2_granularity) + i128::from(cells);
                assert_eq!(released[i], T::from_cells(sum, log2_granularity), "{:?}", given[i]);
            }
        }
    }

    /// Evidence: equality with values drawn one by one, for every tier, kind, form of shape, and lengths around a block and a chunk.
    #[test]
    fn blocks_have_the_values_of_single_laws() {
        let (mut generator, mut random) = (Generator::from_seed(5), Random(5));
        for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
            for kind in KINDS {
                let discrete = matches!(kind, Kind::DiscreteLaplace | Kind::DiscreteStaircase);
                for form in 0..4 {
                    let n = if form < 2 { CHUNK + 65 } else { 65 };
                    let given: Vec<_> = (0..n).map(|i| random.parameters(kind, form, i % 8 > 0)).collect();
                    let fill = generator.next(n + 3).unwrap();
                    same_values::<f64>(kind, tier, &fill, &given);
                    same_values::<f32>(kind, tier, &fill, &given);
                    if discrete {
                        same_values::<i64>(kind, tier, &fill, &given);
                        same_values::<i32>(kind, tier, &fill, &given);
                    }
                }
            }
        }
    }

    /// Evidence: the ends of what a law may have, where the fast path must not be sure.
    #[test]
    fn ends_have_the_values_of_single_laws() {
        let mut generator = Generator::from_seed(6);
        let fill = generator.next(1 << 14).unwrap();
        let eps = [
            1e-12, 9e-7, 9.6e-7, 1e-3, 0.5, 1.0, 1.5, 26.7, 30.0, 699.0, 700.0, 700.1, 1e4, 1e300,
        ];
        let real = [
            1e-301,
            4e-299,
            2.3e-298,
            1e-290,
            0.1,
            1.0,
            2.0_f64.next_down(),
            3.0,
            1e280,
            1e298,
            8e298,
        ];
        let whole = [
            1.0,
            2.0,
            3.0,
            1e6,
            1e12,
            (1_u64 << 45) as f64,
            (1_u64 << 45) as f64 + 1.0,
            1e15,
        ];
        for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
            for kind in KINDS {
                let discrete = matches!(kind, Kind::DiscreteLaplace | Kind::DiscreteStaircase);
                let sensitivities = if discrete { &whole[..] } else { &real[..] };
                for shape in [Shape::L1, Shape::Number(1.0), Shape::Number(0.5), Shape::Number(5e-324)] {
                    let given: Vec<_> = eps
                        .into_iter()
                        .flat_map(|eps| sensitivities.iter().map(move |sensitivity| (eps, *sensitivity, shape)))
                        .filter(|(eps, sensitivity, shape)| Law::check(kind, *eps, *sensitivity, *shape).is_ok())
                        .collect();
                    if !given.is_empty() {
                        same_values::<f64>(kind, tier, &fill, &given);
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_parameters_that_no_law_has_are_refused() {
        let mut generator = Generator::from_seed(7);
        let fill = generator.next(200).unwrap();
        let bad = [
            (0.0, 1.0, Shape::L1),
            (f64::NAN, 1.0, Shape::L1),
            (-1.0, 1.0, Shape::L1),
            (f64::INFINITY, 1.0, Shape::L1),
            (1.0, 0.0, Shape::L1),
            (1.0, -1.0, Shape::L1),
            (1.0, f64::NAN, Shape::L1),
            (1.0, f64::INFINITY, Shape::L1),
            (1.0, f64::NEG_INFINITY, Shape::L1),
            (1.0, -5e-324, Shape::L1),
            (1.0, f64::MAX, Shape::L1),
            (1e-300, 1.0, Shape::L1),
            (1.0, 1.0, Shape::Number(0.0)),
            (1.0, 1.0, Shape::Number(-0.5)),
            (1.0, 1.0, Shape::Number(1.5)),
            (1.0, 1.0, Shape::Number(f64::NAN)),
            (1.0, 1.5, Shape::Number(1.0)),
        ];
        for kind in KINDS {
            for bad in bad {
                let Err(expected) = Law::check(kind, bad.0, bad.1, bad.2) else {
                    continue;
                };
                let mut out = [0.0_f64; 200];
                let good = (
                    1.0,
                    1.0,
                    if let Shape::Number(_) = bad.2 {
                        Shape::Number(1.0)
                    } else {
                        Shape::L1
                    },
                );
                let error = Laws::new(kind).write(&fill, 0, &mut out, |i| if i == 70 { bad } else { good });
                assert_eq!(
                    format!("{:?}", error.unwrap_err()),
                    format!("{expected:?}"),
                    "{kind:?} {bad:?}"
                );
            }
        }
    }

    /// The fast path is there to be taken.
    #[test]
    fn ordinary_parameters_leave_few_values_in_doubt() {
        let (mut generator, mut random) = (Generator::from_seed(8), Random(8));
        for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
            for kind in KINDS {
                for form in 0..2 {
                    let mut block = Block::new(kind, tier);
                    let fill = generator.next(1000 * BLOCK).unwrap();
                    let mut doubtful = 0;
                    for first in (0..1000 * BLOCK as u64).step_by(BLOCK) {
                        let given: [_; BLOCK] = core::array::from_fn(|_| random.parameters(kind, form, false));
                        block.draw(fill.words().at(first, BLOCK), |i| given[i]);
                        doubtful += block.write(0, &mut [0.0_f64; BLOCK], &Noise).count_ones();
                    }
                    assert!(doubtful < 64, "{doubtful} of 64000: {tier:?} {kind:?} {form}");
                }
            }
        }
    }
}
