//! Mechanisms by their parameters, made once for parameters that come again.

use crate::error::ParamError;
use crate::mechanism::OneWordMechanism;
use crate::memory;

const PLACES: usize = 1024;

/// The bits of the parameters; not all are zero.
pub(super) type Key = [u64; 3];

/// A direct-mapped cache of mechanisms; empty before the first mechanism is needed: most arrays need none.
#[derive(Debug, Default)]
pub(super) struct Cache(Vec<(Key, Option<Box<OneWordMechanism>>)>);

impl Cache {
    /// Calls `draw` with the mechanism of a key: by `quick` for the first use, else by `make`, whose mechanism is kept.
    pub fn with<R>(
        &mut self,
        key: Key,
        quick: impl FnOnce() -> Result<OneWordMechanism, ParamError>,
        make: impl FnOnce() -> Result<OneWordMechanism, ParamError>,
        draw: impl FnOnce(&OneWordMechanism) -> R,
    ) -> Result<R, ParamError> {
        if self.0.is_empty() {
            self.0 = memory::filled(([0; 3], None), PLACES)?;
        }
        let (kept, mechanism) = &mut self.0[place(key)];
        if *kept != key {
            (*kept, *mechanism) = (key, None);
            return quick().map(|mechanism| draw(&mechanism));
        }
        let mechanism = match mechanism {
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
fn place(key: Key) -> usize {
    // 2⁶⁴ over the golden ratio: Fibonacci hashing (Knuth 1998, volume 3, section 6.4).
    let mixed = key.iter().fold(0_u64, |mixed, part| {
        (mixed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    (mixed >> 32) as usize % PLACES
}
