//! Evidence: `tests/vectors/keyed.json`, computed by an oracle in Python's hashlib; rows that agree and rows that do not; releases row by row.

use serde_json::Value as Json;

use super::*;
use crate::testing::golden::{bytes, float, is_packaged, list, vectors, whole};
use crate::{DiscreteLaplace, Kind, Laplace, MultivariateStaircase, Norm, OneWordMechanism, Shape};

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
fn subkeys_and_noise_are_those_of_the_oracle() {
    let mut drawn = 0;
    for entry in vectors("keyed.json") {
        let secret: [u8; 32] = bytes(&entry["secret"]).try_into().unwrap();
        let key = Keyed::new(&secret, b"stairnoise/keyed1/noise").under(&bytes(&entry["head"]));
        let mut head = Vec::new();
        address::text(&mut head, entry["release"].as_str().unwrap());
        assert_eq!(bytes(&entry["head"])[..head.len()], head);
        for case in list(&entry["cases"]) {
            let mut row = Vec::new();
            label(&case[0], &mut row);
            if entry["bind"] == "value" {
                value(&case[1], &mut row);
            }
            assert_eq!(row, bytes(&case[2]), "{case}");
            assert_eq!(key.digest(&[&row])[..], bytes(&case[3]), "{case}");
            if let Some(mechanism) = mechanism(&entry) {
                let mut noise = [0.0];
                mechanism.fill(&mut key.generator(&row), &mut noise).unwrap();
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

fn check<L: Mechanism, T: Holds<L> + PartialEq + fmt::Debug>(
    key: &Keyed,
    mechanism: &L,
    write: impl Fn(usize, &mut Vec<u8>) + Copy,
    n: usize,
) {
    let joint_values = mechanism.joint_values();
    let answers: Vec<i64> = (0..n as i64).map(|i| i * i - 40).collect();
    let mut out = vec![T::default(); n];
    key.release(mechanism, 0, write, &answers, &mut out).unwrap();
    for (row, (answers, out)) in answers.chunks(joint_values).zip(out.chunks(joint_values)).enumerate() {
        let (mut bytes, mut alone, mut part) = (Vec::new(), vec![T::default(); joint_values], vec![T::default(); joint_values]);
        write(row, &mut bytes);
        mechanism.release(&mut key.generator(&bytes), answers, &mut alone).unwrap();
        assert_eq!(alone, out);
        key.release(mechanism, row, write, answers, &mut part).unwrap();
        assert_eq!(part, out);
    }
}

/// Evidence: equality with `Mechanism::release` by the row's own generator, bit for bit, for numbers and vectors, whole and in parts.
#[test]
fn rows_are_released_each_by_its_own_generator() {
    let key = Keyed::new(&[9; 32], b"test").under(b"head");
    let write = |row: usize, bytes: &mut Vec<u8>| address::integer(bytes, row as i128);
    check::<_, i64>(&key, &DiscreteLaplace::new(0.1, 1).unwrap(), write, 40);
    check::<_, f64>(&key, &Laplace::new(0.1, 1.0).unwrap(), write, 40);
    check::<_, f32>(&key, &crate::DiscreteGaussian::new(100.0).unwrap(), write, 10);
    let vectors = MultivariateStaircase::new(1.0, 1.0, 3, 0.5, Norm::L1).unwrap();
    check::<_, f64>(&key, &vectors, write, 12);
}

#[test]
fn answers_that_a_release_refuses_are_refused_before_any_row_is_drawn() {
    let key = Keyed::new(&[9; 32], b"test");
    let mechanism = Laplace::new(1.0, 1.0).unwrap();
    let mut out = [7.0; 3];
    let drawn = |_: usize, _: &mut Vec<u8>| panic!("a row was drawn");
    assert_eq!(
        key.release(&mechanism, 0, drawn, &[0.0, f64::NAN, 1.0], &mut out),
        Err(DrawError::NotFinite(1))
    );
    assert_eq!(
        key.release(&mechanism, 0, drawn, &[0.0, 1.0], &mut out),
        Err(DrawError::Lengths { answers: 2, out: 3 })
    );
    assert_eq!(
        key.release(&OneWordMechanism::from(mechanism), 0, drawn, &[0_i64; 3], &mut [0_i64; 3]),
        Err(DrawError::NotWhole)
    );
    assert_eq!(out, [7.0; 3]);
}

#[test]
fn keys_differ_by_secret_purpose_and_address_and_are_not_shown() {
    let key = |secret: u8, purpose: &[u8], head: &[u8]| *Keyed::new(&[secret; 32], purpose).under(head).digest(&[b"row"]);
    let all = [
        key(1, b"a", b"b"),
        key(2, b"a", b"b"),
        key(1, b"b", b"b"),
        key(1, b"a", b"a"),
        key(1, b"ab", b""),
    ];
    assert!((0..all.len()).all(|i| !all[..i].contains(&all[i])));
    assert_eq!(format!("{:?}", Keyed::new(&[1; 32], b"a")), "Keyed { .. }");
    let parts = Keyed::new(&[1; 32], b"a");
    assert_eq!(parts.digest(&[b"ro", b"w"]), parts.digest(&[b"row"]));
}

struct Numbers(Vec<i64>);

impl Labels for Numbers {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn write(&self, row: usize, bytes: &mut Vec<u8>) {
        address::integer(bytes, self.0[row].into());
    }
}

/// Evidence: the same by comparing every two rows.
#[test]
fn repeated_labels_are_found_and_must_agree() {
    let mut random = crate::testing::random::Random(8);
    for n in (0..200).step_by(if cfg!(miri) { 50 } else { 1 }) {
        let labels = Numbers((0..n).map(|_| ((random.word() % (1 + 3 * n as u64)) as i64) - 7).collect());
        let repeated: Vec<_> = (0..n as usize).filter(|&i| labels.0[..i].contains(&labels.0[i])).collect();
        assert_eq!(
            Agreement::of(&labels, |_, _| true, || true).unwrap().repeated,
            repeated,
            "{n}"
        );
        let first = repeated.first().map_or(Ok(()), |row| Err(Disagreement::At(*row)));
        assert_eq!(Agreement::of(&labels, |_, _| false, || true).map(|_| ()), first, "{n}");
        let same = |a: usize, b: usize| {
            assert!(a < b && labels.0[a] == labels.0[b]);
            true
        };
        Agreement::of(&labels, same, || true).unwrap();
    }
}

/// So many that no table has a place for each.
struct Endless;

impl Labels for Endless {
    fn len(&self) -> usize {
        usize::MAX
    }

    fn write(&self, _: usize, _: &mut Vec<u8>) {
        panic!("there is no table to look them up in");
    }
}

#[test]
fn more_labels_than_memory_are_an_error() {
    assert_eq!(Agreement::of(&Endless, |_, _| true, || true), Err(Disagreement::OutOfMemory));
}

#[test]
#[cfg_attr(miri, ignore = "slow: many labels")]
fn a_search_for_repeated_labels_can_be_given_up() {
    let labels = Numbers((0..1 << 18).collect());
    assert_eq!(Agreement::of(&labels, |_, _| true, || false), Err(Disagreement::Stopped));
    assert!(Agreement::of(&labels, |_, _| true, || true).unwrap().repeated.is_empty());
}
