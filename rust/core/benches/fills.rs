//! Every mechanism at several ε, and every element type: `cargo bench -p stairnoise --bench fills`.
#![allow(missing_docs, reason = "criterion's macros make public functions")]

mod common;

use common::{VALUES, check, criterion};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use stairnoise::{DiscreteLaplace, Gamma, Generator, Kind, Laplace, Mechanism, OneWordMechanism, Shape, Staircase};

const EPSILONS: [f64; 5] = [0.01, 0.1, 1.0, 4.0, 10.0];
const KINDS: [Kind; 3] = [Kind::Staircase, Kind::Laplace, Kind::DiscreteLaplace];

/// E|X| at sensitivity 1; the staircase with the γ that is best for it (Geng and Viswanath 2014, section V).
fn mean_magnitude(kind: Kind, eps: f64) -> f64 {
    match kind {
        Kind::Staircase => 0.5 / (eps / 2.0).sinh(),
        Kind::Laplace => 1.0 / eps,
        Kind::DiscreteLaplace | Kind::DiscreteStaircase => 1.0 / eps.sinh(),
    }
}

fn mechanisms(c: &mut Criterion) {
    let mut generator = Generator::from_seed(1);
    let mut out = vec![0.0_f64; VALUES];
    for kind in KINDS {
        let mut group = c.benchmark_group(format!("{kind:?}"));
        group.throughput(Throughput::Elements(VALUES as u64));
        for eps in EPSILONS {
            let mechanism = OneWordMechanism::new(kind, eps, 1.0, Shape::L1).expect("valid parameters");
            group.bench_function(BenchmarkId::new("eps", eps), |b| {
                b.iter(|| mechanism.fill(&mut generator, &mut out).expect("fills are left"));
                check(
                    out.iter().copied(),
                    mean_magnitude(kind, eps),
                    &format!("{kind:?}, eps = {eps}"),
                );
            });
        }
    }
}

fn discrete_staircases(c: &mut Criterion) {
    let mut generator = Generator::from_seed(2);
    let mut out = vec![0_i64; VALUES];
    let mut group = c.benchmark_group("DiscreteStaircase");
    group.throughput(Throughput::Elements(VALUES as u64));
    for eps in [1.0, 4.0] {
        for sensitivity in [10.0, 1000.0] {
            for (name, r) in [("l1", Shape::L1), ("l2", Shape::L2)] {
                let mechanism = OneWordMechanism::new(Kind::DiscreteStaircase, eps, sensitivity, r).expect("valid parameters");
                let id = format!("eps={eps}/sensitivity={sensitivity}/r={name}");
                let expected = staircase_magnitude(eps, sensitivity, mechanism.r().expect("a staircase has one") as f64);
                group.bench_function(&id, |b| {
                    b.iter(|| mechanism.fill(&mut generator, &mut out).expect("fills are left"));
                    check(out.iter().map(|&x| x as f64), expected, &id);
                });
            }
        }
    }
}

/// E|X| of the discrete staircase with stairs `d` wide and a first stair of half-width `r`.
fn staircase_magnitude(eps: f64, d: f64, r: f64) -> f64 {
    let c = 1.0 / eps.exp_m1();
    (r * (r - 1.0) + (2.0 * r - 1.0) * d * c + d * d * c * (1.0 + 2.0 * c)) / (2.0 * r - 1.0 + 2.0 * d * c)
}

fn types(c: &mut Criterion) {
    let mut generator = Generator::from_seed(3);
    let mut group = c.benchmark_group("types");
    group.throughput(Throughput::Elements(VALUES as u64));
    let staircase = Staircase::new(4.0, 1.0, Gamma::L1).expect("valid parameters");
    let laplace = Laplace::new(4.0, 1.0).expect("valid parameters");
    let counting = DiscreteLaplace::new(4.0, 1).expect("valid parameters");

    let mut single = vec![0.0_f32; VALUES];
    group.bench_function("Staircase/f32", |b| {
        b.iter(|| staircase.fill(&mut generator, &mut single).expect("fills are left"));
        check(
            single.iter().map(|&x| x.into()),
            mean_magnitude(Kind::Staircase, 4.0),
            "Staircase, f32",
        );
    });
    group.bench_function("Laplace/f32", |b| {
        b.iter(|| laplace.fill(&mut generator, &mut single).expect("fills are left"));
        check(
            single.iter().map(|&x| x.into()),
            mean_magnitude(Kind::Laplace, 4.0),
            "Laplace, f32",
        );
    });
    let mut short = vec![0_i32; VALUES];
    group.bench_function("DiscreteLaplace/i32", |b| {
        b.iter(|| counting.fill(&mut generator, &mut short).expect("fills are left"));
        check(
            short.iter().map(|&x| x.into()),
            mean_magnitude(Kind::DiscreteLaplace, 4.0),
            "DiscreteLaplace, i32",
        );
    });
    let mut long = vec![0_i64; VALUES];
    group.bench_function("DiscreteLaplace/i64", |b| {
        b.iter(|| counting.fill(&mut generator, &mut long).expect("fills are left"));
        check(
            long.iter().map(|&x| x as f64),
            mean_magnitude(Kind::DiscreteLaplace, 4.0),
            "DiscreteLaplace, i64",
        );
    });
}

criterion_group!(name = benches; config = criterion(); targets = mechanisms, discrete_staircases, types);
criterion_main!(benches);
