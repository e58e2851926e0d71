//! The logarithm of the first level in `f32`, on any kind of number.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::kernel::arithmetic::{Arithmetic, Fused, Separate};
use crate::kernel::elementary::{MulAdd, Number};
use crate::kernel::first_level::narrow;

/// [`narrow::minus_ln`], given −2/3, −2/5 and −2/7.
pub fn minus_ln<A: MulAdd<N>, N: Number>(m: N, [c3, c5, c7]: [N; 3]) -> N {
    let one = N::from(1.0);
    let s = (m - one) / (m + one);
    let z = s * s;
    let series = A::mul_add(z, A::mul_add(z, c7, c5), c3);
    A::mul_add(s * z, series, -(N::from(2.0) * s))
}

/// An `f32`.
#[derive(Clone, Copy)]
struct Single(f32);

impl From<f64> for Single {
    fn from(c: f64) -> Self {
        Self(c as f32)
    }
}

impl Number for Single {}

impl Neg for Single {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Add for Single {
    type Output = Self;

    fn add(self, b: Self) -> Self {
        Self(self.0 + b.0)
    }
}

impl Sub for Single {
    type Output = Self;

    fn sub(self, b: Self) -> Self {
        Self(self.0 - b.0)
    }
}

impl Mul for Single {
    type Output = Self;

    fn mul(self, b: Self) -> Self {
        Self(self.0 * b.0)
    }
}

impl Div for Single {
    type Output = Self;

    fn div(self, b: Self) -> Self {
        Self(self.0 / b.0)
    }
}

impl MulAdd<Single> for Separate {
    fn mul_add(a: Single, b: Single, c: Single) -> Single {
        Single(Self::mul_add_narrow(a.0, b.0, c.0))
    }
}

impl MulAdd<Single> for Fused {
    fn mul_add(a: Single, b: Single, c: Single) -> Single {
        Single(Self::mul_add_narrow(a.0, b.0, c.0))
    }
}

/// Evidence: equality, for every eleventh significand.
#[test]
fn the_formula_is_that_of_the_kernel() {
    let factors = [3.0_f32, 5.0, 7.0].map(|k| Single(-2.0 / k));
    for bits in (narrow::SQRT_HALF..narrow::SQRT_HALF + (1 << 23)).step_by(11) {
        let m = f32::from_bits(bits);
        assert_eq!(
            minus_ln::<Separate, Single>(Single(m), factors).0,
            narrow::minus_ln::<Separate>(m),
            "{m}"
        );
        assert_eq!(
            minus_ln::<Fused, Single>(Single(m), factors).0,
            narrow::minus_ln::<Fused>(m),
            "{m}"
        );
    }
}
