//! staircase(ε, D, r) with constants made in the lane: formula, error and acceptance are those of `kernel::staircase`.

use std::marker::PhantomData;

use super::super::arithmetic::Arithmetic;
use super::super::elementary::{Number, growth, rough_minus_ln, split_ln};
use super::super::float::U;
use super::super::lane::{MAX_SPAN, OwnLane, WORD_BITS};
use super::super::staircase::{FIXED, Stairs};
use super::first_stair::FirstStair;
use super::lattice::Placement;

/// The lane of a staircase, for one way to a lattice and one to r.
///
/// The stair of a word is the least J ≥ 0 with (y/(D·c))·e^(εJ) ≥ 1, where y is that of J = 0. That takes one logarithm, of a number that is at
/// least 2⁻⁶³ because t/2 ≥ D·c. J need not be right, as in `kernel::staircase`.
pub(super) struct Stepped<L, S>(PhantomData<(L, S)>);

/// e^ε − 1 from m = e^(ε/2) − 1: then D·c is D/(m·(2 + m)) and D/(1 + e^(ε/2)) is m of that, for one division and no root.
#[inline(always)]
pub(crate) fn rise<N: Number>(m: N) -> N {
    m * (N::from(2.0) + m)
}

/// Bound on the relative error of D·c by way of [`rise`], 5 u more than in `super::super::staircase`. `proof` checks it.
#[cfg(test)]
pub(crate) const FLOOR_ERROR: f64 = 10.5 * U;

/// Tolerance on y − D·c for each unit of D + D/ε, which is more than y or D·c, for what [`FLOOR_ERROR`] is too large.
pub(crate) const PER_SPAN: f64 = 2.0 * U;

const UNIT: f64 = 1.0 / (1_u64 << WORD_BITS) as f64;

impl<L: Placement, S: FirstStair> OwnLane<8> for Stepped<L, S> {
    #[inline(always)]
    fn place<A: Arithmetic>(eps: f64, sensitivity: f64) -> ([f64; 3], f64) {
        let place = L::place(eps, sensitivity);
        let slack = if place.known { FIXED } else { f64::INFINITY };
        ([place.sensitivity_steps, slack, growth::<A>(0.5 * eps)], place.granularity)
    }

    #[inline(always)]
    fn prepare<A: Arithmetic>(eps: f64, shape: f64, [sensitivity_steps, slack, growth]: [f64; 3]) -> [f64; 8] {
        let floor = sensitivity_steps / rise(growth);
        let (r, certain) = S::r(shape, sensitivity_steps, floor * growth);
        let half_t = (r - 0.5) + floor;
        // One division for two quotients. The stair that they guess need not be right, and `proof` has room for a rounding of the span.
        let inverse = 1.0 / (eps * floor);
        let (inverse_eps, ratio) = (inverse * floor, half_t * (inverse * eps));
        let span = A::mul_add(sensitivity_steps, inverse_eps, sensitivity_steps);
        let decidable = certain & (span <= MAX_SPAN);
        let slack = if decidable {
            A::mul_add(span, PER_SPAN, slack)
        } else {
            f64::INFINITY
        };
        [eps, inverse_eps, sensitivity_steps, floor, r - 1.0, half_t, slack, ratio]
    }

    #[inline(always)]
    fn reduce<A: Arithmetic>([_, inverse_eps, .., ratio]: [f64; 8], bits: u64) -> [f64; 3] {
        let whole = A::from_bits(bits);
        let (e, s) = split_ln(f64::from(WORD_BITS), whole * ratio);
        let stair = A::mul_add(rough_minus_ln::<A, f64>(e, s), inverse_eps, 1.0);
        [whole, A::floor(stair).max(0.0), 0.0]
    }

    #[inline(always)]
    fn evaluate<A: Arithmetic>(constants: [f64; 8], [whole, stair, _]: [f64; 3]) -> [f64; 3] {
        [whole, stair, stairs(constants).unit_of::<A>(stair)]
    }

    #[inline(always)]
    fn finish<A: Arithmetic>(constants: [f64; 8], [whole, stair, unit]: [f64; 3]) -> (f64, bool) {
        let stairs = stairs(constants);
        stairs.place::<A>(whole, unit, stairs.outermost(stair))
    }
}

#[inline(always)]
fn stairs([eps, _, sensitivity_steps, floor, first, half_t, slack, _]: [f64; 8]) -> Stairs {
    Stairs {
        unit: half_t * UNIT,
        sensitivity_steps,
        floor,
        first,
        eps,
        slack,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::arithmetic::Separate;
    use super::super::first_stair::Fraction;
    use super::super::lattice::StaircasePowers;
    use super::*;

    /// Evidence: the tolerance in a lane is the one that `proof` has checked.
    #[test]
    fn the_tolerance_grows_with_the_span() {
        type Lane = Stepped<StaircasePowers, Fraction>;
        for (eps, sensitivity) in [(0.01, 1.0), (0.3, 5.0), (4.0, 1.9)] {
            let (place, _) = Lane::place::<Separate>(eps, sensitivity);
            let [.., slack, _] = Lane::prepare::<Separate>(eps, 0.5, place);
            let proven = FIXED + (place[0] + place[0] / eps) * PER_SPAN;
            assert!((slack / proven - 1.0).abs() < 1e-12, "{slack} for {proven}");
        }
    }
}
