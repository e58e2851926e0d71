"""The randomized response mechanism, which keeps a category or releases another one instead."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError, outline
from stairnoise._options import FrameOptions, KeyedRng, ReleaseOptions, Unpack
from stairnoise._output import released_array
from stairnoise._parameters import confidence_level, laid_out, number_array, require, single
from stairnoise._types import AnyArray, Array, Bools, Columns, Floats, Integer, Integers, Ints, Memory, Number, Out
from stairnoise.columns import categories as columns_of_categories
from stairnoise.columns.column import Chunks, library
from stairnoise.columns.reading import by_library
from stairnoise.columns.release import by_column, opened
from stairnoise.keyed import release as keyed_release
from stairnoise.mechanism.additive import AdditiveMechanism
from stairnoise.mechanism.base import Mechanism
from stairnoise.mechanism.drawing import threads_asked
from stairnoise.mechanism.guarantee import NAME
from stairnoise.mechanism.immutable import Parameter
from stairnoise.mechanism.release import REFUSE, Nulls, require_null_rule
from stairnoise.mechanisms.randomized_response import estimate
from stairnoise.mechanisms.staircase import loss
from stairnoise.rng import Rng, release_stream

if TYPE_CHECKING:
    from stairnoise.accounting.privacy_loss import PrivacyLoss

# Dtypes of released numbers of categories, and the most categories of each.
_MOST_OF = {"int64": 2**63, "uint64": 2**64, "uint32": 2**32}
# Most people in all; float64 can hold every count.
_MOST_PEOPLE = 2**32


class RandomizedResponse(Mechanism[np.int64, int, float]):
    r"""Randomized response: each category is kept, or another one is released instead.

    .. math:: P(i → i) = \frac{e^ε}{e^ε + k - 1}, \qquad P(i → j) = \frac{1}{e^ε + k - 1} \text{ for } j ≠ i.

    Each released category is ε-differentially private by itself, whatever the true one was. So people can release their own
    category before they hand it to anybody: local differential privacy. The coins have exactly these probabilities. The work is
    the same for all categories, and does not depend on which are kept.

    Parameters
    ----------
    eps : float
        Privacy parameter ε of one category, at least 2**-40.
    categories : int or sequence of labels
        The number k of categories, from 2 to 2**53: they are the integers 0 to k - 1. Or their labels, all texts or all
        integers. State them from what you know without the data.

    Raises
    ------
    ParameterTypeError
        `eps` is not a real number, or `categories` is neither an integer nor a list of labels.
    ParameterError
        `eps` is an array or out of range, or the labels are not different.

    References
    ----------
    .. [1] Warner, "Randomized Response: A Survey Technique for Eliminating Evasive Answer Bias", Journal of the American
       Statistical Association 60, 1965: two categories.
    .. [2] Kairouz, Oh and Viswanath, "Extremal Mechanisms for Local Differential Privacy", NeurIPS 2014: k categories, and
       their optimality for large ε.

    Examples
    --------
    >>> import stairnoise as sn
    >>> response = sn.RandomizedResponse(eps=1, categories=["car", "bus", "bike"])
    >>> round(response.keep_probability, 4)
    0.5761
    >>> response.release("bus") in response.categories
    True
    >>> response.guarantee()
    Guarantee: one value, whatever it becomes, is 1.0-differentially private.
    """

    __slots__ = ()
    _integers = True
    _dtypes = ("int64", "int32", "float64")
    _release_dtypes = tuple(_MOST_OF)

    if TYPE_CHECKING:

        def privacy_loss(self, *, lattice: bool = True, sensitivity: None = None) -> PrivacyLoss[float]: ...
        def compose(self, k: int, sensitivity: None = None) -> PrivacyLoss[float]: ...
        def privacy_profile(self, eps: Number, sensitivity: None = None) -> float: ...
        def rdp(self, alpha: Number, sensitivity: None = None) -> float: ...
        def tradeoff(self, false_alarm: Number, sensitivity: None = None) -> float: ...
    else:
        # These methods use the privacy loss alone.
        privacy_loss = AdditiveMechanism.privacy_loss
        compose = AdditiveMechanism.compose
        privacy_profile = AdditiveMechanism.privacy_profile
        rdp = AdditiveMechanism.rdp
        tradeoff = AdditiveMechanism.tradeoff

    def __init__(self, eps: float, categories: int | Sequence[str] | Sequence[int]) -> None:
        number, labels = single(eps, "eps"), columns_of_categories.checked(categories)
        native = _native.randomized_response(number, labels if isinstance(labels, int) else len(labels))
        self._store(native, {"eps": number, "categories": labels}, stated=True)

    eps = Parameter[float]("Privacy parameter ε of one category.")
    categories = Parameter[int | tuple[str, ...] | tuple[int, ...]]("Number of categories, or their labels.")

    @property
    def n_categories(self) -> int:
        """Number of categories."""
        categories = self.categories
        return categories if isinstance(categories, int) else len(categories)

    @property
    def keep_probability(self) -> float:
        """Probability that a category is kept."""
        return estimate.kept(self.eps, self.n_categories)

    @property
    def granularity(self) -> float:
        """Lattice step, which is 1: draws are integers."""
        return 1.0

    # Releases

    @overload  # type: ignore[override]
    def release(self, values: Integer, *, out: None = None, **options: Unpack[ReleaseOptions]) -> int: ...
    @overload
    def release(self, values: str, *, out: None = None, **options: Unpack[ReleaseOptions]) -> str: ...  # type: ignore[overload-overlap]
    @overload
    def release(self, values: Columns, **options: Unpack[FrameOptions]) -> Columns: ...
    @overload
    def release(self, values: Integer | Integers, *, out: Out, **options: Unpack[ReleaseOptions]) -> Out: ...
    @overload
    def release(
        self, values: Integers | Sequence[str] | AnyArray, *, out: None = None, **options: Unpack[ReleaseOptions]
    ) -> AnyArray: ...
    def release(
        self,
        values: Any,
        *,
        columns: Iterable[Hashable] | None = None,
        nulls: Nulls = REFUSE,
        labels: object = None,
        statistic: str | Sequence[str] | None = None,
        max_partitions_contributed: int = 1,
        rng: Rng | KeyedRng | None = None,
        out: Memory | None = None,
        threads: int | None = None,
    ) -> Any:
        """Keep each category or release another one instead.

        Parameters
        ----------
        values : int, str, array of them, column or frame
            True categories: their numbers, or their labels if the mechanism has labels. Labels are matched by value. The codes
            and categories of a categorical column do not matter.
        columns : str, list of names, "all" or None
            Columns of a frame to release, each by itself. Required for a frame, and not allowed for anything else.
        nulls : {"refuse", "zero", "keep"}, default "refuse"
            What to do with the nulls of a column. "refuse": raise an error. "zero": a null counts as the first category. "keep":
            a null stays null, which shows who did not answer.
        labels, statistic
            As for the other mechanisms, with a KeyedRng. The address of a value has the number of its category.
        max_partitions_contributed : int, default 1
            How many of the categories belong to one person. Each is then released with ``eps / max_partitions_contributed``.
        rng : SecureRng, KeyedRng or None
            None: one secure generator for the whole process. A SeededRng is refused unless it was made with
            ``allow_release=True``.
        out : ndarray or other writable memory, or None
            Array of int64, uint64 or uint32 to fill and return, for numbers of categories; it may be `values` itself.
        threads : int or None
            How many threads release a long array, as in `sample`. The released categories do not depend on it.

        Returns
        -------
        int, str, ndarray, column or frame
            Of the shape of `values`: int64 for numbers, otherwise labels. A column of labels comes back as a categorical one that
            has all declared categories in their order: pandas' Categorical, Polars' Enum (Int64 if labels are integers), Arrow's
            dictionary.

        Raises
        ------
        ParameterError, ParameterTypeError
            A value is none of the categories (the text names the first such index), or another argument is not allowed. Nothing
            has been drawn and `out` is untouched.
        LazyError
            `values` stands for a computation, which has not been run. The class is a ParameterTypeError.
        """
        require_null_rule(nulls)
        drawn, workers = self._keeping_guarantee(max_partitions_contributed, NAME), threads_asked(threads)
        file: Any = None
        names: list[Any] | None = None
        if columns is not None or library(values) is not None:
            file, names = opened(values, columns)
        if out is not None and (file is not None or not isinstance(self.categories, int)):
            raise ParameterError(f"out must be left out for labels and for columns, got {outline(out)}")
        if isinstance(values, np.ndarray) and isinstance(self.categories, int):
            # Memory that the result cannot have is refused before all values are read: zero strides make any shape.
            self._output(values.shape, out)
        if names is None:
            parts = [columns_of_categories.coded(values, self.categories, nulls)]
        else:
            frame = by_library("values", values, file.frame, values, names)
            parts = by_column(names, frame.columns, lambda one: columns_of_categories.coded(one, self.categories, nulls))
        if labels is None and statistic is None:
            add: Any = partial(_add_fresh, drawn, release_stream(rng), workers)  # type: ignore[arg-type]
        else:
            keyed = keyed_release.noise_of_codes(
                self, parts[0].codes, names, labels, statistic, max_partitions_contributed, rng, workers
            )
            add = partial(_add_keyed, keyed, self.n_categories)
        made = [self._released(add, place, part, out) for place, part in enumerate(parts)]
        return made[0] if names is None else by_library("values", values, frame.replace, made)

    def _output(self, shape: tuple[int, ...], out: Memory | None) -> Any:
        allowed = tuple(dtype for dtype, most in _MOST_OF.items() if self.n_categories <= most)
        return released_array(shape, out, "int64", allowed)

    def _released(self, add: Any, place: int, part: columns_of_categories.Coded, out: Memory | None) -> Any:
        """Release one array or column."""
        released = self._output(part.codes.shape, out)
        add(place, part.codes if out is None else laid_out(part.codes, released), released, part.nulls)
        if out is not None:
            return out
        made = part.make(released, part.nulls)
        return made.item() if released.shape == () else made

    def estimate(self, counts: Array, confidence: Number = 0.95) -> tuple[Floats, Floats, Floats]:
        r"""Estimate how frequent each true category is, from the counts of released ones.

        A released category is i with probability :math:`π = q + (p - q) f` if f is the frequency of i, with
        :math:`p = e^ε/(e^ε + k - 1)` and :math:`q = 1/(e^ε + k - 1)`. The estimate :math:`(c/n - q)/(p - q)` has no bias, so it
        may be below 0 or above 1. The interval is the exact one of Clopper and Pearson for π [1]_, converted to f.

        Parameters
        ----------
        counts : array of int
            How many people have released each category, in the order of the categories; 1 to 2**32 people in all. They are
            released numbers, which cost no more privacy.
        confidence : float, default 0.95
            From 0.5 to less than 1, for each interval by itself.

        Returns
        -------
        frequencies, low, high : ndarray of float64
            For each category its estimate, and an interval within 0 and 1.

        Raises
        ------
        ParameterTypeError
            A count is not an integer.
        ParameterError
            There are not as many counts as categories, a count is negative, or `confidence` is out of range.

        Notes
        -----
        People are independent. For people drawn at random from a population, an interval contains the population's frequency
        with at least the probability `confidence`. For given people it contains their own frequency with at least this
        probability if they are at least as many as the categories [2]_. If a person has released several categories,
        ask the mechanism that `for_partitions` returns about the counts of one of them.

        References
        ----------
        .. [1] Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial",
           Biometrika 26, 1934.
        .. [2] Hoeffding, "On the Distribution of the Number of Successes in Independent Trials", Annals of Mathematical
           Statistics 27, 1956, theorem 4: a sum of different coins has lighter tails than a binomial count of its mean.

        Examples
        --------
        >>> import stairnoise as sn
        >>> response = sn.RandomizedResponse(eps=1, categories=["car", "bus", "bike"])
        >>> frequencies, low, high = response.estimate([520, 250, 230])
        >>> frequencies.round(3).tolist(), low.round(3).tolist(), high.round(3).tolist()
        ([0.846, 0.105, 0.05], [0.759, 0.032, 0.0], [0.932, 0.182, 0.125])
        """
        level = single(confidence_level(confidence), "confidence")
        numbers = number_array(counts, "counts")
        k = self.n_categories
        if numbers.shape != (k,):
            raise ParameterError(f"counts must be one for each of the {k} categories, got {outline(counts)}")
        if numbers.dtype.kind not in "iu":
            require("counts", np.zeros(k, np.bool_), "integers")
        require("counts", (numbers >= 0) & (numbers <= _MOST_PEOPLE), "from 0 to 2**32")
        if not 1 <= int(numbers.sum()) <= _MOST_PEOPLE:
            raise ParameterError(f"counts must add up to a number from 1 to 2**32, got {outline(counts)}")
        return estimate.frequencies(self.eps, k, numbers.astype(np.int64), level)

    # Methods for the base class

    def _loss(self, sensitivity: Any) -> Any:
        """Return the loss of one release: ε, 0 or -ε, which is the loss of a staircase with a wide first stair."""
        eps = np.asarray(self.eps)
        beyond = (self.n_categories - 2) / np.expm1(eps)
        return loss.Atoms(eps, 1 + beyond, beyond)

    def _exact_parameters(self) -> dict[str, Any]:
        return {"eps": self.eps, "categories": self.n_categories}


def _add_fresh(mechanism: Any, stream: Any, threads: int, place: int, codes: Ints, out: AnyArray, missing: Bools | None) -> None:
    """Write (category + shift) mod k, and 0 for nulls; the shifts are from a stream of random words."""
    mechanism._sampler.release_modulo(stream, codes, mechanism.n_categories - 1, out, threads)
    if missing is not None:
        out[missing] = 0


def _add_keyed(noise: Any, k: int, place: int, codes: Ints, out: AnyArray, missing: Bools | None) -> None:
    """Write (category + shift) mod k, and 0 for nulls; the shifts are by key, from labels."""
    sums = np.empty(codes.shape, np.int64)
    noise.add(place, Chunks([codes]), sums, missing)
    # A product, because a condition or a division would take longer for some sums.
    sums -= k * (sums >= k)
    out[...] = sums
