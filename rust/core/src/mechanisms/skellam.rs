use crate::draw::{LaterTable, Share, SkellamMagnitude, Staged};
use crate::error::ParamError;
use crate::lattice::Lattice;
use crate::mechanism::{Source, implement};
use crate::memory::OutOfMemory;
use crate::stream::{AnyWords, CHUNK, Fill, SHORT, ShortWords, Words};
use crate::wiped::wipe;

/// The Skellam mechanism: the difference of two independent Poisson variables of mean μ/2 each, whose sums are Skellam again.
///
/// # Probabilities
/// P(k) = e^(−μ)·I_|k|(μ) for every integer k, with the modified Bessel function I. The variance is μ. A share of a mechanism has a share of its μ.
///
/// # What is drawn
/// Every integer has exactly its probability. |X| and the sign come from one word and a table; from μ = 2²⁴ on from a sum of equal terms.
///
/// # Example
/// ```
/// use stairnoise::{Generator, Mechanism, Share, Skellam};
///
/// let party = Skellam::new(100.0, Share::new(1, 50)?)?;
/// let mut noise = [0_i64; 1000];
/// party.fill(&mut Generator::from_os()?, &mut noise)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Skellam {
    terms: u64,
    table: LaterTable,
}

impl Skellam {
    /// A share of the mechanism of variance μ.
    ///
    /// # Errors
    /// [`ParamError`] unless μ is from 2⁻²⁰ to 2³⁰, and at least 2⁻⁴⁰ for the share.
    pub fn new(mu: f64, share: Share) -> Result<Self, ParamError> {
        let magnitude = SkellamMagnitude::new(mu, share)?;
        Ok(Self {
            terms: magnitude.terms,
            table: LaterTable::new(magnitude),
        })
    }

    /// [`Staged::write_steps`] by way of words and of single terms, which are wiped.
    fn write_in(
        &self,
        words: &mut AnyWords,
        term: &mut [i64],
        fill: &Fill,
        first: u64,
        out: &mut [i64],
    ) -> Result<(), OutOfMemory> {
        let table = self.table.table()?;
        for (first, out) in (first..).step_by(term.len()).zip(out.chunks_mut(term.len())) {
            table.write_in::<true, _>(words, fill.stage(0), first, out);
            let term = &mut term[..out.len()];
            for stage in 1..self.terms {
                table.write_in::<true, _>(words, fill.stage(stage), first, term);
                for (out, term) in out.iter_mut().zip(&*term) {
                    // 64 terms far below 2⁵⁰. A check would be a branch on noise.
                    *out = out.wrapping_add(*term);
                }
            }
        }
        let used = out.len().min(term.len());
        wipe(&mut term[..used]);
        Ok(())
    }
}

implement!(Skellam of i64, this => Source::staged(this, Lattice::without_sensitivity(0), &[]));

impl Staged for Skellam {
    fn prepare(&self) -> Result<(), OutOfMemory> {
        self.table.table().map(drop)
    }

    fn draws(&self) -> usize {
        self.terms as usize
    }

    fn write_steps(&self, fill: &Fill, first: u64, out: &mut [i64]) -> Result<(), OutOfMemory> {
        if out.len() <= SHORT {
            self.write_in(&mut ShortWords::new(), &mut [0; SHORT], fill, first, out)
        } else {
            self.write_in(&mut Words::new(), &mut [0; CHUNK], fill, first, out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;
    use crate::testing::golden::several_draws::draws;
    use crate::testing::golden::{float, list, vectors, whole, word};

    #[test]
    fn golden_vectors() {
        for entry in vectors("skellam.json") {
            let [mu, _, parties, present] = list(&entry["arguments"]) else {
                panic!("{entry}")
            };
            let mechanism = Skellam::new(float(mu), Share::new(whole(present), whole(parties)).unwrap()).unwrap();
            assert_eq!(mechanism.terms, whole(&entry["terms"]), "{entry}");
            draws(&mechanism, &entry);
            for edge in list(&entry["edges"]) {
                let [v63, extension, expected] = list(edge) else {
                    panic!("{edge}")
                };
                let (v63, first) = (word(v63), word(extension));
                let extension = |e| if e == 0 { first } else { 0 };
                assert_eq!(
                    mechanism.table.table().unwrap().index(v63, extension),
                    whole(expected),
                    "{edge} of {entry}"
                );
            }
        }
    }

    /// Evidence: equality. However many values are asked for at once, and from whichever on, each is what it is alone; mechanisms of one term and of
    /// several.
    #[test]
    fn values_do_not_depend_on_how_many_are_drawn() {
        for mu in [0.5, 100.0, 40_000_000.0] {
            let mechanism = Skellam::new(mu, Share::WHOLE).unwrap();
            let fill = Generator::from_seed(9).next_staged(2 * CHUNK + 9).unwrap();
            let mut alone = [0_i64; 2 * CHUNK + 9];
            for (first, value) in (0..).zip(&mut alone) {
                mechanism.write_steps(&fill, first, core::slice::from_mut(value)).unwrap();
            }
            for first in [0, 1, 7] {
                for n in [2, 8, 9, SHORT, SHORT + 1, CHUNK, CHUNK + 1, 2 * CHUNK] {
                    let mut out = vec![1_i64; n];
                    mechanism.write_steps(&fill, first as u64, &mut out).unwrap();
                    assert_eq!(out, alone[first..first + n], "{mu} {first} {n}");
                }
            }
        }
    }
}
