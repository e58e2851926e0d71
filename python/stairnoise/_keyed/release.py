"""Releases: from the arguments of `release` to the extension."""

from __future__ import annotations

from typing import Any

import numpy as np

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._keyed import encoding
from stairnoise._keyed.fingerprint import column_of
from stairnoise._keyed.rng import KeyedRng, name
from stairnoise._law.drawing import require_values, threads_asked
from stairnoise._law.partitions import NAME, partitions
from stairnoise._memory import apart
from stairnoise._output import released_array
from stairnoise._registry import name_of
from stairnoise._values import true_values
from stairnoise.rng import SeededRng


def released_by_key(law: Any, values: Any, labels: object, statistic: object, k: Any, rng: object, out: Any, threads: Any) -> Any:
    """Release true answers with the noise of their labels; the arguments are those of `release` of a mechanism."""
    keyed = _keyed(rng, labels, statistic)
    common = head(law, keyed, name(statistic, "statistic"), k)
    workers = threads_asked(threads)
    answers, single_precision = true_values(values)
    vector = law._value_shape
    require_values(answers.shape, vector, "values")
    column = column_of(labels, answers, vector)
    released = released_array(answers.shape, out, law._released_dtype(answers, single_precision), law._release_dtypes)
    # The extension takes rows one after the other, so others are copied.
    whole = released if released.flags.c_contiguous else np.empty(released.shape, released.dtype)
    rows = np.ascontiguousarray(answers).reshape(answers.shape)
    drawn = law._keeping_guarantee(k, NAME)._scalar_law
    keyed._derived().release(
        drawn,
        common,
        column,
        apart(rows, whole),
        whole,
        bind_value=keyed.bind == "value",
        width=vector[0] if vector else None,
        threads=workers,
    )
    if whole is not released:
        released[...] = whole
    if out is not None:
        return out
    return released.item() if released.shape == () else released


def _keyed(rng: object, labels: object, statistic: object) -> KeyedRng:
    """Require a KeyedRng with labels and a statistic: none of the three has a meaning without the others."""
    if not isinstance(rng, KeyedRng):
        given = "labels" if labels is not None else "a statistic"
        shown = "a SeededRng" if isinstance(rng, SeededRng) else received(rng)
        raise ParameterTypeError(f"rng must be a KeyedRng in a release with {given}, got {shown}")
    if labels is None:
        raise ParameterTypeError("labels must be given in a release with a KeyedRng, one for each value, got None")
    if statistic is None:
        raise ParameterTypeError("statistic must be given in a release with a KeyedRng, the public name of the values, got None")
    return rng


def head(law: Any, keyed: KeyedRng, statistic: str, k: Any) -> bytes:
    """Return what all rows of a release have in common."""
    if law._parameter_shape:
        raise ParameterError(
            f"rng must not be a KeyedRng for a mechanism of array parameters: make one mechanism for each, "
            f"got parameters of shape {law._parameter_shape}"
        )
    drawn = law._keeping_guarantee(k, NAME)
    return b"".join(
        (
            encoding.text(keyed.release_name),
            encoding.text(statistic),
            encoding.parameters(name_of(law), law._exact_parameters()),
            encoding.integer(partitions(k, NAME)),
            encoding.parameters(name_of(drawn), drawn._exact_parameters()),
            encoding.text(keyed.bind),
        )
    )
