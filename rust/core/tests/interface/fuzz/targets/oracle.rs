//! A second implementation of the contract: words of a fill (section 1), exact magnitudes (section 2), rounded sums (section 4).

use aes::Aes256;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use stairnoise::exact::{IntegerDistribution, Staircase, magnitude};
use stairnoise::{AnyMechanism, OneWordMechanism};

/// The words of one fill of a key.
pub struct Words {
    cipher: Aes256,
    fill: u64,
}

impl Words {
    pub fn new(key: &[u8; 32], fill: u64) -> Self {
        let cipher = Aes256::new(&(*key).into());
        Self { cipher, fill }
    }

    fn lane(&self, domain: u64, level: u64, index: u64, lane: u64) -> u64 {
        let tweak = self.fill + (level << 48) + (domain << 60);
        let mut block = aes::Block::default();
        block[..8].copy_from_slice(&index.to_le_bytes());
        block[8..].copy_from_slice(&tweak.to_le_bytes());
        self.cipher.encrypt_block(&mut block);
        let at = 8 * lane as usize;
        u64::from_le_bytes(block[at..at + 8].try_into().expect("eight bytes"))
    }

    pub fn word(&self, i: u64) -> u64 {
        self.lane(0, 0, i / 2, i % 2)
    }

    pub fn extension(&self, i: u64, e: usize) -> u64 {
        if e < 8192 {
            self.lane(1, e as u64 / 2, i, e as u64 % 2)
        } else {
            0
        }
    }

    /// X of value `i`, only by the exact path.
    pub fn steps(&self, mechanism: &OneWordMechanism, i: u64) -> i64 {
        let (eps, sensitivity_steps) = (mechanism.eps(), mechanism.sensitivity_steps());
        let integers = match mechanism.r() {
            Some(r) => IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r)),
            None => IntegerDistribution::Geometric { eps, sensitivity_steps },
        };
        let word = self.word(i);
        let magnitude = magnitude(&integers, word & !(1 << 63), &mut |e| self.extension(i, e));
        let magnitude = i64::try_from(magnitude).unwrap_or(i64::MAX);
        if word >> 63 == 1 { -magnitude } else { magnitude }
    }
}

/// (significand, exponent): the magnitude of a finite float is significand·2^exponent.
fn parts(x: f64) -> (u64, i32) {
    let (fraction, exponent) = (x.to_bits() & ((1 << 52) - 1), (x.to_bits() >> 52 & 0x7ff) as i32);
    if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, exponent - 1075)
    }
}

pub fn log2_of_power(x: f64) -> i32 {
    let (significand, exponent) = parts(x);
    assert!(x > 0.0 && significand.is_power_of_two(), "{x} is no power of two");
    significand.trailing_zeros() as i32 + exponent
}

/// A true answer as an exact number.
pub trait True: Copy {
    fn parts(self) -> (i128, i32);
}

impl True for f64 {
    fn parts(self) -> (i128, i32) {
        let (significand, exponent) = parts(self);
        let significand = i128::from(significand);
        (if self < 0.0 { -significand } else { significand }, exponent)
    }
}

impl True for i64 {
    fn parts(self) -> (i128, i32) {
        (self.into(), 0)
    }
}

/// ⌊x/g + ½⌋, saturating at ±2¹²⁶.
pub fn rounded(answer: impl True, log2_granularity: i32) -> i128 {
    let (significand, exponent) = answer.parts();
    let by = exponent - log2_granularity;
    let limit = 1_i128 << 126;
    if by >= 0 {
        let scale = 2_i128.checked_pow(by.unsigned_abs());
        let product = scale.and_then(|scale| significand.checked_mul(scale));
        let saturated = limit * significand.signum();
        return product.unwrap_or(saturated).clamp(-limit, limit);
    }
    let twice_unit = 1_i128.checked_shl((1 - by).unsigned_abs()).filter(|unit| *unit > 0);
    // A larger unit is more than twice any significand, so the result is 0.
    twice_unit.map_or(0, |unit| (2 * significand + unit / 2).div_euclid(unit))
}

/// K·g for `f64`, by the contract.
pub fn float(steps: i128, log2_granularity: i32) -> f64 {
    // Two factors are needed, because 2^−1074 is not a normal number.
    let (half, rest) = (log2_granularity / 2, log2_granularity - log2_granularity / 2);
    let value = steps as f64 * power_of_two(half) * power_of_two(rest);
    value.clamp(f64::MIN, f64::MAX)
}

/// 2ⁿ as a normal number. `exp2` promises no precision.
fn power_of_two(n: i32) -> f64 {
    assert!((-1022..=1023).contains(&n));
    f64::from_bits(((1023 + n) as u64) << 52)
}

pub fn int(steps: i128) -> i64 {
    steps.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
