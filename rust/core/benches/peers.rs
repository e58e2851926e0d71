//! The same mechanisms from `rand_distr`, by the loops its users write: `cargo bench -p stairnoise --bench peers`.
//!
//! Unfair to stairnoise: the peers' values are 53-bit floats, or come from them, and `SmallRng` is not a secure generator. Unfair to the
//! peers: `StdRng` is ChaCha with 12 rounds in software, where stairnoise uses the processor's AES.
#![allow(missing_docs, reason = "criterion's macros make public functions")]

mod common;

use common::{VALUES, check, criterion};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use rand::rngs::{SmallRng, StdRng};
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, Exp, Exp1, Geometric};
use stairnoise::{DiscreteLaplace, Gamma, Generator, Laplace, Mechanism, Staircase};

const EPS: f64 = 4.0;

fn group<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(VALUES as u64));
    group
}

/// Times a loop over `draw`, with a secure generator and with a quick one.
fn loops(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, expected: f64, draw: &impl Draw) {
    let mut out = vec![0.0; VALUES];
    let mut secure = StdRng::seed_from_u64(1);
    group.bench_function(format!("{name}, StdRng"), |b| {
        b.iter(|| out.fill_with(|| draw.draw(&mut secure)));
        check(out.iter().copied(), expected, name);
    });
    let mut quick = SmallRng::seed_from_u64(1);
    group.bench_function(format!("{name}, SmallRng"), |b| {
        b.iter(|| out.fill_with(|| draw.draw(&mut quick)));
        check(out.iter().copied(), expected, name);
    });
}

/// A closure over generators of any type.
trait Draw {
    fn draw(&self, rng: &mut impl Rng) -> f64;
}

/// An exponential variable with a fair sign.
struct SignedExponential(Exp<f64>);

impl Draw for SignedExponential {
    fn draw(&self, rng: &mut impl Rng) -> f64 {
        let x = self.0.sample(rng);
        if rng.random() { x } else { -x }
    }
}

/// The difference of two geometric variables.
struct GeometricDifference(Geometric);

impl Draw for GeometricDifference {
    fn draw(&self, rng: &mut impl Rng) -> f64 {
        (self.0.sample(rng) as i64 - self.0.sample(rng) as i64) as f64
    }
}

/// Algorithm 1 of Geng and Viswanath at sensitivity 1, its geometric variable from an exponential one.
struct Algorithm1 {
    eps: f64,
    gamma: f64,
}

impl Draw for Algorithm1 {
    fn draw(&self, rng: &mut impl Rng) -> f64 {
        let exponential: f64 = Exp1.sample(rng);
        let stairs = (exponential / self.eps).floor();
        let u: f64 = rng.random();
        let inner = rng.random::<f64>() < self.gamma / (self.gamma + (1.0 - self.gamma) * (-self.eps).exp());
        let x = if inner {
            stairs + self.gamma * u
        } else {
            stairs + self.gamma + (1.0 - self.gamma) * u
        };
        if rng.random() { x } else { -x }
    }
}

fn staircase(c: &mut Criterion) {
    let mut group = group(c, "staircase, eps = 4");
    let expected = 0.5 / (EPS / 2.0).sinh();
    let mechanism = Staircase::new(EPS, 1.0, Gamma::L1).expect("valid parameters");
    let (mut generator, mut out) = (Generator::from_seed(1), vec![0.0_f64; VALUES]);
    group.bench_function("stairnoise", |b| {
        b.iter(|| mechanism.fill(&mut generator, &mut out).expect("fills are left"));
        check(out.iter().copied(), expected, "stairnoise");
    });
    let gamma = 1.0 / (1.0 + (EPS / 2.0).exp());
    loops(&mut group, "Algorithm 1", expected, &Algorithm1 { eps: EPS, gamma });
}

fn laplace(c: &mut Criterion) {
    let mut group = group(c, "Laplace, eps = 4");
    let mechanism = Laplace::new(EPS, 1.0).expect("valid parameters");
    let (mut generator, mut out) = (Generator::from_seed(1), vec![0.0_f64; VALUES]);
    group.bench_function("stairnoise", |b| {
        b.iter(|| mechanism.fill(&mut generator, &mut out).expect("fills are left"));
        check(out.iter().copied(), 1.0 / EPS, "stairnoise");
    });
    let exponential = Exp::new(EPS).expect("valid parameters");
    loops(&mut group, "Exp with a sign", 1.0 / EPS, &SignedExponential(exponential));
}

fn discrete_laplace(c: &mut Criterion) {
    let mut group = group(c, "discrete Laplace, eps = 4");
    let mechanism = DiscreteLaplace::new(EPS, 1).expect("valid parameters");
    let (mut generator, mut out) = (Generator::from_seed(1), vec![0_i64; VALUES]);
    group.bench_function("stairnoise", |b| {
        b.iter(|| mechanism.fill(&mut generator, &mut out).expect("fills are left"));
        check(out.iter().map(|&x| x as f64), 1.0 / EPS.sinh(), "stairnoise");
    });
    let geometric = Geometric::new(-(-EPS).exp_m1()).expect("valid parameters");
    loops(
        &mut group,
        "Geometric, difference",
        1.0 / EPS.sinh(),
        &GeometricDifference(geometric),
    );
}

criterion_group!(name = benches; config = criterion(); targets = staircase, laplace, discrete_laplace);
criterion_main!(benches);
