"""What a process and its forked children draw from generators that they share, as JSON. `main` runs in a process of its own."""

from __future__ import annotations

import json
import os
from typing import Any

import stairnoise as sn
from stairnoise._selftest.keystream import top_bits

_CHILDREN = 8
_WORDS = 16


def draws(generators: list[Any]) -> list[list[int]]:
    """Draw twice from every generator."""
    return [top_bits(rng, _WORDS).tolist() for rng in generators for _ in range(2)]


def in_child(generators: list[Any]) -> list[list[int]]:
    """Return what a forked child draws."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            with os.fdopen(writer, "w") as pipe:
                json.dump(draws(generators), pipe)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    found: list[list[int]] = json.loads(text)
    return found


def main() -> None:
    """Print a list of draws, of which no two should be equal."""
    used, unused = sn.SecureRng(), sn.SecureRng()
    found = [top_bits(None, _WORDS).tolist(), top_bits(used, _WORDS).tolist()]
    generators = [None, used, unused, *sn.SecureRng().spawn(2)]
    for _ in range(_CHILDREN):
        found += in_child(generators)
    print(json.dumps([*found, *draws(generators)]))
