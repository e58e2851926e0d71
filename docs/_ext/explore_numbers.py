"""The numbers of the page Explore: the result of `compare` for each setting, computed when the site is built.

Results are kept until a source of the library or this file changes.
"""

import json
import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import library
import numpy as np

import stairnoise as sn
from stairnoise.registry import ROWS

EPS = (0.1, 0.25, 0.5, 1, 2, 4)
SENSITIVITY = (1, 5, 10)
DELTA = (None, 1e-9, 1e-6)
RELEASES = (1, 7, 30)
_KINDS = {"real": "continuous", "integer": "discrete"}
KINDS = tuple(_KINDS)

# The picture's size, in SVG units.
WIDTH, HEIGHT = 640, 240
_FLAT = 0.25
CURVES = 3


def mechanisms(kind: str, sensitivity: float, delta: float | None) -> tuple[str, ...]:
    """Return the mechanisms that a setting compares: those that `compare` shows by default."""
    with_delta = () if delta is None else ("delta",)
    rows = [row for row in ROWS if row.kind == _KINDS[kind] and {one.when for one in row.compared} & {"always", *with_delta}]
    return tuple(row.class_name for row in rows if row.class_name != "DiscreteCanonical" or sensitivity == 1)


def key(kind: str, eps: float, sensitivity: float, delta: float | None, releases: int) -> str:
    """Return a setting's name in the JSON, which explore.js makes from the controls."""
    return f"{kind} {eps} {sensitivity} {delta or 0} {releases}"


def views(eps: float, delta: float | None, releases: int) -> dict[str, Any]:
    """Return the numbers and curves that the page shows for every kind and sensitivity.

    Noise for real numbers is computed at sensitivity 1 and multiplied by the sensitivity, its only scale.
    """
    found = {}
    for kind in KINDS:
        for sensitivity in SENSITIVITY:
            if kind == "integer" or sensitivity == 1:
                names = mechanisms(kind, sensitivity, delta)
                table = sn.compare(eps, sensitivity, delta=delta, releases=releases, mechanisms=names)
            found[key(kind, eps, sensitivity, delta, releases)] = _view(table, sensitivity / table_scale(kind, sensitivity))
    return found


def table_scale(kind: str, sensitivity: float) -> float:
    """Return the sensitivity at which the table of a setting is computed."""
    return sensitivity if kind == "integer" else 1


def _view(table: sn.Comparison, scale: float) -> dict[str, Any]:
    drawn = _drawn(table)
    # The picture shows most of the noise of its widest curve, and two of the staircase's edges.
    widest = max(1.3 * max(table[name].bound_95 for name in drawn), 1.5 * table[0].mechanism.sensitivity)
    limit = _axis(widest * scale)
    heights = {name: _heights(table[name].mechanism, limit / scale) for name in drawn}
    # A density is divided by the scale of the noise.
    per = 1 if hasattr(table[0].mechanism, "pmf") else scale
    top = _axis(max(line.max() for line in heights.values()) / per)
    rows = []
    for row in table:
        numbers = (row.mean_abs * scale, row.std * scale, row.bound_95 * scale, row.p_zero, row.ratio)
        rows.append([row.name, *(None if number is None else float(f"{number:.4g}") for number in numbers)])
    return {
        "rows": rows,
        "says": table.recommendation,
        "notes": " ".join(f"{note}." for note in table.notes),
        "limit": limit,
        "top": top,
        "curves": {name: _half(line / per / top) for name, line in heights.items()},
    }


def _axis(end: float) -> float:
    """Return a number near `end`, and not below it, whose quarters are short."""
    power = 10 ** math.floor(math.log10(end))
    return next(float(f"{power * nice:.4g}") for nice in (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10) if power * nice >= end)


def _drawn(table: sn.Comparison) -> list[str]:
    """Return the mechanisms of the picture: the one with the smallest error, then well-known ones."""
    well_known = ("Laplace", "DiscreteLaplace", "Gaussian", "DiscreteGaussian")
    rest = [row.name for row in table[1:] if row.name in well_known]
    rest += [row.name for row in table[1:] if row.name not in well_known]
    return [table[0].name, *rest][:CURVES]


def _heights(mechanism: Any, limit: float) -> Any:
    """Return density or probabilities at every unit of the picture from the middle to the right."""
    x = np.linspace(0, limit, WIDTH // 2 + 1)
    return mechanism.pdf(x) if hasattr(mechanism, "pdf") else mechanism.pmf(np.floor(x + 0.5))


def _half(heights: Any) -> str:
    """Return a curve's right half, from its middle, with only the points that the eye sees: "x y x y …"."""
    return " ".join(f"{x} {round(y, 1):g}" for x, y in _few([(i, HEIGHT * (1 - float(y))) for i, y in enumerate(heights)]))


def _few(points: Sequence[tuple[int, float]]) -> Iterator[tuple[int, float]]:
    """Yield the points that are not nearly on the line between their neighbours (Douglas and Peucker)."""
    if len(points) < 3:
        yield from points
        return
    (x0, y0), (x1, y1) = points[0], points[-1]
    off = [abs(y - y0 - (y1 - y0) * (x - x0) / (x1 - x0)) for x, y in points]
    worst = max(range(len(points)), key=off.__getitem__)
    if off[worst] < _FLAT:
        yield from (points[0], points[-1])
        return
    *left, _ = _few(points[: worst + 1])
    yield from left
    yield from _few(points[worst:])


def numbers(kept: Path) -> dict[str, Any]:
    """Return the views of all settings, from the folder `kept`; compute and keep them there if they are missing."""
    path = kept / f"{library.digest(Path(__file__).read_text(encoding='utf-8'))}.json"
    if not path.exists():
        settings = [(eps, delta, releases) for releases in RELEASES[::-1] for eps in EPS for delta in DELTA]
        workers = min(2, os.cpu_count() or 1)
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            parts = list(pool.map(views, *zip(*settings, strict=True)))
        kept.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({name: view for part in parts for name, view in part.items()}), encoding="utf-8")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
