//! The fast path of canonical noise on the integers: that of the geometric distribution, after a linear map of v.

use super::elementary::exp_m1;
use super::float::U;
use super::geometric::PER_SCALE_MAPPED;
use super::mapped::Map;
use crate::lattice::dyadic::power_of_two;

/// u = τ + (1 − τ)·v with τ = 2δ/(g + 2δ), g = e^ε − 1, on words of `bits` bits.
///
/// With S_G(j) = 2b^j/(1 + b) of geometric(ε, 1), the survival function of `exact::canonical` is (S_G(j) − τ)/(1 − τ). So v < S(j) is u < S_G(j),
/// and |X| is the geometric magnitude for u. No u is beyond A, because S_G(A + 1) ≤ τ.
///
/// Error of U = scale·V + offset, with x the part of scale·V in it, relative to U, in units of u:
///
/// ```text
/// V as an f64                x
/// scale = g/(g + 2δ)         6.5·x         g 4.5, of which the quotient has a part; sum, quotient
/// its product                x
/// τ                          6.5·(1 − x)   likewise
/// the sum                    1
/// ```
///
/// 9.5 at most, where a word as it is has 1 for V: [`PER_SCALE_MAPPED`] covers the difference. In ln u each
/// counts for itself, and κ times that in x. Bits beyond the word move U by less than one unit.
pub(super) fn map(eps: f64, delta: f64, bits: u32) -> Map {
    let growth = exp_m1(eps);
    // Where e^ε overflows the map moves no word but zero: τ < e⁻⁶⁹⁹.
    if growth == f64::INFINITY {
        return Map::NONE;
    }
    let total = growth + 2.0 * delta;
    Map {
        scale: growth / total,
        offset: (2.0 * delta / total) * power_of_two(bits.cast_signed()),
        per_scale: PER_SCALE_MAPPED,
    }
}

/// S(1), S(2), …, S(N), by S(1) = 2(1 − δ)/(1 + e^ε), S(j + 1) = max(0, e^(−ε)·(S(j) − 2δ)). Each is off by less than [`ERROR`].
///
/// e^ε has 5.5u, and S(1) then 8.5u. Each step adds 6.5u for the quotient and u for the difference, of numbers below 1: 151u for N = 20.
pub(super) fn survivals<const N: usize>(eps: f64, delta: f64) -> [f64; N] {
    const { assert!(N <= 20) };
    let rise = 1.0 + exp_m1(eps);
    let mut next = 2.0 * (1.0 - delta) / (1.0 + rise);
    core::array::from_fn(|_| {
        let here = next;
        next = ((here - 2.0 * delta) / rise).max(0.0);
        here
    })
}

pub(super) const ERROR: f64 = 256.0 * U;
