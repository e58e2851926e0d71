//! Rows of one label that do not agree: one label has one answer.

use core::ops::Range;
use std::sync::{Mutex, PoisonError};

use stairnoise::keyed::Mask;
use stairnoise::{OutOfMemory, parallel};

use crate::buffer::filled;

/// The rows whose label an earlier row has, in order; labels are equal where their masks are. `agree(a, b)` returns whether
/// two rows have the same values. This thread, one of up to `threads`, asks `go_on` now and then.
///
/// # Errors
/// The first row whose label has another value in an earlier row; another one if `go_on` returned false, or for want of memory.
pub(crate) fn repeated(
    masks: &[Mask],
    threads: usize,
    agree: impl Fn(usize, usize) -> bool,
    go_on: impl FnMut() -> bool,
) -> Result<Vec<usize>, Disagreement> {
    if masks.len() < 2 {
        return Ok(Vec::new());
    }
    let parts = masks.len() / PART + 1;
    let shares = threads.max(masks.len() / LONG).min(MOST_SHARES);
    let share = parts.div_ceil(shares.max(1));
    let found = Mutex::new(Vec::new());
    let look = |first: usize| {
        let rows = repeated_in(masks, parts, first..parts.min(first + share))?;
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        found.try_reserve(rows.len()).map_err(|_| OutOfMemory)?;
        found.extend(rows);
        Ok::<_, OutOfMemory>(())
    };
    let firsts = (0..parts).step_by(share);
    if !parallel::run(firsts, threads, || (), |(), first| look(first), go_on)? {
        return Err(Disagreement::Stopped);
    }
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable();
    match found.iter().find(|(row, earlier)| !agree(*earlier, *row)) {
        Some((row, _)) => Err(Disagreement::At(*row)),
        None => Ok(found.into_iter().map(|(row, _)| row).collect()),
    }
}

/// The rows of some parts that repeat a label, each with the first row of that label.
///
/// Rows are sorted into parts by their masks first: a part and its table fit the first cache. One table of all rows would take 100 ns to read.
fn repeated_in(masks: &[Mask], parts: usize, mine: Range<usize>) -> Result<Vec<(usize, usize)>, OutOfMemory> {
    // One part more is for the rows of others, which cannot be predicted: a branch would cost more.
    let part = |mask: &Mask| {
        let part = (u128::from(mask[0]) * parts as u128) >> 64;
        (part as usize).wrapping_sub(mine.start).min(mine.len())
    };
    let mut places = filled(0, mine.len() + 2)?;
    for mask in masks {
        places[part(mask) + 1] += 1;
    }
    let longest = places[1..=mine.len()].iter().copied().max().unwrap_or(0);
    for part in 1..=mine.len() {
        places[part] += places[part - 1];
    }
    // An entry is a row, and above it as much of the mask as has room.
    let tag = !0 << (masks.len() + 1).next_power_of_two().ilog2();
    let mut entries = filled(0, places[mine.len()] + 1)?;
    for (row, mask) in masks.iter().enumerate() {
        let part = part(mask);
        entries[places[part]] = mask[1] & tag | row as u64;
        places[part] += usize::from(part < mine.len());
    }
    let (mut table, mut found) = (filled(FREE, table_of(longest))?, Vec::new());
    let mut begin = 0;
    for end in &places[..mine.len()] {
        let entries = &entries[begin..*end];
        look_up(masks, entries, tag, &mut table[..table_of(entries.len())], &mut found)?;
        begin = *end;
    }
    Ok(found)
}

/// Looks for entries of equal masks by way of a table.
fn look_up(
    masks: &[Mask],
    entries: &[u64],
    tag: u64,
    table: &mut [u64],
    found: &mut Vec<(usize, usize)>,
) -> Result<(), OutOfMemory> {
    table.fill(FREE);
    let last = table.len() - 1;
    for entry in entries {
        let mut place = (entry >> (64 - table.len().ilog2())) as usize;
        while table[place] != FREE {
            let held = table[place];
            let [earlier, row] = [held, *entry].map(|entry| (entry & !tag) as usize);
            if (held ^ entry) & tag == 0 && masks[earlier] == masks[row] {
                found.try_reserve(1).map_err(|_| OutOfMemory)?;
                found.push((row, earlier));
                break;
            }
            place = (place + 1) & last;
        }
        if table[place] == FREE {
            table[place] = *entry;
        }
    }
    Ok(())
}

/// A free place of the table; no row has this number.
const FREE: u64 = u64::MAX;

/// Places for so many entries, a power of two, of which half or more stay free.
fn table_of(entries: usize) -> usize {
    (2 * entries).next_power_of_two().max(2)
}

/// Rows of a part, about.
const PART: usize = 1 << 11;

/// Rows between two questions whether to go on: a tenth of a second of work, or more for very many rows.
const LONG: usize = 1 << 23;

/// All rows are read for each share of the parts.
const MOST_SHARES: usize = 16;

/// Why rows do not agree, or are not known to.
pub(crate) enum Disagreement {
    /// The first row whose label has another value in an earlier row.
    At(usize),
    /// The question was given up.
    Stopped,
    /// There is no memory for the tables.
    OutOfMemory,
}

impl From<OutOfMemory> for Disagreement {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}
