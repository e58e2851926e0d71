//! Rows that have one label.

use core::ops::Range;
use std::sync::{Mutex, PoisonError};

use stairnoise::keyed::Mask;
use stairnoise::{OutOfMemory, parallel};

use crate::buffer::filled;

/// The rows whose label an earlier row has, in order, each with the first row of that label; labels are equal where their masks are. This thread,
/// one of up to `threads`, asks `go_on` now and then; if it returns false, not all rows are found.
pub(crate) fn repeated(masks: &[Mask], threads: usize, go_on: impl FnMut() -> bool) -> Result<Vec<(usize, usize)>, OutOfMemory> {
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
        Ok(())
    };
    let firsts = (0..parts).step_by(share);
    parallel::run(firsts, threads, || (), |(), first| look(first), go_on)?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable();
    Ok(found)
}

/// The rows of some parts that repeat a label, each with the first row of that label.
///
/// Rows are sorted into parts by their masks first: a part's table fits the second cache. One table of all rows would take 100 ns to read.
fn repeated_in(masks: &[Mask], parts: usize, mine: Range<usize>) -> Result<Vec<(usize, usize)>, OutOfMemory> {
    // One part more is for the rows of others, which cannot be predicted: a branch would cost more.
    let part = |mask: &Mask| {
        let part = (u128::from(mask[0]) * parts as u128) >> 64;
        (part as usize).wrapping_sub(mine.start).min(mine.len())
    };
    let mut places = filled(0, mine.len() + 2)?;
    // One at a time, each count waits for the one before, although it is another part's: 5 ns instead of 1 (Zen 4).
    let (eights, rest) = masks.as_chunks::<8>();
    for eight in eights {
        for part in eight.each_ref().map(part) {
            places[part + 1] += 1;
        }
    }
    for mask in rest {
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

/// Places for so many entries, a power of two, of which three quarters or more stay free: with half, a search cannot be predicted as often.
fn table_of(entries: usize) -> usize {
    (4 * entries).next_power_of_two().max(2)
}

/// Rows of a part, about; a few more leave the table as long. Of 10⁷ rows each takes 11 ns, and 13 with twice as many and half the places (Zen 4).
const PART: usize = 15_000;

/// Rows between two questions whether to go on: a tenth of a second of work, or more for very many rows.
const LONG: usize = 1 << 23;

/// All rows are read for each share of the parts.
const MOST_SHARES: usize = 16;
