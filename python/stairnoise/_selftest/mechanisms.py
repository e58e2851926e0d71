"""Every mechanism against its distribution: draws, releases, divided budgets, sums of shares, vectors, choices.

The draws are new in every run. The expected probabilities are the formulas of the distributions, which share no code with the
samplers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._selftest.events import LEVELS, Cells, Events, Floats, add_cells, add_pairs, between, cells_of, places
from stairnoise._selftest.report import Outcome, Planned
from stairnoise.mechanisms.exponential_mechanism.mechanism import ExponentialMechanism
from stairnoise.mechanisms.partition_selection.mechanism import PartitionSelection
from stairnoise.mechanisms.permute_and_flip.mechanism import PermuteAndFlip
from stairnoise.mechanisms.staircase_selection.mechanism import StaircaseSelection
from stairnoise.registry import ROWS, Example

SUBJECT = "mechanisms"
VALUES = 2**20
_VECTOR_VALUES = 2**19
_SELECTIONS = 2**21
_COSTS = 2**19
_GROUPS = 2**18
_SHARES = 5
_ARRAY_ROWS = 2**12
# A true answer that is on the lattice of every mechanism.
_ANSWER = 1000


class Divided(NamedTuple):
    """A mechanism that is released to people who change `partitions` values each, and the mechanism of the noise in each
    value.
    """

    mechanism: Any
    partitions: int
    noise: Any


class Choice(NamedTuple):
    """A mechanism that selects, and the costs of its candidates."""

    mechanism: Any
    costs: Floats


# The mechanisms


@cache
def mechanisms() -> tuple[Any, ...]:
    """Return mechanisms of numbers, with parameters that take every way through the samplers."""
    return tuple(mechanism for row in ROWS if row.kind != "vector" for mechanism in row.mechanisms())


def first_mechanisms() -> Iterator[Any]:
    """Return one mechanism of numbers for each mechanism."""
    return (row.make(row.examples[0]) for row in ROWS if row.kind != "vector")


@cache
def vectors() -> tuple[Any, ...]:
    """Return mechanisms of vectors, at least one for each norm."""
    return tuple(mechanism for row in ROWS if row.kind == "vector" for mechanism in row.mechanisms())


@cache
def divided() -> tuple[Divided, ...]:
    """Return mechanisms that ``max_partitions_contributed`` widens."""
    rows = ((row, row.divided) for row in ROWS if row.divided)
    return tuple(Divided(row.make(of.mechanism), of.partitions, row.make(of.noise)) for row, of in rows)


def shared() -> Iterator[Any]:
    """Return mechanisms whose noise several parties add up."""
    return (mechanism for row in ROWS if row.group == "shares" for mechanism in row.mechanisms() if mechanism.n_parties == 1)


@cache
def arrays() -> tuple[tuple[Any, tuple[Any, ...]], ...]:
    """Return mechanisms with arrays of parameters, and the mechanisms of their elements."""
    found = []
    for row in ROWS:
        if row.arrays:
            names, columns = row.arrays.arguments.keys(), row.arrays.arguments.values()
            elements = (Example(dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True))
            found.append((row.make(row.arrays), tuple(map(row.make, elements))))
    return tuple(found)


@cache
def choices() -> tuple[Choice, ...]:
    """Return mechanisms that select, with costs on and beside the edges of stairs."""
    costs = np.array([0.0, 0.25, 0.5, 1.0, 1.5, 1.5, 2.25, 4.0])
    many = np.arange(300) % 37 / 8
    return (
        Choice(StaircaseSelection(1.0, 1.0), costs),
        Choice(StaircaseSelection(2.0, 0.5, 0.25, monotonic=True), costs),
        Choice(StaircaseSelection(0.5, 1.0), many),
        Choice(ExponentialMechanism(1.0, 1.0), costs),
        Choice(ExponentialMechanism(2.0, 0.5, monotonic=True), costs),
        Choice(ExponentialMechanism(0.5, 1.0), many),
        Choice(PermuteAndFlip(1.0, 1.0), costs),
        Choice(PermuteAndFlip(2.0, 0.5, monotonic=True), costs),
        Choice(PermuteAndFlip(0.5, 1.0), many),
    )


def selections() -> Iterator[PartitionSelection]:
    """Return mechanisms that show groups: with few counts whose chances are neither 0 nor 1, with many, with Gaussian noise."""
    yield PartitionSelection(1.0, 1e-3)
    yield PartitionSelection(3.0, 0.25, 2)
    yield PartitionSelection(0.05, 1e-6)
    yield PartitionSelection(1.0, 1e-6, 10)


# The checks


def planned(rng: Any) -> Iterator[Planned]:
    """Return the checks; `rng` makes a child for each."""
    for made in mechanisms():
        yield _plan(made, "values", partial(_check, made, partial(_sampled, made)), rng)
    for made in first_mechanisms():
        yield _plan(made, "releases", partial(_check, made, partial(_released, made, 1)), rng)
    for made, partitions, noise in divided():
        name = f"releases, max_partitions_contributed={partitions}"
        yield _plan(made, name, partial(_check, noise, partial(_released, made, partitions)), rng)
    for made in shared():
        yield _plan(made, f"sums of {_SHARES} shares", partial(_check, made, partial(_sum_of_shares, made)), rng)
    for made, elements in arrays():
        yield _plan(made, "as its elements", partial(_check_array, made, elements), rng)
    for made in vectors():
        yield _plan(made, "norms, directions", partial(_check_vectors, made, _sampled_vectors), rng)
        yield _plan(made, "norms, directions of releases", partial(_check_vectors, made, _released_vectors), rng)
    for mechanism, costs in choices():
        yield _plan(mechanism, f"{costs.size} candidates", partial(_check_choice, mechanism, costs), rng)
        yield _plan(mechanism, f"{costs.size} candidates, many rows", partial(_check_rows, mechanism, costs), rng)
    for groups in selections():
        yield _plan(groups, "groups shown", partial(_check_shown, groups), rng)
        yield _plan(groups, "released counts", partial(_check_counts, groups), rng)


def _plan(mechanism: Any, name: str, run: Callable[[Any], Outcome], rng: Any) -> Planned:
    return Planned(SUBJECT, f"{short(mechanism)}: {name}", lambda: run(rng.spawn(1)[0]))


def _sampled(mechanism: Any, rng: Any) -> NDArray[Any]:
    values: NDArray[Any] = mechanism.sample(VALUES, rng=rng)
    return values


def _released(mechanism: Any, partitions: int, rng: Any) -> NDArray[Any]:
    """Return the noise in released answers."""
    answers = np.full(VALUES, _ANSWER)
    released: NDArray[Any] = mechanism.release(answers, max_partitions_contributed=partitions, rng=rng) - _ANSWER
    return released


def _sum_of_shares(mechanism: Any, rng: Any) -> NDArray[Any]:
    total: NDArray[Any] = mechanism.share(_SHARES).sample((_SHARES, VALUES), rng=rng).sum(axis=0)
    return total


def _check(mechanism: Any, draw: Callable[[Any], NDArray[Any]], rng: Any) -> Outcome:
    values = draw(rng)
    events = Events()
    cells = cells_of(mechanism)
    where = places(cells, values)
    add_cells(events, cells, where)
    add_pairs(events, cells, where)
    _add_support(events, mechanism, values)
    return events.outcome(values.size)


def _add_support(events: Events, mechanism: Any, values: NDArray[Any]) -> None:
    step, (low, high) = float(mechanism.granularity), mechanism.support()
    events.never(f"no multiple of {step:g}", int((np.rint(values / step) * step != values).sum()))
    # The bounds of a mechanism are rounded to its lattice.
    events.never(f"outside of {low:g} to {high:g}", int(((values < low - step) | (values > high + step)).sum()))


def _check_array(mechanism: Any, elements: tuple[Any, ...], rng: Any) -> Outcome:
    """Compare a mechanism that has arrays of parameters with its elements.

    A value depends on its place in the fill and on its own parameters. So a mechanism of the same parameters for all values draws
    the same value in that place.
    """
    size = (_ARRAY_ROWS, len(elements))
    # Each view of `rng` draws the same fill.
    found = mechanism.sample(size, rng=rng.at(0))
    wrong = [
        repr(element)
        for place, element in enumerate(elements)
        if element.sample(size, rng=rng.at(0))[:, place].tobytes() != found[:, place].tobytes()
    ]
    return Outcome(found.size, "mismatches", len(wrong), 0, 0.0, ", ".join(wrong))


# Vectors


def _sampled_vectors(mechanism: Any, rng: Any) -> Floats:
    noise: Floats = mechanism.sample(_VECTOR_VALUES // mechanism.dim, rng=rng)
    return noise


def _released_vectors(mechanism: Any, rng: Any) -> Floats:
    answers = np.full((_VECTOR_VALUES // mechanism.dim, mechanism.dim), _ANSWER)
    noise: Floats = mechanism.release(answers, rng=rng) - _ANSWER
    return noise


def _check_vectors(mechanism: Any, draw: Callable[[Any, Any], Floats], rng: Any) -> Outcome:
    vectors = draw(mechanism, rng)
    events = Events()
    step = mechanism.granularity
    events.never(f"no multiple of {step:g}", int((np.rint(vectors / step) * step != vectors).sum()))
    norm = _norms(vectors, mechanism.norm)
    radius = _radius_cells(mechanism)
    where = places(radius, norm)
    add_cells(events, radius, where)
    add_pairs(events, radius, where)
    share = _share_cells(mechanism)
    for axis in range(mechanism.dim):
        # A vector of zeros, which has probability below 2**-32, has no direction.
        part = np.abs(vectors[:, axis]) / np.where(norm > 0, norm, 1)
        directions = places(share, part)
        add_cells(events, share, directions)
        _add_independence(events, radius, share, where, directions)
    orthants = (vectors < 0) @ (1 << np.arange(mechanism.dim))
    counts = np.bincount(orthants, minlength=2**mechanism.dim)
    events.add(lambda i: f"signs of orthant {i}", counts, norm.size, np.full(2**mechanism.dim, 0.5**mechanism.dim))
    return events.outcome(vectors.size)


def _norms(vectors: Floats, norm: str) -> Floats:
    if norm == "l2":
        return np.asarray(np.sqrt((vectors**2).sum(axis=1)))
    magnitudes = np.abs(vectors)
    return np.asarray(magnitudes.sum(axis=1) if norm == "l1" else magnitudes.max(axis=1))


def _radius_cells(mechanism: Any) -> Cells:
    edges = np.unique(mechanism.norm_ppf(LEVELS))
    return Cells("norm", edges, between(mechanism.norm_cdf(edges), mechanism.norm_sf(edges)))


def _share_cells(mechanism: Any) -> Cells:
    """Return cells of |x₁|/‖x‖. The probability of a set of directions is its share of the ball's volume."""
    edges = np.arange(1, 32) / 32
    return Cells("share of the norm", edges, np.diff(share_cdf(mechanism.norm, mechanism.dim, edges), prepend=0.0, append=1.0))


def share_cdf(norm: str, dim: int, t: Floats) -> Floats:
    """Return P(|x₁| ≤ t·‖x‖) for t < 1 under the cone measure on the sphere of a norm, in 2 or 3 dimensions.

    "l1": (|x₁|, …) is Dirichlet(1, …, 1). "l2": arc length in 2 dimensions, Archimedes' theorem in 3. "linf": with
    probability 1/dim the first coordinate has the norm; otherwise |x₁|/‖x‖ is uniform.
    """
    if norm == "l1":
        return np.asarray(1 - (1 - t) ** (dim - 1))
    if norm == "linf":
        return np.asarray(t * (dim - 1) / dim)
    return np.asarray(2 / math.pi * np.arcsin(t) if dim == 2 else t)


def _add_independence(
    events: Events, radius: Cells, share: Cells, places: NDArray[np.int64], directions: NDArray[np.int64]
) -> None:
    """Add that norm and direction are independent: whether one is above its median says nothing about the other."""
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
    """Select from many rows. Each row has the costs of the one before, rotated by one place."""
    rows = _COSTS // costs.size
    turned = costs[(np.arange(costs.size) + np.arange(rows)[:, None]) % costs.size]
    selected = mechanism.select(turned, rng=rng)
    original = (selected + np.arange(rows)) % costs.size
    return _compare_selected(original, mechanism.probabilities(costs), rows)


def _compare_selected(selected: NDArray[np.int64], probabilities: Floats, total: int) -> Outcome:
    events = Events()
    outside = (selected < 0) | (selected >= probabilities.size)
    events.never("no candidate", int(outside.sum()))
    # From the likeliest to the rarest candidate, so that a half-line is a set of low costs.
    order = np.argsort(-probabilities, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    edges = np.arange(order.size - 1, dtype=np.float64) + 0.5
    where = Cells("rank of the cost", edges, probabilities[order])
    chosen = rank[np.clip(selected, 0, order.size - 1)]
    add_cells(events, where, chosen)
    add_pairs(events, where, chosen)
    return events.outcome(total)


# Names


# Groups


def _check_shown(mechanism: PartitionSelection, rng: Any) -> Outcome:
    """Compare how often a group of each size is shown; of nobody never, and always from some size on if there is one."""
    most = _largest(mechanism) + 1
    rows = _GROUPS // most
    shown = mechanism.select(np.tile(np.arange(most), (rows, 1)), rng=rng)
    events = Events()
    events.never("a group of nobody is shown", int(shown[:, 0].sum()))
    if mechanism.always_shown is not None:
        events.never(f"a group of {most - 1} is not shown", int((~shown[:, -1]).sum()))
    sizes = np.arange(1, most - 1)
    events.add(lambda i: f"a group of {sizes[i]}", shown[:, 1:-1].sum(axis=0), rows, mechanism.probability(sizes))
    return events.outcome(shown.size)


def _largest(mechanism: PartitionSelection) -> int:
    """Return a number of people who are always shown, or nearly."""
    return 2 * mechanism.threshold if mechanism.always_shown is None else mechanism.always_shown


def _check_counts(mechanism: PartitionSelection, rng: Any) -> Outcome:
    """Compare the noise of large counts with the steps of the chances of being shown, and the values of small ones."""
    count, most = 10**6, _largest(mechanism)
    shown, values = mechanism.release(np.full(_GROUPS, count), rng=rng)
    events = Events()
    needed = count + mechanism.threshold - values
    events.never("a large group is not shown", int((~shown).sum()))
    if mechanism.always_shown is not None:
        events.never(
            f"a noise outside of {mechanism.threshold - most} to {mechanism.threshold - 1}",
            int(((needed < 1) | (needed > most)).sum()),
        )
    # What is beyond either end is in the last interval there.
    chances = np.diff([*mechanism.probability(np.arange(most)), 1.0])
    cells = Cells("count that is shown", np.arange(most - 1, dtype=np.float64) + 1.5, chances)
    where = np.clip(needed, 1, most) - 1
    add_cells(events, cells, where)
    add_pairs(events, cells, where)
    small, noisy = mechanism.release(np.arange(_GROUPS) % most, rng=rng)
    events.never("a value of a group that is not shown", int((noisy[~small] != 0).sum()))
    events.never(f"a value below {mechanism.threshold}", int((noisy[small] < mechanism.threshold).sum()))
    return events.outcome(2 * _GROUPS)


def short(mechanism: Any) -> str:
    """Return the mechanism's text without the arguments that have their default values."""
    defaults = {name: parameter.default for name, parameter in signature(type(mechanism)).parameters.items()}
    arguments = ((name, _plain(value), defaults[name]) for name, value in mechanism._named_arguments().items())
    given = (f"{name}={_text(value)}" for name, value, default in arguments if value != default)
    return f"{type(mechanism).__name__}({', '.join(given)})"


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _text(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_text, value))}]"
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)
