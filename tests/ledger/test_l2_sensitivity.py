"""The cost of integers released with an l2 sensitivity is never below the cost of the worst change of that norm.

Evidence: for single changes, convolved lists of the losses of all outcomes, computed here; the profile of continuous
Gaussian noise by Balle and Wang in mpmath; dp_accounting.
"""

import itertools
import math

import mpmath
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.mechanisms.discrete_gaussian.loss import ways

DELTA = 1e-6


def spent(tmp_path, sigma2, norm, delta=DELTA, *, more=()):
    ledger = sn.Ledger(tmp_path / f"{len(list(tmp_path.iterdir()))}", 1e4, delta=delta, composed=True)
    return ledger.spend([sn.DiscreteGaussian(sigma2), *more], data="people", l2_sensitivity=[norm, *(None for _ in more)])[
        0
    ].total


def delta_of(eps, change, sigma2, *, times=1, laplace=0):
    """δ(ε) of `times` releases with integer noise whose values change by `change`, together with discrete Laplace noise of ε = 1.

    A release has the loss (n - 2T)/(2σ²), where T is the sum of noise times change; discrete Laplace noise has the loss ±1.
    """
    chances = np.array([1.0])
    for root in change * times:
        reach = math.ceil(14 * math.sqrt(sigma2)) + 1
        k = np.arange(-reach, reach + 1)
        weights = np.exp(-k * k / (2 * sigma2))
        spread = np.zeros(2 * root * reach + 1)
        spread[::root] = weights / weights.sum()
        chances = np.convolve(chances, spread)
    n = times * sum(root * root for root in change)
    losses = (n - 2.0 * (np.arange(chances.size) - chances.size // 2)) / (2 * sigma2)
    more = 1 / (1 + math.exp(-1))
    total = 0.0
    for up in range(laplace + 1):
        there = math.comb(laplace, up) * more**up * (1 - more) ** (laplace - up)
        above = losses + (2 * up - laplace) > eps
        total += there * float(np.sum(chances[above] * -np.expm1(eps - losses[above] - (2 * up - laplace))))
    return total


def continuous_delta(eps, mu):
    with mpmath.workdps(40):
        eps, mu = mpmath.mpf(eps), mpmath.mpf(mu)
        return mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)


@pytest.mark.parametrize(("sigma2", "delta", "true", "as_one"), [(0.25, 1e-3, 19.764, 15.993), (2.0, 1e-6, 7.327, 6.997)])
def test_four_changes_by_one_cost_more_than_one_by_two(tmp_path, sigma2, delta, true, as_one):
    """The numbers are from an external report, which convolved the losses."""
    found = spent(tmp_path, sigma2, 2, delta)
    assert found == pytest.approx(true, abs=6e-4)
    assert delta_of(found, (1, 1, 1, 1), sigma2) <= delta < delta_of(found * (1 - 1e-6), (1, 1, 1, 1), sigma2)
    ledger = sn.Ledger(tmp_path / "ledger", 1e4, delta=delta, composed=True)
    one = ledger.spend(sn.DiscreteGaussian(sigma2), data="people", sensitivity=2).total
    assert one == pytest.approx(as_one, abs=6e-4)
    assert delta_of(one, (1, 1, 1, 1), sigma2) > delta >= delta_of(one, (2,), sigma2)


def test_all_changes_of_a_norm_are_computed():
    for n in range(1, 26):
        roots = range(math.isqrt(n) + 1)
        by_search = {
            tuple(sorted(filter(None, term), reverse=True))
            for size in range(1, min(n, 6) + 1)
            for term in itertools.combinations_with_replacement(roots, size)
            if sum(root * root for root in term) == n
        }
        found = list(ways(n, n))
        assert len(set(found)) == len(found)
        assert all(sum(root * root for root in term) == n for term in found)
        assert {term for term in found if len(term) <= 6} == by_search
    # OEIS A001156: partitions of n into squares
    assert [sum(1 for _ in ways(n, n)) for n in (1, 4, 9, 16, 25)] == [1, 2, 4, 8, 19]


@pytest.mark.parametrize("seed", range(12))
def test_no_change_costs_more_and_the_worst_one_as_much(tmp_path, seed):
    """Other releases may stand beside it. The total can exceed the worst change's cost by the rounding of composed losses."""
    rng = np.random.default_rng(seed)
    n, sigma2 = int(rng.integers(2, 26)), float(2 ** rng.uniform(-1, 6))
    delta, laplace = float(10 ** rng.uniform(-8, -2)), int(rng.integers(0, 3))
    if n / sigma2 > 40:
        n = 2
    found = spent(tmp_path, sigma2, math.sqrt(n), delta, more=[sn.DiscreteLaplace(1)] * laplace)
    found_delta = [delta_of(found, change, sigma2, laplace=laplace) for change in ways(n, n)]
    less = [delta_of(found * (1 - 2e-3), change, sigma2, laplace=laplace) for change in ways(n, n)]
    assert max(found_delta) <= delta * (1 + 1e-9)
    assert max(less) > delta


@pytest.mark.parametrize("change", [(2,), (1, 1, 1, 1), (2, 1, 1, 1, 1, 1)])
def test_repeated_releases_compose(tmp_path, change):
    n = sum(root * root for root in change)
    ledger = sn.Ledger(tmp_path / "file", 1e4, delta=DELTA, composed=True)
    rows = ledger.spend([sn.DiscreteGaussian(8.0)] * 3, data="people", l2_sensitivity=math.sqrt(n))
    assert delta_of(rows[0].total, change, 8.0, times=3) <= DELTA


@pytest.mark.parametrize(("n", "sigma2"), [(26, 16.0), (100, 40.0), (100, 1e4), (10**6, 1e7), (7, 1025.0), (2**30, 2.0**31)])
def test_long_changes_are_bounded_by_continuous_noise(tmp_path, n, sigma2):
    """Continuous noise of variance σ² - 4 bounds the cost of every change; direct sums check some of them."""
    found = spent(tmp_path, sigma2, math.sqrt(n))
    bound = continuous_delta(found, math.sqrt(n / (sigma2 - 4)))
    assert DELTA * (1 - 2e-3) < bound <= DELTA
    if n <= 100 and sigma2 < 2000:
        changes = (1,) * n, (5,) * (n // 25) + (1,) * (n % 25)
        assert max(delta_of(found, change, sigma2) for change in changes) <= DELTA


@pytest.mark.parametrize(("change", "sigma"), [((1,) * 9, 2.0), ((3,), 2.0), ((2, 2, 1), 1.0), ((1, 1), 0.75)])
def test_dp_accounting_says_no_more(tmp_path, change, sigma):
    """dp_accounting composes the coordinates of one change; its optimistic estimate is a lower bound."""
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    options = {"pessimistic_estimate": False, "value_discretization_interval": 1e-3}
    losses = [pld.from_discrete_gaussian_mechanism(sigma, sensitivity=root, **options) for root in change]
    total = losses[0]
    for loss in losses[1:]:
        total = total.compose(loss)
    n = sum(root * root for root in change)
    assert spent(tmp_path, sigma**2, math.sqrt(n)) >= total.get_epsilon_for_delta(DELTA) - 1e-9


def test_a_root_that_was_rounded_down_counts_as_the_root(tmp_path):
    """√3 in float64 is below √3, but means three values that change by 1."""
    assert math.sqrt(3) ** 2 < 3
    found = spent(tmp_path, 4.0, math.sqrt(3))
    assert delta_of(found, (1, 1, 1), 4.0) <= DELTA
    assert found == spent(tmp_path, 4.0, 1.9)


GAUSSIAN = sn.DiscreteGaussian(4.0)
REFUSED = {
    "another mechanism": (sn.Skellam(4.0), {}, "l2_sensitivity must be left out for Skellam"),
    "continuous": (sn.Gaussian(1, 1e-6), {}, "l2_sensitivity must be left out for Gaussian"),
    "calibrated": (sn.DiscreteGaussian.from_eps(1, 1e-6), {}, "l2_sensitivity must be left out for a mechanism made by from_eps"),
    "a guarantee": (sn.Guarantee(1, 0.0), {}, "l2_sensitivity must be left out for"),
    "beside a sensitivity": (GAUSSIAN, {"sensitivity": 2}, "sensitivity and max_partitions_contributed must be left out"),
    "beside partitions": (GAUSSIAN, {"max_partitions_contributed": 2}, "must be left out beside l2_sensitivity"),
    "too long": (GAUSSIAN, {"l2_sensitivity": 6}, "l2_sensitivity must be at most 5, or 2.*sigma2 = 4.0"),
    "zero": (GAUSSIAN, {"l2_sensitivity": 0}, "l2_sensitivity must be finite and greater than 0"),
    "nan": (GAUSSIAN, {"l2_sensitivity": math.nan}, "l2_sensitivity must be finite and greater than 0"),
    "a text": (GAUSSIAN, {"l2_sensitivity": "2"}, "l2_sensitivity must be a real number"),
}


@pytest.mark.parametrize(("mechanism", "options", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, mechanism, options, text):
    ledger = sn.Ledger(tmp_path / "file", 100, delta=DELTA, composed=True)
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=text):
        ledger.spend(mechanism, data="people", **{"l2_sensitivity": 2, **options})
    assert ledger.report() == []
