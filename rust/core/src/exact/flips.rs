//! The share that some candidates have of permute-and-flip's selections (docs/contract.md, selection).
//!
//! The share of a part is the integral of Σ a_i·Π(1 − a_k·t) over t from 0 to 1, the sum over the candidates of the part and the product over all
//! others. It comes by the rule for derivatives of products: with f = 1 and g = 0 at first, each candidate makes g·(1 − a·t) of g, with a·f more
//! if it is in the part, then f·(1 − a·t) of f. The integral of g is the share.
//!
//! A share is rational only if all classes have that share in the part. Otherwise let r be the share of the classes of larger weight, and let a be
//! the largest weight of a class with another one. The share less r times the sum of all shares, which is 1, is a polynomial in powers of e. Its
//! term in a has the factor (m − r·n)/(n₀ + 1), where n₀ candidates have the weight 1, and is not 0.

use super::enclosure::Enclosure;
use super::limbs::{self, Limbs};
use crate::memory::{self, OutOfMemory};

/// Gauss's nodes below ½ on [0, 1], in units of 2^−128; the other half mirrors them.
const NODES: [u128; 16] = [
    0x0059_a863_efd9_283a_666b_3001_c311_6e6e,
    0x01d7_7b63_ad0c_91aa_ffa0_e0c6_5f89_5bae,
    0x0482_ab9f_eb11_5686_e208_595d_f3b3_68e7,
    0x0854_ff69_8202_f731_63cb_59a2_89df_4f3f,
    0x0d45_592e_a2cd_1ad1_8d74_7c2c_a25d_120c,
    0x1347_ec0a_5e57_b402_bcfe_0a9a_78d8_b09a,
    0x1a4e_5adf_8ed0_eb3a_8441_f789_cc03_1af7,
    0x2247_db38_a5b1_191d_39d1_2ffe_13ac_d366,
    0x2b21_5d8e_de01_d918_dbe4_d4e5_270d_48ec,
    0x34c5_bae5_a74d_6f1b_bbca_2118_6113_2ef6,
    0x3f1d_e75e_6535_8ae5_af59_5dd3_ea83_79f2,
    0x4a11_2950_720e_1d8b_2623_ca44_b902_4671,
    0x5585_5463_5084_149f_c5a0_50d3_5066_1373,
    0x615f_081e_63f6_b4a4_fe42_5d96_0ceb_20cd,
    0x6d81_f158_e80d_c8c9_9d56_29ac_cbe2_ac5a,
    0x79d1_0ded_dcce_d9c9_fbb7_e13a_d9a0_bd7d,
];
/// Their weights.
const WEIGHTS: [u128; 16] = [
    0x00e5_fc5e_3a1e_62e2_344c_ab1e_2273_7f66,
    0x0215_4784_90d2_d922_1e8f_91ce_ab09_e7e6,
    0x0340_0c15_0a63_ff46_1f18_ba41_eda1_337f,
    0x0463_1600_28d5_764f_3675_ba2d_2880_f17a,
    0x057b_a58e_8cd5_252a_2ac7_c9e5_d63d_ba9c,
    0x0687_1aba_587e_fe8d_c0b2_f089_70f0_1b3e,
    0x0782_f5db_2492_605b_310e_c2c6_5a57_998b,
    0x086c_dcd3_1656_07e7_9904_00c2_a922_8822,
    0x0942_a081_d9af_060f_1832_0055_63ca_53d7,
    0x0a02_41f0_937e_89d5_878b_12a1_53af_c542,
    0x0aa9_f712_f5f5_e33d_1fde_a60f_b3c3_22a4,
    0x0b38_2f0c_709f_6881_2ab3_01c3_4513_1479,
    0x0bab_95ed_9fb7_2847_c004_4aa4_874c_ed0d,
    0x0c03_17e0_7b7f_7c79_25ea_945d_c060_11e3,
    0x0c3d_e3bb_7c63_6b71_c171_a1c7_6239_d668,
    0x0c5b_6cf5_763b_d696_1058_9518_7781_56a5,
];

/// The integral ends at min(1, this/Σa): what follows is below e^−54.
const REACH: f64 = 55.0;

/// Σ of the shares of `counts` candidates of each class that are in the part, all of one precision of `p` limbs.
pub fn share(weights: &[Enclosure], counts: &[u64], part: &[u64], p: usize) -> Result<Enclosure, OutOfMemory> {
    if p == 2 {
        by_rule(weights, counts, part)
    } else {
        by_expansion(weights, counts, part, p)
    }
}

/// In units of 2^−128: products are rounded down, and 1 is 1 − 2^−128.
///
/// As in `selection/flips.rs`, the rule and what follows the end are off by less than 2^52 units. f is off by 4 for every candidate, and g, which is
/// made a 64th of itself times the length of the integral, by 9.
fn by_rule(weights: &[Enclosure], counts: &[u64], part: &[u64]) -> Result<Enclosure, OutOfMemory> {
    let (mut error, mut total) = (1_u128 << 53, 0.0);
    let mut classes = memory::with_capacity(counts.len())?;
    for ((weight, &count), &chosen) in weights.iter().zip(counts).zip(part) {
        let [low, high] = [&weight.lo, &weight.hi].map(|end| if end[2] > 0 { u128::MAX } else { limbs::wide(end) });
        error += u128::from(count) * (high - low + 1024);
        total += count as f64 * low as f64;
        classes.push((low, count, chosen));
    }
    // The total is in units too, and the conversion saturates.
    let end = (256.0_f64.exp2() * REACH / total) as u128;
    let mut share = 0;
    for (node, weight) in NODES.into_iter().zip(WEIGHTS) {
        for node in [node, node.wrapping_neg()] {
            let t = product(end, node);
            let (mut f, mut g) = (u128::MAX, 0);
            for &(a, count, chosen) in &classes {
                let (rest, step) = (u128::MAX - product(a, t), product(a, end) >> 6);
                for number in 0..count {
                    g = product(g, rest) + if number < chosen { product(f, step) } else { 0 };
                    f = product(f, rest);
                }
            }
            share += product(g, weight);
        }
    }
    let around = |share: u128| {
        let [low, high] = limbs::of(share);
        let mut limbs = Limbs::from_slice(&[low, high, 0]);
        limbs::shl(&mut limbs, 6);
        limbs
    };
    let error = (error >> 6) + 1;
    Ok(Enclosure {
        lo: around(share.saturating_sub(error)),
        hi: around(share + error),
    })
}

/// ⌊x·y·2^−128⌋.
fn product(x: u128, y: u128) -> u128 {
    limbs::product(x, y).0
}

/// With s = 1 − t, every factor (1 − a) + a·s has coefficients that are not negative: f and g are polynomials in s.
fn by_expansion(weights: &[Enclosure], counts: &[u64], part: &[u64], p: usize) -> Result<Enclosure, OutOfMemory> {
    let (zero, one) = (Enclosure::point(0, p), Enclosure::point(1, p));
    let (mut f, mut g) = (vec![one.clone()], vec![zero.clone()]);
    for ((a, &count), &chosen) in weights.iter().zip(counts).zip(part) {
        let rest = one.minus(a);
        for number in 0..count {
            memory::push(&mut f, zero.clone())?;
            memory::push(&mut g, zero.clone())?;
            for k in (0..f.len()).rev() {
                let below = k.checked_sub(1);
                let grown = |terms: &[Enclosure]| {
                    let same = terms[k].times(&rest);
                    below.map_or(same.clone(), |k| same.plus(&terms[k].times(a)))
                };
                g[k] = grown(&g);
                if number < chosen {
                    g[k] = g[k].plus(&f[k].times(a));
                }
                f[k] = grown(&f);
            }
        }
    }
    let mut share = zero;
    for (divisor, term) in (1..).zip(g) {
        share = share.plus(&term.divided(divisor));
    }
    Ok(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Exponent;
    use crate::testing::random::Random;

    /// Evidence: the moments 1/(k + 1), which a rule of 32 nodes has to degree 63.
    #[test]
    fn the_rule_is_gausss() {
        for k in 0..64 {
            let mut moment = 0;
            for (node, weight) in NODES.into_iter().zip(WEIGHTS) {
                for node in [node, node.wrapping_neg()] {
                    moment += (0..k).fold(weight, |term, _| product(term, node));
                }
            }
            assert!(
                moment.wrapping_mul(k + 1).cast_signed().unsigned_abs() < 1 << 14,
                "{k} {moment:x}"
            );
        }
    }

    /// Evidence: two different computations enclose one number, for rows with and without equal candidates and with totals below and above 55.
    #[test]
    fn the_rule_and_the_expansion_agree() {
        let mut random = Random(43);
        for (classes, most, unit) in [(1, 3.0, 1.0), (2, 1.0, 1.0), (5, 4.0, 0.3), (30, 5.0, 0.01), (40, 1.0, 9.0)] {
            let exponents: Vec<f64> = (0..classes).map(|k| f64::from(k) * unit).collect();
            let counts: Vec<u64> = (0..classes).map(|_| 1 + (most * random.next()) as u64).collect();
            let part: Vec<u64> = counts.iter().map(|&n| ((n + 1) as f64 * random.next()) as u64).collect();
            let of = |p| {
                let weight = |x: &f64| Exponent::quotient(1.0, *x, 0.0, 1.0, 0).weight(p);
                let weights: Vec<_> = exponents.iter().map(weight).collect();
                share(&weights, &counts, &part, p).unwrap()
            };
            let (rough, fine) = (of(2), of(3));
            assert!(
                !limbs::less(&fine.lo[1..], &rough.lo) && limbs::less(&fine.hi[1..], &rough.hi),
                "{rough:?} {fine:?}"
            );
            assert!(fine.hi[3] == fine.lo[3] && fine.hi[1] - fine.lo[1] < 2, "{fine:?}");
        }
    }
}
