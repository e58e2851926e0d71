"""What all engines have in common: checks before the first row, and the release of one row or of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._columns.column import Column
from stairnoise._errors import ParameterError, ParameterTypeError, StairnoiseError, outline, received
from stairnoise._keyed.labels import label_column
from stairnoise._keyed.release import head
from stairnoise._keyed.rng import KeyedRng, name
from stairnoise._law.partitions import NAME
from stairnoise._law.release import Releasing
from stairnoise._native import Labels
from stairnoise._values import true_values
from stairnoise.rng import SeededRng

# A function of several arguments, the last of which is the true answer.
Row = Callable[..., "float | None"]


class KeyedRelease:
    """A mechanism, a generator and the name of a statistic, which were checked before an engine gets them."""

    __slots__ = ("_head", "_k", "_keyed", "_law", "_statistic")

    def __init__(self, law: Any, keyed: Any, statistic: Any, max_partitions_contributed: Any) -> None:
        if not isinstance(law, Releasing):
            raise ParameterTypeError(
                f"law must be a mechanism that releases numbers, such as DiscreteLaplace(eps=1), got {received(law)}"
            )
        if law._value_shape:
            raise ParameterTypeError(f"law must release single numbers, got {received(law)}, which releases vectors")
        if not isinstance(keyed, KeyedRng):
            shown = "a SeededRng" if isinstance(keyed, SeededRng) else received(keyed)
            raise ParameterTypeError(
                "keyed must be a KeyedRng: an engine may compute a row several times, and each time other noise would come; "
                f"got {shown}"
            )
        self._head = head(law, keyed, name(statistic, "statistic"), max_partitions_contributed)
        self._law, self._keyed, self._statistic, self._k = law, keyed, statistic, max_partitions_contributed

    @property
    def discrete(self) -> bool:
        """Whether whole numbers come out."""
        return self._law._integers

    def fetched(self) -> KeyedRelease:
        """Return it with the secret fetched now, rather than at each row or batch."""
        return KeyedRelease(self._law, self._keyed._fetched(), self._statistic, self._k)

    def row(self) -> Row:
        """Return a function of the parts of a label and a number; of None as the number it makes None.

        What rows have in common is made here, because the general way takes several times as long as the noise.
        """
        keys, head, bind_value = self._keyed._derived(), self._head, self._keyed.bind == "value"
        law, whole = self._law._keeping_guarantee(self._k, NAME)._scalar_law, self.discrete

        def released(*arguments: Any) -> float | None:
            *parts, value = arguments
            if value is None:
                return None
            kind = type(value)
            if kind is not int and kind is not float:
                raise ParameterTypeError(f"values must be real numbers, got {outline(value)}")
            label = label_column(parts[0] if len(parts) == 1 else tuple(parts), None)
            out = np.empty((), np.int64 if whole and kind is int else np.float64)
            keys.release(law, head, label, true_values(value)[0], out, bind_value=bind_value)
            noisy: float = out.item()
            return noisy

        return released

    def batch(self, column: Column, labels: Any, dtype: str | None = None) -> NDArray[Any]:
        """Return the noisy numbers of a column, with 0 in the places of nulls; without `dtype` of that of `release`."""
        answers, single_precision = true_values(column.numbers)
        noisy = np.zeros(answers.shape, dtype or self._law._released_dtype(answers, single_precision))
        found = by_library("labels", labels, lambda: label_column(labels, len(answers)))
        # The secret is not fetched for nothing, such as the empty frames by which clusters infer types.
        if column.nulls is None:
            if len(answers):
                self._write(answers, found, noisy)
        elif (kept := np.flatnonzero(~column.nulls)).size:
            some = np.empty(len(kept), noisy.dtype)
            self._write(answers[kept], found.taken(kept), some)
            noisy[kept] = some
        return noisy

    def _write(self, answers: NDArray[Any], labels: Labels, out: NDArray[Any]) -> None:
        self._law.release(
            answers, labels=labels, statistic=self._statistic, max_partitions_contributed=self._k, rng=self._keyed, out=out
        )


def by_library(argument: str, source: object, read: Callable[[], Any]) -> Any:
    """Return what `read` returns; the text of an error of another library may hold data, and engines print it."""
    try:
        return read()
    except (StairnoiseError, MemoryError):
        raise
    except Exception:
        broken = outline(source)
    raise ParameterError(f"{argument} must be a column that can be read, got {broken}")
