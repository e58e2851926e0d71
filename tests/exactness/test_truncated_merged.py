"""Mechanisms of segments and truncated staircases against their vectors and oracles, bit for bit. Deterministic: no false
alarms.
"""

import math
import random
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.registry import load
from tests.combinations import rest_long
from tests.exactness.mechanisms import rng_before
from tests.oracles import (
    discrete_canonical,
    merged_laplace,
    segments,
    stream,
    truncated_discrete_staircase,
    truncated_laplace,
    truncated_staircase,
)
from tests.oracles.generate import mechanisms as mechanisms
from tests.oracles.generate.encoding import decoded, read

INPUTS = ("arguments", "seed", "fill", "index", "count")
LENGTHS = ("below", "above", "breaks", "end")
VALUES = 120


ORACLES = mechanisms.oracles()


@pytest.mark.parametrize("name", ORACLES)
def test_fills(name: str) -> None:
    entries = read(name)
    assert len(entries) >= 9
    for entry in entries:
        made = load(name)(*decoded(entry["arguments"]))
        g = 2.0 ** entry["log2_g"]
        assert made.granularity == g
        if "centre" in entry:
            end, centre = entry["end"], entry["centre"]
            own = [[entry["r"], end, max(centre, 0), max(-centre, 0)]]
            bounds = (centre - end, centre + end)
            if g == 1:
                assert (made.r, made.lower, made.upper) == (entry["r"], *bounds)
        else:
            own = [entry[length] for length in LENGTHS if length in entry]
            bounds = (-entry.get("below", 0), entry.get("above", 0))
        assert made._sampler.lengths == (own[0] if own and isinstance(own[0], list) else own)
        if hasattr(made, "lattice_bounds"):
            assert made.lattice_bounds == tuple(bound * g for bound in bounds)
        if hasattr(made, "lattice_breakpoints"):
            assert made.lattice_breakpoints == tuple(c * g for c in entry["breaks"])
        rng = rng_before(entry["fill"], int(entry["seed"]))
        for dtype in made._dtypes:
            drawn = made.sample(entry["count"], rng=rng.at(entry["index"]), dtype=dtype)
            low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.startswith("int") else (-math.inf, math.inf)
            expected = np.array([min(max(value * g, low), high) for value in entry["values"]]).astype(dtype)
            assert drawn.tobytes() == (expected + expected.dtype.type(0)).tobytes(), (entry, dtype)


def check_current(name: str, entries: list[Any]) -> None:
    for entry in entries:
        assert mechanisms.entry(name, {key: entry[key] for key in INPUTS}) == entry


@pytest.mark.slow
@pytest.mark.parametrize("name", ORACLES)
def test_vectors_are_current(name: str) -> None:
    """A seeded sample of the committed file."""
    entries = read(name)
    check_current(name, random.Random(name).sample(entries, min(2, len(entries))))


@pytest.mark.long
@pytest.mark.parametrize("name", ORACLES)
def test_all_vectors_are_current(name: str) -> None:
    check_current(name, read(name))


def check(made: Any, mechanism: Any, seed: int, start: int, value: Any = segments.value) -> None:
    drawn = made.sample(VALUES, rng=sn.SeededRng(seed).at(start)) / made.granularity
    key = stream.seed_key(seed)
    assert drawn.tolist() == [value(mechanism, key, 0, index) for index in range(start, start + VALUES)], made


@pytest.mark.parametrize("case", rest_long(range(6), range(12)))
def test_truncated_staircases_at_random(case: int) -> None:
    choose = random.Random(f"truncated staircase {case}")
    eps, delta = math.exp(choose.uniform(-9, 5)), math.exp(choose.uniform(-40, math.log(0.5)))
    if case % 2:
        sensitivity = int(math.exp(choose.uniform(0, 12)))
        arguments = [eps, delta, sensitivity, choose.randint(1, sensitivity)]
        bounds = [choose.randint(-20, 20), None]
        kind, oracle = sn.TruncatedDiscreteStaircase, truncated_discrete_staircase
    else:
        real = math.ldexp(choose.uniform(1, 2), choose.randrange(-60, 60))
        arguments = [eps, delta, real, choose.uniform(0, 1)]
        bounds = [choose.uniform(-3, 3) * real, None]
        kind, oracle = sn.TruncatedStaircase, truncated_staircase
    given = ([None, None], bounds, bounds[::-1])[case % 3]
    made = kind(*arguments, *given)
    where, mechanism = oracle.mechanism(*arguments, *given)
    lengths = [mechanism.inner.r, mechanism.end, max(mechanism.centre, 0), max(-mechanism.centre, 0)]
    assert (made.granularity, made._sampler.lengths) == (2.0**where.log2_g, lengths)
    check(made, mechanism, choose.randrange(2**64), choose.choice((0, 7, 2**30)), oracle.value)


@pytest.mark.parametrize("case", rest_long(range(6), range(16)))
def test_canonical_noise_at_random(case: int) -> None:
    choose = random.Random(f"canonical {case}")
    eps = math.exp(choose.uniform(-20, 5))
    delta = (math.exp(choose.uniform(-40, 0)), 1 - math.exp(choose.uniform(-30, 0)), math.exp(choose.uniform(-700, -40)))[
        case % 3
    ]
    made = sn.DiscreteCanonical(eps, delta)
    _, mechanism = discrete_canonical.mechanism(eps, delta)
    assert made.upper == discrete_canonical.lengths(mechanism)["end"]
    check(made, mechanism, choose.randrange(2**64), choose.choice((0, 7, 2**30)), discrete_canonical.value)


@pytest.mark.parametrize("case", range(4))
def test_best_first_stairs_at_random(case: int) -> None:
    """Every candidate by its definition, with 60 digits."""
    choose = random.Random(f"best first stair {case}")
    eps, delta = math.exp(choose.uniform(-1.5, 2.5)), math.exp(choose.uniform(-20, math.log(0.5)))
    cost = "l1" if case % 2 else "l2"
    sensitivity_steps = choose.randint(2, 40)
    found = sn.TruncatedDiscreteStaircase(eps, delta, sensitivity_steps, cost)
    mechanism = truncated_discrete_staircase.mechanism(eps, delta, sensitivity_steps, cost, None, None)[1]
    assert (found.r, found.upper) == (mechanism.inner.r, mechanism.end)
    if case == 3:
        assert (
            sn.TruncatedStaircase(eps, delta, 1.5, cost).gamma
            == truncated_staircase.mechanism(eps, delta, 1.5, cost, None, None)[1].gamma
        )


@pytest.mark.parametrize("case", rest_long(range(6), range(12)))
def test_truncated_fills_at_random(case: int) -> None:
    choose = random.Random(f"truncated {case}")
    eps, delta = math.exp(choose.uniform(-9, 5)), math.exp(choose.uniform(-40, math.log(0.5)))
    sensitivity = math.ldexp(choose.uniform(1, 2), choose.randrange(-60, 60))
    lower = upper = None
    if case % 3:
        symmetric = sn.TruncatedLaplace(eps, delta, sensitivity).upper
        upper = symmetric * choose.uniform(1, 2)
        lower = -symmetric * choose.uniform(1, 2) if case % 3 == 2 else None
    made = sn.TruncatedLaplace(eps, delta, sensitivity, lower, upper)
    where, mechanism = truncated_laplace.mechanism(eps, delta, sensitivity, lower, upper)
    g = float(where.granularity)
    assert made.lattice_bounds == (-mechanism.below * g, mechanism.above * g)
    start = choose.choice((0, 500, choose.randrange(2**39)))
    check(made, mechanism, choose.randrange(2**128), start, truncated_laplace.value)


@pytest.mark.parametrize("case", rest_long(range(6), range(12)))
def test_merged_fills_at_random(case: int) -> None:
    choose = random.Random(f"merged {case}")
    eps = [math.exp(choose.uniform(-5, 3)) for _ in range((1, 2, 3, 4, 5, 13)[case % 6])]
    sensitivity = math.ldexp(choose.uniform(1, 2), choose.randrange(-60, 60))
    breakpoints = np.cumsum([sensitivity * choose.expovariate(1) for _ in eps[1:]]).tolist()
    made = sn.MergedLaplace(eps, breakpoints, sensitivity)
    _, mechanism = merged_laplace.mechanism(eps, breakpoints, sensitivity)
    check(made, mechanism, choose.randrange(2**128), choose.choice((0, 500, choose.randrange(2**39))))


@pytest.mark.parametrize(
    "made", [sn.TruncatedLaplace(0.3, 1e-3, sensitivity=1), sn.MergedLaplace([0.3, 2, 1], [0.5, 2], sensitivity=1)], ids=repr
)
def test_slices_threads_and_single_values(made: Any) -> None:
    whole = made.sample(300_000, rng=sn.SeededRng(8))
    for first, n in ((0, 1), (1, 700), (511, 2), (123_457, 1000)):
        assert np.array_equal(made.sample(n, rng=sn.SeededRng(8).at(first)), whole[first : first + n])
    assert np.array_equal(made.sample(300_000, rng=sn.SeededRng(8), threads=1), whole)
    assert np.array_equal(made.sample(300_000, rng=sn.SeededRng(8), threads=3), whole)
    assert made.sample(rng=sn.SeededRng(8)) == whole[0]
    values = np.linspace(-5, 5, 1000)
    released = made.release(values, rng=sn.SeededRng(8, allow_release=True))
    g = made.granularity
    assert np.array_equal(released, (np.floor(values / g + 0.5) + whole[:1000] / g) * g)
