//! A fill of one mechanism by tiles, for arrays whose rows share lines of the cache.

use zeroize::optimization_barrier;

use crate::cache_lines::CacheLines;
use crate::draw::Sampler;
use crate::lattice::Value;
use crate::stream::{Fill, TILE, Tile, TileWords};

/// A fill of one mechanism, drawn in tiles. Words and values of one are here, and wiped when all are drawn.
///
/// The words begin two pages after the values. A load may wait for a store before it whose address is the same but for the page, and at this distance
/// none does; with words that begin 3 KiB later a tile takes up to a third longer (Zen 4).
#[repr(C)]
pub struct Tiles<'a, T: Value> {
    values: CacheLines<[T; TILE]>,
    words: TileWords,
    sampler: &'a Sampler,
    fill: &'a Fill,
}

impl<'a, T: Value> Tiles<'a, T> {
    /// Values of a tile at most.
    pub const MOST: usize = TILE;

    pub(super) fn new(sampler: &'a Sampler, fill: &'a Fill) -> Self {
        Self {
            values: CacheLines([T::default(); TILE]),
            words: TileWords::new(),
            sampler,
            fill,
        }
    }

    /// The noise of the values of a tile, row after row.
    pub fn draw(&mut self, tile: &Tile) -> &[T] {
        let Self { values, words, .. } = self;
        let values = &mut values.0[..tile.len()];
        self.sampler.write_tile(words, self.fill.stage(0), tile, values);
        values
    }
}

impl<T: Value> Drop for Tiles<'_, T> {
    fn drop(&mut self) {
        self.values.0.fill(T::default());
        optimization_barrier(&self.values.0);
    }
}
