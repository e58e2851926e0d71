//! Marks and numbers of processes that were forked.

use super::super::pages::Pages;
use super::process_mark;
use super::unix::Guard;
use super::{found_family, number_in_family};
use crate::testing::children::{clone, fork, in_child};

fn marks_down_the_line(mark: &dyn Fn() -> u64, fork: fn() -> libc::c_long) -> [u64; 3] {
    let here = mark();
    assert_eq!(mark(), here);
    let below = in_child::<16>(fork, || {
        let there = u128::from(mark());
        let below = u64::from_le_bytes(in_child(fork, || mark().to_le_bytes()));
        (there << 64 | u128::from(below)).to_le_bytes()
    });
    let below = u128::from_le_bytes(below);
    [here, (below >> 64) as u64, below as u64]
}

fn all_differ(marks: &[u64; 3]) {
    assert!(
        marks[0] != marks[1] && marks[0] != marks[2] && marks[1] != marks[2],
        "{marks:?}"
    );
}

/// Evidence: real children and grandchildren, with and without the C library's knowledge.
#[test]
#[cfg_attr(miri, ignore = "Miri has no fork")]
fn processes_down_the_line_have_marks_of_their_own() {
    all_differ(&marks_down_the_line(&process_mark, fork));
    all_differ(&marks_down_the_line(&process_mark, clone));
}

/// The page alone, so that no process id can help.
#[test]
#[cfg_attr(miri, ignore = "Miri has no fork")]
fn the_kernel_wipes_the_page_however_a_child_is_made() {
    let Some(page) = Pages::wiped().map(Guard::Page) else {
        eprintln!("skipped: this kernel wipes no pages");
        return;
    };
    all_differ(&marks_down_the_line(&|| page.mark(), fork));
    all_differ(&marks_down_the_line(&|| page.mark(), clone));
}

/// Without such pages: the count of forks alone, and the process id alone.
#[test]
#[cfg_attr(miri, ignore = "Miri has no fork")]
fn elsewhere_the_handler_counts_forks_and_the_process_id_tells_the_rest() {
    let handler = Guard::with_handler();
    let forks = marks_down_the_line(&|| handler.mark() >> 32, fork);
    all_differ(&forks);
    all_differ(&marks_down_the_line(&|| handler.mark() & u64::from(u32::MAX), clone));
}

/// A child that asks for its mark after its own child was made does not share it with that child.
#[test]
#[cfg_attr(miri, ignore = "Miri has no fork")]
fn a_grandchild_of_a_child_that_never_asked_differs_from_the_first() {
    let here = process_mark();
    let there = in_child(clone, || in_child(clone, || process_mark().to_le_bytes()));
    assert_ne!(there, here.to_le_bytes());
}

/// Evidence: real siblings and their children, whose marks are equal, with and without the C library's knowledge.
#[test]
#[cfg_attr(miri, ignore = "Miri has no fork")]
fn relatives_have_numbers_of_their_own() {
    found_family().unwrap();
    let mut numbers = vec![number_in_family()];
    for fork in [fork, clone, fork] {
        let theirs = in_child::<16>(fork, || {
            let below = u64::from_le_bytes(in_child(fork, || number_in_family().to_le_bytes()));
            (u128::from(below) << 64 | u128::from(number_in_family())).to_le_bytes()
        });
        let theirs = u128::from_le_bytes(theirs);
        numbers.extend([theirs as u64, (theirs >> 64) as u64, number_in_family()]);
    }
    let all = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), all);
}
