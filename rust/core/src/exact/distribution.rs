//! A distribution on the integers, by the numbers that its survival function is made of.

use super::exp::Step;
use super::truncated_geometric::TruncatedGeometric;

/// |X| saturates here, at `i64::MAX`.
pub(super) const LARGEST: u64 = (1 << 63) - 1;

/// A distribution on the integers (docs/contract.md section 2), its parameters already validated:
/// ε finite and positive, 1 ≤ sensitivity_steps ≤ 2⁵³, 1 ≤ r ≤ sensitivity_steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntegerDistribution {
    /// S(j) = 2 e^(−εj/D) / (1 + e^(−ε/D)).
    Geometric {
        eps: f64,
        sensitivity_steps: u64,
    },
    /// S(j) = e^(−εj/D), the distribution of a one-sided geometric number: only the magnitude has a meaning.
    OneSided {
        eps: f64,
        sensitivity_steps: u64,
    },
    TruncatedGeometric(TruncatedGeometric),
    Staircase(Staircase),
    /// A staircase distribution on −A … A: (S(j) − S(A + 1)) / (1 − S(A + 1)) with the S of the staircase.
    TruncatedStaircase {
        staircase: Staircase,
        /// A, from D to 2⁶² − 1.
        most: u64,
    },
    /// S(j) = 2a_j, a_1 = (1 − δ)/(1 + e^ε), a_(j+1) = e^(−ε)·(a_j − δ), on −A … A.
    Canonical {
        eps: f64,
        /// δ, 0 < δ < 1.
        delta: f64,
        /// A, the largest j with S(j) > 0.
        most: u64,
    },
    /// S(j) = P(|X| ≥ j) for P(k) ∝ e^(−k²/(2σ²)), 2⁻²⁰ ≤ σ² ≤ 2⁹⁰.
    Gaussian {
        sigma2: f64,
    },
}

/// S(j) = (2/t) · b^J · (r + JD − j + Dc).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Staircase {
    pub eps: f64,
    pub sensitivity_steps: u64,
    /// Half-width of the middle step, 1 ≤ r ≤ D.
    pub r: u64,
}

impl Staircase {
    /// With ε, D and r.
    pub const fn new(eps: f64, sensitivity_steps: u64, r: u64) -> Self {
        Self {
            eps,
            sensitivity_steps,
            r,
        }
    }

    /// On −A … A.
    pub const fn truncated(self, most: u64) -> IntegerDistribution {
        IntegerDistribution::TruncatedStaircase { staircase: self, most }
    }
}

/// S(j)/2 up to the denominator: e^(−count·step) · (k + m·b).
pub(super) struct Numerator {
    pub count: u64,
    pub k: u64,
    pub m: u64,
}

/// A line of the table in `magnitude`.
pub(super) struct Forms {
    pub step: Step,
    pub sensitivity_steps: u64,
    /// (A, B).
    pub denominator: (u64, u64),
    staircase: Option<Staircase>,
}

impl Forms {
    pub fn geometric(eps: f64, sensitivity_steps: u64, denominator: (u64, u64)) -> Self {
        Self {
            step: Step::new(eps, sensitivity_steps),
            sensitivity_steps,
            denominator,
            staircase: None,
        }
    }

    pub fn staircase(staircase: Staircase) -> Self {
        Self {
            step: staircase.step(),
            sensitivity_steps: staircase.sensitivity_steps,
            denominator: staircase.denominator(),
            staircase: Some(staircase),
        }
    }

    pub fn numerator(&self, j: u64) -> Numerator {
        self.staircase
            .map_or(Numerator { count: j, k: 1, m: 0 }, |staircase| staircase.numerator(j))
    }

    /// Where S, interpolated between the integers, meets v, in floating point and rounded: the magnitude or one more, unless the rounding errors
    /// exceed the distance to the next integer. Only the cost depends on it.
    pub fn guess(&self, ln_half_v: f64) -> u64 {
        if let Some(staircase) = self.staircase {
            return staircase.guess(ln_half_v);
        }
        let (rate, (a, b)) = (self.step.approximate(), self.denominator);
        let ln_denominator = (a as f64 + b as f64 * (-rate).exp()).ln();
        ((-(ln_half_v + ln_denominator) / rate).round() as u64).max(1)
    }
}

impl Staircase {
    pub(super) fn step(&self) -> Step {
        Step::new(self.eps, 1)
    }

    pub(super) fn numerator(&self, j: u64) -> Numerator {
        let d = self.sensitivity_steps;
        let (count, k) = match j.checked_sub(self.r) {
            None => (0, self.r - j),
            Some(beyond) => (beyond / d + 1, d - beyond % d),
        };
        Numerator { count, k, m: d - k }
    }

    /// (A, B).
    pub(super) fn denominator(&self) -> (u64, u64) {
        (2 * self.r - 1, 2 * (self.sensitivity_steps - self.r) + 1)
    }

    /// [`Forms::guess`].
    pub(super) fn guess(&self, ln_half_v: f64) -> u64 {
        let (a, b) = self.denominator();
        let decay = (-self.eps).exp();
        let width = self.sensitivity_steps as f64;
        // With q = v/2·(A + B·b): stair `count` is where D·b^count ≥ q > D·b^(count + 1), and there k + (D − k)·b = q/b^count.
        let depth = width.ln() - ln_half_v - (a as f64 + b as f64 * decay).ln();
        let count = (depth / self.eps).floor().max(0.0);
        let height = width * (count * self.eps - depth).exp();
        let k = (height - width * decay) / -(-self.eps).exp_m1();
        let edge = (count as u64).saturating_mul(self.sensitivity_steps).saturating_add(self.r);
        edge.saturating_sub(k.round() as u64).max(1)
    }
}
