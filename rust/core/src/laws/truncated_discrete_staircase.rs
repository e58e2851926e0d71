//! The truncated discrete staircase law.

use crate::draw::truncated::{MOST_STEPS, TruncatedStairs, check_delta};
use crate::error::ParamError;
use crate::exact;
use crate::lattice::params::{Lattice, exactly};
use crate::law::Law;
use crate::law::fill::Source;
#[cfg(feature = "probe")]
use crate::laws::probed::{Probed, boxed, named};

/// The discrete staircase law between two bounds, (ε, δ)-differentially private.
///
/// # Probabilities
/// Those of [`crate::DiscreteStaircase`] on −A … A, renormalised. A is the least integer from Δ on for which the Δ outermost integers of an end have at
/// most δ together.
///
/// # What is drawn
/// Exactly this law, or this law plus the integer nearest to 0 that keeps it between `lower` and `upper`.
///
/// # Example
/// ```
/// use stairnoise::{Generator, Law, TruncatedDiscreteStaircase};
///
/// let law = TruncatedDiscreteStaircase::new(1.0, 1e-6, 10, 4, Some(0), None)?;
/// let mut noise = [0_i64; 1000];
/// law.fill(&mut Generator::from_os()?, &mut noise)?;
/// assert_eq!(law.bounds(), (0, 274));
/// assert!(noise.iter().all(|x| (0..=274).contains(x)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TruncatedDiscreteStaircase(TruncatedStairs);

impl TruncatedDiscreteStaircase {
    /// # Errors
    /// [`ParamError`] unless ε ≥ 2⁻⁴⁰ is finite, 2⁻¹²⁸ ≤ δ ≤ ½, 1 ≤ r ≤ Δ are integers that `f64` holds, Δ + Δ/ε ≤ 2⁵⁴, bounds are at most 2⁶¹ from 0,
    /// and 2A + 1 integers fit between both bounds.
    pub fn new(
        eps: f64,
        delta: f64,
        sensitivity: u64,
        r: u64,
        lower: Option<i64>,
        upper: Option<i64>,
    ) -> Result<Self, ParamError> {
        let lattice = checked(eps, sensitivity, r)?;
        check("lower", lower)?;
        check("upper", upper)?;
        TruncatedStairs::new(eps, delta, lattice, r, lower, upper).map(Self)
    }

    /// A alone, without a law to draw from: a few microseconds.
    ///
    /// # Errors
    /// [`ParamError`], as [`TruncatedDiscreteStaircase::new`].
    pub fn end(eps: f64, delta: f64, sensitivity: u64, r: u64) -> Result<u64, ParamError> {
        let cells = checked(eps, sensitivity, r)?.cells;
        Ok(exact::most_truncated_staircase(eps, cells, r, check_delta(delta)?))
    }

    /// The least and the largest integer that can be drawn.
    pub fn bounds(&self) -> (i64, i64) {
        self.0.bounds()
    }
}

fn checked(eps: f64, sensitivity: u64, r: u64) -> Result<Lattice, ParamError> {
    let sensitivity = exactly("sensitivity", sensitivity)?;
    let lattice = Lattice::integers(eps, sensitivity)?;
    if !(1..=lattice.cells).contains(&r) {
        return Err(ParamError::R {
            r: r as f64,
            sensitivity,
        });
    }
    Ok(lattice)
}

fn check(parameter: &'static str, bound: Option<i64>) -> Result<(), ParamError> {
    let far = bound.is_some_and(|bound| bound.unsigned_abs() > MOST_STEPS.unsigned_abs());
    if far {
        return Err(ParamError::Rule {
            parameter,
            rule: "at most 2**61 from 0",
            value: bound.unwrap_or_default() as f64,
        });
    }
    Ok(())
}

impl Law for TruncatedDiscreteStaircase {
    fn cells(&self) -> u64 {
        self.0.lattice().cells
    }

    fn lengths(&self) -> &[u64] {
        self.0.lengths()
    }

    fn source(&self) -> Source<'_> {
        self.0.source()
    }
}

#[cfg(feature = "probe")]
pub(super) const PROBED: Probed = Probed {
    examples: || {
        let law = |eps, delta, sensitivity, r, lower| {
            let law = TruncatedDiscreteStaircase::new(eps, delta, sensitivity, r, lower, None);
            named(
                format!("TruncatedDiscreteStaircase({eps}, {delta}, {sensitivity}, {r}, {lower:?})"),
                law,
            )
        };
        [
            law(1.0, 1e-6, 1, 1, None),
            law(1.0, 1e-6, 10, 4, Some(0)),
            law(0.05, 1e-6, 10, 5, Some(0)),
            law(4.0, 1e-3, 10, 2, Some(-5)),
        ]
        .into_iter()
        .collect()
    },
    of: |n| {
        let bound = |bound: Option<f64>| bound.map(|bound| bound as i64);
        boxed(TruncatedDiscreteStaircase::new(
            n.reals[0],
            n.reals[1],
            n.whole,
            n.reals[2] as u64,
            bound(n.bounds[0]),
            bound(n.bounds[1]),
        ))
    },
};
