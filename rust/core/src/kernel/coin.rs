//! The fast path of the discrete Gaussian distribution's acceptance.

use super::arithmetic::{Arithmetic, BLOCK, Baseline};
use super::float::{exp2, from_small, round};
use super::tier::{Tier, on_tier};
use crate::declassify;

/// Fast path of the discrete Gaussian's acceptance: u < e^(−(|Y| − σ²/t)²/(2σ²)), t ≥ σ/1.5.
///
/// With z = |Y|·s − c, s = √(log₂e/2)/σ and c = s·σ²/t ≤ 1.3, the coin is u < 2^(−z²). Error of z², in units of u = 2⁻⁵³, where |z| ≤ 32 and
/// hence |Y|·s ≤ 33.3 (beyond, z is set to 32: a larger probability, and no word but 0 is below it):
///
/// ```text
/// |Y|·s: |Y| as an f64 1, s 3, product 1     5·33.3
/// c: 6 with its parts                        6·1.3
/// their difference                           32
/// twice |z| times these, and the square      64·207 + 1024      < 2^14
/// ```
///
/// and 2^(−z²) is off by 2^−39 relatively for it. The polynomial leaves more. Let n = round(z²), f = n − z² and x = f ln 2, so that |x| < 0.3466. The
/// series of e^x to x⁶ leaves less than 1.06·|x|⁷/5040 < 2^−22.9 of a result of at least 0.707, that is 2^−22.4. 2^−21 covers all.
#[derive(Clone, Debug)]
pub(crate) struct Coin {
    scale: f64,
    offset: f64,
}

/// Verdicts on up to [`BLOCK`] proposals, bit i on proposal i.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Verdicts {
    /// It is accepted, if this is certain.
    pub accepted: u64,
    /// It is not certain; `accepted` says nothing then.
    pub unsure: u64,
}

/// Relative error of the probability.
const ERROR: f64 = 1.0 / (1 << 21) as f64;

/// (ln 2)^k/k!.
const EXP2: [f64; 7] = {
    let mut terms = [1.0; 7];
    let mut k = 1;
    while k < terms.len() {
        terms[k] = terms[k - 1] * core::f64::consts::LN_2 / k as f64;
        k += 1;
    }
    terms
};

impl Coin {
    pub fn new(sigma2: f64, t: u64) -> Self {
        let scale = (0.5 * core::f64::consts::LOG2_E / sigma2).sqrt();
        Self {
            scale,
            offset: scale * (sigma2 / t as f64),
        }
    }

    /// The verdict on one proposal, if it is certain.
    pub fn decide(&self, proposal: i64, word: u64) -> Option<bool> {
        let (accepted, rejected) = Self::verdict::<Baseline>(self.square::<Baseline>(proposal), word);
        declassify::condition(accepted | rejected).then_some(declassify::condition(accepted))
    }

    /// Calls `use_verdicts` with the number of every block and the verdicts on it, on a tier that is available.
    pub fn toss(
        &self,
        tier: Tier,
        proposals: &[[i64; BLOCK]],
        words: &[[u64; BLOCK]],
        mut use_verdicts: impl FnMut(usize, Verdicts),
    ) {
        on_tier!(tier, A => for (b, (proposals, words)) in proposals.iter().zip(words).enumerate() {
            use_verdicts(b, self.verdicts::<A>(proposals, words));
        });
    }

    #[inline(always)]
    fn square<A: Arithmetic>(&self, proposal: i64) -> f64 {
        let magnitude = A::from_bits(proposal.unsigned_abs());
        // 2^(−32²) is far below every u but 0, and exp2 still has it in range.
        let z = A::mul_add(magnitude, self.scale, -self.offset).min(32.0);
        z * z
    }

    /// Whether a proposal is certainly accepted, and whether it is certainly rejected.
    #[inline(always)]
    fn verdict<A: Arithmetic>(square: f64, word: u64) -> (bool, bool) {
        let n = round(square);
        let f = n - square;
        let f2 = f * f;
        let [c0, c1, c2, c3, c4, c5, c6] = EXP2;
        // Estrin's scheme: three short chains instead of one of six steps.
        let high = A::mul_add(A::mul_add(c6, f, c5), f, c4);
        let middle = A::mul_add(A::mul_add(c3, f, c2), f2, A::mul_add(c1, f, c0));
        // 2^52 times the probability, beside the 52 leading bits of u: u·2^52 is in [whole, whole + 1).
        let threshold = A::mul_add(high, f2 * f2, middle) * exp2(52.0 - n);
        let whole = from_small(word >> 12);
        // `whole` + 1 is exact: at most 2⁵².
        let accepted = whole + 1.0 <= threshold * (1.0 - ERROR);
        let rejected = whole >= threshold * (1.0 + ERROR);
        (accepted, rejected)
    }

    /// In two stages, for shorter chains: 7 % of a fill's time.
    #[inline(always)]
    fn verdicts<A: Arithmetic>(&self, proposals: &[i64; BLOCK], words: &[u64; BLOCK]) -> Verdicts {
        let mut squares = [0.0; BLOCK];
        for i in 0..BLOCK {
            squares[i] = self.square::<A>(proposals[i]);
        }
        let (mut accepted, mut sure) = (0, 0);
        for i in 0..BLOCK {
            let (yes, no) = Coin::verdict::<A>(squares[i], words[i]);
            accepted |= u64::from(yes) << i;
            sure |= u64::from(yes | no) << i;
        }
        Verdicts { accepted, unsure: !sure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random::Random;

    /// Evidence: counts. About one word in 2²⁰ is not certain; with this seed none of 100 000 is.
    #[test]
    fn few_proposals_are_not_certain() {
        let mut random = Random(4);
        for (sigma2, t) in [(1.0, 2), (100.0, 11), (1e6, 1001)] {
            let coin = Coin::new(sigma2, t);
            let undecided = (0..100_000)
                .filter(|_| {
                    let proposal = (4.0 * f64::sqrt(sigma2) * random.next()).floor() as i64;
                    coin.decide(proposal, random.word()).is_none()
                })
                .count();
            assert!(undecided <= 3, "{undecided} of 100 000, sigma2 = {sigma2}");
        }
    }
}
