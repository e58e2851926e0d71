//! RowKeys of one release: their masks and their noise (contract, section 13).

use core::fmt;
use std::sync::Arc;

use super::Keyed;
use crate::error::DrawError;
use crate::kernel::{Arithmetic, Baseline};
use crate::lattice::{Answer, release};
use crate::mechanism::{Holds, Mechanism, MechanismFill};
use crate::memory::{self, OutOfMemory};
use crate::stack;
use crate::stream::Cipher;

/// What the noise of a row depends on besides keys: 16 bytes as two little-endian words.
pub type Mask = [u64; 2];

/// The keys of one release's rows: they make masks from labels and answers, and noise from masks.
///
/// There is no key in `Debug`. Keys are wiped on drop.
pub struct RowKeys {
    masks: Arc<Cipher>,
    words: Arc<Cipher>,
}

impl Keyed {
    /// The keys that this key has for the rows of a release with this address.
    pub fn rows(&self, address: &[u8]) -> RowKeys {
        let masks = Cipher::new(&self.digest(&[address]));
        let words = Cipher::new(&masks.child_key(0));
        RowKeys { masks, words }
    }
}

impl RowKeys {
    /// Writes the masks of labels: `field(row, bytes)` appends the [field](super::address) of label `row` to `bytes`.
    pub fn labels(&self, mut field: impl FnMut(usize, &mut Vec<u8>), out: &mut [Mask]) -> Result<(), OutOfMemory> {
        let (mut bytes, mut blocks, mut ends, mut first) = (Vec::new(), Vec::new(), [0; BATCH], 0);
        while first < out.len() {
            // All fields are written before one is read: the processor would wait for a piece that it has just written in parts.
            bytes.clear();
            let mut rows = 0;
            while rows < BATCH.min(out.len() - first) && bytes.len() < LONG {
                field(first + rows, &mut bytes);
                // The last piece is filled up with zeros.
                bytes.resize(bytes.len().next_multiple_of(8), 0);
                ends[rows] = bytes.len() / 8;
                rows += 1;
            }
            let (pieces, ends) = (bytes.as_chunks().0, &ends[..rows]);
            let begins = || [0].iter().chain(ends).zip(ends);
            blocks.clear();
            blocks.try_reserve(pieces.len()).map_err(|_| OutOfMemory)?;
            for (begin, end) in begins() {
                let pieces = pieces[*begin..*end].iter().enumerate();
                blocks.extend(pieces.map(|(place, piece)| [u64::from_le_bytes(*piece), place as u64]));
            }
            self.masks.encrypt_in_place(&mut blocks);
            for (mask, (begin, end)) in out[first..].iter_mut().zip(begins()) {
                *mask = blocks[*begin..*end].iter().fold([0; 2], plus);
            }
            first += rows;
        }
        Ok(())
    }

    /// Adds true answers to the masks of their labels, as many to each: the noise then depends on both.
    ///
    /// # Panics
    /// If the answers are not as many for each mask.
    pub fn bind<A: Answer>(&self, answers: &[A], masks: &mut [Mask]) {
        let width = answers.len() / masks.len().max(1);
        assert_eq!(answers.len(), masks.len() * width, "answers must be whole rows");
        let (mut blocks, mut coordinates) = ([[0; 2]; BATCH], (0..width as u64).cycle());
        let (mut row, mut left) = (0, width);
        for answers in answers.chunks(BATCH) {
            let blocks = &mut blocks[..answers.len()];
            let inputs = answers.iter().zip(&mut coordinates);
            self.masks.encrypt_inputs(inputs.map(|(answer, j)| piece(*answer, j)), blocks);
            for block in blocks {
                masks[row] = plus(masks[row], block);
                left -= 1;
                if left == 0 {
                    (row, left) = (row + 1, width);
                }
            }
        }
    }

    /// Adds noise to the answers of rows with these masks.
    ///
    /// A row is one answer, or as many as the mechanism draws together: the coordinates of a vector.
    ///
    /// # Panics
    /// If the answers are not those of as many rows as there are masks.
    pub fn release<L: Mechanism + ?Sized, A: Answer, T: Holds<L>>(
        &self,
        mechanism: &L,
        masks: Vec<Mask>,
        answers: &[A],
        out: &mut [T],
    ) -> Result<(), DrawError> {
        release::check(answers, out, mechanism.log2_granularity())?;
        let whole = Some(answers.len()) == masks.len().checked_mul(mechanism.joint_values());
        assert!(whole, "answers must be whole rows");
        memory::has_room()?;
        let fill = MechanismFill::masked(mechanism.source(), Arc::clone(&self.words), masks)?;
        let released = fill.release(0, answers, out);
        stack::wipe_deep();
        Ok(released?)
    }
}

impl fmt::Debug for RowKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowKeys").finish_non_exhaustive()
    }
}

/// The input of a block for coordinate `j` of an answer.
fn piece<A: Answer>(answer: A, j: u64) -> [u64; 2] {
    let number = answer.nearest();
    let integer = answer.rounded(Baseline::half_up(number));
    // At 2⁶³ and above, `rounded` saturates at another number that is nearest to the same float64.
    if (answer.is_quick(true) || number < 0.0) && integer as f64 == number {
        [integer.cast_unsigned(), 1 << 62 | j]
    } else {
        [number.to_bits(), 1 << 63 | j]
    }
}

fn plus(mask: Mask, block: &[u64; 2]) -> Mask {
    [mask[0] ^ block[0], mask[1] ^ block[1]]
}

/// RowKeys whose blocks are encrypted together: some hundred blocks, which stay in the first cache.
const BATCH: usize = 64;

/// Bytes of labels that are long enough to be encrypted without those of more rows.
const LONG: usize = 1 << 12;
