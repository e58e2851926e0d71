//! Where the elements of an array lie, from its shape and its strides in bytes.

use std::ops::Range;

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

    /// The offset of one element.
    pub fn offset(&self, position: usize) -> isize {
        offset(&self.axes, position)
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
