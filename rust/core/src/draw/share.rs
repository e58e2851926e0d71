//! Parts of an infinitely divisible distribution.

use crate::error::ParamError;

const MOST_PARTIES: u64 = (1 << 32) - 1;

/// The sum of `present` of the shares of `parties`: the distribution whose shape is that fraction of the whole's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    present: u64,
    parties: u64,
}

impl Share {
    /// The whole distribution.
    pub const WHOLE: Self = Self { present: 1, parties: 1 };

    /// The sum of `present` shares of `parties`.
    ///
    /// # Errors
    /// [`ParamError`], unless 1 ≤ present ≤ parties < 2³².
    pub fn new(present: u64, parties: u64) -> Result<Self, ParamError> {
        let known = (1..=MOST_PARTIES).contains(&parties);
        ParamError::require(known, "n_parties", "from 1 to 2**32 - 1", parties as f64)?;
        let some = (1..=parties).contains(&present);
        ParamError::require(some, "present", "from 1 to n_parties", present as f64)?;
        Ok(Self { present, parties })
    }

    /// How many shares are added up.
    pub const fn present(self) -> u64 {
        self.present
    }

    /// How many shares the whole distribution has.
    pub const fn parties(self) -> u64 {
        self.parties
    }

    /// Whether no share is missing.
    pub const fn is_whole(self) -> bool {
        self.present == self.parties
    }

    pub(crate) fn fraction(self) -> f64 {
        // Both are below 2³²: only the quotient is rounded.
        self.present as f64 / self.parties as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_more_than_there_are() {
        let text = |present, parties| Share::new(present, parties).unwrap_err().to_string();
        assert_eq!(text(1, 0), "n_parties must be from 1 to 2**32 - 1, got 0.0");
        assert_eq!(text(0, 3), "present must be from 1 to n_parties, got 0.0");
        assert_eq!(text(4, 3), "present must be from 1 to n_parties, got 4.0");
        assert!(Share::new(1, 1 << 32).is_err());
        assert!(Share::new(3, 3).unwrap().is_whole());
    }
}
