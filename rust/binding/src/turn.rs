//! Rows of values written as columns that fill whole lines of the cache, as arrays in Fortran's order have them.
//!
//! Two or four columns at a time are turned in registers of SSE2, which every x86-64 has. Beyond the caches lines are stored past them: nobody reads
//! them soon, and a line that is written whole need not be fetched first. Of 2000 × 2000 values that takes 0.15 ns a value in place of 0.5; in the
//! second cache 0.1 in place of 0.3 (Zen 5).
#![allow(unsafe_code, reason = "stores at strides, by way of registers")]

/// Bytes of a line of the cache.
pub(crate) const LINE: usize = 64;

/// Outputs of so many bytes are larger than what is left of the caches. At 5 MB both kinds of store take the same time, at 32 MB those past the
/// caches take a third of what columns cost.
const LARGE: usize = 1 << 23;

/// Writes column j of the rows to the places from `first + j·stride` bytes on; `ROWS` values fill a line.
///
/// `whole` is how many bytes the array has of which this is a part.
///
/// # Safety
/// The rows are of one length. At each of these places so many elements may be written, which nothing else refers to; they may not be aligned.
pub(crate) unsafe fn write_columns<T: Copy, const ROWS: usize>(rows: [&[T]; ROWS], first: *mut T, stride: isize, whole: usize) {
    let past = whole >= LARGE && first.addr().is_multiple_of(LINE) && stride.unsigned_abs().is_multiple_of(LINE);
    // SAFETY: as the caller's; past the caches only where all lines begin where lines of the cache do.
    let done = unsafe {
        if past {
            registers::write_columns::<T, ROWS, true>(&rows, first, stride)
        } else {
            registers::write_columns::<T, ROWS, false>(&rows, first, stride)
        }
    };
    for column in done..rows[0].len() {
        let place = first.wrapping_byte_offset(column as isize * stride);
        // SAFETY: the places of one column, as the caller says.
        unsafe { place.cast::<[T; ROWS]>().write_unaligned(rows.map(|row| row[column])) };
    }
}

/// Makes what was stored past the caches visible to other threads before whatever this thread stores next.
pub(crate) fn settle() {
    // SAFETY: SSE is part of x86-64.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod registers {
    /// Leaves all columns to the caller.
    ///
    /// # Safety
    /// None is needed.
    pub unsafe fn write_columns<T: Copy, const ROWS: usize, const PAST: bool>(_: &[&[T]; ROWS], _: *mut T, _: isize) -> usize {
        0
    }
}

#[cfg(target_arch = "x86_64")]
mod registers {
    use std::arch::x86_64::{
        __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_stream_si128, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi32,
        _mm_unpacklo_epi64,
    };
    use std::array;

    use super::LINE;

    /// Writes as many whole groups of columns as there are, and returns how many columns these are; `PAST` the caches.
    ///
    /// # Safety
    /// As of the function above; where they go `PAST` the caches, all lines begin where lines of the cache do.
    pub unsafe fn write_columns<T: Copy, const ROWS: usize, const PAST: bool>(
        rows: &[&[T]; ROWS],
        first: *mut T,
        stride: isize,
    ) -> usize {
        let group = 16 / size_of::<T>();
        let done = rows[0].len() / group * group;
        let mut place = first;
        for column in (0..done).step_by(group) {
            // SAFETY: 16 bytes of a row, which has `group` values from `column` on.
            let load = |row: usize| unsafe { _mm_loadu_si128(rows[row][column..][..group].as_ptr().cast()) };
            let quarters: [_; LINE / 16] = array::from_fn(|quarter| columns(group, |row| load(quarter * group + row)));
            // One line after the other: where lines are a power of two apart, two at a time take an eighth longer (2048 × 2048 values, Zen 4).
            for column in 0..group {
                let line = place.cast::<__m128i>();
                for (quarter, values) in quarters.iter().enumerate() {
                    // SAFETY: 16 bytes of the line of a column, which begin at a multiple of 16 if the line does at one of 64.
                    unsafe {
                        if PAST {
                            _mm_stream_si128(line.add(quarter), values[column]);
                        } else {
                            _mm_storeu_si128(line.add(quarter), values[column]);
                        }
                    }
                }
                place = place.wrapping_byte_offset(stride);
            }
        }
        done
    }

    /// Two or four columns of as many rows; what follows two has no meaning.
    #[inline(always)]
    fn columns(group: usize, row: impl Fn(usize) -> __m128i) -> [__m128i; 4] {
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            if group == 2 {
                let [a, b] = array::from_fn(row);
                let (low, high) = (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b));
                return [low, high, low, high];
            }
            let [a, b, c, d] = array::from_fn(row);
            let low = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
            let high = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
            [
                _mm_unpacklo_epi64(low.0, low.1),
                _mm_unpackhi_epi64(low.0, low.1),
                _mm_unpacklo_epi64(high.0, high.1),
                _mm_unpackhi_epi64(high.0, high.1),
            ]
        }
    }
}
