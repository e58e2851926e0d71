use crate::declassify;
use crate::draw::sampler::Sampler;
use crate::draw::staged::Staged;
use crate::error::ParamError;
use crate::exact::{self, IntegerDistribution};
use crate::kernel::{BLOCK, Coin, Tier, on_tier, ones};
use crate::lattice::params::Lattice;
use crate::mechanism::fill::Source;
use crate::mechanism::implement;
use crate::memory::OutOfMemory;
use crate::stack;
use crate::stream::{CHUNK, PairStage, StagedFill};
use crate::wiped::wipe;

/// The discrete Gaussian mechanism (Canonne, Kamath and Steinke 2020).
///
/// # Probabilities
/// P(k) ∝ e^(−k²/(2σ²)) for every integer k.
///
/// # What is drawn
/// Every integer has exactly its probability. A proposal Y comes from the two-sided geometric distribution of scale t, the integer nearest σ. It is
/// accepted with probability e^(−(|Y| − σ²/t)²/(2σ²)); otherwise the next attempt follows (algorithm 3 of the paper, with another t).
///
/// The number of attempts says nothing about the value: given that it is accepted, a proposal has the same mechanism in every attempt.
///
/// # Example
/// ```
/// use stairnoise::{DiscreteGaussian, Generator, Mechanism};
///
/// let mut noise = [0_i64; 1000];
/// DiscreteGaussian::new(100.0)?.fill(&mut Generator::from_os()?, &mut noise)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    sigma2: f64,
    t: u64,
    log2_granularity: i32,
    proposal: Sampler,
    coin: Coin,
}

/// Beyond, the tail of the mechanism would come near the end of an `i64`, and `f64` does not distinguish neighbouring proposals.
const MOST_SIGMA2: f64 = (1_u128 << 90) as f64;
/// Below, the mechanism is 0 but for a probability of 2^−756 000.
const LEAST_SIGMA2: f64 = 1.0 / (1 << 20) as f64;

/// Attempts of one value: none is left open, but for a probability below 2^−1 000 000.
const ATTEMPTS: u64 = 1 << 21;

/// Up to this number, values are drawn one by one, without buffers to make and wipe.
const FEW: usize = 8;

/// At or below this many undecided values, finish one by one: a block takes as long as two or three.
const LEFT: usize = 2;

impl DiscreteGaussian {
    /// The mechanism with the parameter σ², which is its variance but for less than 10⁻⁷ of it where σ² ≥ 1.
    ///
    /// # Errors
    /// [`ParamError`] unless σ² is from 2⁻²⁰ to 2⁹⁰.
    pub fn new(sigma2: f64) -> Result<Self, ParamError> {
        Self::scaled(sigma2, 0)
    }

    /// [`Gaussian::scaled`](crate::Gaussian::scaled).
    pub(super) fn scaled(sigma2: f64, log2_granularity: i32) -> Result<Self, ParamError> {
        Self::made(sigma2, log2_granularity, Sampler::new)
    }

    /// [`DiscreteGaussian::new`] with a kernel that is quicker to make and slower to draw from.
    pub(super) fn quick(sigma2: f64) -> Result<Self, ParamError> {
        Self::made(sigma2, 0, Sampler::quick)
    }

    /// Whether [`DiscreteGaussian::scaled`] makes a mechanism.
    ///
    /// # Errors
    /// Its own.
    pub(super) fn check(sigma2: f64, log2_granularity: i32) -> Result<(), ParamError> {
        let (variance, exponent) = (LEAST_SIGMA2..=MOST_SIGMA2, -1074..=960);
        ParamError::require(variance.contains(&sigma2), "sigma2", "from 2**-20 to 2**90", sigma2)?;
        let (fits, rule) = (exponent.contains(&log2_granularity), "from -1074 to 960");
        ParamError::require(fits, "log2_granularity", rule, log2_granularity.into())
    }

    fn made(
        sigma2: f64,
        log2_granularity: i32,
        sampler: impl Fn(IntegerDistribution, Lattice) -> Sampler,
    ) -> Result<Self, ParamError> {
        Self::check(sigma2, log2_granularity)?;
        let (eps, sensitivity_steps) = (1.0, exact::nearest_sqrt(sigma2));
        let proposal = IntegerDistribution::Geometric { eps, sensitivity_steps };
        Ok(Self {
            sigma2,
            t: sensitivity_steps,
            log2_granularity,
            // Proposals are integers: the granularity comes in when accepted ones are converted.
            proposal: sampler(proposal, Lattice::whole(sensitivity_steps)),
            coin: Coin::new(sigma2, sensitivity_steps),
        })
    }

    /// The parameter σ².
    pub fn sigma2(&self) -> f64 {
        self.sigma2
    }

    /// Value `i` of a fill, from attempt `first_attempt` on.
    fn value(&self, fill: &StagedFill, i: u64, first_attempt: u64) -> i64 {
        for attempt in first_attempt..ATTEMPTS {
            let stage = fill.pair_stage(attempt);
            // Attempt a reads block i + a·2⁴⁰ (contract, section 8).
            let [word, coin] = stage.pair(i);
            let proposal = self.proposal.steps(word, |e| stage.extension(i, 0, e));
            let verdict = self.coin.decide(proposal, coin);
            if verdict.unwrap_or_else(|| self.accepts(stage, i, proposal, coin)) {
                return proposal;
            }
        }
        // No attempt is accepted: the contract, section 8, gives 0.
        0
    }

    /// The exact verdict on the proposal of the pair of value `i`.
    #[cold]
    fn accepts(&self, stage: PairStage<'_>, i: u64, proposal: i64, coin: u64) -> bool {
        declassify::slow_path();
        let mut extension = |e| declassify::word(stage.extension(i, 1, e));
        let (magnitude, coin) = (declassify::word(proposal.unsigned_abs()), declassify::word(coin));
        exact::accept(self.sigma2, self.t, magnitude, coin, &mut extension)
    }

    /// Writes the values `first + k` of a fill to `out[k]`, for the `places` k alone; the list is used up.
    pub(super) fn write_places(&self, tier: Tier, fill: &StagedFill, first: u64, out: &mut [i64], places: &mut [u16]) {
        if places.len() <= FEW {
            for &k in &*places {
                out[usize::from(k)] = self.value(fill, first + u64::from(k), 0);
            }
        } else if places.len() <= 2 * BLOCK {
            self.attempt_again(tier, fill, first, out, &mut Attempt::<BLOCK>::nothing(), places, 0);
        } else {
            self.attempt_again(tier, fill, first, out, &mut Attempt::<CHUNK>::nothing(), places, 0);
        }
    }

    /// [`Staged::write_steps`] on a tier that is available.
    pub(super) fn write_on(&self, tier: Tier, fill: &StagedFill, first: u64, out: &mut [i64]) {
        if out.len() <= FEW {
            for (i, value) in (first..).zip(out) {
                *value = self.value(fill, i, 0);
            }
            return;
        }
        // Short buffers take less time to make and to wipe.
        if out.len() <= 2 * BLOCK {
            self.write_in::<BLOCK, { 2 * BLOCK }>(tier, fill, first, out);
        } else {
            self.write_in::<CHUNK, { 8 * CHUNK }>(tier, fill, first, out);
        }
    }

    /// Draws `N` pairs at a time, and attempts `GROUP` values together, so that the values left after an attempt still fill vectors.
    fn write_in<const N: usize, const GROUP: usize>(&self, tier: Tier, fill: &StagedFill, first: u64, out: &mut [i64]) {
        // One for all groups, so that it is wiped once.
        let mut attempted = Attempt::<N>::nothing();
        // The values not accepted yet. It is not wiped: how many attempts a value took says nothing about it.
        let mut open = [0; GROUP];
        for (first, out) in (first..).step_by(GROUP).zip(out.chunks_mut(GROUP)) {
            let (stage, mut left) = (fill.pair_stage(0), 0);
            // In the first attempt the pairs are consecutive blocks of the keystream.
            for (begin, out) in (0..).step_by(N).zip(out.chunks_mut(N)) {
                let index = |k: u16| first + u64::from(begin + k);
                stage.pairs(index(0), &mut attempted.pairs[..out.len()]);
                // Whole blocks are written where they stay, which saves 2 % of a fill.
                let whole = out.len().is_multiple_of(BLOCK);
                let (n, place) = (out.len(), whole.then_some(&mut *out));
                self.judge(tier, stage, index, n, &mut attempted, place, |rejected, place| {
                    left += push_bits(rejected, |k| begin + place + k, &mut open[left..]);
                });
                if !whole {
                    out.copy_from_slice(&attempted.proposals[..n]);
                }
            }
            self.attempt_again(tier, fill, first, out, &mut attempted, &mut open[..left], 1);
        }
    }

    /// The attempts of the values that are `open`, from this one on.
    #[allow(clippy::too_many_arguments, reason = "what is read, and where it is written")]
    fn attempt_again<const N: usize>(
        &self,
        tier: Tier,
        fill: &StagedFill,
        first: u64,
        out: &mut [i64],
        attempted: &mut Attempt<N>,
        open: &mut [u16],
        mut attempt: u64,
    ) {
        let mut left = open.len();
        let mut some = [0; N];
        while left > LEFT {
            let mut still = 0;
            let stage = fill.pair_stage(attempt);
            for begin in (0..left).step_by(N) {
                // A copy, because what stays open is written to the front of the same list.
                let some = &mut some[..(left - begin).min(N)];
                some.copy_from_slice(&open[begin..begin + some.len()]);
                let index = |k: u16| first + u64::from(some[usize::from(k)]);
                let indices = some.iter().map(|&i| first + u64::from(i));
                stage.scattered_pairs(indices, &mut attempted.pairs[..some.len()]);
                self.judge(tier, stage, index, some.len(), attempted, None, |rejected, place| {
                    still += push_bits(rejected, |k| some[usize::from(place + k)], &mut open[still..]);
                });
                for (&i, &proposal) in some.iter().zip(&attempted.proposals) {
                    // What is not accepted will be written over.
                    out[usize::from(i)] = proposal;
                }
            }
            left = still;
            attempt += 1;
        }
        for &i in &open[..left] {
            out[usize::from(i)] = self.value(fill, first + u64::from(i), attempt);
        }
    }

    /// Makes the first `n` pairs' proposals, in `place` if there is one; pair k is that of value `index(k)`. `rejected` gets each block's bits of
    /// those and its place.
    #[allow(clippy::too_many_arguments, reason = "as `attempt_again`")]
    fn judge<const N: usize>(
        &self,
        tier: Tier,
        stage: PairStage<'_>,
        index: impl Fn(u16) -> u64,
        n: usize,
        attempted: &mut Attempt<N>,
        place: Option<&mut [i64]>,
        mut rejected: impl FnMut(u64, u16),
    ) {
        let Attempt {
            pairs,
            words,
            coins,
            proposals,
        } = attempted;
        let proposals = place.unwrap_or(proposals);
        on_tier!(tier, deal(&pairs[..n], &mut words[..n], &mut coins[..n]));
        let extension = |k, e| stage.extension(index(k as u16), 0, e);
        self.proposal.write_words(tier, &words[..n], extension, &mut proposals[..n]);
        let blocks = n.div_ceil(BLOCK);
        let (proposals, coins) = (&proposals.as_chunks().0[..blocks], &coins.as_chunks().0[..blocks]);
        self.coin.toss(tier, proposals, coins, |b, verdicts| {
            let place = b * BLOCK;
            // n is above `place`, so the shift is below 64.
            let all = u64::MAX >> (BLOCK - (n - place).min(BLOCK));
            // Verdicts say nothing about the values that are accepted: branches on them are declared.
            let mut accepted = declassify::word(verdicts.accepted);
            for k in ones(declassify::word(verdicts.unsure) & all) {
                let verdict = self.accepts(stage, index((place + k) as u16), proposals[b][k], coins[b][k]);
                accepted = accepted & !(1 << k) | u64::from(verdict) << k;
            }
            rejected(all & !accepted, place as u16);
        });
    }
}

#[inline(always)]
fn deal(pairs: &[[u64; 2]], words: &mut [u64], coins: &mut [u64]) {
    for ((word, coin), pair) in words.iter_mut().zip(coins).zip(pairs) {
        [*word, *coin] = *pair;
    }
}

/// Writes an entry for every bit that is set; how many.
fn push_bits(mask: u64, entry: impl Fn(u16) -> u16, out: &mut [u16]) -> usize {
    let count = mask.count_ones() as usize;
    for (out, k) in out[..count].iter_mut().zip(ones(mask)) {
        *out = entry(k as u16);
    }
    count
}

/// What an attempt draws and proposes; wiped on drop, with what kernels left on the stack. On whole cache lines ([`crate::cache_lines::CacheLines`]).
#[repr(align(64))]
struct Attempt<const N: usize> {
    pairs: [[u64; 2]; N],
    words: [u64; N],
    coins: [u64; N],
    proposals: [i64; N],
}

impl<const N: usize> Attempt<N> {
    fn nothing() -> Self {
        Self {
            pairs: [[0; 2]; N],
            words: [0; N],
            coins: [0; N],
            proposals: [0; N],
        }
    }
}

impl<const N: usize> Drop for Attempt<N> {
    fn drop(&mut self) {
        wipe(self.pairs.as_flattened_mut());
        wipe(&mut self.words);
        wipe(&mut self.coins);
        wipe(&mut self.proposals);
        stack::wipe_deep();
    }
}

implement!(DiscreteGaussian of i64, this => Source::staged(this, Lattice::without_sensitivity(this.log2_granularity), &[]));

impl Staged for DiscreteGaussian {
    fn write_steps(&self, fill: &StagedFill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory> {
        self.write_on(Tier::current(), fill, first, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DrawError, Generator};

    const SIGMA2: [f64; 9] = [
        LEAST_SIGMA2,
        0.3,
        1.0,
        2.25,
        100.0,
        1e6,
        17_592_186_044_419.0,
        1e25,
        MOST_SIGMA2,
    ];

    #[test]
    fn refuses_what_does_not_fit() {
        for bad in [
            f64::NAN,
            f64::INFINITY,
            -1.0,
            0.0,
            LEAST_SIGMA2.next_down(),
            MOST_SIGMA2.next_up(),
        ] {
            let error = DiscreteGaussian::new(bad).unwrap_err().to_string();
            assert!(error.starts_with("sigma2 must be from 2**-20 to 2**90, got "), "{error}");
        }
        let error = DiscreteGaussian::scaled(1.0, 961).unwrap_err().to_string();
        assert_eq!(error, "log2_granularity must be from -1074 to 960, got 961.0");
    }

    /// Evidence: equality of every tier with values drawn one by one, for lengths around a block and a chunk, from either parity.
    #[test]
    fn every_tier_writes_the_same_values() -> Result<(), DrawError> {
        for sigma2 in SIGMA2 {
            let mechanism = DiscreteGaussian::new(sigma2).unwrap();
            let fill = Generator::from_seed(8).next_staged(2 * CHUNK)?;
            for first in [0, 1, 7] {
                for n in [1, FEW, FEW + 1, BLOCK - 1, BLOCK, BLOCK + 1, CHUNK, CHUNK + BLOCK + 3] {
                    let alone: Vec<i64> = (first..).take(n).map(|i| mechanism.value(&fill, i, 0)).collect();
                    for tier in Tier::tested() {
                        let mut out = vec![0; n];
                        mechanism.write_on(tier, &fill, first, &mut out);
                        assert_eq!(out, alone, "{tier:?}: {n} from {first}, sigma2 {sigma2}");
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn bits_are_listed_in_order() {
        for mask in [0, 1, 1 << 63, u64::MAX, 0xdead_beef_0123_4567] {
            let mut listed = [0; BLOCK];
            let count = push_bits(mask, |k| k, &mut listed);
            let expected: Vec<u16> = (0..64).filter(|&k| mask >> k & 1 == 1).collect();
            assert_eq!(&listed[..count], expected);
        }
    }
}
