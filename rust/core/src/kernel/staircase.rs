//! The fast path of the staircase distribution.

use super::arithmetic::Arithmetic;
use super::elementary::{exp, exp_m1, rough_minus_ln, split_ln};
use super::lane::{MAX_SPAN, WholeLane};
use crate::exact::Staircase;
use crate::lattice::dyadic::power_of_two;

/// Fast path of staircase(ε, D, r). With y = v·(t/2)·e^(εJ), J the least whole number ≥ 0 for which y ≥ D·c,
///
/// ```text
/// |X| = r + J·D − 1 − q,   q = ⌊y − D·c⌋ in 0 .. D − 1,
/// ```
///
/// because S is linear on each stair. J, from a logarithm, may be wrong: the interval around y − D·c is then outside [0, D], and not accepted.
///
/// Error of y − D·c, relative to the larger of y and D·c, in units of u:
///
/// ```text
/// D·c                                       5.5   (e^ε − 1: 4.5, quotient)
/// t/2 = (r − ½) + D·c                       1     (sum; r − ½ is exact)
/// e^(εJ)                                    2
/// their product, V as an f64, its product   3
/// difference                                1
/// ```
///
/// The error of D·c counts once although t/2 contains it: it enters y − D·c with the factor D·c·(y/(t/2) − 1), and t/2 ≥ D·c puts that
/// between −D·c and y. In all 12.5: [`PER_Y`] covers it, and [`FIXED`] the roundings of the acceptance test and, beyond ε = 700, a D·c
/// that is taken for zero. Where y < D·c, so that J is too small, the same bound keeps the computed difference below the tolerance: not
/// accepted. The bits beyond the word widen the interval upwards by one step of V.
///
/// On a stair that a word V ≥ 1 reaches, e^(εJ) ≤ (D + D·c)/((½ + D·c)·v) about. So ε·J < 76 and J < 2²⁷. V = 0 makes y zero or NaN: not accepted.
#[derive(Clone, Debug)]
pub(crate) struct StaircaseLane {
    pub(super) stairs: Stairs,
    bits: f64,
    inverse_eps: f64,
    /// ln S(r)/ε + 1.
    stair_offset: f64,
}

/// What places a word on a given stair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stairs {
    /// (t/2)·2^−bits.
    pub unit: f64,
    pub sensitivity_steps: f64,
    /// D·c.
    pub floor: f64,
    /// r − 1.
    pub first: f64,
    pub eps: f64,
    pub slack: f64,
}

/// Below this ε the product of J with the upper part of ε is no longer exact.
pub(super) const LEAST_EPS: f64 = 1.0 / (1_u64 << 20) as f64;

/// The digits of ε in its upper part: 26, as many as a factor below 2²⁷ leaves room for.
pub(super) const UPPER_PART: u64 = !((1 << 27) - 1);

/// Tolerance on y − D·c for each unit of y,
pub(super) const PER_Y: f64 = 1.0 / (1_u64 << 49) as f64;
/// and whatever it is.
pub(super) const FIXED: f64 = 1.0 / (1_u64 << 40) as f64;

impl StaircaseLane {
    pub fn new(staircase: &Staircase, bits: u32) -> Self {
        let (eps, sensitivity_steps, r) = (staircase.eps, staircase.sensitivity_steps as f64, staircase.r as f64);
        let floor = sensitivity_steps / exp_m1(eps);
        let half_t = (r - 0.5) + floor;
        let decidable = eps >= LEAST_EPS && sensitivity_steps + sensitivity_steps / eps <= MAX_SPAN;
        Self {
            stairs: Stairs {
                unit: half_t * power_of_two(-bits.cast_signed()),
                sensitivity_steps,
                floor,
                first: r - 1.0,
                eps,
                slack: if decidable { FIXED } else { f64::INFINITY },
            },
            bits: f64::from(bits),
            inverse_eps: 1.0 / eps,
            stair_offset: (floor / half_t).ln() / eps + 1.0,
        }
    }

    /// How many stairs lie above the given tail mass: the least J ≥ 1 with S(r)·e^(−ε(J−1)) ≤ `mass`, about.
    pub fn stairs_above(&self, mass: f64) -> u64 {
        (self.stair_offset - mass.ln() * self.inverse_eps).max(1.0).ceil() as u64
    }
}

impl Stairs {
    /// y per step of V on stair J: (t/2)·2^−bits·e^(εJ).
    #[inline(always)]
    pub fn unit_of<A: Arithmetic>(&self, stair: f64) -> f64 {
        // J·high is exact, and J·(ε − high) is the small second part that `exp` takes.
        let high = f64::from_bits(self.eps.to_bits() & UPPER_PART);
        self.unit * exp::<A>(stair * high, stair * (self.eps - high))
    }

    /// |X| of the outermost step of stair J.
    #[inline(always)]
    pub fn outermost(&self, stair: f64) -> f64 {
        self.first + stair * self.sensitivity_steps
    }

    /// The acceptance test, on a stair whose `unit` and `outermost` are given.
    #[inline(always)]
    pub fn place<A: Arithmetic>(&self, whole: f64, unit: f64, outermost: f64) -> (f64, bool) {
        let y = whole * unit;
        let depth = A::mul_add(whole, unit, -self.floor);
        let q = A::floor(depth);
        let tolerance = A::mul_add(y, PER_Y, self.slack);
        let below = depth - q;
        // Only comparisons that NaN and infinity fail: those are not sure. `&`, because `&&` would be a branch on noise.
        let inside = (below >= tolerance) & (below + (unit + tolerance) <= 1.0);
        let on_stair = (q >= 0.0) & (q < self.sensitivity_steps);
        (outermost - q, inside & on_stair)
    }
}

impl WholeLane for StaircaseLane {
    #[inline(always)]
    fn reduce_whole<A: Arithmetic>(&self, whole: f64) -> [f64; 3] {
        let (e, s) = split_ln(self.bits, whole);
        let stair = A::mul_add(rough_minus_ln::<A, f64>(e, s), self.inverse_eps, self.stair_offset);
        // Words of stair 0 give a number below 1, which may be negative.
        [whole, A::floor(stair).max(0.0), 0.0]
    }

    #[inline(always)]
    fn finish_whole<A: Arithmetic>(&self, [whole, stair, _]: [f64; 3]) -> (f64, bool) {
        self.stairs
            .place::<A>(whole, self.stairs.unit_of::<A>(stair), self.stairs.outermost(stair))
    }
}
