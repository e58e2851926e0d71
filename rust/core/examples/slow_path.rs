//! Counts how often the slow path is taken (docs/evidence/timing.md): `cargo run --release --features probe --example slow_path -- [WORDS]`.
//!
//! Prints lines for the four mechanisms: kind, ε, Δ, kernel, words, undecided words. Then come lines for the other mechanisms, with a hundredth as
//! many values: mechanism, values, slow paths.

use std::sync::atomic::Ordering;

use stairnoise::{
    AnyMechanism, Arete, DiscreteGaussian, Gaussian, GeneralizedDiscreteLaplace, Generator, Kind, Mechanism, MergedLaplace,
    MultiScaleDiscreteLaplace, MultivariateStaircase, Norm, OneWordMechanism, ParamError, Selection, Shape, Share, Skellam,
    TruncatedLaplace, probe,
};

const WORDS: usize = 100_000_000;
const N: usize = 1 << 16;

fn main() {
    let words = std::env::args()
        .nth(1)
        .map_or(WORDS, |n| n.parse().expect("a number of words"));
    let mut generator = Generator::from_seed(63).allow_release();
    for (kind, sensitivity) in [
        (Kind::Laplace, 1.0),
        (Kind::Staircase, 1.0),
        (Kind::DiscreteLaplace, 1.0),
        (Kind::DiscreteStaircase, 1.0),
        (Kind::DiscreteStaircase, 10.0),
    ] {
        for eps in [0.01, 0.1, 1.0, 4.0, 10.0] {
            let mechanism = OneWordMechanism::new(kind, eps, sensitivity, Shape::L1).expect("valid parameters");
            let (mut drawn, mut doubts) = (0_usize, 0_usize);
            let (mut buffer, mut scratch) = (vec![0_u64; N], vec![0.0_f64; N]);
            while drawn < words {
                generator.next(N).expect("fills are left").keystream(0, &mut buffer);
                probe::undecided(&mechanism, &buffer, &mut scratch, |_| doubts += 1);
                drawn += N;
            }
            println!("{kind:?} {eps} {sensitivity} {} {drawn} {doubts}", probe::kernel(&mechanism));
        }
    }
    for (name, mechanism) in others().expect("valid parameters") {
        let mut out = vec![0_i64; N];
        count(&name, words / 100, || {
            let fill = mechanism.next_fill(&mut generator, N).expect("fills are left");
            fill.write(0, &mut out).expect("memory for a part");
        });
    }
    let costs: Vec<f64> = (0..100).map(|i| f64::from(i % 37) / 8.0).collect();
    let mut out = vec![0_i64; N];
    for (name, mechanism) in [
        ("Selection", Selection::staircase(1.0, 1.0, 0.5, false)),
        ("PermuteAndFlip", Selection::permute_and_flip(1.0, 1.0, false)),
    ] {
        let mechanism = mechanism.expect("valid parameters");
        count(name, words / 100, || {
            mechanism
                .select_often(&mut generator, &costs, &mut out)
                .expect("finite costs");
        });
    }
}

type Named = (String, Box<dyn AnyMechanism>);

fn others() -> Result<Vec<Named>, ParamError> {
    let mut mechanisms: Vec<Named> = Vec::new();
    for sigma2 in [1.0, 100.0, 1e6] {
        mechanisms.push((
            format!("DiscreteGaussian({sigma2})"),
            Box::new(DiscreteGaussian::new(sigma2)?),
        ));
    }
    mechanisms.push(("Gaussian".into(), Box::new(Gaussian::scaled(1e20, -33)?)));
    for eps in [0.1, 1.0, 4.0] {
        let mechanism = TruncatedLaplace::new(eps, 1e-6, 1.0, None, None)?;
        mechanisms.push((format!("TruncatedLaplace({eps})"), Box::new(mechanism)));
        let mechanism = MergedLaplace::new(&[eps, 2.0 * eps], &[1.0], 1.0)?;
        mechanisms.push((format!("MergedLaplace({eps},{})", 2.0 * eps), Box::new(mechanism)));
        let mechanism = GeneralizedDiscreteLaplace::new(1.0, eps, Share::new(1, 3)?)?;
        mechanisms.push((format!("GeneralizedDiscreteLaplace({eps})"), Box::new(mechanism)));
        let mechanism = MultiScaleDiscreteLaplace::new(eps, 2.0, Share::new(1, 3)?)?;
        mechanisms.push((format!("MultiScaleDiscreteLaplace({eps},2)"), Box::new(mechanism)));
    }
    mechanisms.push((
        "Arete(0.25,2,0.5)".into(),
        Box::new(Arete::new(0.25, 2.0, 0.5, Share::WHOLE)?),
    ));
    for norm in [Norm::L1, Norm::L2, Norm::LInf] {
        for (eps, dim) in [
            (1.0, 2),
            (1.0, 10),
            (4.0, 2),
            (1.0, 100),
            (1.0, 1000),
            (1.0, 10_000),
            (2.0, 65_536),
        ] {
            let mechanism = MultivariateStaircase::new(eps, 1.0, dim, 0.5, norm)?;
            mechanisms.push((format!("MultivariateStaircase({eps},{dim},{norm:?})"), Box::new(mechanism)));
        }
    }
    for mu in [1.0, 100.0, 1e6] {
        mechanisms.push((format!("Skellam({mu})"), Box::new(Skellam::new(mu, Share::WHOLE)?)));
    }
    Ok(mechanisms)
}

fn count(name: &str, values: usize, mut draw: impl FnMut()) {
    let before = probe::SLOW_PATHS.load(Ordering::Relaxed);
    let calls = values.div_ceil(N);
    for _ in 0..calls {
        draw();
    }
    let slow = probe::SLOW_PATHS.load(Ordering::Relaxed) - before;
    println!("{name} {} {slow}", calls * N);
}
