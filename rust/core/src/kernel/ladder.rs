use super::float::{less, masked};
use super::staircase::Stairs;
use super::tier::{Arithmetic, Separate};
use super::{Lane, Staircase};

/// The staircase law where few stairs carry all but 2⁻¹⁴ of the mass: which stair a word is on is read off a ladder of thresholds.
///
/// The thresholds are rounded, and need not be right: [`Stairs::place`] accepts no word on a wrong stair, nor one beyond the last rung.
/// It does rest on the unit being that of the stair. A unit is e^(εJ) to 2u as far as ε·J ≤ 700, while a word V ≥ 1 reaches only rungs where
/// ε·J < 76: beyond, the rung's top is below 1, or negative or zero where the unit of the stair before is no longer right, for with ε ≤ 700
/// that stair's ε·J is at most 1400 for four rungs, whose exponent has turned the sign. (Above, D·c is zero, and so is every top.) Eight
/// rungs are for ε below 4.
#[derive(Clone, Debug)]
pub(crate) struct Ladder<const N: usize> {
    stairs: Stairs,
    rungs: [Rung; N],
}

/// One stair.
#[derive(Clone, Copy, Debug)]
struct Rung {
    /// The stair holds words below this: D·c over the unit of the stair before.
    top: f64,
    unit: f64,
    outermost: f64,
}

impl<const N: usize> Ladder<N> {
    pub fn new(staircase: &Staircase) -> Self {
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

impl<const N: usize> Lane for Ladder<N> {
    #[inline(always)]
    fn reduce<A: Arithmetic>(&self, bits: u64) -> [f64; 3] {
        let whole = A::from_bits(bits);
        let mut unit = self.rungs[0].unit;
        let mut outermost = self.rungs[0].outermost;
        for rung in &self.rungs[1..] {
            // Units and cells grow from stair to stair, so the greatest of those reached is the right one: no branch.
            let reached = less(whole, rung.top);
            unit = unit.max(masked(reached, rung.unit));
            outermost = outermost.max(masked(reached, rung.outermost));
        }
        [whole, unit, outermost]
    }

    #[inline(always)]
    fn finish<A: Arithmetic>(&self, [whole, unit, outermost]: [f64; 3]) -> (f64, bool) {
        self.stairs.place::<A>(whole, unit, outermost)
    }
}
