use zeroize::Zeroize;

use crate::error::ParamError;
use crate::exact::{self, IntegerLaw};
use crate::kernel::{Coin, Tier, UNSURE};
use crate::params::Lattice;
use crate::sampler::Sampler;
use crate::noise::{Noise, stage};
use crate::stream::{CHUNK, Fill, Words};

/// The discrete Gaussian law on the integers, P(k) ∝ e^(−k²/(2σ²)), or on a lattice of them.
///
/// Exact: a proposal from the two-sided geometric law of scale t, the integer nearest σ, is accepted with probability
/// e^(−(|Y| − σ²/t)²/(2σ²)), and so on until one is (Canonne, Kamath and Steinke 2020, Algorithm 3, with another t).
///
/// The number of attempts says nothing about the value: given that it is accepted, a proposal has the same law in every attempt.
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    sigma2: f64,
    t: u64,
    log2_granularity: i32,
    proposal: Sampler,
    coin: Coin,
}

/// Beyond, the tail of the law would come near the end of an `i64`, and `f64`s cannot tell neighbouring proposals apart.
const MOST_SIGMA2: f64 = (1_u128 << 90) as f64;
/// Below, the law is 0 but for a probability of 2^−756 000.
const LEAST_SIGMA2: f64 = 1.0 / (1 << 20) as f64;

/// Attempts of one value: none is left open, but for a probability below 2^−1 000 000.
const ATTEMPTS: u64 = 1 << 21;

/// So many values or fewer are brought to their end one by one.
const FEW: usize = 8;

impl DiscreteGaussian {
    /// The law with the parameter σ², which is its variance but for less than 10⁻⁷ of it where σ² ≥ 1.
    ///
    /// # Errors
    /// [`ParamError`] unless σ² is from 2⁻²⁰ to 2⁹⁰.
    pub fn new(sigma2: f64) -> Result<Self, ParamError> {
        Self::scaled(sigma2, 0)
    }

    /// The law times 2^`log2_granularity`, σ² being counted in steps of that lattice.
    ///
    /// # Errors
    /// [`ParamError`] unless σ² is from 2⁻²⁰ to 2⁹⁰ and `log2_granularity` from −1074 to 960.
    pub fn scaled(sigma2: f64, log2_granularity: i32) -> Result<Self, ParamError> {
        if !(LEAST_SIGMA2..=MOST_SIGMA2).contains(&sigma2) {
            return Err(ParamError::Rule {
                parameter: "sigma2",
                rule: "from 2**-20 to 2**90",
                value: sigma2,
            });
        }
        if !(-1074..=960).contains(&log2_granularity) {
            return Err(ParamError::Rule {
                parameter: "log2_granularity",
                rule: "from -1074 to 960",
                value: log2_granularity.into(),
            });
        }
        let t = exact::nearest_sqrt(sigma2);
        let integers = Lattice {
            log2_granularity: 0,
            cells: t,
        };
        Ok(Self {
            sigma2,
            t,
            log2_granularity,
            proposal: Sampler::new(IntegerLaw::Geometric { eps: 1.0, cells: t }, integers),
            coin: Coin::new(sigma2, t),
        })
    }

    /// The parameter σ², in steps of the lattice.
    pub fn sigma2(&self) -> f64 {
        self.sigma2
    }

    /// Value `i` of a fill, from attempt `first_attempt` on.
    fn value(&self, fill: &Fill, i: u64, first_attempt: u64) -> i64 {
        for attempt in first_attempt..ATTEMPTS {
            let index = stage(2 * attempt, i);
            let proposal = self.proposal.cells(fill.word(index), |e| fill.extension(index, e));
            let coin = fill.word(stage(2 * attempt + 1, i));
            let verdict = self.coin.decide(proposal, coin);
            if self.accepts(verdict, fill, attempt, i, proposal, coin) {
                return proposal;
            }
        }
        0
    }

    /// The kernel's verdict where it is certain, and the exact one where not.
    fn accepts(&self, verdict: u64, fill: &Fill, attempt: u64, i: u64, proposal: i64, coin: u64) -> bool {
        if verdict & UNSURE == 0 {
            return verdict == 1;
        }
        let index = stage(2 * attempt + 1, i);
        exact::accept(self.sigma2, self.t, proposal.unsigned_abs(), coin, &mut |e| {
            fill.extension(index, e)
        })
    }

    /// Values `first .. first + out.len()`, at most [`CHUNK`] of them.
    fn write_chunk(&self, tier: Tier, fill: &Fill, first: u64, out: &mut [i64], work: &mut Work<'_>) {
        let n = out.len();
        self.proposal.write(fill, stage(0, first), out);
        work.coins[..n].copy_from_slice(work.words.at(stage(1, first), n));
        let sure = self.coin.toss(tier, out, &work.coins[..n], &mut work.verdicts[..n]);
        if !sure {
            for i in 0..n {
                let verdict = work.verdicts[i];
                work.verdicts[i] = self.accepts(verdict, fill, 0, first + i as u64, out[i], work.coins[i]).into();
            }
        }
        let mut left = 0;
        for (i, verdict) in work.verdicts[..n].iter().enumerate() {
            work.left[left] = i as u16;
            left += usize::from(*verdict == 0);
        }
        let mut attempt = 1;
        while left > FEW {
            left = self.attempt(tier, fill, attempt, first, out, work, left);
            attempt += 1;
        }
        for &i in &work.left[..left] {
            out[usize::from(i)] = self.value(fill, first + u64::from(i), attempt);
        }
    }

    /// One more attempt of the values `work.left[..left]`; how many are left then, and they are the first of `work.left`.
    #[expect(clippy::too_many_arguments)]
    fn attempt(&self, tier: Tier, fill: &Fill, attempt: u64, first: u64, out: &mut [i64], work: &mut Work<'_>, left: usize) -> usize {
        let Work { words, coins, proposals, verdicts, left: indices } = work;
        let indices = &mut indices[..left];
        let (coins, proposals, verdicts) = (&mut coins[..left], &mut proposals[..left], &mut verdicts[..left]);
        gather(words.at(stage(2 * attempt, first), out.len()), indices, coins);
        self.proposal.write_words(tier, coins, proposals, |k, e| {
            fill.extension(stage(2 * attempt, first + u64::from(indices[k])), e)
        });
        gather(words.at(stage(2 * attempt + 1, first), out.len()), indices, coins);
        if !self.coin.toss(tier, proposals, coins, verdicts) {
            for k in 0..left {
                let i = first + u64::from(indices[k]);
                verdicts[k] = self.accepts(verdicts[k], fill, attempt, i, proposals[k], coins[k]).into();
            }
        }
        let mut still = 0;
        for k in 0..left {
            let i = indices[k];
            // A value that is not accepted yet is written over.
            out[usize::from(i)] = proposals[k];
            indices[still] = i;
            still += usize::from(verdicts[k] == 0);
        }
        still
    }
}

/// What the attempts of a chunk need; wiped on drop.
struct Work<'a> {
    words: Words<'a>,
    coins: [u64; CHUNK],
    proposals: [i64; CHUNK],
    verdicts: [u64; CHUNK],
    /// Values of the chunk that are not accepted yet.
    left: [u16; CHUNK],
}

impl<'a> Work<'a> {
    fn new(fill: &'a Fill) -> Self {
        Self {
            words: fill.words(),
            coins: [0; CHUNK],
            proposals: [0; CHUNK],
            verdicts: [0; CHUNK],
            left: [0; CHUNK],
        }
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.coins.zeroize();
        self.proposals.zeroize();
        self.verdicts.zeroize();
        self.left.zeroize();
    }
}

/// The words at `indices`.
fn gather(words: &[u64], indices: &[u16], out: &mut [u64]) {
    for (out, &i) in out.iter_mut().zip(indices) {
        *out = words[usize::from(i)];
    }
}

impl Noise for DiscreteGaussian {
    fn log2_granularity(&self) -> i32 {
        self.log2_granularity
    }

    fn write_cells(&self, fill: &Fill, first: u64, out: &mut [i64]) {
        if out.len() <= FEW {
            for (i, value) in (first..).zip(out) {
                *value = self.value(fill, i, 0);
            }
            return;
        }
        let tier = Tier::current();
        let mut work = Work::new(fill);
        for (chunk, out) in (0..).step_by(CHUNK).zip(out.chunks_mut(CHUNK)) {
            self.write_chunk(tier, fill, first + chunk, out, &mut work);
        }
    }
}
