"""What the mechanisms that select share: the gate for costs, draws, and the probabilities of candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._errors import ParameterError, place
from stairnoise._law.guarantee import Guarantee
from stairnoise._law.immutable import Immutable
from stairnoise._output import Size, output_array
from stairnoise._parameters import Real, RealLike, count, exact_array
from stairnoise.rng import Rng, release_stream, sampling_stream

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsFloat

    from typing_extensions import TypedDict, TypeVar, Unpack

    from stairnoise._types import Memory, Number

    _Rows = Sequence[Sequence[SupportsFloat]]
    _Chosen = NDArray[np.int64]
    _Either = int | _Chosen
    _Out = TypeVar("_Out", bound=Memory)

    class _Options(TypedDict, total=False):
        rng: Rng | None
        threads: int | None


# Differences of numbers below this one do not overflow.
_LARGE = 2.0**1021


class Selecting(Immutable):
    """A mechanism that selects one of the candidates whose costs lie along the last axis."""

    __slots__ = ("_given", "_mechanism")

    # The rule for a cost, as errors state it.
    _rule: str
    # The arguments by name, in the constructor's order.
    _given: dict[str, Any]
    _mechanism: _native.Selection

    if TYPE_CHECKING:

        def _exponents(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
            """Return ln(largest weight/weight) of every candidate: at least 0, and 0 for the best of each row."""

    @property
    def eps(self) -> float:
        """Privacy parameter ε of one selection."""
        eps: float = self._given["eps"]
        return eps

    @property
    def sensitivity(self) -> float:
        """Largest change Δ of any candidate's cost that one person can cause."""
        sensitivity: float = self._given["sensitivity"]
        return sensitivity

    @property
    def monotonic(self) -> bool:
        """Whether you promised that one person never moves two costs in opposite directions."""
        monotonic: bool = self._given["monotonic"]
        return monotonic

    def guarantee(self) -> Guarantee:
        """Return what one selection promises; `Guarantee.sensitivity` is the sensitivity of the costs."""
        return Guarantee(self.eps, 0.0, None, self.sensitivity)

    def _store(self, mechanism: _native.Selection, given: dict[str, Any]) -> None:
        store = object.__setattr__
        store(self, "_given", given)
        store(self, "_mechanism", mechanism)

    def _named_arguments(self) -> dict[str, Any]:
        return self._given

    @overload
    def select(self, costs: RealLike, size: Size | None = None, *, out: _Out, **options: Unpack[_Options]) -> _Out: ...
    @overload
    def select(self, costs: RealLike, size: Size, *, out: None = None, **options: Unpack[_Options]) -> _Chosen: ...
    @overload
    def select(self, costs: Sequence[Number], size: None = None, *, out: None = None, **options: Unpack[_Options]) -> int: ...
    @overload
    def select(
        self, costs: Sequence[Sequence[SupportsFloat]], size: None = None, *, out: None = None, **options: Unpack[_Options]
    ) -> _Chosen: ...
    @overload
    def select(
        self, costs: RealLike, size: Size | None = None, *, out: None = None, **options: Unpack[_Options]
    ) -> int | _Chosen: ...
    def select(
        self,
        costs: RealLike,
        size: Size | None = None,
        *,
        rng: Rng | None = None,
        out: Memory | None = None,
        threads: int | None = None,
    ) -> Any:
        """Select privately: the index of a candidate for every row of costs.

        One selection is ``eps``-differentially private. If one person's data enter k selections,
        from one row or from several, these cost k·``eps``.

        Parameters
        ----------
        costs : array of float, shape (..., n)
            Costs of n ≥ 1 candidates along the last axis; lower costs are better. All other axes
            count rows. float64 must hold each cost exactly.
        size : int, tuple of int, or None
            Shape of the output, to which the shape of the rows, ``costs.shape[:-1]``, must
            broadcast, as in NumPy's ``Generator.multinomial``. A row that fills several places has
            an independent selection for each. None: the shape of `out`, or without it one
            selection per row.
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
            Or another argument is not allowed. Nothing has been drawn and `out` is untouched.
        """
        return self._draw(costs, size, release_stream(rng), out, threads)

    @overload
    def sample(self, costs: RealLike, size: Size | None = None, *, out: _Out, **options: Unpack[_Options]) -> _Out: ...
    @overload
    def sample(self, costs: RealLike, size: Size, *, out: None = None, **options: Unpack[_Options]) -> _Chosen: ...
    @overload
    def sample(self, costs: Sequence[Number], size: None = None, *, out: None = None, **options: Unpack[_Options]) -> int: ...
    @overload
    def sample(
        self, costs: Sequence[Sequence[SupportsFloat]], size: None = None, *, out: None = None, **options: Unpack[_Options]
    ) -> _Chosen: ...
    @overload
    def sample(
        self, costs: RealLike, size: Size | None = None, *, out: None = None, **options: Unpack[_Options]
    ) -> int | _Chosen: ...
    def sample(
        self,
        costs: RealLike,
        size: Size | None = None,
        *,
        rng: Rng | None = None,
        out: Memory | None = None,
        threads: int | None = None,
    ) -> Any:
        """Draw selections for study; to protect data use `select`.

        It selects as `select` does, from the same random words, but accepts any SeededRng.

        Parameters
        ----------
        costs : array of float, shape (..., n)
            Costs of n ≥ 1 candidates along the last axis; lower costs are better.
        size : int, tuple of int, or None
            Shape of the output, to which the shape of the rows must broadcast.
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
        return self._draw(costs, size, sampling_stream(rng), out, threads)

    def _draw(
        self,
        costs: RealLike,
        size: Size | None,
        stream: _native.Stream,
        out: Memory | None,
        threads: int | None,
    ) -> Any:
        rows = self._rows(costs)
        workers = 0 if threads is None else count(threads, "threads", least=1, most=_native.MOST_THREADS)
        batch = rows.shape[:-1]
        selected = output_array(size, batch, out, None, ("int64",))
        if rows.strides[-1] != rows.itemsize or np.may_share_memory(rows, selected):
            rows = rows.copy()
        self._mechanism.select(stream, np.broadcast_to(rows, (*selected.shape, rows.shape[-1])), selected, workers)
        if out is not None:
            return out
        return selected.item() if size is None and batch == () else selected

    def _rows(self, costs: object) -> NDArray[np.float64]:
        """Convert costs to float64, or refuse them."""
        rows = exact_array(costs, "costs")
        if rows.ndim == 0 or rows.shape[-1] == 0:
            raise ParameterError(f"costs must have at least one candidate along the last axis, got shape {rows.shape}")
        if not rows.flags.aligned:
            rows = rows.copy()
        # Only one of the rows repeated by strides of 0 is checked: a view may repeat a row any number of times.
        once = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in rows.strides)
        bad = self._mechanism.refused(rows[once])
        if bad is not None:
            index = np.unravel_index(bad, rows[once].shape)
            raise ParameterError(f"costs must be {self._rule}, got one that is not{place(index)}")
        return rows

    def probabilities(self, costs: RealLike) -> NDArray[np.float64]:
        """Return the probability of every candidate.

        Parameters
        ----------
        costs : array of float, shape (..., n)
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
        return _probabilities(self._exponents(self._rows(costs)))

    def log_probabilities(self, costs: RealLike) -> NDArray[np.float64]:
        """Return the natural logarithm of every candidate's probability, finite where the probability underflows.

        Parameters
        ----------
        costs : array of float, shape (..., n)
            As for `select`.

        Returns
        -------
        ndarray of float64, shape (..., n)

        Raises
        ------
        ParameterError, ParameterTypeError
            As `select` raises.
        """
        exponents = self._exponents(self._rows(costs))
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
    def expected_cost(self, costs: RealLike) -> Any:
        """Return the mean cost of the selected candidate, Σ p·c.

        Parameters
        ----------
        costs : array of float, shape (..., n)
            As for `select`.

        Returns
        -------
        float or ndarray of float64, shape (...)
            One number per row.

        Raises
        ------
        ParameterError, ParameterTypeError
            As `select` raises.
        """
        rows = self._rows(costs)
        scale = 1.0 if np.abs(rows).max(initial=0.0) < _LARGE else 0.25
        scaled = rows * scale
        least = scaled.min(axis=-1, keepdims=True)
        with np.errstate(under="ignore"):
            above = (_probabilities(self._exponents(rows)) * (scaled - least)).sum(axis=-1)
        mean = (least[..., 0] + above) / scale
        return float(mean) if mean.ndim == 0 else mean


def _probabilities(exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(under="ignore"):
        weights = np.exp(-exponents)
        probabilities: NDArray[np.float64] = weights / weights.sum(axis=-1, keepdims=True)
    return probabilities
