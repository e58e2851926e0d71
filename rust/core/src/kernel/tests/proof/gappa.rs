//! The same bounds for Gappa, a checker that shares nothing with [`Bounded`](super::bounded::Bounded): `make test-gappa`.
//!
//! The formulas run on [`Symbol`](symbol::Symbol), which writes down each operation. The scripts are that text with the bounds of the source, written
//! when they are checked. What series leave is a hypothesis of the scripts; series.v states it for Coq.

mod exponentials;
mod logarithms;
mod script;
mod series;
mod single;
mod symbol;
mod tolerances;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

/// SHA-256 of the scripts without their comments, as Gappa last proved them.
const PROVEN: &str = "19de332f981d4f986905557885e4fa58a70a9f7db43986fdcaf1288bd87d8297";

/// Evidence: the digest. With `STAIRNOISE_WRITE_GAPPA` the scripts are written to that folder instead (`scripts/test_gappa.py`).
#[test]
fn scripts_are_those_that_gappa_proved() {
    let scripts = [logarithms::scripts(), exponentials::scripts(), tolerances::scripts()].concat();
    let count = scripts.len();
    let scripts = BTreeMap::from_iter(scripts);
    assert_eq!(scripts.len(), count, "two scripts have one name");
    let folder = std::env::var_os("STAIRNOISE_WRITE_GAPPA");
    let mut digest = Sha256::new();
    for (name, text) in &scripts {
        assert!(
            text.contains("; not ") || text.contains("# not "),
            "{name} has no bound that Gappa must refuse"
        );
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            digest.update(line);
            digest.update("\n");
        }
        if let Some(folder) = &folder {
            fs::write(Path::new(folder).join(name).with_extension("gappa"), text).unwrap();
        }
    }
    let digest = digest.finalize();
    let found = digest.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    assert!(
        folder.is_some() || found == PROVEN,
        "the scripts changed: run `make test-gappa`, then set PROVEN to {found}"
    );
}

/// Evidence: equality of text. With `STAIRNOISE_WRITE_PROOFS` it writes the file instead (`make proofs`).
#[test]
fn series_are_those_of_the_source() {
    let (path, text) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs/series.v"), series::text());
    if std::env::var_os("STAIRNOISE_WRITE_PROOFS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "series.v is not what the source gives: `make proofs`, then `make test-gappa-coq`"
    );
}
