//! Discrete Gaussian distributions of many steps in fixed point.

use super::super::arithmetic::Baseline;
use super::super::float::{floor, from_bits, nearest};
use super::super::quantile::QuantileLane;
use super::logarithm::{BITS, LN2, Logarithm, high, odd_reciprocals, ratio};
use crate::lattice::dyadic::{decompose, power_of_two};

/// Whether v < S(j) for the j that a word leaves in doubt, by the formula of `exact::wide_gaussian`: with a = 2j − 1, z² = a²/(4σ²) and
/// g = Σ z²ⁿ/(1·3·…·(2n + 1)) + h²/24 − 7h⁴(z² − 3)/5760, the sign of
///
/// ```text
/// q = 2 ln a − z² + 2 ln g − ln(2πσ²) − 2 ln(1 − v).
/// ```
///
/// Error of q:
///
/// ```text
/// four logarithms                    7·2^−84
/// z², by 1/(4σ²) to 2^−124           2^−117
/// g, relative to it, twice           2^−82     its correction in 2^−83, a hundred products cut off at 2^−97; the formula's next term is below 2^−100
/// ```
#[derive(Clone, Debug)]
pub(crate) struct FixedGaussian {
    lane: QuantileLane,
    /// a²·2^shift fits 128 bits where z² < 64,
    shift: u32,
    /// and its product with this is z² in 2^−[`BITS`].
    inverse: u128,
    /// ln(2πσ²) in 2^−[`BITS`].
    logarithm: u128,
    /// h²/24 + 21h⁴/5760, and 7h⁴/5760.
    correction: [f64; 2],
}

/// For smaller σ² the lanes leave less than one word in a million undecided.
const LEAST_SIGMA2: f64 = (1_u64 << 32) as f64;

/// ⌊ln(2π)·2^121⌋.
const LN_TAU: u128 = 0x03ac_fe39_0c97_d694_d252_f240_0510_6480;

/// Bound on the error of q, in 2^−[`BITS`].
const SLACK: i128 = 1 << (BITS - 80);

/// Terms of g: the next is below 2^−104 where z² < 34.
const TERMS: usize = 100;

const ODD: [u128; TERMS] = odd_reciprocals();

/// Fraction bits of g, which is below 2^23.
const PLACES: u32 = 104;

impl FixedGaussian {
    /// `None` where the lanes decide nearly every word.
    pub fn new(sigma2: f64) -> Option<Self> {
        let (significand, exponent) = decompose(sigma2);
        let zeros = significand.leading_zeros();
        // σ² = m·2^(log2 − 64) with 2^63 ≤ m < 2^64, so that a² < 64·4σ² < 2^(log2 + 8).
        let (m, log2) = (significand << zeros, exponent - zeros.cast_signed() + 64);
        let h2 = 1.0 / sigma2;
        // 2^191/m; for the least m it is 2^128.
        let inverse = if m == 1 << 63 { u128::MAX } else { ratio(1, m).0 };
        let of_m = Logarithm::of_long(u128::from(m) << 63).minus_ln;
        (sigma2 >= LEAST_SIGMA2).then(|| Self {
            lane: QuantileLane::new(sigma2),
            shift: (120 - log2).cast_unsigned(),
            inverse,
            logarithm: LN_TAU
                .wrapping_add(LN2.wrapping_mul(log2.unsigned_abs().into()))
                .wrapping_sub(of_m),
            correction: [h2 / 24.0 + 21.0 * h2 * h2 / 5760.0, 7.0 * h2 * h2 / 5760.0],
        })
    }

    pub fn place(&self, bits: u64) -> (u64, bool) {
        let (t, is_near) = self.lane.place::<Baseline>(from_bits(bits));
        // The nearest half-integer is j − ½.
        let j = nearest(floor(t)).1.wrapping_add(1).cast_unsigned();
        let a = j.wrapping_mul(2).wrapping_sub(1);
        let complement = (1_u64 << 63).wrapping_sub(bits);
        let z2 = high(u128::from(a).wrapping_mul(a.into()).wrapping_shl(self.shift), self.inverse);
        let sum = self.sum(z2);
        let ln = |v: u128| Logarithm::of_long(v).minus_ln;
        // ln a = 49 ln 2 + ln(a/2^49), ln g = 23 ln 2 + ln(g/2^23), each twice.
        let q = LN2
            .wrapping_mul(u128::from(2 * (49 + 127 - PLACES)))
            .wrapping_add(
                ln(u128::from(complement) << 64)
                    .wrapping_sub(ln(u128::from(a) << 78))
                    .wrapping_sub(ln(sum))
                    .wrapping_mul(2),
            )
            .wrapping_sub(z2)
            .wrapping_sub(self.logarithm)
            .cast_signed();
        // Bits beyond the word lower 1 − v by less than one unit in `complement`, which raises q by less than 2.1 units over it; in 2^−80.
        let beyond = nearest(2.1 / from_bits(complement) * power_of_two(80)).1.wrapping_add(1);
        let most = q.wrapping_add(i128::from(beyond) << (BITS - 80));
        let (is_below, is_above) = (most.wrapping_add(SLACK) < 0, q.wrapping_sub(SLACK) > 0);
        let is_long = complement >= 1 << 31;
        (j.wrapping_sub((!is_below).into()), is_near & is_long & (is_below | is_above))
    }

    /// g in 2^−[`PLACES`].
    fn sum(&self, z2: u128) -> u128 {
        let z = (z2 >> 64) as f64 * power_of_two(64 - BITS.cast_signed());
        let [first, second] = self.correction;
        // Below 2⁻³⁶, in 2^−83.
        let correction = nearest((first - second * z) * power_of_two(83)).1.cast_unsigned();
        let mut term = 1_u128 << PLACES;
        let mut sum = term.wrapping_add(u128::from(correction) << (PLACES - 83));
        for odd in &ODD[1..] {
            term = high(high(term, z2) << (128 - BITS), *odd);
            sum = sum.wrapping_add(term);
        }
        sum
    }
}
