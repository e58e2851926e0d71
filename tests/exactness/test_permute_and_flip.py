"""Permute-and-flip, and several candidates at once, against golden vectors and the oracle. Deterministic: no false alarms."""

import math
import random
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.exactness.mechanisms import rng_before
from tests.oracles import permute_and_flip, selection, stream
from tests.oracles.generate import permute_and_flips, selections
from tests.oracles.generate.encoding import float_of, read
from tests.oracles.selection import Mechanism, exponents


def build(mechanism: Mechanism, flips: bool) -> Any:
    if mechanism.gamma is not None:
        return sn.StaircaseSelection(*mechanism)
    made = sn.PermuteAndFlip if flips else sn.ExponentialMechanism
    return made(mechanism.eps, mechanism.sensitivity, mechanism.monotonic)


@pytest.mark.parametrize("threads", [1, 3])
def test_golden_selections(threads: int) -> None:
    for entry in read("permute_and_flip"):
        costs = [float_of(cost) for cost in entry["costs"]]
        mechanism = build(selections.mechanism_of(entry), True)
        rng = rng_before(entry["fill"], int(entry["seed"]))
        start, count = entry["index"], entry["count"]
        assert mechanism.select(costs, count, rng=rng.at(start), threads=threads).tolist() == entry["values"], entry
        assert mechanism.select(np.tile(costs, (count, 1)), rng=rng.at(start)).tolist() == entry["values"], entry
        assert mechanism.select(scores=np.negative(costs), size=count, rng=rng.at(start)).tolist() == entry["values"], entry


@pytest.mark.parametrize("threads", [1, 3])
def test_golden_several_candidates(threads: int) -> None:
    for entry in read("top"):
        costs, k = [float_of(cost) for cost in entry["costs"]], entry["k"]
        mechanism = build(selections.mechanism_of(entry), entry["flips"])
        rng = rng_before(entry["fill"], int(entry["seed"]))
        start, rows = entry["index"], entry["rows"]
        assert mechanism.top(costs, k, rows, rng=rng.at(start), threads=threads).tolist() == entry["values"], entry
        assert mechanism.top(np.tile(costs, (rows, 1)), k, rng=rng.at(start)).tolist() == entry["values"], entry
        if k == 1:
            assert mechanism.select(costs, rows, rng=rng.at(start)).tolist() == [row[0] for row in entry["values"]], entry


@pytest.mark.slow
def test_vectors_are_current() -> None:
    """The committed files are what the oracle makes now, in a seeded sample."""
    choose = random.Random(4)
    for entry in choose.sample([entry for entry in read("permute_and_flip") if len(entry["costs"]) < 20], 2):
        given = {name: value for name, value in entry.items() if name not in ("values", "cases")}
        assert permute_and_flips.entry(given) == entry
    for entry in choose.sample(read("top"), 2):
        assert permute_and_flips.top_entry({name: value for name, value in entry.items() if name != "values"}) == entry


@pytest.mark.parametrize("case", range(12))
def test_oracle_agrees_on_rows_that_nobody_chose(case: int) -> None:
    choose = random.Random(case)
    scale, unit = choose.uniform(0.01, 12), choose.choice((1.0, 0.1, choose.uniform(0.1, 9)))
    mechanism = Mechanism(scale, unit, None, choose.random() < 0.5)
    few = [choose.uniform(-9, 9) for _ in range(6)]
    n = choose.choice((1, 3, 4, 5, 31, 32, 33))
    numbers = (*few, math.inf, float(choose.randrange(6)), 0.0)
    rows = [[0.5, *(choose.choice(numbers) for _ in range(n - 1))] for _ in range(8)]
    drawn = build(mechanism, True).sample(rows, rng=sn.SeededRng(case))
    key = stream.seed_key(case)
    for i, costs in enumerate(rows):
        row = permute_and_flip.Row(exponents(mechanism, costs))
        assert drawn[i] == selection.at(row, key, 0, i).index, (mechanism, costs)
