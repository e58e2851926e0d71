//! One distribution on the integers, ready to draw one word a value.

use core::cell::Cell;

use crate::cache_lines::{CacheLines, Page};
use crate::declassify;
use crate::exact::{self, Extension, IntegerDistribution};
use crate::kernel::{FixedPoint, Kernel, Tier};
use crate::lattice::{Answer, Answers, Elements, Lattice, Scaling, Unread, Value, limit, release::add, release::add_all};
use crate::stack;
use crate::stream::{AnyWords, CHUNK, FEW, SHORT, ShortWords, Stage, Tile, TileWords, Words};
use crate::wiped::wipe;

/// One distribution on the integers, ready to draw: by the kernel where that is sure, else by fixed point if the distribution is wide, else exactly.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    pub distribution: IntegerDistribution,
    pub lattice: Lattice,
    granularity: f64,
    centre: i64,
    pub kernel: Kernel,
    fixed_point: Option<FixedPoint>,
}

impl Sampler {
    pub fn new(distribution: IntegerDistribution, lattice: Lattice) -> Self {
        Self::of(
            distribution,
            lattice,
            Kernel::new(&distribution),
            FixedPoint::new(&distribution),
        )
    }

    /// [`Sampler::new`] of X + centre, which is never beyond 2⁶³.
    pub fn moved(distribution: IntegerDistribution, lattice: Lattice, centre: i64) -> Self {
        Self {
            centre,
            ..Self::new(distribution, lattice)
        }
    }

    /// [`Sampler::new`] for one value: quicker to make, slower to draw from. For Gaussian distributions fixed point is made faster than the exact
    /// path draws.
    pub fn quick(distribution: IntegerDistribution, lattice: Lattice) -> Self {
        let gaussian = matches!(distribution, IntegerDistribution::Gaussian { .. });
        let fixed_point = gaussian.then(|| FixedPoint::new(&distribution)).flatten();
        Self::of(distribution, lattice, Kernel::quick(&distribution), fixed_point)
    }

    fn of(distribution: IntegerDistribution, lattice: Lattice, kernel: Kernel, fixed_point: Option<FixedPoint>) -> Self {
        Self {
            distribution,
            lattice,
            granularity: lattice.granularity(),
            centre: 0,
            kernel,
            fixed_point,
        }
    }

    /// X + centre for a word and the extension words of the same value: X is the function of contract, section 2.
    pub fn steps(&self, word: u64, mut extension: impl FnMut(usize) -> u64) -> i64 {
        match self.kernel.decide(word) {
            Some(steps) => self.move_steps(i64::from_whole(steps, 1.0)),
            None => self.undecided_steps(word, &mut extension),
        }
    }

    /// A check would be a branch on noise.
    fn move_steps(&self, steps: i64) -> i64 {
        steps.wrapping_add(self.centre)
    }

    /// The values `first .. first + out.len()` of a stage.
    pub fn write<T: Value>(&self, stage: Stage<'_>, first: u64, out: &mut [T]) {
        self.write_on(Tier::current(), stage, first, out);
    }

    /// [`Sampler::write`] on a tier that is available.
    fn write_on<T: Value>(&self, tier: Tier, stage: Stage<'_>, first: u64, out: &mut [T]) {
        if out.len() <= FEW {
            self.draw_few(stage, first, out, |_, steps| self.value(steps));
        } else if out.len() <= SHORT {
            self.write_by(&mut ShortWords::new(), tier, stage, first, out);
        } else {
            self.write_by(&mut Page(Words::new()).0, tier, stage, first, out);
        }
    }

    /// [`Sampler::write`] by way of words of the caller's, who wipes them after several stages.
    pub fn write_in<T: Value>(&self, words: &mut AnyWords, stage: Stage<'_>, first: u64, out: &mut [T]) {
        if out.len() <= FEW {
            self.draw_few(stage, first, out, |_, steps| self.value(steps));
        } else {
            self.write_by(words, Tier::current(), stage, first, out);
        }
    }

    fn write_by<T: Value>(&self, words: &mut AnyWords, tier: Tier, stage: Stage<'_>, first: u64, out: &mut [T]) {
        let capacity = words.capacity();
        for (first, out) in (first..).step_by(capacity).zip(out.chunks_mut(capacity)) {
            let extension = |i, e| stage.extension(first + i as u64, e);
            self.write_words(tier, words.at(stage, first, out.len()), &extension, out);
        }
    }

    /// The values of a tile of a stage, row after row; `words` are the caller's, as in [`Sampler::write_in`].
    pub fn write_tile<T: Value>(&self, words: &mut TileWords, stage: Stage<'_>, tile: &Tile, out: &mut [T]) {
        let extension = |i, e| stage.extension(tile.index(i), e);
        self.write_words(Tier::current(), words.of_tile(stage, tile), &extension, out);
    }

    /// The values of `words`; `extension(i, e)` is extension word `e` of `words[i]`.
    #[inline]
    pub fn write_words<T: Value>(&self, tier: Tier, words: &[u64], extension: &dyn Fn(usize, usize) -> u64, out: &mut [T]) {
        self.write_any(tier, words, extension, T::elements(out));
    }

    /// [`Sampler::write_words`]. Not generic: kernels are compiled in this crate alone, and not again in each that draws.
    #[inline(never)]
    fn write_any(&self, tier: Tier, words: &[u64], extension: &dyn Fn(usize, usize) -> u64, out: Elements<'_>) {
        match out {
            Elements::F64(out) => self.write_elements(tier, words, extension, out),
            Elements::F32(out) => self.write_elements(tier, words, extension, out),
            Elements::I64(out) => self.write_elements(tier, words, extension, out),
            Elements::I32(out) => self.write_elements(tier, words, extension, out),
        }
    }

    fn write_elements<T: Value>(&self, tier: Tier, words: &[u64], extension: &dyn Fn(usize, usize) -> u64, out: &mut [T]) {
        let undecided = |i: usize, value: &mut T| *value = self.value(self.undecided_steps(words[i], &mut |e| extension(i, e)));
        if !self.kernel.is_ever_sure {
            // The kernel would only prepare to be written over.
            out.iter_mut().enumerate().for_each(|(i, value)| undecided(i, value));
        } else if let Some(scaling) = Scaling::new(self.granularity, self.centre) {
            self.kernel.fill(tier, words, scaling, out, undecided);
        } else {
            for (i, value) in out.iter_mut().enumerate() {
                *value = self.value(self.steps(words[i], |e| extension(i, e)));
            }
        }
    }

    /// Writes `element(i, X of value first + i)` to every `out[i]`. There are at most [`FEW`].
    #[inline]
    pub fn draw_few<T>(&self, stage: Stage<'_>, first: u64, out: &mut [T], element: impl Fn(usize, i64) -> T) {
        let words = stage.few_words(first, out.len());
        for (i, (out, word)) in out.iter_mut().zip(&*words).enumerate() {
            *out = element(i, self.steps(*word, |e| stage.extension(first + i as u64, e)));
        }
    }

    /// `steps` steps of the lattice as an element.
    pub fn value<T: Value>(&self, steps: i64) -> T {
        // `from_whole` takes magnitudes below 2⁵¹.
        if declassify::condition(steps.unsigned_abs() < 1 << 51) {
            T::from_whole(steps as f64, self.granularity)
        } else {
            T::from_steps(steps.into(), self.lattice.log2_granularity)
        }
    }

    /// Writes the next answers plus the noise of the values `first .. first + out.len()` of the stage. Returns whether the lattice takes all of them.
    pub fn release<A: Answer, T: Value>(
        &self,
        stage: Stage<'_>,
        first: u64,
        answers: &mut dyn Answers<A, T>,
        out: &mut [T],
    ) -> bool {
        if out.len() <= FEW {
            let (answers, log2_granularity) = (answers.next(out), self.lattice.log2_granularity);
            let all_below = Cell::new(true);
            self.draw_few(stage, first, out, |i, noise| {
                let answer = answers.read(i);
                all_below.set(all_below.get() & answer.is_below(limit(log2_granularity)));
                add(answer, noise, log2_granularity)
            });
            return all_below.get();
        }
        if out.len() <= SHORT {
            let noise = &mut CacheLines([0; SHORT]).0;
            self.release_by(&mut ShortWords::new(), noise, stage, first, answers, out)
        } else {
            let noise = &mut CacheLines([0; CHUNK]).0;
            self.release_by(&mut Words::new(), noise, stage, first, answers, out)
        }
    }

    fn release_by<A: Answer, T: Value>(
        &self,
        words: &mut AnyWords,
        noise: &mut [i64],
        stage: Stage<'_>,
        first: u64,
        answers: &mut dyn Answers<A, T>,
        out: &mut [T],
    ) -> bool {
        let (tier, used, mut all_below) = (Tier::current(), out.len().min(noise.len()), true);
        for (first, out) in (first..).step_by(noise.len()).zip(out.chunks_mut(noise.len())) {
            let noise = &mut noise[..out.len()];
            let extension = |i, e| stage.extension(first + i as u64, e);
            let answers = answers.next(out);
            all_below &= self.release_words(tier, words.at(stage, first, out.len()), &extension, answers, noise, out);
        }
        // The noise of a release is as secret as the answers. Only what was used is wiped: most releases are short.
        wipe(&mut noise[..used]);
        all_below
    }

    /// Answers plus the values of `words`, by way of `noise`; `extension` as in [`Sampler::write_words`].
    #[inline]
    pub fn release_words<A: Answer, T: Value>(
        &self,
        tier: Tier,
        words: &[u64],
        extension: &dyn Fn(usize, usize) -> u64,
        answers: Unread<'_, A>,
        noise: &mut [i64],
        out: &mut [T],
    ) -> bool {
        self.write_words(tier, words, extension, noise);
        add_all(tier, answers, noise, self.lattice.log2_granularity, out)
    }

    /// X + centre for a word that the kernel is not sure of.
    #[cold]
    #[inline(never)]
    fn undecided_steps(&self, word: u64, extension: &mut Extension<'_>) -> i64 {
        // From a noise scale of 2⁴⁵ steps on, every word comes here. Fixed point takes 50 to 80 ns, the exact path 1 to 2 µs.
        let decided = self.fixed_point.as_ref().and_then(|distribution| distribution.decide(word));
        if let Some(steps) = decided {
            return self.move_steps(steps);
        }
        let steps = self.exact_steps(word, extension);
        stack::wipe_deep();
        self.move_steps(steps)
    }

    /// Not inlined: what it leaves is below the frame of its caller, which wipes it.
    #[cold]
    #[inline(never)]
    fn exact_steps(&self, word: u64, extension: &mut Extension<'_>) -> i64 {
        declassify::slow_path();
        exact::steps(&self.distribution, declassify::word(word), &mut |e| {
            declassify::word(extension(e))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Staircase;
    use crate::kernel::BLOCK;
    use crate::testing::random::Random;
    use crate::{Generator, Kind, OneWordMechanism, Shape};

    /// Evidence: every tier writes what is drawn one by one. Lengths go around a block and a chunk, starts have both parities, and distributions
    /// come from every kernel. Tiers that this processor lacks are named on standard error.
    #[test]
    fn every_tier_writes_the_same_values() {
        let mut generator = Generator::from_seed(3);
        for tier in Tier::tested() {
            for kind in [Kind::Staircase, Kind::DiscreteStaircase, Kind::Laplace, Kind::DiscreteLaplace] {
                for (eps, sensitivity) in [(1e-3, 1.0), (0.3, 3.0), (1.5, 1.0), (2.0, 1000.0), (4.0, 1.0), (60.0, 7.0)] {
                    let distribution = OneWordMechanism::new(kind, eps, sensitivity, Shape::L2).unwrap();
                    let fill = generator.at(5).unwrap().next(2 * CHUNK).unwrap();
                    let stage = fill.stage(0);
                    same_values::<f64>(distribution.sampler(), tier, stage);
                    same_values::<i64>(distribution.sampler(), tier, stage);
                    same_values::<f32>(distribution.sampler(), tier, stage);
                    same_values::<i32>(distribution.sampler(), tier, stage);
                }
            }
        }
    }

    /// Evidence: the distribution that is not moved, and integers. Truncated distributions of every kernel, with centres at the ends of what the
    /// kernels add, and beyond.
    #[test]
    fn every_tier_writes_values_of_moved_distributions() {
        let mut generator = Generator::from_seed(5);
        for (eps, sensitivity_steps, log2_granularity) in [
            (1e-3, 10_u64, 0),
            (0.5, 1, 0),
            (1.0, 10, 0),
            (4.0, 1 << 33, -33),
            (1e-6, 1 << 32, -32),
        ] {
            let r = sensitivity_steps.div_ceil(3);
            let most = exact::most_truncated_staircase(&Staircase::new(eps, sensitivity_steps, r), 1e-4);
            let distribution = Staircase::new(eps, sensitivity_steps, r).truncated(most);
            let lattice = Lattice {
                log2_granularity,
                sensitivity_steps,
            };
            let plain = Sampler::new(distribution, lattice);
            for centre in [
                most.cast_signed(),
                -3,
                1 << 52,
                -(1 << 52),
                (1 << 52) + 1,
                1 << 61,
                -(1 << 61) - 1,
            ] {
                let moved = Sampler::moved(distribution, lattice, centre);
                let fill = generator.next(2 * CHUNK).unwrap();
                let stage = fill.stage(0);
                for i in 0..100 {
                    let steps = |sampler: &Sampler| sampler.steps(stage.word(i), |e| stage.extension(i, e));
                    assert_eq!(steps(&moved), steps(&plain) + centre);
                }
                for tier in Tier::tested() {
                    same_values::<f64>(&moved, tier, stage);
                    same_values::<f32>(&moved, tier, stage);
                    same_values::<i64>(&moved, tier, stage);
                    same_values::<i32>(&moved, tier, stage);
                }
            }
        }
    }

    /// Evidence: as above, for both sides of truncated geometric distributions of every kernel.
    #[test]
    fn every_tier_writes_values_of_either_side() {
        let mut generator = Generator::from_seed(9);
        for (eps, log2_steps, ends) in [
            (1.0, 33, [20, 3]),
            (0.01, 32, [1, 1]),
            (1e-4, 32, [7, 90_000]),
            (30.0, 37, [1, 2]),
        ] {
            let sensitivity_steps = 1 << log2_steps;
            let [below, above] = ends.map(|end| end * sensitivity_steps);
            let distribution = IntegerDistribution::TruncatedGeometric(exact::TruncatedGeometric {
                eps,
                sensitivity_steps,
                below,
                above,
            });
            let lattice = Lattice {
                log2_granularity: -log2_steps,
                sensitivity_steps,
            };
            let sampler = Sampler::new(distribution, lattice);
            let fill = generator.next(2 * CHUNK).unwrap();
            let stage = fill.stage(0);
            for i in 0..200 {
                let extension = &mut |e| stage.extension(i, e);
                let found = sampler.steps(stage.word(i), &mut *extension);
                assert_eq!(found, exact::steps(&distribution, stage.word(i), extension), "{sampler:?}");
                assert!(-below.cast_signed() <= found && found <= above.cast_signed());
            }
            for tier in Tier::tested() {
                same_values::<f64>(&sampler, tier, stage);
                same_values::<i64>(&sampler, tier, stage);
                same_values::<f32>(&sampler, tier, stage);
            }
        }
    }

    fn same_values<T: Value + PartialEq + core::fmt::Debug>(sampler: &Sampler, tier: Tier, stage: Stage<'_>) {
        for first in [0, 1, 2] {
            for n in [1, 8, 9, 63, 64, 65, 127, 128, 129, CHUNK - 1, CHUNK, CHUNK + 1, CHUNK + 65] {
                let mut out = vec![T::default(); n];
                sampler.write_on(tier, stage, first, &mut out);
                for (i, value) in (first..).zip(out) {
                    let alone = sampler.value::<T>(sampler.steps(stage.word(i), |e| stage.extension(i, e)));
                    assert_eq!(value, alone, "{tier:?} value {i} of {n} of {sampler:?}");
                }
            }
        }
    }

    /// Evidence: signs. A negative number that rounds to zero gives 0.0, in every family of kernels that rounds.
    #[test]
    fn no_zero_is_negative() {
        let fill = Generator::from_seed(6).next(8 * CHUNK).unwrap();
        for (kind, eps, sensitivity) in [
            (Kind::DiscreteStaircase, 4.0, 10.0),
            (Kind::DiscreteStaircase, 1.0, 10.0),
            (Kind::DiscreteLaplace, 0.01, 1.0),
        ] {
            let distribution = OneWordMechanism::new(kind, eps, sensitivity, Shape::L1).unwrap();
            for tier in Tier::tested() {
                let mut values = vec![1.0_f64; 8 * CHUNK];
                distribution.sampler().write_on(tier, fill.stage(0), 0, &mut values);
                let zeros: Vec<f64> = values.into_iter().filter(|value| *value == 0.0).collect();
                assert!(
                    zeros.len() > 8 && zeros.iter().all(|zero| zero.is_sign_positive()),
                    "{kind:?} {eps} {tier:?}"
                );
            }
        }
    }

    /// Evidence: equality with a fill of which the tile is a part, for a distribution of certain words and one of undecided ones.
    #[test]
    fn tiles_have_the_values_of_their_places() {
        for (eps, sensitivity) in [(4.0, 1.0), (1e-12, 1.0)] {
            let distribution = OneWordMechanism::new(Kind::DiscreteLaplace, eps, sensitivity, Shape::L1).unwrap();
            let fill = Generator::from_seed(8).at(4).unwrap().next(1000).unwrap();
            let mut whole = vec![0_i64; 1000];
            distribution.write(&fill, 0, &mut whole);
            let mut words = TileWords::new();
            for (first, pitch, rows, columns) in [(0, 100, 8, 64), (6, 90, 5, 34), (502, 2, 1, 400)] {
                let tile = Tile {
                    first,
                    pitch,
                    rows,
                    columns,
                };
                let mut out = vec![0_i64; rows * columns];
                distribution.sampler().write_tile(&mut words, fill.stage(0), &tile, &mut out);
                for (i, value) in out.iter().enumerate() {
                    let place = first as usize + i / columns * pitch as usize + i % columns;
                    assert_eq!(*value, whole[place], "{eps}: value {i} of {rows} rows of {columns}");
                }
            }
        }
    }

    /// Evidence: the same for distributions at random: every length up to two blocks and one, from every place in a block.
    #[test]
    fn every_tier_writes_the_same_values_of_any_distribution() {
        let mut generator = Generator::from_seed(4);
        let mut random = Random(4);
        let tiers = Tier::tested();
        for kind in [Kind::Staircase, Kind::DiscreteStaircase, Kind::Laplace, Kind::DiscreteLaplace] {
            for i in 0..12 {
                let (eps, sensitivity, shape) = random.parameters(kind, i % 3, i % 4 == 0);
                let distribution = OneWordMechanism::new(kind, eps, sensitivity, shape).unwrap();
                let fill = generator.next(4 * BLOCK).unwrap();
                same_slices::<f64>(distribution.sampler(), &tiers, fill.stage(0));
                same_slices::<f32>(distribution.sampler(), &tiers, fill.stage(0));
                if matches!(kind, Kind::DiscreteLaplace | Kind::DiscreteStaircase) {
                    same_slices::<i64>(distribution.sampler(), &tiers, fill.stage(0));
                    same_slices::<i32>(distribution.sampler(), &tiers, fill.stage(0));
                }
            }
        }
    }

    fn same_slices<T: Value + PartialEq + core::fmt::Debug>(sampler: &Sampler, tiers: &[Tier], stage: Stage<'_>) {
        let alone: Vec<T> = (0..4 * BLOCK as u64)
            .map(|i| sampler.value(sampler.steps(stage.word(i), |e| stage.extension(i, e))))
            .collect();
        let mut out = [T::default(); 2 * BLOCK + 1];
        for &tier in tiers {
            let of_any_length = (0..=out.len()).map(|n| (n % 2, n));
            let from_any_place = (0..BLOCK).flat_map(|first| [FEW + 1, BLOCK - 1, BLOCK, BLOCK + 1].map(|n| (first, n)));
            for (first, n) in of_any_length.chain(from_any_place) {
                sampler.write_on(tier, stage, first as u64, &mut out[..n]);
                assert_eq!(out[..n], alone[first..first + n], "{tier:?}, {n} from {first} of {sampler:?}");
            }
        }
    }
}
