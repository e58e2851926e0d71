"""Private selection of candidates: the staircase mechanism on finite sets, the exponential mechanism, permute-and-flip."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._parameters import RealLike, flag, single
from stairnoise.mechanism.selection import SelectionMechanism
from stairnoise.mechanisms.permute_and_flip import distribution as permute_and_flip

if TYPE_CHECKING:
    from collections.abc import Callable


class StaircaseSelection(SelectionMechanism):
    r"""The staircase mechanism in the abstract setting: selects one of finitely many candidates by their costs.

    .. math:: P(i) = \frac{w_i}{\sum_k w_k},\quad w_i = e^{-εJ_i/2},\quad
        J_i = 0 \text{ if } c_i < γΔ \text{, otherwise } ⌊c_i/Δ - γ⌋ + 1

    The stair J of a cost is computed exactly from the float64 numbers, and a candidate is drawn
    exactly with the probability above. A selection is ``eps``-differentially private if one person
    changes every candidate's cost by at most Δ. Every J then changes by at most 1, and every weight
    by a factor of at most e^(ε/2). The sum of all weights may change by as much in the other
    direction. With the paper's weights e^(−εJ), the loss can come arbitrarily close to 2ε.

    Costs are absolute: never subtract the least cost of the data first. That minimum depends on
    the data too, which doubles the sensitivity of the differences.

    Parameters
    ----------
    eps : float
        Privacy parameter ε > 0 of one selection.
    sensitivity : float or None
        Largest change Δ > 0 of any candidate's cost that one person can cause. None is 1: `select` then takes integers
        only.
    gamma : float, default 0.5
        Width of the first stair in units of Δ, 0 < γ ≤ 1. Any γ keeps the guarantee. 0.5 keeps J
        within one half of c/Δ, so each weight is within a factor of e^(ε/4) of the exponential
        mechanism's. 1/(1 + e^(ε/4)) minimises the mean cost \|x\| on the whole real line.
    monotonic : bool, default False
        Promise that one person never moves two costs in opposite directions, as when a record only
        adds to costs. The weights are then w = e^(−εJ), with which the loss is at most ε.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number, or `monotonic` is not a bool.
    ParameterError
        A parameter is out of range, an array, or not exactly representable in float64.

    References
    ----------
    .. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186,
       abstract setting, theorem 13. We could not read its constant; ``docs/selection.md`` proves
       the factor 2 above.

    Examples
    --------
    >>> import numpy as np
    >>> import stairnoise as sn
    >>> mechanism = sn.StaircaseSelection(eps=1, sensitivity=1, gamma=0.375)
    >>> mechanism
    StaircaseSelection(eps=1.0, sensitivity=1.0, gamma=0.375, monotonic=False)
    >>> costs = [0, 0.5, 1.25, 1.75, 3.5]
    >>> mechanism.stairs(costs).tolist()
    [0, 1, 1, 2, 4]
    >>> mechanism.probabilities(costs).round(6).tolist()
    [0.368151, 0.223295, 0.223295, 0.135435, 0.049824]
    >>> mechanism.select(costs) in range(5)
    True
    >>> mechanism.sample(costs, 1000, rng=sn.SeededRng(1)).shape
    (1000,)
    """

    __slots__ = ()
    __module__ = "stairnoise"
    _rules = {1: "finite or inf, and at least 0", -1: "finite or -inf, and at most 0"}  # noqa: RUF012 - never changed

    def __init__(
        self, eps: RealLike, sensitivity: RealLike | None = None, gamma: RealLike = 0.5, monotonic: bool = False
    ) -> None:
        rate, change, width = single(eps, "eps"), _change(sensitivity), single(gamma, "gamma")
        promise = flag(monotonic, "monotonic")
        mechanism = _native.Selection.staircase(rate, 1.0 if change is None else change, width, promise)
        self._store(mechanism, {"eps": rate, "sensitivity": change, "gamma": width, "monotonic": promise})

    @property
    def gamma(self) -> float:
        """Width γ of the first stair in units of the sensitivity."""
        gamma: float = self._given["gamma"]
        return gamma

    def stairs(self, costs: RealLike) -> NDArray[np.int64]:
        """Return the stair J of every cost, exactly.

        Parameters
        ----------
        costs : array of float, shape (..., n)
            As for `select`.

        Returns
        -------
        ndarray of int64, shape (..., n)
            J saturates at 2**63 - 1, which is also the J of a cost of ``inf``.

        Raises
        ------
        ParameterError, ParameterTypeError
            As `select` raises.
        """
        return self._stairs(self._rows(costs))

    def _stairs(self, rows: NDArray[np.float64]) -> NDArray[np.int64]:
        stairs = np.empty(rows.shape, np.int64)
        self._mechanism.stairs(rows, stairs)
        return stairs

    def _exponents(self, rows: NDArray[np.float64], infinite: bool) -> NDArray[np.float64]:
        stairs = self._stairs(rows)
        # The least stair gives a factor that all weights share; the least cost would not.
        stairs -= stairs.min(axis=-1, keepdims=True)
        above = stairs.astype(np.float64)
        if infinite:
            above[rows == np.inf] = np.inf
        with np.errstate(over="ignore", under="ignore"):
            above *= self.eps
            if not self.monotonic:
                above *= 0.5
        return above


class _ByDifferences(SelectionMechanism):
    """A mechanism to which only differences of costs matter."""

    __slots__ = ()
    _rules = {1: "finite or inf", -1: "finite or -inf"}  # noqa: RUF012 - never changed
    _make: Callable[[float, float, bool], _native.Selection]

    def __init__(self, eps: RealLike, sensitivity: RealLike | None = None, monotonic: bool = False) -> None:
        rate, change, promise = single(eps, "eps"), _change(sensitivity), flag(monotonic, "monotonic")
        self._store(
            self._make(rate, 1.0 if change is None else change, promise),
            {"eps": rate, "sensitivity": change, "monotonic": promise},
        )

    def _exponents(self, rows: NDArray[np.float64], infinite: bool) -> NDArray[np.float64]:
        """Return ε(c − least)/(2Δ), from significands and exponents, so that only the result can leave float64's range."""
        # Memory first: a view that repeats a row beyond all memory is refused before anybody goes through it.
        above = np.empty(rows.shape)
        least = rows.min(axis=-1, keepdims=True)
        # Halving is inexact only for subnormal numbers, which are negligible beside a difference that would overflow.
        finite = np.where(rows < np.inf, rows, least) if infinite else rows
        halved = bool(np.abs(finite).max(initial=0.0) >= 2.0**1022)
        if halved:
            rows, least = rows / 2, least / 2
        above, exponent = np.frexp(np.subtract(rows, least, out=above))
        eps, unit = math.frexp(self.eps), math.frexp(self.sensitivity)
        shift = eps[1] - unit[1] + halved - (not self.monotonic)
        with np.errstate(over="ignore", under="ignore"):
            above *= eps[0]
            if unit[0] == 0.5:
                shift += 1  # a sensitivity of 1 or another power of two needs no division
            else:
                above /= unit[0]
            exponents: NDArray[np.float64] = np.ldexp(above, exponent + shift)
        return exponents


class ExponentialMechanism(_ByDifferences):
    r"""The exponential mechanism: selects one of finitely many candidates by their costs.

    .. math:: P(i) = \frac{w_i}{\sum_k w_k},\quad w_i = e^{-εc_i/(2Δ)}

    The exponents are exact rationals of the float64 numbers, and a candidate is drawn exactly
    with the probability above. A selection is ``eps``-differentially private if one person changes
    every candidate's cost by at most Δ. A constant added to all costs changes nothing, because it
    is a factor that all weights share. So costs may be negative, and the least cost may be
    subtracted.

    Parameters
    ----------
    eps : float
        Privacy parameter ε > 0 of one selection.
    sensitivity : float or None
        Largest change Δ > 0 of any candidate's cost that one person can cause. None is 1: `select` then takes integers
        only.
    monotonic : bool, default False
        Promise that one person never moves two costs in opposite directions, as when a record only
        adds to costs. The weights are then w = e^(−εc/Δ), with which the loss is at most ε.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number, or `monotonic` is not a bool.
    ParameterError
        A parameter is out of range, an array, or not exactly representable in float64.

    References
    ----------
    .. [1] McSherry and Talwar, "Mechanism Design via Differential Privacy", FOCS 2007.

    Examples
    --------
    >>> import stairnoise as sn
    >>> mechanism = sn.ExponentialMechanism(eps=1)
    >>> mechanism.probabilities([0, 0.5, 1.25, 1.75, 3.5]).round(6).tolist()
    [0.34427, 0.268118, 0.184274, 0.143513, 0.059825]
    >>> mechanism.select([[0, 3], [5, 1]]).shape
    (2,)
    """

    __slots__ = ()
    __module__ = "stairnoise"
    _make = staticmethod(_native.Selection.exponential)


class PermuteAndFlip(_ByDifferences):
    r"""Permute-and-flip: selects one of finitely many candidates, never at a higher mean cost than the exponential mechanism.

    It visits the candidates in a uniformly random order. It accepts candidate i with probability

    .. math:: a_i = e^{-ε(c_i - c_{\min})/(2Δ)}

    and returns the first one that it accepts. The candidate of the least cost is accepted whenever it is visited.
    Order and coins are exact: the exponents are rationals of the float64 numbers. A selection is
    ``eps``-differentially private if one person changes every candidate's cost by at most Δ. A constant added to all
    costs changes nothing, so costs may be negative.

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
    __module__ = "stairnoise"
    _make = staticmethod(_native.Selection.permute_and_flip)

    def _chances(self, exponents: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(under="ignore"):
            chances: NDArray[np.float64] = np.exp(-exponents) * permute_and_flip.first_accepted(exponents)
        return chances

    def _log_chances(self, exponents: NDArray[np.float64]) -> NDArray[np.float64]:
        logs: NDArray[np.float64] = np.log(permute_and_flip.first_accepted(exponents)) - exponents
        return logs


def _change(sensitivity: RealLike | None) -> float | None:
    return None if sensitivity is None else single(sensitivity, "sensitivity")
