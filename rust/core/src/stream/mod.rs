//! The random stream (contract, section 1): value `i` of fill `f` under key `k` is a function of (k, f, i) alone.

mod bit_generator;
mod cipher;
mod entropy;
mod erasure;
mod fill;
mod generator;
mod pages;
mod pieces;
mod process;
#[cfg(target_arch = "x86_64")]
mod schedule;
mod shared_cipher;
#[cfg(feature = "rand")]
mod stream_rng;
#[cfg_attr(not(target_arch = "x86_64"), path = "no_vaes.rs")]
mod vaes;

pub use bit_generator::BitGenerator;
pub(crate) use cipher::Cipher;
pub use entropy::EntropyError;
pub(crate) use fill::{
    AnyWords, CHUNK, EXTENSION_WORDS, FEW, LOG2_STAGED, LOG2_VALUES, LongWords, SHORT, ShortWords, Stage, TILE, TileWords, Words,
};
pub use fill::{Fill, Tile};
pub use generator::{Children, Generator};
pub use process::process_mark;
#[cfg(feature = "rand")]
pub use stream_rng::StreamRng;
