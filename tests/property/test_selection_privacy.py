"""The privacy losses of exact selection probabilities stay within ε, and exceed ε if the halving is omitted.

Evidence: computed losses of fixed examples and of families drawn with fixed seeds; no sampling, so no false alarms. `ROUNDING` is
the maximum error of the logarithms themselves.
"""

import math

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped

ROUNDING = 1e-12
FAMILIES = 3000


def loss(mechanism, before, after):
    """Return the largest |ln P/P'| over the candidates of every row."""
    return np.abs(mechanism.log_probabilities(before) - mechanism.log_probabilities(after)).max(axis=-1)


def families(seed, candidates, move):
    """Yield costs near the edges of steps and elsewhere, and neighbours in which every cost moves by at most 1."""
    draw = np.random.default_rng(seed)
    shape = (FAMILIES, candidates)
    near = draw.integers(0, 6, shape) + 0.4 + draw.choice([-0.01, 0.0, 0.01], shape)
    before = np.where(draw.random(shape) < 0.5, near, draw.uniform(0, 6, shape))
    after = np.maximum(before + move(draw, shape), 0.0)
    # Rounding can make the sum exceed a move of 1.
    return before, np.where(np.abs(after - before) <= 1, after, before)


def anyhow(draw, shape):
    return np.where(draw.random(shape) < 0.7, draw.choice([-1.0, 1.0], shape), draw.uniform(-1, 1, shape))


def together(draw, shape):
    return draw.choice([-1.0, 1.0], (shape[0], 1)) * np.where(
        draw.random(shape) < 0.7, draw.integers(0, 2, shape), draw.random(shape)
    )


MECHANISMS = [
    lambda eps, monotonic: sn.StaircaseSelection(eps, 1, 0.4, monotonic),
    lambda eps, m: sn.ExponentialMechanism(eps, 1, m),
    lambda eps, m: sn.PermuteAndFlip(eps, 1, m),
]


@looped("make", MECHANISMS)
@looped("eps", [0.1, 1.0, 4.0])
@looped("candidates", [2, 3, 20])
def test_a_selection_is_eps_private(make, eps, candidates):
    found = loss(make(eps, False), *families(candidates, candidates, anyhow))
    assert found.max() <= eps + ROUNDING
    assert found.max() > 0.5 * eps  # some families come near the promised bound
    monotone = loss(make(eps, True), *families(candidates, candidates, together))
    assert monotone.max() <= eps + ROUNDING
    assert monotone.max() > 0.5 * eps


@pytest.mark.parametrize("candidates", [2, 3, 20])
def test_without_halving_costs_that_move_apart_lose_more(candidates):
    """Therefore `monotonic` is a promise about the data and not an option for speed."""
    whole = sn.StaircaseSelection(1, 1, 0.4, monotonic=True)
    found = loss(whole, *families(candidates, candidates, anyhow))
    assert 1.7 < found.max() <= 2 + ROUNDING


def test_without_halving_twice_eps_is_approached():
    """One of two candidates is K steps above the other; the values are from an independent computation."""
    whole, gamma = sn.StaircaseSelection(1, 1, 0.375, monotonic=True), 0.375
    steps = [0, 1, 3, 8, 20]
    before = [[k + gamma - 0.01, gamma + 0.01] for k in steps]
    after = [[k + 1 + gamma - 0.01, gamma - 0.01] for k in steps]
    found = loss(whole, before, after)
    assert found == pytest.approx([1, 1.4338, 1.8912, 1.99921, 2.0], abs=5e-5)
    assert (found < 2).all()
    halved = loss(sn.StaircaseSelection(1, 1, 0.375), before, after)
    assert (halved <= 1).all()


def test_without_halving_one_candidate_against_many():
    b = math.exp(-1)
    whole = sn.StaircaseSelection(1, 1, 0.5, monotonic=True)
    found = []
    for n in (1, 10, 10_000):
        # One candidate on step 0 against n on step 1, and the reverse.
        best, worst = [0.49] + [0.5] * n, [0.5] + [0.49] * n
        found.append(loss(whole, best, worst))
        assert found[-1] == pytest.approx(math.log((b + n) / (b * (1 + n * b))), rel=1e-12)
    assert 1.999 < found[-1] < 2


@pytest.mark.parametrize(("last", "whole_numbers"), [(3, 1.1863), (10, 1.2091), (40, 1.2091)])
def test_without_halving_a_truncated_range_loses_more(last, whole_numbers):
    """Candidates 0 … N with cost |r − q|: the normaliser depends on q near an end. Real q are far worse than integers."""
    whole, halved = sn.StaircaseSelection(1, 1, 0.4, monotonic=True), sn.StaircaseSelection(1, 1, 0.4)
    candidates = np.arange(last + 1)
    q = np.arange(last)[:, None]
    found = loss(whole, np.abs(candidates - q), np.abs(candidates - q - 1))
    assert found.max() == pytest.approx(whole_numbers, abs=5e-5)
    real = np.linspace(0, last - 1, 40 * (last - 1) + 1)[:, None] + 0.001
    assert loss(whole, np.abs(candidates - real), np.abs(candidates - real - 0.999)).max() > 1.3
    assert loss(halved, np.abs(candidates - real), np.abs(candidates - real - 0.999)).max() <= 1 + ROUNDING


def test_subtracting_the_least_cost_breaks_the_promise_of_the_staircase_only():
    """Programs often subtract the minimum before exponentials. Here the loss then exceeds eps, even with eps halved."""
    before, after = families(5, 5, anyhow)
    shifted = [costs - costs.min(axis=-1, keepdims=True) for costs in (before, after)]
    staircase, exponential = sn.StaircaseSelection(1, 1, 0.4), sn.ExponentialMechanism(1)
    assert loss(staircase, before, after).max() <= 1 + ROUNDING
    assert loss(staircase, *shifted).max() > 1.134
    assert loss(exponential, *shifted).max() <= 1 + ROUNDING
