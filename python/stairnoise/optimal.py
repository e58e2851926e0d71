r"""The staircase with the least cost: `optimal_gamma`, `optimal_r`, `optimal_cost`, `expected_cost`.

Staircase noise is the best ε-differentially private noise for *every* cost that does not decrease with
\|x\|. Each cost has its own best central stair [1]_. A cost is named in one of three ways: ``"l1"``
or ``"l2"`` for \|x\| and x², a number p for \|x\|**p, or a function of \|x\|.

For each of these the expected cost first falls and then rises as the central stair widens. So the
optimum is global: there is no second minimum. ``docs/calibration.md`` has the proof in three lines.

References
----------
.. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._parameters import Real, RealLike, common_shape, one_of, real, refuse
from stairnoise._types import Array, Float, Floats, Number, Numeric
from stairnoise.distributions import real_moments as moments
from stairnoise.distributions.moments import lattice_abs_moment
from stairnoise.mechanism.array_parameters import describe
from stairnoise.mechanism.cost import CostFunction, check_function, elementwise
from stairnoise.mechanisms.staircase import cost as functions
from stairnoise.mechanisms.staircase import power_cost as powers
from stairnoise.mechanisms.staircase.calibration import gamma_l1, gamma_l2
from stairnoise.registry import BY_NAME

__all__ = ["expected_cost", "optimal_cost", "optimal_gamma", "optimal_r"]

if TYPE_CHECKING:
    from stairnoise.mechanism.additive import AdditiveMechanism

    OneCost = Literal["l1", "l2"] | Number | CostFunction
    Costly = OneCost | Array
    _Shape = Literal["staircase", "discrete_staircase"]

CostLike = Literal["l1", "l2"] | RealLike | CostFunction

_NAMED = {"l1": 1.0, "l2": 2.0}
# Every continuous mechanism with sensitivity 1 accepts an eps from here on.
_LEAST_EPS = 2.0**-40
_EXACT_INTEGERS = 2**53
_MECHANISMS = ("staircase", "discrete_staircase")


@overload
def optimal_gamma(eps: Number, cost: OneCost = "l1", *, sensitivity: Number = 1.0) -> float: ...  # type: ignore[overload-overlap]
@overload
def optimal_gamma(eps: Numeric, cost: Costly = "l1", *, sensitivity: Numeric = 1.0) -> Floats: ...
def optimal_gamma(eps: RealLike, cost: CostLike = "l1", *, sensitivity: RealLike = 1.0) -> Any:
    r"""Half-width of the central stair, in units of Δ, of the staircase with the least expected cost.

    With :math:`b = e^{-ε}`, :math:`c = b/(1-b)` and Lerch's :math:`Φ(b, -s, γ) = \sum_{m ≥ 0} b^m (m+γ)^s`:

    .. math::

        γ_1 = \frac{1}{1 + e^{ε/2}}, \qquad
        γ_2 = \frac{y - b}{1 - b},\; y^3 = \frac{b(1+b)}{2}, \qquad
        (p+1)(γ_p + c)\,Φ(b, -p, γ_p) = Φ(b, -p-1, γ_p).

    The last equation has exactly one root; for p = 1 and 2 it is the closed form.

    Parameters
    ----------
    eps : float or array of float
        Privacy parameter ε > 0 of one draw.
    cost : {"l1", "l2"}, float, array of float or callable, default "l1"
        Cost of the noise x: \|x\|, x², or \|x\|**p for a number p from 2**-10 to 64. Or a function
        ``cost(x)``. It takes an increasing float64 array of magnitudes \|x\| >= 0, in the units of
        `sensitivity`, and returns a real array of the same shape. It must not decrease, but may jump.
    sensitivity : float or array of float, default 1.0
        Δ > 0. It matters only if the cost is a function.

    Returns
    -------
    float or ndarray of float64
        In (0, 1], of the shape to which the parameters broadcast. If several are best, the smallest; if all
        are, 1. The relative error for "l1" and "l2" is 1e-14 for ε up to 10, and ε times 1e-16 beyond. It is
        the same for numbers p from 0.1 on, and about 1e-15/p below. For a smooth function it is 1e-11. If the
        optimum of a function is at a jump, the result is the place of the jump.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number, or the function returns something else.
    ParameterError
        A parameter is out of range, or the shapes do not broadcast. If the cost is a function: ε
        is not from 2**-7 to 700, or the function decreases, is NaN, or is infinite within
        \|x\| <= 700 Δ/ε. Or it grows about as fast as :math:`e^{ε|x|/Δ}`, so that no expected cost
        would be finite.

    References
    ----------
    .. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186,
       theorems for the costs \|x\| and x².

    Examples
    --------
    >>> import numpy as np
    >>> import stairnoise.optimal as so
    >>> round(so.optimal_gamma(8), 6), round(so.optimal_gamma(8, "l2"), 6)
    (0.017986, 0.054838)
    >>> so.optimal_gamma([1, 4], cost=[[0.5], [3]]).round(6)
    array([[0.327878, 0.078007],
           [0.419124, 0.244399]])
    >>> round(so.optimal_gamma(8, lambda x: x**2), 6)
    0.054838

    An error of at most 0.3 is free and a larger one costs 1: the best central stair reaches to 0.3.

    >>> round(so.optimal_gamma(4, lambda x: x > 0.3), 6)
    0.3
    """
    if isinstance(cost, str) and type(eps) in (float, int) and type(sensitivity) is float:
        # Fast path for the most common arguments: a quarter of the time.
        plain = _LEAST_EPS <= eps < _EXACT_INTEGERS and 0 < sensitivity < math.inf  # type: ignore[operator]
        if plain and cost in _NAMED:
            return float((gamma_l1 if cost == "l1" else gamma_l2)(float(eps)))  # type: ignore[arg-type]
    kind, epsilon, scale, shape = _checked("staircase", eps, sensitivity, cost)
    if callable(kind):
        return elementwise(lambda e, D: functions.best_gamma(functions.Folded(kind, e, D)), shape, epsilon, scale)
    return _plain(_best_gamma(kind, epsilon), shape)


@overload
def optimal_r(eps: Number, sensitivity: Number = 1, cost: OneCost = "l1") -> int: ...  # type: ignore[overload-overlap]
@overload
def optimal_r(eps: Numeric, sensitivity: Numeric = 1, cost: Costly = "l1") -> NDArray[np.int64]: ...
def optimal_r(eps: RealLike, sensitivity: RealLike = 1, cost: CostLike = "l1") -> Any:
    r"""Integer r at which the second stair begins, in the discrete staircase with the least expected cost.

    With :math:`c = 1/(e^ε - 1)`, for "l1" and "l2", decided in exact arithmetic:

    .. math::

        r_1 = ⌈Δ/(1 + e^{ε/2})⌉, \qquad
        r_2 = \min\{r : q(4q^2 - 1) ≥ 2Δ^3 c(1+c)(1+2c)\},\; q = r + Δc.

    For any cost, compare the expected cost with the average cost of the points :math:`r + mΔ`, with weights
    :math:`(1-b)b^m`. r is at least as good as r + 1 exactly if the expected cost is no larger than that
    average. The optimum is the smallest such r.

    Parameters
    ----------
    eps : float or array of float
        Privacy parameter ε > 0 of one draw.
    sensitivity : int or array of int, default 1
        Δ >= 1.
    cost : {"l1", "l2"}, float, array of float or callable, default "l1"
        As for `optimal_gamma`; a function gets integers, as float64.

    Returns
    -------
    int or ndarray of int64
        In 1..Δ. If two are equally good, the smaller one; for "l1" and "l2" this comparison is exact. For other
        costs it is made in float64. If the costs of r and r + 1 agree to about 14 digits, rounding decides.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number, or the function returns something else.
    ParameterError
        As for `optimal_gamma`. If the cost is a function, the limits differ, because every integer within
        reach is summed: Δ and Δ/ε are at most 2**20, and ε is at most 700.

    References
    ----------
    .. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186,
       discrete setting.

    Examples
    --------
    >>> import stairnoise.optimal as so
    >>> so.optimal_r(2, 5), so.optimal_r(2, 5, "l2"), so.optimal_r(2, 5, 4)
    (2, 2, 2)
    >>> so.optimal_r(5, [10, 100, 1000], "l2")
    array([  2,  15, 145])
    >>> so.optimal_r(1, 10, lambda x: x > 3)
    4
    """
    kind, epsilon, D, shape = _checked("discrete_staircase", eps, sensitivity, cost)
    if callable(kind):
        answer = elementwise(lambda e, d: functions.best_r(functions.discrete_fold(kind, e, int(d))), shape, epsilon, D)
        return _plain(np.asarray(answer, np.int64), shape)
    return _plain(_best_r(kind, epsilon, D), shape)


@overload
def optimal_cost(  # type: ignore[overload-overlap]
    eps: Number, sensitivity: Number = 1.0, cost: OneCost = "l1", *, mechanism: _Shape = "staircase"
) -> float: ...
@overload
def optimal_cost(eps: Numeric, sensitivity: Numeric = 1.0, cost: Costly = "l1", *, mechanism: _Shape = "staircase") -> Floats: ...
def optimal_cost(eps: RealLike, sensitivity: RealLike = 1.0, cost: CostLike = "l1", *, mechanism: _Shape = "staircase") -> Any:
    r"""Least expected cost that ε-differentially private noise can have.

    With :math:`b = e^{-ε}`, for "l1" and "l2" in the continuous case:

    .. math::

        V_1 = \frac{Δ}{2\sinh(ε/2)}, \qquad
        V_2 = Δ^2\,\frac{2^{-2/3}(b(1+b))^{2/3} + b}{(1-b)^2}.

    No other ε-differentially private noise that is added to real answers (integer answers for the
    discrete staircase) has a smaller worst-case expected cost [1]_.

    Parameters
    ----------
    eps : float or array of float
        Privacy parameter ε > 0 of one draw.
    sensitivity : float or array of float, default 1.0
        Δ > 0, an integer for the discrete staircase.
    cost : {"l1", "l2"}, float, array of float or callable, default "l1"
        As for `optimal_gamma`.
    mechanism : {"staircase", "discrete_staircase"}, default "staircase"
        Whether the noise is for real numbers or for integers.

    Returns
    -------
    float or ndarray of float64
        Relative error below 1e-12; for a function that jumps, 1e-10.

    Raises
    ------
    ParameterTypeError, ParameterError
        As for `optimal_gamma` and `optimal_r`, or `mechanism` is another name.

    References
    ----------
    .. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186,
       theorems for the costs \|x\| and x².

    Examples
    --------
    >>> import math
    >>> import stairnoise as sn
    >>> import stairnoise.optimal as so
    >>> math.isclose(so.optimal_cost(10), 1 / (2 * math.sinh(5)))
    True
    >>> round(sn.Laplace(10).abs_moment(1) / so.optimal_cost(10), 4)
    14.8406
    >>> round(so.optimal_cost(1, 5, "l2", mechanism="discrete_staircase"), 6)
    48.03368
    """
    discrete = BY_NAME[one_of(mechanism, "mechanism", _MECHANISMS)].kind == "discrete"
    kind, epsilon, D, shape = _checked(mechanism, eps, sensitivity, cost)
    if callable(kind):
        least = _least_discrete if discrete else _least_staircase
        return elementwise(lambda e, d: least(kind, e, d), shape, epsilon, D)
    if not discrete:
        return _plain(_best_cost(kind, epsilon, D), shape)
    return _plain(_discrete_moment(kind, epsilon, D, np.asarray(_best_r(kind, epsilon, D), np.float64)), shape)


@overload
def expected_cost(mechanism: AdditiveMechanism[Any, Any, Float], cost: OneCost) -> Float: ...  # type: ignore[overload-overlap]
@overload
def expected_cost(mechanism: AdditiveMechanism[Any, Any, Float], cost: Costly) -> Floats: ...
def expected_cost(mechanism: Any, cost: CostLike) -> Any:
    r"""Return the expected cost of a mechanism's noise.

    Parameters
    ----------
    mechanism : a mechanism that adds noise to numbers
        Array parameters give one result for each element.
    cost : {"l1", "l2"}, float, array of float or callable
        As for `optimal_gamma`, but a number p needs only to be greater than -1. For p < 0 the cost of a discrete
        mechanism is infinite.

    Returns
    -------
    float or ndarray of float64
        Relative error below 1e-12; for a function that jumps, 1e-10. For a share, the error of its probabilities.

    Raises
    ------
    ParameterTypeError
        `mechanism` does not add noise to numbers, or `cost` is not a cost.
    ParameterError
        As for `optimal_gamma` and `optimal_r`. Or a function as cost is infinite where noise has a positive probability,
        or grows about as fast as the distribution falls.

    Examples
    --------
    >>> import stairnoise as sn
    >>> import stairnoise.optimal as so
    >>> mechanism = sn.Staircase(4, gamma="l1")
    >>> so.expected_cost(mechanism, "l2") == mechanism.var()
    True
    >>> [round(so.expected_cost(mechanism, cost), 6) for cost in (0.5, lambda x: x**0.5)]
    [0.303405, 0.303405]
    >>> round(so.expected_cost(sn.Laplace(4), lambda x: x > 1), 6)  # P(|X| > 1)
    0.018316
    >>> mechanism = sn.Gaussian(1, 1e-6)
    >>> round(so.expected_cost(mechanism, lambda x: x > 10), 6)
    0.017931
    >>> round(mechanism.sf(10) + mechanism.cdf(-10), 6)
    0.017931
    """
    if not callable(getattr(type(mechanism), "_expected_cost", None)):
        raise ParameterTypeError(f"mechanism must be a mechanism of numbers, got {received(mechanism)}")
    kind = _cost(cost, any_moment=True)
    if callable(kind):
        return mechanism._expected_cost(kind)
    parameters = {"cost": kind, "the parameters of the mechanism": np.empty(mechanism._parameter_shape)}
    return _plain(mechanism._expected_power(kind), common_shape(parameters))


# Powers: vectorised, with the closed forms at p = 1 and 2


def _best_gamma(p: Real, eps: Real) -> Any:
    return _by_power(p, (gamma_l1, gamma_l2), powers.gamma_power, eps)


def _best_r(p: Real, eps: Real, D: Real) -> Any:
    return _by_power(p, (partial(_exact_r, "l1"), partial(_exact_r, "l2")), powers.r_power, eps, D)


def _best_cost(p: Real, eps: Real, D: Real) -> Any:
    def general(p: Real, eps: Real, D: Real) -> Floats:
        return moments.staircase_abs_moment(p, eps, D, powers.gamma_power(p, eps))

    return _by_power(p, (_least_l1, _least_l2), general, eps, D)


def _discrete_moment(p: Real, eps: Real, D: Real, r: Real) -> Any:
    return _by_power(p, (partial(lattice_abs_moment, 1), partial(lattice_abs_moment, 2)), moments.lattice_abs_moment, eps, D, r)


def _least_l1(eps: Real, D: Real) -> Floats:
    """Return ``D/(2 sinh(eps/2))``, without the overflow of sinh."""
    return np.asarray(D * np.exp(-np.asarray(eps) / 2) / -np.expm1(-np.asarray(eps)))


def _least_l2(eps: Real, D: Real) -> Floats:
    b = np.exp(-np.asarray(eps))
    third = np.exp(-np.asarray(eps) / 3)  # b**(2/3) is still positive at an eps for which b underflows
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray((D / np.expm1(-np.asarray(eps))) ** 2 * (third**2 * np.cbrt((1 + b) / 2) ** 2 + b))


def _exact_r(cost: Literal["l1", "l2"], eps: Real, D: Real) -> NDArray[np.int64]:
    spread = np.broadcast_arrays(np.asarray(eps, np.float64), np.asarray(D, np.float64))
    return describe("discrete_staircase", spread[0], spread[1], cost)[2]


def _by_power(p: Real, closed: tuple[Callable[..., Any], ...], general: Callable[..., Any], *rest: Real) -> Any:
    """Apply the closed forms to the powers 1 and 2, and the general function to the others."""
    if isinstance(p, float):
        return closed[int(p) - 1](*rest) if p in (1, 2) else general(p, *rest)
    order, *others = np.broadcast_arrays(p, *rest)
    result = np.empty(order.shape, np.int64 if general is powers.r_power else np.float64)
    for where, form in ((order == 1, closed[0]), (order == 2, closed[1])):
        result[where] = form(*(column[where] for column in others))
    remaining = (order != 1) & (order != 2)
    result[remaining] = general(order[remaining], *(column[remaining] for column in others))
    return result


# Functions: one element at a time


def _least_staircase(function: CostFunction, eps: float, D: float) -> float:
    folded = functions.Folded(function, eps, D)
    return functions.staircase_cost(folded, functions.best_gamma(folded))


def _least_discrete(function: CostFunction, eps: float, D: float) -> float:
    fold = functions.discrete_fold(function, eps, int(D))
    return fold.cost(functions.best_r(fold))


# Gates


def _checked(mechanism: str, eps: RealLike, sensitivity: RealLike, cost: CostLike) -> tuple[Any, Real, Real, tuple[int, ...]]:
    """Return the cost as a number, array or function, the parameters, and their common shape."""
    kind = _cost(cost)
    parameters = {"eps": real(eps, "eps"), "sensitivity": real(sensitivity, "sensitivity")}
    row = BY_NAME[mechanism]
    row.load()(*parameters.values())  # the constructor checks both
    if callable(kind):
        check_function(parameters["eps"], parameters["sensitivity"] if row.kind == "discrete" else None)
    shape = common_shape(parameters if callable(kind) else {"cost": kind, **parameters})
    return kind, parameters["eps"], parameters["sensitivity"], shape


def _cost(cost: CostLike, *, any_moment: bool = False) -> Any:
    """Return the cost as a power or a function."""
    if isinstance(cost, str):
        if cost in _NAMED:
            return _NAMED[cost]
        raise ParameterError(f'cost must be "l1", "l2", a number or a function, got {received(cost)}')
    if callable(cost):
        return cost
    power = real(cost, "cost")
    if any_moment:
        good, rule = np.greater(power, -1), "greater than -1 and at most 64"
    else:
        good, rule = np.greater_equal(power, powers.LEAST_POWER), "from 2**-10 to 64"
    refuse("cost", power, good & np.less_equal(power, powers.MOST_POWER), f"a power {rule}")
    return power


def _plain(result: Any, shape: tuple[int, ...]) -> Any:
    found = np.broadcast_to(result, shape)
    return found.copy() if shape else found.item()


for _public in (expected_cost, optimal_cost, optimal_gamma, optimal_r):
    _public.__module__ = "stairnoise"
