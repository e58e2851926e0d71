//! Laws on the integers whose probabilities fall geometrically, segment by segment: two draws for a value, whatever the parameters.

use zeroize::Zeroize;

use crate::exact::enclosure::Enclosure;
use crate::exact::exp::{Power, Step};
use crate::exact::{IntegerLaw, Weights, geometric_sum};
use crate::kernel::WORD_BITS;
use crate::noise::stage;
use crate::params::Lattice;
use crate::sampler::Sampler;
use crate::stream::{CHUNK, Fill};
use crate::table::Table;

/// Which integers a segment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// first, first + 1, …
    Plus,
    /// −first, −(first + 1), …
    Minus,
    /// Both of them: no zero.
    Both,
}

/// `length` integers, from ±`first` outwards, each e^(−ε/D) times as likely as the one before.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub side: Side,
    pub first: u64,
    /// `None`: without an end.
    pub length: Option<u64>,
    /// ε.
    pub eps: f64,
    /// The weight of its first integer is the product of e^(−ε·count/D) over these (ε, count).
    pub depth: Vec<(f64, u64)>,
}

/// Stage 0 chooses the segment by a [`Table`] of their weights, and the side by bit 63 of its word. Stage 1 is a one-sided geometric number:
/// modulo the length of the segment, it is the geometric law on the segment, exactly.
///
/// A value takes the draws of all rates and uses one, so that the work is the same for all values.
#[derive(Debug)]
pub(crate) struct Segments {
    lattice: Lattice,
    table: Table,
    /// One for each rate.
    samplers: Vec<Sampler>,
    places: Vec<Place>,
}

/// A segment, ready to use.
#[derive(Clone, Copy, Debug)]
struct Place {
    side: Side,
    first: u64,
    /// `u64::MAX` if it has no end.
    length: u64,
    /// Index of its sampler.
    rate: usize,
}

impl Segments {
    pub fn new(segments: &[Segment], lattice: Lattice) -> Self {
        let mut rates: Vec<f64> = Vec::new();
        let mut rate_of = |eps: f64| {
            rates.iter().position(|rate| *rate == eps).unwrap_or_else(|| {
                rates.push(eps);
                rates.len() - 1
            })
        };
        let places = segments.iter().map(|segment| Place {
            side: segment.side,
            first: segment.first,
            length: segment.length.unwrap_or(u64::MAX),
            rate: rate_of(segment.eps),
        });
        let places = places.collect();
        let cells = lattice.cells;
        let weights = SegmentWeights {
            cells,
            segments: segments.to_vec(),
        };
        Self {
            lattice,
            table: Table::new(Box::new(weights)),
            samplers: rates
                .into_iter()
                .map(|eps| Sampler::new(IntegerLaw::OneSided { eps, cells }, lattice))
                .collect(),
            places,
        }
    }

    pub fn lattice(&self) -> Lattice {
        self.lattice
    }

    /// [`crate::Noise::write_cells`].
    pub fn write_cells(&self, fill: &Fill, first: u64, out: &mut [i64]) {
        let mut words = fill.words();
        let mut distances = [0_i64; CHUNK];
        let used = out.len().min(CHUNK);
        for (first, out) in (first..).step_by(CHUNK).zip(out.chunks_mut(CHUNK)) {
            let distances = &mut distances[..out.len()];
            let words = words.at(stage(0, first), out.len());
            for (i, (word, out)) in (stage(0, first)..).zip(words.iter().zip(&mut *out)) {
                *out = self.table.index(*word, |e| fill.extension(i, e)).cast_signed();
            }
            let mut chosen = [0_u16; CHUNK];
            for (chosen, index) in chosen.iter_mut().zip(&*out) {
                *chosen = *index as u16;
            }
            for (rate, sampler) in self.samplers.iter().enumerate() {
                sampler.write(fill, stage(1, first), distances);
                for (((out, chosen), distance), word) in out.iter_mut().zip(&chosen).zip(&*distances).zip(words) {
                    let place = self.places[usize::from(*chosen)];
                    if place.rate == rate {
                        *out = place.cells(distance.unsigned_abs(), word >> WORD_BITS == 1);
                    }
                }
            }
            chosen.zeroize();
        }
        distances[..used].zeroize();
    }
}

impl Place {
    /// The integer at `distance` from the first one; beyond the end from the first one again.
    #[inline]
    fn cells(&self, distance: u64, sign: bool) -> i64 {
        let inside = if distance < self.length {
            distance
        } else {
            distance % self.length
        };
        let magnitude = i64::try_from(self.first + inside).unwrap_or(i64::MAX);
        let negative = match self.side {
            Side::Plus => false,
            Side::Minus => true,
            Side::Both => sign,
        };
        if negative { -magnitude } else { magnitude }
    }
}

/// What the integers of each segment come to.
#[derive(Debug)]
struct SegmentWeights {
    /// D.
    cells: u64,
    segments: Vec<Segment>,
}

impl Weights for SegmentWeights {
    /// The table's question v < S(j) is never an equality: multiplied out, v times the weight of 0, which is 1, is the only term that is not a
    /// rational multiple of a power of e with an exponent other than 0, and such powers are linearly independent (Lindemann and Weierstrass).
    fn enclose(&self, p: usize) -> (Vec<Enclosure>, u64) {
        (self.segments.iter().map(|segment| self.weight(segment, p)).collect(), 0)
    }
}

impl SegmentWeights {
    fn weight(&self, segment: &Segment, p: usize) -> Enclosure {
        let mut weight = geometric_sum(&Step::new(segment.eps, self.cells), segment.length, p);
        for &(eps, count) in &segment.depth {
            let fall = Step::new(eps, self.cells).power(count, p);
            weight = weight.times(&Power::fixed_or_tiny(fall.as_ref(), p));
        }
        if segment.side == Side::Both {
            weight.shl(1);
        }
        weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;

    /// e^(−ε|k|/D) for 1 ≤ |k| ≤ 3, from then on with another ε, and 1 at 0.
    fn two_slopes(cells: u64) -> Segments {
        let (inner, outer) = (0.75, 0.25);
        let segment = |side, first, length, eps, depth| Segment {
            side,
            first,
            length,
            eps,
            depth,
        };
        let segments = [
            segment(Side::Plus, 0, Some(1), inner, vec![]),
            segment(Side::Both, 1, Some(3), inner, vec![(inner, 1)]),
            segment(Side::Both, 4, None, outer, vec![(inner, 3), (outer, 1)]),
        ];
        let lattice = Lattice {
            log2_granularity: 0,
            cells,
        };
        Segments::new(&segments, lattice)
    }

    /// Evidence: frequencies of 200 000 values, within 5 standard deviations (41 integers: a false alarm in 4·10⁴ seeds; the seed is fixed).
    #[test]
    fn frequencies_are_the_probabilities() {
        let law = two_slopes(1);
        let weight = |k: i64| {
            let k = k.unsigned_abs() as f64;
            (-0.75 * k.min(3.0) - 0.25 * (k - 3.0).max(0.0)).exp()
        };
        let total: f64 = (-400..=400).map(weight).sum();
        let n = 200_000;
        let fill = Generator::from_seed(11).next(n).unwrap();
        let mut out = vec![0; n];
        law.write_cells(&fill, 0, &mut out);
        for k in -20..=20 {
            let p = weight(k) / total;
            let count = out.iter().filter(|&&cells| cells == k).count() as f64;
            let deviation = (count - n as f64 * p) / (n as f64 * p * (1.0 - p)).sqrt();
            assert!(deviation.abs() < 5.0, "{k}: {count}, expected {}", n as f64 * p);
        }
    }

    /// Evidence: equality of pieces of any place and length with the whole.
    #[test]
    fn pieces_are_the_whole() {
        let law = two_slopes(1 << 33);
        let fill = Generator::from_seed(12).next(2000).unwrap();
        let mut whole = vec![0; 2000];
        law.write_cells(&fill, 0, &mut whole);
        for (first, n) in [(0, 1), (1, 5), (3, 9), (511, 2), (512, 600), (700, 1300)] {
            let mut piece = vec![0; n];
            law.write_cells(&fill, first as u64, &mut piece);
            assert_eq!(piece, whole[first..first + n]);
        }
    }
}
