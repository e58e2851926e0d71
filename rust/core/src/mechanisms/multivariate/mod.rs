//! The staircase in several dimensions: a ball by its weight, a uniform point of it, coordinates rounded to the lattice (contract, section 9).

mod balls;
mod cross;
mod cube;
mod disk;
mod fine;
mod fixed;
mod round;
mod sign;
mod sort;
mod undecided;
mod wide;

use crate::declassify;
use crate::draw::{LaterTable, Staged, Table};
use crate::error::ParamError;
use crate::exact::ceil_product;
use crate::kernel::Tier;
use crate::lattice::{Lattice, check_positive};
use crate::mechanism::{Source, implement};
use crate::memory::{self, OutOfMemory};
use crate::stack;
use crate::stream::{CHUNK, Fill, Words};
use crate::wiped::Wiped;
use balls::Balls;
use undecided::UndecidedVector;

const MAX_REFINEMENT: f64 = 20.0;

/// In this number of dimensions a vector takes some tens of milliseconds, and its balls are at most about 2¹⁷.
const MOST_DIMENSIONS: u64 = 100_000;

/// In more dimensions the ℓ2 ball may need more than the 2²² stages of other mechanisms.
const FEW_DIMENSIONS: usize = 1 << 12;

/// Coordinates made at a time, about: with their words they fit the second-level cache.
const MOST_STEPS: usize = 1 << 12;

/// A coordinate of a point of the ℓ2 ball takes about as long as this many plain draws.
const L2_DRAWS: usize = 16;
/// Up to this number of vectors, words are taken one by one: stage by stage there would be too few at a time.
const FEW_VECTORS: usize = 16;

/// A vector's radius saturates here, with a probability below 2^(−19000): beyond ball 2⁹ with ε above 26, or beyond ball 2²⁸.
const MOST_RADIUS: u64 = 1 << 62;

/// How vectors are measured, by their sensitivity as by the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Norm {
    /// The sum of magnitudes.
    L1,
    /// The Euclidean norm.
    L2,
    /// The largest magnitude.
    LInf,
}

/// The staircase mechanism in d dimensions (Geng, Kairouz, Oh and Viswanath 2015, "The Staircase Mechanism in Differential Privacy"; ℓ2, ℓ∞: Kulesza
/// et al. 2025).
///
/// # Density
/// f(x) = a·e^(−εJ), J = 0 where ‖x‖ < γΔ, otherwise J = ⌊‖x‖/Δ − γ⌋ + 1: a mixture of uniform balls of radius (m + γ)Δ, weights e^(−εm) (m + γ)^d.
///
/// # What is drawn
/// The real mechanism with D lattice steps for Δ and ⌈γD⌉ for γΔ. Every coordinate is rounded to the nearest multiple of g, halves upwards. Each
/// lattice vector has exactly the probability of the cube about it. D covers what rounding adds to distances: a release is ε-differentially private.
///
/// # Example
/// ```
/// use stairnoise::{Generator, Mechanism, MultivariateStaircase, Norm};
///
/// let mechanism = MultivariateStaircase::new(4.0, 1.0, 2, 0.312, Norm::L1)?;
/// let mut noise = [0.0; 6]; // three vectors
/// mechanism.fill(&mut Generator::from_seed(1), &mut noise)?;
/// assert!(noise.iter().all(|x: &f64| x.abs() < 12.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MultivariateStaircase {
    norm: Norm,
    dim: usize,
    /// Its sensitivity has what rounding the answers adds.
    lattice: Lattice,
    r: u64,
    balls: LaterTable,
}

impl MultivariateStaircase {
    /// The mechanism for a number γ in [0, 1], where 0 and 1 are the same mechanism.
    pub fn new(eps: f64, sensitivity: f64, dim: u64, gamma: f64, norm: Norm) -> Result<Self, ParamError> {
        check(eps, sensitivity, dim, gamma)?;
        // s of the contract, section 9, in the roundings that it names.
        let refinement = (1.5 * eps / (dim + 1) as f64).floor().min(MAX_REFINEMENT) as i32;
        let mut lattice = Lattice::refined(sensitivity, refinement)?;
        lattice.sensitivity_steps += rounding_of_answers(norm, dim);
        let sensitivity_steps = lattice.sensitivity_steps;
        let r = if gamma > 0.0 {
            ceil_product(gamma, sensitivity_steps)
        } else {
            sensitivity_steps
        };
        Ok(Self {
            norm,
            dim: dim as usize,
            lattice,
            r,
            balls: LaterTable::new(Balls {
                eps,
                dim,
                sensitivity_steps,
                r,
            }),
        })
    }

    /// ⌈γD⌉: the radius of the first ball in lattice steps.
    pub fn r(&self) -> u64 {
        self.r
    }

    fn radius(&self, m: i64) -> u64 {
        // m may have 63 bits, and D about 53.
        let radius = u128::from(self.r) + u128::from(m.unsigned_abs()) * u128::from(self.lattice.sensitivity_steps);
        if declassify::condition(radius < MOST_RADIUS.into()) {
            radius as u64
        } else {
            MOST_RADIUS
        }
    }

    /// `count` vectors from `first` on; `batch` has room for as many or more.
    fn draw(&self, balls: &Table, tier: Tier, fill: &Fill, first: u64, count: usize, batch: &mut Batch) {
        balls.write(fill.stage(0), first, &mut batch.balls[..count]);
        let undecided = |i: usize| UndecidedVector::new(fill, first + i as u64, self.dim, self.radius(batch.balls[i]));
        let steps = &mut batch.steps[..count * self.dim];
        if let Some(pairs) = &mut batch.pairs {
            round::points(tier, fill, first, self.dim, undecided, pairs, steps);
            return;
        }
        if count <= FEW_VECTORS {
            let place = |k| (1 + (k % self.dim) as u64, first + (k / self.dim) as u64);
            fill.scattered_words(place, &mut batch.words[..count * self.dim]);
        } else {
            let mut words = Words::new();
            // Stage by stage, where the words of consecutive vectors are consecutive in the keystream.
            for s in 0..self.dim {
                let words = words.at(fill.stage(1 + s as u64), first, count);
                for (word, slot) in words.iter().zip(batch.words[s..].iter_mut().step_by(self.dim)) {
                    *slot = *word;
                }
            }
        }
        let vectors = batch.words.chunks_exact(self.dim).zip(steps.chunks_exact_mut(self.dim));
        for (i, (words, steps)) in vectors.enumerate() {
            if self.norm == Norm::L1 {
                cross::point(&undecided(i), words, &mut batch.scratch, steps);
            } else {
                cube::point(&undecided(i), words, steps);
            }
        }
    }

    /// [`Staged::write_steps`] on a tier that is available.
    fn write_on(&self, tier: Tier, fill: &Fill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory> {
        let (fill, start) = stages(fill, self.dim);
        let dim = self.dim as u64;
        // Vectors are counted from the beginning of the fill: this view may begin inside one.
        let (mut vector, mut skip) = ((start + first) / dim, ((start + first) % dim) as usize);
        // `Words` hands out at most CHUNK words of a stage.
        let most = (MOST_STEPS / self.dim).clamp(1, CHUNK);
        let needed = (skip + out.len()).div_ceil(self.dim);
        let balls = self.balls.table()?;
        let mut batch = Batch::new(self.norm, needed.min(most), self.dim)?;
        let mut left = out;
        while !left.is_empty() {
            let count = (skip + left.len()).div_ceil(self.dim).min(most);
            self.draw(balls, tier, &fill, vector, count, &mut batch);
            let drawn = &batch.steps[skip..count * self.dim];
            // The last vector may be wanted in part.
            let (now, later) = left.split_at_mut(drawn.len().min(left.len()));
            now.copy_from_slice(&drawn[..now.len()]);
            (left, skip) = (later, 0);
            vector += count as u64;
        }
        Ok(())
    }
}

implement!(MultivariateStaircase of f64, this => Source::staged(this, this.lattice, core::slice::from_ref(&this.r)));

impl Staged for MultivariateStaircase {
    fn prepare(&self) -> Result<(), OutOfMemory> {
        self.balls.table().map(drop)
    }

    fn joint_values(&self) -> usize {
        self.dim
    }

    /// A point of the ℓ2 ball takes several times as long as one of the others.
    fn draws(&self) -> usize {
        if self.norm == Norm::L2 { L2_DRAWS } else { 1 }
    }

    fn write_steps(&self, fill: &Fill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory> {
        self.write_on(Tier::current(), fill, first, out)
    }
}

/// Room for some vectors and what they are made of; wiped on drop, with what kernels left on the stack.
struct Batch {
    balls: Wiped<i64>,
    words: Wiped<u64>,
    steps: Wiped<i64>,
    scratch: Wiped<u64>,
    pairs: Option<round::Pairs>,
}

impl Batch {
    fn new(norm: Norm, count: usize, dim: usize) -> Result<Self, OutOfMemory> {
        let pairs = (norm == Norm::L2).then(|| round::Pairs::new(count, dim)).transpose()?;
        // Pairs have room for words of their own.
        let words = if norm == Norm::L2 { 0 } else { dim };
        Ok(Self {
            balls: memory::filled(0, count)?.into(),
            words: memory::filled(0, count * words)?.into(),
            steps: memory::filled(0, count * dim)?.into(),
            scratch: memory::filled(0, dim)?.into(),
            pairs,
        })
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        stack::wipe_deep();
    }
}

/// The whole fill, in which vectors are counted, and the coordinate that this view begins with. Long vectors have more stages (contract, section 9).
fn stages(fill: &Fill, dim: usize) -> (Fill, u64) {
    // 40 − 12 = 28 bits are left for the index of a long vector.
    fill.whole(if dim <= FEW_DIMENSIONS { 0 } else { FEW_DIMENSIONS.ilog2() })
}

fn check(eps: f64, sensitivity: f64, dim: u64, gamma: f64) -> Result<(), ParamError> {
    check_positive("eps", eps)?;
    check_positive("sensitivity", sensitivity)?;
    let possible = (1..=MOST_DIMENSIONS).contains(&dim);
    ParamError::require(possible, "dim", "from 1 to 100000", dim as f64)?;
    // Fewer than 2¹⁸ balls then have a weight above 2^(−128) of the largest.
    let enough = eps >= (dim + 128) as f64 / 65_536.0;
    ParamError::require(enough, "eps", "at least (dim + 128)/2**16", eps)?;
    ParamError::require((0.0..=1.0).contains(&gamma), "gamma", "from 0 to 1", gamma)
}

/// How much farther apart answers can be once they are rounded, in lattice steps beyond ⌈Δ/g⌉.
///
/// With t = |x − x'|/g in a coordinate, the rounded ones differ by at most ⌈t⌉ < t + 1 there. In ℓ∞ that is all. In ℓ1 the sum is an
/// integer below Δ/g + d, hence at most ⌈Δ/g⌉ + d − 1. In ℓ2 the norm is below Δ/g + √d.
fn rounding_of_answers(norm: Norm, dim: u64) -> u64 {
    match norm {
        Norm::L1 => dim - 1,
        // ⌈√d⌉ in integers.
        Norm::L2 => (dim - 1).isqrt() + 1,
        Norm::LInf => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::sign::{bits, signed};
    use super::*;
    use crate::AnyMechanism;
    use crate::Generator;

    const NORMS: [Norm; 3] = [Norm::L1, Norm::L2, Norm::LInf];

    /// Coordinate i by the exact path from a guess, with the sign of its word.
    fn exact(undecided: &UndecidedVector<'_>, norm: Norm, i: usize, guess: u64) -> i64 {
        let (magnitude, s) = match norm {
            Norm::L1 => {
                let words: Vec<_> = (0..undecided.dim).map(|j| undecided.words(1 + j as u64)[0]).collect();
                let mut sorted: Vec<_> = words.iter().map(|word| bits(*word)).collect();
                sorted.sort_unstable();
                (cross::decided_exactly(undecided, &words, &sorted, i, guess), 1 + i as u64)
            }
            Norm::L2 => {
                let word = undecided::attempt_word(undecided::pairs(undecided.dim), i / 2, undecided.accepted(i / 2));
                (undecided.round(i, guess), word + i as u64 % 2)
            }
            Norm::LInf => (undecided.cube(i, guess), 1 + i as u64),
        };
        signed(magnitude, undecided.words(s)[0])
    }

    /// A ball so large has a probability below 2⁻⁴⁰⁰⁰⁰; its radius is what fits.
    #[test]
    fn radii_saturate() {
        let mechanism = MultivariateStaircase::new(0.5, 1.0, 2, 0.3, Norm::L1).unwrap();
        assert_eq!(mechanism.radius(3), mechanism.r() + 3 * mechanism.sensitivity_steps());
        assert_eq!(mechanism.radius(i64::MAX), MOST_RADIUS);
    }

    /// Evidence: a second way to the same numbers. Every coordinate from the fast paths is the one that the exact path finds from a wrong guess,
    /// on lattices from 2³³ steps on, where rounding is nearly always clear, to 2⁵³ and beyond, where it nearly never is.
    #[test]
    fn fast_and_exact_paths_agree() {
        let fill = Generator::from_seed(5).next_staged(1 << 20).unwrap();
        for norm in NORMS {
            for dim in [1, 2, 3, 4, 5, 10] {
                for (eps, gamma) in [(0.5, 0.3), (5.0, 1.0), (300.0, 0.9)] {
                    let mechanism = MultivariateStaircase::new(eps, 1.0, dim, gamma, norm).unwrap();
                    let mut noise = vec![0; 4 * mechanism.dim];
                    mechanism.write_steps(&fill, 0, &mut noise).unwrap();
                    for (index, vector) in (0..).zip(noise.chunks(mechanism.dim)) {
                        let mut m = [0];
                        mechanism.balls.table().unwrap().write(fill.stage(0), index, &mut m);
                        let undecided = UndecidedVector::new(&fill, index, mechanism.dim, mechanism.radius(m[0]));
                        for (i, steps) in vector.iter().enumerate() {
                            let expected = exact(&undecided, norm, i, steps.unsigned_abs() + 1);
                            assert_eq!(*steps, expected, "{mechanism:?} {index} {i}");
                        }
                    }
                }
            }
        }
    }

    /// Evidence: a second way to the same numbers, at radii that leave the fast paths little or no room: a bound that is too small shows here.
    #[test]
    fn what_the_fast_paths_are_sure_of_is_exact() {
        for tier in Tier::tested() {
            sure_is_exact(tier);
        }
    }

    fn sure_is_exact(tier: Tier) {
        let fill = Generator::from_seed(9).next_staged(1 << 20).unwrap();
        for norm in NORMS {
            for dim in [1, 2, 3, 5] {
                for log2 in [38, 44, 46, 47, 48, 49, 60, 61] {
                    let mechanism = MultivariateStaircase::new(1.0, 1.0, dim, 0.5, norm).unwrap();
                    for index in 0..20 {
                        let undecided = UndecidedVector::new(&fill, index, mechanism.dim, (1 << log2) + 12_345);
                        let mut batch = Batch::new(norm, 1, mechanism.dim).unwrap();
                        for (s, word) in (1..).zip(batch.words.iter_mut()) {
                            *word = fill.stage(s).word(index);
                        }
                        let radius = undecided.radius;
                        let again = |_| UndecidedVector::new(&fill, index, mechanism.dim, radius);
                        match (norm, &mut batch.pairs) {
                            (Norm::L1, _) => cross::point(&undecided, &batch.words, &mut batch.scratch, &mut batch.steps),
                            (_, Some(pairs)) => round::points(tier, &fill, index, mechanism.dim, again, pairs, &mut batch.steps),
                            _ => cube::point(&undecided, &batch.words, &mut batch.steps),
                        }
                        for (i, steps) in batch.steps.iter().enumerate() {
                            let expected = exact(&undecided, norm, i, steps.unsigned_abs());
                            assert_eq!(*steps, expected, "{norm:?} {dim} 2^{log2} {index} {i}");
                        }
                    }
                }
            }
        }
    }

    /// Evidence: equality of every tier with every other, for numbers of vectors around those made at a time.
    #[test]
    fn every_tier_writes_the_same_values() {
        let fill = Generator::from_seed(4).next_staged(1 << 20).unwrap();
        for norm in NORMS {
            for (dim, n) in [(1, 1), (2, 1025), (3, 3001), (10, 4105), (49, 500), (50, 500)] {
                let mechanism = MultivariateStaircase::new(2.0, 1.0, dim, 0.5, norm).unwrap();
                let of = |tier| {
                    let mut noise = vec![0; n];
                    mechanism.write_on(tier, &fill, 0, &mut noise).unwrap();
                    noise
                };
                let portable = of(Tier::Portable);
                for tier in Tier::tested() {
                    assert!(of(tier) == portable, "{tier:?}: {norm:?} {dim}");
                }
            }
        }
    }

    /// Evidence: geometry. Before rounding every vector is in its ball, so after it by no more than half a step in each coordinate outside.
    #[test]
    fn vectors_stay_in_their_balls() {
        let fill = Generator::from_seed(6).next_staged(1 << 20).unwrap();
        for norm in NORMS {
            for dim in [1, 2, 3, 7, 10, 600] {
                let mechanism = MultivariateStaircase::new(2.0, 1.0, dim, 0.5, norm).unwrap();
                let mut noise = vec![0; 1200 / mechanism.dim * mechanism.dim];
                mechanism.write_steps(&fill, 0, &mut noise).unwrap();
                for (index, vector) in (0..).zip(noise.chunks(mechanism.dim)) {
                    let mut m = [0];
                    mechanism.balls.table().unwrap().write(fill.stage(0), index, &mut m);
                    let x = vector.iter().map(|steps| *steps as f64);
                    let (size, slack) = match norm {
                        Norm::L1 => (x.map(f64::abs).sum(), dim as f64 / 2.0),
                        Norm::L2 => (x.map(|x| x * x).sum::<f64>().sqrt(), (dim as f64).sqrt() / 2.0),
                        Norm::LInf => (x.map(f64::abs).fold(0.0, f64::max), 0.5),
                    };
                    let radius = mechanism.radius(m[0]) as f64;
                    assert!(
                        size <= (radius + slack) * (1.0 + 1e-12),
                        "{mechanism:?} {index}: {size} {radius}"
                    );
                }
            }
        }
    }

    /// Evidence: equality of pieces that begin and end inside vectors, and of views of the fill, with the whole.
    #[test]
    fn pieces_are_parts_of_the_whole() {
        for norm in NORMS {
            for dim in [1, 2, 3, 10, 700] {
                let mechanism = MultivariateStaircase::new(1.0, 1.0, dim, 0.5, norm).unwrap();
                let mut generator = Generator::from_seed(7);
                let mut whole = vec![0; 1500];
                mechanism
                    .write_steps(&generator.at(0).unwrap().next_staged(1500).unwrap(), 0, &mut whole)
                    .unwrap();
                for (start, first, n) in [(0, 1, 9), (3, 0, 20), (5, 8, 700), (699, 2, 701)] {
                    let fill = generator.at(start as u64).unwrap().next_staged(1400).unwrap();
                    let mut piece = vec![0; n];
                    mechanism.write_steps(&fill, first as u64, &mut piece).unwrap();
                    assert_eq!(piece, whole[start + first..][..n], "{norm:?} {dim} {start} {first}");
                }
            }
        }
    }

    #[test]
    fn refuses_with_the_parameter_and_the_rule() {
        let text = |eps, sensitivity, dim, gamma| {
            let mechanism = MultivariateStaircase::new(eps, sensitivity, dim, gamma, Norm::L1);
            mechanism.unwrap_err().to_string()
        };
        assert!(text(f64::NAN, 1.0, 2, 0.5).starts_with("eps must be finite"));
        assert_eq!(text(0.001, 1.0, 2, 0.5), "eps must be at least (dim + 128)/2**16, got 0.001");
        assert!(text(1.0, f64::NAN, 2, 0.5).starts_with("sensitivity must be finite"));
        assert!(text(1.0, 1e300, 2, 0.5).contains("granularity"));
        assert!(text(1.0, 1.0, 0, 0.5).starts_with("dim must be from 1 to 100000"));
        for gamma in [f64::NAN, -0.1, 1.0_f64.next_up()] {
            assert!(text(1.0, 1.0, 2, gamma).starts_with("gamma must be from 0 to 1"));
        }
    }

    /// The first ball may have next to no weight.
    #[test]
    fn a_tiny_gamma_leaves_the_first_ball_empty() {
        let fill = Generator::from_seed(8).next_staged(1 << 20).unwrap();
        let mechanism = MultivariateStaircase::new(1.0, 1.0, 9, 1e-9, Norm::L1).unwrap();
        let mut balls = [0; 500];
        mechanism.balls.table().unwrap().write(fill.stage(0), 0, &mut balls);
        assert!(balls.iter().all(|m| *m > 0));
    }

    /// γ = 0 and γ = 1 are the same mechanism, and so are their values.
    #[test]
    fn the_ends_of_gamma_meet() {
        let mechanism = |gamma| MultivariateStaircase::new(1.0, 1.0, 3, gamma, Norm::L2).unwrap();
        assert_eq!(mechanism(0.0).r(), mechanism(1.0).r());
        assert_eq!(mechanism(0.0).sensitivity_steps(), (1 << 32) + 2);
    }
}
