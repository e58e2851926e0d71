r"""Inference about a proportion from a released count: `binomial_test`, `binomial_interval`.

n people each say yes with the same unknown probability p, and the number X of those who do was released with noise N. What was
released is Z = X + N, and both are random. A p-value is the probability of a Z at least as extreme, over both.

`DiscreteLaplace` noise and a uniform number on (-1/2, 1/2) have together the distribution of ``Staircase(eps, gamma=0.5)``. For
this sum the one-sided tests below are the most powerful of all ε-differentially private tests of p [1]_.

References
----------
.. [1] Awan and Slavković, "Differentially Private Uniformly Most Powerful Tests for Binomial Data", NeurIPS 2018.
.. [2] Awan and Slavković, "Differentially Private Inference for Binomial Data", Journal of Privacy and Confidentiality 10(1),
   2020, arXiv:1904.00459.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from stairnoise._errors import ParameterError, ParameterTypeError, outline, received
from stairnoise._options import Required, TypedDict, Unpack
from stairnoise._parameters import RealLike, argument, common_shape, confidence_level, number_array, one_of, refuse, refuse_type
from stairnoise._types import Array, Floats, Number, Numeric
from stairnoise.mechanism.accuracy import in_float32, last_place
from stairnoise.mechanism.cost import elementwise
from stairnoise.numerics import binomial
from stairnoise.registry import load
from stairnoise.rng import Rng

if TYPE_CHECKING:
    Mechanism = Any

    class _Options(TypedDict, total=False):
        mechanism: Required[Mechanism]
        alternative: Alternative
        rng: Rng | None


Alternative = Literal["two-sided", "less", "greater"]

_MOST_TRIALS = 2**32
_LARGEST = 2.0**53
# Fraction of a distance by which an outcome on the other side can be nearer and still count: more than rounding, as in SciPy.
_EQUALLY_FAR = 1e-9
# Part of a level that is left unused: more than the relative errors of a tail.
_MARGIN = 1 - 1e-10
# Part of a step on each side of a released number: what lies there is released as this number. A true answer may lie on the edge.
_HALF = 0.5 + 2.0**-20

__all__ = ["binomial_interval", "binomial_test"]


@overload
def binomial_test(released: Number, n: int, p: Number = 0.5, **options: Unpack[_Options]) -> float: ...
@overload
def binomial_test(released: Array, n: int | Array, p: Numeric = 0.5, **options: Unpack[_Options]) -> Floats: ...
def binomial_test(
    released: RealLike,
    n: RealLike,
    p: RealLike = 0.5,
    *,
    mechanism: Mechanism,
    alternative: Alternative = "two-sided",
    rng: Rng | None = None,
) -> Any:
    r"""Test whether a probability of success is `p`, from a released number of successes.

    The p-value is exact for both sources of chance, the binomial count X and the noise N:

    .. math:: P(X + N ≥ z),\; P(X + N ≤ z) \;\text{ or }\; P(|X + N - np| ≥ |z - np|), \qquad X \sim \text{Binomial}(n, p)

    for "greater", "less" and "two-sided". It is computed from what was released, so it costs no privacy. For any `p` in the
    null hypothesis, the p-value is at most α with probability at most α.

    - **Noise of a continuous mechanism**: with probability α, to about 1e-9. It is less than α where a single released number is
      probable, as for `Arete` and float32. For ``Staircase(eps, gamma=0.5)`` at sensitivity 1, the tests "greater" and "less" are
      the most powerful of all ε-differentially private tests [1]_. For ``TruncatedStaircase(eps, delta, gamma=0.5)`` they are the
      most powerful (ε, δ)-private ones.
    - **Noise of a discrete mechanism**: with less than α, because Z has few values. With `rng`, one uniform number on (-1/2,
      1/2) is added to each released count, and the probability is α exactly. For `DiscreteLaplace` at sensitivity 1 this is
      the most powerful test, too.

    The uniform number is no secret and costs no privacy, but it must be drawn once. Whoever draws again until the p-value is
    small has no level. Fix the generator beforehand, such as ``SeededRng(1)``, or release with ``Staircase(eps, gamma=0.5)``:
    the uniform number is then part of the noise.

    Parameters
    ----------
    released : int, float or array of them
        Published number of successes, noise included: any finite number below 2**53, in the dtype that `release` returned.
        Whole for a discrete mechanism. Error messages never show it.
    n : int or array of int
        Number of trials, from 1 to 2**32; it is public.
    p : float or array of float, default 0.5
        Probability of success under the null hypothesis, in [0, 1].
    mechanism : a mechanism that adds noise to one number
        The mechanism of the release, with single parameters. If one person changes k published counts, it is
        ``mechanism.for_partitions(k)``.
    alternative : {"two-sided", "less", "greater"}, default "two-sided"
        What holds if the null hypothesis does not, as in ``scipy.stats.binomtest``. "two-sided" is as far from n p on either
        side; noise with a mean other than 0 moves n p by it.
    rng : SecureRng, SeededRng or None
        Only for a discrete mechanism: draws the uniform numbers. None: no uniform number is added.

    Returns
    -------
    float or ndarray of float64
        p-values in [0, 1], of the shape to which `released`, `n` and `p` broadcast. The relative error is about 1e-12, down to
        1e-300. For a continuous mechanism the tails are those of its density, half a step farther out, from which what is drawn
        differs as the class states, usually by about 1e-9.

    Raises
    ------
    ParameterTypeError
        An argument is of another type: `mechanism` is not a mechanism that adds noise to one number, or `n` is not an integer.
    ParameterError
        An argument is out of range, or the shapes do not broadcast. `mechanism` has array parameters. Or `rng` is given for a
        continuous mechanism, whose noise needs no uniform number.

    References
    ----------
    .. [1] Awan and Slavković, "Differentially Private Uniformly Most Powerful Tests for Binomial Data", NeurIPS 2018: the tests
       and their p-values.
    .. [2] Awan and Slavković, "Differentially Private Inference for Binomial Data", arXiv:1904.00459: the two-sided p-value,
       which is unbiased as n grows.

    Examples
    --------
    >>> import stairnoise as sn
    >>> mechanism = sn.DiscreteLaplace(eps=1)
    >>> round(sn.binomial_test(63, 100, mechanism=mechanism), 4)
    0.0156
    >>> round(sn.binomial_test(63, 100, mechanism=mechanism, alternative="greater"), 4)
    0.0078
    >>> sn.binomial_test([50, 63, 80], 100, mechanism=mechanism).round(4).tolist()
    [1.0, 0.0156, 0.0]
    """
    z, trials, side, noise = _asked(released, n, mechanism, alternative, rng)
    null = argument(p, "p")
    refuse("p", null, (np.asarray(null) >= 0) & (np.asarray(null) <= 1), "from 0 to 1")
    shape = common_shape({"released": z, "n": trials, "p": null})
    return elementwise(lambda z, n, p, u: _p_value(noise, z, int(n), p, side, u), shape, z, trials, null, noise.uniforms(shape))


@overload
def binomial_interval(
    released: Number, n: int, *, confidence: Number = 0.95, **options: Unpack[_Options]
) -> tuple[float, float]: ...
@overload
def binomial_interval(
    released: Array, n: int | Array, *, confidence: Numeric = 0.95, **options: Unpack[_Options]
) -> tuple[Floats, Floats]: ...
def binomial_interval(
    released: RealLike,
    n: RealLike,
    *,
    mechanism: Mechanism,
    confidence: RealLike = 0.95,
    alternative: Alternative = "two-sided",
    rng: Rng | None = None,
) -> Any:
    r"""Confidence interval for a probability of success, from a released number of successes.

    It has the p that the one-sided `binomial_test` does not reject: for "two-sided" those that neither test rejects at
    (1 - confidence)/2, as Clopper and Pearson's interval without noise. Both the sample and the noise are random here. In
    ``mechanism.confidence_interval`` only the noise is, for the number that was counted.

    For every p the interval contains p with at least the probability `confidence`, and with exactly this for 0 < p < 1 where
    the p-value has its level exactly: see `binomial_test`. The one-sided intervals are then the most accurate ones [1]_.

    Parameters
    ----------
    released, n, mechanism, rng
        As for `binomial_test`.
    confidence : float or array of float, default 0.95
        At least 0.5 and less than 1.
    alternative : {"two-sided", "less", "greater"}, default "two-sided"
        "less" gives an upper bound, an interval from 0; "greater" a lower bound, an interval to 1.

    Returns
    -------
    low, high : float or ndarray of float64
        In [0, 1], of the shape to which `released`, `n` and `confidence` broadcast, rounded outwards. The relative error of
        both, and of 1 minus both, is about 1e-10. A released number far above n gives the interval from 1 to 1.

    Raises
    ------
    ParameterTypeError, ParameterError
        As for `binomial_test`, or `confidence` is out of range.

    References
    ----------
    .. [1] Awan and Slavković, "Differentially Private Inference for Binomial Data", arXiv:1904.00459.

    Examples
    --------
    >>> import stairnoise as sn
    >>> low, high = sn.binomial_interval(63, 100, mechanism=sn.DiscreteLaplace(eps=1))
    >>> round(low, 4), round(high, 4)
    (0.524, 0.728)
    >>> noise = sn.DiscreteLaplace(eps=1)
    >>> low, high = sn.binomial_interval(63, 100, mechanism=noise, alternative="greater")
    >>> round(low, 4), high
    (0.5404, 1.0)
    """
    z, trials, side, noise = _asked(released, n, mechanism, alternative, rng)
    level = confidence_level(confidence)
    shape = common_shape({"released": z, "n": trials, "confidence": level})
    beyond = np.asarray((1 - np.asarray(level)) / (2 if side == "two-sided" else 1) * _MARGIN)
    shifts = noise.uniforms(shape)
    low, high = np.array(0.0), np.array(1.0)
    if side != "less":
        low = np.asarray(elementwise(lambda z, n, a, u: _lower(noise, z, int(n), a, u), shape, z, trials, beyond, shifts))
    if side != "greater":
        high = np.asarray(elementwise(lambda z, n, a, u: _upper(noise, z, int(n), a, u), shape, z, trials, beyond, shifts))
    return tuple(np.broadcast_to(end, shape).copy() if shape else float(end) for end in (low, high))


class _Noise(NamedTuple):
    """The tails of noise: of a discrete mechanism at integers, or with a uniform number added.

    Noise of a continuous mechanism is drawn on a lattice, and a sum is rounded to a float. So every released number has a
    probability, and its tails include what is released as this number.
    """

    mechanism: Any
    whole: bool
    rng: Rng | None
    single: bool
    reach: float = 0.0

    def beside(self, z: float) -> _Noise:
        """Return the same noise, which includes what is released as z."""
        if self.whole:
            return self
        number = np.float32(z) if self.single else np.float64(z)
        return self._replace(reach=_HALF * max(self.mechanism.granularity, float(last_place(np.asarray(number)))))

    def uniforms(self, shape: tuple[int, ...]) -> Any:
        """Draw a uniform number for each element; 0 for all of them without a generator."""
        if self.rng is None:
            return 0.0
        # δ = 1/2 leaves the first stair alone: noise is uniform on the multiples of 2**-36 from -1/2 to 1/2.
        flat = load("truncated_staircase")(eps=1.0, delta=0.5, sensitivity=0.5, gamma=1.0)
        return flat.sample(shape or None, rng=self.rng)

    def from_(self, t: Floats) -> Floats:
        """P(N >= t)."""
        if not self.whole:
            return np.asarray(self.mechanism.sf(t - self.reach))
        if self.rng is None:
            return np.asarray(self.mechanism.sf(np.ceil(t) - 1))
        m = np.floor(t + 0.5)
        return np.asarray(self.mechanism.sf(m) + (m + 0.5 - t) * self.mechanism.pmf(m))

    def to(self, t: Floats) -> Floats:
        """P(N <= t)."""
        if not self.whole:
            return np.asarray(self.mechanism.cdf(t + self.reach))
        if self.rng is None:
            return np.asarray(self.mechanism.cdf(np.floor(t)))
        m = np.floor(t + 0.5)
        return np.asarray(self.mechanism.cdf(m - 1) + (t - m + 0.5) * self.mechanism.pmf(m))


def _p_value(noise: _Noise, z: float, n: int, p: float, side: str, u: float) -> float:
    noise, z = noise.beside(z), z + u
    if side == "greater":
        return min(binomial.tail(n, p, lambda x: noise.from_(z - x)), 1.0)
    if side == "less":
        return min(binomial.tail(n, p, lambda x: noise.to(z - x)), 1.0)
    centre = n * p + float(noise.mechanism.mean())
    other = 2 * centre - z
    # What is released as the number on the other side counts too, and its place is rounded to a float.
    noise = noise.beside(max(abs(z), abs(other)))
    # Without a uniform number, the outcome that is as far on the other side is one of several; rounding must not lose it.
    slack = _EQUALLY_FAR * max(1.0, abs(z - centre)) if noise.whole and noise.rng is None else 0.0
    low, high = (z, other - slack) if z < centre else (other + slack, z)
    return min(binomial.tail(n, p, lambda x: noise.from_(high - x) + noise.to(low - x)), 1.0)


def _lower(noise: _Noise, z: float, n: int, level: float, u: float) -> float:
    noise, z = noise.beside(z), z + u
    return binomial.root(n, lambda x: noise.from_(z - x), level)[0]


def _upper(noise: _Noise, z: float, n: int, level: float, u: float) -> float:
    """1 less the lower end for the failures n - X, whose noise is -N."""
    noise, z = noise.beside(z), z + u
    return binomial.root(n, lambda failures: noise.to(z - (n - failures)), level)[1]


def _asked(released: RealLike, n: object, mechanism: Any, alternative: object, rng: Rng | None) -> tuple[Any, Any, str, _Noise]:
    """Check what both functions take."""
    of_numbers = all(callable(getattr(type(mechanism), name, None)) for name in ("_loss", "sf"))
    refuse_type("mechanism", mechanism, of_numbers, "a mechanism of numbers")
    if mechanism._parameter_shape != ():
        raise ParameterError(f"mechanism must have single parameters, got parameters of shape {mechanism._parameter_shape}")
    side: str = one_of(alternative, "alternative", ("two-sided", "less", "greater"))
    whole: bool = mechanism._integers
    refuse("rng", rng, rng is None or whole, f"None for a {type(mechanism).__name__}, whose noise is continuous")
    values = number_array(released, "released", rounding=True)
    z = argument(values, "released")
    if not np.all(np.abs(z) < _LARGEST):
        raise ParameterError(f"released must be finite and below 2**53 in magnitude, got {outline(released)}")
    if whole and not np.all(np.asarray(z) == np.floor(z)):
        raise ParameterError(
            f"released must be a whole number for noise that is one, got {outline(released)}; noise of "
            "Staircase(eps, gamma=0.5) is the sum of that of DiscreteLaplace and of a uniform number"
        )
    return z, _trials(n), side, _Noise(mechanism, whole, rng, in_float32(released, values))


def _trials(n: object) -> Any:
    array = number_array(n, "n")
    if array.dtype.kind == "f":
        raise ParameterTypeError(f"n must be an integer or an array of integers, got {received(n)}")
    refuse("n", array if array.ndim else array.item(), (array >= 1) & (array <= _MOST_TRIALS), "an integer from 1 to 2**32")
    return argument(array, "n")


for _public in (binomial_interval, binomial_test):
    _public.__module__ = "stairnoise"
