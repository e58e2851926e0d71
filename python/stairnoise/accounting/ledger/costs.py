"""What a release costs, and what all releases of a ledger cost together."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from operator import add
from typing import Any, NamedTuple

from stairnoise._digits import as_typed
from stairnoise._errors import LedgerError, ParameterError, received
from stairnoise._parameters import refuse, refuse_type, single
from stairnoise.accounting.privacy_loss import PrivacyLoss
from stairnoise.mechanism.guarantee import NAME, Guarantee, partitions
from stairnoise.mechanism.selection import SelectionMechanism
from stairnoise.mechanism.shares import Shares
from stairnoise.mechanisms.partition_selection.mechanism import PartitionSelection
from stairnoise.numerics.rounding import rounded_up
from stairnoise.registry import ROWS

# What is counted by its ε and δ alone, and draws nothing by key.
_PROMISES = (Guarantee, PartitionSelection, SelectionMechanism)
_CLASSES = {row.class_name: row for row in ROWS}
# Profiles are sums of float64 in positive arithmetic, whose relative error stays far below this allowance.
_ROUNDING = 2.0**-30
# Class methods, other than the class itself, that make a mechanism of a ledger file again.
_MAKERS = ("_calibrated", "_of_noise")
_UNREADABLE = "the ledger holds a mechanism that this version of stairnoise cannot read"


class Cost(NamedTuple):
    """What one release costs, in the form that the file keeps."""

    mechanism: str
    """The mechanism as text."""
    exact: str | None
    """JSON from which `_made` makes it again, with its exact parameters; None if only ε and δ count. Of several: their costs."""
    sensitivity: float | int | None
    """The sensitivity that the caller named; None for the mechanism's own."""
    l2_sensitivity: float | None
    """The l2 norm of the change of all values together that the caller named, instead of a sensitivity."""
    partitions: int
    eps: float | None
    delta: float | None


def cost_of(mechanism: Any, k: object, sensitivity: Any = None, l2_sensitivity: Any = None) -> Cost:
    """Return the cost of a release in which one person changes `k` values, or any number by at most `l2_sensitivity`."""
    number = partitions(k, NAME)
    if l2_sensitivity is not None:
        return _of_vector(mechanism, number, sensitivity, l2_sensitivity)
    if isinstance(mechanism, _PROMISES):
        return _of_promise(mechanism, number, sensitivity)
    promises = callable(getattr(type(mechanism), "guarantee", None))
    refuse_type("mechanism", mechanism, promises, "a mechanism, a Guarantee or a list of them")
    if getattr(mechanism, "_parameter_shape", ()):
        raise ParameterError(f"mechanism must have scalar parameters: spend one mechanism for each, got {received(mechanism)}")
    promise = mechanism.guarantee(sensitivity, max_partitions_contributed=number)
    eps = promise.eps
    if isinstance(mechanism, Shares) and eps != getattr(mechanism, "eps", None):
        eps = rounded_up(Fraction(eps) * (1 + mechanism._eps_error))
    exact = _written(mechanism) if callable(getattr(type(mechanism), "_loss", None)) else None
    given = None if sensitivity is None else promise.sensitivity
    return Cost(repr(mechanism), exact, given, None, number, *_checked(mechanism, eps, promise.delta, exact))


def joint(costs: Sequence[Cost], eps: float, delta: float) -> Cost:
    """Return the cost of one release that draws with several mechanisms, which cost at most (ε, δ) together."""
    if len(costs) == 1:
        return costs[0]
    text, k = "; ".join(cost.mechanism for cost in costs), sum(cost.partitions for cost in costs)
    return Cost(text, json.dumps(costs), None, None, k, eps, delta)


def _parts(cost: Cost) -> list[Cost]:
    """Return the costs of the mechanisms of one release."""
    if cost.exact is None or not cost.exact.startswith("["):
        return [cost]
    try:
        parts = [Cost(*part) for part in json.loads(cost.exact)]
    except (ValueError, TypeError, RecursionError):
        parts = []
    if not parts or not all(map(is_cost, parts)):
        raise LedgerError(_UNREADABLE)
    return parts


def is_cost(cost: Cost) -> bool:
    """Return whether every field has its type and range."""
    given = (cost.sensitivity, cost.l2_sensitivity)
    changes = all(one is None or (type(one) in (int, float) and 0 < one < math.inf) for one in given)
    numbers = all(one is None or (type(one) is float and 0 <= one < math.inf) for one in (cost.eps, cost.delta))
    texts = type(cost.mechanism) is str and (cost.exact is None or type(cost.exact) is str)
    return texts and changes and numbers and type(cost.partitions) is int and cost.partitions > 0


def is_drawn_by_key(mechanism: object) -> bool:
    """Return whether a KeyedRng can draw the noise, so that a repetition is the same noise."""
    return not isinstance(mechanism, _PROMISES)


def _of_promise(mechanism: Any, k: int, sensitivity: Any) -> Cost:
    """Return the cost of a guarantee, of a partition selection, or of `k` selections."""
    refuse("sensitivity", sensitivity, sensitivity is None, f"left out for {received(mechanism)}")
    if isinstance(mechanism, SelectionMechanism):
        return Cost(repr(mechanism), None, None, None, k, float(as_typed(mechanism.eps) * k), 0.0)
    refuse(NAME, k, k == 1, f"1 for a {type(mechanism).__name__}, which covers its own partitions")
    promise = mechanism if isinstance(mechanism, Guarantee) else mechanism.guarantee()
    return Cost(repr(mechanism), None, None, None, promise.partitions, *_checked(mechanism, promise.eps, promise.delta, None))


def _of_vector(mechanism: Any, k: int, sensitivity: Any, l2_sensitivity: Any) -> Cost:
    """Return the cost of integers that change together by at most `l2_sensitivity`, as `DiscreteGaussian.release` takes it."""
    norm = single(l2_sensitivity, "l2_sensitivity")
    if sensitivity is not None or k != 1:
        raise ParameterError(
            f"sensitivity and {NAME} must be left out beside l2_sensitivity, got {received(sensitivity)} and {k}"
        )
    _loss_of_vector(mechanism, norm)  # raises if there is no such loss
    return Cost(repr(mechanism), _written(mechanism), None, norm, 1, None, None)


def _loss_of_vector(mechanism: Any, norm: float) -> PrivacyLoss[float]:
    if not callable(getattr(type(mechanism), "_loss_of_vector", None)):
        raise ParameterError(
            f"l2_sensitivity must be left out for {received(mechanism)}: only DiscreteGaussian(sigma2) takes it, got {norm}"
        )
    return PrivacyLoss._of(((mechanism._loss_of_vector(norm), 1),), (f"{mechanism!r} at an l2 sensitivity of {norm}",))


def _checked(mechanism: object, eps: Any, delta: Any, exact: str | None) -> tuple[float | None, float | None]:
    if eps is None:
        if exact is None:
            raise ParameterError(f"mechanism must have an eps to be counted by, got {received(mechanism)}")
        return None, None
    if not (isinstance(eps, float) and 0 <= eps < math.inf) or not (isinstance(delta, float) and 0 <= delta <= 1):
        raise ParameterError(f"mechanism must guarantee one finite eps, and a delta from 0 to 1, got {received(mechanism)}")
    return eps, delta


@lru_cache(maxsize=16)
def total(costs: tuple[tuple[Cost, int], ...], delta: float, composed: bool) -> float:
    """Return an ε for which all releases together are (ε, δ)-differentially private, as `as_typed`; inf if there is none.

    `costs` are different costs, and how many releases had each. The total is the ε and the δ of all releases added up. With
    `composed` it may also be the composed loss of those whose loss can be composed, with the ε and δ of the others added.
    """
    bound = _added(costs, delta)
    if not composed:
        return float(bound)
    losses, others = [], []
    for cost, times in [(part, times) for whole, times in costs for part in _parts(whole)]:
        try:
            loss = _loss(cost.exact, cost.partitions, cost.sensitivity, cost.l2_sensitivity)
            losses.append(loss.compose(times))
        except ParameterError:
            others.append((cost, times))
    left = as_typed(delta) - sum((times * as_typed(cost.delta or 0.0) for cost, times in others), Fraction(0))
    if losses and left >= 0 and (rest := _added(others, delta)) < math.inf:
        bound = min(bound, _composed(losses, max(0.0, float(left) * (1 - _ROUNDING))) + rest)
    return float(bound)


def _added(costs: Sequence[tuple[Cost, int]], delta: float) -> Fraction | float:
    """Return the sum of all ε as typed, or inf if an ε is unknown or the δ add up to more than `delta`."""
    eps = deltas = Fraction(0)
    for cost, times in costs:
        if cost.eps is None or cost.delta is None:
            return math.inf
        eps += times * as_typed(cost.eps)
        deltas += times * as_typed(cost.delta)
    return eps if deltas <= as_typed(delta) else math.inf


def _composed(losses: list[Any], delta: float) -> Fraction | float:
    """Return the ε of all losses together, or inf if they cannot be composed or no ε suffices."""
    try:
        eps = reduce(add, losses).eps_for_delta(delta)
    except ParameterError:
        return math.inf
    return as_typed(eps) if eps < math.inf else math.inf


@lru_cache(maxsize=256)
def _loss(exact: str | None, k: int, sensitivity: Any, l2_sensitivity: Any) -> Any:
    """Return the loss of one release; raise a ParameterError if only its ε and δ are known."""
    if exact is None:
        raise ParameterError("mechanism must have a privacy loss")
    mechanism = _made(exact)
    if l2_sensitivity is not None:
        return _loss_of_vector(mechanism, l2_sensitivity)
    promise = mechanism.guarantee(sensitivity, max_partitions_contributed=k)
    try:
        mechanism = mechanism.for_partitions(k)
    except ParameterError:
        # The mechanisms of shares release k values with the noise of one, and take no sensitivity that would divide it.
        if hasattr(mechanism, "eps"):
            raise
    return mechanism.privacy_loss(sensitivity=sensitivity).compose(promise.partitions)


def _written(mechanism: Any) -> str:
    """Write a mechanism down as numbers and words; unlike a pickle, these run no code when they are read."""
    maker, arguments = mechanism._made_by()
    by = "" if maker is type(mechanism) else maker.__name__
    written = {"mechanism": type(mechanism).__name__, "by": by, "arguments": arguments, "exact": mechanism._exact_parameters()}
    return json.dumps(written)


def _made(exact: str) -> Any:
    """Make a mechanism again from what `_written` returned."""
    try:
        written = json.loads(exact)
        kind = _CLASSES[written["mechanism"]].load()
        made_by = {"": kind, **{name: getattr(kind, name, None) for name in _MAKERS}}[written["by"]]
        mechanism = made_by(*written["arguments"])
        same = json.loads(_written(mechanism)) == written
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
        same = False
    if not same:
        raise LedgerError(_UNREADABLE)
    return mechanism
