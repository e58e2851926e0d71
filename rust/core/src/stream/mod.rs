//! The random stream (contract, section 1): value `i` of fill `f` under key `k` is a function of (k, f, i) alone.
//!
//! | file | subject |
//! |---|---|
//! | `cipher` | the block function: which AES input stands for which purpose |
//! | `vaes256`, `vaes512` | two and four blocks per instruction, where the `aes` crate would do one |
//! | `schedule` | their key schedule |
//! | `shared_cipher` | the block function for callers that may call it at once |
//! | `pieces` | its numbers: pieces of a buffer, round keys |
//! | `fill` | one fill: words and extension words by index, in stages for mechanisms of several draws |
//! | `generator` | keys, the count of fills, spawning, forks |
//! | `bit_generator` | words one after another, for generators of other libraries |
//! | `erasure` | keys that are erased as they are used, where the operating system gave the first |
//! | `process` | telling a process from those that it was forked from |
//! | `stream_rng` | a fill's words as a generator of `rand_core`, with the feature `rand` |
//! | `pages` | memory of which a forked child finds a copy, or zeros, or which it shares |
//! | `entropy` | the operating system's random source, with the feature `entropy` |

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
#[cfg(target_arch = "x86_64")]
mod vaes256;
#[cfg(target_arch = "x86_64")]
mod vaes512;

pub use bit_generator::BitGenerator;
pub use entropy::EntropyError;
pub(crate) use fill::{CHUNK, EXTENSION_WORDS, FEW, PairStage, SHORT, ShortWords, Stage, TILE, TileWords, Words, WordsIn};
pub use fill::{Fill, StagedFill, Tile};
pub use generator::{Children, Generator};
pub use process::process_mark;
#[cfg(feature = "rand")]
pub use stream_rng::StreamRng;
