"""The truncated Laplace mechanism: Laplace noise between two bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, SupportsFloat

import numpy as np

from stairnoise import _native
from stairnoise._parameters import refuse
from stairnoise.accounting.losses import largest, runs
from stairnoise.distributions import slopes as distributions_slopes
from stairnoise.mechanism.continuous import ContinuousMechanism
from stairnoise.mechanism.immutable import Parameter
from stairnoise.mechanisms.truncated_laplace import distribution as truncated_laplace
from stairnoise.mechanisms.truncated_staircase import shared as truncated
from stairnoise.numerics.rounding import rounded_up


class TruncatedLaplace(truncated.Truncated, ContinuousMechanism):
    r"""Laplace noise of scale Δ/ε between two bounds, which is (ε, δ)-differentially private.

    .. math:: f(x) ∝ e^{-ε|x|/Δ}, \quad A ≤ x ≤ B

    Where the densities around two answers overlap, their ratio is at most :math:`e^ε`. They do not overlap on the
    outermost Δ at each end, and δ is the mass there at the end nearer to 0. Without bounds the distribution is symmetric,
    :math:`B = -A = \frac{Δ}{ε} \ln(1 + \frac{e^ε - 1}{2δ})`, and has exactly δ. If you pass one bound, the other is the
    nearest that leaves at most δ. Asymmetric noise is biased, and has a larger expected and squared error than symmetric
    noise.

    Draws are exact on the lattice of multiples of ``granularity`` g. The multiple kg, for k from -a to b, has a probability
    proportional to :math:`e^{-ε|k|/D}`, with :math:`D = ⌈Δ/g⌉`. The δ of *this* distribution is the mass of its D outermost
    points at the end nearer to 0. a and b are the least integers for which it is at most `delta`; the comparison is exact.
    Bounds that you pass are rounded towards 0. Every value takes one draw, and nothing is rejected.

    The distribution functions are those of the density with the bounds `lower` and `upper`. E|X| and E X² of the noise
    drawn differ by less than 1e-9 relative for ε from 2**-20 to 2**20.

    Parameters
    ----------
    eps : float
        Privacy parameter ε > 0 of one draw.
    delta : float
        Privacy parameter δ of one draw, from 2**-128 to 1/2.
    sensitivity : float or None
        Largest change Δ > 0 of the value that one person can cause. None is 1, for study: `release` requires that you state
        it.
    lower, upper : float or None
        Bounds A and B; ``lower <= -sensitivity`` and ``upper >= sensitivity``. None: the nearest bound that `delta` allows.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number.
    ParameterError
        A parameter is an array, is out of range, or float64 does not hold it exactly. Or the lattice would not fit
        64-bit integers. Or both bounds leave more than `delta`, or one bound is so near that no other bound suffices.

    References
    ----------
    .. [1] Geng, Ding, Guo and Kumar, "Tight Analysis of Privacy and Utility Tradeoff in Approximate Differential
       Privacy", AISTATS 2020: the symmetric distribution.
    .. [2] Mugunthan, Xiao and Kagal, "Utility-Enhancing Flexible Mechanisms for Differential Privacy", PSD 2020: the
       asymmetric distribution, theorem 1.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.TruncatedLaplace(eps=1, delta=1e-6)
    >>> d
    TruncatedLaplace(eps=1.0, delta=1e-06, lower=None, upper=None)
    >>> round(d.upper, 4), round(d.var(), 4)
    (13.6637, 1.9998)
    >>> d.achieved_delta <= d.delta
    True
    >>> bool(abs(d.sample(1000, rng=sn.SeededRng(1))).max() <= d.lattice_bounds[1])
    True
    """

    __slots__ = ("_ends",)
    _ends: tuple[float, float]

    def __init__(
        self,
        eps: SupportsFloat,
        delta: SupportsFloat,
        sensitivity: SupportsFloat | None = None,
        lower: SupportsFloat | None = None,
        upper: SupportsFloat | None = None,
    ) -> None:
        parameters = truncated.checked(eps, delta, sensitivity, lower, upper)
        self._store(_native.truncated_laplace(*parameters.values()), parameters, stated=sensitivity is not None)
        object.__setattr__(self, "_ends", self._find_ends(parameters["lower"], parameters["upper"]))

    def _find_ends(self, lower: float | None, upper: float | None) -> tuple[float, float]:
        """Return the distances of the density's bounds from 0."""
        scale = self.sensitivity / self.eps
        if lower is None and upper is None:
            symmetric = scale * truncated_laplace.symmetric_bound(self.eps, self.delta)
            return symmetric, symmetric
        if lower is not None and upper is not None:
            return -lower, upper
        below = self._other_end("upper", upper, scale) if lower is None else -lower
        above = self._other_end("lower", lower, scale) if upper is None else upper
        return below, above

    def _other_end(self, name: str, bound: float | None, scale: float) -> float:
        assert bound is not None
        other = scale * truncated_laplace.other_bound(self.eps, self.delta, abs(bound) / scale)
        # The lattice can have another bound where the density has none: `bound` is within rounding of the nearest possible one.
        rule = "far enough from 0 for a bound on the other side to leave no more than delta"
        refuse(name, bound, other < np.inf, rule)
        return other

    @property
    def _lattice_ends(self) -> tuple[int, int]:
        below, above = self._sampler.lengths
        return below, above

    sensitivity = Parameter[float]("Largest change Δ of one value that one person can cause.")

    @property
    def lower(self) -> float:
        """Lower bound of the density."""
        return -self._ends[0]

    @property
    def upper(self) -> float:
        """Upper bound of the density."""
        return self._ends[1]

    @property
    def lattice_bounds(self) -> tuple[float, float]:
        """Least and largest value that can be drawn."""
        below, above = self._lattice_ends
        return -below * self.granularity, above * self.granularity

    @property
    def achieved_delta(self) -> float:
        """δ of the distribution that is drawn, rounded up; at most `delta`."""
        return rounded_up(truncated_laplace.achieved_delta(self.eps, self._sensitivity_steps, *self._lattice_ends))

    def _functions(self) -> truncated_laplace.Truncated:
        return truncated_laplace.Truncated(self.lower, self.upper, self.sensitivity / self.eps)

    def _kinks(self) -> tuple[float, ...]:
        return self._ends

    def _loss(self, sensitivity: Any) -> Any:
        slopes = self._slopes()
        below, above = self._lattice_ends
        key = ("truncated Laplace", self.eps, below, above)
        upwards = runs.Runs(key, slopes, self._sensitivity_steps)
        return upwards if below == above else largest.Largest([upwards, runs.Runs(key, slopes, -self._sensitivity_steps)])

    def _slopes(self) -> Any:
        return distributions_slopes.Slopes((Fraction(self.eps) / self._sensitivity_steps,), (), *self._lattice_ends)

    def _sum_bound(self, k: int, alpha: float) -> int:
        return distributions_slopes.error_bound(self._slopes(), k, alpha)

    def _exact_parameters(self) -> dict[str, Any]:
        below, above = self._lattice_ends
        return {"eps": self.eps, "delta": self.delta, "sensitivity": self.sensitivity, "below": below, "above": above}
