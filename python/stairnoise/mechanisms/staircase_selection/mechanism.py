"""The staircase mechanism on finite sets of candidates."""

from __future__ import annotations

import numpy as np

from stairnoise import _native
from stairnoise._parameters import RealLike, flag, single
from stairnoise._types import Floats, Ints
from stairnoise.mechanism.immutable import Parameter
from stairnoise.mechanism.selection import SelectionMechanism, stated_change


class StaircaseSelection(SelectionMechanism):
    r"""The staircase mechanism in the abstract setting: selects one of finitely many candidates by their costs.

    .. math:: P(i) = \frac{w_i}{\sum_k w_k},\quad w_i = e^{-εJ_i/2},\quad
        J_i = 0 \text{ if } c_i < γΔ \text{, otherwise } ⌊c_i/Δ - γ⌋ + 1

    The stair J of a cost is computed exactly from the float64 numbers, and a candidate is drawn
    exactly with the probability above. A selection is ``eps``-differentially private if one person
    changes every candidate's cost by at most Δ. Every J then changes by at most 1, and every weight
    by a factor of at most e^(ε/2). The sum of all weights can change by the same factor in
    the other direction. With the paper's weights e^(−εJ), the loss can come arbitrarily close to 2ε.

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
    _rules = {1: "finite or inf, and at least 0", -1: "finite or -inf, and at most 0"}  # noqa: RUF012 - never changed

    def __init__(
        self, eps: RealLike, sensitivity: RealLike | None = None, gamma: RealLike = 0.5, monotonic: bool = False
    ) -> None:
        rate, change, width = single(eps, "eps"), stated_change(sensitivity), single(gamma, "gamma")
        promise = flag(monotonic, "monotonic")
        mechanism = _native.Selection.staircase(rate, 1.0 if change is None else change, width, promise)
        self._store(mechanism, {"eps": rate, "sensitivity": change, "gamma": width, "monotonic": promise})

    gamma = Parameter[float]("Width γ of the first stair in units of the sensitivity.")

    def stairs(self, costs: RealLike) -> Ints:
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
        return self._stairs(self._checked(costs)[0])

    def _stairs(self, rows: Floats) -> Ints:
        stairs = np.empty(rows.shape, np.int64)
        self._mechanism.stairs(rows, stairs)
        return stairs

    def _exponents(self, rows: Floats, infinite: bool) -> Floats:
        stairs = self._stairs(rows)
        # Subtracting the least stair is a common factor of all weights; subtracting the least cost would not be.
        stairs -= stairs.min(axis=-1, keepdims=True)
        above = stairs.astype(np.float64)
        if infinite:
            above[rows == np.inf] = np.inf
        with np.errstate(over="ignore", under="ignore"):
            above *= self.eps
            if not self.monotonic:
                above *= 0.5
        return above
