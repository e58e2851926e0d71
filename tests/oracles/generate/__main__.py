"""`python -m tests.oracles.generate [name ...]`: write the vector files, or only those named."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

from tests.oracles.generate import boundaries, fills, releases, selections, shapes, streams
from tests.oracles.generate.encoding import write

FILES: dict[str, Callable[[], Iterable[Any]]] = {
    "stream": streams.entries,
    "shapes": shapes.entries,
    "release": releases.entries,
    "fills": fills.entries,
    "selection": selections.entries,
    "boundaries_geometric": lambda: boundaries.entries(boundaries.geometric_sets(), 14),
    "boundaries_staircase": lambda: boundaries.entries(boundaries.staircase_sets(), 12),
}

for name in sys.argv[1:] or FILES:
    write(name, FILES[name]())
