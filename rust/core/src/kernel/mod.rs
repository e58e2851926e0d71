//! The certified fast path: from a 64-bit word to the integer that it decides, or "not sure".
//!
//! Every lane evaluates the inverse of the survival function in `f64` with a bound on its total error: rounding, polynomial, parameters
//! and the bits of `v` beyond the word. If the whole error interval lies inside one cell, that integer is the answer, whatever
//! arithmetic produced the approximation; otherwise the integer slow path ([`crate::exact`]) decides. So no polynomial, compiler or
//! instruction set can change a value: only how often the slow path is asked.
//!
//! | file | subject |
//! |---|---|
//! | `geometric`, `staircase` | the two families: formula, error bound, acceptance |
//! | `ladder`, `thresholds` | the same with few stairs, or few magnitudes: comparisons in place of the logarithm |
//! | `fixed_point` | the same in fixed point of 128 bits, for the widest laws |
//! | `coin` | the acceptance of the discrete Gaussian law |
//! | `own` | the families where every value has parameters of its own |
//! | `elementary` | −ln, exp and exp − 1 with stated errors |
//! | `tier` | the chooser of instruction sets |
//! | `registers` | clearing the vector registers |
//! | `float` | whole numbers in and out of `f64` without branches |
//!
//! `u` is 2⁻⁵³, half an ulp of 1, in every bound.

mod coin;
mod elementary;
mod fixed_point;
mod float;
mod geometric;
mod ladder;
mod own;
mod registers;
mod staircase;
mod thresholds;
mod tier;

use crate::exact::IntegerLaw;
use crate::lattice::Value;
use crate::reveal;

pub(crate) use coin::Coin;
pub(crate) use fixed_point::FixedPoint;
pub(crate) use float::{less, nearest};
pub(crate) use geometric::{Coarse, Geometric};
pub(crate) use ladder::Ladder;
pub(crate) use own::{Drawn, Family, Given};
pub(crate) use registers::clear as clear_registers;
pub(crate) use staircase::Staircase;
pub(crate) use thresholds::Thresholds;
pub(crate) use tier::{Arithmetic, Baseline, Tier, Work, run_on};
pub use tier::{cpu_tier, cpu_tiers};

/// Bits of `v` in a word: all but the sign.
pub(crate) const WORD_BITS: u32 = 63;

const SIGN: u64 = 1 << 63;

/// Words decided together.
pub(crate) const BLOCK: usize = 64;

/// Beyond this many cells in a sensitivity and in the noise scale a double cannot tell neighbouring cells apart, and every word goes to
/// the slow path. It also keeps every accepted magnitude below 2⁵¹: the scale is at most 2⁴⁵ cells and −ln v at most 45.
const MAX_SPAN: f64 = (1_u64 << 45) as f64;

/// Mass that may go to the slow path for want of a rung.
const RARE: f64 = 1.0 / (1_u64 << 14) as f64;

/// One family's lane, in two stages: a block goes through the first before it goes through the second, so that the processor finds enough
/// independent work in shorter chains.
pub(crate) trait Lane {
    /// What the second stage needs, from the leading bits of `v`.
    fn reduce<A: Arithmetic>(&self, bits: u64) -> [f64; 3];

    /// |X| as a whole `f64`, and whether it is certain. An uncertain magnitude may be anything.
    fn finish<A: Arithmetic>(&self, reduced: [f64; 3]) -> (f64, bool);

    /// Both stages.
    #[inline(always)]
    fn magnitude<A: Arithmetic>(&self, bits: u64) -> (f64, bool) {
        self.finish::<A>(self.reduce::<A>(bits))
    }
}

/// The fast path of a law.
#[derive(Clone, Debug)]
pub(crate) enum Kernel {
    Geometric(Geometric),
    Coarse(Coarse),
    Thresholds4(Thresholds<4>),
    Thresholds8(Thresholds<8>),
    Staircase(Staircase),
    Ladder4(Ladder<4>),
    Ladder8(Ladder<8>),
}

impl Kernel {
    pub fn new(law: &IntegerLaw) -> Self {
        match *law {
            IntegerLaw::Geometric { eps, cells } => {
                if let Some(four) = Thresholds::<4>::new(eps, cells, WORD_BITS) {
                    Self::Thresholds4(four)
                } else if let Some(eight) = Thresholds::<8>::new(eps, cells, WORD_BITS) {
                    Self::Thresholds8(eight)
                } else if let Some(coarse) = Coarse::new(eps, cells, WORD_BITS) {
                    Self::Coarse(coarse)
                } else {
                    Self::Geometric(Geometric::new(eps, cells, WORD_BITS))
                }
            }
            IntegerLaw::OneSided { eps, cells } => {
                if let Some(four) = Thresholds::<4>::one_sided(eps, cells, WORD_BITS) {
                    Self::Thresholds4(four)
                } else if let Some(eight) = Thresholds::<8>::one_sided(eps, cells, WORD_BITS) {
                    Self::Thresholds8(eight)
                } else if let Some(coarse) = Coarse::one_sided(eps, cells, WORD_BITS) {
                    Self::Coarse(coarse)
                } else {
                    Self::Geometric(Geometric::one_sided(eps, cells, WORD_BITS))
                }
            }
            IntegerLaw::Staircase { eps, cells, r } => {
                let stairs = Staircase::new(eps, cells, r, WORD_BITS);
                // By the mass beyond the last rung, all of which goes to the slow path: at most 2⁻¹⁴.
                match stairs.stairs_above(RARE) {
                    0..=4 => Self::Ladder4(Ladder::new(&stairs)),
                    5..=8 => Self::Ladder8(Ladder::new(&stairs)),
                    _ => Self::Staircase(stairs),
                }
            }
        }
    }

    /// Without tables, which take longer to make than one value takes to draw.
    pub fn quick(law: &IntegerLaw) -> Self {
        match *law {
            IntegerLaw::Geometric { eps, cells } => Self::Geometric(Geometric::new(eps, cells, WORD_BITS)),
            IntegerLaw::OneSided { eps, cells } => Self::Geometric(Geometric::one_sided(eps, cells, WORD_BITS)),
            IntegerLaw::Staircase { eps, cells, r } => Self::Staircase(Staircase::new(eps, cells, r, WORD_BITS)),
        }
    }

    /// The signed answer for one word, if the word alone is certain to decide it.
    pub fn decide(&self, word: u64) -> Option<f64> {
        let (cells, sure) = match self {
            Self::Geometric(lane) => signed::<Baseline>(lane, word),
            Self::Coarse(lane) => signed::<Baseline>(lane, word),
            Self::Thresholds4(lane) => signed::<Baseline>(lane, word),
            Self::Thresholds8(lane) => signed::<Baseline>(lane, word),
            Self::Staircase(lane) => signed::<Baseline>(lane, word),
            Self::Ladder4(lane) => signed::<Baseline>(lane, word),
            Self::Ladder8(lane) => signed::<Baseline>(lane, word),
        };
        reveal::condition(sure).then_some(cells)
    }

    /// Whether it decides any word at all: for laws beyond [`MAX_SPAN`] it does not.
    pub fn is_ever_sure(&self) -> bool {
        let slack = match self {
            Self::Geometric(lane) => lane.slack,
            Self::Staircase(lane) => lane.slack(),
            Self::Ladder4(lane) => lane.slack(),
            Self::Ladder8(lane) => lane.slack(),
            Self::Coarse(_) | Self::Thresholds4(_) | Self::Thresholds8(_) => 0.0,
        };
        slack < f64::INFINITY
    }

    /// Which kernel this is.
    #[cfg(feature = "probe")]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Geometric(_) => "geometric",
            Self::Coarse(_) => "coarse",
            Self::Thresholds4(_) => "thresholds4",
            Self::Thresholds8(_) => "thresholds8",
            Self::Staircase(_) => "staircase",
            Self::Ladder4(_) => "ladder4",
            Self::Ladder8(_) => "ladder8",
        }
    }

    /// Writes an answer for every word and calls `doubt` with the positions whose answer the caller must replace.
    pub fn fill<T: Value>(&self, tier: Tier, words: &[u64], granularity: f64, out: &mut [T], doubt: impl FnMut(usize, &mut T)) {
        tier::fill_on(tier, self, words, granularity, out, doubt);
    }
}

#[inline(always)]
fn signed<A: Arithmetic>(lane: &impl Lane, word: u64) -> (f64, bool) {
    let (magnitude, sure) = lane.magnitude::<A>(word & !SIGN);
    (with_sign(magnitude, word), sure)
}

#[inline(always)]
fn with_sign(magnitude: f64, word: u64) -> f64 {
    f64::from_bits(magnitude.to_bits() ^ (word & SIGN))
}

/// [`Kernel::fill`], to be compiled for the instructions of whoever inlines it.
#[inline(always)]
fn fill<A: Arithmetic, T: Value>(
    kernel: &Kernel,
    words: &[u64],
    granularity: f64,
    out: &mut [T],
    doubt: impl FnMut(usize, &mut T),
) {
    match kernel {
        Kernel::Geometric(lane) => fill_lanes::<A, T>(lane, words, granularity, out, doubt),
        Kernel::Coarse(lane) => fill_lanes::<A, T>(lane, words, granularity, out, doubt),
        Kernel::Thresholds4(lane) => fill_lanes::<A, T>(lane, words, granularity, out, doubt),
        Kernel::Thresholds8(lane) => fill_lanes::<A, T>(lane, words, granularity, out, doubt),
        Kernel::Staircase(lane) => fill_lanes::<A, T>(lane, words, granularity, out, doubt),
        Kernel::Ladder4(lane) => fill_lanes::<A, T>(lane, words, granularity, out, doubt),
        Kernel::Ladder8(lane) => fill_lanes::<A, T>(lane, words, granularity, out, doubt),
    }
}

#[inline(always)]
fn fill_lanes<A: Arithmetic, T: Value>(
    lane: &impl Lane,
    words: &[u64],
    granularity: f64,
    out: &mut [T],
    mut doubt: impl FnMut(usize, &mut T),
) {
    let (blocks, rest) = words.as_chunks::<BLOCK>();
    let (out_blocks, out_rest) = out.as_chunks_mut::<BLOCK>();
    // Short fills need no room.
    if !blocks.is_empty() {
        fill_blocks::<A, T>(lane, blocks, granularity, out_blocks, &mut doubt);
    }
    let done = words.len() - rest.len();
    for (i, (word, value)) in rest.iter().zip(out_rest).enumerate() {
        let (cells, sure) = signed::<A>(lane, *word);
        *value = T::from_whole(cells, granularity);
        if !reveal::condition(sure) {
            doubt(done + i, value);
        }
    }
}

#[inline(always)]
fn fill_blocks<A: Arithmetic, T: Value>(
    lane: &impl Lane,
    blocks: &[[u64; BLOCK]],
    granularity: f64,
    out: &mut [[T; BLOCK]],
    mut doubt: impl FnMut(usize, &mut T),
) {
    // Room for all blocks, not zeroed for each: zeros stored just before take up to a tenth of a fill, and made its time depend on the noise (docs/timing.md).
    let Lines(reduced) = &mut Lines([[0.0; BLOCK]; 3]);
    for (b, (words, out)) in blocks.iter().zip(out).enumerate() {
        if !reveal::condition(fill_block::<A, T>(lane, words, granularity, reduced, out)) {
            for (i, (word, value)) in words.iter().zip(out).enumerate() {
                if !reveal::condition(signed::<A>(lane, *word).1) {
                    doubt(b * BLOCK + i, value);
                }
            }
        }
    }
}

/// On whole cache lines. The stack is aligned to 16 bytes only: elsewhere vectors that lie across two lines are stored and read again, which takes a
/// quarter longer, and a time that depends on what they hold (docs/timing.md).
#[repr(align(64))]
pub(crate) struct Lines<T>(pub T);

/// Whether every answer is sure. No branch depends on a lane until the block is written, so that the compiler does several lanes at a time. What was in
/// `reduced` does not matter.
#[inline(always)]
fn fill_block<A: Arithmetic, T: Value>(
    lane: &impl Lane,
    words: &[u64; BLOCK],
    granularity: f64,
    reduced: &mut [[f64; BLOCK]; 3],
    out: &mut [T; BLOCK],
) -> bool {
    for i in 0..BLOCK {
        [reduced[0][i], reduced[1][i], reduced[2][i]] = lane.reduce::<A>(words[i] & !SIGN);
    }
    // Counting, not a flag: the compiler turns a sum into a vector sum.
    let mut sure_lanes = 0_u64;
    for i in 0..BLOCK {
        let (magnitude, sure) = lane.finish::<A>([reduced[0][i], reduced[1][i], reduced[2][i]]);
        out[i] = T::from_whole(with_sign(magnitude, words[i]), granularity);
        sure_lanes = sure_lanes.wrapping_add(u64::from(sure));
    }
    sure_lanes == BLOCK as u64
}

#[cfg(test)]
mod exhaustive;
#[cfg(test)]
mod proof;
