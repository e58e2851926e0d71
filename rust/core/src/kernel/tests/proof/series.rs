//! Power series in one variable t, truncated: what a formula is, term by term.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::super::super::arithmetic::Separate;
use super::super::super::elementary::{MulAdd, Number};

const TERMS: usize = 24;

/// The coefficients of 1, t, t², …
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Series(pub [f64; TERMS]);

impl Series {
    /// The series with these coefficients.
    pub fn new(coefficient: impl Fn(usize) -> f64) -> Self {
        Self(std::array::from_fn(coefficient))
    }

    /// c·t.
    pub fn linear(c: f64) -> Self {
        Self::new(|k| if k == 1 { c } else { 0.0 })
    }
}

impl From<f64> for Series {
    fn from(c: f64) -> Self {
        Self::new(|k| if k == 0 { c } else { 0.0 })
    }
}

impl Number for Series {}

impl Neg for Series {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(|k| -self.0[k])
    }
}

impl Add for Series {
    type Output = Self;

    fn add(self, b: Self) -> Self {
        Self::new(|k| self.0[k] + b.0[k])
    }
}

impl Sub for Series {
    type Output = Self;

    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl Mul for Series {
    type Output = Self;

    fn mul(self, b: Self) -> Self {
        Self::new(|k| (0..=k).map(|i| self.0[i] * b.0[k - i]).sum())
    }
}

impl Div for Series {
    type Output = Self;

    /// By long division; the divisor must not begin with zero.
    fn div(self, b: Self) -> Self {
        let mut quotient = [0.0; TERMS];
        for k in 0..TERMS {
            let known: f64 = (0..k).map(|i| quotient[i] * b.0[k - i]).sum();
            quotient[k] = (self.0[k] - known) / b.0[0];
        }
        Self(quotient)
    }
}

impl MulAdd<Series> for Separate {
    fn mul_add(a: Series, b: Series, c: Series) -> Series {
        a * b + c
    }
}
