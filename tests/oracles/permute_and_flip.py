"""Contract, permute-and-flip and several candidates: weights that are integrals, and selections without replacement.

With s = 1 - t, every factor 1 - a*t is the polynomial (1 - a) + a*s, whose coefficients are not negative. So the integrand is
expanded in intervals of fixed point, which grow by a unit with each product.
"""

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from mpmath import iv, libmp

from tests.oracles import intervals, selection
from tests.oracles.selection import Mechanism, exponents

Ends = tuple[int, int]


class Row(selection.Row):
    """Permute-and-flip of one row.

    A share is rational only if every exponent has it of its candidates. Let the share be r for the exponents below x, and let n
    candidates have the exponent 0. Without r times all weights, whose sum is 1, the share is a polynomial in powers of e, with
    e^(-x) as the largest one. The coefficient of e^(-x) is what the candidates of exponent x have beyond r, over n + 1. By
    Lindemann and Weierstrass the polynomial is rational only if that coefficient is 0.
    """

    def _weigh(self, part: Counter[Fraction]) -> Any:
        """The integral of the sum over the part's candidates i of a_i times the product of 1 - a_k*t over all others."""
        bits = iv.prec
        every, some = [(1 << bits, 1 << bits)], [(0, 0)]
        for x, count in self._all.items():
            low, high = (libmp.to_int(libmp.mpf_floor(end)) for end in (intervals.exp(-x) * 2**bits)._mpi_)
            a = (low, min(high + 1, 1 << bits))
            rest = ((1 << bits) - a[1], (1 << bits) - a[0])
            for number in range(count):
                grown = [_total([_product(p, rest, bits), _product(q, a, bits)]) for p, q in _shifted(some)]
                if number < part[x]:
                    grown = [_total([p, _product(q, a, bits)]) for p, q in zip(grown, [*every, (0, 0)], strict=True)]
                some = grown
                every = [_total([_product(p, rest, bits), _product(q, a, bits)]) for p, q in _shifted(every)]
        ends = _total((low // (k + 1), -(-high // (k + 1))) for k, (low, high) in enumerate(some))
        # In fixed point a tiny integral may be 0. It is at least a_i/n, as every factor is at least 1 - t, and at most a_i.
        integral, coins = iv.mpf(ends) / 2**bits, super()._weigh(part)
        return iv.mpf([max(integral.a, (coins / len(self)).a), min(integral.b, coins.b)])


def _shifted(terms: list[Ends]) -> Iterable[tuple[Ends, Ends]]:
    """Coefficient k and coefficient k - 1, for a polynomial that is multiplied by a linear one."""
    return zip([*terms, (0, 0)], [(0, 0), *terms], strict=True)


def _product(x: Ends, y: Ends, bits: int) -> Ends:
    return x[0] * y[0] >> bits, (x[1] * y[1] >> bits) + 1


def _total(terms: Iterable[Ends]) -> Ends:
    lows, highs = zip(*terms, strict=True)
    return sum(lows), sum(highs)


def row(flips: bool, exponents: list[Fraction | None]) -> selection.Row:
    """The mechanism of one row: permute-and-flip, or in proportion to the powers of e."""
    return Row(exponents) if flips else selection.Row(exponents)


def top(flips: bool, mechanism: Mechanism, costs: list[float], k: int, key: bytes, fill: int, first: int) -> list[int]:
    """The k candidates of the row whose values begin with number `first` of a fill."""
    left, chosen = list(costs), []
    for number in range(first, first + k):
        chosen.append(selection.at(row(flips, exponents(mechanism, left, k)), key, fill, number).index)
        left[chosen[-1]] = math.inf
    return chosen
