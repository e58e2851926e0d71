//! Evidence: `tests/vectors/keyed.json`, computed by an oracle with Python's hashlib and another AES; rows alone; labels that differ.

use serde_json::Value as Json;

use super::*;
use crate::error::DrawError;
use crate::mechanism::{Holds, Mechanism};
use crate::testing::golden::{bytes, float, is_packaged, list, vectors, whole};
use crate::{DiscreteLaplace, Kind, Laplace, MultivariateStaircase, Norm, OneWordMechanism, Shape, Skellam};

fn label(json: &Json, bytes: &mut Vec<u8>) {
    let content = &json[1];
    match json[0].as_str().unwrap() {
        "N" => address::none(bytes),
        "B" => address::bool(bytes, content.as_bool().unwrap()),
        "S" => address::text(bytes, content.as_str().unwrap()),
        "Y" => address::binary(bytes, &crate::testing::golden::bytes(content)),
        "D" => address::date(bytes, content.as_str().unwrap().parse().unwrap()),
        "T" => address::tuple(bytes, |bytes| list(content).iter().for_each(|part| label(part, bytes))),
        "I" => address::integer(bytes, content.as_str().unwrap().parse().unwrap()),
        other => panic!("{other}"),
    }
}

fn value(json: &Json, bytes: &mut Vec<u8>) {
    match json {
        Json::Array(parts) => address::tuple(bytes, |bytes| parts.iter().for_each(|part| value(part, bytes))),
        Json::String(_) => address::number(bytes, float(json)),
        number => address::integer(bytes, number.as_i64().unwrap().into()),
    }
}

/// Adds a true answer to the mask of its label.
fn bind(rows: &RowKeys, json: &Json, masks: &mut [Mask]) {
    let number = |json: &Json| json.as_i64().map_or_else(|| float(json), |integer| integer as f64);
    match json {
        Json::Array(parts) => rows.bind(&parts.iter().map(number).collect::<Vec<_>>(), masks),
        json => match json.as_i64() {
            Some(integer) => rows.bind(&[integer], masks),
            None => rows.bind(&[float(json)], masks),
        },
    }
}

/// The mechanism that is drawn, of one word, or none.
fn mechanism(entry: &Json) -> Option<OneWordMechanism> {
    let parameter = |name: &str| {
        let all = list(&entry["drawn"]).iter();
        let found = all.map(|pair| (&pair[0], &pair[1])).find(|(key, _)| *key == name)?.1;
        let of_text = |text: &str| f64::from_bits(u64::from_str_radix(&text[1..], 16).unwrap());
        Some(found.as_str().map_or_else(|| whole(found) as f64, of_text))
    };
    let kind = match entry["law"].as_str()? {
        "laplace" => Kind::Laplace,
        "discrete_laplace" => Kind::DiscreteLaplace,
        "discrete_staircase" => Kind::DiscreteStaircase,
        _ => return None,
    };
    let shape = parameter("r").map_or(Shape::L1, Shape::Number);
    Some(OneWordMechanism::new(kind, parameter("eps")?, parameter("sensitivity")?, shape).unwrap())
}

#[test]
fn masks_and_noise_are_those_of_the_oracle() {
    let mut drawn = 0;
    for entry in vectors("keyed.json") {
        let secret: [u8; 32] = bytes(&entry["secret"]).try_into().unwrap();
        let key = Keyed::new(&secret, b"stairnoise/keyed1/noise");
        assert_eq!(key.digest(&[&bytes(&entry["head"])])[..], bytes(&entry["keys"][0]));
        let (rows, mut head) = (key.rows(&bytes(&entry["head"])), Vec::new());
        address::text(&mut head, entry["release"].as_str().unwrap());
        assert_eq!(bytes(&entry["head"])[..head.len()], head);
        for case in list(&entry["cases"]) {
            let mut masks = [[0; 2]];
            rows.labels(
                |_, field| {
                    label(&case[0], field);
                    assert_eq!(*field, bytes(&case[2]), "{case}");
                },
                &mut masks,
            )
            .unwrap();
            if entry["bind"] == "value" {
                bind(&rows, &case[1], &mut masks);
            }
            assert_eq!(
                masks
                    .as_flattened()
                    .iter()
                    .flat_map(|word| word.to_le_bytes())
                    .collect::<Vec<_>>(),
                bytes(&case[3]),
                "{case}"
            );
            if let Some(mechanism) = mechanism(&entry) {
                let mut noise = [0.0];
                rows.release(&mechanism, masks.to_vec(), &[0_i64], &mut noise).unwrap();
                assert_eq!(noise[0] / mechanism.granularity(), case[4].as_i64().unwrap() as f64, "{case}");
                drawn += 1;
            }
        }
        let rows = list(&entry["cases"]);
        let fingerprints = Keyed::new(&secret, b"stairnoise/keyed1/fingerprint").under(&head);
        let of_row = |row: usize, bytes: &mut Vec<u8>| {
            address::tuple(bytes, |bytes| {
                label(&rows[row][0], bytes);
                value(&rows[row][1], bytes);
            });
        };
        let found = fingerprints.fingerprint((0..rows.len()).rev(), of_row, || true).unwrap();
        assert_eq!(found[..], bytes(&entry["fingerprint"]));
    }
    assert!(cfg!(miri) || is_packaged() || drawn > 50);
}

fn rows() -> RowKeys {
    Keyed::new(&[9; 32], b"test").rows(b"head")
}

/// The masks of the labels 0, 1, …, n − 1.
fn masks(rows: &RowKeys, n: usize) -> Vec<Mask> {
    let mut masks = vec![[0; 2]; n];
    rows.labels(|row, bytes| address::integer(bytes, row as i128), &mut masks)
        .unwrap();
    masks
}

fn check<L: Mechanism, T: Holds<L> + PartialEq + fmt::Debug>(mechanism: &L, n: usize) {
    let (rows, joint_values) = (rows(), mechanism.joint_values());
    let answers: Vec<i64> = (0..(n * joint_values) as i64).map(|i| i * i - 40).collect();
    let (mut all, mut out) = (masks(&rows, n), vec![T::default(); answers.len()]);
    rows.bind(&answers, &mut all);
    rows.release(mechanism, all.clone(), &answers, &mut out).unwrap();
    let alone = answers.chunks(joint_values).zip(out.chunks(joint_values));
    for (row, (answers, out)) in alone.enumerate().step_by(if cfg!(miri) { 50 } else { 1 }) {
        let mut one = [[0; 2]];
        rows.labels(|_, bytes| address::integer(bytes, row as i128), &mut one)
            .unwrap();
        rows.bind(answers, &mut one);
        assert_eq!(one[0], all[row]);
        let mut found = vec![T::default(); joint_values];
        rows.release(mechanism, one.to_vec(), answers, &mut found).unwrap();
        assert_eq!(found, out, "{row} of {n}");
    }
}

/// Evidence: equality with each row alone, bit for bit, for numbers and vectors of every way to read words: few, short and long.
#[test]
fn a_row_is_the_same_alone() {
    for n in [1, 3, 40, 600].into_iter().take(if cfg!(miri) { 3 } else { 4 }) {
        check::<_, i64>(&DiscreteLaplace::new(0.1, 1).unwrap(), n);
        check::<_, f64>(&Laplace::new(0.1, 1.0).unwrap(), n);
        // From here on every word is undecided.
        check::<_, f64>(&Laplace::new(1e-6, 1.0).unwrap(), n);
        check::<_, f32>(&crate::DiscreteGaussian::new(100.0).unwrap(), n);
        check::<_, i64>(&Skellam::new(10.0, crate::Share::WHOLE).unwrap(), n);
        check::<_, f64>(&MultivariateStaircase::new(1.0, 1.0, 3, 0.5, Norm::L1).unwrap(), n);
        check::<_, f64>(&MultivariateStaircase::new(1.0, 1.0, 5, 0.5, Norm::L2).unwrap(), n);
    }
}

#[test]
fn answers_that_a_release_refuses_are_refused_before_any_row_is_drawn() {
    let (rows, mechanism) = (rows(), Laplace::new(1.0, 1.0).unwrap());
    let (all, mut out) = (masks(&rows, 3), [7.0; 3]);
    let refused = rows.release(&mechanism, all.clone(), &[0.0, f64::NAN, 1.0], &mut out);
    assert_eq!(refused, Err(DrawError::NotFinite(1)));
    let refused = rows.release(&mechanism, all.clone(), &[0.0, 1.0], &mut out);
    assert_eq!(refused, Err(DrawError::Lengths { answers: 2, out: 3 }));
    let whole = rows.release(&OneWordMechanism::from(mechanism), all, &[0_i64; 3], &mut [0_i64; 3]);
    assert_eq!(whole, Err(DrawError::NotWhole));
    assert_eq!(out, [7.0; 3]);
}

#[test]
#[should_panic(expected = "whole rows")]
fn rows_are_as_many_as_masks() {
    let (rows, mechanism) = (rows(), Laplace::new(1.0, 1.0).unwrap());
    let _ = rows.release(&mechanism, masks(&rows, 2), &[0.0; 3], &mut [0.0; 3]);
}

#[test]
fn keys_differ_by_secret_purpose_and_address_and_are_not_shown() {
    let key = |secret: u8, purpose: &[u8], head: &[u8]| {
        let key = Keyed::new(&[secret; 32], purpose);
        (key.under(head), key.rows(head))
    };
    let (all, rows): (Vec<_>, Vec<_>) = [
        key(1, b"a", b"b"),
        key(2, b"a", b"b"),
        key(1, b"b", b"b"),
        key(1, b"a", b"a"),
        key(1, b"ab", b""),
    ]
    .into_iter()
    .unzip();
    let mut drawn = Vec::new();
    for (key, row) in all.iter().zip(&rows) {
        let (mut noise, found) = ([0.0], masks(row, 1));
        // Of one mask: the keys of words differ too.
        row.release(&Laplace::new(1.0, 1.0).unwrap(), vec![[1, 2]], &[0.0], &mut noise)
            .unwrap();
        drawn.push((*key.digest(&[b"row"]), found[0], noise[0]));
    }
    for (i, one) in drawn.iter().enumerate() {
        assert!(
            drawn[..i]
                .iter()
                .all(|other| other.0 != one.0 && other.1 != one.1 && other.2 != one.2)
        );
    }
    assert_eq!(format!("{:?} {:?}", all[0], rows[0]), "Keyed { .. } RowKeys { .. }");
    assert_eq!(all[0].digest(&[b"ro", b"w"]), all[0].digest(&[b"row"]));
}

/// Evidence: by hand, answers that are equal or not, whatever their type.
#[test]
fn answers_that_differ_have_other_masks() {
    let rows = rows();
    let of_floats = |answers: &[f64]| {
        let mut one = masks(&rows, 1);
        rows.bind(answers, &mut one);
        one[0]
    };
    let of_integer = |answer: i64| {
        let mut one = masks(&rows, 1);
        rows.bind(&[answer], &mut one);
        one[0]
    };
    let exact = [0, 1, -1, 40, 1 << 53, -(1 << 53), i64::MIN];
    for answer in exact {
        assert_eq!(of_integer(answer), of_floats(&[answer as f64]), "{answer}");
    }
    assert_eq!(of_floats(&[-0.0]), of_floats(&[0.0]));
    let ends = [2_f64.powi(63), -(2_f64.powi(63) + 2048.0), 1e20, f64::MAX, 0.5, -0.5, 5e-324];
    let mut all: Vec<_> = ends.iter().map(|answer| of_floats(&[*answer])).collect();
    all.extend(exact.map(of_integer));
    all.extend([of_integer(i64::MAX), of_integer(0.5_f64.to_bits() as i64), masks(&rows, 1)[0]]);
    all.extend([of_floats(&[1.0, 2.0]), of_floats(&[2.0, 1.0]), of_floats(&[0.0, 0.0])]);
    assert!((0..all.len()).all(|i| !all[..i].contains(&all[i])));
}
