//! A law of its own for every value: arrays of parameters.

use zeroize::Zeroize;

use crate::dyadic::floor_log2;
use crate::error::ParamError;
use crate::exact::IntegerLaw;
use crate::kernel::{Arithmetic, BLOCK, Drawn, Family, Given, Tier, Work, run_on};
use crate::law::{Kind, Law, Shape};
use crate::release::{Answer, round_to_near_lattice};
use crate::reveal;
use crate::stream::{CHUNK, Fill};
use crate::value::Value;

/// Laws of one kind with parameters by the value.
///
/// Values are drawn a block at a time, and what that is not sure of one by one. For parameters that it is never sure of (the shape l2, an ε
/// beyond 700) laws are kept, so that those which recur are prepared once. They are direct-mapped: a newcomer takes the place of whatever
/// was there. Parameters seen for the first time get a law that is quick to make; only when they come again is one made that is quick to
/// draw from, and kept.
#[derive(Debug)]
pub struct Laws {
    kind: Kind,
    /// None before the first is needed: most arrays need none.
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
        Self {
            kind,
            places: Vec::new(),
        }
    }

    /// Whether there is a law for every value.
    ///
    /// # Errors
    /// The position of the first that has none, and [`ParamError`] as [`Law::new`].
    pub fn check(&self, parameters: &Parameters<'_>) -> Result<(), (usize, ParamError)> {
        let (mut room, tier) = (Room::new(), Tier::current());
        for first in (0..parameters.eps.len()).step_by(BLOCK) {
            let block = parameters.block(first);
            if family(self.kind, block.shape.form()).is_some_and(|family| room.given(&block).are_ordinary(tier, family)) {
                continue;
            }
            for i in 0..block.eps.len() {
                let (eps, sensitivity, shape) = block.at(i);
                Law::check(self.kind, eps, sensitivity, shape).map_err(|error| (first + i, error))?;
            }
        }
        Ok(())
    }

    /// Granularity, cells and r (0 for the Laplace kinds) of the law with these parameters.
    ///
    /// # Errors
    /// [`ParamError`], as [`Law::new`].
    pub fn describe(&self, eps: f64, sensitivity: f64, shape: Shape) -> Result<(f64, u64, u64), ParamError> {
        let (law, lattice) = Law::place(self.kind, eps, sensitivity, shape)?;
        let r = match law {
            IntegerLaw::Geometric { .. } | IntegerLaw::OneSided { .. } => 0,
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
        if self.places.is_empty() {
            // No law has an ε of zero bits.
            self.places = vec![Entry { key: [0; 3], law: None }; PLACES];
        }
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

    /// Writes value `first + i` of the fill, drawn from the law of parameters i, to `out[i]`.
    ///
    /// # Errors
    /// [`ParamError`] at the first parameters that no law has; values before it have been written.
    pub fn write<T: Value>(
        &mut self,
        fill: &Fill,
        first: u64,
        out: &mut [T],
        parameters: &Parameters<'_>,
    ) -> Result<(), ParamError> {
        self.each(Tier::current(), fill, first, out, parameters, Noise)
    }

    /// Writes `answers[i]` plus value `first + i` of the fill, on the lattice of the law of parameters i, to `out[i]`.
    ///
    /// # Errors
    /// [`ParamError`] at the first parameters that no law has; values before it have been written.
    pub fn release<A: Answer, T: Value>(
        &mut self,
        fill: &Fill,
        first: u64,
        answers: &[A],
        out: &mut [T],
        parameters: &Parameters<'_>,
    ) -> Result<(), ParamError> {
        self.each(Tier::current(), fill, first, out, parameters, Released(answers))
    }

    /// Block by block on the fast path; what it is not sure of, value by value.
    fn each<T: Value>(
        &mut self,
        tier: Tier,
        fill: &Fill,
        first: u64,
        out: &mut [T],
        parameters: &Parameters<'_>,
        output: impl Output<T>,
    ) -> Result<(), ParamError> {
        let mut words = fill.words();
        let (mut room, mut drawn) = (Room::new(), Drawn::NOTHING);
        for (chunk, out) in out.chunks_mut(CHUNK).enumerate() {
            let base = chunk * CHUNK;
            let words = words.at(first + base as u64, out.len());
            for (n, (words, out)) in words.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).enumerate() {
                let base = base + n * BLOCK;
                let parameters = parameters.block(base);
                room.draw(tier, self.kind, &parameters, words, &mut drawn);
                let output = output.from(base);
                for i in ones(write_block(tier, &drawn, out, output)) {
                    let (eps, sensitivity, shape) = parameters.at(i);
                    out[i] = self.with(eps, sensitivity, shape, |law| {
                        let sampler = law.sampler();
                        let noise = sampler.cells(words[i], |e| fill.extension(first + (base + i) as u64, e));
                        output.cells(i, noise, sampler.lattice().log2_granularity)
                    })?;
                }
            }
        }
        Ok(())
    }
}

/// Parameters of consecutive values, as many in every slice.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'a> {
    /// ε.
    pub eps: &'a [f64],
    /// Δ.
    pub sensitivity: &'a [f64],
    /// Ignored by the Laplace kinds.
    pub shape: Shapes<'a>,
}

/// Shapes of consecutive values.
#[derive(Clone, Copy, Debug)]
pub enum Shapes<'a> {
    /// The same for all.
    Same(Shape),
    /// A [`Shape::Number`] for each.
    Numbers(&'a [f64]),
}

impl Shapes<'_> {
    fn at(&self, i: usize) -> Shape {
        match self {
            Self::Same(shape) => *shape,
            Self::Numbers(numbers) => Shape::Number(numbers[i]),
        }
    }

    /// One of them, which tells what kind of shape they all are.
    fn form(&self) -> Shape {
        match self {
            Self::Same(shape) => *shape,
            Self::Numbers(_) => Shape::Number(1.0),
        }
    }
}

impl Parameters<'_> {
    /// Those of value i: ε, Δ and the shape.
    pub fn at(&self, i: usize) -> (f64, f64, Shape) {
        (self.eps[i], self.sensitivity[i], self.shape.at(i))
    }

    /// Those of up to [`BLOCK`] values.
    fn block(&self, first: usize) -> Self {
        let end = self.eps.len().min(first + BLOCK);
        Self {
            eps: &self.eps[first..end],
            sensitivity: &self.sensitivity[first..end],
            shape: match self.shape {
                Shapes::Same(shape) => Shapes::Same(shape),
                Shapes::Numbers(numbers) => Shapes::Numbers(&numbers[first..end]),
            },
        }
    }
}

/// What becomes of the cells that are drawn for value i.
trait Output<T>: Copy {
    /// What becomes of those from value `first` on.
    fn from(self, first: usize) -> Self;

    /// From the fast path: below 2⁵¹, or anything if they are NaN.
    fn whole(&self, i: usize, cells: f64, granularity: f64) -> T;

    fn cells(&self, i: usize, cells: i64, log2_granularity: i32) -> T;
}

#[derive(Clone, Copy)]
struct Noise;

impl<T: Value> Output<T> for Noise {
    fn from(self, _: usize) -> Self {
        self
    }

    #[inline(always)]
    fn whole(&self, _: usize, cells: f64, granularity: f64) -> T {
        T::from_whole(cells, granularity)
    }

    fn cells(&self, _: usize, cells: i64, log2_granularity: i32) -> T {
        T::from_cells(cells.into(), log2_granularity)
    }
}

#[derive(Clone, Copy)]
struct Released<'a, A>(&'a [A]);

impl<A: Answer, T: Value> Output<T> for Released<'_, A> {
    fn from(self, first: usize) -> Self {
        Self(&self.0[first..])
    }

    #[inline(always)]
    fn whole(&self, i: usize, cells: f64, granularity: f64) -> T {
        let near =
            round_to_near_lattice(self.0[i], granularity).filter(|_| reveal::condition(cells.abs() < (1_u64 << 50) as f64));
        match near {
            Some(answer) => T::from_whole(answer as f64 + cells, granularity),
            None if reveal::condition(cells.is_nan()) => T::default(),
            None => self.cells(i, cells as i64, floor_log2(granularity)),
        }
    }

    fn cells(&self, i: usize, cells: i64, log2_granularity: i32) -> T {
        let sum = self.0[i].round_to_lattice(log2_granularity) + i128::from(cells);
        T::from_cells(sum, log2_granularity)
    }
}

/// Writes what was drawn, and returns the positions that are not sure, as ones: anything was written there.
fn write_block<T>(tier: Tier, drawn: &Drawn, out: &mut [T], output: impl Output<T>) -> u64 {
    run_on(tier, WriteBlock { drawn, out, output })
}

struct WriteBlock<'a, T, O> {
    drawn: &'a Drawn,
    out: &'a mut [T],
    output: O,
}

impl<T, O: Output<T>> Work for WriteBlock<'_, T, O> {
    type Result = u64;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> u64 {
        let Self { drawn, out, output } = self;
        let n = out.len();
        // The usual length, known: the compiler makes vectors of it.
        let sure = match out.first_chunk_mut::<BLOCK>() {
            Some(out) => write(drawn, out, output),
            None => write(drawn, out, output),
        };
        if reveal::condition(sure == n as u64) {
            return 0;
        }
        reveal::word((0..n).fold(0, |doubtful, i| doubtful | u64::from(drawn.cells[i].is_nan()) << i))
    }
}

/// How many of those that were written are sure.
#[inline(always)]
fn write<T>(drawn: &Drawn, out: &mut [T], output: impl Output<T>) -> u64 {
    let Drawn { cells, granularity, .. } = drawn;
    let mut sure = 0_u64;
    for i in 0..out.len() {
        out[i] = output.whole(i, cells[i], granularity[i]);
        sure = sure.wrapping_add(u64::from(!cells[i].is_nan()));
    }
    sure
}

/// Where blocks that are not full are filled up, with ordinary parameters.
struct Room {
    words: [u64; BLOCK],
    parameters: [[f64; BLOCK]; 3],
}

impl Room {
    fn new() -> Self {
        Self {
            words: [0; BLOCK],
            parameters: [[1.0; BLOCK]; 3],
        }
    }

    fn given<'a>(&'a mut self, parameters: &Parameters<'a>) -> Given<'a> {
        given(&mut self.parameters, parameters)
    }

    /// Draws a value for every word, at most [`BLOCK`]; none is sure if their shapes have no fast path.
    fn draw(&mut self, tier: Tier, kind: Kind, parameters: &Parameters<'_>, words: &[u64], drawn: &mut Drawn) {
        match family(kind, parameters.shape.form()) {
            Some(family) => drawn.draw(
                tier,
                family,
                &given(&mut self.parameters, parameters),
                full(words, &mut self.words),
            ),
            None => drawn.nothing(),
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.words.zeroize();
    }
}

fn given<'a>([eps, sensitivity, shape]: &'a mut [[f64; BLOCK]; 3], parameters: &Parameters<'a>) -> Given<'a> {
    Given {
        eps: full(parameters.eps, eps),
        sensitivity: full(parameters.sensitivity, sensitivity),
        shape: match parameters.shape {
            Shapes::Same(Shape::Number(number)) => {
                shape.fill(number);
                shape
            }
            Shapes::Same(_) => shape,
            Shapes::Numbers(numbers) => full(numbers, shape),
        },
    }
}

/// A block of elements, followed by what is in the room if they are fewer.
fn full<'a, E: Copy>(elements: &'a [E], room: &'a mut [E; BLOCK]) -> &'a [E; BLOCK] {
    if let Some(block) = elements.first_chunk() {
        return block;
    }
    room[..elements.len()].copy_from_slice(elements);
    room
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
    use crate::random::Random;

    const KINDS: [Kind; 4] = [Kind::Staircase, Kind::DiscreteStaircase, Kind::Laplace, Kind::DiscreteLaplace];

    /// What [`Parameters`] are made of: single parameters whose shapes are of one form.
    struct Columns {
        eps: Vec<f64>,
        sensitivity: Vec<f64>,
        numbers: Vec<f64>,
        same: Option<Shape>,
    }

    impl Columns {
        fn new(given: &[(f64, f64, Shape)]) -> Self {
            let number = |shape| {
                if let Shape::Number(number) = shape {
                    Some(number)
                } else {
                    None
                }
            };
            Self {
                eps: given.iter().map(|given| given.0).collect(),
                sensitivity: given.iter().map(|given| given.1).collect(),
                numbers: given.iter().filter_map(|given| number(given.2)).collect(),
                same: given.first().map(|given| given.2).filter(|shape| number(*shape).is_none()),
            }
        }

        fn parameters(&self) -> Parameters<'_> {
            Parameters {
                eps: &self.eps,
                sensitivity: &self.sensitivity,
                shape: self.same.map_or(Shapes::Numbers(&self.numbers), Shapes::Same),
            }
        }
    }

    fn alone(kind: Kind, (eps, sensitivity, shape): (f64, f64, Shape), fill: &Fill, index: u64) -> (Law, i64) {
        let law = Law::new(kind, eps, sensitivity, shape).unwrap();
        let cells = law.sampler().cells(fill.word(index), |e| fill.extension(index, e));
        (law, cells)
    }

    fn same_values<T: Value + PartialEq + core::fmt::Debug>(kind: Kind, tier: Tier, fill: &Fill, given: &[(f64, f64, Shape)]) {
        let scale = |i: usize| [1.0, given[i].1, 1e-3 * given[i].1, 1e9 * given[i].1][i % 4];
        let answers: Vec<f64> = (0..given.len()).map(|i| (i as f64 * 0.37 - 50.0) * scale(i)).collect();
        let lengths = [1, 7, 63, 64, 65, 128, 129, CHUNK - 1, CHUNK + 1, given.len()];
        for (first, n) in lengths.into_iter().flat_map(|n| [(0, n), (3, n)]) {
            let n = n.min(given.len());
            let (mut noise, mut released) = (vec![T::default(); n], vec![T::default(); n]);
            let mut laws = Laws::new(kind);
            let columns = Columns::new(&given[..n]);
            let parameters = columns.parameters();
            laws.check(&parameters).unwrap();
            laws.each(tier, fill, first, &mut noise, &parameters, Noise).unwrap();
            laws.each(tier, fill, first, &mut released, &parameters, Released(&answers))
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
        for tier in Tier::tested() {
            for kind in KINDS {
                let discrete = matches!(kind, Kind::DiscreteLaplace | Kind::DiscreteStaircase);
                for form in 0..3 {
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
        for tier in Tier::tested() {
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
                let mut given = [good; 200];
                given[70] = bad;
                let columns = Columns::new(&given);
                let (parameters, mut laws) = (columns.parameters(), Laws::new(kind));
                let error = laws.write(&fill, 0, &mut out, &parameters).unwrap_err();
                assert_eq!(format!("{error:?}"), format!("{expected:?}"), "{kind:?} {bad:?}");
                let (position, error) = laws.check(&parameters).unwrap_err();
                assert_eq!((position, format!("{error:?}")), (70, format!("{expected:?}")));
            }
        }
    }

    /// The fast path is there to be taken.
    #[test]
    fn ordinary_parameters_leave_few_values_in_doubt() {
        let (mut generator, mut random) = (Generator::from_seed(8), Random(8));
        for tier in Tier::tested() {
            for kind in KINDS {
                for form in 0..2 {
                    let (mut room, mut drawn) = (Room::new(), Drawn::NOTHING);
                    let fill = generator.next(1000 * BLOCK).unwrap();
                    let mut doubtful = 0;
                    for first in (0..1000 * BLOCK as u64).step_by(BLOCK) {
                        let given: [_; BLOCK] = core::array::from_fn(|_| random.parameters(kind, form, false));
                        let columns = Columns::new(&given);
                        let mut words = fill.words();
                        room.draw(tier, kind, &columns.parameters(), words.at(first, BLOCK), &mut drawn);
                        doubtful += write_block(tier, &drawn, &mut [0.0_f64; BLOCK], Noise).count_ones();
                    }
                    assert!(doubtful < 64, "{doubtful} of 64000: {tier:?} {kind:?} {form}");
                }
            }
        }
    }
}
