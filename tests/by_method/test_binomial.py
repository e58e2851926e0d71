"""``binomial_test`` and ``binomial_interval``: levels and coverage by exact sums, published values, and sums in 50 digits.

Evidence: sums over all counts in mpmath, written from the definition of the noise; and the examples in the documentation of the
R package binomialDP 1.0.0 of the authors of the method, whose noise is a Tulap distribution cut at its quantiles q/2 and 1 - q/2.
"""

import math
from itertools import product

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.registry import ROWS
from tests.combinations import in_turn, rest_long

OF_NUMBERS = [row for row in ROWS if row.of_numbers]


def geometric_tail(t, b):
    """Return P(N >= t) of two-sided geometric noise for an integer t."""
    return b**t / (1 + b) if t >= 1 else 1 - b ** (1 - t) / (1 + b)


def tulap_tail(t, b):
    """Return P(N + U >= t) with a uniform U on (-1/2, 1/2): U's share mixes P(N >= m) and P(N >= m + 1)."""
    m = int(mp.floor(t + mp.mpf(1) / 2))
    share = m + mp.mpf(1) / 2 - t
    return share * geometric_tail(m, b) + (1 - share) * geometric_tail(m + 1, b)


def counts(n, p):
    p = mp.mpf(p)
    return [mp.binomial(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)]


def half_step(mechanism):
    """Return half a lattice step: sums at most this far from a released number are released as this number."""
    return mp.mpf(mechanism.granularity) / 2


def exact(z, n, p, eps, tail, side):
    b = mp.exp(-mp.mpf(eps))
    if side == "less":  # the noise is symmetric
        return exact(n - z, n, 1 - mp.mpf(p), eps, tail, "greater")
    return mp.fsum(mass * tail(z - x, b) for x, mass in enumerate(counts(n, p)))


CASES = [
    (63, 100, 0.5, 1.0), (5, 10, 0.2, 0.3), (400, 300, 0.5, 1.0), (-40, 300, 0.001, 0.5), (300, 300, 0.01, 2.0),
    (0, 50, 0.0, 1.0), (55, 50, 1.0, 1.0), (250, 300, 0.1, 5.0), (3, 1, 0.25, 1.0), (1, 500, 1e-12, 0.1),
]  # fmt: skip
SIDES = ("less", "greater")


@pytest.mark.parametrize(("case", "side"), rest_long(in_turn(CASES, SIDES), product(CASES, SIDES)))
def test_one_sided_p_values(case, side):
    """P-values from 1e-253 to 1 have 12 correct digits."""
    z, n, p, eps = case
    with mp.workdps(50):
        found = sn.binomial_test(z, n, p, mechanism=sn.DiscreteLaplace(eps), alternative=side)
        assert found == pytest.approx(float(exact(z, n, p, eps, geometric_tail, side)), rel=1e-12, abs=0)
        mechanism = sn.Staircase(eps, gamma=0.5)
        half = half_step(mechanism) * (1 if side == "less" else -1)
        for part in (-0.5, -0.25, 0.3):
            found = sn.binomial_test(z + part, n, p, mechanism=mechanism, alternative=side)
            assert found == pytest.approx(float(exact(z + mp.mpf(part) + half, n, p, eps, tulap_tail, side)), rel=1e-12, abs=0)


@pytest.mark.parametrize(("z", "n", "p", "eps"), CASES)
def test_two_sided_p_values(z, n, p, eps):
    """Outcomes at least as far from np on either side count; at np the p-value is 1. The sums use p's decimals exactly."""
    with mp.workdps(50):
        null = mp.mpf(str(p))
        other = 2 * n * null - z
        low, high = min(mp.mpf(z), other), max(mp.mpf(z), other)
        found = sn.binomial_test(z, n, p, mechanism=sn.DiscreteLaplace(eps))
        whole = exact(int(mp.ceil(high)), n, null, eps, geometric_tail, "greater")
        whole += exact(int(mp.floor(low)), n, null, eps, geometric_tail, "less")
        assert found == pytest.approx(min(float(whole), 1.0), rel=1e-11, abs=0)
        mechanism = sn.Staircase(eps, gamma=0.5)
        half = half_step(mechanism)
        real = exact(high - half, n, null, eps, tulap_tail, "greater") + exact(low + half, n, null, eps, tulap_tail, "less")
        found = sn.binomial_test(z, n, p, mechanism=mechanism)
        assert found == pytest.approx(min(float(real), 1.0), rel=1e-11, abs=0)


@pytest.mark.parametrize("n", [10**4, 10**6])
@pytest.mark.parametrize("p", [0.3, 1e-5])
def test_large_numbers_by_tilting(n, p):
    """Moment generating functions give the sum over all counts: beyond the noise's mode, b**z times a binomial probability."""
    eps = 0.05
    z = round(n * p + 40 / eps + 30 * math.sqrt(n * p))
    with mp.workdps(60):
        b, exact_p = mp.exp(-mp.mpf(eps)), mp.mpf(p)
        # Counts that reach z do not matter: P(X >= z) is below e**-400 of this.
        expected = b**z * (1 - exact_p + exact_p / b) ** n / (1 + b)
        assert sn.binomial_test(z, n, p, mechanism=sn.DiscreteLaplace(eps), alternative="greater") == pytest.approx(
            float(expected), rel=1e-9
        )


# Published


def cut_tulap(eps, q):
    """Return the authors' noise, whose δ = q (1 - b)/(2 b (1 - q)) by their formula for q."""
    b = math.exp(-eps)
    return sn.TruncatedStaircase(eps, q * (1 - b) / (2 * b * (1 - q)), gamma=0.5)


def test_published_one_sided_intervals():
    mechanism = cut_tulap(1, 0.05)
    assert sn.binomial_interval(7, 10, mechanism=mechanism, alternative="greater") == (pytest.approx(0.3844819, abs=5e-7), 1.0)
    assert sn.binomial_interval(2, 10, mechanism=mechanism, alternative="less") == (0.0, pytest.approx(0.517379, abs=5e-7))


def test_published_two_sided_interval_by_its_p_values():
    """The two-sided p-value is 0.05 at both ends of their interval."""
    for p in (0.4107206, 0.7667096):
        assert sn.binomial_test(18, 30, p, mechanism=cut_tulap(1, 0.05)) == pytest.approx(0.05, abs=1e-6)


def test_published_p_values():
    """The table has ten released counts, with two decimals each."""
    mechanism = sn.TruncatedStaircase(1, 0.01, gamma=0.5)
    z = [18.70, 10.65, 12.89, 9.12, 9.88, 15.15, 6.14, 8.41, 10.46, 11.87]
    left = [0.99, 0.33, 0.62, 0.17, 0.24, 0.85, 0.02, 0.11, 0.30, 0.49]
    right = [0.01, 0.67, 0.38, 0.83, 0.76, 0.15, 0.98, 0.89, 0.70, 0.51]
    both = [0.22, 0.15, 0.49, 0.05, 0.09, 0.96, 0.00, 0.03, 0.13, 0.30]
    assert sn.binomial_test(z, 30, 0.4, mechanism=mechanism, alternative="less") == pytest.approx(left, abs=6e-3)
    assert sn.binomial_test(z, 30, 0.4, mechanism=mechanism, alternative="greater") == pytest.approx(right, abs=6e-3)
    assert sn.binomial_test(z, 30, 0.5, mechanism=mechanism) == pytest.approx(both, abs=6e-3)


# Level and coverage, by exact sums over all outcomes


def threshold(p_value, level, low, high, falling):
    """Return where a monotone p-value crosses the level."""
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (middle, high) if (p_value(middle) > level) is falling else (low, middle)
    return (low + high) / 2


@pytest.mark.parametrize("level", [0.001, 0.05, 0.3])
@pytest.mark.parametrize(("n", "p", "eps"), [(20, 0.3, 1.0), (7, 0.9, 0.2), (40, 0.02, 3.0)])
def test_the_level_is_exact_with_the_uniform_part(n, p, eps, level):
    """P(p-value <= level) = level, up to a lattice step: outcomes beyond the threshold are summed in 50 digits."""
    mechanism = sn.Staircase(eps, gamma=0.5)
    with mp.workdps(50):
        for side, falling in (("greater", True), ("less", False)):
            edge = threshold(
                lambda z, side=side: sn.binomial_test(z, n, p, mechanism=mechanism, alternative=side), level, -400, 450, falling
            )
            assert float(exact(mp.mpf(edge), n, p, eps, tulap_tail, side)) == pytest.approx(level, rel=1e-9)
        far = threshold(lambda t: sn.binomial_test(n * p + t, n, p, mechanism=mechanism), level, 0, 450, True)
        both = exact(n * mp.mpf(p) + far, n, p, eps, tulap_tail, "greater") + exact(
            n * mp.mpf(p) - far, n, p, eps, tulap_tail, "less"
        )
        assert float(both) == pytest.approx(level, rel=1e-9)


def released(n, p, eps):
    """Return the outcomes and their probabilities by convolution, except for a probability of 1e-20."""
    reach = math.ceil(50 / eps)
    b = math.exp(-eps)
    noise = (1 - b) / (1 + b) * b ** np.abs(np.arange(-reach, reach + 1))
    x = np.array([float(mass) for mass in counts(n, p)])
    return np.arange(-reach, n + reach + 1), np.convolve(x, noise)


@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("eps", [0.5, 2.0])
def test_without_the_uniform_part_the_level_is_never_exceeded(eps, side):
    """This holds at some p for every level that a p-value can have."""
    for n, p in ((12, 0.5), (12, 0.3), (30, 0.1)):
        z, masses = released(n, p, eps)
        found = sn.binomial_test(z, n, p, mechanism=sn.DiscreteLaplace(eps), alternative=side)
        order = np.argsort(found)
        below = np.cumsum(masses[order])
        # Among equal p-values, the last one has the whole sum.
        last = np.append(np.diff(found[order]) > 1e-9, True)
        assert np.all(below[last] <= found[order][last] * (1 + 1e-9))
        assert np.all((found >= 0) & (found <= 1))


@pytest.mark.slow
@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
def test_coverage_of_intervals(side):
    """By exact sums, coverage is at least the confidence for integer noise, and equal to it with the uniform part, on a grid."""
    n, eps, confidence = 15, 1.0, 0.9
    z, _ = released(n, 0.5, eps)
    ways = {p: released(n, p, eps)[1] for p in (0.01, 0.3, 0.95)}
    low, high = sn.binomial_interval(z, n, mechanism=sn.DiscreteLaplace(eps), confidence=confidence, alternative=side)
    for p, masses in ways.items():
        assert confidence <= masses[(low <= p) & (p <= high)].sum() < 1
    kept = (sum(ways.values()) > 1e-7).nonzero()[0]
    parts = (np.arange(10) + 0.5) / 10 - 0.5
    low, high = sn.binomial_interval(
        z[kept][:, None] + parts, n, mechanism=sn.Staircase(eps, gamma=0.5), confidence=confidence, alternative=side
    )
    for p, masses in ways.items():
        covered = ((low <= p) & (p <= high)).mean(axis=1) @ masses[kept]
        # Each end of the accepted p-values is rounded to a tenth of a grid step.
        assert covered == pytest.approx(confidence, abs=2 * masses.max() / 10 + 1e-5)


@pytest.mark.parametrize("z", [-30, 0, 3, 12, 20, 45])
def test_an_interval_is_what_the_tests_do_not_reject(z):
    mechanism = sn.DiscreteLaplace(1)
    low, high = sn.binomial_interval(z, 20, mechanism=mechanism, confidence=0.9)
    for p, side in ((low, "greater"), (high, "less")):
        if 0 < p < 1:
            assert sn.binomial_test(z, 20, p, mechanism=mechanism, alternative=side) == pytest.approx(0.05, rel=1e-6)
    assert 0 <= low <= high <= 1


def test_ends_near_0_and_1_keep_their_digits():
    """Mirrored counts give mirrored intervals: 1 - high for failures is low for successes."""
    mechanism, n = sn.DiscreteLaplace(2), 10**6
    low, high = sn.binomial_interval(40, n, mechanism=mechanism)
    assert 2e-5 < low < 4e-5 < high < 6e-5
    few = (
        sn.binomial_test(40, n, low, mechanism=mechanism, alternative="greater"),
        sn.binomial_test(40, n, high, mechanism=mechanism, alternative="less"),
    )
    assert few == pytest.approx((0.025, 0.025), rel=1e-8)
    mirrored = sn.binomial_interval(n - 40, n, mechanism=mechanism)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), rel=1e-9)


def test_beyond_what_can_be():
    mechanism = sn.DiscreteLaplace(1)
    assert sn.binomial_interval(100, 20, mechanism=mechanism) == (1.0, 1.0)
    assert sn.binomial_interval(-100, 20, mechanism=mechanism) == (0.0, 0.0)


# The uniform part


def test_a_generator_adds_one_uniform_number_to_each_count():
    """The result equals that of the staircase with γ = 1/2, which has the same uniform part; 20 draws are all different."""
    z, mechanism = np.arange(20), sn.DiscreteLaplace(1)
    found = sn.binomial_test(z, 20, 0.4, mechanism=mechanism, alternative="greater", rng=sn.SeededRng(5))
    least = sn.binomial_test(z + 0.5, 20, 0.4, mechanism=sn.Staircase(1, gamma=0.5), alternative="greater")
    most = sn.binomial_test(z - 0.5, 20, 0.4, mechanism=sn.Staircase(1, gamma=0.5), alternative="greater")
    assert np.all((least < found) & (found < most))
    share = (most - found) / (most - least)
    assert len(set(share.round(12))) == 20
    again = sn.binomial_test(z, 20, 0.4, mechanism=mechanism, alternative="greater", rng=sn.SeededRng(5))
    assert np.array_equal(found, again)
    assert type(sn.binomial_test(5, 20, mechanism=mechanism, rng=sn.SeededRng(1))) is float


def test_the_uniform_part_is_uniform():
    """Kolmogorov's distance of 1000 uniform parts, at a false-alarm rate of 1e-6; the seed is fixed."""
    mechanism, n = sn.DiscreteLaplace(1), 1000
    p = sn.binomial_test(np.full(n, 3), 5, 0.5, mechanism=mechanism, alternative="less", rng=sn.SeededRng(11))
    least, most = (
        sn.binomial_test(3 + part, 5, mechanism=sn.Staircase(1, gamma=0.5), alternative="less") for part in (-0.5, 0.5)
    )
    share = np.sort((p - least) / (most - least))
    distance = np.max(np.abs(share - (np.arange(n) + 0.5) / n))
    assert distance < math.sqrt(math.log(2 / 1e-6) / (2 * n))


def test_both_ends_of_an_interval_have_one_uniform_number():
    """The interval joins the two one-sided intervals of the same generator at half the level."""
    mechanism, z = sn.DiscreteLaplace(0.7), [3, 8]
    low, high = sn.binomial_interval(z, 12, mechanism=mechanism, confidence=0.9, rng=sn.SeededRng(3))
    lower, _ = sn.binomial_interval(z, 12, mechanism=mechanism, confidence=0.95, alternative="greater", rng=sn.SeededRng(3))
    _, upper = sn.binomial_interval(z, 12, mechanism=mechanism, confidence=0.95, alternative="less", rng=sn.SeededRng(3))
    assert low == pytest.approx(lower, rel=1e-9)
    assert high == pytest.approx(upper, rel=1e-9)


# Every mechanism, shapes, and bad input


@pytest.mark.parametrize("row", OF_NUMBERS, ids=lambda row: row.class_name)
def test_every_mechanism_by_its_survival_function(row):
    for mechanism in row.mechanisms():
        z = 7 if row.kind == "discrete" else 7.25
        x = np.arange(13.0)
        masses = np.array([float(mass) for mass in counts(12, 0.4)])
        greater = float(masses @ mechanism.sf(z - x - (1 if row.kind == "discrete" else mechanism.granularity / 2)))
        less = float(masses @ mechanism.cdf(z - x + (0 if row.kind == "discrete" else mechanism.granularity / 2)))
        assert sn.binomial_test(z, 12, 0.4, mechanism=mechanism, alternative="greater") == pytest.approx(greater, rel=1e-10)
        assert sn.binomial_test(z, 12, 0.4, mechanism=mechanism, alternative="less") == pytest.approx(less, rel=1e-10)


def test_shapes():
    mechanism = sn.DiscreteLaplace(1)
    grid = sn.binomial_test([[3], [4]], [10, 20, 30], 0.25, mechanism=mechanism)
    assert grid.shape == (2, 3)
    assert grid[1, 2] == sn.binomial_test(4, 30, 0.25, mechanism=mechanism)
    low, high = sn.binomial_interval([3, 4], 10, mechanism=mechanism, confidence=[[0.5], [0.9]], alternative="greater")
    assert low.shape == high.shape == (2, 2)
    assert np.all(high == 1)
    assert sn.binomial_test([], 10, mechanism=mechanism).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"mechanism": 1}, sn.ParameterTypeError, "mechanism must be a mechanism of numbers, got 1"),
        ({"mechanism": sn.MultivariateStaircase(1, dim=2)}, sn.ParameterTypeError, "mechanism must be a mechanism of numbers"),
        ({"mechanism": sn.DiscreteLaplace([1, 2])}, sn.ParameterError, "mechanism must have single parameters, got"),
        ({"released": 5.5}, sn.ParameterError, "released must be a whole number for noise that is one, got a value of"),
        ({"released": math.nan}, sn.ParameterError, "released must be finite and below 2**53 in magnitude, got a value"),
        ({"released": "5"}, sn.ParameterTypeError, "released must be a real number or an array of real numbers, got a"),
        ({"released": [1, 2**60]}, sn.ParameterError, "released must be finite and below 2**53 in magnitude, got a value"),
        ({"n": 0}, sn.ParameterError, "n must be an integer from 1 to 2**32, got 0"),
        ({"n": 2**32 + 1}, sn.ParameterError, "n must be an integer from 1 to 2**32, got 4294967297"),
        ({"n": 10.0}, sn.ParameterTypeError, "n must be an integer or an array of integers, got 10.0"),
        ({"n": True}, sn.ParameterTypeError, "n must be a real number"),
        ({"p": 1.5}, sn.ParameterError, "p must be from 0 to 1, got 1.5"),
        ({"p": math.nan}, sn.ParameterError, "p must be from 0 to 1, got nan"),
        ({"alternative": "both"}, sn.ParameterError, 'alternative must be "two-sided", "less" or "greater", got \'both\''),
        ({"alternative": 2}, sn.ParameterTypeError, 'alternative must be "two-sided", "less" or "greater", got 2'),
        ({"mechanism": sn.Laplace(1), "rng": sn.SeededRng(1)}, sn.ParameterError, "rng must be None for a Laplace, whose"),
        ({"rng": 5}, sn.ParameterTypeError, "rng must be"),
        ({"released": [1, 2], "n": [1, 2, 3]}, sn.ParameterError, "released and n and p must have shapes that broadcast"),
    ],
)  # fmt: skip
def test_bad_input(arguments, error, text):
    with pytest.raises(error) as caught:
        sn.binomial_test(**{"released": 5, "n": 10, "mechanism": sn.DiscreteLaplace(1), **arguments})
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize("confidence", [0, 0.05, 1, -0.5, math.nan])
def test_bad_confidence(confidence):
    with pytest.raises(sn.ParameterError, match="confidence must be"):
        sn.binomial_interval(5, 10, mechanism=sn.DiscreteLaplace(1), confidence=confidence)
