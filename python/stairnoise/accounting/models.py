"""Lattices for composed privacy losses: the loss's own, or two that enclose it.

Every model is the loss of a pair of distributions. An upper model's pair dominates the true pair
(the true one is a random function of it), a lower model's is dominated by it, and both relations
survive composition, adaptive composition included [1]_.

* Upper, for a Laplace distribution: the profile is replaced by its chords, in exp(t), between nodes [2]_.
* Upper, for a loss off the lattice: it is split between the two nodes beside it, so that the
  probabilities under both centres are kept.
* Lower: neighbouring losses of the Laplace density are merged, which puts them at the midpoint of
  their step; ε is rounded down to the lattice, by noise added to the release.
* Where a loss of another kind takes part, both models of that one are those of `parts.general`.

References
----------
.. [1] Zhu, Dong and Wang, "Optimal Accounting of Differential Privacy via Characteristic Function",
   AISTATS 2022, theorem 10.
.. [2] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, "Connect the Dots: Tighter Discrete
   Approximations of Privacy Loss Distributions", PoPETs 2022(4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from stairnoise.accounting.convolution import convolution
from stairnoise.accounting.curve import Curve
from stairnoise.accounting.losses.loss import EXACT_NODES, Model, Part

Parts = Sequence[tuple[Part, int]]

# Nodes over all releases, and at most and at least over one, of a bracket.
_NODES, _MOST, _LEAST = 2**18, 2**12, 16
# How much longer the step of a coarse bracket is, whose difference from the true loss is the square of that.
COARSER = 8
# Releases in a bracket.
MOST_BRACKETED = 2**14
# ε of one release: beyond it, probabilities on a lattice leave float64. A closed form needs no such limit.
MOST_EPS = 512.0
# Allowance for the rounding of a bracket's float64 arithmetic, some thousand times what tests measure.
_ROUNDING = 1e-9


def pure_eps(parts: Parts) -> float:
    """Largest loss of all releases together."""
    return math.fsum(k * float(part.eps) for part, k in parts)


def composable(parts: Parts) -> bool:
    """Return whether float64 holds the probabilities of every release on a lattice."""
    return _in_closed_form(parts) or all(part.top <= MOST_EPS for part, _ in parts)


def _in_closed_form(parts: Parts) -> bool:
    return len(parts) == 1 and parts[0][0].composes_in_closed_form


def exact_step(parts: Parts) -> Fraction | None:
    """Step of the lattice that holds every loss exactly, None if it would have too many nodes."""
    common = Fraction(0)
    for part, _ in parts:
        if (step := part.own_step()) is None:
            return None
        numerator = math.gcd(common.numerator * step.denominator, step.numerator * common.denominator)
        common = Fraction(numerator, common.denominator * step.denominator)
    return common if _in_closed_form(parts) or pure_eps(parts) / float(common) <= EXACT_NODES else None


def exact_curve(parts: Parts, step: Fraction) -> Curve:
    """Compose the loss on its own lattice."""
    top = pure_eps(parts)
    if _in_closed_form(parts):
        part, k = parts[0]
        return Curve(top, float(part.eps), part.powers(k))
    length = int(sum(k * Fraction(float(part.eps)) for part, k in parts) / step) + 1
    return Curve(top, float(step), convolution([(part.on_lattice(step), k) for part, k in parts], length))


def upper_curve(parts: Parts, coarser: int = 1) -> Curve:
    """Upper curve of a loss that no small lattice holds; on a lattice whose step is `coarser` times as long, it is higher."""
    step, anchor = _step(parts, coarser), None
    if _symmetric(parts):
        # Of the distributions with too many steps to list, the one of the widest: the model's step is a multiple of its own.
        anchor = max((part for part, _ in parts), key=lambda part: part.steps_to_keep)
        if anchor.steps_to_keep:
            step = anchor.steps_to_keep * max(1, math.ceil(step / anchor.steps_to_keep))
        elif len(parts) == 1:
            step = 2 * anchor.top / math.ceil(2 * anchor.top / step)
    return _general([(part.upper_model(step, aligned=part is anchor), k) for part, k in parts], step, _ROUNDING)


def lower_curve(parts: Parts, coarser: int = 1) -> Curve:
    """Lower curve of a loss that no small lattice holds."""
    step = _step(parts, coarser)
    if _symmetric(parts):
        return _symmetric_lower(parts, step)
    return _general([(part.lower_model(step), k) for part, k in parts], step, -_ROUNDING)


def require_order(lower: Curve, upper: Curve) -> None:
    """Raise an error if probabilities are missing."""
    if not upper.profile_scalar(0.0) >= lower.profile_scalar(0.0) * (1 - _ROUNDING):
        raise ArithmeticError("bounds must be in order: their probabilities do not add up")


def _symmetric(parts: Parts) -> bool:
    return all(part.symmetric for part, _ in parts)


def _step(parts: Parts, coarser: int) -> float:
    widths = [2 * part.top for part, _ in parts]
    nodes = max(min(_NODES, _MOST * sum(k for _, k in parts)), 1)
    fair = coarser * sum(k * width for (_, k), width in zip(parts, widths, strict=True)) / nodes
    # Where every loss is 0 or infinite, any step will do.
    step = min(fair, max(widths) / _LEAST) or 1.0
    return parts[0][0].suitable_step(step) if len(parts) == 1 and not _symmetric(parts) else step


def _general(models: Sequence[tuple[Model, int]], step: float, allowance: float) -> Curve:
    """Curve of losses that each have their own lattice of the same step."""
    top = math.fsum(k * model.top for model, k in models)
    nodes = sum(k * (model.masses.size - 1) for model, k in models) + 1
    length = min(max(math.floor(top / step) + 1, 1), nodes)
    masses = convolution([(model.masses, k) for model, k in models], length)
    infinite = 0.0 - math.expm1(sum(k * (math.log1p(-one.infinite) if one.infinite < 1 else -math.inf) for one, k in models))
    return Curve(top, step, masses, infinite=infinite, symmetric=False, allowance=allowance)


def _symmetric_lower(parts: Parts, step: float) -> Curve:
    if len(parts) == 1:
        eps = float(parts[0][0].eps)
        step = eps / math.ceil(eps / step)
    mechanisms = [(part.lower_model(step).masses, k) for part, k in parts]
    top = sum(k * (mechanism.size - 1) for mechanism, k in mechanisms) / 2
    masses = convolution(mechanisms, math.floor(top) + 1)
    return Curve(min(top * step, pure_eps(parts)), step, masses, allowance=-_ROUNDING)
