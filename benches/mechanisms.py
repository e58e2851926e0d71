"""The timed core mechanisms, and the check that timed draws have the mechanism's distribution.

The moments are written here from the literature; nothing here imports stairnoise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

STANDARD_ERRORS = 6.0
"""A correct sampler misses one check with probability 2e-9 (normal approximation)."""

Cost = Literal["l1", "l2"]


@dataclass(frozen=True)
class CoreMechanism:
    """A mechanism, with E|X| and E X² of its exact distribution."""

    mechanism: str
    eps: float
    sensitivity: int
    abs_mean: float
    second_moment: float
    shape: float | None = None
    cost: Cost = "l1"

    @property
    def discrete(self) -> bool:
        """Whether the noise has integer values."""
        return self.mechanism.startswith("discrete")

    @property
    def work(self) -> str:
        """The mechanism in words, as in records."""
        shape = f", r={self.cost}" if self.mechanism == "discrete_staircase" else ""
        return f"{self.mechanism}, eps={self.eps:g}, sensitivity={self.sensitivity}{shape}"

    def check(self, values: NDArray[Any]) -> None:
        """Raise AssertionError unless mean and mean magnitude are within 6 standard errors of the mechanism's."""
        x = np.asarray(values, dtype=np.float64).ravel()
        assert x.size >= 1000, f"too few values to check: {x.size}"
        if self.discrete:
            assert np.array_equal(x, np.rint(x)), f"{self.work}: values are not whole"
        magnitude = np.abs(x)
        spread = math.sqrt(self.second_moment - self.abs_mean**2)
        for name, found, expected, scale in [
            ("mean", float(x.mean()), 0.0, math.sqrt(self.second_moment)),
            ("E|X|", float(magnitude.mean()), self.abs_mean, spread),
        ]:
            errors = (found - expected) / (scale / math.sqrt(x.size))
            assert abs(errors) <= STANDARD_ERRORS, (
                f"{self.work}: {name} of {x.size} values is {found:.6g}, expected {expected:.6g}: {errors:+.1f} standard errors"
            )


def _geometric_moments(eps: Any) -> tuple[Any, Any, Any]:
    """Return mean, variance and third central moment of P(M=m) = (1-b) b^m, b = e^-eps."""
    c = 1 / np.expm1(eps)
    return c, c * (1 + c), c * (1 + c) * (1 + 2 * c)


def optimal_gamma(eps: Any) -> Any:
    """Return the γ that is best for E|X| (Geng & Viswanath 2014, section V)."""
    return 1 / (1 + np.exp(eps / 2))


def staircase_moments(eps: Any, sensitivity: int = 1) -> tuple[Any, Any]:
    """Return E|X| and E X² with the best γ for E|X|; `eps` a number or an array."""
    c, v, k3 = _geometric_moments(eps)
    d = sensitivity
    t = 2 * d * (optimal_gamma(eps) + c)
    return t / 4 + d**2 * v / t, t**2 / 12 + d**2 * v + 2 / 3 * d**3 * k3 / t


def staircase(eps: float, sensitivity: int = 1) -> CoreMechanism:
    """Geng & Viswanath's staircase with the gamma that is best for E|X|."""
    abs_mean, second_moment = map(float, staircase_moments(eps, sensitivity))
    return CoreMechanism("staircase", eps, sensitivity, abs_mean, second_moment, shape=float(optimal_gamma(eps)))


def laplace(eps: float, sensitivity: int = 1) -> CoreMechanism:
    """Laplace of scale sensitivity/eps."""
    scale = sensitivity / eps
    return CoreMechanism("laplace", eps, sensitivity, abs_mean=scale, second_moment=2 * scale**2)


def discrete_laplace(eps: float, sensitivity: int = 1) -> CoreMechanism:
    """Two-sided geometric of parameter exp(-eps/sensitivity)."""
    b = math.exp(-eps / sensitivity)
    return CoreMechanism(
        "discrete_laplace",
        eps,
        sensitivity,
        abs_mean=2 * b / (1 - b**2),
        second_moment=2 * b / (1 - b) ** 2,
    )


def _discrete_moments(eps: float, d: int, r: int) -> tuple[float, float]:
    c, v, k3 = map(float, _geometric_moments(eps))
    t = 2 * r - 1 + 2 * d * c
    inside = r * (r - 1) + (2 * r - 1) * d * c
    return (inside + d**2 * c * (1 + 2 * c)) / t, (inside + d**2 * c**2) / 3 + d**2 * v + 2 / 3 * d**3 * k3 / t


def discrete_staircase(eps: float, sensitivity: int, cost: Cost = "l1") -> CoreMechanism:
    """Discrete staircase with the r that minimises E|X| ("l1") or E X² ("l2"), found by trying every r."""
    which = ("l1", "l2").index(cost)
    moments = {r: _discrete_moments(eps, sensitivity, r) for r in range(1, sensitivity + 1)}
    r = min(moments, key=lambda r: moments[r][which])
    return CoreMechanism("discrete_staircase", eps, sensitivity, *moments[r], shape=r, cost=cost)


COMPARED = (
    staircase(4),
    laplace(4),
    discrete_laplace(4),
    discrete_staircase(4, 10),
)
"""One of each class, compared with every peer that draws it."""

EPSILONS = (0.01, 0.1, 1, 4, 10)

CORE_MECHANISMS = (
    *map(staircase, EPSILONS),
    *map(laplace, EPSILONS),
    *map(discrete_laplace, EPSILONS),
    *(discrete_staircase(eps, d, cost) for eps in (1, 4) for d in (10, 1000) for cost in ("l1", "l2")),
)
"""All that are timed in bulk, including COMPARED."""
