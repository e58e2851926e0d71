//! The taint check of laws of several draws for a value, of vectors and of selections.

use stairnoise::{
    Arete, DiscreteGaussian, GeneralizedDiscreteLaplace, Law, MergedLaplace, MultiScaleDiscreteLaplace, MultivariateStaircase,
    Norm, Selection, Share, TruncatedLaplace, Value,
};

use crate::cases::answers;
use crate::check::{Report, secret};
use crate::valgrind;

/// Values of a long fill: one batch and a part of another.
const LONG: usize = 8 * 512 + 3 * 64 + 38;
/// Values of a short fill, which has a path of its own.
const SHORT: usize = 6;

pub fn all(report: &mut Report) {
    gaussian(report);
    segments(report);
    shares(report);
    vectors(report);
    selection(report);
}

fn gaussian(report: &mut Report) {
    for sigma2 in [0.5, 100.0, 1e6] {
        let law = DiscreteGaussian::new(sigma2).expect("valid parameters");
        every_output(report, &format!("DiscreteGaussian({sigma2})"), &law);
    }
    let law = DiscreteGaussian::scaled(1e20, -33).expect("valid parameters");
    every_output(report, "Gaussian, sigma 1.16", &law);
}

fn segments(report: &mut Report) {
    for (eps, delta) in [(0.1, 1e-6), (1.0, 1e-6), (4.0, 1e-3)] {
        let law = TruncatedLaplace::new(eps, delta, 1.0, None, None).expect("valid parameters");
        every_output(report, &format!("TruncatedLaplace({eps}, {delta})"), &law);
    }
    let law = TruncatedLaplace::new(1.0, 1e-6, 1.0, Some(-20.0), Some(30.0)).expect("valid parameters");
    every_output(report, "TruncatedLaplace(1, 1e-6, -20, 30)", &law);
    // One more segment than epsilons; of more than eight the one in use is read from a table.
    for epsilons in [1, 2, 7, 12] {
        let eps: Vec<f64> = (0..epsilons).map(|i| 0.5 + 0.25 * f64::from(i)).collect();
        let breaks: Vec<f64> = (1..epsilons).map(f64::from).collect();
        let law = MergedLaplace::new(&eps, &breaks, 1.0).expect("valid parameters");
        every_output(report, &format!("MergedLaplace of {epsilons} rates"), &law);
    }
}

fn shares(report: &mut Report) {
    let third = Share::new(1, 3).expect("valid parameters");
    // Up to sixteen thresholds are counted, more are searched.
    for (beta, a) in [(1.0, 4.0), (0.25, 3.5), (1.5, 0.2)] {
        for share in [Share::WHOLE, third] {
            let law = GeneralizedDiscreteLaplace::new(beta, a, share).expect("valid parameters");
            every_output(report, &format!("GeneralizedDiscreteLaplace({beta}, {a}), {share:?}"), &law);
        }
    }
    for (eps, sensitivity, share) in [(4.0, 1.0, third), (1.0, 3.0, Share::WHOLE), (1.0, 3.0, third)] {
        let law = MultiScaleDiscreteLaplace::new(eps, sensitivity, share).expect("valid parameters");
        every_output(
            report,
            &format!("MultiScaleDiscreteLaplace({eps}, {sensitivity}), {share:?}"),
            &law,
        );
    }
    for share in [Share::WHOLE, third] {
        let law = Arete::new(0.25, 2.0, 0.5, share).expect("valid parameters");
        every_output(report, &format!("Arete(0.25, 2, 0.5), {share:?}"), &law);
    }
}

fn vectors(report: &mut Report) {
    for norm in [Norm::L1, Norm::L2, Norm::LInf] {
        for (eps, dim) in [(4.0, 2), (1.0, 3), (1.0, 7), (1.0, 10)] {
            let law = MultivariateStaircase::new(eps, 1.0, dim, 0.4, norm).expect("valid parameters");
            every_output(report, &format!("MultivariateStaircase({eps}), {norm:?}, dim {dim}"), &law);
        }
    }
}

fn selection(report: &mut Report) {
    let costs: Vec<f64> = (0..700).map(|i| f64::from(i % 37) / 8.0).collect();
    let mechanisms = [
        ("staircase", Selection::staircase(1.0, 1.0, 0.5, false)),
        ("exponential", Selection::exponential(1.0, 1.0, false)),
    ];
    for (name, mechanism) in mechanisms {
        let mechanism = mechanism.expect("valid parameters");
        report.case(&format!("selection, {name}, from rows"), true, || {
            let mut out = [0_i64; 7];
            mechanism.select(&mut secret(1), &costs, &mut out).expect("finite costs");
            (valgrind::secrets(&out), out.len())
        });
        report.case(&format!("selection, {name}, often"), true, || {
            let mut out = [0_i64; 1000];
            mechanism
                .select_often(&mut secret(2), &costs, &mut out)
                .expect("finite costs");
            (valgrind::secrets(&out), out.len())
        });
    }
}

fn every_output(report: &mut Report, name: &str, law: &impl Law) {
    for n in [SHORT, LONG] {
        report.case(&format!("{name}, {n} float64"), true, || fill::<f64>(law, n));
        report.case(&format!("{name}, {n} int64"), true, || fill::<i64>(law, n));
        report.case(&format!("{name}, release of {n} float64"), true, || {
            let answers = answers(n, law.granularity());
            let mut out = vec![0.0_f64; n];
            law.release(&mut secret(n), &answers, &mut out).expect("finite answers");
            (valgrind::secrets(&out), n)
        });
    }
}

fn fill<T: Value>(law: &impl Law, n: usize) -> (usize, usize) {
    let mut out = vec![T::default(); n];
    // In lattice steps, where the law is not one of integers.
    let fill = law.next_fill(&mut secret(n), n).expect("fills are left");
    fill.write(0, &mut out).expect("memory for a part");
    (valgrind::secrets(&out), n)
}
