//! Constructors with any numbers.
//!
//! A constructor refuses numbers with an error that names the parameter and the value, or makes a mechanism that draws and releases finite
//! multiples of its granularity.

use std::fmt::Debug;

use stairnoise::{
    AnyMechanism, DiscreteLaplace, DiscreteStaircase, Gamma, Generator, Laplace, Mechanism, OneWordMechanism, ParamError, R,
    Selection, Share, Staircase, largest_quotient,
};

use super::input::Input;
use super::oracle::log2_of_power;
use super::several_draws::{MECHANISMS, Numbers, of};

pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (a, b, c) = (input.number(), input.number(), input.number());
    let bounds = [input.flag().then(|| input.number()), input.flag().then(|| input.number())];
    let whole = input.word() >> input.below(64);
    let share = match Share::new(input.word() >> input.below(64), whole) {
        Ok(share) => share,
        Err(error) => {
            refused(error);
            Share::WHOLE
        }
    };
    match usize::from(input.byte()) % (5 + MECHANISMS) {
        0 => four(Staircase::new(a, b, [Gamma::L1, Gamma::L2, Gamma::Value(c)][input.below(3)])),
        1 => four(DiscreteStaircase::new(
            a,
            whole,
            [R::L1, R::L2, R::Value(input.word())][input.below(3)],
        )),
        2 => four(Laplace::new(a, b)),
        3 => four(DiscreteLaplace::new(a, whole)),
        4 => selections(a, b, c, input.flag()),
        other => staged(of(
            other - 5,
            &Numbers {
                reals: [a, b, c, input.number()],
                bounds,
                whole,
                log2_granularity: input.word() as i32 >> input.below(32),
                choice: input.below(3),
                share,
            },
        )),
    }
    if a > 0.0 && a.is_normal() && whole > 0 && whole < 1 << 53 {
        let part = largest_quotient(a, whole);
        assert!(part.mul_add(whole as f64, -a) <= 0.0, "{part} of {a}, {whole} times");
    }
}

fn selections(eps: f64, sensitivity: f64, gamma: f64, monotonic: bool) {
    let mechanisms = [
        Selection::staircase(eps, sensitivity, gamma, monotonic),
        Selection::exponential(eps, sensitivity, monotonic),
    ];
    for mechanism in mechanisms {
        mechanism.map_or_else(refused, |mechanism| assert_eq!(mechanism.eps(), eps));
    }
}

/// An error begins with the parameter, by its name or in words, and ends with the value.
fn refused(error: ParamError) {
    let text = error.to_string();
    let (name, rule) = text.split_once(" must ").unwrap_or_else(|| panic!("{text}"));
    assert!(
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == ' '),
        "{text}"
    );
    assert!(rule.contains("got "), "{text}");
}

fn four<L: Into<OneWordMechanism>>(mechanism: Result<L, ParamError>) {
    let mechanism: OneWordMechanism = match mechanism {
        Ok(mechanism) => mechanism.into(),
        Err(error) => return refused(error),
    };
    let mut generator = Generator::from_seed(7).allow_release();
    let mut noise = [f64::NAN; 9];
    mechanism.fill(&mut generator, &mut noise).expect("noise");
    multiples(&noise, mechanism.granularity(), &mechanism);
    let most = (mechanism.granularity() * 2_f64.powi(125)).min(f64::MAX);
    mechanism
        .release(
            &mut generator,
            &[0.0, 1.5, -most, most, 3.0, 4.0, 5.0, 5e-324, -0.0].map(|x| x.min(most)),
            &mut noise,
        )
        .expect("released values");
    multiples(&noise, mechanism.granularity(), &mechanism);
}

fn staged(mechanism: Result<Box<dyn AnyMechanism>, ParamError>) {
    let mechanism = match mechanism {
        Ok(mechanism) => mechanism,
        Err(error) => return refused(error),
    };
    let mut generator = Generator::from_seed(7).allow_release();
    let mut noise = [f64::NAN; 3];
    mechanism.fill(&mut generator, &mut noise).expect("noise");
    multiples(&noise, mechanism.granularity(), &mechanism);
    let most = (mechanism.granularity() * 2_f64.powi(125)).min(f64::MAX);
    mechanism
        .release(&mut generator, &[1.5, -most, 5e-324].map(|x| x.min(most)), &mut noise)
        .expect("released values");
    multiples(&noise, mechanism.granularity(), &mechanism);
}

fn multiples(values: &[f64], granularity: f64, mechanism: &impl Debug) {
    log2_of_power(granularity);
    for value in values {
        // A saturated value is the largest finite number, which is a multiple too.
        assert!(value.is_finite() && value % granularity == 0.0, "{value} of {mechanism:?}");
    }
}
