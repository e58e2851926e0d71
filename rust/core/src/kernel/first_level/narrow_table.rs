//! The first level of geometric distributions of small scale where an instruction looks up tables of 16 numbers: `f32`, no division.

use super::super::arithmetic::{Arithmetic, BLOCK};
use super::super::mapped::Map;
use super::block::Block;
use super::narrow::{BITS, Certain, NarrowMap, U, least, longest, magnitudes, per_scale_of_map};
use crate::lattice::value::{Scaling, Value};

/// The formula of [`Narrow`](super::narrow::Narrow). With V = m·2^e, 1 ≤ m < 2, and R near 1/m by the four leading bits of m,
/// |t| = |m·R − 1| ≤ 1/32 and
///
/// ```text
/// x − ½ = (κ·(31·ln 2 + ln R) + β − ½) − e·κ·ln 2 − κ·ln(1 + t).
/// ```
///
/// Error of x, ℓ the logarithm and L = 31·ln 2, in units of 2⁻²⁴:
///
/// ```text
/// V as an f32                 κ
/// −ln(1 + t)                  1.5κ       its cubic and t, seen for every significand
/// its product with κ          0.2κ       factors and two roundings, each of at most κ/16
/// κ·(L + ln R) + β − ½        L·κ + 1
/// κ·ln 2 and its product      L·κ
/// two sums                    2x + 0.1κ
/// θ                           κ/V        in x: the bits beyond those 31
/// ```
///
/// `MAPPED` as in [`Narrow`](super::narrow::Narrow).
#[derive(Clone, Debug)]
pub(in super::super) struct NarrowTable<const MAPPED: bool> {
    map: NarrowMap,
    /// κ·(L + ln R) + β − ½.
    offsets: [f32; 16],
    /// −κ·ln 2.
    octave: f32,
    /// κ times the factors of t, t² and t³.
    factors: [f32; 3],
    certain: Certain,
}

/// R.
pub(in super::super) const RECIPROCALS: [f32; 16] = {
    let mut reciprocals = [0.0; 16];
    let mut i = 0;
    while i < 16 {
        reciprocals[i] = 32.0 / (33 + 2 * i) as f32;
        i += 1;
    }
    reciprocals
};

/// −ln(1 + t), about: t² has more than ½, for t⁴.
pub(in super::super) const FACTORS: [f64; 3] = [-1.0, 0.500_25, -1.0 / 3.0];

/// The error of −ln(1 + t) and of t.
pub(in super::super) const LOGARITHM: f64 = 1.5 * U;

/// Tolerance on x for each unit of κ, beside [`LOGARITHM`].
pub(in super::super) const PER_SCALE: f64 = (1.0 + 0.2 + 2.0 * 31.0 * core::f64::consts::LN_2 + 0.1) * U;

impl<const MAPPED: bool> NarrowTable<MAPPED> {
    /// The level for scale κ and offset β. `None` where too many blocks would be undecided.
    pub fn new(scale: f64, offset: f64, map: Map) -> Option<Self> {
        let ln_2 = core::f64::consts::LN_2;
        let least = least(scale);
        let x = scale * longest(least) + 1.0;
        let per_scale = PER_SCALE + LOGARITHM + per_scale_of_map::<MAPPED>();
        let tolerance = scale * per_scale + (2.0 * x + 1.0) * U + scale / f64::from(least);
        Some(Self {
            map: NarrowMap::new(map),
            offsets: RECIPROCALS.map(|reciprocal| {
                let logarithm = f64::from(BITS) * ln_2 + f64::from(reciprocal).ln();
                (scale * logarithm + (offset - 0.5)) as f32
            }),
            octave: (-scale * ln_2) as f32,
            factors: FACTORS.map(|factor| (scale * factor) as f32),
            certain: Certain::new(tolerance, least)?,
        })
    }
}

/// Where the four leading bits of a significand are.
const LEADING: u32 = 19;

impl<const MAPPED: bool> Block for NarrowTable<MAPPED> {
    #[inline(always)]
    fn write<A: Arithmetic, T: Value>(&self, words: &[u64; BLOCK], scaling: Scaling, out: &mut [T; BLOCK]) -> bool {
        let leading = A::high_halves(words);
        let magnitudes = magnitudes::<A, MAPPED>(&leading, self.map);
        let reciprocals = A::look_up_narrow::<LEADING>(&RECIPROCALS, &magnitudes);
        let offsets = A::look_up_narrow::<LEADING>(&self.offsets, &magnitudes);
        let [exponents, significands] = A::split_narrow(&magnitudes);
        let [first, second, third] = self.factors;
        let mut x = [0.0; BLOCK];
        for i in 0..BLOCK {
            let t = A::mul_add_narrow(significands[i], reciprocals[i], -1.0);
            let series = A::mul_add_narrow(t, A::mul_add_narrow(t, third, second), first);
            x[i] = A::mul_add_narrow(t, series, A::mul_add_narrow(exponents[i], self.octave, offsets[i]));
        }
        self.certain.write::<A, T>(&leading, &x, scaling, out)
    }
}
