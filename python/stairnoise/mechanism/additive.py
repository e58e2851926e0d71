"""The base class of mechanisms of single numbers.

The file of each mechanism defines, in this order:

1. its constructor, which ends in `_store`;
2. its parameters, as properties;
3. `_functions`, its distribution;
4. `_loss`, its privacy loss;
5. `_sum_bound`, the tail of a sum of draws;
6. `_edges`, where its density jumps;
7. `_promise`, its guarantee;
8. `_divided_among`, the mechanism that keeps this guarantee for several values;
9. `_exact_parameters`, which distinguish its keyed noise from that of every other mechanism.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from stairnoise import _scipy
from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._optional import require
from stairnoise._options import TypedDict, Unpack
from stairnoise._parameters import Real, RealLike, argument, confidence_level, count, flag, refuse, single
from stairnoise._types import AnyFloat, Array, Default, Floats, Integer, Integers, Number, Numeric, Value, number_or_array
from stairnoise.accounting import privacy_loss
from stairnoise.figures import mechanism as picture
from stairnoise.mechanism import cost
from stairnoise.mechanism.accuracy import Of, interval_of
from stairnoise.mechanism.base import Mechanism
from stairnoise.mechanism.distribution import central, plain, scaled, times_power
from stairnoise.mechanism.guarantee import Change, Guarantee, group, mapped
from stairnoise.mechanism.immutable import once
from stairnoise.numerics.elementwise import over_elements
from stairnoise.registry import load
from stairnoise.rng import Rng

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from stairnoise.accounting.privacy_loss import PrivacyLoss

    class _Options(TypedDict, total=False):
        terms: int
        max_partitions_contributed: int


# Moments of much larger powers overflow float64.
_MOST_POWER = 64
_POWERS = f"greater than -1 and at most {_MOST_POWER}"
# Up to this order the closed forms are quicker.
_MOST_CLOSED_POWER = 16
# Exceeds the rounding errors of listed probabilities.
_LIST_MARGIN = 1 - 2.0**-37


class AdditiveMechanism(Mechanism[Default, Value, AnyFloat]):
    """The base of all mechanisms that add noise to single numbers: they also have a distribution and a privacy loss.

    It is for annotations and `isinstance`; construct a mechanism such as `Laplace`.

    Arguments and parameters broadcast. The relative error is below 1e-12, in the far tails too, for ε from 2**-40 to 700. NaN
    gives NaN. The result is a Python float if all of them are scalars.
    """

    __slots__ = ()
    __module__ = "stairnoise"

    if TYPE_CHECKING:

        def _loss(self, sensitivity: Any) -> Any:
            """Return the loss of one release as drawn: a `stairnoise.accounting.losses.loss.Part`."""

        def _sum_bound(self, k: int, alpha: float) -> int:
            """Return t in lattice steps with P(|S| > t) <= alpha for the sum S of k draws."""

        @staticmethod
        def _plain(result: Any) -> AnyFloat:
            """Return a result of the parameters' shape as a number or an array, as `plain` does."""

    else:
        _plain = staticmethod(plain)

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

    @overload
    def interval(self, confidence: Number) -> tuple[AnyFloat, AnyFloat]: ...  # type: ignore[overload-overlap]
    @overload
    def interval(self, confidence: Numeric) -> tuple[Floats, Floats]: ...
    def interval(self, confidence: RealLike) -> Any:
        """Return the ends of an interval with probability (1 - confidence)/2 outside it on each side.

        Parameters
        ----------
        confidence : float or array of float
            In [0, 1]; broadcasts against the parameters.

        Returns
        -------
        tuple of two floats or arrays
            The quantiles ``ppf((1 - confidence)/2)`` and ``isf((1 - confidence)/2)``.

        Raises
        ------
        ParameterError
            `confidence` is outside [0, 1].
        """
        level = argument(confidence, "confidence")
        refuse("confidence", level, (level >= 0) & (level <= 1), "from 0 to 1")
        outside = (1 - level) / 2
        return self._apply("ppf", outside, "confidence"), self._apply("isf", outside, "confidence")

    @once
    def median(self) -> AnyFloat:
        """Return the least x with P(X <= x) >= 1/2."""
        return self.ppf(0.5)

    @once
    def support(self) -> tuple[AnyFloat, AnyFloat]:
        """Return the ends of the support."""
        low, high = self._distribution.support()
        return self._plain(low), self._plain(high)

    @once
    def entropy(self) -> AnyFloat:
        """Entropy in nats: differential for a continuous mechanism, Shannon's for a discrete one."""
        return self._plain(self._distribution.entropy())

    @once
    def mean(self) -> AnyFloat:
        """E X, which is 0 for symmetric noise."""
        return self._plain(self._distribution.mean())

    @once
    def var(self) -> AnyFloat:
        """Variance E (X - E X)²."""
        distribution, unit = scaled(self)
        return self._plain(times_power(distribution.var(), unit, 2))

    @once
    def std(self) -> AnyFloat:
        """Square root of the variance, also where float64 does not hold the variance."""
        distribution, unit = scaled(self)
        return self._plain(np.sqrt(distribution.var()) * unit)

    def moment(self, order: int) -> AnyFloat:
        """E X**order, for an integer order from 0 to 64; inf if float64 overflows."""
        power = count(order, "order", least=0, most=_MOST_POWER)
        distribution, unit = scaled(self)
        return self._plain(times_power(distribution.moment(power), unit, power))

    def abs_moment(self, p: RealLike) -> AnyFloat:
        """E|X|**p for a real p.

        Parameters
        ----------
        p : int or float
            Above -1 and at most 64.

        Returns
        -------
        float or ndarray of float64
            inf if float64 overflows, and for p < 0 if 0 has a positive probability.

        Raises
        ------
        ParameterError
            `p` is out of range or an array.
        """
        power = single(p, "p")
        refuse("p", p, -1 < power <= _MOST_POWER, _POWERS)
        distribution, unit = scaled(self)
        moment = distribution.abs_moment(int(power) if power in range(_MOST_CLOSED_POWER + 1) else power)
        return self._plain(times_power(moment, unit, power))

    @overload
    def stats(self, moments: Literal["m", "v", "s", "k"]) -> AnyFloat: ...
    @overload
    def stats(self, moments: Literal["mv"] = "mv") -> tuple[AnyFloat, AnyFloat]: ...
    @overload
    def stats(self, moments: Literal["mvs"]) -> tuple[AnyFloat, AnyFloat, AnyFloat]: ...
    @overload
    def stats(self, moments: Literal["mvsk"]) -> tuple[AnyFloat, AnyFloat, AnyFloat, AnyFloat]: ...
    @overload
    def stats(self, moments: str) -> AnyFloat | tuple[AnyFloat, ...]: ...
    def stats(self, moments: str = "mv") -> Any:
        """Mean ("m"), variance ("v"), skewness ("s") and excess kurtosis ("k"), like SciPy's ``stats`` method.

        Parameters
        ----------
        moments : str, default "mv"
            Letters out of "mvsk".

        Returns
        -------
        float, ndarray or tuple of them
            One for each letter, in the order m, v, s, k; not a tuple for a single letter.

        Raises
        ------
        ParameterError
            `moments` has another letter, or none.
        ParameterTypeError
            `moments` is not a string.
        """
        if not isinstance(moments, str):
            raise ParameterTypeError(f'moments must be letters out of "mvsk", got {received(moments)}')
        if moments == "mv":
            return self.mean(), self.var()
        refuse("moments", moments, set() < set(moments) <= set("mvsk"), 'letters out of "mvsk"')
        measures = {"m": self.mean, "v": self.var, "s": self._skewness, "k": self._excess_kurtosis}
        wanted = tuple(measure() for letter, measure in measures.items() if letter in moments)
        return wanted if len(wanted) > 1 else wanted[0]

    @overload
    def error_bound(self, confidence: Number = 0.95) -> Value: ...  # type: ignore[overload-overlap]
    @overload
    def error_bound(self, confidence: Numeric) -> NDArray[Default]: ...
    def error_bound(self, confidence: RealLike = 0.95) -> Any:
        """Smallest t with P(|X| <= t) >= confidence.

        Parameters
        ----------
        confidence : float or array of float, default 0.95
            At least 0.5 and less than 1; broadcasts against the parameters.

        Returns
        -------
        float, int or ndarray
            An integer for a discrete mechanism.

        Raises
        ------
        ParameterError
            `confidence` is out of range.
        """
        return self._tail_bound(1 - confidence_level(confidence))

    @overload
    def confidence_interval(
        self, released: Integer, confidence: Number = 0.95, *, of: Literal["value", "sum"] = "value", **options: Unpack[_Options]
    ) -> tuple[Value, Value]: ...
    @overload
    def confidence_interval(
        self, released: Number, confidence: Number = 0.95, *, of: Of = "value", **options: Unpack[_Options]
    ) -> tuple[Value | AnyFloat, Value | AnyFloat]: ...
    @overload
    def confidence_interval(
        self, released: Integers, confidence: Number = 0.95, *, of: Literal["value", "sum"] = "value", **options: Unpack[_Options]
    ) -> tuple[NDArray[Default], NDArray[Default]]: ...
    @overload
    def confidence_interval(
        self, released: Array, confidence: RealLike = 0.95, *, of: Of = "value", **options: Unpack[_Options]
    ) -> tuple[NDArray[Default] | Floats, NDArray[Default] | Floats]: ...
    @overload
    def confidence_interval(
        self, released: RealLike, confidence: RealLike = 0.95, *, of: Of = "value", **options: Unpack[_Options]
    ) -> tuple[Value | AnyFloat | NDArray[Default] | Floats, Value | AnyFloat | NDArray[Default] | Floats]: ...
    def confidence_interval(
        self,
        released: RealLike,
        confidence: RealLike = 0.95,
        *,
        of: Of = "value",
        terms: int = 1,
        max_partitions_contributed: int = 1,
    ) -> Any:
        """Interval that contains the true value with at least the given probability.

        Only the noise is random here; the true value is fixed. Among all releases of that value, at least the
        proportion `confidence` has an interval that contains it. Sampling error is not included.

        The interval uses the distribution that is drawn, on its lattice. A continuous mechanism rounds true values to
        multiples of the granularity g, by at most g/2; the interval includes this. For a discrete mechanism, true values
        are assumed to be integers, because `release` rounds all others to integers first. If some are not integers, widen
        the interval by 1/2 at both ends (by ``terms/2`` for a sum).

        Parameters
        ----------
        released : int, float or array of them
            Published number or numbers; each has an interval. Broadcasts with the parameters and `confidence`. Error
            messages never show these values, so passing true values by mistake leaks nothing.
        confidence : float or array of float, default 0.95
            At least 0.5 and less than 1.
        of : {"value", "sum", "mean"}, default "value"
            What `released` is: one released value, or the sum or mean of `terms` values. Each of these was released
            with this mechanism and its own noise.
        terms : int, default 1
            How many values were added up, from 1 to 10**9; 1 for "value".
        max_partitions_contributed : int, default 1
            The value that `release` was called with.

        Returns
        -------
        low, high : int, float or ndarray
            Ends of the interval, both included, at equal distances from `released`. They are integers for a discrete
            mechanism, if `released` holds integers and no means. Otherwise they are float64, rounded outwards. They are
            NumPy arrays unless all arguments and parameters are scalars.

        Raises
        ------
        ParameterError
            `confidence` is out of range, `of` is another word, `terms` is out of range or does not fit `of`,
            `released` is not finite, or the shapes do not broadcast.
        ParameterTypeError
            An argument is not a number.

        Notes
        -----
        For one value the half-width is the exact quantile ``error_bound(confidence)``. For sums:

        - Laplace mechanisms have a closed form, which is exact too.
        - For staircase mechanisms the transform of the sum is inverted. This is exact if the integers that matter are at
          most 2**21. Otherwise wider bins replace the lattice's, and the distribution is larger in Birnbaum's order of
          peakedness [1]_. That widens the interval by less than 1e-4 for up to 10**6 terms, and by less than 4 % up to
          10**9 terms.
        - Gaussian noise uses its closed form.
        - The other mechanisms invert transforms of their lists of probabilities, or of wider distributions.
        - For an unsymmetric `TruncatedLaplace`, every term is rounded away from 0 to a bin. The same holds for
          `MultiScaleDiscreteLaplace` if its terms are too many for their integers to fit. This widens the interval by a
          relative 1e-5 for each term.

        Rounding errors are bounded and added.

        The interval includes the rounding of `released` to float64 or float32: half a unit in its last place. It does not
        include errors made in adding up the terms, nor saturation at the ends of an integer type.

        References
        ----------
        .. [1] Birnbaum, "On Random Variables with Comparable Peakedness", Annals of Mathematical Statistics 19,
           1948.

        Examples
        --------
        >>> import stairnoise as sn
        >>> d = sn.DiscreteLaplace(eps=1)
        >>> d.confidence_interval([120, 43, 0])
        (array([117,  40,  -3]), array([123,  46,   3]))
        >>> d.confidence_interval(163, of="sum", terms=3)
        (158, 168)
        """
        return interval_of(self, released, confidence, of, terms, max_partitions_contributed)

    def _apply(self, function: str, value: object, name: str) -> AnyFloat | Floats:
        """Evaluate one function of the distribution; `name` is what errors call its argument."""
        with np.errstate(all="ignore"):
            found = getattr(self._distribution, function)(np.asarray(argument(value, name), np.float64))
            return self._plain(found)

    # Unit of moments: a length of the order of the noise; 1 for integers.
    _unit: Any = 1.0

    def _in_units(self) -> Any:
        """Return the distribution of X/unit."""
        return self._distribution

    def _skewness(self) -> Real:
        mean, std, (first, second, third, _) = central(self)
        return (third - 3 * mean * second + 3 * mean**2 * first - mean**3) / std**3

    def _excess_kurtosis(self) -> Real:
        mean, std, (first, second, third, fourth) = central(self)
        return (fourth - 4 * mean * third + 6 * mean**2 * second - 4 * mean**3 * first + mean**4) / std**4 - 3

    def _tail_bound(self, alpha: Real) -> Any:
        """Return the smallest t with P(|X| > t) <= alpha, for smaller alpha than 1 - confidence can be in float64."""
        return self._apply("error_bound", alpha, "confidence")

    def _bounds_on_lattice(self, alpha: Floats, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the granularity, and for each alpha the bound of a sum of k draws in lattice steps."""
        bounds = over_elements(lambda level: self._sum_bound(k, level * _LIST_MARGIN), object, alpha)
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

    def privacy_loss(self, *, lattice: bool = True, sensitivity: Number | None = None) -> PrivacyLoss[AnyFloat]:
        """Privacy loss of one release, or one sum of shares, for the worst pair of neighbouring inputs.

        Parameters
        ----------
        lattice : bool, default True
            True: the loss of the distribution that is drawn, on the multiples of ``granularity``. False: the loss of the
            density, which the literature states; only `Staircase` and `Laplace` know it. The two differ by less than
            1e-9 relative for ε from 2**-20 to 27 (and an optimal shape). They are equal for a discrete mechanism.
        sensitivity : int, float or None
            Largest change Δ of the value that one person can cause; an integer for a discrete mechanism. Only
            `DiscreteGaussian`, `Skellam`, `GeneralizedDiscreteLaplace`, `MultiScaleDiscreteLaplace`, `Arete`, and mechanisms made
            from a ``scale`` or ``std`` take it. None: the sensitivity that the mechanism was made for, or 1 if there is none.

        Returns
        -------
        PrivacyLoss

        Raises
        ------
        ParameterError, ParameterTypeError
            `sensitivity` is out of range, or passed to a mechanism that was made for a fixed one. Or there are too many
            probabilities to list. Or `lattice` is False and the loss of the density is not known.

        Notes
        -----
        Neighbouring inputs differ by at most the sensitivity Δ. The loss is computed for a difference of exactly Δ (⌈Δ/g⌉
        steps of the lattice). For every measure except `PrivacyLoss.var`, this difference is the worst. That holds for a
        symmetric distribution that falls from its mode, and for one with a concave logarithm. `MultiScaleDiscreteLaplace`
        and `LatticeNoise` need not fall from their mode; each measure is for its worst difference up to Δ. For an unsymmetric
        distribution, the measures are for the worse direction. k people, or a difference of kΔ, cost k ε. A staircase
        loses ε with some probability for every difference, however small.
        """
        drawn = flag(lattice, "lattice")
        return privacy_loss.loss_of(self, self._sensitivity_or_default(sensitivity), drawn or self._integers)

    @overload
    def privacy_profile(self, eps: Number, sensitivity: Number | None = None) -> AnyFloat: ...  # type: ignore[overload-overlap]
    @overload
    def privacy_profile(self, eps: Numeric, sensitivity: Number | None = None) -> Floats: ...
    def privacy_profile(self, eps: RealLike, sensitivity: Number | None = None) -> Any:
        """Least δ for which one release is (ε, δ)-differentially private; see `PrivacyLoss.privacy_profile`.

        In this method and the next ones, `sensitivity` is as in `privacy_loss`.
        """
        return self.privacy_loss(sensitivity=sensitivity).privacy_profile(eps)

    @overload
    def rdp(self, alpha: Number, sensitivity: Number | None = None) -> AnyFloat: ...  # type: ignore[overload-overlap]
    @overload
    def rdp(self, alpha: Numeric, sensitivity: Number | None = None) -> Floats: ...
    def rdp(self, alpha: RealLike, sensitivity: Number | None = None) -> Any:
        """Rényi divergence of order `alpha` of one release; see `PrivacyLoss.rdp`."""
        return self.privacy_loss(sensitivity=sensitivity).rdp(alpha)

    @overload
    def tradeoff(self, false_alarm: Number, sensitivity: Number | None = None) -> AnyFloat: ...  # type: ignore[overload-overlap]
    @overload
    def tradeoff(self, false_alarm: Numeric, sensitivity: Number | None = None) -> Floats: ...
    def tradeoff(self, false_alarm: RealLike, sensitivity: Number | None = None) -> Any:
        """Least probability of a missed detection; see `PrivacyLoss.tradeoff`."""
        return self.privacy_loss(sensitivity=sensitivity).tradeoff(false_alarm)

    def compose(self, k: int, sensitivity: Number | None = None) -> PrivacyLoss[AnyFloat]:
        """Privacy loss of `k` independent releases; see `PrivacyLoss.compose`."""
        return self.privacy_loss(sensitivity=sensitivity).compose(k)

    def _density_loss(self, sensitivity: Any) -> Any:
        """Return the loss of the density; mechanisms that do not know it raise."""
        del sensitivity
        name = type(self).__name__
        raise ParameterError(f"lattice must be True for a {name}, because the loss of its density is not known, got False")

    def privacy_map(self, d_in: Number, size: int = 1, *, integers: bool = False) -> Guarantee:
        """Return what a change by `d_in` costs, for one value or for several values that are released in one call.

        It depends on the noise alone: neither the mechanism's own sensitivity nor its ε limits `d_in`. The rounding of values
        to multiples of `granularity` is included. A release with ``max_partitions_contributed=k`` has the noise of
        ``for_partitions(k)``, so ask that mechanism.

        Parameters
        ----------
        d_in : float
            Largest change, at least 0: of the value; or for several values of all of them together, in the l2 norm for
            `Gaussian`, `DiscreteGaussian` and `Skellam`, in the l1 norm for all others.
        size : int, default 1
            How many values are released, from 1 to 2**53 - 1.
        integers : bool, default False
            Whether all values are integers, by type or by your word. A granularity of at most 1 then rounds nothing.

        Returns
        -------
        Guarantee
            ``rho`` for `Gaussian` and `DiscreteGaussian`, otherwise ``eps`` and ``delta``. All are rounded up.

        Raises
        ------
        ParameterError, ParameterTypeError
            `d_in` or `size` is out of range. Or the mechanism has array parameters.

        Notes
        -----
        In steps g of the lattice, n values that change by d in the l1 norm move together by at most ⌈d/g⌉ + n - 1. In the l2
        norm they move by less than d/g + √n. Integers do not move further than they change, if g is at most 1.

        Laplace noise costs its ε in proportion to the steps. Every other mechanism is (ε, δ)-private for its sensitivity, and
        t such changes one after the other are (tε, δ(1 + e^ε + … + e^((t-1)ε)))-private [1]_. So n values that all change cost
        at least nε. Gaussian noise costs ρ = s/(2σ²) for the sum s of all squared moves [2]_.

        An OpenDP measurement takes ``lambda d_in: mechanism.privacy_map(d_in, size).eps`` as its privacy map.

        References
        ----------
        .. [1] Vadhan, "The Complexity of Differential Privacy", 2017, lemma 2.2.
        .. [2] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020, theorem 14.

        Examples
        --------
        >>> import stairnoise as sn
        >>> sn.Laplace(0.3).privacy_map(2).eps
        0.6
        >>> f"{sn.Gaussian(std=4).privacy_map(1, size=10**7).rho:.7f}"
        '0.0312502'
        >>> sn.DiscreteLaplace(1).privacy_map(2, size=50, integers=True).eps
        2.0
        """
        return mapped(self, d_in, size, integers)

    def _cost_of(self, change: Change) -> tuple[float | None, float | None, float | None]:
        """Return the ε and δ, or the ρ, of a change of values; by default that of so many changes by a sensitivity."""
        return group(self.eps, getattr(self, "delta", 0.0), change.units(self._sensitivity_steps))

    # Pictures and other libraries

    def plot(
        self,
        ax: Axes | None = None,
        *,
        samples: int | RealLike | None = None,
        rng: Rng | None = None,
        laplace: bool | None = None,
        bins: int = 100,
        **style: Any,
    ) -> Axes:
        """Draw the density, or the probabilities of the integers, where 99 % of the noise falls.

        A second mechanism on the same axes gets another colour.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Where to draw, in their style; None: a new figure of ``matplotlib.pyplot``. A title that is there stays.
        samples : int, array or None
            Values to show as a histogram behind the curve, or how many values to draw for it. Values outside the
            picture still count in the heights of the bars.
        rng : SecureRng, SeededRng or None
            Generator of the values, if `samples` is a number. None: one secure generator for the process.
        laplace : bool or None
            Whether to draw `Laplace` (or `DiscreteLaplace`) of the same ``eps`` and ``sensitivity`` for comparison. A
            mechanism without both has no comparison. None: only for the first mechanism on the axes.
        bins : int, default 100
            Number of bars of the histogram. On the integers it is an upper limit, and each bar covers a whole number of
            integers.
        **style
            Keywords of Matplotlib's lines, such as ``label``, ``color`` and ``alpha``.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ParameterError, ParameterTypeError
            The mechanism has array parameters, or an argument is not allowed.
        ModuleNotFoundError
            Matplotlib is not installed: ``pip install matplotlib``.

        Examples
        --------
        >>> import matplotlib.figure
        >>> import stairnoise as sn
        >>> ax = matplotlib.figure.Figure().subplots()
        >>> sn.Staircase(eps=4).plot(ax, samples=1000).get_ylabel()
        'probability density'
        """
        return picture.plot_mechanism(self, ax, samples, rng, laplace, bins, style)

    def plot_error(
        self, ax: Axes | None = None, *, eps: RealLike | None = None, confidence: Number | None = None, **style: Any
    ) -> Axes:
        """Draw the error of this mechanism against ε, with everything else as it is. A dot marks its own ε.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None
            Where to draw, as in `plot`.
        eps : array of float or None
            Where to compute the error; None: from a fifth to five times the mechanism's own ε.
        confidence : float or None
            Draw ``error_bound(confidence)``; None: E|X|.
        **style
            Keywords of Matplotlib's lines.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ParameterError, ParameterTypeError
            The mechanism was not made from one ε or has array parameters, or an argument is not allowed.
        ModuleNotFoundError
            Matplotlib is not installed: ``pip install matplotlib``.

        Examples
        --------
        >>> import matplotlib.figure
        >>> import stairnoise as sn
        >>> ax = matplotlib.figure.Figure().subplots()
        >>> _ = sn.Staircase(eps=4).plot_error(ax)
        >>> sn.Laplace(eps=4).plot_error(ax).get_ylabel()
        'E|X|'
        """
        return picture.plot_error(self, ax, eps, confidence, style)

    def as_scipy(self) -> Any:
        """Return the noise as a frozen distribution of `scipy.stats`.

        To protect data use `release`; this object is for study. Its functions are the mechanism's closed forms, so
        SciPy's tools (``expect``, ``kstest``, ``goodness_of_fit`` ...) have their accuracy. Its ``rvs`` calls
        `sample` with a `SeededRng`, whose seed comes from SciPy's ``random_state``; draws are reproducible.

        Returns
        -------
        scipy.stats.rv_frozen
            `Staircase` and `Laplace` have shapes ``eps`` (and ``gamma``), and the sensitivity is the scale.
            `DiscreteStaircase` and `DiscreteLaplace` have shapes ``eps``, ``sensitivity`` (and ``r``). Array
            parameters broadcast as SciPy's do. SciPy divides by the scale first, which may move the edge of a
            stair by one rounding, and adds the location last. All other mechanisms have no shapes. `Arete` is
            drawn on a coarse lattice; SciPy gets every value spread evenly over the step around it.

        Raises
        ------
        ModuleNotFoundError
            SciPy is not installed; ``pip install scipy``.

        Examples
        --------
        >>> import stairnoise as sn
        >>> frozen = sn.Staircase(eps=1, sensitivity=10).as_scipy()
        >>> round(float(frozen.cdf(5)), 6), round(float(frozen.sf(5)), 6)
        (0.72021, 0.27979)
        >>> bool((frozen.rvs(3, random_state=1) == frozen.rvs(3, random_state=1)).all())
        True
        """
        require("scipy.stats", "as_scipy needs", "scipy")
        return self._frozen(_scipy)

    def _visible(self, limit: float) -> float:
        """Return how far from 0 to draw a mechanism whose noise nearly always stays within `limit`."""
        if self._integers:
            return max(limit, float(self.sensitivity or 1))
        # The noise of a share may nearly always be 0; the limit is then 0.
        return limit or float(self.std())

    def _edges(self, limit: float) -> Floats | None:
        """Return the jumps of the density between -limit and limit, with both ends; None for a density without jumps."""
        del limit
        return None

    def _laplace(self) -> Any:
        """Return the Laplace mechanism of the same kind, ε and sensitivity; None for a share or a mechanism without both."""
        eps, width = self._pure_eps, self.sensitivity
        if eps is None or width is None:
            return None
        return load("discrete_laplace" if self._integers else "laplace")(eps, width)

    @property
    def _pure_eps(self) -> float | None:
        """ε of the Laplace mechanism to compare with."""
        return getattr(self, "eps", None)

    def _frozen(self, scipy: Any) -> Any:
        """Return the frozen distribution, made by `stairnoise._scipy`."""
        return scipy.frozen(scipy.DiscreteOfOne if self._integers else scipy.ContinuousOfOne, self)
