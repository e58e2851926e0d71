//! Evidence: keys, fills, children, views and forks.

use super::super::entropy::tests::{FAILURE, without_entropy};
use super::*;
use crate::Mechanism;
use crate::stream::{CHUNK, LOG2_STAGED, TILE, Tile, TileWords, Words};

fn words(generator: &mut Generator, n: usize) -> Vec<u64> {
    let stream = generator.next(n).unwrap();
    (0..n as u64).map(|i| stream.stage(0).word(i)).collect()
}

/// Evidence: equality with the fill itself, for both sources of keys. The view of the operating system's has no other fill's key.
#[test]
fn a_view_of_the_next_fill_draws_it_in_parts_and_nothing_else() {
    let whole = words(&mut Generator::from_seed(5).at(3).unwrap(), 12);
    let mut seeded = Generator::from_seed(5).at(3).unwrap();
    let mut secure = Generator::from_os().unwrap();
    let expected = words(&mut secure.at(0).unwrap(), 12);
    for (generator, start, expected) in [(&mut seeded, 3, whole), (&mut secure, 0, expected)] {
        let mut view = generator.next_view(12).unwrap();
        assert_eq!((view.start(), view.is_given()), (start, generator.is_given()));
        assert_eq!(generator.next_fill(), 1);
        for first in [0, 1, 5, 11] {
            let mut part = view.at(start + first).unwrap();
            assert_eq!(words(&mut part, 12 - first as usize), &expected[first as usize..]);
            assert!(matches!(part.next(1), Err(DrawError::FillsExhausted)));
        }
        assert_eq!(words(&mut view.next_view(12).unwrap(), 12), expected);
        assert!(matches!(view.next_view(12), Err(DrawError::FillsExhausted)));
        assert_ne!(words(generator, 12), expected);
        assert!(matches!(generator.next_view(1 << 63), Err(DrawError::IndexTooLarge)));
        assert!(matches!(
            generator.take_view(LOG2_STAGED, 1 << 41),
            Err(DrawError::StagedIndexTooLarge)
        ));
        assert_eq!(generator.next_fill(), 2);
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow: thousands of words one by one")]
fn every_way_to_a_word_gives_the_same_word() {
    let mut generator = Generator::from_seed(1);
    let all = words(&mut generator, 3 * CHUNK);
    for start in 0..20 {
        let mut view = Generator::from_seed(1).at(start).unwrap();
        let stream = view.next(2 * CHUNK).unwrap();
        for n in (0..20).chain(CHUNK - 3..=CHUNK) {
            let mut buffer = Words::new();
            for first in [0, 1, 2, 7] {
                let from = (start + first) as usize;
                assert_eq!(
                    buffer.at(stream.stage(0), first, n),
                    &all[from..from + n],
                    "{start} {first} {n}"
                );
            }
            let index = |k| (k * k % CHUNK) as u64;
            let mut scattered = vec![0; n];
            stream.stage(0).scattered_words(|k| (0, index(k)), &mut scattered);
            for (k, word) in scattered.iter().enumerate() {
                assert_eq!(*word, all[(start + index(k)) as usize], "{start} {k}");
            }
        }
    }
}

/// Evidence: equality with words one by one, for rows apart and rows one after the other.
#[test]
#[cfg_attr(miri, ignore = "slow: thousands of words one by one")]
fn words_of_tiles_are_those_of_their_values() {
    let all = words(&mut Generator::from_seed(1), 4 * TILE);
    let mut buffer = TileWords::new();
    for (rows, columns) in [(1, 2), (1, TILE), (2, 6), (7, 20), (8, 126), (8, 128)] {
        for (start, first, apart) in [(0, 0, 0), (2, 0, 64), (0, 10, 2), (8, 2, 98)] {
            let stream = Generator::from_seed(1).at(start).unwrap().next(3 * TILE).unwrap();
            let pitch = (columns + apart) as u64;
            let tile = Tile {
                first,
                pitch,
                rows,
                columns,
            };
            let value = |row, column| first + row as u64 * pitch + column as u64;
            let values: Vec<u64> = (0..rows)
                .flat_map(|row| (0..columns).map(move |column| value(row, column)))
                .collect();
            let expected: Vec<u64> = values.iter().map(|value| all[(start + value) as usize]).collect();
            assert_eq!(buffer.of_tile(stream.stage(0), &tile), expected, "{start} {tile:?}");
            assert!((0..tile.len()).map(|i| tile.index(i)).eq(values), "{tile:?}");
        }
    }
}

#[test]
fn fills_children_and_keys_differ() {
    let mut generator = Generator::from_seed(1);
    let mut children = [generator.spawn().unwrap(), generator.spawn().unwrap()];
    let mut seen = vec![words(&mut generator, 4), words(&mut generator, 4)];
    seen.extend(children.iter_mut().map(|child| words(child, 4)));
    seen.push(words(&mut Generator::from_seed(2), 4));
    seen.push(words(&mut Generator::from_os().unwrap(), 4));
    let mut distinct = seen.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), seen.len());
}

#[test]
fn indices_and_fills_end_with_an_error() {
    let mut far = Generator::from_seed(1).at((1 << LOG2_VALUES) - 1).unwrap();
    assert!(far.next(1).is_ok());
    assert_eq!(far.next(2).err(), Some(DrawError::IndexTooLarge));
    assert_eq!(far.next_fill(), 1, "a refused fill takes nothing");
    far.next_fill = Generator::FILLS;
    assert_eq!(far.next(0).err(), Some(DrawError::FillsExhausted));
}

/// Makes a generator what it is in a forked child.
fn as_in_a_forked_child(generator: &mut Generator) {
    match &mut generator.source {
        Source::Os { process, .. }
        | Source::Taken {
            process: Some(process), ..
        } => *process = process.wrapping_sub(1),
        Source::Given { .. } | Source::Taken { process: None, .. } => panic!("forks change nothing"),
    }
}

#[test]
fn without_entropy_no_generator_is_made() {
    let mut parent = Generator::from_os().unwrap();
    without_entropy(|| {
        assert_eq!(Generator::from_os().err(), Some(FAILURE.into()));
        assert_eq!(parent.spawn().err(), Some(FAILURE.into()));
    });
}

#[test]
fn a_forked_child_that_gets_no_new_key_draws_nothing() {
    let mut generator = Generator::from_os().unwrap();
    let mut same = generator.at(0).unwrap();
    as_in_a_forked_child(&mut generator);
    let mut out = [7_i64; 3];
    without_entropy(|| {
        for _ in 0..3 {
            assert_eq!(generator.next(1).err(), Some(FAILURE.into()));
            assert_eq!(generator.next_staged(1).err(), Some(FAILURE.into()));
            assert_eq!(generator.at(0).err(), Some(FAILURE.into()));
            assert_eq!(generator.spawn().err(), Some(FAILURE.into()));
            let mechanism = crate::DiscreteLaplace::new(1.0, 1).unwrap();
            assert_eq!(mechanism.fill(&mut generator, &mut out), Err(FAILURE.into()));
        }
    });
    assert_eq!((generator.next_fill(), out), (0, [7; 3]));
    assert_ne!(
        words(&mut generator, 4),
        words(&mut same, 4),
        "entropy is back, and so is a new key"
    );
}

#[test]
fn views_of_a_generator_of_the_operating_systems_agree_with_it_fill_for_fill() {
    let mut generator = Generator::from_os().unwrap();
    for _ in 0..if cfg!(miri) { 6 } else { 40 } {
        let mut view = generator.at(2).unwrap();
        for _ in 0..3 {
            let all = words(&mut generator, 6);
            assert_eq!(words(&mut view, 4), all[2..]);
        }
        assert_eq!(view.next_fill(), generator.next_fill());
    }
}

/// Evidence: the parts are those of one fill again, which is not the parent's.
#[test]
fn in_a_forked_child_the_parts_of_a_view_are_of_one_new_fill() {
    let mut view = Generator::from_os().unwrap().next_view(12).unwrap();
    let parents = words(&mut view.at(0).unwrap(), 12);
    as_in_a_forked_child(&mut view);
    let all = words(&mut view.at(0).unwrap(), 12);
    assert_ne!(all, parents);
    assert_eq!(words(&mut view.at(5).unwrap(), 7), all[5..]);
}

/// Evidence: every way to a view, of every source of keys. The generator itself goes on to spawn the children that it would have without views.
#[test]
fn a_view_has_no_children() {
    let makers: [fn() -> Generator; 2] = [|| Generator::from_seed(1), || Generator::from_os().unwrap()];
    for make in makers {
        let mut generator = make();
        let mut views = [generator.at(0).unwrap(), generator.at(1000).unwrap()];
        let mut views_of_views = [
            views[1].at(3).unwrap(),
            generator.next_view(4).unwrap(),
            generator.take_view(LOG2_STAGED, 4).unwrap(),
            generator.spawn().unwrap().at(2).unwrap(),
        ];
        for view in views.iter_mut().chain(&mut views_of_views) {
            assert_eq!(view.spawn().err(), Some(DrawError::ViewSpawns));
            assert_eq!(view.children(0).err(), Some(DrawError::ViewSpawns));
        }
        let mut second = Generator::from_seed(1).children(2).unwrap().child(1).unwrap();
        let drawn = words(&mut generator.spawn().unwrap(), 4);
        assert_eq!(drawn == words(&mut second, 4), generator.is_given());
    }
}

/// Evidence: one child more than was asked for is the first of those that are spawned next; and the indices of an AES input end at 2⁶⁴.
#[test]
fn no_child_is_made_beyond_those_that_were_asked_for() {
    for mut generator in [Generator::from_seed(1), Generator::from_os().unwrap()] {
        let two = generator.children(2).unwrap();
        assert!(two.child(1).is_ok());
        assert_eq!(two.child(2).err(), Some(DrawError::NoChild));
        assert_eq!(generator.children(0).unwrap().child(0).err(), Some(DrawError::NoChild));
    }
    let mut generator = Generator::from_seed(1);
    assert!(generator.children(3).is_ok());
    assert_eq!(generator.children(Generator::CHILDREN - 2).err(), Some(DrawError::NoChild));
    let last = generator.children(Generator::CHILDREN - 3).unwrap();
    let mut fourth = Generator::from_seed(1).children(4).unwrap().child(3).unwrap();
    assert_eq!(words(&mut last.child(0).unwrap(), 4), words(&mut fourth, 4));
    assert!(last.child(Generator::CHILDREN - 4).is_ok());
    assert_eq!(generator.spawn().err(), Some(DrawError::NoChild));
}

/// Evidence: real children, by the C library and past it; the parent's own keys, given ones, are the control that repeats.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore = "Miri has no fork")]
fn a_forked_child_draws_other_words() {
    use crate::testing::children::{clone, fork, in_child};
    let next_word = |generator: &mut Generator| generator.next(1).unwrap().stage(0).word(0).to_le_bytes();
    for made_by in [fork, clone] {
        let itself: fn(Generator) -> Generator = |generator| generator;
        for view in [
            itself,
            |mut whole| whole.at(0).unwrap(),
            |mut whole| whole.next_view(1).unwrap(),
        ] {
            let mut generator = Generator::from_os().unwrap();
            next_word(&mut generator);
            let mut generator = view(generator);
            let there = in_child(made_by, || next_word(&mut generator));
            assert_ne!(there, next_word(&mut generator));
            let mut given = Generator::from_seed(1);
            let there = in_child(made_by, || next_word(&mut given));
            assert_eq!(there, next_word(&mut given));
        }
    }
}

#[test]
fn debug_shows_no_key() {
    let shown = format!("{:?}", Generator::from_seed(0x1234_5678));
    assert_eq!(shown, "Generator { next_fill: 0, start: 0, .. }");
}
