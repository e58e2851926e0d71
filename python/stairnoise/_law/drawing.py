"""Drawing noise, and releasing answers with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from stairnoise import _native
from stairnoise._errors import ParameterError
from stairnoise._law.partitions import NAME, Partitions, partitions
from stairnoise._memory import apart
from stairnoise._output import Shape, Size, output_array, released_array
from stairnoise._parameters import RealLike, count
from stairnoise._values import require_finite, true_values
from stairnoise.rng import Rng, release_stream, sampling_stream

# NumPy can index any array of fewer values.
_SURELY_A_LENGTH = 2**48
# NumPy keeps one object for each native dtype, so that identity is the quickest test.
_FLOAT64 = np.dtype(np.float64)
_INT64 = np.dtype(np.int64)

_Default = TypeVar("_Default", bound=np.generic)
_Scalar = TypeVar("_Scalar", bound=np.generic)
_Out = TypeVar("_Out", bound="NDArray[Any]")


class Drawing(Partitions, Generic[_Default]):
    """A law that draws; `_Default` is the type of its values."""

    __slots__ = ()

    _dtypes: ClassVar[tuple[str, ...]]
    _release_dtypes: ClassVar[tuple[str, ...]]
    _parameter_shape: Shape
    # The extension's law; None where parameters are arrays.
    _scalar_law: Any
    _draw: Any

    if TYPE_CHECKING:

        def _fill_each(self, stream: _native.Stream, out: NDArray[Any], threads: int) -> None: ...
        def _release_each(self, stream: _native.Stream, values: NDArray[Any], out: NDArray[Any], k: int) -> None: ...

    @property
    def exactness(self) -> str:
        """Return "lattice" where every multiple of `granularity` has exactly the law's probability, otherwise a bound."""
        return "lattice"

    @overload
    def sample(
        self,
        size: Size,
        *,
        rng: Rng | None = None,
        out: None = None,
        dtype: None = None,
        threads: int | None = None,
    ) -> NDArray[_Default]: ...
    @overload
    def sample(
        self,
        size: Size,
        *,
        rng: Rng | None = None,
        out: None = None,
        dtype: type[_Scalar] | np.dtype[_Scalar],
        threads: int | None = None,
    ) -> NDArray[_Scalar]: ...
    @overload
    def sample(
        self,
        size: Size | None = None,
        *,
        rng: Rng | None = None,
        out: _Out,
        dtype: DTypeLike | None = None,
        threads: int | None = None,
    ) -> _Out: ...
    @overload
    def sample(
        self,
        size: Size | None = None,
        *,
        rng: Rng | None = None,
        out: None = None,
        dtype: DTypeLike | None = None,
        threads: int | None = None,
    ) -> Any: ...
    def sample(
        self,
        size: Size | None = None,
        *,
        rng: Rng | None = None,
        out: NDArray[Any] | None = None,
        dtype: DTypeLike | None = None,
        threads: int | None = None,
    ) -> Any:
        """Draw noise alone, for study; to protect data use `release`.

        Parameters
        ----------
        size : int, tuple of int, or None
            Shape of the output, to which array parameters must broadcast. None: the shape of
            `out`, or without it the parameters' common shape.
        rng : SecureRng, SeededRng or None
            None: one secure generator for the whole process.
        out : ndarray or None
            Writable array to fill and return: any strides, the dtype and shape as below.
        dtype : dtype or None
            float64 (default) or float32 for a continuous law; int64 (default), int32 (saturating)
            or float64 for a discrete one. Must agree with `out`.
        threads : int or None
            How many threads fill an output of 2**18 values or more. None: what the environment
            variable STAIRNOISE_NUM_THREADS says, or as many as the process may run at once. The
            values do not depend on it.

        Returns
        -------
        float, int or ndarray
            A Python scalar when the parameters are scalars and neither `size` nor `out` is given.

        Raises
        ------
        ParameterError, ParameterTypeError
            Nothing has been drawn and `out` is untouched.
        """
        if self._scalar_law is not None and out is None and dtype is None and threads is None:
            if size is None:
                return self._draw(sampling_stream(rng))
            # The usual call, with nothing to look into: less than half the time of the general way for ten values.
            if type(size) is int and 0 <= size < _SURELY_A_LENGTH:
                stream = sampling_stream(rng)
                noise = np.empty(size, _INT64 if self._dtypes[0] == "int64" else _FLOAT64)
                self._scalar_law.fill(stream, noise)
                return noise
        return self._sample(size, rng, out, dtype, threads)

    def _sample(
        self,
        size: Size | None,
        rng: Rng | None,
        out: NDArray[Any] | None,
        dtype: DTypeLike | None,
        threads: int | None = None,
        *,
        size_name: str = "size",
    ) -> Any:
        stream = sampling_stream(rng)
        workers = 0 if threads is None else count(threads, "threads", least=1, most=_native.MOST_THREADS)
        shape = self._parameter_shape
        noise = output_array(size, shape, out, dtype, self._dtypes, name=size_name)
        if self._scalar_law is not None:
            self._scalar_law.fill(stream, noise, workers)
        else:
            self._fill_each(stream, noise, workers)
        if out is not None:
            return out
        return noise.item() if size is None and shape == () else noise

    # Releasing

    def release(
        self,
        values: RealLike,
        *,
        max_partitions_contributed: int = 1,
        rng: Rng | None = None,
        out: NDArray[Any] | None = None,
    ) -> Any:
        """Add noise to true answers and return the private ones.

        Each value is rounded to the lattice by ``floor(x/g + 1/2)``, computed exactly, the noise is
        added there in integers, and the sum is converted once. Ends of the integer type saturate.

        A discrete law has g = 1, so that it rounds 10.5 to 11 before it adds noise. Its error is then up to 1/2 more than
        `error_bound` says, which is the bound of the noise.

        Parameters
        ----------
        values : int, float or array of them
            True answers, finite and below ``2**126 * granularity`` in magnitude. Array parameters and
            values broadcast against each other; every number that comes back is a release of its own.
            Masked arrays are refused.
        max_partitions_contributed : int, default 1
            How many of the values one person can change by being added or removed, each by at most the sensitivity
            (a *replaced* person changes two cells of a histogram). The whole release then has the guarantee of one
            value, because the noise of every value is wider: that of `for_partitions`.
        rng : SecureRng or None
            None: one secure generator for the whole process. A SeededRng is refused unless it was
            made with ``allow_release=True``.
        out : ndarray or None
            Writable array to fill and return; it may be `values` itself. Of a dtype that `sample`
            allows, for a discrete law float32 as well. What an `out` of that dtype cannot hold becomes
            its largest or smallest number.

        Returns
        -------
        int, float or ndarray
            For a discrete law int64 where the values are integers. Otherwise float32 where the
            values are float32, and float64 else. A Python scalar for a zero-dimensional result.

        Raises
        ------
        ParameterError, ParameterTypeError
            A value is NaN, infinite or too large for the lattice (the text names the first such index),
            or another argument is not allowed, such as an `out` that another thread is filling. Nothing
            has been drawn and `out` is untouched.

        Notes
        -----
        Arrays of float64 and int64 are read where they are, and the result is written where it goes: beyond
        the output, a release takes a few MiB. Values of other types are converted first, 8 bytes each, and
        so are those that share memory with `out` in part: they are copied.
        """
        stream = release_stream(rng)
        simple = out is None and type(max_partitions_contributed) is int and max_partitions_contributed == 1
        if simple and self._scalar_law is not None:
            released = self._release_short(values, stream)
            if released is not None:
                return released
        k = partitions(max_partitions_contributed, NAME)
        true = true_values(values)
        shape = _values_shape(true.array.shape, self._parameter_shape)
        default = self._released_dtype(true.array, true.single_precision)
        released = released_array(shape, out, default, self._release_dtypes)
        self._add_noise(stream, true.array, released, k)
        if out is not None:
            return out
        return released.item() if shape == () else released

    def _release_short(self, values: Any, stream: _native.Stream) -> NDArray[Any] | None:
        """Release what needs no conversion and is short, as counts and sums usually are; see `release_short` of the extension."""
        try:
            released: NDArray[Any] | None = self._scalar_law.release_short(stream, values, self._dtypes[0] == "int64")
        except ParameterError:
            require_finite(values)
            raise
        return released

    def _add_noise(self, stream: _native.Stream, values: NDArray[Any], out: NDArray[Any], k: int) -> None:
        answers = np.broadcast_to(apart(values, out), out.shape) if values.shape != out.shape else apart(values, out)
        law = self if self._scalar_law is None else self._keeping_guarantee(k, NAME)
        try:
            if law._scalar_law is not None:
                law._scalar_law.release(stream, answers, out)
            else:
                law._release_each(stream, answers, out, k)
        except ParameterError:
            require_finite(values)
            raise

    def _released_dtype(self, values: NDArray[Any], single_precision: bool) -> str:
        if values.dtype.kind == "i" and self._dtypes[0] == "int64":
            return "int64"
        return "float32" if single_precision else "float64"


def _values_shape(values: Shape, parameters: Shape) -> Shape:
    if not parameters:
        return values
    try:
        return np.broadcast_shapes(values, parameters)
    except ValueError:
        raise ParameterError(
            f"values must have a shape that broadcasts with the parameters, of shape {parameters}, got {values}"
        ) from None
