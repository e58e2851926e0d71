"""Keyed releases of columns and frames: their noise equals the array's, and a null that stays null has no value.

Evidence: the release of the equal array with the same labels, which tests/exactness/test_keyed.py compares with hashlib.
"""

import array
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.by_method.columns import BEYOND, HOLDERS, INTEGERS, SILENT, WITH_NULLS, kind, listed, wide
from tests.combinations import looped

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

MECHANISM = sn.DiscreteLaplace(0.1)
KEYED = sn.KeyedRng(bytes(range(32)), "persons 2026-Q3")
VALUES = [7, 0, 3, 100, 41]
LABELS = ["a", "b", None, "d", "é"]
TEXTS = ["ab", "", "cé", None, "d"]

# Each library's columns of labels.
LABEL_HOLDERS = {
    "list": list,
    "Series": lambda labels: pd.Series(labels, index=range(5, 5 + len(labels))),
    "Categorical": pd.Categorical,
    "Polars": lambda labels: pl.Series("g", labels),
    "Polars in parts": lambda labels: pl.concat([pl.Series(labels[:2]), pl.Series(labels[2:])], rechunk=False),
    "Arrow": pa.array,
    "Arrow dictionary": lambda labels: pa.array(labels).dictionary_encode(),
}
# Each library's tables.
FRAMES = {
    "pandas": lambda columns: pd.DataFrame(columns, index=range(5, 5 + len(next(iter(columns.values()))))),
    "Polars": pl.DataFrame,
    "Table": pa.table,
    "RecordBatch": pa.RecordBatch.from_pydict,
}


def released(values: Any = VALUES, labels: Any = LABELS, mechanism: Any = MECHANISM, rng: Any = KEYED, **options: Any) -> Any:
    return mechanism.release(values, labels=labels, **{"statistic": "count", "rng": rng, **options})


def of_array(values: Any = VALUES, labels: Any = LABELS, **options: Any) -> list[Any]:
    noisy: list[Any] = released(np.array(values), labels, **options).tolist()
    return noisy


@looped("labels", LABEL_HOLDERS)
@looped("holder", HOLDERS)
def test_a_column_has_the_noise_of_the_array(holder, labels):
    column = HOLDERS[holder](VALUES, "int32")
    found = released(column, LABEL_HOLDERS[labels](LABELS))
    assert (type(found), kind(found)) == wide(holder)
    assert listed(found) == of_array()
    if isinstance(column, pd.Series):
        assert found.index.equals(column.index)
        assert found.name == column.name


@looped("labels", LABEL_HOLDERS)
def test_texts_of_any_length(labels):
    """An empty text is no null, and texts of one length are not those of several."""
    for texts in (TEXTS, ["ab", "cd", "ef", "gh", "ij"], ["ab", "c€", "ef", "gh", "ij"], [""] * 5, [None, ""] * 2 + [None]):
        values = [VALUES[texts.index(text)] for text in texts]
        expected = MECHANISM.release(np.array(values), labels=texts, statistic="count", rng=KEYED)
        assert listed(released(values, LABEL_HOLDERS[labels](texts))) == expected.tolist()
        if None not in texts:
            assert listed(released(values, np.array(texts))) == expected.tolist()


@pytest.mark.parametrize("holder", HOLDERS)
def test_floats_and_partitions(holder):
    column = HOLDERS[holder](VALUES, "int64")
    options = {"mechanism": sn.Laplace(1, sensitivity=1), "max_partitions_contributed": 3}
    assert listed(released(column, **options)) == of_array(**options)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_of_every_width(dtype):
    ends = np.iinfo(dtype)
    values = [0, 3, ends.min, min(ends.max, 2**63 - 1), 1]
    for library in (pd.Series(values, dtype=dtype), pa.array(values, type=getattr(pa, dtype)())):
        assert listed(released(library)) == of_array(values)


@pytest.mark.parametrize("holder", WITH_NULLS)
def test_nulls(holder):
    """Numbers beyond 2**53 beside a null are exact; a null that stays null leaves the others as they are."""
    column = HOLDERS[holder]([BEYOND, None, 3, None, 41], "int64")
    with pytest.raises(sn.ParameterError, match=r'^values must not be null without nulls="zero" .* at index \(1,\)$'):
        released(column)
    zero = of_array([BEYOND, 0, 3, 0, 41])
    assert listed(released(column, nulls="zero")) == zero
    assert listed(released(column, nulls="keep")) == [zero[0], None, zero[2], None, zero[4]]
    assert listed(released(column, mechanism=SILENT, nulls="keep")) == [BEYOND, None, 3, None, 41]
    nothing = HOLDERS[holder]([None] * 5, "int64")
    assert listed(released(nothing, nulls="keep")) == [None] * 5
    assert listed(released(nothing, nulls="zero")) == of_array([0] * 5)


@pytest.mark.parametrize("holder", WITH_NULLS)
def test_a_null_that_stays_null_has_no_value(holder):
    """So its label can have a value in another row. With "zero", the null's value is 0. Positions in errors count nulls."""
    labels = ["a", "b", "b", "d", "d"]
    column = HOLDERS[holder]([None, None, 3, 41, None], "int64")
    assert listed(released(column, labels, nulls="keep")) == [None, None, *of_array([3, 41], ["b", "d"]), None]
    with pytest.raises(sn.ParameterError, match=r"^labels must have one value each, .* at index \(2,\)$"):
        released(column, labels, nulls="zero")
    with pytest.raises(sn.ParameterError, match=r"^labels must have one value each, .* at index \(4,\)$"):
        released(HOLDERS[holder]([None, None, 3, 41, 42], "int64"), labels, nulls="keep")


@pytest.mark.parametrize("bits", [b"\1", b"\0"])
def test_nothing_is_behind_a_null(bits):
    """The memory under a null has neither the old number, nor another row's answer, nor earlier memory."""
    hidden = pa.Array.from_buffers(pa.int64(), 2, [pa.py_buffer(bits), pa.py_buffer(np.array([1, 77]))])
    for mechanism in (MECHANISM, sn.Laplace(1, sensitivity=1)):
        kept = released(hidden, ["a", "b"], mechanism, nulls="keep")
        behind = np.frombuffer(kept.buffers()[1], np.int64)
        assert behind[[not valid for valid in kept.is_valid().to_pylist()]].tolist() == [0] * kept.null_count


@pytest.mark.parametrize("library", FRAMES)
def test_one_column_of_a_frame_has_the_noise_of_the_column(library):
    frame = FRAMES[library]({"g": LABELS, "n": VALUES, "m": VALUES})
    for columns, statistic in (("n", "count"), (["n"], "count"), (["n"], ["count"])):
        found = released(frame, frame["g"], columns=columns, statistic=statistic)
        assert type(found) is type(frame)
        assert listed(found["n"]) == of_array()
        assert listed(found["m"]) == VALUES
        assert list(found["g"]) == list(frame["g"])


@pytest.mark.parametrize("library", FRAMES)
def test_every_column_of_a_frame_has_a_statistic(library):
    """Equal columns have different noise, which depends on their statistic and not on their order."""
    frame = FRAMES[library]({"g": LABELS, "n": VALUES, "m": VALUES})
    for columns, statistic in ((["n", "m"], ["count", "income"]), (["m", "n"], ("income", "count"))):
        found = released(frame, frame["g"], columns=columns, statistic=statistic)
        assert listed(found["n"]) == of_array(statistic="count")
        assert listed(found["m"]) == of_array(statistic="income")
        assert listed(found["n"]) != listed(found["m"])


@pytest.mark.parametrize(
    ("columns", "statistic", "error", "text"),
    [
        (["n", "m"], "count", sn.ParameterError, "a list of 2 different names, one for each column, got 'count'"),
        (
            ["n", "m"],
            ["count", "count"],
            sn.ParameterError,
            "different names, or columns would share noise, got .'count', 'count'.$",
        ),
        (["n", "m"], ["count"], sn.ParameterError, "one name for each column, 2, got 1$"),
        ("n", ["count", "income"], sn.ParameterError, "one name for each column, 1, got 2$"),
        ("n", [], sn.ParameterError, "one name for each column, 1, got 0$"),
        (["n", "m"], ["count", 3], sn.ParameterTypeError, r"statistic\[1\] must be a string, got 3$"),
        (["n", "m"], ["count", ""], sn.ParameterError, r"statistic\[1\] must be a name"),
        ("n", {"n": "count"}, sn.ParameterTypeError, "statistic must be a string"),
        (["n", "m"], None, sn.ParameterTypeError, "statistic must be given"),
    ],
)
def test_statistics_that_are_refused(columns, statistic, error, text):
    frame = pd.DataFrame({"n": VALUES, "m": VALUES})
    with pytest.raises(error, match=text):
        released(frame, columns=columns, statistic=statistic)


def test_one_statistic_without_columns():
    for values in (VALUES, pd.Series(VALUES)):
        with pytest.raises(sn.ParameterTypeError, match="statistic must be a string"):
            released(values, statistic=["count", "income"])


def test_errors_of_a_frame_name_the_column():
    frame = pd.DataFrame({"n": VALUES, "m": [1, 2, 3, 4, 5]})
    with pytest.raises(sn.ParameterError, match=r"^labels must have one value each, .* at index \(1,\) of column 'm'$"):
        released(frame.assign(n=1), ["a"] * 5, columns=["n", "m"], statistic=["count", "income"])
    with pytest.raises(sn.ParameterTypeError, match=r"^labels must be strings, .* at index \(1,\); engines disagree about it"):
        released(frame, ["a", 0.5, "c", "d", "e"], columns="n")
    with pytest.raises(sn.ParameterError, match=r"^labels must be as many as the values, 5, got 2$"):
        released(frame, ["a", "b"], columns="n")
    with pytest.raises(sn.ParameterError, match=r"^columns must name the columns to release"):
        released(frame)
    with pytest.raises(sn.ParameterError, match=r"^columns must be left out for values that have no named columns"):
        released(VALUES, columns="n")
    with pytest.raises(sn.ParameterError, match=r'^nulls must be "refuse", "zero" or "keep"'):
        released(VALUES, nulls="drop")


def test_vectors():
    """The rows of a frame have one label each; a column is one vector."""
    mechanism = sn.MultivariateStaircase(1, dim=2, sensitivity=1)
    vectors = np.array([[1, 2], [3, 4], [5, 6]])
    frame = pd.DataFrame(vectors, columns=["x", "y"])
    expected = released(vectors, LABELS[:3], mechanism)
    assert np.array_equal(released(frame, LABELS[:3], mechanism, columns=["x", "y"]).to_numpy(), expected)
    assert np.array_equal(released(pl.DataFrame(frame), LABELS[:3], mechanism, columns=["x", "y"]).to_numpy(), expected)
    assert released(pd.Series(vectors[1]), "b", mechanism).tolist() == expected[1].tolist()
    missing = pl.DataFrame({"x": [1, None, 5], "y": [2, 4, 6]})
    kept = released(missing, LABELS[:3], mechanism, columns=["x", "y"], nulls="keep")
    assert kept["x"].to_list() == [expected[0, 0], None, expected[2, 0]]
    assert kept["y"][1] == released([0, 4], "b", mechanism)[1]
    with pytest.raises(sn.ParameterTypeError, match=r"^statistic must be a string"):
        released(frame, LABELS[:3], mechanism, columns=["x", "y"], statistic=["x", "y"])


def test_whole_numbers_with_l2_sensitivity():
    mechanism = sn.DiscreteGaussian(100.0)
    assert listed(released(pa.array(VALUES), mechanism=mechanism, l2_sensitivity=1.0)) == of_array(mechanism=mechanism)
    with pytest.raises(sn.ParameterError, match="values must be whole numbers"):
        released(pa.array([0.5] * 5), mechanism=mechanism, l2_sensitivity=1.0)


def test_the_secret_is_fetched_once_and_never_for_nothing():
    calls = []

    def fetch() -> bytes:
        calls.append(1)
        return bytes(range(32))

    keyed = sn.KeyedRng(fetch, KEYED.release_name)
    frame = pd.DataFrame({"n": VALUES, "m": VALUES})
    options = {"columns": ["n", "m"], "statistic": ["count", "income"], "rng": keyed}
    assert listed(released(frame, **options)["n"]) == of_array()
    assert len(calls) == 1
    assert released(frame[:0], [], **options).shape == (0, 2)
    assert released(pl.Series([None, None], dtype=pl.Int64), ["a", "b"], nulls="keep", rng=keyed).to_list() == [None, None]
    assert len(calls) == 1


def test_memory_that_others_lend():
    """An array.array as `out` and `values` is filled in place."""
    values, out = array.array("q", VALUES), array.array("q", bytes(8 * 5))
    assert released(values, out=out) is out
    assert out.tolist() == of_array()
    assert released(values, out=values).tolist() == of_array()
    with pytest.raises(sn.ParameterError, match="out must have shape"):
        released(VALUES, out=array.array("q", [1]))
    for column in (pd.Series(VALUES), pa.array(VALUES)):
        with pytest.raises(sn.ParameterError, match="out must be left out for a column"):
            released(column, out=out)


def test_tensors_are_filled_in_place():
    torch = pytest.importorskip("torch")
    values = torch.tensor(VALUES)
    assert released(values, out=values) is values
    assert values.tolist() == of_array()


@pytest.mark.parametrize(
    "mechanism", [MECHANISM, sn.Laplace(1, sensitivity=1), sn.MultivariateStaircase(1, dim=2, sensitivity=1)], ids=str
)
def test_noise_alone_has_no_address(mechanism):
    for draw in (mechanism.sample, mechanism.sample_chunks):
        with pytest.raises(sn.ParameterTypeError, match="the noise of a KeyedRng belongs to labels"):
            draw(3, rng=KEYED)


def test_lazy_labels_and_values_are_refused():
    """Evidence: a function in the plan that was not called."""
    calls = []
    lazy = pl.LazyFrame({"g": LABELS}).with_columns(pl.col("g").map_batches(lambda column: calls.append(1) or column))
    for labels in (lazy, pl.col("g"), (lazy, LABELS), [pl.col("g"), LABELS]):
        with pytest.raises(sn.LazyError, match=r"labels must be in memory, got a lazy value of type (LazyFrame|Expr) of polars"):
            released(labels=labels)
    for values in (lazy, pl.col("g")):
        with pytest.raises(sn.LazyError, match="values must be in memory"):
            released(values)
        with pytest.raises(sn.LazyError, match="values must be in memory"):
            KEYED.fingerprint(values, LABELS)
    with pytest.raises(sn.LazyError, match="labels must be in memory"):
        KEYED.fingerprint(VALUES, lazy)
    relation = pytest.importorskip("duckdb").connect().sql("select unnest(['a', 'b']) g")
    with pytest.raises(sn.LazyError, match="labels must be in memory"):
        released([1, 2], relation)
    assert calls == []


def test_fingerprints_of_columns():
    expected = KEYED.fingerprint([BEYOND, 2], ["a", "b"])
    for holder in HOLDERS:
        assert KEYED.fingerprint(HOLDERS[holder]([BEYOND, 2], "int64"), ["a", "b"]) == expected
    with pytest.raises(sn.ParameterError, match="values must not be null"):
        KEYED.fingerprint(pl.Series([1, None]), ["a", "b"])
    with pytest.raises(sn.ParameterError, match="values must be a single column, got a value of type DataFrame"):
        KEYED.fingerprint(pl.DataFrame({"n": [1]}), ["a"])


@pytest.mark.parametrize("holder", HOLDERS)
def test_labels_of_integers(holder):
    """Labels can have every integer type, also types with values outside int64."""
    for dtype in INTEGERS:
        numbers = [3, 0, np.iinfo(dtype).max, np.iinfo(dtype).min or 1, 5]
        expected = of_array(labels=[int(number) for number in numbers])
        assert released(VALUES, HOLDERS[holder](numbers, dtype)).tolist() == expected, dtype


@pytest.mark.parametrize("holder", WITH_NULLS)
def test_labels_of_integers_with_nulls(holder):
    values = [7, 0, 3, 0, 41]
    for dtype in INTEGERS:
        numbers = [3, None, np.iinfo(dtype).max, None, 5]
        expected = of_array(values, [None if n is None else int(n) for n in numbers])
        assert released(values, HOLDERS[holder](numbers, dtype)).tolist() == expected, dtype


def test_columns_of_labels_with_one_name():
    frame = pd.DataFrame([["a", 1], ["b", 2]], columns=["g", "g"])
    assert released([1, 2], frame).tolist() == of_array([1, 2], [("a", 1), ("b", 2)])


@pytest.mark.slow
def test_nothing_is_imported_for_labels_and_columns():
    """Evidence: the modules of a new process, which has imported PyArrow."""
    code = """
import sys
import pyarrow as pa
texts = pa.array(["a", None, "c"])
columns = [texts, texts.dictionary_encode(), pa.array([1, None, 3]), pa.chunked_array([[1], [None, 3]])]
import stairnoise as sn
before = set(sys.modules)
for labels in columns:
    keyed = sn.KeyedRng(bytes(32), "r")
    sn.Laplace(1, 1).release(columns[2], labels=labels, statistic="count", rng=keyed, nulls="keep")
libraries = ("pandas", "polars", "pyarrow")
print(*[name for name in set(sys.modules) - before if name.startswith(libraries)])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
