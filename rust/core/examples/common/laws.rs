//! The laws of several draws for a value: each with parameters that take every way through its sampler, and each made of any numbers.
//!
//! The checks of taint, of small stacks and of slow paths go over the first list, a fuzz target over the second.

#![allow(dead_code, reason = "a program takes one of the lists")]

use stairnoise::{
    Arete, DiscreteGaussian, GeneralizedDiscreteLaplace, Law, MergedLaplace, MultiScaleDiscreteLaplace, MultivariateStaircase,
    Norm, ParamError, Share, TruncatedLaplace,
};

pub type Named = (String, Box<dyn Law>);

/// Laws with names that tell their parameters.
pub fn several_draws() -> Result<Vec<Named>, ParamError> {
    let mut laws: Vec<Named> = Vec::new();
    let third = Share::new(1, 3)?;
    for sigma2 in [0.5, 100.0, 1e6] {
        add(
            &mut laws,
            format!("DiscreteGaussian({sigma2})"),
            DiscreteGaussian::new(sigma2)?,
        );
    }
    add(&mut laws, "Gaussian, sigma 1.16", DiscreteGaussian::scaled(1e20, -33)?);
    for (eps, delta) in [(0.1, 1e-6), (1.0, 1e-6), (4.0, 1e-3)] {
        let law = TruncatedLaplace::new(eps, delta, 1.0, None, None)?;
        add(&mut laws, format!("TruncatedLaplace({eps}, {delta})"), law);
    }
    let law = TruncatedLaplace::new(1.0, 1e-6, 1.0, Some(-20.0), Some(30.0))?;
    add(&mut laws, "TruncatedLaplace(1, 1e-6, -20, 30)", law);
    // One more segment than epsilons; of more than eight the one in use is read from a table.
    for epsilons in [1, 2, 7, 12] {
        let eps: Vec<f64> = (0..epsilons).map(|i| 0.5 + 0.25 * f64::from(i)).collect();
        let breaks: Vec<f64> = (1..epsilons).map(f64::from).collect();
        let law = MergedLaplace::new(&eps, &breaks, 1.0)?;
        add(&mut laws, format!("MergedLaplace of {epsilons} rates"), law);
    }
    // Up to sixteen thresholds are counted, more are searched.
    for (beta, a) in [(1.0, 4.0), (0.25, 3.5), (1.5, 0.2)] {
        for share in [Share::WHOLE, third] {
            let law = GeneralizedDiscreteLaplace::new(beta, a, share)?;
            add(&mut laws, format!("GeneralizedDiscreteLaplace({beta}, {a}), {share:?}"), law);
        }
    }
    for (eps, sensitivity, share) in [(4.0, 1.0, third), (1.0, 3.0, Share::WHOLE), (1.0, 3.0, third)] {
        let law = MultiScaleDiscreteLaplace::new(eps, sensitivity, share)?;
        add(
            &mut laws,
            format!("MultiScaleDiscreteLaplace({eps}, {sensitivity}), {share:?}"),
            law,
        );
    }
    for share in [Share::WHOLE, third] {
        add(
            &mut laws,
            format!("Arete(0.25, 2, 0.5), {share:?}"),
            Arete::new(0.25, 2.0, 0.5, share)?,
        );
    }
    for norm in [Norm::L1, Norm::L2, Norm::LInf] {
        for (eps, dim) in [(4.0, 2), (1.0, 3), (1.0, 7), (1.0, 10)] {
            let law = MultivariateStaircase::new(eps, 1.0, dim, 0.4, norm)?;
            add(&mut laws, format!("MultivariateStaircase({eps}), {norm:?}, dim {dim}"), law);
        }
    }
    Ok(laws)
}

fn add(laws: &mut Vec<Named>, name: impl Into<String>, law: impl Law + 'static) {
    laws.push((name.into(), Box::new(law)));
}

/// Numbers for a constructor, which takes those it has a use for.
pub struct Numbers {
    pub a: f64,
    pub b: f64,
    pub c: f64,
    pub d: f64,
    pub bounds: [Option<f64>; 2],
    pub whole: u64,
    pub log2_granularity: i32,
    pub norm: Norm,
    pub share: Share,
}

pub type Constructor = fn(&Numbers) -> Result<Box<dyn Law>, ParamError>;

pub const CONSTRUCTORS: [Constructor; 7] = [
    |n| boxed(TruncatedLaplace::new(n.a, n.b, n.c, n.bounds[0], n.bounds[1])),
    |n| boxed(MergedLaplace::new(&[n.a, n.b], &[n.c], n.d)),
    |n| boxed(GeneralizedDiscreteLaplace::new(n.a, n.b, n.share)),
    |n| boxed(MultiScaleDiscreteLaplace::new(n.a, n.b, n.share)),
    |n| boxed(Arete::new(n.a, n.b, n.c, n.share)),
    |n| boxed(DiscreteGaussian::scaled(n.a, n.log2_granularity)),
    |n| boxed(MultivariateStaircase::new(n.a, n.b, n.whole, n.c, n.norm)),
];

fn boxed<L: Law + 'static>(law: Result<L, ParamError>) -> Result<Box<dyn Law>, ParamError> {
    law.map(|law| Box::new(law) as Box<dyn Law>)
}
