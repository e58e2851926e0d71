//! From a guess to the last true case of a monotone question.

/// The largest n in [0, end) for which `holds`, which must be true up to some n and false beyond, and is taken as true at 0 and false at `end`.
///
/// A guess that is right or one too large costs two questions, one that is off by k about 2 log₂ k: the steps away from it double until the
/// answer is between two of them, then the gap is halved.
pub fn last_true(guess: u64, end: u64, mut holds: impl FnMut(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, end);
    let mut n = guess.max(1).min(end - 1);
    let mut step = 1;
    while high - low > 1 {
        // A step out of the bracket gives way to bisection.
        n = if n > low && n < high { n } else { low + (high - low) / 2 };
        #[cfg(test)]
        questions::count();
        n = if holds(n) {
            low = n;
            n.saturating_add(step)
        } else {
            high = n;
            n.saturating_sub(step)
        };
        step = step.saturating_mul(2);
    }
    low
}

/// What searches cost: an answer does not depend on the guess, but the questions do.
#[cfg(test)]
pub mod questions {
    use std::cell::Cell;

    thread_local! {
        static ASKED: Cell<u32> = const { Cell::new(0) };
    }

    pub(super) fn count() {
        ASKED.set(ASKED.get() + 1);
    }

    /// How many questions the searches in it ask.
    pub fn of<T>(work: impl FnOnce() -> T) -> (T, u32) {
        ASKED.set(0);
        (work(), ASKED.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exhaustive: every answer from every guess, and never a question outside (0, end).
    #[test]
    fn finds_every_answer_from_every_guess() {
        for end in 1..40 {
            for answer in 0..end {
                for guess in 0..=end + 1 {
                    let found = last_true(guess, end, |n| {
                        assert!(0 < n && n < end, "asked about {n} of {end}");
                        n <= answer
                    });
                    assert_eq!(found, answer, "guess {guess}, end {end}");
                }
            }
        }
    }

    /// Evidence: counting, against the cost that the documentation promises.
    #[test]
    fn near_guesses_are_cheap() {
        let questions = |guess, answer| {
            let mut count = 0;
            assert_eq!(
                last_true(guess, 1 << 63, |n| {
                    count += 1;
                    n <= answer
                }),
                answer
            );
            count
        };
        assert_eq!(questions(1 << 40, 1 << 40), 2);
        assert_eq!(questions((1 << 40) - 1, 1 << 40), 4);
        assert_eq!(questions((1 << 40) + 1, 1 << 40), 2);
        assert!(questions((1 << 40) + 1000, 1 << 40) <= 22);
        // A guess beyond the end becomes the last that is not.
        assert_eq!(questions(u64::MAX, (1 << 63) - 1), 1);
    }
}
