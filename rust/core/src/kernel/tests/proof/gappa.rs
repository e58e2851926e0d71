//! The same bounds for Gappa, a checker that shares nothing with [`Bounded`](super::bounded::Bounded): `make test-gappa`.
//!
//! The formulas run on [`Symbol`](symbol::Symbol), which writes down each operation. The scripts in rust/core/proofs are that text with the bounds of the
//! source, and the test below fails if they are not. What series leave is a hypothesis of the scripts; series.v states it for Coq.

mod exponentials;
mod logarithms;
mod script;
mod series;
mod single;
mod symbol;
mod tolerances;

use std::fs;
use std::path::Path;

/// Each file's name, and its text.
fn files() -> Vec<(String, String)> {
    let scripts = [logarithms::scripts(), exponentials::scripts(), tolerances::scripts()].concat();
    let named = scripts.into_iter().map(|(name, text)| (format!("{name}.gappa"), text));
    named.chain([("series.v".into(), series::text())]).collect()
}

/// Evidence: equality of text. With STAIRNOISE_WRITE_PROOFS it writes the files instead (`make proofs`).
#[test]
fn scripts_are_those_of_the_source() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs");
    let write = std::env::var_os("STAIRNOISE_WRITE_PROOFS").is_some();
    let mut names = Vec::new();
    for (name, text) in files() {
        let path = folder.join(name);
        if write {
            fs::write(&path, &text).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == text,
            "{} is not what the source gives: `make proofs`, then `make test-gappa`",
            path.display()
        );
        names.push(path);
    }
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            path.extension().is_none_or(|ending| ending != "gappa") || names.contains(&path),
            "{} is no script of the source",
            path.display()
        );
    }
}
