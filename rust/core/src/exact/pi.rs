//! Enclosures of π/2.

use super::enclosure::Enclosure;
use super::limbs::{self, Limbs};

/// The first 1024 bits after the binary point of π/2, most significant limb first. The test below derives them again from the series.
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

/// With `p` limbs of fraction.
pub fn half_pi(p: usize) -> Enclosure {
    if p > HALF_PI.len() {
        return Enclosure::above(series(p), 2);
    }
    let mut number = Enclosure::point(1, p).lo;
    for (limb, &digit) in number[..p].iter_mut().zip(HALF_PI[..p].iter().rev()) {
        *limb = digit;
    }
    Enclosure::above(number, 1)
}

/// π/2 = Σ n!/(1·3·…·(2n + 1)) (Euler), summed with one guard limb: below π/2 by less than two units of the last limb.
///
/// A term is less than half of the one before. It is rounded down, so it is short by less than 2 guard units, and the terms left out are below 2 of
/// them together. That is below 2^64 guard units for any sum that fits a memory; dropping the guard limb costs at most one unit.
fn series(p: usize) -> Limbs {
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

    /// A second derivation: the table against the series at every precision that uses it.
    #[test]
    fn table_agrees_with_series() {
        for p in 1..=HALF_PI.len() {
            let (table, mut sum) = (half_pi(p).lo, series(p));
            let same = table[..] == sum[..];
            limbs::add_small(&mut sum, 1);
            assert!(same || table[..] == sum[..], "precision of {p} limbs");
        }
    }
}
