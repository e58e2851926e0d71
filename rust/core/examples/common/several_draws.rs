//! Mechanisms other than the four that draw a value from one word, for checks of all mechanisms: examples, and constructors from any numbers.
#![allow(dead_code, reason = "each check uses a part of it")]

use stairnoise::{
    AnyMechanism, Arete, DiscreteCanonical, DiscreteGaussian, Gaussian, GeneralizedDiscreteLaplace, LatticeNoise, MergedLaplace,
    MultiScaleDiscreteLaplace, MultivariateStaircase, Norm, ParamError, RandomizedResponse, Share, Skellam,
    TruncatedDiscreteStaircase, TruncatedLaplace, TruncatedStaircase,
};

/// A mechanism with a name that contains its parameters.
pub type Named = (String, Box<dyn AnyMechanism>);

const NORMS: [Norm; 3] = [Norm::L1, Norm::L2, Norm::LInf];

/// Mechanisms that together take every path through the samplers.
pub fn examples() -> Result<Vec<Named>, ParamError> {
    let mut all: Vec<Named> = Vec::new();
    let mut add = |name: String, mechanism: Box<dyn AnyMechanism>| all.push((name, mechanism));
    let shares = [Share::WHOLE, Share::new(1, 3)?];
    for (eps, delta, lower, upper) in [
        (0.1, 1e-6, None, None),
        (1.0, 1e-6, None, None),
        (4.0, 1e-3, None, None),
        (1e-4, 1e-6, None, None),
        (1.0, 1e-6, Some(-20.0), Some(30.0)),
    ] {
        let name = format!("TruncatedLaplace({eps}, {delta}, {lower:?}, {upper:?})");
        add(name, Box::new(TruncatedLaplace::new(eps, delta, 1.0, lower, upper)?));
    }
    for (eps, delta, gamma, lower) in [
        (0.1, 1e-6, 0.5, None),
        (1.0, 1e-6, 0.4, Some(0.0)),
        (4.0, 1e-3, 0.2, None),
        (8.0, 1e-6, 0.05, Some(-1.0)),
        (1e-4, 1e-6, 0.5, Some(0.0)),
    ] {
        let name = format!("TruncatedStaircase({eps}, {delta}, {gamma}, {lower:?})");
        add(name, Box::new(TruncatedStaircase::new(eps, delta, 1.0, gamma, lower, None)?));
    }
    for (eps, delta, sensitivity, r, lower) in [
        (1.0, 1e-6, 1, 1, None),
        (1.0, 1e-6, 10, 4, Some(0)),
        (0.05, 1e-6, 10, 5, Some(0)),
        (4.0, 1e-3, 10, 2, Some(-5)),
        (1.0, 1e-6, 10, 4, Some(1 << 60)),
    ] {
        let name = format!("TruncatedDiscreteStaircase({eps}, {delta}, {sensitivity}, {r}, {lower:?})");
        let mechanism = TruncatedDiscreteStaircase::new(eps, delta, sensitivity, r, lower, None)?;
        add(name, Box::new(mechanism));
    }
    // These take thresholds, both logarithms in `f32`, and the rough and the fine logarithm.
    for (eps, delta) in [
        (1.0, 1e-6),
        (0.5, 1e-9),
        (0.05, 1e-6),
        (1e-3, 1e-6),
        (1e-6, 1e-12),
        (1.0, 0.0),
    ] {
        let name = format!("DiscreteCanonical({eps}, {delta})");
        add(name, Box::new(DiscreteCanonical::new(eps, delta)?));
    }
    // More than eight segments are read from a table; there is one segment more than rates.
    for rates in [1, 2, 7, 12] {
        let eps: Vec<f64> = (0..rates).map(|i| 0.5 + 0.25 * f64::from(i)).collect();
        let breaks: Vec<f64> = (1..rates).map(f64::from).collect();
        let name = format!("MergedLaplace of {rates} rates");
        add(name, Box::new(MergedLaplace::new(&eps, &breaks, 1.0)?));
    }
    // Up to sixteen thresholds are counted; more are searched, here and below.
    for (m, ratio) in [(2, None), (2, Some(0.125)), (40, None), (40, Some(0.75))] {
        let weights: Vec<f64> = (-m..=m).map(|k: i32| f64::from(m + 1 - k.abs())).collect();
        let name = format!("LatticeNoise of {} weights, {ratio:?}", weights.len());
        add(name, Box::new(LatticeNoise::new(&weights, ratio, 1.0, 1.0)?));
    }
    for share in shares {
        for (beta, a) in [(1.0, 4.0), (0.25, 3.5), (1.5, 0.2)] {
            let name = format!("GeneralizedDiscreteLaplace({beta}, {a}), {share:?}");
            add(name, Box::new(GeneralizedDiscreteLaplace::new(beta, a, share)?));
        }
        let name = format!("MultiScaleDiscreteLaplace(1, 3), {share:?}");
        add(name, Box::new(MultiScaleDiscreteLaplace::new(1.0, 3.0, share)?));
        let name = format!("Arete(0.25, 2, 0.5), {share:?}");
        add(name, Box::new(Arete::new(0.25, 2.0, 0.5, share)?));
        // Noise for the last μ is the sum of two terms.
        for mu in [0.25, 100.0, 30_000_000.0] {
            add(format!("Skellam({mu}), {share:?}"), Box::new(Skellam::new(mu, share)?));
        }
    }
    let mechanism = MultiScaleDiscreteLaplace::new(4.0, 1.0, shares[1])?;
    add("MultiScaleDiscreteLaplace(4, 1), a third".into(), Box::new(mechanism));
    for sigma2 in [0.5, 100.0, 1e6] {
        let name = format!("DiscreteGaussian({sigma2})");
        add(name, Box::new(DiscreteGaussian::new(sigma2)?));
    }
    for (eps, categories) in [(1.0, 2), (0.1, 5), (4.0, 1000), (50.0, 3)] {
        let name = format!("RandomizedResponse({eps}, {categories})");
        add(name, Box::new(RandomizedResponse::new(eps, categories)?));
    }
    add("Gaussian, sigma 1.16".into(), Box::new(Gaussian::scaled(1e20, -33)?));
    for norm in NORMS {
        for (eps, dim) in [(4.0, 2), (1.0, 3), (1.0, 7), (1.0, 10)] {
            let name = format!("MultivariateStaircase({eps}), {norm:?}, dim {dim}");
            add(name, Box::new(MultivariateStaircase::new(eps, 1.0, dim, 0.4, norm)?));
        }
    }
    Ok(all)
}

/// Numbers for constructors; a constructor takes the ones it needs.
pub struct Numbers {
    /// Any real numbers.
    pub reals: [f64; 4],
    /// Real numbers that may be absent.
    pub bounds: [Option<f64>; 2],
    /// A count.
    pub whole: u64,
    /// A power of two.
    pub log2_granularity: i32,
    /// 0, 1 or 2.
    pub choice: usize,
    /// A part of an infinitely divisible distribution.
    pub share: Share,
}

/// The number of mechanisms that [`of`] can make.
pub const MECHANISMS: usize = 13;

/// Makes mechanism number `which` from any numbers.
pub fn of(which: usize, numbers: &Numbers) -> Result<Box<dyn AnyMechanism>, ParamError> {
    let ([a, b, c, d], [lower, upper]) = (numbers.reals, numbers.bounds);
    let whole = |bound: Option<f64>| bound.map(|bound| bound as i64);
    Ok(match which {
        0 => Box::new(TruncatedLaplace::new(a, b, c, lower, upper)?),
        1 => Box::new(TruncatedStaircase::new(a, b, c, d, lower, upper)?),
        2 => {
            let (lower, upper) = (whole(lower), whole(upper));
            Box::new(TruncatedDiscreteStaircase::new(a, b, numbers.whole, c as u64, lower, upper)?)
        }
        3 => Box::new(DiscreteCanonical::new(a, b)?),
        4 => Box::new(MergedLaplace::new(&[a, b], &[c], d)?),
        5 => Box::new(LatticeNoise::new(
            &[a, b, c],
            lower,
            2.0_f64.powi(numbers.log2_granularity),
            d,
        )?),
        6 => Box::new(GeneralizedDiscreteLaplace::new(a, b, numbers.share)?),
        7 => Box::new(MultiScaleDiscreteLaplace::new(a, b, numbers.share)?),
        8 => Box::new(Arete::new(a, b, c, numbers.share)?),
        9 => Box::new(Skellam::new(a, numbers.share)?),
        10 => Box::new(Gaussian::scaled(a, numbers.log2_granularity)?),
        11 => Box::new(RandomizedResponse::new(a, numbers.whole)?),
        _ => Box::new(MultivariateStaircase::new(a, b, numbers.whole, c, NORMS[numbers.choice])?),
    })
}
