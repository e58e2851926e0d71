"""Arrays, columns and parts of frames have the same answers, and frames come back as they went in.

Evidence: equality with `release` of an array; made-up rows as Dask makes them.
"""

import datetime
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.engines import release_part
from tests.engines.table import COUNTS, EXPECTED, KEYED, LABELS, MECHANISM, STATISTIC, answers, one_answer

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

FRAMES = {
    "pandas": lambda: pd.DataFrame({"g": LABELS, "n": COUNTS, "other": 1.5}),
    "pandas, nullable": lambda: pd.DataFrame({"g": LABELS, "n": pd.array(COUNTS, "Int64"), "other": 1.5}),
    "pandas, Arrow": lambda: pd.DataFrame({"g": LABELS, "n": COUNTS, "other": 1.5}).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, categories": lambda: pd.DataFrame({"g": pd.Categorical(LABELS), "n": COUNTS, "other": 1.5}),
    "Arrow table": lambda: pa.table({"g": LABELS, "n": COUNTS, "other": [1.5] * len(LABELS)}),
    "Arrow table of chunks": lambda: pa.concat_tables([table.slice(0, 7), table.slice(7)]) if (table := arrow()) else None,
    "Arrow record batch": lambda: arrow().to_batches()[0],
    "Arrow dictionary": lambda: arrow().set_column(0, "g", arrow()["g"].dictionary_encode()),
    "Polars": lambda: pl.DataFrame({"g": LABELS, "n": COUNTS, "other": 1.5}),
}
frames = pytest.mark.parametrize("kind", FRAMES)


def arrow() -> Any:
    return pa.table({"g": LABELS, "n": COUNTS, "other": [1.5] * len(LABELS)})


def rows(frame: Any) -> list[tuple[Any, Any]]:
    if isinstance(frame, pd.DataFrame):
        frame = pa.table({name: pa.array(frame[name], from_pandas=True) for name in ("g", "n")})
    labels, values = (
        frame[name].to_list() if isinstance(frame, pl.DataFrame) else frame[name].to_pylist() for name in ("g", "n")
    )
    return list(zip(labels, values, strict=True))


def released(frame: Any, mechanism: Any = MECHANISM, label_type: Any = "text", **options: Any) -> Any:
    return release_part(frame, mechanism, KEYED, "g", "n", STATISTIC, label_type=label_type, **options)


def types(frame: Any) -> Any:
    return frame.dtypes.to_dict() if isinstance(frame, pd.DataFrame) else frame.schema


@frames
def test_whole_and_in_parts(kind):
    frame = FRAMES[kind]()
    whole = released(frame)
    assert type(whole) is type(frame)
    assert types(whole) == types(frame)
    assert one_answer(rows(whole)) == EXPECTED
    part = slice(3, 20)
    cut = frame.iloc[part] if isinstance(frame, pd.DataFrame) else frame.slice(3, 17)
    assert rows(released(cut)) == rows(whole)[part]
    assert rows(frame) == list(zip(LABELS, COUNTS, strict=True)), "what went in is as it was"


@frames
def test_no_rows(kind):
    """An engine can pass an empty part; it does not need the secret."""
    frame = FRAMES[kind]()[:0]
    found = release_part(frame, MECHANISM, sn.KeyedRng(lambda: 1 / 0, "r"), "g", "n", STATISTIC, label_type="text")
    assert (types(found), len(found)) == (types(frame), 0)


@frames
def test_a_continuous_mechanism_makes_floats(kind):
    found = released(FRAMES[kind](), sn.Laplace(0.1, sensitivity=1))
    assert one_answer(rows(found)) == answers(sn.Laplace(0.1, sensitivity=1))
    assert "ouble" in str(types(found)) or "loat64" in str(types(found))


def test_index_order_and_other_columns_stay():
    frame = pd.DataFrame({"other": list("xyz"), "n": [3, 4, 5], "g": ["a", "b", "a b"]}, index=[9, 9, 2]).rename_axis("i")
    frame.attrs["source"] = "test"
    found = released(frame)
    assert found.drop(columns="n").equals(frame.drop(columns="n"))
    assert list(found.columns) == list(frame.columns)
    assert (found.index.name, found.attrs) == ("i", frame.attrs)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float32", "float64", "UInt8", "Float64"])
def test_integers_have_64_bits_and_floats_keep_their_type(dtype):
    frame = pd.DataFrame({"g": LABELS, "n": pd.array(COUNTS, dtype)})
    found = released(frame)
    assert found["n"].dtype == {"int8": "int64", "uint16": "int64", "int32": "int64", "UInt8": "Int64"}.get(dtype, dtype)
    assert one_answer(rows(found)) == EXPECTED


@pytest.mark.parametrize("kind", ["pandas, nullable", "pandas, Arrow", "Arrow table", "Arrow record batch", "Polars"])
def test_nulls_stay_and_have_no_part_in_the_agreement_of_labels(kind):
    source = {"pandas, nullable": lambda table: table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)}
    source |= {"pandas, Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype), "Arrow table": lambda table: table}
    source |= {"Arrow record batch": lambda table: table.to_batches()[0], "Polars": pl.from_arrow}
    frame = source[kind](pa.table({"g": ["Chur", "Chur", None, None], "n": [12, None, None, 13]}))
    expected = answers(labels=["Chur", None], values=[12, 13])
    assert rows(released(frame)) == [("Chur", expected["Chur"]), ("Chur", None), (None, None), (None, expected[None])]
    assert types(released(frame)) == types(frame)


@pytest.mark.parametrize("dtype", ["int64", "int32", "float64", "Int64", "Float64", "int64[pyarrow]"])
@pytest.mark.parametrize("label", ["object", "str", "string[pyarrow]", "category", "int64", "bool", "Int64"])
def test_made_up_rows_of_dask(dtype, label):
    """Dask itself makes sample rows of a frame's types."""
    meta_nonempty = pytest.importorskip("dask.dataframe.utils").meta_nonempty
    label_type = {"int64": "integer", "bool": "boolean", "Int64": "integer"}.get(label, "text")
    values = ["a", "b"] if label_type == "text" else [1, 0]
    frame = pd.DataFrame({"g": pd.Series(values, dtype=label), "n": pd.Series([1, 2], dtype=dtype)})
    for made_up in (meta_nonempty(frame), frame.iloc[:0]):
        found = released(made_up, label_type=label_type)
        assert types(found) == types(made_up) | ({"n": np.dtype("int64")} if dtype == "int32" else {})
        assert found.index.equals(made_up.index)


def test_several_labels_are_a_tuple():
    day = datetime.date(2026, 1, 2)
    expected = answers(labels=[(label, day) for label in LABELS])
    table = pa.table({"g": LABELS, "day": [day] * len(LABELS), "n": COUNTS})
    for frame in (table, table.to_pandas(), pl.from_arrow(table)):
        found = release_part(frame, MECHANISM, KEYED, ["g", "day"], "n", STATISTIC, label_type=["text", "date"])
        assert {(label, day): answer for label, answer in rows(found)} == expected


def test_a_row_that_is_there_twice_and_one_label_with_two_values():
    twice = pd.DataFrame({"g": ["a", "b", "a", "a"], "n": [12, 13, 12, 12]})
    assert one_answer(rows(released(twice))) == answers(labels=["a", "b"], values=[12, 13])
    with pytest.raises(sn.ParameterError, match=r"labels must have one value each, .*, at index \(2,\)"):
        released(twice.assign(n=[12, 13, 14, 12]))


def test_partitions_are_those_of_release():
    found = released(FRAMES["Polars"](), max_partitions_contributed=4)["n"].to_list()
    assert (
        found == MECHANISM.release(COUNTS, labels=LABELS, statistic=STATISTIC, rng=KEYED, max_partitions_contributed=4).tolist()
    )
