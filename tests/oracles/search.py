"""A search over integers."""

from collections.abc import Callable


def least(holds: Callable[[int], bool], start: int) -> int:
    """Return the smallest integer from start that has a property; all later ones must have it."""
    if holds(start):
        return start
    step = 1
    while not holds(start + step):
        step *= 2
    low, high = start + step // 2, start + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
