//! Runs the fuzz targets of `rust/fuzz` without a fuzzer, on its corpus and on random bytes that are the same in every run.
//!
//! A target compares the crate with an independent result: the contract's words and the exact path, values one at a time, or a naive rule.
//! A target's file describes the comparison. `STAIRNOISE_FUZZ_INPUTS` sets the number of random inputs.

pub(crate) mod targets;

use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};

/// Random inputs for each target. All targets take some seconds.
const INPUTS: usize = if cfg!(miri) { 2 } else { 300 };

/// A target's generator starts at this plus the length of the target's name. Miri would take hours for long tables; its seed gives mechanisms
/// without long tables.
const SEED: u64 = if cfg!(miri) { 342_000 } else { 0 };

const MOST_BYTES: u64 = if cfg!(miri) { 40 } else { 512 };

fn inputs() -> usize {
    std::env::var("STAIRNOISE_FUZZ_INPUTS").map_or(INPUTS, |number| number.parse().expect("a number"))
}

/// A linear congruential generator (Knuth 1998, section 3.2.1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0 >> 32
    }
}

fn target(name: &str) -> targets::Run {
    targets::ALL
        .iter()
        .find(|(known, _)| *known == name)
        .expect("a target's name")
        .1
}

fn at_random(name: &str) {
    let mut random = Random(SEED + name.len() as u64);
    let run = target(name);
    for _ in 0..inputs() {
        let length = random.next() % MOST_BYTES;
        let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        run(&bytes);
    }
}

macro_rules! at_random {
    ($($name:ident),*) => {
        $(
            #[test]
            fn $name() {
                at_random(stringify!($name));
            }
        )*

        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

at_random!(
    parameters,
    fill,
    release,
    per_element,
    gaussians,
    staged,
    vectors,
    selection,
    partitions,
    truncated
);

/// The folder of the fuzz targets' programs and kept inputs; `None` in the published crate.
fn programs() -> Option<PathBuf> {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if crate_root.join("Cargo.toml.orig").exists() {
        // Tests' output is captured, so this goes to the process's own stream.
        let _ = writeln!(
            stderr(),
            "NOT RUN: the fuzz corpus is in the repository, and not in the published crate"
        );
        return None;
    }
    Some(crate_root.join("../fuzz"))
}

/// The kept inputs of a target, from lines of hexadecimal digits.
fn kept(programs: &Path, name: &str) -> Vec<Vec<u8>> {
    let text =
        std::fs::read_to_string(programs.join("corpus").join(name).with_extension("hex")).expect("a corpus for each target");
    text.lines().map(bytes).collect()
}

fn bytes(digits: &str) -> Vec<u8> {
    let pair = |place| u8::from_str_radix(&digits[place..place + 2], 16).expect("two hexadecimal digits");
    (0..digits.len()).step_by(2).map(pair).collect()
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn the_corpus_passes() {
    let Some(programs) = programs() else { return };
    for (name, run) in targets::ALL {
        let inputs = kept(&programs, name);
        assert!(!inputs.is_empty(), "{name} has an empty corpus");
        for input in inputs {
            run(&input);
        }
    }
}

/// Every target has a test above and its own program.
#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn every_target_is_tested_and_fuzzed() {
    let names: Vec<&str> = targets::ALL.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, TESTED);
    let Some(programs) = programs() else { return };
    for name in names {
        assert!(
            programs.join("fuzz_targets").join(name).with_extension("rs").is_file(),
            "{name}"
        );
    }
}
