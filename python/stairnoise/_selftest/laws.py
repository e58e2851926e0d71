"""Every mechanism against its law: draws, releases, divided budgets, sums of shares, vectors, choices.

The draws are fresh in every run; what is expected are the laws' formulas, which are other code than the samplers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._selftest import cells, mechanisms
from stairnoise._selftest.events import Events, Floats
from stairnoise._selftest.report import Outcome, Planned

SUBJECT = "laws"
VALUES = 2**20
_VECTOR_VALUES = 2**19
_SELECTIONS = 2**21
_COSTS = 2**19
_SHARES = 5
_ARRAY_ROWS = 2**12
# A true answer on the lattice of every law above.
_ANSWER = 1000


def planned(rng: Any) -> Iterator[Planned]:
    """Return the checks; `rng` makes a child for each."""
    for law in mechanisms.laws():
        yield _plan(law, "values", partial(_check, law, partial(_sampled, law)), rng)
    for law in _one_of_each(mechanisms.laws()):
        yield _plan(law, "releases", partial(_check, law, partial(_released, law, 1)), rng)
    for law, partitions, noise in mechanisms.divided():
        name = f"releases, max_partitions_contributed={partitions}"
        yield _plan(law, name, partial(_check, noise, partial(_released, law, partitions)), rng)
    for law in mechanisms.laws():
        if hasattr(law, "share") and law.n_parties == 1:
            yield _plan(law, f"sums of {_SHARES} shares", partial(_check, law, partial(_sum_of_shares, law)), rng)
    for law, elements in mechanisms.arrays():
        yield _plan(law, "as its elements", partial(_check_array, law, elements), rng)
    for law in mechanisms.vectors():
        yield _plan(law, "norms, directions", partial(_check_vectors, law, _sampled_vectors), rng)
        yield _plan(law, "norms, directions of releases", partial(_check_vectors, law, _released_vectors), rng)
    for mechanism, costs in mechanisms.choices():
        yield _plan(mechanism, f"{costs.size} candidates", partial(_check_choice, mechanism, costs), rng)
        yield _plan(mechanism, f"{costs.size} candidates, many rows", partial(_check_rows, mechanism, costs), rng)


def _plan(law: Any, name: str, run: Callable[[Any], Outcome], rng: Any) -> Planned:
    return Planned(SUBJECT, f"{mechanisms.short(law)}: {name}", lambda: run(rng.spawn(1)[0]))


def _one_of_each(laws: tuple[Any, ...]) -> list[Any]:
    return list({type(law): law for law in reversed(laws)}.values())[::-1]


def _sampled(law: Any, rng: Any) -> NDArray[Any]:
    values: NDArray[Any] = law.sample(VALUES, rng=rng)
    return values


def _released(law: Any, partitions: int, rng: Any) -> NDArray[Any]:
    """Noise of released answers."""
    answers = np.full(VALUES, _ANSWER)
    released: NDArray[Any] = law.release(answers, max_partitions_contributed=partitions, rng=rng) - _ANSWER
    return released


def _sum_of_shares(law: Any, rng: Any) -> NDArray[Any]:
    total: NDArray[Any] = law.share(_SHARES).sample((_SHARES, VALUES), rng=rng).sum(axis=0)
    return total


def _check(law: Any, draw: Callable[[Any], NDArray[Any]], rng: Any) -> Outcome:
    values = draw(rng)
    events = Events()
    where = cells.cells_of(law)
    places = cells.places(where, values)
    cells.add_cells(events, where, places)
    cells.add_pairs(events, where, places)
    _add_support(events, law, values)
    return events.outcome(values.size)


def _add_support(events: Events, law: Any, values: NDArray[Any]) -> None:
    step, (low, high) = float(law.granularity), law.support()
    events.never(f"no multiple of {step:g}", int((np.rint(values / step) * step != values).sum()))
    # The ends of a law on a lattice are rounded to it.
    events.never(f"outside of {low:g} to {high:g}", int(((values < low - step) | (values > high + step)).sum()))


def _check_array(law: Any, elements: tuple[Any, ...], rng: Any) -> Outcome:
    """Compare a law with arrays of parameters with its elements: a value depends on its place and its own parameters only."""
    size = (_ARRAY_ROWS, len(elements))
    # Views of one fill, which is not drawn from otherwise.
    found = law.sample(size, rng=rng.at(0))
    wrong = [
        repr(element)
        for place, element in enumerate(elements)
        if element.sample(size, rng=rng.at(0))[:, place].tobytes() != found[:, place].tobytes()
    ]
    return Outcome(found.size, "mismatches", len(wrong), 0, 0.0, ", ".join(wrong))


# Vectors


def _sampled_vectors(law: Any, rng: Any) -> Floats:
    vectors: Floats = law.sample(_VECTOR_VALUES // law.dim, rng=rng)
    return vectors


def _released_vectors(law: Any, rng: Any) -> Floats:
    answers = np.full((_VECTOR_VALUES // law.dim, law.dim), _ANSWER)
    noise: Floats = law.release(answers, rng=rng) - _ANSWER
    return noise


def _check_vectors(law: Any, draw: Callable[[Any, Any], Floats], rng: Any) -> Outcome:
    vectors = draw(law, rng)
    events = Events()
    step = law.granularity
    events.never(f"no multiple of {step:g}", int((np.rint(vectors / step) * step != vectors).sum()))
    norm = _norms(vectors, law.norm)
    radius = _radius_cells(law)
    places = cells.places(radius, norm)
    cells.add_cells(events, radius, places)
    cells.add_pairs(events, radius, places)
    share = _share_cells(law)
    for axis in range(law.dim):
        # A vector of zeros, which has probability below 2**-32, has no direction.
        part = np.abs(vectors[:, axis]) / np.where(norm > 0, norm, 1)
        directions = cells.places(share, part)
        cells.add_cells(events, share, directions)
        _add_independence(events, radius, share, places, directions)
    orthants = (vectors < 0) @ (1 << np.arange(law.dim))
    counts = np.bincount(orthants, minlength=2**law.dim)
    events.add(lambda i: f"signs of orthant {i}", counts, norm.size, np.full(2**law.dim, 0.5**law.dim))
    return events.outcome(vectors.size)


def _norms(vectors: Floats, norm: str) -> Floats:
    if norm == "l2":
        return np.asarray(np.sqrt((vectors**2).sum(axis=1)))
    magnitudes = np.abs(vectors)
    return np.asarray(magnitudes.sum(axis=1) if norm == "l1" else magnitudes.max(axis=1))


def _radius_cells(law: Any) -> cells.Cells:
    edges = np.unique(law.norm_ppf(cells.LEVELS))
    return cells.Cells("norm", edges, cells.between(law.norm_cdf(edges), law.norm_sf(edges)))


def _share_cells(law: Any) -> cells.Cells:
    """Cells of |x₁|/‖x‖ on the sphere of the norm, a direction being as likely as its part of the ball."""
    edges = np.arange(1, 32) / 32
    return cells.Cells("share of the norm", edges, np.diff(share_cdf(law.norm, law.dim, edges), prepend=0.0, append=1.0))


def share_cdf(norm: str, dim: int, t: Floats) -> Floats:
    """P(|x₁| ≤ t·‖x‖) for t < 1, of the cone measure on the sphere of a norm, in 2 dimensions or 3.

    "l1": (|x₁|, …) is Dirichlet(1, …, 1). "l2": arc length, and Archimedes' theorem. "linf": in one case of `dim` it is
    the first coordinate that has the norm, and otherwise uniform.
    """
    if norm == "l1":
        return np.asarray(1 - (1 - t) ** (dim - 1))
    if norm == "linf":
        return np.asarray(t * (dim - 1) / dim)
    return np.asarray(2 / math.pi * np.arcsin(t) if dim == 2 else t)


def _add_independence(
    events: Events, radius: cells.Cells, share: cells.Cells, places: NDArray[np.int64], directions: NDArray[np.int64]
) -> None:
    """Add that norm and direction are independent: each above its median cell, or not."""
    far, along = radius.probabilities.size // 2, share.probabilities.size // 2
    p, q = radius.probabilities[far:].sum(), share.probabilities[along:].sum()
    joint = np.bincount(2 * (places >= far) + (directions >= along), minlength=4)
    names = ("small norm, small share", "small norm, large share", "large norm, small share", "large norm, large share")
    events.add(lambda i: names[i], joint, places.size, np.outer([1 - p, p], [1 - q, q]))


# Choices


def _check_choice(mechanism: Any, costs: Floats, rng: Any) -> Outcome:
    selected = mechanism.select(costs, _SELECTIONS, rng=rng)
    return _compare_selected(selected, mechanism.probabilities(costs), _SELECTIONS)


def _check_rows(mechanism: Any, costs: Floats, rng: Any) -> Outcome:
    """Rows that are all different: the costs, each time turned by one."""
    rows = _COSTS // costs.size
    turned = costs[(np.arange(costs.size) + np.arange(rows)[:, None]) % costs.size]
    selected = mechanism.select(turned, rng=rng)
    original = (selected + np.arange(rows)) % costs.size
    return _compare_selected(original, mechanism.probabilities(costs), rows)


def _compare_selected(selected: NDArray[np.int64], probabilities: Floats, total: int) -> Outcome:
    events = Events()
    outside = (selected < 0) | (selected >= probabilities.size)
    events.never("no candidate", int(outside.sum()))
    # From the likeliest to the rarest, so that half-lines are sets of low costs.
    order = np.argsort(-probabilities, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    edges = np.arange(order.size - 1, dtype=np.float64) + 0.5
    where = cells.Cells("rank of the cost", edges, probabilities[order])
    chosen = rank[np.clip(selected, 0, order.size - 1)]
    cells.add_cells(events, where, chosen)
    cells.add_pairs(events, where, chosen)
    return events.outcome(total)
