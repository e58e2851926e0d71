//! From integers on the lattice to the element types of an output.

use std::hint::black_box;

use crate::kernel::float;
use crate::lattice::{DIRECT, SHIFTER, answer::Answer, power_of_two};

/// An element type that noise can be written as.
///
/// Floating types hold `steps · g`, rounded once to nearest and never −0.0. Integer types are for g = 1 and hold `steps`, saturating.
pub trait Value: Copy + Default + Send + private::Sealed {
    /// Whether this is an integer type.
    #[doc(hidden)]
    const WHOLE: bool;

    /// Whether sums are rounded to odd before they are rounded to the type. Answers may then lie in the output's places: those of a block are read
    /// before a sum is written.
    #[doc(hidden)]
    const TO_ODD: bool = false;

    /// A magnitude below 2⁵¹ that is a whole number, with its sign; the fast path's answer.
    #[doc(hidden)]
    fn from_whole(steps: f64, granularity: f64) -> Self;

    /// [`Value::from_whole`] of the whole number `nearest` to x. It is −0.0 only where `FUSED`, and there a product and a sum are one instruction.
    #[doc(hidden)]
    #[inline(always)]
    fn from_nearest<const FUSED: bool>(_x: f64, nearest: f64, granularity: f64) -> Self {
        Self::from_whole(nearest, granularity)
    }

    /// [`Value::from_whole`] of `steps` plus a centre.
    #[doc(hidden)]
    #[inline(always)]
    fn from_moved(steps: f64, scaling: Scaling) -> Self {
        Self::from_whole(steps + scaling.centre as f64, scaling.granularity)
    }

    /// [`Value::from_whole`] of an integer of 32 bits.
    #[doc(hidden)]
    #[inline(always)]
    fn from_narrow(steps: i32, granularity: f64) -> Self {
        Self::from_whole(steps.into(), granularity)
    }

    /// [`Value::from_whole`] of an integer.
    #[doc(hidden)]
    #[inline(always)]
    fn from_near(steps: i64, granularity: f64) -> Self {
        Self::from_whole(float::near(steps), granularity)
    }

    /// (⌊x/g + ½⌋ + noise)·g for an answer x that [is quick](Answer::is_quick), `steps` = ⌊x/g + ½⌋, and whole noise below [`NEAR`], by equal work.
    #[doc(hidden)]
    fn from_sum<A: Answer>(answer: A, steps: f64, noise: f64, granularity: f64) -> Self;

    /// Whether [`Value::from_integers`] takes noise of any magnitude.
    #[doc(hidden)]
    const EXACT: bool = false;

    /// [`Value::from_sum`] of noise that is an integer.
    #[doc(hidden)]
    #[inline(always)]
    fn from_integers<A: Answer>(answer: A, steps: f64, noise: i64, granularity: f64) -> Self {
        Self::from_sum(answer, steps, float::near(noise), granularity)
    }

    /// Any number of steps; the slow path's answer, and a released value.
    #[doc(hidden)]
    fn from_steps(steps: i128, log2_granularity: i32) -> Self;

    #[doc(hidden)]
    fn elements(out: &mut [Self]) -> Elements<'_>;
}

/// Elements of one of the types.
pub enum Elements<'a> {
    F64(&'a mut [f64]),
    F32(&'a mut [f32]),
    I64(&'a mut [i64]),
    I32(&'a mut [i32]),
}

/// How a kernel's whole numbers become elements: (X + centre)·g.
#[derive(Clone, Copy, Debug)]
pub struct Scaling {
    granularity: f64,
    centre: i64,
}

impl Scaling {
    #[cfg(any(test, feature = "probe"))]
    pub(crate) const WHOLE: Self = Self {
        granularity: 1.0,
        centre: 0,
    };

    /// `None` for a centre farther than 2⁵² from 0; an `f64` adds any other exactly to an X below 2⁵¹.
    pub(crate) fn new(granularity: f64, centre: i64) -> Option<Self> {
        (centre.unsigned_abs() <= 1 << 52).then_some(Self { granularity, centre })
    }

    #[inline(always)]
    pub(crate) fn is_moved(self) -> bool {
        self.centre != 0
    }

    /// g, where it is 0.
    #[inline(always)]
    pub(crate) fn granularity(self) -> f64 {
        debug_assert!(self.centre == 0);
        self.granularity
    }
}

mod private {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for f32 {}
    impl Sealed for i64 {}
    impl Sealed for i32 {}
}

/// [`Value::from_near`] takes magnitudes below it; a power of two.
pub(crate) const NEAR: u64 = 1 << 51;

impl Value for f64 {
    const WHOLE: bool = false;

    #[inline(always)]
    fn from_whole(steps: f64, granularity: f64) -> Self {
        // −0.0 + 0.0 = 0.0.
        steps * granularity + 0.0
    }

    #[inline(always)]
    fn from_nearest<const FUSED: bool>(_x: f64, nearest: f64, granularity: f64) -> Self {
        // −0.0 + 0.0 = 0.0.
        if FUSED {
            nearest.mul_add(granularity, 0.0)
        } else {
            nearest * granularity
        }
    }

    #[inline(always)]
    fn from_moved(steps: f64, scaling: Scaling) -> Self {
        // −0.0 + 0.0 = 0.0, and no other sum that is zero is −0.0.
        (steps + scaling.centre as f64) * scaling.granularity
    }

    #[inline(always)]
    fn from_sum<A: Answer>(_: A, steps: f64, noise: f64, granularity: f64) -> Self {
        // Whole numbers that an `f64` holds: the sum is rounded once, and the product is exact. Noise is no −0.0, so that no sum is one.
        ((steps + noise) * granularity).clamp(Self::MIN, Self::MAX)
    }

    fn from_steps(steps: i128, log2_granularity: i32) -> Self {
        // The conversion rounds. The product is exact or overflows: it is a multiple of 2⁻¹⁰⁷⁴, as g is.
        let value = steps as f64 * power_of_two(log2_granularity);
        value.clamp(f64::MIN, f64::MAX)
    }

    fn elements(out: &mut [Self]) -> Elements<'_> {
        Elements::F64(out)
    }
}

impl Value for f32 {
    const WHOLE: bool = false;
    const TO_ODD: bool = true;

    #[inline(always)]
    fn from_whole(steps: f64, granularity: f64) -> Self {
        // A number beyond the type becomes infinite first.
        ((steps * granularity) as f32 + 0.0).clamp(Self::MIN, Self::MAX)
    }

    #[inline(always)]
    fn from_sum<A: Answer>(_: A, steps: f64, noise: f64, granularity: f64) -> Self {
        // As in `from_steps`, rounding to odd first.
        Self::from_whole(float::sum_to_odd(steps, noise), granularity)
    }

    fn from_steps(steps: i128, log2_granularity: i32) -> Self {
        // Rounding to nearest twice is not rounding to nearest; to odd and then to nearest is (Boldo and Melquiond 2008, Theorem 1).
        let value = round_to_odd(steps) * power_of_two(log2_granularity);
        value.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32 + 0.0
    }

    fn elements(out: &mut [Self]) -> Elements<'_> {
        Elements::F32(out)
    }
}

/// `n` if an `f64` holds it, otherwise the one of its two neighbours whose last bit is 1.
fn round_to_odd(n: i128) -> f64 {
    let sign = n >> 127;
    let magnitude = (n ^ sign).wrapping_sub(sign).cast_unsigned();
    // With a last bit there is no special case of zero to branch for.
    let drop = (128 - f64::MANTISSA_DIGITS).saturating_sub((magnitude | 1).leading_zeros());
    let kept = magnitude >> drop;
    let sticky = u128::from(kept << drop != magnitude);
    let rounded = ((kept | sticky) << drop) as f64;
    f64::from_bits(rounded.to_bits() | sign as u64 & 1 << 63)
}

/// `value` if `excess` is 0, otherwise the end of the type whose magnitude is `most` on the side of `sign`, 0 or −1.
///
/// Masks, because the compiler turns a condition into a branch on noise (docs/evidence/timing.md).
#[inline]
fn saturated(value: i64, excess: i64, sign: i64, most: i64) -> i64 {
    let beyond = black_box((excess | excess.wrapping_neg()) >> 63);
    (value & !beyond) | ((most ^ black_box(sign)) & beyond)
}

impl Value for i64 {
    const WHOLE: bool = true;
    const EXACT: bool = true;

    #[inline(always)]
    fn from_whole(steps: f64, _granularity: f64) -> Self {
        // Lanes that the slow path will overwrite may hold anything: saturating, or wrapping.
        if DIRECT {
            return steps as i64;
        }
        (steps + SHIFTER).to_bits().wrapping_sub(SHIFTER.to_bits()) as i64
    }

    #[inline(always)]
    fn from_nearest<const FUSED: bool>(x: f64, nearest: f64, granularity: f64) -> Self {
        // The sum rounds, and is there already.
        Self::from_whole(if DIRECT { nearest } else { x }, granularity)
    }

    #[inline(always)]
    fn from_moved(steps: f64, scaling: Scaling) -> Self {
        Self::from_whole(steps, scaling.granularity).wrapping_add(scaling.centre)
    }

    #[inline(always)]
    fn from_narrow(steps: i32, _granularity: f64) -> Self {
        steps.into()
    }

    #[inline(always)]
    fn from_near(steps: i64, _granularity: f64) -> Self {
        steps
    }

    #[inline(always)]
    fn from_sum<A: Answer>(answer: A, steps: f64, noise: f64, granularity: f64) -> Self {
        Self::from_integers(answer, steps, Self::from_whole(noise, granularity), granularity)
    }

    #[inline(always)]
    fn from_integers<A: Answer>(answer: A, steps: f64, noise: i64, _granularity: f64) -> Self {
        answer.rounded(steps).saturating_add(noise)
    }

    fn from_steps(steps: i128, _log2_granularity: i32) -> Self {
        let (low, high) = (steps as i64, (steps >> 64) as i64);
        saturated(low, high ^ (low >> 63), high >> 63, i64::MAX)
    }

    fn elements(out: &mut [Self]) -> Elements<'_> {
        Elements::I64(out)
    }
}

#[inline]
fn narrow(steps: i64) -> i32 {
    let low = i64::from(steps as i32);
    saturated(low, steps ^ low, steps >> 63, i32::MAX.into()) as i32
}

impl Value for i32 {
    const WHOLE: bool = true;

    #[inline(always)]
    fn from_narrow(steps: i32, _granularity: f64) -> Self {
        steps
    }

    #[inline(always)]
    fn from_whole(steps: f64, granularity: f64) -> Self {
        let clamped = steps.clamp(f64::from(i32::MIN), f64::from(i32::MAX));
        i64::from_whole(clamped, granularity) as i32
    }

    #[inline(always)]
    fn from_sum<A: Answer>(_: A, steps: f64, noise: f64, granularity: f64) -> Self {
        // Exact below 2⁵³, and whatever is beyond becomes an end. In registers, where `narrow` takes one value at a time.
        Self::from_whole(steps + noise, granularity)
    }

    fn from_steps(steps: i128, log2_granularity: i32) -> Self {
        narrow(i64::from_steps(steps, log2_granularity))
    }

    fn elements(out: &mut [Self]) -> Elements<'_> {
        Elements::I32(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::arithmetic::{Arithmetic, Fused, Separate};

    /// Evidence: the sum in integers.
    #[test]
    fn sums_that_are_not_exact_are_odd() {
        let (mut random, mut inexact) = (crate::testing::random::Random(12), 0);
        for _ in 0..20_000 {
            let [a, b] = [(); 2].map(|()| (random.word().cast_signed() >> (random.word() % 64)) as f64);
            let sum = a as i128 + b as i128;
            assert_eq!(float::sum_to_odd(a, b), round_to_odd(sum), "{a} {b}");
            inexact += u32::from(round_to_odd(sum) as i128 != sum);
        }
        assert!(inexact > 2000, "{inexact}");
    }

    #[test]
    fn both_doors_agree_on_whole_numbers() {
        for steps in [
            0_i64,
            1,
            -1,
            7,
            -1_000_000,
            i64::from(i32::MAX) + 1,
            1 << 50,
            -(1 << 50),
            (1 << 51) - 1,
        ] {
            let whole = steps as f64;
            assert_eq!(f64::from_near(steps, 0.25), f64::from_steps(steps.into(), -2));
            assert_eq!(f32::from_near(steps, 0.25), f32::from_steps(steps.into(), -2));
            assert_eq!(i64::from_near(steps, 1.0), steps);
            assert_eq!(i32::from_near(steps, 1.0), i32::from_steps(steps.into(), 0));
            assert_eq!(f64::from_whole(whole, 0.25), f64::from_steps(steps.into(), -2));
            assert_eq!(f32::from_whole(whole, 0.25), f32::from_steps(steps.into(), -2));
            assert_eq!(i64::from_whole(whole, 1.0), i64::from_steps(steps.into(), 0));
            assert_eq!(i32::from_whole(whole, 1.0), i32::from_steps(steps.into(), 0));
        }
    }

    /// Evidence: the sums of [`near`]. Above it they lose bits, and so [`NEAR`] cannot be larger; it need not be smaller.
    #[test]
    fn near_integers_are_those_whose_sums_are_exact() {
        let sum = |n: i64| (SHIFTER.to_bits().wrapping_add(n as u64), (SHIFTER + n as f64).to_bits());
        for n in [NEAR as i64 - 1, 1 - NEAR as i64] {
            let (integer, float) = sum(n);
            assert_eq!(integer, float);
        }
        let (integer, float) = sum(NEAR as i64 + 1);
        assert_ne!(integer, float);
    }

    #[test]
    fn zero_has_no_sign() {
        assert!(f64::from_whole(-0.0, 0.25).is_sign_positive());
        assert!(f32::from_whole(-0.0, 0.25).is_sign_positive());
        assert!(f32::from_whole(-1.0, 1e-300).is_sign_positive(), "underflow");
        assert!(f32::from_steps(-1, -1000).is_sign_positive(), "underflow");
        for steps in [-0.0, -0.3, -0.5, 0.4]
            .into_iter()
            .flat_map(|x| [Fused::half_up(x), Separate::half_up(x)])
        {
            assert!(f64::from_sum(steps, steps, -0.0, 0.25).is_sign_positive());
            assert!(f32::from_sum(steps, steps, -0.0, 0.25).is_sign_positive());
        }
    }

    #[test]
    fn single_precision_rounds_once() {
        // 2²⁴ + 1 + 2⁻⁴⁰ lies above a tie that rounding to f64 first would land on.
        let steps = (1_i128 << 64) + (1 << 40) + 1;
        assert_eq!(f32::from_steps(steps, -40), 16_777_218.0);
        assert_eq!(f32::from_steps(steps - 1, -40), 16_777_216.0, "the tie itself");
        assert_eq!(f32::from_steps(-steps, -40), -16_777_218.0);
    }

    /// Evidence: the sum in integers, for answers on both sides of every bound of a type.
    #[test]
    fn quick_sums_are_those_of_integers() {
        let near = [
            0,
            1,
            i64::from(i32::MAX),
            1 << 52,
            1 << 53,
            (1 << 53) + 1,
            (1 << 62) + 1,
            i64::MAX,
        ];
        let noises = [0, 1, -1, 77, i64::from(i32::MIN), (1 << 51) - 1, 1 - (1 << 51)];
        for answer in near.into_iter().flat_map(|n| [n, -n, n - 1, 1 - n]) {
            for noise in noises {
                let sum = i128::from(answer) + i128::from(noise);
                let whole = noise as f64;
                assert_eq!(i64::from_sum(answer, answer as f64, whole, 1.0), i64::from_steps(sum, 0));
                assert_eq!(i32::from_sum(answer, answer as f64, whole, 1.0), i32::from_steps(sum, 0));
                let x = answer as f64 + 0.5;
                if x.is_quick(true) {
                    let sum = x.round_to_lattice(0) + i128::from(noise);
                    assert_eq!(
                        i32::from_sum(x, Fused::half_up(x), whole, 1.0),
                        i32::from_steps(sum, 0),
                        "{x} {noise}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_ends_saturate() {
        assert_eq!(i64::from_steps(i128::MAX, 0), i64::MAX);
        assert_eq!(i32::from_steps(i128::MIN, 0), i32::MIN);
        assert_eq!(f64::from_steps(i128::MAX, 960), f64::MAX);
        assert_eq!(f32::from_steps(i128::MIN, 960), f32::MIN);
    }
}
