"""The mechanism that selects which partitions are shown, because the keys of a GROUP BY are data too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError, ParameterTypeError, got, outline
from stairnoise._numpy_scalars import NUMBERS
from stairnoise._parameters import Real, RealLike, argument, count, number_array, one_of, refuse, require, single
from stairnoise._types import Bools, ColumnOfItsOwn, Columns, Integer, Integers, Ints, Number, number_or_array
from stairnoise.accounting import privacy_loss
from stairnoise.columns import reading as columns_reading
from stairnoise.columns.column import library
from stairnoise.mechanism.drawing import threads_asked
from stairnoise.mechanism.guarantee import NAME, Guarantee, partitions
from stairnoise.mechanism.immutable import Immutable, Parameter, of_this_version
from stairnoise.mechanisms.partition_selection.calibration import Found, is_private
from stairnoise.mechanisms.partition_selection.rules import (
    OF_SIGMA,
    STRATEGIES,
    GaussianThreshold,
    Rule,
    Strategy,
    best_rule,
    rule_of,
    rule_of_sigma,
)
from stairnoise.rng import Rng, release_stream

if TYPE_CHECKING:
    from stairnoise.accounting.privacy_loss import PrivacyLoss
    from stairnoise.columns.column import Column


_ARGUMENTS = ("eps", "delta", "max_partitions_contributed", "strategy", "pre_threshold", "sigma")
_MOST_COMPOSED = 2**14
_TOO_LARGE = 2**63
# `probability` takes floats, which hold these numbers.
_MOST_PEOPLE = 2**53 - 1


class PartitionSelection(Immutable):
    r"""Shows partitions (groups) of a data set with as large probabilities as (ε, δ)-differential privacy allows.

    Which groups occur in the data reveals people: a group of one person is shown only because of that person. `select` returns
    which groups are shown. `release` returns their noisy counts too, and shows each group with the same probability.
    A group without people is never shown.

    If one person adds to one group, a group of n people is shown with probability

    .. math:: π(0) = 0,\quad π(n+1) = \min(e^ε π(n) + δ,\; 1 - e^{-ε}(1 - π(n) - δ),\; 1)

    No other (ε, δ)-differentially private rule shows a group of any size n with a larger probability [1]_.

    If one person adds to k groups, there are two rules: the rule above with ε/k and δ/k, and a rule that shows a group if its
    count with discrete Gaussian noise reaches a threshold. The mechanism uses the rule with the smaller `threshold`, from
    which on groups are shown more often than not. Neither rule is the best possible.

    A `strategy` names one rule, as in PipelineDP and PyDP:

    - "truncated_geometric": the rule above.
    - "laplace": a group is shown if its count with two-sided geometric noise of ε/k, which is Laplace noise on the integers,
      reaches a threshold.
    - "gaussian": the same with discrete Gaussian noise, as above.
    - "best": the one of these with the smallest `threshold`.

    The first two divide δ into k shares of ``1 - (1 - δ)**(1/k)``, which is more than δ/k [2]_. Probabilities, thresholds and δ
    are those of the noise that is drawn.

    Each person must add at most 1 to a group's count, and add to at most `max_partitions_contributed` groups. Choose these
    groups for each person before you count.

    Parameters
    ----------
    eps : float
        Privacy parameter ε > 0 of all groups together.
    delta : float
        Privacy parameter δ of all groups together, from 2**-128 to 0.5, or with a strategy any δ below 1. (A share above 0.5
        counts as 0.5 for "truncated_geometric".)
    max_partitions_contributed : int, default 1
        Number k of groups that one person can add to. ``eps/k`` and ``delta/k``, rounded down, must be at least 2**-40 and
        2**-128.
    strategy : {"truncated_geometric", "laplace", "gaussian", "best"} or None
        The rule. None: the truncated geometric rule with δ/k, or discrete Gaussian noise, whichever has the smaller threshold.
    pre_threshold : int or None
        Number of people that a group needs to be shown at all, up to 2**53 - 1. The rule then takes a group of n people as one of
        n - pre_threshold + 1. These numbers change by at most 1 too, so the guarantee is the same.
    sigma : float or None
        Standard deviation of discrete Gaussian noise, instead of `eps`. Use it if an accountant of yours counts the noise: k
        counts with ``DiscreteGaussian(sigma=sigma)``. `delta` is then the share of δ for groups that appear: the largest
        probability with which one of k groups of one person is shown.

    Raises
    ------
    ParameterTypeError
        A parameter is not a number, or `max_partitions_contributed` is not an integer.
    ParameterError
        A parameter is out of range, an array, or not exactly representable in float64.

    Notes
    -----
    Without Gaussian noise, one random number decides for a group: the least count N that it shows has P(N ≤ n) = π(n).
    `release` returns ``n - N + threshold`` for a group of n ≥ N people, so the noise is ``threshold - N``. Its steps
    π(n) − π(n−1) rise by e^ε from one to the next, then fall by e^−ε, and end. Adding this noise to every count is
    (ε, δ)-differentially private in itself, and hiding counts below the threshold is post-processing.

    Gaussian noise has the variance of ``DiscreteGaussian.from_eps(eps, delta).for_partitions(k)``, or 4 if that is more. The
    threshold is the least with which the whole release has (ε, δ), by the exact divergence. ``docs/selection.md`` has the proofs.

    References
    ----------
    .. [1] Desfontaines, Voss, Gipson and Mandayam, "Differentially private partition selection", PoPETs 2022(1).
    .. [2] Kairouz, Oh and Viswanath, "The Composition Theorem for Differential Privacy", ICML 2015, theorem 3.3.

    Examples
    --------
    >>> import stairnoise as sn
    >>> mechanism = sn.PartitionSelection(eps=1, delta=1e-6)
    >>> mechanism.probability([0, 1, 10, 14, 20]).round(4).tolist()
    [0.0, 0.0, 0.0128, 0.6999, 0.9993]
    >>> mechanism.threshold, mechanism.always_shown
    (14, 28)
    >>> several = sn.PartitionSelection(eps=1, delta=1e-6, max_partitions_contributed=10)
    >>> several.threshold, several.always_shown, several.sigma2
    (71, None, 178.48828125)
    >>> shown, values = mechanism.release([0, 3, 120])
    >>> shown.tolist()
    [False, False, True]
    >>> for strategy in ("truncated_geometric", "laplace", "gaussian", "best"):
    ...     print(strategy, sn.PartitionSelection(1, 1e-6, 3, strategy).threshold)
    truncated_geometric 40
    laplace 45
    gaussian 38
    best 38
    >>> laplace = sn.PartitionSelection(1, 1e-6, strategy="laplace", pre_threshold=10)
    >>> laplace.probability([9, 10, 24]).round(3).tolist()
    [0.0, 0.0, 0.731]
    """

    __slots__ = ("_parameters", "_rule", "_shift")

    # `privacy_loss` needs the shape of the parameters.
    _parameter_shape = ()
    _parameters: dict[str, Any]
    _rule: Rule
    _shift: int

    @overload
    def __init__(
        self,
        eps: Number,
        delta: Number,
        max_partitions_contributed: int = 1,
        strategy: Strategy | None = None,
        pre_threshold: int | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        *,
        delta: Number,
        max_partitions_contributed: int = 1,
        strategy: Literal["gaussian"] | None = None,
        pre_threshold: int | None = None,
        sigma: Number,
    ) -> None: ...
    def __init__(
        self,
        eps: RealLike | None = None,
        delta: RealLike | None = None,
        max_partitions_contributed: int = 1,
        strategy: Strategy | None = None,
        pre_threshold: int | None = None,
        sigma: RealLike | None = None,
    ) -> None:
        chance, k = single(delta, "delta"), partitions(max_partitions_contributed, NAME)
        if strategy is not None:
            one_of(strategy, "strategy", STRATEGIES)
        if pre_threshold is not None:
            count(pre_threshold, "pre_threshold", least=1, most=_MOST_PEOPLE)
        if sigma is None:
            rate, noise = single(eps, "eps"), None
            rule = best_rule(rate, chance, k) if strategy is None else rule_of(strategy, rate, chance, k)
        else:
            refuse("eps", eps, eps is None, "left out beside sigma")
            refuse("strategy", strategy, strategy in (None, OF_SIGMA), f'"{OF_SIGMA}" beside sigma')
            rate, noise = None, single(sigma, "sigma")
            rule = rule_of_sigma(noise, chance, k)
        self._keep((rate, chance, k, strategy, pre_threshold, noise), rule)

    def _keep(self, arguments: tuple[Any, ...], rule: Rule) -> None:
        object.__setattr__(self, "_rule", rule)
        object.__setattr__(self, "_parameters", dict(zip(_ARGUMENTS, arguments, strict=True)))
        # `pre_threshold` people are one person to the rule.
        object.__setattr__(self, "_shift", (self._parameters["pre_threshold"] or 1) - 1)

    @classmethod
    def _calibrated(cls, eps: float, delta: float, k: int, found: Any, version: str) -> PartitionSelection:
        """Return the mechanism from a pickle, which has the noise, the threshold, and the version that found them."""
        if of_this_version(is_private, (eps, delta, k), found, version) is None:
            return cls(eps, delta, k)
        mechanism = cls.__new__(cls)
        mechanism._keep((eps, delta, k, None, None, None), GaussianThreshold(eps, k, Found(*found)))
        return mechanism

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = tuple(self._parameters.values())
        if not isinstance(self._rule, GaussianThreshold) or arguments[3:] != (None, None, None):
            return super().__reduce__()
        return self._calibrated, (*arguments[:3], tuple(self._rule.found), _native.__version__)

    def _shown_arguments(self) -> dict[str, Any]:
        shown = super()._shown_arguments()
        return {name: value for name, value in shown.items() if value is not None}

    eps = Parameter[float | None]("Privacy parameter ε of all groups together; None if made from `sigma`.")
    delta = Parameter[float]("Privacy parameter δ of all groups together; with `sigma`, the share of δ for groups that appear.")
    max_partitions_contributed = Parameter[int]("Number of groups that one person can add to.")
    strategy = Parameter[Strategy | None]("The strategy as it was named.")
    pre_threshold = Parameter[int | None]("Number of people that a group needs to be shown at all.")

    @property
    def threshold(self) -> int:
        """Least count that `release` returns: the least n that is shown with a probability above ½."""
        return self._rule.threshold + self._shift

    @property
    def always_shown(self) -> int | None:
        """Least n that is always shown. None if the noise is not truncated: it can hide a group of any size."""
        return None if self._rule.always_shown is None else self._rule.always_shown + self._shift

    @property
    def sigma2(self) -> float | None:
        """Parameter σ² of the discrete Gaussian noise; None for other noise."""
        return self._rule.sigma2

    @property
    def achieved_delta(self) -> float:
        """δ at ε of one release, for a person who adds to `max_partitions_contributed` groups: at most `delta`.

        For one group, and for Gaussian noise, it is exact, or too large by less than a relative 1e-9. Otherwise it is `delta`,
        the sum over the groups.
        """
        return self._rule.achieved_delta

    def guarantee(self) -> Guarantee:
        """Return the guarantee of one call of `select` or `release`; one person adds 1 to each of the `partitions` counts.

        Raises
        ------
        ParameterError
            The mechanism was made from `sigma`. Its ``privacy_loss().privacy_profile(eps)`` returns a δ for every ε.
        """
        if self.eps is None:
            raise ParameterError("eps must be stated for a guarantee, got None: with sigma, ask privacy_loss() for δ at an ε")
        return Guarantee(self.eps, self.delta, None, 1, self.max_partitions_contributed)

    def privacy_loss(self) -> PrivacyLoss[float]:
        """Return the privacy loss of one release, for a person who adds to `max_partitions_contributed` groups.

        Returns
        -------
        PrivacyLoss
            For the worst counts for this person: small groups, large groups, or some of both. For several groups it is an
            upper bound, and may exceed the guarantee by a little.

        Raises
        ------
        ParameterError
            `max_partitions_contributed` is above 2**14 and the noise is not Gaussian. `guarantee` has no such limit.
        """
        pieces = self._rule.pieces
        if pieces > _MOST_COMPOSED:
            raise ParameterError(
                f"max_partitions_contributed must be at most 2**14 to compose as many losses, got {pieces}; "
                "guarantee() has no such limit"
            )
        loss: PrivacyLoss[float] = privacy_loss.loss_of(self, None, True)
        return loss if pieces == 1 else loss.compose(pieces)

    def _loss(self, sensitivity: Any) -> Any:
        return self._rule.loss()

    def noise_mean(self) -> float:
        """Return the mean of the noise in a large count: at least `always_shown`, if that is a number.

        Raises
        ------
        ParameterError
            There would be more than 2**22 values of noise to list.
        """
        return self._rule.noise_mean()

    def noise_std(self) -> float:
        """Return the standard deviation of the noise in a large count: at least `always_shown`, if that is a number.

        Raises
        ------
        ParameterError
            There would be more than 2**22 values of noise to list.
        """
        return self._rule.noise_std()

    def _half_widths(self, values: Ints, confidence: float) -> Ints:
        """Return bounds of the noise in shown values, which hold with the probability `confidence` for a group of any size."""
        return self._rule.half_widths(values - self._shift, confidence)

    @number_or_array
    def probability(self, n: RealLike) -> Real:
        """Return the probability with which a group of `n` people is shown: π(n), unless the noise is Gaussian.

        Parameters
        ----------
        n : float or array of float
            Whole numbers of people. The probability of negative numbers is 0.

        Returns
        -------
        float or ndarray of float64
            The relative error is below 1e-12.

        Raises
        ------
        ParameterError, ParameterTypeError
            A number is not whole, or `n` is not a real number or an array of real numbers.
        """
        people = argument(n, "n")
        require("n", people == np.floor(people), "a whole number")
        # np.maximum makes a float of NumPy from a float.
        reached = np.maximum(people - self._shift, 0.0)
        return self._rule.probability(reached if isinstance(people, np.ndarray) else float(reached))

    @overload
    def select(self, counts: Integer, *, rng: Rng | None = None, threads: int | None = None) -> bool: ...
    @overload
    def select(self, counts: Integers | ColumnOfItsOwn, *, rng: Rng | None = None, threads: int | None = None) -> Bools: ...
    def select(self, counts: Any, *, rng: Rng | None = None, threads: int | None = None) -> Any:
        """Return which groups are shown, privately.

        Parameters
        ----------
        counts : int, array of int, or column of integers of pandas, Polars or PyArrow
            How many people each group has. Groups that could occur but do not may be left out: they are never shown.
        rng : SecureRng or None
            None: one secure generator for the whole process. A SeededRng is refused unless it was made with
            ``allow_release=True``.
        threads : int or None
            How many threads share 2**18 groups or more. None: the environment variable STAIRNOISE_NUM_THREADS, or else as
            many threads as the process may run at once. The result does not depend on it.

        Returns
        -------
        bool or ndarray of bool
            In the shape of `counts`: the groups that `release` would show from the same fill of the generator. Publish the
            names of the groups that are shown, and not the positions of the others.

        Raises
        ------
        ParameterError, ParameterTypeError
            A count is negative (the text names the first such index) or null, or is not an integer. Or another argument is
            not allowed. Nothing has been drawn.
        LazyError
            `counts` stands for a computation, such as a Polars LazyFrame. It has not been run. The class is a
            ParameterTypeError.
        """
        stream, workers = release_stream(rng), threads_asked(threads)
        released = self._release_one(stream, counts)
        if released is not None:
            return released != 0
        shown = self._rule.select(stream, self._reached(_people(_column(counts), counts)), workers)
        return shown if shown.ndim else bool(shown)

    @overload
    def release(self, counts: Integer, *, rng: Rng | None = None, threads: int | None = None) -> tuple[bool, int]: ...
    @overload
    def release(self, counts: Integers, *, rng: Rng | None = None, threads: int | None = None) -> tuple[Bools, Ints]: ...
    @overload
    def release(self, counts: Columns, *, rng: Rng | None = None, threads: int | None = None) -> tuple[Bools, Columns]: ...
    def release(self, counts: Any, *, rng: Rng | None = None, threads: int | None = None) -> Any:
        """Return which groups are shown, and their noisy counts, together privately.

        Both have one guarantee together and spend the privacy budget once. Groups are shown with the same probabilities as by
        `select`.

        Parameters
        ----------
        counts : int, array of int, or column of integers of pandas, Polars or PyArrow
            How many people each group has, as for `select`.
        rng : SecureRng or None
            As for `select`.
        threads : int or None
            As for `select`.

        Returns
        -------
        shown : bool or ndarray of bool
            As `select` returns.
        values : int, ndarray of int64, or column
            Noisy counts, which are at least `threshold`; 0 for groups that are not shown. A column comes back as a column
            of the same library.

        Raises
        ------
        ParameterError, ParameterTypeError, LazyError
            As `select` raises.

        Examples
        --------
        >>> import numpy as np
        >>> import stairnoise as sn
        >>> names = np.array(["Aarau", "Bern", "Chur"])
        >>> shown, values = sn.PartitionSelection(eps=1, delta=1e-6).release([2, 140000, 38000])
        >>> dict(zip(names[shown], values[shown]))  # doctest: +SKIP
        {'Bern': 139999, 'Chur': 38002}
        """
        stream, workers = release_stream(rng), threads_asked(threads)
        released = self._release_one(stream, counts)
        if released is not None:
            return released != 0, released
        column = _column(counts)
        values = self._rule.release(stream, self._reached(_people(column, counts)), workers)
        if self._shift:
            values = np.where(values > 0, np.minimum(values, _TOO_LARGE - 1 - self._shift) + self._shift, 0)
        # A count that is shown is at least the threshold, which is at least 1.
        shown = values != 0
        if column is None:
            return (shown, values) if shown.ndim else (bool(shown), int(values))
        return shown, columns_reading.by_library("counts", counts, column.make, column.within_ends(values), None)

    def _release_one(self, stream: _native.Stream, counts: Any) -> int | None:
        """Return what `release` returns for one integer; None for all else."""
        return None if self._shift else self._rule.release_one(stream, counts.item() if type(counts) in NUMBERS else counts)

    def _reached(self, people: Ints) -> Ints:
        """Return the counts that the rule sees. They change by at most 1 with each count."""
        if not self._shift:
            return people
        require("counts", people >= 0, "at least 0")
        return np.asarray(np.maximum(people - self._shift, 0))


def _column(counts: Any) -> Column | None:
    """Read a column; return None for everything else."""
    found = library(counts)
    if found is None:
        return None
    if found[1] == "frame":
        raise ParameterTypeError(f"counts must be a single column, got {outline(counts)}")
    try:
        column: Column = columns_reading.by_library("counts", counts, columns_reading.reader(found[0]).column, counts)
    except (ParameterError, ParameterTypeError) as error:
        text = str(error).replace("values must be", "counts must be", 1)
        raise type(error)(text) from None
    nulls = column.chunks.nulls
    if nulls is not None:
        raise ParameterError(f"counts must not be null, got a null at index ({int(np.argmax(nulls))},)")
    return column


def _people(column: Column | None, counts: object) -> Ints:
    """Check and return the counts as int64. (The rule refuses negative counts.)"""
    array = number_array(counts, "counts") if column is None else column.chunks.whole()
    if array.dtype.kind == "f":
        raise ParameterTypeError(f"counts must be integers, got {got('counts', counts, array)}")
    if array.dtype.kind == "O" or array.dtype == np.uint64:
        require("counts", np.asarray((array >= 0) & (array < _TOO_LARGE), np.bool_), "at least 0 and below 2**63")
    return array.astype(np.int64, copy=False)
