//! geometric(ε, D) with constants made in the lane: as in `kernel::geometric`, but for β, which would cost a second logarithm.

use std::marker::PhantomData;

use super::super::arithmetic::Arithmetic;
use super::super::elementary::{exp, minus_ln, split_ln};
use super::super::float::U;
use super::super::geometric::{FIXED, GeometricLane, PER_SCALE};
use super::super::lane::{MAX_SPAN, OwnLane, WORD_BITS};
use super::lattice::Placement;

/// Where κ = D/ε ≥ 2²², as on every lattice of powers: D ≥ 2³² and ε ≤ 700.
///
/// There β is ½ to within 1/(8κ) ≤ 2⁻²⁵: ½ − β = κ·ln cosh(1/(2κ)), and ln cosh z ≤ z²/2.
pub(super) struct Many<L>(PhantomData<L>);

/// Tolerance on x for β.
pub(crate) const BETA: f64 = 1.0 / (1_u64 << 25) as f64;

impl<L: Placement> OwnLane<2> for Many<L> {
    #[inline(always)]
    fn place<A: Arithmetic>(eps: f64, sensitivity: f64) -> ([f64; 3], f64) {
        let place = L::place(eps, sensitivity);
        (
            [place.sensitivity_steps, if place.known { 0.0 } else { f64::INFINITY }, 0.0],
            place.granularity,
        )
    }

    #[inline(always)]
    fn prepare<A: Arithmetic>(eps: f64, _: f64, [sensitivity_steps, undecided, _]: [f64; 3]) -> [f64; 2] {
        let scale = sensitivity_steps / eps;
        [scale, tolerance(scale * PER_SCALE + (FIXED + BETA), scale, undecided)]
    }

    #[inline(always)]
    fn reduce<A: Arithmetic>(_: [f64; 2], bits: u64) -> [f64; 3] {
        let whole = A::from_bits(bits);
        let (e, s) = split_ln(f64::from(WORD_BITS), whole);
        [whole, e, s]
    }

    #[inline(always)]
    fn evaluate<A: Arithmetic>(_: [f64; 2], [whole, e, s]: [f64; 3]) -> [f64; 3] {
        [whole, minus_ln::<A, f64>(e, s), 0.0]
    }

    #[inline(always)]
    fn finish<A: Arithmetic>([scale, slack]: [f64; 2], [whole, minus_ln, _]: [f64; 3]) -> (f64, bool) {
        place::<A>(scale, 0.5, slack, whole, minus_ln)
    }
}

/// For any κ. β joins the logarithm:
///
/// ```text
/// x = κ·(−ln w),   w = v·(1 + b)/2 = V·(1 + b)·2^−64,   b = e^(−1/κ).
/// ```
///
/// Error of V·(1 + b), relative to it, in units of u:
///
/// ```text
/// 1/κ                         0.3   (u/κ of b, and b/(1 + b)/κ ≤ 0.28)
/// e^(1/κ), its inverse        1.5   (2 + 1, of b)
/// 1 + b, V, their product     3
/// ```
///
/// 4.8κ of x, where [`GeometricLane`] has 1 for V and β on its own: [`PER_SCALE_FEW`] is that much larger than [`PER_SCALE`].
pub(super) struct Few<L>(PhantomData<L>);

/// Tolerance on x for each unit of κ.
pub(crate) const PER_SCALE_FEW: f64 = 6.5 * U;

impl<L: Placement> OwnLane<3> for Few<L> {
    #[inline(always)]
    fn place<A: Arithmetic>(eps: f64, sensitivity: f64) -> ([f64; 3], f64) {
        let place = L::place(eps, sensitivity);
        let rise = exp::<A>(eps / place.sensitivity_steps, 0.0);
        (
            [place.sensitivity_steps, if place.known { 0.0 } else { f64::INFINITY }, rise],
            place.granularity,
        )
    }

    #[inline(always)]
    fn prepare<A: Arithmetic>(eps: f64, _: f64, [sensitivity_steps, undecided, rise]: [f64; 3]) -> [f64; 3] {
        let scale = sensitivity_steps / eps;
        let slack = tolerance(scale * PER_SCALE_FEW + FIXED, scale, undecided);
        // 1 + b is the factor of V.
        [scale, slack, 1.0 + 1.0 / rise]
    }

    #[inline(always)]
    fn reduce<A: Arithmetic>([.., factor]: [f64; 3], bits: u64) -> [f64; 3] {
        let whole = A::from_bits(bits);
        let (e, s) = split_ln(f64::from(WORD_BITS + 1), whole * factor);
        [whole, e, s]
    }

    #[inline(always)]
    fn evaluate<A: Arithmetic>(_: [f64; 3], [whole, e, s]: [f64; 3]) -> [f64; 3] {
        [whole, minus_ln::<A, f64>(e, s), 0.0]
    }

    #[inline(always)]
    fn finish<A: Arithmetic>([scale, slack, _]: [f64; 3], [whole, minus_ln, _]: [f64; 3]) -> (f64, bool) {
        place::<A>(scale, 0.0, slack, whole, minus_ln)
    }
}

/// `undecided` is 0 or infinite.
#[inline(always)]
fn tolerance(slack: f64, scale: f64, undecided: f64) -> f64 {
    // NaN fails the comparison.
    if scale <= MAX_SPAN { slack + undecided } else { f64::INFINITY }
}

#[inline(always)]
fn place<A: Arithmetic>(scale: f64, offset: f64, slack: f64, whole: f64, minus_ln: f64) -> (f64, bool) {
    let distribution = GeometricLane {
        bits: f64::from(WORD_BITS),
        scale,
        beyond: scale,
        offset,
        slack,
    };
    distribution.place::<A>(whole, minus_ln)
}

#[cfg(test)]
mod tests {
    use super::super::super::arithmetic::Separate;
    use super::super::lattice::{Integers, LaplacePowers};
    use super::*;

    /// Evidence: the tolerance in a lane is the one that `proof` has checked.
    #[test]
    fn the_tolerance_grows_with_the_scale() {
        fn check<L: OwnLane<N>, const N: usize>(eps: f64, sensitivity: f64, per_scale: f64, fixed: f64) {
            let (place, _) = L::place::<Separate>(eps, sensitivity);
            let slack = L::prepare::<Separate>(eps, 0.0, place)[1];
            let proven = place[0] / eps * per_scale + fixed;
            assert!(
                (slack / proven - 1.0).abs() < 1e-12,
                "{eps} {sensitivity}: {slack} for {proven}"
            );
        }
        for (eps, sensitivity) in [(0.01, 1.0), (0.3, 5.0), (4.0, 3.0)] {
            check::<Many<LaplacePowers>, 2>(eps, sensitivity, PER_SCALE, FIXED + BETA);
            check::<Few<Integers>, 3>(eps, sensitivity, PER_SCALE_FEW, FIXED);
        }
    }
}
