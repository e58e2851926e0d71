"""Releasing true answers with noise: gate, lattice, noise, conversion.

`release` walks one way. The gates of `stairnoise._values` and `stairnoise._output` turn what was passed into two arrays of
NumPy's own; the extension takes the answers to the lattice, adds the noise in integers, and converts the sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError
from stairnoise._law.drawing import Drawing, require_values
from stairnoise._law.partitions import NAME, Partitions, partitions
from stairnoise._output import Shape, released_array
from stairnoise._parameters import RealLike
from stairnoise._types import Default, Float, Generic, Out, Value
from stairnoise._values import TrueValues, laid_out, true_values
from stairnoise.rng import Rng, release_stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from stairnoise import _native
    from stairnoise._types import Array, Floats, Integer, Integers, Number, ReleaseOptions, Singles


class Releasing(Drawing[Default, Value], Partitions, Generic[Default, Value, Float]):
    """A law that protects true answers."""

    __slots__ = ()

    @overload
    def release(self, values: RealLike, *, out: Out, **options: Unpack[ReleaseOptions]) -> Out: ...
    @overload
    def release(self, values: Integer, *, out: None = None, **options: Unpack[ReleaseOptions]) -> Value: ...
    @overload
    def release(self, values: Number, *, out: None = None, **options: Unpack[ReleaseOptions]) -> Float: ...
    @overload
    def release(self, values: Singles, *, out: None = None, **options: Unpack[ReleaseOptions]) -> Singles: ...
    @overload
    def release(self, values: Integers, *, out: None = None, **options: Unpack[ReleaseOptions]) -> NDArray[Default]: ...  # type: ignore[overload-overlap]
    @overload
    def release(self, values: Array, *, out: None = None, **options: Unpack[ReleaseOptions]) -> Floats: ...
    @overload
    def release(
        self, values: RealLike, *, out: None = None, **options: Unpack[ReleaseOptions]
    ) -> Value | Float | NDArray[Any]: ...
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
        added there in integers, and the sum is converted once. A sum that the output's type cannot hold becomes the
        largest or smallest number of that type: an error would tell something of the noise.

        A discrete law has g = 1, so that it rounds 10.5 to 11 before it adds noise. Its error is then up to 1/2 more than
        `error_bound` says, which is the bound of the noise.

        Parameters
        ----------
        values : int, float or array of them
            True answers, finite and below ``2**126 * granularity`` in magnitude (1e28 for ``Laplace(1)``). Array parameters and
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
        once = type(max_partitions_contributed) is int and max_partitions_contributed == 1
        if once and out is None and self._draw is not None:
            # Short arrays of counts and sums need no conversion, and take one call.
            short = self._scalar_law.release_short(stream, values, self._integers)
            if short is not None:
                return short
        k = partitions(max_partitions_contributed, NAME)
        true = true_values(values)
        require_values(true.array.shape, self._value_shape, "values")
        shape = self._released_shape(true.array.shape)
        released = released_array(shape, out, self._released_dtype(true), self._release_dtypes)
        self._add_noise(stream, laid_out(true.array, released), released, k)
        if out is not None:
            return out
        return released.item() if shape == () else released

    def _add_noise(self, stream: _native.Stream, answers: NDArray[Any], out: NDArray[Any], k: int) -> None:
        self._keeping_guarantee(k, NAME)._scalar_law.release(stream, answers, out)

    def _released_shape(self, values: Shape) -> Shape:
        if not self._parameter_shape:
            return values
        try:
            return np.broadcast_shapes(values, self._parameter_shape)
        except ValueError:
            raise ParameterError(
                f"values must have a shape that broadcasts with the parameters, of shape {self._parameter_shape}, got {values}"
            ) from None

    def _released_dtype(self, true: TrueValues) -> str:
        if true.array.dtype.kind == "i" and self._integers:
            return "int64"
        return "float32" if true.single_precision else "float64"
