"""The exact pure ε of a law whose log-density is piecewise linear: rational arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def largest_loss(slopes: Sequence[Fraction], breaks: Sequence[Fraction], shift: Fraction) -> Fraction:
    """Return the largest loss W(|x + shift|) - W(|x|), where W has slope slopes[j] from breaks[j - 1] to breaks[j].

    W rises with |x|, so that no smaller shift loses more, nor any x < 0. For x >= 0 the loss is piecewise linear in x,
    with corners where x or x + shift is a break, and constant from the last break on: one of them is the largest.
    """
    corners = {Fraction(0), *breaks, *(c - shift for c in breaks if c > shift)}
    return max(_height(x + shift, slopes, breaks) - _height(x, slopes, breaks) for x in corners)


def _height(x: Fraction, slopes: Sequence[Fraction], breaks: Sequence[Fraction]) -> Fraction:
    """W(x), for x >= 0."""
    starts = [Fraction(0), *breaks]
    ends = [*breaks, max(x, starts[-1])]
    parts = zip(slopes, starts, ends, strict=True)
    return sum((slope * (min(x, end) - start) for slope, start, end in parts if x > start), Fraction(0))
