//! The first level of geometric distributions of any scale, where an instruction looks up tables of 16 numbers: no division.

use super::super::arithmetic::{Arithmetic, BLOCK, Separate};
use super::super::elementary::{minus_ln, minus_ln_1p, split_ln};
use super::super::float::{U, minus_small};
use super::super::mapped::Map;
use super::block::{Block, Certain, wholes};
use crate::lattice::value::{Scaling, Value};

/// The formula of [`GeometricLane`](super::super::geometric::GeometricLane), |X| = ⌊κ·(−ln v) + β⌋.
///
/// With V = m·2^e, 1 ≤ m < 2, and R near 1/m by the four leading bits of m, |t| = |m·R − 1| ≤ 1/32 and
///
/// ```text
/// x − ½ = (63 − e)·κ·ln 2 + (κ·ln R + β − ½) − κ·ln(1 + t).
/// ```
///
/// Error of x where V ≥ 2⁴⁸, so that ℓ = −ln v ≤ 10.4, in units of u:
///
/// ```text
/// V as an f64                 κ
/// t                           κ/32       rounded once: t is a fused remainder
/// −ln(1 + t)                  20κ        `minus_ln_1p`
/// κ and the product with it   κ/16
/// κ·ln R + β − ½              5κ + 12    ln R 1.9, products and sum; β 9
/// κ·ln 2 and its product      4·(ℓ + ln 2)·κ
/// sums                        2·(ℓ + 1)·κ
/// θ                           κ/V        in x: the bits beyond the word
/// ```
///
/// [`PER_SCALE`] and [`FIXED`] cover it.
///
/// `MAPPED`: all of this is about U of `canonical` instead of V.
#[derive(Clone, Debug)]
pub(in super::super) struct Table<const MAPPED: bool> {
    map: Map,
    /// R.
    reciprocals: [f64; ENTRIES],
    /// κ·ln R + β − ½.
    offsets: [f64; ENTRIES],
    scale: f64,
    /// κ·ln 2.
    octave: f64,
    certain: Certain,
}

const ENTRIES: usize = 16;

/// Where the four leading bits of a significand are.
const LEADING: u32 = 48;

/// Words below it are not certain.
pub(in super::super) const LEAST: f64 = (1_u64 << 48) as f64;

/// Tolerance on x for each unit of κ,
pub(in super::super) const PER_SCALE: f64 = 100.0 * U;
/// and whatever it is.
pub(in super::super) const FIXED: f64 = 1.0 / (1_u64 << 40) as f64;

impl<const MAPPED: bool> Table<MAPPED> {
    /// The level for scale κ and offset β. `None` where too many blocks would be undecided.
    pub fn new(scale: f64, offset: f64, map: Map) -> Option<Self> {
        let reciprocals: [f64; ENTRIES] = core::array::from_fn(reciprocal);
        let per_scale = PER_SCALE + map.per_scale;
        let tolerance = scale * (per_scale + (1.0 + per_scale) / LEAST) + FIXED;
        let certain = Certain::new(tolerance, LEAST)?;
        Some(Self {
            map,
            reciprocals,
            offsets: reciprocals.map(|reciprocal| {
                // Twice R, for which `split_ln` is: it is 1 or more.
                let (e, s) = split_ln(1.0, 2.0 * reciprocal);
                (offset - 0.5) - scale * minus_ln::<Separate, f64>(e, s)
            }),
            scale,
            octave: scale * core::f64::consts::LN_2,
            certain,
        })
    }
}

/// 1/m for the middle of the significands from 1 + i/16.
pub(in super::super) fn reciprocal(i: usize) -> f64 {
    32.0 / (2 * ENTRIES + 2 * i + 1) as f64
}

impl<const MAPPED: bool> Block for Table<MAPPED> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
        let Self { scale, octave, .. } = *self;
        let whole = wholes::<A, MAPPED>(words, self.map);
        let reciprocals = A::look_up::<LEADING>(&self.reciprocals, &whole);
        let offsets = A::look_up::<LEADING>(&self.offsets, &whole);
        let mut x = [0.0; BLOCK];
        for i in 0..BLOCK {
            let bits = whole[i].to_bits();
            let e = minus_small(1023.0 + 63.0, bits >> 52);
            let m = f64::from_bits((bits & !EXPONENT) | 1.0_f64.to_bits());
            let t = A::mul_add(m, reciprocals[i], -1.0);
            x[i] = A::mul_add(scale, minus_ln_1p::<A, f64>(t), A::mul_add(e, octave, offsets[i]));
        }
        self.certain.write::<A, T>(words, |i| (whole[i], x[i]), scaling, out)
    }
}
