//! Output of what a block's kernel drew: noise, or released answers.

use crate::declassify;
use crate::kernel::{Arithmetic, BLOCK, Baseline, DrawnBlock, Tier, on_tier, ones};
use crate::lattice::{Answer, Value, floor_log2, power_of_two};

/// How the steps drawn for value i become an element of the output.
pub(crate) trait Output<T>: Copy {
    fn from(self, first: usize) -> Self;

    /// `steps` come from the fast path: they are below 2⁵¹, or NaN, and the value is written over.
    fn whole(&self, i: usize, steps: f64, granularity: f64) -> T;

    fn steps(&self, i: usize, steps: i64, log2_granularity: i32) -> T;
}

#[derive(Clone, Copy)]
pub(crate) struct NoiseAlone;

impl<T: Value> Output<T> for NoiseAlone {
    fn from(self, _: usize) -> Self {
        self
    }

    #[inline(always)]
    fn whole(&self, _: usize, steps: f64, granularity: f64) -> T {
        T::from_whole(steps, granularity)
    }

    fn steps(&self, _: usize, steps: i64, log2_granularity: i32) -> T {
        element(steps.into(), log2_granularity)
    }
}

/// Integers of 128 bits become floats by branches on their size: few are so large.
fn element<T: Value>(steps: i128, log2_granularity: i32) -> T {
    // One number for both halves of −2⁵¹ ≤ steps < 2⁵¹: a comparison of each would be a branch.
    let beyond = steps.wrapping_add(1 << 51) >> 52;
    if declassify::condition((beyond >> 64) as i64 | beyond as i64 == 0) {
        T::from_whole(steps as i64 as f64, power_of_two(log2_granularity))
    } else {
        T::from_steps(steps, log2_granularity)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Released<'a, A>(pub &'a [A]);

impl<A: Answer, T: Value> Output<T> for Released<'_, A> {
    fn from(self, first: usize) -> Self {
        Self(&self.0[first..])
    }

    #[inline(always)]
    fn whole(&self, i: usize, steps: f64, granularity: f64) -> T {
        let answer = self.0[i];
        if answer.is_quick(T::WHOLE) {
            let whole = Baseline::half_up(answer.nearest() / granularity);
            return T::from_sum(answer, whole, steps, granularity);
        }
        // The value is undecided: what is written here is written over.
        if declassify::condition(steps.is_nan()) {
            return T::default();
        }
        self.steps(i, steps as i64, floor_log2(granularity))
    }

    fn steps(&self, i: usize, steps: i64, log2_granularity: i32) -> T {
        // No sum overflows, and a check would be a branch.
        let sum = self.0[i].round_to_lattice(log2_granularity).wrapping_add(steps.into());
        element(sum, log2_granularity)
    }
}

/// Writes what was drawn, and returns the undecided positions as ones. The values at these positions say nothing.
pub(crate) fn write_block<T: Default>(tier: Tier, drawn: &DrawnBlock, out: &mut [T], output: impl Output<T>) -> u64 {
    on_tier!(tier, write_all(drawn, out, output))
}

#[inline(always)]
fn write_all<T: Default>(drawn: &DrawnBlock, out: &mut [T], output: impl Output<T>) -> u64 {
    let n = out.len();
    // A constant length lets the compiler make vectors of it.
    let sure = match out.first_chunk_mut::<BLOCK>() {
        Some(out) => write(drawn, out, output),
        None => write(drawn, out, output),
    };
    if declassify::condition(sure == n as u64) {
        return 0;
    }
    let undecided = declassify::word((0..n).fold(0, |undecided, i| undecided | u64::from(drawn.steps[i].is_nan()) << i));
    // Integers would be answers without noise, until they are decided or a call fails because its parameters have changed.
    ones(undecided).for_each(|i| out[i] = T::default());
    undecided
}

/// The number of written values that are sure.
#[inline(always)]
fn write<T>(drawn: &DrawnBlock, out: &mut [T], output: impl Output<T>) -> u64 {
    let DrawnBlock { steps, granularity, .. } = drawn;
    // Counting, not a flag: the compiler turns a sum into a vector sum.
    let mut sure = 0_u64;
    for i in 0..out.len() {
        out[i] = output.whole(i, steps[i], granularity[i]);
        sure = sure.wrapping_add(u64::from(!steps[i].is_nan()));
    }
    sure
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence: what is left in the output if nobody decides the value, on every tier. An answer without noise would be all of it.
    #[test]
    fn undecided_values_are_not_answers() {
        let (mut drawn, answers) = (DrawnBlock::NOTHING, [52_000_i64; BLOCK]);
        drawn.granularity = [1.0; BLOCK];
        drawn.steps[1] = 3.0;
        for tier in Tier::tested() {
            let mut out = answers;
            let undecided = write_block(tier, &drawn, &mut out, Released(&answers));
            assert_eq!(undecided, !2);
            assert_eq!((out[0], out[1], out[BLOCK - 1]), (0, 52_003, 0), "{tier:?}");
        }
    }
}
