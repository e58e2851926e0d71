"""Releases and fingerprints, row by row."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

import numpy as np

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._keyed import encoding
from stairnoise._keyed.labels import encoded_labels
from stairnoise._keyed.rng import KeyedRng, name
from stairnoise._law.drawing import require_values, threads_asked
from stairnoise._law.partitions import NAME, partitions
from stairnoise._output import released_array
from stairnoise._registry import name_of
from stairnoise._values import laid_out, require, true_values
from stairnoise.rng import SecureRng, SeededRng

if TYPE_CHECKING:
    from numpy.typing import NDArray


def released_by_key(law: Any, values: Any, labels: object, statistic: object, k: Any, rng: object, out: Any, threads: Any) -> Any:
    """Release true answers with the noise of their labels; the arguments are those of `release` of a mechanism."""
    keyed = _keyed(rng, labels, statistic)
    drawn = law._keeping_guarantee(k, NAME)
    number = partitions(k, NAME)
    if law._parameter_shape:
        raise ParameterError(f"rng must not be a KeyedRng for a mechanism with array parameters, of shape {law._parameter_shape}")
    threads_asked(threads)
    answers, single_precision = true_values(values)
    require_values(answers.shape, law._value_shape, "values")
    rows = rows_of(answers, labels, law._value_shape, whole=keyed.bind == "value")
    released = released_array(answers.shape, out, law._released_dtype(answers, single_precision), law._release_dtypes)
    if out is not None:
        answers = laid_out(answers, released)
    head = b"".join(
        (
            encoding.text(keyed.release),
            encoding.text(name(statistic, "statistic")),
            parameters(law),
            encoding.integer(number),
            parameters(drawn),
            encoding.text(keyed.bind),
        )
    )
    key = hmac.digest(keyed._derived()._noise, head, "sha256")
    each = answers.reshape(len(rows), *law._value_shape)
    places = (
        released.reshape(len(rows), *law._value_shape) if released.flags.c_contiguous else np.empty_like(each, released.dtype)
    )
    for row, (label, value) in enumerate(rows):
        subkey = hmac.digest(key, label + value if keyed.bind == "value" else label, "sha256")
        drawn._scalar_law.release(SecureRng.from_key(subkey)._stream, each[row : row + 1], places[row : row + 1], 1)
    if not released.flags.c_contiguous:
        released[...] = places.reshape(released.shape)
    if out is not None:
        return out
    return released.item() if released.shape == () else released


def fingerprint(keyed: KeyedRng, values: Any, labels: object) -> str:
    """Return the fingerprint of rows; it does not depend on their order."""
    answers, _ = true_values(values)
    rows = rows_of(answers, labels, answers.shape[1:], whole=False)
    key = hmac.digest(keyed._derived()._fingerprint, encoding.text(keyed.release), "sha256")
    total = sum(int.from_bytes(hmac.digest(key, encoding.fields(label, value), "sha256"), "little") for label, value in set(rows))
    distinct = encoding.integer(len(set(rows)))
    return hmac.digest(key, distinct + (total % 2**256).to_bytes(32, "little"), "sha256").hex()


def parameters(law: Any) -> bytes:
    """Return the field of a law in an address."""
    return encoding.parameters(name_of(law), law._exact_parameters())


def _keyed(rng: object, labels: object, statistic: object) -> KeyedRng:
    """Require a KeyedRng with labels and a statistic: none of the three has a meaning without the others."""
    if not isinstance(rng, KeyedRng):
        given = "labels" if labels is not None else "statistic"
        shown = "None" if rng is None else "a SeededRng" if isinstance(rng, SeededRng) else received(rng)
        raise ParameterTypeError(f"rng must be a KeyedRng in a release with {given}, got {shown}")
    if labels is None:
        raise ParameterTypeError("labels must be given in a release with a KeyedRng, one for each value, got None")
    if statistic is None:
        raise ParameterTypeError("statistic must be given in a release with a KeyedRng: the public name of the numbers, got None")
    return rng


def rows_of(answers: NDArray[Any], labels: object, each: tuple[int, ...], *, whole: bool) -> list[tuple[bytes, bytes]]:
    """Return label and value of every row as bytes; equal labels must have equal values."""
    shape = answers.shape[: answers.ndim - len(each)]
    if len(shape) > 1:
        raise ParameterError(
            f"values must have one dimension with labels, or none, got shape {answers.shape}; pass values.ravel()"
        )
    require("values", np.isfinite(answers), "finite")
    if whole and answers.dtype.kind == "f":
        require("values", answers == np.floor(answers), 'whole numbers with bind="value"')
    found = encoded_labels(labels, shape)
    vectors = answers.reshape(len(found), *each).tolist()
    encoded = [encoding.fields(*map(encoding.number, v)) if each else encoding.number(v) for v in vectors]
    rows = list(zip(found, encoded, strict=True))
    first: dict[bytes, bytes] = {}
    for row, (label, value) in enumerate(rows):
        if first.setdefault(label, value) != value:
            raise ParameterError(f"labels must have one value each, got a label with another value before, at index ({row},)")
    return rows
