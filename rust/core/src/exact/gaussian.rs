//! |X| of the discrete Gaussian distribution, P(k) ∝ e^(−k²/(2σ²)) (docs/contract.md, section 8): the number of j ≥ 1 with v < S(j).
//!
//! [`is_below_sums`] adds up small distributions term by term; [`wide_gaussian`] has a formula for the others.

use super::distribution::LARGEST;
use super::enclosure::Enclosure;
use super::exponent::Exponent;
use super::limbs;
use super::uniform::{Extension, Uniform};
use super::wide_gaussian;
use crate::lattice::decompose;

/// Of the extension, this many words count.
const WORDS: usize = 31;

/// From this σ² on, e^(−2π²σ²) < 2^(−116 000) is below every unit here.
const WIDE: f64 = (1 << 12) as f64;

/// Where this many limbs leave open whether v < S(j), they agree to more than 4096 bits and are taken to be equal, so that the search ends. No proof
/// is known that equality is impossible, because S(j) is a quotient of infinite sums of powers of e.
const MOST_LIMBS: usize = 120;

/// |X| for the 63 leading bits of v and the extension. v = 0 gives `i64::MAX`, as for the others.
pub fn magnitude(sigma2: f64, v63: u64, extension: &mut Extension<'_>) -> u64 {
    let mut counted = |e| if e < WORDS { extension(e) } else { 0 };
    let Some(mut uniform) = Uniform::new(v63, &mut counted) else {
        return LARGEST;
    };
    let guess = guess(sigma2.sqrt(), uniform.ln());
    // v/2 and S(j)/2 are compared as numbers below 1, which must not be all zeros.
    let first = 2 + uniform.exponent() / 64;
    let terms = |p| p;
    uniform.search(guess, LARGEST + 1, first, terms, |&mut p, uniform, j| {
        let half_v = uniform.half(p);
        let below = if sigma2 < WIDE {
            is_below_sums(sigma2, j, &half_v, p)
        } else {
            wide_gaussian::is_below(sigma2, j, &half_v, p)
        };
        below.or((p > MOST_LIMBS).then_some(false))
    })
}

/// v/2 < S(j)/2 = b/(1 + 2(a + b)), with a the sum of e^(−i²/(2σ²)) over 0 < i < j and b that from j on.
fn is_below_sums(sigma2: f64, j: u64, half_v: &Enclosure, p: usize) -> Option<bool> {
    // One power of e: the weight of i + 1 is that of i times q^(2i + 1).
    let q = decay(sigma2).weight(p);
    let (square, mut ratio, mut weight) = (q.times(&q), q, Enclosure::point(1, p));
    let (mut sum, mut tail) = (Enclosure::point(0, p), Enclosure::point(0, p));
    for i in 1.. {
        weight = weight.times(&ratio);
        ratio = ratio.times(&square);
        let mut rest = weight.clone();
        let last = rest.lo.iter().all(|&limb| limb == 0);
        if last {
            // The weights from i on are at most that of i times 1 + σ²/i, the integral of what is left.
            limbs::mul_small(&mut rest.hi, WIDE as u64 + 1);
        }
        sum = sum.plus(&rest);
        if i >= j {
            tail = tail.plus(&rest);
        }
        if last {
            break;
        }
    }
    half_v.times(&sum.linear(1, 2)).less(&tail)
}

/// 1/(2σ²).
fn decay(sigma2: f64) -> Exponent {
    let (m, e) = decompose(sigma2);
    Exponent {
        numerator: limbs::Limbs::from_slice(&[1]),
        log2_unit: -1 - e,
        divisors: [m, 1, 1],
    }
}

/// |X| or one more, in floating point, but for rounding: σx to the nearest integer for P(N > x) = v/2.
pub(super) fn guess(sigma: f64, ln_half_v: f64) -> u64 {
    let mut x = (-2.0 * ln_half_v).sqrt();
    for _ in 0..8 {
        let ratio = mills_ratio(x);
        // Newton's step for ln P(N > x), which falls by 1/ratio.
        x += ratio * (ratio.ln() - 0.5 * x * x - 0.5 * core::f64::consts::TAU.ln() - ln_half_v);
        x = x.max(0.0);
    }
    ((sigma - 1.0 / (24.0 * sigma)) * x).round().max(1.0) as u64
}

/// P(N > x)/φ(x) for x ≥ 0: by its series where x is small, else by its continued fraction (Laplace 1805).
fn mills_ratio(x: f64) -> f64 {
    if x < 3.0 {
        let (mut term, mut sum) = (x, x);
        for n in 1..60 {
            term *= x * x / f64::from(2 * n + 1);
            sum += term;
        }
        return (0.5 * x * x).exp() * (core::f64::consts::TAU.sqrt() / 2.0) - sum;
    }
    (1..100).rev().fold(x, |rest, n| x + f64::from(n) / rest).recip()
}
