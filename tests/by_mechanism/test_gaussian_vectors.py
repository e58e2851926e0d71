"""Gaussian noise for a vector: rounding the coordinates adds to the vector's change, which has a cost.

Evidence: δ of normal noise (Balle and Wang) in mpmath, at the changes of vectors rounded coordinate by coordinate. The lattice
has 2**32 steps and more to σ. Deterministic: no false alarms.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import stairnoise as sn
from tests.oracles import gaussian as oracle
from tests.oracles import release

CASES = [(1.0, 1e-3, 10**6), (1.0, 1e-6, 10**6), (1e-8, 1e-10, 10**6), (1e-8, 1e-6, 100), (4.0, 1e-9, 1)]


def delta_at(mechanism, eps, steps):
    """Return δ of the mechanism for a change by `steps` lattice steps in the l2 norm."""
    return oracle.profile(mp.mpf(eps), steps / mp.sqrt(mp.mpf(mechanism._lattices.sigma2)))


@pytest.mark.parametrize(("eps", "delta", "d"), CASES)
def test_the_root_of_d_has_to_be_added(eps, delta, d):
    with mp.workdps(60):
        mechanism = sn.Gaussian(eps, delta, sensitivity=1)
        g = mp.mpf(mechanism.granularity)
        exceeded = delta_at(mechanism, eps, 1 / g + mp.sqrt(d)) / mp.mpf(delta)
        assert exceeded > 1
        wider = sn.Gaussian(eps, delta, 1 + mechanism.granularity * math.sqrt(d))
        assert wider.granularity == mechanism.granularity
        # The lattice's own cost for d coordinates instead of one is added.
        assert delta_at(wider, eps, 1 / g + mp.sqrt(d)) / mp.mpf(delta) <= 1 + mp.mpf(10) ** -12
        assert wider.sigma / mechanism.sigma - 1 <= mechanism.granularity * math.sqrt(d) * (1 + 1e-6)


def test_figures_of_the_page():
    """The figures of docs/gaussian.md for 10**6 coordinates are right."""
    with mp.workdps(60):
        for eps, delta, expected in ((1.0, 1e-6, 1.92e-5), (1e-8, 1e-10, 0.0817)):
            mechanism = sn.Gaussian(eps, delta, sensitivity=1)
            found = delta_at(mechanism, eps, 1 / mp.mpf(mechanism.granularity) + 1000) / mp.mpf(delta) - 1
            assert float(found) == pytest.approx(expected, rel=0.02)


def test_a_vector_that_rounding_moves_farther():
    """Coordinates move from just below to just above the middle of two steps, so the change grows by nearly g√d."""
    mechanism = sn.Gaussian(1.0, 1e-6, sensitivity=1)
    g, d = mechanism.granularity, 10**4
    below, above = np.full(d, 0.4999 * g), np.full(d, 0.5001 * g)
    steps = [
        release.quotient(b, Fraction(g)) - release.quotient(a, Fraction(g)) for a, b in zip(below[:3], above[:3], strict=True)
    ]
    assert steps == [1, 1, 1]
    change, rounded = float(np.linalg.norm(above - below)), g * math.sqrt(d)
    assert rounded - change > 0.999 * g * math.sqrt(d)
    assert rounded <= change + g * math.sqrt(d)
    noise = mechanism.sample(d, rng=sn.SeededRng(2))
    for values, expected in ((below, noise), (above, noise + g)):
        assert np.array_equal(mechanism.release(values, rng=sn.SeededRng(2, allow_release=True)), expected)
