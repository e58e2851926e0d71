"""Fingerprints of rows, and the rows that a label belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stairnoise._errors import ParameterError
from stairnoise._values import require, true_values
from stairnoise.columns.answers import answers_of
from stairnoise.columns.libraries import library
from stairnoise.keyed import encoding
from stairnoise.keyed.labels import label_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stairnoise._native import Keys, Labels


def fingerprint(keys: Keys, release: str, column: Labels, answers: NDArray[Any]) -> str:
    """Return the fingerprint of rows; it does not depend on their order."""
    rows = np.ascontiguousarray(answers).reshape(answers.shape)
    width = answers.shape[1] if answers.ndim > 1 else None
    return keys.fingerprint(encoding.text(release), column, rows, width=width).hex()


def checked_rows(values: object, labels: object) -> tuple[Labels, NDArray[Any]]:
    """Check true answers and their labels, and return both."""
    answers = true_values(values)[0] if library(values) is None else answers_of(values)
    column = column_of(labels, answers, answers.shape[1:])
    require("values", np.isfinite(answers), "finite")
    return column, answers


def column_of(labels: object, answers: NDArray[Any], vector: tuple[int, ...]) -> Labels:
    """Check and return the labels of answers; an answer is a number, or a vector of the shape `vector`."""
    shape = answers.shape[: answers.ndim - len(vector)]
    if len(shape) > 1 or len(vector) > 1:
        raise ParameterError(
            f"values must have one dimension with labels, or none{' besides that of a vector' if vector else ''}, "
            f"got shape {answers.shape}; pass values.ravel()"
        )
    if 0 in vector:
        raise ParameterError(f"values must be vectors of one coordinate or more, got shape {answers.shape}")
    return label_column(labels, shape[0] if shape else None)
