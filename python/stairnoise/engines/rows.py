"""What all engines have in common: checks before the first row, and the release of one row or of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, outline, received
from stairnoise._values import true_values
from stairnoise.columns.column import Chunks, Column
from stairnoise.engines.label_types import declared, typed_labels
from stairnoise.keyed.labels import label_column
from stairnoise.keyed.release import KeyedNoise, head
from stairnoise.keyed.rng import KeyedRng, name
from stairnoise.mechanism.answers import require_stated
from stairnoise.mechanism.base import Mechanism
from stairnoise.mechanism.partitions import NAME
from stairnoise.rng import SeededRng

if TYPE_CHECKING:
    from stairnoise._types import Columns

# A function of several arguments, the last of which is the true answer.
Row = Callable[..., "float | None"]


class KeyedRelease:
    """A mechanism, a generator, the name of a statistic and types of labels, which were checked before an engine gets them."""

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
                "keyed must be a KeyedRng: an engine may compute a row several times, and each time other noise would come; "
                f"got {shown}"
            )
        if not mechanism._integers:
            require_stated(mechanism, np.dtype(np.float64))
        self._head = head(mechanism, keyed, name(statistic, "statistic"), max_partitions_contributed)
        self._mechanism, self._keyed, self._statistic, self._k = mechanism, keyed, statistic, max_partitions_contributed
        self.label_types = declared(label_type)

    @property
    def discrete(self) -> bool:
        """Whether whole numbers come out."""
        return self._mechanism._integers

    def require_types(self, labels: Sequence[Any]) -> None:
        """Require a declared type for each column of labels."""
        if len(labels) != len(self.label_types):
            raise ParameterError(f"label_type must have one type for each label, {len(labels)}, got {len(self.label_types)}")

    def fetched(self) -> KeyedRelease:
        """Return it with the secret fetched now, rather than at each row or batch."""
        return KeyedRelease(self._mechanism, self._keyed._fetched(), self._statistic, self.label_types, self._k)

    def row(self) -> Row:
        """Return a function of the parts of a label and a number; of None as the number it makes None.

        What rows have in common is made here, because the general way takes several times as long as the noise.
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
        """Return the noisy numbers of a column; what is in the places of nulls has no meaning."""
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
        return self._mechanism.release(
            values,
            columns=[column],
            nulls="keep",
            labels=typed_labels(labels, self.label_types, len(labels[0])),
            statistic=self._statistic,
            max_partitions_contributed=self._k,
            rng=self._keyed,
        )
