//! The weights of permute-and-flip (docs/contract.md, selection), in floating point with a proven error: a·q(a) for the coin a = e^(−x) of a
//! candidate, where q is the integral of f(t)/(1 − a·t) over t from 0 to 1, and f(t) the product of 1 − a_k·t over all candidates.
//!
//! McKenna and Sheldon (2020) visit the candidates in a random order and take the first whose coin falls heads. Give every candidate a uniform time:
//! with probability f(t), no coin of a candidate has fallen heads by the time t, and the weight is the probability that candidate i is the first.
//!
//! For up to 16 candidates, Gauss's rule of 8 nodes is exact. For more, let A = Σ a_k. The integral ends at T = min(1, 40/A); what follows is at most
//! f(T) ≤ e^(−40) of all weights. Below T it is Gauss's rule of 24 nodes. At a complex t, |1 − a·t| ≤ e^(a(|t − s| − s)) for any s from 0 to T.
//! So on the ellipse about [0, T] whose semi-axes add up to 5T/2, weights of any candidates are together at most A·e^(0.8·A·T). The rule is then off
//! by less than (64/15)·A·(T/2)·e^(0.8·A·T)/(5^48 − 5^46) < 2^−58 (Trefethen 2008, theorem 4.5).

use crate::kernel::{Arithmetic, exp};

/// The rule of 8 nodes: those below ½ on [0, 1], and their weights; 1 minus a node is a node of the same weight.
const SHORT_RULE: [[f64; 2]; 4] = [
    [0.019_855_071_751_231_884, 0.050_614_268_145_188_13],
    [0.101_666_761_293_186_64, 0.111_190_517_226_687_24],
    [0.237_233_795_041_835_5, 0.156_853_322_938_943_63],
    [0.408_282_678_752_175_1, 0.181_341_891_689_181],
];
/// The rule of 24 nodes.
const RULE: [[f64; 2]; 12] = [
    [0.002_406_390_001_489_32, 0.006_170_614_899_993_6],
    [0.012_635_722_014_345_251, 0.014_265_694_314_466_832],
    [0.030_862_723_998_633_622, 0.022_138_719_408_709_904],
    [0.056_792_236_497_799_485, 0.029_649_292_457_718_39],
    [0.089_999_007_013_048_54, 0.036_673_240_705_540_15],
    [0.129_937_904_210_722_82, 0.043_095_080_765_976_64],
    [0.175_953_174_031_512_23, 0.048_809_326_052_056_94],
    [0.227_289_264_305_580_22, 0.053_722_135_057_982_82],
    [0.283_103_246_186_977_4, 0.057_752_834_026_862_8],
    [0.342_478_660_151_918_3, 0.060_835_236_463_901_696],
    [0.404_440_566_263_191_86, 0.062_918_728_173_414_15],
    [0.467_971_553_568_697_2, 0.063_969_097_673_376_08],
];
const REACH: f64 = 40.0;

/// Candidates whose sums and quotients are computed together.
const LANES: usize = 8;
type Group = [f64; LANES];

/// A group is small if a·T ≤ ¼ for all of it. Then powers up to this one make ln f and q to 2^−47, or half as many if T ≤ 2^−4.
const POWERS: usize = 24;
const SMALL: f64 = 0.25;

/// Rows of more candidates than this are looked through for small groups.
const SHORT: usize = 256;

/// Candidates whose powers are added up before they are added to those of others.
const PART: usize = 512;

/// Errors of shares of all weights, in units of 2^−53.
///
/// The coins' own errors of 200 make 400, because no share changes by more than twice the largest relative change of a coin. Exponents of 40 in all
/// are sums in chains of 20 + n/512 additions and have 4 roundings more; 100 are left out of them and of q, which has 60 roundings. A coin that is not
/// small adds three; there are at most 4·40 such coins in a row that is not short, each with seven others in its group.
pub(super) fn error(n: usize) -> f64 {
    1600.0 + 3.0 * n.min(8 * 160) as f64 + n as f64 / 12.0
}

/// Turns coins, the largest of which is 1, into weights whose sum is 1 but for the errors. `total` is the sum of the coins, to any few digits.
#[inline(always)]
pub(super) fn fill<A: Arithmetic>(coins: &mut [f64], total: f64) {
    if coins.len() <= 16 {
        integrate::<A, 8>(coins, 1.0, &SHORT_RULE);
    } else {
        integrate::<A, 24>(coins, (REACH / total).min(1.0), &RULE);
    }
}

#[inline(always)]
fn integrate<A: Arithmetic, const NODES: usize>(coins: &mut [f64], end: f64, rule: &[[f64; 2]]) {
    let mut nodes = [0.0; NODES];
    for (i, [node, _]) in rule.iter().enumerate() {
        (nodes[i], nodes[NODES - 1 - i]) = (end * node, end * (1.0 - node));
    }
    let powers = match coins.len() {
        0..=SHORT => 0,
        _ if end <= SMALL / 4.0 => POWERS / 2,
        _ => POWERS,
    };
    let small = if powers == 0 { -1.0 } else { SMALL / end };
    let mut terms = [1.0; NODES];
    multiply::<A, NODES>(&mut terms, coins, &nodes, small);
    if powers > 0 {
        multiply_small::<A, NODES>(&mut terms, coins, &nodes, small, powers);
    }
    for (i, [_, weight]) in rule.iter().enumerate() {
        terms[i] *= end * weight;
        terms[NODES - 1 - i] *= end * weight;
    }
    let mut moments = [0.0; POWERS];
    let mut rising = terms;
    for moment in &mut moments[..powers] {
        *moment = rising.iter().sum();
        for (term, node) in rising.iter_mut().zip(&nodes) {
            *term *= node;
        }
    }
    let (groups, rest) = coins.as_chunks_mut();
    for group in groups {
        weigh::<A, NODES>(group, small, &moments[..powers], &nodes, &terms);
    }
    if !rest.is_empty() {
        let mut last = padded(rest);
        weigh::<A, NODES>(&mut last, small, &moments[..powers], &nodes, &terms);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

#[inline(always)]
fn weigh<A: Arithmetic, const NODES: usize>(
    group: &mut Group,
    small: f64,
    moments: &[f64],
    nodes: &[f64; NODES],
    terms: &[f64; NODES],
) {
    if is_small(group, small) {
        by_powers::<A>(group, moments);
    } else {
        by_quotients::<A, NODES>(group, nodes, terms);
    }
}

/// A group of fewer coins: one that never falls heads changes nothing.
#[inline(always)]
fn padded(rest: &[f64]) -> Group {
    let mut group = [0.0; LANES];
    group[..rest.len()].copy_from_slice(rest);
    group
}

#[inline(always)]
fn is_small(group: &Group, small: f64) -> bool {
    let mut large = 0;
    for &coin in group {
        large |= u64::from(coin > small);
    }
    large == 0
}

/// Multiplies by 1 − a·node for every coin of the groups that are not small.
#[inline(always)]
fn multiply<A: Arithmetic, const NODES: usize>(products: &mut [f64; NODES], coins: &[f64], nodes: &[f64; NODES], small: f64) {
    let (groups, rest) = coins.as_chunks();
    for group in groups {
        if !is_small(group, small) {
            multiply_by::<A, NODES>(products, group, nodes);
        }
    }
    // Coins that are left over are in no group.
    multiply_by::<A, NODES>(products, rest, nodes);
}

#[inline(always)]
fn multiply_by<A: Arithmetic, const NODES: usize>(products: &mut [f64; NODES], coins: &[f64], nodes: &[f64; NODES]) {
    for &coin in coins {
        for (product, &node) in products.iter_mut().zip(nodes) {
            *product *= A::mul_add(-coin, node, 1.0);
        }
    }
}

/// Multiplies by 1 − a·node for every coin of the small groups: −ln(1 − y) = y + y²/2 + …
#[inline(always)]
fn multiply_small<A: Arithmetic, const NODES: usize>(
    products: &mut [f64; NODES],
    coins: &[f64],
    nodes: &[f64; NODES],
    small: f64,
    powers: usize,
) {
    let mut sums = [0.0; POWERS];
    for part in coins.chunks(PART) {
        let (mut found, mut n) = ([[0.0; LANES]; PART / LANES], 0);
        for group in part.as_chunks().0 {
            if is_small(group, small) {
                found[n] = *group;
                n += 1;
            }
        }
        let mut lanes = [[0.0; LANES]; POWERS];
        // Four groups at a time: sums of one alone would wait for each other in memory.
        for four in found[..n.next_multiple_of(4)].as_chunks::<4>().0 {
            let mut rising = *four;
            for sums in &mut lanes[..powers] {
                for lane in 0..LANES {
                    sums[lane] += (rising[0][lane] + rising[1][lane]) + (rising[2][lane] + rising[3][lane]);
                }
                for (power, coin) in rising.as_flattened_mut().iter_mut().zip(four.as_flattened()) {
                    *power *= coin;
                }
            }
        }
        for ((sum, lanes), k) in sums.iter_mut().zip(&lanes).zip(1..) {
            *sum += lanes.iter().sum::<f64>() / f64::from(k);
        }
    }
    for (product, &node) in products.iter_mut().zip(nodes) {
        let mut exponent = 0.0;
        for sum in sums[..powers].iter().rev() {
            exponent = A::mul_add(exponent, node, *sum);
        }
        *product *= exp::<A>(-(exponent * node), 0.0);
    }
}

/// a·Σ moment·a^k.
#[inline(always)]
fn by_powers<A: Arithmetic>(group: &mut Group, moments: &[f64]) {
    let mut sums = [0.0; LANES];
    for &moment in moments.iter().rev() {
        for (sum, &coin) in sums.iter_mut().zip(&*group) {
            *sum = A::mul_add(*sum, coin, moment);
        }
    }
    for (coin, sum) in group.iter_mut().zip(sums) {
        *coin *= sum;
    }
}

/// a·Σ term/(1 − a·node), with one division for four nodes.
#[inline(always)]
fn by_quotients<A: Arithmetic, const NODES: usize>(group: &mut Group, nodes: &[f64; NODES], terms: &[f64; NODES]) {
    let mut sums = [0.0; LANES];
    for (nodes, terms) in nodes.as_chunks::<4>().0.iter().zip(terms.as_chunks::<4>().0) {
        for (sum, &coin) in sums.iter_mut().zip(&*group) {
            // A closure might stay a call, and a fused product then be one of software.
            let (a, b) = (A::mul_add(-coin, nodes[0], 1.0), A::mul_add(-coin, nodes[1], 1.0));
            let (c, d) = (A::mul_add(-coin, nodes[2], 1.0), A::mul_add(-coin, nodes[3], 1.0));
            let (ab, cd) = (a * b, c * d);
            let first = A::mul_add(terms[0], b, terms[1] * a);
            let second = A::mul_add(terms[2], d, terms[3] * c);
            *sum += A::mul_add(first, cd, second * ab) / (ab * cd);
        }
    }
    for (coin, sum) in group.iter_mut().zip(sums) {
        *coin *= sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{Exponent, share};
    use crate::kernel::{Tier, on_tier};
    use crate::selection::decay;
    use crate::testing::random::Random;

    /// Evidence: the moments 1/(k + 1), which a rule of n nodes has to degree 2n − 1.
    #[test]
    fn the_rule_is_gausss() {
        for (rule, end) in [(&SHORT_RULE[..], 16), (&RULE, 48)] {
            for k in 0..end {
                let moment: f64 = rule.iter().map(|[x, w]| w * (x.powi(k) + (1.0 - x).powi(k))).sum();
                assert!((moment * f64::from(k + 1) - 1.0).abs() < 1e-14, "{k} {moment}");
            }
        }
    }

    /// Evidence: the shares of the last candidates by arithmetic of 128 bits, on every tier: short rows, equal and negligible coins, totals from 1 to
    /// 2000, where every kind of group occurs.
    #[test]
    fn shares_are_within_the_error() {
        let mut random = Random(41);
        let rows = [
            (1, 1.0),
            (2, 3.0),
            (7, 0.0),
            (9, 0.0),
            (48, 5.0),
            (64, 30.0),
            (65, 1.0),
            (700, 6.0),
            (700, 400.0),
            (3000, 1.0),
        ];
        for (n, span) in rows {
            let mut costs: Vec<f64> = (0..n).map(|_| span * random.next()).collect();
            if n == 700 {
                // Groups of one kind.
                costs.sort_by(f64::total_cmp);
            }
            let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
            let exact = |cost| Exponent::quotient(1.0, cost, least, 1.0, 0).weight(2);
            let weights: Vec<_> = costs.iter().map(|&cost| exact(cost)).collect();
            let from = |first: usize| {
                let part: Vec<u64> = (0..n).map(|i| u64::from(i >= first)).collect();
                let share = share(&weights, &vec![1; n], &part, 2).unwrap();
                share.lo[2] as f64 + share.lo[1] as f64 * (-64.0_f64).exp2()
            };
            for tier in Tier::tested() {
                let mut found = vec![0.0; n];
                on_tier!(tier, A => {
                    decay::fill::<A>(&costs, least, 1.0, &mut found);
                    let total = found.iter().sum();
                    fill::<A>(&mut found, total);
                });
                for first in (0..n).step_by(1 + n / 5) {
                    let off = found[first..].iter().sum::<f64>() - from(first);
                    assert!(off.abs() < 0.1 * error(n) * (-53.0_f64).exp2(), "{n} {span} {first} {off:e}");
                }
            }
        }
    }
}
