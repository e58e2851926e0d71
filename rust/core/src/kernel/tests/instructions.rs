//! Evidence: each instruction that a tier has of its own does what the portable code beside it says, or what is said of it here.

use super::super::arithmetic::{Arithmetic, BLOCK};
use super::super::tier::{Tier, on_tier};
use crate::testing::random::Random;

const EXPONENT: u32 = 52;
const LEADING: u32 = 19;

/// What is found in a table, in a narrow one, and the parts of narrow numbers.
type Tables = ([f64; BLOCK], [f32; BLOCK], [[f32; BLOCK]; 2]);

/// What a tier makes of words.
#[derive(Debug, PartialEq)]
struct Made {
    halves: [i64; BLOCK],
    tables: Option<Tables>,
}

struct Making<'a> {
    words: &'a [u64; BLOCK],
    tables: bool,
}

impl Making<'_> {
    fn numbers(&self) -> ([f64; BLOCK], [f32; BLOCK]) {
        (
            self.words.map(|word| (word >> 1) as f64),
            self.words.map(|word| ((word >> 33) + 1) as f32),
        )
    }
}

fn table() -> ([f64; 16], [f32; 16]) {
    (
        core::array::from_fn(|i| i as f64 + 0.5),
        core::array::from_fn(|i| i as f32 + 0.25),
    )
}

impl Making<'_> {
    #[inline(always)]
    fn make<A: Arithmetic>(&self) -> Made {
        let ((wide, narrow), (wide_table, narrow_table)) = (self.numbers(), table());
        Made {
            halves: A::widened(&A::high_halves(self.words)),
            tables: self.tables.then(|| {
                (
                    A::look_up::<EXPONENT>(&wide_table, &wide),
                    A::look_up_narrow::<LEADING>(&narrow_table, &narrow),
                    A::split_narrow(&narrow),
                )
            }),
        }
    }
}

#[test]
fn they_do_what_is_said_of_them() {
    let mut random = Random(11);
    for tier in Tier::tested() {
        for _ in 0..1000 {
            let words = [(); BLOCK].map(|()| random.word());
            let making = Making {
                words: &words,
                tables: tier.has_tables(),
            };
            let ((wide, narrow), (wide_table, narrow_table)) = (making.numbers(), table());
            let exponents = narrow.map(|x| f64::from(x).log2().floor() as f32);
            let expected = Made {
                halves: words.map(|word| i64::from((word >> 32) as i32)),
                tables: making.tables.then(|| {
                    (
                        wide.map(|x| wide_table[(x.to_bits() >> EXPONENT) as usize % 16]),
                        narrow.map(|x| narrow_table[(x.to_bits() >> LEADING) as usize % 16]),
                        [exponents, core::array::from_fn(|i| narrow[i] / exponents[i].exp2())],
                    )
                }),
            };
            assert_eq!(on_tier!(tier, A => making.make::<A>()), expected, "{tier:?}");
        }
    }
}
