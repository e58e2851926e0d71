"""What a query adds to the true answers has the distribution of its mechanism: through database, statement, plan and noise.

The probabilities are the formulas of the literature, written here again. Keys and seeds are fixed, so a run cannot fail by
chance; the rates in the comments are those of a fresh seed.
"""

import hashlib
import math
from itertools import product

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import query
from tests.combinations import in_turn, rest_long
from tests.query.persons import visits, visits_of
from tests.statistical.checks import check_distribution, check_share

CITIES = [f"city {number}" for number in range(500)]
PEOPLE = {city: number % 3 for number, city in enumerate(CITIES)}
RELEASES = 12
# The false-alarm rate of each chi-square test.
ALPHA = 1e-6


def keys(n, name):
    return [sn.KeyedRng(hashlib.sha256(f"{name} {number}".encode()).digest(), f"release {number}") for number in range(n)]


def seeds(n, name):
    start = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return [sn.SeededRng(start + number, allow_release=True) for number in range(n)]


@pytest.fixture(scope="module")
def con():
    return visits(PEOPLE)


def noises(ask, rngs, true):
    """Return all noise values of several releases of all cities, as integers."""
    found = [[row[1] - true(row[0]) for row in ask(rng)] for rng in rngs]
    return np.array(found).ravel()


def check(noise, weight, reach=60):
    """Chi-square against weights on the integers from -reach to reach; each end bin includes its tail."""
    support = np.arange(-reach, reach + 1)
    probabilities = np.array([weight(int(j)) for j in support])
    assert abs(probabilities.sum() - 1) < 1e-6, "the probabilities must sum to 1"
    counts = np.bincount(np.clip(noise, -reach, reach) + reach, minlength=len(support))
    check_distribution(counts, probabilities, ALPHA)


def geometric(eps, sensitivity=1):
    decay = math.exp(-eps / sensitivity)
    return lambda j: (1 - decay) / (1 + decay) * decay ** abs(j)


def staircase(eps, sensitivity, r):
    """Geng and Viswanath: steps of `sensitivity` integers; the central step is from -(r - 1) to r - 1."""
    b = math.exp(-eps)
    height = (1 - b) / (2 * r + 2 * b * (sensitivity - r) - (1 - b))
    return lambda j: height * b ** (0 if abs(j) < r else (abs(j) - r) // sensitivity + 1)


MECHANISMS = [None, "discrete_laplace", "discrete_staircase"]


@pytest.mark.parametrize(
    ("randomness", "mechanism"), rest_long(in_turn([keys, seeds], MECHANISMS), product([keys, seeds], MECHANISMS))
)
def test_counts(con, randomness, mechanism):
    """6 000 draws; at sensitivity 1 both mechanisms are the geometric distribution."""
    noise = noises(
        lambda rng: query.count(
            con, "visits", by="city", groups=CITIES, row_is_person=True, eps=0.8, mechanism=mechanism, rng=rng
        ),
        randomness(RELEASES, f"counts {mechanism}"),
        PEOPLE.get,
    )
    check(noise, geometric(0.8))


@pytest.mark.parametrize("randomness", [keys, seeds])
def test_counts_of_people_in_several_groups_get_a_share_of_eps(con, randomness):
    """A person is in up to four groups, so each count has ε/4."""
    noise = noises(
        lambda rng: query.count(con, "visits", by="city", groups=CITIES, person="who", max_groups=4, eps=2.0, rng=rng),
        randomness(RELEASES, "groups"),
        PEOPLE.get,
    )
    check(noise, geometric(0.5))


def test_gaussian_counts(con):
    """P(j) is proportional to exp(-j²/2σ²); σ² is the one that `from_eps` chose."""
    sigma2 = sn.DiscreteGaussian.from_eps(1.0, 1e-5).sigma2
    noise = noises(
        lambda rng: query.count(
            con, "visits", by="city", groups=CITIES, row_is_person=True, eps=1, delta=1e-5, mechanism="discrete_gaussian", rng=rng
        ),
        seeds(RELEASES, "gaussian"),
        PEOPLE.get,
    )
    total = sum(math.exp(-(j**2) / (2 * sigma2)) for j in range(-200, 201))
    check(noise, lambda j: math.exp(-(j**2) / (2 * sigma2)) / total)


def test_sums_get_the_staircase_of_the_larger_bound(con):
    """Bounds -2 and 9: Δ = 9; at ε = 1.5 the recommended mechanism is the staircase."""
    r = sn.optimal_r(1.5, 9)
    noise = noises(
        lambda rng: query.sum(
            con, "visits", by="city", groups=CITIES, column="spent", bounds=(-2, 9), row_is_person=True, eps=1.5, rng=rng
        ),
        keys(RELEASES, "sums"),
        lambda city: 7 * PEOPLE[city],
    )
    check(noise, staircase(1.5, 9, r), reach=120)


def test_sums_off_the_integers_are_whole_multiples_of_the_unit(con):
    """Bounds 0 and 0.75 clip 7 to 0.75. In units, the noise has Δ = 0.75/unit, and |noise| is exponential to 1 in 10⁸."""
    asked = {"by": "city", "groups": CITIES, "column": "spent", "bounds": (0, 0.75), "row_is_person": True, "eps": 0.4}
    table = query.sum(con, "visits", **asked, all_digits=True)
    unit = table.about["statistics"][0]["unit"]
    noise = np.array([row[1] - 0.75 * PEOPLE[row[0]] for row in table]) / unit
    assert (noise == np.round(noise)).all()
    assert 0.75 / unit > 1e8
    # Each of 500 values is below the median ln 2 with probability 1/2. False alarms: 1e-6.
    below = int((np.abs(noise) * unit * 0.4 / 0.75 < math.log(2)).sum())
    assert abs(below - 250) < 5 * math.sqrt(125)


def test_means_divide_two_releases_of_half_the_budget(con):
    """Bounds 0 and 14 have the centre 7, so the true centred sum is 0, and the mean shows the sign and size of the sum's noise.

    A mean is (7 + s/c) with c >= 1. The noise s has ε/2 and Δ = 7: it is 0 with the probability of the formula.
    """
    means = [
        row[1]
        for rng in seeds(RELEASES, "means")
        for row in query.mean(
            con, "visits", by="city", groups=CITIES, column="spent", bounds=(0, 14), row_is_person=True, eps=3.0, rng=rng
        )
    ]
    central = staircase(1.5, 7, sn.optimal_r(1.5, 7))(0)
    check_share(sum(mean == 7 for mean in means), len(means), central, ALPHA)
    check_share(sum(mean > 7 for mean in means), len(means), (1 - central) / 2, ALPHA)


@pytest.mark.parametrize(("confidence", "max_groups"), rest_long([(0.5, 3), (0.95, 1)], product([0.5, 0.95], [1, 3])))
def test_counts_are_within_their_bounds_as_often_as_stated(con, confidence, max_groups):
    """The bound is the smallest integer t with P(|X| > t) <= 1 - confidence; of 6 000 rows, 1 - P(|X| > t) are within it."""
    eps = 1.2
    decay = math.exp(-eps / max_groups)
    least = next(t for t in range(1000) if 2 * decay ** (t + 1) / (1 + decay) <= 1 - confidence)
    inside = []
    for rng in seeds(RELEASES, f"bounds {confidence} {max_groups}"):
        table = query.count(
            con, "visits", by="city", groups=CITIES, person="who", max_groups=max_groups, eps=eps, confidence=confidence, rng=rng
        )
        assert {row[2] for row in table} == {least}
        inside += [abs(row[1] - PEOPLE[row[0]]) <= row[2] for row in table]
    check_share(sum(inside), len(inside), 1 - 2 * decay ** (least + 1) / (1 + decay), ALPHA)


def test_means_are_in_their_intervals_at_least_as_often_as_stated():
    """The true mean is computed from the rows; groups of 20 to 60 people, 4 000 intervals at 80 %; one-sided, 1e-9."""
    cities = CITIES[:200]
    rows = [(city, (place * 13 + number * 5) % 30) for place, city in enumerate(cities) for number in range(20 + place % 41)]
    true = {city: np.mean([spent for where, spent in rows if where == city]) for city in cities}
    con = visits_of(rows)
    inside = []
    for rng in seeds(20, "intervals"):
        for city, mean, bound, low, high, _ in query.mean(
            con,
            "visits",
            by="city",
            groups=cities,
            column="spent",
            bounds=(0, 30),
            row_is_person=True,
            eps=1.0,
            confidence=0.8,
            rng=rng,
        ):
            assert 0 <= low <= mean <= high <= 30
            assert math.isclose(bound, max(high - mean, mean - low), abs_tol=0.11)  # the third digit is at most 0.1
            inside.append(low <= true[city] <= high)
            if inside[-1]:
                assert abs(mean - true[city]) <= bound
    n = len(inside)
    assert sum(inside) >= 0.8 * n - 6 * math.sqrt(0.16 * n)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_each_half_of_a_mean_may_fail_half_as_often(con, confidence):
    """At ε = 60 the count has noise with a probability of 1e-13 only, so the interval is the interval of the sum alone.

    The sum has ε = 30 and Δ = 10⁶; its bound is the smallest t with P(|X| > t) <= (1 - confidence)/2.
    """
    decay = math.exp(-30 / 1e6)
    least = math.ceil(math.log((1 - confidence) / 2 * (1 + decay) / 2) / math.log(decay)) - 1
    ((mean, bound, low, high, _),) = query.mean(
        con,
        "visits",
        column="spent",
        bounds=(-1e6, 1e6),
        row_is_person=True,
        eps=60,
        confidence=confidence,
        mechanism="discrete_laplace",
        rng=seeds(1, "half")[0],
        all_digits=True,
    )
    people = sum(PEOPLE.values())
    for width in (bound, high - mean, mean - low):
        assert math.isclose(width * people, least, abs_tol=1e-3)
