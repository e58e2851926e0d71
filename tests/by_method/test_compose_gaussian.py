"""Many releases of one Gaussian mechanism: the loss of their sum.

Evidence: the distribution of a sum of discrete Gaussian draws, convolved in 40 digits; a second method, by two lattices that
enclose the loss; the formula of the normal distribution.
"""

import math
from itertools import product

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.accounting import models
from tests.by_method.privacy_pairs import close
from tests.combinations import in_turn, rest_long


def delta_of_sums(sigma2, shift, k, eps):
    """Return δ of k releases as a sum over S, whose probabilities are all convolved."""
    reach = math.ceil(14 * math.sqrt(sigma2))
    weights = [mp.exp(-(mp.mpf(x) ** 2) / (2 * sigma2)) for x in range(-reach, reach + 1)]
    total = mp.fsum(weights)
    mechanism = {0: mp.mpf(1)}
    for _ in range(k):
        longer = {}
        for s, mass in mechanism.items():
            for x, weight in enumerate(weights):
                place = s + x - reach
                longer[place] = longer.get(place, 0) + mass * weight / total
        mechanism = longer
    loss = {s: mp.mpf(shift) * (k * shift - 2 * s) / (2 * sigma2) for s in mechanism}
    return mp.fsum(mass * (1 - mp.exp(eps - loss[s])) for s, mass in mechanism.items() if loss[s] > eps)


@pytest.mark.parametrize(("sigma2", "shift", "k", "eps"), [(8, 1, 2, 0.3), (9, 2, 3, 1.5), (12.5, 1, 4, 2.0)])
def test_the_sum_of_whole_draws(sigma2, shift, k, eps):
    with mp.workdps(40):
        composed = sn.DiscreteGaussian(sigma2).compose(k, shift)
        assert composed.exact
        assert close(composed.privacy_profile(eps), delta_of_sums(mp.mpf(sigma2), shift, k, mp.mpf(eps)), 1e-10)


NOISES = (sn.Gaussian(1, 1e-6), sn.Gaussian(8, 1e-3), sn.DiscreteGaussian(8.5))


@pytest.mark.parametrize(("mechanism", "k"), rest_long(in_turn(NOISES, (30, 2)), product(NOISES, (30, 2))), ids=repr)
def test_two_lattices_enclose_it(mechanism, k):
    """One loss is composed by two methods: as a sum of draws, and on lattices of losses."""
    composed = mechanism.compose(k)
    with np.errstate(all="ignore"):
        lower, upper = models.lower_curve(composed._parts), models.upper_curve(composed._parts)
    for delta in (1e-9, 1e-6, 1e-2):
        eps = composed.eps_for_delta(delta)
        assert lower.profile_scalar(eps) <= delta * (1 + 1e-9)
        assert upper.profile_scalar(eps) >= delta * (1 - 1e-9)
        assert upper.profile_scalar(eps) == pytest.approx(delta, rel=2e-2)
    assert composed.rdp(3) == pytest.approx(k * mechanism.rdp(3), rel=1e-12)


@pytest.mark.parametrize("k", [10, 2**20])
def test_the_normal_formula(k):
    """B(ε, √k Δ/σ) of Balle and Wang, theorem 8; up to 2**20 releases."""
    mechanism = sn.Gaussian(0.001, 1e-6)
    with mp.workdps(40):
        s = mp.sqrt(k) / mp.mpf(mechanism.sigma)
        eps = s * s / 2 + 3 * s
        exact = mp.ncdf(s / 2 - eps / s) - mp.exp(eps) * mp.ncdf(-s / 2 - eps / s)
        assert close(mechanism.compose(k).privacy_profile(float(eps)), exact, 1e-9)


def test_what_is_not_a_sum():
    assert not sn.DiscreteGaussian(7.5).compose(2).exact
    assert not (sn.Gaussian(1, 1e-6).privacy_loss() + sn.Gaussian(2, 1e-6).privacy_loss()).exact
    assert sn.Gaussian(1, 1e-6).compose(3).eps == math.inf
