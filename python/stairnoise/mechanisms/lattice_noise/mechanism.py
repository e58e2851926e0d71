"""Noise by the caller's weights, verified for every shift up to the sensitivity."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._parameters import Real, positive, real, refuse, single
from stairnoise._types import Array, Floats, Number
from stairnoise.mechanism.additive import AdditiveMechanism
from stairnoise.mechanism.cost import CostFunction, lattice_cost
from stairnoise.mechanism.discrete import DiscreteMechanism
from stairnoise.mechanism.guarantee import Change, Guarantee, group
from stairnoise.mechanism.immutable import Parameter, once
from stairnoise.mechanisms.lattice_noise import loss
from stairnoise.mechanisms.lattice_noise.distribution import Weights, error_bound, functions, weights_of
from stairnoise.numerics.rounding import rounded_up

# The ``repr`` shows at most this many weights.
_MOST_WRITTEN = 25


class ShiftLosses(NamedTuple):
    """The privacy loss of one release for each change up to the sensitivity: arrays of the same length.

    Attributes
    ----------
    change : ndarray of float64
        Changes of the true answer, in multiples of ``granularity``, negative ones too.
    eps : ndarray of float64
        Pure ε of each change, rounded up; inf if an outcome is impossible for one of the two answers.
    delta : ndarray of float64
        δ of each change at ``eps``, rounded up.
    rdp : ndarray of float64
        Rényi divergence of each change at order ``alpha``.
    """

    change: Floats
    eps: Floats
    delta: Floats
    rdp: Floats


class LatticeNoise(DiscreteMechanism):
    r"""Noise with probabilities of your own, drawn exactly and verified over every change up to the sensitivity.

    .. math:: P(X = k g) = \frac{w_k}{\sum_j w_j}, \quad -m ≤ k ≤ m

    The 2m + 1 weights are used as exact rational numbers: they are not rounded, not made symmetric, and need not add up to
    1. Without a `tail_ratio` all other numbers have probability 0. With a `tail_ratio` ρ the weights continue beyond both
    ends, :math:`w_{±(m + j)} = w_{±m} ρ^j`, and the sum above is
    :math:`\sum_{|k| ≤ m} w_k + (w_m + w_{-m}) ρ/(1 - ρ)`.

    A release is as private as the weights make it. `guarantee`, `privacy_loss` and the methods beside it compute that for
    **every** change of g, 2g, … up to the sensitivity, up and down, and return the worst. A distribution that was
    optimised for changes of exactly the sensitivity may protect smaller changes badly or not at all; `losses_by_shift` lists
    them all.

    Draws and releases are integers if the granularity is 1, otherwise float64 multiples of it. `release` rounds each value
    to the nearest multiple first, halves upwards. A value takes one draw for all parameters.

    Parameters
    ----------
    weights : sequence of float, or array of one dimension
        Weights of -m, …, m, in this order: an odd number from 3 to 2**17 + 1 of numbers that are finite and at least 0.
        At least two are positive, and the largest is at most 2**1022 times the smallest positive one.
    tail_ratio : float or None, default None
        Factor ρ from each integer beyond the weights to the next, greater than 0 and at most 1 - 2**-11; the first and
        the last weight must be positive then. None: no tails.
    granularity : float, default 1.0
        Lattice step g, a power of two from 2**-1022 to 2**960.
    sensitivity : int, float or None
        Largest change Δ of the value that one person can cause: D·g with a whole number D ≥ 1, and D (D + number of
        weights) at most 2**21. None is 1, for study: `guarantee` requires that you state it.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number, or `weights` not a sequence of them.
    ParameterError
        A parameter breaks one of the rules above, or float64 does not hold it exactly.

    Notes
    -----
    A distribution that has ends is not ε-differentially private for any ε. Its `eps` is then its largest finite loss,
    and its `delta` the probability of an infinite one. For the ε of another δ, ask
    ``privacy_loss().eps_for_delta(delta)``.

    References
    ----------
    .. [1] Geng and Viswanath, "Optimal Noise Adding Mechanisms for Approximate Differential Privacy", IEEE Transactions on
       Information Theory 62, 2016.
    .. [2] Selvi, Liu and Wiesemann, "Differential Privacy via Distributionally Robust Optimization", arXiv:2304.12681.
    .. [3] Alghamdi et al., "Cactus Mechanisms: Optimal Differential Privacy Mechanisms in the Large-Composition Regime",
       arXiv:2207.00420.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.LatticeNoise.from_pmf([1, 2, 4, 2, 1], tail_ratio=0.5, sensitivity=1)
    >>> d.weights, d.tail_ratio
    (array([1., 2., 4., 2., 1.]), 0.5)
    >>> d.guarantee()
    Guarantee: one value that changes by at most 1 is 0.6932-differentially private.
    >>> comb = sn.LatticeNoise.from_pmf([1, 0, 2, 0, 1], tail_ratio=None, sensitivity=2)
    >>> comb.losses_by_shift(eps=1).delta
    array([1.  , 0.25])
    """

    __slots__ = ("_scaled_weights",)
    _partitions_rule = "be 1 for a mechanism given by its weights"
    _scaled_weights: Weights

    def __init__(
        self, weights: Array, tail_ratio: Number | None = None, granularity: Number = 1.0, sensitivity: Number | None = None
    ) -> None:
        numbers = _checked_weights(weights)
        ratio = None if tail_ratio is None else single(tail_ratio, "tail_ratio")
        step, stated = single(granularity, "granularity"), sensitivity is not None
        change = 1.0 if sensitivity is None else single(sensitivity, "sensitivity")
        mechanism = _native.lattice_noise(numbers.tolist(), ratio, step, change)
        own = {"weights": tuple(numbers.tolist()), "tail_ratio": ratio, "granularity": step}
        self._store(mechanism, own | {"sensitivity": int(change) if step == 1 else change}, stated=stated, noise_alone=True)
        object.__setattr__(self, "_scaled_weights", weights_of(numbers, ratio))

    @classmethod
    def from_pmf(
        cls, weights: Array, *, tail_ratio: Number | None = None, granularity: Number = 1.0, sensitivity: Number | None = None
    ) -> LatticeNoise:
        """Return the mechanism of these weights; the parameters are those of the class.

        Examples
        --------
        >>> import numpy as np
        >>> import stairnoise as sn
        >>> k = np.arange(-50, 51)
        >>> d = sn.LatticeNoise.from_pmf(np.exp(-(k**2) / 50), sensitivity=2)
        >>> round(d.std(), 6), round(d.privacy_loss().eps_for_delta(1e-6), 2)
        (5.0, 1.76)
        """
        return cls(weights, tail_ratio, granularity, sensitivity)

    @property
    def weights(self) -> Floats:
        """Weights of -m, …, m, as given."""
        return np.array(self._parameters["weights"])

    tail_ratio = Parameter[float | None]("Factor from each integer beyond the weights to the next; None without tails.")

    @property
    def granularity(self) -> Any:
        """Lattice step g: 1 for integers, otherwise a float."""
        step: float = self._parameters["granularity"]
        return 1 if step == 1 else step

    sensitivity = Parameter[Any](
        "Largest change Δ of one value that one person can cause: an int for integers, otherwise a float."
    )

    @property
    def eps(self) -> float:
        """Largest finite loss of any change up to the sensitivity, rounded up; with `delta`, the guarantee of one value."""
        return float(self._bounds()[0])

    @property
    def delta(self) -> float:
        """Probability of an infinite loss, for the worst change up to the sensitivity, rounded up; 0 for pure ε."""
        return float(self._bounds()[1])

    @once
    def _bounds(self) -> tuple[float, float]:
        weights, steps = self._scaled_weights, self._sensitivity_steps
        return loss.pure_eps(weights, steps), rounded_up(loss.infinite(weights, steps))

    def losses_by_shift(self, eps: Number, alpha: Number = 2.0) -> ShiftLosses:
        """Return the privacy loss of one release for each change of g, 2g, … up to the sensitivity, up and down.

        Parameters
        ----------
        eps : float
            ε, at least 0, at which to compute δ.
        alpha : float, default 2.0
            Finite order, greater than 0, at which to compute Rényi divergences.

        Returns
        -------
        ShiftLosses
            Arrays `change`, `eps`, `delta` and `rdp`. For symmetric weights a change down is as private as one up, and only
            changes up are listed. ε and δ are rounded up: they come from integer arithmetic, whose bounds are within 1e-50
            of the exact values.

        Raises
        ------
        ParameterError, ParameterTypeError
            An argument is out of range or not a number.

        Examples
        --------
        >>> import stairnoise as sn
        >>> d = sn.LatticeNoise.from_pmf([1, 1, 3, 1, 1], tail_ratio=0.25, sensitivity=2)
        >>> losses = d.losses_by_shift(eps=1)
        >>> losses.change, losses.eps.round(4), losses.delta.round(4)
        (array([1., 2.]), array([1.3863, 2.7726]), array([0.0925, 0.2229]))
        """
        budget, order = single(eps, "eps"), positive(alpha, "alpha")
        refuse("eps", eps, 0 <= budget < math.inf, "finite and at least 0")
        weights, steps = self._scaled_weights, self._sensitivity_steps
        shifts = list(loss.shifts(weights, steps))
        parts = loss.parts(weights, steps)
        delta = [rounded_up(loss.delta(weights, shift, steps, budget)) for shift in shifts]
        with np.errstate(all="ignore"):
            rdp = [float(part.mean() if order == 1 else part.rdp(np.array(order))) for part in parts]
        change = np.array(shifts) * float(self.granularity)
        return ShiftLosses(change, np.array([float(part.eps) for part in parts]), np.array(delta), np.array(rdp))

    def _tail_bound(self, alpha: Real) -> Any:
        return super()._tail_bound(alpha) if self._integers else AdditiveMechanism._tail_bound(self, alpha)

    @property
    def _integers(self) -> bool:  # type: ignore[override]
        return bool(self._parameters["granularity"] == 1)

    @property
    def _dtypes(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("int64", "int32", "float64") if self._integers else ("float64", "float32")

    @property
    def _release_dtypes(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("int64", "int32", "float64", "float32") if self._integers else ("float64", "float32")

    def _functions(self) -> Any:
        return functions(self._scaled_weights, float(self.granularity))

    def _loss(self, sensitivity: Any) -> Any:
        return loss.loss(self._scaled_weights, self._sensitivity_steps)

    def _sum_bound(self, k: int, alpha: float) -> int:
        return error_bound(self._scaled_weights, k, alpha)

    def _promise(self, sensitivity: Any, k: int) -> Guarantee:
        # The guarantee of k releases, because `release` does not divide the privacy budget.
        eps, delta = (rounded_up(k * Fraction(bound)) for bound in self._bounds())
        return Guarantee(eps, min(delta, 1.0), None, self.sensitivity, k)

    def _cost_of(self, change: Change) -> tuple[float | None, float | None, float | None]:
        return group(*self._bounds(), change.units(self._sensitivity_steps))

    def _divided_among(self, k: int) -> Any:
        raise ParameterError(f"choose wider weights yourself, and check their privacy with compose({k})")

    def _exact_parameters(self) -> dict[str, Any]:
        step, change = self._parameters["granularity"], float(self._parameters["sensitivity"])
        ratio = 0.0 if self.tail_ratio is None else self.tail_ratio
        return {"weights": self._whole_weights(), "tail_ratio": ratio, "granularity": step, "sensitivity": change}

    def _whole_weights(self) -> tuple[int, ...]:
        """Return the least integers in the proportion of the weights, without zeros at both ends."""
        ratios = [weight.as_integer_ratio() for weight in self._scaled_weights.scaled.tolist()]
        unit = max(denominator for _, denominator in ratios)
        whole = [numerator * (unit // denominator) for numerator, denominator in ratios]
        common = reduce(math.gcd, whole)
        used = [abs(place - self._scaled_weights.reach) for place, weight in enumerate(whole) if weight]
        cut = self._scaled_weights.reach - max(used)
        return tuple(weight // common for weight in whole[cut : len(whole) - cut])

    def _expected_cost(self, function: CostFunction) -> Any:
        return lattice_cost(function, self, float(self.granularity), self.pmf)

    def _frozen(self, scipy: Any) -> Any:
        refuse("granularity", self.granularity, self._integers, "1 for as_scipy, whose distributions have no steps")
        return super()._frozen(scipy)

    def _laplace(self) -> Any:
        """Return None: these mechanisms have no Laplace mechanism for comparison."""

    def __repr__(self) -> str:
        m = self._scaled_weights.reach
        if 2 * m < _MOST_WRITTEN:
            return super().__repr__()
        others = ", ".join(f"{name}={value!r}" for name, value in self._shown_arguments().items() if name != "weights")
        return f"LatticeNoise(weights=<those of {-m} to {m}>, {others})"


def _checked_weights(weights: object) -> Floats:
    numbers = real(weights, "weights")
    if isinstance(numbers, float):
        raise ParameterTypeError(f"weights must be a sequence of numbers, got {received(weights)}")
    if numbers.ndim != 1:
        raise ParameterError(f"weights must have one dimension, got {received(weights)} of {numbers.ndim}")
    return numbers
