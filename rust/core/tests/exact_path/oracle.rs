//! An independent oracle for the tests of `exact`: the formulas of docs/contract.md, in `dashu-float`.

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use dashu_int::IBig;

/// A binary float of any precision.
pub type Real = FBig<HalfEven, 2>;

/// The integer n with `bits` bits of working precision.
pub fn integer(n: u64, bits: usize) -> Real {
    Real::from(IBig::from(n)).with_precision(bits).value()
}

/// The exact number x, with `bits` bits of working precision.
pub fn real(x: f64, bits: usize) -> Real {
    Real::try_from(x).unwrap().with_precision(bits).value()
}

/// e^(−eps·count/parts) with `bits` correct bits.
pub fn exp_minus(eps: f64, count: u64, parts: u64, bits: usize) -> Real {
    // An error in x is a relative error of e^(−x), so x needs `bits` bits after the point; it has at most 21 before it, and three roundings.
    let work = bits + 32;
    let x = real(eps, work) * integer(count, work) / integer(parts, work);
    (-x).exp().with_precision(bits).value()
}

/// ⌊x·2^bits⌋ for x ≥ 0.
pub fn floor_scaled(x: &Real, bits: usize) -> IBig {
    let scaled = x.clone() << isize::try_from(bits).unwrap();
    let rounded = scaled.to_int().value();
    if Real::from(rounded.clone()) > scaled {
        rounded - 1
    } else {
        rounded
    }
}

/// The integer with these little-endian limbs.
pub fn from_limbs(limbs: &[u64]) -> IBig {
    limbs.iter().rev().fold(IBig::ZERO, |n, &limb| (n << 64) + IBig::from(limb))
}

/// `SplitMix64`: reproducible test points.
pub struct Points(pub u64);

impl Points {
    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [low, high], nearly uniform.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.word() % (high - low + 1)
    }

    /// A number in [2^low, 2^high), its logarithm uniform to the integer.
    pub fn magnitude(&mut self, low: i32, high: i32) -> f64 {
        let exponent = low + i32::try_from(self.word() % u64::from((high - low).unsigned_abs())).unwrap();
        (1.0 + (self.word() >> 12) as f64 * (-52.0_f64).exp2()) * f64::from(exponent).exp2()
    }
}
