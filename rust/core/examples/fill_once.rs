//! One fill or release, for counting its instructions (docs/evidence/aarch64.md): `fill_once KIND EPS SENSITIVITY fill|release N`.

use std::error::Error;

use stairnoise::{Answer, Generator, Kind, Law, OneWordLaw, Shape, Value};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, eps, sensitivity, work, n] = arguments.as_slice() else {
        return Err("expected KIND EPS SENSITIVITY fill|release N".into());
    };
    let kinds = [Kind::Staircase, Kind::DiscreteStaircase, Kind::Laplace, Kind::DiscreteLaplace];
    let kind = *kinds.iter().find(|name| format!("{name:?}") == *kind).ok_or("no such kind")?;
    let law = OneWordLaw::new(kind, eps.parse()?, sensitivity.parse()?, Shape::L1)?;
    let (n, released) = (n.parse()?, work == "release");
    match kind {
        Kind::Staircase | Kind::Laplace => once::<f64>(&law, n, released),
        Kind::DiscreteStaircase | Kind::DiscreteLaplace => once::<i64>(&law, n, released),
    }
}

fn once<T: Value + Answer + From<i32>>(law: &OneWordLaw, n: i32, released: bool) -> Result<(), Box<dyn Error>> {
    let answers: Vec<T> = (0..n).map(T::from).collect();
    let mut out = answers.clone();
    let mut generator = Generator::from_seed(1);
    if released {
        law.release(&mut generator, &answers, &mut out)?;
    } else {
        law.fill(&mut generator, &mut out)?;
    }
    std::hint::black_box(out);
    Ok(())
}
