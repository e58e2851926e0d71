"""Mechanisms found for a privacy budget. Evidence: no random mechanism is better, and the guarantee is computed by another
method.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import stairnoise as sn


def cost(rates, end, p):
    """Return E|X|**p of the density with one break point, by a fine sum."""
    x = (np.arange(100_000) + 0.5) * (60 / rates[1] / 100_000)
    density = np.exp(-np.where(x < end, rates[0] * x, rates[0] * end + rates[1] * (x - end)))
    return float(np.sum(density * x**p) / np.sum(density))


@pytest.mark.parametrize("name", ["l1", "l2"])
@pytest.mark.parametrize("eps", [1.0, 3.5, 6.0, 9.0])
def test_no_other_break_point_is_better(eps, name):
    p = {"l1": 1, "l2": 2}[name]
    mechanism = sn.MergedLaplace.from_eps(eps, 1.0, name)
    rng = np.random.default_rng(7)
    for _ in range(60):
        end, share = rng.uniform(0.02, 0.98), rng.uniform(0.05, 1)
        rates = ((eps - (1 - end) * share * eps) / end, share * eps)
        assert cost(rates, end, p) >= float(mechanism.abs_moment(p)) * (1 - 1e-4)


@pytest.mark.parametrize("eps", [0.1, 3.4, 6.0, 10.0, 40.0])
@pytest.mark.parametrize("sensitivity", [1.0, 3.0, 0.7])
def test_the_merged_mechanism_keeps_its_budget(eps, sensitivity):
    mechanism = sn.MergedLaplace.from_eps(eps, sensitivity)
    assert eps * (1 - 1e-8) <= mechanism.pure_eps() <= eps
    assert mechanism.sensitivity == sensitivity


def test_the_steep_centre_of_the_notes():
    """At eps = 6 the best mechanism with one break has E|X| = 0.114; at 1 and 3 it is the Laplace distribution."""
    assert sn.MergedLaplace.from_eps(6).abs_moment(1) == pytest.approx(0.1140, abs=2e-4)
    for eps in (1, 3):
        assert sn.MergedLaplace.from_eps(eps) == sn.MergedLaplace([eps], [])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0,), "eps must be greater than 0 and at most 40, got 0"),
        ((41,), "eps must be greater than 0 and at most 40, got 41"),
        ((math.nan,), "eps must be greater than 0 and at most 40, got nan"),
        ((1, 0.0), "sensitivity must be"),
        ((1, 1.0, "l3"), 'cost must be "l1" or "l2", got \'l3\''),
    ],
)
def test_merged_errors(arguments, text):
    with pytest.raises(sn.ParameterError) as caught:
        sn.MergedLaplace.from_eps(*arguments)
    assert str(caught.value).startswith(text)


def direct_profile(sigma2, eps, shift):
    """Return δ as the sum of the positive parts of P(k) - e^eps P(k - shift)."""
    width = int(40 * math.sqrt(sigma2)) + 2 * shift + 5
    k = np.arange(-width, width + 1, dtype=float)
    weight = np.exp(-(k**2) / (2 * sigma2))
    moved = np.exp(-((k - shift) ** 2) / (2 * sigma2))
    return float(np.sum(np.maximum(weight - math.exp(eps) * moved, 0)) / weight.sum())


@pytest.mark.parametrize(("eps", "delta", "shift"), [(1, 1e-6, 1), (0.1, 1e-9, 1), (8, 1e-6, 1), (5, 1e-3, 10), (0.5, 0.3, 2)])
def test_the_least_sigma2(eps, delta, shift):
    mechanism = sn.DiscreteGaussian.from_eps(eps, delta, shift)
    assert direct_profile(mechanism.sigma2, eps, shift) <= delta
    assert direct_profile(mechanism.sigma2 * (1 - 1e-6), eps, shift) > delta


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 0.1), "eps must be greater than 0 and at most 2**20, got 0"),
        ((math.nan, 0.1), "eps must be greater than 0 and at most 2**20, got nan"),
        ((1, 0), "delta must be greater than 0 and less than 1, got 0"),
        ((1, 1.0), "delta must be greater than 0 and less than 1, got 1.0"),
        ((1, 0.1, 0), "sensitivity must be"),
        ((1, 1e-300, 2**40), "eps, delta and sensitivity must leave a sigma2 that fits"),
    ],
)
def test_gaussian_errors(arguments, text):
    with pytest.raises(sn.ParameterError) as caught:
        sn.DiscreteGaussian.from_eps(*arguments)
    assert str(caught.value).startswith(text)
