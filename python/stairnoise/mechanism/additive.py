"""The base classes of mechanisms of single numbers, and the questions that a mechanism answers about itself.

The file of each mechanism answers them in this order:

1. its constructor, which ends in `_store`;
2. its parameters, as properties;
3. `_functions`, its distribution;
4. `_loss`, what a release reveals;
5. `_sum_bound`, the tail of a sum of draws;
6. `_edges`, where its density jumps;
7. `_promise`, its guarantee;
8. `_divided_among`, the mechanism that keeps this guarantee for several values;
9. `_exact_parameters`, by which keyed noise tells it from every other mechanism.

Public methods are functions of the files that stand before their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stairnoise._errors import ParameterError
from stairnoise._parameters import Real, RealLike, argument
from stairnoise._types import AnyFloat, Default, Float, Value, Whole, number_or_array
from stairnoise.mechanism import accuracy, cost, distribution, interop, plotting, privacy, residues
from stairnoise.mechanism.base import Mechanism
from stairnoise.registry import load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stairnoise._types import Floats

_LARGEST_INT64 = 2**63 - 1
# Sums of listed probabilities stay below this part of 1 - confidence in spite of their rounding errors.
_LIST_MARGIN = 1 - 2.0**-37


class AdditiveMechanism(Mechanism[Default, Value, AnyFloat]):
    """The base of all mechanisms that add noise to single numbers: they also have a distribution and a privacy loss.

    It is for annotations and `isinstance`; construct a mechanism such as `Laplace`.
    """

    __slots__ = ()
    __module__ = "stairnoise"

    interval = distribution.interval
    median = distribution.median
    support = distribution.support
    entropy = distribution.entropy
    mean = distribution.mean
    var = distribution.var
    std = distribution.std
    moment = distribution.moment
    abs_moment = distribution.abs_moment
    stats = distribution.stats
    error_bound = distribution.error_bound
    confidence_interval = accuracy.confidence_interval
    privacy_loss = privacy.privacy_loss
    privacy_profile = privacy.privacy_profile
    rdp = privacy.rdp
    tradeoff = privacy.tradeoff
    compose = privacy.compose
    plot = plotting.plot
    as_scipy = interop.as_scipy

    if TYPE_CHECKING:

        def _loss(self, sensitivity: Any) -> Any:
            """Return the loss of one release as drawn: a `stairnoise.accounting.losses.loss.Part`."""

        def _sum_bound(self, k: int, alpha: float) -> int:
            """Return t in lattice steps with P(|S| > t) <= alpha for the sum S of k draws."""

    # The distribution

    @number_or_array
    def cdf(self, x: RealLike) -> AnyFloat | Floats:
        """Cumulative distribution function, P(X <= x).

        Parameters
        ----------
        x : float or array of float
            Any number; broadcasts against the parameters.

        Returns
        -------
        float or ndarray of float64
        """
        return self._apply("cdf", x, "x")

    @number_or_array
    def sf(self, x: RealLike) -> AnyFloat | Floats:
        """Survival function, P(X > x), computed directly: it stays positive in tails where ``1 - cdf(x)`` rounds to 0."""
        return self._apply("sf", x, "x")

    @number_or_array
    def logcdf(self, x: RealLike) -> AnyFloat | Floats:
        """Natural logarithm of `cdf`, finite where `cdf` underflows."""
        return self._apply("logcdf", x, "x")

    @number_or_array
    def logsf(self, x: RealLike) -> AnyFloat | Floats:
        """Natural logarithm of `sf`, finite where `sf` underflows."""
        return self._apply("logsf", x, "x")

    @number_or_array
    def ppf(self, q: RealLike) -> AnyFloat | Floats:
        """Quantile function: the least x with P(X <= x) >= q.

        Parameters
        ----------
        q : float or array of float
            Lower tail probability; broadcasts against the parameters.

        Returns
        -------
        float or ndarray of float64
            -inf for 0, inf for 1, NaN outside [0, 1]. Whole numbers for a discrete mechanism.
        """
        return self._apply("ppf", q, "q")

    @number_or_array
    def isf(self, q: RealLike) -> AnyFloat | Floats:
        """Inverse survival function: the least x with P(X > x) <= q.

        Like `ppf`, for an upper tail probability; inf for 0, -inf for 1, NaN outside [0, 1].
        """
        return self._apply("isf", q, "q")

    def _apply(self, function: str, value: object, name: str) -> AnyFloat | Floats:
        """Evaluate one function of the distribution; `name` is what errors call its argument."""
        with np.errstate(all="ignore"):
            found = getattr(self._distribution, function)(np.asarray(argument(value, name), np.float64))
            return self._plain(found)

    @staticmethod
    def _plain(result: Any) -> AnyFloat:
        """Return a result of the parameters' shape as a number or an array, as `plain` does."""
        return distribution.plain(result)  # type: ignore[return-value]

    @property
    def _unit(self) -> Any:
        """A length of the order of the noise; 1 for integers, whose moments need no other."""
        return 1.0

    def _in_units(self) -> Any:
        """Return the distribution of X/unit."""
        return self._distribution

    def _skewness(self) -> Real:
        mean, std, (first, second, third, _) = distribution.central(self)
        return (third - 3 * mean * second + 3 * mean**2 * first - mean**3) / std**3

    def _excess_kurtosis(self) -> Real:
        mean, std, (first, second, third, fourth) = distribution.central(self)
        return (fourth - 4 * mean * third + 6 * mean**2 * second - 4 * mean**3 * first + mean**4) / std**4 - 3

    def _tail_bound(self, alpha: Real) -> Any:
        """Return the smallest t with P(|X| > t) <= alpha, which may be less than 1 - confidence can be in float64."""
        return self._apply("error_bound", alpha, "confidence")

    def _bounds_on_lattice(self, alpha: NDArray[np.float64], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the granularity, and for each alpha the bound of a sum of k draws in lattice steps."""
        bounds = np.empty(alpha.shape, object)
        for index in np.ndindex(bounds.shape):
            bounds[index] = self._sum_bound(k, float(alpha[index]) * _LIST_MARGIN)
        return np.array(float(self._sampler.granularity)), bounds

    # Expected costs

    def _kinks(self) -> tuple[float, ...]:
        """Return the magnitudes other than 0 at which the density is not smooth."""
        return ()

    def _expected_power(self, p: Real) -> Any:
        """Return E|X|**p, for every element of p if it is an array."""
        if isinstance(p, float):
            return self.abs_moment(p)
        return np.array([self.abs_moment(float(one)) for one in p.flat], np.float64).reshape(p.shape)

    def _expected_cost(self, function: cost.CostFunction) -> Any:
        """Return the expected cost for a function that does not decrease with the magnitude."""
        return cost.density_cost(function, self)

    # Privacy

    def _density_loss(self) -> Any:
        """Return the loss of the density; mechanisms that do not know it raise."""
        name = type(self).__name__
        raise ParameterError(f"lattice must be True for a {name}, whose loss is known of what is drawn, got False")

    # Pictures and other libraries

    def _visible(self, limit: float) -> float:
        """Return how far from 0 to draw a mechanism whose noise nearly always stays within `limit`."""
        if self._integers:
            return max(limit, float(self._width or 1))
        # The noise of a share may nearly always be 0; the limit is then 0.
        return limit or float(self.std())

    def _edges(self, limit: float) -> NDArray[np.float64] | None:
        """Return the jumps of the density between -limit and limit, with both ends; None for a density without jumps."""
        del limit
        return None

    def _laplace(self) -> Any:
        """Return the Laplace mechanism of the same kind, ε and sensitivity; None for a share or a mechanism without both."""
        eps, width = self._pure_eps, self._width
        if eps is None or width is None:
            return None
        return load("discrete_laplace" if self._integers else "laplace")(eps, width)

    @property
    def _pure_eps(self) -> float | None:
        """ε of the Laplace mechanism to compare with."""
        eps: float | None = getattr(self, "eps", None)
        return eps

    @property
    def _width(self) -> float | None:
        """Sensitivity of the mechanism, if it has one."""
        width: float | None = getattr(self, "sensitivity", None)
        return width

    def _frozen(self, scipy: Any) -> Any:
        """Return the frozen distribution, made by `stairnoise._scipy`."""
        return scipy.of_one(self, self._integers)


class ContinuousMechanism(AdditiveMechanism[np.float64, Float, Float]):
    """A mechanism of real numbers, drawn on the lattice of multiples of its granularity."""

    __slots__ = ()
    _integers = False
    _dtypes = ("float64", "float32")
    _release_dtypes = ("float64", "float32")

    @number_or_array
    def pdf(self, x: RealLike) -> Float | Floats:
        """Probability density at x; at the edge of a stair, the lower of the two densities.

        Parameters
        ----------
        x : float or array of float
            Any number; broadcasts against the parameters.

        Returns
        -------
        float or ndarray of float64
            Per unit of x.
        """
        return self._apply("pdf", x, "x")

    @number_or_array
    def logpdf(self, x: RealLike) -> Float | Floats:
        """Natural logarithm of `pdf`, finite where `pdf` underflows."""
        return self._apply("logpdf", x, "x")

    @property
    def granularity(self) -> Float:
        """Lattice step g, a power of two: every draw is a multiple of it."""
        granularity: Float = self._lattice_step()
        return granularity

    def _lattice_step(self) -> Any:
        return self._sampler.granularity

    @property
    def _unit(self) -> Any:
        return self._distribution.unit

    def _in_units(self) -> Any:
        return self._distribution.in_units()


class DiscreteMechanism(AdditiveMechanism[np.int64, Whole, Float]):
    """A mechanism of integers."""

    __slots__ = ()
    _integers = True
    _dtypes = ("int64", "int32", "float64")
    _release_dtypes = ("int64", "int32", "float64", "float32")

    release_modulo = residues.release_modulo

    @number_or_array
    def pmf(self, k: RealLike) -> Float | Floats:
        """Probability of the integer k; 0 if k is not an integer.

        Parameters
        ----------
        k : int, float or array of them
            Any number; broadcasts against the parameters.

        Returns
        -------
        float or ndarray of float64
        """
        return self._apply("pmf", k, "k")

    @number_or_array
    def logpmf(self, k: RealLike) -> Float | Floats:
        """Natural logarithm of `pmf`, finite where `pmf` underflows; -inf if k is not an integer."""
        return self._apply("logpmf", k, "k")

    @property
    def granularity(self) -> int:
        """Lattice step, which is 1: draws are integers."""
        return 1

    def _tail_bound(self, alpha: Real) -> Any:
        bound: Any = super()._tail_bound(alpha)
        if type(bound) is float:
            return int(bound) if bound < _LARGEST_INT64 else _LARGEST_INT64
        saturated = bound >= _LARGEST_INT64
        whole = np.where(saturated, 0.0, bound).astype(np.int64)
        return np.where(saturated, _LARGEST_INT64, whole)

    def _expected_cost(self, function: cost.CostFunction) -> Any:
        return cost.lattice_cost(function, self, 1.0, self.pmf)
