"""Roots: where a predicate begins to hold, and where a function that rises is 0; and where a function is least.

A predicate `holds` is false up to some place and true from there on. It is false at the lower end of a bracket, and true at
the upper end. Neither is checked.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from stairnoise._types import Bools, Floats

# More than any root has taken.
_MOST_NEWTON_STEPS, _MOST_SECANTS = 100, 200
# Secants that close in end at this part of the function's values at both ends.
_NEAR = 1e-10
_TOO_FAR = 1e-3
_GOLDEN = (math.sqrt(5) - 1) / 2
# Candidates in an octave: 2**15 <= m < 2**16.
_TO_AN_OCTAVE = 2**15


def least_integer(holds: Callable[[int], bool], below: int, high: int, guess: int | None = None) -> int:
    """Return the least integer for which `holds`, greater than `below` and at most `high`.

    Steps from a guess double until they leave the bracket, which is then halved.
    """
    step = high - below if guess is None else 1
    while high - below > 1:
        if guess is None or not below < guess < high:
            guess = (below + high) // 2
        held = holds(guess)
        below, high = (below, guess) if held else (guess, high)
        guess, step = guess - step if held else guess + step, 2 * step
    return high


def least_float(holds: Callable[[float], bool], below: float, high: float) -> float:
    """Return the least float64 for which `holds`, greater than `below` >= 0 and at most `high`."""
    # Positive floats are ordered as their bits are.
    return _float(least_integer(lambda bits: holds(_float(bits)), _bits(below), _bits(high)))


def least_integers(holds: Callable[[Floats], Bools], below: Floats, high: Floats) -> Floats:
    """Return the least integers for which `holds`, elementwise."""
    while np.any(high - below > 1):
        middle = np.where(high - below > 1, np.floor((below + high) / 2), high)
        enough = holds(middle)
        below, high = np.where(enough, below, middle), np.where(enough, middle, high)
    return high


def bisection(
    holds: Callable[[float], bool], low: float, high: float, *, relative: float = 0.0, geometric: bool = False
) -> float:
    """Narrow a bracket and return its upper end.

    Parameters
    ----------
    holds : callable
        The predicate.
    low, high : float
        The bracket.
    relative : float
        Length of the last bracket, relative to its upper end; 0 narrows it until no float64 is inside.
    geometric : bool
        Whether brackets are divided at their geometric mean.
    """
    while high - low > relative * abs(high):
        at = math.sqrt(low) * math.sqrt(high) if geometric else (low + high) / 2
        if not low < at < high:
            break
        low, high = (low, at) if holds(at) else (at, high)
    return high


class Rising:
    """The predicate ``not function(x) < 0`` of a function that rises, called only where earlier calls leave this open."""

    def __init__(self, function: Callable[[float], float]) -> None:
        self._function = function
        self._below, self._above = -math.inf, math.inf

    def __call__(self, x: float) -> bool:
        if self._below < x < self._above:
            self._value(x)
        return x >= self._above

    def _value(self, x: float) -> float:
        value = self._function(x)
        if value < 0:
            self._below = max(self._below, x)
        else:
            self._above = min(self._above, x)
        return value

    def close_in(self, low: float, high: float, apart: float) -> None:
        """Find the root between low and high, both positive, by secants, and a place on each side of it, this part of it away.

        A bisection that follows calls the function only between these places, and ends where it would have ended without them, if
        rounding errors do not move the root by as much.
        """
        # A bisection never asks at its ends.
        left, right = self._function(low), self._function(high)
        if not left < 0 < right < math.inf:
            return
        root = secants(lambda x: -self._value(x), (low, -left), (high, -right), _NEAR * min(-left, right))
        while self(root * (1 - apart)) or not self(root * (1 + apart)):
            apart *= 2**8
            if apart > _TOO_FAR:
                return


def bisections(holds: Callable[[Floats], Bools], low: Floats, high: Floats, halvings: int) -> Floats:
    """Halve brackets `halvings` times, elementwise, and return their upper ends."""
    for _ in range(halvings):
        middle = (low + high) / 2
        enough = holds(middle)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def newton(function: Callable[[Floats], tuple[Floats, Floats]], start: Floats, low: Any, high: Any, last_step: float) -> Floats:
    """Roots of functions that rise, elementwise: Newton's steps, or halves of the bracket where a step leaves it.

    `function` returns values and slopes. A step of `last_step` or less ends the search: the error after it is of the order
    of its square.
    """
    x, low, high = start, np.broadcast_to(low, start.shape), np.broadcast_to(high, start.shape)
    for _ in range(_MOST_NEWTON_STEPS):
        value, slope = function(x)
        low, high = np.where(value < 0, x, low), np.where(value < 0, high, x)
        step = x - value / slope
        last = np.abs(step - x) <= last_step
        x = np.where(last | ((step > low) & (step < high)), step, (low + high) / 2)
        if np.all(last):
            break
    return x


def secants(function: Callable[[float], float], low: tuple[float, float], high: tuple[float, float], small: float) -> float:
    """Return an x with abs(function(x)) < `small`, or the upper end of a bracket that secants do not divide any more.

    Parameters
    ----------
    function : callable
        A function that falls.
    low, high : tuple of float
        The bracket: an x, and the function there.
    small : float
        Value that is as good as 0.
    """
    (left, above), (right, below) = low, high
    last = 0.0
    for _ in range(_MOST_SECANTS):
        x = left + (right - left) * above / (above - below)
        if not left < x < right:
            break
        here = function(x)
        # The Illinois rule: an end that stays twice counts half.
        if here > 0:
            left, above, below = x, here, below / 2 if last > 0 else below
        else:
            right, below, above = x, here, above / 2 if last < 0 else above
        last = here
        if abs(here) < small:
            return x
    return right


def golden_section(function: Callable[[float], float], low: float, high: float, wide: float) -> float:
    """Return the middle of a bracket no wider than `wide` around the place where a function is least that falls, then rises."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > wide:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return (low + high) / 2


def _bits(x: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def _float(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


def least_candidate(enough: Callable[[float], bool], log2_least: int, log2_most: int, guess: float | None = None) -> float:
    """Return the least number of 16 bits from 2**log2_least to 2**log2_most that is enough; inf if the last one is not.

    These numbers are the candidates for a parameter that every platform must find alike (docs/contract.md, section 12).
    Where a candidate above it is not enough, bisection may end at one that is enough and not the least.
    """

    def holds(index: int) -> bool:
        return enough(_candidate(index))

    first, last = log2_least * _TO_AN_OCTAVE, log2_most * _TO_AN_OCTAVE
    if holds(first):
        return _candidate(first)
    if not holds(last):
        return math.inf
    return _candidate(least_integer(holds, first, last, None if guess is None else _index(guess)))


def _index(x: float) -> int:
    """Return the index of the first candidate that is not below x."""
    significand, octave = math.frexp(x)
    return (octave - 1) * _TO_AN_OCTAVE + math.ceil((2 * significand - 1) * _TO_AN_OCTAVE)


def _candidate(index: int) -> float:
    octave, place = divmod(index, _TO_AN_OCTAVE)
    return math.ldexp(1 + place / _TO_AN_OCTAVE, octave)
