"""``release`` of named columns of frames, and of rows that are vectors.

Evidence: a column's release against that of the equal array with the same seed, and noise of 0 (ε = 60) where numbers are
compared with the input.
"""

from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.by_method.columns import BEYOND, SILENT, kind, listed, seeded

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


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
    """Each named column gets the next fill of the generator; other columns and the frame's attributes are untouched."""
    frame, mechanism = frames()[library], sn.DiscreteLaplace(0.1, sensitivity=1)
    rng = seeded()
    found = mechanism.release(frame, columns=["x", "n"], rng=rng)
    assert rng._stream.fill_count == 2
    assert type(found) is type(frame)
    rng = seeded()
    x = mechanism.release(np.array([0.5, 1.5, 2.5]), rng=rng)
    n = mechanism.release(np.array([1, 2, 3]), rng=rng)
    assert listed(found["x"]) == x.tolist()
    assert listed(found["n"]) == n.tolist()
    assert kind(found["n"]) == kind(frame["m"])
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
        assert found.schema == frame.schema.set(1, frame.schema.field("n").with_type(pa.int64()))
        assert found.schema.metadata == {b"key": b"value"}
        assert found.schema.field("n").metadata == {b"unit": b"people"}


@frame_names
def test_one_name_and_several_kinds_of_lists(library):
    frame = frames()[library]
    for columns in ("n", ["n"], ("n",), pd.Index(["n"])):
        assert listed(SILENT.release(frame, columns=columns)["n"]) == [1, 2, 3]


@frame_names
def test_all_columns(library):
    """Each column is released once, in the frame's order. A text column is refused, and a column called "all" must be named."""
    frame, mechanism = frames()[library], sn.DiscreteLaplace(0.1)
    counts = frame[["n", "m"]] if library in ("pandas", "Polars") else frame.select(["n", "m"])
    found = mechanism.release(counts, columns="all", rng=seeded())
    expected = mechanism.release(counts, columns=["n", "m"], rng=seeded())
    assert type(found) is type(frame)
    assert [listed(found[name]) for name in labels(found)] == [listed(expected[name]) for name in ("n", "m")]
    with pytest.raises(sn.ParameterTypeError, match="'group'"):
        mechanism.release(frame, columns="all")
    with pytest.raises(sn.ParameterError, match="columns must name at least one column, got none in a value of type"):
        mechanism.release(counts.drop(columns=["n", "m"]) if library == "pandas" else counts.select([]), columns="all")
    renamed = {"pandas": lambda: counts.rename(columns={"m": "all"}), "Polars": lambda: counts.rename({"m": "all"})}
    named = renamed.get(library, lambda: counts.rename_columns(["n", "all"]))()
    with pytest.raises(sn.ParameterError, match='columns must be a list of names for a frame with a column "all"'):
        mechanism.release(named, columns="all")
    assert listed(mechanism.release(named, columns=["all"])["n"]) == [1, 2, 3]


def test_a_crosstab():
    crosstab = pd.crosstab(pd.Series(list("aab")), pd.Series([10, 20, 20]))
    found = sn.DiscreteLaplace(60).release(crosstab, columns="all")
    pd.testing.assert_frame_equal(found, crosstab)
    keyed = sn.KeyedRng(bytes(32), "test")
    by_key = sn.DiscreteLaplace(60).release(crosstab, columns="all", labels=crosstab.index, statistic=["10", "20"], rng=keyed)
    pd.testing.assert_frame_equal(by_key, crosstab)


@frame_names
@pytest.mark.parametrize(
    ("columns", "error", "text"),
    [
        (None, sn.ParameterError, 'columns must name the columns to release, or be "all", got None beside a value of type '),
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
    for held in (frame, table):
        with pytest.raises(sn.ParameterError) as caught:
            SILENT.release(held, columns=["n"])
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
    "mechanism",
    [sn.Laplace(1, sensitivity=1), sn.Laplace([1.0, 2.0, 3.0], sensitivity=1), sn.Gaussian(1, 1e-6, sensitivity=1)],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_nothing_is_drawn_if_any_column_is_refused(library, mechanism):
    """This includes reasons that the extension finds, such as an infinite or too large number in the second column."""
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
            mechanism.release(made, columns=["a", "b"], rng=rng)
        assert str(caught.value) == f"{text} at index (1,) of column 'b'"
        assert rng._stream.fill_count == 0


def test_nulls_of_a_frame_are_named_by_column_and_place():
    frame = pl.DataFrame({"a": [1, 2], "b": [None, 2]})
    with pytest.raises(sn.ParameterError, match=r"got a null at index \(0,\) of column 'b'$"):
        SILENT.release(frame, columns=["a", "b"])
    assert SILENT.release(frame, columns=["a", "b"], nulls="keep").rows() == [(1, None), (2, 2)]


def test_partitions_count_the_cells_of_all_columns():
    """With one generator and k = 2, each value's noise is that of the mechanism for 2 values."""
    frame, mechanism = pl.DataFrame({"a": [1, 2], "b": [3, 4]}), sn.DiscreteLaplace(1)
    rng = seeded()
    found = mechanism.release(frame, columns=["a", "b"], max_partitions_contributed=2, rng=rng)
    rng, wider = seeded(), mechanism.for_partitions(2)
    assert found["a"].to_list() == wider.release([1, 2], rng=rng).tolist()
    assert found["b"].to_list() == wider.release([3, 4], rng=rng).tolist()


# Array parameters, vectors, norms


def test_array_parameters_belong_to_the_rows():
    mechanism = sn.DiscreteLaplace([1.0, 2.0, 3.0])
    column = pl.Series([5, 6, 7])
    assert mechanism.release(column, rng=seeded()).to_list() == mechanism.release([5, 6, 7], rng=seeded()).tolist()
    for values, shape in ((pl.Series([5]), "(1,)"), (pd.Series([5]), "(1,)")):
        with pytest.raises(sn.ParameterError) as caught:
            mechanism.release(values)
        assert str(caught.value) == (
            "values must have the shape that they and the parameters, of shape (3,), broadcast to, "
            f"because a column comes back as one, got {shape}"
        )
    with pytest.raises(sn.ParameterError, match="values must have a shape that broadcasts with the parameters"):
        mechanism.release(pl.Series([1, 2]))
    with pytest.raises(sn.ParameterError, match="because a column comes back as one"):
        sn.Laplace([[1.0], [2.0]], sensitivity=1).release(column)


def test_a_column_is_one_vector_and_the_rows_of_a_frame_are_vectors():
    mechanism = sn.MultivariateStaircase(1, dim=2, sensitivity=1)
    column = pd.Series([1.5, 2.5], index=["x", "y"])
    found = mechanism.release(column, rng=seeded())
    assert found.tolist() == mechanism.release([1.5, 2.5], rng=seeded()).tolist()
    assert found.index.tolist() == ["x", "y"]
    frame = pd.DataFrame({"x": [1, 2, 3], "g": list("abc"), "y": [4.5, 5.5, 6.5]})
    found = mechanism.release(frame, columns=["y", "x"], rng=seeded())
    exact = mechanism.release(np.array([[4.5, 1], [5.5, 2], [6.5, 3]]), rng=seeded())
    assert found[["y", "x"]].to_numpy().tolist() == exact.tolist()
    assert found["g"].tolist() == list("abc")
    single = pl.DataFrame({"x": [1.5], "y": [2.5]}, schema={"x": pl.Float32, "y": pl.Float32})
    assert mechanism.release(single, columns=["x", "y"]).dtypes == [pl.Float32] * 2


def test_vectors_of_another_length():
    mechanism, rng = sn.MultivariateStaircase(1, dim=2, sensitivity=1), seeded()
    frame = pl.DataFrame({"x": [1.0], "y": [1.0], "z": [1.0]})
    for columns in (["x"], ["x", "y", "z"]):
        with pytest.raises(
            sn.ParameterError, match=rf"values must have a last axis of length dim = 2, got shape \(1, {len(columns)}\)"
        ):
            mechanism.release(frame, columns=columns, rng=rng)
    with pytest.raises(sn.ParameterError, match="values must have a last axis of length dim = 2"):
        mechanism.release(frame["x"], rng=rng)
    mixed = pl.DataFrame({"x": [BEYOND], "y": [1.5]})
    with pytest.raises(sn.ParameterError, match=r"values must be exactly representable in float64, .* of column 'x'"):
        mechanism.release(mixed, columns=["x", "y"], rng=rng)
    nulls = pl.DataFrame({"x": [1, None], "y": [None, 2.5]})
    assert mechanism.release(nulls, columns=["x", "y"], nulls="keep")["x"].is_null().to_list() == [False, True]
    assert rng._stream.fill_count == 0


def test_a_norm_of_the_change_needs_whole_numbers():
    mechanism = sn.DiscreteGaussian(100)
    frame = pl.DataFrame({"a": [1, 2], "b": [1.0, 2.0], "c": [1.0, 2.5]})
    found = mechanism.release(frame, columns=["a", "b"], l2_sensitivity=2, rng=seeded())
    assert found["a"].to_list() == mechanism.release(frame["a"], rng=seeded()).to_list()
    assert mechanism.release(frame["b"], l2_sensitivity=2).dtype == pl.Float64
    text = "values must be whole numbers with l2_sensitivity, got one that is not at index (1,)"
    with pytest.raises(sn.ParameterError) as caught:
        mechanism.release(frame, columns=["a", "c"], l2_sensitivity=2)
    assert str(caught.value) == f"{text} of column 'c'"
    with pytest.raises(sn.ParameterError) as caught:
        mechanism.release(frame["c"], l2_sensitivity=2)
    assert str(caught.value) == text
