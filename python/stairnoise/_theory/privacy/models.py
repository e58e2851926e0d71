"""Lattices for composed privacy losses: the loss's own, or two that enclose it.

Every model is the loss of a pair of distributions. An upper model's pair dominates the true pair
(the true one is a random function of it), a lower model's is dominated by it, and both relations
survive composition, adaptive composition included [1]_.

* Upper, for a Laplace law: the profile is replaced by its chords, in exp(t), between nodes [2]_.
* Upper, for a loss off the lattice: it is split between the two nodes beside it, so that the
  probabilities under both centres are kept.
* Lower: neighbouring losses of the Laplace density are merged, which puts them at the midpoint of
  their cell; ε is rounded down to the lattice, by noise added to the release.
* Where a loss of another kind takes part, both models of that one are those of `merging`.

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

import numpy as np
from numpy.typing import NDArray

from stairnoise._theory.privacy.convolution import convolution, trinomial
from stairnoise._theory.privacy.curve import Curve
from stairnoise._theory.privacy.merging import GENERAL, General, Model, lower, upper
from stairnoise._theory.privacy.parts.atoms import Atoms
from stairnoise._theory.privacy.parts.lattice_gaussian import LatticeGaussian
from stairnoise._theory.privacy.parts.steps import Steps

Array = NDArray[np.float64]
Closed = Atoms | Steps
Part = Closed | General
Parts = Sequence[tuple[Part, int]]
ClosedParts = Sequence[tuple[Closed, int]]

# Most nodes of a composed loss that is kept on its own lattice.
EXACT_NODES = 2**18
# Nodes over all releases, and at most and at least over one, of a bracket.
_NODES, _MOST, _LEAST = 2**18, 2**12, 16
# Releases in a bracket.
MOST_BRACKETED = 2**14
# ε of one release: beyond it, probabilities on a lattice leave float64. Three atoms alone need no such limit.
MOST_EPS = 512.0
# Allowance for the rounding of a bracket's float64 arithmetic, some thousand times what tests measure.
_ROUNDING = 1e-9
# Atoms of one release that are split one by one.
_SPLIT_CELLS = 2**12


def pure_eps(parts: Parts) -> float:
    """Largest loss of all releases together."""
    return math.fsum(k * float(part.eps) for part, k in parts)


def composable(parts: Parts) -> bool:
    """Tell whether float64 holds the probabilities of every release on a lattice."""
    return (len(parts) == 1 and isinstance(parts[0][0], Atoms)) or all(largest_loss(part) <= MOST_EPS for part, _ in parts)


def largest_loss(part: Part) -> float:
    """Largest finite loss that counts."""
    return part.top if isinstance(part, GENERAL) else float(part.eps)


def exact_step(parts: Parts) -> Fraction | None:
    """Step of the lattice that holds every loss exactly, None if it would have too many nodes."""
    pitch = Fraction(0)
    for part, _ in parts:
        if isinstance(part, GENERAL):
            return None
        eps = Fraction(float(part.eps))
        cells = 1.0 if isinstance(part, Atoms) else float(part.cells)
        if not cells < EXACT_NODES:
            return None
        own = eps if isinstance(part, Atoms) else 2 * eps / Fraction(cells)
        pitch = Fraction(math.gcd(pitch.numerator * own.denominator, own.numerator * pitch.denominator), 1) / (
            pitch.denominator * own.denominator
        )
    if len(parts) == 1 and isinstance(parts[0][0], Atoms):
        return pitch
    return pitch if pure_eps(parts) / float(pitch) <= EXACT_NODES else None


def exact_curve(parts: Parts, pitch: Fraction) -> Curve:
    """Compose the loss on its own lattice."""
    return _exact_curve(_closed(parts), pitch)


def _exact_curve(parts: ClosedParts, pitch: Fraction) -> Curve:
    top, step = pure_eps(parts), float(pitch)
    part, k = parts[0]
    if len(parts) == 1 and isinstance(part, Atoms):
        eps = float(part.eps)
        masses = trinomial(k, float(part.p), float(part.zero), float(part.p) * math.exp(-eps))
        return Curve(top, eps, masses)
    exact_top = sum(k * Fraction(float(part.eps)) for part, k in parts)
    length = int(exact_top / pitch) + 1
    return Curve(top, step, convolution([(_on_lattice(part, pitch), k) for part, k in parts], length))


def _on_lattice(part: Closed, pitch: Fraction) -> Array:
    eps = Fraction(float(part.eps))
    if isinstance(part, Atoms):
        masses = _atom_masses(float(part.eps), float(part.p), float(part.zero))
        return _spaced(masses, int(eps / pitch))
    cells = int(part.cells)
    return _spaced(_geometric_masses(float(part.theta), cells), int(2 * eps / cells / pitch))


def _atom_masses(eps: float, p: float, zero: float) -> Array:
    return np.array([p, zero, p * math.exp(-eps)])


def _geometric_masses(theta: float, cells: int) -> Array:
    masses: Array = np.exp(-theta * np.arange(cells + 1)) * math.tanh(theta / 2)
    ratio = math.exp(-theta)
    masses[0] = 1 / (1 + ratio)
    masses[-1] = math.exp(-theta * cells) / (1 + ratio)
    return masses


def _spaced(masses: Array, stride: int) -> Array:
    law = np.zeros((masses.size - 1) * stride + 1)
    law[::stride] = masses
    return law


def bracket(parts: Parts) -> tuple[Curve, Curve]:
    """Lower and upper curve of a loss that no small lattice holds."""
    widths = [2 * largest_loss(part) for part, _ in parts]
    fair = sum(k * width for (_, k), width in zip(parts, widths, strict=True)) / max(
        min(_NODES, _MOST * sum(k for _, k in parts)), 1
    )
    step = min(fair, max(widths) / _LEAST)
    closed = _closed(parts)
    if len(closed) < len(parts):
        step = _whole_part(parts, step)
        curves = _general(parts, step, False), _general(parts, step, True)
    else:
        curves = _lower(closed, step), _upper(closed, step)
    if not curves[1].profile_scalar(0.0) >= curves[0].profile_scalar(0.0) * (1 - _ROUNDING):
        raise ArithmeticError("bounds must be in order: their probabilities do not add up")
    return curves


def _closed(parts: Parts) -> ClosedParts:
    return [(part, k) for part, k in parts if not isinstance(part, GENERAL)]


def _whole_part(parts: Parts, step: float) -> float:
    """Return the step, or one somewhat smaller that divides the distance between two losses of a single law."""
    part, _ = parts[0]
    if len(parts) > 1 or not isinstance(part, LatticeGaussian) or part.pitch < step:
        return step
    return part.pitch / math.ceil(part.pitch / step)


def _general(parts: Parts, step: float, above: bool) -> Curve:
    """Curve of losses of any kind, each of which has its own lattice of the same step."""
    found = [((_upper_model if above else _lower_model)(part, step), k) for part, k in parts]
    top = sum(k * model.top for model, k in found)
    nodes = sum(k * (model.masses.size - 1) for model, k in found) + 1
    length = min(max(math.floor(top / step) + 1, 1), nodes)
    masses = convolution([(model.masses, k) for model, k in found], length)
    infinite = 0.0 - math.expm1(sum(k * math.log1p(-model.infinite) for model, k in found))
    return Curve(top, step, masses, infinite=infinite, symmetric=False, allowance=_ROUNDING if above else -_ROUNDING)


def _upper_model(part: Part, step: float) -> Model:
    if isinstance(part, GENERAL):
        return upper(part, step)
    masses, infinite = _upper_law(part, step, None)
    return Model(float(part.eps), masses, infinite)


def _lower_model(part: Part, step: float) -> Model:
    if isinstance(part, GENERAL):
        return lower(part, step)
    masses = _lower_law(part, step)
    return Model(min((masses.size - 1) / 2 * step, float(part.eps)), masses, 0.0)


def _upper(parts: ClosedParts, step: float) -> Curve:
    top = pure_eps(parts)
    anchor = _anchor(parts)
    if anchor is None and len(parts) == 1:
        eps = float(parts[0][0].eps)
        step = 2 * eps / math.ceil(2 * eps / step)
    elif anchor is not None:
        pitch = 2 * float(anchor.theta)
        step = pitch * max(1, math.ceil(step / pitch))
    laws, unbounded = [], 0.0
    for part, k in parts:
        law, probability = _upper_law(part, step, anchor)
        laws.append((law, k))
        unbounded += k * probability
    length = math.floor(top / step) + 1
    masses = convolution(laws, length)
    return Curve(top, step, masses, infinite=unbounded, symmetric=False, allowance=_ROUNDING)


def _anchor(parts: ClosedParts) -> Steps | None:
    """Find the geometric law of the widest steps among those with too many to list: its steps divide the upper model's."""
    fine = [part for part, _ in parts if isinstance(part, Steps) and _SPLIT_CELLS < float(part.cells) < math.inf]
    return max(fine, key=lambda part: float(part.theta), default=None)


def _upper_law(part: Closed, step: float, anchor: Steps | None) -> tuple[Array, float]:
    """Masses of a dominating loss, and the probability that its loss is unbounded."""
    eps = float(part.eps)
    if isinstance(part, Atoms):
        return _split(eps * np.arange(3.0), _atom_masses(eps, float(part.p), float(part.zero)), step), 0.0
    cells, theta = float(part.cells), float(part.theta)
    if cells <= _SPLIT_CELLS:
        return _split(np.asarray(2 * theta * np.arange(cells + 1)), _geometric_masses(theta, int(cells)), step), 0.0
    chords = _chord_masses(eps, step)
    if part is anchor or math.isinf(cells):
        return chords, 0.0
    # δ of the lattice is at most η + (1 - η) δ of the density, with η = 1 - 1/cosh(θ/2)
    return chords * (1 / math.cosh(theta / 2)), 2 * math.sinh(theta / 4) ** 2


def _split(offsets: Array, masses: Array, step: float) -> Array:
    """Put each mass on the two nodes beside its loss, keeping the probability under the other centre."""
    place = offsets / step
    index = np.floor(place)
    below = masses * np.expm1((place - index) * step) / math.expm1(step)
    law = np.zeros(int(index[-1]) + 2)
    np.add.at(law, index.astype(np.int64), masses - below)
    np.add.at(law, index.astype(np.int64) + 1, below)
    return law


def _chord_masses(eps: float, step: float) -> Array:
    """Masses of the profile ``1 - exp((t-ε)/2)`` with chords between the nodes ε - i step."""
    u = step / 2
    count = 2 * eps / step
    n = round(count)
    if abs(count - n) < 1e-14 * count:
        return _geometric_masses(u, n)
    n = math.floor(count)
    if n == 0:
        # One chord, from ε to a node below -ε: two losses, whose probabilities add up to 1 under both centres.
        rise, fall = math.expm1(step - eps), -math.expm1(-eps)
        return np.array([rise, fall]) / (rise + fall)
    masses = np.empty(n + 2)
    masses[: n + 1] = _geometric_masses(u, n + 1)[:-1]
    # The last chord crosses -ε, below which the profile is 1 - exp(t); mirrored, it ends where the profile does.
    end = step * (n + 1) - eps
    v = eps - step * n / 2
    share = -math.expm1(-v)
    masses[n] = math.exp(step - end) * (math.exp(-v) / (1 + math.exp(-u)) - share / math.expm1(step))
    masses[n + 1] = math.exp(-end) * share / -math.expm1(-step)
    return np.maximum(masses, 0.0)


def _lower(parts: ClosedParts, step: float) -> Curve:
    if len(parts) == 1:
        eps = float(parts[0][0].eps)
        step = eps / math.ceil(eps / step)
    laws = [(_lower_law(part, step), k) for part, k in parts]
    top = sum(k * (law.size - 1) for law, k in laws) / 2
    masses = convolution(laws, math.floor(top) + 1)
    return Curve(min(top * step, pure_eps(parts)), step, masses, allowance=-_ROUNDING)


def _lower_law(part: Closed, step: float) -> Array:
    """Masses of a dominated loss, symmetric, on a lattice of `step`."""
    eps = float(part.eps)
    n = math.floor(eps / step * (1 + 1e-12))
    if isinstance(part, Atoms):
        return _rounded_down_atoms(part, n, step)
    if float(part.cells) <= _SPLIT_CELLS and 2 * float(part.theta) >= step:
        stride = math.floor(2 * float(part.theta) / step * (1 + 1e-12))
        return _spaced(_geometric_masses(stride * step / 2, int(part.cells)), stride)
    return _merged_masses(n, step)


def _rounded_down_atoms(part: Atoms, n: int, step: float) -> Array:
    """ε rounded to n steps, by a sign that is changed at random: ``p' (1 + exp(-ε')) = p (1 + exp(-ε))``."""
    eps, rounded = float(part.eps), n * step
    if n == 0:
        return np.ones(1)
    p = float(part.p) * (1 + math.exp(-eps)) / (1 + math.exp(-rounded))
    return _spaced(_atom_masses(rounded, p, float(part.zero)), n)


def _merged_masses(n: int, step: float) -> Array:
    """Merge the Laplace density's loss, ε = n steps, in cells two steps wide: atoms at both ends and at the midpoints."""
    if n == 0:
        return np.ones(1)
    masses = np.zeros(2 * n + 1)
    middle = np.arange(1, 2 * n, 2)
    masses[middle] = np.exp(-step / 2 * middle) * math.sinh(step / 2)
    masses[0], masses[-1] = 0.5, 0.5 * math.exp(-n * step)
    return masses
