"""Targets of the attacks: noise drawn and added in floating point, and other naive ways to release."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Generator = np.random.Generator


def laplace(rng: Generator, answer: float, size: int, eps: float, sensitivity: float = 1.0) -> Floats:
    """Add NumPy's Laplace noise."""
    return answer + rng.laplace(scale=sensitivity / eps, size=size)


def staircase(rng: Generator, answer: float, size: int, eps: float, sensitivity: float = 1.0) -> Floats:
    """Algorithm 1 of Geng and Viswanath (arXiv 1212.1186) in NumPy, with the gamma of minimum expected error."""
    gamma = 1 / (1 + np.exp(eps / 2))
    b = np.exp(-eps)
    sign = 1 - 2.0 * rng.integers(0, 2, size)
    stair = rng.geometric(1 - b, size) - 1.0
    u = rng.random(size)
    inner = rng.random(size) < gamma / (gamma + (1 - gamma) * b)
    position = np.where(inner, gamma * u, gamma + (1 - gamma) * u)
    return answer + sign * (stair + position) * sensitivity


def geometric(rng: Generator, size: int, eps: float) -> NDArray[np.int64]:
    """Draw two-sided geometric noise of sensitivity 1."""
    p = -np.expm1(-eps)
    return rng.geometric(p, size) - rng.geometric(p, size)


def half_even(rng: Generator, answer: float, size: int, eps: float) -> NDArray[np.int64]:
    """Round the answer as IEEE, Python and NumPy do by default, and add integer noise."""
    return int(np.round(answer)) + geometric(rng, size, eps)


def wrapping(rng: Generator, answer: int, size: int, eps: float) -> NDArray[np.int64]:
    """Add 64-bit integers, which wrap around at their ends."""
    return np.int64(answer) + geometric(rng, size, eps)


def signed_zero(rng: Generator, answer: float, size: int, eps: float) -> Floats:
    """Round the answer to an integer in floating point and add noise; noise of 0 keeps a zero's sign."""
    noise = geometric(rng, size, eps).astype(float)
    return np.where(noise == 0, np.round(answer), np.round(answer) + noise)
