//! One script: definitions, a claim, and hints.

use super::symbol::{Symbol, literal, take};

/// A format: Gappa's name of it, and u, half an ulp of 1.
#[derive(Clone, Copy)]
pub struct Format {
    name: &'static str,
    u: f64,
}

pub const DOUBLE: Format = Format {
    name: "float<ieee_64, ne>",
    u: f64::EPSILON / 2.0,
};
pub const SINGLE: Format = Format {
    name: "float<ieee_32, ne>",
    u: f32::EPSILON as f64 / 2.0,
};

impl Format {
    /// A bound for readers: to three decimals, in u where it is an error of some roundings.
    fn readable(self, bound: f64) -> String {
        let three = |x: f64| (x * 1000.0).round() / 1000.0;
        if bound < 1e4 * self.u {
            format!("{}u", three(bound / self.u))
        } else if bound < 1e-3 {
            format!("{bound:.2e}")
        } else {
            three(bound).to_string()
        }
    }
}

/// `expression` is at most `bound`. Gappa must not prove that it is at most `too_tight`.
pub struct Goal {
    pub expression: String,
    pub bound: f64,
    pub too_tight: Option<f64>,
}

impl Goal {
    pub fn new(expression: impl Into<String>, bound: f64, too_tight: f64) -> Self {
        assert!(too_tight < bound);
        Self {
            expression: expression.into(),
            bound,
            too_tight: Some(too_tight),
        }
    }

    /// That it is zero. Another line then has a number that Gappa must not prove it with.
    pub fn exact(expression: &str) -> Self {
        Self {
            expression: expression.into(),
            bound: 0.0,
            too_tight: None,
        }
    }

    /// |computed/exact − 1|.
    pub fn relative(of: Symbol, bound: f64, too_tight: f64) -> Self {
        Self::new(format!("|{} -/ {}|", of.computed(), of.exact()), bound, too_tight)
    }
}

/// What a script says after its definitions.
#[derive(Default)]
pub struct Claim {
    /// Beside those of the symbols.
    pub definitions: Vec<String>,
    pub hypotheses: Vec<String>,
    pub goals: Vec<Goal>,
    pub hints: Vec<String>,
}

/// The file's text.
pub fn text(about: &str, format: Format, claim: impl FnOnce() -> Claim) -> String {
    let Claim {
        definitions,
        hypotheses,
        goals,
        hints,
    } = claim();
    let [computed, known, found] = take();
    let mut lines: Vec<String> = about.lines().map(|line| format!("# {line}").trim_end().to_owned()).collect();
    lines.push("# Written by `make test-gappa` from the formulas and constants in rust/core/src/kernel.".into());
    if computed.iter().any(|line| line.starts_with("t1 ")) {
        lines.push(
            "# Small letters are computed, capitals are exact. t1, t2, ... are the results of the formula in its order.".into(),
        );
    }
    lines.push(format!("@rnd = {};  # u is {}", format.name, literal(format.u)));
    lines.extend(computed);
    lines.extend(definitions);
    let hypotheses: Vec<_> = hypotheses.into_iter().chain(known).collect();
    lines.push(format!("{{ {} ->", hypotheses.join("\n  /\\ ")));
    let last = goals.len() - 1;
    for (i, goal) in goals.iter().enumerate() {
        let and = if i == 0 { "  " } else { "  /\\ " };
        // `scripts/test_gappa.py` puts the second number instead of the first.
        let not = goal.too_tight.map_or_else(String::new, |wrong| {
            let [bound, wrong_bound] = [goal.bound, wrong].map(|bound| format.readable(bound));
            format!("  # {bound}; not {} ({wrong_bound})", literal(wrong))
        });
        lines.push(format!("{and}{} <= {}{not}", goal.expression, literal(goal.bound)));
        if i == last {
            lines.push("}".into());
        }
    }
    lines.extend(found);
    lines.extend(hints);
    lines.join("\n") + "\n"
}
