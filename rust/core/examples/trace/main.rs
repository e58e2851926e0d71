//! Compares the paths that fills with different keys take through the program, instruction by instruction and address by address
//! (docs/evidence/timing.md).
//!
//! It runs on the processor itself, so it covers instructions that Valgrind does not know. scripts/test_trace.sh runs it; exit status 1 if paths
//! differ, or if a control's paths do not.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[path = "../common/cases.rs"]
mod cases;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tracer;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn main() -> std::process::ExitCode {
    check::all()
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn main() {
    println!("skipped: the tracer is written for Linux on x86-64");
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod check {
    use std::any::type_name;
    use std::collections::BTreeSet;
    use std::hint::black_box;
    use std::process::ExitCode;
    use std::sync::atomic::{AtomicU64, Ordering};

    use stairnoise::{
        Answer, Generator, Holds, Kind, Mechanism, OneWordMechanism, Parameters, PartitionSelection, PerElement, Shape, Shapes,
        TruncatedStaircase, Value, cpu_tier, probe,
    };

    use crate::cases::{KERNELS, MECHANISMS, answers, one_by_one};
    use crate::tracer::{Path, Tracer};

    /// A whole block and a rest. A step takes microseconds, so most fills must have no value on the slow path.
    const LONG: usize = 64 + 21;
    /// Fills of up to this many values draw them one by one.
    const SHORT: usize = 8;
    /// The number of a case's keys.
    const KEYS: usize = 8;
    /// If fewer keys have the same verdicts, the case compares too few paths and fails.
    const MIN_ALIKE: usize = 4;

    /// A digest of the verdicts that the module `declassify` makes public.
    static VERDICTS: AtomicU64 = AtomicU64::new(0);

    fn hook(word: &mut u64) {
        let digest = VERDICTS.load(Ordering::Relaxed);
        VERDICTS.store(
            (digest.rotate_left(5) ^ word.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            Ordering::Relaxed,
        );
    }

    struct Report {
        tracer: Tracer,
        failures: usize,
    }

    impl Report {
        /// Runs `work` with one key after another. Keys with the same verdicts must have the same path; a control's paths must differ.
        fn case(&mut self, name: &str, control: bool, work: impl Fn(u8)) {
            let (mut verdicts, mut paths) = ([0; KEYS], [Path::default(); KEYS]);
            // The first runs do not count: they compute results that are then cached, and bring the allocator to use the same place every time.
            self.tracer.path(|| work(0));
            (0..100).for_each(|_| work(0));
            for key in 0..KEYS {
                VERDICTS.store(0, Ordering::Relaxed);
                paths[key] = self.tracer.path(|| work(key as u8));
                verdicts[key] = VERDICTS.load(Ordering::Relaxed);
            }
            let alike = |i: usize| (0..KEYS).filter(move |j| verdicts[*j] == verdicts[i]);
            let most = (0..KEYS).map(|i| alike(i).count()).max().unwrap_or(0);
            let others = (0..KEYS).filter(|i| alike(*i).any(|j| paths[j] != paths[*i])).count();
            let right = most >= MIN_ALIKE && (others > 0) == control;
            self.failures += usize::from(!right);
            let verdict = if right { "ok" } else { "FAILED" };
            let longest = paths.iter().map(|path| path.instructions).max().unwrap_or(0);
            println!(
                "{verdict:6} {name}: {others} other paths; {most} of {KEYS} keys with the same verdicts, {longest} instructions"
            );
        }
    }

    pub fn all() -> ExitCode {
        probe::DECLASSIFY.set(hook).expect("set once");
        println!(
            "instruction set: {}",
            cpu_tier().expect("STAIRNOISE_CPU names one of this processor's")
        );
        let mut report = Report {
            tracer: Tracer::new(),
            failures: 0,
        };
        cases(&mut report);
        println!("{} failures", report.failures);
        if report.failures == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    fn cases(report: &mut Report) {
        controls(report);
        let (mut kernels, mut first_levels) = (BTreeSet::new(), BTreeSet::new());
        for (kind, eps, sensitivity) in MECHANISMS {
            let mechanism = OneWordMechanism::new(kind, eps, sensitivity, Shape::L1).expect("valid parameters");
            let (first_level, kernel) = (probe::first_level(&mechanism), probe::kernel(&mechanism));
            kernels.insert(kernel);
            first_levels.insert(first_level);
            let name = format!("{kind:?}({eps}, {sensitivity}), {first_level} and {kernel}");
            for n in [SHORT, LONG] {
                fill::<f64>(report, &name, &mechanism, n);
                fill::<i32>(report, &name, &mechanism, n);
                let answers = answers(n, mechanism.granularity());
                release::<_, _, f64>(report, &name, &mechanism, &answers);
                let counts: Vec<i64> = (0..n).map(|i| [0, -3, 1_000_000, i64::MAX][i % 4]).collect();
                // Only a mechanism of integers can be released into integers.
                if mechanism.granularity() == 1.0 {
                    release::<_, _, i64>(report, &name, &mechanism, &counts);
                }
            }
        }
        assert_eq!(kernels.len(), KERNELS, "a mechanism for every kernel: {kernels:?}");
        assert!(first_levels.into_iter().eq(probe::first_levels().iter().copied()));
        truncated(report);
        partitions(report);
        parameters_by_the_value(report);
    }

    /// Truncated staircases of every kernel and in fixed point, centred and not.
    fn truncated(report: &mut Report) {
        for (eps, lower) in [
            (4.0, None),
            (4.0, Some(0.0)),
            (1.0, Some(0.0)),
            (0.1, Some(0.0)),
            (1e-4, Some(0.0)),
        ] {
            let mechanism = TruncatedStaircase::new(eps, 1e-6, 1.0, 0.4, lower, None).expect("valid parameters");
            let name = format!("TruncatedStaircase({eps}, {lower:?})");
            for n in [SHORT, LONG] {
                fill::<f64>(report, &name, &mechanism, n);
                release::<_, _, f64>(report, &name, &mechanism, &answers(n, mechanism.granularity()));
            }
        }
    }

    /// Few thresholds, which are counted; a search would depend on every word.
    fn partitions(report: &mut Report) {
        let mechanism = PartitionSelection::new(1.0, 1e-6, 1).expect("valid parameters");
        mechanism.prepare().expect("memory for thresholds");
        let counts: [i64; LONG] = std::array::from_fn(|i| i as i64 % 40);
        report.case("partitions, shown", false, |key| {
            let mut out = [false; LONG];
            mechanism.select(&mut generator(key), &counts, &mut out).expect("good counts");
            black_box(out);
        });
        report.case("partitions, released", false, |key| {
            let mut out = [0; LONG];
            mechanism
                .release(&mut generator(key), &counts, &mut out)
                .expect("good counts");
            black_box(out);
        });
    }

    fn generator(key: u8) -> Generator {
        Generator::from_key(black_box(&[key; 32]))
    }

    fn fill<T: Value>(report: &mut Report, name: &str, mechanism: &impl Mechanism, n: usize) {
        let name = format!("{name}, {n} {}", type_name::<T>());
        report.case(&name, false, |key| {
            let mut out = [T::default(); LONG];
            let fill = mechanism.next_fill(&mut generator(key), n).expect("fills are left");
            fill.write(0, &mut out[..n]).expect("memory for a part");
            black_box(out);
        });
    }

    fn release<L: Mechanism, A: Answer, T: Holds<L>>(report: &mut Report, name: &str, mechanism: &L, answers: &[A]) {
        let name = format!("{name}, release of {} {}", answers.len(), type_name::<T>());
        report.case(&name, false, |key| {
            let mut out = [T::default(); LONG];
            mechanism
                .release(&mut generator(key), answers, &mut out[..answers.len()])
                .expect("finite answers");
            black_box(out);
        });
    }

    fn parameters_by_the_value(report: &mut Report) {
        for kind in [Kind::Staircase, Kind::DiscreteStaircase, Kind::Laplace, Kind::DiscreteLaplace] {
            let eps: Vec<f64> = (0..LONG).map(|i| 0.1 + (i % 50) as f64 / 10.0).collect();
            let parameters = Parameters {
                eps: &eps,
                sensitivity: &[3.0; LONG],
                shape: Shapes::Same(Shape::L1),
            };
            report.case(&format!("{kind:?}, parameters by the value"), false, |key| {
                let fill = generator(key).next(LONG).expect("fills are left");
                let mut out = [0.0_f64; LONG];
                PerElement::new(kind)
                    .write(&fill, 0, &mut out, &parameters)
                    .expect("valid parameters");
                black_box(out);
            });
        }
    }

    /// Controls that the check must find: a table, a branch.
    fn controls(report: &mut Report) {
        let table: Vec<f64> = (0..256).map(|i| -(f64::from(i) / 256.0).ln()).collect();
        report.case("control: a table", true, |key| {
            of_words(key, |word| table[(word >> 56) as usize]);
        });
        report.case("control: counting thresholds one by one", true, |key| {
            of_words(key, one_by_one);
        });
    }

    fn of_words(key: u8, draw: impl Fn(u64) -> f64) {
        let mut words = [0_u64; 64];
        generator(key).next(64).expect("fills are left").keystream(0, &mut words);
        black_box(words.map(draw));
    }
}
