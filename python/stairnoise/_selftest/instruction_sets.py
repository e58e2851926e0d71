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
from stairnoise._selftest.mechanisms import Choice, choices, mechanisms, short, vectors
from stairnoise._selftest.report import Outcome, Planned, processors
from stairnoise.rng import SeededRng

SUBJECT = "instruction sets"
LENGTHS = (0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257, 511, 513, 1023, 1025, 2049, 5000)
OFFSETS = (0, 1, 2, 3, 7, 8, 63, 511, 2**32 - 3)
# Several threads share outputs of 2**18 values or more.
LONG = 2**18 + 12_345

# What an instruction set drew: the number of values, and digests by mechanism and set of fills.
Drawn = dict[str, Any]


def planned() -> Iterator[Planned]:
    """Return the checks: each instruction set draws, and then is compared with the first one."""
    first, *others = cpu_tiers()
    drawn: dict[str, Drawn] = {}
    for tier in (first, *others):
        yield Planned(SUBJECT, f"{tier}: the same bytes with 1, 2 or more threads", partial(_draw, tier, drawn))
    for tier in others:
        yield Planned(SUBJECT, f"{tier}: the same bytes as {first}", partial(_compare, first, tier, drawn))


def _draw(tier: str, drawn: dict[str, Drawn]) -> Outcome:
    found = json.loads(run_main("stairnoise._selftest.instruction_sets", STAIRNOISE_CPU=tier))
    if (found["tier"], found["file"]) != (tier, _native.__file__):
        raise RuntimeError(f"{tier} of {_native.__file__} was asked for, and {found['tier']} of {found['file']} was run")
    drawn[tier] = found
    return compare_threads(found)


def compare_threads(found: Drawn) -> Outcome:
    """Compare fills that differ in the number of threads alone."""
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
    differing = [name for name in {**one, **two} if one.get(name) != two.get(name)]
    return _outcome(other["values"], differing)


def _outcome(values: int, differing: list[str]) -> Outcome:
    return Outcome(values, "mismatches", len(differing), 0, 0.0, "; ".join(differing))


# What each process draws. `shape` is that of one value: () for a number, (dim,) for a vector.


def of_fills(mechanism: Any, seed: int, shape: tuple[int, ...] = ()) -> Iterator[NDArray[Any]]:
    """Yield fills of every length and type, from changing places."""
    rng = SeededRng(seed)
    for number, length in enumerate(LENGTHS):
        for dtype in mechanism._dtypes:
            offset = OFFSETS[number % len(OFFSETS)] * prod(shape)
            yield mechanism.sample(-(-length // prod(shape)), rng=rng.at(offset), dtype=dtype)
            mechanism.sample(0, rng=rng)  # go on to the next fill


def of_release(mechanism: Any, seed: int, shape: tuple[int, ...] = ()) -> Iterator[NDArray[Any]]:
    """Yield released answers. Most of the true answers are between two points of the lattice."""
    rng = SeededRng(seed, allow_release=True)
    for length in LENGTHS:
        values = np.arange(length * prod(shape)) / 7 - 100
        yield mechanism.release(values.reshape(-1, *shape), rng=rng)


def of_threads(mechanism: Any, seed: int, shape: tuple[int, ...], threads: int | None) -> Iterator[NDArray[Any]]:
    """Yield a long fill."""
    yield mechanism.sample(LONG // prod(shape), rng=SeededRng(seed), threads=threads)


def of_choice(choice: Choice, seed: int, threads: int | None) -> Iterator[NDArray[Any]]:
    """Yield selections from one row and from many."""
    rng = SeededRng(seed)
    for length in LENGTHS:
        yield choice.mechanism.sample(choice.costs, length, rng=rng, threads=threads)
        rows = np.resize(choice.costs, (length % 100, choice.costs.size))
        yield choice.mechanism.sample(rows, rng=rng, threads=threads)
    yield choice.mechanism.sample(choice.costs, LONG, rng=rng, threads=threads)


class Digests:
    """Digests by mechanism and set of fills, and the number of values in them."""

    def __init__(self, processors: int) -> None:
        self.values = 0
        self.of: dict[str, dict[str, str]] = {}
        # Fills that differ in these alone should be equal.
        self._threads = {"1 thread": 1, "2 threads": 2, f"{processors} threads": processors, "threads by default": None}

    def draw_all(self) -> None:
        """Draw from every mechanism."""
        shapes: list[tuple[Any, tuple[int, ...]]] = [(mechanism, ()) for mechanism in mechanisms()]
        shapes += [(mechanism, (mechanism.dim,)) for mechanism in vectors()]
        for seed, (mechanism, shape) in enumerate(shapes):
            self.of[short(mechanism)] = {
                "fills": self._digest(of_fills(mechanism, seed, shape)),
                "releases": self._digest(of_release(mechanism, seed, shape)),
                **{name: self._digest(of_threads(mechanism, seed, shape, threads)) for name, threads in self._threads.items()},
            }
        for seed, choice in enumerate(choices()):
            of = {name: self._digest(of_choice(choice, seed, threads)) for name, threads in self._threads.items()}
            self.of[f"{short(choice.mechanism)}, {choice.costs.size} candidates"] = of

    def _digest(self, fills: Iterator[NDArray[Any]]) -> str:
        digest = hashlib.sha256()
        for fill in fills:
            self.values += fill.size
            digest.update(f"{fill.dtype.name} {fill.shape}".encode())
            digest.update(fill.tobytes())
        return digest.hexdigest()


def main() -> None:
    """Print the instruction set that drew, the file of the extension, and the digests."""
    digests = Digests(processors())
    digests.draw_all()
    found = {"tier": _native.cpu_tier(), "file": _native.__file__, "values": digests.values, "digests": digests.of}
    print(json.dumps(found))
