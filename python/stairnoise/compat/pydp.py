"""PyDP's mechanisms and partition strategies with the noise of stairnoise, under PyDP's names.

PipelineDP calls them instead of PyDP's if you assign this module to the two names under which PipelineDP looks PyDP's up:

    import pipeline_dp
    from stairnoise.compat import pydp

    pipeline_dp.dp_computations.dp_mechanisms = pydp
    pipeline_dp.partition_selection.partition_selection = pydp

Run these lines in every process that adds noise, such as every worker of Spark. Percentiles keep PyDP's noise, because PyDP adds
it in C++. Neither package is imported here.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar, overload

import numpy as np

from stairnoise._errors import ParameterTypeError, outline
from stairnoise._parameters import REMEMBERED, count, number_array, one_of, refuse, require, single
from stairnoise._types import Integer, Number
from stairnoise.mechanisms.gaussian.mechanism import Gaussian
from stairnoise.mechanisms.laplace.mechanism import Laplace
from stairnoise.mechanisms.partition_selection.mechanism import PartitionSelection
from stairnoise.mechanisms.partition_selection.rules import share

__all__ = ["ConfidenceInterval", "GaussianMechanism", "LaplaceMechanism", "NumericalMechanism"]
__all__ += ["PartitionSelectionStrategy", "create_partition_strategy"]

_Noise = TypeVar("_Noise", Laplace[float], Gaussian[float])

_WHOLE = (int, np.integer)
# The noise has at least 2**31 lattice steps in a scale or standard deviation. Its tail exceeds that of the density by less than a
# relative (z + 1)/2**31, z standard deviations away.
_MARGIN = 2.0**-24
_MOST_PEOPLE = 2**53 - 1

# PipelineDP makes a mechanism for every value.
_laplace = lru_cache(maxsize=REMEMBERED)(Laplace)
_gaussian = lru_cache(maxsize=REMEMBERED)(Gaussian)


def _single(number: Any, name: str) -> Any:
    """Return a number that is data: errors show its type alone."""
    if type(number) is int or type(number) is float:
        return number
    array = number_array(number, name)
    if array.ndim:
        raise ParameterTypeError(f"{name} must be a single number, got {outline(number, array)}")
    return array[()]


class ConfidenceInterval(NamedTuple):
    """Bounds between which the true result lies with a probability.

    Attributes
    ----------
    lower_bound : float
        The lower end.
    upper_bound : float
        The upper end.
    confidence_level : float
        The probability.
    """

    lower_bound: float
    upper_bound: float
    confidence_level: float


class NumericalMechanism(Generic[_Noise]):
    """What `LaplaceMechanism` and `GaussianMechanism` have in common."""

    __slots__ = ("_mechanism",)
    _mechanism: _Noise

    @property
    def mechanism(self) -> _Noise:
        """The mechanism of stairnoise, which has the accounting: `guarantee`, `privacy_loss`, `privacy_map`."""
        return self._mechanism

    @property
    def epsilon(self) -> float:
        """Privacy parameter ε; 0.0 if the mechanism was made from a standard deviation."""
        return self._mechanism.eps or 0.0

    @overload
    def add_noise(self, result: Integer) -> int: ...  # type: ignore[overload-overlap]
    @overload
    def add_noise(self, result: Number) -> float: ...
    def add_noise(self, result: Any) -> float:
        """Return a number with noise: an int for an integer, and otherwise a float.

        Parameters
        ----------
        result : int or float
            The true result.

        Returns
        -------
        int or float
            ``mechanism.release(result)``, which takes its noise from the secure generator of the process. For an integer, it is
            rounded to an integer afterwards.

        Raises
        ------
        ParameterError, ParameterTypeError
            `result` is not finite, not one number, or too large.
        """
        number = _single(result, "result")
        noisy: float = self._mechanism.release(number)
        return round(noisy) if isinstance(number, _WHOLE) else noisy

    def noise_confidence_interval(self, confidence_level: Number, noised_result: Number) -> ConfidenceInterval:
        """Return the interval around a noisy result that has the true result with a probability of at least ``confidence_level``.

        Parameters
        ----------
        confidence_level : float
            From 0 to below 1.
        noised_result : float
            What `add_noise` returned for a float. Rounding to an integer can move it by another ½.

        Returns
        -------
        ConfidenceInterval
        """
        low, high = self._mechanism.confidence_interval(noised_result, confidence_level)
        return ConfidenceInterval(low, high, float(confidence_level))


class LaplaceMechanism(NumericalMechanism[Laplace[float]]):
    """PyDP's ``LaplaceMechanism`` with the noise of `stairnoise.Laplace`.

    PyDP 1.1.5 has the same scale. `memory_used` and `noised_value_above_threshold` are missing.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε > 0.
    sensitivity : float, default 1.0
        The l1 sensitivity: the largest change of all results of one person together.

    Raises
    ------
    ParameterError, ParameterTypeError
        A parameter is out of range or not a number; PyDP raises RuntimeError.

    Notes
    -----
    Results are rounded to the lattice of the noise, which can change each by one step more. For k results of one person,
    ``mechanism.privacy_map(sensitivity, size=k).eps`` includes this. From ε = 2**-20 on it exceeds ε by less than a relative
    ``k * 2**-31``. A granularity of at most 1 rounds no integer.

    Examples
    --------
    >>> from stairnoise.compat.pydp import LaplaceMechanism
    >>> mechanism = LaplaceMechanism(epsilon=0.5, sensitivity=3)
    >>> mechanism.diversity, mechanism.epsilon, mechanism.sensitivity
    (6.0, 0.5, 3.0)
    >>> type(mechanism.add_noise(100)), type(mechanism.add_noise(100.0))
    (<class 'int'>, <class 'float'>)
    >>> low, high, level = mechanism.noise_confidence_interval(0.95, 100.0)
    >>> round(low, 3), round(high, 3), level
    (82.026, 117.974, 0.95)
    """

    __slots__ = ()

    def __init__(self, epsilon: Number, sensitivity: Number = 1.0) -> None:
        self._mechanism = _laplace(single(epsilon, "epsilon"), single(sensitivity, "sensitivity"))

    @property
    def sensitivity(self) -> float:
        """The l1 sensitivity."""
        return self._mechanism.sensitivity or 0.0

    @property
    def diversity(self) -> float:
        """Scale b of the noise; its standard deviation is √2 b."""
        return self._mechanism.scale


class GaussianMechanism(NumericalMechanism[Gaussian[float]]):
    """PyDP's ``GaussianMechanism`` with the noise of `stairnoise.Gaussian`.

    It differs from PyDP 1.1.5 in these points:

    - `std` is the least that has (ε, δ). PyDP's search stops up to 0.1 % above it.
    - From ε = 710 on, PyDP's standard deviation is 2.2e-308, which is no noise.
    - `memory_used` and `noised_value_above_threshold` are missing.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε, from 2**-40 to 2**20.
    delta : float
        Privacy parameter δ, 0 < δ < 1.
    sensitivity : float, default 1.0
        The l2 sensitivity: the largest change of all results of one person together.

    Raises
    ------
    ParameterError, ParameterTypeError
        A parameter is out of range or not a number; PyDP raises RuntimeError.

    Notes
    -----
    Results are rounded to the lattice of the noise. For k results of one person this raises the l2 sensitivity by less than
    ``√k * mechanism.granularity``, and ``mechanism.privacy_map(sensitivity, size=k).rho`` includes it. A granularity of at most 1
    rounds no integer.

    Examples
    --------
    >>> from stairnoise.compat.pydp import GaussianMechanism
    >>> (round(GaussianMechanism(1, 1e-5, 1).std, 4),
    ...  round(GaussianMechanism(710, 1e-5, 1).std, 4))
    (3.7306, 0.0297)
    >>> noise = GaussianMechanism.create_from_standard_deviation(2.5)
    >>> noise.std, noise.epsilon, noise.delta, noise.l2_sensitivity
    (2.5, 0.0, 0.0, 0.0)
    """

    __slots__ = ()

    def __init__(self, epsilon: Number, delta: Number, sensitivity: Number = 1.0) -> None:
        self._mechanism = _gaussian(single(epsilon, "epsilon"), single(delta, "delta"), single(sensitivity, "sensitivity"))

    @classmethod
    def create_from_standard_deviation(cls, std: Number) -> GaussianMechanism:
        """Return the mechanism of a standard deviation, from 2**-1042 to below 2**993. PyDP accepts 0, which is no noise."""
        made = cls.__new__(cls)
        made._mechanism = _gaussian(std=single(std, "std"))
        return made

    @property
    def delta(self) -> float:
        """Privacy parameter δ; 0.0 if the mechanism was made from a standard deviation."""
        return self._mechanism.delta or 0.0

    @property
    def l2_sensitivity(self) -> float:
        """The l2 sensitivity; 0.0 if the mechanism was made from a standard deviation."""
        return self._mechanism.sensitivity or 0.0

    @property
    def std(self) -> float:
        """Standard deviation of the noise."""
        return self._mechanism.sigma


@dataclass(frozen=True, eq=False)
class PartitionSelectionStrategy(ABC):
    """A rule that decides which partitions are shown; `create_partition_strategy` makes it."""

    epsilon: float
    """Privacy parameter ε of all partitions of one person."""
    delta: float
    """Privacy parameter δ of all partitions of one person."""
    max_partitions_contributed: int
    """Number of partitions to which one person can add."""
    pre_threshold: int | None
    """Number of people that a partition needs to be shown at all."""
    threshold: float
    """Least noisy number of people that is shown."""

    @abstractmethod
    def probability_of_keep(self, num_users: Number) -> float:
        """Return the probability with which a partition of so many people is shown."""

    @abstractmethod
    def noised_value_if_should_keep(self, num_users: Number) -> float | None:
        """Return the noisy number of people of a partition if the partition is shown, and otherwise None."""

    def should_keep(self, num_users: Number) -> bool:
        """Return whether a partition of so many people is shown, with fresh noise."""
        return self.noised_value_if_should_keep(num_users) is not None

    def _reached(self, num_users: Number) -> float:
        """Return the number of people, or 0 if it is below `pre_threshold`."""
        people = float(_single(num_users, "num_users"))
        require("num_users", np.bool_(math.isfinite(people)), "finite")
        return people if people >= (self.pre_threshold or 0) else 0.0


@dataclass(frozen=True, eq=False)
class _TruncatedGeometric(PartitionSelectionStrategy):
    _selection: PartitionSelection

    def probability_of_keep(self, num_users: Number) -> float:
        return self._selection.probability(self._whole(num_users))

    def noised_value_if_should_keep(self, num_users: Number) -> float | None:
        shown, value = self._selection.release(self._whole(num_users))
        return value if shown else None

    def _whole(self, num_users: Number) -> int:
        """Round down: one person more or less changes the result by at most 1, as it changes `num_users`."""
        return max(math.floor(self._reached(num_users)), 0)


@dataclass(frozen=True, eq=False)
class _Threshold(PartitionSelectionStrategy):
    """A partition is shown if its number of people with noise reaches a threshold.

    The noise is (ε, δ - δ')-differentially private for k numbers that change by at most 1. The k partitions of one person alone
    appear with at most the probability δ', because each appears with at most 1 - (1 - δ')^(1/k).
    """

    _noise: Any

    def probability_of_keep(self, num_users: Number) -> float:
        people = self._reached(num_users)
        return float(self._noise.sf(self.threshold - people)) if people > 0 else 0.0

    def noised_value_if_should_keep(self, num_users: Number) -> float | None:
        people = self._reached(num_users)
        noisy = self._noise.release(people)
        return noisy if people > 0 and noisy >= self.threshold else None


def _truncated_geometric(epsilon: float, delta: float, k: int, pre_threshold: int | None) -> _TruncatedGeometric:
    selection = PartitionSelection(epsilon, delta, k, "truncated_geometric", pre_threshold)
    return _TruncatedGeometric(epsilon, delta, k, pre_threshold, selection.threshold, selection)


def _of_laplace(epsilon: float, delta: float, k: int, pre_threshold: int | None) -> _Threshold:
    return _of_noise(epsilon, delta, k, pre_threshold, _laplace(epsilon, float(k)), delta)


def _of_gaussian(epsilon: float, delta: float, k: int, pre_threshold: int | None) -> _Threshold:
    return _of_noise(epsilon, delta, k, pre_threshold, _gaussian(epsilon, delta / 2, math.sqrt(k)), delta / 2)


def _of_noise(epsilon: float, delta: float, k: int, pre_threshold: int | None, noise: Any, to_appear: float) -> _Threshold:
    refuse("delta", delta, 0 < delta < 1, "greater than 0 and less than 1")
    refuse("epsilon", epsilon, noise.granularity <= 1, "large enough for noise on the integers")
    threshold = (pre_threshold or 1) + noise.isf(share(to_appear, k) * (1 - _MARGIN))
    return _Threshold(epsilon, delta, k, pre_threshold, threshold, noise)


# A truncated geometric rule keeps up to 2**22 thresholds.
_STRATEGIES: dict[str, Callable[..., PartitionSelectionStrategy]] = {
    "truncated_geometric": lru_cache(maxsize=16)(_truncated_geometric),
    "laplace": lru_cache(maxsize=16)(_of_laplace),
    "gaussian": lru_cache(maxsize=16)(_of_gaussian),
}


def create_partition_strategy(
    strategy: str, epsilon: Number, delta: Number, max_partitions_contributed: int, pre_threshold: int | None = None
) -> PartitionSelectionStrategy:
    """Return PyDP's partition strategy with the noise of stairnoise.

    Parameters
    ----------
    strategy : {"truncated_geometric", "laplace", "gaussian"}
        "truncated_geometric" is the rule of `stairnoise.PartitionSelection`. The others show a partition if its number of people
        with noise of `stairnoise.Laplace` or `stairnoise.Gaussian` reaches a threshold. As in PyDP, half of δ is for Gaussian
        noise, and the other half for partitions that appear. PipelineDP's accountant for privacy losses relies on that noise.
    epsilon : float
        Privacy parameter ε > 0 of all partitions of one person.
    delta : float
        Privacy parameter δ of all partitions of one person, 0 < δ < 1.
    max_partitions_contributed : int
        Number of partitions to which one person can add at most 1.
    pre_threshold : int or None
        Number of people that a partition needs to be shown at all.

    Returns
    -------
    PartitionSelectionStrategy

    Raises
    ------
    ParameterError, ParameterTypeError
        A parameter is out of range or has a wrong type; PyDP raises RuntimeError or ValueError.

    Notes
    -----
    Numbers of people need not be whole. "truncated_geometric" rounds them down.

    Unlike PyDP 1.1.5, every strategy has `noised_value_if_should_keep` and `threshold`, with a `pre_threshold` too. With its own
    accounting, ``stairnoise.PartitionSelection(..., strategy="gaussian")`` has smaller thresholds for the same (ε, δ).

    Examples
    --------
    >>> from stairnoise.compat.pydp import create_partition_strategy
    >>> for name in ("truncated_geometric", "laplace", "gaussian"):
    ...     strategy = create_partition_strategy(name, 1, 1e-5, 2)
    ...     print(name, round(strategy.threshold, 3),
    ...           round(strategy.probability_of_keep(20), 4))
    truncated_geometric 23 0.1698
    laplace 24.026 0.0668
    gaussian 26.074 0.1344
    >>> create_partition_strategy("laplace", 1, 1e-5, 2, pre_threshold=10).should_keep(9)
    False
    """
    word: object = strategy
    name = one_of(word.lower() if isinstance(word, str) else word, "strategy", tuple(_STRATEGIES))
    k = count(max_partitions_contributed, "max_partitions_contributed", least=1, most=_MOST_PEOPLE)
    if pre_threshold is not None:
        pre_threshold = count(pre_threshold, "pre_threshold", least=1, most=_MOST_PEOPLE)
    return _STRATEGIES[name](single(epsilon, "epsilon"), single(delta, "delta"), k, pre_threshold)
