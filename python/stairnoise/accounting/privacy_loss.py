"""Privacy loss of one release or of many: privacy profile, Rényi divergence, trade-off curve."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from stairnoise import _html
from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._parameters import Real, RealLike, common_shape, count, flag, real, refuse
from stairnoise._types import Float, Floats, Generic, Number, number_or_array, number_or_array_with_bounds
from stairnoise.accounting import dp_accounting, models
from stairnoise.accounting.losses.loss import Part
from stairnoise.mechanism.distribution import plain
from stairnoise.mechanism.immutable import Immutable

_MOST_RELEASES = 2**20
# Profiles computed for floats and for arrays may differ by this factor; and the least step by which ε is raised.
_MARGIN, _LEAST_STEP = 1 - 2.0**-50, 2.0**-1022


# Distinct releases with the number of times that each was made.
Parts = tuple[tuple[Part, int], ...]


class PrivacyLoss(Immutable, Generic[Float]):
    r"""The privacy loss of one release or of several, for the worst pair of neighbouring inputs.

    P and Q are the distributions of a release for two inputs that differ by the sensitivity. The loss is
    :math:`L = \ln(dP/dQ)`, a random number under P. Its distribution determines the privacy of the release.
    Among all differences in (0, Δ], Δ is the worst for every measure below except `var`, and P and Q may be
    exchanged. Losses compose if the mechanisms and their parameters were fixed in advance; earlier released numbers
    may decide what is asked, and when to stop.

    The loss of a staircase has three values, and that of discrete Laplace noise has Δ + 1. The loss of the
    Laplace density is continuous, the loss of Gaussian noise is unbounded, and truncated noise has an infinite
    loss with probability δ.

    All results for a single release are closed forms or sums over the outcomes. Composed losses are computed on
    their own lattice if it is small (``exact`` is True), in positive arithmetic or by tilted Fourier transforms.
    Otherwise two lattices enclose the true loss. Every answer is then the one on the safe side, and
    ``bounds=True`` returns both.

    `privacy_loss`, a method of every mechanism for numbers, makes such objects; so do `compose` and ``+``. They
    are immutable, hashable and can be pickled.

    References
    ----------
    .. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186.
    .. [2] Sommer, Meiser and Mohammadi, "Privacy Loss Classes", PoPETs 2019(2).
    .. [3] Mironov, "Rényi Differential Privacy", CSF 2017.
    .. [4] Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 84(1), 2022.
    .. [5] Zhu, Dong and Wang, "Optimal Accounting of Differential Privacy via Characteristic
       Function", AISTATS 2022.

    Examples
    --------
    >>> import stairnoise as sn
    >>> once = sn.DiscreteStaircase(eps=1).privacy_loss()
    >>> once
    PrivacyLoss(DiscreteStaircase(eps=1.0, r='l1'))
    >>> hundred = once.compose(100)
    >>> hundred.eps, hundred.exact
    (100.0, True)
    >>> round(hundred.eps_for_delta(1e-6), 2)
    83.53
    """

    __module__ = "stairnoise"
    _parts: Parts
    # The text of each of them.
    _names: tuple[str, ...]
    # The loss of all releases where it is of the kind of one release's.
    _single: Part | None
    _exact: bool
    # The profile at one ε >= 0 in plain floats, if there is one curve; None until that exists.
    _at_one_eps: Callable[[float], float] | None

    def __init__(self, *_: object, **__: object) -> None:
        raise ParameterTypeError("PrivacyLoss must be made by a mechanism's privacy_loss(), got a direct call")

    @classmethod
    def _of(cls, parts: Parts, names: tuple[str, ...]) -> PrivacyLoss[Float]:
        self: PrivacyLoss[Float] = cls.__new__(cls)
        single = parts[0][0].together(parts[0][1]) if len(parts) == 1 else None
        exact = single is not None or models.exact_step(parts) is not None
        at_one_eps = single.profile_scalar if single is not None and parts[0][0].eps.shape == () else None
        vars(self).update(_parts=parts, _names=names, _single=single, _exact=exact, _at_one_eps=at_one_eps)
        return self

    @property
    def releases(self) -> int:
        """How many releases are composed."""
        return sum(k for _, k in self._parts)

    @property
    def eps(self) -> Float:
        """Pure ε: the largest possible loss, summed over all releases; inf for noise without a pure ε."""
        return plain(self._single.eps) if self._single is not None else models.pure_eps(self._parts)  # type: ignore[return-value]

    @property
    def exact(self) -> bool:
        """True if answers are exact up to rounding, False if they are bounds on the safe side.

        `rdp`, `mean` and `var` are always exact.
        """
        return self._exact

    @number_or_array_with_bounds
    def privacy_profile(self, eps: RealLike, *, bounds: bool = False) -> Float | Floats | tuple[Float | Floats, ...]:
        r"""Least δ for which the releases are (ε, δ)-differentially private.

        .. math:: δ(ε) = E\,(1 - e^{ε - L})_+

        It is also called the hockey-stick divergence. For ε < 0 it is
        :math:`1 - e^{ε} + e^{ε} δ(-ε)`, because P and Q mirror each other.

        Parameters
        ----------
        eps : float or array of float
            Any number except NaN; broadcasts against array parameters.
        bounds : bool, default False
            True: return a lower and an upper bound, which are equal if `exact`.

        Returns
        -------
        float or ndarray, or two of them
            Without `bounds` and if not `exact`, the upper bound.

        Raises
        ------
        ParameterTypeError
            `eps` is not a real number, or `bounds` is not a bool.
        ParameterError
            `eps` is NaN, or does not broadcast.

        Examples
        --------
        >>> import stairnoise as sn
        >>> loss = sn.Laplace(eps=1).privacy_loss()
        >>> round(loss.privacy_profile(0.5), 6)
        0.221199
        >>> low, high = loss.compose(10).privacy_profile(5.0, bounds=True)
        >>> low < high < 1.0001 * low
        True
        """
        bounds = flag(bounds, "bounds")
        if type(eps) is float and 0 <= eps < math.inf and (at_one_eps := self._at_one_eps) is not None:
            found = min(at_one_eps(eps), 1.0) if eps < self.eps else self._endless
            return self._answer(found, found, found, bounds)
        level = self._checked(eps, "eps", "a number, not NaN", lambda level: level == level)
        t = np.abs(np.asarray(level))
        # No loss exceeds the pure ε; a list can exceed it by rounding.
        possible = np.less(level, self.eps) | np.isinf(self.eps)

        def profile(loss: Any) -> Any:
            delta = loss.profile(t)
            return np.where(possible, np.where(np.less(level, 0), -np.expm1(-t) + np.exp(-t) * delta, delta), 0.0)

        low, high = self._evaluate(profile, bounds)
        return self._answer(low, high, high, bounds)

    @number_or_array_with_bounds
    def eps_for_delta(self, delta: RealLike, *, bounds: bool = False) -> Float | Floats | tuple[Float | Floats, ...]:
        """Least ε >= 0 with δ(ε) <= `delta`, rounded up so that its `privacy_profile` is at most `delta`.

        Parameters
        ----------
        delta : float or array of float
            In [0, 1]; broadcasts against array parameters. 0 gives the pure ε.
        bounds : bool, default False
            True: return a lower and an upper bound, which are equal if `exact`.

        Returns
        -------
        float or ndarray, or two of them
            Without `bounds` and if not `exact`, the upper bound. inf if `delta` is below the probability of an infinite
            loss, because no ε then suffices.

        Raises
        ------
        ParameterTypeError
            `delta` is not a real number, or `bounds` is not a bool.
        ParameterError
            `delta` is out of range, or does not broadcast.
        """
        bounds = flag(bounds, "bounds")
        level = self._checked(delta, "delta", "from 0 to 1", _is_probability)

        def least_eps(loss: Any) -> Any:
            # No loss exceeds the pure ε; the lattice of a bound can exceed it.
            return np.where(np.equal(level, 0), self.eps, np.minimum(loss.eps_for_delta(np.asarray(level)), self.eps))

        low, high = self._evaluate(least_eps, bounds)
        high = self._raised(high, level)
        return self._answer(high if self._exact else low, high, high, bounds)

    def _raised(self, eps: Real, delta: Real) -> Real:
        """Raise ε until the profile is at most delta.

        Near a pure ε, δ may double from one float64 to the one below.
        """
        steps = 1.0
        with np.errstate(all="ignore"):
            while np.any(short := self._exceeds(eps, delta)):
                larger = eps + steps * np.maximum(np.spacing(eps), _LEAST_STEP)
                eps = plain(np.where(short, np.minimum(larger, self.eps), eps))
                steps *= 2
        return eps

    def _exceeds(self, eps: Real, delta: Real) -> Any:
        """Return where the profile may be above delta, as computed for floats or for arrays; never at an infinite ε."""
        found, endless = self.privacy_profile(eps), self._endless
        below = np.less_equal(found - endless, (delta - endless) * _MARGIN)
        return np.isfinite(eps) & ~(np.less_equal(found, delta) & (below | np.equal(eps, 0)))

    @number_or_array_with_bounds
    def tradeoff(self, false_alarm: RealLike, *, bounds: bool = False) -> Float | Floats | tuple[Float | Floats, ...]:
        """Least probability of a missed detection for a probability of a false alarm.

        A test tries to tell two neighbouring inputs apart from the releases. If its probability of a
        false alarm is `false_alarm`, it misses with at least the probability returned. This is the
        trade-off function f of f-differential privacy: convex, falling, and its own inverse. At 0 it
        is 1 minus the probability of an infinite loss; mechanisms without δ have no infinite loss.

        Parameters
        ----------
        false_alarm : float or array of float
            In [0, 1]; broadcasts against array parameters.
        bounds : bool, default False
            True: return a lower and an upper bound, which are equal if `exact`.

        Returns
        -------
        float or ndarray, or two of them
            Without `bounds` and if not `exact`, the lower bound, which is guaranteed.

        Raises
        ------
        ParameterTypeError
            `false_alarm` is not a real number, or `bounds` is not a bool.
        ParameterError
            `false_alarm` is out of range, or does not broadcast.
        """
        bounds = flag(bounds, "bounds")
        alpha = np.asarray(self._checked(false_alarm, "false_alarm", "from 0 to 1", _is_probability))
        high, low = self._evaluate(lambda loss: np.where(alpha == 0, 1 - self._endless_of(loss), loss.tradeoff(alpha)), bounds)
        return self._answer(low, high, low, bounds)

    @number_or_array
    def rdp(self, alpha: RealLike) -> Float | Floats:
        r"""Rényi divergence of order `alpha` between P and Q.

        .. math:: D_α = \frac{1}{α - 1} \ln E_Q \left(\frac{dP}{dQ}\right)^α

        It has a closed form for every distribution, and the values of composed releases add up.

        Parameters
        ----------
        alpha : float or array of float
            Order > 0; broadcasts against array parameters. 1 gives the Kullback-Leibler divergence,
            inf the pure ε.

        Returns
        -------
        float or ndarray
            In nats.

        Raises
        ------
        ParameterTypeError
            `alpha` is not a real number.
        ParameterError
            `alpha` is not greater than 0, or does not broadcast.

        Examples
        --------
        >>> import stairnoise as sn
        >>> loss = sn.Laplace(eps=1).privacy_loss()
        >>> round(loss.rdp(2), 5), round(loss.compose(10).rdp(2), 5)
        (0.61912, 6.19124)
        """
        order = self._checked(alpha, "alpha", "greater than 0", lambda level: np.greater(level, 0))
        return self._total(lambda part: _divergence(part, order))

    def mean(self) -> Float:
        """Mean of the loss under P: the Kullback-Leibler divergence, ``rdp(1)``."""
        return self._total(lambda part: part.mean())

    def var(self) -> Float:
        """Variance of the loss under P, for the difference Δ.

        It is not a measure of privacy, because a smaller difference may have a larger variance. At ε = 20 it may be
        hundreds of times larger: the loss of a staircase is nearly always ε at Δ, but ε or 0 at Δ/2.
        """
        return self._total(lambda part: part.var())

    def _total(self, measure: Callable[[Part], Any]) -> Float:
        """Return the sum of a measure over all releases."""
        with np.errstate(all="ignore"):
            return plain(np.asarray(sum(k * measure(part) for part, k in self._parts)))  # type: ignore[return-value]

    # Composition

    def compose(self, k: int) -> PrivacyLoss[Float]:
        """Privacy loss of `k` independent repetitions.

        Parameters
        ----------
        k : int
            At least 1. At most 2**20 releases may be composed in total, or 2**14 if the result is
            not `exact`.

        Returns
        -------
        PrivacyLoss

        Raises
        ------
        ParameterTypeError
            `k` is not an integer.
        ParameterError
            `k` is out of range, or the mechanism has array parameters. Or ``eps`` is above 512, and the
            releases are not all of one staircase mechanism.
        """
        number = count(k, "k", least=1, most=_MOST_RELEASES)
        if number == 1:
            return self
        self._require_scalar("composition")
        return self._composed(tuple((part, number * times) for part, times in self._parts), self._names, "k", k)

    def __add__(self, other: PrivacyLoss[Float]) -> PrivacyLoss[Float]:
        """Privacy loss of the releases of both, which may come from different mechanisms."""
        if not isinstance(other, PrivacyLoss):
            return NotImplemented
        merged: dict[Any, tuple[Part, int, str]] = {}
        for loss in (self, other):
            loss._require_scalar("composition")
            for (part, k), name in zip(loss._parts, loss._names, strict=True):
                first, times, text = merged.get(part.key(), (part, 0, name))
                merged[part.key()] = first, times + k, text
        parts, names = tuple((part, k) for part, k, _ in merged.values()), tuple(name for _, _, name in merged.values())
        return self._composed(parts, names, "other", other)

    def _composed(self, parts: Parts, names: tuple[str, ...], name: str, value: object) -> PrivacyLoss[Float]:
        if not models.composable(parts):
            most_eps = max(part.top for part, _ in parts)
            raise ParameterError(
                f"eps, or the largest loss at this sensitivity, must be at most {models.MOST_EPS:g} to compose Laplace or "
                f"different mechanisms, got {most_eps}"
            )
        composed = self._of(parts, names)
        most = _MOST_RELEASES if composed._exact else models.MOST_BRACKETED
        if composed.releases > most:
            raise ParameterError(
                f"{name} must leave at most {most} releases for losses like these, got {received(value)} "
                f"and {composed.releases} releases"
            )
        return composed

    def _require_scalar(self, what: str) -> None:
        shape = self._shape
        if shape != ():
            raise ParameterError(f"{what} must be of mechanisms with scalar parameters, got parameters of shape {shape}")

    def to_dp_accounting(self, interval: Number = 1e-4) -> Any:
        """Return the loss as a privacy loss distribution of Google's package dp_accounting.

        It composes there with the mechanisms that dp_accounting knows, such as Gaussian noise for random batches. Its δ is at
        least `privacy_profile` at every ε, and so is that of every composition, up to the rounding of dp_accounting itself.

        Parameters
        ----------
        interval : float, default 1e-4
            Distance of two losses on the grid of the result, greater than 0. Only distributions with the same
            ``value_discretization_interval`` compose. Choose it much smaller than the ε of one release.

        Returns
        -------
        dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
            With `get_epsilon_for_delta`, `get_delta_for_epsilon`, `compose` and `self_compose`. Adding and removing a person
            cost the same there; for noise without symmetry that is the worse of both.

        Raises
        ------
        ParameterTypeError
            `interval` is not a real number.
        ParameterError
            `interval` is not finite and greater than 0, or so small that the grid has more than 2**20 steps. Or the
            mechanism has array parameters.
        ModuleNotFoundError
            dp_accounting is not installed; ``pip install 'stairnoise[accounting]'``.

        Notes
        -----
        Between two nodes the profile is replaced by its chord, which is above it [1]_. Composed k times, the result's ε
        exceeds the true one by at most k times `interval`, and usually by less than k times its square. Besides, δ is
        raised by a relative 2**-30, which covers rounding. An unbounded loss counts as infinite from where its δ is
        2**-80 more than the probability of an infinite one.

        dp_accounting composes by Fourier transforms, whose errors are near 1e-15 and not relative to δ. For a smaller δ
        compose here first, where errors are relative, and convert the composed loss.

        References
        ----------
        .. [1] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, "Connect the Dots: Tighter Discrete
           Approximations of Privacy Loss Distributions", PoPETs 2022(4).
        """
        self._require_scalar("to_dp_accounting")
        return dp_accounting.distribution(self, interval)

    @property
    def _shape(self) -> tuple[int, ...]:
        return self._parts[0][0].eps.shape

    def _checked(self, value: RealLike, name: str, rule: str, good: Callable[[Real], Any]) -> Real:
        """Convert an argument to numbers, which must obey a rule and broadcast against array parameters."""
        level = real(value, name)
        refuse(name, level, good(level), rule)
        if self._shape:
            common_shape({name: level, "parameters": np.empty(self._shape)})
        return level

    @cached_property
    @np.errstate(all="ignore")
    def _from_above(self) -> Any:
        """The closed form of the loss, or its upper curve."""
        if self._single is not None:
            return self._single
        if (step := models.exact_step(self._parts)) is not None:
            curve = models.exact_curve(self._parts, step)
            vars(self)["_at_one_eps"] = curve.profile_scalar
            return curve
        curve = models.upper_curve(self._parts)
        models.require_order(models.lower_curve(self._parts, models.COARSER), curve)
        return curve

    @cached_property
    def _from_below(self) -> Any:
        """The same if it is exact, otherwise the lower curve."""
        if self._exact:
            return self._from_above
        curve = models.lower_curve(self._parts)
        models.require_order(curve, self._from_above)
        return curve

    def _coarse_eps(self, delta: float) -> float:
        """Return an upper bound of `eps_for_delta`, by a coarse lattice if the loss is not exact."""
        curve: Any = self._from_above if self._exact else models.upper_curve(self._parts, models.COARSER)
        with np.errstate(all="ignore"):
            return float(curve.eps_for_delta(np.array(delta)))

    def _evaluate(self, read: Callable[[Any], Floats], bounds: bool) -> tuple[Real, Real]:
        """Apply `read` to the closed form or to the upper curve, and if both bounds are wanted to the lower curve."""
        with np.errstate(all="ignore"):
            high = plain(read(self._from_above))
            return plain(read(self._from_below)) if bounds and not self._exact else high, high

    def _answer(self, low: Real, high: Real, safe: Real, bounds: bool) -> Float | Floats | tuple[Float | Floats, ...]:
        return (low, high) if bounds else safe  # type: ignore[return-value]

    def _endless_of(self, loss: Any) -> float:
        """Return the probability of an infinite loss; a pure ε rules it out, though the lattice of a bound may have one."""
        return float(loss.infinite) if self._shape == () and math.isinf(self.eps) else 0.0

    @property
    def _endless(self) -> float:
        return self._endless_of(self._from_above)

    def _key(self) -> tuple[object, ...]:
        return (frozenset((part.key(), k) for part, k in self._parts),)

    def __reduce__(self) -> tuple[Any, ...]:
        return PrivacyLoss._of, (self._parts, self._names)

    def __repr__(self) -> str:
        terms = (name if k == 1 else f"{k} × {name}" for name, (_, k) in zip(self._names, self._parts, strict=True))
        return f"PrivacyLoss({' + '.join(terms)})"

    def _repr_html_(self) -> str | None:
        """Return the table that a notebook shows, or None for the ``repr``."""
        return _html.of_loss(self)


def loss_of(mechanism: Any, sensitivity: Any, drawn: bool) -> PrivacyLoss[Any]:
    """Return the privacy loss of what is drawn, or of the density; a sensitivity of None is the mechanism's own."""
    return (_remembered if mechanism._parameter_shape == () else _made)(mechanism, sensitivity, drawn)


def _made(mechanism: Any, sensitivity: Any, drawn: bool) -> PrivacyLoss[Any]:
    with np.errstate(all="ignore"):
        part: Part = mechanism._loss(sensitivity) if drawn else mechanism._density_loss(sensitivity)
    name = repr(mechanism) if sensitivity is None else f"{mechanism!r} at sensitivity {sensitivity}"
    return PrivacyLoss._of(((part, 1),), (name if drawn else f"{name} as a density",))


# Remembered, so that a mechanism's methods do not recompute it. Only 16, because a mechanism in shares may have a long list.
_remembered = lru_cache(maxsize=16)(_made)


def _divergence(part: Part, level: Real) -> Any:
    order = np.asarray(level)
    if np.size(part.eps) == 1 and type(level) is float and level != 1 and level < math.inf:
        return part.rdp(order)
    plain_order = np.where((order == 1) | np.isinf(order), 2.0, order)
    return np.where(order == 1, part.mean(), np.where(np.isinf(order), part.eps, part.rdp(plain_order)))


def _is_probability(level: Real) -> Any:
    return np.greater_equal(level, 0) & np.less_equal(level, 1)
