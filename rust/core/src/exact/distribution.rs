//! A distribution on the integers, by the numbers that its survival function is made of.

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
