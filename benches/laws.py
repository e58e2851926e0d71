"""The laws that are timed, and the check that what was timed is noise of that law.

The moments are written out again from the literature; nothing here imports stairnoise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STANDARD_ERRORS = 6.0
"""A correct sampler misses one check with probability 2e-9 (normal approximation)."""


@dataclass(frozen=True)
class Law:
    """One noise law, with E|X| and E X² of its exact form."""

    mechanism: str
    eps: float
    sensitivity: int
    abs_mean: float
    second_moment: float
    shape: float | None = None

    @property
    def discrete(self) -> bool:
        """Whether the noise is integers."""
        return self.mechanism.startswith("discrete")

    @property
    def work(self) -> str:
        """The law in words, as it stands in records."""
        return f"{self.mechanism}, eps={self.eps:g}, sensitivity={self.sensitivity}"

    def check(self, values: NDArray[np.generic]) -> None:
        """Raise AssertionError unless mean and mean magnitude are the law's within standard errors."""
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


def _geometric_moments(eps: float) -> tuple[float, float, float]:
    """Return mean, variance and third central moment of P(M=m) = (1-b) b^m, b = e^-eps."""
    c = 1 / math.expm1(eps)
    return c, c * (1 + c), c * (1 + c) * (1 + 2 * c)


def staircase(eps: float, sensitivity: int = 1) -> Law:
    """Geng & Viswanath's staircase with the gamma that is best for E|X|."""
    c, v, k3 = _geometric_moments(eps)
    gamma = 1 / (1 + math.exp(eps / 2))
    d = sensitivity
    t = 2 * d * (gamma + c)
    return Law(
        "staircase",
        eps,
        d,
        abs_mean=t / 4 + d**2 * v / t,
        second_moment=t**2 / 12 + d**2 * v + 2 / 3 * d**3 * k3 / t,
        shape=gamma,
    )


def laplace(eps: float, sensitivity: int = 1) -> Law:
    """Laplace of scale sensitivity/eps."""
    scale = sensitivity / eps
    return Law("laplace", eps, sensitivity, abs_mean=scale, second_moment=2 * scale**2)


def discrete_laplace(eps: float, sensitivity: int = 1) -> Law:
    """Two-sided geometric of parameter exp(-eps/sensitivity)."""
    b = math.exp(-eps / sensitivity)
    return Law(
        "discrete_laplace",
        eps,
        sensitivity,
        abs_mean=2 * b / (1 - b**2),
        second_moment=2 * b / (1 - b) ** 2,
    )


def discrete_staircase(eps: float, sensitivity: int) -> Law:
    """Discrete staircase with the r that is best for E|X|."""
    c, v, k3 = _geometric_moments(eps)
    d = sensitivity
    r = math.ceil(d / (1 + math.exp(eps / 2)))
    t = 2 * r - 1 + 2 * d * c
    return Law(
        "discrete_staircase",
        eps,
        d,
        abs_mean=(r * (r - 1) + (2 * r - 1) * d * c + d**2 * c * (1 + 2 * c)) / t,
        second_moment=(r * (r - 1) + (2 * r - 1) * d * c + d**2 * c**2) / 3 + d**2 * v + 2 / 3 * d**3 * k3 / t,
        shape=r,
    )


LAWS = (
    staircase(4),
    laplace(4),
    discrete_laplace(4),
    discrete_staircase(4, 10),
)
