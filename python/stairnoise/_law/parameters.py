"""The parameters of a law: validation, and the lattice they imply."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._errors import ParameterError, received
from stairnoise._law.immutable import Immutable
from stairnoise._law.partitions import NAME
from stairnoise._output import Shape
from stairnoise._parameters import Real, RealLike, common_shape, lent, real

if TYPE_CHECKING:
    from typing_extensions import Self

Cost = Literal["l1", "l2"]
Spec = Cost | Real | None

# A sensitivity beside which no r is too large.
_WIDEST = 2.0**53


class Parameters(Immutable):
    """The validated parameters of a law; immutable and hashable.

    Scalar parameters are Python numbers, array parameters read-only copies, in the shapes that
    the caller gave. A law of scalars holds a native law that is ready to draw.
    """

    __slots__ = (
        "_constants",
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
    # Constants of the distribution functions; None until somebody asks.
    _constants: Any
    _parameter_shape: Shape

    if TYPE_CHECKING:

        def _no_law(self, k: int, name: str, reason: ParameterError) -> ParameterError: ...

    @classmethod
    def _for_one_call(cls, arguments: dict[str, Any], out: object) -> Self:
        """Make a law that reads the arrays of its `arguments` where they are, to be drawn from at once and forgotten."""
        names = ("eps", "sensitivity", cls._spec_name)
        given: list[Any] = [arguments.get(name, default) for name, default in zip(names, (None, 1, "l1"), strict=True) if name]
        law = cls.__new__(cls)
        law._validate(*given, convert=partial(lent, out=out))
        return law

    def _validate(
        self, eps: RealLike, sensitivity: RealLike, spec: object = None, *, convert: Callable[[object, str], Real] = real
    ) -> None:
        """Check the parameters and store them; the constructor of every law."""
        parameters = {"eps": convert(eps, "eps"), "sensitivity": convert(sensitivity, "sensitivity")}
        checked = self._check_spec(spec, convert)
        if self._spec_name and not isinstance(checked, str):
            parameters[self._spec_name] = checked  # type: ignore[assignment]
        store = object.__setattr__
        store(self, "_eps", parameters["eps"])
        store(self, "_sensitivity", parameters["sensitivity"])
        store(self, "_spec", checked)
        store(self, "_parameter_shape", common_shape(parameters))
        store(self, "_constants", None)
        self._check()

    def _check_spec(self, spec: object, convert: Callable[[object, str], Real]) -> Spec:
        name = self._spec_name
        if name is None:
            return None
        if isinstance(spec, str):
            if spec in ("l1", "l2"):
                return spec  # type: ignore[return-value]
            raise ParameterError(f'{name} must be "l1", "l2" or a number, got {received(spec)}')
        return convert(spec, name)

    def _check(self) -> None:
        """Have the extension check the numbers, and make its law of scalar ones."""
        store = object.__setattr__
        if self._parameter_shape == ():
            law = scalar_law(self._kind, self._eps, self._sensitivity, self._spec)
            store(self, "_scalar_law", law)
            store(self, "_draw", law.draw_int if self._dtypes[0] == "int64" else law.draw_float)
            store(self, "_lattice", (law.granularity, *(law.lengths or (0,))))
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
            granularity, _, r = describe(self._kind, *self._broadcast(self._parameter_shape))
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

    def _arguments(self) -> tuple[Any, ...]:
        """Return what the constructor was called with."""
        arguments = (self._eps, self._sensitivity)
        return arguments if self._spec_name is None else (*arguments, self._spec)

    def _with_eps(self, eps: Real) -> Self:
        return type(self)(eps, *self._arguments()[1:])  # type: ignore[call-arg]

    def _broadcast(self, shape: Shape) -> tuple[NDArray[Any], NDArray[Any], Any]:
        return _spread(self._eps, self._sensitivity, self._spec, shape)

    def _named_arguments(self) -> dict[str, Any]:
        return dict(zip(("eps", "sensitivity", self._spec_name), self._arguments(), strict=False))  # type: ignore[arg-type]

    def _fill_each(self, stream: _native.Stream, out: NDArray[Any], threads: int) -> None:
        # The parameters were checked when the law was made.
        _native.fill_each(self._kind, *self._broadcast(out.shape), stream, out, threads)

    def _release_each(self, stream: _native.Stream, values: NDArray[Any], out: NDArray[Any], k: int) -> None:
        if k > 1:
            self._check_shares(k)
        _native.release_each(self._kind, *self._broadcast(out.shape), stream, values, out, k)

    def _check_shares(self, k: int) -> None:
        """Refuse a k that leaves some element no law, without an array of quotients."""
        try:
            _native.check(self._kind, *self._broadcast(self._parameter_shape), k)
        except ParameterError as error:
            raise self._no_law(k, NAME, error) from None

    def _divided_among(self, k: int) -> Self:
        """Return the same law for eps/k, rounded down so that k releases stay within eps."""
        if isinstance(self._eps, float):
            share: Real = _native.largest_quotient(self._eps, k)
        else:
            share = np.empty(self._eps.shape)
            _native.largest_quotients(self._eps, k, share)
        return self._with_eps(share)


def _spread(eps: Real, sensitivity: Real, spec: Spec, shape: Shape) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Broadcast parameters to `shape`, which is the form that the extension takes."""
    return (
        np.broadcast_to(eps, shape),
        np.broadcast_to(sensitivity, shape),
        spec if spec is None or isinstance(spec, str) else np.broadcast_to(spec, shape),
    )


def scalar_law(kind: str, eps: Real, sensitivity: Real, spec: Spec) -> _native.Law:
    """Return the extension's law of scalar parameters; `spec` is the shape of a staircase, None for the Laplace laws."""
    make: Callable[..., _native.Law] = getattr(_native, kind)
    return make(eps, sensitivity) if spec is None else make(eps, sensitivity, spec)


def describe(
    kind: Any, eps: NDArray[np.float64], sensitivity: NDArray[np.float64], spec: Any
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return granularity, cells to a sensitivity and r of every law."""
    found = np.empty(eps.shape, np.float64), np.empty(eps.shape, np.int64), np.empty(eps.shape, np.int64)
    _native.describe(kind, eps, sensitivity, spec, *found)
    return found


def integers(value: Any) -> Any:
    """Convert floats that the extension has found to be integers; "l1" and "l2" pass."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return int(value)
    whole = value.astype(np.int64)
    whole.flags.writeable = False
    return whole


def plain(result: NDArray[np.float64]) -> Real:
    """Turn a zero-dimensional result into a Python float."""
    return float(result) if np.ndim(result) == 0 else result
