"""Noise in one call."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, arguments_of, meant, received
from stairnoise._options import DrawOptions, Required, Unpack
from stairnoise._output import Size
from stairnoise._parameters import Cost, RealLike, refuse_type
from stairnoise._types import Floats, Memory, Number, Out, Scalar
from stairnoise.mechanism.drawing import sample_generally
from stairnoise.registry import BY_NAME, MechanismName, Row
from stairnoise.rng import Rng

if TYPE_CHECKING:
    from stairnoise.registry import OfIntegers, OfReals, OfVectors, Parameters

    One = Number | None
    Either = RealLike | None
    Dtype = DTypeLike | None
    Numbers = TypeVar("Numbers")
    Name = TypeVar("Name")
    Type = TypeVar("Type")

    class _Options(Parameters, DrawOptions, Generic[Numbers], total=False):
        delta: Numbers
        sigma: Numbers
        sigma2: Numbers
        scale: Numbers
        std: Numbers
        gamma: Cost | Numbers | None
        r: Cost | Numbers | None

    class _ForNumber(_Options[Number], total=False):
        n: None
        out: None

    class _ForArray(_Options[RealLike], total=False):
        n: Size | None

    class _MergedLaplace(_ForNumber, total=False):
        mechanism: Required[Literal["merged_laplace"]]
        dtype: Dtype

    # If no mechanism is named, the first overload that is not of integers applies.

    class _One(_ForNumber, Generic[Name, Type], total=False):
        mechanism: Name
        dtype: Type

    class _Many(_ForArray, Generic[Name, Type], total=False):
        out: None
        mechanism: Name
        dtype: Type


# Exact types, whose values never change. Equal values of one of them make equal mechanisms; no mechanism takes a zero, which may
# have a sign.
_KEPT = frozenset({float, int, str, type(None)})
# Making a mechanism takes 3 µs to 60 ms, a call of `sample` for ten values 1 µs. The largest mechanisms take 1.5 MB.
_MOST_KEPT = 8


@overload
def sample(  # type: ignore[overload-overlap]
    size: None = None, eps: Sequence[Number] | None = None, sensitivity: One = None, **options: Unpack[_MergedLaplace]
) -> float: ...
@overload
def sample(size: None = None, eps: One = None, sensitivity: One = None, **options: Unpack[_One[OfReals, Dtype]]) -> float: ...
@overload
def sample(size: None = None, eps: One = None, sensitivity: One = None, **options: Unpack[_One[OfIntegers, None]]) -> int: ...
@overload
def sample(size: None = None, eps: One = None, sensitivity: One = None, **options: Unpack[_One[OfIntegers, Dtype]]) -> float: ...
@overload
def sample(
    size: Size | None = None,
    eps: Either = None,
    sensitivity: Either = None,
    *,
    mechanism: MechanismName = "staircase",
    out: Out,
    dtype: DTypeLike | None = None,
    **options: Unpack[_ForArray],
) -> Out: ...
@overload
def sample(
    size: Size | None = None,
    eps: Either = None,
    sensitivity: Either = None,
    *,
    mechanism: MechanismName = "staircase",
    out: None = None,
    dtype: type[Scalar] | np.dtype[Scalar],
    **options: Unpack[_ForArray],
) -> NDArray[Scalar]: ...
@overload
def sample(
    size: Size | None = None, eps: Either = None, sensitivity: Either = None, **options: Unpack[_Many[OfReals | OfVectors, None]]
) -> Floats: ...
@overload
def sample(
    size: Size | None = None, eps: Either = None, sensitivity: Either = None, **options: Unpack[_Many[OfIntegers, None]]
) -> NDArray[np.int64]: ...
@overload
def sample(
    size: Size | None = None, eps: Either = None, sensitivity: Either = None, **options: Unpack[_Many[MechanismName, Dtype]]
) -> Any: ...
def sample(
    size: Size | None = None,
    eps: RealLike | None = None,
    sensitivity: RealLike | None = None,
    *,
    n: Size | None = None,
    mechanism: MechanismName = "staircase",
    gamma: Cost | RealLike | None = None,
    r: Cost | RealLike | None = None,
    rng: Rng | None = None,
    out: Memory | None = None,
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    **parameters: Any,
) -> Any:
    """Draw noise alone, for study; to protect data use ``release`` of a mechanism.

    Parameters
    ----------
    size : int, tuple of int, or None
        Shape of the output. None: the shape of `out`, or without it the shape of the parameters. For
        "multivariate_staircase" it counts vectors, and the output has another last axis of length ``dim``.
    eps : float or array of float
        Privacy parameter ε > 0 of one draw, for mechanisms that have one.
    sensitivity : float or array of float, default 1
        Largest change of the value that one person can cause, for mechanisms that have one. An integer for discrete
        mechanisms.
    n : int, tuple of int, or None
        Another name for `size`.
    mechanism : str, default "staircase"
        Name of the mechanism's class in lower case with underscores, such as "discrete_laplace" or "gaussian".
    gamma : {"l1", "l2"}, float or array of float
        Shape of the staircase mechanisms for real numbers and vectors. Default "l1".
    r : {"l1", "l2"}, int or array of int
        Shape of the discrete staircase. Default "l1".
    rng : SecureRng, SeededRng or None
        None: one secure generator for the whole process.
    out : ndarray or other writable memory, or None
        Array to fill and return, or memory that another library lends; see ``sample`` of a mechanism.
    dtype : dtype or None
        float64 (default) or float32 for continuous mechanisms; int64 (default), int32 (saturating) or
        float64 for discrete ones.
    threads : int or None
        How many threads fill a long output; see ``sample`` of a mechanism.
    **parameters
        Further parameters of the mechanism, named as in its class, such as ``delta`` for "gaussian". "staircase",
        "laplace", "gaussian" and their discrete forms take arrays; the parameters of all others are single numbers.

    Returns
    -------
    float, int or ndarray
        A Python scalar if the parameters are scalars and neither `size` nor `out` is given. For
        "multivariate_staircase" always an array.

    Raises
    ------
    ParameterError, ParameterTypeError
        An argument is not allowed. Nothing has been drawn and `out` is untouched.
    TypeError
        No mechanism has a parameter of that name.

    Examples
    --------
    >>> import numpy as np
    >>> import stairnoise as sn
    >>> sn.sample(5, eps=4).shape
    (5,)
    >>> eps = np.linspace(0.1, 4, 50)
    >>> noise = sn.sample((1000, 50), eps, mechanism="discrete_staircase", sensitivity=3)
    >>> noise.shape, noise.dtype.name
    ((1000, 50), 'int64')
    >>> sn.sample(4, mechanism="gaussian", eps=1, delta=1e-6).shape
    (4,)
    >>> sn.sample(4, mechanism="multivariate_staircase", eps=2, dim=3).shape
    (4, 3)
    """
    if n is not None and size is not None:
        raise ParameterError(f"n must be left out beside size, got {received(n)}")
    given = (mechanism, eps, sensitivity, gamma, r, *parameters.values())
    if _KEPT.issuperset(map(type, given)):
        made = _kept_mechanism(tuple(parameters), *given)
    else:
        row, named = _named_mechanism(mechanism, eps=eps, sensitivity=sensitivity, gamma=gamma, r=r, **parameters)
        make = row.load()
        made = make(**named) if row.arrays is None else make._for_one_call(named, out)
    if n is None:
        return made.sample(size, rng=rng, out=out, dtype=dtype, threads=threads)
    return sample_generally(made, n, rng, out, dtype, threads, size_name="n")


sample.__module__ = "stairnoise"


@lru_cache(maxsize=_MOST_KEPT, typed=True)
def _kept_mechanism(names: tuple[str, ...], mechanism: str, *values: Any) -> Any:
    """Build a mechanism, or return one that was built of the same arguments, by type too: 3 is a count and 3.0 is none."""
    return make_mechanism(mechanism, **dict(zip(("eps", "sensitivity", "gamma", "r", *names), values, strict=True)))


def make_mechanism(mechanism: str, **parameters: Any) -> Any:
    """Build the mechanism that `mechanism` names; refuse parameters of other mechanisms, and take None as not given."""
    row, given = _named_mechanism(mechanism, **parameters)
    return row.load()(**given)


def _named_mechanism(mechanism: str, **parameters: Any) -> tuple[Row, dict[str, Any]]:
    """Return the row that `mechanism` names, and those of `parameters` that are given."""
    row = _row(mechanism)
    allowed = _parameters_of(row)
    given = {name: value for name, value in parameters.items() if value is not None}
    for name, value in given.items():
        if name not in allowed:
            raise _superfluous(row, name, value)
    for name in needed_parameters(mechanism, given):
        refuse_type(name, given.get(name), name in given, f"given for the mechanism {mechanism!r}")
    return row, given


def needed_parameters(mechanism: str, given: Container[str]) -> tuple[str, ...]:
    """Return the names of the parameters without a default, beside those that are given."""
    row = _row(mechanism)
    replaced = {name for one, others in row.instead.items() if one in given for name in others}
    # In order, and once each.
    alternatives = dict.fromkeys(name for others in row.instead.values() for name in others)
    make = row.load().__init__
    positional = arguments_of(make)[: make.__code__.co_argcount - 1]
    plain = positional[: len(positional) - len(make.__defaults__ or ())]
    return tuple(name for name in (*plain, *alternatives) if name not in replaced)


def _row(mechanism: object) -> Row:
    if not isinstance(mechanism, str):
        kind = mechanism if isinstance(mechanism, type) else type(mechanism)
        raise ParameterTypeError(f"mechanism must be {_names()}, got {received(mechanism)}{meant(kind.__name__, BY_NAME)}")
    if mechanism not in BY_NAME:
        raise ParameterError(f"mechanism must be {_names()}, got {received(mechanism)}{meant(mechanism, BY_NAME)}")
    return BY_NAME[mechanism]


def _parameters_of(row: Row) -> tuple[str, ...]:
    """Return the names of all parameters."""
    return arguments_of(row.load().__init__)


def _superfluous(row: Row, name: str, value: object) -> Exception:
    """Return the error for a parameter that the mechanism does not have."""
    owners = [other.name for other in BY_NAME.values() if name in _parameters_of(other)]
    if owners:
        takes = f"{row.class_name}.from_eps takes it" if name in _from_eps(row) else f"it is for {', '.join(owners)}"
        return ParameterError(f"{name} must be left out for the mechanism {row.name!r}, got {received(value)}; {takes}")
    if name in ("seed", "random_state"):
        hint = f"; for reproducible noise pass rng=SeededRng({received(value)})"
    else:
        hint = meant(name, (*arguments_of(sample), "size", *_from_eps(row), *_parameters_of(row)))
    return TypeError(f"sample() got an unexpected keyword argument {name!r}{hint}")


def _from_eps(row: Row) -> tuple[str, ...]:
    """Return the names of the arguments of ``from_eps``, if the class has it."""
    make = getattr(row.load(), "from_eps", None)
    return arguments_of(make.__func__) if make else ()


def _names() -> str:
    *names, last = map(repr, BY_NAME)
    return f"{', '.join(names)} or {last}"
