"""Composed totals of a ledger.

Evidence: the profile of Gaussian noise by Balle and Wang, "Improving the Gaussian Mechanism" (ICML 2018), theorem 8; the
profile of repeated discrete Laplace noise as a sum of binomial probabilities, both in mpmath with 40 digits.
"""

import mpmath
import pytest

import stairnoise as sn

DELTA = 1e-6


def make(tmp_path, budget=50.0, delta=DELTA):
    return sn.Ledger(tmp_path / "file", budget, delta=delta, composed=True)


def gaussian_delta(eps, mu):
    """δ(ε) of Gaussian noise of standard deviation Δ/mu."""
    with mpmath.workdps(40):
        eps, mu = mpmath.mpf(eps), mpmath.mpf(mu)
        return mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)


def binary_delta(eps, one_eps, k):
    """δ(ε) of k releases whose loss is `each` or its negative: discrete Laplace noise at sensitivity 1."""
    with mpmath.workdps(40):
        one_eps = mpmath.mpf(one_eps)
        more = 1 / (1 + mpmath.exp(-one_eps))
        losses = [(mpmath.binomial(k, j) * more**j * (1 - more) ** (k - j), (2 * j - k) * one_eps) for j in range(k + 1)]
        return mpmath.fsum(p * (1 - mpmath.exp(eps - loss)) for p, loss in losses if loss > eps)


@pytest.mark.parametrize("n", [2, 10, 40])
def test_gaussian_releases_compose_and_never_count_for_less(tmp_path, n):
    mechanism = sn.Gaussian(eps=0.5, delta=1e-7)
    ledger = make(tmp_path)
    ledger.spend([mechanism] * n, data="people")
    with mpmath.workdps(40):
        mu = mpmath.sqrt(mpmath.mpf(n) / mpmath.mpf(mechanism.sigma2))
    assert gaussian_delta(ledger.total(), mu) <= DELTA
    assert gaussian_delta(ledger.total() * (1 - 2e-3), mu) > DELTA
    assert ledger.total() < n * 0.5


@pytest.mark.parametrize("n", [5, 30, 100])
def test_pure_releases_compose_and_never_count_for_less(tmp_path, n):
    ledger = make(tmp_path)
    ledger.spend([sn.DiscreteLaplace(eps=0.25)] * n, data="people")
    assert binary_delta(ledger.total(), 0.25, n) <= DELTA
    assert binary_delta(ledger.total() * (1 - 1e-6), 0.25, n) > DELTA
    assert ledger.total() < n * 0.25


def test_several_values_of_one_person_count_each(tmp_path):
    """A release of k values is k draws of the mechanism made for k values, and the losses compose."""
    ledger = make(tmp_path)
    ledger.spend(sn.DiscreteLaplace(eps=8), data="people", max_partitions_contributed=32)
    assert binary_delta(ledger.total(), 0.25, 32) <= DELTA
    assert ledger.total() < 8


@pytest.mark.parametrize(
    ("mechanism", "k"),
    [(sn.Gaussian(0.5, 1e-7), 3), (sn.Gaussian(0.5, 1e-7).for_partitions(3), 1)],
    ids=["asked", "made for 3"],
)
def test_gaussian_values_of_one_person_count_each(tmp_path, mechanism, k):
    """A mechanism made for 3 values counts for 3, even if the call does not repeat the number."""
    ledger = make(tmp_path)
    ledger.spend([mechanism] * 4, data="people", max_partitions_contributed=k)
    sigma2 = sn.Gaussian(0.5, 1e-7).for_partitions(3).sigma2
    with mpmath.workdps(40):
        mu = mpmath.sqrt(4 * 3 / mpmath.mpf(sigma2))
    assert gaussian_delta(ledger.total(), mu) <= DELTA
    assert gaussian_delta(ledger.total() * (1 - 2e-3), mu) > DELTA


def test_a_single_release_fits_its_own_guarantee_exactly(tmp_path):
    ledger = make(tmp_path, 0.5, 1e-7)
    assert ledger.spend(sn.Gaussian(0.5, 1e-7), data="people").total == 0.5
    with pytest.raises(sn.BudgetError, match=r"at delta = 1e-07 is spent"):
        ledger.spend(sn.DiscreteLaplace(2.0**-10), data="people")


def test_what_has_only_eps_and_delta_is_added_to_the_composed_rest(tmp_path):
    ledger = make(tmp_path)
    mechanism = sn.Gaussian(eps=0.5, delta=1e-7)
    ledger.spend([mechanism] * 10, data="people")
    ledger.spend(sn.Guarantee(0.25, 4e-7), data="people")
    ledger.spend(sn.ExponentialMechanism(0.5), data="people")
    with mpmath.workdps(40):
        mu = mpmath.sqrt(10 / mpmath.mpf(mechanism.sigma2))
    composed = ledger.total() - 0.75
    assert gaussian_delta(composed, mu) <= DELTA - 4e-7
    assert gaussian_delta(composed * (1 - 2e-3), mu) > DELTA - 4e-7
    with pytest.raises(sn.BudgetError, match="the deltas would exceed the ledger's, "):
        ledger.spend(sn.Guarantee(0.25, 7e-7), data="people")


@pytest.mark.parametrize(("delta", "parts"), [(3e-7, (1e-7, 2e-7)), (1e-6, (1e-7,) * 10), (8e-7, (7e-7, 1e-7))])
def test_deltas_are_added_as_decimals(tmp_path, delta, parts):
    """Added as floats, some of these sums are above the decimal sums and some below."""
    ledger = make(tmp_path, delta=delta)
    ledger.spend([sn.Guarantee(0.1, one_eps) for one_eps in parts], data="people")
    with pytest.raises(sn.BudgetError):
        ledger.spend(sn.Guarantee(0.1, 1e-20), data="people")


def test_what_cannot_be_composed_is_added(tmp_path):
    """Too many values, and different mechanisms with an ε above a lattice's maximum, cannot be composed."""
    ledger = make(tmp_path, 2000.0)
    ledger.spend(sn.Laplace(1.0), data="people", max_partitions_contributed=10**6)
    assert ledger.total() == 1.0
    ledger.spend([sn.Laplace(600.0), sn.DiscreteLaplace(700.0)], data="people")
    assert ledger.total() == 1301.0


def test_a_mechanism_with_rho_alone_is_composed(tmp_path):
    ledger = make(tmp_path)
    row = ledger.spend(sn.DiscreteGaussian(sigma2=10_000), data="people", sensitivity=50)
    assert (row.eps, row.delta) == (None, None)
    assert gaussian_delta(row.total, 0.5) == pytest.approx(DELTA, rel=1e-3)


def test_totals_need_no_order(tmp_path):
    mechanisms = [sn.DiscreteLaplace(0.25), sn.DiscreteLaplace(0.5)] * 20
    first, second = (sn.Ledger(tmp_path / name, 50, delta=DELTA, composed=True) for name in ("first", "second"))
    first.spend(mechanisms, data="people")
    for mechanism in sorted(mechanisms, key=lambda mechanism: mechanism.eps):
        second.spend(mechanism, data="people")
    assert first.total() == second.total() < 15
