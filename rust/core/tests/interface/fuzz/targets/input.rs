//! Makes numbers, mechanisms and generators from bytes. Missing bytes are zeros.

use arbitrary::Unstructured;
use stairnoise::{Generator, Kind, OneWordMechanism, Shape, Share};

pub struct Input<'a>(Unstructured<'a>);

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub fn word(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    pub fn below(&mut self, end: usize) -> usize {
        let number: u16 = self.0.arbitrary().unwrap_or_default();
        usize::from(number) % end
    }

    /// How many values to draw: fewer than `end`, or under Miri, which is slow, fewer than a sixteenth of `end`.
    pub fn count(&mut self, end: usize) -> usize {
        self.below(if cfg!(miri) { end / 16 } else { end })
    }

    /// A float at an end of its format, an ordinary float, or any bits.
    pub fn number(&mut self) -> f64 {
        const EDGES: [f64; 16] = [
            0.0,
            -0.0,
            1.0,
            0.5,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            f64::EPSILON,
            9_007_199_254_740_992.0,
            9_223_372_036_854_775_808.0,
            1e-12,
            1e-300,
        ];
        match self.byte() {
            choice @ 0..=15 => EDGES[usize::from(choice)],
            choice @ 16..=31 => EDGES[usize::from(choice - 16)].next_up(),
            choice @ 32..=47 => EDGES[usize::from(choice - 32)].next_down(),
            48..=79 => f64::from_bits(self.word()),
            80..=111 => (f64::from(self.byte()) - 128.0).exp2(),
            112..=143 => f64::from(self.byte()),
            144..=159 => -self.ordinary(),
            _ => self.ordinary(),
        }
    }

    /// A float between 2⁻⁸ and 2⁸.
    pub fn ordinary(&mut self) -> f64 {
        let fraction = (self.word() >> 11) as f64 / (1_u64 << 53) as f64;
        (1.0 + fraction) * (f64::from(self.byte() % 16) - 8.0).exp2()
    }

    /// A parameter that some mechanism accepts in most cases.
    pub fn parameter(&mut self) -> f64 {
        if self.byte() < 64 { self.number() } else { self.ordinary() }
    }

    pub fn generator(&mut self) -> (Generator, [u8; 32]) {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.word().to_le_bytes());
        (Generator::from_key(&key), key)
    }

    /// Where a slice of a fill begins: near 0, anywhere, or near 2 to this power.
    pub fn start(&mut self, log2_end: u32) -> u64 {
        match self.byte() % 4 {
            0 | 1 => self.byte().into(),
            2 => self.word() % (1 << log2_end),
            _ => (1_u64 << log2_end) + 32 - u64::from(self.byte()),
        }
    }

    pub fn kind(&mut self) -> Kind {
        [Kind::Staircase, Kind::DiscreteStaircase, Kind::Laplace, Kind::DiscreteLaplace][self.below(4)]
    }

    pub fn shape(&mut self, kind: Kind, sensitivity: f64) -> Shape {
        match self.byte() % 4 {
            0 => Shape::L1,
            1 => Shape::L2,
            2 => Shape::Number(self.number()),
            _ => {
                let part = f64::from(u32::from(self.byte()) + 1) / 256.0;
                Shape::Number(if kind == Kind::DiscreteStaircase {
                    (part * sensitivity).ceil()
                } else {
                    part
                })
            }
        }
    }

    /// ε, Δ and a shape that some mechanism accepts in most cases.
    pub fn parameters(&mut self, kind: Kind) -> (f64, f64, Shape) {
        let eps = self.parameter();
        let mut sensitivity = self.parameter();
        if matches!(kind, Kind::DiscreteStaircase | Kind::DiscreteLaplace) && self.byte() < 224 {
            sensitivity = sensitivity.ceil();
        }
        (eps, sensitivity, self.shape(kind, sensitivity))
    }

    pub fn mechanism(&mut self) -> Option<OneWordMechanism> {
        let kind = self.kind();
        let (eps, sensitivity, shape) = self.parameters(kind);
        OneWordMechanism::new(kind, eps, sensitivity, shape).ok()
    }

    pub fn share(&mut self) -> Share {
        let parties = 1 + self.word() % 300;
        Share::new(1 + self.word() % parties, parties).expect("a share of as many")
    }

    /// Which of `few` things each of `n` values has; several take turns.
    pub fn mixture(&mut self, few: usize, n: usize) -> Vec<usize> {
        let pattern = self.word() | 1;
        (0..n as u64).map(|i| (pattern.wrapping_mul(i) >> 7) as usize % few).collect()
    }

    /// Places that cut a slice in two, three or four.
    pub fn cuts(&mut self, length: usize) -> Vec<usize> {
        let mut cuts = vec![0, length];
        for _ in 0..=self.below(3) {
            cuts.push(self.below(length + 1));
        }
        cuts.sort_unstable();
        cuts
    }
}
