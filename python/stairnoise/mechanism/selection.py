"""The base of mechanisms that select: checks of costs, draws, and the probabilities of candidates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, SupportsFloat, overload

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError, ParameterTypeError, outline, place
from stairnoise._options import DrawOptions, SelectOptions, Unpack
from stairnoise._output import Size, output_array
from stairnoise._parameters import Real, RealLike, count, exact_floats, flag, number_array, require, single
from stairnoise._types import Floats, Ints, Memory, Number, Out, typed_as
from stairnoise.mechanism.answers import unstated
from stairnoise.mechanism.drawing import threads_asked
from stairnoise.mechanism.guarantee import Guarantee
from stairnoise.mechanism.immutable import Immutable, Parameter
from stairnoise.rng import Rng, release_stream, sampling_stream

if TYPE_CHECKING:
    _Row = Sequence[Number] | None
    _Rows = Sequence[Sequence[SupportsFloat]] | None
    _Costs = RealLike | None


# float64 holds every integer below this, and so every multiplicity.
MOST_CANDIDATES = 2**53
# Differences of smaller numbers do not overflow.
_LARGE = 2.0**1021


class SelectionMechanism(Immutable):
    """The base of all mechanisms that select one of the candidates whose costs lie along the last axis.

    It is for annotations and `isinstance`; construct `StaircaseSelection`, `ExponentialMechanism` or `PermuteAndFlip`.
    """

    __slots__ = ("_mechanism", "_parameters")
    __module__ = "stairnoise"

    # The rules that errors state: 1 is that of costs, -1 that of scores.
    _rules: dict[int, str]
    # The arguments by name, in the constructor's order.
    _parameters: dict[str, Any]
    _mechanism: _native.Selection

    if TYPE_CHECKING:

        def _exponents(self, rows: Floats, infinite: bool) -> Floats:
            """Return ln(largest weight/weight) of every candidate: at least 0, and 0 for the best of each row.

            `infinite` says whether any cost is inf.
            """

    def __init__(self, *_: object) -> None:
        raise ParameterTypeError(f"{type(self).__name__} is a base class: construct a mechanism such as PermuteAndFlip(eps=1)")

    eps = Parameter[float]("Privacy parameter ε of one selection.")

    @property
    def sensitivity(self) -> float:
        """Largest change Δ of any candidate's cost that one person can cause."""
        sensitivity: float | None = self._parameters["sensitivity"]
        return 1.0 if sensitivity is None else sensitivity

    monotonic = Parameter[bool]("Whether you promised that one person never moves two costs in opposite directions.")

    def guarantee(self) -> Guarantee:
        """Return the guarantee of one selection; ``Guarantee.sensitivity`` is the sensitivity of the costs."""
        return Guarantee(self.eps, 0.0, None, self.sensitivity)

    def _store(self, mechanism: _native.Selection, parameters: dict[str, Any]) -> None:
        store = object.__setattr__
        store(self, "_parameters", parameters)
        store(self, "_mechanism", mechanism)

    @overload
    def select(self, costs: _Row = None, *, scores: _Row = None, out: None = None, **options: Unpack[SelectOptions]) -> int: ...
    @overload
    def select(
        self, costs: _Rows = None, *, scores: _Rows = None, out: None = None, **options: Unpack[SelectOptions]
    ) -> Ints: ...
    @overload
    def select(
        self, costs: _Costs = None, *, size: Size, scores: _Costs = None, out: None = None, **options: Unpack[SelectOptions]
    ) -> Ints: ...
    @overload
    def select(self, costs: RealLike, size: Size, *, out: None = None, **options: Unpack[SelectOptions]) -> Ints: ...
    @overload
    def select(
        self, costs: _Costs = None, size: Size | None = None, *, scores: _Costs = None, out: Out, **options: Unpack[SelectOptions]
    ) -> Out: ...
    @overload
    def select(
        self, costs: _Costs = None, *, scores: _Costs = None, out: None = None, **options: Unpack[SelectOptions]
    ) -> int | Ints: ...
    def select(
        self,
        costs: RealLike | None = None,
        size: Size | None = None,
        *,
        scores: RealLike | None = None,
        multiplicities: RealLike | None = None,
        rng: Rng | None = None,
        out: Memory | None = None,
        threads: int | None = None,
    ) -> Any:
        """Select privately: the index of a candidate for every row of costs.

        One selection is ``eps``-differentially private. If one person's data enter k selections,
        from one row or from several, these cost k·``eps``.

        Parameters
        ----------
        costs : array of float, shape (..., n), or None
            Costs of n ≥ 1 candidates along the last axis; lower costs are better. All other axes
            count rows. float64 must hold each cost exactly. A candidate of cost ``inf`` is never
            selected; every row needs a finite cost. Which costs are ``inf`` must not depend on
            anybody's data.
        size : int, tuple of int, or None
            Shape of the output, to which the shape of the rows, ``costs.shape[:-1]``, must
            broadcast, as in NumPy's ``Generator.multinomial``. A row that fills several places has
            an independent selection for each. None: the shape of `out`, or without it one
            selection per row.
        scores : array of float, shape (..., n), or None
            Instead of `costs`: a score s is the cost −s, exactly, so larger scores are better.
        multiplicities : array of int, or None
            How many candidates of this cost an index stands for, below 2**53 in all of a row, or for `PermuteAndFlip` at
            most 2**20; 0 as for the cost ``inf``. It must broadcast to the shape of the costs. An index is selected as often
            as all its candidates would be together.
        rng : SecureRng or None
            None: one secure generator for the whole process. A SeededRng is refused unless it was
            made with ``allow_release=True``.
        out : ndarray or other writable memory of int64, or None
            Array to fill and return, of any strides, or memory that another library lends (DLPack, buffer protocol).
        threads : int or None
            How many threads share long work. None: the environment variable
            STAIRNOISE_NUM_THREADS, or else as many threads as the process may run at once. The
            selections do not depend on it.

        Returns
        -------
        int or ndarray of int64
            Indices from 0 to n − 1. A Python int for a single row if neither `size` nor `out`
            is given. For a Series of pandas without `out` its labels, and for a frame those of its columns.

        Raises
        ------
        ParameterError, ParameterTypeError
            A cost is not allowed (the text names the first such index), or there are no candidates.
            Or not exactly one of `costs` and `scores` is given, or another argument is not allowed.
            Nothing has been drawn and `out` is untouched.
        """
        return self._selected(costs, scores, multiplicities, size, release_stream(rng), out, threads, protect=True)

    @typed_as(select)
    def sample(
        self,
        costs: RealLike | None = None,
        size: Size | None = None,
        *,
        scores: RealLike | None = None,
        multiplicities: RealLike | None = None,
        rng: Rng | None = None,
        out: Memory | None = None,
        threads: int | None = None,
    ) -> Any:
        """Draw selections for study; to protect data use `select`.

        It selects as `select` does, from the same random words, but accepts any SeededRng.

        Parameters
        ----------
        costs : array of float, shape (..., n), or None
            Costs of n ≥ 1 candidates along the last axis; lower costs are better.
        size : int, tuple of int, or None
            Shape of the output, to which the shape of the rows must broadcast.
        scores : array of float, shape (..., n), or None
            Instead of `costs`; larger scores are better.
        multiplicities : array of int, or None
            How many candidates an index stands for.
        rng : SecureRng, SeededRng or None
            None: one secure generator for the whole process.
        out : ndarray or other writable memory of int64, or None
            Array to fill and return, of any strides, or memory that another library lends (DLPack, buffer protocol).
        threads : int or None
            How many threads share long work.

        Returns
        -------
        int or ndarray of int64
            As `select` returns.

        Raises
        ------
        ParameterError, ParameterTypeError
            As `select` raises.
        """
        return self._selected(costs, scores, multiplicities, size, sampling_stream(rng), out, threads, protect=False)

    @overload
    def top(self, costs: RealLike, k: int, size: Size | None = None, *, out: Out, **options: Unpack[DrawOptions]) -> Out: ...
    @overload
    def top(
        self, costs: RealLike, k: int, size: Size | None = None, *, out: None = None, **options: Unpack[DrawOptions]
    ) -> Ints: ...
    @overload
    def top(self, *, scores: RealLike, k: int, size: Size | None = None, out: Out, **options: Unpack[DrawOptions]) -> Out: ...
    @overload
    def top(
        self, *, scores: RealLike, k: int, size: Size | None = None, out: None = None, **options: Unpack[DrawOptions]
    ) -> Ints: ...
    def top(
        self,
        costs: RealLike | None = None,
        k: int | None = None,
        size: Size | None = None,
        *,
        scores: RealLike | None = None,
        rng: Rng | None = None,
        out: Memory | None = None,
        threads: int | None = None,
    ) -> Any:
        """Select k different candidates privately for every row of costs, best first.

        The k candidates of a row are together ``eps``-differentially private, with their order. They are drawn one after
        the other, each from those that are left and with ε/k: the exponents of its weights are exact rationals, divided
        by the integer k, so no ε is rounded. Called for several rows, each of them costs ``eps``.

        Parameters
        ----------
        costs : array of float, shape (..., n), or None
            As for `select`. Every row needs at least k finite costs.
        k : int
            How many candidates, from 1 to n.
        size : int, tuple of int, or None
            Shape of the output without its last axis, to which the shape of the rows must broadcast.
        scores : array of float, shape (..., n), or None
            Instead of `costs`; larger scores are better.
        rng : SecureRng or None
            As for `select`. To study `top` with a seed, use ``SeededRng(seed, allow_release=True)``.
        out : ndarray or other writable memory of int64, or None
            Array to fill and return, k long along the last axis.
        threads : int or None
            How many threads share long work.

        Returns
        -------
        ndarray of int64, shape (..., k)
            Indices from 0 to n − 1, or labels as from `select`. The first is the one selected first.

        Raises
        ------
        ParameterError, ParameterTypeError
            `k` is not an integer from 1 to n, or a row has fewer than k finite costs. Or as `select` raises.

        Examples
        --------
        >>> import stairnoise as sn
        >>> chosen = sn.PermuteAndFlip(eps=4).top(scores=[17, 3, 40, 38, 5], k=3)
        >>> chosen.shape, len(set(chosen.tolist()))
        ((3,), 3)
        """
        rows, _ = self._checked(costs, scores, k, many=True, protect=True)
        found = self._draw(rows, size, release_stream(rng), out, threads, k)
        return found if out is not None else labelled(found, costs if scores is None else scores)

    def _selected(
        self, costs: Any, scores: Any, multiplicities: Any, size: Any, stream: Any, out: Any, threads: Any, *, protect: bool
    ) -> Any:
        """Return what `select` and `sample` return; `protect`: floats need a stated sensitivity."""
        given = costs if scores is None else scores
        one_row = size is None and out is None and threads is None and multiplicities is None
        if one_row and (costs is None) is not (scores is None):
            # A short row of plain numbers; None is for all that needs or fails the general checks.
            integers = protect and self._parameters["sensitivity"] is None
            found = self._mechanism.select_one(stream, given, costs is None, integers)
            if found is not None:
                return found
        rows, _ = self._checked(costs, scores, protect=protect)
        numbers = None
        if multiplicities is not None:
            rows, numbers = multiplied(rows, multiplicities)
        chosen = self._draw(rows, size, stream, out, threads, numbers=numbers)
        return chosen if out is not None else labelled(chosen, given)

    def _draw(
        self, rows: Floats, size: Any, stream: Any, out: Any, threads: Any, k: int | None = None, numbers: Floats | None = None
    ) -> Any:
        workers = threads_asked(threads)
        batch = rows.shape[:-1]
        draw: Callable[..., None]
        if k is None:
            selected = output_array(size, batch, out, None, ("int64",))
            draw, places = self._mechanism.select, selected.shape
        else:
            shape = None if size is None else (*(size if isinstance(size, tuple) else (size,)), k)
            selected = output_array(shape, (*batch, k), out, None, ("int64",))
            draw, places = self._mechanism.top, selected.shape[:-1]
            if selected.shape[-1] != k:
                raise ParameterError(
                    f"out must have {k} places along the last axis, one for each candidate, got {selected.shape}"
                )
        if rows.strides[-1] != rows.itemsize:
            # A view that repeats one cost for every candidate.
            rows = rows.copy()
        drawn = (*places, rows.shape[-1])
        more = () if numbers is None else (np.broadcast_to(numbers, drawn),)
        draw(stream, rows if rows.shape == drawn else np.broadcast_to(rows, drawn), selected, workers, *more)
        if out is not None:
            return out
        return selected.item() if k is None and size is None and batch == () else selected

    def _checked(
        self, costs: object, scores: object = None, k: object = None, *, many: bool = False, protect: bool = False
    ) -> tuple[Floats, bool]:
        """Return costs, or the negative of scores, as checked float64, and whether any cost is inf.

        `many`: check `k` too. `protect`: refuse costs of a float type if nobody stated their sensitivity.
        """
        if scores is None and costs is None:
            raise ParameterTypeError(
                "costs must be a real number or an array of real numbers, or scores in their place, got neither"
            )
        if scores is not None and costs is not None:
            raise ParameterError("costs must be left out where scores are given, got both")
        name, sign = ("costs", 1) if scores is None else ("scores", -1)
        numbers = number_array(costs if scores is None else scores, name)
        if protect and numbers.dtype.kind == "f" and self._parameters["sensitivity"] is None:
            # The type decides, never the values, as in a release.
            raise unstated(self, "a selection by floats", beside=f" beside {name} of dtype {numbers.dtype}")
        rows = exact_floats(numbers, name)
        if rows.ndim == 0 or rows.shape[-1] == 0:
            raise ParameterError(f"{name} must have at least one candidate along the last axis, got shape {rows.shape}")
        needed = count(k, "k", least=1, most=rows.shape[-1]) if many else 1
        # Rows that a view repeats, with a stride of 0, are checked once: it may repeat a row any number of times.
        distinct = rows
        if 0 in rows.strides:
            distinct = rows[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in rows.strides)]
        # Copied before the check, because another thread may write to the caller's memory.
        distinct, bad, infinite = self._mechanism.checked(name, distinct, sign < 0)
        rows = distinct if distinct.shape == rows.shape else np.broadcast_to(distinct, rows.shape)
        if bad is not None:
            index = np.unravel_index(bad, distinct.shape)
            raise ParameterError(f"{name} must be {self._rules[sign]}, got one that is not{place(index)}")
        if infinite:
            _require_finite(distinct, rows.shape[-1], needed, name)
        return rows, infinite

    def probabilities(
        self, costs: RealLike | None = None, *, scores: RealLike | None = None, multiplicities: RealLike | None = None
    ) -> Floats:
        """Return the probability of every candidate, or of all that an index stands for.

        Parameters
        ----------
        costs, scores, multiplicities : array of float, shape (..., n), or None
            As for `select`.

        Returns
        -------
        ndarray of float64, shape (..., n)
            The relative error is below 1e-12, down to the smallest normal float64. The probabilities
            depend on the data, so publishing them is not private.

        Raises
        ------
        ParameterError, ParameterTypeError
            As `select` raises.
        """
        rows, infinite = self._checked(costs, scores)
        if multiplicities is None:
            return self._chances(self._exponents(rows, infinite))
        rows, numbers = multiplied(rows, multiplicities)
        return self._chances(self._exponents(rows, True), numbers)

    def log_probabilities(self, costs: RealLike | None = None, *, scores: RealLike | None = None) -> Floats:
        """Return the natural logarithm of every candidate's probability, finite where the probability underflows.

        Parameters
        ----------
        costs, scores : array of float, shape (..., n), or None
            One of the two, as for `select`.

        Returns
        -------
        ndarray of float64, shape (..., n)

        Raises
        ------
        ParameterError, ParameterTypeError
            As `select` raises.
        """
        return self._log_chances(self._exponents(*self._checked(costs, scores)))

    def _chances(self, exponents: Floats, numbers: Floats | None = None) -> Floats:
        """Return the probabilities of candidates with these exponents, of which there are `numbers`."""
        with np.errstate(under="ignore"):
            weights: Floats = np.exp(-exponents)
            if numbers is not None:
                weights = weights * numbers
            weights /= weights.sum(axis=-1, keepdims=True)
        return weights

    def _log_chances(self, exponents: Floats) -> Floats:
        with np.errstate(under="ignore"):
            total = np.exp(-exponents).sum(axis=-1, keepdims=True)
        return np.asarray(-(exponents + np.log(total)))

    @overload
    def expected_cost(self, costs: _Row = None, *, scores: _Row = None) -> float: ...
    @overload
    def expected_cost(self, costs: _Rows = None, *, scores: _Rows = None) -> Floats: ...
    @overload
    def expected_cost(self, costs: _Costs = None, *, scores: _Costs = None) -> Real: ...
    def expected_cost(self, costs: RealLike | None = None, *, scores: RealLike | None = None) -> Any:
        """Return the mean cost of the selected candidate, Σ p·c. A score s is the cost −s, so the mean score is minus this.

        Parameters
        ----------
        costs, scores : array of float, shape (..., n), or None
            One of the two, as for `select`.

        Returns
        -------
        float or ndarray of float64, shape (...)
            One number per row.

        Raises
        ------
        ParameterError, ParameterTypeError
            As `select` raises.
        """
        rows, infinite = self._checked(costs, scores)
        chances = self._chances(self._exponents(rows, infinite))
        least = rows.min(axis=-1, keepdims=True)
        if infinite:
            # A candidate that is never selected adds nothing.
            rows = np.where(rows < np.inf, rows, least)
        scale = 1.0 if np.abs(rows).max(initial=0.0) < _LARGE else 0.25
        if scale < 1:
            rows, least = rows * scale, least * scale
        with np.errstate(under="ignore"):
            chances *= rows - least
            above = chances.sum(axis=-1)
        mean = (least[..., 0] + above) / scale
        return float(mean) if mean.ndim == 0 else mean


def labelled(selected: Any, rows: Any) -> Any:
    """Return the labels of selected candidates: of a Series of pandas those of its index, of a frame those of its columns."""
    if type(rows).__module__.partition(".")[0] != "pandas":
        return selected
    labels = getattr(rows, "columns" if rows.ndim == 2 else "index", None)
    if labels is None:
        # An Index or an array of pandas.
        return selected
    return labels[selected] if isinstance(selected, int) else np.asarray(labels)[selected]


def multiplied(rows: Floats, multiplicities: object) -> tuple[Floats, Floats]:
    """Return costs and multiplicities of one shape, in C order: an index that stands for no candidate has an infinite cost."""
    name = "multiplicities"
    given = number_array(multiplicities, name)
    if given.dtype.kind == "f":
        raise ParameterTypeError(f"{name} must be integers, got {outline(multiplicities)}")
    try:
        shape = np.broadcast_shapes(given.shape, rows.shape)
    except ValueError:
        shape = ()
    if shape[-1:] != rows.shape[-1:] or given.ndim > len(shape):
        raise ParameterError(f"{name} must have a shape that broadcasts to that of the costs, {rows.shape}, got {given.shape}")
    require(name, (given >= 0) & (given < MOST_CANDIDATES), "from 0 to 2**53 - 1")
    numbers = np.broadcast_to(given, shape).astype(np.float64, order="C")
    # Sums below the limit are exact, and no larger one is rounded below it.
    if np.any(numbers.sum(axis=-1) >= MOST_CANDIDATES):
        raise ParameterError(f"{name} must be below 2**53 in all of a row, got a row with more")
    costs = np.where(numbers > 0, np.broadcast_to(rows, shape), np.inf)
    _require_finite(costs, shape[-1], 1, "costs with multiplicities")
    return costs, np.maximum(numbers, 1.0)


def _require_finite(rows: Floats, candidates: int, needed: int, name: str) -> None:
    """Refuse a row with fewer finite costs than are needed; `rows` may have one of several equal `candidates`."""
    finite = np.isfinite(rows).sum(axis=-1) * (candidates // rows.shape[-1])
    short = np.argwhere(finite < needed)
    if len(short):
        least = "a finite one" if needed == 1 else f"at least k = {needed} finite ones"
        raise ParameterError(f"{name} must have {least} in every row, got a row with fewer{place(tuple(short[0]))}")


class SelectionByDifferences(SelectionMechanism):
    """A mechanism to which only differences of costs matter."""

    __slots__ = ()
    _rules = {1: "finite or inf", -1: "finite or -inf"}  # noqa: RUF012 - never changed
    _make: Callable[[float, float, bool], _native.Selection]

    def __init__(self, eps: RealLike, sensitivity: RealLike | None = None, monotonic: bool = False) -> None:
        rate, change, promise = single(eps, "eps"), stated_change(sensitivity), flag(monotonic, "monotonic")
        parameters = {"eps": rate, "sensitivity": change, "monotonic": promise}
        self._store(self._make(rate, 1.0 if change is None else change, promise), parameters)

    def _exponents(self, rows: Floats, infinite: bool) -> Floats:
        """Return ε(c − least)/(2Δ), from significands and exponents, so that only the result can leave its range."""
        # Allocated first, so that a view that repeats rows beyond all memory fails at once.
        above = np.empty(rows.shape)
        least = rows.min(axis=-1, keepdims=True)
        # Halving is inexact only for subnormal numbers, which are negligible beside a difference that would overflow.
        finite = np.where(rows < np.inf, rows, least) if infinite else rows
        halved = bool(np.abs(finite).max(initial=0.0) >= 2.0**1022)
        if halved:
            rows, least = rows / 2, least / 2
        above, exponent = np.frexp(np.subtract(rows, least, out=above))
        eps, unit = math.frexp(self.eps), math.frexp(self.sensitivity)
        shift = eps[1] - unit[1] + halved - (not self.monotonic)
        with np.errstate(over="ignore", under="ignore"):
            above *= eps[0]
            if unit[0] == 0.5:
                shift += 1  # a sensitivity of 1 or another power of two needs no division
            else:
                above /= unit[0]
            return np.asarray(np.ldexp(above, exponent + shift))


def stated_change(sensitivity: RealLike | None) -> float | None:
    """Check a sensitivity; None means that it was not stated."""
    return None if sensitivity is None else single(sensitivity, "sensitivity")
