//! Sums Σ m·(N − N') of differences of independent variables on 0, 1, 2, …: what all infinitely divisible noise here is.

use std::sync::Arc;

use crate::declassify;
use crate::draw::{LaterTable, NegativeBinomial, Sampler, Staged};
use crate::exact::IntegerDistribution;
use crate::kernel::{Tier, on_tier};
use crate::lattice::{Lattice, Value};
use crate::memory::{self, OutOfMemory};
use crate::stack;
use crate::stream::{AnyWords, CHUNK, Fill, SHORT, ShortWords, Words};
use crate::wiped::wipe;

#[derive(Clone, Debug)]
pub(crate) enum Difference {
    /// A two-sided geometric variable, which is the difference of two geometric ones: one stage.
    Geometric(Arc<Sampler>),
    /// The difference of two draws from one table: two stages.
    Table(Arc<LaterTable>),
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

    /// Calls `add` with the variables of the values `first ..` and what each is multiplied by, by way of `words` and `drawn`; returns the number of
    /// the next stage.
    fn visit(
        &self,
        fill: &Fill,
        first: u64,
        from: u64,
        scale: i64,
        (words, drawn): (&mut AnyWords, &mut [i64]),
        mut add: impl FnMut(&[i64], i64),
    ) -> Result<u64, OutOfMemory> {
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
                    table.write_in::<false>(words, fill.stage(number), first, drawn);
                    add(drawn, scale);
                }
                Ok(from + 2)
            }
        }
    }
}

/// The sum over the terms, each with its scale below 2³², in order of their stages; fewer than 2²⁰ of them, with scales that add up to 2³² at most.
#[derive(Debug)]
pub(crate) struct Differences(pub Vec<(u32, Difference)>);

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

    fn write_steps(&self, fill: &Fill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory> {
        if out.len() <= SHORT {
            self.write_by_way_of(&mut ShortWords::new(), &mut [0; SHORT], fill, first, out)
        } else {
            self.write_by_way_of(&mut Words::new(), &mut [0; CHUNK], fill, first, out)
        }
    }
}

/// Variables below it have 32 bits, and sums of 2³² of them are within an `i64`.
const NEAR: u64 = 1 << 31;

impl Differences {
    /// [`Staged::write_steps`] by way of words, one room for all stages, and of drawn variables, which are wiped.
    fn write_by_way_of(
        &self,
        words: &mut AnyWords,
        drawn: &mut [i64],
        fill: &Fill,
        first: u64,
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        let (capacity, used, tier) = (drawn.len(), out.len().min(drawn.len()), Tier::current());
        let mut parts = (first..).step_by(capacity).zip(out.chunks_mut(capacity));
        let result = parts.try_for_each(|(first, out)| {
            let drawn = &mut drawn[..out.len()];
            let (mut magnitudes, mut begins) = (0, true);
            self.visit(fill, first, (&mut *words, &mut *drawn), |drawn, scale| {
                magnitudes |= on_tier!(tier, add(drawn, scale, begins, out));
                begins = false;
            })?;
            if declassify::condition(magnitudes >= NEAR) {
                self.write_far(fill, first, (&mut *words, drawn), out)?;
            }
            Ok(())
        });
        // Variables are noise too, after an error as well. Only what was used is wiped.
        wipe(&mut drawn[..used]);
        // The owner of the words wipes less far below this frame.
        stack::wipe_kernels();
        result
    }

    /// Calls `add` with the variables of every term and its factor.
    fn visit(
        &self,
        fill: &Fill,
        first: u64,
        (words, drawn): (&mut AnyWords, &mut [i64]),
        mut add: impl FnMut(&[i64], i64),
    ) -> Result<(), OutOfMemory> {
        let mut next = 0;
        for (scale, term) in &self.0 {
            next = term.visit(fill, first, next, (*scale).into(), (&mut *words, &mut *drawn), &mut add)?;
        }
        Ok(())
    }

    /// The sums where variables are far from 0: they saturate at ±(2⁶³ − 1).
    #[cold]
    #[inline(never)]
    fn write_far(
        &self,
        fill: &Fill,
        first: u64,
        buffers: (&mut AnyWords, &mut [i64]),
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        let mut sums = memory::filled(0_i128, out.len())?;
        let result = self.visit(fill, first, buffers, |drawn, scale| {
            for (sum, drawn) in sums.iter_mut().zip(drawn) {
                // Fewer than 2²⁰ products below 2³²·2⁶³. A check would be a branch on noise.
                *sum = sum.wrapping_add(i128::wrapping_mul(scale.into(), (*drawn).into()));
            }
        });
        for (out, sum) in out.iter_mut().zip(&sums) {
            // The sum saturates at ±(2⁶³ − 1), which is one short of the least `i64`.
            let steps = i64::from_steps(*sum, 0);
            *out = steps.wrapping_add(i64::from(steps == i64::MIN));
        }
        wipe(&mut sums);
        result
    }
}

/// Adds `scale` times what is drawn, below [`NEAR`], to nothing where a sum begins; all magnitudes together.
#[inline(always)]
fn add(drawn: &[i64], scale: i64, begins: bool, sums: &mut [i64]) -> u64 {
    let mut magnitudes = 0;
    for (sum, drawn) in sums.iter_mut().zip(drawn) {
        magnitudes |= drawn.unsigned_abs();
        // One product of 32 bits, which an instruction of vectors makes.
        let product = i64::from(*drawn as i32).wrapping_mul(i64::from(scale as i32));
        *sum = if begins { product } else { sum.wrapping_add(product) };
    }
    magnitudes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;

    /// Evidence: the same draws, added with 128 bits. Variables near 0, far from 0, and both.
    #[test]
    fn sums_are_those_of_the_draws() {
        let n = CHUNK + 70;
        let fill = Generator::from_seed(21).next_staged(n).unwrap();
        for steps in [[1, 1], [1 << 40, 1], [3, 1 << 50]] {
            let terms = steps.map(|steps| Difference::geometric(1.0, steps));
            let [first, second] = steps.map(|sensitivity_steps| {
                let distribution = IntegerDistribution::Geometric {
                    eps: 1.0,
                    sensitivity_steps,
                };
                Sampler::new(distribution, Lattice::whole(sensitivity_steps))
            });
            let [mut sums, mut a, mut b] = [(); 3].map(|()| vec![0_i64; n]);
            let differences = Differences((1..).zip(terms).map(|(m, term)| (70 * m - 69, term)).collect());
            differences.write_steps(&fill, 0, &mut sums).unwrap();
            first.write(fill.stage(0), 0, &mut a);
            second.write(fill.stage(1), 0, &mut b);
            for ((sum, a), b) in sums.into_iter().zip(a).zip(b) {
                assert_eq!(i128::from(sum), i128::from(a) + 71 * i128::from(b), "{steps:?}");
            }
        }
    }
}
