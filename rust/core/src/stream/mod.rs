//! The random stream (contract, section 1): value `i` of fill `f` under key `k` is a function of (k, f, i) alone.
//!
//! | file | subject |
//! |---|---|
//! | `cipher` | the block function: which AES input stands for which purpose |
//! | `vaes256` | two blocks per instruction, where the `aes` crate would do one |
//! | `fill` | one fill: words and extension words by index |
//! | `generator` | keys, the count of fills, spawning, forks |

mod cipher;
mod fill;
mod generator;
#[cfg(target_arch = "x86_64")]
mod vaes256;

pub(crate) use fill::CHUNK;
pub use fill::Fill;
pub use generator::Generator;
