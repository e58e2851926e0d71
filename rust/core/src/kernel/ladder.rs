//! The fast path of the staircase distribution where a few stairs carry nearly all of the mass: comparisons instead of the logarithm.

use super::arithmetic::{Arithmetic, Separate};
use super::float::{less, masked};
use super::lane::WholeLane;
use super::staircase::{StaircaseLane, Stairs};

/// The staircase distribution where few stairs carry all but 2⁻¹⁴ of the mass: which stair a word is on is read off a ladder of thresholds.
///
/// The thresholds are rounded, and need not be right: [`Stairs::place`] accepts no word on a wrong stair, nor one beyond the last rung.
///
/// This assumes that each rung's unit is accurate. Why it is: a unit has a relative error of 2u as long as ε·J ≤ 700. A word V ≥ 1 reaches only
/// rungs where ε·J < 76. On a higher rung the top is below 1. It is so too where the unit of the stair before is wrong:
///
/// - Four rungs: with ε ≤ 700 that stair's ε·J is at most 1400. The exponent of the unit has then overflowed into the sign, so the top is
///   negative or zero. With ε > 700, D·c is zero, and so is every top.
/// - Eight rungs are for ε below 4, where no unit is wrong.
#[derive(Clone, Debug)]
pub(crate) struct LadderLane<const N: usize> {
    stairs: Stairs,
    rungs: [Rung; N],
}

#[derive(Clone, Copy, Debug)]
struct Rung {
    /// The stair holds words below this: D·c over the unit of the stair before.
    top: f64,
    unit: f64,
    outermost: f64,
}

impl<const N: usize> LadderLane<N> {
    pub fn new(staircase: &StaircaseLane) -> Self {
        let stairs = staircase.stairs;
        let rungs = core::array::from_fn(|stair| {
            let stair = stair as f64;
            Rung {
                top: if stair > 0.0 {
                    // NaN, which no word is below, becomes 0.
                    (stairs.floor / stairs.unit_of::<Separate>(stair - 1.0)).max(0.0)
                } else {
                    f64::INFINITY
                },
                unit: stairs.unit_of::<Separate>(stair),
                outermost: stairs.outermost(stair),
            }
        });
        Self { stairs, rungs }
    }
}

impl<const N: usize> WholeLane for LadderLane<N> {
    /// For lanes side by side, where a comparison makes a mask: no branch.
    #[inline(always)]
    fn reduce_whole<A: Arithmetic>(&self, whole: f64) -> [f64; 3] {
        let mut unit = self.rungs[0].unit;
        let mut outermost = self.rungs[0].outermost;
        // Tops fall, so that the last stair reached counts. Units and outermost steps grow, as `raised` requires.
        for rung in &self.rungs[1..] {
            let reached = whole < rung.top;
            unit = A::raised(unit, rung.unit, reached);
            outermost = A::raised(outermost, rung.outermost, reached);
        }
        [whole, unit, outermost]
    }

    /// For one lane, where the compiler would make branches of comparisons (docs/evidence/timing.md).
    #[inline(always)]
    fn magnitude_whole<A: Arithmetic>(&self, whole: f64) -> (f64, bool) {
        let mut unit = self.rungs[0].unit;
        let mut outermost = self.rungs[0].outermost;
        for rung in &self.rungs[1..] {
            let reached = less(whole, rung.top);
            unit = unit.max(masked(reached, rung.unit));
            outermost = outermost.max(masked(reached, rung.outermost));
        }
        self.finish_whole::<A>([whole, unit, outermost])
    }

    #[inline(always)]
    fn finish_whole<A: Arithmetic>(&self, [whole, unit, outermost]: [f64; 3]) -> (f64, bool) {
        self.stairs.place::<A>(whole, unit, outermost)
    }
}

#[cfg(test)]
mod tests {
    use super::super::arithmetic::{Fused, FusedWide};
    use super::super::lane::WORD_BITS;
    use super::*;
    use crate::exact::Staircase;
    use crate::kernel::lane::Lane;
    use crate::testing::random::Random;

    /// Evidence: equality, on words beside every rung's top, at both ends and at random: a lane alone is sure of the same words, and gives the same
    /// magnitude, as among others.
    #[test]
    fn one_lane_is_as_one_of_many() {
        fn check<A: Arithmetic, const N: usize>(ladder: &LadderLane<N>, bits: u64) {
            let of_many = ladder.finish::<A>(ladder.reduce::<A>(bits));
            let alone = ladder.magnitude::<A>(bits);
            assert!(
                of_many == alone || of_many.0.is_nan() && alone.0.is_nan() && of_many.1 == alone.1,
                "{ladder:?} {bits:x}"
            );
        }
        let mut random = Random(8);
        for eps in [1.2, 2.0, 4.0, 10.0, 60.0, 300.0, 700.0, 800.0] {
            for (sensitivity_steps, r) in [(1, 1), (5, 2), (1 << 33, 1 << 31), (1 << 44, 1)] {
                let stairs = StaircaseLane::new(&Staircase::new(eps, sensitivity_steps, r), WORD_BITS);
                let (four, eight) = (LadderLane::<4>::new(&stairs), LadderLane::<8>::new(&stairs));
                let tops = eight.rungs.iter().map(|rung| rung.top as u64);
                let beside = tops.flat_map(|top| (0..6).map(move |i| top.saturating_add(i).saturating_sub(3)));
                let at_random: Vec<_> = (0..200).map(|i| random.word() >> (i % 64)).collect();
                for bits in beside.chain(at_random).chain([0, 1, u64::MAX]).map(|word| word << 1 >> 1) {
                    check::<Separate, 4>(&four, bits);
                    check::<Separate, 8>(&eight, bits);
                    check::<Fused, 4>(&four, bits);
                    check::<Fused, 8>(&eight, bits);
                    check::<FusedWide, 4>(&four, bits);
                    check::<FusedWide, 8>(&eight, bits);
                }
            }
        }
    }
}
