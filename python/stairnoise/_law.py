"""What the four laws have in common: parameters, drawing, releasing, equality and text."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Literal, NoReturn, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from stairnoise import _native
from stairnoise._errors import ParameterError, received
from stairnoise._output import Shape, Size, finish, output_array, released_array, workspace
from stairnoise._parameters import Real, RealLike, common_shape, count, real
from stairnoise._values import require_finite, true_values
from stairnoise.rng import Rng, release_stream, sampling_stream

Cost = Literal["l1", "l2"]
Spec = Cost | Real | None

_MOST_PARTITIONS = 2**53 - 1
# Far more than any machine runs at once, so that a slip is an error and not a storm of threads.
_MOST_THREADS = 2**12
# Larger powers overflow float64 before they mean anything.
_MOST_POWER = 16
_LARGEST_INT64 = 2**63 - 1
# NumPy keeps one object for each native dtype, so that identity is the quickest test.
_FLOAT64 = np.dtype(np.float64)
_INT64 = np.dtype(np.int64)
# A sensitivity beside which no r is too large.
_WIDEST = 2.0**53

_Default = TypeVar("_Default", bound=np.generic)
_Scalar = TypeVar("_Scalar", bound=np.generic)
_Out = TypeVar("_Out", bound="NDArray[Any]")


class Law(Generic[_Default]):
    """A noise law with validated parameters; immutable and hashable.

    Scalar parameters are Python numbers, array parameters read-only copies, in the shapes that
    the caller gave. A law of scalars holds a native law that is ready to draw.
    """

    __slots__ = (
        "_draw",
        "_eps",
        "_lattice",
        "_parameter_shape",
        "_scalar_law",
        "_sensitivity",
        "_spec",
    )

    _kind: ClassVar[Any]
    _dtypes: ClassVar[tuple[str, ...]]
    _release_dtypes: ClassVar[tuple[str, ...]]
    # Name of the shape parameter, None for the Laplace laws.
    _spec_name: ClassVar[str | None] = None

    _eps: Real
    _sensitivity: Real
    _spec: Spec
    # Granularity and r; for array parameters, where they take time, None until somebody asks.
    _lattice: tuple[Any, Any] | None
    # The extension's law when every parameter is a scalar.
    _scalar_law: _native.Law | None
    _draw: Any
    _parameter_shape: Shape

    def _validate(self, eps: RealLike, sensitivity: RealLike, spec: object = None) -> None:
        """Check the parameters and store them; the constructor of every law."""
        parameters = {"eps": real(eps, "eps"), "sensitivity": real(sensitivity, "sensitivity")}
        checked = self._check_spec(spec)
        if self._spec_name and not isinstance(checked, str):
            parameters[self._spec_name] = checked  # type: ignore[assignment]
        store = object.__setattr__
        store(self, "_eps", parameters["eps"])
        store(self, "_sensitivity", parameters["sensitivity"])
        store(self, "_spec", checked)
        store(self, "_parameter_shape", common_shape(parameters))
        self._check()

    def _check_spec(self, spec: object) -> Spec:
        name = self._spec_name
        if name is None:
            return None
        if isinstance(spec, str):
            if spec in ("l1", "l2"):
                return spec  # type: ignore[return-value]
            raise ParameterError(f'{name} must be "l1", "l2" or a number, got {received(spec)}')
        return real(spec, name)

    def _check(self) -> None:
        """Have the extension check the numbers, and make its law of scalar ones."""
        store = object.__setattr__
        if self._parameter_shape == ():
            law = _native.Law(self._kind, self._eps, self._sensitivity, self._spec)  # type: ignore[arg-type]
            store(self, "_scalar_law", law)
            store(self, "_draw", law.draw_int if self._dtypes[0] == "int64" else law.draw_float)
            store(self, "_lattice", (law.granularity, law.r))
            return
        if 0 in self._parameter_shape:
            self._check_each_alone()
        _native.check(self._kind, *self._broadcast(self._parameter_shape))
        store(self, "_scalar_law", None)
        store(self, "_draw", None)
        store(self, "_lattice", None)

    def _place(self) -> tuple[Any, Any]:
        """Return granularity and r, of every element for array parameters."""
        if self._lattice is None:
            granularity, _, r = _native.describe(self._kind, *self._broadcast(self._parameter_shape))
            granularity.flags.writeable = False
            r.flags.writeable = False
            object.__setattr__(self, "_lattice", (granularity, r))
            return granularity, r
        return self._lattice

    def _check_each_alone(self) -> None:
        """Check the parameters of an empty law: it has no element to check, but what is wrong is wrong."""
        cost: Spec = "l1" if self._spec_name else None
        _native.check(self._kind, *_spread(self._eps, 1.0, cost, np.shape(self._eps)))
        _native.check(self._kind, *_spread(1.0, self._sensitivity, cost, np.shape(self._sensitivity)))
        if not (self._spec is None or isinstance(self._spec, str)):
            sensitivity = self._sensitivity if np.size(self._sensitivity) else _WIDEST
            shape = np.broadcast_shapes(np.shape(sensitivity), np.shape(self._spec))
            _native.check(self._kind, *_spread(1.0, sensitivity, self._spec, shape))

    @property
    def eps(self) -> Real:
        """Privacy parameter ε of one draw."""
        return self._eps

    # Drawing

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
            How many threads fill an output of 2**18 values or more, if it is C-contiguous and the
            parameters are scalars. None: what the environment variable STAIRNOISE_NUM_THREADS
            says, or as many as the process may run at once. The values do not depend on it.

        Returns
        -------
        float, int or ndarray
            A Python scalar when the parameters are scalars and neither `size` nor `out` is given.

        Raises
        ------
        ParameterError, ParameterTypeError
            Nothing has been drawn and `out` is untouched.
        """
        draw = self._draw
        if draw is not None and size is None and out is None and dtype is None and threads is None:
            return draw(sampling_stream(rng))
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
        workers = 0 if threads is None else count(threads, "threads", least=1, most=_MOST_THREADS)
        shape = self._parameter_shape
        noise = output_array(size, shape, out, dtype, self._dtypes, name=size_name)
        work = workspace(noise)
        if self._scalar_law is not None:
            self._scalar_law.fill(stream, work, workers)
        else:
            _native.fill_each(self._kind, *self._broadcast(work.shape), stream, work)
        finish(work, noise)
        return noise.item() if size is None and out is None and shape == () else noise

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

        Parameters
        ----------
        values : int, float or array of them
            True answers, finite. Array parameters and values broadcast against each other; every
            number that comes back is a release of its own. Masked arrays are refused.
        max_partitions_contributed : int, default 1
            How many of the values one person can change, each by at most the sensitivity. The
            noise of every value is then drawn with the largest float64 not above ``eps`` divided
            by this number, so that the whole release is ``eps``-differentially private.
        rng : SecureRng or None
            None: one secure generator for the whole process. A SeededRng is refused unless it was
            made with ``allow_release=True``.
        out : ndarray or None
            Writable array to fill and return; it may be `values` itself. Of a dtype that `sample`
            allows, for a discrete law float32 as well.

        Returns
        -------
        int, float or ndarray
            For a discrete law int64 where the values are integers. Otherwise float32 where the
            values are float32, and float64 else. A Python scalar for a zero-dimensional result.

        Raises
        ------
        ParameterError, ParameterTypeError
            A value is NaN or infinite (the text names the first such index), or another argument
            is not allowed. Nothing has been drawn and `out` is untouched.
        """
        stream = release_stream(rng)
        if out is None and type(max_partitions_contributed) is int and max_partitions_contributed == 1:
            released = self._release_plain(values, stream)
            if released is not None:
                return released
        k = count(max_partitions_contributed, "max_partitions_contributed", least=1, most=_MOST_PARTITIONS)
        law = self if k == 1 else self._divided_among(k)
        true = true_values(values)
        shape = _values_shape(true.array.shape, self._parameter_shape)
        default = self._released_dtype(true.array, true.single_precision)
        released = released_array(shape, out, default, self._release_dtypes)
        law._add_noise(stream, true.array, released)
        return released.item() if out is None and shape == () else released

    def _release_plain(self, values: object, stream: _native.Stream) -> NDArray[Any] | None:
        """Release what needs no conversion: a law of scalars, and an array of int64 or float64 with axes.

        It is what counts and sums usually are, and takes half the time of the general way.
        """
        law = self._scalar_law
        if law is None or type(values) is not np.ndarray or values.ndim == 0 or not values.flags.aligned:
            return None
        dtype = values.dtype
        if dtype is _FLOAT64 or (dtype is _INT64 and self._dtypes[0] == "int64"):
            released = np.empty(values.shape, dtype)
        elif dtype is _INT64:
            released = np.empty(values.shape, _FLOAT64)
        else:
            return None
        try:
            law.release(stream, values, released)
        except ParameterError:
            require_finite(values)
            raise
        return released

    def _add_noise(self, stream: _native.Stream, values: NDArray[Any], out: NDArray[Any]) -> None:
        work = workspace(out)
        spread = values if values.shape == work.shape else np.broadcast_to(values, work.shape)
        # The extension lends no memory to two arrays at once, not even for a release in place.
        if not spread.flags.aligned or np.may_share_memory(spread, work):
            spread = spread.copy()
        try:
            if self._scalar_law is not None:
                self._scalar_law.release(stream, spread, work)
            else:
                parameters = self._broadcast(work.shape)
                _native.release_each(self._kind, *parameters, stream, spread, work)
        except ParameterError:
            require_finite(values)
            raise
        finish(work, out)

    def _divided_among(self, k: int) -> Law[_Default]:
        """Return the same law for eps/k, rounded down so that k releases stay within eps."""
        if isinstance(self._eps, float):
            share: Real = _native.largest_quotient(self._eps, k)
        else:
            shares = [_native.largest_quotient(eps, k) for eps in self._eps.ravel().tolist()]
            share = np.array(shares, np.float64).reshape(self._eps.shape)
        try:
            return self._with_eps(share)
        except ParameterError as error:
            raise ParameterError(
                f"max_partitions_contributed must leave an eps that the lattice holds, got {k}: {error}"
            ) from None

    def _released_dtype(self, values: NDArray[Any], single_precision: bool) -> str:
        if values.dtype.kind == "i" and self._dtypes[0] == "int64":
            return "int64"
        return "float32" if single_precision else "float64"

    # Moments and bounds

    def mean(self) -> Real:
        """E X, which is 0 by symmetry."""
        return plain(np.zeros(self._parameter_shape))

    def var(self) -> Real:
        """E X²."""
        return self.abs_moment(2)

    def std(self) -> Real:
        """Square root of the variance."""
        return plain(np.sqrt(self.abs_moment(2)))

    def abs_moment(self, p: int) -> Real:
        """E|X|**p, for an integer p from 0 to 16; inf where float64 overflows."""
        power = count(p, "p", least=0, most=_MOST_POWER)
        return plain(self._abs_moment(power))

    def error_bound(self, alpha: RealLike) -> Any:
        """Smallest t with P(|X| > t) <= alpha.

        Parameters
        ----------
        alpha : float or array of float
            In (0, 1]; broadcasts against the parameters.

        Returns
        -------
        float, int or ndarray
            An integer for a discrete law.
        """
        level = real(alpha, "alpha")
        bad = np.flatnonzero(~((np.asarray(level) > 0) & (np.asarray(level) <= 1)))
        if bad.size:
            raise ParameterError(f"alpha must be greater than 0 and at most 1, got {np.asarray(level).item(bad[0])}")
        common_shape({"alpha": level, "parameters": np.empty(self._parameter_shape)})
        return self._error_bound(level)

    def _abs_moment(self, p: int) -> NDArray[np.float64]:
        raise NotImplementedError

    def _error_bound(self, alpha: Real) -> Any:
        raise NotImplementedError

    # Identity

    def _arguments(self) -> tuple[Any, ...]:
        """Return what the constructor was called with."""
        arguments = (self._eps, self._sensitivity)
        return arguments if self._spec_name is None else (*arguments, self._spec)

    def _with_eps(self, eps: Real) -> Law[_Default]:
        return type(self)(eps, *self._arguments()[1:])  # type: ignore[call-arg]

    def _broadcast(self, shape: Shape) -> tuple[NDArray[Any], NDArray[Any], Any]:
        return _spread(self._eps, self._sensitivity, self._spec, shape)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: make a new one to set {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Law) or type(self) is not type(other):
            return NotImplemented
        return tuple(map(_key, self._arguments())) == tuple(map(_key, other._arguments()))

    def __hash__(self) -> int:
        return hash((type(self), *map(_key, self._arguments())))

    def __repr__(self) -> str:
        names = ("eps", "sensitivity", self._spec_name)
        arguments = zip(names, map(_display, self._arguments()), strict=False)
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in arguments)})"


class ContinuousLaw(Law[np.float64]):
    """A law of real numbers, drawn on the lattice of multiples of its granularity."""

    __slots__ = ()
    _dtypes = ("float64", "float32")
    _release_dtypes = ("float64", "float32")

    @property
    def sensitivity(self) -> Real:
        """Largest change Δ of one value that one person can cause."""
        return self._sensitivity

    @property
    def granularity(self) -> Real:
        """Power of two of which every draw is a multiple."""
        granularity: Real = self._place()[0]
        return granularity


class DiscreteLaw(Law[np.int64]):
    """A law of integers."""

    __slots__ = ()
    _dtypes = ("int64", "int32", "float64")
    _release_dtypes = ("int64", "int32", "float64", "float32")

    @property
    def sensitivity(self) -> int | NDArray[np.int64]:
        """Largest change Δ of one value that one person can cause, an integer."""
        sensitivity: int | NDArray[np.int64] = integers(self._sensitivity)
        return sensitivity

    @property
    def granularity(self) -> int:
        """Every draw is a multiple of 1."""
        return 1

    def _arguments(self) -> tuple[Any, ...]:
        eps, *others = super()._arguments()
        return eps, *map(integers, others)


def _spread(eps: Real, sensitivity: Real, spec: Spec, shape: Shape) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Broadcast parameters to `shape`, which is the form that the extension takes."""
    return (
        np.broadcast_to(eps, shape),
        np.broadcast_to(sensitivity, shape),
        spec if spec is None or isinstance(spec, str) else np.broadcast_to(spec, shape),
    )


def _values_shape(values: Shape, parameters: Shape) -> Shape:
    if not parameters:
        return values
    try:
        return np.broadcast_shapes(values, parameters)
    except ValueError:
        raise ParameterError(
            f"values must have a shape that broadcasts with the parameters, of shape {parameters}, got {values}"
        ) from None


def integers(value: Any) -> Any:
    """Convert floats that the extension has found to be integers; "l1" and "l2" pass."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return int(value)
    whole = value.astype(np.int64)
    whole.flags.writeable = False
    return whole


def discrete_bound(bound: NDArray[np.float64]) -> Any:
    """Convert an error bound to int64; it saturates where the noise itself does."""
    saturated = bound >= _LARGEST_INT64
    whole = np.where(saturated, 0.0, bound).astype(np.int64)
    whole = np.where(saturated, _LARGEST_INT64, whole)
    return int(whole) if whole.ndim == 0 else whole


def plain(result: NDArray[np.float64]) -> Real:
    """Turn a zero-dimensional result into a Python float."""
    return float(result) if np.ndim(result) == 0 else result


def _key(argument: Any) -> object:
    """Stand-in for an argument that can be compared and hashed."""
    if isinstance(argument, np.ndarray):
        return argument.shape, argument.tobytes()
    return argument


def _display(argument: Any) -> str:
    """Text that evaluates back, where NumPy's own repr would round or abbreviate."""
    if not isinstance(argument, np.ndarray):
        return repr(argument)
    if argument.size == 0:
        return f"array([]).reshape({argument.shape})"
    return f"array({argument.tolist()!r})"
