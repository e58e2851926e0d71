//! True answers, rounded to the lattice (contract, section 4).

use super::dyadic::{decompose, power_of_two};

/// A true answer to be released.
pub trait Answer: Copy + private::Sealed {
    /// The answer as an `f64`; exact for a float.
    #[doc(hidden)]
    fn nearest(self) -> f64;

    /// Whether there is a number to round.
    #[doc(hidden)]
    fn is_finite(self) -> bool {
        self.nearest().is_finite()
    }

    /// Whether it is a number of a magnitude below `limit`, exactly; `limit` may be infinite.
    #[doc(hidden)]
    #[inline(always)]
    fn is_below(self, limit: f64) -> bool {
        self.nearest().abs() < limit
    }

    /// Whether every number of the type is below `limit`.
    #[doc(hidden)]
    fn are_below(_limit: f64) -> bool {
        false
    }

    /// ⌊x/g + ½⌋, computed exactly and saturating at ±2¹²⁶.
    ///
    /// Half upwards commutes with shifts by lattice steps. With half to even a change of Δ could move the rounded answer by more than ⌈Δ/g⌉ steps.
    #[doc(hidden)]
    fn round_to_lattice(self, log2_granularity: i32) -> i128 {
        let x = self.nearest();
        let (significand, exponent) = decompose(x.abs());
        let significand = i128::from(significand);
        let signed = if x.is_sign_negative() { -significand } else { significand };
        shift(signed, exponent - log2_granularity)
    }

    /// Whether [`Value::from_sum`](super::Value::from_sum) of it is exact, for `whole` values or floats. Floats that are released as floats all are.
    #[doc(hidden)]
    #[inline(always)]
    fn is_quick(self, whole: bool) -> bool {
        !whole || self.nearest().abs() < (1_u64 << 63) as f64
    }

    /// Whether every number of the type [is quick](Self::is_quick).
    #[doc(hidden)]
    #[inline(always)]
    fn are_quick(whole: bool) -> bool {
        !whole
    }

    /// ⌊x + ½⌋ of an answer x below 2⁶³, which is `whole` if x is a float.
    #[doc(hidden)]
    #[inline(always)]
    fn rounded(self, whole: f64) -> i64 {
        whole as i64
    }
}

pub(crate) mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for i64 {}
}

/// Answers of 2¹²⁶ lattice steps or more are refused; noise added to any other stays inside an `i128`.
pub(crate) const LIMIT: i128 = 1 << 126;

/// The least magnitude that is refused, 2¹²⁶·g; infinity where no number is too large.
pub(crate) fn limit(log2_granularity: i32) -> f64 {
    match log2_granularity + 126 {
        exponent @ ..=1023 => power_of_two(exponent),
        _ => f64::INFINITY,
    }
}

impl Answer for f64 {
    #[inline(always)]
    fn nearest(self) -> f64 {
        self
    }
}

impl Answer for f32 {
    #[inline(always)]
    fn is_below(self, limit: f64) -> bool {
        // Every limit is a power of two, and only 0 is below those that an `f32` does not hold.
        self.abs() < (limit as f32).max(Self::from_bits(1))
    }

    #[inline(always)]
    fn nearest(self) -> f64 {
        self.into()
    }
}

impl Answer for i64 {
    fn is_finite(self) -> bool {
        true
    }

    #[inline(always)]
    fn is_below(self, limit: f64) -> bool {
        // The conversion is exact for limits up to 2⁶³. Beyond, no integer is too large.
        self.unsigned_abs() < limit.ceil() as u64
    }

    fn are_below(limit: f64) -> bool {
        Self::MIN.is_below(limit)
    }

    fn round_to_lattice(self, log2_granularity: i32) -> i128 {
        shift(self.into(), -log2_granularity)
    }

    #[inline(always)]
    fn is_quick(self, whole: bool) -> bool {
        whole || self.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS
    }

    #[inline(always)]
    fn are_quick(whole: bool) -> bool {
        whole
    }

    #[inline(always)]
    fn nearest(self) -> f64 {
        // Exact where it has to be: floats take integers up to 2⁵³ (`is_quick`), `i64` takes `rounded`, and `i32` cuts off what is larger.
        self as f64
    }

    #[inline(always)]
    fn rounded(self, _whole: f64) -> i64 {
        self
    }
}

/// ⌊n·2^by + ½⌋ for |n| ≤ 2⁶³, saturating at ±2¹²⁶.
fn shift(n: i128, by: i32) -> i128 {
    match by {
        _ if n == 0 => 0,
        // At most 2¹²⁵.
        0..=62 => n << by,
        // Below 2¹²⁶.
        63.. if n.unsigned_abs().leading_zeros() as i32 > by + 1 => n << by,
        63.. => n.signum() * LIMIT,
        // |n|·2^by is below ½, or it is −½, which rounds up to zero.
        ..=-65 => 0,
        // An arithmetic shift rounds downwards on both sides of zero.
        _ => (n + (1 << (-by - 1))) >> -by,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::arithmetic::{Arithmetic, Fused, Separate};
    use crate::kernel::float::TWO_52;

    /// Evidence: equality with the general rounding, in integers.
    #[test]
    fn floats_round_as_integers_do() {
        let steps = [
            0.5_f64.next_down(),
            0.5,
            1.5,
            2.5,
            7.3,
            1e15,
            1e-300,
            5e-324,
            0.0,
            TWO_52 / 2.0 - 0.5,
            TWO_52 - 0.5,
            TWO_52,
            TWO_52 + 1.0,
            1e18,
        ];
        for x in steps.into_iter().flat_map(|x| [x, -x, x.next_up(), -x.next_up()]) {
            for rounded in [Fused::half_up(x), Separate::half_up(x)] {
                assert_eq!(rounded as i128, x.round_to_lattice(0), "{x:e}");
            }
            for log2_granularity in [-1022, -40, 3, 900] {
                let steps = x.nearest() * power_of_two(log2_granularity).recip();
                if steps.abs() < 1e38 {
                    for rounded in [Fused::half_up(steps), Separate::half_up(steps)] {
                        assert_eq!(rounded as i128, x.round_to_lattice(log2_granularity), "{x:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn halves_go_up_on_both_sides_of_zero() {
        for (x, log2, steps) in [
            (0.5, 0, 1),
            (1.5, 0, 2),
            (-0.5, 0, 0),
            (-1.5, 0, -1),
            (2.5, 0, 3),
            (0.499_999_999_999_999_94, 0, 0),
            (-0.0, 0, 0),
            (3.0, -2, 12),
            (-3.0, 2, -1),
            (-6.0, 2, -1),
            (-6.1, 2, -2),
            (6.0, 2, 2),
        ] {
            assert_eq!(x.round_to_lattice(log2), steps, "{x} on 2^{log2}");
        }
    }

    /// Evidence: 64-bit integers reach from −2⁶³ on.
    #[test]
    fn no_integer_is_too_large_for_a_fine_lattice() {
        assert!(i64::are_below(limit(-62)) && !i64::are_below(limit(-63)) && !f64::are_below(f64::INFINITY));
    }

    /// Evidence: the definition, at the largest numbers of steps that do not saturate and the least that do.
    #[test]
    fn numbers_of_steps_saturate() {
        let limit = power_of_two(126);
        for log2 in [-126, -125, -80, 0, 100] {
            let steps = |steps: f64| (steps * power_of_two(log2)).round_to_lattice(log2);
            assert_eq!(steps(limit.next_down()), LIMIT - (1 << 73), "2^{log2}");
            assert_eq!(steps(limit / 2.0), LIMIT / 2, "2^{log2}");
            for beyond in [1.0, 1.5, 2.0, 3.0, 4.0, 1e30] {
                assert_eq!(steps(beyond * limit), LIMIT, "{beyond} 2^{log2}");
                assert_eq!(steps(-beyond * limit), -LIMIT, "{beyond} 2^{log2}");
            }
        }
    }

    /// Evidence: the limits as `f64`.
    #[test]
    fn single_floats_are_below_the_same_limits() {
        for limit in [-948, -150, -149, -148, -126, 0, 127, 128, 1023]
            .map(power_of_two)
            .into_iter()
            .chain([f64::INFINITY])
        {
            for x in [
                0.0,
                f32::from_bits(1),
                1e-40,
                f32::MIN_POSITIVE,
                1.0_f32.next_down(),
                1.0,
                f32::MAX,
                f32::INFINITY,
                f32::NAN,
            ] {
                assert_eq!(x.is_below(limit), f64::from(x).is_below(limit), "{x} {limit}");
                assert_eq!((-x).is_below(limit), f64::from(x).is_below(limit), "{x} {limit}");
            }
        }
    }

    /// Evidence: the range of 64-bit integers.
    #[test]
    fn floats_are_quick_where_integers_hold_them() {
        let end = power_of_two(63);
        for (x, whole, quick) in [
            (end.next_down(), true, true),
            (-end.next_down(), true, true),
            (end, true, false),
            (-2.0 * end, true, false),
            (0.0, true, true),
            (end, false, true),
            (1e300, false, true),
        ] {
            assert_eq!(x.is_quick(whole), quick, "{x}");
        }
    }

    #[test]
    fn integers_and_floats_round_alike() {
        for n in [0, 1, -1, 5, -5, 6, -6, 7, 1 << 52, -(1 << 52)] {
            for log2 in [-80, -62, -3, 0, 1, 2, 3, 40, 52, 53, 54, 70, 900] {
                assert_eq!(n.round_to_lattice(log2), (n as f64).round_to_lattice(log2), "{n} on 2^{log2}");
            }
        }
    }
}
