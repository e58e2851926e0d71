"""What a release promises, in one form for every mechanism, and what a change of one value, or of many values together, costs.

The second part is the arithmetic of `AdditiveMechanism.privacy_map`. A release rounds x to the integer ⌊x/g + 1/2⌋ of lattice
steps. So a change by d > 0 moves a value by at most ⌈d/g⌉ steps, which is below d/g + 1. For n values, the largest sum of all
moves is ⌈d/g⌉ + n - 1 if d bounds the l1 norm of the change. The root of the sum of their squares is below d/g + √n if d bounds
the l2 norm, by the triangle inequality. Integers are not rounded on a lattice of step 1, 1/2, 1/4, …
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from stairnoise._errors import ParameterError
from stairnoise._parameters import Real, count, flag, refuse, single
from stairnoise._types import Ints
from stairnoise.mechanism.immutable import Immutable, display, setters
from stairnoise.numerics.rounding import rounded_up

MOST_PARTITIONS = 2**53 - 1
NAME = "max_partitions_contributed"
Norm = Literal["l1", "l2"]
_FIELDS = ("eps", "delta", "rho", "sensitivity", "partitions", "norm")


def best_guess(eps: Real, delta: Real) -> Real:
    """Return (e^ε + δ)/(1 + e^ε).

    The best test of two equally likely hypotheses is right with probability (1 + d)/2 for a total variation distance d, which is
    at most (e^ε - 1 + 2δ)/(e^ε + 1) (Kairouz, Oh and Viswanath 2015, remark A.1).
    """
    out = np.exp(-np.asarray(eps, np.float64))
    found = (1 + delta * out) / (1 + out)
    return float(found) if found.ndim == 0 else found


class Guarantee(Immutable):
    """What a mechanism promises about its releases; ``guarantee()`` of every mechanism returns one.

    One person changes each of ``partitions`` released values by at most ``sensitivity``. All these values together have the
    (ε, δ) and the ρ below. Objects are immutable and hashable, and print as a sentence.

    Attributes
    ----------
    eps : float, ndarray or None
        ε of differential privacy. None for a mechanism that states only ρ, such as ``Gaussian(sigma=1)``, or only its
        ``rdp_bound``, such as ``Skellam(mu)``. Its ``privacy_profile(eps)`` returns a δ for every ε.
    delta : float, ndarray or None
        δ of differential privacy: 0.0 for pure ε, None if ``eps`` is None.
    rho : float, ndarray or None
        ρ of zero-concentrated differential privacy, for Gaussian noise. None for all other mechanisms.
    sensitivity : float, int, ndarray or None
        Largest change of one value that one person can cause. For a vector, the change is measured in its norm. None: any change
        of a value, as for the categories of `RandomizedResponse`.
    partitions : int
        How many values one person changes.
    norm : {"l1", "l2"} or None
        Of `privacy_map` for several values: ``sensitivity`` bounds the change of all values together in this norm. None:
        it bounds the change of each value.

    Examples
    --------
    >>> import stairnoise as sn
    >>> sn.Gaussian(eps=1, delta=1e-6).guarantee().delta
    1e-06
    >>> sn.Laplace(eps=1, sensitivity=2).guarantee()
    Guarantee: one value that changes by at most 2.0 is 1.0-differentially private.
    >>> sn.Laplace(eps=1, sensitivity=2).guarantee(max_partitions_contributed=3)
    Guarantee: 3 values that change by at most 2.0 each are 1.0-differentially private together.
    """

    __slots__ = ("delta", "eps", "norm", "partitions", "rho", "sensitivity")
    __module__ = "stairnoise"

    eps: Real | None
    delta: Real | None
    rho: Real | None
    sensitivity: Real | Ints | None
    partitions: int
    norm: Norm | None

    def __init__(
        self,
        eps: Real | None = None,
        delta: Real | None = None,
        rho: Real | None = None,
        sensitivity: Real | Ints | None = 1,
        partitions: int = 1,
        norm: Norm | None = None,
    ) -> None:
        _set_eps(self, eps)
        _set_delta(self, delta)
        _set_rho(self, rho)
        _set_sensitivity(self, sensitivity)
        _set_partitions(self, partitions)
        _set_norm(self, norm)

    @property
    def best_guess(self) -> Real | None:
        """Largest probability that a guess whether a person is in the data is right: (e^ε + δ)/(1 + e^ε).

        It is a guess with the release at hand, by somebody who knows all other people's data, and to whom both were equally
        likely before. None if ``eps`` is None.
        """
        return None if self.eps is None else best_guess(self.eps, 0.0 if self.delta is None else self.delta)

    def _named_arguments(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    def __repr__(self) -> str:
        claims = []
        if self.eps is not None:
            pure = self.delta is not None and np.all(np.equal(self.delta, 0))
            bounds = _shown(self.eps) if pure else f"({_shown(self.eps)}, {_shown(self.delta)})"
            claims.append(f"{bounds}-differentially private")
        if self.rho is not None:
            claims.append(f"{_shown(self.rho)}-zero-concentrated differentially private")
        promise = " and ".join(claims) or "(α, rdp_bound(α))-Rényi differentially private for every α > 1"
        known, most = self.sensitivity is not None, f"by at most {display(self.sensitivity)}"
        if self.partitions == 1:
            change = f" that changes {most}" if known else ", whatever it becomes,"
            return f"Guarantee: one value{change} is {promise}."
        spread = "each" if self.norm is None else f"together in the {self.norm} norm"
        change = f" that change {most} {spread}" if known else ", whatever they become,"
        return f"Guarantee: {self.partitions} values{change} are {promise} together."


_set_eps, _set_delta, _set_rho, _set_sensitivity, _set_partitions, _set_norm = setters(Guarantee, *_FIELDS)


def _shown(number: Any) -> str:
    """Write an ε, δ or ρ, rounded up to four digits: the guarantee holds for every larger number too."""
    # Imported here, so that programs which only draw noise do not wait for decimals.
    from stairnoise._digits import at_most

    as_it_is = display(number)
    return as_it_is if not isinstance(number, float) or float(at_most(number)) == number else at_most(number)


def partitions(k: object, name: str) -> int:
    """Check `k`; errors call it `name`."""
    return count(k, name, least=1, most=MOST_PARTITIONS)


# The cost of a change

# Bits of a root after the point.
_ROOT_BITS = 64
# δ e^x is above 1 for every δ of float64 if x is above this, which is more than -ln(2**-1074).
_MOST_LOG = 750
# Exceeds the rounding of two exponentials of at most _MOST_LOG, of their quotient, and of a product.
_MARGIN = 1 + 2.0**-38


class Change(NamedTuple):
    """How far `size` values move together, by at most `distance` in some norm."""

    distance: Fraction
    granularity: Fraction
    size: int
    integers: bool

    def steps(self) -> tuple[int, int]:
        """Return the largest sum of all moves in lattice steps, if the norm is l1, and how many values move."""
        distance, n = self._changed(self.distance)
        moves = math.ceil(distance / self.granularity)
        return (moves, n) if self._is_exact() or n == 0 else (moves + n - 1, n)

    def squares(self) -> int:
        """Return the largest sum of all squared moves in lattice steps, if the norm is l2."""
        square, n = self._changed(self.distance**2)
        square /= self.granularity**2
        if self._is_exact() or n == 0:
            return int(square)
        if n == 1:
            return _root_up(math.ceil(square)) ** 2
        # (√square + √n)² is an upper bound that is not reached.
        middle = Fraction(_root_up(math.ceil(4 * square * n * (1 << 2 * _ROOT_BITS))), 1 << _ROOT_BITS)
        return math.ceil(square + middle) + n - 1

    def length(self, norm: str) -> int:
        """Return the least integer that is not below the largest norm of all moves in lattice steps: "l1", "l2" or "linf"."""
        if norm == "l2":
            return _root_up(self.squares())
        return (self if norm == "l1" else self._replace(size=1)).steps()[0]

    def units(self, steps: int) -> int:
        """Return how many moves of one value by at most so many steps make up every such change, if the norm is l1."""
        moves, n = self.steps()
        # A move by so many steps needs one change by `steps` for each begun `steps`, and what is begun is at least this long.
        least = math.gcd(int(1 / self.granularity), steps) if self._is_exact() else 1
        return n + (moves - n * least) // steps

    def _changed(self, total: Fraction) -> tuple[Fraction, int]:
        """Return the largest sum of all changes, or of their squares, and how many values change."""
        if self.integers:
            whole = math.floor(total)
            return Fraction(whole), min(self.size, whole)
        return total, self.size if total else 0

    def _is_exact(self) -> bool:
        return self.integers and self.granularity <= 1


def mapped(mechanism: Any, d_in: Any, size: Any, integers: Any, *delta: float) -> Guarantee:
    """Return the guarantee for a change by `d_in`; the arguments are those of `privacy_map`."""
    distance = single(d_in, "d_in")
    refuse("d_in", distance, 0 <= distance < math.inf, "finite and at least 0", d_in)
    n, whole = count(size, "size", least=1, most=MOST_PARTITIONS), flag(integers, "integers")
    if mechanism._parameter_shape:
        raise ParameterError(f"privacy_map must have a mechanism of single parameters, got shape {mechanism._parameter_shape}")
    most = distance
    if whole and mechanism._change_norm == "l2" and not distance.is_integer():
        # The distance is the root of an integer, and float64 can hold less than this root.
        most = math.nextafter(distance, math.inf)
    change = Change(Fraction(most), Fraction(mechanism._sampler.granularity), n, whole)
    eps, spent, rho = mechanism._cost_of(change, *delta)
    return Guarantee(eps, spent, rho, distance, n, None if n == 1 else mechanism._change_norm)


def group(eps: Fraction | float, delta: float, times: int) -> tuple[float, float, None]:
    """Return (ε, δ) of `times` changes one after the other, each (eps, delta)-private, and no ρ (Vadhan 2017, lemma 2.2).

    The δ is ``delta (1 + e^ε + … + e^((times - 1)ε))``.
    """
    total = times * Fraction(eps)
    if times == 0 or delta == 0:
        return rounded_up(total), 0.0, None
    if times == 1:
        return rounded_up(total), delta, None
    if total > _MOST_LOG:
        return rounded_up(total), 1.0, None
    one = float(eps)
    terms = float(times) if one == 0 else math.expm1(float(total)) / math.expm1(one)
    return rounded_up(total), min(1.0, math.nextafter(delta * terms * _MARGIN, 1.0)), None


def _root_up(square: int) -> int:
    """Return the least integer that is not below the root."""
    root = math.isqrt(square)
    return root + (root * root < square)
