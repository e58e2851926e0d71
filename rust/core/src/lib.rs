//! Exact, cryptographically random noise for differential privacy.
//!
//! The noise of a *mechanism* is a random multiple of a power of two, the *granularity*, drawn with exactly its probability: ε is the `f64` that you
//! give, taken as the exact rational number that it is. A *release* rounds a true answer to that lattice, adds the noise in integers, and converts
//! last. So the low-order bits of a released number reveal nothing. Keys come from the operating system, or from you.
//!
//! ```
//! use stairnoise::{DiscreteLaplace, Generator, Mechanism};
//!
//! // ε = 0.5 for a count that one person changes by at most 1.
//! let mechanism = DiscreteLaplace::new(0.5, 1)?;
//! let mut generator = Generator::from_os()?;
//! let private: i64 = mechanism.release_one(&mut generator, 3797)?;
//! let table: Vec<i64> = mechanism.release_vec(&mut generator, &[120, 45, 0])?;
//! # assert!(private != 0 && table.len() == 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The trait [`Mechanism`] has every method: one value, a vector or memory of yours, noise alone or true answers with noise.
//!
//! # Which mechanism
//!
//! | what you release | mechanism |
//! |---|---|
//! | counts and other integers | [`DiscreteLaplace`]; [`DiscreteStaircase`] has less error if one person changes the number by 2 or more |
//! | real numbers | [`Staircase`] for the least expected error at ε, [`Laplace`] for the best known distribution |
//! | many numbers with (ε, δ) for all together | [`Gaussian`], [`DiscreteGaussian`] |
//! | numbers with a bounded error and (ε, δ) | [`TruncatedLaplace`], [`TruncatedStaircase`], [`TruncatedDiscreteStaircase`] |
//! | one count with (ε, δ) | [`DiscreteCanonical`] |
//! | vectors | [`MultivariateStaircase`] |
//! | sums of many parties, each of which adds a share of the noise | [`Skellam`], [`GeneralizedDiscreteLaplace`], [`MultiScaleDiscreteLaplace`], [`Arete`] |
//! | one of several candidates, or the best k | [`Selection`] |
//! | the groups of a GROUP BY that may be shown | [`PartitionSelection`] |
//! | noise by weights, or by rates, of your own | [`LatticeNoise`], [`MergedLaplace`] |
//!
//! [docs/mechanisms.md](https://github.com/stairnoise/stairnoise/blob/main/docs/mechanisms.md) compares them.
//!
//! # More examples
//!
//! **Real numbers.** Released numbers are `f64`; [`Mechanism::release`] writes `f32` too.
//!
//! ```
//! use stairnoise::{Gamma, Generator, Mechanism, Staircase};
//!
//! let mechanism = Staircase::new(1.0, 10.0, Gamma::L1)?;
//! let private = mechanism.release_vec(&mut Generator::from_os()?, &[1250.0, 40.5])?;
//! assert!(private.iter().all(|x| x % mechanism.granularity() == 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Noise alone**, into memory of yours, on several threads. The values do not depend on how many.
//!
//! ```
//! use stairnoise::{Generator, Laplace, Mechanism};
//!
//! let mut noise = vec![0.0_f32; 1_000_000];
//! Laplace::new(1.0, 1.0)?.fill_parallel(&mut Generator::from_os()?, &mut noise, 0)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`PerElement`] (an ε for every number), [`MultivariateStaircase`], [`Selection`], [`PartitionSelection`] and [`Skellam`] have examples too.
//!
//! **Keyed releases.** Work that is repeated repeats its noise: that of a row is a function of a secret and of the row. [`keyed::Keyed`] has an
//! example.
//!
//! **Chosen when the program runs**: [`AnyMechanism`]. **In tests**: [`Generator::from_seed`] draws the same noise again, and releases refuse it
//! unless you say [`Generator::allow_release`].
//!
//! # Features and platforms
//!
//! - `entropy`, on by default: keys from the operating system. Without it, asking for one always returns [`DrawError::Entropy`].
//! - `rand`: the four mechanisms of one word are distributions of `rand_distr`, and `Generator::rng` gives the stream's words to distributions of
//!   other crates. Neither is needed for noise and releases.
//! - `probe` is for the checks of this crate, and no part of its interface.
//! - The crate needs `std`: for threads, for the tables that mechanisms make once, and to find out in a forked child that keys must change. It will
//!   not become `no_std`.
//! - On x86-64 kernels for AVX2 and AVX-512 are chosen when the program runs ([`cpu_tier`]). No value depends on them, or on the platform:
//!   [docs/contract.md](https://github.com/stairnoise/stairnoise/blob/main/docs/contract.md) says which value follows from which key.
//! - In WebAssembly (wasm32-unknown-unknown) no operating system gives a key. Turn the default feature off, and give [`Generator::from_key`] 32 bytes
//!   from `crypto.getRandomValues`, as `examples/browser` does in a web page. A given key stays in memory while its generator lives, and
//!   [SECURITY.md](https://github.com/stairnoise/stairnoise/blob/main/SECURITY.md#not-promised) says what else is not promised there. A long fill
//!   takes one thread.
//! - The oldest Rust is the `rust-version` in `Cargo.toml`. A newer one is asked for in minor versions only, and the changelog says so.

#![deny(unsafe_code)]

// Layers, each of which uses those after it: keyed, mechanisms, mechanism, selection, draw, kernel, exact, lattice, stream.

mod cache_lines;
mod declassify;
#[cfg(feature = "rand")]
mod distribution;
mod draw;
mod error;
#[doc(hidden)]
pub mod exact;
mod kernel;
pub mod keyed;
mod lattice;
mod mechanism;
mod mechanisms;
mod memory;
#[doc(hidden)]
pub mod parallel;
#[cfg(feature = "probe")]
#[doc(hidden)]
pub mod probe;
mod selection;
mod stack;
mod stream;
#[cfg(test)]
mod testing;
mod wiped;

pub use draw::Share;
#[doc(hidden)]
pub use error::OFF_LATTICE;
pub use error::{DrawError, ParamError};
pub use kernel::{cpu_tier, cpu_tiers};
pub use lattice::{Answer, Modulus, Residue, Value, largest_quotient};
#[doc(hidden)]
pub use lattice::{Answers, Unread};
pub use mechanism::per_element::{Parameters, PerElement, Shapes};
#[doc(hidden)]
pub use mechanism::tiles::Tiles;
pub use mechanism::{AnyMechanism, Holds, IntegerMechanism, Kind, Mechanism, MechanismFill, OneWordMechanism, Shape};
pub use mechanisms::*;
pub use memory::OutOfMemory;
pub use selection::{PartitionSelection, Selection, Selector};
#[cfg(feature = "rand")]
pub use stream::StreamRng;
pub use stream::{BitGenerator, Children, EntropyError, Fill, Generator};
#[doc(hidden)]
pub use stream::{Tile, process_mark};

/// The example of the README runs with those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
