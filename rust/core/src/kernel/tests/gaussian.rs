//! Discrete Gaussian distributions: what lanes and first levels decide is what the exact path decides.

use crate::draw::sampler::Sampler;
use crate::exact::{self, IntegerDistribution};
use crate::kernel::{BLOCK, FixedPoint, Tier};
use crate::lattice::params::Lattice;
use crate::testing::random::Random;

const SIGMA: [f64; 17] = [
    0.3, 0.7, 1.0, 1.4, 2.1, 3.0, 4.49, 4.51, 5.0, 10.0, 63.9, 64.1, 1000.0, 15_000.0, 1e6, 9e9, 1e12,
];

/// Evidence: equality with the exact path at random words, single and in blocks, on every tier.
#[test]
fn words_are_decided_as_by_the_exact_path() {
    let mut random = Random(21);
    for sigma in SIGMA {
        let sigma2 = sigma * sigma;
        let distribution = IntegerDistribution::Gaussian { sigma2 };
        let sampler = Sampler::new(distribution, Lattice::without_sensitivity(0));
        let mut words: Vec<u64> = (0..20 * BLOCK + 30).map(|_| random.word()).collect();
        for (i, word) in words.iter_mut().enumerate().step_by(7) {
            *word >>= i % 50;
        }
        let extension = |i: usize, e: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(e as u32);
        let alone = |i: usize| {
            let magnitude = exact::magnitude(&distribution, words[i] << 1 >> 1, &mut |e| extension(i, e)) as i64;
            if words[i] >> 63 == 1 { -magnitude } else { magnitude }
        };
        let expected: Vec<i64> = (0..words.len()).map(alone).collect();
        for tier in Tier::tested() {
            let mut out = vec![0_i64; words.len()];
            sampler.write_words(tier, &words, &extension, &mut out);
            for i in 0..words.len() {
                assert_eq!(out[i], expected[i], "{sigma} {tier:?} {:x}", words[i]);
            }
        }
    }
}

/// Evidence: equality with the exact path, also where no lane is sure.
#[test]
fn fixed_point_decides_as_the_exact_path() {
    let mut random = Random(22);
    for sigma in [66_000.0, 1e6, 1e9, 9e9, 1e12, 1e13] {
        let distribution = IntegerDistribution::Gaussian { sigma2: sigma * sigma };
        let fixed = FixedPoint::new(&distribution).unwrap();
        let mut undecided = 0;
        for i in 0..400 {
            let bits = random.word() >> (1 + if i % 4 == 0 { i / 4 % 22 } else { 0 });
            let exact = |rest: u64| exact::magnitude(&distribution, bits, &mut |_| rest);
            match fixed.decide(bits) {
                Some(found) => assert_eq!([found.unsigned_abs(); 2], [exact(0), exact(u64::MAX)], "{sigma} {bits:x}"),
                None => undecided += 1,
            }
        }
        // In the tail the number of steps between the polynomial and the quantile is too large.
        assert!(undecided < 10 || sigma > 1e11, "{sigma}: {undecided}");
    }
}
