"""Releasing true answers with noise: gate, lattice, noise, conversion.

The gates of `stairnoise._values` and `stairnoise._output` turn the arguments into two plain NumPy arrays. The extension then
rounds the answers to the lattice, adds the noise in integers, and converts the sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError
from stairnoise._law.drawing import Drawing, require_values, threads_asked
from stairnoise._law.partitions import NAME, Partitions, partitions
from stairnoise._output import Shape, released_array
from stairnoise._parameters import RealLike
from stairnoise._types import Default, Float, Generic, Out, Value
from stairnoise._values import laid_out, true_values
from stairnoise.rng import Rng, require_release, sampling_stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from stairnoise import _native
    from stairnoise._keyed.rng import KeyedRng
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
        labels: object = None,
        statistic: str | None = None,
        max_partitions_contributed: int = 1,
        rng: Rng | KeyedRng | None = None,
        out: NDArray[Any] | None = None,
        threads: int | None = None,
    ) -> Any:
        """Add noise to true answers and return the private ones.

        Each value is rounded to the lattice by ``floor(x/g + 1/2)``, computed exactly. The noise is added there in
        integers, and the sum is converted once. A sum that the output's type cannot hold becomes the largest or smallest
        number of that type. An error instead would reveal something about the noise.

        A discrete mechanism has g = 1 and rounds 10.5 to 11 before it adds noise. The error can then exceed `error_bound`,
        which covers only the noise, by up to 1/2.

        Parameters
        ----------
        values : int, float or array of them
            True answers, finite and below ``2**126 * granularity`` in magnitude (1e28 for ``Laplace(1)``). Array
            parameters and values broadcast against each other; every number returned is a separate release.
            Masked arrays are refused.
        labels : sequence, array or column; only with a KeyedRng
            A label for each value, such as the name of its group; `values` then have one dimension, or none and one label.
            Labels are strings, integers, bools, dates, bytes, None or tuples of them. Several columns make tuples. Equal
            labels must have equal values, and get equal answers.
        statistic : str; only with a KeyedRng
            Public name of what the values are, such as "count". Two statistics of the same groups have independent noise.
        max_partitions_contributed : int, default 1
            How many of the values one person can change by being added or removed, each by at most the sensitivity.
            (A *replaced* person changes two cells of a histogram.) Every value then gets the wider noise of
            `for_partitions`, so the whole release has the guarantee of one value.
        rng : SecureRng, KeyedRng or None
            None: one secure generator for the whole process. A SeededRng is refused unless it was
            made with ``allow_release=True``. A KeyedRng needs `labels` and a `statistic`.
        out : ndarray or None
            Writable array to fill and return; it may be `values` itself. Its dtype is one that `sample` allows; a
            discrete mechanism also allows float32. A sum that this dtype cannot hold becomes its largest or
            smallest number.
        threads : int or None
            How many threads release 2**18 values or more, as in `sample`. The released numbers do not depend on it.

        Returns
        -------
        int, float or ndarray
            int64 if the mechanism is discrete and the values are integers. Otherwise float32 if the values are
            float32, else float64. A zero-dimensional result is a Python scalar.

        Raises
        ------
        ParameterError, ParameterTypeError
            A value is NaN, infinite or too large for the lattice (the text names the first such index). Or another
            argument is not allowed, such as an `out` that another thread is filling. Nothing has been drawn and `out`
            is untouched.

        Notes
        -----
        Arrays of float64 and int64 are read in place, and the result is written directly to the output. A release
        takes a few MiB besides the output. Values of other types are first converted to 8 bytes each. Values that
        share part of their memory with `out` are first copied.
        """
        if labels is not None or statistic is not None:
            from stairnoise._keyed.release import released_by_key

            return released_by_key(self, values, labels, statistic, max_partitions_contributed, rng, out, threads)
        stream = sampling_stream(rng)  # type: ignore[arg-type]
        # The usual calls, which take a quarter of the time of the general way.
        once = type(max_partitions_contributed) is int and max_partitions_contributed == 1
        if once and threads is None and self._draw is not None:
            usual = self._scalar_law.release_usual(stream, values, out, self._integers)
            if usual is not None:
                return usual
        require_release(stream)
        workers = threads_asked(threads)
        k = partitions(max_partitions_contributed, NAME)
        answers, single_precision = true_values(values)
        require_values(answers.shape, self._value_shape, "values")
        shape = self._released_shape(answers.shape)
        released = released_array(shape, out, self._released_dtype(answers, single_precision), self._release_dtypes)
        # A new array has no memory in common with the answers.
        if out is not None or answers.shape != shape:
            answers = laid_out(answers, released)
        self._add_noise(stream, answers, released, k, workers)
        if out is not None:
            return out
        return released.item() if shape == () else released

    def _add_noise(self, stream: _native.Stream, answers: NDArray[Any], out: NDArray[Any], k: int, threads: int) -> None:
        law = self if k == 1 else self._keeping_guarantee(k, NAME)
        law._scalar_law.release(stream, answers, out, threads)

    def _released_shape(self, values: Shape) -> Shape:
        if not self._parameter_shape:
            return values
        try:
            return np.broadcast_shapes(values, self._parameter_shape)
        except ValueError:
            raise ParameterError(
                f"values must have a shape that broadcasts with the parameters, of shape {self._parameter_shape}, got {values}"
            ) from None

    def _released_dtype(self, answers: NDArray[Any], single_precision: bool) -> str:
        if self._integers and answers.dtype.kind == "i":
            return "int64"
        return "float32" if single_precision else "float64"
