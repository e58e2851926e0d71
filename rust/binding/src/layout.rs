//! Where the elements of an array lie, from its shape and its strides in bytes.

use std::array;
use std::ops::Range;

use stairnoise::Tile;

use crate::transpose::LINE;

/// This many values fit the first cache, in whatever order they are written.
const CACHED: usize = 1 << 12;

/// Columns at most of a [`Patch`] whose lines are written row by row: they stay in the first cache, even if all fall into one set of it.
const COLUMNS: usize = 8;

/// The elements of an array in C order, as offsets in bytes from the first.
pub(crate) struct Layout {
    len: usize,
    size: usize,
    /// Length and stride of every axis, outermost first, without axes of one element; axes that follow each other evenly are one.
    axes: Vec<(usize, isize)>,
}

impl Layout {
    /// For elements of `size` bytes.
    pub fn new(shape: &[usize], strides: &[isize], size: usize) -> Self {
        let len = shape.iter().product();
        let mut axes: Vec<(usize, isize)> = Vec::with_capacity(shape.len());
        if len > 0 {
            // An axis of one element is never stepped along, and no axis of an empty array is: such strides mean nothing.
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

    /// Whether each element begins where the one before ends.
    pub fn is_contiguous(&self) -> bool {
        match *self.axes {
            [] => true,
            [(_, stride)] => stride == self.size as isize,
            _ => false,
        }
    }

    /// Whether all elements are one.
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

    /// The greatest number of bytes of which all strides are multiples; 0 for a single element.
    pub fn step(&self) -> usize {
        self.axes.iter().fold(0, |step, (_, stride)| gcd(step, stride.unsigned_abs()))
    }

    /// In which order elements that begin at this address are best written. For example, in an array in Fortran's order rows of values lie nearer to each
    /// other than the values of a row do, and share lines of the cache.
    pub fn order(&self, address: usize) -> Order {
        let rows = LINE / self.size;
        self.pitch().map_or(Order::of_values(self.len), |pitch| Order {
            pitch,
            rows,
            lead: (address.next_multiple_of(LINE) - address) / self.size % rows,
        })
    }

    /// Values from one row to the next, if rows share lines and are so many or so long that the first cache does not hold these lines until the next
    /// row.
    fn pitch(&self) -> Option<usize> {
        let (&(columns, along), outer) = self.axes.split_last()?;
        let mut pitch = columns;
        let mut nearest = (usize::MAX, 0, 0);
        for &(length, stride) in outer.iter().rev() {
            // Repeated rows are one.
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

    /// Calls `use_patch` for the patches of a block, of at most `ROWS` rows. The block lies within rows of this shape: of its trailing axes.
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

    /// From the first row to each of a band's, in bytes; the last stands for those beyond it. Rows differ in leading axes alone: from one to another
    /// is as far in every column.
    fn down<const ROWS: usize>(&self, band: &Block) -> [isize; ROWS] {
        let row = |row: usize| row.min(band.rows - 1);
        if let [(_, stride), (columns, _)] = *self.axes
            && columns == band.pitch
        {
            // As below, without divisions: with them it takes a thirtieth of the time that a tile of noise takes.
            return array::from_fn(|i| row(i) as isize * stride);
        }
        let base = self.offset(band.first);
        array::from_fn(|i| self.offset(band.first + row(i) * band.pitch) - base)
    }

    /// The offset of one element.
    pub fn offset(&self, position: usize) -> isize {
        offset(&self.axes, position)
    }
}

/// How an array is walked through: by `rows` rows at a time, `pitch` values from one to the next. Bands begin `lead` rows after the first, where a
/// line does.
#[derive(Clone, Copy)]
pub(crate) struct Order {
    pitch: usize,
    rows: usize,
    lead: usize,
}

impl Order {
    /// Value after value.
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

    /// Values from one row to the next, if `ROWS` rows are walked through at a time.
    pub fn pitch_of_rows<const ROWS: usize>(self) -> Option<usize> {
        (self.rows == ROWS).then_some(self.pitch)
    }

    /// This order, or the other's if this one is that of values.
    pub fn or(self, other: Self) -> Self {
        if self.is_of_values() { other } else { self }
    }

    /// All of `n` values.
    pub fn all(self, n: usize) -> Block {
        Block {
            first: 0,
            rows: n / self.pitch,
            columns: self.pitch,
            pitch: self.pitch,
        }
    }

    /// Pieces of about `most` values; those that belong `joint_values` are not parted.
    pub fn pieces(self, all: Block, most: usize, joint_values: usize) -> impl Iterator<Item = Block> + Send {
        let rows = self.bands(most, all.columns);
        let columns = if rows > self.rows {
            all.columns
        } else {
            (most / rows).next_multiple_of(joint_values)
        };
        self.cut(all, rows, columns)
    }

    /// Tiles of a piece, of at most `most` values or as few rows as they may have, and the greatest number of values in one.
    pub fn tiles(self, piece: Block, most: usize) -> (usize, impl Iterator<Item = Block>) {
        self.tiles_across(piece, most, most)
    }

    /// Tiles of at most `most` values, whatever their rows.
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

/// Some of an array's values, by their numbers in C order: `rows` times `columns` consecutive ones, `pitch` from one row to the next.
#[derive(Clone, Copy, Default)]
pub(crate) struct Block {
    pub first: usize,
    pub rows: usize,
    pub columns: usize,
    pub pitch: usize,
}

impl Block {
    /// Parts of `n` values in C order, of at most `most`.
    pub fn parts(n: usize, most: usize) -> impl Iterator<Item = Self> {
        let order = Order::of_values(n);
        order.tiles(order.all(n), most).1
    }

    pub fn len(&self) -> usize {
        self.rows * self.columns
    }

    /// Blocks of at most these numbers of rows and columns, which together are this one; if `lead` is not 0, the first have that many rows.
    fn cut(self, lead: usize, rows: usize, columns: usize) -> impl Iterator<Item = Self> + Send {
        let lead = if lead > 0 { lead } else { rows };
        let across = self.columns.div_ceil(columns);
        let bands = if self.rows > 0 {
            1 + self.rows.saturating_sub(lead).div_ceil(rows)
        } else {
            0
        };
        // By number, and not band by band: a flattened iterator does not know how many blocks there are, and so many threads share them.
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

    /// How many rows there are and how long they are, if rows that follow each other without a gap are one.
    pub fn as_rows(&self) -> (usize, usize) {
        if self.columns == self.pitch {
            (1, self.len())
        } else {
            (self.rows, self.columns)
        }
    }

    /// The same for a fill. Rows that follow each other without a gap are one.
    pub fn as_tile(&self) -> Tile {
        let (rows, columns) = self.as_rows();
        Tile {
            first: self.first as u64,
            pitch: self.pitch as u64,
            rows,
            columns,
        }
    }

    /// The first number and the length of every run of consecutive numbers, in parts of at most `most`.
    pub fn runs(self, most: usize) -> impl Iterator<Item = (usize, usize)> {
        let (rows, length) = self.as_rows();
        (0..rows).flat_map(move |row| {
            let first = self.first + row * self.pitch;
            (0..length).step_by(most).map(move |at| (first + at, most.min(length - at)))
        })
    }

    /// How many of its values come before the one of this number.
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
    /// The offset of the first place, and from one column to the next, in bytes.
    pub offset: isize,
    pub stride: isize,
    pub columns: usize,
    /// From the first row to each row, in bytes.
    pub down: &'a [isize],
    /// Whether there are `ROWS` rows and the values of every column lie one after the other.
    dense: bool,
}

impl<const ROWS: usize> Patch<'_, ROWS> {
    /// If the values of every column lie one after the other, in `ROWS` rows: how many values of the block come before each row.
    pub fn dense(&self) -> Option<[usize; ROWS]> {
        self.dense.then(|| array::from_fn(|row| self.place + row * self.width))
    }

    /// For every row, how many values of the block come before it, and its offset.
    pub fn rows(&self) -> impl Iterator<Item = (usize, isize)> {
        let places = (self.place..).step_by(self.width);
        places.zip(self.down.iter().map(|down| self.offset + down))
    }
}

/// The outermost axis has no remainder to be taken: of two axes none is.
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
