"""``release`` of columns that lie in chunks or have nulls reads them in place, wherever they are in memory.

Evidence: the release of the equal array with the same seed, with 0 for null.
"""

import gc
import itertools
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import _native
from stairnoise.columns import of_pandas
from stairnoise.columns.release import _MOST_CHUNKS
from tests.by_method.columns import SILENT, seeded
from tests.combinations import looped

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

# Longer than 2**14, which the extension writes at a time.
ROWS = 70_000
VALUES = np.arange(ROWS) - 500
MISSING = np.random.default_rng(1).random(ROWS) < 0.1
# A few chunks are empty; two chunks meet inside a part that is read at a time.
CUTS = [0, 0, 3, 16_384, 16_385, 16_385, 50_001, 69_999, ROWS]


def arrow(values: Any, missing: Any, cuts: list[int]) -> Any:
    parts = [slice(*ends) for ends in itertools.pairwise(cuts)]
    return pa.chunked_array([pa.array(values[part], mask=missing[part]) for part in parts], pa.array(values[:1]).type)


def polars(values: Any, missing: Any, cuts: list[int]) -> Any:
    parts = [slice(*ends) for ends in itertools.pairwise(cuts)]
    made = [pl.Series("n", values[part]).set(pl.Series(missing[part]), None) for part in parts]
    return pl.concat([one for one in made if len(one)], rechunk=False)


@looped("threads", [1, 2])
@looped("dtype", ["int64", "float64", "int32", "float32"])
@looped("make", [arrow, polars])
@looped("mechanism", [sn.DiscreteLaplace(0.1, 1), sn.Laplace(1.0, 1)])
def test_chunks_and_nulls_are_those_of_one_array(mechanism, make, dtype, threads):
    values = VALUES.astype(dtype)
    for missing in (MISSING, np.zeros(ROWS, np.bool_)):
        exact = mechanism.release(np.where(missing, 0, values).astype(dtype), rng=seeded())
        for cuts in (CUTS, [0, ROWS]):
            column = make(values, missing, cuts)
            zero = mechanism.release(column, nulls="zero", rng=seeded(), threads=threads)
            assert np.array_equal(zero.to_numpy(), exact)
            kept = mechanism.release(column, nulls="keep", rng=seeded(), threads=threads)
            assert np.array_equal(kept.is_null().to_numpy(), missing)
            filled = kept.fill_null(0).to_numpy()
            assert np.array_equal(filled, np.where(missing, 0, exact))
            if make is polars:
                assert kept.name == "n"
                assert kept.chunk_lengths() == column.chunk_lengths()


@pytest.mark.parametrize("chunks", [_MOST_CHUNKS, _MOST_CHUNKS + 1])
def test_very_many_chunks(chunks):
    values = np.arange(3 * chunks)
    column = pa.chunked_array(values.reshape(-1, 3).tolist())
    mechanism = sn.DiscreteLaplace(0.1)
    assert mechanism.release(column, rng=seeded()).to_pylist() == mechanism.release(values, rng=seeded()).tolist()


def test_a_refused_number_is_named_by_its_place_in_the_column():
    rng = seeded()
    values = VALUES.astype(float)
    values[[60_000, 69_999]] = np.nan
    values[MISSING] = np.inf
    missing = MISSING.copy()
    missing[60_000] = False
    for column in (arrow(values, missing, CUTS), polars(values, missing, CUTS)):
        with pytest.raises(sn.ParameterError, match=r"values must be finite, got one that is not at index \(60000,\)$"):
            sn.Laplace(1, sensitivity=1).release(column, nulls="keep", rng=rng)
    assert rng._stream.fill_count == 0


def test_slices_of_polars():
    """A slice's null bits can begin inside a byte."""
    bits = pl.Series([None, 1, None, 3, 4, None, 6, 7, 8, None, 10, None])
    for start in range(12):
        for stop in range(start, 13):
            part = bits[start:stop]
            assert SILENT.release(part, nulls="keep").equals(part, check_dtypes=True)


def test_memory_at_odd_places():
    """Columns of unaligned numbers, and of every third element of an array."""
    data = pa.py_buffer(b"\0" + np.arange(5).tobytes()).slice(1)
    odd = pa.Array.from_buffers(pa.int64(), 5, [pa.py_buffer(b"\x17"), data])
    assert SILENT.release(odd, nulls="keep").to_pylist() == [0, 1, 2, None, 4]
    missing = np.arange(30) % 2 == 0
    masked = pd.arrays.IntegerArray(np.arange(30)[::3], missing[::3])
    assert SILENT.release(masked, nulls="zero").tolist() == [0, 3, 0, 9, 0, 15, 0, 21, 0, 27]
    assert SILENT.release(masked, nulls="keep").isna().tolist() == missing[::3].tolist()


def test_what_polars_takes_lives_as_long_as_it():
    """A released series keeps its own memory alive, but not the column that was read."""
    column = pl.Series([*range(1000), None])
    found = SILENT.release(column, nulls="keep")[10:]
    del column
    gc.collect()
    for _ in range(100):
        np.full(1001, -1)
    assert found.to_list() == [*range(10, 1000), None]


def test_nothing_is_left_behind_a_null_of_polars():
    hidden = pl.Series(pa.Array.from_buffers(pa.int64(), 2, [pa.py_buffer(b"\1"), pa.py_buffer(np.array([1, 77]))]))
    kept = sn.DiscreteLaplace(2**-10).release(hidden, nulls="keep").to_arrow()
    assert np.frombuffer(kept.buffers()[1], np.int64)[1] == 0
    assert SILENT.release(hidden, nulls="zero").to_list() == [1, 0]


def test_a_pandas_that_keeps_its_numbers_elsewhere(monkeypatch):
    def public(value: Any, name: str, *default: Any) -> Any:
        return None if name == "_data" else getattr(value, name, *default)

    monkeypatch.setattr(of_pandas, "getattr", public, raising=False)
    assert SILENT.release(pd.array([5, None, 7], dtype="Int16"), nulls="zero").tolist() == [5, 0, 7]


def test_the_callers_column_stays_as_it_was():
    masked = pd.array([5, None, 7], dtype="Int64")
    masked._data[1] = 77
    sn.DiscreteLaplace(0.01).release(masked, nulls="zero")
    assert masked._data.tolist() == [5, 77, 7]


def test_what_the_extension_refuses():
    """The function is private; it refuses arrays of wrong lengths, because it could read beyond their ends."""
    mechanism, stream, out = SILENT._sampler, seeded()._stream, np.empty(4, np.int64)
    chunks = [np.arange(2), np.arange(2)]
    for arguments, text in (
        (([np.arange(4)[::2], np.arange(2)], None, out), "values must be contiguous and aligned"),
        ((chunks, np.zeros(3, np.uint8), out), "nulls must have a byte for every value"),
        ((chunks, np.zeros(8, np.uint8)[::2], out), "nulls must be contiguous and aligned"),
        ((chunks, None, out[:3]), "values must have the shape of out"),
    ):
        with pytest.raises(ValueError, match=text):
            mechanism.release_column(stream, *arguments)
    with pytest.raises(TypeError):
        mechanism.release_column(stream, [np.arange(2), np.arange(2.0)], None, out)
    for numbers, bits in ((np.arange(9), 1), (np.arange(9)[::2], 1), (np.ones((3, 3)), 2), (np.ones(8, complex), 1)):
        with pytest.raises(ValueError, match="numbers and bits must be contiguous, a bit for every number"):
            _native.ArrowArray(numbers, np.zeros(bits, np.uint8))
    with pytest.raises(ValueError, match="the capsule must lend a column of numbers"):
        _native.arrow_chunks(pl.Series(["a"]).__arrow_c_stream__(None))
    with pytest.raises((ValueError, TypeError)):
        _native.arrow_chunks(pa.array([1]).__arrow_c_array__()[1])
    assert stream.fill_count == 0
