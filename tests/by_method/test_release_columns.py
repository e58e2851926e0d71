"""``release`` of columns and frames: what comes back, nulls, ends of types, refusals that draw nothing.

Evidence: a column's release against that of the equal array with the same seed, and noise of 0 (ε = 60) where numbers are
compared with what was put in. Saturation is computed here in Python's integers.
"""

import datetime
import decimal
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import stairnoise as sn

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

# Noise of 0 but for a probability of 2 e^-60 a value.
SILENT = sn.DiscreteLaplace(60.0)
BEYOND = 2**53 + 1
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
POLARS = {name: getattr(pl, name.replace("u", "U").replace("int", "Int")) for name in INTEGERS}
NULLABLE = {name: name.replace("u", "U").replace("int", "Int") for name in INTEGERS}


def seeded() -> sn.SeededRng:
    return sn.SeededRng(4, allow_release=True)


def listed(column: Any) -> list[Any]:
    """The column as Python numbers, None for null."""
    items = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return [None if item is None or item is pd.NA else int(item) if isinstance(item, Decimal) else item for item in items]


Make = Callable[[list[Any], str], Any]

# How each library holds integers of a type.
HOLDERS: dict[str, Make] = {
    "Series": lambda v, t: pd.Series(v, dtype=t, index=range(10, 10 + len(v)), name="n"),
    "nullable Series": lambda v, t: pd.Series(v, dtype=NULLABLE[t], index=range(10, 10 + len(v)), name="n"),
    "Arrow Series": lambda v, t: pd.Series(v, dtype=f"{t}[pyarrow]", index=range(10, 10 + len(v)), name="n"),
    "NumPy extension array": lambda v, t: pd.array(np.array(v, t), dtype=np.dtype(t)),
    "nullable array": lambda v, t: pd.array(v, dtype=NULLABLE[t]),
    "Arrow extension array": lambda v, t: pd.array(v, dtype=f"{t}[pyarrow]"),
    "Index": lambda v, t: pd.Index(v, dtype=t, name="n"),
    "Polars": lambda v, t: pl.Series("n", v, dtype=POLARS[t]),
    "Polars chunks": lambda v, t: pl.concat([pl.Series("n", part, dtype=POLARS[t]) for part in (v[:1], v[1:])], rechunk=False),
    "Arrow": lambda v, t: pa.array(v, type=getattr(pa, t)()),
    "Arrow slice": lambda v, t: pa.array([1, *v, 1], type=getattr(pa, t)())[1:-1],
    "Arrow chunks": lambda v, t: pa.chunked_array([v[:1], [], v[1:]], type=getattr(pa, t)()),
    "no chunks": lambda v, t: pa.chunked_array([v] if v else [], type=getattr(pa, t)()),
}
# Those that can hold a null.
WITH_NULLS = [name for name in HOLDERS if name not in ("Series", "NumPy extension array", "Index")]


def kind(column: Any) -> Any:
    return column.type if hasattr(column, "type") else column.dtype


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("holder", HOLDERS)
def test_an_integer_column_comes_back_as_it_was(holder, dtype):
    """Class, type and values: those of the equal array's release with this seed, cut off at the ends of the type."""
    ends = np.iinfo(dtype)
    values = [0, 3, 100, ends.min, min(ends.max, 2**63 - 1)] * 5
    column = HOLDERS[holder](values, dtype)
    law = sn.DiscreteLaplace(0.1)
    found = law.release(column, rng=seeded())
    assert type(found) is type(column)
    assert kind(found) == kind(column)
    exact = law.release(np.array(values, np.int64), rng=seeded()).tolist()
    assert listed(found) == [min(max(number, ends.min), ends.max) for number in exact]
    assert len(set(exact)) > 5


@pytest.mark.parametrize("holder", HOLDERS)
def test_an_empty_column(holder):
    column = HOLDERS[holder]([], "int32")
    found = sn.DiscreteLaplace(1).release(column)
    assert (type(found), kind(found), len(found)) == (type(column), kind(column), 0)


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize(
    "law", [sn.Laplace(1.0), sn.Gaussian(1, 1e-6), sn.Staircase(np.linspace(1, 2, 4))], ids=lambda law: type(law).__name__
)
def test_a_continuous_law_makes_floats_of_integers(holder, law):
    values = [0, 3, 100, 7]
    column = HOLDERS[holder](values, "int32")
    found = law.release(column, rng=seeded())
    assert type(found).__module__.partition(".")[0] == type(column).__module__.partition(".")[0]
    assert str(kind(found)) in ("float64", "Float64", "double[pyarrow]", "double")
    assert listed(found) == law.release(np.array(values), rng=seeded()).tolist()


FLOATS: dict[str, Callable[[list[float], int], Any]] = {
    "Series": lambda v, bits: pd.Series(v, dtype=f"float{bits}"),
    "nullable Series": lambda v, bits: pd.Series(v, dtype=f"Float{bits}"),
    "Arrow Series": lambda v, bits: pd.Series(v, dtype=f"{'float' if bits == 32 else 'double'}[pyarrow]"),
    "Polars": lambda v, bits: pl.Series(v, dtype=pl.Float32 if bits == 32 else pl.Float64),
    "Arrow": lambda v, bits: pa.array(v, type=pa.float32() if bits == 32 else pa.float64()),
}


@pytest.mark.parametrize("law", [sn.Laplace(1.0), sn.DiscreteLaplace(1.0)], ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("holder", FLOATS)
def test_floats_keep_their_type(holder, bits, law):
    values = [0.1, -2.5, 1e6]
    column = FLOATS[holder](values, bits)
    found = law.release(column, rng=seeded())
    assert type(found) is type(column)
    assert kind(found) == kind(column)
    assert listed(found) == law.release(np.array(values, f"f{bits // 8}"), rng=seeded()).tolist()


@pytest.mark.parametrize("holder", FLOATS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nan_is_no_null(holder, bad):
    """pandas itself reads NaN as missing when it makes a nullable or Arrow type, so these arrays are made from their parts."""
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
            sn.Laplace(1).release(column, nulls=nulls, rng=rng)
        assert str(caught.value) == "values must be finite, got one that is not at index (1,)"
    assert rng._stream.fill_count == 0


def test_half_precision_comes_back_as_an_array_of_it_would():
    for column in (
        pd.Series([1.5], dtype="float16"),
        pa.array(np.array([1.5], np.float16)),
        pd.Series(np.array([1.5], np.float16), dtype="halffloat[pyarrow]"),
    ):
        assert str(kind(sn.Laplace(1).release(column))) in ("float64", "double", "double[pyarrow]")


# Nulls


@pytest.mark.parametrize("dtype", ["int64", "uint8"])
@pytest.mark.parametrize("holder", WITH_NULLS)
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
        assert type(found) is type(column)
        assert kind(found) == kind(column)
        assert listed(found) == [instead if value is None else value for value in values]


@pytest.mark.parametrize("holder", WITH_NULLS)
def test_a_null_changes_nothing_at_other_places(holder):
    """Noise by place: that of the equal array with 0 for null."""
    law, values = sn.DiscreteLaplace(0.1), [5, None, 7, None, 9]
    column = HOLDERS[holder](values, "int64")
    exact = law.release([0 if value is None else value for value in values], rng=seeded()).tolist()
    assert listed(law.release(column, nulls="zero", rng=seeded())) == exact
    kept = [None if value is None else number for value, number in zip(values, exact, strict=True)]
    assert listed(law.release(column, nulls="keep", rng=seeded())) == kept


@pytest.mark.parametrize("holder", WITH_NULLS)
def test_columns_of_nulls_alone(holder):
    column = HOLDERS[holder]([None, None], "int16")
    assert listed(SILENT.release(column, nulls="keep")) == [None, None]
    assert listed(SILENT.release(column, nulls="zero")) == [0, 0]


def test_what_is_behind_a_null_does_not_get_out():
    """Arrow and pandas keep a number in the place of a null. Neither it nor noise is left there, and NaN does no harm there."""
    hidden = pa.Array.from_buffers(pa.int64(), 2, [pa.py_buffer(b"\1"), pa.py_buffer(np.array([1, 77]))])
    kept = sn.DiscreteLaplace(2**-10).release(hidden, nulls="keep")
    assert np.frombuffer(kept.buffers()[1], np.int64)[1] == 0
    assert SILENT.release(hidden, nulls="zero").to_pylist() == [1, 0]
    hidden = pa.Array.from_buffers(pa.float64(), 2, [pa.py_buffer(b"\1"), pa.py_buffer(np.array([1.0, np.nan]))])
    assert sn.Laplace(1).release(hidden, nulls="keep").null_count == 1
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


# Decimals and integers of 128 bits, as sums in databases have them


def decimals(values: list[int | None]) -> list[Decimal | None]:
    return [None if value is None else Decimal(value) for value in values]


DECIMALS = {
    "Polars": lambda v: pl.Series(decimals(v), dtype=pl.Decimal(38, 0)),
    "Arrow": lambda v: pa.array(decimals(v), type=pa.decimal128(38, 0)),
    "Arrow slice": lambda v: pa.array(decimals([1, *v, 1]), type=pa.decimal128(38, 0))[1:-1],
    "256 bits": lambda v: pa.array(decimals(v), type=pa.decimal256(60, 0)),
    "Arrow Series": lambda v: pd.Series(decimals(v), dtype=pd.ArrowDtype(pa.decimal128(38, 0))),
}
if hasattr(pl, "Int128"):
    DECIMALS["Int128"] = lambda v: pl.Series(v, dtype=pl.Int128)


@pytest.mark.parametrize("holder", DECIMALS)
def test_decimals_of_scale_0_are_integers(holder):
    values = [BEYOND, -BEYOND, None, 0, 2**63 - 1, -(2**63)]
    column = DECIMALS[holder](values)
    found = SILENT.release(column, nulls="keep")
    assert type(found) is type(column)
    assert kind(found) == kind(column)
    assert listed(found) == values
    assert listed(SILENT.release(column, nulls="zero")) == [value or 0 for value in values]
    assert str(kind(sn.Laplace(1).release(column, nulls="zero"))) in ("Float64", "double", "double[pyarrow]")


@pytest.mark.parametrize("beyond", [2**63, -(2**63) - 1, 2**64, -(2**64), 10**37])
@pytest.mark.parametrize("holder", DECIMALS)
def test_decimals_beyond_int64_are_refused(holder, beyond):
    rng = seeded()
    with pytest.raises(sn.ParameterError) as caught:
        SILENT.release(DECIMALS[holder]([1, None, beyond]), nulls="zero", rng=rng)
    assert str(caught.value) == "values must be within int64, got one that is not at index (2,)"
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize(
    "column",
    [pa.array([Decimal(999), Decimal(-999)] * 20), pl.Series([Decimal(999), Decimal(-999)] * 20, dtype=pl.Decimal(3, 0))],
)
def test_decimals_are_cut_off_at_their_digits(column):
    law = sn.DiscreteLaplace(0.1)
    exact = law.release(np.array([999, -999] * 20), rng=seeded()).tolist()
    assert max(exact) > 999
    assert listed(law.release(column, rng=seeded())) == [min(max(number, -999), 999) for number in exact]


@pytest.mark.skipif(not hasattr(pl, "UInt128"), reason="this Polars has no UInt128")
def test_wide_unsigned_integers_are_cut_off_at_zero():
    column = pl.Series([0, 2**63 - 1] * 20, dtype=pl.UInt128)
    law = sn.DiscreteLaplace(0.1)
    exact = law.release(np.array([0, 2**63 - 1] * 20), rng=seeded()).tolist()
    assert min(exact) < 0
    found = law.release(column, rng=seeded())
    assert found.dtype == pl.UInt128
    assert found.to_list() == [max(number, 0) for number in exact]
    with pytest.raises(sn.ParameterError, match=r"values must be within int64, got one that is not at index \(1,\)"):
        law.release(pl.Series([0, 2**63], dtype=pl.UInt128))


def test_decimals_with_digits_after_the_point_are_refused():
    for column in (
        pa.array([Decimal("1.25")]),
        pl.Series([Decimal("1.25")]),
        pd.Series([Decimal("1.25")], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
    ):
        with pytest.raises(
            sn.ParameterError,
            match="values must be decimals of scale 0, or be converted to float64 or to integers of a smaller unit",
        ):
            sn.Laplace(1).release(column)


def test_unsigned_integers_that_int64_does_not_hold_are_refused():
    for column in (
        pd.Series([1, 2**63], dtype="uint64"),
        pl.Series([1, 2**63], dtype=pl.UInt64),
        pa.array([1, 2**63], type=pa.uint64()),
    ):
        with pytest.raises(sn.ParameterError) as caught:
            SILENT.release(column)
        assert str(caught.value) == "values must be within int64, got one that is not at index (1,)"


# What is kept beside the values


class Measured(pd.Series):
    """A subclass as pandas documents them."""

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
    assert found.dtype == np.dtype("=i4")
    bits = pa.array([None, 1, None, 3, 4, None, 6, 7, 8, None, 10, None])
    for start in range(12):
        for stop in range(start, 13):
            part = bits[start:stop]
            assert SILENT.release(part, nulls="keep").to_pylist() == part.to_pylist()


def test_a_sparse_series_becomes_dense():
    series = pd.Series(pd.arrays.SparseArray([0, 0, 5]), name="n")
    pd.testing.assert_series_equal(SILENT.release(series), pd.Series([0, 0, 5], name="n"))


def test_long_columns_are_read_in_parts():
    """Longer than one block of those in which Polars is read."""
    values = np.arange(1_200_000)
    series = pl.Series(values).set(pl.Series(values % 7 == 0), None)
    law = sn.DiscreteLaplace(1)
    exact = law.release(np.where(values % 7 == 0, 0, values), rng=seeded())
    found = law.release(series, nulls="keep", rng=seeded())
    assert np.array_equal(found.is_null().to_numpy(), values % 7 == 0)
    assert np.array_equal(found.fill_null(0).to_numpy(), np.where(values % 7 == 0, 0, exact))
    assert law.release(pl.concat([series, series], rechunk=False), nulls="zero").chunk_lengths() == [1_200_000] * 2


# Frames


def frames() -> dict[str, Any]:
    pandas = pd.DataFrame(
        {"group": ["a", "b", "c"], "n": np.array([1, 2, 3], np.int32), "x": [0.5, 1.5, 2.5], "m": [7, 8, 9]}, index=[5, 6, 7]
    )
    pandas.attrs["source"] = "census"
    table = pa.Table.from_pandas(pandas, preserve_index=False).replace_schema_metadata({b"key": b"value"})
    field = table.schema.field("n").with_metadata({b"unit": b"people"})
    table = table.cast(table.schema.set(1, field))
    return {
        "pandas": pandas,
        "Polars": pl.DataFrame(pandas),
        "Table": table,
        "RecordBatch": table.to_batches()[0],
    }


def labels(frame: Any) -> list[str]:
    return list(frame.schema.names if isinstance(frame, (pa.Table, pa.RecordBatch)) else frame.columns)


frame_names = pytest.mark.parametrize("library", ["pandas", "Polars", "Table", "RecordBatch"])


@frame_names
def test_frames(library):
    """Each column has the next fill of the generator; the others, and all that belongs to the frame, are untouched."""
    frame, law = frames()[library], sn.DiscreteLaplace(0.1)
    rng = seeded()
    found = law.release(frame, columns=["x", "n"], rng=rng)
    assert rng._stream.fill_count == 2
    assert type(found) is type(frame)
    rng = seeded()
    x = law.release(np.array([0.5, 1.5, 2.5]), rng=rng)
    n = law.release(np.array([1, 2, 3]), rng=rng)
    assert listed(found["x"]) == x.tolist()
    assert listed(found["n"]) == n.tolist()
    assert kind(found["n"]) == kind(frame["n"])
    assert listed(found["group"]) == ["a", "b", "c"]
    assert listed(found["m"]) == [7, 8, 9]
    assert listed(frame["n"]) == [1, 2, 3]
    assert labels(found) == labels(frame) == ["group", "n", "x", "m"]
    if library == "pandas":
        assert found.index.tolist() == [5, 6, 7]
        assert found.attrs == {"source": "census"}
        found.loc[5, "m"] = 0
        assert frame.loc[5, "m"] == 7
    if library in ("Table", "RecordBatch"):
        assert found.schema == frame.schema
        assert found.schema.metadata == {b"key": b"value"}
        assert found.schema.field("n").metadata == {b"unit": b"people"}


@frame_names
def test_one_name_and_several_kinds_of_lists(library):
    frame = frames()[library]
    for columns in ("n", ["n"], ("n",), pd.Index(["n"])):
        assert listed(SILENT.release(frame, columns=columns)["n"]) == [1, 2, 3]


@frame_names
@pytest.mark.parametrize(
    ("columns", "error", "text"),
    [
        (None, sn.ParameterError, "columns must name the columns to release, got None beside a value of type "),
        ([], sn.ParameterError, "columns must name at least one column, got none"),
        (["n", "k"], sn.ParameterError, "columns must name columns of the frame, got 'k' at index (1,), which names none"),
        (["n", "n"], sn.ParameterError, "columns must name each column once, got 'n' again at index (1,)"),
        ([0], sn.ParameterError, "columns must name columns of the frame, got 0 at index (0,), which names none"),
        ([["n"]], sn.ParameterTypeError, "columns must be a text or a list of names, got ['n'] at index (0,)"),
        (5, sn.ParameterTypeError, "columns must be a text or a list of names, got 5"),
        ({"n"}, sn.ParameterTypeError, "columns must be a text or a list of names, got a value of type set"),
        (["n", (1, sn.SeededRng(1))], sn.ParameterTypeError, "columns must be a text or a list of names, got "),
        (["n", sn.SeededRng(1)], sn.ParameterTypeError, "columns must be a text or a list of names, got "),
        (["group"], sn.ParameterTypeError, "values must be a column of real numbers, got a "),
    ],
)
def test_columns_that_a_frame_does_not_have(library, columns, error, text):
    rng = seeded()
    with pytest.raises(error) as caught:
        SILENT.release(frames()[library], columns=columns, rng=rng)
    assert str(caught.value).startswith(text)
    assert rng._stream.fill_count == 0


def test_names_that_several_columns_have():
    frame = pd.DataFrame([[1, 2, 3]], columns=["n", "n", "m"])
    table = pa.Table.from_arrays([pa.array([1])] * 2, names=["n", "n"])
    for each in (frame, table):
        with pytest.raises(sn.ParameterError) as caught:
            SILENT.release(each, columns=["n"])
        assert str(caught.value) == "columns must name columns of the frame, got 'n' at index (0,), which more than one has"
    assert SILENT.release(frame, columns=["m"]).to_numpy().tolist() == [[1, 2, 3]]


def test_labels_of_pandas_that_are_no_text():
    frame = pd.DataFrame([[1, 2], [3, 4]])
    assert SILENT.release(frame, columns=[1, 0]).to_numpy().tolist() == [[1, 2], [3, 4]]
    frame.columns = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])
    assert SILENT.release(frame, columns=[("a", "y")]).to_numpy().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(sn.ParameterError, match="which more than one has"):
        SILENT.release(frame, columns=["a"])


@frame_names
@pytest.mark.parametrize(
    "law", [sn.Laplace(1), sn.Laplace([1.0, 2.0, 3.0]), sn.Gaussian(1, 1e-6)], ids=lambda law: type(law).__name__
)
def test_nothing_is_drawn_if_any_column_is_refused(library, law):
    """Also where the extension finds the reason: a number that is not finite or too large in the second column."""
    for bad, text in (
        (np.inf, "values must be finite, got one that is not"),
        (1e300, "values must be below 2**126 times the granularity in magnitude, got a larger one"),
    ):
        frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, bad, 2.0]})
        made = {"pandas": frame, "Polars": pl.DataFrame(frame), "Table": pa.table(frame), "RecordBatch": pa.record_batch(frame)}[
            library
        ]
        rng = seeded()
        with pytest.raises(sn.ParameterError) as caught:
            law.release(made, columns=["a", "b"], rng=rng)
        assert str(caught.value) == f"{text} at index (1,) of columns[1]"
        assert rng._stream.fill_count == 0


def test_nulls_of_a_frame_are_named_by_column_and_place():
    frame = pl.DataFrame({"a": [1, 2], "b": [None, 2]})
    with pytest.raises(sn.ParameterError, match=r"got a null at index \(0,\) of columns\[1\]$"):
        SILENT.release(frame, columns=["a", "b"])
    assert SILENT.release(frame, columns=["a", "b"], nulls="keep").rows() == [(1, None), (2, 2)]


def test_partitions_count_the_cells_of_all_columns():
    """One generator, k = 2: the noise of each cell is that of the mechanism for 2 values."""
    frame, law = pl.DataFrame({"a": [1, 2], "b": [3, 4]}), sn.DiscreteLaplace(1)
    rng = seeded()
    found = law.release(frame, columns=["a", "b"], max_partitions_contributed=2, rng=rng)
    rng, wider = seeded(), law.for_partitions(2)
    assert found["a"].to_list() == wider.release([1, 2], rng=rng).tolist()
    assert found["b"].to_list() == wider.release([3, 4], rng=rng).tolist()


# Array parameters, vectors, norms


def test_array_parameters_belong_to_the_rows():
    law = sn.DiscreteLaplace([1.0, 2.0, 3.0])
    column = pl.Series([5, 6, 7])
    assert law.release(column, rng=seeded()).to_list() == law.release([5, 6, 7], rng=seeded()).tolist()
    for values, shape in ((pl.Series([5]), "(1,)"), (pd.Series([5]), "(1,)")):
        with pytest.raises(sn.ParameterError) as caught:
            law.release(values)
        assert str(caught.value) == (
            "values must have the shape that they and the parameters, of shape (3,), broadcast to, "
            f"because a column comes back as one, got {shape}"
        )
    with pytest.raises(sn.ParameterError, match="values must have a shape that broadcasts with the parameters"):
        law.release(pl.Series([1, 2]))
    with pytest.raises(sn.ParameterError, match="because a column comes back as one"):
        sn.Laplace([[1.0], [2.0]]).release(column)


def test_a_column_is_one_vector_and_the_rows_of_a_frame_are_vectors():
    law = sn.MultivariateStaircase(1, dim=2)
    column = pd.Series([1.5, 2.5], index=["x", "y"])
    found = law.release(column, rng=seeded())
    assert found.tolist() == law.release([1.5, 2.5], rng=seeded()).tolist()
    assert found.index.tolist() == ["x", "y"]
    frame = pd.DataFrame({"x": [1, 2, 3], "g": list("abc"), "y": [4.5, 5.5, 6.5]})
    found = law.release(frame, columns=["y", "x"], rng=seeded())
    exact = law.release(np.array([[4.5, 1], [5.5, 2], [6.5, 3]]), rng=seeded())
    assert found[["y", "x"]].to_numpy().tolist() == exact.tolist()
    assert found["g"].tolist() == list("abc")
    single = pl.DataFrame({"x": [1.5], "y": [2.5]}, schema={"x": pl.Float32, "y": pl.Float32})
    assert law.release(single, columns=["x", "y"]).dtypes == [pl.Float32] * 2


def test_vectors_of_another_length():
    law, rng = sn.MultivariateStaircase(1, dim=2), seeded()
    frame = pl.DataFrame({"x": [1.0], "y": [1.0], "z": [1.0]})
    for columns in (["x"], ["x", "y", "z"]):
        with pytest.raises(
            sn.ParameterError, match=rf"values must have a last axis of length dim = 2, got shape \(1, {len(columns)}\)"
        ):
            law.release(frame, columns=columns, rng=rng)
    with pytest.raises(sn.ParameterError, match="values must have a last axis of length dim = 2"):
        law.release(frame["x"], rng=rng)
    mixed = pl.DataFrame({"x": [BEYOND], "y": [1.5]})
    with pytest.raises(sn.ParameterError, match=r"values must be exactly representable in float64, .* of columns\[0\]"):
        law.release(mixed, columns=["x", "y"], rng=rng)
    nulls = pl.DataFrame({"x": [1, None], "y": [None, 2.5]})
    assert law.release(nulls, columns=["x", "y"], nulls="keep")["x"].is_null().to_list() == [False, True]
    assert rng._stream.fill_count == 0


def test_a_norm_of_the_change_needs_whole_numbers():
    law = sn.DiscreteGaussian(100)
    frame = pl.DataFrame({"a": [1, 2], "b": [1.0, 2.0], "c": [1.0, 2.5]})
    found = law.release(frame, columns=["a", "b"], l2_sensitivity=2, rng=seeded())
    assert found["a"].to_list() == law.release(frame["a"], rng=seeded()).to_list()
    assert law.release(frame["b"], l2_sensitivity=2).dtype == pl.Float64
    text = "values must be whole numbers with l2_sensitivity, got one that is not at index (1,)"
    with pytest.raises(sn.ParameterError) as caught:
        law.release(frame, columns=["a", "c"], l2_sensitivity=2)
    assert str(caught.value) == f"{text} of columns[1]"
    with pytest.raises(sn.ParameterError) as caught:
        law.release(frame["c"], l2_sensitivity=2)
    assert str(caught.value) == text


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
    law = sn.DiscreteLaplace(1)
    assert law.release(column, threads=1, rng=seeded()).equals(law.release(column, threads=2, rng=seeded()))


def test_the_context_of_decimals_does_not_matter():
    with decimal.localcontext(prec=2):
        assert listed(SILENT.release(DECIMALS["Arrow"]([BEYOND]))) == [BEYOND]
        assert listed(SILENT.release(DECIMALS["Polars"]([BEYOND]))) == [BEYOND]
