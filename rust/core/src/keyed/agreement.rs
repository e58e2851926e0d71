//! Rows of one label that do not agree: one label has one answer.

use std::hash::{BuildHasher, RandomState};

use crate::memory::{self, OutOfMemory};

/// The labels of the rows of a release.
pub trait Labels {
    /// How many rows.
    fn len(&self) -> usize;

    /// Whether there is no row.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the field of a row's label: see [`address`](super::address).
    fn write(&self, row: usize, bytes: &mut Vec<u8>);
}

/// Which rows repeat the label of an earlier one.
#[derive(Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Rows whose label an earlier row has with the same value, in order.
    pub repeated: Vec<usize>,
}

/// A free place of the table; no row has this number.
const FREE: u64 = u64::MAX;

impl Agreement {
    /// Looks for labels of several rows; `agree(a, b)` returns whether two rows have the same values. `go_on` is called now and then.
    ///
    /// # Errors
    /// The first row whose label has another value in an earlier row; `None` if `go_on` said no, or for want of memory.
    pub fn of(
        labels: &impl Labels,
        agree: impl Fn(usize, usize) -> bool,
        mut go_on: impl FnMut() -> bool,
    ) -> Result<Self, Disagreement> {
        // Unpredictable hashes: labels that collide would take quadratic time.
        let state = RandomState::new();
        let places = labels.len().saturating_mul(2).max(2);
        let places = places.checked_next_power_of_two().ok_or(OutOfMemory)?;
        let mut table = memory::filled(FREE, places)?;
        // An entry is a row, and above it as much of the hash as has room.
        let tag = !0 << (labels.len() + 1).next_power_of_two().ilog2();
        let (mut label, mut other, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        for first in (0..labels.len()).step_by(BATCH) {
            if first % ASK_EVERY == ASK_EVERY - BATCH && !go_on() {
                return Err(Disagreement::Stopped);
            }
            // A read from a large table takes some 100 ns. Reads of several rows that follow one another overlap.
            let mut entries = [(0, 0); BATCH];
            let entries = &mut entries[..BATCH.min(labels.len() - first)];
            for (row, entry) in (first..).zip(&mut *entries) {
                label.clear();
                labels.write(row, &mut label);
                let hash = state.hash_one(&label);
                // Rotated, so that the tag has other bits than the place.
                *entry = (hash as usize & (places - 1), hash.rotate_left(32) & tag | row as u64);
            }
            let near: u64 = entries.iter().fold(0, |all, (place, _)| all ^ table[*place]);
            core::hint::black_box(near);
            for (row, (place, entry)) in (first..).zip(&*entries) {
                let mut place = *place;
                loop {
                    let held = table[place];
                    if held == FREE {
                        table[place] = *entry;
                        break;
                    }
                    if (held ^ entry) & tag == 0 {
                        let earlier = (held & !tag) as usize;
                        label.clear();
                        labels.write(row, &mut label);
                        other.clear();
                        labels.write(earlier, &mut other);
                        if label == other {
                            if !agree(earlier, row) {
                                return Err(Disagreement::At(row));
                            }
                            memory::push(&mut repeated, row)?;
                            break;
                        }
                    }
                    place = (place + 1) & (places - 1);
                }
            }
        }
        Ok(Self { repeated })
    }
}

/// Rows between two questions whether to go on: some milliseconds of work.
const ASK_EVERY: usize = 1 << 16;

const BATCH: usize = 64;

/// Why rows do not agree, or are not known to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disagreement {
    /// The first row whose label has another value in an earlier row.
    At(usize),
    /// The question was given up.
    Stopped,
    /// There is no memory for the table.
    OutOfMemory,
}

impl From<OutOfMemory> for Disagreement {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}
