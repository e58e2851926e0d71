//! The taint check of mechanisms with several draws for a value, of truncated staircases, vectors and selections.

use stairnoise::{IntegerMechanism, Mechanism, PartitionSelection, Selection, Value};

use crate::cases::answers;
use crate::check::{Report, release_modulo, secret};
use crate::examples::examples;
use crate::valgrind;

/// Values of a long fill: a batch and a part of another.
const LONG: usize = 8 * 512 + 3 * 64 + 38;
/// Values of a short fill, which takes another path.
const SHORT: usize = 6;

pub fn all(report: &mut Report) {
    for (name, mechanism) in examples().expect("valid parameters") {
        every_output(report, &name, &mechanism);
    }
    selection(report);
    partitions(report);
}

fn selection(report: &mut Report) {
    let costs: Vec<f64> = (0..700).map(|i| f64::from(i % 37) / 8.0).collect();
    let mechanisms = [
        ("staircase", Selection::staircase(1.0, 1.0, 0.5, false)),
        ("exponential", Selection::exponential(1.0, 1.0, false)),
        ("permute-and-flip", Selection::permute_and_flip(1.0, 1.0, false)),
    ];
    for (name, mechanism) in mechanisms {
        let mechanism = mechanism.expect("valid parameters");
        report.case(&format!("selection, {name}, from rows"), true, || {
            let mut out = [0_i64; 7];
            mechanism.select(&mut secret(1), &costs, &mut out).expect("finite costs");
            (valgrind::secrets(&out), out.len())
        });
        report.case(&format!("selection, {name}, several"), true, || {
            let mut out = [0_i64; 70];
            mechanism.top(&mut secret(3), &costs, 10, &mut out).expect("finite costs");
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

/// Few thresholds, which are counted, and more thresholds, where words become public for the search.
fn partitions(report: &mut Report) {
    let counts: Vec<i64> = (0..2000).map(|i| 1 + i % 40).collect();
    for (name, eps) in [("counted", 1.0), ("searched", 0.02)] {
        let mechanism = PartitionSelection::new(eps, 1e-6, 1).expect("valid parameters");
        report.case(&format!("partitions, {name} thresholds, shown"), true, || {
            let mut out = vec![false; counts.len()];
            mechanism.select(&mut secret(3), &counts, &mut out).expect("good counts");
            (valgrind::secrets(&out), out.len())
        });
        report.case(&format!("partitions, {name} thresholds, released"), true, || {
            let mut out = vec![0; counts.len()];
            mechanism.release(&mut secret(4), &counts, &mut out).expect("good counts");
            (valgrind::secrets(&out), out.len())
        });
    }
}

fn every_output(report: &mut Report, name: &str, mechanism: &impl IntegerMechanism) {
    for n in [SHORT, LONG] {
        report.case(&format!("{name}, {n} float64"), true, || fill::<f64>(mechanism, n));
        report.case(&format!("{name}, {n} int64"), true, || fill::<i64>(mechanism, n));
        report.case(&format!("{name}, release of {n} float64"), true, || {
            let answers = answers(n, mechanism.granularity());
            let mut out = vec![0.0_f64; n];
            mechanism.release(&mut secret(n), &answers, &mut out).expect("finite answers");
            (valgrind::secrets(&out), n)
        });
        if mechanism.log2_granularity() == 0 {
            report.case(&format!("{name}, release of {n} modulo a prime"), true, || {
                release_modulo(mechanism, &mut secret(n), &vec![-7; n], (1 << 61) - 1)
            });
        }
    }
}

fn fill<T: Value>(mechanism: &impl Mechanism, n: usize) -> (usize, usize) {
    let mut out = vec![T::default(); n];
    // Values are in lattice steps if the mechanism is not one of integers.
    let fill = mechanism.next_fill(&mut secret(n), n).expect("fills are left");
    fill.write(0, &mut out).expect("memory for a part");
    (valgrind::secrets(&out), n)
}
