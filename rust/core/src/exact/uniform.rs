//! The bits of v: 63 given, the rest drawn when needed.

use super::enclosure::{Enclosure, further};
use super::limbs::{self, Limbs};
use super::search::last_true;

/// The bits of v beyond the first 63: its e-th 64-bit extension word. The same e gives the same word, whatever was asked before.
///
/// Dynamic, so that the exact path is compiled once: a call is nothing beside an elementary function of limbs.
pub type Extension<'a> = dyn FnMut(usize) -> u64 + 'a;

/// A value has this many extension words; later ones are zero (docs/contract.md section 1).
pub(super) const EXTENSION_WORDS: usize = 8192;

/// Leading bits known before the first question: with fewer, the floating-point guess would be far off.
const FIRST_BITS: usize = 52;

/// v/2 = 2^(−`exponent`) · f with f in [1/2, 1). Some leading words of f are known.
///
/// Half of v, because its binary expansion is then whole words: 0 w₆₂ … w₀, e₀, e₁, …
pub struct Uniform<'a> {
    v63: u64,
    extension: &'a mut Extension<'a>,
    /// Index of the first nonzero word, 0 being `v63`.
    first: usize,
    zeros: usize,
    /// Words known from there on.
    known: usize,
}

impl<'a> Uniform<'a> {
    /// `None` if v is zero: finding that out takes all extension words.
    pub fn new(v63: u64, extension: &'a mut Extension<'a>) -> Option<Self> {
        let mut uniform = Self {
            v63,
            extension,
            first: 0,
            zeros: 0,
            known: 1,
        };
        uniform.first = (0..=EXTENSION_WORDS).find(|&i| uniform.word(i) != 0)?;
        uniform.zeros = uniform.word(uniform.first).leading_zeros() as usize;
        if 64 - uniform.zeros < FIRST_BITS {
            uniform.known += 1;
        }
        Some(uniform)
    }

    /// The i-th word of v/2.
    fn word(&mut self, i: usize) -> u64 {
        match i {
            0 => self.v63,
            1..=EXTENSION_WORDS => (self.extension)(i - 1),
            _ => 0,
        }
    }

    /// v/2 < 2^(−exponent) ≤ v; at most 64 · 8193.
    pub const fn exponent(&self) -> usize {
        64 * self.first + self.zeros
    }

    /// Draws `count` more words.
    pub const fn extend(&mut self, count: usize) {
        self.known += count;
    }

    /// The number of j ≥ 1 below `end` for which `is_below` holds, by `terms` of a precision that begins with `p` limbs and grows until they decide.
    pub fn search<T>(
        &mut self,
        guess: u64,
        end: u64,
        mut p: usize,
        terms: impl Fn(usize) -> T,
        is_below: impl Fn(&mut T, &mut Self, u64) -> Option<bool>,
    ) -> u64 {
        let mut of_precision = terms(p);
        last_true(guess, end, |j| {
            loop {
                if let Some(answer) = is_below(&mut of_precision, self, j) {
                    return answer;
                }
                let more = further(p);
                p += more;
                self.extend(more);
                of_precision = terms(p);
            }
        })
    }

    /// f from the known words, with `p` limbs of fraction (at least as many as known words) and one integer limb.
    ///
    /// The unknown bits add between nothing and one unit of the last known bit.
    pub fn enclosure(&mut self, p: usize) -> Enclosure {
        let mut lo = Limbs::zero(p + 1);
        for i in 0..self.known {
            lo[p - 1 - i] = self.word(self.first + i);
        }
        let mut hi = lo.clone();
        limbs::add_small(&mut hi[p - self.known..], 1);
        let mut f = Enclosure { lo, hi };
        f.shl(self.zeros);
        f
    }

    /// v/2 itself, with `p` limbs of fraction, at least as many as known words.
    pub fn half(&mut self, p: usize) -> Enclosure {
        let mut half = self.enclosure(p);
        half.shr(self.exponent());
        half
    }

    /// ln(v/2) in floating point, for a first guess.
    pub fn ln(&mut self) -> f64 {
        let head = u128::from(self.word(self.first)) << 64;
        // What is not drawn yet is beyond what an `f64` holds.
        let tail = if self.known > 1 { self.word(self.first + 1).into() } else { 0 };
        let f = ((head | tail) << self.zeros) as f64 * (-128.0_f64).exp2();
        f.ln() - self.exponent() as f64 * std::f64::consts::LN_2
    }
}
