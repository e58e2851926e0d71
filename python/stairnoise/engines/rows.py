"""What all engines have in common: checks before the first row, the release of one row or a batch, and the types of labels.

Engines hold one label in several types: SQLite and CSV files have dates as texts, SQLite has bools as integers, and Dask makes
texts of a column of objects. A label of another type has other noise, and two noises of one answer cost twice. So the type of a
label is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, check, outline, place, received
from stairnoise._native import Labels
from stairnoise._parameters import true_values
from stairnoise.columns.column import Chunks, Column
from stairnoise.keyed import encoding
from stairnoise.keyed.labels import label_column
from stairnoise.keyed.release import KeyedNoise, head
from stairnoise.keyed.rng import KeyedRng, name
from stairnoise.mechanism.answers import require_stated
from stairnoise.mechanism.base import Mechanism
from stairnoise.mechanism.guarantee import NAME
from stairnoise.rng import SeededRng

if TYPE_CHECKING:
    from stairnoise._types import Columns

LabelType = Literal["text", "integer", "boolean", "date", "bytes"]

_TAGS = {"text": encoding.TEXT, "integer": encoding.INTEGER, "boolean": encoding.BOOL, "date": encoding.DATE}
_TAGS |= {"bytes": encoding.BYTES}
_NAMES = f"{', '.join(map(repr, [*_TAGS][:-1]))} or {[*_TAGS][-1]!r}"

# A function of several arguments, the last of which is the true answer.
Row = Callable[..., "float | None"]


class KeyedRelease:
    """A mechanism, a generator, the name of a statistic and types of labels, all checked."""

    __slots__ = ("_head", "_k", "_keyed", "_mechanism", "_statistic", "label_types")

    def __init__(self, mechanism: Any, keyed: Any, statistic: Any, label_type: Any, max_partitions_contributed: Any) -> None:
        if not isinstance(mechanism, Mechanism):
            raise ParameterTypeError(
                f"mechanism must be a mechanism that releases numbers, such as DiscreteLaplace(eps=1), got {received(mechanism)}"
            )
        if mechanism._value_shape:
            raise ParameterTypeError(f"mechanism must release single numbers, got {received(mechanism)}, which releases vectors")
        if not isinstance(keyed, KeyedRng):
            shown = "a SeededRng" if isinstance(keyed, SeededRng) else received(keyed)
            raise ParameterTypeError(
                f"keyed must be a KeyedRng: an engine can compute a row several times, each time with other noise; got {shown}"
            )
        if not mechanism._integers:
            require_stated(mechanism, np.dtype(np.float64))
        self._head = head(mechanism, keyed, name(statistic, "statistic"), max_partitions_contributed)
        self._mechanism, self._keyed, self._statistic, self._k = mechanism, keyed, statistic, max_partitions_contributed
        self.label_types = declared(label_type)

    @property
    def discrete(self) -> bool:
        """Whether the released numbers are integers."""
        return self._mechanism._integers

    def require_types(self, labels: Sequence[Any]) -> None:
        """Require at least one column of labels, and a declared type for each."""
        check(labels, "label must name at least one column, got none")
        if len(labels) != len(self.label_types):
            raise ParameterError(f"label_type must have one type for each label, {len(labels)}, got {len(self.label_types)}")

    def fetched(self) -> KeyedRelease:
        """Return a release whose secret is fetched now and not at each row or batch."""
        return KeyedRelease(self._mechanism, self._keyed._fetched(), self._statistic, self.label_types, self._k)

    def row(self) -> Row:
        """Return a function of the parts of a label and a number; for None as the number it returns None.

        Everything that rows share is computed once, because a general release takes several times as long as the noise.
        """
        keys, head, bind_value = self._keyed._derived(), self._head, self._keyed.bind == "value"
        asked, whole = self._mechanism, self.discrete
        mechanism = asked._keeping_guarantee(self._k, NAME)._sampler

        def released(*arguments: Any) -> float | None:
            *parts, value = arguments
            if value is None:
                return None
            kind = type(value)
            if kind is not int and kind is not float:
                raise ParameterTypeError(f"values must be real numbers, got {outline(value)}")
            label = label_column(parts[0] if len(parts) == 1 else tuple(parts), None)
            answer = true_values(value)[0]
            require_stated(asked, answer.dtype)
            out = np.empty((), np.int64 if whole and kind is int else np.float64)
            keys.release(mechanism, head, label, answer, out, bind_value=bind_value)
            noisy: float = out.item()
            return noisy

        return released

    def batch(self, column: Column, labels: Sequence[Any], dtype: str) -> NDArray[Any]:
        """Return the noisy numbers of a column; those in the places of nulls have no meaning."""
        answers, _ = true_values(column.chunks.whole())
        require_stated(self._mechanism, answers.dtype)
        noisy = np.zeros(answers.shape, dtype)
        found = typed_labels(labels, self.label_types, len(answers))
        KeyedNoise(self._mechanism, self._keyed, [self._head], found, self._k, 0).add(
            0, Chunks([answers]), noisy, column.chunks.nulls
        )
        return noisy

    def frame(self, values: Columns, column: Any, labels: Sequence[Any]) -> Columns:
        """Return a frame with one of its columns released."""
        types, k = self.label_types, self._k
        options = {"labels": typed_labels(labels, types, len(labels[0])), "statistic": self._statistic, "rng": self._keyed}
        return self._mechanism.release(values, columns=[column], nulls="keep", max_partitions_contributed=k, **options)


def declared(label_type: object) -> tuple[str, ...]:
    """Check the declared types of a label's parts, and return them."""
    types = tuple(label_type) if isinstance(label_type, (list, tuple)) else (label_type,)
    check(types, "label_type must have at least one type, got none")
    for type_ in types:
        if not isinstance(type_, str) or type_ not in _TAGS:
            error = ParameterError if isinstance(type_, str) else ParameterTypeError
            raise error(f"label_type must be {_NAMES}, or a list of them, got {received(type_)}")
    return types


def typed_labels(columns: Sequence[Any], types: Sequence[str], n: int) -> Labels:
    """Return the labels of `n` rows, or refuse them if one is not of its declared type; several columns make tuples."""
    found = [label_column(column, n) for column in columns]
    for column, type_ in zip(found, types, strict=True):
        row = column.first_besides(_TAGS[type_][0])
        if row is not None:
            raise wrong_type(type_, f"one of another type{place((row,))}")
    return found[0] if len(found) == 1 else Labels.tuples(found)


def wrong_type(type_: str, found: str) -> ParameterTypeError:
    """Return the error for a label that is not of its declared type."""
    return ParameterTypeError(f"labels must be of label_type={type_!r}, got {found}; convert the column")
