"""The Laplace distribution: density, survival function and its inverse on the half line y >= 0."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stairnoise._parameters import Real
from stairnoise.numerics.elementwise import namespace

_LOG_2 = math.log(2)


class Exponential(NamedTuple):
    """Constants of one distribution."""

    eps: Any
    D: Any
    log_height: Any


def constants(eps: Real, sensitivity: Real) -> Exponential:
    """Make the constants of the Laplace distribution with scale sensitivity/eps."""
    xp = namespace(eps, sensitivity)
    return Exponential(eps, sensitivity, xp.log(eps / sensitivity / 2))


def log_density(xp: Any, y: Any, k: Exponential) -> Any:
    """Logarithm of the density."""
    return k.log_height - k.eps * (y / k.D)


def survival(xp: Any, y: Any, k: Exponential) -> Any:
    """``exp(-eps y/D)/2``."""
    return xp.exp(-k.eps * (y / k.D)) / 2


def log_survival(xp: Any, y: Any, k: Exponential) -> Any:
    """Logarithm of the survival function."""
    return -_LOG_2 - k.eps * (y / k.D)


def survival_inverse(xp: Any, s: Any, k: Exponential) -> Any:
    """Return the y with S(y) = s, for 0 <= s <= 1/2."""
    return xp.abs(xp.log(2 * s)) / k.eps * k.D


def entropy(xp: Any, k: Exponential) -> Any:
    """Differential entropy in nats, ``1 + ln(2 D/eps)``."""
    return 1 - k.log_height
