"""The ε returned for a δ is safe: the profile at this ε is at most δ, for every mechanism, composition and δ.

Evidence: the package's own profile, which other tests compare with direct sums; for a staircase, whose profile is one
term, the profile in 60 digits. Nothing here is statistical.
"""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stairnoise as sn
from tests.combinations import rest_long
from tests.property.test_privacy import losses

FURTHER = [
    sn.Gaussian(1, 1e-6).privacy_loss(),
    sn.DiscreteGaussian(3.0).privacy_loss(sensitivity=2),
    sn.TruncatedLaplace(1, 1e-6).privacy_loss(),
    sn.TruncatedLaplace(2, 1e-2, lower=-4).privacy_loss(),
    sn.MergedLaplace([16, 4], [0.125]).privacy_loss(),
    sn.GeneralizedDiscreteLaplace(0.3, 0.5).privacy_loss(sensitivity=3),
    sn.MultiScaleDiscreteLaplace(2, 3).share(10, 9).privacy_loss(),
    sn.Arete.from_eps(8, 1).privacy_loss(),
]
COMPOSED = [loss.compose(3) for loss in FURTHER] + [
    sn.Laplace(1).privacy_loss().compose(20),
    FURTHER[0] + sn.Staircase(2).privacy_loss(),
    FURTHER[2].compose(5) + sn.DiscreteLaplace(1, 7).privacy_loss(),
]
LEVELS = [0.0, 1e-300, 1e-40, 1e-17, 3e-16, 1e-15, 7e-14, 1e-12, 1e-9, 1e-6, 1e-4, 0.01, 0.3, 0.9, 1.0]


def check(loss, delta):
    eps = loss.eps_for_delta(delta)
    assert loss.privacy_profile(eps) <= delta or (eps == loss.eps == np.inf and delta < loss.privacy_profile(1e300) * (1 + 1e-9))
    if not loss.exact:
        low, high = loss.eps_for_delta(delta, bounds=True)
        assert low <= high == eps


@given(losses(), st.floats(-320, 0), st.floats(0, 1))
def test_the_first_four_mechanisms_and_their_compositions(loss, exponent, other):
    for delta in (10**exponent, other):
        check(loss, delta)
    deltas = np.array([10**exponent, other])
    assert (loss.privacy_profile(loss.eps_for_delta(deltas)) <= deltas).all()


@pytest.mark.parametrize("loss", rest_long(FURTHER[::2] + COMPOSED[1::2], FURTHER + COMPOSED), ids=repr)
def test_the_other_mechanisms_and_their_compositions(loss):
    for delta in LEVELS:
        check(loss, delta)
    eps = loss.eps_for_delta(LEVELS)
    assert ((loss.privacy_profile(eps) <= LEVELS) | np.isinf(eps)).all()
    assert (eps[1:] <= eps[:-1]).all()


@given(st.floats(1e-3, 600), st.floats(-14, -1), st.integers(1, 50))
def test_one_staircase_by_its_profile_in_many_digits(eps, exponent, D):
    """δ(t) = p (1 - exp(t - ε)): near ε, rounding to the nearest t can exceed δ by a relative 1e-5 and more."""
    mechanism, delta = sn.DiscreteStaircase(eps, D), 10**exponent
    t = mechanism.privacy_loss().eps_for_delta(delta)
    with mp.workdps(60):
        b, h = mp.exp(-mp.mpf(eps)), mp.mpf(2 * mechanism.r - 1) / D
        p = (min(1, h) + b / (1 - b)) / (h + 2 * b / (1 - b))
        exact = p * -mp.expm1(mp.mpf(t) - mp.mpf(eps))
        assert exact <= delta * (1 + mp.mpf(10) ** -14)
        # one or two float64 less is too little
        assert t == 0 or p * -mp.expm1(mp.mpf(t * (1 - 2**-51)) - mp.mpf(eps)) > delta * (1 - mp.mpf(10) ** -12)


def test_arrays_of_mechanisms():
    loss = sn.Laplace([0.5, 1, 2], [1, 3, 7]).privacy_loss()
    eps = loss.eps_for_delta([[d] for d in LEVELS])
    assert (loss.privacy_profile(eps) <= np.array(LEVELS)[:, None]).all()
