//! The laws of several draws for a value, each with parameters that take every way through its sampler.
//!
//! The checks of taint, of small stacks and of slow paths go over this list.

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
