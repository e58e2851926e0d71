//! Sorting a few numbers by the same steps whatever they are.

use zeroize::Zeroizing;

/// Up to so many, comparing all with all is quicker than sorting with branches, half of which are guessed wrong.
const FEW: usize = 24;

/// Numbers in the longest vector of any tier.
const LANES: usize = 8;

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

/// Sorts the i-th numbers of all columns of so many, for every i; none is NaN.
#[inline(always)]
pub(super) fn columns(numbers: &mut [f64], count: usize) {
    let n = numbers.len() / count;
    if n > FEW {
        let mut row = Zeroizing::new(vec![0.0; n]);
        for i in 0..count {
            for (x, number) in row.iter_mut().zip(numbers[i..].iter().step_by(count)) {
                *x = *number;
            }
            ascending(&mut row);
            for (x, number) in row.iter().zip(numbers[i..].iter_mut().step_by(count)) {
                *number = *x;
            }
        }
        return;
    }
    // Of columns that do not fill the lanes of a vector the compiler makes branches: the last few are sorted among as many as do.
    let whole = count - count % LANES;
    for last in 1..n {
        let (sorted, carried) = numbers.split_at_mut(last * count);
        for column in sorted.chunks_exact_mut(count) {
            exchange(&mut column[..whole], &mut carried[..whole]);
        }
    }
    if whole < count {
        let mut padded = Zeroizing::new([[0.0; LANES]; FEW]);
        for (row, column) in padded.iter_mut().zip(numbers.chunks_exact(count)) {
            row[..count - whole].copy_from_slice(&column[whole..]);
        }
        for last in 1..n {
            let (sorted, carried) = padded.split_at_mut(last);
            for row in sorted {
                exchange(row, &mut carried[0]);
            }
        }
        for (row, column) in padded.iter().zip(numbers.chunks_exact_mut(count)) {
            column[whole..].copy_from_slice(&row[..count - whole]);
        }
    }
}

/// The smaller of every two numbers in the first slice, the larger in the second; of whole vectors of lanes.
#[inline(always)]
fn exchange(smaller: &mut [f64], larger: &mut [f64]) {
    for (smaller, larger) in smaller
        .as_chunks_mut::<LANES>()
        .0
        .iter_mut()
        .zip(larger.as_chunks_mut::<LANES>().0)
    {
        for i in 0..LANES {
            let (a, b) = (smaller[i], larger[i]);
            (smaller[i], larger[i]) = (a.min(b), a.max(b));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

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
    /// Evidence: the same as sorting every row.
    #[test]
    fn sorts_columns() {
        let mut random = Random(4);
        for n in [1, 2, 5, FEW, FEW + 1] {
            for count in [1, 3, 8] {
                let mut numbers: Vec<f64> = (0..n * count).map(|_| random.word() as f64).collect();
                let unsorted = numbers.clone();
                columns(&mut numbers, count);
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
