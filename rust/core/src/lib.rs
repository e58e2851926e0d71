//! Exact, cryptographically random differential-privacy noise.
//!
//! All noise is `g · K` with `K` an exact random integer and `g` a power of two (the *granularity*). "Exact" means: the probability of
//! every lattice point is the formula's value, with ε the `f64` that was given, taken as the exact rational number it is. The whole
//! function from key to value is `docs/contract.md`.
//!
//! ```
//! use stairnoise::{Gamma, Generator, Law, Staircase};
//!
//! let law = Staircase::new(4.0, 1.0, Gamma::L1)?;
//! let mut noise = [0.0_f64; 1000];
//! law.fill(&mut Generator::from_os()?, &mut noise)?;
//! assert!(noise.iter().all(|x| x % law.granularity() == 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The laws
//!
//! Every law has the trait [`Law`]: `fill` and `fill_parallel` draw noise, `release` adds it to true answers.
//!
//! One word of the stream draws [`Staircase`], [`Laplace`] and their discrete forms. [`OneWordLaw`] is one of these four, chosen when the
//! program runs; [`Laws`] are those with parameters of its own for every value. [`DiscreteGaussians`] are discrete Gaussian laws of this kind.
//!
//! # The house
//!
//! Each room uses the ones below it.
//!
//! | room | what is decided there |
//! |---|---|
//! | `keyed` | noise as a pure function of a secret and of what is released |
//! | `laws` | the named laws, one file each |
//! | `law` | what every law can do: the trait, fills of a law, laws with parameters of their own for every value |
//! | `selection` | one of finitely many candidates, or some of many partitions, instead of noise |
//! | `draw` | how integers are drawn: kernel first, exact when in doubt; one draw or several a value |
//! | `kernel` | the certified fast path: word → integer, or "not sure" |
//! | `exact` | the integer slow path that answers when the fast path is not sure |
//! | `lattice` | validated parameters, the choice of lattice, integers as values and in releases |
//! | `stream` | key, fill, index → random words |
//!
//! | file | what is decided there |
//! |---|---|
//! | `distribution` | `rand_distr::Distribution` for the four laws of one word, with the feature `rand` |
//! | `error` | what is refused, in words |
//! | `memory` | memory whose size follows an input |
//! | `lines` | memory on whole cache lines |
//! | `parallel` | a slice filled by several threads |
//! | `probe` | doors for the checks of timing and taint, with the feature `probe` |
//! | `reveal` | what the work of a draw depends on besides its parameters |
//! | `stack` | what draws leave on the stack, overwritten |
//! | `wiped` | numbers that tell noise, overwritten |
//! | `random`, `replay` | for tests: parameters at random; golden vectors |
#![deny(unsafe_code)]

#[cfg(feature = "rand")]
mod distribution;
mod draw;
mod error;
#[doc(hidden)]
pub mod exact;
mod kernel;
pub mod keyed;
mod lattice;
mod law;
mod laws;
mod lines;
mod memory;
#[doc(hidden)]
pub mod parallel;
#[cfg(feature = "probe")]
#[doc(hidden)]
pub mod probe;
#[cfg(test)]
mod random;
#[cfg(test)]
mod replay;
mod reveal;
mod selection;
mod stack;
mod stream;
mod wiped;

pub use draw::share::Share;
#[doc(hidden)]
pub use error::OFF_LATTICE;
pub use error::{DrawError, ParamError};
pub use kernel::{cpu_tier, cpu_tiers};
pub use lattice::params::largest_quotient;
pub use lattice::{Answer, Float, Value};
pub use law::Law;
/// The old name of [`Law`].
#[doc(hidden)]
pub use law::Law as Noise;
pub use law::each::{Laws, Parameters, Shapes};
pub use law::fill::LawFill;
pub use law::one_word::{Kind, OneWordLaw, Shape};
pub use laws::*;
pub use memory::OutOfMemory;
pub use selection::{PartitionSelection, Selection, Selector};
#[doc(hidden)]
pub use stream::process_mark;
pub use stream::{BitGenerator, Children, Fill, Generator, StagedFill};
