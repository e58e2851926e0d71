"""What the mechanisms that select share: the gate for costs, draws, and the probabilities of candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._errors import ParameterError, ParameterTypeError, place
from stairnoise._output import Size, output_array
from stairnoise._parameters import Real, RealLike, count, exact_floats, number_array
from stairnoise._types import typed_as
from stairnoise.mechanism.guarantee import Guarantee
from stairnoise.mechanism.immutable import Immutable
from stairnoise.mechanism.stated import unstated
from stairnoise.rng import Rng, release_stream, sampling_stream

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsFloat

    from typing_extensions import TypedDict, TypeVar, Unpack

    from stairnoise._types import Memory, Number

    _Rows = Sequence[Sequence[SupportsFloat]]
    _Chosen = NDArray[np.int64]
    _Costs = RealLike | None
    _Out = TypeVar("_Out", bound=Memory)

    class _Options(TypedDict, total=False):
        rng: Rng | None
        threads: int | None


# Differences of numbers below this one do not overflow.
_LARGE = 2.0**1021


class SelectionMechanism(Immutable):
    """The base of all mechanisms that select one of the candidates whose costs lie along the last axis.

    It is for annotations and `isinstance`; construct `StaircaseSelection`, `ExponentialMechanism` or `PermuteAndFlip`.
    """

    __slots__ = ("_given", "_mechanism")
    __module__ = "stairnoise"

    # The rule for a cost, and for a score by the key -1, as errors state them.
    _rules: dict[int, str]
    # The arguments by name, in the constructor's order.
    _given: dict[str, Any]
    _mechanism: _native.Selection

    if TYPE_CHECKING:

        def _exponents(self, rows: NDArray[np.float64], infinite: bool) -> NDArray[np.float64]:
            """Return ln(largest weight/weight) of every candidate: at least 0, and 0 for the best of each row.

            `infinite` says whether any cost is inf.
            """

    def __init__(self, *_: object) -> None:
        raise ParameterTypeError(f"{type(self).__name__} is a base class: construct a mechanism such as PermuteAndFlip(eps=1)")

    @property
    def eps(self) -> float:
        """Privacy parameter ε of one selection."""
        eps: float = self._given["eps"]
        return eps

    @property
    def sensitivity(self) -> float:
        """Largest change Δ of any candidate's cost that one person can cause."""
        sensitivity: float | None = self._given["sensitivity"]
        return 1.0 if sensitivity is None else sensitivity

    @property
    def monotonic(self) -> bool:
        """Whether you promised that one person never moves two costs in opposite directions."""
        monotonic: bool = self._given["monotonic"]
        return monotonic

    def guarantee(self) -> Guarantee:
        """Return what one selection promises; ``Guarantee.sensitivity`` is the sensitivity of the costs."""
        return Guarantee(self.eps, 0.0, None, self.sensitivity)

    def _store(self, mechanism: _native.Selection, given: dict[str, Any]) -> None:
        store = object.__setattr__
        store(self, "_given", given)
        store(self, "_mechanism", mechanism)

    def _named_arguments(self) -> dict[str, Any]:
        return self._given

    @overload
    def select(self, costs: Sequence[Number], *, out: None = None, **options: Unpack[_Options]) -> int: ...
    @overload
    def select(self, *, scores: Sequence[Number], out: None = None, **options: Unpack[_Options]) -> int: ...
    @overload
    def select(self, costs: _Rows, *, out: None = None, **options: Unpack[_Options]) -> _Chosen: ...
    @overload
    def select(self, *, scores: _Rows, out: None = None, **options: Unpack[_Options]) -> _Chosen: ...
    @overload
    def select(self, costs: RealLike, size: Size, *, out: None = None, **options: Unpack[_Options]) -> _Chosen: ...
    @overload
    def select(self, *, scores: RealLike, size: Size, out: None = None, **options: Unpack[_Options]) -> _Chosen: ...
    @overload
    def select(
        self, costs: _Costs = None, size: Size | None = None, *, scores: _Costs = None, out: _Out, **options: Unpack[_Options]
    ) -> _Out: ...
    @overload
    def select(
        self, costs: _Costs = None, size: None = None, *, scores: _Costs = None, out: None = None, **options: Unpack[_Options]
    ) -> int | _Chosen: ...
    def select(
        self,
        costs: RealLike | None = None,
        size: Size | None = None,
        *,
        scores: RealLike | None = None,
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
            In place of `costs`: a score s is the cost −s, exactly, so larger scores are better.
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
            is given.

        Raises
        ------
        ParameterError, ParameterTypeError
            A cost is not allowed (the text names the first such index), or there are no candidates.
            Or not exactly one of `costs` and `scores` is given, or another argument is not allowed.
            Nothing has been drawn and `out` is untouched.
        """
        return self._draw(self._rows(costs, scores, protect=True), size, release_stream(rng), out, threads)

    @typed_as(select)
    def sample(
        self,
        costs: RealLike | None = None,
        size: Size | None = None,
        *,
        scores: RealLike | None = None,
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
            In place of `costs`; larger scores are better.
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
        return self._draw(self._rows(costs, scores), size, sampling_stream(rng), out, threads)

    @overload
    def top(self, costs: RealLike, k: int, size: Size | None = None, *, out: _Out, **options: Unpack[_Options]) -> _Out: ...
    @overload
    def top(
        self, costs: RealLike, k: int, size: Size | None = None, *, out: None = None, **options: Unpack[_Options]
    ) -> _Chosen: ...
    @overload
    def top(self, *, scores: RealLike, k: int, size: Size | None = None, out: _Out, **options: Unpack[_Options]) -> _Out: ...
    @overload
    def top(
        self, *, scores: RealLike, k: int, size: Size | None = None, out: None = None, **options: Unpack[_Options]
    ) -> _Chosen: ...
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
            In place of `costs`; larger scores are better.
        rng : SecureRng or None
            As for `select`. To study `top` with a seed, use ``SeededRng(seed, allow_release=True)``.
        out : ndarray or other writable memory of int64, or None
            Array to fill and return, k long along the last axis.
        threads : int or None
            How many threads share long work.

        Returns
        -------
        ndarray of int64, shape (..., k)
            Indices from 0 to n − 1. The first is the one selected first.

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
        rows = self._rows(costs, scores, k, many=True, protect=True)
        return self._draw(rows, size, release_stream(rng), out, threads, k)

    def _draw(
        self,
        rows: NDArray[np.float64],
        size: Size | None,
        stream: _native.Stream,
        out: Memory | None,
        threads: int | None,
        k: int | None = None,
    ) -> Any:
        workers = 0 if threads is None else count(threads, "threads", least=1, most=_native.MOST_THREADS)
        batch = rows.shape[:-1]
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
            # One cost that stands for every candidate.
            rows = rows.copy()
        draw(stream, np.broadcast_to(rows, (*places, rows.shape[-1])), selected, workers)
        if out is not None:
            return out
        return selected.item() if k is None and size is None and batch == () else selected

    def _rows(
        self, costs: object, scores: object = None, k: object = None, *, many: bool = False, protect: bool = False
    ) -> NDArray[np.float64]:
        """Convert and check what a call is given; see `_checked`."""
        return self._checked(costs, scores, k, many=many, protect=protect)[0]

    def _checked(
        self, costs: object, scores: object, k: object = None, *, many: bool = False, protect: bool = False
    ) -> tuple[NDArray[np.float64], bool]:
        """Convert costs to float64, or scores to the costs that they are; or refuse them, and `k` where `many` are selected.

        To `protect` costs of a float type, their sensitivity must have been stated. It also tells whether any cost is inf.
        """
        if scores is None and costs is None:
            raise ParameterTypeError(
                "costs must be a real number or an array of real numbers, or scores in their place, got neither"
            )
        if scores is not None and costs is not None:
            raise ParameterError("costs must be left out where scores are given, got both")
        name, sign = ("costs", 1) if scores is None else ("scores", -1)
        numbers = number_array(costs if scores is None else scores, name)
        if protect and numbers.dtype.kind == "f" and self._given["sensitivity"] is None:
            # The type decides, never the values, as in a release.
            raise unstated(self, "a selection by floats", beside=f" beside {name} of dtype {numbers.dtype}")
        rows = exact_floats(numbers, name)
        if rows.ndim == 0 or rows.shape[-1] == 0:
            raise ParameterError(f"{name} must have at least one candidate along the last axis, got shape {rows.shape}")
        needed = count(k, "k", least=1, most=rows.shape[-1]) if many else 1
        # Only one of the rows repeated by strides of 0 is looked at: a view may repeat a row any number of times.
        once = rows
        if 0 in rows.strides:
            once = rows[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in rows.strides)]
        # A copy before the first look: another thread may write to the caller's memory.
        once = _native.own(name, once)
        if sign < 0:
            # A change of sign is exact.
            np.negative(once, out=once)
        rows = np.broadcast_to(once, rows.shape)
        bad, infinite = self._mechanism.refused(once)
        if bad is not None:
            index = np.unravel_index(bad, once.shape)
            raise ParameterError(f"{name} must be {self._rules[sign]}, got one that is not{place(index)}")
        if infinite:
            _require_finite(once, rows.shape[-1], needed, name)
        return rows, infinite

    def probabilities(self, costs: RealLike | None = None, *, scores: RealLike | None = None) -> NDArray[np.float64]:
        """Return the probability of every candidate.

        Parameters
        ----------
        costs, scores : array of float, shape (..., n), or None
            One of the two, as for `select`.

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
        return self._chances(self._exponents(*self._checked(costs, scores)))

    def log_probabilities(self, costs: RealLike | None = None, *, scores: RealLike | None = None) -> NDArray[np.float64]:
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

    def _chances(self, exponents: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of candidates with these exponents."""
        with np.errstate(under="ignore"):
            weights: NDArray[np.float64] = np.exp(-exponents)
            weights /= weights.sum(axis=-1, keepdims=True)
        return weights

    def _log_chances(self, exponents: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(under="ignore"):
            total = np.exp(-exponents).sum(axis=-1, keepdims=True)
        logs: NDArray[np.float64] = -(exponents + np.log(total))
        return logs

    @overload
    def expected_cost(self, costs: Sequence[Number]) -> float: ...
    @overload
    def expected_cost(self, costs: _Rows) -> NDArray[np.float64]: ...
    @overload
    def expected_cost(self, costs: RealLike) -> Real: ...
    @overload
    def expected_cost(self, *, scores: Sequence[Number]) -> float: ...
    @overload
    def expected_cost(self, *, scores: _Rows) -> NDArray[np.float64]: ...
    @overload
    def expected_cost(self, *, scores: RealLike) -> Real: ...
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


def _require_finite(rows: NDArray[np.float64], candidates: int, needed: int, name: str) -> None:
    """Refuse a row with fewer finite costs than are needed; the last axis of `rows` may stand for more equal candidates."""
    finite = np.isfinite(rows).sum(axis=-1) * (candidates // rows.shape[-1])
    short = np.argwhere(finite < needed)
    if len(short):
        least = "a finite one" if needed == 1 else f"at least k = {needed} finite ones"
        raise ParameterError(f"{name} must have {least} in every row, got a row with fewer{place(tuple(short[0]))}")
