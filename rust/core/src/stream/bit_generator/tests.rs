use super::super::entropy::tests::without_entropy;
use super::*;
#[cfg(target_os = "linux")]
use crate::testing::children::{clone, fork, in_child};
use crate::testing::golden::vectors;

/// Words of a buffer.
const WORDS: usize = 508;

const KEY: Key = [9; 32];

fn words(generator: &BitGenerator, n: usize) -> Vec<u64> {
    (0..n).map(|_| generator.next_word()).collect()
}

#[cfg(target_os = "linux")]
type Make = fn() -> Arc<BitGenerator>;

/// Makers of every kind, with the name of the kind.
#[cfg(target_os = "linux")]
const KINDS: [(&str, Make); 3] = [
    ("wiped", || BitGenerator::from_os().unwrap()),
    ("asked", || BitGenerator::asking().unwrap()),
    ("given", || BitGenerator::from_key(&KEY).unwrap()),
];

/// Evidence: equality with the contract's text, one block at a time, over several buffers.
#[test]
fn words_are_those_of_the_contract() {
    let number =
        |key: &Key, level, n: u64| Cipher::new(key).block(tweak(Domain::BitGenerator, level, 0), n / 2)[(n % 2) as usize];
    let key_at = |key: &Key, level, first: u64| -> Key {
        let numbers: Vec<u8> = (first..first + 4).flat_map(|n| number(key, level, n).to_le_bytes()).collect();
        numbers.try_into().unwrap()
    };
    let generator = BitGenerator::from_key(&KEY).unwrap();
    let mut key = key_at(&KEY, 1, 0);
    for _ in 0..if cfg!(miri) { 2 } else { 5 } {
        let step = if cfg!(miri) { 100 } else { 1 };
        let drawn = words(&generator, WORDS);
        for n in (0..WORDS).step_by(step) {
            assert_eq!(drawn[n], number(&key, 0, 4 + n as u64), "{n}");
        }
        key = key_at(&key, 0, 0);
    }
    let mut children = key_at(&KEY, 1, 4);
    for _ in 0..3 {
        let expected = BitGenerator::from_key(&key_at(&children, 1, 0)).unwrap();
        assert_eq!(words(&generator.spawn().unwrap(), 3), words(&expected, 3));
        children = key_at(&children, 1, 4);
    }
}

/// Evidence: `tests/vectors/bit_generator.json`, which the oracle wrote by OpenSSL's cipher.
#[test]
fn golden_vectors() {
    let hex = |value: &serde_json::Value| u64::from_str_radix(value.as_str().unwrap(), 16).unwrap();
    for entry in vectors("bit_generator.json") {
        let digits = entry["key"].as_str().unwrap();
        let key: Vec<u8> = (0..32)
            .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
            .collect();
        let made = || BitGenerator::from_key(key.as_slice().try_into().unwrap()).unwrap();
        let (generator, mut drawn) = (made(), vec![]);
        for case in entry["words"].as_array().unwrap() {
            let n = case[0].as_u64().unwrap() as usize;
            drawn.extend(words(&generator, n + 1 - drawn.len()));
            assert_eq!(drawn[n], hex(&case[1]), "{case}");
        }
        let generator = made();
        for case in entry["mixed"].as_array().unwrap() {
            let found = match case[0].as_str().unwrap() {
                "uint64" => generator.next_word(),
                "uint32" => generator.next_half().into(),
                _ => generator.next_double().to_bits(),
            };
            assert_eq!(found, hex(&case[1]), "{case}");
        }
        let mut children = vec![];
        for case in entry["children"].as_array().unwrap() {
            let child = case[0].as_u64().unwrap() as usize;
            while children.len() <= child {
                children.push(generator.spawn().unwrap());
            }
            for word in case[1].as_array().unwrap() {
                assert_eq!(children[child].next_word(), hex(word), "{case}");
            }
        }
    }
}

#[test]
fn a_double_is_the_upper_bits_of_a_word() {
    let [drawn, same] = [0, 1].map(|_| BitGenerator::from_key(&KEY).unwrap());
    for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
        let double = drawn.next_double();
        assert!((0.0..1.0).contains(&double));
        assert_eq!(double * (1_u64 << 53) as f64, (same.next_word() >> 11) as f64);
    }
}

#[test]
fn generators_of_the_operating_system_and_their_children_differ() {
    let parent = BitGenerator::from_os().unwrap();
    let mut all = vec![words(&parent, 4), words(&BitGenerator::from_os().unwrap(), 4)];
    all.extend((0..3).map(|_| words(&parent.spawn().unwrap(), 4)));
    all.push(words(&parent, 4));
    assert!(!parent.is_given());
    let n = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), n);
}

/// Evidence: what the state holds after every draw. No word that was taken and no key that made one is there, and what is there makes other
/// words.
#[test]
fn the_state_does_not_lead_to_the_words_before() {
    let generator = BitGenerator::from_key(&KEY).unwrap();
    let load = |numbers: &[AtomicU64]| numbers.iter().map(|n| n.load(Relaxed)).collect::<Vec<u64>>();
    let round_keys = || generator.next.numbers().map(|n| n.load(Relaxed)).collect::<Vec<u64>>();
    let mut past = vec![];
    let draws = if cfg!(miri) { 20 } else { 2 * WORDS + 3 };
    for _ in 0..draws {
        let keys = round_keys();
        past.push(generator.next_word());
        if round_keys() != keys {
            past.extend(keys.iter().filter(|number| **number != 0));
        }
        let page = load(&*generator.page);
        assert!(past.iter().all(|word| !page.contains(word) && !round_keys().contains(word)));
        let [at, made] = [1, 3].map(|i| page[i] as usize);
        assert!(page.iter().step_by(ROW).all(|end| *end == 0), "draws stop there");
        assert!(page[FIRST as usize..ROW.min(at)].iter().all(|word| *word == 0), "wiped");
        assert!(page[ROW * (made + 1)..at.max(ROW)].iter().all(|word| *word == 0), "wiped");
    }
    // The search can find what is there: the next word.
    let next = generator.page[1].load(Relaxed) as usize;
    assert_eq!(generator.page[next].load(Relaxed), generator.next_word());
}

/// What a generator made before gives in the parent and in children: siblings, and a child's child.
#[cfg(target_os = "linux")]
fn down_the_line(generator: &BitGenerator, fork: fn() -> libc::c_long) -> Vec<[u8; 24]> {
    let draw = || {
        let mut bytes = [0; 24];
        bytes[..4].copy_from_slice(&generator.next_half().to_le_bytes());
        bytes[4..12].copy_from_slice(&generator.next_word().to_le_bytes());
        bytes[12..16].copy_from_slice(&generator.next_half().to_le_bytes());
        bytes[16..].copy_from_slice(&generator.next_word().to_le_bytes());
        bytes
    };
    let mut drawn = vec![
        in_child(fork, draw),
        in_child(fork, draw),
        in_child(fork, || in_child(fork, draw)),
    ];
    let of_one_child: [u8; 48] = in_child(fork, || {
        let below = in_child(fork, draw);
        let mut bytes = [0; 48];
        bytes[..24].copy_from_slice(&draw());
        bytes[24..].copy_from_slice(&below);
        bytes
    });
    drawn.extend(of_one_child.as_chunks::<24>().0);
    drawn.push(draw());
    drawn
}

/// Whether any half or word of one process came in another; a repeat by chance has probability below 1e-7.
#[cfg(target_os = "linux")]
fn repeats(drawn: &[[u8; 24]]) -> bool {
    let pieces: Vec<&[u8]> = drawn
        .iter()
        .flat_map(|bytes| [&bytes[..4], &bytes[4..12], &bytes[12..16], &bytes[16..]])
        .collect();
    (0..pieces.len()).any(|i| (0..i).any(|j| pieces[i] == pieces[j]))
}

/// Evidence: real children, with and without the C library's knowledge, with a buffer that is new, begun, or nearly used up, and a half kept.
/// Generators of a given key repeat their words, which shows that the search finds repeats.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore = "Miri has no fork")]
fn forked_children_draw_words_of_their_own() {
    for (name, make) in KINDS {
        for fork in [fork, clone] {
            for before in [0, 1, 2, PIECE - 4, 3 * PIECE, WORDS - 1, WORDS, WORDS + 1] {
                let generator = make();
                words(&generator, before);
                generator.next_half();
                let drawn = down_the_line(&generator, fork);
                assert_eq!(repeats(&drawn), name == "given", "{name} {before}");
                assert_eq!(
                    drawn.iter().all(|bytes| *bytes == drawn[0]),
                    name == "given",
                    "{name} {before}"
                );
            }
        }
    }
}

/// Evidence: as above, where the operating system has no entropy for a child. Then keys are AES of numbers that no relative has.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore = "Miri has no fork")]
fn forked_children_draw_words_of_their_own_without_entropy() {
    for (name, make) in KINDS {
        let generator = make();
        generator.next_half();
        let drawn = without_entropy(|| down_the_line(&generator, clone));
        assert_eq!(repeats(&drawn), name == "given", "{name}");
        assert!(drawn.iter().flatten().any(|byte| *byte != 0));
    }
}

#[test]
fn without_entropy_no_generator_is_made() {
    let (secure, given) = (BitGenerator::from_os().unwrap(), BitGenerator::from_key(&KEY).unwrap());
    without_entropy(|| {
        for refused in [BitGenerator::from_os(), BitGenerator::asking(), secure.spawn()] {
            assert!(matches!(refused, Err(DrawError::Entropy(_))));
        }
        assert!(given.spawn().is_ok());
    });
}

/// Evidence: draws of several threads with no lock among them end, and give no zeros. Under Miri also: none of them is a data race.
#[test]
fn threads_without_a_lock_do_no_harm() {
    let generator = BitGenerator::from_key(&KEY).unwrap();
    let n = if cfg!(miri) { 30 } else { 20 * WORDS };
    let drawn: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| words(&generator, n))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(drawn.len(), 3 * n);
    assert!(!drawn.contains(&0));
}

#[test]
fn a_word_of_zero_is_passed_over() {
    let [generator, same] = [0, 1].map(|_| BitGenerator::from_key(&KEY).unwrap());
    let expected = words(&same, WORDS + 1);
    generator.go_on(&generator.page[1]);
    for place in [FIRST as usize, FIRST as usize + 1, FIRST as usize + 7, PIECES * ROW - 1] {
        generator.page[place].store(0, Relaxed);
    }
    let left: Vec<u64> = (2..=WORDS)
        .filter(|n| ![7, WORDS - 1].contains(n))
        .map(|n| expected[n])
        .collect();
    assert_eq!(words(&generator, left.len()), left);
}
