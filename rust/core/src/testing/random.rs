//! Numbers and parameters for tests, the same in every run.

use crate::{Kind, Shape};

/// A linear congruential generator (Knuth 1998, section 3.2.1).
pub(crate) struct Random(pub u64);

impl Random {
    /// 64 bits.
    pub fn word(&mut self) -> u64 {
        self.next();
        let high = self.0 >> 32;
        self.next();
        high << 32 | self.0 >> 32
    }

    /// Uniform in 0..1.
    pub fn next(&mut self) -> f64 {
        // The multiplier is from Steele and Vigna 2022.
        self.0 = self.0.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in the logarithm.
    pub fn power(&mut self, least: f64, most: f64) -> f64 {
        (least.ln() + self.next() * (most.ln() - least.ln())).exp()
    }

    /// Parameters that some mechanism has; `form` 0 and 1 are l1 and a number, 2 is l2; `wide` is beyond what has a fast path.
    pub fn parameters(&mut self, kind: Kind, form: usize, wide: bool) -> (f64, f64, Shape) {
        let discrete = matches!(kind, Kind::DiscreteLaplace | Kind::DiscreteStaircase);
        let (eps, sensitivity) = match (wide, discrete) {
            (true, true) => (self.power(1e-6, 1e3), self.power(1.0, 1e6).round()),
            (true, false) => (self.power(1e-6, 1e3), self.power(1e-300, 1e290)),
            (false, true) => (0.1 + 4.9 * self.next(), (1.0 + 20.0 * self.next()).floor()),
            (false, false) => (0.1 + 4.9 * self.next(), self.power(1e-3, 1e3)),
        };
        let shape = match form {
            0 => Shape::L1,
            1 if discrete => Shape::Number((sensitivity * self.next()).floor() + 1.0),
            1 if self.next() < 0.2 => Shape::Number(0.125 * (1.0 + (8.0 * self.next()).floor())),
            1 => Shape::Number(1.0 - self.next()),
            _ => Shape::L2,
        };
        (eps, sensitivity, shape)
    }
}
