//! Enclosures of e^(−x) for exact rationals x ≥ 0.

use super::constants::ln2;
use super::enclosure::Enclosure;
use super::limbs::{self, Limbs};
use crate::lattice::decompose;

/// From here on e^(−x) is below 2^(−1 500 000), smaller than any v > 0, which is at least 2^(−524 351).
pub(super) const UNDERFLOW: f64 = 1_048_576.0;

/// The rational eps / parts, exactly: exponents are its multiples.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    eps: f64,
    parts: u64,
}

/// mantissa · 2^(−shift), which is how e^(−x) keeps its relative accuracy however small it is.
#[derive(Clone, Debug)]
pub struct Power {
    /// Between 1 and 3; `p` limbs of fraction and one integer limb.
    pub mantissa: Enclosure,
    /// The binary exponent, at most 1 512 777.
    pub shift: usize,
}

impl Power {
    /// As a fixed-point number: `p` limbs of fraction and one integer limb.
    pub fn to_fixed(&self) -> Enclosure {
        let mut fixed = self.mantissa.clone();
        fixed.shr(self.shift);
        fixed
    }

    /// As [`Power::to_fixed`]; a power below 2^(−1 500 000), which is `None`, lies between zero and one unit.
    pub fn fixed_or_tiny(power: Option<&Self>, p: usize) -> Enclosure {
        power.map_or_else(|| Enclosure::above(Limbs::zero(p + 1), 1), Self::to_fixed)
    }
}

impl Step {
    /// The step eps / parts, for finite eps > 0 and parts ≥ 1.
    pub const fn new(eps: f64, parts: u64) -> Self {
        Self { eps, parts }
    }

    /// The step in floating point, rounded.
    pub fn approximate(&self) -> f64 {
        self.eps / self.parts as f64
    }

    /// e^(−step) as a fixed-point number with `p` limbs of fraction and one integer limb.
    pub fn decay(&self, p: usize) -> Enclosure {
        self.fixed_power(1, p)
    }

    /// [`Step::power`] as a fixed-point number.
    pub fn fixed_power(&self, count: u64, p: usize) -> Enclosure {
        Power::fixed_or_tiny(self.power(count, p).as_ref(), p)
    }

    /// e^(−count·step) with `p` ≥ 2 limbs of fraction, or `None` if it is below 2^(−1 500 000).
    ///
    /// The mantissa is at most [`width`] units wide: with two limbs 12·shift + 6150, always below 2^37.
    pub fn power(&self, count: u64, p: usize) -> Option<Power> {
        if count == 0 {
            return Some(Power {
                mantissa: Enclosure::point(1, p),
                shift: 0,
            });
        }
        // Three roundings: off by less than 2^−50 relatively. May overflow to infinity.
        let x = self.eps * count as f64 / self.parts as f64;
        (x < UNDERFLOW).then(|| power(&self.times(count, p), x, p))
    }

    /// ⌊count·step·2^(64p)⌋, for a product below 2^21.
    fn times(&self, count: u64, p: usize) -> Limbs {
        let (mantissa, exponent) = decompose(self.eps);
        let product = limbs::of(u128::from(mantissa) * u128::from(count));
        limbs::scaled_quotient(&product, exponent, &[self.parts], p)
    }
}

/// e^(−x) with `p` ≥ 2 limbs of fraction, given ⌊x⌋ in units of 2^(−64p) and x, below [`UNDERFLOW`], off by less than 2^−27.
///
/// Let n be the shift and t = (n ln 2 − x) / 2^h. Then e^(−x) = 2^(−n) · (e^t)^(2^h), and squaring the Taylor sum of e^t h times gives the
/// mantissa. Everything is positive and rounded down, which makes the result a lower bound.
pub(super) fn power(x: &Limbs, approximation: f64, p: usize) -> Power {
    let (mut t, shift) = reduce(x, approximation, p);
    let halvings = halvings(p);
    limbs::shr(&mut t, halvings);
    let mut value = taylor(&t, halvings, p);
    for _ in 0..halvings {
        // Floors only, so that the result stays a lower bound; `width` adds up what they lose.
        value = limbs::mul_floor(&value, &value);
    }
    Power {
        mantissa: Enclosure::above(value, width(shift, halvings)),
        shift,
    }
}

/// (r, n) with r ≤ n ln 2 − x in [0, 1), given ⌊x⌋ in units and x in floating point. r is short by at most 2n + 1 units.
///
/// x/ln 2 < 2^21 is known within 2^−27. So n = ⌊x/ln 2⌋ + 1 gives n ln 2 − x in (−2^−27, ln 2 + 2^−27). Another ln 2 mends a negative r.
fn reduce(x: &Limbs, approximation: f64, p: usize) -> (Limbs, usize) {
    let ln2 = ln2(p);
    // Not an exact floor: the next lines put right what the approximation has wrong.
    let mut n = (approximation * std::f64::consts::LOG2_E) as u64 + 1;
    let mut r = ln2.clone();
    limbs::mul_small(&mut r, n);
    // x is known to a unit: its upper end keeps r a lower bound.
    let mut x_above = x.clone();
    limbs::add_small(&mut x_above, 1);
    if limbs::less(&r, &x_above) {
        n += 1;
        limbs::add(&mut r, &ln2);
    }
    let negative = limbs::sub(&mut r, &x_above);
    debug_assert!(!negative && r[p] == 0, "reduced exponent outside [0, 1)");
    (r, n as usize)
}

/// Halvings before the Taylor series: about as many squarings as terms. Each costs a bit of accuracy; 32 keeps [`width`] well inside one limb.
fn halvings(p: usize) -> usize {
    (32 * p).isqrt().min(32)
}

/// Width of the mantissa in units of the last limb.
///
/// r < 1 is short by 2n + 1 units, and t by (2n + 1)/2^h + 1. Hence e^t ≤ 2 is short by 2(2n + 1)/2^h + 2, and the Taylor sum by 5 more: call it d.
/// Squaring Y ≥ y ≥ Y − d loses Y² − ⌊y²⌋ ≤ 2Yd + 1. The values squared multiply to less than e^r < 3. So h squarings turn d into at most
/// 3·2^h·(d + 1) = 6(2n + 1) + 24·2^h. rust/core/proofs/exponential.v has this as a theorem (docs/evidence/proofs.md).
fn width(shift: usize, halvings: usize) -> u64 {
    6 * (2 * shift as u64 + 1) + (24 << halvings)
}

/// e^t for 0 ≤ t < 2^(−h), h ≥ 8, from below, short by at most 5 units.
///
/// Horner's scheme 1 + t/1·(1 + t/2·(1 + …)). Every bracket is multiplied by a common denominator c: one long division serves as many steps
/// as c fits a limb. A step loses less than one unit in the product and one in the division, and scales the loss so far by less than
/// 2^(−8): below 3 units in all. The terms left out start with one below a unit and fall more than twofold each: 2 units more.
///
/// The sum fits its integer limb: c < 2^(62 − ⌊log₂ k⌋) before c·k < 2^63, and the brackets are below 1.004.
fn taylor(t: &Limbs, h: usize, p: usize) -> Limbs {
    let mut sum = Enclosure::point(1, p).lo;
    let mut c = 1_u64;
    for k in (1..=terms(h, p)).rev() {
        sum = limbs::mul_floor(&sum, t);
        if c.leading_zeros() <= 1 + k.ilog2() {
            limbs::div_small(&mut sum, c);
            c = 1;
        }
        c *= k;
        sum[p] += c;
    }
    limbs::div_small(&mut sum, c);
    sum
}

/// The least N for which t^(N+1)/(N+1)! is below one unit, by t < 2^(−h) and k ≥ 2^⌊log₂ k⌋.
fn terms(h: usize, p: usize) -> u64 {
    let mut k = 1_u32;
    let mut bits = h;
    while bits < 64 * p {
        k += 1;
        bits += h + k.ilog2() as usize;
    }
    u64::from(k) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence: the definition, at 2^20 itself.
    #[test]
    fn powers_end_at_the_underflow() {
        let step = Step::new(1.0, 1);
        assert!(step.power((1 << 20) - 1, 2).is_some() && step.power(1 << 20, 2).is_none());
    }

    /// The reduced exponent against itself with two more limbs, to the unit: later losses would hide a unit too many from tests of e^(−x).
    #[test]
    fn reduction_is_a_lower_bound_to_the_unit() {
        for count in (1..2000_u32).step_by(if cfg!(miri) { 97 } else { 1 }) {
            let step = Step::new(0.37, 7);
            let x = 0.37 * f64::from(count) / 7.0;
            let (short, n) = reduce(&step.times(count.into(), 2), x, 2);
            let (mut long, same) = reduce(&step.times(count.into(), 4), x, 4);
            assert_eq!(n, same);
            let slack = 2 * n as u64 + 1;
            limbs::add_small(&mut long, slack);
            assert!(!limbs::less(&long[2..], &short), "too large at count {count}");
            let mut most = short;
            limbs::add_small(&mut most, slack);
            assert!(!limbs::less(&most, &long[2..]), "too small at count {count}");
        }
    }

    /// Evidence: Coq computes the same by rust/core/proofs/exponential.v (`make test-gappa-coq`). With STAIRNOISE_WRITE_PROOFS it writes the file
    /// instead (`make proofs`).
    #[test]
    fn points_are_those_of_the_source() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/proofs/exponential_points.v");
        let text = points();
        if std::env::var_os("STAIRNOISE_WRITE_PROOFS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let found = std::fs::read_to_string(path).unwrap();
        assert!(
            found == text,
            "{path} is not what the source gives: `make proofs`, then `make test-gappa-coq`"
        );
    }

    /// What the hypotheses of `power_encloses` are at some precisions, and values of `power`.
    fn points() -> String {
        let number = |limbs: &[u64]| {
            limbs
                .iter()
                .rev()
                .fold(String::from("0x"), |text, limb| format!("{text}{limb:016x}"))
        };
        let mut lines = vec![
            "(* The program of exponential.v computes what the crate does. Written by `make proofs`. *)".to_owned(),
            "From Coq Require Import ZArith Reals.\nFrom Interval Require Import Tactic.\nRequire Import exponential.\nOpen Scope Z_scope.".into(),
        ];
        let mut computed = |claim: String| lines.push(format!("Goal {claim}.\nProof. vm_compute. reflexivity. Qed."));
        for p in [2, 3, 4, 16] {
            let (h, ln2) = (halvings(p), number(&ln2(p)));
            let terms = terms(h, p);
            computed(format!("(64 * {p} <=? bits {h} (S {terms})) = true"));
            for (eps, count, parts) in [
                (0.37, 1, 7),
                (0.37, 1999, 7),
                (5e-324, 1, 1),
                (1_048_575.5, 1, 1),
                (1e-3, 1 << 29, 3),
                (693.0, 1, 1000),
            ] {
                let step = Step::new(eps, parts);
                let (x, approximation) = (step.times(count, p), eps * count as f64 / parts as f64);
                let Power { mantissa, shift } = power(&x, approximation, p);
                let (x, value) = (number(&x), number(&mantissa.lo));
                computed(format!("(0 <=? reduced {ln2} {x} {shift}) = true"));
                computed(format!("(reduced {ln2} {x} {shift} <? 2 ^ (64 * {p})) = true"));
                computed(format!("power {p} {ln2} {h} {terms} {x} {shift} = {value}"));
                let width = width(shift, h);
                computed(format!("width {shift} {h} = {width}"));
            }
        }
        for p in [2, 3, 4, 16] {
            let below = ln2(p);
            let mut above = below.clone();
            limbs::add_small(&mut above, 2);
            let (below, above, unit) = (number(&below), number(&above), number(&Enclosure::point(1, p).lo));
            let proof = format!("Proof. interval with (i_prec {}). Qed.", 64 * p + 64);
            lines.push(format!("Goal (IZR {below} <= ln 2 * IZR {unit})%R.\n{proof}"));
            lines.push(format!("Goal (ln 2 * IZR {unit} < IZR {above})%R.\n{proof}"));
        }
        lines.join("\n") + "\n"
    }
}
