"""The release of a column, and of the named columns of a frame: columns are read as arrays, released, and made again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stairnoise import _native
from stairnoise._errors import ParameterError, ParameterTypeError, outline, received
from stairnoise._parameters import exact_array, whole_numbers
from stairnoise.columns.column import Chunks, Nulls, library, refuse_lazy
from stairnoise.columns.reading import Answers, by_library, read_answers, reader
from stairnoise.mechanism.answers import released_dtype, released_shape, require_stated
from stairnoise.mechanism.drawing import require_values
from stairnoise.mechanism.guarantee import NAME

_LABELS = (str, bytes, int, float, np.generic)
_MODULES_OF_LABELS = {"datetime", "decimal", "pandas"}
_ALL = "all"
# More chunks are copied into one array, because the extension compares the memory of each chunk with every other's.
_MOST_CHUNKS = 1000


class Fresh(NamedTuple):
    """Noise of a stream; `stairnoise.keyed.release.KeyedNoise`, the noise of labels, has the same methods."""

    mechanism: Any
    stream: _native.Stream
    k: int
    threads: int

    def add(self, place: int, answers: Chunks, out: NDArray[Any], missing: Nulls) -> None:
        arrays, nulls = answers
        if self.mechanism._sampler is None or (nulls is None and len(arrays) == 1) or len(arrays) > _MOST_CHUNKS:
            self.mechanism._add_noise(self.stream, answers.whole(), out, self.k, self.threads)
            if missing is not None:
                out[missing] = 0
            return
        mechanism = self.mechanism._keeping_guarantee(self.k, NAME)._sampler
        contiguous = [np.require(array, requirements=["C", "A"]) for array in arrays]
        places = None if nulls is None else nulls.view(np.uint8)
        mechanism.release_column(self.stream, contiguous, places, out, missing is not None, self.threads)

    def rehearse(self, answers: Chunks) -> None:
        """Try the smallest and the largest answer, which decide for scalar parameters: if there is a NaN, both are NaN."""

        def try_out(some: NDArray[Any]) -> None:
            # Nothing uses the noise of this stream.
            self.mechanism._add_noise(_native.Stream.from_seed(0, True), some, np.empty(some.shape), self.k, self.threads)

        whole = answers.whole()
        if self.mechanism._parameter_shape:
            try_out(whole)
        elif whole.size:
            try:
                try_out(np.array([whole.min(), whole.max()]))
            except ParameterError:
                try_out(whole)  # names the place


def released(mechanism: Any, noise: Any, values: Any, columns: object, nulls: str, out: object) -> Any:
    """Release a column, or the named columns of a frame, and return the same kind of object.

    Everything is checked before anything is drawn.
    """
    file, names = opened(values, columns)
    if out is not None:
        raise ParameterError(f"out must be left out for a column, which comes back as a new one, got {outline(out)}")
    if names is None:
        one = read_answers(file, values, nulls)
        _require(mechanism, one.answers)
        return _noisy(mechanism, noise, 0, one)
    frame = by_library("values", values, file.frame, values, names)
    found = by_column(names, frame.columns, lambda column: read_answers(file, column, nulls))
    made = _vectors(mechanism, noise, found, names) if mechanism._value_shape else _columns(mechanism, noise, found, names)
    return by_library("values", values, frame.replace, made)


def require_whole(values: Any, columns: object) -> None:
    """Refuse a column, or named columns of a frame, with a number that is not whole."""
    file, names = opened(values, columns)
    if names is None:
        whole_numbers(by_library("values", values, file.column, values).chunks.whole())
        return
    frame = by_library("values", values, file.frame, values, names)
    by_column(names, frame.columns, lambda one: whole_numbers(by_library("values", one, file.column, one).chunks.whole()))


def opened(values: Any, columns: object) -> tuple[Any, list[Any] | None]:
    """Return the file for the library of `values`, and the names of the columns of a frame."""
    refuse_lazy(values, "values")
    found: Any = library(values)  # not None without `columns`
    if found is None or found[1] == "column":
        if columns is not None:
            got = f"{received(columns)} beside {outline(values)}"
            raise ParameterError(f"columns must be left out for values that have no named columns, got {got}")
        return reader(found[0]), None
    if columns is None:
        raise ParameterError(f'columns must name the columns to release, or be "all", got None beside {outline(values)}')
    names = _all_names(found[0], values) if isinstance(columns, str) and columns == _ALL else _names(columns)
    return reader(found[0]), names


def _all_names(package: str, values: Any) -> list[Any]:
    names = by_library("values", values, lambda: list(values.schema.names if package == "pyarrow" else values.columns))
    if any(isinstance(name, str) and name == _ALL for name in names):
        raise ParameterError("columns must be a list of names for a frame with a column \"all\", got 'all'")
    if not names:
        raise ParameterError(f"columns must name at least one column, got none in {outline(values)}")
    return names


def _names(columns: Any) -> list[Any]:
    if isinstance(columns, str):
        return [columns]
    if not isinstance(columns, (list, tuple)) and library(columns) != ("pandas", "column"):
        raise ParameterTypeError(f"columns must be a text or a list of names, got {received(columns)}")
    names = list(columns)
    if not names:
        raise ParameterError("columns must name at least one column, got none")
    for index, name in enumerate(names):
        if not _is_label(name):
            raise ParameterTypeError(f"columns must be a text or a list of names, got {received(name)} at index ({index},)")
    return names


def _is_label(name: object) -> bool:
    """Return whether a name can be looked up in a frame without running foreign code."""
    kind = type(name)
    if issubclass(kind, tuple):
        return all(map(_is_label, tuple.__iter__(name)))  # type: ignore[arg-type]
    return issubclass(kind, _LABELS) or kind.__module__.partition(".")[0] in _MODULES_OF_LABELS


def by_column(names: Sequence[Any], columns: Sequence[Any], function: Callable[[Any], Any]) -> list[Any]:
    """Return what a function makes of the columns of a frame; errors name the column as the caller does in `columns`."""
    made = []
    for name, column in zip(names, columns, strict=True):
        try:
            made.append(function(column))
        except (ParameterError, ParameterTypeError) as error:
            raise type(error)(f"{error} of column {received(name)}") from None
    return made


def _require(mechanism: Any, answers: Chunks) -> None:
    require_stated(mechanism, answers.dtype)
    require_values(answers.shape, mechanism._value_shape, "values")
    if released_shape(mechanism, answers.shape) != answers.shape:
        raise ParameterError(
            f"values must have the shape that they and the parameters, of shape {mechanism._parameter_shape}, broadcast to, "
            f"because a column comes back as one, got {answers.shape}"
        )


def _columns(mechanism: Any, noise: Any, found: list[Answers], names: list[Any]) -> list[Any]:
    """Release each column as an array of its own, one after the other."""

    def check(one: Answers) -> None:
        _require(mechanism, one.answers)
        if len(found) > 1:
            noise.rehearse(one.answers)

    by_column(names, found, check)
    return by_column(names, list(enumerate(found)), lambda one: _noisy(mechanism, noise, *one))


def _vectors(mechanism: Any, noise: Any, found: list[Answers], names: list[Any]) -> list[Any]:
    """Release each row of the columns as a vector."""
    answers = [one.answers.whole() for one in found]
    if len({column.dtype for column in answers}) > 1:
        answers = by_column(names, answers, lambda column: exact_array(column, "values"))
    vectors = np.stack(answers, axis=-1)
    require_stated(mechanism, vectors.dtype)
    require_values(vectors.shape, mechanism._value_shape, "values")
    noisy = np.empty(vectors.shape, released_dtype(mechanism, vectors.dtype, all(one.single_precision for one in found)))
    noise.add(0, Chunks([vectors]), noisy, None)
    made = []
    for place, one in enumerate(found):
        column = noisy[:, place].copy()
        if one.missing is not None:
            column[one.missing] = 0
        made.append(_made(one, column))
    return made


def _noisy(mechanism: Any, noise: Any, place: int, one: Answers) -> Any:
    """Release one column."""
    noisy = np.empty(one.answers.shape, released_dtype(mechanism, one.answers.dtype, one.single_precision))
    noise.add(place, one.answers, noisy, one.missing)
    return _made(one, one.column.within_ends(noisy))


def _made(one: Answers, noisy: NDArray[Any]) -> Any:
    """Make the column of released numbers."""
    return by_library("values", one.source, one.column.make, noisy, one.missing)
