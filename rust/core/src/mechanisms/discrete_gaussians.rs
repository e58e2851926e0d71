use crate::draw::sampler::Sampler;
use crate::error::{DrawError, ParamError};
use crate::exact::Extension;
use crate::kernel::{BLOCK, DrawnBlock, Tier, gaussian_extent, on_tier, ones};
use crate::lattice::answer::limit;
use crate::lattice::release;
use crate::lattice::{Answer, Unread, Value};
use crate::mechanism::per_element::{NoiseAlone, Output, Released, full, whole_fills, write_block};
use crate::mechanisms::DiscreteGaussian;
use crate::stream::{CHUNK, Fill, Generator, Words};
use crate::wiped::wipe;

/// Parameters of consecutive values of [`DiscreteGaussians`], as many in both slices.
#[derive(Clone, Copy, Debug)]
pub struct GaussianParameters<'a> {
    /// σ², in steps of the value's lattice.
    pub sigma2: &'a [f64],
    /// The binary logarithm of the lattice's step; integers outside −1074 to 960 are refused.
    pub log2_granularity: &'a [i64],
}

/// Parameters in the order of their values, some at a time: slices, or memory that is copied when it is needed.
#[doc(hidden)]
pub trait NextParameters {
    /// Those of the next `n` values.
    fn next(&mut self, n: usize) -> GaussianParameters<'_>;
}

impl NextParameters for GaussianParameters<'_> {
    fn next(&mut self, n: usize) -> GaussianParameters<'_> {
        let (sigma2, log2_granularity) = (self.sigma2.split_at(n), self.log2_granularity.split_at(n));
        (self.sigma2, self.log2_granularity) = (sigma2.1, log2_granularity.1);
        GaussianParameters {
            sigma2: sigma2.0,
            log2_granularity: log2_granularity.0,
        }
    }
}

/// Discrete Gaussian mechanisms with parameters by the value.
///
/// Value i is the one that [`Gaussian`](crate::Gaussian) of parameters i draws as value i of the same fill: the other parameters make no difference.
#[derive(Debug, Default)]
pub struct DiscreteGaussians;

#[allow(clippy::unused_self, reason = "as of `PerElement`")]
impl DiscreteGaussians {
    /// A collection of all of them.
    pub fn new() -> Self {
        Self
    }

    /// Whether there is a mechanism for every value.
    ///
    /// # Errors
    /// The position of the first that has none, and [`ParamError`] as [`Gaussian::scaled`](crate::Gaussian::scaled).
    pub fn check(&self, parameters: &GaussianParameters<'_>) -> Result<(), (usize, ParamError)> {
        let GaussianParameters {
            sigma2,
            log2_granularity,
        } = parameters;
        let extent = on_tier!(Tier::current(), gaussian_extent(sigma2, log2_granularity));
        let is_one = |(sigma2, log2)| DiscreteGaussian::check(sigma2, exponent(log2)).is_ok();
        if extent.into_iter().all(is_one) {
            return Ok(());
        }
        for (i, (sigma2, log2_granularity)) in sigma2.iter().zip(*log2_granularity).enumerate() {
            DiscreteGaussian::check(*sigma2, exponent(*log2_granularity)).map_err(|error| (i, error))?;
        }
        Ok(())
    }

    /// Whether every answer is a number that the lattice of its parameters takes.
    ///
    /// # Errors
    /// [`DrawError::NotFinite`] or [`DrawError::OffLattice`], with the position of the first that is not.
    pub fn check_answers<A: Answer>(&self, answers: &[A], parameters: &GaussianParameters<'_>) -> Result<(), DrawError> {
        let mut done = 0;
        for run in parameters.log2_granularity.chunk_by(|a, b| a == b) {
            let most = limit(exponent(run[0]));
            if release::check_answers(Unread::of(&answers[done..][..run.len()]), most).is_err() {
                for i in done..done + run.len() {
                    release::check_answers(Unread::of(&answers[i..=i]), most).map_err(|error| error.at(i))?;
                }
            }
            done += run.len();
        }
        Ok(())
    }

    whole_fills!(GaussianParameters, next);

    /// Writes value `first + i` of the fill, drawn from the mechanism of parameters i, to `out[i]`.
    ///
    /// # Errors
    /// [`ParamError`] if parameters have no mechanism, or integers are to be written for other numbers. Some values may have been written then.
    pub fn write<T: Value>(
        &mut self,
        fill: &Fill,
        first: u64,
        out: &mut [T],
        parameters: &GaussianParameters<'_>,
    ) -> Result<(), ParamError> {
        self.write_next(fill, first, out, &mut { *parameters })
    }

    /// [`DiscreteGaussians::write`] with the next parameters.
    #[doc(hidden)]
    #[allow(clippy::missing_errors_doc, reason = "hidden")]
    pub fn write_next<T: Value>(
        &mut self,
        fill: &Fill,
        first: u64,
        out: &mut [T],
        parameters: &mut dyn NextParameters,
    ) -> Result<(), ParamError> {
        self.write_blocks(Tier::current(), fill, first, out, parameters, NoiseAlone)
    }

    /// Writes `answers[i]` plus value `first + i` of the fill, on the lattice of the mechanism of parameters i, to `out[i]`. The answers have passed
    /// [`DiscreteGaussians::check_answers`], and the fill's generator [`Generator::check_release`].
    ///
    /// # Errors
    /// As [`DiscreteGaussians::write`].
    pub fn release_part<A: Answer, T: Value>(
        &mut self,
        fill: &Fill,
        first: u64,
        answers: &[A],
        out: &mut [T],
        parameters: &GaussianParameters<'_>,
    ) -> Result<(), ParamError> {
        self.write_blocks(Tier::current(), fill, first, out, &mut { *parameters }, Released(answers))
    }

    /// Block by block on the fast path; undecided values one by one.
    fn write_blocks<T: Value>(
        &self,
        tier: Tier,
        fill: &Fill,
        first: u64,
        out: &mut [T],
        parameters: &mut dyn NextParameters,
        output: impl Output<T>,
    ) -> Result<(), ParamError> {
        let (stage, mut words, mut padding) = (fill.stage(0), Words::new(), Padding::new());
        let mut drawn = DrawnBlock::NOTHING;
        for (chunk, out) in out.chunks_mut(CHUNK).enumerate() {
            let base = chunk * CHUNK;
            let words = words.at(stage, first + base as u64, out.len());
            let mut parameters = parameters.next(out.len());
            self.check_type::<T>(&parameters)?;
            for (n, (words, out)) in words.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).enumerate() {
                let base = base + n * BLOCK;
                let GaussianParameters {
                    sigma2,
                    log2_granularity,
                } = parameters.next(out.len());
                padding.draw(tier, sigma2, log2_granularity, words, &mut drawn);
                let output = output.from(base);
                for i in ones(write_block(tier, &drawn, out, output)) {
                    let log2_granularity = exponent(log2_granularity[i]);
                    let extension = &mut |e| stage.extension(first + (base + i) as u64, e);
                    let steps = undecided(sigma2[i], log2_granularity, words[i], extension)?;
                    out[i] = output.steps(i, steps, log2_granularity);
                }
            }
        }
        Ok(())
    }

    fn check_type<T: Value>(&self, parameters: &GaussianParameters<'_>) -> Result<(), ParamError> {
        // Without a branch, so that vectors do it.
        let exponents = parameters.log2_granularity.iter();
        let fits = !T::WHOLE || on_tier!(Tier::current(), exponents.fold(0, |any, exponent| any | exponent)) == 0;
        fits.then_some(()).ok_or(ParamError::NotWhole)
    }
}

/// The noise for a word that the block kernel leaves undecided. Not generic: it is compiled once.
#[inline(never)]
fn undecided(sigma2: f64, log2_granularity: i32, word: u64, extension: &mut Extension<'_>) -> Result<i64, ParamError> {
    let mechanism = DiscreteGaussian::made(sigma2, log2_granularity, Sampler::quick)?;
    Ok(mechanism.sampler().steps(word, extension))
}

impl GaussianParameters<'_> {
    fn lengths(&self) -> [usize; 2] {
        [self.sigma2.len(), self.log2_granularity.len()]
    }
}

/// Where blocks that are not full are filled up, with ordinary parameters; on whole cache lines ([`crate::cache_lines::CacheLines`]).
#[repr(align(64))]
struct Padding {
    words: [u64; BLOCK],
    sigma2: [f64; BLOCK],
    log2_granularity: [i64; BLOCK],
}

impl Padding {
    const fn new() -> Self {
        Self {
            words: [0; BLOCK],
            sigma2: [1.0; BLOCK],
            log2_granularity: [0; BLOCK],
        }
    }

    fn draw(&mut self, tier: Tier, sigma2: &[f64], log2_granularity: &[i64], words: &[u64], drawn: &mut DrawnBlock) {
        let sigma2 = full(sigma2, &mut self.sigma2);
        let log2_granularity = full(log2_granularity, &mut self.log2_granularity);
        drawn.draw_gaussian(tier, sigma2, log2_granularity, full(words, &mut self.words));
    }
}

impl Drop for Padding {
    fn drop(&mut self) {
        wipe(&mut self.words);
    }
}

/// What no mechanism takes stays outside the range of all of them.
fn exponent(log2_granularity: i64) -> i32 {
    log2_granularity.clamp(-2000, 2000) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::CHUNK;
    use crate::{Generator, Mechanism};

    const SIGMA2: [f64; 7] = [
        1.0 / (1 << 20) as f64,
        0.3,
        100.0,
        1e6,
        1e20,
        17_592_186_044_419.0,
        (1_u128 << 90) as f64,
    ];

    /// Mixtures of parameters: all alike, in runs, in turn, and different for nearly every value.
    fn mixtures(n: usize, lattice: [i64; 3]) -> Vec<(Vec<f64>, Vec<i64>)> {
        let numbered = |number: &dyn Fn(usize) -> usize| {
            let sigma2: Vec<f64> = (0..n).map(|i| SIGMA2[number(i) % SIGMA2.len()]).collect();
            (sigma2, (0..n).map(|i| lattice[number(i) / 2 % 3]).collect())
        };
        let mut mixtures = vec![numbered(&|_| 3), numbered(&|i| i / 100), numbered(&|i| i)];
        let (mut sigma2, log2) = numbered(&|i| i / 9);
        for (i, sigma2) in sigma2.iter_mut().enumerate().filter(|(i, _)| i % 5 > 0) {
            *sigma2 = 1.0 + i as f64;
        }
        mixtures.push((sigma2, log2));
        mixtures
    }

    /// Evidence: equality of every tier with the values of single mechanisms, drawn alone, for lengths around a chunk; noise, and answers with noise.
    #[test]
    fn values_are_those_of_single_mechanisms() {
        let n = 5 * CHUNK + 3;
        let fill = Generator::from_seed(8).next(n + 7).unwrap();
        let answers: Vec<f64> = (0..n).map(|i| (i as f64 - 4000.0) * 0.37).collect();
        for (sigma2, log2_granularity) in mixtures(n, [-33, 0, 5]) {
            let alone: Vec<(f64, f64)> = (0..n)
                .map(|i| {
                    let mechanism = DiscreteGaussian::scaled(sigma2[i], log2_granularity[i] as i32).unwrap();
                    let (mut noise, mut released) = ([0.0], [0.0]);
                    let fill = mechanism.next_fill(&mut Generator::from_seed(8), n + 7).unwrap();
                    fill.write(i as u64 + 7, &mut noise).unwrap();
                    fill.release(i as u64 + 7, &answers[i..=i], &mut released).unwrap();
                    (noise[0], released[0])
                })
                .collect();
            for n in [1, 9, 129, CHUNK + 1, n] {
                let parameters = GaussianParameters {
                    sigma2: &sigma2[..n],
                    log2_granularity: &log2_granularity[..n],
                };
                assert_eq!(DiscreteGaussians::new().check(&parameters), Ok(()));
                assert_eq!(DiscreteGaussians::new().check_answers(&answers[..n], &parameters), Ok(()));
                for tier in Tier::tested() {
                    let mut noise = vec![0.0; n];
                    DiscreteGaussians
                        .write_blocks(tier, &fill, 7, &mut noise, &mut { parameters }, NoiseAlone)
                        .unwrap();
                    assert!(
                        noise.iter().zip(&alone).all(|(found, alone)| *found == alone.0),
                        "{tier:?} {n}"
                    );
                }
                let mut released = vec![0.0; n];
                DiscreteGaussians::new()
                    .release_part(&fill, 7, &answers[..n], &mut released, &parameters)
                    .unwrap();
                assert!(released.iter().zip(&alone).all(|(found, alone)| *found == alone.1), "{n}");
            }
        }
    }

    #[test]
    fn integers_are_those_of_single_mechanisms() {
        let n = 4 * CHUNK + 1;
        let answers: Vec<i64> = (0..n as i64).map(|i| i * i * 1_000_003).collect();
        for (sigma2, log2_granularity) in mixtures(n, [0; 3]) {
            let parameters = GaussianParameters {
                sigma2: &sigma2,
                log2_granularity: &log2_granularity,
            };
            let fill = Generator::from_seed(9).next(n).unwrap();
            let mut released = vec![0_i64; n];
            DiscreteGaussians::new()
                .release_part(&fill, 0, &answers, &mut released, &parameters)
                .unwrap();
            for i in 0..n {
                let mechanism = DiscreteGaussian::new(sigma2[i]).unwrap();
                let fill = mechanism.next_fill(&mut Generator::from_seed(9), n).unwrap();
                let mut alone = [0_i64];
                fill.release(i as u64, &answers[i..=i], &mut alone).unwrap();
                assert_eq!(released[i], alone[0], "{i}");
            }
        }
    }

    #[test]
    fn refusals_name_the_first_position() {
        let good = GaussianParameters {
            sigma2: &[1.0; 5],
            log2_granularity: &[0, 0, 0, -1, 960],
        };
        assert_eq!(DiscreteGaussians::new().check(&good), Ok(()));
        for bad in [0.0, f64::NAN, -1.0, f64::INFINITY] {
            let sigma2 = [1.0, 1.0, bad, 1.0, bad];
            let parameters = GaussianParameters { sigma2: &sigma2, ..good };
            let (place, error) = DiscreteGaussians::new().check(&parameters).unwrap_err();
            assert_eq!(place, 2);
            let fill = Generator::from_seed(1).next(5).unwrap();
            assert!(
                DiscreteGaussians::new()
                    .write(&fill, 0, &mut [0.0_f64; 5], &parameters)
                    .is_err()
            );
            assert!(
                error.to_string().starts_with("sigma2 must be from 2**-20 to 2**90, got "),
                "{error}"
            );
        }
        for bad in [961, -1075, i64::MAX, i64::MIN] {
            let log2_granularity = &[0, bad, 0, bad, 0];
            let (place, error) = DiscreteGaussians::new()
                .check(&GaussianParameters {
                    log2_granularity,
                    ..good
                })
                .unwrap_err();
            assert_eq!(place, 1);
            assert!(
                error
                    .to_string()
                    .starts_with("log2_granularity must be from -1074 to 960, got "),
                "{error}"
            );
        }
        let answers = |bad| DiscreteGaussians::new().check_answers(&[1.0, 2.0, 3.0, bad, bad], &good);
        assert_eq!(answers(f64::NAN), Err(DrawError::NotFinite(3)));
        assert_eq!(answers(2.0_f64.powi(125)), Err(DrawError::OffLattice(3)));
        assert_eq!(answers(2.0_f64.powi(124)), Ok(()));
        let fill = Generator::from_seed(1).next(5).unwrap();
        let refused = DiscreteGaussians::new().write(&fill, 0, &mut [0_i64; 5], &good);
        assert_eq!(refused, Err(ParamError::NotWhole));
    }
}
