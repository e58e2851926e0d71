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

use zeroize::Zeroizing;

use super::doubt::Doubt;
use super::{bits, signed};

/// Points of the square tried for a pair at most: the last, from half the square, is always in the disk. All others miss it with a
/// probability below 2^(−280).
pub(super) const ATTEMPTS: u64 = 128;

/// Above the error of q: with u and v off by 1.01·2⁻⁵⁴ from conversion and bits unknown, u² and v² by twice that, and 2⁻⁵² from rounding.
const Q_ERROR: f64 = 1.0 / (1_u64 << 50) as f64;

/// Above the error of a difference of two.
const S_ERROR: f64 = 4.0 * Q_ERROR;

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

/// The pairs of a vector, in floating point.
pub(super) struct Pairs {
    all: Vec<Pair>,
    sorted: Zeroizing<Vec<f64>>,
}

#[derive(Clone, Copy, Default)]
struct Pair {
    words: [u64; 2],
    u: f64,
    v: f64,
    q: f64,
}

impl Pairs {
    pub fn new(count: usize) -> Self {
        Self {
            all: vec![Pair::default(); count],
            sorted: vec![0.0; count].into(),
        }
    }
}

impl Drop for Pairs {
    fn drop(&mut self) {
        for pair in &mut self.all {
            zeroize::Zeroize::zeroize(&mut pair.words);
            for x in [&mut pair.u, &mut pair.v, &mut pair.q] {
                zeroize::Zeroize::zeroize(x);
            }
        }
    }
}

pub(super) fn point(doubt: &Doubt<'_>, words: &[u64], pairs: &mut Pairs, cells: &mut [i64]) {
    let count = pairs.all.len();
    for (j, pair) in pairs.all.iter_mut().enumerate() {
        *pair = in_disk(doubt, count, j, words);
        pairs.sorted[j] = pair.q;
    }
    pairs.sorted.sort_unstable_by(f64::total_cmp);
    let (rest, rest_error) = if cells.len() % 2 == 1 {
        rest_of_odd(pairs)
    } else {
        (1.0, 0.0)
    };
    let radius = doubt.radius as f64;
    let mut before = 0.0;
    for (j, (pair, cells)) in pairs.all.iter().zip(cells.chunks_mut(2)).enumerate() {
        let spacing = pairs.sorted[j] - before;
        before = pairs.sorted[j];
        let scale = radius * (spacing / (pair.q * rest)).sqrt();
        // S_ERROR/σ + Q_ERROR/q with one division.
        let error = (S_ERROR * pair.q + Q_ERROR * spacing) / (spacing * pair.q) + rest_error;
        for (i, cell) in cells.iter_mut().enumerate() {
            let x = if i == 0 { pair.u } else { pair.v };
            let (mut magnitude, sure) = rounded(scale, x, error);
            if !sure {
                magnitude = doubt.round(2 * j + i, magnitude);
            }
            *cell = signed(magnitude, pair.words[i]);
        }
    }
}

/// The first attempt that is in the disk.
fn in_disk(doubt: &Doubt<'_>, pairs: usize, j: usize, early: &[u64]) -> Pair {
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

/// N of an odd dimension, and its relative error: σ is off by 2⁻⁴⁸, v²/q by 2⁻⁴⁹/q, and rounding adds 2⁻⁵².
fn rest_of_odd(pairs: &Pairs) -> (f64, f64) {
    let count = pairs.all.len();
    let before = if count == 1 { 0.0 } else { pairs.sorted[count - 2] };
    let last = &pairs.all[count - 1];
    let rest = 1.0 - (pairs.sorted[count - 1] - before) * (last.v * last.v / last.q);
    (rest, (2.0 * S_ERROR + 2.0 * Q_ERROR / last.q) / rest)
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
