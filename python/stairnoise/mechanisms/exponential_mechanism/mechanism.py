"""The exponential mechanism."""

from __future__ import annotations

from stairnoise import _native
from stairnoise.mechanism.selection import SelectionByDifferences


class ExponentialMechanism(SelectionByDifferences):
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
    _make = staticmethod(_native.Selection.exponential)
