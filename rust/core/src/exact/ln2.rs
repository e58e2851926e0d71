//! Lower bounds of ln 2.

use super::limbs::{self, Limbs};

/// The first 1024 bits after the binary point of ln 2, most significant limb first. The test below derives them again from the series.
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

/// `p` limbs of fraction and a zero integer limb: below ln 2 by less than two units of the last limb.
pub fn ln2(p: usize) -> Limbs {
    if p > LN2.len() {
        return series(p);
    }
    let mut number = Limbs::zero(p + 1);
    for (limb, &digit) in number[..p].iter_mut().zip(LN2[..p].iter().rev()) {
        *limb = digit;
    }
    number
}

/// ln 2 = Σ 2 / ((2k+1)·3^(2k+1)), summed with one guard limb.
///
/// Everything is positive and rounded down, so the sum is a lower bound. Flooring leaves each power of 3 short by less than 9/8 of a guard unit,
/// because errors shrink ninefold from term to term. Each quotient is short by less than one more, and the rest of the series is below 2. That is
/// below 3 guard units per term, and below 2^64 in all for any sum that fits a memory. Dropping the guard limb costs at most one unit.
fn series(p: usize) -> Limbs {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A second derivation: the table against the series at every precision that uses it.
    #[test]
    fn table_agrees_with_series() {
        for p in 1..=LN2.len() {
            let (table, mut sum) = (ln2(p), series(p));
            let same = table[..] == sum[..];
            limbs::add_small(&mut sum, 1);
            assert!(same || table[..] == sum[..], "precision of {p} limbs");
        }
    }
}
