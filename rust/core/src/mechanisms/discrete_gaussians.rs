use crate::draw::staged::{PART, add, convert, in_chunks};
use crate::error::{DrawError, ParamError};
use crate::kernel::Tier;
use crate::lattice::answer::limit;
use crate::lattice::release;
use crate::lattice::{Answer, Value};
use crate::mechanism::per_element::{Cache, whole_fills};
use crate::mechanisms::DiscreteGaussian;
use crate::stream::{Generator, StagedFill};

/// Parameters of consecutive values of [`DiscreteGaussians`], as many in both slices.
#[derive(Clone, Copy, Debug)]
pub struct GaussianParameters<'a> {
    /// σ², in steps of the value's lattice.
    pub sigma2: &'a [f64],
    /// The binary logarithm of the lattice's step; integers outside −1074 to 960 are refused.
    pub log2_granularity: &'a [i64],
}

/// Discrete Gaussian mechanisms with parameters by the value.
///
/// Value i is the one that [`Gaussian`](crate::Gaussian) of parameters i draws as value i of the same fill: the other parameters make no difference.
///
/// Values are drawn a part at a time, and those of a part that have the same σ² together. Their mechanisms are kept by σ², because the lattice comes
/// in when values are converted. As in [`PerElement`](crate::PerElement), the collection is direct-mapped, and a first σ² for few values gets a
/// mechanism that is quick to make.
#[derive(Debug)]
pub struct DiscreteGaussians {
    cache: Cache<DiscreteGaussian, 1>,
}

/// From this number of values on, a mechanism that is quick to draw from saves more time than it takes to make.
const MANY: usize = 64;

impl Default for DiscreteGaussians {
    fn default() -> Self {
        Self { cache: Cache::new() }
    }
}

#[allow(clippy::unused_self, reason = "as of `PerElement`")]
impl DiscreteGaussians {
    /// An empty collection.
    pub fn new() -> Self {
        Self::default()
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
            if release::check_answers(&answers[done..][..run.len()], most).is_err() {
                for i in done..done + run.len() {
                    release::check_answers(&answers[i..=i], most).map_err(|error| error.at(i))?;
                }
            }
            done += run.len();
        }
        Ok(())
    }

    whole_fills!(GaussianParameters, next_staged);

    /// Writes value `first + i` of the fill, drawn from the mechanism of parameters i, to `out[i]`.
    ///
    /// # Errors
    /// [`ParamError`] if parameters have no mechanism, or integers are to be written for other numbers. Some values may have been written then.
    pub fn write<T: Value>(
        &mut self,
        fill: &StagedFill,
        first: u64,
        out: &mut [T],
        parameters: &GaussianParameters<'_>,
    ) -> Result<(), ParamError> {
        self.write_parts(Tier::current(), fill, first, out, parameters, |tier, run, noise, out| {
            convert(tier, run.log2_granularity, noise, out);
        })
    }

    /// Writes `answers[i]` plus value `first + i` of the fill, on the lattice of the mechanism of parameters i, to `out[i]`. The answers have passed
    /// [`DiscreteGaussians::check_answers`], and the fill's generator [`Generator::check_release`].
    ///
    /// # Errors
    /// As [`DiscreteGaussians::write`].
    pub fn release_part<A: Answer, T: Value>(
        &mut self,
        fill: &StagedFill,
        first: u64,
        answers: &[A],
        out: &mut [T],
        parameters: &GaussianParameters<'_>,
    ) -> Result<(), ParamError> {
        self.write_parts(Tier::current(), fill, first, out, parameters, |tier, run, noise, out| {
            add(tier, run.log2_granularity, &answers[run.first..][..out.len()], noise, out);
        })
    }

    /// Draws a part at a time, and has `finish` write each run of values that have the same lattice.
    fn write_parts<T: Value>(
        &mut self,
        tier: Tier,
        fill: &StagedFill,
        first: u64,
        out: &mut [T],
        parameters: &GaussianParameters<'_>,
        finish: impl Fn(Tier, Run, &[i64], &mut [T]),
    ) -> Result<(), ParamError> {
        self.check_type::<T>(parameters)?;
        let draw = |done: usize, noise: &mut [i64]| {
            let sigma2 = &parameters.sigma2[done..][..noise.len()];
            self.write_steps(tier, fill, first + done as u64, sigma2, noise)
        };
        in_chunks(1, out, draw, |done, noise, out| {
            let granularities = &parameters.log2_granularity[done..][..out.len()];
            let mut begin = 0;
            for same in granularities.chunk_by(|a, b| a == b) {
                let run = Run {
                    first: done + begin,
                    log2_granularity: exponent(same[0]),
                };
                let end = begin + same.len();
                finish(tier, run, &noise[begin..end], &mut out[begin..end]);
                begin = end;
            }
        })
    }

    /// Writes the values `first .. first + out.len()` of a fill, at most [`PART`], in lattice steps.
    fn write_steps(
        &mut self,
        tier: Tier,
        fill: &StagedFill,
        first: u64,
        sigma2: &[f64],
        out: &mut [i64],
    ) -> Result<(), ParamError> {
        let bits = |k: u16| sigma2[usize::from(k)].to_bits();
        let mut places = [0; PART];
        let places = &mut places[..out.len()];
        for (k, place) in (0..).zip(&mut *places) {
            *place = k;
        }
        if places.iter().all(|&k| bits(k) == bits(0)) {
            return self.with(sigma2[0], out.len(), |mechanism| mechanism.write_on(tier, fill, first, out));
        }
        // Parameters are no secret: neither is their order.
        places.sort_unstable_by_key(|&k| (bits(k), k));
        for places in places.chunk_by_mut(|&a, &b| bits(a) == bits(b)) {
            self.with(sigma2[usize::from(places[0])], places.len(), |mechanism| {
                mechanism.write_places(tier, fill, first, out, places);
            })?;
        }
        Ok(())
    }

    /// Calls `draw` with the mechanism of this σ², which draws this many values.
    fn with(&mut self, sigma2: f64, values: usize, draw: impl FnOnce(&DiscreteGaussian)) -> Result<(), ParamError> {
        let (quick, make) = (|| DiscreteGaussian::quick(sigma2), || DiscreteGaussian::new(sigma2));
        self.cache.with([sigma2.to_bits()], values >= MANY, quick, make, draw)
    }

    fn check_type<T: Value>(&self, parameters: &GaussianParameters<'_>) -> Result<(), ParamError> {
        let fits = !T::WHOLE || parameters.log2_granularity.iter().all(|exponent| *exponent == 0);
        fits.then_some(()).ok_or(ParamError::NotWhole)
    }
}

impl GaussianParameters<'_> {
    fn lengths(&self) -> [usize; 2] {
        [self.sigma2.len(), self.log2_granularity.len()]
    }
}

/// Consecutive values that have the same lattice.
struct Run {
    first: usize,
    log2_granularity: i32,
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

    /// Evidence: equality of every tier with the values of single mechanisms, drawn alone, for lengths around a part; noise, and answers with noise.
    #[test]
    fn values_are_those_of_single_mechanisms() {
        let n = 2 * PART + CHUNK + 3;
        let fill = Generator::from_seed(8).next_staged(n + 7).unwrap();
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
            for n in [1, 9, 129, CHUNK + 1, PART, n] {
                let parameters = GaussianParameters {
                    sigma2: &sigma2[..n],
                    log2_granularity: &log2_granularity[..n],
                };
                assert_eq!(DiscreteGaussians::new().check(&parameters), Ok(()));
                assert_eq!(DiscreteGaussians::new().check_answers(&answers[..n], &parameters), Ok(()));
                for tier in Tier::tested() {
                    let (mut mechanisms, mut noise) = (DiscreteGaussians::new(), vec![0.0; n]);
                    mechanisms
                        .write_parts(tier, &fill, 7, &mut noise, &parameters, |tier, run, noise, out| {
                            convert(tier, run.log2_granularity, noise, out);
                        })
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
        let n = PART + 1;
        let answers: Vec<i64> = (0..n as i64).map(|i| i * i * 1_000_003).collect();
        for (sigma2, log2_granularity) in mixtures(n, [0; 3]) {
            let parameters = GaussianParameters {
                sigma2: &sigma2,
                log2_granularity: &log2_granularity,
            };
            let fill = Generator::from_seed(9).next_staged(n).unwrap();
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
            let (place, error) = DiscreteGaussians::new()
                .check(&GaussianParameters { sigma2: &sigma2, ..good })
                .unwrap_err();
            assert_eq!(place, 2);
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
        let fill = Generator::from_seed(1).next_staged(5).unwrap();
        let refused = DiscreteGaussians::new().write(&fill, 0, &mut [0_i64; 5], &good);
        assert_eq!(refused, Err(ParamError::NotWhole));
    }
}
