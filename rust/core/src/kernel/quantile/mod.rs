//! The fast path of discrete Gaussian distributions of σ ≥ 4.5: the quantile of the normal distribution.
//!
//! Let x be the number with P(N > x) = v/2. The S(j) of section 8 of docs/contract.md lie where
//!
//! ```text
//! T(x) = ςx + (x³ − 3x)/(2880ς³),     ς² = σ² − 1/12,
//! ```
//!
//! is j − ½, but for less than (10⁻⁴x + 5·10⁻⁶x⁵)/ς⁵ ([`edge_error`]). So |X| is T to the nearest integer, unless T is that near to a half-integer.
//! The expansion is that of Euler and Maclaurin by midpoints (`exact::wide_gaussian`), inverted: with z = (j − ½)/σ, the edge is at
//! x = z + z/(24σ²) − (7z³ − 21z)/(5760σ⁴) + z³/(1152σ⁴) + …, and with ς (Sheppard's correction) one term has most of it.
//!
//! With q = 1 − v and s = √(v(2 − v)), x = q·P(s)/Q(s), where P and Q are polynomials with positive coefficients ([`coefficients`]): nothing cancels,
//! and no logarithm is needed, as such quotients follow a function of a cut from −∞ to 0 to points near its end (Zolotarev 1877). By s² instead of s
//! they would need five coefficients where they have three: the root halves the octaves.

/// What scripts/quantile.py writes.
#[allow(clippy::unreadable_literal, clippy::excessive_precision, reason = "written by a program")]
pub(super) mod coefficients {
    include!("coefficients.in");
}
pub(super) mod inverse;
pub(super) mod octaves;
mod own;

pub(super) use inverse::Inverse;
pub(super) use octaves::Octaves;
pub(super) use own::write_own;

use super::arithmetic::{Arithmetic, map_all};
use super::elementary::{MulAdd, Number};
use super::float::{U, less, masked};
use super::lane::{WORD_BITS, WholeLane};
use crate::lattice::dyadic::power_of_two;
use coefficients::LANE_RATIO;

/// From this σ² on, T is near enough; below, few magnitudes have all the mass.
pub(super) const NARROW: f64 = 4.5 * 4.5;

/// Words below it are left to the exact path,
const LEAST: f64 = (1_u64 << 42) as f64;
/// and below this one the bits beyond the word count.
const LONG: f64 = (1_u64 << 52) as f64;

/// T, ready for words. Error of it in units of u, but for that of P/Q in itself, which is less than σ times its own:
///
/// ```text
/// V as an f64              1.3σ            a relative error e of v moves x by e·P(N > x)/φ(x) ≤ 1.2534e
/// θ                        1.3σ/V          likewise: the bits beyond the word
/// 1 − v, its product       2 σx
/// s                        1.2 σx          2.25 of s, and |d ln(x/q)/d ln s| ≤ π/6, which it is at x = 0
/// σ, T                     5 σx
/// P/Q                      σx              [`quotient_error`]
/// ```
#[derive(Clone, Debug)]
pub(crate) struct QuantileLane {
    /// Of x and of x³ in T.
    factors: [f64; 2],
    /// The tolerance by x and x⁵, fixed, and where bits beyond the word count.
    by_x: [f64; 2],
    fixed: f64,
    beyond: f64,
}

/// For each unit of σx,
const PER_X: f64 = 9.0 * U;
/// and of σ.
const PER_SCALE: f64 = 4.0 * U;

/// The error of evaluating P/Q with N coefficients each, relative to it; 2u of it is for the powers of s, which are rounded from each other.
///
/// What that does is alike in P and Q: a factor 1 + e of s in the odd powers alone, of s² in all or of s⁴ changes the logarithm of P/Q by e times the
/// difference of two means, which is at most 1.
pub(super) const fn quotient_error(coefficients: usize) -> f64 {
    (0.9 * coefficients as f64 + 6.0) * U
}

/// Factors of x and x⁵ in ς⁵ times a bound on the distance of T from j − ½ where v = S(j), for σ ≥ 1.
const EDGE: [f64; 2] = [1e-4, 5e-6];

/// ς.
fn corrected(sigma2: f64) -> f64 {
    (sigma2 - 1.0 / 12.0).sqrt()
}

fn edge_error(corrected: f64) -> [f64; 2] {
    EDGE.map(|factor| factor / corrected.powi(5))
}

/// T by x and x³.
fn factors(corrected: f64) -> [f64; 2] {
    let cube = 1.0 / (2880.0 * corrected.powi(3));
    [corrected - 3.0 * cube, cube]
}

impl QuantileLane {
    pub fn new(sigma2: f64) -> Self {
        let sigma = corrected(sigma2);
        let [edge, by_x5] = edge_error(sigma);
        Self {
            factors: factors(sigma),
            by_x: [sigma * (PER_X + quotient_error(LANE_RATIO.0[0].len())) + edge, by_x5],
            // 11u for the test.
            fixed: sigma * (LANE_RATIO.1 + PER_SCALE + 1.3 / LONG) + 11.0 * U,
            beyond: sigma * (1.3 / LEAST),
        }
    }
}

/// 1 − v, s² and s.
#[inline(always)]
fn split<A: Arithmetic>(v: f64) -> [f64; 3] {
    let q = 1.0 - v;
    let s2 = A::mul_add(v, q, v);
    [q, s2, s2.sqrt()]
}

/// P/Q by s² and s. The leading coefficient of Q is 1.
#[inline(always)]
fn quotient<A: Arithmetic, const N: usize>(ratio: &[[f64; N]; 2], s2: f64, s: f64) -> f64 {
    quotient_of::<A, f64, N>(ratio, [s2 * s2, s2, s])
}

/// The same by s⁴, s² and s.
#[inline(always)]
pub(super) fn quotient_of<A: MulAdd<T>, T: Number, const N: usize>([above, below]: &[[f64; N]; 2], powers: [T; 3]) -> T {
    polynomial::<A, T, N>(above, powers, |even| even) / polynomial::<A, T, N>(below, powers, |even| powers[0] + even)
}

/// c₀ + c₁s + c₂s² + …, to whose last even terms `begin` may add. Even and odd powers apart, of which the root is no part until the end, and two terms
/// of either at a time: longer chains leave a processor fewer registers to look ahead with.
#[inline(always)]
fn polynomial<A: MulAdd<T>, T: Number, const N: usize>(
    coefficients: &[f64; N],
    [s4, s2, s]: [T; 3],
    begin: impl Fn(T) -> T,
) -> T {
    const { assert!(N.is_multiple_of(4)) };
    let fours = coefficients.as_chunks::<4>().0;
    let parts = |four: &[f64; 4]| {
        let [c0, c1, c2, c3] = map_all(four, T::from);
        [A::mul_add(c2, s2, c0), A::mul_add(c3, s2, c1)]
    };
    let [even, mut odd] = parts(&fours[fours.len() - 1]);
    let mut even = begin(even);
    for four in fours[..fours.len() - 1].iter().rev() {
        let [next_even, next_odd] = parts(four);
        even = A::mul_add(even, s4, next_even);
        odd = A::mul_add(odd, s4, next_odd);
    }
    A::mul_add(odd, s, even)
}

impl WholeLane for QuantileLane {
    #[inline(always)]
    fn reduce_whole<A: Arithmetic>(&self, whole: f64) -> [f64; 3] {
        let [q, _, s] = split::<A>(whole * power_of_two(-WORD_BITS.cast_signed()));
        [q, s, whole]
    }

    #[inline(always)]
    fn finish_whole<A: Arithmetic>(&self, reduced: [f64; 3]) -> (f64, bool) {
        let (t, tolerance) = self.evaluate::<A>(reduced);
        let nearest = A::round(t);
        // NaN is not sure.
        (nearest, (t - nearest).abs() <= 0.5 - tolerance)
    }
}

impl QuantileLane {
    /// T, and whether it is off by less than ½.
    pub fn place<A: Arithmetic>(&self, whole: f64) -> (f64, bool) {
        let (t, tolerance) = self.evaluate::<A>(self.reduce_whole::<A>(whole));
        (t, tolerance < 0.5)
    }

    /// T and a bound on its error, which is NaN below the least word.
    #[inline(always)]
    fn evaluate<A: Arithmetic>(&self, [q, s, whole]: [f64; 3]) -> (f64, f64) {
        let x = q * quotient::<A, _>(&LANE_RATIO.0, s * s, s);
        let x2 = x * x;
        let t = x * A::mul_add(x2, self.factors[1], self.factors[0]);
        let fixed = self.fixed + masked(less(whole, LONG), self.beyond);
        let [by_x, by_x5] = self.by_x;
        let tolerance = A::mul_add(x, A::mul_add(x2 * x2, by_x5, by_x), fixed);
        (t, f64::from_bits(tolerance.to_bits() | less(whole, LEAST)))
    }
}
