//! Golden vectors of the mechanisms that take several draws for a value. A mechanism that has a file of its own replays it in its own tests.

use serde_json::Value as Json;

use super::{float, list, seeded, vectors, whole};
use crate::{
    AnyMechanism, Arete, Gaussian, GeneralizedDiscreteLaplace, Mechanism, MergedLaplace, MultiScaleDiscreteLaplace,
    MultivariateStaircase, Norm, Share, TruncatedLaplace,
};

/// The mechanism's lattice and its values from an entry's place are the entry's.
pub(crate) fn draws(mechanism: &dyn AnyMechanism, entry: &Json) {
    assert_eq!(
        i64::from(mechanism.log2_granularity()),
        entry["log2_g"].as_i64().unwrap(),
        "{entry}"
    );
    let expected: Vec<i64> = list(&entry["values"]).iter().map(|x| x.as_i64().unwrap()).collect();
    let mut view = seeded(entry).at(whole(&entry["index"])).unwrap();
    let fill = (0..=whole(&entry["fill"]))
        .map(|_| mechanism.next_fill(&mut view, expected.len()).unwrap())
        .last()
        .unwrap();
    let mut steps = vec![0_i64; expected.len()];
    fill.write(0, &mut steps).unwrap();
    assert_eq!(steps, expected, "{entry}");
}

fn floats(json: &Json) -> Vec<f64> {
    list(json).iter().map(float).collect()
}

#[test]
fn refused_parameters() {
    for entry in vectors("refused.json") {
        let arguments = list(&entry["arguments"]);
        let refused = match entry["law"].as_str().unwrap() {
            "truncated_laplace" => {
                let [eps, delta, sensitivity] = [0, 1, 2].map(|i| float(&arguments[i]));
                let [lower, upper] = [3, 4].map(|i| arguments[i].is_string().then(|| float(&arguments[i])));
                TruncatedLaplace::new(eps, delta, sensitivity, lower, upper).is_err()
            }
            "multi_scale_discrete_laplace" => {
                let share = Share::new(whole(&arguments[3]), whole(&arguments[2])).unwrap();
                MultiScaleDiscreteLaplace::new(float(&arguments[0]), whole(&arguments[1]) as f64, share).is_err()
            }
            other => panic!("{other}"),
        };
        assert_eq!(refused, entry["refused"].as_bool().unwrap(), "{entry}");
    }
}

#[test]
fn merged_laplace() {
    for entry in vectors("merged_laplace.json") {
        let arguments = list(&entry["arguments"]);
        let (eps, breakpoints) = (floats(&arguments[0]), floats(&arguments[1]));
        let mechanism = MergedLaplace::new(&eps, &breakpoints, float(&arguments[2])).unwrap();
        assert_eq!(mechanism.sensitivity_steps(), whole(&entry["cells"]), "{entry}");
        let breaks: Vec<u64> = list(&entry["breaks"]).iter().map(whole).collect();
        assert_eq!(mechanism.breaks(), breaks, "{entry}");
        draws(&mechanism, &entry);
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri takes hours for the tables of tens of thousands of weights")]
fn infinitely_divisible() {
    for entry in vectors("infinitely_divisible.json") {
        let share = Share::new(whole(&entry["present"]), whole(&entry["n_parties"])).unwrap();
        let mechanism: Box<dyn AnyMechanism> = match (entry["law"].as_str().unwrap(), &*floats(&entry["parameters"])) {
            ("generalized", &[beta, a]) => Box::new(GeneralizedDiscreteLaplace::new(beta, a, share).unwrap()),
            ("multi_scale", &[eps, sensitivity]) => Box::new(MultiScaleDiscreteLaplace::new(eps, sensitivity, share).unwrap()),
            ("arete", &[alpha, theta, lam]) => Box::new(Arete::new(alpha, theta, lam, share).unwrap()),
            _ => panic!("{entry}"),
        };
        draws(&*mechanism, &entry);
    }
}

/// γ is given as its radius in lattice steps: of ⌈γD⌉ = r, the float next below r/D.
fn of_vectors(entry: &Json) -> MultivariateStaircase {
    let norm = match entry["norm"].as_str().unwrap() {
        "l1" => Norm::L1,
        "l2" => Norm::L2,
        "linf" => Norm::LInf,
        other => panic!("{other}"),
    };
    let (eps, sensitivity) = (float(&entry["eps"]), float(&entry["sensitivity"]));
    let (sensitivity_steps, r) = (whole(&entry["cells"]), whole(&entry["r"]));
    let gamma = (r as f64 / sensitivity_steps as f64).next_down();
    let mechanism = MultivariateStaircase::new(eps, sensitivity, whole(&entry["dim"]), gamma, norm).unwrap();
    assert_eq!(
        (mechanism.sensitivity_steps(), mechanism.r()),
        (sensitivity_steps, r),
        "{entry}"
    );
    mechanism
}

#[test]
fn multivariate() {
    for entry in vectors("multivariate.json") {
        draws(&of_vectors(&entry), &entry);
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri takes hours for so many coordinates")]
fn long_vectors() {
    for entry in vectors("long_vectors.json") {
        let mechanism = of_vectors(&entry);
        let dim = whole(&entry["dim"]);
        let mut view = seeded(&entry).at(whole(&entry["vector"]) * dim).unwrap();
        let fill = (0..=whole(&entry["fill"]))
            .map(|_| mechanism.next_fill(&mut view, dim as usize).unwrap())
            .last()
            .unwrap();
        let mut steps = vec![0_i64; dim as usize];
        fill.write(0, &mut steps).unwrap();
        let drawn: Vec<i64> = list(&entry["places"])
            .iter()
            .map(|place| steps[whole(place) as usize])
            .collect();
        let expected: Vec<i64> = list(&entry["values"]).iter().map(|x| x.as_i64().unwrap()).collect();
        assert_eq!(drawn, expected, "{entry}");
    }
}

/// The lattice and σ² are the entry's: which they are for ε and δ is the Python package's.
#[test]
fn gaussian() {
    for entry in vectors("gaussian.json") {
        let log2_granularity = entry["log2_g"].as_i64().unwrap() as i32;
        draws(&Gaussian::scaled(float(&entry["sigma2"]), log2_granularity).unwrap(), &entry);
    }
}
