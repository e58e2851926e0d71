//! The fuzz targets of `rust/fuzz` on inputs that need no fuzzer: its corpus, and a number of bytes at random, the same in every run.
//!
//! Evidence: each target compares the crate with a second opinion (the contract's words and the exact path, values one at a time, a naive
//! rule); what it compares stands in its file. `STAIRNOISE_FUZZ_INPUTS` sets the number of inputs at random.

mod targets;

use std::path::Path;

/// Inputs at random for a target: some seconds for all of them.
const INPUTS: usize = if cfg!(miri) { 2 } else { 300 };

/// The generator's first state, more by the length of a target's name. Miri's are inputs of laws without long tables, which take it hours.
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

at_random!(parameters, fill, release, each, staged, vectors, selection);

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn the_corpus_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    for (name, run) in targets::ALL {
        let mut inputs = 0;
        for entry in std::fs::read_dir(corpus.join(name)).expect("a corpus for each target") {
            let path = entry.expect("a readable folder").path();
            run(&std::fs::read(&path).expect("a readable input"));
            inputs += 1;
        }
        assert!(inputs > 0, "{name} has an empty corpus");
    }
}

/// Each target has a test above and a program of its own.
#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn every_target_is_tested_and_fuzzed() {
    let names: Vec<&str> = targets::ALL.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, TESTED);
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/fuzz_targets");
    for name in names {
        assert!(programs.join(name).with_extension("rs").is_file(), "{name}");
    }
}
