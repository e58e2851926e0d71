//! The fast path of the two-sided geometric distribution, and of the one-sided one.

use super::arithmetic::Arithmetic;
use super::elementary::{half_log_ratio, minus_ln, split_ln};
use super::float::{U, inverse_power};
use super::lane::{MAX_SPAN, WholeLane};

/// Fast path of geometric(ε, D): S(j) = 2e^(−εj/D)/(1 + e^(−ε/D)), hence
///
/// ```text
/// |X| = ⌊x⌋,   x = κ·(−ln v) + β,   κ = D/ε,   β = κ·ln(2/(1 + e^(−1/κ)))  in (0, ½].
/// ```
///
/// Error of x, with v = (V + θ)·2^−bits, 0 ≤ θ < 1, and ℓ the logarithm, in units of u:
///
/// ```text
/// V as an f64          κ               (u of V)
/// logarithm            1.2κ + κℓ
/// κ, κ·ℓ               2κℓ
/// their sum with β     x
/// β                    9               (½·(16 + 2 for the error of 1/κ))
/// acceptance test      1.5
/// ```
///
/// 2.2κ + 4x + 10.5 in all: the constants below cover it, and `proof` checks that they do for every κ and ℓ. θ lowers x by up to
/// κ·ln(1 + 1/V), about κ·2^−⌊log₂ V⌋ at most, which the tolerance allows on either side.
///
/// The one-sided distribution S(j) = e^(−εj/D) is the same with β = 0, which has no error.
#[derive(Clone, Debug)]
pub(crate) struct GeometricLane {
    pub(super) bits: f64,
    pub(super) scale: f64,
    /// κ, for each unit that V may be off by.
    pub(super) beyond: f64,
    pub(super) offset: f64,
    pub(super) slack: f64,
}

impl GeometricLane {
    pub fn new(eps: f64, sensitivity_steps: u64, bits: u32) -> Self {
        let scale = sensitivity_steps as f64 / eps;
        let (scale, offset, slack) = if scale > MAX_SPAN {
            // No word is sure.
            (0.0, 0.0, f64::INFINITY)
        } else {
            (scale, half_log_ratio(1.0 / scale), scale * PER_SCALE + FIXED)
        };
        Self {
            bits: f64::from(bits),
            scale,
            beyond: scale,
            offset,
            slack,
        }
    }

    pub fn one_sided(eps: f64, sensitivity_steps: u64, bits: u32) -> Self {
        Self {
            offset: 0.0,
            ..Self::new(eps, sensitivity_steps, bits)
        }
    }

    /// geometric(ε, 1) for words that `canonical` has mapped. Beyond ε = [`MOST_EPS_MAPPED`] no word is sure.
    pub fn mapped(eps: f64, bits: u32) -> Self {
        let mut lane = Self::new(eps, 1, bits);
        lane.slack = if eps <= MOST_EPS_MAPPED {
            lane.slack + lane.scale * PER_SCALE_MAPPED
        } else {
            f64::INFINITY
        };
        lane
    }
}

/// The map may take V = 0 below 1, outside [`split_ln`]: not sure where κ ≥ ⅓, as the tolerance is above 2κ. Beyond, a few thresholds serve.
pub(super) const MOST_EPS_MAPPED: f64 = 3.0;

/// Tolerance on x for each unit of κ,
pub(super) const PER_SCALE: f64 = 2.5 * U;
/// of x,
pub(super) const PER_X: f64 = 4.5 * U;
/// and whatever they are;
pub(super) const FIXED: f64 = 32.0 * U;
/// more for each unit of κ where words are mapped,
pub(super) const PER_SCALE_MAPPED: f64 = 10.0 * U;
/// and where a first level's logarithm is the rough one.
pub(super) const PER_SCALE_ROUGH: f64 = 1.0 / (1 << 24) as f64;

impl GeometricLane {
    /// The acceptance test: |X| = ⌊x⌋ unless x is within `slack` + 4.5u·x + κ·2^−⌊log₂ V⌋ of an edge.
    #[inline(always)]
    pub(super) fn place<A: Arithmetic>(&self, whole: f64, minus_ln: f64) -> (f64, bool) {
        let x = A::mul_add(self.scale, minus_ln, self.offset);
        let floor = A::floor(x);
        let tolerance = A::mul_add(self.beyond, inverse_power(whole), A::mul_add(x, PER_X, self.slack));
        // A comparison that NaN and infinity fail: those are not sure.
        let inside = ((x - floor) - 0.5).abs() <= 0.5 - tolerance;
        (floor, inside)
    }
}

impl WholeLane for GeometricLane {
    #[inline(always)]
    fn reduce_whole<A: Arithmetic>(&self, whole: f64) -> [f64; 3] {
        let (e, s) = split_ln(self.bits, whole);
        [whole, e, s]
    }

    #[inline(always)]
    fn finish_whole<A: Arithmetic>(&self, [whole, e, s]: [f64; 3]) -> (f64, bool) {
        self.place::<A>(whole, minus_ln::<A, f64>(e, s))
    }
}
