//! Sorting a few numbers by the same steps whatever they are.

/// Up to so many, comparing all with all is quicker than sorting with branches, half of which are guessed wrong.
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
}
