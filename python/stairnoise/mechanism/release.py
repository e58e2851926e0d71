"""Releasing true answers with noise.

`stairnoise._parameters` and `stairnoise._output` check the arguments and turn them into two plain NumPy arrays. The extension
then rounds the answers to the lattice, adds the noise in integers, and converts the sums.
"""

from __future__ import annotations

from typing import Any, Literal

from stairnoise import _native
from stairnoise._errors import ParameterError, received
from stairnoise._output import released_array
from stairnoise._parameters import laid_out, true_values
from stairnoise.columns import release as columns_release
from stairnoise.columns.column import library
from stairnoise.mechanism.answers import released_dtype, released_shape, require_stated
from stairnoise.mechanism.drawing import require_values, threads_asked
from stairnoise.rng import require_release

Nulls = Literal["refuse", "zero", "keep"]
REFUSE: Nulls = "refuse"
_NULLS = ("refuse", "zero", "keep")


def require_null_rule(nulls: object) -> None:
    """Raise unless `nulls` is one of the three words."""
    if not (isinstance(nulls, str) and nulls in _NULLS):
        raise ParameterError(f'nulls must be "refuse", "zero" or "keep", got {received(nulls)}')


def released(
    mechanism: Any, stream: _native.Stream, values: Any, columns: Any, nulls: Nulls, k: int, out: Any, threads: int | None
) -> Any:
    """Release values, a column, or columns of a frame; one person changes k of the values."""
    require_release(stream)
    workers = threads_asked(threads)
    if nulls is not REFUSE:
        require_null_rule(nulls)
    if columns is not None or library(values) is not None:
        return columns_release.released(
            mechanism, columns_release.Fresh(mechanism, stream, k, workers), values, columns, nulls, out
        )
    answers, single_precision = true_values(values)
    require_stated(mechanism, answers.dtype)
    require_values(answers.shape, mechanism._value_shape, "values")
    shape = released_shape(mechanism, answers.shape)
    noisy = released_array(shape, out, released_dtype(mechanism, answers.dtype, single_precision), mechanism._release_dtypes)
    # A new array shares no memory with the answers.
    if out is not None or answers.shape != shape:
        answers = laid_out(answers, noisy)
    mechanism._add_noise(stream, answers, noisy, k, workers)
    if out is not None:
        return out
    return noisy.item() if shape == () else noisy
