"""Noise by given weights agrees with its oracle, bit for bit, for random weights. Deterministic: no false alarms."""

import random

import pytest

import stairnoise as sn
from tests.combinations import rest_long
from tests.oracles import lattice_noise, stream

VALUES = 50


@pytest.mark.parametrize("case", rest_long(range(7), range(16)))
def test_fills_at_random(case: int) -> None:
    """Thresholds of few weights are counted, and those of many are searched; every other case has tails."""
    choose = random.Random(f"lattice noise {case}")
    m = choose.choice((1, 2, 7, 8, 40))
    weights = [choose.choice((0.0, choose.random(), choose.random() * 2.0 ** choose.randrange(-90, 9))) for _ in range(2 * m + 1)]
    weights[0], weights[-1] = weights[0] or 1.0, weights[-1] or 2.0**-40
    ratio = choose.choice((0.5, 0.9, choose.random(), 1 - 2.0**-11)) if case % 2 else None
    g = 2.0 ** choose.randrange(-30, 30)
    made = sn.LatticeNoise(weights, ratio, g, 3 * g)
    where, mechanism = lattice_noise.mechanism(weights, ratio, g, 3 * g)
    assert (made.granularity, made._sampler.sensitivity_steps) == (where.granularity, where.sensitivity_steps)
    seed, start = choose.randrange(2**64), choose.choice((0, 7, 2**30))
    drawn = made.sample(VALUES, rng=sn.SeededRng(seed).at(start)) / made.granularity
    key = stream.seed_key(seed)
    assert drawn.tolist() == [lattice_noise.value(mechanism, key, 0, index) for index in range(start, start + VALUES)], made
