//! Mechanisms by their parameters, made once for parameters that come again.

use crate::error::ParamError;
use crate::memory;

const PLACES: usize = 1024;

/// A direct-mapped cache of mechanisms. Their keys are the bits of their parameters, none of which are all zero.
#[derive(Debug)]
pub(super) struct Cache<M, const N: usize> {
    /// Empty before the first mechanism is needed: most arrays need none.
    places: Vec<Entry<M, N>>,
}

#[derive(Clone, Debug)]
struct Entry<M, const N: usize> {
    key: [u64; N],
    mechanism: Option<Box<M>>,
}

impl<M: Clone, const N: usize> Cache<M, N> {
    pub const fn new() -> Self {
        Self { places: Vec::new() }
    }

    /// Calls `draw` with the mechanism of a key: by `quick` for the first use, else by `make`, whose mechanism is kept.
    pub fn with<R>(
        &mut self,
        key: [u64; N],
        quick: impl FnOnce() -> Result<M, ParamError>,
        make: impl FnOnce() -> Result<M, ParamError>,
        draw: impl FnOnce(&M) -> R,
    ) -> Result<R, ParamError> {
        if self.places.is_empty() {
            let (key, mechanism) = ([0; N], None);
            self.places = memory::filled(Entry { key, mechanism }, PLACES)?;
        }
        let entry = &mut self.places[place(key)];
        if entry.key != key {
            *entry = Entry { key, mechanism: None };
            return quick().map(|mechanism| draw(&mechanism));
        }
        let mechanism = match &mut entry.mechanism {
            Some(mechanism) => mechanism,
            none => {
                memory::has_room()?;
                none.insert(Box::new(make()?))
            }
        };
        Ok(draw(mechanism))
    }
}

/// A few multiplications spread neighbouring floats, whose low bits are often all zero, over the places.
fn place<const N: usize>(key: [u64; N]) -> usize {
    // 2⁶⁴ over the golden ratio: Fibonacci hashing (Knuth 1998, volume 3, section 6.4).
    let mixed = key.iter().fold(0_u64, |mixed, part| {
        (mixed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    (mixed >> 32) as usize % PLACES
}
