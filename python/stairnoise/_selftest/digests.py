"""SHA-256 of seeded fills of every mechanism, as JSON. `main` runs in a process of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import stairnoise as sn
from stairnoise import _native
from stairnoise._selftest import machine, mechanisms

LENGTHS = (0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257, 511, 513, 1023, 1025, 2049, 5000)
OFFSETS = (0, 1, 2, 3, 7, 8, 63, 511, 2**32 - 3)
# Several threads share outputs of 2**18 values or more.
LONG = 2**18 + 12_345


def of_fills(law: Any, seed: int) -> Iterator[NDArray[Any]]:
    """Give fills of every length, from changing places, in every type."""
    rng = sn.SeededRng(seed)
    vector = getattr(law, "dim", 1)
    for number, length in enumerate(LENGTHS):
        for dtype in law._dtypes:
            offset = OFFSETS[number % len(OFFSETS)] * vector
            yield law.sample(-(-length // vector), rng=rng.at(offset), dtype=dtype)
            law.sample(0, rng=rng)  # the next fill


def of_release(law: Any, seed: int) -> Iterator[NDArray[Any]]:
    """Give released answers, also of none that are on the lattice."""
    rng = sn.SeededRng(seed, allow_release=True)
    dim = getattr(law, "dim", None)
    for length in LENGTHS:
        values = np.arange(length * (dim or 1)) / 7 - 100
        yield law.release(values.reshape(-1, dim) if dim else values, rng=rng)


def of_threads(law: Any, seed: int, threads: int | None) -> Iterator[NDArray[Any]]:
    """Give a long fill."""
    vector = getattr(law, "dim", 1)
    yield law.sample(LONG // vector, rng=sn.SeededRng(seed), threads=threads)


def of_choice(choice: mechanisms.Choice, seed: int, threads: int | None) -> Iterator[NDArray[Any]]:
    """Give selections from one row and from many."""
    rng = sn.SeededRng(seed)
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
        # Sets of fills that differ in threads alone should be equal.
        self._threads = {"1 thread": 1, "2 threads": 2, f"{processors} threads": processors, "threads by default": None}

    def draw_all(self) -> None:
        """Draw from every mechanism."""
        for seed, law in enumerate((*mechanisms.laws(), *mechanisms.vectors())):
            self.of[mechanisms.short(law)] = {
                "fills": self._digest(of_fills(law, seed)),
                "releases": self._digest(of_release(law, seed)),
                **{name: self._digest(of_threads(law, seed, threads)) for name, threads in self._threads.items()},
            }
        for seed, choice in enumerate(mechanisms.choices()):
            of = {name: self._digest(of_choice(choice, seed, threads)) for name, threads in self._threads.items()}
            self.of[f"{mechanisms.short(choice.mechanism)}, {choice.costs.size} candidates"] = of

    def _digest(self, fills: Iterator[NDArray[Any]]) -> str:
        digest = hashlib.sha256()
        for fill in fills:
            self.values += fill.size
            digest.update(f"{fill.dtype.name} {fill.shape}".encode())
            digest.update(fill.tobytes())
        return digest.hexdigest()


def main() -> None:
    """Print which tier drew, from which file, and the digests."""
    digests = Digests(machine.processors())
    digests.draw_all()
    found = {"tier": _native.cpu_tier(), "file": _native.__file__, "values": digests.values, "digests": digests.of}
    print(json.dumps(found))
