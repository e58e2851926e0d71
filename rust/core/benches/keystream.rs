//! Times random words alone, writing as many bytes, and `StdRng`: `cargo bench -p stairnoise --bench keystream`.

mod common;

use common::{VALUES, time};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use stairnoise::Generator;

/// A few blocks, a kernel's usual number, and more than the first-level cache holds.
const WORDS: [usize; 4] = [16, 512, 4096, VALUES];

fn main() {
    let mut generator = Generator::from_seed(1);
    for n in WORDS {
        let mut words = vec![0_u64; n];
        let fill = generator.next(n).expect("fills are left");
        if time(&format!("keystream/stairnoise/{n}"), n, || fill.keystream(0, &mut words)) {
            check(&words);
        }
        let mut chacha = StdRng::seed_from_u64(1);
        if time(&format!("keystream/StdRng/{n}"), n, || chacha.fill(words.as_mut_slice())) {
            check(&words);
        }
        time(&format!("keystream/writing/{n}"), n, || words.fill(std::hint::black_box(1)));
    }
}

/// Panics unless the numbers of ones and zeros agree within 6 standard errors; the false-alarm rate is 2e-9.
fn check(words: &[u64]) {
    let bits = 64.0 * words.len() as f64;
    let ones: f64 = words.iter().map(|word| f64::from(word.count_ones())).sum();
    assert!(
        (ones - bits / 2.0).abs() <= 6.0 * (bits / 4.0).sqrt(),
        "{ones} ones in {bits} bits"
    );
}
