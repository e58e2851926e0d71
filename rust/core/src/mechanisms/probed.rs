//! For checks of all mechanisms of several draws: examples and constructors.

use crate::draw::share::Share;
use crate::error::ParamError;
use crate::mechanism::AnyMechanism;

/// A mechanism with a name that contains its parameters.
pub type Named = (String, Box<dyn AnyMechanism>);

/// A mechanism of several draws, for checks that go over all of them.
pub struct Probed {
    /// Parameters that together take every way through its sampler.
    pub examples: fn() -> Result<Vec<Named>, ParamError>,
    /// The mechanism of any numbers.
    pub of: fn(&Numbers) -> Result<Box<dyn AnyMechanism>, ParamError>,
}

/// Numbers for a constructor, which takes those it has a use for.
pub struct Numbers {
    /// Any real numbers.
    pub reals: [f64; 4],
    /// Real numbers that may be absent.
    pub bounds: [Option<f64>; 2],
    /// A count.
    pub whole: u64,
    /// A power of two.
    pub log2_granularity: i32,
    /// 0, 1 or 2.
    pub choice: usize,
    /// A part of an infinitely divisible distribution.
    pub share: Share,
}

pub(super) fn boxed(mechanism: Result<impl AnyMechanism + 'static, ParamError>) -> Result<Box<dyn AnyMechanism>, ParamError> {
    mechanism.map(|mechanism| Box::new(mechanism) as Box<dyn AnyMechanism>)
}

pub(super) fn named(
    name: impl Into<String>,
    mechanism: Result<impl AnyMechanism + 'static, ParamError>,
) -> Result<Named, ParamError> {
    Ok((name.into(), boxed(mechanism)?))
}
