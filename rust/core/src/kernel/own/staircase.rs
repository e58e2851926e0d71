//! staircase(ε, D, r) in a lane: formula, error and acceptance are those of `super::super::staircase`.

use std::marker::PhantomData;

use super::super::elementary::{growth, rough_minus_ln, split_ln};
use super::super::staircase::{FIXED, Stairs};
use super::super::tier::Arithmetic;
use super::super::{MAX_SPAN, WORD_BITS};
use super::Own;
use super::lattice::Lattice;
use super::shape::Shape;

/// On a lattice, with a shape.
///
/// The stair of a word is the least J ≥ 0 with (y/(D·c))·e^(εJ) ≥ 1, y that of J = 0: one logarithm, of a number that is at least 2⁻⁶³ since
/// t/2 ≥ D·c. As there it need not be right.
pub(super) struct Stepped<L, S>(PhantomData<(L, S)>);

const UNIT: f64 = 1.0 / (1_u64 << WORD_BITS) as f64;

impl<L: Lattice, S: Shape> Own<7> for Stepped<L, S> {
    #[inline(always)]
    fn prepare<A: Arithmetic>(eps: f64, sensitivity: f64, shape: f64) -> ([f64; 7], f64) {
        let place = L::place(eps, sensitivity);
        let growth = growth::<A>(eps);
        let (r, certain) = S::r(shape, place.cells, growth);
        let floor = place.cells / growth;
        let half_t = (r - 0.5) + floor;
        let inverse_eps = 1.0 / eps;
        let decidable = place.known & certain & (place.cells + place.cells * inverse_eps <= MAX_SPAN);
        let slack = if decidable { FIXED } else { f64::INFINITY };
        (
            [eps, inverse_eps, place.cells, floor, r - 1.0, half_t, slack],
            place.granularity,
        )
    }

    #[inline(always)]
    fn reduce<A: Arithmetic>([_, inverse_eps, _, floor, _, half_t, _]: [f64; 7], bits: u64) -> [f64; 3] {
        let whole = A::from_bits(bits);
        let (e, s) = split_ln(whole * half_t / floor);
        let stair = A::mul_add(rough_minus_ln::<A, f64>(f64::from(WORD_BITS) - e, s), inverse_eps, 1.0);
        [whole, A::floor(stair).max(0.0), 0.0]
    }

    #[inline(always)]
    fn finish<A: Arithmetic>([eps, _, cells, floor, first, half_t, slack]: [f64; 7], [whole, stair, _]: [f64; 3]) -> (f64, bool) {
        let stairs = Stairs {
            unit: half_t * UNIT,
            cells,
            floor,
            first,
            eps,
            slack,
        };
        stairs.place::<A>(whole, stairs.unit_of::<A>(stair), stairs.outermost(stair))
    }
}
