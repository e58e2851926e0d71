"""The rows of a comparison: errors of a number, of a vector in its norm, or of a choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from stairnoise._candidates import CANDIDATES, Candidate, Setting
from stairnoise._errors import ParameterError
from stairnoise._types import Floats
from stairnoise.calibration import MOMENT, Target, calibrated, line
from stairnoise.mechanism.distribution import root_moment
from stairnoise.numerics.roots import bisection
from stairnoise.registry import BY_NAME, SELECTIONS, Row, load, load_selection

_ALPHA = 0.05


class ComparisonRow(NamedTuple):
    """The error of one mechanism."""

    name: str
    """Name of the class; for a staircase also the cost that its shape minimises."""
    mechanism: Any
    """The mechanism itself."""
    mean_abs: float
    """E|X|, the expected error; for a vector the expected norm, for a choice the expected cost above the least."""
    std: float
    """Square root of E X²: the standard deviation."""
    bound_95: float
    """Smallest t with P(|X| > t) <= 0.05; an integer for a discrete mechanism."""
    p_zero: float | None
    """P(X = 0), the probability of no error; None for a continuous mechanism."""
    ratio: float
    """E|X| (cost "l1") or E X² ("l2"), divided by the same cost of Laplace noise of the same kind, or of the
    exponential mechanism; NaN if there is no such cost, or if it is 0 in float64."""


def of_numbers(setting: Setting, candidates: Sequence[Candidate], p: int) -> tuple[list[ComparisonRow], list[str]]:
    """Return a row for every mechanism that accepts the parameters, and notes about the others.

    Raises
    ------
    ParameterError
        No mechanism accepts the parameters.
    """
    makers = CANDIDATES | {candidate.compared.name: candidate for candidate in candidates}
    wanted = [(one.compared.name, one.compared.name, one.compared.baseline) for one in candidates]
    return _of_all(wanted, lambda name: makers[name].make(setting), p)


def of_releases(target: Target, chosen: Sequence[Row], cost: str) -> tuple[list[ComparisonRow], list[str]]:
    """Return a row for every mechanism that reaches the target, by rising cost, and notes about the others.

    Raises
    ------
    ParameterError
        No mechanism reaches it.
    """
    wanted = [(row.class_name, row.name, CANDIDATES[line(row, cost).compared.baseline].row.name) for row in chosen]
    rows, notes = _of_all(wanted, lambda name: calibrated(BY_NAME[name], target, cost), MOMENT[cost])
    return sorted(rows, key=lambda row: float(root_moment(row.mechanism, MOMENT[cost]))), notes


def _of_all(wanted: Sequence[tuple[str, str, str]], make: Callable[[str], Any], p: int) -> tuple[list[ComparisonRow], list[str]]:
    """Return rows and notes: of each row that is wanted the name, and what `make` makes its mechanism and its baseline of."""

    @cache
    def made(key: str) -> Any:
        try:
            return make(key)
        except ParameterError as error:
            return error

    def root(key: str) -> float:
        """Return (E|X|**p)**(1/p); 0 if there is no such mechanism."""
        return 0.0 if isinstance(made(key), ParameterError) else float(root_moment(made(key), p))

    there = [one for one in wanted if not isinstance(made(one[1]), ParameterError)]
    refused = [(name, str(made(key))) for name, key, _ in wanted if isinstance(made(key), ParameterError)]
    if not there:
        raise ParameterError(refused[0][1])
    rows = [_of_number(name, made(key), _ratio(root(key), root(baseline), p)) for name, key, baseline in there]
    return rows, _left_out(refused)


def _of_number(name: str, mechanism: Any, ratio: float) -> ComparisonRow:
    mean_abs, bound = float(mechanism.abs_moment(1)), mechanism.error_bound(1 - _ALPHA)
    p_zero = float(mechanism.pmf(0)) if mechanism._integers else None
    return ComparisonRow(name, mechanism, mean_abs, float(mechanism.std()), bound, p_zero, ratio)


def _left_out(refused: Sequence[tuple[str, str]]) -> list[str]:
    """Return a sentence for each reason."""
    names: dict[str, list[str]] = {}
    for name, reason in refused:
        names.setdefault(reason, []).append(name)
    return [f"Left out: {', '.join(some)}; {reason}" for reason, some in names.items()]


def of_vectors(setting: Setting, dim: int, norm: Any, p: int) -> list[ComparisonRow]:
    """Return rows of the staircases for a norm, and for "l1" also a row of Laplace noise in every coordinate.

    Noise with a density proportional to e^(-ε‖x‖/Δ) has a norm that is a sum of `dim` exponential variables.
    """
    # Of noise for sensitivity 1: squares in the caller's unit may leave float64.
    unit, scale = setting.sensitivity, 1 / setting.eps
    moments = {1: dim * scale, 2: dim * (dim + 1) * scale * scale}
    rows = []
    for cost in ("l1", "l2"):
        mechanism = load("multivariate_staircase")(setting.eps, setting.argument("sensitivity"), dim, cost, norm)
        first, second = (load("multivariate_staircase")(setting.eps, 1.0, dim, cost, norm).expected_norm(q) for q in (1, 2))
        ratio = _over({1: first, 2: second}[p], moments[p])
        bound, rms = float(mechanism.norm_isf(_ALPHA)), math.sqrt(second) * unit
        rows.append(ComparisonRow(f"MultivariateStaircase {cost}", mechanism, first * unit, rms, bound, None, ratio))
    if norm == "l1":
        laplace, bound = CANDIDATES["Laplace"].make(setting), _sum_of_exponentials_isf(dim, _ALPHA) * scale * unit
        first, rms = moments[1] * unit, math.sqrt(moments[2]) * unit
        rows.append(ComparisonRow("Laplace per coordinate", laplace, first, rms, bound, None, 1.0))
    return rows


def _sum_of_exponentials_isf(n: int, alpha: float) -> float:
    """Return the x with P(S > x) = alpha for a sum S of `n` exponential variables.

    P(S > x) = e^-x (1 + x + … + x^(n-1)/(n-1)!).
    """
    k = np.arange(n)
    log_factorials = np.array([math.lgamma(i + 1) for i in k])

    def rare(x: float) -> bool:
        return float(np.sum(np.exp(k * math.log(x) - x - log_factorials))) <= alpha

    return bisection(rare, 1e-300, n + 10 * math.sqrt(n) + 10)


def of_choices(setting: Setting, costs: Floats, p: int) -> list[ComparisonRow]:
    """Return rows of the mechanisms that select; their error is the cost above the least."""
    classes = [select for select in map(load_selection, SELECTIONS) if hasattr(select, "probabilities")]
    baseline = [select.__name__ for select in classes].index("ExponentialMechanism")
    mechanisms: list[Any] = [select(setting.eps, setting.argument("sensitivity")) for select in classes]
    # First, because a row without a finite cost is refused.
    chosen = [mechanism.probabilities(costs) for mechanism in mechanisms]
    with np.errstate(over="ignore"):
        errors = costs - costs.min()
        all_roots = [_root_moments(chance, errors) for chance in chosen]
    order = np.argsort(errors)
    rows = []
    for mechanism, chances, roots in zip(mechanisms, chosen, all_roots, strict=True):
        beyond = 1 - np.cumsum(chances[order])
        bound = float(errors[order][np.argmax(beyond <= _ALPHA)]) if np.any(beyond <= _ALPHA) else float(errors.max())
        best = float(chances[errors == 0].sum())
        ratio = _ratio(roots[p - 1], all_roots[baseline][p - 1], p)
        rows.append(ComparisonRow(type(mechanism).__name__, mechanism, *roots, bound, best, ratio))
    return rows


def _root_moments(chance: Floats, errors: Floats) -> tuple[float, float]:
    """Return the mean error and the root of the mean square, in a unit whose square float64 holds.

    A candidate that is never selected adds nothing, whatever its error.
    """
    some = chance > 0
    unit = float(errors[some].max()) or 1.0
    relative = errors[some] / unit
    return float(chance[some] @ relative) * unit, math.sqrt(chance[some] @ relative**2) * unit


def _ratio(ours: float, theirs: float, p: int) -> float:
    """Return the ratio of moments of order p, by their roots."""
    return _over(ours, theirs) ** p


def _over(ours: float, theirs: float) -> float:
    return ours / theirs if theirs else math.nan
