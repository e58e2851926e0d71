//! The random words alone, beside writing as many bytes and beside `StdRng`: `cargo bench -p stairnoise --bench keystream`.
#![allow(missing_docs, reason = "criterion's macros make public functions")]

mod common;

use common::{VALUES, criterion};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use stairnoise::Generator;

/// From a few blocks to what the kernels ask for at a time, to more than the first-level cache.
const WORDS: [usize; 4] = [16, 512, 4096, VALUES];

fn keystream(c: &mut Criterion) {
    let mut generator = Generator::from_seed(1);
    let mut group = c.benchmark_group("keystream");
    for n in WORDS {
        let mut words = vec![0_u64; n];
        group.throughput(Throughput::Bytes(8 * n as u64));
        let fill = generator.next(n).expect("fills are left");
        group.bench_function(BenchmarkId::new("stairnoise", n), |b| {
            b.iter(|| fill.keystream(0, &mut words));
            check(&words);
        });
        let mut chacha = StdRng::seed_from_u64(1);
        group.bench_function(BenchmarkId::new("StdRng", n), |b| {
            b.iter(|| chacha.fill(words.as_mut_slice()));
            check(&words);
        });
        group.bench_function(BenchmarkId::new("writing", n), |b| {
            b.iter(|| words.fill(std::hint::black_box(1)));
        });
    }
}

/// Panics unless the words have about as many ones as zeros: within 6 standard errors, false alarm 2e-9.
fn check(words: &[u64]) {
    let bits = 64.0 * words.len() as f64;
    let ones: f64 = words.iter().map(|word| f64::from(word.count_ones())).sum();
    assert!(
        (ones - bits / 2.0).abs() <= 6.0 * (bits / 4.0).sqrt(),
        "{ones} ones in {bits} bits"
    );
}

criterion_group!(name = benches; config = criterion(); targets = keystream);
criterion_main!(benches);
