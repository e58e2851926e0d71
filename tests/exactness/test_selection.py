"""Selections against tests/vectors/selection.json and the oracle. Deterministic: no false alarms."""

import random
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import rest_long
from tests.exactness.mechanisms import rng_before
from tests.oracles import selection, stream
from tests.oracles.generate import selections
from tests.oracles.generate.encoding import float_of, read
from tests.oracles.selection import Mechanism, Row, exponents

OUTPUTS = ("values", "cases")


def build(mechanism: Mechanism) -> Any:
    if mechanism.gamma is None:
        return sn.ExponentialMechanism(mechanism.eps, mechanism.sensitivity, mechanism.monotonic)
    return sn.StaircaseSelection(*mechanism)


@pytest.mark.parametrize("threads", [1, 3])
def test_golden_selections(threads: int) -> None:
    for entry in read("selection"):
        costs = [float_of(cost) for cost in entry["costs"]]
        mechanism, rng = build(selections.mechanism_of(entry)), rng_before(entry["fill"], int(entry["seed"]))
        start, count = entry["index"], entry["count"]
        many = {"multiplicities": entry.get("multiplicities")}
        assert mechanism.select(costs, count, rng=rng.at(start), threads=threads, **many).tolist() == entry["values"], entry
        assert mechanism.select(np.tile(costs, (count, 1)), rng=rng.at(start), **many).tolist() == entry["values"], entry


@pytest.mark.slow
def test_vectors_are_current() -> None:
    """The committed file is what the oracle makes now, in a seeded sample."""
    entries = read("selection")
    for entry in random.Random(4).sample(entries, 3):
        assert selections.entry({name: given for name, given in entry.items() if name not in OUTPUTS}) == entry


@pytest.mark.parametrize("case", rest_long(range(10), range(30)))
def test_oracle_agrees_on_rows_that_nobody_chose(case: int) -> None:
    choose = random.Random(case)
    gamma = choose.choice((None, 0.5, 1.0, 1 - choose.random()))
    mechanism = Mechanism(
        choose.uniform(0.01, 12), choose.choice((1.0, 0.1, choose.uniform(0.1, 9))), gamma, choose.random() < 0.5
    )
    few = [choose.uniform(0, 9) for _ in range(6)]
    rows = [[choose.choice((*few, float(choose.randrange(6)), 0.0)) for _ in range(20)] for _ in range(25)]
    drawn = build(mechanism).sample(rows, rng=sn.SeededRng(case))
    key = stream.seed_key(case)
    for i, costs in enumerate(rows):
        assert drawn[i] == selection.at(Row(exponents(mechanism, costs)), key, 0, i).index, (mechanism, costs)
