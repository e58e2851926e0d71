//! A fingerprint of a set of rows, in any order.

use super::{Keyed, LEFT, address};
use crate::stack;

impl Keyed {
    /// A digest of the addresses of `rows` rows, whose order does not matter: `address(row, bytes)` writes one to the empty `bytes`. Equal rows are
    /// to be left out. `go_on` is asked now and then, and `None` is returned if it says no.
    ///
    /// The digests of all rows are added as numbers of 256 bits; their count and sum are digested again, so that differences say nothing about rows.
    pub fn fingerprint(
        &self,
        rows: impl Iterator<Item = usize>,
        mut address: impl FnMut(usize, &mut Vec<u8>),
        mut go_on: impl FnMut() -> bool,
    ) -> Option<[u8; 32]> {
        let (mut sum, mut count, mut bytes) = ([0; 4], 0, Vec::new());
        for row in rows {
            if count % ASK_EVERY == ASK_EVERY - 1 && !go_on() {
                return None;
            }
            count += 1;
            bytes.clear();
            address(row, &mut bytes);
            add(&mut sum, &self.subkey(&[&bytes]));
        }
        stack::wipe::<LEFT>();
        bytes.clear();
        address::integer(&mut bytes, count);
        bytes.extend(sum.iter().flat_map(|word| word.to_le_bytes()));
        Some(*self.digest(&[&bytes]))
    }
}

/// Rows between two questions whether to go on: some milliseconds of work.
const ASK_EVERY: i128 = 1 << 14;

/// Adds a number of 256 bits, the least significant byte first; a carry beyond them is left out.
fn add(sum: &mut [u64; 4], number: &[u8; 32]) {
    let mut carry = 0;
    for (word, bytes) in sum.iter_mut().zip(number.as_chunks::<8>().0) {
        let total = u128::from(*word) + u128::from(u64::from_le_bytes(*bytes)) + carry;
        *word = total as u64;
        carry = total >> 64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_carry_from_word_to_word_and_not_beyond() {
        let mut sum = [u64::MAX; 4];
        let mut one = [0; 32];
        one[0] = 1;
        add(&mut sum, &one);
        assert_eq!(sum, [0; 4]);
        add(&mut sum, &[0xff; 32]);
        add(&mut sum, &[0xff; 32]);
        assert_eq!(sum, [u64::MAX - 1, u64::MAX, u64::MAX, u64::MAX]);
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_every_row_does() {
        let key = Keyed::new(&[3; 32], b"test");
        let of = |rows: &[usize]| {
            let write = |row: usize, bytes: &mut Vec<u8>| address::integer(bytes, row as i128);
            key.fingerprint(rows.iter().copied(), write, || true)
        };
        assert_eq!(of(&[1, 2, 3]), of(&[3, 1, 2]));
        for other in [&[][..], &[1, 2], &[1, 2, 4], &[1, 2, 3, 3]] {
            assert_ne!(of(&[1, 2, 3]), of(other));
        }
    }
}
