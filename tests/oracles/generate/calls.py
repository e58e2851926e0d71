"""calls.json: several calls on one generator, each with the number of the fill or of the child that it takes."""

from collections.abc import Iterator
from typing import Any

from tests.oracles import draw, permute_and_flip, selection, stream
from tests.oracles.generate.encoding import float_bits, float_of
from tests.oracles.lattice import lattice, mechanism
from tests.oracles.selection import Mechanism, exponents

EPS, SENSITIVITY = 1.0, 10**6
# The draws of a view and of a child in their first two calls.
SHORT = 3
COSTS = [float_bits(cost) for cost in (0.0, 0.5, 1.25, 1.75, 3.5, 0.25)]


def entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return a seed and calls, completed by each call's result."""
    key, fill, child = stream.seed_key(int(inputs["seed"])), 0, 0
    results = []
    for name, *arguments in inputs["calls"]:
        if name == "spawn":
            results.append([two_calls(stream.child_key(key, child + i), 0, 0) for i in range(arguments[0])])
            child += arguments[0]
        elif name == "at":
            results.append(two_calls(key, fill, arguments[0]))
        else:
            results.append(taken(name, arguments, key, fill))
            fill += 1
    return inputs | {"results": results}


def noise(key: bytes, fill: int, first: int, count: int) -> list[int]:
    where = mechanism(EPS, lattice("discrete_laplace", EPS, SENSITIVITY))
    return [draw.at(where, key, fill, first + i).value for i in range(count)]


def two_calls(key: bytes, fill: int, first: int) -> list[list[int]]:
    return [noise(key, number, first, SHORT) for number in (fill, fill + 1)]


def taken(name: str, arguments: list[Any], key: bytes, fill: int) -> Any:
    """The result of a call that takes a fill."""
    if name == "sample":
        return noise(key, fill, 0, arguments[0])
    mechanism = Mechanism(EPS, 1.0, None, False)
    costs = [float_of(cost) for cost in COSTS]
    if name == "top":
        return permute_and_flip.top(False, mechanism, costs, arguments[0], key, fill, 0)
    row = permute_and_flip.row(name == "flip", exponents(mechanism, costs))
    return [selection.at(row, key, fill, i).index for i in range(arguments[0])]


def entries() -> Iterator[dict[str, Any]]:
    calls: tuple[list[list[Any]], ...] = (
        [["sample", 2], ["spawn", 2], ["sample", 2], ["spawn", 1], ["spawn", 0], ["sample", 0], ["spawn", 3], ["sample", 1]],
        [["at", 0], ["sample", 2], ["at", 1000], ["at", 0], ["spawn", 1], ["at", 1], ["sample", 4]],
        [
            ["select", 4],
            ["sample", 2],
            ["top", 3],
            ["sample", 2],
            ["flip", 5],
            ["top", 6],
            ["spawn", 1],
            ["select", 0],
            ["at", 7],
        ],
    )
    for seed, listed in enumerate(calls):
        yield entry({"seed": str(2**100 + seed), "costs": COSTS, "calls": listed})
