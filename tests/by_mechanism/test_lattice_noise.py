"""LatticeNoise: its parameters, its distribution by rational numbers, and what is drawn."""

import math
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import stairnoise as sn
from stairnoise.mechanisms.lattice_noise.distribution import functions, weights_of
from tests.oracles import lattice_noise as oracle

TRIANGLE = [1.0, 2.0, 4.0, 2.0, 1.0]
LAWS = [
    sn.LatticeNoise(TRIANGLE),
    sn.LatticeNoise(TRIANGLE, 0.5),
    sn.LatticeNoise([0.0, 0.0, 3.0, 0.0, 0.1, 7.0, 0.0]),
    sn.LatticeNoise([5.0, 0.0, 1e-300], 0.875, 0.25, 0.75),
    sn.LatticeNoise([0.1, 0.7, 0.4], 1 - 2.0**-11, 8.0, 8.0),
    sn.LatticeNoise([2.0**-600, 1.0, 2.0**-500], 2.0**-30),
]
each = pytest.mark.parametrize("law", LAWS, ids=repr)


def exact(law: sn.LatticeNoise) -> oracle.Given:
    return oracle.law(law.weights, law.tail_ratio, float(law.granularity), float(law.sensitivity))[1]


def places(law: sn.LatticeNoise) -> list[int]:
    """The weights' integers and some beyond."""
    m = len(law.weights) // 2
    far = (m + 1, m + 2, m + 7, m + 40)
    return [*(-k for k in far[::-1]), *range(-m, m + 1), *far]


@each
def test_probabilities_are_the_exact_ones(law: sn.LatticeNoise) -> None:
    """Evidence: rational numbers of the oracle, to 1e-13 relatively; sums of tails in closed form."""
    given, g = exact(law), float(law.granularity)
    m, ratio = given.reach, given.ratio
    total = sum(given.weights) + given.tails

    def below(k: int) -> Fraction:
        if k < -m:
            return given.weights[0] * ratio ** (-m - k) / (1 - ratio) / total
        start = given.weights[0] * ratio / (1 - ratio)
        if k <= m:
            return (start + sum(given.weights[: k + m + 1])) / total
        return 1 - given.weights[-1] * ratio ** (k - m + 1) / (1 - ratio) / total

    for k in places(law):
        x = k * g
        assert law.pmf(x) == pytest.approx(float(given.probability(k)), rel=1e-13, abs=1e-320)
        assert law.cdf(x) == pytest.approx(float(below(k)), rel=1e-13, abs=1e-320)
        assert law.sf(x) == pytest.approx(float(1 - below(k)), rel=1e-13, abs=1e-320)
        if given.probability(k) > Fraction(1, 2**1000):
            log = math.log(given.probability(k).numerator) - math.log(given.probability(k).denominator)
            assert law.logpmf(x) == pytest.approx(log, rel=1e-12, abs=1e-13)
    assert law.pmf([0.3 * g, math.inf, -math.inf]).tolist() == [0, 0, 0]
    assert np.isnan(law.cdf(math.nan))


@each
def test_quantiles_are_the_least_places(law: sn.LatticeNoise) -> None:
    """Evidence: the definition, by the functions themselves, at probabilities at random and on the steps."""
    g = float(law.granularity)
    choose = random.Random(3)
    steps = [law.cdf(k * g) for k in places(law)]
    for q in [*(choose.random() ** choose.choice((1, 30)) for _ in range(100)), *steps, 0.5]:
        if not 0 < q < 1:
            continue
        x = law.ppf(q)
        assert law.cdf(x) >= q * (1 - 1e-14)
        assert law.cdf(x - g) < q * (1 + 1e-14)
        y = law.isf(q)
        assert law.sf(y) <= q * (1 + 1e-14)
        assert law.sf(y - g) > q * (1 - 1e-14)
        t = law._tail_bound(q)
        beyond = [law.sf(r) + law.cdf(-r - g) for r in (t, t - g)]
        assert beyond[0] <= q * (1 + 1e-14)
        assert t == 0 or beyond[1] > q * (1 - 1e-14)
    low, high = law.support()
    assert (law.ppf(0), law.ppf(1)) == (-math.inf if law.tail_ratio else low, high)


@each
def test_moments_and_entropy_are_sums(law: sn.LatticeNoise) -> None:
    """Evidence: sums over all places that matter; 900 nepers of a tail."""
    g, m = float(law.granularity), len(law.weights) // 2
    far = m + (0 if law.tail_ratio is None else math.ceil(-900 / math.log(law.tail_ratio)))
    k = np.arange(-far, far + 1)
    p = law.pmf(k * g)
    assert p.sum() == pytest.approx(1, rel=1e-12)
    for order in (1, 2, 3, 4, 9):
        assert law.moment(order) == pytest.approx(float(np.sum(p * (k * g) ** float(order))), rel=1e-10, abs=1e-9 * g**order)
    for power in (0.5, 1, 2.5):
        assert law.abs_moment(power) == pytest.approx(float(np.sum(p * np.abs(k * g) ** power)), rel=1e-11)
    assert law.var() == pytest.approx(float(np.sum(p * (k * g - law.mean()) ** 2)), rel=1e-11)
    used = p > 0
    assert law.entropy() == pytest.approx(float(-np.sum(p[used] * np.log(p[used]))), rel=1e-11)
    assert law.abs_moment(-0.5) == (math.inf if law.pmf(0) > 0 else pytest.approx(np.sum(p[used] * np.abs(k[used] * g) ** -0.5)))


@pytest.mark.parametrize("law", LAWS[:5], ids=repr)
def test_draws_have_the_probabilities(law: sn.LatticeNoise) -> None:
    """Evidence: Pearson's χ² of 200 000 draws; a right law fails in one seed of 10^6, and the seeds are fixed."""
    n, g = 200_000, float(law.granularity)
    drawn = law.sample(n, rng=sn.SeededRng(31))
    low, high = law.ppf(1e-3), law.isf(1e-3)
    inner = np.arange(low, high + g, g)
    expected = np.concatenate([[law.cdf(low - g)], law.pmf(inner), [law.sf(inner[-1])]]) * n
    observed = np.concatenate([[np.sum(drawn < low)], [np.sum(drawn == x) for x in inner[:400]]])
    rest = n - observed.sum()
    expected = np.append(expected[: observed.size], n - expected[: observed.size].sum())
    observed = np.append(observed, rest)
    used = expected > 1e-9
    assert observed[~used].sum() == 0
    few = used & (expected < 5)
    observed, expected = (np.append(x[used & ~few], x[few].sum()) for x in (observed, expected))
    found = float(np.sum((observed - expected)[expected > 0] ** 2 / expected[expected > 0]))
    assert stats.chi2.sf(found, int(np.sum(expected > 0)) - 1) > 1e-6


def test_weights_are_normalised_whatever_their_scale() -> None:
    """Evidence: equality of draws and of probabilities; 2**1000 and 2**-1000 lose no bit."""
    laws = [sn.LatticeNoise(np.array(TRIANGLE) * scale, 0.5) for scale in (1.0, 3.0, 2.0**1000, 2.0**-1000)]
    drawn = [law.sample(500, rng=sn.SeededRng(4)) for law in laws]
    assert all(np.array_equal(drawn[0], other) for other in drawn[1:])
    assert len({law.pmf(1) for law in laws}) == 1
    assert len({law._exact_parameters()["weights"] for law in laws}) == 1
    assert laws[0] != laws[1]


def test_zeros_are_never_drawn() -> None:
    """Evidence: 10^5 draws of a comb, and the oracle's thresholds."""
    law = sn.LatticeNoise([1, 0, 5, 0, 0, 0, 1e-3])
    assert set(law.sample(100_000, rng=sn.SeededRng(6)).tolist()) == {-3, -1, 3}


def test_integers_or_multiples_of_the_granularity() -> None:
    counts, halves = sn.LatticeNoise(TRIANGLE, 0.5), sn.LatticeNoise(TRIANGLE, 0.5, 0.5, 1.5)
    assert (type(counts.sample()), type(halves.sample())) == (int, float)
    assert (type(counts.release(7)), type(halves.release(7))) == (int, float)
    assert (counts.granularity, counts.sensitivity, type(counts.sensitivity)) == (1, 1, int)
    assert (halves.granularity, halves.sensitivity) == (0.5, 1.5)
    assert counts.sample(3).dtype == np.int64
    assert halves.sample(3).dtype == np.float64
    assert halves.sample(3, dtype="float32").dtype == np.float32
    with pytest.raises(sn.ParameterError, match="dtype must be float64 or float32"):
        halves.sample(3, dtype=np.int64)
    same = [law.sample(1000, rng=sn.SeededRng(9)) for law in (counts, halves)]
    assert np.array_equal(same[0] * 0.5, same[1])
    assert counts.error_bound(0.9) == 2 * halves.error_bound(0.9)
    assert isinstance(counts.error_bound(0.9), int)
    assert isinstance(halves.error_bound(0.9), float)
    rng = [sn.SeededRng(2, allow_release=True) for _ in range(2)]
    released = halves.release(np.array([0.24, 0.25, -0.25, 3.1]), rng=rng[0])
    assert np.array_equal(released, np.array([0.0, 0.5, 0.0, 3.0]) + halves.sample(4, rng=rng[1]))
    with pytest.raises(sn.ParameterError, match="granularity must be 1 for as_scipy"):
        halves.as_scipy()
    assert sn.expected_cost(halves, lambda x: x**2) == pytest.approx(halves.var())


def test_sums_have_confidence_intervals() -> None:
    """Evidence: the convolution of the list with itself, by NumPy."""
    for law, terms in ((sn.LatticeNoise([1, 0, 3, 8, 5, 2, 0.5]), 20), (sn.LatticeNoise(TRIANGLE, 0.75), 7)):
        far = 3 if law.tail_ratio is None else 200
        p, total = law.pmf(np.arange(-far, far + 1)), np.ones(1)
        for _ in range(terms):
            total = np.convolve(total, p)
        low, high = law.confidence_interval(0, 0.9, of="sum", terms=terms)
        assert low == -high
        inside = [total[far * terms - t : far * terms + t + 1].sum() for t in (high, high - 1)]
        assert inside[0] >= 0.9 > inside[1]


def test_a_value() -> None:
    law = sn.LatticeNoise.from_pmf(TRIANGLE, tail_ratio=0.5, sensitivity=2)
    assert law == sn.LatticeNoise(tuple(TRIANGLE), 0.5, 1.0, 2) == pickle.loads(pickle.dumps(law))
    assert hash(law) == hash(pickle.loads(pickle.dumps(law)))
    assert law != sn.LatticeNoise(TRIANGLE, 0.5)
    assert repr(law) == "LatticeNoise(weights=(1.0, 2.0, 4.0, 2.0, 1.0), tail_ratio=0.5, granularity=1.0, sensitivity=2)"
    many = sn.LatticeNoise(np.ones(1001), sensitivity=3)
    assert repr(many) == "LatticeNoise(weights=<those of -500 to 500>, tail_ratio=None, granularity=1.0, sensitivity=3)"
    own = law.weights
    own[:] = 0
    assert law.weights.tolist() == TRIANGLE
    assert len(many._repr_html_()) < 2000


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"weights": [1, 2]}, sn.ParameterError, "the number of weights must be odd, and from 3 to 2**17 + 1, got 2.0"),
        ({"weights": []}, sn.ParameterError, "the number of weights must be odd"),
        ({"weights": np.ones(2**17 + 3)}, sn.ParameterError, "the number of weights must be odd, and from 3 to 2**17 + 1"),
        ({"weights": [1, -1, 1]}, sn.ParameterError, "weights must be finite and at least 0, got -1.0"),
        ({"weights": [1, math.nan, 1]}, sn.ParameterError, "weights must be finite and at least 0, got nan"),
        ({"weights": [1, math.inf, 1]}, sn.ParameterError, "weights must be finite and at least 0, got inf"),
        ({"weights": [0, 0, 0]}, sn.ParameterError, "the number of positive weights must be at least 2: noise of a single"),
        ({"weights": [0, 1, 0]}, sn.ParameterError, "the number of positive weights must be at least 2: noise of a single"),
        ({"weights": [1, 5e-324, 1]}, sn.ParameterError, "weights must be at most 2**1022 times the least positive one, got 1.0"),
        ({"weights": [2**53 + 1, 1, 1]}, sn.ParameterError, "weights must be exactly representable in float64"),
        ({"weights": [[1, 2, 1]]}, sn.ParameterError, "weights must have one dimension"),
        ({"weights": 1.0}, sn.ParameterTypeError, "weights must be a sequence of numbers, got 1.0"),
        ({"weights": "121"}, sn.ParameterTypeError, "weights must be a real number or an array of real numbers, got '121'"),
        ({"weights": [True, False, True]}, sn.ParameterTypeError, "weights must be a real number"),
        ({"tail_ratio": 1}, sn.ParameterError, "tail_ratio must be greater than 0 and at most 1 - 2**-11, got 1.0"),
        ({"tail_ratio": 0}, sn.ParameterError, "tail_ratio must be greater than 0"),
        ({"tail_ratio": [0.5]}, sn.ParameterError, "tail_ratio must be a single number"),
        ({"weights": [0, 1, 1], "tail_ratio": 0.5}, sn.ParameterError, "weights must be positive at both ends"),
        ({"granularity": 0.1}, sn.ParameterError, "granularity must be a power of two from 2**-1022 to 2**960, got 0.1"),
        ({"granularity": 0.5, "sensitivity": 0.75}, sn.ParameterError, "sensitivity must be a multiple of the granularity"),
        ({"sensitivity": 0}, sn.ParameterError, "sensitivity must be finite and greater than 0, got 0.0"),
        ({"sensitivity": 2000}, sn.ParameterError, "sensitivity must be D steps of the granularity with D*(D + number of"),
    ],
)  # fmt: skip
def test_refused(arguments: dict[str, object], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        sn.LatticeNoise.from_pmf(**({"weights": TRIANGLE} | arguments))  # type: ignore[arg-type]
    assert str(caught.value).startswith(text)


def test_several_values_need_weights_of_their_own() -> None:
    law = sn.LatticeNoise(TRIANGLE, 0.5, sensitivity=1)
    assert law.for_partitions(1) is law
    for call in (lambda: law.for_partitions(2), lambda: law.release([1, 2], max_partitions_contributed=2)):
        with pytest.raises(sn.ParameterError, match="must be 1 for a law given by its weights, got 2: make it by other weights"):
            call()
    several = law.guarantee(max_partitions_contributed=3)
    assert (several.eps, several.partitions) == (pytest.approx(3 * law.eps, rel=1e-15), 3)
    assert several.eps >= 3 * law.eps


def test_any_sequence_of_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    forms = [TRIANGLE, tuple(TRIANGLE), np.array(TRIANGLE, np.float32), np.array([1, 2, 4, 2, 1]), pandas.Series(TRIANGLE)]
    assert len({sn.LatticeNoise(weights) for weights in forms}) == 1


def test_the_list_of_a_slow_tail_is_short() -> None:
    """Evidence: counting. Functions of the slowest tail have as many entries as weights."""
    law = functions(weights_of(np.ones(3), 1 - 2.0**-11), 1.0)
    assert law._pmf.size == 3
