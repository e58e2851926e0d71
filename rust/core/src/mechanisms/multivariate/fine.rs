//! The coordinates of a vector in the ℓ2 ball that `f64` leaves open, from 127 bits of every number.
//!
//! A spacing of h sorted numbers is about 1/h: log₂ h of their bits are lost in it, and a radius that grows with the dimension asks for more.
//! In 10 000 dimensions `f64` decides hardly any coordinate. 127 bits decide all but one coordinate in 2⁵⁰ even in 100 000 dimensions. The order of a
//! vector's numbers is found once for all of its coordinates, so the work grows with d·log d.

use zeroize::Zeroizing;

use super::undecided::UndecidedVector;
use super::wide::Between;
use crate::declassify;
use crate::exact::{last_true, limbs::product};
use crate::memory::{self, OutOfMemory};

/// u² + v² is at most this many units of 2⁻¹²⁷ above what is computed: 2·(u + v) < 2.83 for bits beyond the 127th, and 1 that each square loses.
const Q_WIDTH: u128 = 5;

/// The same for v² alone.
const SQUARE_WIDTH: u128 = 3;

/// The numbers of one vector in units of 2⁻¹²⁷, pair by pair; wiped on drop.
pub(super) struct Fine {
    /// u and v, rounded down.
    points: Zeroizing<Vec<[u128; 2]>>,
    /// Lower ends of q = u² + v².
    q: Zeroizing<Vec<u128>>,
    /// The same in ascending order.
    sorted: Zeroizing<Vec<u128>>,
    /// In an odd dimension q'·N and q' of the last pair.
    rest: Option<[Between; 2]>,
}

impl Fine {
    pub fn new(pairs: usize) -> Result<Self, OutOfMemory> {
        Ok(Self {
            points: memory::with_capacity(pairs)?.into(),
            q: memory::with_capacity(pairs)?.into(),
            sorted: memory::with_capacity(pairs)?.into(),
            rest: None,
        })
    }

    /// The numbers of a vector in d dimensions, from the u and v of its pairs, for which there is room.
    pub fn load(&mut self, dim: usize, points: impl ExactSizeIterator<Item = [u128; 2]>) {
        let h = points.len();
        for numbers in [&mut self.q, &mut self.sorted] {
            numbers.clear();
        }
        self.points.clear();
        self.points.extend(points);
        self.q.extend(self.points.iter().map(|[u, v]| times(*u, *u) + times(*v, *v)));
        self.sorted.extend_from_slice(&self.q);
        self.sorted.sort_unstable();
        self.rest = (dim % 2 == 1).then(|| self.rest_of_odd(h - 1));
    }

    /// Magnitude of coordinate i of the vector that `undecided` is about.
    pub fn round(&self, undecided: &UndecidedVector<'_>, i: usize) -> u64 {
        declassify::slow_path();
        let (found, sure) = self.decide(declassify::word(undecided.radius), i);
        if sure { found } else { undecided.round(i, found) }
    }

    /// The magnitude in a ball of this radius, and whether it is certain.
    fn decide(&self, radius: u64, i: usize) -> (u64, bool) {
        // k − ½ ≤ ρ·√(above/below), squared and without fractions: (2k − 1)²·below ≤ (2ρ)²·above.
        let (below, above) = self.square(i);
        let twice = Between::integer(2 * u128::from(radius));
        let right = twice.times(&twice).times(&above);
        let mut sure = true;
        // In the unit ball no coordinate is above 1.
        let guess = f64::midpoint(right.over(&below).sqrt(), 1.0) as u64;
        let found = last_true(guess, radius + 1, |k| {
            let odd = Between::integer(2 * u128::from(k) - 1);
            let less = right.less(&odd.times(&odd).times(&below));
            // One question that is open makes the answer a guess.
            sure &= less.is_some();
            less == Some(false)
        });
        (found, sure)
    }

    /// Numbers whose quotient, the second by the first, is the square of coordinate i in the unit ball: q·N and x²·σ, with x either u or v.
    fn square(&self, i: usize) -> (Between, Between) {
        let (pair, x) = (i / 2, self.points[i / 2][i % 2]);
        // Bits beyond the 127th add less than one unit to x.
        let (x, [lo, hi]) = (Between::fraction(x, x + 1), self.spacing(pair));
        let above = x.times(&x).times(&Between::fraction(lo, hi));
        let below = Between::fraction(self.q[pair], self.q[pair] + Q_WIDTH);
        match &self.rest {
            Some([rest, last]) => (below.times(rest), above.times(last)),
            None => (below, above),
        }
    }

    /// Ends of σ of pair j: the i-th smallest of numbers lies between the i-th smallest of their lower ends and of their upper ends.
    fn spacing(&self, j: usize) -> [u128; 2] {
        let q = self.sorted[j];
        match j.checked_sub(1).map(|before| self.sorted[before]) {
            Some(before) => [q.saturating_sub(before + Q_WIDTH), q + Q_WIDTH - before],
            None => [q, q + Q_WIDTH],
        }
    }

    /// q' − σ'·v'² and q', where v' is what is dropped.
    fn rest_of_odd(&self, last: usize) -> [Between; 2] {
        let (q, v, [lo, hi]) = (self.q[last], self.points[last][1], self.spacing(last));
        let square = times(v, v);
        // Rounded down and up. The larger product makes the lower end of the difference.
        let dropped = [times(lo, square), times(hi, square + SQUARE_WIDTH) + 1];
        let rest = Between::fraction(q.saturating_sub(dropped[1]), q + Q_WIDTH - dropped[0]);
        [rest, Between::fraction(q, q + Q_WIDTH)]
    }
}

/// ⌊a·b/2¹²⁷⌋, which must be below 2¹²⁸.
fn times(a: u128, b: u128) -> u128 {
    let (high, low) = product(a, b);
    high << 1 | low >> 127
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;
    use crate::mechanisms::multivariate::undecided::{attempt_word, pairs};

    /// Evidence: counting, and the exact path as a second way. 127 bits leave no coordinate of long vectors open, so that none is decided from all
    /// numbers of the vector on its own.
    #[test]
    #[cfg_attr(miri, ignore = "Miri takes hours for so many coordinates")]
    fn long_vectors_are_decided_together() {
        let fill = Generator::from_seed(3).next_staged(1 << 20).unwrap();
        for (dim, radius) in [(300, 1 << 50), (301, 1 << 60), (20_000, 1 << 46), (20_001, 1 << 52)] {
            let undecided = UndecidedVector::new(&fill, 1, dim, radius + 12_345);
            let mut fine = Fine::new(pairs(dim)).unwrap();
            let first = |j| {
                let attempt = undecided.accepted(j);
                let s = attempt_word(pairs(dim), j, attempt);
                [s, s + 1].map(|s| undecided.leading_bits(s, attempt, undecided.words(s)[0]))
            };
            fine.load(dim, (0..pairs(dim)).map(first));
            for i in 0..dim {
                let (found, sure) = fine.decide(undecided.radius, i);
                assert!(sure, "{dim} {i}");
                if dim < 1000 && i % 30 == 0 {
                    assert_eq!(found, undecided.round(i, found), "{dim} {i}");
                }
            }
        }
    }

    /// Numbers that agree in all of their bits have no certain order.
    #[test]
    fn what_is_not_certain_is_left() {
        let mut fine = Fine::new(2).unwrap();
        fine.load(4, [[1 << 126, 1 << 100]; 2].into_iter());
        assert!(fine.decide(1 << 40, 0).1);
        assert!(!fine.decide(1 << 62, 2).1);
    }
}
