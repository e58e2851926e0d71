//! Sorting a few numbers by the same steps whatever they are.

use crate::kernel::less;

/// Up to this number, comparing all with all is quicker than sorting with branches: the processor guesses half of them wrong.
const FEW: usize = 24;

/// Sorts numbers none of which is NaN.
pub(super) fn ascending<T: Copy + PartialOrd>(numbers: &mut [T]) {
    if numbers.len() > FEW {
        numbers.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(core::cmp::Ordering::Equal));
        return;
    }
    for n in 1..numbers.len() {
        let (sorted, rest) = numbers.split_at_mut(n);
        let mut carried = rest[0];
        for x in sorted {
            let (a, b) = (*x, carried);
            (*x, carried) = (if a < b { a } else { b }, if a < b { b } else { a });
        }
        rest[0] = carried;
    }
}

/// Sorts the i-th numbers of all columns, for every i. Columns hold `count` finite numbers; `row` has room for one of every column.
#[inline(always)]
pub(super) fn columns(numbers: &mut [f64], count: usize, row: &mut [f64]) {
    let n = numbers.len() / count;
    if n > FEW {
        for i in 0..count {
            for (x, number) in row.iter_mut().zip(numbers[i..].iter().step_by(count)) {
                *x = *number;
            }
            ascending(row);
            for (x, number) in row.iter().zip(numbers[i..].iter_mut().step_by(count)) {
                *number = *x;
            }
        }
        return;
    }
    for last in 1..n {
        let (sorted, carried) = numbers.split_at_mut(last * count);
        for column in sorted.chunks_exact_mut(count) {
            for (x, carried) in column.iter_mut().zip(&mut *carried) {
                // Bits, because the compiler makes branches of minimum and maximum where fewer columns are left than a vector has lanes.
                let (a, b) = (x.to_bits(), carried.to_bits());
                let exchanged = (a ^ b) & less(*carried, *x);
                (*x, *carried) = (f64::from_bits(a ^ exchanged), f64::from_bits(b ^ exchanged));
            }
        }
    }
}

/// Where the i-th smallest of some numbers is, as far as leading bits decide.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rank {
    /// The numbers that have its leading bits.
    pub tied: Vec<usize>,
    /// It is so far up among these.
    pub nth: usize,
}

impl Rank {
    /// From the leading bits of all numbers, which are also there in ascending order.
    pub fn of(numbers: impl Iterator<Item = u64>, sorted: &[u64], i: usize) -> Self {
        let lead = sorted[i];
        // Nearly always one number: two agree in 63 bits with a probability of 2⁻⁶³. So this small list may abort.
        let tied = numbers.enumerate().filter(|(_, bits)| *bits == lead);
        Self {
            tied: tied.map(|(j, _)| j).collect(),
            nth: i - sorted.partition_point(|bits| *bits < lead),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random::Random;

    /// Evidence: the standard library's order, for every length around the change of method.
    #[test]
    fn sorts() {
        let mut random = Random(3);
        for n in 0..2 * FEW {
            let words: Vec<u64> = (0..n).map(|i| random.word() >> (i % 3 * 31)).collect();
            let mut expected = words.clone();
            expected.sort_unstable();
            let mut sorted = words.clone();
            ascending(&mut sorted);
            assert_eq!(sorted, expected);
            let mut floats: Vec<f64> = words.iter().map(|word| *word as f64).collect();
            ascending(&mut floats);
            assert!(floats.is_sorted());
        }
    }

    #[test]
    fn tied_numbers_share_their_places() {
        let numbers = [5, 7, 5, 1, 5];
        let of = |i| Rank::of(numbers.into_iter(), &[1, 5, 5, 5, 7], i);
        let place = |tied: &[usize], nth| Rank { tied: tied.into(), nth };
        assert_eq!([of(0), of(1)], [place(&[3], 0), place(&[0, 2, 4], 0)]);
        assert_eq!([of(3), of(4)], [place(&[0, 2, 4], 2), place(&[1], 0)]);
    }

    /// Evidence: the same as sorting every row.
    #[test]
    fn sorts_columns() {
        let mut random = Random(4);
        for n in [1, 2, 5, FEW, FEW + 1] {
            for count in [1, 3, 8] {
                let mut numbers: Vec<f64> = (0..n * count).map(|_| random.word() as f64).collect();
                let unsorted = numbers.clone();
                columns(&mut numbers, count, &mut [0.0; FEW + 1][..n]);
                for i in 0..count {
                    let row = |numbers: &[f64]| numbers[i..].iter().step_by(count).copied().collect::<Vec<_>>();
                    let mut sorted = row(&unsorted);
                    sorted.sort_unstable_by(f64::total_cmp);
                    assert_eq!(row(&numbers), sorted, "{n} numbers, {count} columns");
                }
            }
        }
    }
}
