//! One fill or release, whose instructions `scripts/instructions_aarch64.py` counts: `fill_once MECHANISM EPS SENSITIVITY fill|release N`.
//!
//! For `DiscreteGaussian`, EPS is σ².

use std::error::Error;
use std::hint::black_box;

use stairnoise::{Answer, DiscreteGaussian, Generator, Holds, Kind, Mechanism, OneWordMechanism, Shape};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mechanism, eps, sensitivity, work, n] = arguments.as_slice() else {
        return Err("expected MECHANISM EPS SENSITIVITY fill|release N".into());
    };
    let (eps, released, n) = (eps.parse()?, work == "release", n.parse()?);
    if mechanism == "DiscreteGaussian" {
        return once::<_, i64>(&DiscreteGaussian::new(eps)?, n, released);
    }
    let kinds = [Kind::Staircase, Kind::DiscreteStaircase, Kind::Laplace, Kind::DiscreteLaplace];
    let kind = *kinds
        .iter()
        .find(|kind| format!("{kind:?}") == *mechanism)
        .ok_or("no such mechanism")?;
    let mechanism = OneWordMechanism::new(kind, eps, sensitivity.parse()?, Shape::L1)?;
    match kind {
        Kind::Staircase | Kind::Laplace => once::<_, f64>(&mechanism, n, released),
        Kind::DiscreteStaircase | Kind::DiscreteLaplace => once::<_, i64>(&mechanism, n, released),
    }
}

fn once<L: Mechanism, T: Holds<L> + Answer>(mechanism: &L, n: usize, released: bool) -> Result<(), Box<dyn Error>> {
    let mut generator = Generator::from_seed(1).allow_release();
    let mut out = vec![T::default(); n];
    if released {
        mechanism.release(&mut generator, &vec![T::default(); n], &mut out)?;
    } else {
        mechanism.fill(&mut generator, &mut out)?;
    }
    black_box(out);
    Ok(())
}
