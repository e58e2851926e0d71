"""Whole fills against the oracle at parameters drawn from wide ranges, fixed seed. Deterministic: no false alarms.

Golden vectors freeze a few values at chosen parameters; these tests compare hundreds of consecutive values, so that every
lane of a vector kernel and the boundaries between blocks are compared at random parameters.
"""

import math
import random
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import rest_long
from tests.exactness.mechanisms import NAMES, build
from tests.oracles import draw, release, stream
from tests.oracles.lattice import KINDS, Shape, lattice, mechanism

VALUES = 200
CASES = 12


def parameters(kind: str, choose: random.Random) -> tuple[str, float, float, Shape]:
    eps = math.exp(choose.uniform(math.log(1e-4), math.log(60)))
    if kind.startswith("discrete"):
        sensitivity = float(math.ceil(2 ** choose.uniform(0, 40)))
    else:
        sensitivity = math.ldexp(choose.uniform(1, 2), choose.randrange(-60, 60))
    if kind.endswith("laplace"):
        return kind, eps, sensitivity, None
    number = 1 - choose.random() if kind == "staircase" else float(choose.randrange(1, int(sensitivity) + 1))
    return kind, eps, sensitivity, choose.choice(("l1", "l2", number))


def expected(arguments: tuple[str, float, float, Shape], seed: int, indices: range, dtype: str) -> list[Any]:
    where = lattice(*arguments)
    target, key = mechanism(arguments[1], where), stream.seed_key(seed)
    return [release.output(draw.at(target, key, 0, index).value, where.granularity, dtype) for index in indices]


@pytest.mark.parametrize("case", rest_long(range(3), range(CASES)))
@pytest.mark.parametrize("kind", KINDS)
def test_fill(kind: str, case: int) -> None:
    choose = random.Random(f"{kind} {case}")
    arguments, seed, start = parameters(kind, choose), choose.randrange(2**128), choose.choice((0, choose.randrange(2**40)))
    noise = build(*arguments).sample(VALUES, rng=sn.SeededRng(seed).at(start))
    assert noise.tolist() == expected(arguments, seed, range(start, start + VALUES), noise.dtype.name), arguments


@pytest.mark.parametrize("kind", KINDS)
def test_array_parameters(kind: str) -> None:
    """Value i uses word i and its own parameters."""
    choose = random.Random(kind)
    shape = None if kind.endswith("laplace") else "l2"
    rows = [(kind, eps, sensitivity, shape) for _, eps, sensitivity, _ in (parameters(kind, choose) for _ in range(40))]
    eps, sensitivity = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    exact = sensitivity.astype(np.int64) if kind.startswith("discrete") else sensitivity
    noise = NAMES[kind](eps, exact, *([shape] if shape else [])).sample(rng=sn.SeededRng(3))
    for index, row in enumerate(rows):
        assert noise[index] == expected(row, 3, range(index, index + 1), noise.dtype.name)[0], row


@pytest.mark.slow
def test_large_cells_need_extension_words() -> None:
    """With a sensitivity of 2^53 steps about one word in five hundred leaves |X| open; those values come from the slow path."""
    arguments = ("discrete_staircase", 1.0, 2.0**53, "l2")
    noise = build(*arguments).sample(300, rng=sn.SeededRng(5))
    where = lattice(*arguments)
    drawn = [draw.at(mechanism(1.0, where), stream.seed_key(5), 0, index) for index in range(300)]
    assert sum(result.words > 1 for result in drawn) >= 2
    assert noise.tolist() == [result.value for result in drawn]
