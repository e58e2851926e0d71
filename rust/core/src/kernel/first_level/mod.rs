//! The first level: the words of a block decided together, by one test for all of them.
//!
//! A lane ([`super::lane`]) gives every word a tolerance of its own. Here the tolerance is one number per distribution, and few branches decide a
//! word. A block with one uncertain word is uncertain, and its words go through their lanes: at most one block in 16.
//!
//! Canonical noise has those of the geometric distributions: the same `counts`, and the others after its map of v.
//!
//! `octaves`, `narrow_table` and `table` are for tiers where an instruction looks up tables of 16 numbers: AVX-512.

pub(super) mod block;
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
use super::lane::{Filling, RARE, WORD_BITS};
use super::mapped::{Map, Truncated};
use super::quantile::{self, Inverse};
use super::sides::{Sides, Turned};
use super::tier::{Tier, on_tier};
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

/// Which tiers a level is for: a bit for those without tables, and one for those with tables.
const EVERY: u8 = 0b11;
const WITHOUT: u8 = 0b01;
const WITH: u8 = 0b10;

/// The enum of first levels, and what each of its variants does by [`Block`].
macro_rules! first_levels {
    ($($variant:ident($level:ty) = $name:literal $tables:ident,)+) => {
        #[derive(Clone, Debug)]
        #[allow(clippy::large_enum_variant, reason = "a distribution keeps a pointer to it")]
        pub(super) enum FirstLevel {
            $($variant($level)),+
        }

        $(
            impl From<$level> for FirstLevel {
                fn from(level: $level) -> Self {
                    Self::$variant(level)
                }
            }
        )+

        impl FirstLevel {
            #[cfg(feature = "probe")]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name),+
                }
            }

            /// Writes an answer for every word, and calls `undecided` with the blocks of which the caller must replace all answers.
            pub fn fill<T: Value>(&self, tier: Tier, filling: Filling<'_, T, [T; BLOCK]>) {
                match self {
                    $(Self::$variant(level) => filling.decide_by::<$tables>(tier, level)),+
                }
            }
        }
    };
}

first_levels! {
    Counts3(Counts<3>) = "counts" EVERY,
    Counts4(Counts<4>) = "counts" EVERY,
    Counts8(Counts<8>) = "counts" EVERY,
    Counts12(Counts<12>) = "counts" EVERY,
    Counts16(Counts<16>) = "counts" EVERY,
    Counts20(Counts<20>) = "counts" EVERY,
    Narrow(Narrow<false>) = "narrow" WITHOUT,
    NarrowTable(NarrowTable<false>) = "narrow table" WITH,
    Rough(Logarithm<true, false>) = "logarithm" WITHOUT,
    Fine(Logarithm<false, false>) = "logarithm" WITHOUT,
    Table(Table<false>) = "table" WITH,
    MappedNarrow(Narrow<true>) = "mapped narrow" WITHOUT,
    MappedNarrowTable(NarrowTable<true>) = "mapped narrow table" WITH,
    MappedRough(Logarithm<true, true>) = "mapped logarithm" WITHOUT,
    MappedFine(Logarithm<false, true>) = "mapped logarithm" WITHOUT,
    MappedTable(Table<true>) = "mapped table" WITH,
    SidedFine(Turned<Logarithm<false, false>>) = "sided logarithm" WITHOUT,
    SidedTable(Turned<Table<false>>) = "sided table" WITH,
    Lines3(Lines<3>) = "lines" EVERY,
    Lines4(Lines<4>) = "lines" EVERY,
    Lines8(Lines<8>) = "lines" WITHOUT,
    Lines12(Lines<12>) = "lines" WITHOUT,
    Lines16(Lines<16>) = "lines" WITHOUT,
    Octaves2(Octaves<2, false>) = "octaves" WITH,
    Octaves3(Octaves<3, false>) = "octaves" WITH,
    Octaves4(Octaves<4, false>) = "octaves" WITH,
    Truncated2(Octaves<2, true>) = "truncated octaves" WITH,
    Truncated3(Octaves<3, true>) = "truncated octaves" WITH,
    Truncated4(Octaves<4, true>) = "truncated octaves" WITH,
    RoughInverse(Inverse<true>) = "rough inverse" WITHOUT,
    Inverse(Inverse<false>) = "inverse" WITHOUT,
    RoughQuantile(quantile::Octaves<1, 8>) = "rough quantile" WITH,
    Quantile(quantile::Octaves<8, 9>) = "quantile" WITH,
}

impl FirstLevel {
    /// For a tier that has instructions for `tables`, or for one that has none.
    pub fn new(distribution: &IntegerDistribution, tables: bool) -> Option<Self> {
        match *distribution {
            IntegerDistribution::Staircase(staircase) => {
                Self::staircase::<false>(&Truncated::endless(&staircase, WORD_BITS), tables)
            }
            IntegerDistribution::TruncatedStaircase { staircase, most } => {
                Self::staircase::<true>(&Truncated::new(&staircase, most, WORD_BITS), tables)
            }
            IntegerDistribution::Geometric { eps, sensitivity_steps } => {
                let scale = sensitivity_steps as f64 / eps;
                let offset = half_log_ratio(1.0 / scale);
                Self::counts(distribution, tables).or_else(|| Self::logarithm::<false>(scale, offset, Map::NONE, tables))
            }
            IntegerDistribution::OneSided { eps, sensitivity_steps } => {
                let scale = sensitivity_steps as f64 / eps;
                Self::counts(distribution, tables).or_else(|| Self::logarithm::<false>(scale, 0.0, Map::NONE, tables))
            }
            IntegerDistribution::TruncatedGeometric(truncated) => {
                let sides = Sides::new(&truncated);
                let Sides { scale, offset, .. } = sides;
                if tables {
                    return Table::new(scale, offset, Map::SIDED).map(|inner| Turned { sides, inner }.into());
                }
                Logarithm::new(scale, offset, Map::SIDED).map(|inner| Turned { sides, inner }.into())
            }
            // It leaves up to 1 + δ times as many words beside an edge undecided as the geometric distribution.
            IntegerDistribution::Canonical { eps, delta, .. } => {
                let map = canonical::map(eps, delta, WORD_BITS);
                let logarithm = || Self::logarithm::<true>(1.0 / eps, half_log_ratio(eps), map, tables);
                Self::counts(distribution, tables).or_else(logarithm)
            }
            IntegerDistribution::Gaussian { sigma2 } if sigma2 < quantile::NARROW => {
                Self::counts(distribution, false).or_else(|| Counts::<20>::new(distribution).map(Self::from))
            }
            IntegerDistribution::Gaussian { sigma2 } => Self::quantile(sigma2, tables),
        }
    }

    fn counts(distribution: &IntegerDistribution, tables: bool) -> Option<Self> {
        let few = Counts::<3>::new(distribution)
            .map(Self::from)
            .or_else(|| Counts::<4>::new(distribution).map(Self::from))
            .or_else(|| Counts::<8>::new(distribution).map(Self::from));
        if tables {
            return few;
        }
        few.or_else(|| Counts::<12>::new(distribution).map(Self::from))
            .or_else(|| Counts::<16>::new(distribution).map(Self::from))
    }

    /// The level of a geometric distribution of scale κ and offset β, after a map of v.
    fn logarithm<const MAPPED: bool>(scale: f64, offset: f64, map: Map, tables: bool) -> Option<Self>
    where
        Self: From<Narrow<MAPPED>> + From<Logarithm<true, MAPPED>> + From<Logarithm<false, MAPPED>>,
        Self: From<NarrowTable<MAPPED>> + From<Table<MAPPED>>,
    {
        if tables {
            return NarrowTable::new(scale, offset, map)
                .map(Self::from)
                .or_else(|| Table::new(scale, offset, map).map(Self::from));
        }
        Narrow::new(scale, offset, map)
            .map(Self::from)
            .or_else(|| Logarithm::<true, MAPPED>::new(scale, offset, map).map(Self::from))
            .or_else(|| Logarithm::<false, MAPPED>::new(scale, offset, map).map(Self::from))
    }

    fn quantile(sigma2: f64, tables: bool) -> Option<Self> {
        if tables {
            return quantile::Octaves::rough(sigma2)
                .map(Self::from)
                .or_else(|| quantile::Octaves::fine(sigma2).map(Self::from));
        }
        Inverse::<true>::new(sigma2)
            .map(Self::from)
            .or_else(|| Inverse::<false>::new(sigma2).map(Self::from))
    }

    fn staircase<const MAPPED: bool>(distribution: &Truncated, tables: bool) -> Option<Self>
    where
        Self: From<Octaves<2, MAPPED>> + From<Octaves<3, MAPPED>> + From<Octaves<4, MAPPED>>,
    {
        let (stairs, map) = (&distribution.stairs, distribution.map);
        match distribution.stairs_above(RARE) {
            0..=3 => Lines::<3>::new(distribution).map(Self::from),
            4 => Lines::<4>::new(distribution).map(Self::from),
            _ if tables => Octaves::<2, MAPPED>::new(stairs, map)
                .map(Self::from)
                .or_else(|| Octaves::<3, MAPPED>::new(stairs, map).map(Self::from))
                .or_else(|| Octaves::<4, MAPPED>::new(stairs, map).map(Self::from)),
            5..=8 => Lines::<8>::new(distribution).map(Self::from),
            9..=12 => Lines::<12>::new(distribution).map(Self::from),
            13..=16 => Lines::<16>::new(distribution).map(Self::from),
            _ => None,
        }
    }

    /// Whether it is certain of a block of this word.
    #[cfg(feature = "probe")]
    pub fn is_certain(&self, tier: Tier, word: u64) -> bool {
        let mut certain = true;
        let filling = Filling {
            blocks: &[[word; BLOCK]],
            scaling: Scaling::WHOLE,
            out: &mut [[0.0; BLOCK]],
            undecided: &mut |_, _: &mut [f64; BLOCK]| certain = false,
        };
        self.fill(tier, filling);
        certain
    }
}

impl<B: Block> Block for Turned<B> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        self.inner.write::<A, T>(&self.sides.turned(words), scaling, out)
    }
}

impl<T: Value> Filling<'_, T, [T; BLOCK]> {
    /// One function per family keeps the stack frame small that [`crate::stack`] must wipe.
    fn decide_by<const TABLES: u8>(self, tier: Tier, family: &impl Block) {
        on_tier!(tier, A => self.decide::<A, TABLES>(family));
    }

    #[inline(always)]
    fn decide<A: Arithmetic, const TABLES: u8>(self, family: &impl Block) {
        if const { TABLES & if A::TABLES { WITH } else { WITHOUT } == 0 } {
            unreachable!("a level of other tiers");
        }
        for (b, (words, out)) in self.blocks.iter().zip(self.out).enumerate() {
            if !declassify::condition(family.write::<A, T>(words, self.scaling, out)) {
                (self.undecided)(b, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Staircase;
    use crate::testing::random::Random;

    /// Evidence: counts. Of 20 000 random blocks at most one in 25 is left to the lanes, and a distribution has the first level that is meant for it.
    #[test]
    fn few_blocks_are_in_doubt() {
        let mut random = Random(5);
        let staircase = |eps, sensitivity_steps, r| IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r));
        let geometric = |eps, sensitivity_steps| IntegerDistribution::Geometric { eps, sensitivity_steps };
        let truncated = |eps, sensitivity_steps, r, delta| {
            let most = crate::exact::most_truncated_staircase(&Staircase::new(eps, sensitivity_steps, r), delta);
            Staircase::new(eps, sensitivity_steps, r).truncated(most)
        };
        let one_sided = IntegerDistribution::OneSided {
            eps: 1.0,
            sensitivity_steps: 1 << 33,
        };
        let canonical = |eps, delta| {
            let most = crate::exact::most_canonical(eps, delta);
            IntegerDistribution::Canonical { eps, delta, most }
        };
        let sided = |eps, below, above| {
            let sensitivity_steps = 1 << 33;
            let truncated = crate::exact::TruncatedGeometric {
                eps,
                sensitivity_steps,
                below,
                above,
            };
            IntegerDistribution::TruncatedGeometric(truncated)
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
            (sided(1.0, 1 << 37, 1 << 36), "SidedFine", "SidedTable"),
            (sided(0.5, 1 << 33, 1 << 33), "SidedFine", "SidedTable"),
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
                    let filling = Filling {
                        blocks: &[words],
                        scaling: Scaling::WHOLE,
                        out: &mut [[0.0_f64; BLOCK]],
                        undecided: &mut |_, _| left += 1,
                    };
                    level.fill(tier, filling);
                }
                assert!(left <= 800, "{distribution:?} {tier:?} {left}");
            }
        }
    }
}
