//! A number that a formula computes: where the true value lies, and how far the computed one can be from it.
//!
//! Ends and errors are themselves `f64`s, each turned outwards after every operation.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::super::super::arithmetic::{Fused, Separate};
use super::super::super::elementary::{MulAdd, Number};
use crate::lattice::dyadic::{decompose, floor_log2, power_of_two};

#[derive(Clone, Copy, Debug)]
pub struct Bounded {
    /// The formula's value in the real numbers, every constant being the real number that it stands for, is between these.
    pub lo: f64,
    pub hi: f64,
    /// The computed number is no further than this from that value,
    pub error: f64,
    /// and is a multiple of 2^place.
    place: i32,
}

/// The place of a number that nothing is known about: every `f64` is a multiple of the least one.
const ANY: i32 = -1074;

fn up(x: f64) -> f64 {
    x.next_up()
}

fn down(x: f64) -> f64 {
    x.next_down()
}

/// The exponent of the last digit of x ≥ 0.
fn last_place(x: f64) -> i32 {
    floor_log2(x.max(f64::MIN_POSITIVE)) - 52
}

/// What rounding a number up to x can cost.
fn half_ulp(x: f64) -> f64 {
    power_of_two((last_place(x) - 1).max(ANY))
}

impl From<f64> for Bounded {
    /// A constant of few digits is exact; a long one is taken for the rounding of some real number.
    fn from(c: f64) -> Self {
        let (significand, exponent) = decompose(c.abs());
        let zeros = significand.trailing_zeros();
        if c == 0.0 {
            // A multiple of anything.
            Self::exactly(c, c, 1000)
        } else if zeros >= 20 {
            Self::exactly(c, c, exponent + zeros as i32)
        } else {
            let error = half_ulp(c.abs());
            Self {
                error,
                ..Self::exactly(down(c - error), up(c + error), exponent)
            }
        }
    }
}

impl Bounded {
    fn exactly(lo: f64, hi: f64, place: i32) -> Self {
        Self {
            lo,
            hi,
            error: 0.0,
            place,
        }
    }

    /// Any `f64` in 0 ≤ `lo` ..= `hi`.
    pub fn argument(lo: f64, hi: f64) -> Self {
        Self::exactly(lo, hi, last_place(lo))
    }

    /// The same with a further error: an argument that is itself computed, or a series that stops.
    pub fn off_by(self, error: f64) -> Self {
        Self {
            error: up(self.error + error),
            place: ANY,
            ..self
        }
    }

    pub fn largest(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    pub fn smallest(self) -> f64 {
        self.lo.max(-self.hi).max(0.0)
    }

    /// The error of a positive number relative to its value.
    pub fn relative(self) -> f64 {
        up(self.error / self.lo)
    }

    fn spanning(ends: [f64; 4], error: f64, place: i32) -> Self {
        Self {
            lo: down(ends.into_iter().fold(f64::INFINITY, f64::min)),
            hi: up(ends.into_iter().fold(f64::NEG_INFINITY, f64::max)),
            error,
            place,
        }
    }

    /// a + b before it is rounded.
    fn plus(self, b: Self) -> Self {
        let sum = |a: f64, b: f64, outwards: fn(f64) -> f64| if a == 0.0 || b == 0.0 { a + b } else { outwards(a + b) };
        Self {
            lo: sum(self.lo, b.lo, down),
            hi: sum(self.hi, b.hi, up),
            error: sum(self.error, b.error, up),
            place: self.place.min(b.place),
        }
    }

    /// a·b before it is rounded.
    fn times(self, b: Self) -> Self {
        if self.largest() == 0.0 || b.largest() == 0.0 {
            return Self::from(0.0);
        }
        let ends = [self.lo * b.lo, self.lo * b.hi, self.hi * b.lo, self.hi * b.hi];
        let error = if self.error == 0.0 && b.error == 0.0 {
            0.0
        } else {
            up(up(self.largest() * b.error) + up(up(b.largest() + b.error) * self.error))
        };
        Self::spanning(ends, error, self.place + b.place)
    }

    /// Rounded to nearest. A multiple of 2^place that is at most 2^(place + 53) is an `f64` already.
    fn rounded(self) -> Self {
        let largest = if self.error == 0.0 {
            self.largest()
        } else {
            up(self.largest() + self.error)
        };
        if largest <= power_of_two((self.place + 53).clamp(ANY, 1023)) {
            return self;
        }
        Self {
            error: up(self.error + half_ulp(largest)),
            place: last_place(down(self.smallest() - self.error)),
            ..self
        }
    }

    fn is_power_of_two(self) -> bool {
        self.lo == self.hi && self.error == 0.0 && self.lo > 0.0 && self.lo == power_of_two(floor_log2(self.lo))
    }
}

impl Number for Bounded {}

impl Neg for Bounded {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            lo: -self.hi,
            hi: -self.lo,
            ..self
        }
    }
}

impl Add for Bounded {
    type Output = Self;

    fn add(self, b: Self) -> Self {
        self.plus(b).rounded()
    }
}

impl Sub for Bounded {
    type Output = Self;

    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl Mul for Bounded {
    type Output = Self;

    fn mul(self, b: Self) -> Self {
        let product = self.times(b);
        if self.is_power_of_two() || b.is_power_of_two() {
            product
        } else {
            product.rounded()
        }
    }
}

impl Div for Bounded {
    type Output = Self;

    /// Off by (error of a + |a/b|·error of b)/(|b| − error of b).
    fn div(self, b: Self) -> Self {
        let least = down(b.smallest() - b.error);
        assert!(least > 0.0, "division by {b:?}");
        let ends = [self.lo / b.lo, self.lo / b.hi, self.hi / b.lo, self.hi / b.hi];
        let quotient = Self::spanning(ends, 0.0, ANY);
        let error = up(up(self.error + up(quotient.largest() * b.error)) / least);
        Self { error, ..quotient }.rounded()
    }
}

impl MulAdd<Bounded> for Separate {
    fn mul_add(a: Bounded, b: Bounded, c: Bounded) -> Bounded {
        a * b + c
    }
}

impl MulAdd<Bounded> for Fused {
    fn mul_add(a: Bounded, b: Bounded, c: Bounded) -> Bounded {
        a.times(b).plus(c).rounded()
    }
}
