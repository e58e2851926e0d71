"""The canonical mechanism for integers at sensitivity 1."""

from __future__ import annotations

import math
from typing import Any, SupportsFloat, SupportsIndex

from stairnoise import _native
from stairnoise._parameters import RealLike, confidence_level, refuse, single
from stairnoise.distributions.symmetric import ByName
from stairnoise.mechanism.cost import CostFunction
from stairnoise.mechanism.discrete import DiscreteMechanism
from stairnoise.mechanism.eps_for_error import LEAST_EPS
from stairnoise.mechanism.immutable import Parameter
from stairnoise.mechanisms.discrete_canonical import distribution, loss
from stairnoise.mechanisms.discrete_laplace.mechanism import DiscreteLaplace
from stairnoise.numerics.roots import least_float

# P(X = 0) is 1 in float64 from this ε on.
_LARGEST_EPS = 2048.0
# Exceeds the rounding errors of a tail.
_MARGIN = 1 + 2.0**-39


class DiscreteCanonical(DiscreteMechanism):
    r"""Canonical noise for one count: no (ε, δ)-private noise on the integers is nearer to 0, at sensitivity 1.

    .. math:: P(X ≥ k) = P(X ≤ -k) = a_k, \quad k ≥ 1, \qquad
              a_1 = \frac{1 - δ}{1 + e^{ε}}, \quad a_{k+1} = \max(0,\, e^{-ε} (a_k - δ)).

    Of all noise on the integers that is (ε, δ)-differentially private for changes by 1, this has the least P(\|X\| > t), for
    every t at once. So it has the least expected cost, whatever cost grows with \|X\|. It never exceeds a bound A, except for
    δ = 0, where it is discrete Laplace noise.

    Draws are exact: every integer has the probability above, for the float64 ε and δ as they are. The δ of the noise at ε is
    exactly `delta`. A value takes one draw.

    For larger sensitivities no noise is best for every cost; use `TruncatedDiscreteStaircase`.

    ``release`` first rounds a true value that is not an integer to the nearest one, halves upwards.

    Parameters
    ----------
    eps : float
        Privacy parameter ε > 0 of one draw.
    delta : float
        Privacy parameter δ of one draw, 0 <= δ < 1.
    sensitivity : int or None
        Largest change of the value that one person can cause. It must be 1. None is 1: `release` then takes integers only.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number.
    ParameterError
        A parameter is an array or out of range, `sensitivity` is not 1, or the noise would not fit 64-bit integers.

    References
    ----------
    .. [1] Awan and Ramasethu, "Optimizing Noise for f-Differential Privacy via Anti-Concentration and Stochastic
       Dominance", arXiv:2308.08343.
    .. [2] Awan and Vadhan, "Canonical Noise Distributions and Private Hypothesis Tests", Annals of Statistics 51(2), 2023.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.DiscreteCanonical(eps=0.1, delta=0.01)
    >>> d
    DiscreteCanonical(eps=0.1, delta=0.01)
    >>> d.lower, d.upper, round(d.var(), 4), round(sn.DiscreteLaplace(eps=0.1).var(), 4)
    (-18, 18, 66.2011, 199.8334)
    >>> round(d.privacy_profile(0.1), 12)
    0.01
    >>> d.release([12, 40, 7]).dtype.name
    'int64'
    """

    __slots__ = ()
    _partitions_rule = "leave an eps that the mechanism can have"

    def __init__(
        self, eps: SupportsFloat, delta: SupportsFloat, sensitivity: SupportsIndex | SupportsFloat | None = None
    ) -> None:
        # A δ of -0.0 becomes 0.0, so that both have the same keyed noise.
        parameters: dict[str, Any] = {"eps": single(eps, "eps"), "delta": single(delta, "delta") + 0.0}
        is_one = sensitivity is None or single(sensitivity, "sensitivity") == 1
        refuse("sensitivity", sensitivity, is_one, "1 for canonical noise (TruncatedDiscreteStaircase takes more)")
        native = _native.discrete_canonical(*parameters.values())
        self._store(native, {**parameters, "sensitivity": 1}, stated=sensitivity is not None)

    @classmethod
    def eps_for_error(cls, t: RealLike, confidence: RealLike = 0.95, *, delta: RealLike, sensitivity: RealLike = 1) -> float:
        """Least ε, with this δ, for which P(|X| <= t) >= confidence: the best privacy at a wanted accuracy.

        The inequality holds for every larger ε too, because every a_k falls as ε grows.

        Parameters
        ----------
        t : float
            Largest error, at least 0. Only its integer part counts.
        confidence : float, default 0.95
            Probability of no larger error, at least 0.5 and less than 1.
        delta : float
            Privacy parameter δ, 0 <= δ < 1.
        sensitivity : int, default 1
            Must be 1.

        Returns
        -------
        float
            Rounded up, so that the inequality holds for this float64. A smaller ε has
            P(|X| > t) > (1 - confidence)(1 - 4e-12), except below the least ε that the mechanism accepts, 2**-40.

        Raises
        ------
        ParameterTypeError
            An argument is not a real number.
        ParameterError
            An argument is out of range or an array.

        Examples
        --------
        >>> import stairnoise as sn
        >>> eps = sn.DiscreteCanonical.eps_for_error(t=3, confidence=0.95, delta=0.01)
        >>> round(eps, 4), sn.DiscreteCanonical(eps, 0.01).error_bound(0.95)
        (0.7543, 3)
        """
        limit, alpha = single(t, "t"), 1 - confidence_level(single(confidence, "confidence"))
        refuse("t", t, 0 <= limit < math.inf, "finite and at least 0")
        others = single(delta, "delta"), single(sensitivity, "sensitivity")

        def enough(eps: float) -> bool:
            return bool(2 * cls(eps, *others).sf(limit) * _MARGIN <= alpha)

        return LEAST_EPS if enough(LEAST_EPS) else least_float(enough, LEAST_EPS, _LARGEST_EPS)

    eps = Parameter[float]("Privacy parameter ε of one draw.")
    delta = Parameter[float]("Privacy parameter δ of one draw; the noise has exactly this δ at ε.")

    @property
    def sensitivity(self) -> int:
        """Largest change of one value that one person can cause, which is 1."""
        return 1

    @property
    def lower(self) -> int:
        """Least integer that can be drawn."""
        return -self.upper

    @property
    def upper(self) -> int:
        """Largest integer that can be drawn: A, or 2**63 - 1 for δ = 0, where noise saturates."""
        return int(self._sampler.lengths[0])

    @property
    def _without_delta(self) -> DiscreteLaplace[int, float] | None:
        """The same noise, for δ = 0."""
        return None if self.delta > 0 else DiscreteLaplace(self.eps)

    def _functions(self) -> Any:
        laplace = self._without_delta
        return ByName(laplace._functions()) if laplace else distribution.Canonical(self.eps, self.delta, self.upper)

    def _loss(self, sensitivity: Any) -> Any:
        if laplace := self._without_delta:
            return laplace._loss(None)
        return loss.canonical_atoms(self.eps, self.delta, self.upper)

    def _sum_bound(self, k: int, alpha: float) -> int:
        if laplace := self._without_delta:
            return laplace._sum_bound(k, alpha)
        return distribution.error_bound(self.eps, self.delta, self.upper, k, alpha)

    def _expected_cost(self, function: CostFunction) -> Any:
        laplace = self._without_delta
        return laplace._expected_cost(function) if laplace else super()._expected_cost(function)

    def _exact_parameters(self) -> dict[str, Any]:
        return {"eps": self.eps, "delta": self.delta}
