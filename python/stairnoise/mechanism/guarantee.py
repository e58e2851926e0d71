"""What a release promises, in one form for every mechanism."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from stairnoise._parameters import Real, count
from stairnoise._types import Ints
from stairnoise.mechanism.immutable import Immutable, display, setters

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
