"""Distributions of array parameters, element by element: each different one is made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stairnoise._types import Floats, Places


class Elements:
    """Functions of `distributions`, of which every element has the one whose number is in `which`."""

    def __init__(self, distributions: Sequence[Any], which: Places) -> None:
        self._distributions, self._which = distributions, which

    def at(self, function: str, x: Any) -> Floats:
        """Evaluate a function by its name, for every x and all elements."""
        return by_element([getattr(distribution, function) for distribution in self._distributions], self._which, x)

    def __getattr__(self, name: str) -> Callable[..., Floats]:
        """Return a function that has one number for each element, such as `mean` or `moment`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *arguments: self._of_all(lambda distribution: getattr(distribution, name)(*arguments))

    def _of_all(self, answer: Callable[[Any], Any]) -> Floats:
        return np.array([answer(distribution) for distribution in self._distributions], np.float64)[self._which]

    @property
    def unit(self) -> Floats:
        """The unit of each element."""
        return self._of_all(lambda distribution: distribution.unit)

    def in_units(self) -> Elements:
        """Return the distributions of X/unit."""
        return Elements([distribution.in_units() for distribution in self._distributions], self._which)

    def support(self) -> tuple[Floats, Floats]:
        """Return the ends of the support."""
        # In pairs, even if there are no elements.
        low, high = np.array([distribution.support() for distribution in self._distributions], np.float64).reshape(-1, 2).T
        return low[self._which], high[self._which]


def by_element(functions: Sequence[Callable[[Floats], Floats]], which: Places, x: Any) -> Floats:
    """Evaluate at every x the function of its element; `which` has the functions' numbers, and broadcasts against x."""
    numbers, places = np.broadcast_arrays(which, np.asarray(x, np.float64))
    flat, found = places.reshape(-1), np.empty(numbers.size)
    # The positions of each function's elements, one function after the other.
    order = np.argsort(numbers, axis=None, kind="stable")
    ends = np.cumsum(np.bincount(numbers.reshape(-1), minlength=len(functions)))
    for function, positions in zip(functions, np.split(order, ends)[:-1], strict=True):
        if positions.size:
            found[positions] = function(flat[positions])
    return found.reshape(numbers.shape)
