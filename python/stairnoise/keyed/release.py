"""Releases: from the arguments of `release` to the extension."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._memory import apart
from stairnoise._native import Keys, Labels
from stairnoise._output import released_array
from stairnoise._parameters import true_values
from stairnoise.columns.column import Chunks, Nulls, library
from stairnoise.columns.reading import by_library
from stairnoise.columns.release import opened, released
from stairnoise.keyed import encoding
from stairnoise.keyed.labels import column_of, label_column
from stairnoise.keyed.rng import KeyedRng, name
from stairnoise.mechanism.answers import released_dtype, require_stated
from stairnoise.mechanism.drawing import require_values, threads_asked
from stairnoise.mechanism.guarantee import NAME, partitions
from stairnoise.registry import name_of
from stairnoise.rng import SeededRng


def released_by_key(
    mechanism: Any, values: Any, columns: Any, nulls: str, labels: Any, statistic: Any, k: Any, rng: Any, out: Any, threads: Any
) -> Any:
    """Release true answers with the noise of their labels; the arguments are those of `release` of a mechanism."""
    keyed = _keyed(rng, labels, statistic)
    vector, workers = mechanism._value_shape, threads_asked(threads)
    if columns is not None or library(values) is not None:
        names = opened(values, columns)[1]
        # A vector has one statistic, and so has a single column.
        heads = _heads(mechanism, keyed, statistic, k, None if vector else names)
        # A column is one vector; a frame has a vector in every row.
        rows = None if vector and names is None else by_library("values", values, len, values)
        noise = KeyedNoise(mechanism, keyed, heads, label_column(labels, rows), k, workers)
        return released(mechanism, noise, values, columns, nulls, out)
    heads = _heads(mechanism, keyed, statistic, k, None)
    answers, single_precision = true_values(values)
    require_stated(mechanism, answers.dtype)
    require_values(answers.shape, vector, "values")
    column = column_of(labels, answers, vector)
    dtype = released_dtype(mechanism, answers.dtype, single_precision)
    noisy = released_array(answers.shape, out, dtype, mechanism._release_dtypes)
    KeyedNoise(mechanism, keyed, heads, column, k, workers).add(0, Chunks([answers]), noisy, None)
    if out is not None:
        return out
    return noisy.item() if noisy.shape == () else noisy


def noise_of_codes(
    mechanism: Any, codes: NDArray[np.int64], names: list[Any] | None, labels: Any, statistic: Any, k: Any, rng: Any, threads: int
) -> KeyedNoise:
    """Return the noise of category numbers, for one array or for the named columns of a frame."""
    keyed = _keyed(rng, labels, statistic)
    heads = _heads(mechanism, keyed, statistic, k, names)
    return KeyedNoise(mechanism, keyed, heads, column_of(labels, codes, ()), k, threads)


class KeyedNoise:
    """Keyed noise for the columns of a release, which `stairnoise.columns.release` adds."""

    __slots__ = ("_drawn", "_heads", "_keyed", "_keys", "_labels", "_threads", "_width")

    def __init__(self, mechanism: Any, keyed: KeyedRng, heads: list[bytes], labels: Labels, k: Any, threads: int) -> None:
        self._drawn, self._width = mechanism._keeping_guarantee(k, NAME)._sampler, (*mechanism._value_shape, None)[0]
        self._keyed, self._heads, self._labels, self._threads = keyed, heads, labels, threads
        self._keys: Keys | None = None

    def add(self, place: int, answers: Chunks, out: NDArray[Any], missing: Nulls) -> None:
        """Write noisy answers to the plain array `out`, and 0 for nulls."""
        labels = self._labels
        # There is no noise to draw, so the secret is not fetched. Clusters infer types from such empty frames.
        if not len(labels) or (missing is not None and missing.all()):
            out[...] = 0
            return
        rows = answers.whole()
        if missing is not None:
            # The first other row replaces each null: rows keep their numbers, and the label of a null gets no value.
            places = np.where(missing, np.argmin(missing), np.arange(len(rows)))
            rows, labels = rows[places], labels.taken(places)
        self._keys = self._keys or self._keyed._derived()
        # The extension needs contiguous rows.
        whole = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
        rows = np.ascontiguousarray(rows).reshape(rows.shape)
        bound, width = self._keyed.bind == "value", self._width
        self._keys.release(
            self._drawn,
            self._heads[place],
            labels,
            apart(rows, whole),
            whole,
            bind_value=bound,
            width=width,
            threads=self._threads,
        )
        if missing is not None:
            whole[missing] = 0
        if whole is not out:
            out[...] = whole

    def rehearse(self, answers: Chunks) -> None:
        """Do nothing: keyed noise takes no words from a stream, and a repeated release is the same."""


def _keyed(rng: object, labels: object, statistic: object) -> KeyedRng:
    """Require a KeyedRng with labels and a statistic: each of the three needs the others."""
    if not isinstance(rng, KeyedRng):
        beside = "labels" if labels is not None else "a statistic"
        shown = "a SeededRng" if isinstance(rng, SeededRng) else received(rng)
        raise ParameterTypeError(f"rng must be a KeyedRng in a release with {beside}, got {shown}")
    if labels is None:
        raise ParameterTypeError("labels must be given in a release with a KeyedRng, one for each value, got None")
    if statistic is None:
        raise ParameterTypeError("statistic must be given in a release with a KeyedRng, the public name of the values, got None")
    return rng


def _heads(mechanism: Any, keyed: KeyedRng, statistic: object, k: Any, names: list[Any] | None) -> list[bytes]:
    """Return the part of the address that all rows share, for the named columns or for a single release."""
    statistics = [name(statistic, "statistic")] if names is None else _statistics(statistic, len(names))
    return [head(mechanism, keyed, one, k) for one in statistics]


def _statistics(statistic: object, columns: int) -> list[str]:
    """Return the public name of each column. Under the same name, equal rows of two columns would have the same noise."""
    if not isinstance(statistic, (list, tuple)):
        if columns > 1:
            raise ParameterError(
                f"statistic must be a list of {columns} different names, one for each column, got {received(statistic)}"
            )
        return [name(statistic, "statistic")]
    found = [name(one, f"statistic[{place}]") for place, one in enumerate(statistic)]
    if len(found) != columns:
        raise ParameterError(f"statistic must have one name for each column, {columns}, got {len(found)}")
    if len(set(found)) < columns:
        raise ParameterError(f"statistic must have different names, or columns would share noise, got {received(statistic)}")
    return found


def head(mechanism: Any, keyed: KeyedRng, statistic: str, k: Any) -> bytes:
    """Return the part of the address that all rows of a release share."""
    if mechanism._parameter_shape:
        raise ParameterError(
            f"rng must not be a KeyedRng for a mechanism of array parameters: make one mechanism for each, "
            f"got parameters of shape {mechanism._parameter_shape}"
        )
    if mechanism._sampler is None:
        raise ParameterError(f"rng must not be a KeyedRng for {mechanism!r}, which draws nothing")
    drawn = mechanism._keeping_guarantee(k, NAME)
    of_mechanism, of_drawn = (encoding.parameters(name_of(one), one._exact_parameters()) for one in (mechanism, drawn))
    address = encoding.text(keyed.release_name) + encoding.text(statistic) + of_mechanism
    return address + encoding.integer(partitions(k, NAME)) + of_drawn + encoding.text(keyed.bind)
