//! Times the same distributions from `rand_distr`, in loops as users write them: `cargo bench -p stairnoise --bench peers`.
//!
//! Unfair to stairnoise: the peers' values are 53-bit floats, or come from them, and `SmallRng` is not a secure generator. Unfair to the
//! peers: `StdRng` is ChaCha with 12 rounds in software, while stairnoise uses the processor's AES.

mod common;

use common::{VALUES, check, fills, time};
use rand::rngs::{SmallRng, StdRng};
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, Exp, Exp1, Geometric};
use stairnoise::{DiscreteLaplace, Gamma, Laplace, Staircase};

const EPS: f64 = 4.0;

fn main() {
    staircase();
    laplace();
    discrete_laplace();
}

/// Times a loop over `draw`, with a secure generator and with a quick one.
fn loops(name: &str, expected: f64, draw: &impl Draw) {
    let mut out = vec![0.0; VALUES];
    let mut secure = StdRng::seed_from_u64(1);
    if time(&format!("{name}, StdRng"), VALUES, || {
        out.fill_with(|| draw.draw(&mut secure));
    }) {
        check(out.iter().copied(), expected, name);
    }
    let mut quick = SmallRng::seed_from_u64(1);
    if time(&format!("{name}, SmallRng"), VALUES, || {
        out.fill_with(|| draw.draw(&mut quick));
    }) {
        check(out.iter().copied(), expected, name);
    }
}

/// A closure that draws from any type of generator.
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

/// Algorithm 1 of Geng and Viswanath at sensitivity 1; its geometric variable comes from an exponential one.
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

fn staircase() {
    let expected = 0.5 / (EPS / 2.0).sinh();
    let mechanism = Staircase::new(EPS, 1.0, Gamma::L1).expect("valid parameters");
    fills("staircase, eps = 4/stairnoise", &mechanism, expected, |x: f64| x);
    let gamma = 1.0 / (1.0 + (EPS / 2.0).exp());
    loops("staircase, eps = 4/Algorithm 1", expected, &Algorithm1 { eps: EPS, gamma });
}

fn laplace() {
    let mechanism = Laplace::new(EPS, 1.0).expect("valid parameters");
    fills("Laplace, eps = 4/stairnoise", &mechanism, 1.0 / EPS, |x: f64| x);
    let exponential = Exp::new(EPS).expect("valid parameters");
    loops("Laplace, eps = 4/Exp with a sign", 1.0 / EPS, &SignedExponential(exponential));
}

fn discrete_laplace() {
    let mechanism = DiscreteLaplace::new(EPS, 1).expect("valid parameters");
    let expected = 1.0 / EPS.sinh();
    fills("discrete Laplace, eps = 4/stairnoise", &mechanism, expected, |x: i64| {
        x as f64
    });
    let difference = GeometricDifference(Geometric::new(-(-EPS).exp_m1()).expect("valid parameters"));
    loops("discrete Laplace, eps = 4/Geometric, difference", expected, &difference);
}
