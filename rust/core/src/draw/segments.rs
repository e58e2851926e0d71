//! Distributions on the integers whose probabilities fall geometrically, segment by segment: two draws for a value, whatever the parameters.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::declassify;
use crate::draw::{Sampler, Staged, Table};
use crate::exact::{Enclosure, IntegerDistribution, Step, Weights, geometric_sum};
use crate::kernel::WORD_BITS;
use crate::lattice::{Lattice, SHIFTER};
use crate::memory::{self, OutOfMemory};
use crate::stack;
use crate::stream::{AnyWords, CHUNK, Fill, SHORT, ShortWords, Stage, Words};
use crate::wiped::wipe;

/// Stage 0 chooses the segment by a [`Table`] of the weights, and the side by bit 63 of its word. Stage 1 is a one-sided geometric number. Modulo
/// the length of the segment it has exactly the geometric distribution on the segment.
///
/// A value draws from all rates and uses one, so that all values take the same work.
#[derive(Debug)]
pub(crate) struct Segments {
    pub lattice: Lattice,
    table: Table,
    samplers: Vec<Sampler>,
    places: Vec<Segment>,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    first: u64,
    /// `u64::MAX` if it has no end.
    length: u64,
    inverse: f64,
    /// The index of its sampler.
    rate: u64,
}

impl Segments {
    /// Zero alone, then for every ε the magnitudes beyond one break up to and with the next; there is one break fewer.
    pub fn new(eps: &[f64], breaks: &[u64], lattice: Lattice) -> Result<Self, OutOfMemory> {
        let sensitivity_steps = lattice.sensitivity_steps;
        let slopes = Slopes {
            sensitivity_steps,
            eps: memory::collected(eps.iter().copied())?,
            breaks: memory::collected(breaks.iter().copied())?,
        };
        // A rate that several segments share is drawn once.
        let mut rates = memory::with_capacity(eps.len())?;
        for eps in eps {
            if !rates.contains(eps) {
                rates.push(*eps);
            }
        }
        let mut places = memory::filled(Segment::ZERO, 1)?;
        for (eps, before, length) in slopes.segments() {
            let place = Segment {
                first: before + 1,
                length: length.unwrap_or(u64::MAX),
                inverse: length.map_or(0.0, |length| 1.0 / length as f64),
                // Every ε is among the rates: the default is never taken.
                rate: rates.iter().position(|rate| *rate == eps).unwrap_or_default() as u64,
            };
            memory::push(&mut places, place)?;
        }
        let mut samplers = memory::with_capacity(rates.len())?;
        for eps in rates.iter().copied() {
            memory::has_room()?;
            samplers.push(Sampler::new(
                IntegerDistribution::OneSided { eps, sensitivity_steps },
                lattice,
            ));
        }
        Ok(Self {
            lattice,
            table: Table::new(Arc::new(slopes))?,
            samplers,
            places,
        })
    }

    /// The place of a segment: of a few, by the same work for each.
    #[inline]
    fn place(&self, index: u64) -> Segment {
        if self.places.len() > FEW {
            return self.places[declassify::word(index) as usize];
        }
        let mut chosen = self.places[0];
        for (i, place) in (1..).zip(&self.places[1..]) {
            chosen = chosen.or(place, equal(i, index));
        }
        chosen
    }

    /// Stage 1 of the values whose segments do not have the first rate.
    fn write_other_rates(&self, buffers: &mut Buffers<'_>, stage: Stage<'_>, first: u64, distances: &mut [i64]) {
        let n = distances.len();
        let (chosen, rates, of_rate) = (&buffers.chosen[..n], &mut buffers.rates[..n], &mut buffers.of_rate[..n]);
        for (rate, chosen) in rates.iter_mut().zip(chosen) {
            *rate = self.place(*chosen & !SIGN).rate;
        }
        for (rate, sampler) in (1..).zip(&self.samplers[1..]) {
            sampler.write_in(buffers.words, stage, first, of_rate);
            for ((distance, of_rate), rate_of_value) in distances.iter_mut().zip(&*of_rate).zip(&*rates) {
                // A branch would reveal the rate, and thereby the segment.
                let mask = equal(*rate_of_value, rate).cast_signed();
                *distance = (*distance & !mask) | (of_rate & mask);
            }
        }
        wipe(rates);
        wipe(of_rate);
    }
}

impl Staged for Segments {
    fn draws(&self) -> usize {
        1 + self.samplers.len()
    }

    fn write_steps(&self, fill: &Fill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory> {
        if out.len() <= SHORT {
            let buffers = Buffers {
                words: &mut ShortWords::new(),
                chosen: &mut [0; SHORT],
                rates: &mut [0; SHORT],
                of_rate: &mut [0; SHORT],
            };
            self.write_by_way_of(buffers, fill, first, out);
        } else {
            let buffers = Buffers {
                words: &mut Words::new(),
                chosen: &mut [0; CHUNK],
                rates: &mut [0; CHUNK],
                of_rate: &mut [0; CHUNK],
            };
            self.write_by_way_of(buffers, fill, first, out);
        }
        Ok(())
    }
}

impl Segments {
    fn write_by_way_of(&self, mut buffers: Buffers<'_>, fill: &Fill, first: u64, out: &mut [i64]) {
        let most = buffers.chosen.len();
        let (choices, distances) = (fill.stage(0), fill.stage(1));
        for (first, out) in (first..).step_by(most).zip(out.chunks_mut(most)) {
            let chosen = &mut buffers.chosen[..out.len()];
            let words = buffers.words.at(choices, first, out.len());
            let extension = |i: usize, e: usize| choices.extension(first + i as u64, e);
            self.table.indices::<false, i64>(words, extension, out);
            // The word has the sign too.
            for ((chosen, index), word) in chosen.iter_mut().zip(&*out).zip(words) {
                *chosen = index.cast_unsigned() | word & SIGN;
            }
            // All rates read the words of stage 1, and a value keeps the one of its segment (contract, section 6).
            self.samplers[0].write_in(buffers.words, distances, first, out);
            if self.samplers.len() > 1 {
                self.write_other_rates(&mut buffers, distances, first, out);
            }
            for (out, chosen) in out.iter_mut().zip(&*buffers.chosen) {
                *out = self.place(*chosen & !SIGN).steps(out.unsigned_abs(), *chosen);
            }
        }
        // Segments roughly reveal the size of the noise.
        wipe(&mut buffers.chosen[..out.len().min(most)]);
        // The owner of the words wipes less far below this frame.
        stack::wipe_kernels();
    }
}

/// What values are drawn by way of.
struct Buffers<'a> {
    words: &'a mut AnyWords,
    /// The segments, and in the leading bits the signs.
    chosen: &'a mut [u64],
    rates: &'a mut [u64],
    of_rate: &'a mut [i64],
}

/// All bits 1 if two numbers below 2⁶³ are equal, otherwise all 0. The compiler would make a branch of what it can see to be a comparison.
fn equal(a: u64, b: u64) -> u64 {
    black_box(((a ^ b).wrapping_sub(1).cast_signed() >> 63).cast_unsigned())
}

const SIGN: u64 = 1 << WORD_BITS;

/// Up to this number of segments, one is chosen without an address that depends on which.
const FEW: usize = 8;

/// Distances below this take the quick way to a remainder.
const NEAR: u64 = 1 << 50;

impl Segment {
    const ZERO: Self = Self {
        first: 0,
        length: 1,
        inverse: 1.0,
        rate: 0,
    };

    /// `other` if all bits of `mask` are 1, `self` if none is.
    #[inline]
    fn or(self, other: &Self, mask: u64) -> Self {
        let choose = |a: u64, b: u64| a ^ ((a ^ b) & mask);
        Self {
            first: choose(self.first, other.first),
            length: choose(self.length, other.length),
            inverse: f64::from_bits(choose(self.inverse.to_bits(), other.inverse.to_bits())),
            rate: choose(self.rate, other.rate),
        }
    }

    /// The integer at `distance` from the first one; beyond the end from the first one again. The leading bit of `word` has the sign.
    #[inline]
    fn steps(&self, distance: u64, word: u64) -> i64 {
        let inside = self.modulo(distance);
        // Both are below 2⁶³, and what is beyond saturates. A check would be a branch on noise.
        let sum = self.first.wrapping_add(inside).cast_signed();
        let magnitude = (sum | sum >> 63) & i64::MAX;
        // All ones if negative.
        let sign = word.cast_signed() >> WORD_BITS;
        (magnitude ^ sign).wrapping_sub(sign)
    }

    /// `distance` modulo the length. A division takes longer than all the rest, and where it is needed depends on the value.
    #[inline]
    fn modulo(&self, distance: u64) -> u64 {
        if declassify::condition(distance >= NEAR) {
            return declassify::word(distance) % declassify::word(self.length);
        }
        // The quotient is below 2⁵⁰ and three roundings of at most 2⁻⁵³ each from right: to the nearest integer it is less than one off.
        let quotient = distance.cast_signed() as f64 * self.inverse + SHIFTER;
        let quotient = quotient.to_bits().wrapping_sub(SHIFTER.to_bits());
        let rest = distance.wrapping_sub(quotient.wrapping_mul(self.length)).cast_signed();
        // A quotient one too large leaves a negative rest, at least −length.
        rest.wrapping_add(self.length.cast_signed() & rest >> 63).cast_unsigned()
    }
}

#[derive(Debug)]
struct Slopes {
    sensitivity_steps: u64,
    eps: Vec<f64>,
    breaks: Vec<u64>,
}

impl Slopes {
    /// Of each segment but zero's: ε, the break before, and the length.
    fn segments(&self) -> impl Iterator<Item = (f64, u64, Option<u64>)> {
        let before = core::iter::once(0).chain(self.breaks.iter().copied());
        let with_length = |(i, (eps, before))| (eps, before, self.breaks.get::<usize>(i).map(|end| end - before));
        self.eps.iter().copied().zip(before).enumerate().map(with_length)
    }
}

impl Weights for Slopes {
    /// The table's question v < S(j) is never an equality. Multiplied out, one term is v times the weight of 0, which is 1. All others are rational
    /// multiples of powers of e with exponents other than 0. Powers with different exponents are linearly independent (Lindemann and Weierstrass).
    fn enclose(&self, p: usize, visit: &mut dyn FnMut(&Enclosure) -> ControlFlow<()>) -> u64 {
        let mut level = Enclosure::point(1, p);
        let mut ended = visit(&level).is_break();
        for (eps, _, length) in self.segments() {
            if ended {
                break;
            }
            let step = Step::new(eps, self.sensitivity_steps);
            let mut weight = geometric_sum(&step, length, p).times(&level).times(&step.decay(p));
            // A magnitude stands for two integers, but for zero.
            weight.shl(1);
            ended = visit(&weight).is_break();
            if let Some(length) = length {
                level = level.times(&step.fixed_power(length, p));
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;

    /// e^(−ε|k|/D) for 1 ≤ |k| ≤ 3, from then on with another ε, and 1 at 0.
    fn two_slopes(sensitivity_steps: u64) -> Segments {
        let lattice = Lattice {
            log2_granularity: 0,
            sensitivity_steps,
        };
        Segments::new(&[0.75, 0.25], &[3], lattice).unwrap()
    }

    /// Evidence: frequencies of 200 000 values, within 5 standard deviations (41 integers: a false alarm in 4·10⁴ seeds; the seed is fixed).
    #[test]
    fn frequencies_are_the_probabilities() {
        let distribution = two_slopes(1);
        let weight = |k: i64| {
            let k = k.unsigned_abs() as f64;
            (-0.75 * k.min(3.0) - 0.25 * (k - 3.0).max(0.0)).exp()
        };
        let total: f64 = (-400..=400).map(weight).sum();
        let n = 200_000;
        let fill = Generator::from_seed(11).next_staged(n).unwrap();
        let mut out = vec![0; n];
        distribution.write_steps(&fill, 0, &mut out).unwrap();
        for k in -20..=20 {
            let p = weight(k) / total;
            let count = out.iter().filter(|&&steps| steps == k).count() as f64;
            let deviation = (count - n as f64 * p) / (n as f64 * p * (1.0 - p)).sqrt();
            assert!(deviation.abs() < 5.0, "{k}: {count}, expected {}", n as f64 * p);
        }
    }

    /// Evidence: equality with the language's remainder, around multiples of the length and the limit of the quick way.
    #[test]
    fn remainders_are_remainders() {
        let mut random = crate::testing::random::Random(5);
        for length in [
            1,
            2,
            3,
            7,
            1000,
            (1 << 33) + 1,
            (1 << 50) - 1,
            (1 << 50) + 7,
            (1 << 62) - 1,
            u64::MAX,
        ] {
            let place = Segment {
                first: 0,
                length,
                inverse: if length == u64::MAX { 0.0 } else { 1.0 / length as f64 },
                rate: 0,
            };
            for _ in 0..2000 {
                let near = (random.word() >> 14) / length * length;
                let near = near.wrapping_add(random.word() % 5).wrapping_sub(2);
                for distance in [near, random.word() >> 14, random.word() >> 2, NEAR - 1, NEAR] {
                    let distance = distance % (1 << 63);
                    assert_eq!(place.modulo(distance), distance % length, "{distance} {length}");
                }
            }
        }
    }

    /// Evidence: equality of pieces of any place and length with the whole.
    #[test]
    fn pieces_are_the_whole() {
        let distribution = two_slopes(1 << 33);
        let fill = Generator::from_seed(12).next_staged(2000).unwrap();
        let mut whole = vec![0; 2000];
        distribution.write_steps(&fill, 0, &mut whole).unwrap();
        for (first, n) in [(0, 1), (1, 5), (3, 9), (511, 2), (512, 600), (700, 1300)] {
            let mut piece = vec![0; n];
            distribution.write_steps(&fill, first as u64, &mut piece).unwrap();
            assert_eq!(piece, whole[first..first + n]);
        }
    }
}
