"""The base of all mechanisms that add noise: what they draw, how they release, and what they promise.

Public methods come first in each part, then the private ones, which some mechanisms override.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from stairnoise import _native
from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._numpy_scalars import NUMBERS
from stairnoise._options import DrawOptions, FrameOptions, KeyedRng, ReleaseOptions, Unpack
from stairnoise._output import Shape, Size, chunks_of
from stairnoise._parameters import RealLike
from stairnoise._types import (
    AnyFloat,
    Array,
    Columns,
    Default,
    Floats,
    Generic,
    Integer,
    Integers,
    Memory,
    Number,
    Out,
    Scalar,
    Self,
    Singles,
    Value,
)
from stairnoise.keyed import release as keyed_release
from stairnoise.mechanism.answers import unstated
from stairnoise.mechanism.drawing import FLOAT64, INT64, SURELY_A_LENGTH, chunks, sample_generally, threads_asked
from stairnoise.mechanism.guarantee import NAME, Guarantee, partitions
from stairnoise.mechanism.immutable import Immutable, once, setters
from stairnoise.mechanism.release import REFUSE, Nulls, released, require_null_rule
from stairnoise.rng import Rng, sampling_stream

# The default of `max_partitions_contributed`: `is` takes less time than a comparison of types and values.
_ONE = 1


class Mechanism(Immutable, Generic[Default, Value, AnyFloat]):
    """The base of all mechanisms that add noise to numbers or to vectors: they draw, release, and state a guarantee.

    It is for annotations and `isinstance`; construct a mechanism such as `Laplace`.
    """

    __module__ = "stairnoise"

    __slots__ = ("_cached", "_distribution_made", "_draw", "_fast_release", "_parameters", "_sampler", "_scaled_made", "_stated")

    # Whether a value is an integer, and the dtypes of noise and of releases.
    _integers: ClassVar[bool] = False
    _dtypes: ClassVar[tuple[str, ...]] = ("float64", "float32")
    _release_dtypes: ClassVar[tuple[str, ...]] = ("float64", "float32")
    # Norm of a change of several values in `privacy_map`.
    _change_norm: str = "l1"
    # () for scalar parameters.
    _parameter_shape: Shape = ()
    # Shape of one value: () for a number, (d,) for a vector.
    _value_shape: Shape = ()
    # Completes the error "k must …" if no mechanism keeps the guarantee for k values.
    _partitions_rule: ClassVar[str] = "leave an eps that the lattice holds"
    # Whether methods take a sensitivity; then the class has `_checked_sensitivity`.
    _any_sensitivity: bool = False
    # The sensitivity of methods that are called without one.
    _default_sensitivity: Any = 1

    # The constructor's arguments by name, in its order; None if the class stores them itself.
    _parameters: dict[str, Any]
    # The extension's mechanism; None if parameters are arrays.
    _sampler: Any
    # Draws one number; None if parameters are arrays or values are vectors.
    _draw: Any
    # Releases a number or a plain array; None for array parameters and vectors, and if a sensitivity must be stated first.
    _fast_release: Any
    # Whether a sensitivity was stated; None for a mechanism made from its noise alone.
    _stated: bool | None
    # Set at their first use: results of `once` by the names of methods, and the results of `_functions` and of `scaled`.
    _cached: dict[str, Any]
    _distribution_made: Any
    _scaled_made: tuple[Any, Any]

    if TYPE_CHECKING:

        @property
        def eps(self) -> Any: ...
        @property
        def sensitivity(self) -> Any: ...
        @property
        def granularity(self) -> Any: ...

        def _functions(self) -> Any:
            """Return density, survival function, their inverses and moments, as an object with the methods of `Tabulated`."""

        def _checked_sensitivity(self, sensitivity: Any) -> Any:
            """Return the sensitivity as the type that the mechanism needs, or raise."""

        def _exact_parameters(self) -> dict[str, Any]:
            """Return numbers, words and tuples that define the noise, however the mechanism was made.

            They are the same on every platform: the caller's parameters, and shapes in lattice steps (contract, section 13).
            """

    # Construction

    def __init__(self, *_: object) -> None:
        raise ParameterTypeError(f"{type(self).__name__} is a base class: construct a mechanism such as Laplace(eps=1)")

    def _store(
        self, native: _native.Mechanism | None, parameters: dict[str, Any] | None, *, stated: bool, noise_alone: bool = False
    ) -> None:
        """Store the extension's mechanism, and the constructor's arguments by name; every constructor ends with this call.

        `native` is None for array parameters, and `parameters` is None if the class stores its arguments itself. `stated`:
        the caller stated a sensitivity; otherwise that of `parameters` is 1. `noise_alone`: the parameters describe the noise,
        so the caller cannot have forgotten a sensitivity.
        """
        _set_parameters(self, parameters)
        _set_sampler(self, native)
        _set_stated(self, stated or (None if noise_alone else False))
        if native is None or self._value_shape:
            _set_draw(self, None)
            _set_fast_release(self, None)
        elif self._integers:
            _set_draw(self, native.draw_int)
            _set_fast_release(self, native.fast_release_whole if stated or noise_alone else native.fast_release_integers)
        else:
            _set_draw(self, native.draw_float)
            _set_fast_release(self, native.fast_release if stated or noise_alone else None)

    def _named_arguments(self) -> dict[str, Any]:
        parameters = self._parameters
        return parameters if self._stated or "sensitivity" not in parameters else {**parameters, "sensitivity": None}

    @once
    def __hash__(self) -> int:
        return super().__hash__()

    def _repr_html_(self) -> str | None:
        """Return the table that a notebook shows, or None for the ``repr``."""
        from stairnoise._html import of_mechanism

        return of_mechanism(self)

    @property
    def _distribution(self) -> Any:
        try:
            return self._distribution_made
        except AttributeError:
            made = self._functions()
        object.__setattr__(self, "_distribution_made", made)
        return made

    # Drawing and releasing

    @property
    def exactness(self) -> str:
        """Return "lattice" if every multiple of `granularity` has exactly its stated probability, otherwise a bound."""
        return "lattice"

    @overload
    def sample(self, size: None = None, *, out: None = None, dtype: None = None, **options: Unpack[DrawOptions]) -> Value: ...
    @overload
    def sample(self, size: Size, *, out: None = None, dtype: None = None, **options: Unpack[DrawOptions]) -> NDArray[Default]: ...
    @overload
    def sample(
        self, size: Size, *, out: None = None, dtype: type[Scalar] | np.dtype[Scalar], **options: Unpack[DrawOptions]
    ) -> NDArray[Scalar]: ...
    @overload
    def sample(
        self, size: Size | None = None, *, out: Out, dtype: DTypeLike | None = None, **options: Unpack[DrawOptions]
    ) -> Out: ...
    @overload
    def sample(
        self, size: Size | None = None, *, out: None = None, dtype: DTypeLike | None = None, **options: Unpack[DrawOptions]
    ) -> Any: ...
    def sample(
        self,
        size: Size | None = None,
        *,
        rng: Rng | None = None,
        out: Memory | None = None,
        dtype: DTypeLike | None = None,
        threads: int | None = None,
    ) -> Any:
        """Draw noise alone, for study; to protect data use `release`.

        Parameters
        ----------
        size : int, tuple of int, or None
            Shape of the output, to which array parameters must broadcast. None: the shape of
            `out`, or without it the parameters' common shape. For vectors, the shape before the last axis, which has length
            ``dim``. (Vector n is the first vector of ``rng.at(n * dim)``: a generator counts coordinates.)
        rng : SecureRng, SeededRng or None
            None: one secure generator for the whole process.
        out : ndarray or other writable memory, or None
            Array to fill and return, with any strides. Its dtype must be one of those below, and its shape `size` if both
            are given. It may be of another library that lends its memory by DLPack on the CPU, such as a Torch tensor,
            or by the buffer protocol, such as an ``array.array``.
        dtype : dtype or None
            float64 (default) or float32 for a continuous mechanism; int64 (default), int32 (saturating)
            or float64 for a discrete one. Must agree with `out`.
        threads : int or None
            How many threads fill an output of 2**18 values or more. None: the environment variable
            STAIRNOISE_NUM_THREADS, or else as many threads as the process may run at once. The
            values do not depend on it.

        Returns
        -------
        float, int or ndarray
            A Python scalar if the parameters are scalars and neither `size` nor `out` is given.

        Raises
        ------
        ParameterError, ParameterTypeError
            An argument is not allowed. Nothing has been drawn and `out` is untouched.
        """
        # The fast path: for ten values, calls without options take less than half the time of the general path.
        draw = self._draw
        if draw is not None and dtype is None and threads is None:
            stream = sampling_stream(rng)
            if size is None:
                if out is None:
                    return draw(stream)
                if self._sampler.fast_fill(stream, out, self._integers):
                    return out
            elif out is None and type(size) is int and 0 <= size < SURELY_A_LENGTH:
                noise = self._sampler.fast_sample(stream, size, self._integers)
                if noise is None:
                    noise = np.empty(size, INT64 if self._integers else FLOAT64)
                    self._sampler.fill(stream, noise)
                return noise
        return sample_generally(self, size, rng, out, dtype, threads)

    @overload
    def sample_chunks(
        self, size: Size, chunk_size: int | None = None, *, dtype: None = None, **options: Unpack[DrawOptions]
    ) -> Iterator[NDArray[Default]]: ...
    @overload
    def sample_chunks(
        self, size: Size, chunk_size: int | None = None, *, dtype: type[Scalar] | np.dtype[Scalar], **options: Unpack[DrawOptions]
    ) -> Iterator[NDArray[Scalar]]: ...
    @overload
    def sample_chunks(
        self, size: Size, chunk_size: int | None = None, *, dtype: DTypeLike | None = None, **options: Unpack[DrawOptions]
    ) -> Iterator[NDArray[Any]]: ...
    def sample_chunks(
        self,
        size: Size,
        chunk_size: int | None = None,
        *,
        rng: Rng | None = None,
        dtype: DTypeLike | None = None,
        threads: int | None = None,
    ) -> Iterator[NDArray[Any]]:
        """Draw noise alone in chunks, for noise that does not fit into memory.

        The chunks, one after the other, are the values that `sample` of the same `size` returns, whatever their length.

        Parameters
        ----------
        size : int or tuple of int
            Shape of all chunks together, as for `sample`.
        chunk_size : int or None
            Length of a chunk along the first axis, at least 1; the last chunk may be shorter. None: as many as make
            about 2**20 values.
        rng : SecureRng, SeededRng or None
            None: one secure generator for the whole process. The call takes one fill, as one call of `sample` does, even
            if not all chunks are drawn.
        dtype : dtype or None
            As for `sample`.
        threads : int or None
            As for `sample`, for every chunk.

        Returns
        -------
        iterator of ndarray
            Every chunk is a new array. There is none if the first axis is 0.

        Raises
        ------
        ParameterError, ParameterTypeError
            An argument is not allowed, or `size` has more values than a fill has: 2**62, or 2**40 for mechanisms that
            draw several times for a value. The call raises it, before the first chunk, and no fill has been taken.

        Notes
        -----
        A chunk is drawn when the iterator reaches it. Only the iterator holds the key of its fill, which is wiped when the
        iterator ends or is deleted. In a forked child, the iterator's next chunks have other noise than the parent's.

        Examples
        --------
        >>> import numpy as np
        >>> import stairnoise as sn
        >>> mechanism = sn.Laplace(eps=1.0)
        >>> [len(chunk) for chunk in mechanism.sample_chunks(10, 4)]
        [4, 4, 2]
        >>> chunks = mechanism.sample_chunks(10, 4, rng=sn.SeededRng(7))
        >>> whole = mechanism.sample(10, rng=sn.SeededRng(7))
        >>> bool((np.concatenate(list(chunks)) == whole).all())
        True
        """
        stream = sampling_stream(rng)
        workers = threads_asked(threads)
        shape, length, wanted = chunks_of(size, chunk_size, self._parameter_shape, self._value_shape, dtype, self._dtypes)
        try:
            # Capped so that it fits the extension's integers; 2**63 values are refused too.
            view = self._next_view(stream, min(math.prod(shape), 2**63))
        except ParameterError as error:
            raise ParameterError(f"size must fit into a fill ({error}), got shape {shape}") from None
        return chunks(self, view, shape, length, wanted, workers)

    @overload
    def release(self, values: Columns, **options: Unpack[FrameOptions]) -> Columns: ...
    @overload
    def release(self, values: RealLike, *, out: Out, **options: Unpack[ReleaseOptions]) -> Out: ...
    @overload
    def release(self, values: Integer, *, out: None = None, **options: Unpack[ReleaseOptions]) -> Value: ...
    @overload
    def release(self, values: Number, *, out: None = None, **options: Unpack[ReleaseOptions]) -> AnyFloat: ...
    @overload
    def release(self, values: Singles, *, out: None = None, **options: Unpack[ReleaseOptions]) -> Singles: ...
    @overload
    def release(self, values: Integers, *, out: None = None, **options: Unpack[ReleaseOptions]) -> NDArray[Default]: ...  # type: ignore[overload-overlap]
    @overload
    def release(self, values: Array, *, out: None = None, **options: Unpack[ReleaseOptions]) -> Floats: ...
    def release(
        self,
        values: RealLike | Columns,
        *,
        columns: Iterable[Hashable] | None = None,
        nulls: Nulls = REFUSE,
        labels: object = None,
        statistic: str | Sequence[str] | None = None,
        max_partitions_contributed: int = _ONE,
        rng: Rng | KeyedRng | None = None,
        out: Memory | None = None,
        threads: int | None = None,
    ) -> Any:
        """Add noise to true answers and return the private ones.

        Each value is rounded to the lattice by ``floor(x/g + 1/2)``, computed exactly. The noise is added there in
        integers, and the sum is converted once. A sum that the output's type cannot hold becomes the largest or smallest
        number of that type. An error would reveal something about the noise.

        The mechanism must have been made with its `sensitivity`, or from its noise alone, such as ``Gaussian(sigma=2)``.
        Without a sensitivity a discrete mechanism takes integers, because a person changes a count by 1, but no floats. The
        types decide that, never the values.

        A discrete mechanism has g = 1 and rounds 10.5 to 11 before it adds noise. The error can then exceed `error_bound`,
        which covers only the noise, by up to 1/2.

        Parameters
        ----------
        values : int, float, array of them, column or frame
            True answers, finite and below ``2**126 * granularity`` in magnitude (1e28 for ``Laplace(1)``). Array
            parameters and values broadcast against each other; every number returned is a separate release. Vectors are
            along the last axis. A column is then one vector, and the rows of a frame are vectors.
            Masked arrays are refused. A column is a pandas Series, Index or extension array, a Polars Series, or a
            PyArrow Array or ChunkedArray, of integers, floats or decimals of scale 0. A frame is a DataFrame of pandas
            or Polars, or a PyArrow Table or RecordBatch.
        columns : str, list of names, "all" or None
            Columns of a frame to release, each as an array of its own in this order. "all" is for frames of numbers
            alone, such as a crosstab. Required for a frame, and not allowed for anything else.
        nulls : {"refuse", "zero", "keep"}, default "refuse"
            What to do with the nulls of a column. "refuse": raise an error. "zero": a null is the answer 0, and gets
            noise. "keep": a null stays null. Use that only if everybody may know which answers are missing. The noise
            of other rows does not depend on nulls. NaN is always an error.
        labels : sequence, array or column; only with a KeyedRng
            A label for each value in the order of the values, such as the name of its group; `values` then have one
            dimension, or none and one label. Labels are strings, integers, bools, dates, bytes, None or tuples of them.
            Several columns make tuples. Equal labels must have equal values, and get equal answers. The rows of a frame
            have one label each.
        statistic : str or list of str; only with a KeyedRng
            Public name of the values, such as "count". Two statistics of the same groups have independent noise.
            Several columns of a frame need a list of different names, one for each column.
        max_partitions_contributed : int, default 1
            How many of the values one person can change by being added or removed, each by at most the sensitivity.
            (A *replaced* person changes two cells of a histogram.) Every value then gets the wider noise of
            `for_partitions`, so the whole release has the guarantee of one value. The values of a frame are the cells
            of all its columns that are released.
        rng : SecureRng, KeyedRng or None
            None: one secure generator for the whole process. A SeededRng is refused unless it was
            made with ``allow_release=True``. A KeyedRng needs `labels` and a `statistic`.
        out : ndarray or other writable memory, or None
            Array to fill and return, or memory as for `sample`; it may be `values` itself. Its dtype is one that
            `sample` allows; a discrete mechanism also allows float32. A sum that this dtype cannot hold becomes its largest or
            smallest number. Not allowed for columns and frames.
        threads : int or None
            How many threads release 2**18 values or more, as in `sample`. The released numbers do not depend on it.

        Returns
        -------
        int, float, ndarray, column or frame
            int64 if the mechanism is discrete and the values are integers. Otherwise float32 if the values are
            float32, else float64. A zero-dimensional result is a Python scalar. A column or frame is of the type that
            `values` has, with its index, name, chunks and other columns. There integers from a discrete mechanism
            are the library's int64. A decimal keeps its type, whose ends take the place of sums beyond them.

        Raises
        ------
        ParameterError, ParameterTypeError
            No sensitivity was stated. Or a value is NaN, infinite or too large for the lattice (the text names the first such
            index). Or another argument is not allowed, such as an `out` that another thread is filling. Nothing has been
            drawn and `out` is untouched.
        LazyError
            `values` stands for a computation, such as a Polars LazyFrame, a DuckDB relation, a DataFrame of Dask or
            Spark, or an xarray DataArray over Dask. It has not been run. The class is a ParameterTypeError.

        Notes
        -----
        Arrays of float64 and int64 are read in place, and the result is written directly to the output. A release
        takes a few MiB besides the output. Values of other types are first converted to 8 bytes each. Values that
        share part of their memory with `out` are first copied.
        """
        if labels is not None or statistic is not None:
            k = max_partitions_contributed
            require_null_rule(nulls)
            return keyed_release.released_by_key(self, values, columns, nulls, labels, statistic, k, rng, out, threads)
        stream = sampling_stream(rng)  # type: ignore[arg-type]
        # The fast path: calls without options take a quarter of the time of the general path.
        fast = self._fast_release
        if fast is not None and max_partitions_contributed is _ONE and columns is None and nulls is REFUSE and threads is None:
            found = fast(stream, values, out)
            if found is None and type(values) in NUMBERS:
                found = fast(stream, values.item(), out)  # type: ignore[union-attr]
            if found is not None:
                return found
        k = partitions(max_partitions_contributed, NAME)
        return released(self, stream, values, columns, nulls, k, out, threads)

    def _fill(self, stream: _native.Stream, out: NDArray[Any], threads: int, first: int | None = None) -> None:
        """Fill `out`: a whole output, or the rows of one from number `first` on."""
        self._sampler.fill(stream, out, threads)

    def _next_view(self, stream: _native.Stream, values: int) -> _native.Stream:
        """Take the stream's next fill and return a view that draws it in parts."""
        return stream.next_view(values) if self._sampler is None else self._sampler.next_view(stream, values)

    def _add_noise(self, stream: _native.Stream, answers: NDArray[Any], out: NDArray[Any], k: int, threads: int) -> None:
        """Write the noisy answers; one person changes k of them."""
        mechanism = self if k == 1 else self._keeping_guarantee(k, NAME)
        mechanism._sampler.release(stream, answers, out, threads)

    # Guarantees

    def guarantee(self, sensitivity: Number | None = None, *, max_partitions_contributed: int = 1) -> Guarantee:
        """Return the guarantee of a release.

        Parameters
        ----------
        sensitivity : int, float or None
            Largest change Δ of one value. Only `DiscreteGaussian`, `Skellam`, `GeneralizedDiscreteLaplace`,
            `MultiScaleDiscreteLaplace`, `Arete`, and mechanisms made from a ``scale`` or ``std`` take it. None: the sensitivity
            that the mechanism was made for. A mechanism made from its noise alone has none.
        max_partitions_contributed : int, default 1
            How many values one person can change, as in `release`. `GeneralizedDiscreteLaplace`, `Arete` and
            `LatticeNoise` do not divide their privacy budget: for them, the guarantee is that of this many releases.

        Returns
        -------
        Guarantee
            For a Gaussian mechanism made by ``for_partitions(k)``, the guarantee covers its k values together. The other
            mechanisms that `for_partitions` returns have a smaller privacy budget; their guarantee covers one value.

        Raises
        ------
        ParameterError, ParameterTypeError
            `sensitivity` is out of range or missing, or the mechanism was made for a fixed one. Or
            `max_partitions_contributed` is not allowed.

        Examples
        --------
        >>> import stairnoise as sn
        >>> sn.DiscreteGaussian(sigma2=100).guarantee(sensitivity=2)
        Guarantee: one value that changes by at most 2 is 0.02-zero-concentrated differentially private.
        >>> sn.MergedLaplace([16, 4], [0.125]).guarantee().eps
        5.5
        """
        if sensitivity is None and self._stated is None:
            raise unstated(self, "a guarantee", "pass sensitivity=..." if self._any_sensitivity else None)
        return self._promise(self._sensitivity_or_default(sensitivity), partitions(max_partitions_contributed, NAME))

    def for_partitions(self, k: int) -> Self:
        """Return the mechanism that releases each value if one person changes `k` values.

        ``release(values, max_partitions_contributed=k)`` adds the noise of the returned mechanism. All values together
        then have the guarantee that one value has from this object: the ε, (ε, δ) or ρ of the table below. (The privacy
        profile at other ε may be larger.) For the noise of each value, ask the returned mechanism for `error_bound`
        and `std`. A `Laplace` of a ``scale`` has an ε of 1 here, so its noise is k times as wide.

        Parameters
        ----------
        k : int
            How many values one person can change, each by at most the sensitivity, from 1 to 2**53 - 1.

        Returns
        -------
        a mechanism of the same class
            This mechanism for ``k=1``. Otherwise, by its name or else by its parameters:

            ===================================  ====================================================================
            an ε and no δ                        ``eps/k``, rounded down; k values are ε-private together
            an ε and a δ                         ``eps/k`` and ``delta/k``, rounded down: k values are (ε, δ)-private
            `MergedLaplace`                      all rates divided by k, or by more, so that k times its `pure_eps` is
                                                 at most the `pure_eps` of this mechanism
            `Gaussian`                           the same (ε, δ), calibrated for an l2 sensitivity of Δ√k; made from
                                                 ``sigma`` or ``std``, the same ρ with √k times the σ
            `DiscreteGaussian` and `Skellam`     the same (ε, δ), calibrated for the sum of k draws
            by `from_eps`
            `DiscreteGaussian` of a ``sigma2``   ``k * sigma2``, rounded up: k values keep the ρ of one, but not its
                                                 (ε, δ)
            `Skellam` of a ``mu``                ``k * mu``, rounded up: k values keep the `rdp_bound` of one
            ===================================  ====================================================================

        Raises
        ------
        ParameterTypeError
            `k` is not an integer.
        ParameterError
            `k` is out of range, or no such mechanism fits its lattice. `GeneralizedDiscreteLaplace`, `Arete` and
            `LatticeNoise` have no ε to divide and take only ``k=1``.

        Examples
        --------
        >>> import stairnoise as sn
        >>> sn.DiscreteLaplace(eps=1).for_partitions(3)
        DiscreteLaplace(eps=0.3333333333333333)
        >>> noise = sn.DiscreteLaplace(eps=1)
        >>> noise.error_bound(0.95), noise.for_partitions(3).error_bound(0.95)
        (3, 9)
        """
        return self._keeping_guarantee(k, "k")

    def _promise(self, sensitivity: Any, k: int) -> Guarantee:
        """Return the guarantee of k values; `sensitivity` is what `_sensitivity_or_default` returned."""
        self._keeping_guarantee(k, NAME)  # raises if no mechanism exists for k values
        return Guarantee(self.eps, getattr(self, "delta", 0.0), None, getattr(self, "sensitivity", None), k)

    def _keeping_guarantee(self, k: Any, name: str) -> Self:
        """Return the mechanism for `k` values; `name` is what errors call `k`."""
        number = partitions(k, name)
        if number == 1:
            return self
        try:
            return self._divided_among(number)
        except ParameterError as error:
            raise ParameterError(f"{name} must {self._partitions_rule}, got {number}: {error}") from None

    def _divided_among(self, k: int) -> Self:
        """Return the mechanism for `k` >= 2 values; its errors say why there is none."""
        given = self._named_arguments()
        shares = {name: _native.largest_quotient(given[name], k) for name in ("eps", "delta") if name in given}
        return type(self)(*(given | shares).values())

    def _sensitivity_or_default(self, sensitivity: Any) -> Any:
        """Check and return a method's sensitivity; return None for a mechanism that was made for a fixed one."""
        if self._any_sensitivity:
            return self._checked_sensitivity(self._default_sensitivity if sensitivity is None else sensitivity)
        if sensitivity is not None:
            name = type(self).__name__
            other = "; privacy_map has the cost of another change" if hasattr(self, "privacy_map") else ""
            raise ParameterError(
                f"sensitivity must be left out for a {name}, which was made for one, got {received(sensitivity)}{other}"
            )
        return None

    @property
    def _sensitivity_steps(self) -> int:
        """The sensitivity in lattice steps, of a mechanism made for one."""
        return int(self._sampler.sensitivity_steps)

    @property
    def _takes_floats(self) -> bool:
        """Whether a release takes floats: a sensitivity was stated, or there is none."""
        return self._stated is not False

    @property
    def _stated_sensitivity(self) -> Any:
        """The sensitivity as the constructor's argument."""
        return self.sensitivity if self._stated else None


_set_parameters, _set_sampler, _set_draw, _set_fast_release, _set_stated = setters(
    Mechanism, "_parameters", "_sampler", "_draw", "_fast_release", "_stated"
)
