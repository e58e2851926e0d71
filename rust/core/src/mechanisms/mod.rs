//! The named mechanisms, one file each: its parameters are checked, its lattice is chosen, and the trait `Mechanism` says how it is drawn.

mod arete;
mod discrete_canonical;
mod discrete_gaussian;
mod discrete_gaussians;
mod discrete_laplace;
mod discrete_staircase;
mod gaussian;
mod generalized_discrete_laplace;
mod laplace;
mod lattice_noise;
mod merged_laplace;
mod multi_scale_discrete_laplace;
mod multivariate;
mod skellam;
mod staircase;
mod truncated_discrete_staircase;
mod truncated_laplace;
mod truncated_staircase;

pub use arete::Arete;
pub use discrete_canonical::DiscreteCanonical;
pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_gaussians::{DiscreteGaussians, GaussianParameters};
pub use discrete_laplace::DiscreteLaplace;
pub use discrete_staircase::{DiscreteStaircase, R};
pub use gaussian::Gaussian;
pub use generalized_discrete_laplace::GeneralizedDiscreteLaplace;
pub use laplace::Laplace;
pub use lattice_noise::LatticeNoise;
pub use merged_laplace::MergedLaplace;
pub use multi_scale_discrete_laplace::MultiScaleDiscreteLaplace;
pub use multivariate::{MultivariateStaircase, Norm};
pub use skellam::Skellam;
pub use staircase::{Gamma, Staircase};
pub use truncated_discrete_staircase::TruncatedDiscreteStaircase;
pub use truncated_laplace::TruncatedLaplace;
pub use truncated_staircase::TruncatedStaircase;
