"""The types of numbers and arrays in signatures: what goes in decides what comes out.

A number gives a number, anything else gives an array. Such an array is assumed to have an axis, as in NumPy's own types. The
classes of mechanisms have type parameters for results without an argument, such as moments; the default is single numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal
    from fractions import Fraction
    from typing import Any, Protocol, SupportsFloat

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import TypedDict, TypeVar

    from stairnoise.rng import Rng

    Integer = int | np.integer[Any]
    Number = float | Integer | np.floating[Any] | Decimal | Fraction
    Integers = NDArray[np.integer[Any]] | Sequence[Integer] | Sequence[Sequence[Integer]]

    class ArrayOfItsOwn(SupportsFloat, Protocol):
        """An array of NumPy or of a library that NumPy understands."""

        def __len__(self) -> int: ...
        def __array__(self) -> NDArray[Any]: ...

    Array = ArrayOfItsOwn | Sequence[SupportsFloat] | Sequence[Sequence[SupportsFloat]]
    Floats = NDArray[np.float64]
    Singles = NDArray[np.float32]

    # The dtype of a mechanism's values.
    Default = TypeVar("Default", bound=np.generic, default=Any)
    # One draw of a mechanism: float or int, or an array if its parameters are arrays.
    Value = TypeVar("Value", bound=float | NDArray[Any], default=float)
    # Its moments and probabilities: float, or an array if its parameters are arrays.
    Float = TypeVar("Float", bound=float | Floats, default=float)
    # One draw of a discrete mechanism, whose type differs from that of its moments.
    Whole = TypeVar("Whole", bound=int | NDArray[np.int64], default=int)

    Out = TypeVar("Out", bound=NDArray[Any])
    Scalar = TypeVar("Scalar", bound=np.generic)

    class ReleaseOptions(TypedDict, total=False):
        """Arguments of every ``release`` other than the values and `out`."""

        max_partitions_contributed: int
        rng: Rng | None

else:
    from typing import TypeVar

    # Type variables have defaults only from Python 3.13 on.
    Default, Value, Float, Whole, Out, Scalar = map(TypeVar, ("Default", "Value", "Float", "Whole", "Out", "Scalar"))
