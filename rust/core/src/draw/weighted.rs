//! A distribution on the integers from −m to m by its weights, with a geometric tail on both sides or none: one draw from one table.

use core::ops::ControlFlow;

use crate::draw::{LaterTable, Staged};
use crate::exact::{Enclosure, Limbs, Weights, limbs};
use crate::lattice::{decompose, floor_log2};
use crate::memory::{self, OutOfMemory};
use crate::stream::Fill;

/// A float64 as significand · 2^exponent.
type Dyadic = (u64, i32);

/// In units of the last place: a tail of weights up to this one is left out of the list. Rounding up keeps weights of a tail above 2¹¹ + 1.
const SMALL: u64 = 1 << 12;

/// All tails that are left out: both sides together are below 2 · 2¹² · 2¹¹ units.
const REST: u64 = 1 << 24;

/// In the order of the contract, section 15: w(−m) … w(m), then the tails, m + 1, −(m + 1), m + 2, ….
#[derive(Debug)]
pub(crate) struct ListedWeights {
    /// Multiplied by a power of two, so that the largest is from 1 to 2.
    body: Vec<Dyadic>,
    ratio: Option<Dyadic>,
}

impl Weights for ListedWeights {
    /// v and S(j), both rational, can be equal if all 8192 words agree. v is not less then, as the search has it.
    fn enclose(&self, p: usize, visit: &mut dyn FnMut(&Enclosure) -> ControlFlow<()>) -> u64 {
        let body = &self.body;
        if body.iter().try_for_each(|weight| visit(&fixed(*weight, p))).is_break() {
            return 0;
        }
        let Some(ratio) = self.ratio.map(|ratio| fixed(ratio, p)) else {
            return 0;
        };
        let mut ends = [body[body.len() - 1], body[0]].map(|end| fixed(end, p));
        while ends.iter().any(|end| !is_small(&end.hi)) {
            ends = ends.map(|end| end.times(&ratio));
            if ends.iter().try_for_each(&mut *visit).is_break() {
                break;
            }
        }
        REST
    }
}

/// A number below 2 with `p` limbs of fraction: a point if they hold it.
fn fixed((significand, exponent): Dyadic, p: usize) -> Enclosure {
    let mut lo = Limbs::zero(p + 1);
    let place = exponent + 64 * p as i32;
    lo[0] = significand;
    if place >= 0 {
        limbs::shl(&mut lo, place as usize);
        return Enclosure::above(lo, 0);
    }
    let lost = place.unsigned_abs();
    lo[0] = significand.checked_shr(lost).unwrap_or(0);
    let whole = lo[0].checked_shl(lost).unwrap_or(0) == significand;
    Enclosure::above(lo, u64::from(!whole))
}

fn is_small(number: &Limbs) -> bool {
    number[0] <= SMALL && number[1..].iter().all(|limb| *limb == 0)
}

#[derive(Debug)]
pub(crate) struct WeightedDistribution {
    table: LaterTable,
    reach: u64,
}

impl WeightedDistribution {
    /// From 2m + 1 finite weights, none negative and one positive; with a ratio, at most 1 − 2⁻¹¹, both ends are positive.
    pub fn new(weights: &[f64], ratio: Option<f64>) -> Result<Self, OutOfMemory> {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let scale = floor_log2(largest);
        let body = memory::collected(weights.iter().map(|weight| {
            let (significand, exponent) = decompose(*weight);
            (significand, exponent - scale)
        }))?;
        let ratio = ratio.map(decompose);
        memory::has_room()?;
        Ok(Self {
            table: LaterTable::new(ListedWeights { body, ratio }),
            reach: (weights.len() / 2) as u64,
        })
    }

    /// The integer of an index, without branches on it.
    #[inline]
    fn integer(&self, index: i64) -> i64 {
        let reach = self.reach.cast_signed();
        // Indices and reach are far below 2⁶².
        let beyond = index.wrapping_sub(2 * reach + 1);
        let inside = beyond >> 63;
        let negative = (beyond & 1).wrapping_neg();
        let tail = ((reach + 1).wrapping_add(beyond >> 1) ^ negative).wrapping_sub(negative);
        (index.wrapping_sub(reach) & inside) | (tail & !inside)
    }
}

impl Staged for WeightedDistribution {
    fn prepare(&self) -> Result<(), OutOfMemory> {
        self.table.table().map(drop)
    }

    fn write_steps(&self, fill: &Fill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory> {
        self.table.table()?.write(fill.stage(0), first, out);
        for steps in out {
            *steps = self.integer(*steps);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::draw::table::Table;
    use crate::exact::{self, listed};
    use crate::testing::random::Random;

    fn weights(list: &[f64], ratio: Option<f64>) -> Arc<dyn Weights> {
        WeightedDistribution::new(list, ratio).unwrap().table.weights().clone()
    }

    /// Evidence: the order of the contract, written out.
    #[test]
    fn indices_are_integers_in_the_order_of_the_contract() {
        let distribution = WeightedDistribution::new(&[1.0; 5], Some(0.5)).unwrap();
        let drawn: Vec<i64> = (0..11).map(|index| distribution.integer(index)).collect();
        assert_eq!(drawn, [-2, -1, 0, 1, 2, 3, -3, 4, -4, 5, -5]);
    }

    /// Evidence: closed forms. Points where the limbs hold a weight, intervals of a unit elsewhere, and sums of a geometric tail.
    #[test]
    fn weights_are_enclosed() {
        // Over 2, by which the largest is from 1 to 2: ⅜, 0 and 1½.
        let (list, rest) = listed(&*weights(&[0.75, 0.0, 3.0], None), 2);
        assert_eq!(rest, 0);
        for (weight, limbs) in list.iter().zip([[0, 3 << 61, 0], [0; 3], [0, 1 << 63, 1]]) {
            assert_eq!((&weight.lo[..], &weight.hi[..]), (&limbs[..], &limbs[..]));
        }
        // 2⁻²⁰⁰ of the largest: no limb of two holds it, and four do.
        let faint = weights(&[(-200.0_f64).exp2(), 1.0, (-200.0_f64).exp2()], None);
        let (coarse, _) = listed(&*faint, 2);
        assert!(coarse[0].lo.iter().all(|limb| *limb == 0) && coarse[0].hi[0] == 1);
        let (fine, _) = listed(&*faint, 4);
        assert_eq!(fine[0].lo[..], fine[0].hi[..]);
        assert_eq!(fine[0].lo[0], 1 << 56);
        // Σ 2·2^−j over j ≥ 1 is 2: together with the body, 5 in all.
        for p in [2, 4, 8] {
            let sums = exact::Sums::new(&*weights(&[1.0; 3], Some(0.5)), p).total.clone();
            let [sum, below] = [5, 4].map(|n| Enclosure::point(n, p).lo);
            assert!(!limbs::less(&sum, &sums.lo) && !limbs::less(&sums.hi, &sum) && limbs::less(&below, &sums.lo));
        }
    }

    /// Evidence: a second way to the same number. The index from the thresholds is the one that the exact path finds on its own, for weights of
    /// every size, zeros among them.
    #[test]
    fn thresholds_and_the_exact_path_agree() {
        let mut random = Random(17);
        for round in 0..40 {
            let m = 1 + round % 7;
            let list: Vec<f64> = (0..=2 * m)
                .map(|i| match random.word() % 5 {
                    0 if i > 0 && i < 2 * m => 0.0,
                    n => (random.word() >> 11) as f64 * (-(f64::from(n as u32) * 30.0)).exp2(),
                })
                .collect();
            let ratio = (round % 2 == 1 && list[0] > 0.0 && list[2 * m] > 0.0).then_some(0.375);
            let given = weights(&list, ratio);
            let table = Table::new(Arc::clone(&given)).unwrap();
            for _ in 0..50 {
                let (word, extension) = (random.word() >> (random.word() % 70).min(63), random.word());
                let words = |e: usize| extension.rotate_left(7 * e as u32) ^ e as u64;
                let exact = exact::index(&*given, word & (u64::MAX >> 1), &mut { words }, 0);
                assert_eq!(table.index(word, words), exact, "{list:?} {word:x}");
                if exact < list.len() as u64 {
                    assert!(
                        list[exact as usize] > 0.0,
                        "an integer without probability: {list:?} {word:x}"
                    );
                }
            }
        }
    }
}
