//! What children find in pages, and how pages begin.

use std::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::testing::children::{clone, fork, in_child};

/// What children find in the first and the last number, and the parent afterwards, where the parent wrote 7 and children write 9.
fn found<const N: usize>(pages: &Pages<N>, fork: fn() -> libc::c_long) -> [u64; 4] {
    pages[0].store(7, Relaxed);
    pages[N - 1].store(7, Relaxed);
    let theirs = in_child::<16>(fork, || {
        let found = [&pages[0], &pages[N - 1]].map(|number| number.swap(9, Relaxed));
        (u128::from(found[1]) << 64 | u128::from(found[0])).to_le_bytes()
    });
    let theirs = u128::from_le_bytes(theirs);
    [
        theirs as u64,
        (theirs >> 64) as u64,
        pages[0].load(Relaxed),
        pages[N - 1].load(Relaxed),
    ]
}

/// Evidence: real children, with and without the C library's knowledge; of more than one page.
#[test]
#[cfg_attr(miri, ignore = "Miri has no fork")]
fn a_forked_child_finds_what_was_asked_for() {
    for fork in [fork, clone] {
        assert_eq!(found(&Pages::<1000>::copied().unwrap(), fork), [7, 7, 7, 7]);
        assert_eq!(found(&Pages::<1000>::shared().unwrap(), fork), [7, 7, 9, 9]);
        match Pages::<1000>::wiped() {
            Some(pages) => assert_eq!(found(&pages, fork), [0, 0, 7, 7]),
            None => eprintln!("skipped: this kernel wipes no pages"),
        }
    }
}

#[test]
fn numbers_begin_as_zeros() {
    let pages = Pages::<512>::copied().unwrap();
    assert!(pages.iter().all(|number| number.load(Relaxed) == 0));
}

/// Memory that does not exist is an error.
#[test]
#[cfg_attr(miri, ignore = "Miri cannot be asked for so much")]
fn no_memory_is_an_error() {
    const TOO_MANY: usize = 1 << 57;
    assert!(Pages::<TOO_MANY>::copied().is_err());
    assert!(Pages::<TOO_MANY>::shared().is_err());
}
