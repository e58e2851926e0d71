"""Checks of true answers: a stated sensitivity, and the shape and dtype of the released values."""

from __future__ import annotations

from typing import Any

import numpy as np

from stairnoise._errors import ParameterError
from stairnoise._output import Shape


def require_stated(mechanism: Any, dtype: np.dtype[Any]) -> None:
    """Refuse true answers of this type if nobody stated a sensitivity: 1 is right for counts, but wrong for salaries.

    The type decides, never the values: otherwise a failed release would reveal something about them.
    """
    whole = mechanism._integers
    if not mechanism._takes_floats and not (whole and dtype.kind in "iu"):
        purpose = "a release of floats" if whole else "a release"
        raise unstated(mechanism, purpose, beside=f" beside values of dtype {dtype}")


def released_shape(mechanism: Any, values: Shape) -> Shape:
    """Broadcast the shape of true answers with that of the parameters."""
    parameters = mechanism._parameter_shape
    if not parameters:
        return values
    try:
        return np.broadcast_shapes(values, parameters)
    except ValueError:
        raise ParameterError(
            f"values must have a shape that broadcasts with the parameters, of shape {parameters}, got {values}"
        ) from None


def released_dtype(mechanism: Any, dtype: np.dtype[Any], single_precision: bool) -> str:
    """Return the dtype of released values, from the dtype of the true answers; `single_precision` if these were float32."""
    if mechanism._integers and dtype.kind == "i":
        return "int64"
    return "float32" if single_precision else "float64"


def unstated(mechanism: object, purpose: str, remedy: str | None = None, beside: str = "") -> ParameterError:
    """Return the error that this purpose needs a stated sensitivity."""
    made_by = repr(mechanism).partition("(")[0]
    return ParameterError(
        f"sensitivity must be stated for {purpose}: {remedy or f'write {made_by}(..., sensitivity=...)'} "
        f"with the largest change of a true answer by one person, got None{beside}"
    )
