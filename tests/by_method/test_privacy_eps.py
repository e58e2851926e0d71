"""ε of several values of a sum of shares, some of them missing: `privacy_eps(max_partitions_contributed=k)`.

Evidence: probabilities of the sum of the present shares, by convolution of negative binomial probabilities from
`math.lgamma`, and the largest of their ratios; k values lose k times as much. Deterministic: no false alarms.
"""

import math

import numpy as np
import pytest

import stairnoise as sn


def negative_binomial(shape, rate, terms):
    k = np.arange(terms)
    logs = [math.lgamma(shape + i) - math.lgamma(shape) - math.lgamma(i + 1) for i in k]
    return np.exp(np.array(logs) - rate * k + shape * math.log1p(-math.exp(-rate)))


def differences(shape, rate, terms, scale=1):
    one = negative_binomial(shape, rate, terms)
    mechanism = np.convolve(one, one[::-1])
    spread = np.zeros(2 * scale * (terms - 1) + 1)
    spread[::scale] = mechanism
    return spread


def largest_loss(mechanism, shifts, reach):
    """Return the largest loss among the outcomes near the middle of a list, whose ends are cut off."""
    x = mechanism.size // 2 + np.arange(-reach, reach + 1)
    return max(float(np.max(np.log(mechanism[x] / mechanism[x + s]))) for s in shifts)


@pytest.mark.parametrize(("present", "k"), [(50, 1), (50, 50), (75, 3), (100, 50)])
def test_multi_scale_by_direct_sums(present, k):
    """With one scale privacy_eps is exact; with three it bounds the truth from above."""
    terms = 20 + 16 * k
    for sensitivity in (1, 3):
        mechanism = sn.MultiScaleDiscreteLaplace(5, sensitivity).share(100, present)
        total = np.ones(1)
        for scale in range(1, sensitivity + 1):
            total = np.convolve(total, differences(present / 100, 5 / k, terms, scale))
        truth = k * largest_loss(total, range(1, sensitivity + 1), terms // 3)
        claimed = mechanism.privacy_eps(max_partitions_contributed=k)
        if sensitivity == 1:
            assert claimed == pytest.approx(truth, rel=1e-6)
        else:
            assert truth <= claimed * (1 + 1e-6)


def test_missing_shares_are_paid_by_every_value():
    mechanism = sn.MultiScaleDiscreteLaplace(5, 3).share(100, 50)
    assert mechanism.privacy_eps() == mechanism.privacy_eps(max_partitions_contributed=1) == pytest.approx(5.693, abs=1e-3)
    assert mechanism.privacy_eps(max_partitions_contributed=50) == pytest.approx(30.30, abs=1e-2)
    assert mechanism.privacy_eps(max_partitions_contributed=50) == 50 * mechanism.for_partitions(50).privacy_eps()
    whole = sn.MultiScaleDiscreteLaplace(5, 3)
    assert whole.privacy_eps(max_partitions_contributed=50) == pytest.approx(5, rel=1e-12)


def test_generalized_by_direct_sums():
    mechanism = sn.GeneralizedDiscreteLaplace(0.5, 0.25).share(10, 6)
    truth = largest_loss(differences(0.3, 0.25, 600), [1, 2, 3], 200)
    for k in (1, 2, 7):
        assert mechanism.privacy_eps(3, max_partitions_contributed=k) == pytest.approx(k * truth, rel=1e-9)


@pytest.mark.slow
def test_arete_costs_as_often_as_it_is_drawn():
    mechanism = sn.Arete.from_eps(8, 1).share(10, 9)
    assert mechanism.privacy_eps(1.0, max_partitions_contributed=4) == 4 * mechanism.privacy_eps(1.0)


@pytest.mark.parametrize(
    "mechanism", [sn.MultiScaleDiscreteLaplace(5), sn.GeneralizedDiscreteLaplace(1, 1), sn.Arete.from_eps(8, 1)]
)
def test_numbers_out_of_range_are_named(mechanism):
    with pytest.raises(sn.ParameterError, match=r"^max_partitions_contributed must be an integer from 1"):
        mechanism.privacy_eps(1, max_partitions_contributed=0)
