//! The places of an array's elements, from its shape and its strides in bytes.

use std::array;
use std::ops::Range;

use stairnoise::Tile;

use crate::transpose::LINE;

/// This many values fit the first cache, in any order of writing.
const CACHED: usize = 1 << 12;

/// The maximum number of columns in a [`Patch`] that is written row by row: their lines stay in the first cache, even if all fall into one set.
const COLUMNS: usize = 8;

/// The elements of an array in C order, as offsets in bytes from the first.
pub(crate) struct Layout {
    len: usize,
    size: usize,
    /// Length and stride of every axis, outermost first. Axes of one element are left out, and evenly spaced neighbours are merged.
    axes: Vec<(usize, isize)>,
}

impl Layout {
    /// For elements of `size` bytes.
    pub fn new(shape: &[usize], strides: &[isize], size: usize) -> Self {
        let len = shape.iter().product();
        let mut axes: Vec<(usize, isize)> = Vec::with_capacity(shape.len());
        if len > 0 {
            // Strides of an axis of one element, and of an empty array, mean nothing: nobody steps along them.
            for (&length, &stride) in shape.iter().zip(strides).filter(|(length, _)| **length > 1) {
                match axes.last_mut() {
                    Some(outer) if Some(outer.1) == stride.checked_mul(length as isize) => *outer = (outer.0 * length, stride),
                    _ => axes.push((length, stride)),
                }
            }
        }
        Self { len, size, axes }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether every element begins where the previous one ends.
    pub fn is_contiguous(&self) -> bool {
        match *self.axes {
            [] => true,
            [(_, stride)] => stride == self.size as isize,
            _ => false,
        }
    }

    /// Whether all elements have the same place.
    pub fn is_one_element(&self) -> bool {
        self.axes.iter().all(|(_, stride)| *stride == 0)
    }

    /// The bytes from the first of the lowest element to the last of the highest, as offsets from the first element.
    pub fn reach(&self) -> Range<isize> {
        if self.len == 0 {
            return 0..0;
        }
        let mut reach = 0..self.size as isize;
        for (length, stride) in &self.axes {
            let last = stride.wrapping_mul(*length as isize - 1);
            *(if last < 0 { &mut reach.start } else { &mut reach.end }) += last;
        }
        reach
    }

    /// The greatest common divisor of the strides, in bytes; 0 for a single element.
    pub fn step(&self) -> usize {
        self.axes.iter().fold(0, |step, (_, stride)| gcd(step, stride.unsigned_abs()))
    }

    /// The best order of writing for elements that begin at this address. In Fortran's order, for example, a value lies nearer to its neighbours in
    /// other rows than to those in its own row, and rows share cache lines.
    pub fn order(&self, address: usize) -> Order {
        let rows = LINE / self.size;
        self.pitch().map_or(Order::of_values(self.len), |pitch| Order {
            pitch,
            rows,
            lead: (address.next_multiple_of(LINE) - address) / self.size % rows,
        })
    }

    /// Values from one row to the next, if rows share lines and there are too many or too long rows for the first cache to hold these lines until
    /// the next row.
    fn pitch(&self) -> Option<usize> {
        let (&(columns, along), outer) = self.axes.split_last()?;
        let mut pitch = columns;
        let mut nearest = (usize::MAX, 0, 0);
        for &(length, stride) in outer.iter().rev() {
            // Repeated rows count once.
            if stride != 0 && stride.unsigned_abs() < nearest.0 {
                nearest = (stride.unsigned_abs(), pitch, length);
            }
            pitch *= length;
        }
        let (stride, pitch, length) = nearest;
        (stride < LINE.min(along.unsigned_abs()) && length * pitch >= CACHED).then_some(pitch)
    }

    /// Calls `run(offset, stride, count)` for each run of evenly spaced elements among those from `first` to `first + n`, in C order.
    pub fn runs(&self, first: usize, n: usize, mut run: impl FnMut(isize, isize, usize)) {
        let Some((&(length, stride), outer)) = self.axes.split_last() else {
            if n > 0 {
                run(0, self.size as isize, n);
            }
            return;
        };
        let (mut row, mut column, mut left) = (first / length, first % length, n);
        while left > 0 {
            let count = left.min(length - column);
            run(offset(outer, row) + column as isize * stride, stride, count);
            (row, column, left) = (row + 1, 0, left - count);
        }
    }

    /// Calls `use_patch` for the patches of a block, which have at most `ROWS` rows. A row of the block lies within a row of trailing axes.
    pub fn patches<const ROWS: usize>(&self, block: &Block, mut use_patch: impl FnMut(&Patch<'_, ROWS>)) {
        let mut place = 0;
        for band in block.cut(0, ROWS, block.columns.max(1)) {
            let down = self.down::<ROWS>(&band);
            let dense = band.rows == ROWS && (0..).zip(down).all(|(row, down)| down == row * self.size as isize);
            let across = if dense || band.rows == 1 { band.columns } else { COLUMNS };
            let mut column = 0;
            self.runs(band.first, band.columns, |offset, stride, count| {
                for at in (0..count).step_by(across) {
                    use_patch(&Patch {
                        place: place + column + at,
                        width: band.columns,
                        offset: offset + at as isize * stride,
                        stride,
                        columns: across.min(count - at),
                        down: &down[..band.rows],
                        dense,
                    });
                }
                column += count;
            });
            place += band.len();
        }
    }

    /// The distance from a band's first row to every row, in bytes; the last row stands for rows beyond it. Rows differ only in leading axes, so the
    /// distance is the same in every column.
    fn down<const ROWS: usize>(&self, band: &Block) -> [isize; ROWS] {
        let row = |row: usize| row.min(band.rows - 1);
        if let [(_, stride), (columns, _)] = *self.axes
            && columns == band.pitch
        {
            // The same result without divisions, which would take a thirtieth of a tile's time.
            return array::from_fn(|i| row(i) as isize * stride);
        }
        let base = self.offset(band.first);
        array::from_fn(|i| self.offset(band.first + row(i) * band.pitch) - base)
    }

    pub fn offset(&self, position: usize) -> isize {
        offset(&self.axes, position)
    }
}

/// An order of writing: bands of `rows` rows, `pitch` values from one row to the next. The first full band begins `lead` rows after the first row,
/// at the start of a cache line.
#[derive(Clone, Copy)]
pub(crate) struct Order {
    pitch: usize,
    rows: usize,
    lead: usize,
}

impl Order {
    /// The order of the values.
    pub fn of_values(n: usize) -> Self {
        Self {
            pitch: n.max(1),
            rows: 1,
            lead: 0,
        }
    }

    pub fn is_of_values(self) -> bool {
        self.rows == 1
    }

    /// Values from one row to the next, if bands have `ROWS` rows.
    pub fn pitch_of_rows<const ROWS: usize>(self) -> Option<usize> {
        (self.rows == ROWS).then_some(self.pitch)
    }

    /// This order; `other` if this one is the order of the values.
    pub fn or(self, other: Self) -> Self {
        if self.is_of_values() { other } else { self }
    }

    /// The block of all `n` values.
    pub fn all(self, n: usize) -> Block {
        Block {
            first: 0,
            rows: n / self.pitch,
            columns: self.pitch,
            pitch: self.pitch,
        }
    }

    /// Pieces of about `most` values; `joint_values` stay together.
    pub fn pieces(self, all: Block, most: usize, joint_values: usize) -> impl Iterator<Item = Block> + Send {
        let rows = self.bands(most, all.columns);
        let columns = if rows > self.rows {
            all.columns
        } else {
            (most / rows).next_multiple_of(joint_values)
        };
        self.cut(all, rows, columns)
    }

    /// Tiles of a piece, with at most `most` values or the minimum number of rows, and the maximum number of values in a tile.
    pub fn tiles(self, piece: Block, most: usize) -> (usize, impl Iterator<Item = Block>) {
        self.tiles_across(piece, most, most)
    }

    /// Tiles of at most `most` values, even with the minimum number of rows.
    pub fn small_tiles(self, piece: Block, most: usize) -> impl Iterator<Item = Block> {
        self.tiles_across(piece, most, most / self.rows).1
    }

    fn tiles_across(self, piece: Block, most: usize, columns: usize) -> (usize, impl Iterator<Item = Block>) {
        let columns = columns.min(piece.columns).max(1);
        let rows = self.bands(most, columns);
        (piece.len().min(rows * columns), self.cut(piece, rows, columns))
    }

    /// A multiple of `rows` with about `most` values.
    fn bands(self, most: usize, columns: usize) -> usize {
        (most / columns / self.rows * self.rows).max(self.rows)
    }

    fn cut(self, block: Block, rows: usize, columns: usize) -> impl Iterator<Item = Block> + Send {
        let before = block.first / self.pitch % self.rows;
        block.cut((self.lead + self.rows - before) % self.rows, rows, columns)
    }
}

/// Some of an array's values, numbered in C order: `rows` runs of `columns` consecutive values, `pitch` from one run to the next.
#[derive(Clone, Copy, Default)]
pub(crate) struct Block {
    pub first: usize,
    pub rows: usize,
    pub columns: usize,
    pub pitch: usize,
}

impl Block {
    /// Parts of `n` values in C order, with at most `most` values.
    pub fn parts(n: usize, most: usize) -> impl Iterator<Item = Self> {
        let order = Order::of_values(n);
        order.tiles(order.all(n), most).1
    }

    pub fn len(&self) -> usize {
        self.rows * self.columns
    }

    /// Cuts the block into blocks of at most `rows` rows and `columns` columns; if `lead` is not 0, the first ones have `lead` rows.
    fn cut(self, lead: usize, rows: usize, columns: usize) -> impl Iterator<Item = Self> + Send {
        let lead = if lead > 0 { lead } else { rows };
        let across = self.columns.div_ceil(columns);
        let bands = if self.rows > 0 {
            1 + self.rows.saturating_sub(lead).div_ceil(rows)
        } else {
            0
        };
        // An iterator over numbers knows its length, by which threads share the blocks; a flattened one would not.
        (0..bands * across).map(move |number| {
            let (band, column) = (number / across, number % across * columns);
            let begin = if band > 0 { lead + (band - 1) * rows } else { 0 };
            let end = lead + band * rows;
            Self {
                first: self.first + begin * self.pitch + column,
                rows: end.min(self.rows) - begin,
                columns: columns.min(self.columns - column),
                pitch: self.pitch,
            }
        })
    }

    /// The first `n` values of a single row, and those after them.
    pub fn split(self, n: usize) -> (Self, Self) {
        let rest = Self {
            first: self.first + n,
            columns: self.columns - n,
            ..self
        };
        (Self { columns: n, ..self }, rest)
    }

    /// The number and the length of rows; rows without gaps between them count as one.
    pub fn as_rows(&self) -> (usize, usize) {
        if self.columns == self.pitch {
            (1, self.len())
        } else {
            (self.rows, self.columns)
        }
    }

    /// The same block for a fill. Rows without gaps between them count as one.
    pub fn as_tile(&self) -> Tile {
        let (rows, columns) = self.as_rows();
        Tile {
            first: self.first as u64,
            pitch: self.pitch as u64,
            rows,
            columns,
        }
    }

    /// The first number and the length of every run of consecutive values, in parts of at most `most`.
    pub fn runs(self, most: usize) -> impl Iterator<Item = (usize, usize)> {
        let (rows, length) = self.as_rows();
        (0..rows).flat_map(move |row| {
            let first = self.first + row * self.pitch;
            (0..length).step_by(most).map(move |at| (first + at, most.min(length - at)))
        })
    }

    /// How many of the block's values come before value `number`.
    pub fn place(&self, number: usize) -> usize {
        let ahead = number - self.first;
        ahead / self.pitch * self.columns + ahead % self.pitch
    }
}

/// Places of consecutive rows at consecutive, evenly spaced columns.
pub(crate) struct Patch<'a, const ROWS: usize> {
    /// How many values of the block come before the first.
    pub place: usize,
    /// Values of the block from one row to the next.
    pub width: usize,
    /// The offset of the first place, and the distance from one column to the next, in bytes.
    pub offset: isize,
    pub stride: isize,
    pub columns: usize,
    /// The distance from the first row to every row, in bytes.
    pub down: &'a [isize],
    /// Whether there are `ROWS` rows and every column is contiguous.
    dense: bool,
}

impl<const ROWS: usize> Patch<'_, ROWS> {
    /// If there are `ROWS` rows and every column is contiguous: how many values of the block come before each row.
    pub fn dense(&self) -> Option<[usize; ROWS]> {
        self.dense.then(|| array::from_fn(|row| self.place + row * self.width))
    }

    /// For every row: how many values of the block come before it, and its offset.
    pub fn rows(&self) -> impl Iterator<Item = (usize, isize)> {
        let places = (self.place..).step_by(self.width);
        places.zip(self.down.iter().map(|down| self.offset + down))
    }
}

/// The outermost axis needs no division.
fn offset(axes: &[(usize, isize)], mut position: usize) -> isize {
    let Some((&(_, outermost), inner)) = axes.split_first() else {
        return 0;
    };
    let mut offset = 0;
    for (length, stride) in inner.iter().rev() {
        offset += (position % length) as isize * stride;
        position /= length;
    }
    offset + position as isize * outermost
}

pub(crate) fn gcd(mut a: usize, mut b: usize) -> usize {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
