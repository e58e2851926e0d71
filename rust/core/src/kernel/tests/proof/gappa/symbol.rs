//! A number that writes down what is done to it, in the language of Gappa.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::kernel::arithmetic::{Fused, Separate};
use crate::kernel::elementary::{MulAdd, Number};
use crate::lattice::dyadic::{decompose, floor_log2, power_of_two};

/// What one script has so far.
#[derive(Default)]
struct Record {
    symbols: Vec<Texts>,
    lines: Vec<String>,
    constants: Vec<(u64, Symbol)>,
    /// What is known of the real numbers that constants stand for.
    known: Vec<String>,
    hints: Vec<String>,
    /// Each result is defined once, by what it is computed as.
    results: Vec<(String, Symbol)>,
}

#[derive(Clone)]
struct Texts {
    computed: String,
    exact: String,
    /// The computed number before its last rounding.
    unrounded: String,
    /// Of a scale 2ⁿ: itself less 1, in units of it.
    less_one: Option<[String; 2]>,
    /// Of a product of a number with itself.
    square_of: Option<Symbol>,
}

thread_local! {
    static RECORD: RefCell<Record> = RefCell::default();
}

fn with<T>(work: impl FnOnce(&mut Record) -> T) -> T {
    RECORD.with_borrow_mut(work)
}

/// A place in the record: the formulas copy their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol(usize);

/// How many results there are.
pub fn results() -> usize {
    with(|record| record.results.len())
}

/// The definitions, what is known of constants, and hints; the record is empty again.
pub fn take() -> [Vec<String>; 3] {
    let record = RECORD.take();
    [record.lines, record.known, record.hints]
}

/// The text of a number that is an `f64`, exactly.
pub fn literal(x: f64) -> String {
    let (significand, exponent) = decompose(x.abs());
    let zeros = if significand == 0 { 0 } else { significand.trailing_zeros() };
    let (digits, exponent) = (
        significand >> zeros,
        if significand == 0 { 0 } else { exponent + zeros as i32 },
    );
    let sign = if x < 0.0 { "-" } else { "" };
    if exponent >= 0 && digits << exponent < 1 << 20 {
        format!("{sign}{}", digits << exponent)
    } else {
        format!("{sign}0x{digits:x}p{exponent}")
    }
}

/// A decimal number of three digits above x > 0: for what is supposed, where more is safe.
pub fn above(x: f64) -> String {
    format!("{:.2e}", 1.006 * x)
}

impl Symbol {
    fn push(texts: Texts) -> Self {
        with(|record| {
            record.symbols.push(texts);
            Self(record.symbols.len() - 1)
        })
    }

    fn texts(self) -> Texts {
        with(|record| record.symbols[self.0].clone())
    }

    /// A number that is computed as `computed` and stands for `exact`.
    pub fn pair(computed: &str, exact: &str) -> Self {
        Self::push(Texts {
            computed: computed.into(),
            exact: exact.into(),
            unrounded: computed.into(),
            less_one: None,
            square_of: None,
        })
    }

    /// Any float, exactly.
    pub fn float(name: &str) -> Self {
        with(|record| record.lines.push(format!("{name} = rnd({name}_);")));
        Self::pair(name, name)
    }

    /// Any whole number, exactly.
    pub fn whole(name: &str) -> Self {
        with(|record| record.lines.push(format!("{name} = int<ne>({name}_);")));
        Self::pair(name, name)
    }

    /// n/d, rounded by the script's own format.
    pub fn ratio(name: &str, n: i32, d: i32) -> Self {
        let exact = name.to_uppercase();
        with(|record| record.lines.push(format!("{name} = rnd({n} / {d});  {exact} = {n} / {d};")));
        Self::pair(name, &exact)
    }

    /// 2ⁿ as the unit of every number that it multiplies, which rounds nothing. What it is less 1, computed and exactly, is given.
    pub fn scale(less_one: [&str; 2]) -> Self {
        let scale = Self::pair("1", "1");
        with(|record| record.symbols[scale.0].less_one = Some(less_one.map(str::to_owned)));
        scale
    }

    pub fn computed(self) -> String {
        self.texts().computed
    }

    pub fn exact(self) -> String {
        self.texts().exact
    }

    pub fn unrounded(self) -> String {
        self.texts().unrounded
    }

    /// Defines a result.
    fn result(computed: &str, exact: &str, rounds: bool) -> Self {
        let known = with(|record| {
            record
                .results
                .iter()
                .find(|(known, _)| known == computed)
                .map(|(_, symbol)| *symbol)
        });
        known.unwrap_or_else(|| {
            let number = with(|record| record.results.len() + 1);
            let (lower, upper) = (format!("t{number}"), format!("T{number}"));
            let equals = if rounds { "rnd=" } else { "=" };
            let symbol = Self::pair(&lower, &upper);
            with(|record| {
                record.lines.push(format!("{lower} {equals} {computed};  {upper} = {exact};"));
                record.symbols[symbol.0].unrounded = computed.into();
                record.results.push((computed.into(), symbol));
            });
            symbol
        })
    }

    fn is_zero(self) -> bool {
        matches!(self.computed().as_str(), "0" | "(-0)" | "(0)")
    }

    fn is_power_of_two(self) -> bool {
        with(|record| {
            let bits = record.constants.iter().find(|(_, symbol)| *symbol == self);
            bits.is_some_and(|(bits, _)| f64::from_bits(*bits) == power_of_two(floor_log2(f64::from_bits(*bits).abs())))
        })
    }
}

impl From<f64> for Symbol {
    /// A constant of few digits is exact. A long one is the rounding of 1/k, or of a real number of which no more is known.
    fn from(c: f64) -> Self {
        let known = with(|record| record.constants.iter().find(|(bits, _)| *bits == c.to_bits()).copied());
        if let Some((_, symbol)) = known {
            return symbol;
        }
        let number = with(|record| record.constants.len());
        let (lower, upper) = (format!("c{number}"), format!("C{number}"));
        let symbol = if c == 0.0 || decompose(c.abs()).0.trailing_zeros() >= 20 {
            Self::pair(&literal(c), &literal(c))
        } else {
            let inverse = (1.0 / c).round();
            if 1.0 / inverse == c && inverse.abs() < 1e15 {
                with(|record| {
                    record
                        .lines
                        .push(format!("{lower} = {};  {upper} = 1 / {inverse};", literal(c)));
                });
            } else {
                let half_ulp = power_of_two(floor_log2(c.abs()) - 53);
                with(|record| {
                    record.lines.push(format!("{lower} = {};", literal(c)));
                    record.known.push(format!("|{upper} - {lower}| <= {}", literal(half_ulp)));
                });
            }
            Self::pair(&lower, &upper)
        };
        with(|record| record.constants.push((c.to_bits(), symbol)));
        symbol
    }
}

impl Number for Symbol {}

impl Neg for Symbol {
    type Output = Self;

    fn neg(self) -> Self {
        let negated = |text: &str| {
            let positive = text.strip_prefix("(-").and_then(|rest| rest.strip_suffix(')'));
            positive.map_or_else(|| format!("(-{text})"), str::to_owned)
        };
        Self::pair(&negated(&self.computed()), &negated(&self.exact()))
    }
}

fn binary(a: Symbol, sign: &str, b: Symbol, rounds: bool) -> Symbol {
    let (a, b) = (a.texts(), b.texts());
    Symbol::result(
        &format!("{} {sign} {}", a.computed, b.computed),
        &format!("{} {sign} {}", a.exact, b.exact),
        rounds,
    )
}

impl Add for Symbol {
    type Output = Self;

    fn add(self, b: Self) -> Self {
        if self.is_zero() {
            return b;
        }
        if b.is_zero() {
            return self;
        }
        binary(self, "+", b, true)
    }
}

impl Sub for Symbol {
    type Output = Self;

    fn sub(self, b: Self) -> Self {
        if let Some([computed, exact]) = self.texts().less_one {
            assert_eq!(b, Self::from(1.0));
            return Self::pair(&format!("({computed})"), &format!("({exact})"));
        }
        binary(self, "-", b, true)
    }
}

impl Mul for Symbol {
    type Output = Self;

    fn mul(self, b: Self) -> Self {
        if self.texts().less_one.is_some() {
            return b;
        }
        if self.is_zero() || b.is_zero() {
            return Self::from(0.0);
        }
        // No product here underflows.
        let product = binary(self, "*", b, !(self.is_power_of_two() || b.is_power_of_two()));
        if self == b {
            with(|record| record.symbols[product.0].square_of = Some(self));
        }
        product
    }
}

impl Div for Symbol {
    type Output = Self;

    fn div(self, b: Self) -> Self {
        binary(self, "/", b, true)
    }
}

/// a·b + a is a·(1 + b), and x²·b + x is x·(1 + x·b): Gappa must be told, or it takes the two for independent. `product` is a·b, computed and
/// exactly.
fn factor(a: Symbol, product: [&str; 2], b: Symbol, c: Symbol) {
    let [rounded, exact_product] = product;
    let [first, second, term] = [a, b, c].map(Symbol::texts);
    // Of an argument only, which is not zero.
    let of_square = first.square_of == Some(c) && term.unrounded == term.computed;
    if a != c && !of_square {
        return;
    }
    let product = format!("{} * {}", first.computed, second.computed);
    let sum = if of_square {
        // By how much the square and the product are off, as factors.
        let squared = format!("{0} * {0}", term.computed);
        let off = |number: &str, of: &str| {
            if number == of {
                "0".into()
            } else {
                format!("({number} - {of}) / ({of})")
            }
        };
        let [square, rounding] = [off(&first.computed, &squared), off(rounded, &product)];
        format!(
            "{0} * (1 + {0} * {1} * (1 + {square}) * (1 + {rounding}))",
            term.computed, second.computed
        )
    } else if rounded == product {
        format!("{} * (1 + {})", term.computed, second.computed)
    } else {
        format!("{} * (1 + {}) + ({rounded} - {product})", term.computed, second.computed)
    };
    let factor = if of_square {
        format!("{} * {}", term.exact, second.exact)
    } else {
        second.exact
    };
    with(|record| {
        record.hints.push(format!("{rounded} + {} -> {sum};", term.computed));
        record
            .hints
            .push(format!("{exact_product} + {0} -> {0} * (1 + {factor});", term.exact));
    });
}

impl MulAdd<Symbol> for Separate {
    fn mul_add(a: Symbol, b: Symbol, c: Symbol) -> Symbol {
        let product = a * b;
        factor(a, [&product.computed(), &product.exact()], b, c);
        product + c
    }
}

impl MulAdd<Symbol> for Fused {
    fn mul_add(a: Symbol, b: Symbol, c: Symbol) -> Symbol {
        if a.is_zero() {
            return c;
        }
        let product = format!("{} * {}", a.computed(), b.computed());
        let exact_product = format!("{} * {}", a.exact(), b.exact());
        factor(a, [&product, &exact_product], b, c);
        Symbol::result(
            &format!("{product} + {}", c.computed()),
            &format!("{exact_product} + {}", c.exact()),
            true,
        )
    }
}
