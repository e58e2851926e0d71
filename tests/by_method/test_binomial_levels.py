"""``binomial_test`` and ``binomial_interval`` keep their level for releases of every mechanism.

Evidence: a binomial count is released 100 000 times, and p-values of at most α are counted. A p-value falls with the distance
from n p, so bisection finds the first one that is rejected. Seeds are fixed. With another seed a case would fail by chance with a
probability below 3e-7 (5 standard deviations), and some case with one below 1e-4.
"""

import math
from functools import cache
from itertools import product

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.numerics.roots import least_integer
from stairnoise.registry import ROWS
from tests.combinations import in_turn, rest_long

N, P, DRAWS = 20, 0.3, 100_000
LEVELS = (0.03, 0.3)
EVERY = [mechanism for row in ROWS if row.of_numbers for mechanism in row.mechanisms()]
# Noise on a coarse lattice, narrower than its lattice, or narrower than a unit in the last place of the count.
COARSE = [
    sn.Arete.from_eps(40, 1),
    sn.Arete.from_eps(12, 1),
    sn.Arete.from_eps(30, 1e-15),
    sn.Staircase(45, sensitivity=1),
    sn.Staircase(60, sensitivity=1),
    sn.Staircase(700, sensitivity=1),
    sn.TruncatedStaircase(60, 1e-3, sensitivity=1),
    sn.MergedLaplace.from_eps(40, 1),
    sn.Laplace(2.0**40, sensitivity=1),
]
IN_FLOAT32 = [sn.Staircase(27, sensitivity=1), sn.Laplace(1e5, sensitivity=1), sn.Arete.from_eps(20, 1)]
CASES = [
    *((mechanism, "float64") for mechanism in EVERY + COARSE),
    *((mechanism, "float32") for mechanism in IN_FLOAT32),
]


@cache
def released(mechanism, dtype):
    counts = np.random.default_rng(1).binomial(N, P, DRAWS)
    return mechanism.release(counts.astype(dtype), rng=sn.SeededRng(2, allow_release=True))


def share_of_rejected(mechanism, dtype, side, level):
    """Return the share of released numbers whose p-value is at most `level`."""
    z = released(mechanism, dtype)
    distance = {"greater": z, "less": -z, "two-sided": abs(z - (N * P + mechanism.mean()))}[side]
    ordered = z[np.argsort(distance)]

    def is_rejected(i):
        return sn.binomial_test(ordered[i], N, P, mechanism=mechanism, alternative=side) <= level

    return 1 - least_integer(is_rejected, -1, DRAWS) / DRAWS


# Arete lists a million probabilities, so ordinary runs have only two of its mechanisms.
ARETE = (sn.Arete(0.5, 1.0, 0.25), COARSE[0])
FIRST = [row.mechanisms()[0] for row in ROWS if row.of_numbers]
SOME = [
    case
    for case in CASES
    if case[0] in [*FIRST, *COARSE, *IN_FLOAT32] and (not isinstance(case[0], sn.Arete) or case[0] in ARETE)
]
WAYS = ("two-sided", "greater", "less")
SIDES = [[(*case, side) for case, side in ways] for ways in (in_turn(SOME, WAYS), product(CASES, WAYS))]


@pytest.mark.parametrize(("mechanism", "dtype", "side"), rest_long(*SIDES), ids=str)
def test_no_more_than_the_level_is_rejected(mechanism, dtype, side):
    # A number that is released often shares its last occurrence's p-value.
    often = sn.binomial_test(round(N * P + mechanism.mean()), N, P, mechanism=mechanism, alternative=side)
    for level in [level for level in (*LEVELS, often) if level < 1]:
        found, deviation = share_of_rejected(mechanism, dtype, side, level), math.sqrt(level * (1 - level) / DRAWS)
        assert found <= level + 5 * deviation
        if (mechanism, dtype) in CASES[: len(EVERY)] and not mechanism._integers:
            assert found >= level - 5 * deviation - 2e-3


@pytest.mark.parametrize("mechanism", rest_long([one for one in COARSE if (one, "float64") in SOME], COARSE), ids=repr)
def test_an_interval_is_what_the_tests_do_not_reject(mechanism):
    for z in np.unique(released(mechanism, "float64"))[::10_000][:20]:
        low, high = sn.binomial_interval(z, N, mechanism=mechanism, confidence=0.9)
        for p, side in ((low, "greater"), (high, "less")):
            if 0 < p < 1:
                assert sn.binomial_test(z, N, p, mechanism=mechanism, alternative=side) == pytest.approx(0.05, rel=1e-6)


def test_noise_that_is_always_zero():
    """The released number is the count itself, and p-values are those of the binomial distribution."""
    mechanism, z = sn.Staircase(700, sensitivity=1), 6
    masses = [math.comb(N, x) * P**x * (1 - P) ** (N - x) for x in range(N + 1)]
    assert set(released(mechanism, "float64")) <= set(range(N + 1))
    assert sn.binomial_test(z, N, P, mechanism=mechanism, alternative="greater") == pytest.approx(math.fsum(masses[z:]), rel=1e-9)
    assert sn.binomial_test(z, N, P, mechanism=mechanism, alternative="less") == pytest.approx(
        math.fsum(masses[: z + 1]), rel=1e-9
    )


@pytest.mark.parametrize("n", [1, 7, 20, pytest.param(39, marks=pytest.mark.long)])
def test_two_sided_p_values_of_noise_that_is_always_zero(n):
    """Exact sums, also if 2np - z rounds away from the equally distant outcome on the other side."""
    x = np.arange(n + 1.0)
    for p in np.arange(1, 100, 3) / 100:
        masses = np.array([math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)])
        found = sn.binomial_test(x, n, p, mechanism=sn.Staircase(700, sensitivity=1))
        assert all(masses[found <= one + 1e-12].sum() <= one + 1e-12 for one in found)
