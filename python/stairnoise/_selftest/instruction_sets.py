"""Every instruction set of the machine, and every number of threads, draws the same bytes.

An instruction set draws in another process, which runs `main`: a process chooses its instruction set once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._cpu import cpu_tiers
from stairnoise._selftest.generators import run_main
from stairnoise._selftest.report import Outcome, Planned
from stairnoise.registry import ROWS, SELECTIONS, load_selection
from stairnoise.rng import SeededRng

LENGTHS = (0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257, 511, 513, 1023, 1025, 2049, 5000)
OFFSETS = (0, 1, 2, 3, 7, 8, 63, 511, 2**32 - 3)
# Several threads share outputs of 2**18 values or more.
LONG = 2**18 + 345
# Costs on and beside the edges of stairs, few and many.
COSTS = (np.array([0.0, 0.25, 0.5, 1.0, 1.5, 1.5, 2.25, 4.0]), np.arange(300) % 37 / 8)

# The draws of an instruction set: the number of values, and digests by mechanism and set of fills.
Drawn = dict[str, Any]


def planned() -> Iterator[Planned]:
    """Return the checks: each instruction set draws, and is then compared with the first one."""
    first, *others = cpu_tiers()
    drawn: dict[str, Drawn] = {}
    for tier in (first, *others):
        yield Planned(f"{tier}: the same bytes with 1, 2 or more threads", partial(_draw, tier, drawn))
    for tier in others:
        yield Planned(f"{tier}: the same bytes as {first}", partial(_compare, first, tier, drawn))


def _draw(tier: str, drawn: dict[str, Drawn]) -> Outcome:
    found = json.loads(run_main("stairnoise._selftest.instruction_sets", STAIRNOISE_CPU=tier))
    if (found["tier"], found["file"]) != (tier, _native.__file__):
        raise RuntimeError(f"{tier} of {_native.__file__} was asked for, and {found['tier']} of {found['file']} was run")
    drawn[tier] = found
    return compare_threads(found)


def compare_threads(found: Drawn) -> Outcome:
    """Compare fills that differ only in the number of threads."""
    sets = {name: {text for of, text in digests.items() if "thread" in of} for name, digests in found["digests"].items()}
    return _outcome(found["values"], [name for name, texts in sets.items() if len(texts) != 1])


def _compare(first: str, tier: str, drawn: dict[str, Drawn]) -> Outcome:
    missing = [name for name in (first, tier) if name not in drawn]
    if missing:
        raise RuntimeError(f"{', '.join(missing)} drew nothing")
    return compare_tiers(drawn[first], drawn[tier])


def compare_tiers(first: Drawn, other: Drawn) -> Outcome:
    """Compare all fills of two instruction sets."""
    one, two = first["digests"], other["digests"]
    return _outcome(other["values"], [name for name in {**one, **two} if one.get(name) != two.get(name)])


def _outcome(values: int, differing: list[str]) -> Outcome:
    return Outcome(values, len(differing), "; ".join(differing))


# The draws of each process


def of_fills(mechanism: Any, seed: int) -> Iterator[NDArray[Any]]:
    """Yield fills of every length and type, from changing places."""
    rng, size = SeededRng(seed), prod(mechanism._value_shape)
    for number, length in enumerate(LENGTHS):
        for dtype in mechanism._dtypes:
            offset = OFFSETS[number % len(OFFSETS)] * size
            yield mechanism.sample(-(-length // size), rng=rng.at(offset), dtype=dtype)
            mechanism.sample(0, rng=rng)  # go on to the next fill


def of_release(mechanism: Any, seed: int) -> Iterator[NDArray[Any]]:
    """Yield released answers. Most of the true answers are between two points of the lattice."""
    rng, shape = SeededRng(seed, allow_release=True), mechanism._value_shape
    for length in LENGTHS:
        answers = np.arange(length * prod(shape))
        of_categories = hasattr(mechanism, "n_categories")
        values = answers % mechanism.n_categories if of_categories else (answers / 7 - 100).reshape(-1, *shape)
        yield mechanism.release(values, rng=rng)


def of_threads(mechanism: Any, seed: int, threads: int | None) -> Iterator[NDArray[Any]]:
    """Yield a long fill."""
    yield mechanism.sample(LONG // prod(mechanism._value_shape), rng=SeededRng(seed), threads=threads)


def of_choice(mechanism: Any, costs: NDArray[Any], seed: int, threads: int | None) -> Iterator[NDArray[Any]]:
    """Yield selections from one row and from many."""
    rng = SeededRng(seed)
    for length in LENGTHS:
        yield mechanism.sample(costs, length, rng=rng, threads=threads)
        yield mechanism.sample(np.resize(costs, (length % 100, costs.size)), rng=rng, threads=threads)
    yield mechanism.sample(costs, LONG, rng=rng, threads=threads)


def of_groups(mechanism: Any, seed: int, threads: int | None) -> Iterator[NDArray[Any]]:
    """Yield which of many groups are shown, and their counts."""
    rng = SeededRng(seed, allow_release=True)
    for length in (*LENGTHS, LONG):
        yield from mechanism.release(np.arange(length) % 100, rng=rng, threads=threads)


def digests() -> Drawn:
    """Draw from every mechanism; return the number of values, and digests by mechanism and set of fills."""
    counts: list[int] = []

    def digest(fills: Iterator[NDArray[Any]]) -> str:
        sha256 = hashlib.sha256()
        for fill in fills:
            counts.append(fill.size)
            sha256.update(f"{fill.dtype.name} {fill.shape}".encode() + fill.tobytes())
        return sha256.hexdigest()

    # Fills that differ only in these must be equal.
    numbers = {"1 thread": 1, "2 threads": 2, "threads by default": None}
    of: dict[str, dict[str, str]] = {}
    for seed, mechanism in enumerate(mechanism for row in ROWS for mechanism in row.mechanisms()):
        of[repr(mechanism)] = {
            "fills": digest(of_fills(mechanism, seed)),
            "releases": digest(of_release(mechanism, seed)),
            **{name: digest(of_threads(mechanism, seed, threads)) for name, threads in numbers.items()},
        }
    for seed, (mechanism, costs) in enumerate(_selections()):
        name = f"{mechanism!r}, {costs.size} candidates"
        of[name] = {name: digest(of_choice(mechanism, costs, seed, threads)) for name, threads in numbers.items()}
    for seed, mechanism in enumerate(_of_groups()):
        of[repr(mechanism)] = {name: digest(of_groups(mechanism, seed, threads)) for name, threads in numbers.items()}
    return {"values": sum(counts), "digests": of}


def _selections() -> Iterator[tuple[Any, NDArray[Any]]]:
    """Return mechanisms that select a candidate, and the candidates' costs."""
    for select in filter(lambda kind: hasattr(kind, "top"), map(load_selection, SELECTIONS)):
        yield select(1.0, 1.0), COSTS[0]
        yield select(2.0, 0.5, monotonic=True), COSTS[0]
        yield select(0.5, 1.0), COSTS[1]


def _of_groups() -> Iterator[Any]:
    """Return mechanisms that show some of many groups, one of them with Gaussian noise."""
    for show in filter(lambda kind: not hasattr(kind, "top"), map(load_selection, SELECTIONS)):
        yield show(1.0, 1e-3)
        yield show(1.0, 1e-6, 10)


def main() -> None:
    """Print the instruction set that drew, the file of the extension, and the digests."""
    print(json.dumps({"tier": _native.cpu_tier(), "file": _native.__file__, **digests()}))
