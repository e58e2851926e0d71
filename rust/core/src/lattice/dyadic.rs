//! Finite `f64`s as what they are, significand · 2^exponent: exact scaling and rounding to powers of two.

/// Whether every processor of the architecture rounds and converts vectors of `f64` in one instruction (docs/evidence/aarch64.md).
pub(crate) const DIRECT: bool = cfg!(target_arch = "aarch64");

/// 1.5·2⁵²: adding it rounds a number below 2⁵¹ to the nearest whole number and leaves that number in the low bits of the significand.
pub(crate) const SHIFTER: f64 = 6_755_399_441_055_744.0;

/// ⌊log₂ x⌋ of a finite positive number, subnormal ones included.
pub(crate) fn floor_log2(x: f64) -> i32 {
    let (significand, exponent) = decompose(x);
    63 - significand.leading_zeros() as i32 + exponent
}

/// ⌈x·2^(−log2)⌉ of a finite positive number, where the result is known to be below 2⁶³.
pub(crate) fn ceil_scaled(x: f64, log2: i32) -> u64 {
    let (significand, exponent) = decompose(x);
    let shift = exponent - log2;
    if shift >= 0 {
        significand << shift
    } else {
        let down = (-shift) as u32;
        // A divisor of 2⁵³ or more gives 1, whichever it is.
        significand.div_ceil(1_u64.checked_shl(down).unwrap_or(u64::MAX))
    }
}

/// ⌊x·2^(−log2)⌋ of a finite non-negative number, where the result is known to be below 2⁶³.
pub(crate) fn floor_scaled(x: f64, log2: i32) -> u64 {
    let (significand, exponent) = decompose(x);
    let shift = exponent - log2;
    if shift >= 0 {
        significand << shift
    } else {
        significand.checked_shr(shift.unsigned_abs()).unwrap_or(0)
    }
}

/// A finite non-negative number as `significand · 2^exponent`, exactly.
pub(crate) fn decompose(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match (bits >> 52) & 0x7ff {
        // Subnormal: without the hidden bit.
        0 => (fraction, -1074),
        biased => (fraction | 1 << 52, biased as i32 - 1075),
    }
}

/// 2^e for −1074 ≤ e ≤ 1023, exactly.
pub(crate) fn power_of_two(e: i32) -> f64 {
    debug_assert!((-1074..=1023).contains(&e));
    if e < -1022 {
        f64::from_bits(1 << (e + 1074))
    } else {
        f64::from_bits(((e + 1023) as u64) << 52)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_and_logarithms_invert_each_other() {
        for e in -1074..=1023 {
            assert_eq!(floor_log2(power_of_two(e)), e);
        }
        assert_eq!(floor_log2(1.9), 0);
        assert_eq!(floor_log2(0.999), -1);
    }

    /// Evidence: the definitions, for shifts to either side and beyond all bits.
    #[test]
    fn numbers_are_scaled_and_rounded() {
        for (x, log2, floor, ceil) in [
            (3.0, -53, 3 << 53, 3 << 53),
            (7.0, 1, 3, 4),
            (7.0, 0, 7, 7),
            (1e-300, -1, 0, 1),
            (0.75, 0, 0, 1),
        ] {
            assert_eq!(
                (floor_scaled(x, log2), ceil_scaled(x, log2)),
                (floor, ceil),
                "{x} on 2^{log2}"
            );
        }
    }
}
