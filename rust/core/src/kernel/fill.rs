//! The fast path of a distribution, and fills by it.

use core::fmt;
use std::sync::OnceLock;

use zeroize::optimization_barrier;

use super::arithmetic::{Arithmetic, BLOCK, Baseline};
use super::canonical;
use super::first_level::FirstLevel;
use super::geometric::GeometricLane;
use super::ladder::LadderLane;
use super::lane::{Filling, Lane, RARE, SIGN, WORD_BITS, signed, with_sign};
use super::mapped::{MappedLane, Truncated};
use super::quantile::{NARROW, QuantileLane};
use super::sides::Turned;
use super::staircase::StaircaseLane;
use super::thresholds::ThresholdLane;
use super::tier::{Tier, on_tier};
use crate::cache_lines::CacheLines;
use crate::declassify;
use crate::exact::IntegerDistribution;
use crate::lattice::value::{Scaling, Value};
use crate::memory;
use crate::stream::FEW;
use crate::wiped::wipe;

/// The fast path of a distribution: blocks together where it has a first level, lanes where it has none or leaves a block undecided.
#[derive(Clone)]
pub(crate) struct Kernel {
    first: Option<Box<LazyFirstLevel>>,
    lanes: Lanes,
    /// Whether the lanes decide any of a few words. Beyond [`MAX_SPAN`](super::lane::MAX_SPAN) they decide none.
    pub is_ever_sure: bool,
}

/// Built on the first long fill, or on the second fill, once for tiers with tables and once for tiers without: making it takes a microsecond.
#[derive(Clone, Debug)]
struct LazyFirstLevel {
    distribution: IntegerDistribution,
    levels: [OnceLock<Option<Box<FirstLevel>>>; 2],
    asked: OnceLock<()>,
}

/// A first fill of fewer blocks does not build it.
const WORTH: usize = 8;

impl LazyFirstLevel {
    fn get(&self, tier: Tier, blocks: usize) -> Option<&FirstLevel> {
        let level = &self.levels[usize::from(tier.has_tables())];
        let made = level.get();
        // Where there is no memory for a level, the lanes decide the same.
        if made.is_none() && (blocks < WORTH && self.asked.set(()).is_ok() || memory::has_room().is_err()) {
            return None;
        }
        level
            .get_or_init(|| FirstLevel::new(&self.distribution, tier.has_tables()).map(Box::new))
            .as_deref()
    }
}

/// Tables are not printed: their code would be a fiftieth of the extension.
impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").finish_non_exhaustive()
    }
}

impl Kernel {
    pub fn new(distribution: &IntegerDistribution) -> Self {
        let first = LazyFirstLevel {
            distribution: *distribution,
            levels: [const { OnceLock::new() }; 2],
            asked: OnceLock::new(),
        };
        Self::of(Some(Box::new(first)), Lanes::new(distribution))
    }

    /// A kernel without tables, which take longer to make than one value takes to draw.
    pub fn quick(distribution: &IntegerDistribution) -> Self {
        Self::of(None, Lanes::quick(distribution))
    }

    fn of(first: Option<Box<LazyFirstLevel>>, lanes: Lanes) -> Self {
        let is_ever_sure = (1..8).any(|word| lanes.decide(word << 60).is_some());
        Self {
            first,
            lanes,
            is_ever_sure,
        }
    }

    /// The signed answer for one word, if the word alone is certain to decide it.
    pub fn decide(&self, word: u64) -> Option<f64> {
        self.lanes.decide(word)
    }

    /// Which kernel this is: its second level.
    #[cfg(feature = "probe")]
    pub fn name(&self) -> &'static str {
        self.lanes.name()
    }

    /// Which first level it has on a tier.
    #[cfg(feature = "probe")]
    pub fn first_level(&self, tier: Tier) -> &'static str {
        self.first(tier).map_or("none", FirstLevel::name)
    }

    /// Whether that level is certain of a block of this word; true where there is none.
    #[cfg(feature = "probe")]
    pub fn is_certain(&self, tier: Tier, word: u64) -> bool {
        self.first(tier).is_none_or(|first| first.is_certain(tier, word))
    }

    #[cfg(feature = "probe")]
    fn first(&self, tier: Tier) -> Option<&FirstLevel> {
        self.first.as_ref().and_then(|first| first.get(tier, WORTH))
    }

    /// Writes an answer for every word and calls `undecided` with the positions whose answer the caller must replace.
    pub fn fill<T: Value>(
        &self,
        tier: Tier,
        words: &[u64],
        scaling: Scaling,
        out: &mut [T],
        mut undecided: impl FnMut(usize, &mut T),
    ) {
        let (blocks, rest) = words.as_chunks::<BLOCK>();
        let (out_blocks, out_rest) = out.as_chunks_mut::<BLOCK>();
        if !blocks.is_empty() {
            self.fill_blocks(tier, Filling::new(blocks, scaling, out_blocks, &mut undecided));
        }
        let done = words.len() - rest.len();
        if rest.len() > FEW {
            // One more block, in which the first word fills the missing places.
            let (mut block, mut values) = ([rest[0]; BLOCK], [T::default(); BLOCK]);
            block[..rest.len()].copy_from_slice(rest);
            let (block_of_words, block_of_values) = (core::slice::from_ref(&block), core::slice::from_mut(&mut values));
            let undecided = &mut |i, value: &mut T| {
                if i < rest.len() {
                    undecided(done + i, value);
                }
            };
            self.fill_blocks(tier, Filling::new(block_of_words, scaling, block_of_values, undecided));
            out_rest.copy_from_slice(&values[..rest.len()]);
            // They are as secret as the words and values that the caller wipes.
            wipe(&mut block);
            values = [T::default(); BLOCK];
            optimization_barrier(&values);
        } else {
            for (i, (word, value)) in rest.iter().zip(out_rest).enumerate() {
                match self.decide(*word) {
                    Some(steps) => *value = T::from_moved(steps, scaling),
                    None => undecided(done + i, value),
                }
            }
        }
    }

    fn fill_blocks<T: Value>(&self, tier: Tier, filling: Filling<'_, T>) {
        let Some(level) = self.first.as_ref().and_then(|first| first.get(tier, filling.blocks.len())) else {
            return self.lanes.fill(tier, filling);
        };
        let Filling {
            blocks,
            scaling,
            out,
            undecided,
        } = filling;
        let undecided = &mut |b: usize, out: &mut [T; BLOCK]| {
            let (block, out) = (core::slice::from_ref(&blocks[b]), core::slice::from_mut(out));
            let undecided = &mut |i, value: &mut T| undecided(b * BLOCK + i, value);
            self.lanes.fill(tier, Filling::new(block, scaling, out, undecided));
        };
        level.fill(tier, Filling::new(blocks, scaling, out, undecided));
    }
}

/// The enum of lanes, and what each of its variants does by [`Lane`].
macro_rules! lanes {
    ($($variant:ident($lane:ty) = $name:literal,)+) => {
        #[derive(Clone, Debug)]
        enum Lanes {
            $($variant($lane)),+
        }

        impl Lanes {
            fn decide(&self, word: u64) -> Option<f64> {
                let (steps, sure) = match self {
                    $(Self::$variant(lane) => signed::<Baseline>(lane, word)),+
                };
                declassify::condition(sure).then_some(steps)
            }

            #[cfg(feature = "probe")]
            fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name),+
                }
            }

            fn fill<T: Value>(&self, tier: Tier, filling: Filling<'_, T>) {
                match self {
                    $(Self::$variant(lane) => filling.by(tier, lane)),+
                }
            }
        }
    };
}

lanes! {
    Geometric(GeometricLane) = "geometric",
    Sided(Turned<GeometricLane>) = "sided",
    Thresholds4(ThresholdLane<4>) = "thresholds4",
    Thresholds8(ThresholdLane<8>) = "thresholds8",
    Staircase(StaircaseLane) = "staircase",
    Ladder4(LadderLane<4>) = "ladder4",
    Ladder8(LadderLane<8>) = "ladder8",
    Truncated(MappedLane<StaircaseLane>) = "truncated staircase",
    TruncatedLadder4(MappedLane<LadderLane<4>>) = "truncated ladder4",
    TruncatedLadder8(MappedLane<LadderLane<8>>) = "truncated ladder8",
    MappedGeometric(MappedLane<GeometricLane>) = "mapped geometric",
    Thresholds20(ThresholdLane<20>) = "thresholds20",
    Quantile(QuantileLane) = "quantile",
}

impl Lanes {
    /// Comparisons where they leave at most 2⁻¹⁴ of the mass undecided, otherwise a logarithm.
    fn new(distribution: &IntegerDistribution) -> Self {
        match distribution {
            IntegerDistribution::Staircase(staircase) => {
                let stairs = StaircaseLane::new(staircase, WORD_BITS);
                // By the mass beyond the last rung, at most 2⁻¹⁴: all of it goes to the slow path.
                match stairs.stairs_above(RARE) {
                    0..=4 => Self::Ladder4(LadderLane::new(&stairs)),
                    5..=8 => Self::Ladder8(LadderLane::new(&stairs)),
                    _ => Self::Staircase(stairs),
                }
            }
            IntegerDistribution::TruncatedStaircase { staircase, most } => {
                let truncated = Truncated::new(staircase, *most, WORD_BITS);
                let (stairs, map) = (&truncated.stairs, truncated.map);
                match truncated.stairs_above(RARE) {
                    0..=4 => Self::TruncatedLadder4(MappedLane::new(map, LadderLane::new(stairs))),
                    5..=8 => Self::TruncatedLadder8(MappedLane::new(map, LadderLane::new(stairs))),
                    _ => Self::Truncated(MappedLane::new(map, truncated.stairs)),
                }
            }
            IntegerDistribution::Gaussian { .. } => Self::quick(distribution),
            _ => ThresholdLane::new(distribution, WORD_BITS)
                .map(Self::Thresholds4)
                .or_else(|| ThresholdLane::new(distribution, WORD_BITS).map(Self::Thresholds8))
                .unwrap_or_else(|| Self::quick(distribution)),
        }
    }

    fn quick(distribution: &IntegerDistribution) -> Self {
        match *distribution {
            IntegerDistribution::Gaussian { sigma2 } if sigma2 < NARROW => {
                // An undecided word takes ten times as long as one of another distribution.
                let rare = RARE / 64.0;
                ThresholdLane::beyond(distribution, WORD_BITS, rare)
                    .map(Self::Thresholds8)
                    .or_else(|| ThresholdLane::new(distribution, WORD_BITS).map(Self::Thresholds20))
                    .unwrap_or_else(|| Self::Quantile(QuantileLane::new(sigma2)))
            }
            IntegerDistribution::Gaussian { sigma2 } => Self::Quantile(QuantileLane::new(sigma2)),
            IntegerDistribution::Geometric { eps, sensitivity_steps } => {
                Self::Geometric(GeometricLane::new(eps, sensitivity_steps, WORD_BITS))
            }
            IntegerDistribution::OneSided { eps, sensitivity_steps } => {
                Self::Geometric(GeometricLane::one_sided(eps, sensitivity_steps, WORD_BITS))
            }
            IntegerDistribution::Canonical { eps, delta, .. } => {
                let (map, lane) = (canonical::map(eps, delta, WORD_BITS), GeometricLane::mapped(eps, WORD_BITS));
                Self::MappedGeometric(MappedLane::new(map, lane))
            }
            IntegerDistribution::TruncatedGeometric(truncated) => Self::Sided(Turned::new(&truncated)),
            IntegerDistribution::Staircase(staircase) => Self::Staircase(StaircaseLane::new(&staircase, WORD_BITS)),
            IntegerDistribution::TruncatedStaircase { staircase, most } => {
                let truncated = Truncated::new(&staircase, most, WORD_BITS);
                Self::Truncated(MappedLane::new(truncated.map, truncated.stairs))
            }
        }
    }
}

impl<T: Value> Filling<'_, T> {
    /// One function per kernel keeps the stack frame small that [`crate::stack`] must wipe.
    fn by(self, tier: Tier, lane: &impl Lane) {
        on_tier!(tier, A => self.run::<A>(lane));
    }

    #[inline(always)]
    fn run<A: Arithmetic>(self, lane: &impl Lane) {
        // Not zeroed for each block: storing zeros takes up to a tenth of a fill, in a time that depends on noise (docs/evidence/timing.md).
        let CacheLines(reduced) = &mut CacheLines([[0.0; BLOCK]; 3]);
        for (b, (words, out)) in self.blocks.iter().zip(self.out).enumerate() {
            // Which words are undecided is computed again, and only for blocks that have any.
            if !declassify::condition(fill_block::<A, T>(lane, words, self.scaling, reduced, out)) {
                for (i, (word, value)) in words.iter().zip(out).enumerate() {
                    if !declassify::condition(signed::<A>(lane, *word).1) {
                        (self.undecided)(b * BLOCK + i, value);
                    }
                }
            }
        }
    }
}

/// Whether every answer is sure. No branch depends on a lane until the block is written, so the compiler makes vectors. `reduced` is scratch.
#[inline(always)]
fn fill_block<A: Arithmetic, T: Value>(
    lane: &impl Lane,
    words: &[u64; BLOCK],
    scaling: Scaling,
    reduced: &mut [[f64; BLOCK]; 3],
    out: &mut [T; BLOCK],
) -> bool {
    for i in 0..BLOCK {
        [reduced[0][i], reduced[1][i], reduced[2][i]] = lane.reduce::<A>(lane.turn(words[i]) & !SIGN);
    }
    // Counting, not a flag: the compiler turns a sum into a vector sum.
    let mut sure_lanes = 0_u64;
    for i in 0..BLOCK {
        let (magnitude, sure) = lane.finish::<A>([reduced[0][i], reduced[1][i], reduced[2][i]]);
        out[i] = T::from_moved(with_sign(magnitude, lane.turn(words[i])), scaling);
        sure_lanes = sure_lanes.wrapping_add(u64::from(sure));
    }
    sure_lanes == BLOCK as u64
}

#[cfg(test)]
mod tests {
    use crate::exact::Staircase;
    use core::slice::from_mut;

    use super::*;
    use crate::exact;
    use crate::testing::random::Random;

    /// A block of which the first level leaves a word undecided is filled by lanes, which decide each word as they decide one alone.
    #[test]
    fn lanes_fill_blocks_as_they_decide_words() {
        let mut random = Random(10);
        for eps in [1e-5, 0.003, 0.05, 0.7, 2.0] {
            let (sensitivity_steps, r, delta) = (1000, 300, 1e-6);
            for distribution in [
                IntegerDistribution::Geometric {
                    eps,
                    sensitivity_steps: 1,
                },
                IntegerDistribution::OneSided {
                    eps,
                    sensitivity_steps: 1,
                },
                IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r)),
                Staircase::new(eps, sensitivity_steps, r).truncated(exact::most_truncated_staircase(
                    &Staircase::new(eps, sensitivity_steps, r),
                    delta,
                )),
                IntegerDistribution::Canonical {
                    eps,
                    delta,
                    most: exact::most_canonical(eps, delta),
                },
                IntegerDistribution::TruncatedGeometric(exact::TruncatedGeometric {
                    eps,
                    sensitivity_steps,
                    below: 10_000,
                    above: 3000,
                }),
            ] {
                let lanes = Lanes::new(&distribution);
                for tier in Tier::tested() {
                    let words = core::array::from_fn(|_| random.word());
                    let (mut out, mut sure) = ([0.0_f64; BLOCK], [true; BLOCK]);
                    let filling = Filling {
                        blocks: &[words],
                        scaling: Scaling::WHOLE,
                        out: from_mut(&mut out),
                        undecided: &mut |i, _| sure[i] = false,
                    };
                    lanes.fill(tier, filling);
                    for i in 0..BLOCK {
                        if let Some(alone) = lanes.decide(words[i]).filter(|_| sure[i]) {
                            assert_eq!(out[i], alone, "{tier:?} {distribution:?} {:#x}", words[i]);
                        }
                    }
                    assert!(
                        sure.iter().filter(|&&sure| sure).count() > BLOCK / 2,
                        "{tier:?} {distribution:?}"
                    );
                }
            }
        }
    }

    /// Evidence: no word alone decides v = 0.
    #[test]
    fn doubtful_words_are_told_by_their_places() {
        let mut random = Random(11);
        for distribution in [
            IntegerDistribution::Geometric {
                eps: 0.5,
                sensitivity_steps: 1,
            },
            IntegerDistribution::Geometric {
                eps: 4.0,
                sensitivity_steps: 1,
            },
            IntegerDistribution::Staircase(Staircase::new(4.0, 10, 4)),
            IntegerDistribution::Staircase(Staircase::new(1e-3, 10, 4)),
        ] {
            let kernel = Kernel::new(&distribution);
            for tier in Tier::tested() {
                // Twelve blocks, so that there is a first level, and a rest.
                let mut words: Vec<u64> = (0..12 * BLOCK + 30).map(|_| random.word() | 1 << 62).collect();
                let zeros = [3, 5 * BLOCK + 9, 11 * BLOCK, 12 * BLOCK + 20];
                for place in zeros {
                    words[place] = 0;
                }
                let (mut out, mut places) = (vec![0.0_f64; words.len()], Vec::new());
                kernel.fill(tier, &words, Scaling::WHOLE, &mut out, |place, _| places.push(place));
                places.retain(|&place| kernel.decide(words[place]).is_none());
                places.sort_unstable();
                assert!(
                    zeros.iter().all(|place| places.contains(place)),
                    "{tier:?} {distribution:?} {places:?}"
                );
            }
        }
    }

    /// Evidence: what [`WORTH`] says. Values do not depend on it.
    #[test]
    fn a_first_level_is_made_for_many_blocks_or_for_a_second_fill() {
        let made = |fills: &[usize]| {
            let kernel = Kernel::new(&IntegerDistribution::Geometric {
                eps: 0.5,
                sensitivity_steps: 1,
            });
            let first = kernel.first.expect("a distribution has one");
            for &blocks in fills {
                first.get(Tier::Portable, blocks);
            }
            first.levels[0].get().is_some()
        };
        assert!(made(&[WORTH]) && made(&[1, 1]));
        assert!(!made(&[1]) && !made(&[WORTH - 1]));
    }
}
