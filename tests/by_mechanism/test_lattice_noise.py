"""LatticeNoise: its parameters, its distribution by rational numbers, and its draws."""

import math
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import stairnoise as sn
from stairnoise.mechanisms.lattice_noise.distribution import functions, weights_of
from tests.combinations import looped
from tests.oracles import lattice_noise as oracle

TRIANGLE = [1.0, 2.0, 4.0, 2.0, 1.0]
MECHANISMS = [
    sn.LatticeNoise(TRIANGLE),
    sn.LatticeNoise(TRIANGLE, 0.5),
    sn.LatticeNoise([0.0, 0.0, 3.0, 0.0, 0.1, 7.0, 0.0]),
    sn.LatticeNoise([5.0, 0.0, 1e-300], 0.875, 0.25, 0.75),
    sn.LatticeNoise([0.1, 0.7, 0.4], 1 - 2.0**-11, 8.0, 8.0),
    sn.LatticeNoise([2.0**-600, 1.0, 2.0**-500], 2.0**-30),
]
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


def exact(mechanism: sn.LatticeNoise) -> oracle.Given:
    return oracle.mechanism(mechanism.weights, mechanism.tail_ratio, float(mechanism.granularity), float(mechanism.sensitivity))[
        1
    ]


def places(mechanism: sn.LatticeNoise) -> list[int]:
    """Return the weights' integers and some beyond."""
    m = len(mechanism.weights) // 2
    far = (m + 1, m + 2, m + 7, m + 40)
    return [*(-k for k in far[::-1]), *range(-m, m + 1), *far]


@each_mechanism
def test_probabilities_are_the_exact_ones(mechanism: sn.LatticeNoise) -> None:
    """Evidence: rational numbers of the oracle, to 1e-13 relatively; sums of tails in closed form."""
    given, g = exact(mechanism), float(mechanism.granularity)
    m, ratio = given.reach, given.ratio
    total = sum(given.weights) + given.tails

    def below(k: int) -> Fraction:
        if k < -m:
            return given.weights[0] * ratio ** (-m - k) / (1 - ratio) / total
        start = given.weights[0] * ratio / (1 - ratio)
        if k <= m:
            return (start + sum(given.weights[: k + m + 1])) / total
        return 1 - given.weights[-1] * ratio ** (k - m + 1) / (1 - ratio) / total

    for k in places(mechanism):
        x = k * g
        assert mechanism.pmf(x) == pytest.approx(float(given.probability(k)), rel=1e-13, abs=1e-320)
        assert mechanism.cdf(x) == pytest.approx(float(below(k)), rel=1e-13, abs=1e-320)
        assert mechanism.sf(x) == pytest.approx(float(1 - below(k)), rel=1e-13, abs=1e-320)
        if given.probability(k) > Fraction(1, 2**1000):
            log = math.log(given.probability(k).numerator) - math.log(given.probability(k).denominator)
            assert mechanism.logpmf(x) == pytest.approx(log, rel=1e-12, abs=1e-13)
    assert mechanism.pmf([0.3 * g, math.inf, -math.inf]).tolist() == [0, 0, 0]
    assert np.isnan(mechanism.cdf(math.nan))


@each_mechanism
def test_quantiles_are_the_least_places(mechanism: sn.LatticeNoise) -> None:
    """Evidence: the definition, by the functions themselves, at probabilities at random and on the steps."""
    g = float(mechanism.granularity)
    choose = random.Random(3)
    steps = [mechanism.cdf(k * g) for k in places(mechanism)]
    for q in [*(choose.random() ** choose.choice((1, 30)) for _ in range(100)), *steps, 0.5]:
        if not 0 < q < 1:
            continue
        x = mechanism.ppf(q)
        assert mechanism.cdf(x) >= q * (1 - 1e-14)
        assert mechanism.cdf(x - g) < q * (1 + 1e-14)
        y = mechanism.isf(q)
        assert mechanism.sf(y) <= q * (1 + 1e-14)
        assert mechanism.sf(y - g) > q * (1 - 1e-14)
        t = mechanism._tail_bound(q)
        beyond = [mechanism.sf(r) + mechanism.cdf(-r - g) for r in (t, t - g)]
        assert beyond[0] <= q * (1 + 1e-14)
        assert t == 0 or beyond[1] > q * (1 - 1e-14)
    low, high = mechanism.support()
    assert (mechanism.ppf(0), mechanism.ppf(1)) == (-math.inf if mechanism.tail_ratio else low, high)


@each_mechanism
def test_moments_and_entropy_are_sums(mechanism: sn.LatticeNoise) -> None:
    """Evidence: sums over all places that matter; 80 nepers of a tail."""
    g, m = float(mechanism.granularity), len(mechanism.weights) // 2
    far = m + (0 if mechanism.tail_ratio is None else math.ceil(-80 / math.log(mechanism.tail_ratio)))
    k = np.arange(-far, far + 1)
    p = mechanism.pmf(k * g)
    assert p.sum() == pytest.approx(1, rel=1e-12)
    for order in (1, 2, 3, 4, 9):
        assert mechanism.moment(order) == pytest.approx(
            float(np.sum(p * (k * g) ** float(order))), rel=1e-10, abs=1e-9 * g**order
        )
    for power in (0.5, 1, 2.5):
        assert mechanism.abs_moment(power) == pytest.approx(float(np.sum(p * np.abs(k * g) ** power)), rel=1e-11)
    assert mechanism.var() == pytest.approx(float(np.sum(p * (k * g - mechanism.mean()) ** 2)), rel=1e-11)
    used = p > 0
    assert mechanism.entropy() == pytest.approx(float(-np.sum(p[used] * np.log(p[used]))), rel=1e-11)
    assert mechanism.abs_moment(-0.5) == (
        math.inf if mechanism.pmf(0) > 0 else pytest.approx(np.sum(p[used] * np.abs(k[used] * g) ** -0.5))
    )


@pytest.mark.parametrize("mechanism", MECHANISMS[:5], ids=repr)
def test_draws_have_the_probabilities(mechanism: sn.LatticeNoise) -> None:
    """Evidence: Pearson's χ² of 200 000 draws; a right mechanism fails in one seed of 10^6, and the seeds are fixed."""
    n, g = 200_000, float(mechanism.granularity)
    drawn = mechanism.sample(n, rng=sn.SeededRng(31))
    low, high = mechanism.ppf(1e-3), mechanism.isf(1e-3)
    inner = np.arange(low, high + g, g)
    expected = np.concatenate([[mechanism.cdf(low - g)], mechanism.pmf(inner), [mechanism.sf(inner[-1])]]) * n
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
    mechanisms = [sn.LatticeNoise(np.array(TRIANGLE) * scale, 0.5) for scale in (1.0, 3.0, 2.0**1000, 2.0**-1000)]
    drawn = [mechanism.sample(500, rng=sn.SeededRng(4)) for mechanism in mechanisms]
    assert all(np.array_equal(drawn[0], other) for other in drawn[1:])
    assert len({mechanism.pmf(1) for mechanism in mechanisms}) == 1
    assert len({mechanism._exact_parameters()["weights"] for mechanism in mechanisms}) == 1
    assert mechanisms[0] != mechanisms[1]


def test_zeros_are_never_drawn() -> None:
    """Evidence: 10^5 draws of a comb, and the oracle's thresholds."""
    mechanism = sn.LatticeNoise([1, 0, 5, 0, 0, 0, 1e-3])
    assert set(mechanism.sample(100_000, rng=sn.SeededRng(6)).tolist()) == {-3, -1, 3}


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
    same = [mechanism.sample(1000, rng=sn.SeededRng(9)) for mechanism in (counts, halves)]
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
    for mechanism, terms in ((sn.LatticeNoise([1, 0, 3, 8, 5, 2, 0.5]), 20), (sn.LatticeNoise(TRIANGLE, 0.75), 7)):
        far = 3 if mechanism.tail_ratio is None else 200
        p, total = mechanism.pmf(np.arange(-far, far + 1)), np.ones(1)
        for _ in range(terms):
            total = np.convolve(total, p)
        low, high = mechanism.confidence_interval(0, 0.9, of="sum", terms=terms)
        assert low == -high
        inside = [total[far * terms - t : far * terms + t + 1].sum() for t in (high, high - 1)]
        assert inside[0] >= 0.9 > inside[1]


def test_a_value() -> None:
    mechanism = sn.LatticeNoise.from_pmf(TRIANGLE, tail_ratio=0.5, sensitivity=2)
    assert mechanism == sn.LatticeNoise(tuple(TRIANGLE), 0.5, 1.0, 2) == pickle.loads(pickle.dumps(mechanism))
    assert hash(mechanism) == hash(pickle.loads(pickle.dumps(mechanism)))
    assert mechanism != sn.LatticeNoise(TRIANGLE, 0.5)
    assert repr(mechanism) == "LatticeNoise(weights=(1.0, 2.0, 4.0, 2.0, 1.0), tail_ratio=0.5, granularity=1.0, sensitivity=2)"
    many = sn.LatticeNoise(np.ones(1001), sensitivity=3)
    assert repr(many) == "LatticeNoise(weights=<those of -500 to 500>, tail_ratio=None, granularity=1.0, sensitivity=3)"
    own = mechanism.weights
    own[:] = 0
    assert mechanism.weights.tolist() == TRIANGLE
    assert len(many._repr_html_()) < 2000


@looped(("arguments", "error", "text"), [
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
    ])  # fmt: skip
def test_refused(arguments: dict[str, object], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        sn.LatticeNoise.from_pmf(**({"weights": TRIANGLE} | arguments))  # type: ignore[arg-type]
    assert str(caught.value).startswith(text)


def test_several_values_need_weights_of_their_own() -> None:
    mechanism = sn.LatticeNoise(TRIANGLE, 0.5, sensitivity=1)
    assert mechanism.for_partitions(1) is mechanism
    for call in (lambda: mechanism.for_partitions(2), lambda: mechanism.release([1, 2], max_partitions_contributed=2)):
        with pytest.raises(
            sn.ParameterError, match="must be 1 for a mechanism given by its weights, got 2: choose wider weights"
        ):
            call()
    several = mechanism.guarantee(max_partitions_contributed=3)
    assert (several.eps, several.partitions) == (pytest.approx(3 * mechanism.eps, rel=1e-15), 3)
    assert several.eps >= 3 * mechanism.eps


def test_any_sequence_of_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    forms = [TRIANGLE, tuple(TRIANGLE), np.array(TRIANGLE, np.float32), np.array([1, 2, 4, 2, 1]), pandas.Series(TRIANGLE)]
    assert len({sn.LatticeNoise(weights) for weights in forms}) == 1


def test_the_list_of_a_slow_tail_is_short() -> None:
    """Evidence: counting. Functions of the slowest tail have as many entries as weights."""
    mechanism = functions(weights_of(np.ones(3), 1 - 2.0**-11), 1.0)
    assert mechanism._pmf.size == 3
