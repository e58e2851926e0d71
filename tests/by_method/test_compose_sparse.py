"""Composed losses whose lattice begins, ends or is filled with zeros.

Evidence: δ by mpmath, from the probabilities of the sum of the noises at 40 digits, convolved term by term. Deterministic: no
false alarms.
"""

import numpy as np
import pytest
from mpmath import mp

import stairnoise as sn
from stairnoise._theory.privacy.convolution import convolution


def delta_of_sums(sigma2: float, k: int, eps: float) -> float:
    """δ of k values that move by 1 each."""
    with mp.workdps(40):
        variance = mp.mpf(sigma2)
        reach = int(mp.sqrt(2 * variance * 100)) + 2
        weights = [mp.exp(-(mp.mpf(x) ** 2) / (2 * variance)) for x in range(-reach, reach + 1)]
        total = mp.fsum(weights)
        law = [mp.mpf(1)]
        for _ in range(k):
            law = [
                mp.fsum(law[i - j] * weights[j] / total for j in range(len(weights)) if 0 <= i - j < len(law))
                for i in range(len(law) + 2 * reach)
            ]
        p = dict(zip(range(-k * reach, k * reach + 1), law, strict=True))
        return float(mp.fsum(max(q - mp.exp(eps) * p.get(s + k, mp.mpf(0)), mp.mpf(0)) for s, q in p.items()))


@pytest.mark.parametrize(("sigma2", "k", "eps"), [(0.7873549674770739, 7, 15.0), (0.7873549674770739, 7, 3.0), (0.3, 4, 9.5)])
def test_losses_far_apart_compose(sigma2: float, k: int, eps: float) -> None:
    low, high = sn.DiscreteGaussian(sigma2).compose(k).privacy_profile(eps, bounds=True)
    truth = delta_of_sums(sigma2, k, eps)
    assert low <= truth * (1 + 1e-9)
    assert truth <= high * (1 + 1e-9)
    assert high < 1.001 * low


def test_losses_far_apart_compose_with_others() -> None:
    loss = sn.DiscreteGaussian(0.4686194548519153).compose(2, 5) + sn.DiscreteStaircase(2, 5).privacy_loss()
    low, high = loss.privacy_profile([0.1, 3.0, 20.0], bounds=True)
    assert np.all((low >= 0) & (low <= high) & (high <= 1))


@pytest.mark.parametrize("length", [3, 40, 3000, 14_001])
def test_convolution_of_laws_between_zeros(length: int) -> None:
    """Against the powers of the law without its zeros, whose place is known."""
    bare = np.random.default_rng(5).random(600)
    bare /= bare.sum()
    law = np.concatenate([np.zeros(700), bare, np.zeros(701)])
    found = convolution([(law, 7)], length)
    expected = np.zeros(14_001)
    expected[4900 : 4900 + 7 * 599 + 1] = convolution([(bare, 7)], 7 * 599 + 1)
    assert found.size == length
    assert np.allclose(found, expected[:length], rtol=1e-9, atol=0)
