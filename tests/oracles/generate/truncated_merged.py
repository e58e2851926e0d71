"""truncated_laplace.json and merged_laplace.json: values of whole fills."""

import random
from collections.abc import Iterator
from typing import Any

from tests.oracles import merged_laplace, segments, stream, truncated_laplace
from tests.oracles.generate.encoding import float_bits, float_of, word_hex

COUNT = 6
TRUNCATED: tuple[tuple[float, float, float, float | None, float | None], ...] = (
    (1.0, 1e-6, 1.0, None, None),
    (0.7, 2.5e-6, 1.0, None, None),
    (0.1, 4.5e-6, 3.0, None, None),
    (1e-3, 0.5, 1.0, None, None),
    (20.0, 2.0**-128, 1e-3, None, None),
    (4.0, 0.5, 1e6, None, None),
    (2.0**-40, 0.25, 1.0, None, None),
    (1.0, 0.01, 1.0, None, 4.4625),
    (0.5, 0.1, 1.0, None, 2.75),
    (2.0, 0.05, 0.1, -0.2084, None),
    (1.0, 0.01, 1.0, -30.0, None),
    (0.1, 0.3, 1.0, None, 25.0),
    (1.5, 1e-3, 1.0, -7.0, 5.0),
    (300.0, 1e-9, 1.0, None, None),
)
MERGED: tuple[tuple[tuple[float, ...], tuple[float, ...], float], ...] = (
    ((1.0,), (), 1.0),
    ((0.25, 1 / 3), (1.0,), 1.0),
    ((0.2, 0.25, 1 / 3), (1.0, 3.0), 1.0),
    ((5.0, 0.5, 1.0), (0.4, 1.7), 1.0),
    ((16.0, 2.0), (0.25,), 1.0),
    ((16.0, 2.0), (2.5e-4,), 1e-3),
    ((50.0, 1e-3, 7.0), (1e-9, 40.0), 0.1),
    ((1.0, 2.0, 1.0, 2.0, 1.0), (0.5, 1.0, 1.5, 2.0), 3.0),
    ((1e-4, 40.0), (1.0,), 1.0),
    ((0.5, 0.25, 0.75, 0.5, 1.0, 0.125, 0.25, 0.5, 0.3, 0.6, 0.2, 0.4, 1.5), tuple(k / 4 for k in range(1, 13)), 1.0),
)


def truncated_entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle."""
    arguments = [None if text is None else float_of(text) for text in inputs["arguments"]]
    eps, delta, sensitivity, lower, upper = arguments
    assert eps is not None
    assert delta is not None
    assert sensitivity is not None
    where, law = truncated_laplace.law(eps, delta, sensitivity, lower, upper)
    ends = {"below": law.parts[1].length, "above": (law.parts[0].length or 0) - 1}
    return inputs | {"log2_g": where.log2_g, "cells": where.cells} | ends | _drawn(law, inputs)


def merged_entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle."""
    eps, breakpoints = ([float_of(text) for text in texts] for texts in inputs["arguments"][:2])
    where, law = merged_laplace.law(eps, breakpoints, float_of(inputs["arguments"][2]))
    breaks = [part.first - 1 for part in law.parts[2:]]
    return inputs | {"log2_g": where.log2_g, "cells": where.cells, "breaks": breaks} | _drawn(law, inputs)


def _drawn(law: segments.Segments, inputs: dict[str, Any]) -> dict[str, Any]:
    key, fill, start = stream.seed_key(int(inputs["seed"])), inputs["fill"], inputs["index"]
    indices = range(start, start + inputs["count"])
    return {
        "words": [[word_hex(stream.word(key, fill, index + stage)) for stage in (0, segments.STAGE)] for index in indices],
        "values": [segments.value(law, key, fill, index) for index in indices],
    }


def _inputs(arguments: list[Any], choose: random.Random) -> dict[str, Any]:
    return {
        "arguments": arguments,
        "seed": str(choose.randrange(2**128)),
        "fill": choose.choice((0, 1, 5)),
        "index": choose.choice((0, 1, 2, 511, 2**39 + 1)),
        "count": COUNT,
    }


def truncated_entries() -> Iterator[dict[str, Any]]:
    choose = random.Random(5150)
    for parameters in TRUNCATED:
        arguments = [None if number is None else float_bits(number) for number in parameters]
        yield truncated_entry(_inputs(arguments, choose))


def merged_entries() -> Iterator[dict[str, Any]]:
    choose = random.Random(5151)
    for eps, breakpoints, sensitivity in MERGED:
        arguments = [[float_bits(e) for e in eps], [float_bits(c) for c in breakpoints], float_bits(sensitivity)]
        yield merged_entry(_inputs(arguments, choose))
