"""The normal distribution's tail, without SciPy: everything follows from Mills' ratio, which quadrature gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from stairnoise._types import Floats
from stairnoise.numerics.elementwise import in_chunks
from stairnoise.numerics.quadrature import gauss_legendre

LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)

# Elements at a time: every element takes some dozens of terms, or some hundred.
CHUNK = 1024
# The integral of e**-y over y >= 0 ends here: e**-40 of it is left out.
_NEGLIGIBLE = 40.0
_NODES = 48
_STEPS = 12


def reach(z: Any) -> Any:
    """Where z u + u²/2 reaches 40."""
    if isinstance(z, float):
        end = math.sqrt(z * z + 2 * _NEGLIGIBLE)
        return 2 * _NEGLIGIBLE / (z + end) if z >= 0 else end - z
    root = np.sqrt(z * z + 2 * _NEGLIGIBLE)
    return np.where(z >= 0, 2 * _NEGLIGIBLE / (np.abs(z) + root), root - z)


def mills(z: Floats) -> Floats:
    """(1 - Φ(z))/φ(z) for z >= 0, relative error below 1e-13.

    The integral of ``exp(-z u - u²/2)`` over u > 0: all terms are positive, so nothing cancels.
    """
    return in_chunks(lambda z: weighted(z, np.ones_like), CHUNK, z)


def weighted(z: Any, weight: Callable[[Floats], Floats]) -> Any:
    """Integral of ``weight(u) exp(-z u - u²/2)`` over u > 0, the arrays of `weight` having a last axis of nodes."""
    nodes, weights = gauss_legendre(_NODES)
    # A float is several times as fast as an array of no axes.
    end, lowered = (reach(z), -z) if isinstance(z, float) else (reach(z)[..., None], -z[..., None])
    u = end * nodes
    total = (np.exp(lowered * u - u * u / 2) * weight(u)) @ weights
    return total * (end if isinstance(z, float) else end[..., 0])


def log_sf(z: Floats) -> Floats:
    """Logarithm of 1 - Φ(z)."""
    finite = np.where(np.isinf(z), 0.0, z)
    ratio = mills(np.abs(finite))
    tail = np.where(np.isinf(z), -np.inf, -z * z / 2 - LOG_SQRT_2PI + np.log(ratio))
    mirrored = np.log1p(-np.exp(-z * z / 2 - LOG_SQRT_2PI) * ratio)
    return np.where(z >= 0, tail, mirrored)


def isf(q: Floats) -> Floats:
    """Return z with 1 - Φ(z) = q, for q from 0 to 1/2; inf for 0.

    Newton's steps on the logarithm of the tail, which is concave: from a point to the right of z they come nearer from that side.
    """
    log_q = np.log(q)
    z = before = np.sqrt(-2 * log_q)
    finite = np.isfinite(z)
    # Six steps would do: the first is off by less than its own size.
    for left in range(_STEPS - 1, -1, -1):
        ratio = mills(np.where(finite, z, 0.0))
        excess = -z * z / 2 - LOG_SQRT_2PI + np.log(ratio) - log_q
        earlier, before, z = before, z, np.where(finite, np.maximum(z + excess * ratio, 0.0), z)
        if (z == earlier).all():
            # From here on the same two numbers take turns, mostly one number twice.
            z = before if left % 2 else z
            break
    return np.where(q == 0.5, 0.0, z)
