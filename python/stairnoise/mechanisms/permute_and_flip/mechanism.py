"""The permute-and-flip mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError
from stairnoise._memory import base_view
from stairnoise._types import Floats
from stairnoise.mechanism.selection import SelectionByDifferences
from stairnoise.mechanisms.permute_and_flip import distribution

# A row of so many candidates takes some 10 ms.
_MOST_REPEATED = 2**20


class PermuteAndFlip(SelectionByDifferences):
    r"""Permute-and-flip: selects one of finitely many candidates, never at a higher mean cost than the exponential mechanism.

    It visits the candidates in a uniformly random order. It accepts candidate i with probability

    .. math:: a_i = e^{-ε(c_i - c_{\min})/(2Δ)}

    and returns the first one that it accepts. The candidate of the least cost is always accepted when it is visited.
    Each candidate has exactly the probability that follows: the exponents are rationals of the float64 numbers. A
    selection is ``eps``-differentially private if one person changes every candidate's cost by at most Δ. A constant
    added to all costs changes nothing, so costs may be negative.

    For every row of costs the mean cost is at most that of `ExponentialMechanism` with the same parameters. Its distance
    from the least cost can be half as large.

    Parameters
    ----------
    eps : float
        Privacy parameter ε > 0 of one selection.
    sensitivity : float or None
        Largest change Δ > 0 of any candidate's cost that one person can cause. None is 1: `select` then takes integers
        only.
    monotonic : bool, default False
        Promise that one person never moves two costs in opposite directions, as when a record only
        adds to costs. The coins then have the probabilities e^(−ε(c − c_min)/Δ), with which the loss is at most ε.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number, or `monotonic` is not a bool.
    ParameterError
        A parameter is out of range, an array, or not exactly representable in float64.

    Notes
    -----
    The guarantee is pure ε and what follows from it, such as ρ = ε²/2 of zero-concentrated differential privacy. The
    bound ρ = ε²/8 of the exponential mechanism does not hold here: the losses of the candidates span more than ε.

    References
    ----------
    .. [1] McKenna and Sheldon, "Permute-and-Flip: A New Mechanism for Differentially Private Selection",
       arXiv:2010.12603.
    .. [2] Ding, Kifer, Sayed Mohammad and others, "The Permute-and-Flip Mechanism is Identical to Report-Noisy-Max with
       Exponential Noise", arXiv:2105.07260.

    Examples
    --------
    >>> import stairnoise as sn
    >>> mechanism = sn.PermuteAndFlip(eps=1)
    >>> costs = [0, 0.5, 1.25, 1.75, 3.5]
    >>> mechanism.probabilities(costs).round(6).tolist()
    [0.390151, 0.266968, 0.167702, 0.125964, 0.049215]
    >>> mechanism.select([[0, 3], [5, 1]]).shape
    (2,)
    >>> mechanism.top(scores=[8, 5, 9], k=2).shape
    (2,)
    """

    __slots__ = ()
    _make = staticmethod(_native.Selection.permute_and_flip)

    def _draw(self, rows: Floats, *arguments: Any, numbers: Floats | None = None) -> Any:
        """Draw; of a multiplicity the cost is repeated, because the coins of all candidates count."""
        if numbers is None:
            return super()._draw(rows, *arguments)
        batch, n = rows.shape[:-1], rows.shape[-1]
        times = numbers.astype(np.int64).reshape(-1, n)
        longest = int(times.sum(axis=-1).max(initial=1))
        if longest > _MOST_REPEATED:
            raise ParameterError(
                f"multiplicities must be at most {_MOST_REPEATED} in all of a row of PermuteAndFlip, got a row with more; "
                "ExponentialMechanism takes more"
            )
        size, stream, out, threads = arguments
        repeated = np.full((len(times), longest), np.inf)
        index = np.zeros((len(times), longest), np.int64)
        for place, (row, many) in enumerate(zip(rows.reshape(-1, n), times, strict=True)):
            repeated[place, : many.sum()] = np.repeat(row, many)
            index[place, : many.sum()] = np.repeat(np.arange(n), many)
        found = super()._draw(repeated.reshape(*batch, longest), size, stream, out, threads)
        if isinstance(found, int):
            return int(index[0, found])
        selected = found if out is None else base_view(out)
        places = np.broadcast_to(index.reshape(*batch, longest), (*selected.shape, longest))
        selected[...] = np.take_along_axis(places, selected[..., None], axis=-1)[..., 0]
        return found

    def _chances(self, exponents: Floats, numbers: Floats | None = None) -> Floats:
        with np.errstate(under="ignore"):
            chances = np.exp(-exponents) * distribution.first_accepted(exponents, numbers)
        return np.asarray(chances if numbers is None else chances * numbers)

    def _log_chances(self, exponents: Floats) -> Floats:
        return np.asarray(np.log(distribution.first_accepted(exponents)) - exponents)
