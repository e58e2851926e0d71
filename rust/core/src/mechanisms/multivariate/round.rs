//! A uniform point of the ℓ2 ball, from points (u, v) uniform in the unit disk.
//!
//! A point of the disk has q = u² + v² uniform on [0, 1] and a direction that does not depend on q. Take a uniform point of the ball in 2h dimensions
//! as h pairs. The element of area is half that of the squared length times that of the angle, so the squared lengths of the pairs are uniform on the
//! simplex: nonnegative, of sum at most 1. The spacings σ of h uniform numbers, here the q, are so too, and the pairs give the directions. In an odd
//! dimension one more coordinate y is dropped: given y, the others are uniform in the ball of radius √(1 − y²), so they are divided by it. The
//! coordinates are
//!
//! ```text
//! u·√(σ/(q·N)), v·√(σ/(q·N)),   N = 1, or 1 − σ'·v'²/q' with those of the last pair, whose v' is the one dropped.
//! ```

use super::disk::{Points, Q_ERROR};
use super::fine::Fine;
use super::sort;
use super::undecided::{UndecidedVector, pairs};
use crate::declassify;
use crate::kernel::{Arithmetic, Tier, U, nearest, on_tier};
use crate::memory::{self, OutOfMemory};
use crate::stream::Fill;
use crate::wiped::Wiped;

/// Bound on the error of a difference of two q: 2·5.4 units of 2⁻⁵⁴, and 1 for rounding.
const S_ERROR: f64 = 2.25 * Q_ERROR;

/// From here on rounding to a whole number is left to the exact path.
const NEAR: f64 = (1_u64 << 50) as f64;

/// Stands for a coordinate that is not certain. Magnitudes of coordinates are smaller.
const UNSURE: i64 = i64::MIN;

/// The pairs of some vectors, in floating point, number j of vector i at place j·count + i; wiped on drop.
pub(super) struct Pairs {
    points: Points,
    sigma: Wiped<f64>,
    /// For every vector: its ball's radius, N, and the relative error of N.
    radius: Wiped<f64>,
    rest: Wiped<f64>,
    rest_error: Wiped<f64>,
    /// The coordinates of one pair of every vector.
    steps: [Wiped<i64>; 2],
    /// Room to sort one vector's numbers.
    row: Wiped<f64>,
    fine: Fine,
}

impl Pairs {
    pub fn new(count: usize, dim: usize) -> Result<Self, OutOfMemory> {
        let all = |x, n| memory::filled(x, n).map(Wiped::from);
        Ok(Self {
            points: Points::new(count * pairs(dim))?,
            sigma: all(0.0, count * pairs(dim))?,
            radius: all(0.0, count)?,
            rest: all(1.0, count)?,
            rest_error: all(0.0, count)?,
            steps: [memory::filled(0, count)?.into(), memory::filled(0, count)?.into()],
            row: all(0.0, pairs(dim))?,
            fine: Fine::new(pairs(dim))?,
        })
    }

    /// Replaces every vector's q by their spacings.
    #[inline(always)]
    fn space(&mut self, count: usize, pairs: usize) {
        let sigma = &mut self.sigma[..count * pairs];
        sigma.copy_from_slice(&self.points.q[..count * pairs]);
        sort::columns(sigma, count, &mut self.row[..pairs]);
        // From the last one down: the number before must not be a spacing yet.
        for j in (1..pairs).rev() {
            let (before, from) = sigma[(j - 1) * count..].split_at_mut(count);
            for (sigma, before) in from.iter_mut().zip(before) {
                *sigma -= *before;
            }
        }
    }

    /// N of every vector of an odd dimension, and its relative error: in units of 2⁻⁵⁴ σ is off by 12 at most, v²/q by 9/q, and rounding adds 3.
    #[inline(always)]
    fn measure_rest(&mut self, count: usize, last: usize) {
        let range = last * count..(last + 1) * count;
        let ([_, v, q], sigma) = (self.points.columns(range.clone()), &self.sigma[range]);
        let (rest, error) = (&mut self.rest[..count], &mut self.rest_error[..count]);
        for i in 0..count {
            rest[i] = 1.0 - sigma[i] * (v[i] * v[i] / q[i]);
            error[i] = (2.0 * S_ERROR + 2.0 * Q_ERROR / q[i]) / rest[i];
        }
    }

    /// The two coordinates of pair j of every vector, or [`UNSURE`]; whether all of the first and all of the second are certain.
    ///
    /// A coordinate is ρ·X·√(S/(Q·N)). In units of u = 2⁻⁵³, x is off by 0.51 from X. The quotient has the relative errors of σ, q and N, together
    /// at most E < 2⁻¹⁰, and its root 0.501·E; two products, a quotient, a square and its product with that round it, which is 2.5 of the root; the
    /// root, ρ as an `f64`, its product and that with x make 4 more. The bound has 0.502·E and 7 for these, 0.52 for 0.51, and 1 for the
    /// rounding of its difference from ½; its own roundings are far below what that leaves. The distance to the nearest whole number is exact.
    #[inline(always)]
    fn round<A: Arithmetic>(&mut self, count: usize, pair: usize) -> [bool; 2] {
        let range = pair * count..(pair + 1) * count;
        let [u, v, q] = self.points.columns(range.clone());
        let (sigma, radius) = (&self.sigma[range], &self.radius[..count]);
        let (rest, rest_error) = (&self.rest[..count], &self.rest_error[..count]);
        let [first, second] = &mut self.steps;
        let (first, second) = (&mut first[..count], &mut second[..count]);
        let mut sure = [0_usize; 2];
        for i in 0..count {
            // One division for σ/(q·N) and S_ERROR/σ + Q_ERROR/q.
            let qn = q[i] * rest[i];
            let inverse = 1.0 / (sigma[i] * qn);
            let errors = A::mul_add(S_ERROR, q[i], Q_ERROR * sigma[i]) * rest[i];
            let error = A::mul_add(errors, inverse, rest_error[i]);
            let scale = radius[i] * (sigma[i] * sigma[i] * inverse).sqrt();
            // The bound assumes E < 2⁻¹⁰.
            let slope = if error < 1.0 / 1024.0 {
                A::mul_add(0.502, error, 7.0 * U)
            } else {
                1.0
            };
            let least = A::mul_add(scale, 0.52 * U, U);
            let rounded = |x: f64| {
                let y = scale * x;
                let (near, whole) = nearest(y);
                let bound = A::mul_add(y.abs(), slope, least);
                let certain = ((y - near).abs() <= 0.5 - bound) & (y.abs() < NEAR);
                (if certain { whole } else { UNSURE }, usize::from(certain))
            };
            let ((u, u_sure), (v, v_sure)) = (rounded(u[i]), rounded(v[i]));
            (first[i], second[i]) = (u, v);
            // Counting, not a flag: the compiler turns a sum into a vector sum.
            sure = [sure[0].wrapping_add(u_sure), sure[1].wrapping_add(v_sure)];
        }
        sure.map(|n| n == count)
    }
}

/// The points of the vectors from `first` on, `undecided(i)` the i-th: step by step for all of them, in loops without branches.
pub(super) fn points<'a>(
    tier: Tier,
    fill: &Fill,
    first: u64,
    dim: usize,
    undecided: impl Fn(usize) -> UndecidedVector<'a>,
    all: &mut Pairs,
    steps: &mut [i64],
) {
    let (count, h) = (steps.len() / dim, pairs(dim));
    // Pair by pair for all vectors, so that loops run over vectors: measured at half the time of vector after vector.
    all.points.draw(tier, fill, first, [count, dim], &undecided);
    for (i, radius) in all.radius[..count].iter_mut().enumerate() {
        *radius = undecided(i).radius as f64;
    }
    on_tier!(tier, all.space(count, h));
    if dim % 2 == 1 {
        on_tier!(tier, all.measure_rest(count, h - 1));
    }
    let mut all_sure = true;
    for j in 0..h {
        let sure = on_tier!(tier, A => all.round::<A>(count, j));
        // In an odd dimension the last pair has one coordinate.
        for c in 2 * j..dim.min(2 * j + 2) {
            all_sure &= declassify::condition(sure[c % 2]);
            for (steps, step) in steps.chunks_exact_mut(dim).zip(&*all.steps[c % 2]) {
                steps[c] = *step;
            }
        }
    }
    if !all_sure {
        for (i, steps) in steps.chunks_exact_mut(dim).enumerate() {
            settle(all, &undecided(i), [i, count], steps);
        }
    }
}

/// The coordinates of the i-th of `count` vectors that are not certain yet.
#[cold]
fn settle(all: &mut Pairs, undecided: &UndecidedVector<'_>, [i, count]: [usize; 2], steps: &mut [i64]) {
    let is_unsure = |step: &i64| declassify::condition(*step == UNSURE);
    if !steps.iter().any(is_unsure) {
        return;
    }
    let points = (0..pairs(undecided.dim)).map(|j| all.points.leading_bits(undecided, count, [i, j]));
    all.fine.load(undecided.dim, points);
    for (c, step) in steps.iter_mut().enumerate().filter(|(_, step)| is_unsure(step)) {
        let x = [&all.points.u, &all.points.v][c % 2][c / 2 * count + i];
        let magnitude = all.fine.round(undecided, c).cast_signed();
        *step = if declassify::condition(x.is_sign_negative()) {
            -magnitude
        } else {
            magnitude
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;

    /// Evidence: a second way to the same numbers, where N is nearly 0 and its error decides.
    #[test]
    fn what_is_sure_beside_a_long_dropped_coordinate_is_exact() {
        let fill = Generator::from_seed(12).next_staged(1 << 20).unwrap();
        let mut all = Pairs::new(512, 1).unwrap();
        let mut steps = [0; 512];
        for tier in Tier::tested() {
            let mut found = 0;
            for block in 0..200 {
                let undecided = |i| UndecidedVector::new(&fill, 512 * block + i as u64, 1, (1 << (46 + block % 3)) + 12_345);
                points(tier, &fill, 512 * block, 1, undecided, &mut all, &mut steps);
                for (i, step) in steps.iter().enumerate().filter(|(i, _)| all.rest[*i] < 0.02) {
                    let guess = step.unsigned_abs();
                    assert_eq!(guess, undecided(i).round(0, guess), "{tier:?} {block} {i}");
                    found += 1;
                }
            }
            assert!(found > 50, "{found}");
        }
    }
}
