"""Which totals hold if earlier released numbers choose the next mechanism.

Evidence: hockey-stick divergences of whole trees of choices, from the losses of all outcomes or the formula of Balle and Wang.
"""

import math
import random
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

import stairnoise as sn
from tests.combinations import looped

ROOT = Path(__file__).parents[2]
DELTA = 1e-6
SIGMA = 4.512


def gaussian_delta(eps, sigma):
    """δ(ε) of Gaussian noise at a change of 1: Balle and Wang, theorem 8."""
    with mpmath.workdps(30):
        mu = 1 / mpmath.mpf(sigma)
        return float(mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu))


def truncated_delta(eps):
    """δ(ε) for ε >= 0.9 of truncated Laplace noise with ε = 0.9: the probability of outcomes that the neighbour cannot have."""
    assert eps >= 0.9
    return DELTA


def whole(eps, after_plus, after_minus):
    """δ(ε) of a first answer with losses ±0.1, whose sign chooses one of two profiles for the next answer."""
    plus = 1 / (1 + math.exp(-0.1))
    return plus * after_plus(eps - 0.1) + (1 - plus) * after_minus(eps + 0.1)


def test_a_composed_total_does_not_hold_for_mechanisms_that_answers_choose(tmp_path):
    """Each branch fits the budget, but the whole tree has δ = 1.46e-6. Therefore the caller has to promise `composed`."""
    first, chosen = sn.DiscreteLaplace(0.1), [sn.Gaussian(sigma=SIGMA, sensitivity=1), sn.TruncatedLaplace(0.9, DELTA)]
    for number, mechanism in enumerate(chosen):
        ledger = sn.Ledger(tmp_path / f"{number}", 1.0001, delta=DELTA, composed=True)
        assert ledger.spend([first, mechanism], data="people")[0].total == pytest.approx(1.0, abs=1e-4)
    normal = lambda eps: gaussian_delta(eps, SIGMA)  # noqa: E731
    assert whole(1.0, normal, normal) == pytest.approx(DELTA, rel=1e-3)
    assert whole(1.0, truncated_delta, truncated_delta) == pytest.approx(DELTA)
    assert whole(1.0, normal, truncated_delta) == pytest.approx(1.46e-6, rel=5e-3)
    assert whole(1.0001, normal, truncated_delta) > 1.4 * DELTA


def test_a_ledger_adds_up_unless_it_is_told_to_compose(tmp_path):
    """The same choice as above: Gaussian noise needs its own ε, and the remaining budget permits 0.9."""
    ledger = sn.Ledger(tmp_path / "file", 1.0001, delta=DELTA)
    assert not ledger.composed
    ledger.spend(sn.DiscreteLaplace(0.1), data="people")
    for mechanism in (
        sn.Gaussian(sigma=SIGMA, sensitivity=1),
        sn.Gaussian(0.91, DELTA, sensitivity=1),
        sn.Gaussian(0.9, 1.1e-6, sensitivity=1),
    ):
        with pytest.raises(sn.BudgetError):
            ledger.spend(mechanism, data="people")
    noise = sn.Gaussian(0.9, DELTA)
    ledger.spend(noise, data="people")
    assert noise.sigma > SIGMA
    assert whole(1.0, lambda eps: gaussian_delta(eps, noise.sigma), truncated_delta) <= DELTA
    assert sn.Ledger(ledger.path).report() == ledger.report()


def outcomes(eps, delta):
    """The worst mechanism of an (ε, δ): probabilities of its outcomes, and their losses."""
    more = math.exp(eps) / (1 + math.exp(eps))
    return [(delta, math.inf), ((1 - delta) * more, eps), ((1 - delta) * (1 - more), -eps)]


def tree_delta(at, left, choose, loss, depth):
    """δ of the whole tree below this loss; `choose` takes the next (ε, δ) from the remaining sums."""
    if depth == 0:
        return max(0.0, -math.expm1(at - loss)) if loss > at else 0.0
    eps, delta = choose(*left)
    left = (left[0] - Fraction(eps), left[1] - Fraction(delta))
    assert min(left) >= 0
    return sum(
        p * (1.0 if step == math.inf else tree_delta(at, left, choose, loss + step, depth - 1))
        for p, step in outcomes(eps, delta)
    )


@looped("seed", range(20))
def test_sums_hold_for_any_choice(seed):
    """Every outcome of up to four releases chooses the next ε and δ at random, up to the remaining budget."""
    rng = random.Random(seed)

    def choose(eps, delta):
        return float(eps) * rng.choice([0.25, 0.5, 1 - 2**-40]), float(delta) * rng.choice([0.0, 0.5, 1 - 2**-40])

    eps, delta = Fraction(rng.choice([0.25, 1, 3])), Fraction(rng.choice([1e-6, 0.01, 0.2]))
    assert tree_delta(float(eps), (eps, delta), choose, 0.0, 4) <= float(delta) * (1 + 1e-12)


PLACES = ("docs/privacy.md", "docs/guarantees.md", "docs/ledger.md", "docs/which_epsilon.md", "SECURITY.md")
MODULES = ("python/stairnoise/accounting/privacy_loss.py", "python/stairnoise/accounting/ledger/ledger.py")
SENTENCE = (
    "losses compose if the mechanisms and their parameters were fixed in advance; earlier released numbers may decide what is "
    "asked, and when to stop"
)


@pytest.mark.parametrize("name", PLACES + MODULES)
def test_one_sentence_says_when_losses_compose(name):
    text = (ROOT / name).read_text(encoding="utf-8").lower()
    assert SENTENCE in " ".join(text.split())
    assert "after seeing" not in text
