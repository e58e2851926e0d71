//! Enclosures of sums of powers of e^(−step).

use super::enclosure::Enclosure;
use super::exp::Step;
use super::limbs::{self, Limbs};

/// 1 + x + … + x^(length − 1) for x = e^(−step), or 1/(1 − x) without a length, with `p` limbs of fraction. It must be below 2^63.
///
/// It grows with x, so that its ends come from those of x, one rounded down throughout and one up. They are within 2^−64 of one another,
/// relatively, for p = 2 and steps and lengths below 2^62: doubling the length doubles the error of a power, which begins at 2^37 units.
pub fn geometric_sum(step: &Step, length: Option<u64>, p: usize) -> Enclosure {
    // A limb of its own for the rounding here.
    let x = step.decay(p + 1);
    let sum = |x: &Limbs, up: u64| match length {
        Some(length) => finite(x, length, up),
        None => infinite(x, up),
    };
    // Dropping the limb rounds both ends down, so the upper one gets a unit for it.
    let (lo, mut hi) = (sum(&x.lo, 0), Limbs::from_slice(&sum(&x.hi, 1)[1..]));
    limbs::add_small(&mut hi, 1);
    Enclosure {
        lo: Limbs::from_slice(&lo[1..]),
        hi,
    }
}

/// s·(1 + y).
fn doubled(sum: &Limbs, power: &Limbs, up: u64) -> Limbs {
    let mut twice = limbs::mul_rounded(sum, power, up);
    limbs::add(&mut twice, sum);
    twice
}

/// By the bits of the length, the leading one first. The sum s of n terms and y = x^n become s·(1 + y) and y² for 2n, s·x + 1 and y·x for n + 1.
fn finite(x: &Limbs, length: u64, up: u64) -> Limbs {
    let units = x.len() - 1;
    let mut sum = Limbs::zero(x.len());
    let mut power = sum.clone();
    power[units] = 1;
    for bit in (0..64 - length.leading_zeros()).rev() {
        sum = doubled(&sum, &power, up);
        power = limbs::mul_rounded(&power, &power, up);
        if length >> bit & 1 == 1 {
            sum = limbs::mul_rounded(&sum, x, up);
            limbs::add_small(&mut sum[units..], 1);
            power = limbs::mul_rounded(&power, x, up);
        }
    }
    sum
}

/// The product (1 + x)(1 + x²)(1 + x⁴)…. Once the power y is below one limb, what is left of the product is below 1 + 2y.
fn infinite(x: &Limbs, up: u64) -> Limbs {
    let units = x.len() - 1;
    let mut sum = Limbs::zero(x.len());
    sum[units] = 1;
    let mut power = x.clone();
    while power[1..].iter().any(|&limb| limb != 0) {
        sum = doubled(&sum, &power, up);
        power = limbs::mul_rounded(&power, &power, up);
    }
    // The factors left out are above 1: only the upper end needs them.
    if up == 1 {
        limbs::shl(&mut power, 1);
        sum = doubled(&sum, &power, up);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ⌊x·2^(64·p)⌋ of an end, in floating point.
    fn value(end: &Limbs) -> f64 {
        let p = end.len() as i32 - 1;
        end.iter()
            .zip(0..)
            .map(|(&limb, i)| limb as f64 * 2.0_f64.powi(64 * (i - p)))
            .sum()
    }

    /// Evidence: floating point, to 12 digits, and the identity sum·(1 − x) + x^n = 1 to the width of the enclosures.
    #[test]
    fn sums_are_enclosed() {
        for (eps, sensitivity_steps) in [
            (1.0, 1),
            (0.3, 7),
            (2.0, 1 << 33),
            (0.5_f64.powi(40), 3),
            (50.0, 1),
            (1e6, 1),
            // Below what a power is made of.
            (4e6, 1),
            (3.0, 1 << 52),
        ] {
            let step = Step::new(eps, sensitivity_steps);
            let theta = eps / sensitivity_steps as f64;
            for p in [2, 3, 5] {
                for length in [
                    Some(1),
                    Some(2),
                    Some(3),
                    Some(100),
                    Some((1 << 33) + 12_345),
                    Some(1 << 50),
                    None,
                ] {
                    let sum = geometric_sum(&step, length, p);
                    let rise = length.map_or(f64::INFINITY, |n| theta * n as f64);
                    let expected = -(-rise).exp_m1() / -(-theta).exp_m1();
                    assert!(
                        (value(&sum.lo) / expected - 1.0).abs() < 1e-12,
                        "{eps} {sensitivity_steps} {length:?}"
                    );
                    assert!(!limbs::less(&sum.hi, &sum.lo));
                    let mut width = sum.hi.clone();
                    limbs::sub(&mut width, &sum.lo);
                    assert!(
                        value(&width) <= value(&sum.lo) * (-64.0_f64).exp2(),
                        "{eps} {sensitivity_steps} {length:?} {p}"
                    );
                    identity(&step, length, &sum, p);
                }
            }
        }
    }

    /// Evidence: exact arithmetic. For x = (2^k − 1)/2^k without an error of its own the infinite sum is 2^k, and what is rounded down or up
    /// on the way there shows; for finite ones sum·(1 − x) is 1 − x^n, and (1 − x)·2^k = 1.
    #[test]
    fn roundings_go_outwards() {
        for k in 1..60 {
            let mut x = Limbs::zero(3);
            x[1] = u64::MAX << (64 - k);
            let (below, above) = (infinite(&x, 0), infinite(&x, 1));
            assert!(below[2] < 1 << k && above[2] == 1 << k, "{k}: {below:?} {above:?}");
            for length in [2, 3, 5, 100, 12_345, 1 << 40, (1 << 50) - 1] {
                // 1 − sum/2^k is x^n, which is compared in floating point and, where that is small, with the other end.
                let (below, above) = (finite(&x, length, 0), finite(&x, length, 1));
                // With five limbs more the roundings are far below: the finer ends are inside the coarser ones.
                let mut fine_x = Limbs::zero(8);
                fine_x[5..].copy_from_slice(&x);
                let (finer_below, finer_above) = (finite(&fine_x, length, 0), finite(&fine_x, length, 1));
                let padded = |coarse: &Limbs| {
                    let mut fine = Limbs::zero(8);
                    fine[5..].copy_from_slice(coarse);
                    fine
                };
                assert!(!limbs::less(&finer_above, &padded(&below)), "{k} {length}");
                assert!(!limbs::less(&padded(&above), &finer_below), "{k} {length}");
                let power = (length as f64 * (-(-f64::from(k as u32)).exp2()).ln_1p()).exp();
                for sum in [&below, &above] {
                    let missing = 1.0 - value(sum) * (-f64::from(k as u32)).exp2();
                    assert!((missing - power).abs() < 1e-12, "{k} {length}");
                }
                if power == 0.0 {
                    assert!(below[2] < 1 << k && above[2] == 1 << k, "{k} {length}");
                }
            }
        }
    }

    /// sum + x^n contains sum·x + 1.
    fn identity(step: &Step, length: Option<u64>, sum: &Enclosure, p: usize) {
        let fixed = |count: u64| step.fixed_power(count, p);
        let (x, last) = (fixed(1), length.map_or(Enclosure::point(0, p), fixed));
        let end = |sum: &Limbs, x: &Limbs, last: &Limbs| {
            let (mut left, mut right) = (limbs::mul(sum, x), Limbs::zero(2 * p + 2));
            limbs::add_small(&mut left[2 * p..], 1);
            right[p..=2 * p].copy_from_slice(sum);
            let mut padded = Limbs::zero(2 * p + 2);
            padded[p..=2 * p].copy_from_slice(last);
            limbs::add(&mut right, &padded);
            (left, right)
        };
        let (least_left, least_right) = end(&sum.lo, &x.lo, &last.lo);
        let (most_left, most_right) = end(&sum.hi, &x.hi, &last.hi);
        assert!(!limbs::less(&most_left, &least_right) && !limbs::less(&most_right, &least_left));
    }
}
