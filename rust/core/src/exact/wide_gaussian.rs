//! The discrete Gaussian distribution of σ ≥ 64, by the formula of Euler and Maclaurin.
//!
//! With h = 1/σ, a = j − ½, z = ah, f(x) = e^(−x²h²/2) and the Hermite polynomials He, f⁽ⁿ⁾(a) = (−h)ⁿ·Heₙ(z)·f(a). The formula by midpoints
//! (Kahan, Knuth: 1/(2 sinh(t/2)) = 1/t − Σ dᵢt²ⁱ⁻¹) gives
//!
//! ```text
//! f(j) + f(j + 1) + … = ∫ f − (f(a)/h)·(d₁h²He₁(z) + d₂h⁴He₃(z) + … + d_m h²ᵐHe₂ₘ₋₁(z)) + R,    d₁ = 1/24, d₂ = −7/5760, …
//! |R| ≤ |B₂ₘ|/(2m)!·∫|f⁽²ᵐ⁾| ≤ 3.3·(2π)⁻²ᵐ·h²ᵐ⁻¹·1.09·√((2m)!)·√π·e^(−z²/4),
//! ```
//!
//! the integrals from a on, |He₂ₘ(z)| ≤ 1.09·√((2m)!)·e^(z²/4) (Cramér). All e^(−k²/(2σ²)) together are σ√(2π)·(1 + 2e^(−2π²σ²) + …) by Poisson's
//! formula. So, with the integral by its series of positive terms and w = e^(−z²/2),
//!
//! ```text
//! S(j)/2 = ½ − z·G/√(2π),    G = w·Σ z²ⁿ/(1·3·…·(2n + 1)) + w·(d₁h²He₁(z) + …)/z,
//! v < S(j)  ⇔  z²G² < (π/2)·(1 − v)².
//! ```
//!
//! He₂ₙ₋₁(z)/z is a polynomial in z², which is rational, and no root is left.

use super::constants::half_pi;
use super::enclosure::Enclosure;
use super::exponent::Exponent;
use super::limbs::{self, Limbs};
use crate::lattice::decompose;

/// Whether v/2 < S(j)/2, if `p` limbs of fraction decide it.
pub fn is_below(sigma2: f64, j: u64, half_v: &Enclosure, p: usize) -> Option<bool> {
    let (significand, exponent) = decompose(sigma2);
    let twice = u128::from(2 * j - 1);
    let square = limbs::of(twice * twice);
    let w = Exponent {
        numerator: Limbs::from_slice(&square),
        log2_unit: -3 - exponent,
        divisors: [significand, 1, 1],
    };
    let (w, z2) = (w.weight(p), quotient(&square, -2 - exponent, significand, p));
    let (plus, minus) = correction(sigma2.sqrt(), &quotient(&[1], -exponent, significand, p), &z2, &w, p);
    let g = integral(&z2, w).plus(&plus).minus(&minus);
    let complement = Enclosure::point(1, p).minus(&half_v.clone().doubled());
    let right = half_pi(p).times(&complement.times(&complement));
    z2.times(&g.times(&g)).less(&right)
}

/// a·2^log2_unit/divisor.
fn quotient(a: &[u64], log2_unit: i32, divisor: u64, p: usize) -> Enclosure {
    Enclosure::above(limbs::scaled_quotient(a, log2_unit, &[divisor], p), 1)
}

/// w·Σ z²ⁿ/(1·3·…·(2n + 1)).
fn integral(z2: &Enclosure, w: Enclosure) -> Enclosure {
    let p = w.lo.len() - 1;
    let (mut term, mut sum) = (w.clone(), w);
    for n in 1.. {
        term = term.times(z2).divided(2 * n + 1);
        sum = sum.plus(&term);
        // From here on terms fall at least twofold: together they are at most this one.
        if term.lo.iter().all(|&limb| limb == 0) && n > z2.hi[p] {
            sum.hi = sum.plus(&term).hi;
            return sum;
        }
    }
    unreachable!("terms fall")
}

/// What is to be added to G, as two numbers of which the second counts negative.
///
/// With Eₙ = He₂ₙ(z) and Hₙ = He₂ₙ₋₁(z)/z the recurrence of He is Eₙ = z²Hₙ − (2n − 1)Eₙ₋₁, Hₙ₊₁ = Eₙ − 2nHₙ. Both are kept times w·h²ⁿ, and as
/// differences of their positive and negative terms. For the n that occur, those stay below 1.
fn correction(sigma: f64, h2: &Enclosure, z2: &Enclosure, w: &Enclosure, p: usize) -> (Enclosure, Enclosure) {
    let terms = terms(sigma, p);
    let zero = || Enclosure::point(0, p);
    let (mut even, mut odd) = ([w.clone(), zero()], [w.times(h2), zero()]);
    let mut sums = [zero(), zero()];
    for (n, d) in (1..).zip(coefficients(terms, p)) {
        // d₁, d₂, … alternate.
        for side in 0..2 {
            let sum = &mut sums[(side + n + 1) % 2];
            *sum = sum.plus(&odd[side].times(&d));
        }
        let less = |side: usize, factor: usize, of: &[Enclosure; 2]| of[1 - side].linear(0, factor as u64);
        let next = |side: usize| odd[side].times(z2).plus(&less(side, 2 * n - 1, &even).times(h2));
        even = [next(0), next(1)];
        let next = |side: usize| even[side].plus(&less(side, 2 * n, &odd)).times(h2);
        odd = [next(0), next(1)];
    }
    let [mut plus, mut minus] = sums;
    // R, in either direction.
    limbs::add_small(&mut plus.hi, 1);
    limbs::add_small(&mut minus.hi, 1);
    (plus, minus)
}

/// The least m for which what R adds to G is below one unit: 2.6·(h/2π)²ᵐ·√((2m)!)·√(2π)/z, and 1/z ≤ 2σ.
fn terms(sigma: f64, p: usize) -> usize {
    let gain = (core::f64::consts::TAU * sigma).log2();
    let mut bits = -sigma.log2() - 4.0;
    let mut m = 0;
    while bits < 64.0 * p as f64 {
        m += 1;
        let factors = (2 * m) as f64 * (2 * m - 1) as f64;
        bits += 2.0 * gain - 0.5 * factors.log2();
    }
    m
}

/// |d₁|, …, |d_m|: 1 + Σ|dᵢ|t²ⁱ is (t/2)/sin(t/2), whose product with Σ(−1)ᵏt²ᵏ/(4ᵏ(2k + 1)!) is 1.
fn coefficients(m: usize, p: usize) -> Vec<Enclosure> {
    let mut sine = vec![Enclosure::point(1, p)];
    for k in 1..=m as u64 {
        sine.push(sine[sine.len() - 1].clone().divided(8 * k * (2 * k + 1)));
    }
    let mut found = vec![Enclosure::point(1, p)];
    for i in 1..=m {
        let of = |parity| {
            let products = (1..=i).filter(|k| k % 2 == parity).map(|k| found[i - k].times(&sine[k]));
            products.fold(Enclosure::point(0, p), |sum, product| sum.plus(&product))
        };
        found.push(of(1).minus(&of(0)));
    }
    found.split_off(1)
}
