//! The first level: the words of a block decided together, by one test for all of them.
//!
//! A lane ([`super::lane`]) gives every word a tolerance of its own. Here the tolerance is one number per distribution, and few branches decide a
//! word: what is left of the work is a fraction. A block with one word that is not certain is not certain, and its words go through their lanes: at
//! most one block in 16.
//!
//! | file | distributions |
//! |---|---|
//! | `lines` | staircases of up to 16 stairs, truncated or not |
//! | `counts` | geometric distributions of up to 16 magnitudes |
//! | `narrow` | other geometric distributions of small scale |
//! | `logarithm` | geometric distributions of any other scale |
//!
//! Canonical noise has those of the geometric distributions: the same `counts`, and the others after its map of v.
//!
//! Where an instruction looks up tables of 16 numbers, on AVX-512:
//!
//! | file | distributions |
//! |---|---|
//! | `octaves` | staircases of more stairs, truncated or not, ε from about ¼ on |
//! | `narrow_table` | as `narrow` |
//! | `table` | as `logarithm` |

mod block;
mod counts;
pub(super) mod lines;
pub(super) mod logarithm;
pub(super) mod narrow;
pub(super) mod narrow_table;
mod octaves;
pub(super) mod table;

use super::arithmetic::{Arithmetic, BLOCK};
use super::canonical;
use super::elementary::half_log_ratio;
use super::lane::{RARE, WORD_BITS};
use super::mapped::{Map, Truncated};
use super::staircase::StaircaseLane;
use super::tier::{Tier, Work, run_on};
use crate::declassify;
use crate::exact::IntegerDistribution;
use crate::lattice::value::{Scaling, Value};
use block::Block;
use counts::Counts;
use lines::Lines;
use logarithm::Logarithm;
use narrow::Narrow;
use narrow_table::NarrowTable;
use octaves::Octaves;
use table::Table;

/// The enum of first levels, and what each of its variants does by [`Block`].
macro_rules! first_levels {
    ($($variant:ident($level:ty) = $name:literal,)+) => {
        /// The first level of a distribution that has one.
        #[derive(Clone, Debug)]
        #[allow(clippy::large_enum_variant, reason = "a distribution keeps a pointer to it")]
        pub(super) enum FirstLevel {
            $($variant($level)),+
        }

        impl FirstLevel {
            #[cfg(feature = "probe")]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name),+
                }
            }

            /// Writes an answer for every word, and calls `undecided` with the blocks of which the caller must replace all answers.
            pub fn fill<T: Value>(
                &self,
                tier: Tier,
                blocks: &[[u64; BLOCK]],
                scaling: Scaling,
                out: &mut [[T; BLOCK]],
                undecided: &mut dyn FnMut(usize, &mut [T; BLOCK]),
            ) {
                let filling = Filling { blocks, scaling, out, undecided };
                match self {
                    $(Self::$variant(level) => filling.by(tier, level)),+
                }
            }
        }
    };
}

first_levels! {
    Counts3(Counts<3>) = "counts",
    Counts4(Counts<4>) = "counts",
    Counts8(Counts<8>) = "counts",
    Counts12(Counts<12>) = "counts",
    Counts16(Counts<16>) = "counts",
    Narrow(Narrow<false>) = "narrow",
    NarrowTable(NarrowTable<false>) = "narrow table",
    Rough(Logarithm<true, false>) = "logarithm",
    Fine(Logarithm<false, false>) = "logarithm",
    Table(Table<false>) = "table",
    MappedNarrow(Narrow<true>) = "mapped narrow",
    MappedNarrowTable(NarrowTable<true>) = "mapped narrow table",
    MappedRough(Logarithm<true, true>) = "mapped logarithm",
    MappedFine(Logarithm<false, true>) = "mapped logarithm",
    MappedTable(Table<true>) = "mapped table",
    Lines3(Lines<3>) = "lines",
    Lines4(Lines<4>) = "lines",
    Lines8(Lines<8>) = "lines",
    Lines12(Lines<12>) = "lines",
    Lines16(Lines<16>) = "lines",
    Octaves2(Octaves<2, false>) = "octaves",
    Octaves3(Octaves<3, false>) = "octaves",
    Octaves4(Octaves<4, false>) = "octaves",
    Truncated2(Octaves<2, true>) = "truncated octaves",
    Truncated3(Octaves<3, true>) = "truncated octaves",
    Truncated4(Octaves<4, true>) = "truncated octaves",
}

impl FirstLevel {
    /// For a tier that has instructions for `tables`, or for one that has none.
    pub fn new(distribution: &IntegerDistribution, tables: bool) -> Option<Self> {
        match *distribution {
            IntegerDistribution::Geometric { eps, sensitivity_steps } => {
                let scale = sensitivity_steps as f64 / eps;
                Self::geometric(
                    scale,
                    half_log_ratio(1.0 / scale),
                    |j| counts::two_sided(eps, sensitivity_steps, j),
                    tables,
                )
            }
            IntegerDistribution::OneSided { eps, sensitivity_steps } => Self::geometric(
                sensitivity_steps as f64 / eps,
                0.0,
                |j| counts::one_sided(eps, sensitivity_steps, j),
                tables,
            ),
            IntegerDistribution::Staircase {
                eps,
                sensitivity_steps,
                r,
            } => Self::staircase(&StaircaseLane::new(eps, sensitivity_steps, r, WORD_BITS), tables),
            IntegerDistribution::TruncatedStaircase {
                eps,
                sensitivity_steps,
                r,
                most,
            } => Self::truncated_staircase(&Truncated::new(eps, sensitivity_steps, r, most, WORD_BITS), tables),
            IntegerDistribution::Canonical { eps, delta, .. } => Self::canonical(eps, delta, tables),
        }
    }

    /// Of scale κ, with β and S(j).
    fn geometric(scale: f64, offset: f64, survival: impl Fn(usize) -> f64, tables: bool) -> Option<Self> {
        let (counts, map) = (Self::counts(&survival, 0.0, tables), Map::NONE);
        if tables {
            return counts
                .or_else(|| NarrowTable::new(scale, offset, map).map(Self::NarrowTable))
                .or_else(|| Table::new(scale, offset, map).map(Self::Table));
        }
        counts
            .or_else(|| Narrow::new(scale, offset, map).map(Self::Narrow))
            .or_else(|| Logarithm::new(scale, offset, map).map(Self::Rough))
            .or_else(|| Logarithm::new(scale, offset, map).map(Self::Fine))
    }

    /// Of S(j), where that is enough; `error` as in [`Counts`].
    fn counts(survival: &impl Fn(usize) -> f64, error: f64, tables: bool) -> Option<Self> {
        let few = Counts::new(survival, error)
            .map(Self::Counts3)
            .or_else(|| Counts::new(survival, error).map(Self::Counts4))
            .or_else(|| Counts::new(survival, error).map(Self::Counts8));
        if tables {
            return few;
        }
        few.or_else(|| Counts::new(survival, error).map(Self::Counts12))
            .or_else(|| Counts::new(survival, error).map(Self::Counts16))
    }

    /// Of the words beside an edge it leaves up to 1 + δ times as many undecided as the geometric distribution.
    fn canonical(eps: f64, delta: f64, tables: bool) -> Option<Self> {
        let survivals = canonical::survivals::<16>(eps, delta);
        let counts = Self::counts(&|j| survivals[j - 1], canonical::ERROR, tables);
        let (scale, offset) = (1.0 / eps, half_log_ratio(eps));
        let map = canonical::map(eps, delta, WORD_BITS);
        if tables {
            return counts
                .or_else(|| NarrowTable::new(scale, offset, map).map(Self::MappedNarrowTable))
                .or_else(|| Table::new(scale, offset, map).map(Self::MappedTable));
        }
        counts
            .or_else(|| Narrow::new(scale, offset, map).map(Self::MappedNarrow))
            .or_else(|| Logarithm::new(scale, offset, map).map(Self::MappedRough))
            .or_else(|| Logarithm::new(scale, offset, map).map(Self::MappedFine))
    }

    fn staircase(stairs: &StaircaseLane, tables: bool) -> Option<Self> {
        match stairs.stairs_above(RARE) {
            0..=3 => Lines::new(stairs).map(Self::Lines3),
            4 => Lines::new(stairs).map(Self::Lines4),
            _ if tables => Octaves::new(stairs, Map::NONE)
                .map(Self::Octaves2)
                .or_else(|| Octaves::new(stairs, Map::NONE).map(Self::Octaves3))
                .or_else(|| Octaves::new(stairs, Map::NONE).map(Self::Octaves4)),
            5..=8 => Lines::new(stairs).map(Self::Lines8),
            9..=12 => Lines::new(stairs).map(Self::Lines12),
            13..=16 => Lines::new(stairs).map(Self::Lines16),
            _ => None,
        }
    }

    fn truncated_staircase(distribution: &Truncated, tables: bool) -> Option<Self> {
        match distribution.stairs_above(RARE) {
            0..=3 => Lines::truncated(distribution).map(Self::Lines3),
            4 => Lines::truncated(distribution).map(Self::Lines4),
            _ if tables => Octaves::new(&distribution.stairs, distribution.map)
                .map(Self::Truncated2)
                .or_else(|| Octaves::new(&distribution.stairs, distribution.map).map(Self::Truncated3))
                .or_else(|| Octaves::new(&distribution.stairs, distribution.map).map(Self::Truncated4)),
            5..=8 => Lines::truncated(distribution).map(Self::Lines8),
            9..=12 => Lines::truncated(distribution).map(Self::Lines12),
            13..=16 => Lines::truncated(distribution).map(Self::Lines16),
            _ => None,
        }
    }

    /// Whether it is certain of a block of this word.
    #[cfg(feature = "probe")]
    pub fn is_certain(&self, tier: Tier, word: u64) -> bool {
        let mut certain = true;
        let undecided = &mut |_, _: &mut [f64; BLOCK]| certain = false;
        self.fill(tier, &[[word; BLOCK]], Scaling::WHOLE, &mut [[0.0; BLOCK]], undecided);
        certain
    }
}

/// [`FirstLevel::fill`].
struct Filling<'a, T> {
    blocks: &'a [[u64; BLOCK]],
    scaling: Scaling,
    out: &'a mut [[T; BLOCK]],
    /// Called rarely, as in [`super::fill`].
    undecided: &'a mut dyn FnMut(usize, &mut [T; BLOCK]),
}

impl<T: Value> Filling<'_, T> {
    /// One function per family keeps the stack frame small that [`crate::stack`] must wipe.
    fn by(self, tier: Tier, distribution: &impl Block) {
        run_on(
            tier,
            FillingBy {
                filling: self,
                distribution,
            },
        );
    }
}

struct FillingBy<'a, 'b, T, B> {
    filling: Filling<'a, T>,
    distribution: &'b B,
}

impl<T: Value, B: Block> Work for FillingBy<'_, '_, T, B> {
    type Result = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Filling {
            blocks,
            scaling,
            out,
            undecided,
        } = self.filling;
        for (b, (words, out)) in blocks.iter().zip(out).enumerate() {
            if !declassify::condition(self.distribution.write::<A, T>(words, scaling, out)) {
                undecided(b, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random::Random;

    /// Evidence: counts. Of 20 000 random blocks at most one in 25 is left to the lanes, and a distribution has the first level that is meant for it.
    #[test]
    fn few_blocks_are_in_doubt() {
        let mut random = Random(5);
        let staircase = |eps, sensitivity_steps, r| IntegerDistribution::Staircase {
            eps,
            sensitivity_steps,
            r,
        };
        let geometric = |eps, sensitivity_steps| IntegerDistribution::Geometric { eps, sensitivity_steps };
        let truncated = |eps, sensitivity_steps, r, delta| {
            let most = crate::exact::most_truncated_staircase(eps, sensitivity_steps, r, delta);
            IntegerDistribution::TruncatedStaircase {
                eps,
                sensitivity_steps,
                r,
                most,
            }
        };
        let one_sided = IntegerDistribution::OneSided {
            eps: 1.0,
            sensitivity_steps: 1 << 33,
        };
        let canonical = |eps, delta| {
            let most = crate::exact::most_canonical(eps, delta);
            IntegerDistribution::Canonical { eps, delta, most }
        };
        for (distribution, without_tables, with_tables) in [
            (staircase(4.0, 1 << 35, 1 << 32), "Lines3", "Lines3"),
            (staircase(1.0, 1 << 32, 1 << 31), "Lines12", "Octaves2"),
            (staircase(1.0, 10, 4), "Lines12", "Octaves2"),
            (staircase(0.7, 10, 4), "Lines16", "Octaves2"),
            (staircase(0.4, 10, 4), "", "Octaves3"),
            (staircase(0.3, 1 << 32, 1 << 31), "", "Octaves4"),
            (truncated(4.0, 1 << 35, 1 << 32, 1e-6), "Lines3", "Lines3"),
            (truncated(1.0, 1 << 32, 1 << 31, 1e-6), "Lines12", "Truncated2"),
            (truncated(1.0, 10, 4, 1e-3), "Lines8", "Truncated2"),
            (truncated(1e-3, 10, 4, 0.3), "Lines3", "Lines3"),
            (truncated(0.5, 1 << 32, 1 << 31, 1e-6), "", "Truncated3"),
            (geometric(4.0, 1), "Counts3", "Counts3"),
            (geometric(1.0, 1), "Counts12", "NarrowTable"),
            (geometric(0.7, 1), "Counts16", "NarrowTable"),
            (geometric(0.1, 1), "Narrow", "NarrowTable"),
            (geometric(0.01, 1), "Rough", "Table"),
            (geometric(1.0, 1 << 33), "Fine", "Table"),
            (geometric(4.0, 1 << 35), "Fine", "Table"),
            (one_sided, "Fine", "Table"),
            (canonical(4.0, 1e-6), "Counts3", "Counts3"),
            (canonical(1.0, 1e-3), "Counts8", "Counts8"),
            (canonical(0.1, 0.01), "MappedNarrow", "MappedNarrowTable"),
            (canonical(0.1, 1e-6), "MappedNarrow", "MappedNarrowTable"),
            (canonical(0.01, 0.3), "Counts3", "Counts3"),
            (canonical(0.01, 1e-9), "MappedRough", "MappedTable"),
            (canonical(1e-4, 1e-6), "MappedFine", "MappedTable"),
            (canonical(1e-9, 1e-12), "MappedFine", "MappedTable"),
        ] {
            for tier in Tier::tested() {
                let expected = if tier.has_tables() { with_tables } else { without_tables };
                let level = FirstLevel::new(&distribution, tier.has_tables());
                let name = level.as_ref().map(|level| format!("{level:?}")).unwrap_or_default();
                assert_eq!(name.split('(').next(), Some(expected), "{distribution:?} {tier:?}");
                let Some(level) = level else {
                    continue;
                };
                let mut left = 0;
                for _ in 0..20_000 {
                    let words = [(); BLOCK].map(|()| random.word());
                    level.fill(tier, &[words], Scaling::WHOLE, &mut [[0.0_f64; BLOCK]], &mut |_, _| left += 1);
                }
                assert!(left <= 800, "{distribution:?} {tier:?} {left}");
            }
        }
    }
}
