//! Exact, cryptographically random differential-privacy noise.
//!
//! All noise is `g · K` with `K` an exact random integer and `g` a power of two (the *granularity*). "Exact" means: the probability of
//! every lattice point is the formula's value, with ε the `f64` that was given, taken as the exact rational number it is. The whole
//! function from key to value is `docs/contract.md`.
//!
//! ```
//! use stairnoise::{Gamma, Generator, Staircase};
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
//! | type | law | lattice |
//! |---|---|---|
//! | [`Staircase`] | least expected error at given ε, real queries | a power of two, [`Staircase::granularity`] |
//! | [`DiscreteStaircase`] | the same for integer queries | 1 |
//! | [`Laplace`] | the classic law, real queries | a power of two |
//! | [`DiscreteLaplace`] | two-sided geometric, for counts | 1 |
//! | [`TruncatedLaplace`] | bounded, at the price of a δ | a power of two |
//! | [`MergedLaplace`] | one rate after another | a power of two |
//! | [`DiscreteGaussian`] | the Gaussian of (ε, δ) and zCDP releases | a power of two; 1 for counts |
//! | [`MultivariateStaircase`] | least expected norm, vectors of real queries | a power of two |
//! | [`GeneralizedDiscreteLaplace`], [`MultiScaleDiscreteLaplace`] | noise in shares, for sums of counts over many parties | 1 |
//! | [`Arete`] | noise in shares, real values | a power of two |
//!
//! # The house
//!
//! | module | what is decided there |
//! |---|---|
//! | `params` | validated parameters, the choice of lattice: the only key to a sampler |
//! | `stream` | key, fill, index → random words |
//! | `kernel` | the certified fast path: word → integer, or "not sure" |
//! | `exact` | the integer slow path that answers when the fast path is not sure |
//! | `sampler` | one law on the integers, ready to draw: kernel first, exact when in doubt |
//! | `law`, `each` | the public face: one law, or a law for every value |
//! | `laws` | the named laws of numbers, one file each |
//! | `noise` | laws of several draws for a value |
//! | `segments` | laws that fall geometrically, segment by segment |
//! | `differences` | sums of differences of draws: the infinitely divisible laws |
//! | `negative_binomial`, `share` | their weights, and parts of them |
//! | `multivariate` | the staircase of vectors |
//! | `table` | a law given by weights: thresholds first, exact when in doubt |
//! | `memory` | memory whose size follows an input |
//! | `lines` | memory on whole cache lines |
//! | `parallel` | a slice filled by several threads |
//! | `selection` | one of finitely many candidates instead of noise |
//! | `release` | noise added to true answers on the lattice |
//! | `reveal` | what the work of a draw depends on besides its parameters |
//! | `dyadic` | `f64`s as significand · 2^exponent |
//! | `value` | from integers to the element types of an output |
//! | `distribution` | `rand_distr::Distribution` for the four laws, with the feature `rand` |
//! | `probe` | doors for the checks of timing and taint, with the feature `probe` |
#![deny(unsafe_code)]

#[cfg(feature = "rand")]
mod distribution;
mod draw;
mod error;
#[doc(hidden)]
pub mod exact;
mod kernel;
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
pub use laws::{
    Arete, DiscreteGaussian, DiscreteLaplace, DiscreteStaircase, Gamma, GeneralizedDiscreteLaplace, Laplace, MergedLaplace,
    MultiScaleDiscreteLaplace, MultivariateStaircase, Norm, R, Staircase, TruncatedLaplace,
};
pub use memory::OutOfMemory;
pub use selection::{Selection, Selector};
#[doc(hidden)]
pub use stream::process_mark;
pub use stream::{Children, Fill, Generator, StagedFill};
