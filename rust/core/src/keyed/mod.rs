//! Noise as a pure function of a secret and of what is released (contract, section 13).

pub mod address;
mod fingerprint;
mod row_keys;
#[cfg(test)]
mod tests;

use core::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::stack;
pub use row_keys::{Mask, RowKeys};

/// A key for one purpose: HMAC-SHA256 makes others from it, down to those of the rows of one release ([`Keyed::rows`]).
///
/// A row's noise does not depend on the other rows, on their order or on the machine.
///
/// There is no `Clone`, no serialisation and no key in `Debug`. Keys are wiped on drop.
///
/// ```
/// use stairnoise::keyed::{Keyed, address};
/// use stairnoise::{DiscreteLaplace, DrawError};
///
/// // In a program, 32 bytes from the operating system that are kept where the secrets are.
/// let secret = [7; 32];
/// let release = Keyed::new(&secret, b"example.org/noise").rows(b"households 2026-Q3, count, DiscreteLaplace(1)");
/// let mechanism = DiscreteLaplace::new(1.0, 1)?;
/// let (labels, counts) = (["north", "south"], [120_i64, 45]);
/// let (mut masks, mut private) = (vec![[0; 2]; 2], [0_i64; 2]);
/// release.labels(|row, bytes| address::text(bytes, labels[row]), &mut masks).map_err(DrawError::from)?;
/// release.bind(&counts, &mut masks);
/// release.release(&mechanism, masks, &counts, &mut private)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Keyed(Box<Hmac<Sha256>>);

impl Keyed {
    /// The key that a secret has for one purpose, which should name the program and what the key is for.
    pub fn new(secret: &[u8; 32], purpose: &[u8]) -> Self {
        Self::of(secret).under(purpose)
    }

    /// The key that this key has for an address; HMAC-SHA256 of the address is that key.
    #[must_use]
    pub fn under(&self, address: &[u8]) -> Self {
        Self::of(&self.digest(&[address]))
    }

    fn of(key: &[u8; 32]) -> Self {
        // On the heap, because a move would leave a copy. A key of any length is accepted.
        stack::erasing::<LEFT, _>(|| Self(Box::new(Hmac::new_from_slice(key).unwrap_or_else(|_| unreachable!()))))
    }

    /// HMAC-SHA256 of the address that the parts make together.
    ///
    /// The stack is wiped at once, not after the last row. A value that is moved to the heap next takes unset bytes along, such as those beside a
    /// small variant of an enum, and they hold what the stack held.
    pub fn digest(&self, parts: &[&[u8]]) -> Zeroizing<[u8; 32]> {
        let digest = self.subkey(parts);
        stack::wipe::<LEFT>();
        digest
    }

    /// [`Keyed::digest`] that leaves its work on the stack: never inlined, so that it lies below the caller's frame, where [`stack::wipe`] wipes.
    #[inline(never)]
    fn subkey(&self, parts: &[&[u8]]) -> Zeroizing<[u8; 32]> {
        // Not a clone of the box, whose memory would be freed as it is.
        let mut mac = Hmac::clone(&self.0);
        for part in parts {
            mac.update(part);
        }
        Zeroizing::new(mac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed").finish_non_exhaustive()
    }
}

/// What a digest leaves on the stack: midstates, a schedule of 64 words, and copies of the buffer.
const LEFT: usize = 4 << 10;
