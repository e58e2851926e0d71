//! Points (u, v) uniform in the positive quarter of the unit disk, by rejection from the square: one for every pair of every vector.

use core::ops::Range;

use super::FEW_VECTORS;
use super::sign::{SIGN, bits};
use super::undecided::{ATTEMPTS, UndecidedVector, attempt_word, pairs};
use crate::declassify;
use crate::kernel::{Arithmetic, Baseline, Tier, on_tier};
use crate::memory::{self, OutOfMemory};
use crate::stream::{Fill, Words};
use crate::wiped::Wiped;

/// Attempts whose words are made for all pairs alike: fewer than one pair in 20 needs a third.
const EARLY: u64 = 2;

const UNIT: f64 = 1.0 / (1_u64 << 54) as f64;

/// Bound on the error of q < 1, in units of 2⁻⁵⁴. u and v are off by 1.01 each, from conversion and unknown bits: that is 2.02·(u + v) < 2.86 of q.
/// Rounding adds 1 and ½ for the squares, because only one can be above ½, and 1 for their sum.
pub(super) const Q_ERROR: f64 = 5.5 * UNIT;

/// Below it q is certainly less than 1.
const INSIDE: f64 = 1.0 - 8.0 * UNIT;

/// Above it q is certainly at least 1: rounding a sum above 1 adds 2 instead of 1.
const OUTSIDE: f64 = 1.0 + 8.0 * UNIT;

/// The points of some vectors, that of pair j of vector i at place j·count + i; wiped on drop.
pub(super) struct Points {
    /// With the signs of their words.
    pub u: Wiped<f64>,
    pub v: Wiped<f64>,
    /// u² + v².
    pub q: Wiped<f64>,
    /// The words of the early attempts, stage by stage.
    words: Wiped<u64>,
    /// Places without a point yet. They are not wiped: how many attempts a pair takes says nothing about its point.
    open: Vec<usize>,
    later: Wiped<u64>,
}

impl Points {
    pub fn new(pairs: usize) -> Result<Self, OutOfMemory> {
        let all = || memory::filled(0.0, pairs).map(Wiped::from);
        Ok(Self {
            u: all()?,
            v: all()?,
            q: all()?,
            words: memory::filled(0, 2 * EARLY as usize * pairs)?.into(),
            open: memory::filled(0, pairs)?,
            later: memory::filled(0, 2 * pairs)?.into(),
        })
    }

    #[inline(always)]
    pub fn columns(&self, places: Range<usize>) -> [&[f64]; 3] {
        [&self.u, &self.v, &self.q].map(|all| &all[places.clone()])
    }

    /// The points of `count` vectors of `dim` coordinates from vector `first` on, `undecided(i)` the i-th.
    pub fn draw<'a>(
        &mut self,
        tier: Tier,
        fill: &Fill,
        first: u64,
        [count, dim]: [usize; 2],
        undecided: impl Fn(usize) -> UndecidedVector<'a>,
    ) {
        let pairs = pairs(dim);
        let early = &mut self.words[..2 * EARLY as usize * pairs * count];
        if count <= FEW_VECTORS {
            let place = |k| (1 + (k / count) as u64, first + (k % count) as u64);
            fill.scattered_words(place, early);
        } else {
            let mut words = Words::new();
            for (s, column) in (1..).zip(early.chunks_exact_mut(count)) {
                column.copy_from_slice(words.at(fill.stage(s), first, count));
            }
        }
        let n = count * pairs;
        on_tier!(tier, A => self.choose_early::<A>(count, pairs));
        self.open.resize(n, 0);
        let mut open = 0;
        for (place, q) in self.q[..n].iter().enumerate() {
            self.open[open] = place;
            open += usize::from(declassify::condition(*q >= INSIDE));
        }
        self.open.truncate(open);
        self.later(fill, first, [count, dim], undecided);
    }

    /// Chooses among the early attempts, without branches: the first in the disk, or one that is not certainly in it.
    #[inline(always)]
    fn choose_early<A: Arithmetic>(&mut self, count: usize, pairs: usize) {
        for j in 0..pairs {
            let place = |attempt, second| (attempt_word(pairs, j, attempt) as usize - 1 + second) * count;
            let words = |attempt, second| &self.words[place(attempt, second)..][..count];
            let (first, second) = ([words(0, 0), words(0, 1)], [words(1, 0), words(1, 1)]);
            let range = j * count..(j + 1) * count;
            let (u, v, q) = (&mut self.u[range.clone()], &mut self.v[range.clone()], &mut self.q[range]);
            for i in 0..count {
                let one = point::<A>([first[0][i], first[1][i]]);
                let other = point::<A>([second[0][i], second[1][i]]);
                let chosen = declassify::condition(one.2 <= OUTSIDE);
                u[i] = if chosen { one.0 } else { other.0 };
                v[i] = if chosen { one.1 } else { other.1 };
                q[i] = if chosen { one.2 } else { other.2 };
            }
        }
    }

    fn later<'a>(&mut self, fill: &Fill, first: u64, [count, dim]: [usize; 2], undecided: impl Fn(usize) -> UndecidedVector<'a>) {
        let pairs = pairs(dim);
        for attempt in EARLY.. {
            let mut open = core::mem::take(&mut self.open);
            open.retain(|&place| {
                let q = self.q[place];
                let outside = declassify::condition(q >= INSIDE);
                // The last attempt counts whatever its q: `decide` draws it from half the square.
                let on_the_circle = outside && (declassify::condition(q <= OUTSIDE) || attempt == ATTEMPTS - 1);
                if on_the_circle {
                    self.decide(&undecided(place % count), [place, pairs, place / count]);
                }
                outside && !on_the_circle
            });
            self.open = open;
            if self.open.is_empty() {
                return;
            }
            let word_of = |k: usize| {
                let place = self.open[k / 2];
                let s = attempt_word(pairs, place / count, attempt) + (k % 2) as u64;
                (s, first + (place % count) as u64)
            };
            self.later.resize(2 * self.open.len(), 0);
            fill.scattered_words(word_of, &mut self.later);
            for (place, words) in self.open.iter().zip(self.later.as_chunks().0) {
                (self.u[*place], self.v[*place], self.q[*place]) = point::<Baseline>(*words);
            }
        }
    }

    /// The leading 127 bits of u and v of pair j of vector i, the vector that `undecided` is about. They are those of the first attempt in the disk.
    pub fn leading_bits(&self, undecided: &UndecidedVector<'_>, count: usize, [i, j]: [usize; 2]) -> [u128; 2] {
        let pairs = pairs(undecided.dim);
        let words = |attempt| {
            let s = attempt_word(pairs, j, attempt);
            let place = (s - 1) as usize * count + i;
            if attempt < EARLY {
                [self.words[place], self.words[place + count]]
            } else {
                undecided.words(s)
            }
        };
        let square = |attempt| f64::from_bits(declassify::word(point::<Baseline>(words(attempt)).2.to_bits()));
        // The first attempt that may be in the disk counts if it certainly is. Otherwise the exact path decides.
        let likely = (0..ATTEMPTS - 1).find(|attempt| square(*attempt) <= OUTSIDE);
        let certain = likely.filter(|attempt| square(*attempt) < INSIDE);
        let attempt = certain.unwrap_or_else(|| undecided.accepted(j));
        let (first, words) = (attempt_word(pairs, j, attempt), words(attempt));
        [0, 1].map(|second| undecided.leading_bits(first + second as u64, attempt, words[second]))
    }

    /// The point of a pair, exactly the one that counts.
    #[cold]
    fn decide(&mut self, undecided: &UndecidedVector<'_>, [place, pairs, j]: [usize; 3]) {
        let attempt = undecided.accepted(j);
        let words = undecided.words(attempt_word(pairs, j, attempt));
        // The numbers of the last attempt begin with a zero bit (contract, section 9).
        let halve = u64::from(attempt == ATTEMPTS - 1);
        let words = words.map(|word| bits(word) >> halve | word & SIGN);
        (self.u[place], self.v[place], self.q[place]) = point::<Baseline>(words);
    }
}

#[inline(always)]
fn point<A: Arithmetic>(words: [u64; 2]) -> (f64, f64, f64) {
    let [u, v] = words.map(|word| A::from_bits(bits(word)) * (1.0 / SIGN as f64));
    let q = A::mul_add(u, u, v * v);
    // u and v are not negative yet, so that `|` sets the sign.
    let [u, v] = [(u, words[0]), (v, words[1])].map(|(x, word)| f64::from_bits(x.to_bits() | word & SIGN));
    (u, v, q)
}
