"""Values out of the categories that the caller declared: they are read as category numbers, and made again.

Values are matched by equality. The codes and the dictionary of a categorical column are ignored: libraries infer them from the
rows, so they would reveal which values occur.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, ParameterTypeError
from stairnoise._parameters import count, refuse, refuse_masked, refuse_type, require, true_values
from stairnoise.columns.column import Chunks, Column, Make, Nulls, library, refuse_lazy, unchanged
from stairnoise.columns.reading import by_library, kept_nulls, reader
from stairnoise.keyed.labels import label_column

Labels = tuple[str, ...] | tuple[int, ...]

MOST = 2**53
_MISSING, _OTHER = -1, -2


class Coded(NamedTuple):
    """Values as category numbers."""

    codes: NDArray[np.int64]
    nulls: Nulls
    make: Make


def checked(categories: Any) -> int | Labels:
    """Check the caller's categories: their number, or a label for each."""
    if isinstance(categories, (int, np.integer)) and not isinstance(categories, bool):
        return count(categories, "categories", least=2, most=MOST)
    refuse_type("categories", categories, isinstance(categories, (list, tuple)), "an integer, or a list of labels")
    kinds = {str if isinstance(label, str) else int if _is_integer(label) else None for label in categories}
    refuse_type("categories", categories, None not in kinds and len(kinds) < 2, "all texts or all integers")
    labels = tuple(str(label) if isinstance(label, str) else int(label) for label in categories)
    refuse("categories", categories, 2 <= len(labels) == len(set(labels)), "at least two different labels")
    return labels  # type: ignore[return-value]


def _is_integer(label: object) -> bool:
    return isinstance(label, (int, np.integer)) and not isinstance(label, bool) and -(2**63) <= int(label) < 2**63


def coded(values: Any, categories: int | Labels, nulls: str) -> Coded:
    """Read values of any shape, or a column; `nulls` as for `release`."""
    refuse_lazy(values, "values")
    found = library(values)
    read = _numbers(values, found, categories) if isinstance(categories, int) else _labelled(values, found, categories)
    return read._replace(nulls=kept_nulls(read.nulls, nulls))


def _numbers(values: Any, found: Any, categories: int) -> Coded:
    if found is None:
        column = Column(Chunks([true_values(values)[0]]), unchanged)
    else:
        column = by_library("values", values, reader(found[0]).column, values)
    codes = column.chunks.whole()
    refuse_type("values", values, codes.dtype.kind in "iu", "integers, the numbers of categories")
    # Two passes whose time does not depend on the values; a third pass finds the place of an error.
    if codes.size and (int(codes.min()) < 0 or int(codes.max()) >= categories):
        require("values", (codes >= 0) & (codes < categories), f"categories from 0 to {categories - 1}")
    make = partial(by_library, "values", values, column.make)
    return Coded(codes.astype(np.int64, copy=False), column.chunks.nulls, make)


def _labelled(values: Any, found: Any, labels: Labels) -> Coded:
    known = label_column(list(labels), len(labels))
    if found is None:
        array = _array(values)
        return _without_missing(_places(array.ravel(), known, values, array.shape), _of_numpy(labels))
    file = reader(found[0])
    codes = _places(values, known, values, (len(values),))
    make = by_library("values", values, file.categories, values, labels)
    return _without_missing(codes, partial(by_library, "values", values, make))


def _array(values: Any) -> NDArray[Any]:
    if isinstance(values, (str, int, np.generic, list, tuple)):
        # As objects: NumPy would turn numbers beside texts into texts.
        return np.array(values, object)
    refuse_type("values", values, isinstance(values, np.ndarray), "categories, in a list, an array or a column")
    refuse_masked(values, "values")
    return np.asarray(values)


def _places(column: Any, known: Any, values: Any, shape: tuple[int, ...]) -> NDArray[np.int64]:
    places: Any = None
    with contextlib.suppress(ParameterError, ParameterTypeError):
        places = label_column(column, len(column)).places_among(known)
    refuse_type("values", values, places is not None, "categories, of the type of their labels")
    require("values", (places != _OTHER).reshape(shape), "among the categories")
    return places.reshape(shape)  # type: ignore[no-any-return]


def _without_missing(codes: NDArray[np.int64], make: Make) -> Coded:
    missing = codes == _MISSING
    # A null is drawn as the first category, whatever becomes of it.
    return Coded(np.asarray(np.maximum(codes, 0)), np.asarray(missing) if missing.any() else None, make)


def _of_numpy(labels: Labels) -> Make:
    known = np.array(labels)

    def make(codes: NDArray[np.int64], nulls: Nulls) -> Any:
        if nulls is None:
            return known[codes]
        made = known.astype(object)[codes]
        made[nulls] = None
        return made

    return make
