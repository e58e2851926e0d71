//! The first level of geometric laws of any scale, where an instruction looks up tables of 16 numbers: no division.

use super::super::arithmetic::Arithmetic;
use super::super::elementary::half_log_ratio;
use super::super::float::{from_small, round};
use super::super::lane::{BLOCK, SIGN, WORD_BITS, with_sign};
use super::{Block, MOST_IN_DOUBT};
use crate::lattice::dyadic::power_of_two;
use crate::lattice::value::Value;

/// The formula of [`GeometricLane`](super::super::geometric::GeometricLane), |X| = ⌊κ·(−ln v) + β⌋.
///
/// With V = m·2^e, 1 ≤ m < 2, and R near 1/m by the four leading bits of m, t = m·R − 1 is at most 1/32 and
///
/// ```text
/// x − ½ = (63 − e)·κ·ln 2 + (κ·ln R + β − ½) − κ·ln(1 + t).
/// ```
///
/// The last term is a Taylor polynomial of degree 8.
#[derive(Clone, Debug)]
pub(in super::super) struct Table {
    /// R.
    reciprocals: [f64; ENTRIES],
    /// κ·ln R + β − ½.
    offsets: [f64; ENTRIES],
    scale: f64,
    /// κ·ln 2.
    octave: f64,
    /// ½ less the tolerance.
    inside: f64,
    /// Words below it are not certain.
    least: f64,
}

const ENTRIES: usize = 16;

/// −ln(1 + t) = −t + t²·(½ − t/3 + …).
const SERIES: [f64; 7] = [0.5, -1.0 / 3.0, 0.25, -0.2, 1.0 / 6.0, -1.0 / 7.0, 0.125];

impl Table {
    /// `None` where too many blocks would be in doubt.
    pub fn new(eps: f64, cells: u64) -> Option<Self> {
        let scale = cells as f64 / eps;
        let offset = half_log_ratio(1.0 / scale) - 0.5;
        let reciprocals: [f64; ENTRIES] = core::array::from_fn(|i| 32.0 / (2 * ENTRIES + 2 * i + 1) as f64);
        let least = power_of_two(48);
        let tolerance = scale * (power_of_two(-47) + 1.0 / least) + power_of_two(-40);
        let in_doubt = BLOCK as f64 * (least * power_of_two(-WORD_BITS.cast_signed()) + 2.0 * tolerance);
        (in_doubt <= MOST_IN_DOUBT).then(|| Self {
            reciprocals,
            offsets: reciprocals.map(|reciprocal| scale * reciprocal.ln() + offset),
            scale,
            octave: scale * core::f64::consts::LN_2,
            inside: 0.5 - tolerance,
            least,
        })
    }
}

impl Block for Table {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], granularity: f64, out: &mut [T; BLOCK]) -> bool {
        const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
        if !A::LOOKS_UP {
            return false;
        }
        // The sign bit of a sum of these.
        let mut doubt = 0_u64;
        let Self {
            scale,
            octave,
            inside,
            least,
            ..
        } = *self;
        let mut whole = [0.0; BLOCK];
        for i in 0..BLOCK {
            whole[i] = A::from_bits(words[i] & !SIGN);
        }
        let (mut reciprocals, mut offsets) = ([0.0; BLOCK], [0.0; BLOCK]);
        A::look_up(&self.reciprocals, &whole, &mut reciprocals);
        A::look_up(&self.offsets, &whole, &mut offsets);
        for i in 0..BLOCK {
            let bits = whole[i].to_bits();
            let e = 1023.0 + 63.0 - from_small(bits >> 52);
            let m = f64::from_bits((bits & !EXPONENT) | 1.0_f64.to_bits());
            let t = A::mul_add(m, reciprocals[i], -1.0);
            let t2 = t * t;
            let [c2, c3, c4, c5, c6, c7, c8] = SERIES;
            let low = A::mul_add(A::mul_add(c5, t, c4), t2, A::mul_add(c3, t, c2));
            let high = A::mul_add(c8, t2, A::mul_add(c7, t, c6));
            let series = A::mul_add(high, t2 * t2, low);
            let logarithm = A::mul_add(t2, series, -t);
            let x = A::mul_add(scale, logarithm, A::mul_add(e, octave, offsets[i]));
            let x = with_sign(x, words[i]);
            let nearest = round(x);
            doubt |= (inside - (x - nearest).abs()).to_bits() | (whole[i] - least).to_bits();
            out[i] = T::from_whole(nearest, granularity);
        }
        doubt >> 63 == 0
    }
}
