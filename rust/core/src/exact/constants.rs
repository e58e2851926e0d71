//! ln 2 and π/2 from below: sums of positive terms that are rounded down, short by less than two units of the last limb.

use std::sync::OnceLock;

use super::enclosure::Enclosure;
use super::limbs::{self, Limbs};

/// Limbs of fraction that are kept: more are hardly ever needed, and these take some 10 µs once.
const KEPT: usize = 8;

/// `p` limbs of fraction and a zero integer limb: below ln 2 by less than two units of the last limb.
pub fn ln2(p: usize) -> Limbs {
    static LEADING: OnceLock<Limbs> = OnceLock::new();
    kept(&LEADING, sum_to_ln2, p)
}

/// With `p` limbs of fraction.
pub fn half_pi(p: usize) -> Enclosure {
    static LEADING: OnceLock<Limbs> = OnceLock::new();
    Enclosure::above(kept(&LEADING, sum_to_half_pi, p), 2)
}

fn kept(leading: &OnceLock<Limbs>, series: fn(usize) -> Limbs, p: usize) -> Limbs {
    if p > KEPT {
        return series(p);
    }
    Limbs::from_slice(&leading.get_or_init(|| series(KEPT))[KEPT - p..])
}

/// ln 2 = Σ 2 / ((2k+1)·3^(2k+1)).
///
/// Flooring leaves each power of 3 short by less than 9/8 of a guard unit,
/// because errors shrink ninefold from term to term. Each quotient is short by less than one more, and the rest of the series is below 2. That is
/// below 3 guard units per term, and below 2^64 in all for any sum that fits a memory. Dropping the guard limb costs at most one unit.
fn sum_to_ln2(p: usize) -> Limbs {
    let mut power = Limbs::zero(p + 2);
    power[p + 1] = 2;
    limbs::div_small(&mut power, 3);
    let mut sum = Limbs::zero(p + 2);
    let mut odd = 1;
    while power.iter().any(|&limb| limb != 0) {
        let mut term = power.clone();
        limbs::div_small(&mut term, odd);
        limbs::add(&mut sum, &term);
        limbs::div_small(&mut power, 9);
        odd += 2;
    }
    Limbs::from_slice(&sum[1..])
}

/// π/2 = Σ n!/(1·3·…·(2n + 1)) (Euler).
///
/// A term is less than half of the one before. It is rounded down, so it is short by less than 2 guard units, and the terms left out are below 2 of
/// them together. That is below 2^64 guard units for any sum that fits a memory; dropping the guard limb costs at most one unit.
fn sum_to_half_pi(p: usize) -> Limbs {
    let mut term = Enclosure::point(1, p + 1).lo;
    let mut sum = term.clone();
    for n in 1.. {
        limbs::mul_small(&mut term, n);
        limbs::div_small(&mut term, 2 * n + 1);
        if term.iter().all(|&limb| limb == 0) {
            break;
        }
        limbs::add(&mut sum, &term);
    }
    Limbs::from_slice(&sum[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first 1024 bits after the binary point of ln 2, most significant limb first.
    const LN2: [u64; 16] = [
        0xb172_17f7_d1cf_79ab,
        0xc9e3_b398_03f2_f6af,
        0x40f3_4326_7298_b62d,
        0x8a0d_175b_8baa_fa2b,
        0xe7b8_7620_6deb_ac98,
        0x5595_52fb_4afa_1b10,
        0xed2e_ae35_c138_2144,
        0x2757_3b29_1169_b825,
        0x3e96_ca16_224a_e8c5,
        0x1acb_da11_317c_387e,
        0xb9ea_9bc3_b136_603b,
        0x256f_a0ec_7657_f74b,
        0x72ce_87b1_9d65_48ca,
        0xf5df_a6bd_3830_3248,
        0x655f_a187_2f20_e3a2,
        0xda2d_97c5_0f3f_d5c6,
    ];

    /// The same of π/2.
    const HALF_PI: [u64; 16] = [
        0x921f_b544_42d1_8469,
        0x898c_c517_01b8_39a2,
        0x5204_9c11_14cf_98e8,
        0x0417_7d4c_7627_3644,
        0xa294_10f3_1c68_09bb,
        0xdf2a_3367_9a74_8636,
        0x6056_14db_e4be_286e,
        0x9fc2_6ada_daa3_848b,
        0xc90b_6aec_c4bc_fd8d,
        0xe898_85d3_4c6f_dad6,
        0x17fe_b96d_e80d_6fdb,
        0xdc70_d7f6_b513_3f4b,
        0x5d3e_4822_f896_3fcc,
        0x9250_cca3_d9c8_b67b,
        0x8400_f971_42c7_7e0b,
        0x31b4_906c_38ab_a734,
    ];

    /// A second derivation: published digits against the series, at every precision.
    #[test]
    fn series_have_the_published_digits() {
        let half_pi = |p| half_pi(p).lo;
        for (constant, units, digits) in [(&ln2 as &dyn Fn(usize) -> Limbs, 0, LN2), (&half_pi, 1, HALF_PI)] {
            for p in 1..=digits.len() {
                let mut published = Limbs::zero(p + 1);
                published[p] = units;
                for (limb, digit) in published[..p].iter_mut().rev().zip(digits) {
                    *limb = digit;
                }
                let mut sum = constant(p);
                let same = published[..] == sum[..];
                limbs::add_small(&mut sum, 1);
                assert!(same || published[..] == sum[..], "precision of {p} limbs");
            }
        }
    }
}
