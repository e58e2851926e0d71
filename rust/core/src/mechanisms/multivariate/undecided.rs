//! The points of `cross`, `cube` and `round` again, exactly, with more words of every expansion. In the ℓ2 ball `fine` decides nearly all before.
//!
//! Let y ≥ 0 be the coordinate in the unit ball. The magnitude is the number of k ≥ 1 with k − ½ ≤ ρ·y. Each question is an inequality of polynomials
//! in the expansions, so enclosures of integers answer it. Where all words are known, they are points, which are always comparable.
//!
//! Lists here abort the process where memory runs out: at most 100 000 numbers of a few words, needed for one coordinate in 2⁵⁰.

use super::fixed::Fixed;
use super::sign::bits;
use super::sort::Rank;
use crate::declassify;
use crate::exact::last_true;
use crate::stream::{EXTENSION_WORDS, Fill};

/// Points of the square tried for a pair at most: the last, from half the square, is always in the disk. All others miss with probability < 2^(−280).
pub(super) const ATTEMPTS: u64 = 128;

/// The stage of the first of the two words of an attempt for pair j.
pub(super) const fn attempt_word(pairs: usize, j: usize, attempt: u64) -> u64 {
    1 + 2 * (attempt * pairs as u64 + j as u64)
}

/// Pairs of coordinates; in an odd dimension the last coordinate of the last pair is dropped.
pub(super) const fn pairs(dim: usize) -> usize {
    dim.div_ceil(2)
}

pub(super) struct UndecidedVector<'a> {
    fill: &'a Fill,
    vector: u64,
    pub dim: usize,
    pub radius: u64,
}

impl<'a> UndecidedVector<'a> {
    pub fn new(fill: &'a Fill, vector: u64, dim: usize, radius: u64) -> Self {
        Self {
            fill,
            vector,
            dim,
            radius,
        }
    }

    /// The words of a stage of this vector and of the next stage.
    pub fn words(&self, s: u64) -> [u64; 2] {
        [s, s + 1].map(|s| self.fill.stage(s).word(self.vector))
    }

    /// The leading 127 bits of the number of a stage that is part of this attempt, from its word.
    pub fn leading_bits(&self, s: u64, attempt: u64, word: u64) -> u128 {
        let [first, second] = [word, self.fill.stage(s).extension(self.vector, 0)].map(declassify::word);
        (u128::from(bits(first)) << 64 | u128::from(second)) >> u32::from(attempt == ATTEMPTS - 1)
    }

    #[cold]
    pub fn cube(&self, i: usize, guess: u64) -> u64 {
        self.magnitude(guess, |k, known| {
            let y = self.expansion(1 + i as u64, known);
            self.linear(k, &y)
        })
    }

    /// The spacing before the number at `upper`, and after the one at `lower`.
    #[cold]
    pub fn cross(&self, lower: Option<&Rank>, upper: &Rank, guess: u64) -> u64 {
        self.magnitude(guess, |k, known| {
            let number = |rank: &Rank| {
                let mut tied: Vec<_> = rank.tied.iter().map(|j| self.expansion(1 + *j as u64, known)).collect();
                Fixed::sort(&mut tied);
                tied.swap_remove(rank.nth)
            };
            let upper = number(upper);
            self.linear(k, &lower.map_or_else(|| upper.clone(), |lower| upper.minus(&number(lower))))
        })
    }

    /// Coordinate i of a point of the ℓ2 ball: y² = u²·σ/q, and in an odd dimension divided by N = 1 − σ'·v'²/q'. Here q = u² + v² is that of its
    /// pair and σ the pair's spacing; σ', q' and v' are those of the last pair.
    #[cold]
    pub fn round(&self, i: usize, guess: u64) -> u64 {
        let pairs = pairs(self.dim);
        let attempts: Vec<_> = (0..pairs).map(|j| self.accepted(j)).collect();
        let coordinate = |j: usize, second: usize, known| {
            let s = attempt_word(pairs, j, attempts[j]) + second as u64;
            square(&self.expansion_of_attempt(s, attempts[j], known))
        };
        self.magnitude(guess, |k, known| {
            let square_of_pair = |j| coordinate(j, 0, known).plus(&coordinate(j, 1, known));
            let squares: Vec<_> = (0..pairs).map(square_of_pair).collect();
            let (j, last) = (i / 2, pairs - 1);
            // k − ½ ≤ ρ·y, squared and multiplied out: (2k − 1)²·q ≤ (2ρ)²·u²·σ. In an odd dimension N joins q, and both sides get q'.
            let odd = 2 * u128::from(k) - 1;
            let mut left = square(&Fixed::integer(odd)).times(&squares[j]);
            let mut right = square(&Fixed::integer(2 * u128::from(declassify::word(self.radius))))
                .times(&coordinate(j, i % 2, known))
                .times(&spacing(squares.clone(), j));
            if self.dim % 2 == 1 {
                let dropped = spacing(squares.clone(), last).times(&coordinate(last, 1, known));
                left = left.times(&squares[last].minus(&dropped));
                right = right.times(&squares[last]);
            }
            right.less(&left).map(|less| !less)
        })
    }

    /// The first attempt of pair j with u² + v² < 1; the last attempt always has.
    #[cold]
    pub fn accepted(&self, j: usize) -> u64 {
        declassify::slow_path();
        let pairs = pairs(self.dim);
        (0..ATTEMPTS - 1)
            .find(|t| {
                let s = attempt_word(pairs, j, *t);
                decide(|known| {
                    let (u, v) = (self.expansion(s, known), self.expansion(s + 1, known));
                    square(&u).plus(&square(&v)).less(&Fixed::integer(1))
                })
            })
            .unwrap_or(ATTEMPTS - 1)
    }

    fn linear(&self, k: u64, y: &Fixed) -> Option<bool> {
        let odd = Fixed::integer(2 * u128::from(k) - 1);
        let right = Fixed::integer(2 * u128::from(declassify::word(self.radius))).times(y);
        right.less(&odd).map(|less| !less)
    }

    /// The number of k ≥ 1 for which the inequality holds, given a guess.
    fn magnitude(&self, guess: u64, holds: impl Fn(u64, usize) -> Option<bool>) -> u64 {
        declassify::slow_path();
        // In the unit ball no coordinate is above 1.
        last_true(declassify::word(guess), declassify::word(self.radius) + 1, |k| {
            decide(|known| holds(k, known))
        })
    }

    /// The expansion of a stage's word and its first `known` extension words.
    fn expansion(&self, s: u64, known: usize) -> Fixed {
        self.expansion_of_attempt(s, 0, known)
    }

    fn expansion_of_attempt(&self, s: u64, attempt: u64, known: usize) -> Fixed {
        let stage = self.fill.stage(s);
        let first = bits(declassify::word(stage.word(self.vector))) >> u64::from(attempt == ATTEMPTS - 1);
        let words: Vec<_> = core::iter::once(first)
            .chain((0..known).map(|e| declassify::word(stage.extension(self.vector, e))))
            .collect();
        // Words beyond the last one are zero (contract, section 1).
        Fixed::expansion(&words, known == EXTENSION_WORDS)
    }
}

/// The answer from one extension word, or from twice as many each time, up to all there are.
fn decide(question: impl Fn(usize) -> Option<bool>) -> bool {
    let mut known = 1;
    loop {
        if let Some(answer) = question(known) {
            return answer;
        }
        assert!(known < EXTENSION_WORDS, "points are comparable");
        known *= 2;
    }
}

fn square(x: &Fixed) -> Fixed {
    x.times(x)
}

/// The i-th smallest of the numbers less the one before it.
fn spacing(mut numbers: Vec<Fixed>, i: usize) -> Fixed {
    Fixed::sort(&mut numbers);
    if i == 0 {
        numbers.swap_remove(0)
    } else {
        numbers[i].minus(&numbers[i - 1])
    }
}
