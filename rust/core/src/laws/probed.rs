//! What checks that go over all laws of several draws need of each: examples, and its constructor.

use crate::draw::share::Share;
use crate::error::ParamError;
use crate::law::AnyLaw;

/// A law with a name that tells its parameters.
pub type Named = (String, Box<dyn AnyLaw>);

/// A law of several draws, for checks that go over all of them.
pub struct Probed {
    /// Parameters that together take every way through its sampler.
    pub examples: fn() -> Result<Vec<Named>, ParamError>,
    /// The law of any numbers.
    pub of: fn(&Numbers) -> Result<Box<dyn AnyLaw>, ParamError>,
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
    /// A part of an infinitely divisible law.
    pub share: Share,
}

pub(super) fn boxed(law: Result<impl AnyLaw + 'static, ParamError>) -> Result<Box<dyn AnyLaw>, ParamError> {
    law.map(|law| Box::new(law) as Box<dyn AnyLaw>)
}

pub(super) fn named(name: impl Into<String>, law: Result<impl AnyLaw + 'static, ParamError>) -> Result<Named, ParamError> {
    Ok((name.into(), boxed(law)?))
}
