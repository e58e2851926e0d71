//! Sums Σ m·(N − N') of differences of independent variables on 0, 1, 2, …: what all infinitely divisible noise here is.

use std::sync::Arc;

use crate::declassify;
use crate::draw::{LaterTable, NegativeBinomial, Sampler, Staged};
use crate::exact::IntegerDistribution;
use crate::kernel::{Tier, on_tier};
use crate::lattice::{Lattice, Value};
use crate::memory::{self, OutOfMemory};
use crate::stack;
use crate::stream::{AnyWords, CHUNK, Fill, LongWords, SHORT, ShortWords};
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
    fn visit<T: Value>(
        &self,
        fill: &Fill,
        first: u64,
        from: u64,
        scale: i64,
        (words, drawn): (&mut AnyWords, &mut [T]),
        mut add: impl FnMut(&[T], i64),
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
                    table.write_in::<false, _>(words, fill.stage(number), first, drawn);
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
            self.write_by_way_of(&mut ShortWords::new(), [&mut [0; SHORT], &mut [0; SHORT]], fill, first, out)
        } else {
            self.write_by_way_of(
                &mut LongWords::new(),
                [&mut [0; 2 * CHUNK], &mut [0; 2 * CHUNK]],
                fill,
                first,
                out,
            )
        }
    }
}

/// Variables of 16 bits times factors that add up to this have a sum of 32 bits.
const MOST_FACTORS: i64 = i16::MAX as i64;

impl Differences {
    /// [`Staged::write_steps`] by way of words, one room for all stages, and of drawn variables and their sums, which are wiped.
    fn write_by_way_of(
        &self,
        words: &mut AnyWords,
        [drawn, sums]: [&mut [i32]; 2],
        fill: &Fill,
        first: u64,
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        let (capacity, used, tier) = (drawn.len(), out.len().min(drawn.len()), Tier::current());
        let mut parts = (first..).step_by(capacity).zip(out.chunks_mut(capacity));
        let result = parts.try_for_each(|(first, out)| {
            let (drawn, sums) = (&mut drawn[..out.len()], &mut sums[..out.len()]);
            let (mut near, mut factors, mut begins) = (true, 0, true);
            self.visit(fill, first, (&mut *words, drawn), |drawn, scale| {
                if factors + scale.abs() > MOST_FACTORS {
                    on_tier!(tier, widen(sums, begins, out));
                    (factors, begins) = (0, false);
                }
                let factor = i16::try_from(scale).ok();
                near &= factor.is_some() & on_tier!(tier, add(drawn, factor.unwrap_or(0), factors == 0, sums));
                factors += scale.abs();
            })?;
            on_tier!(tier, widen(sums, begins, out));
            if !declassify::condition(near) {
                self.write_far(words, fill, first, out)?;
            }
            Ok(())
        });
        // Variables are noise too, after an error as well. Only what was used is wiped.
        wipe(&mut drawn[..used]);
        wipe(&mut sums[..used]);
        // The owner of the words wipes less far below this frame.
        stack::wipe_kernels();
        result
    }

    /// Calls `add` with the variables of every term and its factor.
    fn visit<T: Value>(
        &self,
        fill: &Fill,
        first: u64,
        (words, drawn): (&mut AnyWords, &mut [T]),
        mut add: impl FnMut(&[T], i64),
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
    fn write_far(&self, words: &mut AnyWords, fill: &Fill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory> {
        let mut sums = memory::filled(0_i128, out.len())?;
        let result = self.visit(fill, first, (words, out), |drawn, scale| {
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

/// Adds `scale` times what is drawn to the sums, or to nothing where they begin; whether 16 bits hold all that is drawn.
#[inline(always)]
fn add(drawn: &[i32], scale: i16, begins: bool, sums: &mut [i32]) -> bool {
    let mut widths = 0_u32;
    for (sum, drawn) in sums.iter_mut().zip(drawn) {
        // Of 17 bits or more where 16 do not hold the variable.
        widths |= drawn.wrapping_add(1 << 15).cast_unsigned();
        // A product of 16 bits each: one instruction even where one of 32 bits takes six.
        let product = i32::from(*drawn as i16).wrapping_mul(scale.into());
        *sum = if begins { product } else { sum.wrapping_add(product) };
    }
    widths >> 16 == 0
}

/// Adds sums to `out`, or writes them.
#[inline(always)]
fn widen(sums: &[i32], begins: bool, out: &mut [i64]) {
    for (out, sum) in out.iter_mut().zip(sums) {
        let before = if begins { 0 } else { *out };
        *out = before.wrapping_add((*sum).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;

    /// Evidence: the same draws, added with 128 bits. Variables near 0, far from 0, and both; factors of one sum, of two, and of more than 16 bits.
    #[test]
    fn sums_are_those_of_the_draws() {
        let n = 2 * CHUNK + 70;
        let fill = Generator::from_seed(21).next_staged(n).unwrap();
        for steps in [[1, 1], [1 << 40, 1], [3, 1 << 50]] {
            let terms = steps.map(|steps| Difference::geometric(1.0, steps));
            let [mut sums, mut a, mut b] = [(); 3].map(|()| vec![0_i64; n]);
            for (term, drawn) in terms.iter().zip([&mut a, &mut b]).enumerate() {
                let Difference::Geometric(sampler) = drawn.0 else {
                    unreachable!()
                };
                sampler.write(fill.stage(term as u64), 0, drawn.1);
            }
            for factors in [[1, 71], [30_000, 20_000], [40_000, 3]] {
                let differences = Differences(factors.into_iter().zip(terms.clone()).collect());
                differences.write_steps(&fill, 0, &mut sums).unwrap();
                for ((sum, a), b) in sums.iter().zip(&a).zip(&b) {
                    let terms = [(factors[0], a), (factors[1], b)];
                    let expected: i128 = terms
                        .iter()
                        .map(|(factor, drawn)| i128::from(*factor) * i128::from(**drawn))
                        .sum();
                    let most = i128::from(i64::MAX);
                    assert_eq!(i128::from(*sum), expected.clamp(-most, most), "{steps:?} {factors:?}");
                }
            }
        }
    }
}
