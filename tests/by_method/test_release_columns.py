"""``release`` of columns: what it returns, and what it refuses before any draw.

Evidence: a column's release against that of the equal array with the same seed, and noise of 0 (ε = 60) where numbers are
compared with the input.
"""

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.by_method.columns import HOLDERS, INTEGERS, SILENT, kind, listed, seeded, wide
from tests.combinations import looped

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


@pytest.mark.parametrize("holder", HOLDERS)
def test_an_integer_column_comes_back_signed_with_64_bits(holder):
    """Values equal the array's release with this seed, also below 0 and beyond the ends of the column's type."""
    mechanism = sn.DiscreteLaplace(0.1)
    for dtype in INTEGERS:
        ends = np.iinfo(dtype)
        values = [0, 3, 100, ends.min, min(ends.max, 2**63 - 1)] * 20
        found = mechanism.release(HOLDERS[holder](values, dtype), rng=seeded())
        assert (type(found), kind(found)) == wide(holder), dtype
        exact = mechanism.release(np.array(values, np.int64), rng=seeded()).tolist()
        assert listed(found) == exact, dtype
        assert min(exact) < ends.min or ends.min == -(2**63)
        assert max(exact) > ends.max or ends.max >= 2**63 - 1


@pytest.mark.parametrize("holder", HOLDERS)
def test_an_empty_column(holder):
    column = HOLDERS[holder]([], "int32")
    found = sn.DiscreteLaplace(1).release(column)
    assert (type(found), kind(found), len(found)) == (*wide(holder), 0)


def test_small_groups_are_not_too_large_on_average():
    """Polars counts are UInt32, but the noise of empty groups must have the mean 0. False alarms: 6 sigma, below 1e-8."""
    wards = pl.DataFrame({"ward": np.arange(10_000)}).join(pl.DataFrame({"ward": [1], "person": [1]}), on="ward", how="left")
    counts = wards.group_by("ward").agg(pl.col("person").count())
    assert counts["person"].dtype == pl.UInt32
    mechanism = sn.DiscreteLaplace(0.1)
    found = mechanism.release(counts, columns="person", rng=seeded())["person"]
    assert abs(found.mean() - 1e-4) < 6 * mechanism.std() / 100


@looped("holder", HOLDERS)
@looped(
    "mechanism",
    [sn.Laplace(1.0, sensitivity=1), sn.Gaussian(1, 1e-6, sensitivity=1), sn.Staircase(np.linspace(1, 2, 4), sensitivity=1)],
)
def test_a_continuous_mechanism_makes_floats_of_integers(holder, mechanism):
    values = [0, 3, 100, 7]
    column = HOLDERS[holder](values, "int32")
    found = mechanism.release(column, rng=seeded())
    assert type(found).__module__.partition(".")[0] == type(column).__module__.partition(".")[0]
    assert str(kind(found)) in ("float64", "Float64", "double[pyarrow]", "double")
    assert listed(found) == mechanism.release(np.array(values), rng=seeded()).tolist()


FLOATS: dict[str, Callable[[list[float], int], Any]] = {
    "Series": lambda v, bits: pd.Series(v, dtype=f"float{bits}"),
    "nullable Series": lambda v, bits: pd.Series(v, dtype=f"Float{bits}"),
    "Arrow Series": lambda v, bits: pd.Series(v, dtype=f"{'float' if bits == 32 else 'double'}[pyarrow]"),
    "Polars": lambda v, bits: pl.Series(v, dtype=pl.Float32 if bits == 32 else pl.Float64),
    "Arrow": lambda v, bits: pa.array(v, type=pa.float32() if bits == 32 else pa.float64()),
}


@looped("mechanism", [sn.Laplace(1.0, sensitivity=1), sn.DiscreteLaplace(1.0, 1)])
@looped("bits", [32, 64])
@looped("holder", FLOATS)
def test_floats_keep_their_type(holder, bits, mechanism):
    values = [0.1, -2.5, 1e6]
    column = FLOATS[holder](values, bits)
    found = mechanism.release(column, rng=seeded())
    assert type(found) is type(column)
    assert kind(found) == kind(column)
    assert listed(found) == mechanism.release(np.array(values, f"f{bits // 8}"), rng=seeded()).tolist()


@pytest.mark.parametrize("holder", FLOATS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nan_is_no_null(holder, bad):
    """pandas reads NaN as missing when it converts to a nullable or Arrow type, so the test builds these arrays from parts."""
    column = FLOATS[holder]([0.0, 1.0], 64)
    if holder == "nullable Series":
        column = pd.Series(pd.arrays.FloatingArray(np.array([0.0, bad]), np.array([False, False])))
    elif holder == "Arrow Series":
        column = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([[0.0, bad]])))
    else:
        column = FLOATS[holder]([0.0, bad], 64)
    rng = seeded()
    for nulls in ("refuse", "zero", "keep"):
        with pytest.raises(sn.ParameterError) as caught:
            sn.Laplace(1, sensitivity=1).release(column, nulls=nulls, rng=rng)
        assert str(caught.value) == "values must be finite, got one that is not at index (1,)"
    assert rng._stream.fill_count == 0


def test_half_precision_comes_back_as_an_array_of_it_would():
    for column in (
        pd.Series([1.5], dtype="float16"),
        pa.array(np.array([1.5], np.float16)),
        pd.Series(np.array([1.5], np.float16), dtype="halffloat[pyarrow]"),
    ):
        assert str(kind(sn.Laplace(1, sensitivity=1).release(column))) in ("float64", "double", "double[pyarrow]")


# Indices, names and attributes


class Measured(pd.Series):
    """A subclass made as pandas documents."""

    _metadata = (*pd.Series._metadata, "unit")

    @property
    def _constructor(self):
        return Measured


def test_series_keep_index_name_attrs_flags_and_class():
    series = Measured([1, 2], index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]), name=("x", 1)).set_flags(
        allows_duplicate_labels=False
    )
    series.attrs["source"], series.unit = "census", "people"
    found = SILENT.release(series)
    assert type(found) is Measured
    assert (found.name, found.attrs, found.unit, found.flags.allows_duplicate_labels) == (
        ("x", 1),
        {"source": "census"},
        "people",
        False,
    )
    pd.testing.assert_series_equal(found, series)
    found.iloc[0] = 5
    assert series.iloc[0] == 1


def test_chunks_are_kept():
    column = pa.chunked_array([[1, 2], [], [3], [None, 5]])
    found = SILENT.release(column, nulls="keep")
    assert [chunk.to_pylist() for chunk in found.chunks] == [[1, 2], [], [3], [None, 5]]
    series = pl.concat([pl.Series([1, 2]), pl.Series([3])], rechunk=False)
    assert SILENT.release(series).chunk_lengths() == [2, 1]


def test_slices_and_big_endian_series():
    series = pd.Series(np.arange(10, dtype=">i4"))[::-3]
    found = SILENT.release(series)
    assert found.tolist() == [9, 6, 3, 0]
    assert found.index.tolist() == [9, 6, 3, 0]
    assert found.dtype == np.dtype("=i8")
    bits = pa.array([None, 1, None, 3, 4, None, 6, 7, 8, None, 10, None])
    for start in range(12):
        for stop in range(start, 13):
            part = bits[start:stop]
            assert SILENT.release(part, nulls="keep").to_pylist() == part.to_pylist()


def test_a_sparse_series_becomes_dense():
    series = pd.Series(pd.arrays.SparseArray([0, 0, 5]), name="n")
    pd.testing.assert_series_equal(SILENT.release(series), pd.Series([0, 0, 5], name="n"))


def test_long_columns_are_read_in_parts():
    """Every part that the extension reads at a time has nulls, and so have the chunks of Polars."""
    values = np.arange(1_200_000)
    series = pl.Series(values).set(pl.Series(values % 7 == 0), None)
    mechanism = sn.DiscreteLaplace(1)
    exact = mechanism.release(np.where(values % 7 == 0, 0, values), rng=seeded())
    found = mechanism.release(series, nulls="keep", rng=seeded())
    assert np.array_equal(found.is_null().to_numpy(), values % 7 == 0)
    assert np.array_equal(found.fill_null(0).to_numpy(), np.where(values % 7 == 0, 0, exact))
    assert mechanism.release(pl.concat([series, series], rechunk=False), nulls="zero").chunk_lengths() == [1_200_000] * 2


# Refusals

NO_NUMBERS = {
    "bool": lambda: [pd.Series([True]), pd.array([True], dtype="boolean"), pl.Series([True]), pa.array([True])],
    "text": lambda: [pd.Series(["a"]), pd.Series(["a"], dtype="string"), pl.Series(["a"]), pa.array(["a"])],
    "objects": lambda: [pd.Series([Decimal(1)]), pd.Series([1, None], dtype=object), pl.Series([object()])],
    "categories": lambda: [
        *(pd.Series([1, 2], dtype="category"), pd.CategoricalIndex([1]), pa.array([1]).dictionary_encode()),
        *(pl.Series(["a"], dtype=pl.Categorical), pl.Series(["a"], dtype=pl.Enum(["a"]))),
    ],
    "times": lambda: [
        *(pd.Series([pd.Timestamp(0)]), pd.DatetimeIndex([0]), pd.Series([pd.Timedelta(1)])),
        *(pl.Series([datetime.date(2020, 1, 1)]), pa.array([datetime.date(2020, 1, 1)])),
    ],
    "nested": lambda: [
        *(pl.Series([[1]]), pl.Series([{"a": 1}]), pa.array([[1]]), pa.array([{"a": 1}])),
        *(pd.Series(pd.arrays.IntervalArray.from_breaks([0, 1])), pd.MultiIndex.from_tuples([(1, 2)])),
    ],
    "nulls alone": lambda: [pa.nulls(2), pl.Series([None, None]), pd.Series([None, None])],
    "complex": lambda: [pd.Series([1j])],
}


@pytest.mark.parametrize("kind_of", NO_NUMBERS)
def test_columns_of_something_else_are_refused(kind_of):
    rng = seeded()
    for column in NO_NUMBERS[kind_of]():
        with pytest.raises(sn.ParameterTypeError) as caught:
            SILENT.release(column, nulls="zero", rng=rng)
        assert str(caught.value).startswith(f"values must be a column of real numbers, got a {type(column).__name__} of dtype ")
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize("holder", HOLDERS)
def test_out_is_for_arrays(holder):
    with pytest.raises(sn.ParameterError) as caught:
        SILENT.release(HOLDERS[holder]([1], "int64"), out=np.zeros(1, np.int64))
    assert (
        str(caught.value)
        == "out must be left out for a column, which comes back as a new one, got an array of dtype int64 and shape (1,)"
    )


def test_columns_are_for_frames():
    for values in (5, [1, 2], np.ones((2, 2)), np.zeros(1, [("n", "i8")]), pd.Series([1, 2]), pl.Series([1]), {"n": [1]}):
        with pytest.raises(
            sn.ParameterError, match="columns must be left out for values that have no named columns, got 'n' beside a"
        ):
            SILENT.release(values, columns="n")


def test_a_class_that_cannot_be_made_again():
    class Stubborn(pd.Series):
        @property
        def _constructor(self):
            raise RuntimeError("never")

    with pytest.raises(sn.ParameterTypeError) as caught:
        SILENT.release(Stubborn([1]))
    assert str(caught.value) == "values must be of a class that can be read and made again, got a value of type Stubborn"


def test_seeds_are_refused():
    with pytest.raises(sn.ParameterError, match="rng must be a SecureRng for a release"):
        SILENT.release(pd.Series([1]), rng=sn.SeededRng(1))


def test_threads_do_not_matter():
    column = pa.array(np.arange(300_000))
    mechanism = sn.DiscreteLaplace(1)
    assert mechanism.release(column, threads=1, rng=seeded()).equals(mechanism.release(column, threads=2, rng=seeded()))
