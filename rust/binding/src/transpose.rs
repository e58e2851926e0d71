//! Writes rows of values as columns that fill whole cache lines, as in arrays in Fortran's order.
//!
//! SSE2 registers, which every x86-64 has, transpose two or four columns at a time; AVX registers four. If an output exceeds the caches, lines are
//! stored past them: nobody reads the lines soon, and a line that is written whole need not be fetched first. This takes 0.15 ns a value instead of
//! 0.5 for 2000 × 2000 values, and 0.1 instead of 0.3 in the second cache (Zen 5).
#![allow(unsafe_code, reason = "stores at strides, by way of registers")]

/// Bytes of a line of the cache.
pub(crate) const LINE: usize = 64;

/// Outputs of this many bytes exceed the free part of the caches. At 5 MB both kinds of store take the same time; at 32 MB stores past the caches
/// take a third of the time.
const LARGE: usize = 1 << 23;

/// Writes column j of the rows to the places from `first + j·stride` bytes on; `ROWS` values fill a line.
///
/// `whole` is the size of the whole array in bytes.
///
/// # Safety
/// The rows are of one length. `ROWS` elements may be written at each of these places, and nothing else refers to them. They need not be aligned.
pub(crate) unsafe fn write_columns<T: Copy, const ROWS: usize>(rows: [&[T]; ROWS], first: *mut T, stride: isize, whole: usize) {
    let past = whole >= LARGE && first.addr().is_multiple_of(LINE) && stride.unsigned_abs().is_multiple_of(LINE);
    // SAFETY: as the caller promises; stores go past the caches only if all lines begin where cache lines do.
    let done = unsafe {
        if past {
            registers::write_columns::<T, ROWS, true>(&rows, first, stride)
        } else {
            registers::write_columns::<T, ROWS, false>(&rows, first, stride)
        }
    };
    for column in done..rows[0].len() {
        let place = first.wrapping_byte_offset(column as isize * stride);
        // SAFETY: the caller promises these places of one column.
        unsafe { place.cast::<[T; ROWS]>().write_unaligned(rows.map(|row| row[column])) };
    }
}

/// Makes stores past the caches visible to other threads before any later store of this thread.
pub(crate) fn fence() {
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
    /// The caller has no duties.
    pub unsafe fn write_columns<T: Copy, const ROWS: usize, const PAST: bool>(_: &[&[T]; ROWS], _: *mut T, _: isize) -> usize {
        0
    }
}

#[cfg(target_arch = "x86_64")]
mod registers {
    use std::arch::x86_64::{
        __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_stream_si128, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi32,
        _mm_unpacklo_epi64, _mm256_loadu_pd, _mm256_permute2f128_pd, _mm256_setzero_pd, _mm256_storeu_pd, _mm256_stream_pd,
        _mm256_unpackhi_pd, _mm256_unpacklo_pd,
    };
    use std::array;
    use std::sync::OnceLock;

    use super::LINE;

    /// Whether the instruction set in use has AVX.
    fn has_avx() -> bool {
        static HAS: OnceLock<bool> = OnceLock::new();
        *HAS.get_or_init(|| is_x86_feature_detected!("avx") && stairnoise::cpu_tier() != Ok("portable"))
    }

    /// Writes all whole groups of columns, and returns the number of written columns. If `PAST`, stores go past the caches.
    ///
    /// # Safety
    /// As for the function above; if `PAST`, all lines begin where cache lines do.
    pub unsafe fn write_columns<T: Copy, const ROWS: usize, const PAST: bool>(
        rows: &[&[T]; ROWS],
        first: *mut T,
        stride: isize,
    ) -> usize {
        if size_of::<T>() == 8 && has_avx() {
            // SAFETY: as the caller promises; eight values fill a line, and the processor has AVX.
            return unsafe { write_wide::<T, ROWS, PAST>(rows, first, stride) };
        }
        let group = 16 / size_of::<T>();
        let groups = rows[0].len() / group;
        // Pointers move here, because an index would be checked for every row.
        let (mut at, mut place) = (rows.map(<[T]>::as_ptr), first);
        for _ in 0..groups {
            // SAFETY: the row has `group` values left, which are 16 bytes.
            let load = |row: usize| unsafe { _mm_loadu_si128(at[row].cast()) };
            let quarters: [_; LINE / 16] = array::from_fn(|quarter| columns(group, |row| load(quarter * group + row)));
            at = at.map(|at| at.wrapping_add(group));
            // Lines are written one by one: two at a time take an eighth longer if lines are a power of two apart (2048 × 2048 values, Zen 4).
            for column in 0..group {
                let line = place.cast::<__m128i>();
                for (quarter, values) in quarters.iter().enumerate() {
                    // SAFETY: 16 bytes of a column's line begin at a multiple of 16 if the line begins at a multiple of 64.
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
        groups * group
    }

    /// The same for eight values of eight bytes, four columns at a time, in AVX registers; this saves 0.05 ns a value (Zen 4).
    ///
    /// # Safety
    /// As above; the values are of eight bytes.
    #[target_feature(enable = "avx")]
    unsafe fn write_wide<T: Copy, const ROWS: usize, const PAST: bool>(
        rows: &[&[T]; ROWS],
        first: *mut T,
        stride: isize,
    ) -> usize {
        let groups = rows[0].len() / 4;
        let (mut at, mut place) = (rows.map(<[T]>::as_ptr), first);
        for _ in 0..groups {
            let mut halves = [[_mm256_setzero_pd(); 4]; 2];
            for (half, four) in halves.iter_mut().zip(at.as_chunks::<4>().0) {
                // SAFETY: the row has four values left, which are 32 bytes.
                let [a, b, c, d] = four.map(|row| unsafe { _mm256_loadu_pd(row.cast()) });
                let (low, high) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
                let (lower, higher) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
                *half = [
                    _mm256_permute2f128_pd(low, lower, 0x20),
                    _mm256_permute2f128_pd(high, higher, 0x20),
                    _mm256_permute2f128_pd(low, lower, 0x31),
                    _mm256_permute2f128_pd(high, higher, 0x31),
                ];
            }
            at = at.map(|at| at.wrapping_add(4));
            for column in 0..4 {
                for (half, values) in halves.iter().enumerate() {
                    let half = place.cast::<f64>().wrapping_add(4 * half);
                    // SAFETY: 32 bytes of a column's line begin at a multiple of 32 if the line begins at a multiple of 64.
                    unsafe {
                        if PAST {
                            _mm256_stream_pd(half, values[column]);
                        } else {
                            _mm256_storeu_pd(half, values[column]);
                        }
                    }
                }
                place = place.wrapping_byte_offset(stride);
            }
        }
        groups * 4
    }

    /// Transposes two or four columns of as many rows; if there are two, the other results have no meaning.
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
