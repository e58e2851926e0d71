"""Samplers of the discrete staircase in NumPy: a correct one, and mistakes from the literature and from practice.

They use floating point and a general-purpose generator; twenty million draws cannot show the difference from the exact mechanism.
"""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Generator = np.random.Generator


def right(rng: Generator, size: int, eps: float, sensitivity_steps: int, r: int) -> Integers:
    """Rejection: stair G, position j < D, accepted if j < r or with probability b; the pair (0, minus) is rejected."""
    magnitude, minus = _accepted(rng, size, eps, sensitivity_steps, r)
    keep = ~((magnitude == 0) & minus)
    drawn = _signed(magnitude[keep], minus[keep])
    return drawn if len(drawn) == size else np.concatenate([drawn, right(rng, size - len(drawn), eps, sensitivity_steps, r)])


def stairs_exchanged(rng: Generator, size: int, eps: float, sensitivity_steps: int, r: int) -> Integers:
    """The widths r and D - r exchanged."""
    return right(rng, size, eps, sensitivity_steps, sensitivity_steps - r)


def zero_twice(rng: Generator, size: int, eps: float, sensitivity_steps: int, r: int) -> Integers:
    """A fair sign times |X| with no rejection, so zero counts twice."""
    return _signed(*_accepted(rng, size, eps, sensitivity_steps, r))


def zero_missing(rng: Generator, size: int, eps: float, sensitivity_steps: int, r: int) -> Integers:
    """The first step lacks its half-weight zero: zeros become ones."""
    drawn = right(rng, size, eps, sensitivity_steps, r)
    return np.where(drawn == 0, 1 - 2 * rng.integers(0, 2, size), drawn)


def redraw_keeps_sign(rng: Generator, size: int, eps: float, sensitivity_steps: int, r: int) -> Integers:
    """The pair (0, minus) draws a new magnitude but stays negative."""
    magnitude, minus = _accepted(rng, size, eps, sensitivity_steps, r)
    again = (magnitude == 0) & minus
    magnitude[again] = _accepted(rng, int(again.sum()), eps, sensitivity_steps, r)[0]
    return _signed(magnitude, minus)


def short_uniform(rng: Generator, size: int, eps: float, sensitivity_steps: int, r: int) -> Integers:
    """No value is beyond the tail probability 2^-20, as with a 20-bit uniform: rarer values become zero."""
    drawn = right(rng, size, eps, sensitivity_steps, r)
    t = 2 * r - 1 + 2 * sensitivity_steps / np.expm1(eps)
    last = r + int(np.log(2 * sensitivity_steps / np.expm1(eps) / t * 2.0**20) / eps) * sensitivity_steps
    return np.where(np.abs(drawn) >= last, 0, drawn)


def smaller_noise(rng: Generator, size: int, eps: float, sensitivity_steps: int, r: int) -> Integers:
    """Eps three percent too large."""
    return right(rng, size, 1.03 * eps, sensitivity_steps, r)


def larger_noise(rng: Generator, size: int, eps: float, sensitivity_steps: int, r: int) -> Integers:
    """Eps three percent too small: private, but not the mechanism."""
    return right(rng, size, 0.97 * eps, sensitivity_steps, r)


def _accepted(rng: Generator, size: int, eps: float, sensitivity_steps: int, r: int) -> tuple[Integers, NDArray[np.bool_]]:
    """Return magnitudes, in which zero has one integer's weight on either side, and fair signs."""
    b = np.exp(-eps)
    place = rng.integers(0, sensitivity_steps, 2 * size * sensitivity_steps // r + 100)
    place = place[(place < r) | (rng.random(len(place)) < b)][:size]
    assert len(place) == size
    stair = rng.geometric(1 - b, size) - 1
    return place + sensitivity_steps * stair, rng.random(size) < 0.5


def _signed(magnitude: Integers, minus: NDArray[np.bool_]) -> Integers:
    return np.where(minus, -magnitude, magnitude)
