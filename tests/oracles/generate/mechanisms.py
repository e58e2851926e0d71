"""A file for each mechanism of segments, and for each truncated staircase: values of whole fills.

An oracle that has `CASES` is one. Its `mechanism` takes the arguments of a case and returns the lattice and the mechanism, and
its `lengths` names the mechanism's own lengths in an entry. `value` draws, and `STAGES` has what begins the indices that it
reads; without them it is a mechanism of segments. `SEED` chooses the generators; it is also the mechanism's place among them.
"""

import random
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.oracles import segments, stream
from tests.oracles.generate.encoding import decoded, encoded, word_hex

COUNT = 6


def oracles() -> dict[str, Any]:
    """Name and module of every such oracle, by seed."""
    names = sorted(path.stem for path in Path(__file__).resolve().parents[1].glob("*.py") if "\nCASES" in path.read_text())
    found = {name: import_module(f"tests.oracles.{name}") for name in names}
    return dict(sorted(found.items(), key=lambda item: item[1].SEED))


def entry(name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle."""
    oracle = oracles()[name]
    where, mechanism = oracle.mechanism(*decoded(inputs["arguments"]))
    return (
        inputs
        | {"log2_g": where.log2_g, "cells": where.sensitivity_steps}
        | oracle.lengths(mechanism)
        | _drawn(oracle, mechanism, inputs)
    )


def entries(name: str) -> Iterator[dict[str, Any]]:
    oracle = oracles()[name]
    choose = random.Random(oracle.SEED)
    for arguments in oracle.CASES:
        yield entry(name, _inputs(encoded(arguments), choose))


def _drawn(oracle: Any, mechanism: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    value, stages = getattr(oracle, "value", segments.value), getattr(oracle, "STAGES", (0, segments.STAGE))
    key, fill, start = stream.seed_key(int(inputs["seed"])), inputs["fill"], inputs["index"]
    indices = range(start, start + inputs["count"])
    return {
        "words": [[word_hex(stream.word(key, fill, index + stage)) for stage in stages] for index in indices],
        "values": [value(mechanism, key, fill, index) for index in indices],
    }


def _inputs(arguments: list[Any], choose: random.Random) -> dict[str, Any]:
    return {
        "arguments": arguments,
        "seed": str(choose.randrange(2**128)),
        "fill": choose.choice((0, 1, 5)),
        "index": choose.choice((0, 1, 2, 511, 2**39 + 1)),
        "count": COUNT,
    }
