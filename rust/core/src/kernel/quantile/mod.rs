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
//! x = (1 − v)·P(w) with w = −ln(v(2 − v)) ([`coefficients`], after Giles 2011): no cancellation where v is near 1 or 0.

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

use super::arithmetic::Arithmetic;
use super::elementary::{MulAdd, Number, cubic, minus_ln, split_ln};
use super::float::{U, less, masked};
use super::lane::{WORD_BITS, WholeLane};
use crate::lattice::dyadic::power_of_two;
use coefficients::{CENTRE, TAIL};

/// From this σ² on, T is near enough; below, few magnitudes have all the mass.
pub(super) const NARROW: f64 = 4.5 * 4.5;

/// w up to here, v down to 0.00046, is the polynomials' centre.
const CENTRAL: f64 = 7.0;

/// Words below it are left to the exact path.
const LEAST: f64 = (1_u64 << 40) as f64;

/// T, ready for words. Error of it in units of u, but for that of the polynomial (P′ < ⅓, wP′ < 0.3P, and rP′ < 1.2P by r = √w in the tail):
///
/// ```text
/// V as an f64             1.3σ            a relative error e of v moves x by e·P(N > x)/φ(x) ≤ 1.2534e
/// θ                       1.3σ/V          likewise: the bits beyond the word
/// 1 − v                   1 σx
/// v(2 − v), w             1.1σ + 0.3σx    3.2 + w; in the tail, with the root, 1.5σx in place of it
/// P                       6 σx            `proof`
/// the product, σ, T       5 σx
/// ```
#[derive(Clone, Debug)]
pub(crate) struct QuantileLane {
    /// Of x and of x³ in T.
    factors: [f64; 2],
    /// The tolerance by x, of the centre and of the tail; by x⁵; and fixed, again of both.
    by_x: [f64; 2],
    by_x5: f64,
    fixed: [f64; 2],
}

/// The error of evaluating P, relative to it.
pub(super) const POLYNOMIAL_ERROR: f64 = 6.0 * U;

/// For each unit of σx,
const PER_X: f64 = POLYNOMIAL_ERROR + 8.0 * U;
/// and of σ.
const PER_SCALE: f64 = 4.0 * U;

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
        // What bits beyond the word move x by, where V is least.
        let beyond = 1.3 / LEAST;
        let of = |polynomial: f64| sigma * (PER_X + polynomial) + edge;
        Self {
            factors: factors(sigma),
            by_x: [of(CENTRE.2), of(TAIL.2)],
            by_x5,
            // 11u for the test.
            fixed: [
                sigma * (PER_SCALE + 1.3 * power_of_two(-51)) + 11.0 * U,
                sigma * (PER_SCALE + beyond) + 11.0 * U,
            ],
        }
    }
}

/// (1 − v, e, s) for V: v(2 − v) = 2^−e·m, s of m as [`split_ln`] has it.
#[inline(always)]
fn split<A: Arithmetic>(whole: f64) -> (f64, f64, f64) {
    let q = A::mul_add(whole, -power_of_two(-WORD_BITS.cast_signed()), 1.0);
    let (e, s) = split_ln(f64::from(WORD_BITS), A::mul_add(whole, q, whole));
    (q, e, s)
}

/// c₀ + c₁t + c₂t² + …, four terms at a time: a chain of N operations would be longer than a processor looks ahead.
#[inline(always)]
pub(super) fn polynomial<A: MulAdd<T>, T: Number, const N: usize>(coefficients: &[f64; N], t: T) -> T {
    const { assert!(N.is_multiple_of(4)) };
    let (t2, fours) = (t * t, coefficients.as_chunks::<4>().0);
    let t4 = t2 * t2;
    let mut sum = cubic::<A, T>(fours[fours.len() - 1].map(T::from), t, t2);
    for c in fours[..fours.len() - 1].iter().rev() {
        sum = A::mul_add(sum, t4, cubic::<A, T>(c.map(T::from), t, t2));
    }
    sum
}

impl WholeLane for QuantileLane {
    #[inline(always)]
    fn reduce_whole<A: Arithmetic>(&self, whole: f64) -> [f64; 3] {
        let (q, e, s) = split::<A>(whole);
        // Below the least word nothing is sure: ones make NaN of 1 − v.
        [f64::from_bits(q.to_bits() | less(whole, LEAST)), e, s]
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

    /// T and a bound on its error, which is NaN if T is.
    #[inline(always)]
    fn evaluate<A: Arithmetic>(&self, [complement, e, s]: [f64; 3]) -> (f64, f64) {
        let logarithm = minus_ln::<A, f64>(e, s);
        let central = less(logarithm, CENTRAL);
        let centre = polynomial::<A, f64, _>(&CENTRE.1, logarithm - CENTRE.0);
        let tail = polynomial::<A, f64, _>(&TAIL.1, logarithm.max(0.0).sqrt() - TAIL.0);
        let choose = |[a, b]: [f64; 2]| masked(central, a) + masked(!central, b);
        let x = complement * choose([centre, tail]);
        let x2 = x * x;
        let t = x * A::mul_add(x2, self.factors[1], self.factors[0]);
        (
            t,
            A::mul_add(x, A::mul_add(x2 * x2, self.by_x5, choose(self.by_x)), choose(self.fixed)),
        )
    }
}
