"""``release`` of columns with nulls: each rule for nulls, and the memory under a null.

Evidence: a column's release against that of the equal array with the same seed, and noise of 0 (ε = 60) where numbers are
compared with the input.
"""

import numpy as np
import pytest

import stairnoise as sn
from tests.by_method.columns import BEYOND, HOLDERS, SILENT, WITH_NULLS, kind, listed, seeded, wide
from tests.combinations import looped

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


@looped("dtype", ["int64", "uint8"])
@looped("holder", WITH_NULLS)
def test_nulls(holder, dtype):
    values = [BEYOND if dtype == "int64" else 200, None, 7, None]
    column = HOLDERS[holder](values, dtype)
    rng = seeded()
    with pytest.raises(sn.ParameterError) as caught:
        SILENT.release(column, rng=rng)
    text = 'values must not be null without nulls="zero" or nulls="keep", got a null at index (1,)'
    assert str(caught.value) == text
    assert rng._stream.fill_count == 0
    for nulls, instead in (("zero", 0), ("keep", None)):
        found = SILENT.release(column, nulls=nulls, rng=seeded())
        assert (type(found), kind(found)) == wide(holder)
        assert listed(found) == [instead if value is None else value for value in values]


@pytest.mark.parametrize("holder", WITH_NULLS)
def test_a_null_changes_nothing_at_other_places(holder):
    """Noise depends on the position: values equal the release of the array with 0 for null."""
    mechanism, values = sn.DiscreteLaplace(0.1), [5, None, 7, None, 9]
    column = HOLDERS[holder](values, "int64")
    exact = mechanism.release([0 if value is None else value for value in values], rng=seeded()).tolist()
    assert listed(mechanism.release(column, nulls="zero", rng=seeded())) == exact
    kept = [None if value is None else number for value, number in zip(values, exact, strict=True)]
    assert listed(mechanism.release(column, nulls="keep", rng=seeded())) == kept


@pytest.mark.parametrize("holder", WITH_NULLS)
def test_columns_of_nulls_alone(holder):
    column = HOLDERS[holder]([None, None], "int16")
    assert listed(SILENT.release(column, nulls="keep")) == [None, None]
    assert listed(SILENT.release(column, nulls="zero")) == [0, 0]


def test_what_is_behind_a_null_does_not_get_out():
    """Arrow and pandas keep a number under a null. The release has neither this number nor noise there, and accepts NaN there."""
    hidden = pa.Array.from_buffers(pa.int64(), 2, [pa.py_buffer(b"\1"), pa.py_buffer(np.array([1, 77]))])
    kept = sn.DiscreteLaplace(2**-10).release(hidden, nulls="keep")
    assert np.frombuffer(kept.buffers()[1], np.int64)[1] == 0
    assert SILENT.release(hidden, nulls="zero").to_pylist() == [1, 0]
    hidden = pa.Array.from_buffers(pa.float64(), 2, [pa.py_buffer(b"\1"), pa.py_buffer(np.array([1.0, np.nan]))])
    assert sn.Laplace(1, sensitivity=1).release(hidden, nulls="keep").null_count == 1
    masked = pd.array([1, 77], dtype="Int64")
    masked[1] = pd.NA
    assert listed(SILENT.release(masked, nulls="zero")) == [1, 0]


@pytest.mark.parametrize("nulls", ["drop", "", None, True, 0, ["keep"]])
def test_another_rule_for_nulls(nulls):
    for values in (5, [1, 2], np.array([1, 2]), pd.Series([1, 2])):
        with pytest.raises(sn.ParameterError) as caught:
            SILENT.release(values, nulls=nulls)
        assert str(caught.value) == f'nulls must be "refuse", "zero" or "keep", got {nulls!r}'


def test_arrays_have_no_nulls_to_rule_on():
    assert SILENT.release(np.array([1, 2]), nulls="keep").tolist() == [1, 2]
    with pytest.raises(sn.ParameterError, match="must be finite"):
        SILENT.release(np.array([1, np.nan]), nulls="keep")
