"""`python -m tests.oracles.generate [name ...]`: write the vector files, or only those named."""

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from tests.oracles.generate import (
    bit_generators,
    boundaries,
    calls,
    fills,
    gaussian,
    gaussian_thresholds,
    infinitely_divisible,
    keyed,
    known_answers,
    mechanisms,
    moduli,
    multivariate,
    near_edges,
    partition_selections,
    partitions,
    permute_and_flips,
    refusals,
    releases,
    selections,
    shapes,
    streams,
)
from tests.oracles.generate.encoding import write

FILES: dict[str, Callable[[], Iterable[Any]]] = {
    "stream": streams.entries,
    "bit_generator": bit_generators.entries,
    "shapes": shapes.entries,
    "refused": refusals.entries,
    "release": releases.entries,
    "discrete_gaussian": gaussian.fills,
    "calls": calls.entries,
    "fills": fills.entries,
    "infinitely_divisible": infinitely_divisible.entries,
    "gaussian": gaussian.calibrations,
    "gaussian_sigma": gaussian.sigmas,
    "gaussian_threshold": gaussian_thresholds.entries,
    "keyed": keyed.entries,
    "modulo": moduli.entries,
    "long_vectors": multivariate.long_entries,
    "multivariate": multivariate.entries,
    "near_edges": near_edges.entries,
    "partitions": partitions.entries,
    "partition_selection": partition_selections.entries,
    "permute_and_flip": permute_and_flips.entries,
    "selection": selections.entries,
    "top": permute_and_flips.top_entries,
    "boundaries_geometric": lambda: boundaries.entries(boundaries.geometric_sets(), 14),
    "boundaries_staircase": lambda: boundaries.entries(boundaries.staircase_sets(), 12),
    "boundaries_gaussian": gaussian.boundary_entries,
    **{name: partial(mechanisms.entries, name) for name in mechanisms.oracles()},
}

# The last file is made from the others.
for name in sys.argv[1:] or [*FILES, "known_answers"]:
    if name == "known_answers":
        known_answers.FILE.write_text(known_answers.text(), encoding="utf-8")
    else:
        write(name, FILES[name]())
