//! Taint check on memcheck (docs/evidence/timing.md): the key is secret, and no branch or address may depend on it, except through the verdicts
//! of the core's `declassify.rs`. scripts/test_taint.sh runs it; exit status 1 if anything is found, or if a control is not.

#[cfg(target_arch = "x86_64")]
#[path = "../common/cases.rs"]
mod cases;
#[cfg(target_arch = "x86_64")]
#[path = "../common/several_draws.rs"]
mod examples;
#[cfg(target_arch = "x86_64")]
mod several_draws;
#[cfg(target_arch = "x86_64")]
mod valgrind;

#[cfg(target_arch = "x86_64")]
fn main() -> std::process::ExitCode {
    check::all()
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("skipped: the client requests are written for x86-64");
}

#[cfg(target_arch = "x86_64")]
mod check {
    use std::collections::BTreeSet;
    use std::hint::black_box;
    use std::process::ExitCode;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use stairnoise::{
        Answer, DiscreteGaussians, GaussianParameters, Generator, Holds, IntegerMechanism, Kind, Mechanism, Modulus,
        OneWordMechanism, Parameters, PerElement, Shape, Shapes, Tile, Value, cpu_tier, probe,
    };

    use crate::cases::{KERNELS, MECHANISMS, answers, one_by_one};
    use crate::{several_draws, valgrind};

    /// Values of a long fill: whole blocks and a rest, and so many that some take the slow path.
    const LONG: usize = 40 * 512 + 3 * 64 + 37;
    /// Fills of up to this many values draw them one by one.
    const SHORT: usize = 8;

    static DECLASSIFY: AtomicBool = AtomicBool::new(true);
    static DECLASSIFIED: AtomicU64 = AtomicU64::new(0);

    fn hook(word: &mut u64) {
        if DECLASSIFY.load(Ordering::Relaxed) {
            DECLASSIFIED.fetch_add(1, Ordering::Relaxed);
            valgrind::declassify(word);
        }
    }

    /// A generator whose key is secret.
    pub fn secret(number: usize) -> Generator {
        let mut key = [number as u8; 32];
        valgrind::classify(&mut key);
        Generator::from_key(black_box(&key))
    }

    pub struct Report {
        failures: usize,
    }

    impl Report {
        /// Runs `work`, which returns the numbers of secret results and of all results. A `clean` case must have no dependences, a control some.
        pub fn case(&mut self, name: &str, clean: bool, work: impl FnOnce() -> (usize, usize)) {
            eprintln!("==== {name}");
            let (before, declassified) = (valgrind::errors(), DECLASSIFIED.load(Ordering::Relaxed));
            let (secret, all) = work();
            let found = valgrind::errors() - before;
            let declassified = DECLASSIFIED.load(Ordering::Relaxed) - declassified;
            // The slow path makes its results public. All others must still be secret, or the check would check nothing.
            let right = (found == 0) == clean && 100 * secret >= 99 * all;
            self.failures += usize::from(!right);
            let verdict = if right { "ok" } else { "FAILED" };
            println!("{verdict:6} {name}: {found} dependences, {declassified} verdicts, {secret} of {all} results secret");
        }
    }

    pub fn all() -> ExitCode {
        if !valgrind::is_here() {
            eprintln!("this program checks something on Valgrind only: scripts/test_taint.sh");
            return ExitCode::FAILURE;
        }
        probe::DECLASSIFY.set(hook).expect("set once");
        probe::CLASSIFY.set(valgrind::classify_word).expect("set once");
        println!(
            "instruction set: {}",
            cpu_tier().expect("STAIRNOISE_CPU names one of this processor's")
        );
        let mut report = Report { failures: 0 };
        let (mut kernels, mut first_levels) = (BTreeSet::new(), BTreeSet::new());
        for (number, (kind, eps, sensitivity)) in MECHANISMS.into_iter().enumerate() {
            let mechanism = OneWordMechanism::new(kind, eps, sensitivity, Shape::L1).expect("valid parameters");
            let (first_level, kernel) = (probe::first_level(&mechanism), probe::kernel(&mechanism));
            kernels.insert(kernel);
            first_levels.insert(first_level);
            let name = format!("{kind:?}({eps}, {sensitivity}), {first_level} and {kernel}");
            every_output(&mut report, &name, &mechanism, number);
        }
        assert_eq!(kernels.len(), KERNELS, "a mechanism for every kernel: {kernels:?}");
        assert!(first_levels.into_iter().eq(probe::first_levels().iter().copied()));
        parameters_by_the_value(&mut report);
        gaussians_by_the_value(&mut report);
        several_draws::all(&mut report);
        controls(&mut report);
        println!("{} failures", report.failures);
        if report.failures == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    fn every_output(report: &mut Report, name: &str, mechanism: &OneWordMechanism, number: usize) {
        report.case(&format!("{name}, a tile of float64"), true, || tile(mechanism, number));
        for n in [SHORT, LONG] {
            report.case(&format!("{name}, {n} float64"), true, || fill::<f64>(mechanism, number, n));
            report.case(&format!("{name}, {n} float32"), true, || fill::<f32>(mechanism, number, n));
            report.case(&format!("{name}, {n} int64"), true, || fill::<i64>(mechanism, number, n));
            report.case(&format!("{name}, {n} int32"), true, || fill::<i32>(mechanism, number, n));
            let answers = answers(n, mechanism.granularity());
            report.case(&format!("{name}, release of {n} float64"), true, || {
                release::<_, f64>(mechanism, number, &answers)
            });
            report.case(&format!("{name}, release of {n} float32"), true, || {
                release::<_, f32>(mechanism, number, &answers)
            });
            // Only a mechanism of integers can be released into integers.
            if mechanism.granularity() != 1.0 {
                continue;
            }
            let counts: Vec<i64> = (0..n).map(|i| [0, -3, 1_000_000, i64::MAX][i % 4]).collect();
            report.case(&format!("{name}, release of {n} int64"), true, || {
                release::<_, i64>(mechanism, number, &counts)
            });
            report.case(&format!("{name}, release of {n} int32"), true, || {
                release::<_, i32>(mechanism, number, &counts)
            });
            for m in [1_000_003, (1 << 64) - 59, 1 << 64] {
                report.case(&format!("{name}, release of {n} modulo {m}"), true, || {
                    release_modulo(mechanism, &mut secret(number), &counts, m)
                });
            }
        }
    }

    pub fn release_modulo(
        mechanism: &impl IntegerMechanism,
        generator: &mut Generator,
        answers: &[i64],
        m: u128,
    ) -> (usize, usize) {
        let mut out = vec![0_u64; answers.len()];
        let modulus = Modulus::new(m).expect("up to 2**64");
        mechanism
            .release_modulo(generator, answers, modulus, &mut out)
            .expect("a mechanism of integers");
        (valgrind::secrets(&out), out.len())
    }

    fn fill<T: Value>(mechanism: &OneWordMechanism, number: usize, n: usize) -> (usize, usize) {
        let mut out = vec![T::default(); n];
        // Values are in lattice steps if the mechanism is not one of integers.
        let fill = mechanism.next_fill(&mut secret(number), n).expect("fills are left");
        fill.write(0, &mut out).expect("memory for a part");
        (valgrind::secrets(&out), n)
    }

    fn tile(mechanism: &OneWordMechanism, number: usize) -> (usize, usize) {
        let fill = mechanism.next_fill(&mut secret(number), 800).expect("fills are left");
        let mut tiles = fill.in_tiles::<f64>(100).expect("one word a value, and even rows");
        let tile = Tile {
            first: 0,
            pitch: 100,
            rows: 8,
            columns: 70,
        };
        let values = tiles.draw(&tile);
        (valgrind::secrets(values), values.len())
    }

    fn release<A: Answer, T: Holds<OneWordMechanism>>(
        mechanism: &OneWordMechanism,
        number: usize,
        answers: &[A],
    ) -> (usize, usize) {
        let mut out = vec![T::default(); answers.len()];
        mechanism
            .release(&mut secret(number), answers, &mut out)
            .expect("finite answers");
        (valgrind::secrets(&out), out.len())
    }

    fn parameters_by_the_value(report: &mut Report) {
        for kind in [Kind::Staircase, Kind::DiscreteStaircase, Kind::Laplace, Kind::DiscreteLaplace] {
            let eps: Vec<f64> = (0..LONG).map(|i| 0.1 + (i % 50) as f64 / 10.0).collect();
            let parameters = Parameters {
                eps: &eps,
                sensitivity: &vec![3.0; LONG],
                shape: Shapes::Same(Shape::L1),
            };
            report.case(&format!("{kind:?}, parameters by the value"), true, || {
                let fill = secret(1).next(LONG).expect("fills are left");
                let mut out = vec![0.0_f64; LONG];
                PerElement::new(kind)
                    .write(&fill, 0, &mut out, &parameters)
                    .expect("valid parameters");
                (valgrind::secrets(&out), LONG)
            });
            report.case(&format!("{kind:?}, release, parameters by the value"), true, || {
                let fill = secret(2).next(LONG).expect("fills are left");
                let mut out = vec![0.0_f64; LONG];
                let answers = vec![0.25; LONG];
                let mut mechanisms = PerElement::new(kind);
                mechanisms
                    .release_part(&fill, 0, &answers, &mut out, &parameters)
                    .expect("valid parameters");
                (valgrind::secrets(&out), LONG)
            });
        }
    }

    fn gaussians_by_the_value(report: &mut Report) {
        let parameters = GaussianParameters {
            sigma2: &(0..LONG).map(|i| [1e20, 3e21, 100.0 + i as f64][i % 3]).collect::<Vec<_>>(),
            log2_granularity: &vec![-33; LONG],
        };
        report.case("DiscreteGaussians, parameters by the value", true, || {
            let fill = secret(3).next(LONG).expect("fills are left");
            let mut out = vec![0.0_f64; LONG];
            DiscreteGaussians::new()
                .write(&fill, 0, &mut out, &parameters)
                .expect("valid parameters");
            (valgrind::secrets(&out), LONG)
        });
        report.case("DiscreteGaussians, release, parameters by the value", true, || {
            let fill = secret(4).next(LONG).expect("fills are left");
            let (answers, mut out) = (vec![0.25; LONG], vec![0.0_f64; LONG]);
            DiscreteGaussians::new()
                .release_part(&fill, 0, &answers, &mut out, &parameters)
                .expect("valid parameters");
            (valgrind::secrets(&out), LONG)
        });
    }

    /// Controls that the check must find: the product with its verdicts still secret, a table, a branch.
    fn controls(report: &mut Report) {
        DECLASSIFY.store(false, Ordering::Relaxed);
        for (number, (kind, eps, sensitivity)) in MECHANISMS.into_iter().enumerate() {
            let mechanism = OneWordMechanism::new(kind, eps, sensitivity, Shape::L1).expect("valid parameters");
            let name = format!("control: {kind:?}({eps}, {sensitivity}), verdicts secret");
            report.case(&name, false, || fill::<f64>(&mechanism, number, LONG));
        }
        DECLASSIFY.store(true, Ordering::Relaxed);
        let table: Vec<f64> = (0..256).map(|i| -(f64::from(i) / 256.0).ln()).collect();
        report.case("control: a table", false, || {
            of_words(|word| table[(word >> 56) as usize] * (word & 1) as f64)
        });
        report.case("control: counting thresholds one by one", false, || of_words(one_by_one));
    }

    fn of_words(draw: impl Fn(u64) -> f64) -> (usize, usize) {
        let mut words = [0_u64; 64];
        secret(3).next(64).expect("fills are left").keystream(0, &mut words);
        let out = words.map(draw);
        (valgrind::secrets(&out), out.len())
    }
}
