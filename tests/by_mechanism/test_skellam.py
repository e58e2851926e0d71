"""Skellam: its distribution, its shares, its privacy, its parameters.

Evidence: mpmath's Bessel functions and direct sums in 30 digits, convolutions, dp_accounting where it is installed, and
chi-square tests of draws with fixed seeds: one false alarm in a million for each if the seeds change. Otherwise deterministic.
"""

from __future__ import annotations

import math
import pickle
import random
from fractions import Fraction
from functools import cache

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.mechanisms.skellam import distribution as theory
from tests.combinations import rest_long
from tests.oracles import partitions as oracle
from tests.statistical import checks

ALPHA = 1e-6
VARIANCES = [2.0**-20, 1e-3, 0.5, 7.3, 40.0, 63.99, 64.0, 1e3]


@cache
def bessel(mu: float, k: int):
    """P(X = k) in 30 digits, for k >= 0."""
    with mp.workdps(30):
        return mp.exp(-mp.mpf(mu)) * mp.besseli(k, mp.mpf(mu))


def everything(mu: float, far: int):
    return {k: bessel(mu, abs(k)) for k in range(-far, far + 1)}


@pytest.mark.parametrize("mu", VARIANCES)
def test_probabilities(mu):
    mechanism, end = sn.Skellam(mu), theory.reach(mu, 680)
    for k in sorted({0, 1, 2, 5, 63, 64, 65, end // 3, end // 2, end}):
        exact = mp.log(bessel(mu, k))
        assert theory.log_pmf(mu, np.array([float(k)]))[0] == pytest.approx(float(exact), rel=1e-15, abs=1e-14)
        if k <= end:
            assert float(mechanism.pmf(k) / bessel(mu, k) - 1) == pytest.approx(0, abs=1e-12)
            assert mechanism.pmf(-k) == mechanism.pmf(k)


@pytest.mark.parametrize("mu", [1e6, 2.0**30])
def test_probabilities_of_large_variances(mu):
    """Compared with the Bessel functions' recurrence between neighbours, and the sum and variance of all probabilities."""
    mechanism = sn.Skellam(mu)
    sigma = math.sqrt(mu)
    for z in (0.5, 3.0, 12.0, 30.0):
        k = round(z * sigma)
        before, here, after = (mechanism.pmf(j) for j in (k - 1, k, k + 1))
        assert before - after == pytest.approx(2 * k / mu * here, rel=1e-9)
    k = np.arange(1.0, 9 * sigma)
    p = mechanism.pmf(k)
    assert mechanism.pmf(0) + 2 * math.fsum(p) == pytest.approx(1, abs=1e-12)
    assert 2 * math.fsum(k * k * p) == pytest.approx(mu, rel=1e-11)


@pytest.mark.parametrize("mu", [1e-3, 0.5, 7.3, 150.0])
def test_tails_and_quantiles(mu):
    mechanism, far = sn.Skellam(mu), theory.reach(mu, 690)
    p = everything(mu, far)
    with mp.workdps(30):
        for k in sorted({-far // 2, -9, -1, 0, 3, far // 4, far // 2}):
            above = mp.fsum(q for j, q in p.items() if j > k)
            below = mp.fsum(q for j, q in p.items() if j <= k)
            assert mechanism.sf(k) == pytest.approx(float(above), rel=1e-12)
            assert mechanism.cdf(k) == pytest.approx(float(below), rel=1e-12)
            assert mechanism.logsf(k) == pytest.approx(float(mp.log(above)), rel=1e-12)
            assert mechanism.isf(float(above) * 1.0001) <= k or mechanism.sf(k) > 0.999
            assert mechanism.cdf(mechanism.ppf(float(below) * 0.9999)) >= float(below) * 0.9999
    assert mechanism.var() == mechanism.moment(2) == pytest.approx(mu, rel=1e-12) or mechanism.moment(2) == pytest.approx(
        mu, rel=1e-12
    )
    assert mechanism.moment(4) == pytest.approx(3 * mu * mu + mu, rel=1e-11)
    assert mechanism.abs_moment(1) == pytest.approx(float(mp.fsum(abs(k) * q for k, q in p.items())), rel=1e-12)
    assert mechanism.entropy() == pytest.approx(float(-mp.fsum(q * mp.log(q) for q in p.values())), rel=1e-11)
    bound = mechanism.error_bound(1 - 1e-9)
    assert 2 * mechanism.sf(bound) <= 1e-9 < 2 * mechanism.sf(bound - 1)


@pytest.mark.parametrize("n", [2, 7])
@pytest.mark.parametrize("mu", [0.3, 5.0, 200.0])
def test_shares_add_up_to_the_whole(mu, n):
    """The n-fold convolution of a share's probabilities is the whole's."""
    mechanism, reach = sn.Skellam(mu), theory.reach(mu, 60)
    k = np.arange(-reach, reach + 1)
    total = share = mechanism.share(n).pmf(k)
    for i in range(2, n + 1):
        total = np.convolve(total, share)[reach : -reach or None] if i else total
    assert total == pytest.approx(mechanism.pmf(k), rel=1e-9, abs=1e-18)
    assert mechanism.share(n).var() * n == pytest.approx(mu, rel=1e-15)
    assert mechanism.share(n, n - 1).var() == float(Fraction(mu) * (n - 1) / n)


@pytest.mark.parametrize("mu", [0.2, 4.0, 1000.0, 1e6])
def test_draws(mu):
    check_draws(sn.Skellam(mu).sample(500_000, rng=sn.SeededRng(81)), sn.Skellam(mu))


def test_draws_of_several_terms():
    """μ of twenty million takes two tables; chi-square over bins of 100 integers."""
    check_draws(sn.Skellam(2e7).sample(300_000, rng=sn.SeededRng(82)), sn.Skellam(2e7), width=101)


def test_draws_of_shares_add_up():
    mechanism = sn.Skellam(50.0)
    total = sum(mechanism.share(5).sample(300_000, rng=rng) for rng in sn.SeededRng(83).spawn(5))
    check_draws(total, mechanism)


def check_draws(noise, mechanism, width=1):
    reach = int(mechanism.error_bound(0.999) // width) + 1
    bins = np.clip(np.floor(noise / width + 0.5), -reach, reach).astype(np.int64)
    edges = (np.arange(-reach, reach) + 0.5) * width
    expected = np.diff(np.concatenate([[0.0], mechanism.cdf(np.floor(edges)), [1.0]]))
    counts = np.bincount(bins + reach, minlength=expected.size)
    checks.check_distribution(counts, expected, ALPHA)
    checks.check_symmetry(counts, ALPHA)


# ---------------------------------------------------------------- privacy


def by_definition(mu, shift, eps):
    """Return δ from all outcomes, in 30 digits."""
    far = theory.reach(mu, 200) + shift
    p = everything(mu, far + shift)
    with mp.workdps(30):
        return mp.fsum(max(p[k] - mp.exp(mp.mpf(eps)) * p[k - shift], 0) for k in range(-far, far))


@pytest.mark.parametrize(("mu", "shift"), [(0.5, 1), (0.01, 2), (14.0, 1), (30.0, 10), (200.0, 3)])
def test_profile_by_definition(mu, shift):
    mechanism = sn.Skellam(mu, shift)
    for eps in (0.0, 0.01, 0.3, 1.0, 3.0, 8.0):
        exact = float(by_definition(mu, shift, eps))
        assert mechanism.privacy_profile(eps) == pytest.approx(exact, rel=1e-10, abs=1e-80)
        if 1e-60 < exact < 0.99:
            assert mechanism.privacy_loss().eps_for_delta(exact) == pytest.approx(eps, abs=1e-9)


@pytest.mark.parametrize(("mu", "shift"), [(14.0, 1), (200.0, 3)])
def test_composition_by_convolution(mu, shift):
    """Two releases: sums over all pairs of outcomes lie between both bounds."""
    mechanism = sn.Skellam(mu, shift)
    k = np.arange(-theory.reach(mu, 80), theory.reach(mu, 80) + shift + 1.0)
    p, q = mechanism.pmf(k), mechanism.pmf(k - shift)
    for eps in (0.2, 1.0, 2.5):
        direct = math.fsum(np.maximum(np.outer(p, p) - math.exp(eps) * np.outer(q, q), 0.0).sum(axis=1))
        low, high = mechanism.compose(2).privacy_profile(eps, bounds=True)
        assert low <= direct * (1 + 1e-9) + 1e-18
        assert direct <= high * (1 + 1e-9)
        assert high <= low * 1.01 + 1e-15


@pytest.mark.parametrize(("mu", "shift", "eps"), [(10.0, 1, 1.0), (100.0, 3, 0.5)])
def test_profile_against_dp_accounting(mu, shift, eps):
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason="dp_accounting is not installed")
    k = range(-theory.reach(mu, 60), theory.reach(mu, 60) + shift)
    logs = theory.log_pmf(mu, np.arange(-theory.reach(mu, 60), theory.reach(mu, 60) + shift, dtype=np.float64))
    other = theory.log_pmf(mu, np.array(k, dtype=np.float64) - shift)
    upper, lower = (dict(zip(k, log.tolist(), strict=True)) for log in (logs, other))
    found = pld.from_two_probability_mass_functions(lower, upper, value_discretization_interval=1e-5)
    mechanism = sn.Skellam(mu, shift)
    assert found.get_delta_for_epsilon(eps) == pytest.approx(mechanism.privacy_profile(eps), rel=1e-3)


@pytest.mark.parametrize("case", rest_long(range(20), range(60)))
def test_rdp_is_within_the_bound_of_the_paper(case):
    choose = random.Random(f"skellam rdp {case}")
    mu, shift = 2 ** choose.uniform(-4, 14), choose.choice((1, 1, 2, 5, 20))
    alpha = float(choose.randrange(2, 128)) if case % 2 else 1 + 2 ** choose.uniform(-6, 6)
    mechanism = sn.Skellam(mu, shift)
    found = mechanism.rdp(alpha)
    assert 0 < found <= mechanism.rdp_bound(alpha) * (1 + 1e-12)
    if alpha * shift * shift < 50 * mu:
        k = np.arange(-theory.reach(mu, 2000), theory.reach(mu, 2000) + shift + 1.0)
        terms = alpha * theory.log_pmf(mu, k) + (1 - alpha) * theory.log_pmf(mu, k - shift)
        direct = math.log(math.fsum(np.exp(terms))) / (alpha - 1)
        assert found == pytest.approx(direct, rel=1e-9, abs=1e-11 / (alpha - 1))


def test_rdp_bound_by_hand():
    mechanism = sn.Skellam(10.0, 2)
    assert mechanism.rdp_bound(3) == pytest.approx(3 * 4 / 20 + min((5 * 4 + 12) / 400, 6 / 20), rel=1e-15)
    # (α - 1) D is 0 at 1, so the bound between 1 and 2 is the bound of 2.
    assert mechanism.rdp_bound(1.25) == pytest.approx(mechanism.rdp_bound(2), rel=1e-15)
    assert mechanism.rdp_bound(2.5) == pytest.approx((mechanism.rdp_bound(2) + 2 * mechanism.rdp_bound(3)) / 3, rel=1e-15)
    # A vector with changes of ±1 in nine places.
    assert mechanism.rdp_bound(3, 9, l2_sensitivity=3) == pytest.approx(3 * 9 / 20 + (5 * 9 + 54) / 400, rel=1e-15)
    assert np.array_equal(mechanism.rdp_bound([2, 3]), [mechanism.rdp_bound(2), mechanism.rdp_bound(3)])
    assert mechanism.share(2).rdp_bound(3) == sn.Skellam(5.0, 2).rdp_bound(3)


def test_the_largest_change_is_the_worst():
    mechanism = sn.Skellam(6.0)
    for eps in (0.0, 0.4, 2.0):
        deltas = [mechanism.privacy_profile(eps, shift) for shift in range(1, 8)]
        assert deltas == sorted(deltas)
    assert mechanism.privacy_loss().eps == math.inf


@pytest.mark.parametrize(
    ("eps", "delta", "shift"),
    [
        *[(1.0, 1e-6, 1), (0.1, 1e-9, 2), (8.0, 1e-3, 3), (0.5, 0.5, 10), (415.56936127999876, 2.6365417281184893e-12, 1000)],
        pytest.param(1e-3, 1e-6, 1, marks=pytest.mark.long),
    ],
)
def test_from_eps(eps, delta, shift):
    mechanism = sn.Skellam.from_eps(eps, delta, shift)
    assert (mechanism.eps, mechanism.delta, mechanism.sensitivity) == (eps, delta, shift)
    assert mechanism.privacy_profile(eps) <= delta
    assert sn.Skellam(mechanism.mu * (1 - 2.0**-14), shift).privacy_profile(eps) > delta
    promise = mechanism.guarantee()
    assert (promise.eps, promise.delta, promise.rho, promise.partitions) == (eps, delta, None, 1)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert eval(repr(mechanism), {"Skellam": sn.Skellam}) == mechanism


def test_less_noise_than_the_discrete_gaussian_needs():
    """At ε = 1 and δ = 1e-6 the loss of Skellam noise grows less than linearly in its tail."""
    assert sn.Skellam.from_eps(1, 1e-6).var() < 0.8 * sn.DiscreteGaussian.from_eps(1, 1e-6).var()


@pytest.mark.parametrize("k", [2, pytest.param(10, marks=pytest.mark.long)])
def test_several_values_keep_eps_and_delta(k):
    mechanism = sn.Skellam.from_eps(1, 1e-6)
    divided = mechanism.for_partitions(k)
    assert divided.compose(k).privacy_profile(1.0, bounds=True)[0] <= 1e-6
    assert divided.mu < k * k * mechanism.mu
    assert divided.guarantee() == mechanism.guarantee(max_partitions_contributed=k)
    assert divided.for_partitions(3).mu == mechanism.for_partitions(3 * k).mu


@pytest.mark.parametrize("case", range(4))
def test_variances_of_any_parameters(case):
    """The product's float64 sums against the oracle's 60 digits: the smallest candidate is enough, and the one below is not."""
    choose = random.Random(f"skellam partitions {case}")
    eps, delta, shift, k = 2 ** choose.uniform(-2, 3), 10 ** choose.uniform(-9, -1), choose.choice((1, 2)), (1, 2, 5, 1)[case]
    mu = sn.Skellam.from_eps(eps, delta, shift).for_partitions(k).mu
    octave = math.frexp(mu)[1] - 1
    index = octave * 2**15 + int((mu / 2**octave - 1) * 2**15)
    assert oracle.candidate(index) == mu
    assert oracle.skellam_enough(eps, delta, shift, k, oracle.candidate(index))
    assert not oracle.skellam_enough(eps, delta, shift, k, oracle.candidate(index - 1))


def test_a_mechanism_of_a_variance_states_its_renyi_bound():
    mechanism = sn.Skellam(100.0, sensitivity=1)
    promise = mechanism.guarantee(max_partitions_contributed=4)
    assert (promise.eps, promise.delta, promise.rho, promise.partitions) == (None, None, None, 4)
    assert repr(promise).endswith("are (α, rdp_bound(α))-Rényi differentially private for every α > 1 together.")
    divided = mechanism.for_partitions(4)
    assert divided == sn.Skellam(400.0, 1)
    for alpha in (2, 3.5, 50):
        assert divided.rdp_bound(alpha, 4, l2_sensitivity=2) <= mechanism.rdp_bound(alpha)
        assert 4 * divided.rdp(alpha) <= mechanism.rdp_bound(alpha)


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sn.Skellam(math.nan), "mu must be from 2**-20 to 2**30, got nan"),
        (lambda: sn.Skellam(0.0), "mu must be from 2**-20 to 2**30, got 0.0"),
        (lambda: sn.Skellam(2.0**31), "mu must be from 2**-20 to 2**30, got 2147483648.0"),
        (lambda: sn.Skellam(1e-6, 1, 2**21), "mu must be at least 2**-40 for each party, got 1e-6"),
        (lambda: sn.Skellam([1.0, 2.0]), "mu must be a single number"),
        (lambda: sn.Skellam(1.0, 0), "sensitivity must be an integer from 1 to 2**20, got 0"),
        (lambda: sn.Skellam(1.0, 1, 0), "n_parties must be an integer from 1 to 2**32 - 1, got 0"),
        (lambda: sn.Skellam(1.0).rdp_bound(1), "alpha must be finite and greater than 1, got 1"),
        (lambda: sn.Skellam(1.0).rdp_bound(math.inf), "alpha must be finite and greater than 1, got inf"),
        (
            lambda: sn.Skellam(1.0).rdp_bound(2, 3, l2_sensitivity=4),
            "l2_sensitivity must be greater than 0 and at most the l1 norm 3",
        ),
        (lambda: sn.Skellam.from_eps(0, 0.1), "eps must be greater than 0 and at most 2**20, got 0"),
        (lambda: sn.Skellam.from_eps(1, 0.6), "delta must be from 2**-128 to 0.5, got 0.6"),
        (lambda: sn.Skellam.from_eps(1e-9, 1e-9), "eps, delta and sensitivity must leave a mu up to 2**30, got 1e-09"),
        (lambda: sn.Skellam(2.0**29).for_partitions(3), "k must leave a mu from 2**-20 to 2**30, got 3"),
    ],
)
def test_errors(make, message):
    with pytest.raises(sn.ParameterError) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_shares_of_a_calibrated_mechanism():
    mechanism = sn.Skellam.from_eps(1, 1e-6)
    whole, part = mechanism.share(1), mechanism.share(10)
    assert whole == mechanism
    assert whole.guarantee() == mechanism.guarantee()
    assert part.guarantee().eps is None
    assert part != mechanism
    assert eval(repr(part), {"Skellam": sn.Skellam}) == part
    assert part.for_partitions(2).mu == mechanism.for_partitions(2).mu


@pytest.mark.parametrize(("mu", "k"), [(7.0, 20), (0.01, 3), (1e-5, 2), (1e5, 1000)])
def test_sums_of_draws(mu, k):
    """The sum of k draws has the distribution of one draw with kμ."""
    for alpha in (0.3, 0.05, 1e-9):
        high = sn.Skellam(mu).confidence_interval(0, 1 - alpha, of="sum", terms=k)[1]
        assert high == sn.Skellam(mu * k)._tail_bound(alpha * (1 - 1e-9))


def test_sums_of_very_many_draws():
    """Compared with the normal quantile, because the distribution is near to normal."""
    high = sn.Skellam(2.0**30).confidence_interval(0, 0.95, of="sum", terms=10**9)[1]
    assert 1 <= high / (1.959963984540054 * math.sqrt(2.0**30 * 1e9)) < 1.0002
