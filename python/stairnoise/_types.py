"""The types of numbers and arrays in signatures: what goes in decides what comes out.

A number gives a number. An array or a sequence gives an array; both are assumed to have an axis, as in NumPy's own types. An
argument that can be either gives either. It is written in one of three forms:

- `number_or_array`: the decorator of a method with one argument.
- `number_or_array_with_bounds`: the same for a method with the option ``bounds``.
- Two overloads for all others: one where every argument is a number, one where an argument is an array. Options that all of them
  have are in one ``TypedDict``. If numbers and arrays overlap for a type checker, the first overload applies, and an
  ``overload-overlap`` is ignored.

The classes of mechanisms have type parameters for results without an argument, such as moments. Their constructors choose them;
the default is single numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
AnyArray = NDArray[Any]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Complexes = NDArray[np.complex128]
# Indices, as NumPy returns them.
Places = NDArray[np.intp]

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from decimal import Decimal
    from fractions import Fraction
    from typing import Concatenate, Literal, ParamSpec, Protocol, SupportsFloat, overload
    from typing import Generic as Generic

    from typing_extensions import Buffer, TypeVar
    from typing_extensions import Self as Self

    Integer = int | np.integer[Any]
    Number = float | Integer | np.floating[Any] | Decimal | Fraction
    Integers = NDArray[np.integer[Any]] | Sequence[Integer] | Sequence[Sequence[Integer]]

    class ArrayOfItsOwn(SupportsFloat, Protocol):
        """An array of NumPy or of a library that NumPy understands."""

        def __len__(self) -> int: ...
        def __array__(self) -> NDArray[Any]: ...

    Array = ArrayOfItsOwn | Sequence[SupportsFloat] | Sequence[Sequence[SupportsFloat]]
    Numeric = Number | Array
    Singles = NDArray[np.float32]

    class ColumnOfItsOwn(Protocol):
        """A column or frame of pandas or Polars, or a column of PyArrow; arrays of NumPy do not have this method."""

        def to_numpy(self) -> Any: ...

    class TableOfItsOwn(Protocol):
        """A table or record batch of PyArrow."""

        def to_pydict(self) -> Any: ...

    # A column or frame, which a release returns as it came.
    Columns = TypeVar("Columns", bound=ColumnOfItsOwn | TableOfItsOwn)

    # The dtype of a mechanism's values.
    Default = TypeVar("Default", bound=np.generic, default=Any)
    # One draw of a mechanism: float or int, or an array if its parameters are arrays.
    Value = TypeVar("Value", bound=float | NDArray[Any], default=Any)
    # Its moments and probabilities: float, or an array if its parameters are arrays.
    Float = TypeVar("Float", bound=float | Floats, default=float)
    # The same for a base class, which alone is an annotation for mechanisms of scalars and of arrays.
    AnyFloat = TypeVar("AnyFloat", bound=float | Floats, default=Any)
    # One draw of a discrete mechanism, whose type differs from that of its moments.
    Whole = TypeVar("Whole", bound=int | NDArray[np.int64], default=int)

    # The parameters of a decorated method, by their names, and what it returns for a number.
    Named = ParamSpec("Named")
    Result = TypeVar("Result", bound=float | Floats, covariant=True)

    class NumberOrArray(Protocol[Named, Result]):
        """A method of a number or an array. Called by name, it returns either, as a type checker sees it."""

        @overload
        def __call__(self, number: Number, /) -> Result: ...
        @overload
        def __call__(self, array: Array, /) -> Floats: ...
        @overload
        def __call__(self, *args: Named.args, **named: Named.kwargs) -> Result | Floats: ...

    class NumberOrArrayWithBounds(Protocol[Named, Result]):
        """The same for a method that returns a lower and an upper bound if it is asked for them."""

        @overload
        def __call__(self, number: Number, /, *, bounds: Literal[False] = False) -> Result: ...
        @overload
        def __call__(self, number: Number, /, *, bounds: Literal[True]) -> tuple[Result, Result]: ...
        @overload
        def __call__(self, array: Array, /, *, bounds: Literal[False] = False) -> Floats: ...
        @overload
        def __call__(self, array: Array, /, *, bounds: Literal[True]) -> tuple[Floats, Floats]: ...
        @overload
        def __call__(self, *args: Named.args, **named: Named.kwargs) -> Result | Floats | tuple[Result | Floats, ...]: ...

    class LendsByDlpack(Protocol):
        """An array of a library that lends its memory by DLPack."""

        def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
        def __dlpack_device__(self) -> tuple[Any, Any]: ...

    Memory = NDArray[Any] | LendsByDlpack | Buffer
    Out = TypeVar("Out", bound=Memory)
    Scalar = TypeVar("Scalar", bound=np.generic)

    Signature = TypeVar("Signature")

    def typed_as(other: Signature) -> Callable[[Callable[..., Any]], Signature]:
        """Give a method's type the overloads of another one; the method itself stays as it is."""

    def number_or_array(method: Callable[Concatenate[Any, Named], Result | Floats]) -> NumberOrArray[Named, Result]:
        """Give a method's type an overload for numbers and one for arrays; the method itself stays as it is."""

    def number_or_array_with_bounds(
        method: Callable[Concatenate[Any, Named], Result | Floats | tuple[Result | Floats, ...]],
    ) -> NumberOrArrayWithBounds[Named, Result]:
        """Give a method's type overloads for numbers and arrays, with and without ``bounds``."""

else:

    class _Nothing:
        """What stands for ``Generic[...]`` among the bases of a class and adds no base; typing's own takes 1.7 ms of 10 ms."""

        def __getitem__(self, parameters: object) -> _Nothing:
            return self

        def __mro_entries__(self, bases: object) -> tuple[()]:
            return ()

    Generic = _Nothing()
    # Names in annotations, which nobody evaluates.
    AnyFloat = Array = ColumnOfItsOwn = Columns = Default = Float = Integer = Integers = Memory = Number = Numeric = None
    Out = Scalar = Self = Singles = Value = Whole = None

    def number_or_array(method):
        """Return the method."""
        return method

    number_or_array_with_bounds = number_or_array

    def typed_as(other):
        """Return a decorator that returns the method."""
        return number_or_array
