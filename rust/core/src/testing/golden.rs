//! Evidence: golden vectors. Words, lattices and values computed by an oracle that shares no code with this crate
//! (`tests/oracles/`, exact rationals and interval arithmetic; format in `tests/vectors/README.md`).

pub(crate) mod several_draws;

use std::fs;
use std::io::{Write as _, stderr};
use std::path::Path;

use serde_json::Value as Json;

use crate::draw::Sampler;
use crate::exact::{self, IntegerDistribution, Staircase};
use crate::lattice::{Lattice, power_of_two};
use crate::selection::Candidates;
use crate::{
    Answer, AnyMechanism, DiscreteGaussian, DiscreteLaplace, DrawError, Generator, Holds, Kind, Mechanism, Modulus,
    OneWordMechanism, ParamError, Selection, Shape, Share, Skellam, largest_quotient,
};

pub(crate) fn vectors(name: &str) -> Vec<Json> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    if is_packaged() && !folder.exists() {
        // Past the capture of what tests print.
        let _ = writeln!(
            stderr(),
            "NOT RUN: {name} is in the repository, and not in the crate as it is published"
        );
        return Vec::new();
    }
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let text = if cfg!(miri) { some_lines(&text) } else { text };
    let entries: Vec<Json> = serde_json::from_str(&text).unwrap();
    assert!(!entries.is_empty());
    entries
}

/// Whether this is the crate as it is published: cargo keeps the manifest as it was written beside the one that it makes.
pub(crate) fn is_packaged() -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml.orig").exists()
}

/// Entries and cases spread over a file, for an interpreter that takes a thousand times as long. An entry is a line.
fn some_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| line.len() > 1).collect();
    let some: Vec<&str> = spread(&lines, 3).map(|line| line.trim_end_matches(',')).collect();
    format!("[{}]", some.join(","))
}

fn spread<T>(all: &[T], most: usize) -> impl Iterator<Item = &T> {
    all.iter().step_by(all.len().div_ceil(most).max(1))
}

/// An entry's `cases`: all of them, or some under Miri.
fn cases(entry: &Json) -> impl Iterator<Item = &Json> {
    let all = list(&entry["cases"]);
    spread(all, if cfg!(miri) { 5 } else { all.len().max(1) })
}

pub(crate) fn list(json: &Json) -> &[Json] {
    json.as_array().unwrap()
}

pub(crate) fn word(json: &Json) -> u64 {
    u64::from_str_radix(json.as_str().unwrap(), 16).unwrap()
}

pub(crate) fn float(json: &Json) -> f64 {
    f64::from_bits(word(json))
}

pub(crate) fn whole(json: &Json) -> u64 {
    json.as_u64().unwrap()
}

/// Bytes from hexadecimal digits.
pub(crate) fn bytes(json: &Json) -> Vec<u8> {
    let digits = json.as_str().unwrap();
    let byte = |place| u8::from_str_radix(&digits[place..place + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn key(json: &Json) -> [u8; 32] {
    bytes(json).try_into().unwrap()
}

fn kind(json: &Json) -> Kind {
    match json.as_str().unwrap() {
        "staircase" => Kind::Staircase,
        "discrete_staircase" => Kind::DiscreteStaircase,
        "laplace" => Kind::Laplace,
        "discrete_laplace" => Kind::DiscreteLaplace,
        other => panic!("{other}"),
    }
}

fn shape(json: &Json) -> Shape {
    match json.as_str() {
        None | Some("l1") => Shape::L1,
        Some("l2") => Shape::L2,
        Some(_) => Shape::Number(float(json)),
    }
}

fn mechanism(entry: &Json) -> OneWordMechanism {
    let (eps, sensitivity) = (float(&entry["eps"]), float(&entry["sensitivity"]));
    OneWordMechanism::new(kind(&entry["kind"]), eps, sensitivity, shape(&entry["shape"])).unwrap()
}

fn seeded(entry: &Json) -> Generator {
    Generator::from_seed(entry["seed"].as_str().unwrap().parse().unwrap()).allow_release()
}

#[test]
fn stream() {
    for entry in vectors("stream.json") {
        let mut generator = Generator::from_key(&key(&entry["key"]));
        if entry["seed"].is_string() {
            generator = seeded(&entry);
        }
        for case in list(&entry["words"]) {
            let fill = generator.fill_number(whole(&case[0]));
            assert_eq!(fill.stage(0).word(whole(&case[1])), word(&case[2]), "{case}");
        }
        for case in list(&entry["extensions"]) {
            let fill = generator.fill_number(whole(&case[0]));
            let got = fill.stage(0).extension(whole(&case[1]), whole(&case[2]) as usize);
            assert_eq!(got, word(&case[3]), "{case}");
        }
        let spawned: Vec<_> = (0..5).map(|_| generator.spawn().unwrap()).collect();
        for case in list(&entry["children"]) {
            let same = Generator::from_key(&key(&case[1]));
            if let Some(child) = usize::try_from(whole(&case[0])).ok().and_then(|number| spawned.get(number)) {
                assert_eq!(
                    child.fill_number(5).stage(0).word(9),
                    same.fill_number(5).stage(0).word(9),
                    "{case}"
                );
            }
        }
    }
}

#[test]
fn shapes() {
    for case in vectors("shapes.json") {
        let got = OneWordMechanism::new(kind(&case[0]), float(&case[1]), float(&case[2]), shape(&case[3]));
        match got {
            Ok(mechanism) => {
                assert!(!case[5].is_null(), "the contract refuses {case}");
                assert_eq!(
                    mechanism.granularity(),
                    power_of_two(case[4].as_i64().unwrap() as i32),
                    "{case}"
                );
                assert_eq!(mechanism.sensitivity_steps(), whole(&case[5]), "{case}");
                assert_eq!(mechanism.r().unwrap_or(0), whole(&case[6]), "{case}");
            }
            Err(ParamError::TooWide { .. } | ParamError::Granularity { .. }) => assert!(case[5].is_null(), "{case}"),
            Err(error) => panic!("{case}: {error}"),
        }
    }
}

#[test]
fn fills() {
    for entry in vectors("fills.json").into_iter().chain(vectors("near_edges.json")) {
        let mechanism = mechanism(&entry);
        let start = whole(&entry["index"]);
        let mut generator = seeded(&entry).at(start).unwrap();
        // Of 2⁴⁰ values and more: a view of them, whose first are drawn.
        let mut view = (0..=whole(&entry["fill"]))
            .map(|_| generator.next_view(whole(&entry["count"])).unwrap())
            .last()
            .unwrap();
        let expected: Vec<i64> = list(&entry["values"]).iter().map(|x| x.as_i64().unwrap()).collect();
        let mut steps = vec![0_i64; expected.len()];
        let fill = view.next(expected.len()).unwrap();
        mechanism.write(&fill, 0, &mut steps);
        assert_eq!(steps, expected, "{entry}");
        for (i, case) in list(&entry["words"]).iter().enumerate() {
            assert_eq!(fill.stage(0).word(i as u64), word(case), "{entry}");
            let consumed = whole(&entry["extensions"][i]);
            let mut asked = 0;
            mechanism.sampler().steps(fill.stage(0).word(i as u64), |e| {
                asked = asked.max(e as u64 + 1);
                fill.stage(0).extension(i as u64, e)
            });
            assert_eq!(asked, consumed, "extension words of value {i} of {entry}");
        }
    }
}

#[test]
fn boundaries() {
    for name in [
        "boundaries_geometric.json",
        "boundaries_staircase.json",
        "boundaries_gaussian.json",
    ] {
        for entry in vectors(name) {
            let mechanism = if entry["sigma2"].is_string() {
                let sigma2 = float(&entry["sigma2"]);
                IntegerDistribution::Gaussian { sigma2 }
            } else {
                let (eps, sensitivity_steps) = (float(&entry["eps"]), whole(&entry["cells"]));
                match whole(&entry["r"]) {
                    0 => IntegerDistribution::Geometric { eps, sensitivity_steps },
                    r => IntegerDistribution::Staircase(Staircase::new(eps, sensitivity_steps, r)),
                }
            };
            let sampler = Sampler::new(mechanism, Lattice::without_sensitivity(0));
            for case in cases(&entry) {
                let forced: Vec<u64> = list(&case[1]).iter().map(word).collect();
                let extension = |e| forced.get(e).copied().unwrap_or(0);
                let expected = case[3].as_i64().unwrap();
                assert_eq!(sampler.steps(word(&case[0]), extension), expected, "{mechanism:?} {case}");
                let magnitude = exact::magnitude(&mechanism, word(&case[0]) << 1 >> 1, &mut { extension });
                assert_eq!(
                    magnitude,
                    expected.unsigned_abs(),
                    "the exact path alone: {mechanism:?} {case}"
                );
            }
        }
    }
}

#[test]
fn selections() {
    of_selections("selection.json", Selection::exponential);
    of_selections("permute_and_flip.json", Selection::permute_and_flip);
}

fn of_selections(name: &str, without_gamma: fn(f64, f64, bool) -> Result<Selection, ParamError>) {
    for entry in vectors(name) {
        let (eps, sensitivity) = (float(&entry["eps"]), float(&entry["sensitivity"]));
        let monotonic = entry["monotonic"].as_bool().unwrap();
        let mechanism = match &entry["gamma"] {
            Json::Null => without_gamma(eps, sensitivity, monotonic),
            gamma => Selection::staircase(eps, sensitivity, float(gamma), monotonic),
        }
        .unwrap();
        let mut costs: Vec<f64> = list(&entry["costs"]).iter().map(float).collect();
        let mut multiplicities = Vec::new();
        if let Json::Array(numbers) = &entry["multiplicities"] {
            // A cost that stands for no candidate is infinite.
            for (cost, number) in costs.iter_mut().zip(numbers) {
                *cost = if whole(number) == 0 { f64::INFINITY } else { *cost };
                multiplicities.push(whole(number).max(1) as f64);
            }
        }
        let row = Candidates {
            costs: &costs,
            multiplicities: &multiplicities,
        };
        for again in [false, true] {
            let mut selector = mechanism.selector(again);
            let start = whole(&entry["index"]);
            let fill = seeded(&entry).fill_number(whole(&entry["fill"]));
            let mut out = vec![0; whole(&entry["count"]) as usize];
            let rows = std::iter::repeat((row.costs, row.multiplicities));
            selector.write_multiplied(&fill, start, rows, &mut out).unwrap();
            let expected: Vec<i64> = list(&entry["values"]).iter().map(|x| x.as_i64().unwrap()).collect();
            assert_eq!(out, expected, "{entry}");
            for case in cases(&entry) {
                let forced: Vec<u64> = list(&case[1]).iter().map(word).collect();
                let extension = |e: usize| forced.get(e).copied().unwrap_or(0);
                let index = selector.index(row, word(&case[0]), extension).unwrap();
                assert_eq!(index as u64, whole(&case[2]), "{mechanism:?} {costs:?} {case}");
            }
        }
    }
}

/// In one part, and in parts that begin and end within rows.
#[test]
fn top() {
    for entry in vectors("top.json") {
        let (eps, sensitivity) = (float(&entry["eps"]), float(&entry["sensitivity"]));
        let monotonic = entry["monotonic"].as_bool().unwrap();
        let mechanism = match &entry["gamma"] {
            Json::Null if entry["flips"].as_bool().unwrap() => Selection::permute_and_flip(eps, sensitivity, monotonic),
            Json::Null => Selection::exponential(eps, sensitivity, monotonic),
            gamma => Selection::staircase(eps, sensitivity, float(gamma), monotonic),
        }
        .unwrap();
        let costs: Vec<f64> = list(&entry["costs"]).iter().map(float).collect();
        let k = whole(&entry["k"]) as usize;
        let expected: Vec<i64> = list(&entry["values"]).iter().flat_map(integers).collect();
        let mut view = seeded(&entry).at(whole(&entry["index"])).unwrap();
        (0..whole(&entry["fill"])).for_each(|_| drop(view.next(0).unwrap()));
        let fill = view.next(expected.len()).unwrap();
        for part in [expected.len(), 1, 2, 3, 5] {
            let mut out = vec![0; expected.len()];
            let mut selector = mechanism.top_selector(k);
            for (first, part) in (0..).step_by(part).zip(out.chunks_mut(part)) {
                selector.write_top(&fill, first, |_| &costs[..], part).unwrap();
            }
            assert_eq!(out, expected, "{entry} in parts of {part}");
        }
        // The last value alone: the rounds before it are drawn again.
        let mut last = [0];
        let first = expected.len() as u64 - 1;
        mechanism
            .top_selector(k)
            .write_top(&fill, first, |_| &costs[..], &mut last)
            .unwrap();
        assert_eq!(last[..], expected[first as usize..], "{entry}");
    }
}

/// What calls on one generator give, one after the other.
#[test]
fn calls() {
    let mechanism = DiscreteLaplace::new(1.0, 1_000_000).unwrap();
    let noise = |generator: &mut Generator, n: usize| {
        let mut noise = vec![0; n];
        mechanism.fill(generator, &mut noise).unwrap();
        noise
    };
    let two_calls = |mut generator: Generator, expected: &Json| {
        for call in list(expected) {
            assert_eq!(noise(&mut generator, 3), integers(call));
        }
    };
    let exponential = Selection::exponential(1.0, 1.0, false).unwrap();
    let flips = Selection::permute_and_flip(1.0, 1.0, false).unwrap();
    for entry in vectors("calls.json") {
        let mut generator = seeded(&entry);
        let costs: Vec<f64> = list(&entry["costs"]).iter().map(float).collect();
        for (call, expected) in list(&entry["calls"]).iter().zip(list(&entry["results"])) {
            let n = whole(&call[1]) as usize;
            let mut out = vec![0; n];
            match call[0].as_str().unwrap() {
                "spawn" => {
                    assert_eq!(list(expected).len(), n);
                    for child in list(expected) {
                        two_calls(generator.spawn().unwrap(), child);
                    }
                    continue;
                }
                "at" => {
                    two_calls(generator.at(n as u64).unwrap(), expected);
                    continue;
                }
                "sample" => out = noise(&mut generator, n),
                "top" => exponential.top(&mut generator, &costs, n, &mut out).unwrap(),
                "flip" => flips.select_often(&mut generator, &costs, &mut out).unwrap(),
                _ => exponential.select_often(&mut generator, &costs, &mut out).unwrap(),
            }
            assert_eq!(out, integers(expected), "{call} of {entry}");
        }
    }
}

fn integers(json: &Json) -> Vec<i64> {
    list(json).iter().map(|x| x.as_i64().unwrap()).collect()
}

#[test]
fn releases() {
    for entry in vectors("release.json") {
        let parts = whole(&entry["max_partitions_contributed"]);
        let eps = largest_quotient(float(&entry["eps"]), parts);
        assert_eq!(eps, float(&entry["eps_used"]));
        let mechanism = OneWordMechanism::new(
            kind(&entry["kind"]),
            eps,
            float(&entry["sensitivity"]),
            shape(&entry["shape"]),
        )
        .unwrap();
        let fits = fitting(&entry);
        let of_fitting = |json: &Json| -> Vec<Json> {
            let all = list(json).iter().zip(&fits);
            all.filter(|(_, fits)| **fits).map(|(value, _)| value.clone()).collect()
        };
        let floats = |json: &Json| of_fitting(json).iter().map(float).collect::<Vec<_>>();
        assert_eq!(
            released::<f64>(&mechanism, &entry, &fits),
            floats(&entry["float64"]),
            "{entry}"
        );
        let narrow: Vec<f64> = released::<f32>(&mechanism, &entry, &fits)
            .into_iter()
            .map(f64::from)
            .collect();
        assert_eq!(narrow, floats(&entry["float32"]), "{entry}");
        if entry["int64"].is_array() {
            let whole_numbers = |json: &Json| of_fitting(json).iter().map(|x| x.as_i64().unwrap()).collect::<Vec<_>>();
            assert_eq!(
                released::<i64>(&mechanism, &entry, &fits),
                whole_numbers(&entry["int64"]),
                "{entry}"
            );
            let narrow: Vec<i64> = released::<i32>(&mechanism, &entry, &fits)
                .into_iter()
                .map(i64::from)
                .collect();
            assert_eq!(narrow, whole_numbers(&entry["int32"]), "{entry}");
        }
    }
}

#[test]
fn releases_modulo() {
    for entry in vectors("modulo.json") {
        let mechanism: Box<dyn AnyMechanism> = if entry["kind"] == "skellam" {
            let arguments = list(&entry["arguments"]);
            let share = Share::new(whole(&arguments[3]), whole(&arguments[2])).unwrap();
            Box::new(Skellam::new(float(&arguments[0]), share).unwrap())
        } else {
            let (eps, sensitivity) = (float(&entry["eps"]), float(&entry["sensitivity"]));
            Box::new(OneWordMechanism::new(kind(&entry["kind"]), eps, sensitivity, shape(&entry["shape"])).unwrap())
        };
        let number = |json: &Json| json.as_str().unwrap().parse::<i128>().unwrap();
        let answers: Vec<i64> = list(&entry["values"]).iter().map(|x| number(x) as i64).collect();
        for (modulus, residues) in list(&entry["moduli"]).iter().zip(list(&entry["residues"])) {
            let expected: Vec<i128> = list(residues).iter().map(number).collect();
            let modulus = Modulus::new(number(modulus) as u128).unwrap();
            let mut out = vec![0_u64; answers.len()];
            mechanism
                .release_modulo(&mut seeded(&entry), &answers, modulus, &mut out)
                .unwrap();
            let found: Vec<i128> = out.into_iter().map(i128::from).collect();
            assert_eq!(found, expected, "{modulus:?} {entry}");
        }
    }
}

/// Which answers fit the lattice: the others have a q of ±2¹²⁶, and are refused.
fn fitting(entry: &Json) -> Vec<bool> {
    let limit = 1_i128 << 126;
    let rounded = list(&entry["q"]).iter().map(|q| q.as_str().unwrap().parse::<i128>().unwrap());
    rounded.map(|q| q.abs() < limit).collect()
}

fn released<T: Holds<OneWordMechanism>>(mechanism: &OneWordMechanism, entry: &Json, fits: &[bool]) -> Vec<T> {
    let values = list(&entry["values"]);
    if entry["type"] == "int64" {
        let answers = values.iter().map(|x| x.as_str().unwrap().parse::<i64>().unwrap()).collect();
        released_answers(mechanism, entry, answers, fits)
    } else {
        released_answers(mechanism, entry, values.iter().map(float).collect(), fits)
    }
}

/// Refuses one by one what does not fit; zeros take their places, so that the others keep theirs.
fn released_answers<A: Answer + Default, T: Holds<OneWordMechanism>>(
    mechanism: &OneWordMechanism,
    entry: &Json,
    mut answers: Vec<A>,
    fits: &[bool],
) -> Vec<T> {
    let mut out = vec![T::default(); answers.len()];
    for (answer, _) in answers.iter_mut().zip(fits).filter(|(_, fits)| !**fits) {
        let refused = mechanism.release(&mut seeded(entry), &[*answer], &mut out[..1]);
        assert_eq!(refused, Err(DrawError::OffLattice(0)));
        *answer = A::default();
    }
    mechanism.release(&mut seeded(entry), &answers, &mut out).unwrap();
    out.into_iter()
        .zip(fits)
        .filter(|(_, fits)| **fits)
        .map(|(value, _)| value)
        .collect()
}

#[test]
fn gaussian_fills() {
    for entry in vectors("discrete_gaussian.json") {
        let mechanism = DiscreteGaussian::new(float(&entry["sigma2"])).unwrap();
        let mut view = seeded(&entry).at(whole(&entry["index"])).unwrap();
        let count = whole(&entry["count"]) as usize;
        let fill = (0..=whole(&entry["fill"]))
            .map(|_| mechanism.next_fill(&mut view, count).unwrap())
            .last()
            .unwrap();
        let expected: Vec<i64> = list(&entry["values"]).iter().map(|x| x.as_i64().unwrap()).collect();
        let mut steps = vec![0_i64; count];
        fill.write(0, &mut steps).unwrap();
        assert_eq!(steps, expected, "{entry}");
    }
}
