//! The example `noise_csv`: the printed table, and refusals.
//!
//! Evidence: at ε = 50 noise other than 0 has probability 4·10⁻²² a cell, so the table is known; at ε = 0.01 twenty cells without noise have
//! probability 10⁻⁴⁶. Errors are searched for the cells' contents.

#[allow(dead_code, reason = "the test calls what `main` calls")]
#[path = "../examples/noise_csv.rs"]
mod example;

use std::fs;
use std::path::PathBuf;

/// A test's file, removed at the end of the test.
struct Table(PathBuf);

impl Table {
    fn new(name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = std::env::temp_dir().join(format!("stairnoise-{}-{name}.csv", std::process::id()));
        fs::write(&path, text).unwrap();
        Self(path)
    }

    fn noised(&self, options: &[&str]) -> Result<String, String> {
        let file = self.0.to_str().unwrap();
        let arguments: Vec<String> = [file].iter().chain(options).map(ToString::to_string).collect();
        let table = example::private_table(&arguments).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(table).unwrap())
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // The file may stay: it is in a folder for temporary files.
        let _ = fs::remove_file(&self.0);
    }
}

const ALMOST_NO_NOISE: [&str; 4] = ["--column", "people", "--eps", "50"];

#[test]
fn one_column_is_noised_and_the_others_are_kept() {
    let table = Table::new("kept", "place,people,note\nnorth,120,\"a, \"\"b\"\"\"\nsouth,-45,\n");
    assert_eq!(
        table.noised(&ALMOST_NO_NOISE).unwrap(),
        "place,people,note\nnorth,120,\"a, \"\"b\"\"\"\nsouth,-45,\n"
    );
    let rows = "zero,0\n".repeat(20);
    let table = Table::new("noise", format!("place,people\n{rows}"));
    let noised = table
        .noised(&["--eps", "0.01", "--column", "people", "--sensitivity", "2"])
        .unwrap();
    let counts: Vec<i64> = noised.lines().skip(1).map(|line| line[5..].parse().unwrap()).collect();
    assert!(counts.len() == 20 && counts.iter().any(|count| *count != 0), "{noised}");
    let empty = Table::new("empty", "place,people\n");
    assert_eq!(empty.noised(&ALMOST_NO_NOISE).unwrap(), "place,people\n");
}

#[test]
fn what_is_refused_is_named_by_its_place() {
    let refused = |name: &str, text: &[u8]| {
        let error = Table::new(name, text).noised(&ALMOST_NO_NOISE).unwrap_err();
        assert!(!error.contains("3797") && !error.contains("secret"), "{error}");
        error
    };
    let no_number = "line 3: column people must be an integer of 64 bits";
    for (name, cell) in [
        ("float", "3797.5"),
        ("text", "secret"),
        ("null", ""),
        ("long", "37970000000000000000"),
    ] {
        assert_eq!(refused(name, format!("people,place\n1,a\n{cell},b\n").as_bytes()), no_number);
    }
    assert_eq!(refused("bytes", b"people\n1\n\xff3797\n"), no_number);
    assert!(refused("short", b"place,people\nsecret,1\n3797\n").contains("line: 3"));
    assert_eq!(refused("none", b"place,secret\n"), "the header has no column people");
    assert_eq!(refused("twice", b"people,people\n"), "the header has column people twice");
}

#[test]
fn parameters_are_refused_by_their_rule() {
    let table = Table::new("parameters", "people\n1\n");
    let error = |options: &[&str]| table.noised(options).unwrap_err();
    for few in [
        &[][..],
        &["--eps", "1"],
        &["--column", "people"],
        &["--column"],
        &["--column", "people", "--eps"],
    ] {
        assert!(error(few).starts_with("usage: "));
    }
    assert!(error(&["--column", "people", "--eps", "1", "--what"]).starts_with("usage: "));
    assert_eq!(error(&["--column", "people", "--eps", "many"]), "--eps must be a number");
    assert!(error(&["--column", "people", "--eps", "-1"]).starts_with("eps must be finite and greater than 0"));
}
