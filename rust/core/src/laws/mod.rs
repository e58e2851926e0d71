//! The named laws, one file each: its parameters are checked, its lattice is chosen, and the trait `Law` says how it is drawn.

mod arete;
mod discrete_gaussian;
mod discrete_laplace;
mod discrete_staircase;
mod generalized_discrete_laplace;
mod laplace;
mod merged_laplace;
mod multi_scale_discrete_laplace;
mod multivariate;
mod staircase;
mod truncated_laplace;

pub use arete::Arete;
pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use discrete_staircase::{DiscreteStaircase, R};
pub use generalized_discrete_laplace::GeneralizedDiscreteLaplace;
pub use laplace::Laplace;
pub use merged_laplace::MergedLaplace;
pub use multi_scale_discrete_laplace::MultiScaleDiscreteLaplace;
pub use multivariate::{MultivariateStaircase, Norm};
pub use staircase::{Gamma, Staircase};
pub use truncated_laplace::TruncatedLaplace;
