//! A uniform point of the ℓ2 ball, from points (u, v) uniform in the unit disk.
//!
//! A point of the disk has q = u² + v² uniform on [0, 1] and a direction that does not depend on q. Of a uniform point of the ball in 2h
//! dimensions, taken as h pairs, the squared lengths of the pairs are uniform on the simplex of nonnegative vectors of sum at most 1 (the
//! element of area is half that of the squared length times that of the angle), so they are the spacings σ of h uniform numbers, for which
//! the q serve; the directions are those of the pairs. In an odd dimension one more coordinate y is drawn and dropped: given y, the others are
//! uniform in the ball of radius √(1 − y²), so they are divided by it. The coordinates are
//!
//! ```text
//! u·√(σ/(q·N)), v·√(σ/(q·N)),   N = 1, or 1 − σ'·v'²/q' with those of the last pair, whose v' is the one dropped.
//! ```

use core::ops::Range;

use zeroize::Zeroizing;

use super::doubt::Doubt;
use super::{bits, signed, sort};

/// Points of the square tried for a pair at most: the last, from half the square, is always in the disk. All others miss it with a
/// probability below 2^(−280).
pub(super) const ATTEMPTS: u64 = 128;

/// Above the error of q < 1, in units of 2⁻⁵⁴: u and v are off by 1.01 each, from conversion and bits unknown, which is 2.02·(u + v) < 2.9 of q;
/// rounding adds 1 and ½ for the squares, of which only one can be above ½, and 1 for their sum.
const Q_ERROR: f64 = 1.0 / (1_u64 << 51) as f64;

/// Above the error of a difference of two: 2·5.4, and 1 for rounding.
const S_ERROR: f64 = 2.0 * Q_ERROR;

/// From here on rounding to a whole number is left to the exact path.
const NEAR: f64 = (1_u64 << 50) as f64;

pub(super) const fn pairs(dim: usize) -> usize {
    dim.div_ceil(2)
}

/// Attempts whose words are made for all vectors alike: fewer than one pair in 20 needs a third, whose words cost ten times as much.
const EARLY: usize = 2;

/// Words that are made for every vector beside that of its ball.
pub(super) const fn words(dim: usize) -> usize {
    2 * EARLY * pairs(dim)
}

/// The stage of the first of the two words of an attempt for pair j.
pub(super) const fn attempt_word(pairs: usize, j: usize, attempt: u64) -> u64 {
    1 + 2 * (attempt * pairs as u64 + j as u64)
}

/// The pairs of some vectors, in floating point; wiped on drop.
pub(super) struct Pairs {
    words: Zeroizing<Vec<[u64; 2]>>,
    u: Zeroizing<Vec<f64>>,
    v: Zeroizing<Vec<f64>>,
    q: Zeroizing<Vec<f64>>,
    /// The spacings.
    sigma: Zeroizing<Vec<f64>>,
    /// N, the same for all pairs of a vector, and its relative error.
    rest: Zeroizing<Vec<f64>>,
    rest_error: Zeroizing<Vec<f64>>,
    /// √(σ/(q·N)), and the relative errors of σ, q and N together.
    scale: Zeroizing<Vec<f64>>,
    error: Zeroizing<Vec<f64>>,
}

#[derive(Clone, Copy)]
struct Pair {
    words: [u64; 2],
    u: f64,
    v: f64,
    q: f64,
}

impl Pairs {
    pub fn new(count: usize) -> Self {
        let all = |x| Zeroizing::new(vec![x; count]);
        Self {
            words: vec![[0; 2]; count].into(),
            u: all(0.0),
            v: all(0.0),
            q: all(0.0),
            sigma: all(0.0),
            rest: all(1.0),
            rest_error: all(0.0),
            scale: all(0.0),
            error: all(0.0),
        }
    }
}

/// The points of some vectors, `doubt(i)` the i-th: step by step for all of them, so that no vector waits for the roots of another.
#[inline(never)]
pub(super) fn points<'a>(doubt: impl Fn(usize) -> Doubt<'a>, dim: usize, early: &[u64], all: &mut Pairs, cells: &mut [i64]) {
    let (h, per_vector) = (pairs(dim), words(dim));
    let vectors = cells.len() / dim;
    for i in 0..vectors {
        draw(&doubt(i), i * h..(i + 1) * h, &early[i * per_vector..][..per_vector], all);
        if dim % 2 == 1 {
            let last = (i + 1) * h - 1;
            let (rest, error) = rest_of_odd(all, last);
            all.rest[i * h..=last].fill(rest);
            all.rest_error[i * h..=last].fill(error);
        }
    }
    lengths(all, vectors * h);
    for (i, cells) in cells.chunks_exact_mut(dim).enumerate() {
        let doubt = doubt(i);
        let radius = doubt.radius as f64;
        for (c, cell) in cells.iter_mut().enumerate() {
            let k = i * h + c / 2;
            let x = if c % 2 == 0 { all.u[k] } else { all.v[k] };
            let (mut magnitude, sure) = rounded(radius * all.scale[k], x, all.error[k]);
            if !sure {
                magnitude = doubt.round(c, magnitude);
            }
            *cell = signed(magnitude, all.words[k][c % 2]);
        }
    }
}

/// The pairs of one vector and their spacings.
fn draw(doubt: &Doubt<'_>, places: Range<usize>, early: &[u64], all: &mut Pairs) {
    let h = places.len();
    for (j, k) in places.clone().enumerate() {
        // Number by number: a pair stored whole and loaded in halves would wait for the store.
        let pair = in_disk(doubt, h, j, early);
        all.words[k] = pair.words;
        (all.u[k], all.v[k], all.q[k], all.sigma[k]) = (pair.u, pair.v, pair.q, pair.q);
    }
    let sigma = &mut all.sigma[places];
    sort::ascending(sigma);
    for j in (1..h).rev() {
        sigma[j] -= sigma[j - 1];
    }
}

/// Scale and error of the first `n` pairs: roots and quotients several at a time.
fn lengths(all: &mut Pairs, n: usize) {
    let (q, sigma, rest, rest_error) = (&all.q[..n], &all.sigma[..n], &all.rest[..n], &all.rest_error[..n]);
    let (scale, error) = (&mut all.scale[..n], &mut all.error[..n]);
    for k in 0..n {
        scale[k] = (sigma[k] / (q[k] * rest[k])).sqrt();
        // S_ERROR/σ + Q_ERROR/q with one division.
        error[k] = (S_ERROR * q[k] + Q_ERROR * sigma[k]) / (sigma[k] * q[k]) + rest_error[k];
    }
}

/// The first attempt that is in the disk. Two are made whatever the first comes to, and the choice is no branch: every fifth guess would be
/// wrong.
fn in_disk(doubt: &Doubt<'_>, pairs: usize, j: usize, early: &[u64]) -> Pair {
    let place = |attempt| attempt_word(pairs, j, attempt) as usize - 1;
    let ([u, v], [u2, v2]) = ([0, 1].map(|i| early[place(0) + i]), [0, 1].map(|i| early[place(1) + i]));
    let (first, second) = (Pair::new([u, v]).q, Pair::new([u2, v2]).q);
    let (in_first, in_second) = (first < 1.0 - Q_ERROR, (first > 1.0 + Q_ERROR) & (second < 1.0 - Q_ERROR));
    if in_first | in_second {
        let mask = u64::from(in_first).wrapping_neg();
        return Pair::new([u2 ^ ((u ^ u2) & mask), v2 ^ ((v ^ v2) & mask)]);
    }
    later_in_disk(doubt, pairs, j, early)
}

/// The same, one attempt after another.
#[cold]
fn later_in_disk(doubt: &Doubt<'_>, pairs: usize, j: usize, early: &[u64]) -> Pair {
    for attempt in 0..ATTEMPTS - 1 {
        let s = attempt_word(pairs, j, attempt);
        let words = match early.get(s as usize - 1..=s as usize) {
            Some(&[u, v]) => [u, v],
            _ => doubt.words(s),
        };
        let pair = Pair::new(words);
        if pair.q < 1.0 - Q_ERROR {
            return pair;
        }
        // Too close to the circle to tell.
        if pair.q <= 1.0 + Q_ERROR {
            break;
        }
    }
    let attempt = doubt.accepted(j);
    let words = doubt.words(attempt_word(pairs, j, attempt));
    Pair {
        words,
        ..Pair::new(words.map(|word| bits(word) >> u64::from(attempt == ATTEMPTS - 1)))
    }
}

impl Pair {
    fn new(words: [u64; 2]) -> Self {
        let [u, v] = words.map(|word| bits(word).cast_signed() as f64 * (1.0 / (1_u64 << 63) as f64));
        Self {
            words,
            u,
            v,
            q: u * u + v * v,
        }
    }
}

/// N of an odd dimension, and its relative error: in units of 2⁻⁵⁴ σ is off by 16 at most, v²/q by 16/q, and rounding adds 3.
fn rest_of_odd(all: &Pairs, last: usize) -> (f64, f64) {
    let (v, q) = (all.v[last], all.q[last]);
    let rest = 1.0 - all.sigma[last] * (v * v / q);
    (rest, (2.0 * S_ERROR + 2.0 * Q_ERROR / q) / rest)
}

/// ⌊scale·x + ½⌋, and whether that is certain: `scale` is the root of a quotient whose parts have relative errors of `error` together, x is off by
/// 1.01·2⁻⁵⁴, and every operation rounds. Not certain where a part has an error above 2⁻¹⁰ or is no number at all.
fn rounded(scale: f64, x: f64, error: f64) -> (u64, bool) {
    const ULP: f64 = f64::EPSILON;
    let shifted = scale * x + 0.5;
    let floor = shifted as i64;
    // Below 2⁻¹⁰ the quotient is off by 1.01 times the sum of its parts' errors, and its root by half of that.
    let bound = scale * (ULP + x * (0.5625 * error + 8.0 * ULP)) + ULP;
    let rest = shifted - floor as f64;
    let sure = error < 1.0 / 1024.0 && shifted < NEAR && rest >= bound && rest <= 1.0 - bound;
    (floor.unsigned_abs(), sure)
}
