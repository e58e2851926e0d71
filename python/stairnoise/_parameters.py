"""The gate for numbers: an argument becomes an exact float64, or an error.

This module decides whether an argument *is* a number and whether float64 holds it exactly. The
extension alone decides whether the number is in the range that its parameter allows.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._errors import ParameterError, ParameterTypeError, got, outline, place, received
from stairnoise._memory import apart, base_view, by_dlpack, exports_buffer, exports_dlpack, is_array, obstacle
from stairnoise._numpy_scalars import NUMBERS
from stairnoise.columns.column import refuse_lazy

Real = float | NDArray[np.float64]
Cost = Literal["l1", "l2"]

# NumPy's ArrayLike would let a type checker accept strings. Arrays are SupportsFloat.
RealLike = SupportsFloat | Sequence[SupportsFloat] | Sequence[Sequence[SupportsFloat]]

# float64 holds every integer below this one, and rounds no other integer to it.
_EXACT_INTEGERS = 2**53
# Limit of NumPy's broadcasting and flat iteration, and of the extension; NumPy 2 makes arrays of more dimensions.
MOST_DIMENSIONS = 32
_PLAIN = frozenset({int, float})
_INT64 = np.iinfo(np.int64)
# Calibrations that a cache keeps. Their parameters are public.
REMEMBERED = 1024
# Errors write smaller limits as they are, larger ones as powers of two.
_SHORT = 1000
# Attributes by which NumPy converts a foreign object to an array.
_PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__")


def real(value: object, name: str) -> Real:
    """Convert a parameter to a float, or to a new read-only float64 array.

    Raises
    ------
    ParameterTypeError
        `value` is not a real number or an array of real numbers. `LazyError` if it is lazy.
    ParameterError
        float64 cannot hold `value` exactly. Rounding it would break the promise that the noise is
        exact for the given number.
    """
    if type(value) is float:
        return value
    if type(value) is int and abs(value) < _EXACT_INTEGERS:
        return float(value)
    floats = lent(value, name)
    if isinstance(floats, float):
        return floats
    return _native.frozen(name, floats)


def lent(value: object, name: str, out: object = None) -> Real:
    """Convert a parameter as `real` does, for one call: without a copy if it is in one piece and apart from `out`.

    A copy of an array takes about a sixth of the time of the noise for it. An array that is not in one piece is copied,
    because such a view may have more elements than any memory; the copy then fails at once.
    """
    if type(value) is float:
        return value
    if type(value) is int and abs(value) < _EXACT_INTEGERS:
        return float(value)
    if type(value) in NUMBERS:
        plain = value.item()  # type: ignore[attr-defined]
        # The comparison is exact.
        if float(plain) == plain:
            return float(plain)
    floats = exact_array(value, name)
    if floats.ndim == 0:
        return float(floats)
    # What an `out` of another library lends may be the parameter's memory.
    apart = out is None or (is_array(out) and not np.may_share_memory(floats, base_view(out)))  # type: ignore[arg-type]
    in_one_piece = floats.flags.c_contiguous or floats.flags.f_contiguous
    return floats if apart and in_one_piece else floats.copy()


def exact_array(value: object, name: str) -> NDArray[np.float64]:
    """Convert numbers to a float64 array as `real` does, but without a copy: the array may be the caller's."""
    return exact_floats(number_array(value, name), name)


def argument(value: object, name: str) -> Real:
    """Convert the argument of a function to a float or a float64 array, rounding what float64 cannot hold.

    It makes no copy: the array may be the caller's. NaN and infinities pass, and numbers too large for
    float64 become infinite.

    Raises
    ------
    ParameterTypeError
        `value` is not a real number or an array of real numbers.
    ParameterError
        `value` is a signalling NaN.
    """
    if type(value) is float:
        return value
    if type(value) in NUMBERS or (type(value) is int and abs(value) < _EXACT_INTEGERS):
        return float(value)  # type: ignore[arg-type]
    array = number_array(value, name, rounding=True)
    with np.errstate(over="ignore"):
        floats = array.astype(np.float64, copy=False)
    return floats if floats.ndim else float(floats)


def single(value: object, name: str) -> float:
    """Convert a parameter that may not be an array, as `real` does."""
    if type(value) is float:
        return value
    number = real(value, name)
    if not isinstance(number, float):
        raise ParameterError(f"{name} must be a single number, got {received(number)}")
    return number


def refuse(name: str, value: Any, allowed: Any, rule: str, passed: object = None) -> None:
    """Raise for the first number that is not allowed; for a single number the error shows what was `passed`."""
    if allowed is True or np.all(allowed):
        return
    index = tuple(np.argwhere(~np.asarray(allowed, bool))[0])
    shown = np.asarray(value).item(*index) if index else value if passed is None else passed
    raise ParameterError(f"{name} must be {rule}, got {received(shown)}{place(index)}")


def refuse_type(name: str, value: object, allowed: bool, rule: str) -> None:
    """Raise for an argument of a type that is not allowed; the error does not show data."""
    if not allowed:
        raise ParameterTypeError(f"{name} must be {rule}, got {got(name, value)}")


def one_of(value: Any, name: str, words: Sequence[str]) -> Any:
    """Return `value`, which must be one of the words."""
    if isinstance(value, str) and value in words:
        return value
    *others, last = (f'"{word}"' for word in words)
    kind = ParameterError if isinstance(value, str) else ParameterTypeError
    raise kind(f"{name} must be {', '.join(others)} or {last}, got {received(value)}")


def stair_shape(value: Any, name: str, convert: Callable[[object, str], Any] = single) -> Any:
    """Return a shape of stairs: a number, or the cost of which it is the best."""
    if not isinstance(value, str):
        return convert(value, name)
    refuse(name, value, value in ("l1", "l2"), '"l1", "l2" or a number')
    return value


def positive(value: object, name: str) -> float:
    """Convert a single number that must be finite and greater than 0."""
    number = single(value, name)
    if not 0 < number < math.inf:
        refuse(name, value, False, "finite and greater than 0")
    return number


def confidence_level(value: object) -> Any:
    """Convert a confidence; one below 0.5 is the probability of a larger error, which others name alpha."""
    level = argument(value, "confidence")
    allowed = (level >= 0.5) & (level < 1)
    if allowed is not True and not np.all(allowed):
        raise ParameterError(_not_a_confidence(float(np.extract(~np.asarray(allowed, bool), level)[0])))
    return level


def _not_a_confidence(given: float) -> str:
    rule = "less than 1" if given == 1 else "from 0.5 to 1"
    meant = given / 100 if given > 1 else 1 - given
    hint = f"; did you mean {meant:.15g}?" if given > 0 and 0.5 <= meant < 1 else ""
    return f"confidence must be {rule}, got {given}{hint}"


def number_array(value: object, name: str, *, rounding: bool = False) -> NDArray[Any]:
    """Convert real numbers to an array; without `rounding`, no number changes.

    The dtype is of kind ``i``, ``u`` or ``f``. Without `rounding` it may also be ``object``, if the
    array holds Python integers and int64 cannot hold all of them.
    """
    if is_array(value):
        refuse_masked(value, name)  # type: ignore[arg-type]
        memory = base_view(value)  # type: ignore[arg-type]
        refuse_dimensions(memory, name)
        return _require_real_dtype(memory, value, name)
    if isinstance(value, (list, tuple)):
        _refuse_items(value, name)
        return _from_python(value, name, rounding)
    if _is_real_type(type(value)):
        return _from_python(value, name, rounding)
    refuse_lazy(value, name)
    if not _converts(value):
        raise ParameterTypeError(_not_a_number(value, name))
    read = _read(value, name)
    if isinstance(read, list):
        return number_array(read, name, rounding=rounding)
    refuse_dimensions(read, name)
    return _require_real_dtype(read, value, name)


def count(value: object, name: str, *, least: int, most: int) -> int:
    """Convert a Python or NumPy integer; bool and 3.0 are refused."""
    if type(value) is int and least <= value <= most:
        return value
    if not _is_integer_type(type(value)):
        raise ParameterTypeError(f"{name} must be an integer, got {received(value)}")
    number: int = int(value)  # type: ignore[call-overload]
    if not least <= number <= most:
        raise ParameterError(f"{name} must be an integer from {least} to {_power(most)}, got {received(value)}")
    return number


def common_shape(parameters: dict[str, Real]) -> tuple[int, ...]:
    """Return the shape to which the parameters broadcast by NumPy's rules."""
    if _PLAIN.issuperset(map(type, parameters.values())):
        return ()
    shapes = {name: getattr(value, "shape", ()) for name, value in parameters.items()}
    if not any(shapes.values()):
        return ()
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        got = ", ".join(f"{name} of shape {shape}" for name, shape in shapes.items())
        raise ParameterError(f"{' and '.join(shapes)} must have shapes that broadcast, got {got}") from None


def refuse_masked(array: NDArray[Any], name: str) -> None:
    """Refuse masked arrays: only the caller knows what a masked value should become."""
    # numpy.ma is loaded on first use, so plain arrays do not pay for its import.
    if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray):
        raise ParameterTypeError(
            f"{name} must not be a masked array: pass its filled() or compressed() form, got {outline(array)}"
        )


def _refuse_items(items: Sequence[Any], name: str, index: tuple[int, ...] = ()) -> None:
    """Refuse items that NumPy must not read: masked arrays, whose masked data it would use, and objects without numbers."""
    kinds = set(map(type, items))
    if kinds <= _PLAIN or all(map(_is_real_type, kinds)):
        return
    for number, item in enumerate(items):
        inner = item
        if isinstance(item, np.ndarray):
            refuse_masked(item, name)
        elif not isinstance(item, (list, tuple)) and not _is_real_type(type(item)):
            refuse_lazy(item, name)
            if not _converts(item):
                raise ParameterTypeError(_not_a_number(item, name) + place((*index, number)))
            inner = _read(item, name)
        if isinstance(inner, (list, tuple)) and len(index) < MOST_DIMENSIONS:
            _refuse_items(inner, name, (*index, number))


def refuse_dimensions(array: NDArray[Any], name: str) -> None:
    """Refuse arrays of more dimensions than can be broadcast."""
    if array.ndim > MOST_DIMENSIONS:
        raise ParameterError(f"{name} must have at most {MOST_DIMENSIONS} dimensions, got {array.ndim}")


def flag(value: object, name: str) -> bool:
    """Return a bool; "no" and 0 are refused."""
    if value is True or value is False:
        return value
    refuse_type(name, value, isinstance(value, (bool, np.bool_)), "True or False")
    return bool(value)


def mapping(value: object, name: str, what: str, *, of_columns: bool = False) -> Mapping[Any, Any]:
    """Return a caller's dict, whose keys can have to be names of columns; None stands for an empty one."""
    if value is not None and not isinstance(value, Mapping):
        raise ParameterTypeError(f"{name} must be a dict from {what}, got {outline(value)}")
    for key in value or () if of_columns else ():
        if not isinstance(key, str):
            raise ParameterTypeError(f"{name} must have names of columns as keys, got {received(key)}")
    return value or {}


def _converts(value: object) -> bool:
    """Return whether an object's type offers numbers to NumPy.

    NumPy itself would ask any object for its attributes, length and items, which would run a lazy query.
    """
    kind = type(value)
    return not issubclass(kind, (str, bytes)) and (issubclass(kind, Sequence) or _offers_array(value) or exports_dlpack(value))


def _offers_array(value: object) -> bool:
    """Return whether an object offers NumPy an array: by ``__array__`` or a similar attribute, or a buffer."""
    return any(hasattr(type(value), protocol) for protocol in _PROTOCOLS) or exports_buffer(value)


def _read(value: Any, name: str) -> NDArray[Any] | list[Any]:
    """Read the array that an object offers, or else the items of a sequence.

    NumPy would round wide integers of a sequence that is no list, take its bools for numbers, and take what is under a mask.
    """
    try:
        if _offers_array(value):
            array = np.asanyarray(value)
        elif exports_dlpack(value):
            array = by_dlpack(value)
        else:
            return list(value)
    except Exception as error:  # foreign code may raise anything, with its content in the text
        raise _unconverted(error, value, name) from None
    refuse_masked(array, name)
    return base_view(array)


def _is_integer_type(kind: type) -> bool:
    return issubclass(kind, numbers.Integral) and not issubclass(kind, (bool, np.timedelta64))


def _is_real_type(kind: type) -> bool:
    """Return whether a scalar type stands for a real number (Decimal and Fraction included)."""
    if issubclass(kind, (bool, np.timedelta64)) or not issubclass(kind, numbers.Number):
        return False
    return issubclass(kind, numbers.Real) or not issubclass(kind, numbers.Complex)


def _from_python(value: object, name: str, rounding: bool) -> NDArray[Any]:
    """Convert Python numbers, possibly nested in lists and tuples.

    It checks every element, because NumPy would silently turn ``[True, 2.5]`` and
    ``[2**53 + 1, 0.5]`` into floats.
    """
    try:
        items = np.array(value, dtype=object)
    except Exception as error:  # arrays of different shapes, or an __array__ that raises
        raise _unconverted(error, value, name) from None
    refuse_dimensions(items, name)
    kinds = set(map(type, items.flat))
    if not all(map(_is_real_type, kinds)):
        index, item = next((index, item) for index, item in np.ndenumerate(items) if not _is_real_type(type(item)))
        raise ParameterTypeError(_not_a_number(item, name) + place(index))
    if not kinds:
        return np.empty(items.shape, np.int64)  # an empty list holds no number that is not an integer
    if rounding:
        return np.array([_nearest(item, name) for item in items.flat], np.float64).reshape(items.shape)
    if all(issubclass(kind, numbers.Integral) for kind in kinds):
        return _integers(items, name)
    try:
        with np.errstate(over="ignore"):
            floats = items.astype(np.float64)
    except (OverflowError, ValueError):  # ValueError: Decimal('sNaN')
        raise ParameterError(_not_exact(items, name)) from None
    except Exception as error:  # a kind of number that has no __float__, or whose __float__ raises
        raise _unconverted(error, value, name) from None
    if kinds - {float, np.float64, np.float32, np.float16}:
        _require_equal(items, floats, name)
    return floats


def _unconverted(error: Exception, value: object, name: str) -> Exception:
    """Return what a conversion raises that ended in this error, whose text may hold content."""
    if isinstance(error, MemoryError):
        return MemoryError(f"no memory to convert {name}")
    return ParameterTypeError(_not_a_number(value, name))


def _integers(items: NDArray[Any], name: str) -> NDArray[Any]:
    """Convert whole numbers to int64, or all of them to Python integers if one does not fit."""
    try:
        try:
            return items.astype(np.int64)
        except OverflowError:
            whole = [int(item) for item in items.flat]
    except Exception as error:  # __int__ of a foreign number may raise anything
        raise _unconverted(error, items, name) from None
    integers = np.empty(len(whole), object)
    integers[:] = whole
    return integers.reshape(items.shape)


def _nearest(number: Any, name: str) -> float:
    try:
        with np.errstate(over="ignore"):
            return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
    except ValueError:  # Decimal('sNaN')
        raise ParameterError(_not_exact(number, name)) from None
    except Exception as error:  # a kind of number that has no __float__, or whose __float__ raises
        raise _unconverted(error, number, name) from None


def _require_real_dtype(array: NDArray[Any], value: object, name: str) -> NDArray[Any]:
    if array.dtype.kind not in "iuf":
        raise ParameterTypeError(_not_a_number(value, name, array))
    return array


def exact_floats(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Convert to float64, refusing integers and long doubles that it would round."""
    try:
        with np.errstate(over="ignore"):
            floats = array.astype(np.float64, copy=False)
    except OverflowError:
        raise ParameterError(_not_exact(array, name)) from None
    if array.dtype.kind == "f":
        may_round = array.dtype.itemsize > floats.dtype.itemsize
    else:
        may_round = bool(np.any(np.abs(floats) >= _EXACT_INTEGERS))
    if may_round:
        _require_equal(array, floats, name)
    return floats


def _require_equal(exact: NDArray[Any], floats: NDArray[np.float64], name: str) -> None:
    """Compare as Python objects, whose comparisons are exact between number types."""
    for index, item in enumerate(exact.astype(object).flat):
        rounded = float(floats.flat[index])
        if item != rounded and item == item:  # the range check refuses NaN
            raise ParameterError(_not_exact(item, name) + place(np.unravel_index(index, exact.shape)))


def _power(limit: int) -> str:
    """Write a large limit as a power of two, or as one less than a power of two."""
    if limit < _SHORT:
        return str(limit)
    exponent = limit.bit_length() - 1
    powers = {1 << exponent: f"2**{exponent}", (2 << exponent) - 1: f"2**{exponent + 1} - 1"}
    return powers.get(limit, str(limit))


def _not_a_number(value: object, name: str, array: NDArray[Any] | None = None) -> str:
    described = got(name, value, array) + (obstacle(value) if exports_dlpack(value) else "")
    return f"{name} must be a real number or an array of real numbers, got {described}"


def _not_exact(value: object, name: str) -> str:
    return f"{name} must be exactly representable in float64, got {got(name, value)}"


# True answers, which a release protects


def true_values(values: object) -> tuple[NDArray[Any], bool]:
    """Convert the caller's true answers to int64 or float64 without rounding, and return whether they were float32."""
    kind = type(values)
    if kind is float or (kind is int and _INT64.min <= values <= _INT64.max):  # type: ignore[operator]
        return np.array(values, np.float64 if kind is float else np.int64), False
    array = number_array(values, "values")
    if array.dtype.kind != "f":
        return _to_int64(array), False
    if array.dtype.itemsize > 8:
        return np.asarray(real(array, "values")), False
    return array.astype(np.float64, copy=False), array.dtype.itemsize == 4


def laid_out(answers: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    """Return the answers in the shape of `out`, copied if they share part of their memory with it.

    The extension's error names the place of a NaN or an infinity. Answers that are broadcast are checked here before, so that the
    error names the place in the caller's array.
    """
    if answers.shape == out.shape:
        return apart(answers, out)
    require("values", np.isfinite(answers), "finite")
    return np.broadcast_to(apart(answers, out), out.shape)


def require(name: str, allowed: Any, rule: str) -> None:
    """Refuse an array with a number that is not allowed. The error names only the place, because the number is data."""
    if not (allowed if isinstance(allowed, np.bool_) else np.all(allowed)):
        where = place(np.unravel_index(np.argmin(allowed), np.shape(allowed)))
        raise ParameterError(f"{name} must be {rule}, got one that is not{where}") from None


def whole_numbers(values: object) -> NDArray[Any]:
    """Convert the caller's true answers to an array, or refuse them if one is not a whole number."""
    array = number_array(values, "values")
    if array.dtype.kind != "f":
        return _to_int64(array)
    # The extension refuses numbers that are not finite.
    require("values", np.isnan(array) | (array == np.floor(array)), "whole numbers with l2_sensitivity")
    return array


def _to_int64(array: NDArray[Any]) -> NDArray[np.int64]:
    if array.dtype.kind == "O" or array.dtype == np.uint64:
        require("values", np.asarray((array >= _INT64.min) & (array <= _INT64.max), np.bool_), "within int64")
    return array.astype(np.int64, copy=False)
