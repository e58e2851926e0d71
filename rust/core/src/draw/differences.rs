//! Sums Σ m·(N − N') of differences of independent variables on 0, 1, 2, …: what all infinitely divisible noise here is.

use std::sync::Arc;

use crate::draw::negative_binomial::NegativeBinomial;
use crate::draw::sampler::Sampler;
use crate::draw::staged::Staged;
use crate::draw::table::LaterTable;
use crate::exact::IntegerDistribution;
use crate::lattice::Value;
use crate::lattice::params::Lattice;
use crate::memory::OutOfMemory;
use crate::stream::{CHUNK, SHORT, ShortWords, StagedFill, Words, WordsIn};
use crate::wiped::wipe;

#[derive(Clone, Debug)]
pub(crate) enum Difference {
    /// A two-sided geometric variable, which is the difference of two geometric ones: one stage.
    Geometric(Arc<Sampler>),
    /// The difference of two draws from one table: two stages.
    Table(Arc<LaterTable<NegativeBinomial>>),
}

impl Difference {
    /// The two-sided geometric distribution of ratio e^(−eps/sensitivity_steps).
    pub fn geometric(eps: f64, sensitivity_steps: u64) -> Self {
        let distribution = IntegerDistribution::Geometric { eps, sensitivity_steps };
        // The integers: the term's scale multiplies what is drawn.
        Self::Geometric(Arc::new(Sampler::new(distribution, Lattice::whole(sensitivity_steps))))
    }

    pub fn table(distribution: NegativeBinomial) -> Self {
        Self::Table(Arc::new(LaterTable::new(distribution)))
    }

    /// Adds `scale` times the variables of the values `first ..` to `sums` by way of `words` and `drawn`; returns the number of the next stage.
    fn add<const N: usize>(
        &self,
        fill: &StagedFill,
        first: u64,
        from: u64,
        scale: i128,
        (words, drawn): (&mut WordsIn<N>, &mut [i64]),
        sums: &mut [i128],
    ) -> Result<u64, OutOfMemory> {
        let mut add = |drawn: &[i64], scale| {
            for (sum, drawn) in sums.iter_mut().zip(drawn) {
                // Fewer than 2²⁰ products below 2³²·2⁶³. A check would be a branch on noise.
                *sum = sum.wrapping_add(i128::wrapping_mul(scale, (*drawn).into()));
            }
        };
        match self {
            Self::Geometric(sampler) => {
                sampler.write_in(words, fill.stage(from), first, drawn);
                add(drawn, scale);
                Ok(from + 1)
            }
            Self::Table(later) => {
                let table = later.table()?;
                // N, then N', each from a stage of its own (contract, section 7).
                for (number, scale) in [(from, scale), (from + 1, -scale)] {
                    table.write_in::<_, false>(words, fill.stage(number), first, drawn);
                    add(drawn, scale);
                }
                Ok(from + 2)
            }
        }
    }
}

/// The sum over the terms, each with its scale below 2³², in order of their stages; fewer than 2²⁰ of them.
#[derive(Debug)]
pub(crate) struct Differences(Vec<(u32, Difference)>);

impl Differences {
    pub fn new(terms: Vec<(u32, Difference)>) -> Self {
        Self(terms)
    }
}

impl Staged for Differences {
    fn prepare(&self) -> Result<(), OutOfMemory> {
        self.0.iter().try_for_each(|(_, term)| match term {
            Difference::Geometric(_) => Ok(()),
            Difference::Table(later) => later.table().map(drop),
        })
    }

    fn draws(&self) -> usize {
        let stages = |term: &Difference| match term {
            Difference::Geometric(_) => 1,
            Difference::Table(_) => 2,
        };
        self.0.iter().map(|(_, term)| stages(term)).sum()
    }

    fn write_steps(&self, fill: &StagedFill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory> {
        if out.len() <= SHORT {
            self.write_by_way_of(&mut ShortWords::new(), &mut [0; SHORT], fill, first, out)
        } else {
            self.write_by_way_of(&mut Words::new(), &mut [0; CHUNK], fill, first, out)
        }
    }
}

impl Differences {
    /// [`Staged::write_steps`] by way of words, one room for all stages, and of sums, which are wiped.
    fn write_by_way_of<const N: usize>(
        &self,
        words: &mut WordsIn<N>,
        sums: &mut [i128],
        fill: &StagedFill,
        first: u64,
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        let (capacity, used) = (sums.len(), out.len().min(sums.len()));
        let mut parts = (first..).step_by(capacity).zip(out.chunks_mut(capacity));
        let result = parts.try_for_each(|(first, out)| {
            let sums = &mut sums[..out.len()];
            sums.fill(0);
            let mut next = 0;
            for (scale, term) in &self.0 {
                next = term.add(fill, first, next, (*scale).into(), (&mut *words, &mut *out), sums)?;
            }
            for (out, sum) in out.iter_mut().zip(sums) {
                // The sum saturates at ±(2⁶³ − 1), which is one short of the least `i64`.
                let steps = i64::from_steps(*sum, 0);
                *out = steps.wrapping_add(i64::from(steps == i64::MIN));
            }
            Ok(())
        });
        // Partial sums are noise too, after an error as well. Only what was used is wiped.
        wipe(&mut sums[..used]);
        result
    }
}
